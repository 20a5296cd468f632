//! Files say what they are for, stay short, and speak of the project alone.

use crate::{files, root};

/// Longest source file. Longer ones hold two things.
const LINES_MAX: usize = 700;

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent: Vec<_> = files(&root().join("crates"), ".rs")
        .into_iter()
        .filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//! "))
        .collect();
    assert!(
        silent.is_empty(),
        "these do not begin with what they are for: {silent:#?}"
    );
}

#[test]
fn no_source_file_is_too_long() {
    let long: Vec<_> = files(&root().join("crates"), ".rs")
        .into_iter()
        .map(|path| {
            (
                std::fs::read_to_string(&path).unwrap().lines().count(),
                path,
            )
        })
        .filter(|(lines, _)| *lines > LINES_MAX)
        .collect();
    assert!(
        long.is_empty(),
        "these have more than {LINES_MAX} lines: {long:#?}"
    );
}

#[test]
fn nothing_is_left_for_later_without_saying_where() {
    let words = [
        "TO".to_owned() + "DO",
        "FIX".to_owned() + "ME",
        "X".repeat(3) + ":",
    ];
    for path in files(&root().join("crates"), ".rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let found = words.iter().find(|word| line.contains(word.as_str()));
            assert!(found.is_none(), "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn there_is_no_file_called_mod_and_none_called_utils() {
    for path in files(&root().join("crates"), ".rs") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            !matches!(
                name.as_str(),
                "mod.rs" | "utils.rs" | "common.rs" | "helpers.rs"
            ),
            "{}",
            path.display()
        );
    }
}

#[test]
fn texts_speak_of_the_project_alone() {
    // Spelt apart, so that this file passes its own test.
    let words = [
        ["/wor", "k/shared"].concat(),
        ["/wor", "k/wt"].concat(),
        ["/wor", "k/main"].concat(),
        ["Clau", "de wrote"].concat(),
    ];
    let root = root();
    let mut all = Vec::new();
    for ending in [
        ".rs", ".md", ".toml", ".tsv", ".yaml", ".ts", ".tsx", ".mjs", ".css",
    ] {
        all.extend(files(&root, ending));
    }
    for path in all {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for word in &words {
            assert!(
                !text.contains(word.as_str()),
                "{} says `{word}`",
                path.display()
            );
        }
    }
}

#[test]
fn tests_start_our_binary_with_nothing_of_whoever_runs_them() {
    // Spelt apart, so that this file passes its own test.
    let words = [
        ["cargo", "_bin"].concat(),
        ["CARGO_", "BIN_EXE"].concat(),
        ["::new(ours", "::binary"].concat(),
    ];
    for path in files(&root().join("crates/countersign/tests"), ".rs") {
        if path.ends_with("shared/ours.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for word in &words {
            let hint = "start it by `ours` in tests/shared/ours.rs, which clears the environment";
            assert!(!text.contains(word.as_str()), "{}: {hint}", path.display());
        }
    }
}

/// A terminal shows asterisks as asterisks: names of buttons and settings stand between quotation marks.
#[test]
fn no_text_for_people_is_written_as_markdown() {
    for folder in ["countersign/src", "gate/src", "channels/src", "agent/src"] {
        for path in files(&root().join("crates").join(folder), ".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                let is_code = !line.trim_start().starts_with("//");
                // `*Allow for this` … `session*`: an asterisk before a capital letter that no space follows.
                let emphasised = line.split('*').skip(1).any(|rest| {
                    let word: String = rest.chars().take_while(|it| it.is_alphabetic()).collect();
                    let is_name = word.len() > 2 && word.starts_with(char::is_uppercase);
                    is_name && word.chars().skip(1).all(char::is_lowercase) && rest.contains(' ')
                });
                assert!(
                    !(is_code && emphasised && line.contains('"')),
                    "{}:{}: {line}",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

/// The harness hides what a passing test prints, so a skip goes through `countersign_testkit::skipped`.
#[test]
fn skips_are_reported_where_the_test_command_counts_them() {
    let printed = format!("println!(\"{}", "skipped").to_lowercase();
    for path in files(&root().join("crates"), ".rs") {
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        assert!(
            path.ends_with("benches/judge.rs") || !text.contains(&printed),
            "{} prints that something is skipped",
            path.display()
        );
    }
}
