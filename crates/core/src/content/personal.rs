//! Detects personal data in a text: identifying numbers, contact data, location, health, pay.
//!
//! A number counts only when its own check holds or a word says what it is: an order number is not a card, a
//! version is not an address. Personal data alone never stops a call; it weighs.

mod check;

use super::tables::PERSONAL;
use crate::score::Score;

/// Most bytes of a text that are looked at.
pub(crate) const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The finding that a text which leaves holds personal data.
pub(crate) const CODE: &str = "content.personal";

/// A piece of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalFind {
    /// What a person calls it: `card`, `phone`, `health`.
    pub kind: &'static str,
    /// Byte offsets in the text.
    pub span: (usize, usize),
    /// How sensitive it is.
    pub weight: Score,
}

/// Returns the personal data in `text`, in the order of its place; where two kinds overlap, the more
/// sensitive.
pub fn scan(text: &str) -> Vec<PersonalFind> {
    let bytes = text.as_bytes();
    let bytes = bytes
        .get(..bytes.len().min(TEXT_BYTES_MAX))
        .unwrap_or_default();
    let mut found: Vec<PersonalFind> = Vec::new();
    PERSONAL.scan(bytes, |family, start, end| {
        let Some(value) = bytes.get(start..end) else {
            return;
        };
        let before = bytes
            .get(start.saturating_sub(check::CONTEXT_BYTES)..start)
            .unwrap_or_default();
        let Some(length) = check::holds(family.check, value, before) else {
            return;
        };
        let find = PersonalFind {
            kind: family.code,
            span: (start, start + length),
            weight: Score::new(family.weight),
        };
        let rival = found
            .iter_mut()
            .find(|other| find.span.0 < other.span.1 && other.span.0 < find.span.1);
        match rival {
            Some(other) if other.weight < find.weight => *other = find,
            Some(_) => {}
            None => found.push(find),
        }
    });
    found.sort_by_key(|find| find.span);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_read() {
        let rows = include_str!("../../knowledge/personal.tsv")
            .lines()
            .filter(|row| !row.starts_with('#'));
        assert_eq!(PERSONAL.rows.len(), rows.count());
        for family in PERSONAL.rows {
            assert!(
                family.regex().is_some(),
                "{} {}",
                family.code,
                family.weight
            );
            assert!(
                check::is_known(family.check),
                "{}: {}",
                family.code,
                family.check
            );
        }
    }
}
