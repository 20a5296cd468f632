//! Cuts words into the pieces the network knows, the longest first.

use crate::text::is_of_word;
use crate::weights::{Pieces, WEIGHTS};

/// The piece that stands for what is not known.
const UNKNOWN: u32 = 0;
/// A longer word is not cut into pieces, in bytes.
const WORD_BYTES_MAX: usize = 200;

/// Returns the pieces of a folded text.
pub(crate) fn ids(folded: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut rest = folded;
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|letter| !is_of_word(letter) || is_ideograph(letter))
            .unwrap_or(rest.len());
        let (taken, after) = rest.split_at(if word == 0 { first.len_utf8() } else { word });
        if !first.is_whitespace() {
            add_word(taken, &mut found);
        }
        rest = after;
    }
    found
}

/// Chinese is written without spaces: each sign is a word.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

fn add_word(word: &str, found: &mut Vec<u32>) {
    let before = found.len();
    let mut rest = word;
    let mut table = &WEIGHTS.first_pieces;
    while !rest.is_empty() {
        let Some((id, length)) = longest(table, rest).filter(|_| word.len() <= WORD_BYTES_MAX)
        else {
            found.truncate(before);
            found.push(UNKNOWN);
            return;
        };
        found.push(id);
        rest = rest.get(length..).unwrap_or_default();
        table = &WEIGHTS.later_pieces;
    }
}

/// Returns the longest piece a text begins with, and its length.
fn longest(table: &Pieces, text: &str) -> Option<(u32, usize)> {
    let mut end = text.floor_char_boundary(table.longest);
    while end > 0 {
        let id = table.find(text.get(..end)?);
        if let Some(id) = id {
            return Some((id, end));
        }
        end = text.floor_char_boundary(end - 1);
    }
    None
}
