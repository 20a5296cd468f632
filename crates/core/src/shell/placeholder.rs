//! Detects unfilled placeholders from documentation: `git checkout -b <branch>`.
//!
//! A `>` with nothing behind it is an error in every shell, so nothing of that line would run,
//! whatever a person answered. Such a placeholder is read as a value that nobody knows, and the
//! rest of the text is judged as if it stood there. What comes before the error is left as it is:
//! shells that read line by line have run it by then.

use super::parse::{COMMANDS_MAX, ParseError, parse_beginning};
use super::syntax::Script;

/// Longest placeholder, brackets included.
const PLACEHOLDER_BYTES_MAX: usize = 64;
/// How many places of a line are tried as the one the error is about.
const CANDIDATES_MAX: usize = 32;

/// Parses `source`; when a placeholder is what makes that impossible, with the placeholders from
/// there on filled in by variables that are not set.
pub fn parse_filled(source: &str) -> Result<Script, ParseError> {
    // One more than are followed, so that whoever follows them notices.
    let parse = |text: &str| parse_beginning(text, COMMANDS_MAX as usize + 1);
    parse(source).or_else(|error| {
        // What stands between backticks is read only when it runs, and what follows runs then, too.
        let filled = filled(source, error.at).filter(|_| !source.contains('`'));
        filled.and_then(|text| parse(&text).ok()).ok_or(error)
    })
}

/// Returns `source` with variables of the same length in place of the placeholder before `at` and
/// of all that follow.
fn filled(source: &str, at: usize) -> Option<String> {
    let read = source.get(..at)?;
    let line = read.rfind('\n').map_or(0, |end| end + 1);
    let start = source
        .get(line..at)?
        .match_indices('<')
        .take(CANDIDATES_MAX)
        .map(|(offset, _)| line + offset)
        .find(|start| {
            placeholder(source.get(*start..).unwrap_or("")).is_some_and(|length| {
                let behind = source.get(start + length..at).unwrap_or("").trim_start();
                behind.is_empty() || behind.starts_with('#')
            })
        })?;
    let mut text = String::with_capacity(source.len());
    text.push_str(source.get(..start)?);
    let mut rest = source.get(start..)?;
    while let Some(opening) = rest.find('<') {
        let (before, behind) = rest.split_at(opening);
        text.push_str(before);
        let length = placeholder(behind);
        match length {
            Some(length) => {
                text.push('$');
                text.extend(std::iter::repeat_n('P', length - 1));
            }
            None => text.push('<'),
        }
        rest = behind.get(length.unwrap_or(1)..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// Returns how long the placeholder is that `text` begins with: `<name>`, `<path/to file>`. One that
/// begins with a digit is a pattern of zsh.
fn placeholder(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let length = inside
        .bytes()
        .take(PLACEHOLDER_BYTES_MAX)
        .position(|byte| byte == b'>')?;
    let name = inside.get(..length)?;
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-./:,|".contains(&byte));
    is_word.then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::{filled, parse_filled};
    use crate::shell::parse::parse;

    #[test]
    fn a_placeholder_that_no_shell_can_read_is_a_value_that_nobody_knows() {
        for (text, wanted) in [
            ("git switch <branch>", "git switch $PPPPPPP"),
            ("gh run view <run-id> # look", "gh run view $PPPPPPP # look"),
            ("ls\ncat <a file> <b>\nls", "ls\ncat $PPPPPPP $PP\nls"),
            ("cp v<version>; ls", "cp v$PPPPPPPP; ls"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(filled(text, error.at).as_deref(), Some(wanted), "{text}");
            assert!(parse_filled(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_a_shell_reads_otherwise_or_not_at_all_stays_as_it_is() {
        for text in [
            "rm file<1-10>",
            "echo `cat <name>`; ls",
            "cat <name> 'open",
            "cat <$(id)>",
            "cat < name >",
            "| sort <name>",
        ] {
            assert!(parse_filled(text).is_err(), "{text}");
        }
    }
}
