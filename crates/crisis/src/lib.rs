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
#[cfg(test)]
mod plain;
mod scripts;
mod sentences;
mod talk;
mod text;
mod weights;

pub use talk::{FEATURES, Role, Scored, Turn, features as talk_features, talk};

use std::ops::Range;

use sentences::{Part, Sentences};
use weights::WEIGHTS;

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
    best(&mut Sentences::of(text), LOOKED_AT_MAX).map_or(Score::LEAST, |(score, _)| score)
}

/// Returns where the words of a text stand that speak for a crisis most: those whose removal from its most telling
/// part lowers the score most, at most `count`, in the order of the text.
pub fn telling_words(text: &str, count: usize) -> Vec<Range<usize>> {
    let mut sentences = Sentences::of(text);
    let Some((score, part)) = best(&mut sentences, LOOKED_AT_MAX) else {
        return Vec::new();
    };
    let part = part.bytes;
    let words = text::words(text.get(part.clone()).unwrap_or_default());
    let mut drops: Vec<(i32, Range<usize>)> = words
        .take(WORDS_TRIED_MAX)
        .map(|word| {
            let mut without = text.get(part.clone()).unwrap_or_default().to_owned();
            without.replace_range(word.clone(), " ");
            let halves = sentences.of_like(&without);
            let without = halves.map_or(i32::MIN, |(linear, network)| {
                together(&without, linear, network)
            });
            let word = part.start + word.start..part.start + word.end;
            (score.0.saturating_sub(without), word)
        })
        .filter(|(drop, _)| *drop > 0)
        .collect();
    drops.sort_by_key(|(drop, word)| (std::cmp::Reverse(*drop), word.start));
    drops.truncate(count);
    drops.sort_by_key(|(_, word)| word.start);
    drops.into_iter().map(|(_, word)| word).collect()
}

/// Returns the parts of a text that are scored: every two sentences that follow each other, and the
/// whole if it is short.
pub fn parts(text: &str) -> Vec<Range<usize>> {
    let parts = Sentences::of(text).parts();
    parts.into_iter().map(|part| part.bytes).collect()
}

/// Returns the highest score of a text's parts, and which it is. The network looks at as many parts
/// as `windows` says: those the groups find most telling.
fn best(sentences: &mut Sentences<'_>, windows: usize) -> Option<(Score, Part)> {
    let parts = sentences.parts();
    let mut scored: Vec<(i32, Part)> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Some(linear) = sentences.linear(&part) {
            scored.push((linear, part));
        }
    }
    if scored.len() > windows {
        scored.sort_by_key(|(linear, part)| (std::cmp::Reverse(*linear), part.bytes.start));
        scored.truncate(windows);
    }
    let both = |(linear, part): (i32, Part)| {
        let network = sentences.network(&part)?;
        let text = sentences.text(&part);
        Some((Score(together(text, linear, network)), part))
    };
    let all = scored.into_iter().filter_map(both);
    all.max_by_key(|(score, part)| (*score, std::cmp::Reverse(part.bytes.start)))
}

/// Puts the two halves' answers to a text together, and what is added for its script, so that the same limits count
/// for all of them. Where scripts are mixed, the one counts for which most is added.
fn together(text: &str, linear: i32, network: i32) -> i32 {
    let [of_linear, of_network] = WEIGHTS.limits.shares;
    let sum = i64::from(linear) * i64::from(of_linear) + i64::from(network) * i64::from(of_network);
    let added = scripts::counting(text).into_iter().zip(WEIGHTS.scripts);
    let added = added.filter_map(|(counts, added)| counts.then_some(added));
    let sum = (sum >> 10) + i64::from(added.max().unwrap_or_default());
    i32::try_from(sum).unwrap_or(if sum < 0 { i32::MIN } else { i32::MAX })
}

/// The numbers of the letter and word groups in a text, for training.
pub fn groups(text: &str) -> (Vec<u32>, Vec<u32>) {
    grams::groups(&text::fold(text))
}

/// The scripts of a text by their numbers, for training: the most frequent one, and behind it all that count.
pub fn script_ids(text: &str) -> Vec<usize> {
    let counting = scripts::counting(text).into_iter().enumerate();
    let counting = counting.filter_map(|(script, counts)| counts.then_some(script));
    scripts::most_frequent(text)
        .into_iter()
        .chain(counting)
        .collect()
}

/// The numbers of the word pieces in a text, for training.
pub fn piece_ids(text: &str) -> Vec<u32> {
    pieces::ids(&text::fold(text))
}
