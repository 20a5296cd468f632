//! Names of variables in words of PowerShell.

use super::words::Word;
use crate::language::cursor::continues_name;

/// The name in `$name` or `[type]$name`.
pub(super) fn plain_name(text: &str) -> Option<String> {
    let text = match text.rfind(']') {
        Some(end) if text.starts_with('[') => text.get(end + 1..)?,
        _ => text,
    };
    let name = text.strip_prefix('$')?;
    (name_length(name) == name.len() && !name.is_empty()).then(|| unscoped(name))
}

/// A name in lower case without the scope in front of it.
pub(super) fn unscoped(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.split_once(':') {
        Some(("script" | "global" | "local" | "private" | "using" | "variable", name)) => {
            name.to_owned()
        }
        _ => lower,
    }
}

/// All names of variables in a word.
pub(super) fn names_in(word: &Word) -> impl Iterator<Item = String> + '_ {
    word.text.match_indices('$').filter_map(|(at, _)| {
        let rest = word.text.get(at + 1..)?;
        let name = rest.get(..name_length(rest))?;
        (!name.is_empty()).then(|| unscoped(name))
    })
}

/// How long the name of a variable is that `text` begins with.
pub(super) fn name_length(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        // `$env:NAME`: a scope belongs to the name where a name follows.
        let is_scope = c == ':'
            && text
                .get(at + 1..)
                .is_some_and(|rest| rest.starts_with(continues_name));
        if !(continues_name(c) || is_scope) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}
