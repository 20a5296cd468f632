//! Detects text with consequences for a person's life: medical, legal, financial, employment,
//! safety.
//!
//! What matters is not the topic but the step: *the pharmacy is open* is about medicine, *stop taking your
//! blood thinner* is an act. So each rule ties a verb of doing to what it is done to. Money that goes to an
//! account by a verb of paying weighs most.

pub(crate) mod phrase;

use super::tables::IMPACT;
use crate::score::Score;

/// Most bytes of a text that are looked at.
pub(crate) const TEXT_BYTES_MAX: usize = 256 * 1024;

/// A passage that would change something in a person's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpactFind {
    /// `medical`, `legal`, `finance`, `employment` or `safety`.
    pub kind: &'static str,
    /// Byte offsets in the text.
    pub span: (usize, usize),
    /// How much it weighs.
    pub score: Score,
}

/// Returns the passages of `text` that would change something in a person's life, in the order of their
/// place; of several finds of one kind that overlap, the heaviest.
pub fn scan(text: &str) -> Vec<ImpactFind> {
    let bytes = text.as_bytes();
    let bytes = bytes
        .get(..bytes.len().min(TEXT_BYTES_MAX))
        .unwrap_or_default();
    let mut found: Vec<ImpactFind> = Vec::new();
    IMPACT.scan(bytes, |family, start, end| {
        let find = ImpactFind {
            kind: family.code,
            span: (start, end),
            score: Score::new(family.weight),
        };
        let rival = found
            .iter_mut()
            .find(|other| other.kind == find.kind && start < other.span.1 && other.span.0 < end);
        match rival {
            Some(other) if other.score < find.score => *other = find,
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
        let rows = include_str!("../../knowledge/impact.tsv")
            .lines()
            .filter(|row| !row.starts_with('#'));
        assert_eq!(IMPACT.rows.len(), rows.count());
        for family in IMPACT.rows {
            assert!(
                family.regex().is_some(),
                "{} {}",
                family.code,
                family.weight
            );
        }
    }
}
