//! Decides how much of a partial answer may be shown.
//!
//! Law 1: nothing that touches a person in crisis goes out without a person's yes. An answer is
//! therefore shown sentence by sentence, each only after all that was written so far was looked at.
//! The moment a sign is found nothing more is shown; the answer becomes a draft for people. Where a second reader is in
//! use, nothing more is shown from the moment on that the words leave it open, until it has read the whole answer.

use countersign_core::content::crisis::{self, Reading, Sensitivity};

/// How much of what was shown before is looked at again with each sentence, in bytes: signs span
/// sentences, but not pages. At the end all of it is looked at.
const WINDOW_BYTES: usize = 2048;
/// Text without the end of a sentence is shown up to its last space once it is longer than this.
const SENTENCE_BYTES_MAX: usize = 240;

/// An answer as it is being written.
#[derive(Debug, Default)]
pub struct Guard {
    text: String,
    shown: usize,
    tripped: bool,
    sensitivity: Sensitivity,
    is_read_again: bool,
    paused: bool,
}

impl Guard {
    /// Returns a guard that holds as much as the owner wants. With a second reader, it pauses where it is not sure.
    pub fn new(sensitivity: Sensitivity, is_read_again: bool) -> Self {
        Self {
            sensitivity,
            is_read_again,
            ..Self::default()
        }
    }

    /// Adds a piece, and returns what may be shown now.
    pub fn push(&mut self, piece: &str) -> Option<&str> {
        self.text.push_str(piece);
        if self.tripped || self.paused {
            return None;
        }
        let end = self.shown + shows(self.text.get(self.shown..)?);
        if end == self.shown {
            return None;
        }
        let from = self
            .text
            .floor_char_boundary(self.shown.saturating_sub(WINDOW_BYTES));
        self.look_from(from);
        if self.tripped || self.paused {
            return None;
        }
        let start = self.shown;
        self.shown = end;
        self.text.get(start..end)
    }

    /// Ends the answer, and returns what may be shown of its rest.
    pub fn finish(&mut self) -> Option<&str> {
        if !self.tripped {
            self.look_from(0);
        }
        if self.tripped || self.paused {
            return None;
        }
        self.rest()
    }

    /// Returns what was not shown, after a second reader saw no sign in the answer.
    pub fn resume(&mut self) -> Option<&str> {
        if self.tripped {
            return None;
        }
        self.paused = false;
        self.rest()
    }

    fn rest(&mut self) -> Option<&str> {
        let start = self.shown;
        self.shown = self.text.len();
        self.text.get(start..).filter(|rest| !rest.is_empty())
    }

    fn look_from(&mut self, from: usize) {
        let text = self.text.get(from..).unwrap_or_default();
        match crisis::read(text, &[]).at(self.sensitivity) {
            Reading::Clear => {}
            Reading::Unsure => self.paused |= self.is_read_again,
            Reading::Held => self.tripped = true,
        }
    }

    /// Whether a second reader must look at the answer.
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether a person must look at the answer.
    pub const fn is_tripped(&self) -> bool {
        self.tripped
    }
}

/// Returns how many bytes of what is not shown yet end with a sentence.
fn shows(text: &str) -> usize {
    let is_end = |letter: char| matches!(letter, '.' | '!' | '?' | '\n' | '。' | '！' | '？' | '…');
    let mut end = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        // `1.5` and `a.rs` do not end a sentence; what follows has to be known.
        let ended = is_end(letter)
            && (letter == '\n' || letters.peek().is_some_and(|(_, next)| next.is_whitespace()));
        if ended {
            end = at + letter.len_utf8();
        }
    }
    if end == 0 && text.len() > SENTENCE_BYTES_MAX {
        end = text.rfind(char::is_whitespace).unwrap_or(text.len());
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str]) -> (String, bool) {
        let mut guard = Guard::default();
        let mut out = String::new();
        for piece in pieces {
            out.push_str(guard.push(piece).unwrap_or_default());
        }
        out.push_str(guard.finish().unwrap_or_default());
        (out, guard.is_tripped())
    }

    #[test]
    fn a_harmless_answer_is_shown_whole_however_it_is_cut() {
        let text =
            "The build is green. All 1.5 thousand tests of main.rs pass!\nWhat next? ".repeat(9);
        for size in [1, 3, 7, 64, 10_000] {
            let pieces: Vec<String> = text
                .as_bytes()
                .chunks(size)
                .map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
                .collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(shown(&pieces), (text.clone(), false), "{size}");
        }
    }

    #[test]
    fn nothing_is_shown_from_the_sentence_with_the_sign_on() {
        let answer = [
            "Thank you for writing. ",
            "You said that you want ",
            "to kill yourself. ",
            "Please call a friend.",
        ];
        let (out, tripped) = shown(&answer);
        assert!(tripped);
        assert_eq!(out, "Thank you for writing.");
    }

    #[test]
    fn nothing_is_shown_from_an_unsure_sentence_on_until_it_was_read_again() {
        let unsure = crisis::AN_UNSURE_TEXT;
        let mut guard = Guard::new(Sensitivity::Default, true);
        assert_eq!(guard.push("Here is the list. "), Some("Here is the list."));
        assert_eq!(guard.push(&format!("{unsure} ")), None);
        assert_eq!(guard.push("That was all. "), None);
        assert_eq!(guard.finish(), None);
        assert!(guard.is_paused() && !guard.is_tripped());
        let rest = format!(" {unsure} That was all. ");
        assert_eq!(guard.resume(), Some(rest.as_str()));

        let mut strict = Guard::new(Sensitivity::High, false);
        assert_eq!(strict.push(&format!("{unsure} ")), None);
        assert!(strict.is_tripped(), "an owner who wants more held gets it");
        let mut usual = Guard::default();
        assert_eq!(usual.push(&format!("{unsure} ")), Some(unsure));
    }

    #[test]
    fn a_sign_that_spans_the_end_of_a_piece_is_found() {
        let text = "I understand that you want to end your life tonight. Stay here.";
        for cut in text.char_indices().map(|(at, _)| at) {
            let (front, back) = text.split_at(cut);
            let (out, tripped) = shown(&[front, back]);
            assert!(tripped && out.is_empty(), "{cut}: {out}");
        }
    }

    #[test]
    fn long_text_without_sentences_is_shown_at_its_spaces() {
        let mut guard = Guard::default();
        let words = "word ".repeat(100);
        assert_eq!(guard.push(&words).map(str::len), Some(words.len() - 1));
    }
}
