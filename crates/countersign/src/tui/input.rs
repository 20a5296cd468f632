//! A text input: its characters and the cursor.
//!
//! What was pasted may hold anything. It is kept as it is and drawn so that it can be seen.

use std::borrow::Cow;

use countersign_core::display::line;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Whether a text may have several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// It may not; a pasted line break becomes a space.
    One,
    /// It may.
    Many,
}

/// A text that is being typed.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    lines: Lines,
    bytes_max: usize,
    before: String,
    /// What stands behind the cursor.
    after: String,
}

/// Modifier keys. Shift is part of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    Control,
    Alt,
    Other,
}

impl Held {
    fn of(modifiers: KeyModifiers) -> Self {
        match modifiers.difference(KeyModifiers::SHIFT) {
            KeyModifiers::NONE => Self::Nothing,
            KeyModifiers::CONTROL => Self::Control,
            KeyModifiers::ALT => Self::Alt,
            _ => Self::Other,
        }
    }
}

/// A row as it is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// Its text, safe to show.
    pub(crate) text: String,
    /// The cell the cursor stands in, if it stands in this row.
    pub(crate) cursor: Option<usize>,
}

impl Input {
    /// An empty text of up to `bytes_max` bytes.
    pub(crate) const fn new(lines: Lines, bytes_max: usize) -> Self {
        Self {
            lines,
            bytes_max,
            before: String::new(),
            after: String::new(),
        }
    }

    /// Returns what was typed.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// Whether nothing was typed.
    pub(crate) const fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Puts `text` in the place of what was typed, the cursor at its end.
    pub(crate) fn set(&mut self, text: &str) {
        self.after.clear();
        self.before.clear();
        self.insert(text);
    }

    /// Takes what was typed and leaves nothing.
    pub(crate) fn take(&mut self) -> String {
        let text = self.text();
        self.before.clear();
        self.after.clear();
        text
    }

