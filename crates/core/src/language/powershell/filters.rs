//! Conditions on what comes through a pipe.

use super::cmdlets;
use super::words::{Brackets, Command, Split, Word};

/// The pattern that names must match to get through the command behind the one at `at`:
/// `Where-Object Name -like x`, `Where-Object { $_.Name -like x }`. Only what must stand at the front of
/// a name counts, so that a pattern for its middle says nothing.
pub(super) fn name_filter(split: &Split, at: usize) -> Option<String> {
    let source = split.commands.get(at).filter(|it| it.pipes)?;
    let mut behind = split.commands.iter().skip(at + 1);
    let next = behind.find(|it| it.group == source.group && it.is_piped)?;
    if cmdlets::canonical(&next.name()) != "where-object" {
        return None;
    }
    let (_, rest) = next.name_and_rest()?;
    match rest {
        [block] => {
            let group = block.group.filter(|_| !block.is_invoked)?;
            let inside = only_in(split, group)?;
            (split.brackets(group) == Brackets::Block && inside.redirects.is_empty())
                .then(|| compared(&inside.words, "$_.name"))?
        }
        words => compared(words, "name"),
    }
}

/// The only command of a pair of brackets.
fn only_in(split: &Split, group: usize) -> Option<&Command> {
    let mut inside = split.commands.iter().filter(|it| it.group == group);
    let only = inside.next()?;
    inside.next().is_none().then_some(only)
}

/// The pattern in `Name -like pattern`, where that is all.
fn compared(words: &[Word], name: &str) -> Option<String> {
    let [member, operator, pattern] = words else {
        return None;
    };
    let operator = operator.text.to_ascii_lowercase();
    let pattern = pattern.text.clone();
    let is_name = member.text.eq_ignore_ascii_case(name);
    match operator.as_str() {
        "-like" | "-eq" | "-clike" | "-ilike" if is_name => Some(pattern),
        // Anywhere in a name, unless the pattern says where.
        "-match" if is_name && pattern.starts_with('^') => Some(pattern),
        _ => None,
    }
}
