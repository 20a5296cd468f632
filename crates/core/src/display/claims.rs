//! Marks text that addresses the person or the firewall: claims of approval, forged controls,
//! instructions to a model, markup. Nothing in it is obeyed.

use super::{Deception, Severity};
use crate::content::tables::CLAIMS;

/// Longest text looked at for claims, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// From this weight on a person must look.
const HIGH_WEIGHT_MIN: u16 = 500;

/// Adds every claim in `text`.
pub(super) fn deceptions(text: &str, found: &mut Vec<Deception>) {
    let bytes = text.as_bytes();
    let bytes = bytes
        .get(..bytes.len().min(TEXT_BYTES_MAX))
        .unwrap_or_default();
    CLAIMS.scan(bytes, |claim, start, end| {
        let severity = if claim.weight < HIGH_WEIGHT_MIN {
            Severity::Low
        } else {
            Severity::High
        };
        found.push(Deception {
            code: claim.code,
            span: (start, end),
            severity,
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_read() {
        let rows = include_str!("../../knowledge/impact_claims.tsv").lines();
        assert_eq!(
            CLAIMS.rows.len(),
            rows.filter(|row| !row.starts_with('#')).count()
        );
        for claim in CLAIMS.rows {
            assert!(claim.regex().is_some(), "{} {}", claim.code, claim.weight);
        }
    }
}