    /// Types or pastes `text`. What does not fit is left out, whole letters only.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = match self.lines {
            Lines::One => text.replace('\n', " "),
            Lines::Many => text,
        };
        let room = self
            .bytes_max
            .saturating_sub(self.before.len() + self.after.len());
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.before.push_str(text.get(..end).unwrap_or_default());
    }

    /// Whether the cursor stands in the first line.
    pub(crate) fn is_in_first_line(&self) -> bool {
        !self.before.contains('\n')
    }

    /// Whether the cursor stands in the last line.
    pub(crate) fn is_in_last_line(&self) -> bool {
        !self.after.contains('\n')
    }

    /// Takes a key; returns whether it was one that edits.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        let KeyEvent {
            code, modifiers, ..
        } = key;
        match (code, Held::of(modifiers)) {
            (KeyCode::Char(letter), Held::Nothing) => {
                self.insert(letter.encode_utf8(&mut [0; 4]));
            }
            (KeyCode::Char('a'), Held::Control) | (KeyCode::Home, Held::Nothing) => {
                self.go_to_line_start();
            }
            (KeyCode::Char('e'), Held::Control) | (KeyCode::End, Held::Nothing) => {
                self.go_to_line_end();
            }
            (KeyCode::Char('u'), Held::Control) => {
                let kept = line_start(&self.before);
                self.before.truncate(kept);
            }
            (KeyCode::Char('k'), Held::Control) => {
                let gone = self.after.find('\n').unwrap_or(self.after.len());
                self.after = self.after.split_off(gone);
            }
            (KeyCode::Char('w'), Held::Control) | (KeyCode::Backspace, Held::Alt) => {
                self.delete_word();
            }
            (KeyCode::Char('b'), Held::Alt) | (KeyCode::Left, Held::Control | Held::Alt) => {
                self.word_left();
            }
            (KeyCode::Char('f'), Held::Alt) | (KeyCode::Right, Held::Control | Held::Alt) => {
                self.word_right();
            }
            (KeyCode::Backspace, Held::Nothing) => drop(pop_last(&mut self.before)),
            (KeyCode::Delete, Held::Nothing) => drop(pop_first(&mut self.after)),
            (KeyCode::Left, Held::Nothing) => self.left(),
            (KeyCode::Right, Held::Nothing) => self.right(),
            (KeyCode::Up, Held::Nothing) if !self.is_in_first_line() => self.line_up(),
            (KeyCode::Down, Held::Nothing) if !self.is_in_last_line() => self.line_down(),
            _ => return false,
        }
        true
    }

    fn left(&mut self) {
        if let Some(letter) = pop_last(&mut self.before) {
            self.after.insert_str(0, &letter);
        }
    }

    fn right(&mut self) {
        if let Some(letter) = pop_first(&mut self.after) {
            self.before.push_str(&letter);
        }
    }

    fn go_to_line_start(&mut self) {
        let moved = self.before.split_off(line_start(&self.before));
        self.after.insert_str(0, &moved);
    }

    fn go_to_line_end(&mut self) {
        let end = self.after.find('\n').unwrap_or(self.after.len());
        let rest = self.after.split_off(end);
        self.before.push_str(&self.after);
        self.after = rest;
    }

    /// Up one line, to the same letter if there is one.
    fn line_up(&mut self) {
        let start = line_start(&self.before);
        let column = letters(self.before.get(start..).unwrap_or_default());
        self.go_to_line_start();
        self.left();
        let length = letters(
            self.before
                .get(line_start(&self.before)..)
                .unwrap_or_default(),
        );
        for _ in column..length {
            self.left();
        }
    }

    fn line_down(&mut self) {
        let column = letters(
            self.before
                .get(line_start(&self.before)..)
                .unwrap_or_default(),
        );
        self.go_to_line_end();
        self.right();
        let end = self.after.find('\n').unwrap_or(self.after.len());
        let length = letters(self.after.get(..end).unwrap_or_default());
        for _ in 0..column.min(length) {
            self.right();
        }
    }

    fn word_left(&mut self) {
        let moved = self.before.split_off(word_start(&self.before));
        self.after.insert_str(0, &moved);
    }

    fn word_right(&mut self) {
        let rest = self.after.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let end = self.after.len() - rest.len() + end;
        let left = self.after.split_off(end);
        self.before.push_str(&self.after);
        self.after = left;
    }

    fn delete_word(&mut self) {
        let kept = word_start(&self.before);
        self.before.truncate(kept);
    }

    /// Returns the rows at `width` cells, one of them with the cursor.
    pub(crate) fn drawn(&self, width: usize) -> Vec<Drawn> {
        let mut page = Page {
            rows: Vec::new(),
            row: Drawn::default(),
            cells: 0,
            width: width.max(2),
        };
        for letter in self.before.graphemes(true) {
            page.put(letter);
        }
        page.row.cursor = Some(page.cells);
        for letter in self.after.graphemes(true) {
            page.put(letter);
        }
        page.break_row();
        page.rows
    }
}

/// Rows that are being filled.
struct Page {
    rows: Vec<Drawn>,
    row: Drawn,
    cells: usize,
    width: usize,
}

impl Page {
    fn put(&mut self, letter: &str) {
        if letter == "\n" {
            self.break_row();
            return;
        }
        let shown = visible(letter);
        let cells = shown.width();
        // The cursor needs a cell of its own behind the last letter.
        if self.cells + cells >= self.width && self.cells > 0 {
            self.break_row();
        }
        self.row.text.push_str(&shown);
        self.cells += cells;
    }

    fn break_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        self.cells = 0;
    }
}

/// Returns a letter as it is drawn: one that has no width, or does something to a terminal, is
/// written out.
fn visible(letter: &str) -> Cow<'_, str> {
    if letter == "\t" {
        return Cow::Borrowed("    ");
    }
    let is_plain = letter.width() > 0 && !letter.chars().any(char::is_control);
    if is_plain {
        Cow::Borrowed(letter)
    } else {
        Cow::Owned(line(letter))
    }
}

fn letters(text: &str) -> usize {
    text.graphemes(true).count()
}

