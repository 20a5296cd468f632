//! Tells command lines of `cmd` from those of a Unix shell.

use super::{base_name, glued_switch, is_variable, split};
use crate::knowledge::languages::{CMD_FORMATTING, CMD_SHARED, CMD_WINDOWS_ONLY};
use crate::language::CODE_BYTES_MAX;

/// Whether a command line is for `cmd` and not for a Unix shell.
pub fn looks_like(text: &str) -> bool {
    if text.len() > CODE_BYTES_MAX {
        return false;
    }
    split(text).iter().any(|command| {
        let Some((first, rest)) = command.words.split_first() else {
            return false;
        };
        let is_program = first.to_ascii_lowercase().ends_with(".exe");
        let name = base_name(first);
        // Formats such as `%T%p` of Unix tools are no variables.
        let evidence = rest.iter().any(|word| {
            is_windows_word(word) && (!is_variable(word) || !CMD_FORMATTING.contains(&name))
        });
        let by_form = match name.as_str() {
            "reg" => {
                rest.first().is_some_and(|form| {
                    ["add", "delete", "query", "import", "export", "save"]
                        .iter()
                        .any(|known| form.eq_ignore_ascii_case(known))
                }) && rest
                    .get(1)
                    .is_some_and(|key| key.to_ascii_uppercase().starts_with("HK"))
            }
            "net" => rest.first().is_some_and(|form| {
                ["user", "localgroup", "stop", "start", "use", "share"]
                    .iter()
                    .any(|known| form.eq_ignore_ascii_case(known))
            }),
            "sc" => {
                rest.first().is_some_and(|form| {
                    ["stop", "start", "delete", "create", "config", "query"]
                        .iter()
                        .any(|known| form.eq_ignore_ascii_case(known))
                }) && rest.len() >= 2
            }
            "format" => rest.first().is_some_and(|drive| is_drive(drive)),
            "certutil" => rest.iter().any(|word| {
                matches!(
                    word.to_ascii_lowercase().as_str(),
                    "-urlcache" | "/urlcache" | "-decode"
                )
            }),
            _ => false,
        };
        CMD_WINDOWS_ONLY.contains(&name)
            || by_form
            || (is_program && !first.contains('/'))
            || (CMD_SHARED.contains(&name) && evidence)
            || glued_switch(first).is_some()
    })
}

/// Whether a line begins in a way that only `cmd` can read: `if exist x …`, `for %f in …`. PowerShell and Unix
/// shells read a whole line before they run any of it, and both find no end to such a beginning. Lines that
/// follow may be typed in one by one, so there must be none.
pub(crate) fn is_certain(text: &str) -> bool {
    let text = text.trim();
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").to_ascii_lowercase();
    let mut words = words.skip_while(|word| matches!(*word, "/i" | "/I" | "not" | "NOT"));
    let next = words.next().unwrap_or("").to_ascii_lowercase();
    let begins = match first.as_str() {
        "if" => matches!(next.as_str(), "exist" | "defined" | "errorlevel"),
        "for" => next.starts_with('%') || matches!(next.as_str(), "/d" | "/f" | "/l" | "/r"),
        _ => false,
    };
    begins && !text.contains(['\n', '\r'])
}

/// `/s`, `/q`, `/f:x`, `C:\x`, `\\server\x` and `%NAME%` exist on Windows only.
fn is_windows_word(word: &str) -> bool {
    let is_share = word
        .strip_prefix("\\\\")
        .is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()));
    is_switch(word) || has_drive(word) || is_share || is_variable(word)
}

pub(crate) fn is_switch(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('/') else {
        return false;
    };
    let name = letters
        .split(':')
        .next()
        .unwrap_or(letters)
        .to_ascii_lowercase();
    // Several in one word look like a path, unless they are the usual ones.
    let glued = name.contains('/')
        && name
            .split('/')
            .all(|letter| letter.len() == 1 && "sqfaypd".contains(letter));
    let single = (1..=2).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphabetic());
    glued || single || matches!(name.as_str(), "mir" | "purge" | "grant" | "delete" | "add")
}

fn is_drive(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.as_str(), "" | "\\" | "/")
}

fn has_drive(word: &str) -> bool {
    let mut chars = word.trim_start_matches('"').chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('\\'))
}
