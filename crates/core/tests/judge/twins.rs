//! Judges the last call of a session: rows that run, and their dangerous twins that ask.

use countersign_core::call::ToolCall;
use countersign_core::judge::consider_after;
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;

/// What it is about, commands that run, and their twins that ask.
pub(crate) type Twins = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Returns the verdict on the last of the calls that one agent makes one after the other, and its reasons.
pub(crate) fn last(calls: impl IntoIterator<Item = ToolCall>) -> (Verdict, Vec<String>) {
    let mut written = Written::default();
    let mut last = (Verdict::Refuse, Vec::new());
    for call in calls {
        let considered = consider_after(&Policy::default(), &call, &[], written.clone());
        for (path, content) in considered.files.writes {
            written.add(&path, content);
        }
        let decided = verdict(&considered.assessment, &considered.situation).verdict;
        last = (decided, considered.assessment.reasons);
    }
    last
}

/// Returns the verdict on the last of the commands that one agent runs in `directory`, and its reasons.
pub(crate) fn session(directory: &str, commands: &[&str]) -> (Verdict, Vec<String>) {
    let call = |command: &&str| ToolCall::command(*command).from_directory(directory);
    last(commands.iter().map(call))
}

/// Checks sessions whose last command runs, and their twins whose last command asks.
pub(crate) fn check(directory: &str, quiet: &[&[&str]], loud: &[&[&str]]) {
    let mut wrong = Vec::new();
    for commands in quiet {
        let (decided, reasons) = session(directory, commands);
        if decided != Verdict::Allow {
            wrong.push(format!("{commands:?} asks: {reasons:?}"));
        }
    }
    for commands in loud {
        if session(directory, commands).0 < Verdict::Ask {
            wrong.push(format!("{commands:?} runs"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same for single commands.
pub(crate) fn lines(directory: &str, quiet: &[&str], loud: &[&str]) {
    let wrong = wrong("", directory, quiet, loud);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same for single commands in rows with names.
pub(crate) fn check_rows(directory: &str, rows: &[Twins]) {
    let wrong = rows
        .iter()
        .flat_map(|(about, quiet, loud)| wrong(about, directory, quiet, loud));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns what is judged wrongly.
pub(crate) fn wrong(about: &str, directory: &str, quiet: &[&str], loud: &[&str]) -> Vec<String> {
    let asks = quiet.iter().filter_map(|command| {
        let (decided, reasons) = session(directory, &[command]);
        let asks = decided != Verdict::Allow;
        asks.then(|| format!("{about}: {command:?} asks: {reasons:?}"))
    });
    let runs = loud.iter().filter_map(|command| {
        let runs = session(directory, &[command]).0 < Verdict::Ask;
        runs.then(|| format!("{about}: {command:?} runs"))
    });
    asks.chain(runs).collect()
}
