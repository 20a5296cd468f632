//! The linear half: which groups of letters and words stand in a text.
//!
//! Groups are hashed into tables of weights, so the model has no list of words. A group counts once,
//! and a text's groups share one vote, so that a long text is not louder than a short one.

use crate::text::is_of_word;
use crate::weights::WEIGHTS;

/// Letters of the shortest and the longest group.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=5;
const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// The groups of a piece of text, as places in the tables. A place may stand there several times.
#[derive(Default)]
pub(crate) struct Groups {
    letters: Vec<u32>,
    words: Vec<u32>,
    first_word: Option<String>,
    last_word: Option<String>,
}

impl Groups {
    /// Returns the groups of a folded text.
    pub(crate) fn of(folded: &str) -> Self {
        let mut groups = Self::default();
        let mut before: Option<&str> = None;
        let mut first = None;
        let runs = folded.split(|letter| !is_of_word(letter));
        for word in runs.filter(|word| !word.is_empty()) {
            add_letters(word, &mut groups.letters);
            groups.words.push(word_place(hash(OFFSET ^ 1, word)));
            if let Some(before) = before {
                groups.words.push(pair_place(before, word));
            }
            first = first.or(Some(word));
            before = Some(word);
        }
        groups.first_word = first.map(str::to_owned);
        groups.last_word = before.map(str::to_owned);
        groups
    }
}

/// What was counted in the part that is being weighed: one bit for each place of a table. It is used again for the next
/// part, because clearing what was counted takes less than a fresh one.
#[derive(Default)]
pub(crate) struct Counted {
    letters: Places,
    words: Places,
}

#[derive(Default)]
struct Places {
    bits: Vec<u64>,
    taken: Vec<u32>,
    sum: i64,
}

impl Places {
    fn count(&mut self, place: u32, weights: &[u8]) {
        let at = usize::try_from(place).unwrap_or_default();
        if self.bits.is_empty() {
            self.bits.resize(weights.len().div_ceil(64), 0);
        }
        let Some(word) = self.bits.get_mut(at / 64) else {
            return;
        };
        let bit = 1 << (at % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.taken.push(place);
            self.sum += weights
                .get(at)
                .map_or(0, |byte| i64::from(byte.cast_signed()));
        }
    }

    /// Returns the vote of what was counted, divided by the root of their number, and forgets it.
    fn vote(&mut self) -> i64 {
        let count = self.taken.len() as u64;
        for place in self.taken.drain(..) {
            let at = usize::try_from(place).unwrap_or_default();
            if let Some(word) = self.bits.get_mut(at / 64) {
                *word = 0;
            }
        }
        let sum = std::mem::take(&mut self.sum);
        // Twenty bits behind the point of the root's square are ten behind the point of the root.
        let root = (count << 20).isqrt().cast_signed();
        (sum * WEIGHTS.linear.scale)
            .checked_div(root)
            .unwrap_or_default()
    }
}

impl Counted {
    /// Returns the weight of a text made of these pieces, if it has a word. No word may lie across two of them.
    pub(crate) fn score<'g>(
        &mut self,
        pieces: impl IntoIterator<Item = &'g Groups>,
    ) -> Option<i32> {
        let linear = &WEIGHTS.linear;
        let mut before: Option<&str> = None;
        for piece in pieces {
            for place in &piece.letters {
                self.letters.count(*place, linear.letters);
            }
            for place in &piece.words {
                self.words.count(*place, linear.words);
            }
            if let (Some(before), Some(word)) = (before, piece.first_word.as_deref()) {
                self.words.count(pair_place(before, word), linear.words);
            }
            before = piece.last_word.as_deref().or(before);
        }
        before?;
        let sum = self.letters.vote() + self.words.vote() + linear.bias;
        Some(i32::try_from(sum).unwrap_or(0))
    }
}

/// Returns the numbers of the groups of letters and of words, each once, in order.
pub(crate) fn groups(folded: &str) -> (Vec<u32>, Vec<u32>) {
    let Groups {
        mut letters,
        mut words,
        ..
    } = Groups::of(folded);
    for places in [&mut letters, &mut words] {
        places.sort_unstable();
        places.dedup();
    }
    (letters, words)
}

/// Adds the groups of letters of a word with a blank at each end.
fn add_letters(word: &str, found: &mut Vec<u32>) {
    let bounded = || std::iter::once(' ').chain(word.chars()).chain([' ']);
    let mut rest = bounded();
    loop {
        let mut hash = step(OFFSET, 0xff);
        let mut bytes = [0; 4];
        for (count, letter) in (1..=*LETTERS.end()).zip(rest.clone()) {
            hash = letter.encode_utf8(&mut bytes).bytes().fold(hash, step);
            if LETTERS.contains(&count) {
                found.push(letter_place(hash));
            }
        }
        if rest.next().is_none() {
            return;
        }
    }
}

fn pair_place(before: &str, word: &str) -> u32 {
    word_place(hash(hash(OFFSET ^ 2, before), word))
}

fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(PRIME)
}

/// FNV-1a, with its bits mixed once more by [`place`].
fn hash(start: u32, text: &str) -> u32 {
    text.bytes().fold(step(start, 0xff), step)
}

fn letter_place(hash: u32) -> u32 {
    place(hash, WEIGHTS.linear.letters.len())
}

fn word_place(hash: u32) -> u32 {
    place(hash, WEIGHTS.linear.words.len())
}

fn place(hash: u32, slots: usize) -> u32 {
    let slots = u32::try_from(slots).unwrap_or(1).max(1);
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    (mixed ^ (mixed >> 12)) % slots
}
