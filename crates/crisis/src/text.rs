//! Makes texts comparable, and cuts them into sentences.

use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick, is_nfkc_quick};

/// A sentence is cut after this many bytes even if it does not end.
const SENTENCE_BYTES_MAX: usize = 600;

/// Returns a text in one form of writing: composed, small letters, nothing invisible.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let is_seen = |it: &char| !is_invisible(*it);
    // Most texts are composed already, and seeing that takes less than composing them again.
    let folded: String = if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        let letters = text.chars().flat_map(char::to_lowercase);
        letters.filter(is_seen).collect()
    } else {
        let letters = text.nfkc().flat_map(char::to_lowercase);
        letters.filter(is_seen).collect()
    };
    if is_nfc_quick(folded.chars()) == IsNormalized::Yes {
        folded
    } else {
        folded.nfc().collect()
    }
}

/// Whether a text folds the same behind any other: its first letter is not changed, and changes nothing before it.
pub(crate) fn begins_anew(text: &str) -> bool {
    let is_first = |letter: char| {
        unicode_normalization::char::canonical_combining_class(letter) == 0
            && is_nfkc_quick(std::iter::once(letter)) == IsNormalized::Yes
            && is_nfc_quick(std::iter::once(letter)) == IsNormalized::Yes
            && !is_invisible(letter)
    };
    text.chars().next().is_some_and(|letter| {
        letter.is_ascii() || is_first(letter) && letter.to_lowercase().next().is_some_and(is_first)
    })
}

fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{307}')
}

/// Whether a letter belongs to a word: letters, digits, and marks upon them.
pub(crate) fn is_of_word(letter: char) -> bool {
    // Most letters by far, so they are not looked up.
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric();
    }
    letter.is_alphanumeric() || unicode_normalization::char::is_combining_mark(letter)
}

/// Returns where the words of a text stand.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let from = rest + text.get(rest..)?.find(is_of_word)?;
        let behind = text.get(from..)?;
        let length = behind
            .find(|letter| !is_of_word(letter))
            .unwrap_or(behind.len());
        rest = from + length;
        Some(from..rest)
    })
}

/// Returns every two sentences that follow each other, or the only one.
pub(crate) fn windows(text: &str) -> Vec<Range<usize>> {
    let sentences = sentences(text);
    if sentences.len() < 2 {
        return sentences;
    }
    let pairs = sentences.iter().zip(sentences.iter().skip(1));
    pairs.map(|(one, next)| one.start..next.end).collect()
}

/// Returns the sentences of a text that have a word. The first begins at the beginning, each other where one ends.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut has_word = false;
    for (at, letter) in text.char_indices() {
        has_word |= is_of_word(letter);
        let end = at + letter.len_utf8();
        let ends = matches!(
            letter,
            '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟' | '\n'
        );
        let is_long = end - start >= SENTENCE_BYTES_MAX && letter.is_whitespace();
        // Without spaces it is cut all the same, so that no window grows with the text.
        let is_endless = end - start >= 2 * SENTENCE_BYTES_MAX;
        if has_word && (ends || is_long || is_endless) {
            found.push(start..end);
            start = end;
            has_word = false;
        }
    }
    if has_word {
        found.push(start..text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let parts = windows(text).into_iter();
        parts.map(|part| text.get(part).unwrap().trim()).collect()
    }

    #[test]
    fn windows_are_every_two_sentences() {
        assert_eq!(cut("One. Two! Three?"), ["One. Two!", "Two! Three?"]);
        assert_eq!(cut("only one"), ["only one"]);
        assert_eq!(cut("一。二。三"), ["一。二。", "二。三"]);
        assert!(cut(" ... \n !").is_empty());
    }

    #[test]
    fn words_stand_between_signs() {
        let text = "I'm — 100 % «tired»";
        let words: Vec<&str> = words(text).map(|word| text.get(word).unwrap()).collect();
        assert_eq!(words, ["I", "m", "100", "tired"]);
    }

    #[test]
    fn endless_text_is_cut() {
        let endless = "x".repeat(10_000);
        assert!(windows(&endless).iter().all(|part| part.len() <= 2_400));
        let words = "word ".repeat(2_000);
        assert!(windows(&words).iter().all(|part| part.len() <= 1_300));
    }

    #[test]
    fn case_width_and_invisible_letters_do_not_matter() {
        assert_eq!(fold("Ｉ Wa\u{200b}nt"), "i want");
        assert_eq!(fold("İyi"), "iyi");
        assert_eq!(fold("cafe\u{301}"), "café");
    }
}
