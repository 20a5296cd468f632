//! Command lines that reach no further than this machine, although their rows speak of more: a message on this
//! screen, a task of every package of the workspace.

use crate::follow::value::Arg;
use crate::knowledge::Program;
use crate::knowledge::names::{FOREACH_SWITCHES, FOREACH_VALUES};

/// Whether a script of `osascript` shows a message on the screen and does nothing else.
pub(super) fn only_notifies(program: &Program, rest: &[Arg]) -> bool {
    let [option, text] = rest else {
        return false;
    };
    if program.row.name != "osascript" || option.text != "-e" || text.vague() {
        return false;
    }
    let Some(mut rest) = text.text.trim().strip_prefix("display notification ") else {
        return false;
    };
    loop {
        let Some(after) = literal(rest) else {
            return false;
        };
        if after.trim().is_empty() {
            return true;
        }
        let next = ["with title ", "subtitle ", "sound name "];
        let Some(more) = next
            .iter()
            .find_map(|word| after.trim_start().strip_prefix(word))
        else {
            return false;
        };
        rest = more;
    }
}

/// Returns what follows the text in double quotes at the front.
fn literal(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return inside.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// Returns the command of the package manager that `yarn workspaces foreach` repeats in every package.
pub(super) fn repeated_in_workspaces(program: &Program, rest: &[Arg]) -> Option<Vec<Arg>> {
    let [first, second, options @ ..] = rest else {
        return None;
    };
    if program.row.name != "npm" || first.text != "workspaces" || second.text != "foreach" {
        return None;
    }
    let mut words = options;
    loop {
        let [word, more @ ..] = words else {
            return None;
        };
        let letters = word
            .text
            .strip_prefix('-')
            .filter(|text| !text.starts_with('-'));
        let bundled = |letters: &str| {
            !letters.is_empty() && letters.bytes().all(|letter| b"ARWptiv".contains(&letter))
        };
        if FOREACH_VALUES.contains(word.text.as_str()) {
            words = more.get(1..)?;
        } else if FOREACH_SWITCHES.contains(word.text.as_str()) || letters.is_some_and(bundled) {
            words = more;
        } else if word.text.starts_with('-') || word.vague() {
            return None;
        } else {
            return Some(words.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn a_text_ends_at_its_own_quote() {
        assert_eq!(literal("\"a\" b"), Some(" b"));
        assert_eq!(literal("\"a\\\" b\" c"), Some(" c"));
        assert_eq!(literal("\"a"), None);
        assert_eq!(literal("a"), None);
    }
}
