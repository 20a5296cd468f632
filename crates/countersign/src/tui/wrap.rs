//! Wraps text into rows by cell width. Every character is kept, in order.
//!
//! Breaking takes time in proportion to the text, and is done again only when the width changes, so
//! a line of a hundred thousand characters is no trouble at sixty frames a second.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Where a row may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// Behind a space, if there is one. A space that does not fit hangs over the edge.
    Words,
    /// Anywhere: code is shown cell by cell, and every space of it counts.
    Anywhere,
}

/// A text and how it is broken.
#[derive(Clone, Debug)]
pub(crate) struct Wrapped {
    text: String,
    how: Break,
    /// The width it was last broken for.
    width: usize,
    rows: Vec<Range<usize>>,
}

impl Wrapped {
    /// Takes a text that is safe to show.
    pub(crate) fn new(text: impl Into<String>, how: Break) -> Self {
        Self {
            text: text.into(),
            how,
            width: 0,
            rows: Vec::new(),
        }
    }

    /// Returns how many rows it has at `width` cells.
    pub(crate) fn rows(&mut self, width: usize) -> usize {
        self.broken(width).len()
    }

    /// Returns row `number` at `width` cells.
    pub(crate) fn row(&mut self, number: usize, width: usize) -> Option<&str> {
        let range = self.broken(width).get(number)?.clone();
        self.text.get(range)
    }

    /// Returns where row `number` stands in the text at `width` cells.
    pub(crate) fn range(&mut self, number: usize, width: usize) -> Option<Range<usize>> {
        self.broken(width).get(number).cloned()
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn broken(&mut self, width: usize) -> &[Range<usize>] {
        let width = width.max(1);
        if self.width != width {
            self.rows = ranges(&self.text, width, self.how);
            self.width = width;
        }
        &self.rows
    }
}

/// Returns the rows of `text` at `width` cells.
pub(crate) fn rows(text: &str, width: usize, how: Break) -> Vec<&str> {
    ranges(text, width.max(1), how)
        .into_iter()
        .filter_map(|range| text.get(range))
        .collect()
}

/// Returns as much of `text` as fits `width` cells, with `…` where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut cells = 0;
    for grapheme in text.graphemes(true) {
        cells += grapheme.width();
        if cells >= width {
            break;
        }
        out.push_str(grapheme);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

fn ranges(text: &str, width: usize, how: Break) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        break_line(line, start, width, how, &mut rows);
        start += line.len() + 1;
    }
    rows
}

fn break_line(line: &str, offset: usize, width: usize, how: Break, rows: &mut Vec<Range<usize>>) {
    let mut row = Row::default();
    for (at, grapheme) in line.grapheme_indices(true) {
        let cells = grapheme.width();
        let is_space = grapheme == " ";
        let hangs = how == Break::Words && is_space;
        if row.cells + cells > width && at > row.start && !hangs {
            let end = match (how, row.space) {
                (Break::Words, Some((end, _))) => end,
                (Break::Words | Break::Anywhere, _) => at,
            };
            rows.push(offset + row.start..offset + end);
            let kept = match (how, row.space) {
                (Break::Words, Some((_, before))) => row.cells.saturating_sub(before),
                (Break::Words | Break::Anywhere, _) => 0,
            };
            row = Row {
                start: end,
                cells: kept,
                space: None,
            };
        }
        row.cells += cells;
        if is_space {
            row.space = Some((at + grapheme.len(), row.cells));
        }
    }
    rows.push(offset + row.start..offset + line.len());
}

/// A row that is being filled.
#[derive(Clone, Copy, Default)]
struct Row {
    /// Where it begins, in bytes.
    start: usize,
    /// How wide it is.
    cells: usize,
    /// Behind its last space: where, and how wide it is up to there.
    space: Option<(usize, usize)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_wide_as_cells_are() {
        let rows_of = [
            ("short", "ls", 4, vec!["ls"]),
            ("empty", "", 4, vec![""]),
            ("exact", "abcd", 4, vec!["abcd"]),
            ("longer", "abcdefghi", 4, vec!["abcd", "efgh", "i"]),
            ("lines", "a\n\nb", 4, vec!["a", "", "b"]),
            ("wide letters", "日本語x", 4, vec!["日本", "語x"]),
            ("a wide letter at the edge", "a日本", 4, vec!["a日", "本"]),
            ("joined emoji", "ab👨‍👩‍👧c", 4, vec!["ab👨‍👩‍👧", "c"]),
            (
                "marks stay with their letter",
                "abce\u{301}f",
                4,
                vec!["abce\u{301}", "f"],
            ),
            ("no room for a wide letter", "日本", 1, vec!["日", "本"]),
            ("spaces count in code", "a    b", 4, vec!["a   ", " b"]),
        ];
        for (name, text, width, wanted) in rows_of {
            assert_eq!(rows(text, width, Break::Anywhere), wanted, "{name}");
        }
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        let rows_of = [
            ("two words", "ab cd", 4, vec!["ab ", "cd"]),
            ("a space hangs over", "abcd ef", 4, vec!["abcd ", "ef"]),
            (
                "a long word is broken",
                "a bcdefgh",
                4,
                vec!["a ", "bcde", "fgh"],
            ),
            ("several", "one two three", 8, vec!["one two ", "three"]),
            ("wide", "日本 語", 5, vec!["日本 ", "語"]),
        ];
        for (name, text, width, wanted) in rows_of {
            assert_eq!(rows(text, width, Break::Words), wanted, "{name}");
        }
    }

    #[test]
    fn every_character_stays_at_every_width() {
        let text = "rm -rf ⟨U+202E⟩ /srv/日本語/e\u{301} 👨‍👩‍👧  two  spaces\n\nend ";
        for width in 1..60 {
            for how in [Break::Words, Break::Anywhere] {
                let mut wrapped = Wrapped::new(text, how);
                let count = wrapped.rows(width);
                let mut all = String::new();
                for number in 0..count {
                    all.push_str(wrapped.row(number, width).unwrap());
                }
                assert_eq!(all, text.replace('\n', ""), "{width} {how:?}");
            }
        }
    }

    #[test]
    fn a_very_long_line_is_broken_once_for_each_width() {
        let text = "x".repeat(100_000);
        let mut wrapped = Wrapped::new(text, Break::Anywhere);
        assert_eq!(wrapped.rows(80), 1_250);
        let first = wrapped.rows.as_ptr();
        assert_eq!(wrapped.rows(80), 1_250);
        assert_eq!(wrapped.rows.as_ptr(), first, "it was broken again");
        assert_eq!(wrapped.rows(40), 2_500);
    }

    #[test]
    fn what_is_cut_says_so() {
        let rows = [
            ("ls", 4, "ls"),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abc…"),
            ("日本語", 4, "日…"),
            ("abc", 0, ""),
        ];
        for (text, width, wanted) in rows {
            assert_eq!(cut(text, width), wanted, "{text}");
        }
    }
}
