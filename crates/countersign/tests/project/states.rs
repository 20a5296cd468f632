//! Words of state stand in one place: `core/src/status.rs`. Everywhere else they are variants.

use std::path::Path;

use countersign_core::status::{
    Cause, ClarificationStatus, CrisisStatus, DeliveryStatus, Ended, Outcome, RecordStatus,
    ReviewStatus, Risk, RunPhase, RunStatus, Status,
};

use crate::{files, root};

/// Where words of state are spelled.
const SPELLED: &str = "core/src/status.rs";

/// Lines that mean something else by such a word: a part of the line, and what it is.
const OTHERWISE: &[(&str, &str)] = &[
    (r#"via: "rule".to_owned()"#, "where an answer came from"),
    (r#""grant" => "`countersign grants`"#, "a kind of thing"),
    (r#""person" => "`countersign people`"#, "a kind of thing"),
    (r#""model" => answer.read()"#, "a command"),
    (r#"object: "model".to_owned()"#, "the OpenAI protocol"),
    (r#"frame.insert("model""#, "the OpenAI protocol"),
    (r#""waiting" => match self.read"#, "a request of the inbox"),
    (r#""waiting" => self.loading"#, "a request of the inbox"),
    (r#"|| "running".to_owned()"#, "a process, for the model"),
    (r#""ended".to_owned()"#, "a process, for the model"),
    (r#"return "unknown".to_owned();"#, "a type of TypeScript"),
    (r#""then" | "do" | "done""#, "words of the shell"),
    (r#""mir" | "purge" | "grant""#, "options of Windows"),
    (r#""high" => Sensitivity::High"#, "a setting"),
];

fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = Vec::new();
    words.extend(Status::ALL.iter().map(|it| it.word()));
    words.extend(Outcome::ALL.iter().map(|it| it.word()));
    words.extend(Cause::ALL.iter().map(|it| it.word()));
    words.extend(Risk::ALL.iter().map(|it| it.word()));
    words.extend(Ended::ALL.iter().map(|it| it.word()));
    words.extend(ClarificationStatus::ALL.iter().map(|it| it.word()));
    words.extend(ReviewStatus::ALL.iter().map(|it| it.word()));
    words.extend(RunStatus::ALL.iter().map(|it| it.word()));
    words.extend(RunPhase::ALL.iter().map(|it| it.word()));
    words.extend(DeliveryStatus::ALL.iter().map(|it| it.word()));
    words.extend(RecordStatus::ALL.iter().map(|it| it.word()));
    words.extend(CrisisStatus::ALL.iter().map(|it| it.word()));
    words.sort_unstable();
    words.dedup();
    words
}

/// Whether `line` compares with `word`, matches it or hands it on as a state.
fn carries(line: &str, word: &str) -> bool {
    let Some((before, after)) = line.split_once(&format!("\"{word}\"")) else {
        return false;
    };
    let before = before.trim_end();
    let behind = [
        "==", "!=", "|", "Some(", "status:", "outcome:", "cause:", "risk:",
    ];
    let ahead = [" =>", " |", ".to_owned()", ".clone_into", ".into()"];
    behind.iter().any(|it| before.ends_with(it)) || ahead.iter().any(|it| after.starts_with(it))
}

/// Returns the code of a file, without its unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next();
    code.unwrap_or_default().to_owned()
}

#[test]
fn words_of_state_are_spelled_in_one_place() {
    let words = words();
    let mut found = Vec::new();
    for path in files(&root().join("crates"), ".rs") {
        let name = path.to_string_lossy().into_owned();
        let is_code = name.contains("/src/") && !name.contains("/tests");
        let is_ours = !name.contains("/testkit/") && !name.ends_with(SPELLED);
        if !is_code || !is_ours {
            continue;
        }
        for (number, line) in code(&path).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let is_other = OTHERWISE.iter().any(|(part, _)| line.contains(part));
            if !is_comment && !is_other && words.iter().any(|word| carries(line, word)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "use the enums of core::status: {found:#?}"
    );
}

#[test]
fn ids_are_recognised_by_their_types_alone() {
    let mut found = Vec::new();
    for path in files(&root().join("crates"), ".rs") {
        for (number, line) in code(&path).lines().enumerate() {
            let prefixes = [
                "appr", "call", "clar", "grant", "rev", "run", "key", "tok", "login",
            ];
            let is_tested = |it: &&str| line.contains(&format!("starts_with(\"{it}_\")"));
            if prefixes.iter().any(is_tested) {
                found.push(format!(
                    "{}:{}: {}",
                    path.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert!(found.is_empty(), "use `is_id` of the id's type: {found:#?}");
}
