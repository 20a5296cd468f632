//! Scores how much a text, or a conversation, sounds like a person in crisis.
//!
//! A small learned model: hashed letter and word groups, weighed linearly, and a network of two
//! convolutions over word pieces. The weights lie in `weights.bin`, which `training/crisis` makes
//! from `corpus/crisis`; docs/crisis.md says what they were measured to do and what not.
//!
//! What holds for every input: integer arithmetic in a fixed order, so that a text has the same
//! score on every machine; time linear in the text; nothing is computed at first use. The crate
//! knows nothing of rules, calls or people: `countersign-core` decides what a score means.

mod grams;
mod network;
mod pieces;
mod talk;
mod text;
mod weights;

pub use talk::{FEATURES, Role, Scored, Turn, features as talk_features, talk};

use std::ops::Range;

use weights::WEIGHTS;

/// Longest text that is also scored as a whole, in bytes; a longer one is scored by its windows.
const WHOLE_BYTES_MAX: usize = 2048;
/// How many windows of a text the network looks at: those the groups find most telling.
const LOOKED_AT_MAX: usize = 48;
/// How many words of a part are tried, one by one, for what they contribute.
const WORDS_TRIED_MAX: usize = 80;
/// Fixed-point one of a score.
const ONE: i32 = 1 << 10;

/// How much a text sounds like a person in crisis. Only the order and the two limits mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i32);

impl Score {
    /// The score of a text in which there is nothing to read.
    pub const LEAST: Self = Self(i32::MIN);

    /// Whether a person must look: beyond this, two of a hundred near-misses lie.
    pub fn holds(self) -> bool {
        self.0 >= WEIGHTS.limits.holds
    }

    /// Whether the model cannot clear the text: beyond this, a tenth of the near-misses lie.
    pub fn is_unsure(self) -> bool {
        self.0 >= WEIGHTS.limits.unsure
    }

    /// Whether a weak sign counts beside it: beyond this, half of the near-misses lie.
    pub fn supports(self) -> bool {
        self.0 >= WEIGHTS.limits.supports
    }

    /// The number itself, for measuring.
    pub const fn value(self) -> i32 {
        self.0
    }
}

/// Scores a text: as a whole if it is short, and by every two sentences that follow each other.
pub fn score(text: &str) -> Score {
    best(text, LOOKED_AT_MAX).map_or(Score::LEAST, |(score, _)| score)
}

/// Returns the words of a text that speak for a crisis most: those whose removal from its most telling
/// part lowers the score most, at most `count`, in the order of the text.
pub fn telling_words(text: &str, count: usize) -> Vec<&str> {
    let Some((score, part)) = best(text, LOOKED_AT_MAX) else {
        return Vec::new();
    };
    let part = text.get(part).unwrap_or_default();
    let words = text::words(part);
    let mut drops: Vec<(i32, Range<usize>)> = words
        .take(WORDS_TRIED_MAX)
        .map(|word| {
            let mut without = part.to_owned();
            without.replace_range(word.clone(), " ");
            let without = of_part(&text::fold(&without)).unwrap_or(i32::MIN);
            (score.0.saturating_sub(without), word)
        })
        .filter(|(drop, _)| *drop > 0)
        .collect();
    drops.sort_by_key(|(drop, word)| (std::cmp::Reverse(*drop), word.start));
    drops.truncate(count);
    drops.sort_by_key(|(_, word)| word.start);
    let words = drops.into_iter().filter_map(|(_, word)| part.get(word));
    words.collect()
}

/// Returns the parts of a text that are scored: every two sentences that follow each other, and the
/// whole if it is short.
pub fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = text::windows(text);
    if text.len() <= WHOLE_BYTES_MAX && parts.len() > 1 {
        parts.push(0..text.len());
    }
    parts
}

/// Returns the highest score of a text's parts, and which it is. The network looks at as many parts
/// as `windows` says: those the groups find most telling.
fn best(text: &str, windows: usize) -> Option<(Score, Range<usize>)> {
    let folded = |part: &Range<usize>| text.get(part.clone()).map(text::fold);
    let linear = |part: Range<usize>| Some((grams::score(&folded(&part)?)?, part));
    let mut scored: Vec<(i32, Range<usize>)> = parts(text).into_iter().filter_map(linear).collect();
    if scored.len() > windows {
        scored.sort_by_key(|(linear, part)| (std::cmp::Reverse(*linear), part.start));
        scored.truncate(windows);
    }
    let both = |(linear, part): (i32, Range<usize>)| {
        let network = network::score(&folded(&part)?);
        Some((Score(together(linear, network)), part))
    };
    let all = scored.into_iter().filter_map(both);
    all.max_by_key(|(score, part)| (*score, std::cmp::Reverse(part.start)))
}

/// Scores a folded text as a whole, if it has a word.
fn of_part(folded: &str) -> Option<i32> {
    Some(together(grams::score(folded)?, network::score(folded)))
}

/// Puts the two halves of the model together.
fn together(linear: i32, network: i32) -> i32 {
    let [of_linear, of_network] = WEIGHTS.limits.shares;
    let sum = i64::from(linear) * i64::from(of_linear) + i64::from(network) * i64::from(of_network);
    i32::try_from(sum >> 10).unwrap_or(if sum < 0 { i32::MIN } else { i32::MAX })
}

/// The numbers of the letter and word groups in a text, for training.
pub fn groups(text: &str) -> (Vec<u32>, Vec<u32>) {
    grams::groups(&text::fold(text))
}

/// The numbers of the word pieces in a text, for training.
pub fn piece_ids(text: &str) -> Vec<u32> {
    pieces::ids(&text::fold(text))
}
