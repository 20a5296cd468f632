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
    if word.len() > WORD_BYTES_MAX {
        found.push(UNKNOWN);
        return;
    }
    let before = found.len();
    let mut rest = word;
    let mut table = &WEIGHTS.first_pieces;
    while !rest.is_empty() {
        let Some((id, length)) = longest(table, rest) else {
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
    let mut begin = text.as_bytes();
    while !begin.is_empty() {
        // What the text begins with stands before it in the order, as near as possible: nothing longer than what
        // the two have in common can be a beginning, too.
        let (id, piece) = table.last_up_to(begin)?;
        let pairs = piece.iter().zip(begin);
        let common = pairs.take_while(|(one, other)| one == other).count();
        if common == piece.len() {
            return Some((id, common));
        }
        begin = begin.get(..common)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, length by length.
    fn longest_by_trying(table: &Pieces, text: &str) -> Option<(u32, usize)> {
        let all = (1..=text.len()).rev();
        let all = all.filter_map(|end| Some((text.get(..end)?, end)));
        let mut found = all.filter_map(|(begin, end)| {
            let (id, piece) = table.last_up_to(begin.as_bytes())?;
            (piece == begin.as_bytes()).then_some((id, end))
        });
        found.next()
    }

    #[test]
    fn the_longest_piece_is_found() {
        for table in [&WEIGHTS.first_pieces, &WEIGHTS.later_pieces] {
            for word in [
                "a",
                "abandoned",
                "zzzz",
                "übermorgen",
                "самоубийство",
                "चाहता",
                "어제는",
                "x9x9",
                "internationalisation",
                "ａ",
                "\u{1f600}",
                "ments",
                "ßß",
                "kaçırmak",
            ] {
                let starts = word.char_indices().filter_map(|(at, _)| word.get(at..));
                for text in starts {
                    assert_eq!(
                        longest(table, text),
                        longest_by_trying(table, text),
                        "{text}"
                    );
                }
            }
        }
    }
}
