//! Dates that PowerShell writes into names: `reports-$(Get-Date -Format yyyyMMdd)`.
//!
//! What a date is written like is known before it is known which date it is. The pattern stands for it, as long
//! as it holds nothing but letters of dates and signs that have no meaning in a path.

use super::values::{Value, Values};
use super::words::{Split, Word};

/// Shortest pattern that is one: a single letter stands for a format of the system, with slashes and colons.
const PATTERN_MIN: usize = 2;
/// Longest pattern.
const PATTERN_MAX: usize = 32;

/// Returns the pattern of the date that an expression writes.
pub(super) fn stand_in(values: &Values, split: &Split, words: &[Word]) -> Option<String> {
    let pattern = match words {
        // `Get-Date -Format yyyyMMdd`
        [cmdlet, option, pattern] if is_now(cmdlet) => {
            let is_format = option.text.eq_ignore_ascii_case("-format") && option.is_parameter();
            (is_format && !pattern.is_computed()).then(|| pattern.text.clone())?
        }
        // `(Get-Date).ToString('yyyyMMdd')`
        [now, method] => {
            let (_, only) = values.only_command(split, now.group.filter(|_| !now.is_invoked)?)?;
            let is_text = method.is_invoked && method.text.eq_ignore_ascii_case(".tostring");
            let is_now = matches!(only.words.as_slice(), [cmdlet] if is_now(cmdlet));
            match values.method_argument(split, method) {
                Value::Known(texts) if is_text && is_now => texts.into_iter().next()?,
                Value::Known(_) | Value::Found | Value::Assembled => return None,
            }
        }
        _ => return None,
    };
    let is_part = |c: char| "yMdHhmsf-_".contains(c);
    ((PATTERN_MIN..=PATTERN_MAX).contains(&pattern.len()) && pattern.chars().all(is_part))
        .then_some(pattern)
}

fn is_now(word: &Word) -> bool {
    !word.is_quoted && word.text.eq_ignore_ascii_case("get-date")
}