fn line_start(text: &str) -> usize {
    text.rfind('\n').map_or(0, |at| at + 1)
}

fn word_start(text: &str) -> usize {
    let trimmed = text.trim_end();
    trimmed.rfind(char::is_whitespace).map_or(0, |at| {
        at + trimmed
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    })
}

fn pop_last(text: &mut String) -> Option<String> {
    let at = text.grapheme_indices(true).next_back()?.0;
    Some(text.split_off(at))
}

fn pop_first(text: &mut String) -> Option<String> {
    let length = text.graphemes(true).next()?.len();
    let rest = text.split_off(length);
    Some(std::mem::replace(text, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[(KeyCode, KeyModifiers)]) -> Input {
        let mut input = Input::new(Lines::Many, 1_000);
        input.insert("one two\nthree");
        for (code, modifiers) in keys {
            assert!(input.key(KeyEvent::new(*code, *modifiers)), "{code:?}");
        }
        input
    }

    #[test]
    fn keys_edit_as_people_expect() {
        let (plain, control, alt) = (KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT);
        let x = (KeyCode::Char('X'), KeyModifiers::SHIFT);
        let rows = [
            ("at the end", vec![x], "one two\nthreeX"),
            ("left", vec![(KeyCode::Left, plain), x], "one two\nthreXe"),
            (
                "to the line's start",
                vec![(KeyCode::Home, plain), x],
                "one two\nXthree",
            ),
            (
                "up a line",
                vec![(KeyCode::Up, plain), x],
                "one tXwo\nthree",
            ),
            (
                "up and down",
                vec![(KeyCode::Up, plain), (KeyCode::Down, plain), x],
                "one two\nthreeX",
            ),
            (
                "a word back",
                vec![(KeyCode::Left, control), x],
                "one two\nXthree",
            ),
            (
                "a word out",
                vec![(KeyCode::Char('w'), control), x],
                "one two\nX",
            ),
            (
                "the line out",
                vec![(KeyCode::Char('u'), control), x],
                "one two\nX",
            ),
            (
                "backspace",
                vec![(KeyCode::Backspace, plain)],
                "one two\nthre",
            ),
            (
                "words back and forth",
                vec![(KeyCode::Char('b'), alt), (KeyCode::Char('f'), alt), x],
                "one two\nthreeX",
            ),
        ];
        for (name, keys, wanted) in rows {
            assert_eq!(typed(&keys).text(), wanted, "{name}");
        }
    }

    #[test]
    fn a_letter_of_several_characters_is_one_letter() {
        let mut input = Input::new(Lines::One, 1_000);
        input.insert("a👨‍👩‍👧e\u{301}");
        let back = KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE);
        assert!(input.key(back));
        assert_eq!(input.text(), "a👨‍👩‍👧");
        assert!(input.key(back));
        assert_eq!(input.text(), "a");
    }

    #[test]
    fn what_is_pasted_is_kept_and_drawn_visibly() {
        let mut input = Input::new(Lines::One, 40);
        input.insert("a\r\nb\u{202e}\u{1b}[2J");
        assert_eq!(input.text(), "a b\u{202e}\u{1b}[2J");
        let drawn: String = input.drawn(80).into_iter().map(|row| row.text).collect();
        assert!(drawn.starts_with("a b⟨U+202E⟩"), "{drawn}");
        assert!(!drawn.contains('\u{1b}'), "{drawn}");
        input.insert(&"é".repeat(100));
        assert!(input.text().len() <= 40);
    }

    #[test]
    fn the_cursor_always_has_a_cell() {
        let mut input = Input::new(Lines::Many, 1_000);
        input.insert("日本語 abc");
        for width in 2..20 {
            let rows = input.drawn(width);
            let cursors: Vec<usize> = rows.iter().filter_map(|row| row.cursor).collect();
            assert_eq!(cursors.len(), 1, "{width}");
            assert!(
                cursors.iter().all(|cell| *cell <= width),
                "{width} {rows:?}"
            );
        }
    }
}
