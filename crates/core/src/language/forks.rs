//! Finds code that forks without end, in any language.
//!
//! The look of it is the same everywhere: a loop whose condition is always true, or a statement that
//! repeats itself, and a call that makes a copy of the process; nothing in it waits or ends.

use crate::knowledge::languages::Names;
use crate::knowledge::names::{ENDLESS_LOOPS, FORK_BOUNDS, FORK_CALLS};

/// Whether `code` makes copies of its process without end.
pub(crate) fn without_end(code: &str) -> bool {
    if code.len() > super::CODE_BYTES_MAX || !(code.contains("fork") || code.contains("spawn")) {
        return false;
    }
    let packed: String = without_strings(code)
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    // Whatever ends with the name ends the call.
    let packed = format!("{packed};");
    let has = |words: &Names| words.iter().any(|word| packed.contains(word));
    has(&ENDLESS_LOOPS) && has(&FORK_CALLS) && !has(&FORK_BOUNDS)
}

/// Returns `code` without what stands in quotes: that is text, not code.
fn without_strings(code: &str) -> String {
    let mut rest = String::new();
    let mut quote = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some(open) if c == open || c == '\n' => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None => rest.push(c),
        }
    }
    rest
}
