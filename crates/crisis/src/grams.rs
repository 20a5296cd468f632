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

/// Returns the weight of a folded text, if it has a word.
pub(crate) fn score(folded: &str) -> Option<i32> {
    let (letters, words) = groups(folded);
    if words.is_empty() {
        return None;
    }
    let linear = &WEIGHTS.linear;
    let sum = vote(&letters, linear.letters) + vote(&words, linear.words) + linear.bias;
    Some(i32::try_from(sum).unwrap_or(0))
}

/// Adds up the weights of groups and divides by the root of their number.
fn vote(groups: &[u32], weights: &[u8]) -> i64 {
    let weight = |group: &u32| {
        let at = usize::try_from(*group).ok()?;
        weights.get(at).map(|byte| i64::from(byte.cast_signed()))
    };
    let sum: i64 = groups.iter().filter_map(weight).sum();
    // Twenty bits behind the point of the root's square are ten behind the point of the root.
    let root = ((groups.len() as u64) << 20).isqrt().cast_signed();
    (sum * WEIGHTS.linear.scale)
        .checked_div(root)
        .unwrap_or_default()
}

/// Returns the numbers of the groups of letters and of words, each once.
pub(crate) fn groups(folded: &str) -> (Vec<u32>, Vec<u32>) {
    let (mut letters, mut words) = (Vec::new(), Vec::new());
    let mut before: Option<&str> = None;
    let mut bounded = String::new();
    let runs = folded.split(|letter| !is_of_word(letter));
    for word in runs.filter(|word| !word.is_empty()) {
        bounded.clear();
        bounded.extend([" ", word, " "]);
        add_letters(&bounded, &mut letters);
        words.push(hash(OFFSET ^ 1, word));
        if let Some(before) = before {
            words.push(hash(hash(OFFSET ^ 2, before), word));
        }
        before = Some(word);
    }
    (
        places(letters, WEIGHTS.linear.letters.len()),
        places(words, WEIGHTS.linear.words.len()),
    )
}

fn add_letters(bounded: &str, found: &mut Vec<u32>) {
    let ends: Vec<usize> = bounded
        .char_indices()
        .map(|(at, _)| at)
        .chain([bounded.len()])
        .collect();
    for (first, start) in ends.iter().enumerate() {
        let ends = LETTERS.filter_map(|count| ends.get(first + count));
        found.extend(ends.filter_map(|end| Some(hash(OFFSET, bounded.get(*start..*end)?))));
    }
}

/// FNV-1a, with its bits mixed once more by [`places`].
fn hash(start: u32, text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    text.bytes().fold(step(start, 0xff), step)
}

fn places(mut hashes: Vec<u32>, slots: usize) -> Vec<u32> {
    let slots = u32::try_from(slots).unwrap_or(1).max(1);
    for hash in &mut hashes {
        let mixed = (*hash ^ (*hash >> 15)).wrapping_mul(0x2c1b_3c6d);
        *hash = (mixed ^ (mixed >> 12)) % slots;
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}
