//! Every command in a `console` block of the README runs and says what the README says.
//!
//! `INSTA_UPDATE=always` writes what the commands say into the README, as it does for snapshots.

use std::process::Command;

use crate::{files, ours, root};

/// A command of the README and the output shown under it.
struct Shown {
    command: String,
    output: String,
}

fn shown(text: &str) -> Vec<Shown> {
    let mut all = Vec::new();
    let blocks = text.split("```console\n").skip(1);
    for block in blocks.filter_map(|block| block.split("```").next()) {
        for line in block.lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown {
                    command: command.to_owned(),
                    output: String::new(),
                }),
                (None, Some(Shown { output, .. })) => {
                    output.push_str(line);
                    output.push('\n');
                }
                (None, None) => panic!("output without a command: {line}"),
            }
        }
    }
    all
}

#[test]
fn every_command_of_the_readme_runs() {
    let readme = root().join("README.md");
    let text = std::fs::read_to_string(&readme).unwrap();
    let is_updating = std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always");
    let mut updated = text.clone();
    let all = shown(&text);
    assert!(all.len() >= 3, "the README shows {} commands", all.len());
    let home = tempfile::tempdir().unwrap();
    let binary = ours::binary();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    for Shown { command, output } in all {
        // Building and testing inside a test would wait for itself.
        if command == "./test" {
            assert!(root().join("test").exists());
            continue;
        }
        let command_run = command.replace(
            "cargo run --quiet --release -p countersign --",
            "countersign",
        );
        let ran = ours::in_home(Command::new("bash"), home.path())
            .args(["-c", &command_run])
            .current_dir(root())
            .env("PATH", &path)
            .env("COUNTERSIGN_HOME", home.path().join("none"))
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        let wrong = String::from_utf8(ran.stderr).unwrap();
        assert!(!wrong.contains("error:"), "{command}: {wrong}");
        if is_updating {
            let old = format!(
                "$ {command}
{output}```"
            );
            updated = updated.replace(
                &old,
                &format!(
                    "$ {command}
{said}```"
                ),
            );
        } else {
            assert_eq!(said, output, "{command}: the README shows something else");
        }
    }
    if updated != text {
        std::fs::write(&readme, updated).unwrap();
    }
}

/// The first two rows of the numbers are what the command beside them counts.
#[test]
fn the_counts_of_the_readme_are_those_of_the_command() {
    let readme = root().join("README.md");
    let text = std::fs::read_to_string(&readme).unwrap();
    let home = tempfile::tempdir().unwrap();
    let names = ["authored-", "generated-", "shell_"];
    let corpus = files(&root().join("corpus"), ".jsonl");
    let wanted = corpus.into_iter().filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        path.parent() == Some(&root().join("corpus"))
            && names.iter().any(|prefix| name.starts_with(prefix))
    });
    let ran = ours::ours(home.path())
        .args(["eval", "--json"])
        .args(wanted)
        .output()
        .unwrap();
    let counted: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let count = |label: &str| {
        let of = &counted["total"][label];
        format!("{} of {} |", of["held"], of["rows"])
    };
    let rows = [
        (
            "| dangerous commands of the project's corpus that ask or are refused | ",
            "dangerous",
        ),
        (
            "| safe commands of the project's corpus that ask | ",
            "safe",
        ),
    ];
    let mut updated = text.clone();
    for (row, label) in rows {
        let (_, rest) = text.split_once(row).unwrap();
        let said = rest.lines().next().unwrap();
        updated = updated.replace(&format!("{row}{said}"), &format!("{row}{}", count(label)));
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        std::fs::write(&readme, updated).unwrap();
    } else {
        assert_eq!(updated, text, "`INSTA_UPDATE=always` writes what it counts");
    }
}

/// Every agent of the table is set up by its command in a home of its own, and its settings are
/// restored afterwards.
#[test]
fn every_agent_of_the_readme_is_set_up_by_its_command() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let rows = readme.lines().filter(|line| line.starts_with('|'));
    let commands = rows.filter_map(|row| row.split('`').nth(1));
    let commands: Vec<&str> = commands
        .filter(|it| it.starts_with("countersign init "))
        .collect();
    assert_eq!(commands.len(), 8, "{commands:?}");
    for command in commands {
        let home = tempfile::tempdir().unwrap();
        let files = || {
            let listed = Command::new("find")
                .arg(home.path())
                .arg("-type")
                .arg("f")
                .output();
            String::from_utf8(listed.unwrap().stdout)
                .unwrap()
                .lines()
                .count()
        };
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let run = |more: &[&str]| {
            let ran = ours::ours(home.path())
                .args(&words)
                .args(more)
                .output()
                .unwrap();
            let said = [ran.stdout, ran.stderr].concat();
            (ran.status.code(), String::from_utf8(said).unwrap())
        };
        let (code, said) = run(&[]);
        assert_eq!(code, Some(2), "{command} asks before it writes: {said}");
        let (code, said) = run(&["--yes"]);
        assert_eq!(code, Some(0), "{command}: {said}");
        let written = files();
        let (code, said) = run(&["--yes"]);
        assert_eq!(
            (code, files()),
            (Some(0), written),
            "{command} again: {said}"
        );
        let (code, said) = run(&["--undo", "--yes"]);
        assert_eq!(code, Some(0), "{command} --undo: {said}");
        assert!(files() < written, "{command} --undo left everything");
    }
}
