//! Arguments whose meaning changes with time: the fifth element of a page, a process id, a screen
//! position, "the last message". No grant covers them.
//!
//! The words are in `knowledge/handles.toml`. INVARIANT: a call that uses one can be granted in no
//! form, so no grant that was ever given covers it either.

use serde_json::Value;

use super::command::{CommandShape, may_be};
use crate::assess::told::same_key;
use crate::knowledge::{HANDLES, HandleRow};
use crate::policy::shape::base_name;

/// Longest value that is looked at; what is longer names nothing.
const VALUE_BYTES_MAX: usize = 40;

/// Whether something in the arguments means something else a moment later.
pub(super) fn in_arguments(args: &Value) -> bool {
    match args {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => is_value(text),
        Value::Array(items) => items.iter().any(in_arguments),
        Value::Object(members) => members.iter().any(|(name, value)| {
            let is_said = !matches!(value, Value::Null);
            is_said && is_name(name) || in_arguments(value)
        }),
    }
}

/// Whether a word of the command means something else a moment later. `heads` is how many of its
/// words may be the program.
pub(super) fn in_command(shape: &CommandShape, heads: usize) -> bool {
    let words = &shape.words;
    words.iter().any(|word| any(|row| row.words, word))
        || (0..heads).any(|at| {
            let parts = words.get(at..).and_then(<[String]>::split_first);
            parts.is_some_and(|(program, rest)| of_program(base_name(program), rest))
        })
}

fn of_program(program: &str, words: &[String]) -> bool {
    let program = program.to_lowercase();
    let has_operand = words.iter().any(|word| !word.starts_with('-'));
    let named = |row: &HandleRow| {
        row.programs.iter().any(|name| {
            let mut parts = name.split(' ');
            let is_it = parts.next() == Some(program.as_str());
            let mut subcommand = parts.peekable();
            let is_bare = subcommand.peek().is_none();
            is_it
                && (has_operand || !is_bare)
                && subcommand.all(|part| words.iter().any(|word| word == part))
        })
    };
    let given = |row: &HandleRow| {
        row.options.iter().any(|pair| {
            let (of, option) = pair.split_once(' ').unwrap_or((pair, ""));
            let lower = option.starts_with('/') || of.contains("process");
            of == program
                && words.iter().any(|word| {
                    if lower {
                        word.to_lowercase().starts_with(option)
                    } else {
                        may_be(option, word)
                    }
                })
        })
    };
    HANDLES.iter().any(|row| named(row) || given(row))
}

fn is_name(name: &str) -> bool {
    let mut names = HANDLES.iter().flat_map(|row| row.arguments);
    names.any(|known| same_key(known, name))
}

fn is_value(text: &str) -> bool {
    let text = text.trim();
    text.len() <= VALUE_BYTES_MAX && any(|row| row.values, &text.to_lowercase())
}

fn any(of: impl Fn(&HandleRow) -> &'static [&'static str], text: &str) -> bool {
    let mut patterns = HANDLES.iter().flat_map(of);
    patterns.any(|pattern| fits(pattern.as_bytes(), text.as_bytes()))
}

/// Whether `text` is `pattern`, in which `#` stands for one digit or more.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let Some((first, pattern)) = pattern.split_first() else {
        return text.is_empty();
    };
    if *first != b'#' {
        let rest = text.split_first().filter(|(letter, _)| *letter == first);
        return rest.is_some_and(|(_, rest)| fits(pattern, rest));
    }
    let digits = text
        .iter()
        .take_while(|letter| letter.is_ascii_digit())
        .count();
    let (number, rest) = text.split_at(digits);
    // No pattern has a digit behind `#`, so all digits belong to it.
    !number.is_empty() && fits(pattern, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_any_digits_and_the_rest_for_itself() {
        #[rustfmt::skip]
        let rows = [
            ("@e#", "@e5", true), ("@e#", "@e512", true), ("@e#", "@e", false), ("@e#", "@e5x", false),
            ("s#e#", "s1e20", true), ("s#e#", "s1e", false), ("in # minutes", "in 5 minutes", true), ("last", "lasting", false),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(
                fits(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }
}
