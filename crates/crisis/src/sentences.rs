//! A text as its sentences, each folded and read once, however many parts it stands in.
//!
//! A part is scored as if it alone were folded and cut into words. That is the same as putting together what was
//! read of its sentences, unless a letter or a word would grow across the border of two of them; such a part is read
//! by itself.

use std::cell::OnceCell;
use std::ops::Range;

use crate::grams::{Counted, Groups};
use crate::network::Network;
use crate::pieces;
use crate::text::{self, begins_anew, is_of_word};

/// Longest text that is also scored as a whole, in bytes; a longer one is scored by its windows.
const WHOLE_BYTES_MAX: usize = 2048;

/// A piece of text as it was read.
struct Read {
    folded: String,
    groups: Groups,
    ids: OnceCell<Vec<u32>>,
}

impl Read {
    fn of(text: &str) -> Self {
        let folded = text::fold(text);
        Self {
            groups: Groups::of(&folded),
            folded,
            ids: OnceCell::new(),
        }
    }

    fn ids(&self) -> &[u32] {
        self.ids.get_or_init(|| pieces::ids(&self.folded))
    }
}

/// A text whose parts are scored.
pub(crate) struct Sentences<'t> {
    text: &'t str,
    /// Where each sentence ends; the first begins at the beginning, every other where one ends.
    ends: Vec<usize>,
    /// The sentences, and behind them what has no word any more.
    read: Vec<Read>,
    /// Whether each can be put behind the one before it as it is.
    joins: Vec<bool>,
    counted: Counted,
    network: Network,
}

/// A part of a text: so many of its sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    sentences: Range<usize>,
    pub(crate) bytes: Range<usize>,
}

impl<'t> Sentences<'t> {
    /// Reads the sentences of a text.
    pub(crate) fn of(text: &'t str) -> Self {
        let ranges = text::sentences(text);
        let mut ends: Vec<usize> = ranges.iter().map(|range| range.end).collect();
        if ends.last().is_some_and(|end| *end < text.len()) && text.len() <= WHOLE_BYTES_MAX {
            ends.push(text.len());
        }
        let mut read: Vec<Read> = Vec::with_capacity(ends.len());
        let mut joins = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in &ends {
            let piece = text.get(start..*end).unwrap_or_default();
            let next = Read::of(piece);
            let joined = read.last().is_some_and(|before| {
                let one = before.folded.chars().next_back();
                let other = next.folded.chars().next();
                begins_anew(piece)
                    && !(one.is_some_and(is_of_word) && other.is_some_and(is_of_word))
            });
            read.push(next);
            joins.push(joined);
            start = *end;
        }
        Self {
            text,
            ends,
            read,
            joins,
            counted: Counted::default(),
            network: Network::default(),
        }
    }

    /// Returns the parts that are scored: every two sentences that follow each other, and the whole if it is short.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let windows = text::windows(self.text).into_iter().enumerate();
        let mut parts: Vec<Part> = windows
            .map(|(first, bytes)| {
                let last = self.ends.partition_point(|end| *end < bytes.end);
                let sentences = first..last + 1;
                Part { sentences, bytes }
            })
            .collect();
        if self.text.len() <= WHOLE_BYTES_MAX && parts.len() > 1 {
            parts.push(Part {
                sentences: 0..self.ends.len(),
                bytes: 0..self.text.len(),
            });
        }
        parts
    }

    /// Returns a part as it was written.
    pub(crate) fn text(&self, part: &Part) -> &'t str {
        self.text.get(part.bytes.clone()).unwrap_or_default()
    }

    /// Returns the linear half's answer to a part, if it has a word.
    pub(crate) fn linear(&mut self, part: &Part) -> Option<i32> {
        if self.is_joined(part) {
            let read = self.read.get(part.sentences.clone())?;
            return self.counted.score(read.iter().map(|it| &it.groups));
        }
        let alone = text::fold(self.text.get(part.bytes.clone())?);
        self.counted.score([&Groups::of(&alone)])
    }

    /// Returns the network's answer to a part.
    pub(crate) fn network(&mut self, part: &Part) -> Option<i32> {
        if self.is_joined(part) {
            let read = self.read.get(part.sentences.clone())?;
            let ids: Vec<u32> = read.iter().flat_map(Read::ids).copied().collect();
            return Some(self.network.score(&ids));
        }
        let alone = text::fold(self.text.get(part.bytes.clone())?);
        Some(self.network.score(&pieces::ids(&alone)))
    }

    /// Returns both halves' answers to a text that is nearly one of the parts, if it has a word.
    pub(crate) fn of_like(&mut self, text: &str) -> Option<(i32, i32)> {
        let folded = text::fold(text);
        let linear = self.counted.score([&Groups::of(&folded)])?;
        Some((linear, self.network.score(&pieces::ids(&folded))))
    }

    fn is_joined(&self, part: &Part) -> bool {
        let behind_first = part.sentences.start + 1..part.sentences.end;
        let joins = self.joins.get(behind_first).unwrap_or_default();
        joins.iter().all(|joined| *joined)
    }
}
