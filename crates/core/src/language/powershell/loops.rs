//! Finds PowerShell that starts processes without end.

use super::cmdlets;
use super::words::{Command, Split};

/// How many loops and functions are looked at.
const LOOKED_AT_MAX: usize = 16;

/// What starts copies without end: a loop that never ends and only starts processes, or a function
/// that starts itself beside itself.
pub(super) fn multiplies(split: &Split) -> Option<String> {
    let named = |name: &'static str| {
        let all = split.commands.iter();
        all.filter(move |command| command.name() == name)
            .take(LOOKED_AT_MAX)
    };
    let looped =
        named("while").find(|command| is_endless(split, command) && only_starts(split, command));
    if looped.is_some() {
        return Some("a loop that starts processes without end".to_owned());
    }
    named("function").find_map(|command| {
        let name = command.words.get(1)?.text.to_ascii_lowercase();
        starts_itself(split, command, &name).then_some(name)
    })
}

/// Whether the condition of a loop is always true.
fn is_endless(split: &Split, command: &Command) -> bool {
    let condition = command.words.get(1).and_then(|word| word.group);
    let mut inside = split
        .commands
        .iter()
        .filter(|it| Some(it.group) == condition);
    let is_true = inside.next().is_some_and(|it| match it.words.as_slice() {
        [only] => matches!(only.text.to_ascii_lowercase().as_str(), "$true" | "1"),
        _ => false,
    });
    is_true && inside.next().is_none()
}

/// Whether the block of a command starts processes and does nothing else.
fn only_starts(split: &Split, command: &Command) -> bool {
    let block = command.words.last().and_then(|word| word.group);
    let mut inside = split
        .commands
        .iter()
        .filter(|it| Some(it.group) == block)
        .peekable();
    inside.peek().is_some() && inside.all(starts_process)
}

fn starts_process(command: &Command) -> bool {
    let name = cmdlets::canonical(&command.name());
    let waits = command
        .words
        .iter()
        .any(|word| word.text.eq_ignore_ascii_case("-wait"));
    matches!(
        name.as_str(),
        "start-process" | "start-job" | "start-threadjob"
    ) && !waits
}

/// Whether a function calls itself twice, or calls itself and starts processes.
fn starts_itself(split: &Split, command: &Command, name: &str) -> bool {
    let block = command.words.last().and_then(|word| word.group);
    let inside = || {
        split
            .commands
            .iter()
            .filter(|it| block.is_some_and(|block| is_within(split, it.group, block)))
    };
    let calls = inside().filter(|it| it.name() == name).count();
    let starts = inside().any(starts_process);
    calls >= 2 || calls == 1 && starts
}

fn is_within(split: &Split, mut group: usize, block: usize) -> bool {
    while group > block {
        group = split.groups.get(group).map_or(0, |it| it.outer);
    }
    group == block
}
