//! Escapes text for PostgreSQL, which rejects NUL. NUL and the escape character are written as two
//! characters.

use std::borrow::Cow;

const ESCAPE: char = '\u{1}';

pub(super) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => out.extend([ESCAPE, '0']),
            ESCAPE => out.extend([ESCAPE, '1']),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

pub(super) fn read(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != ESCAPE {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('0') => out.push('\0'),
            Some('1') | None => out.push(ESCAPE),
            Some(other) => out.extend([ESCAPE, other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_no_two_are_stored_alike() {
        let mut seen = std::collections::HashSet::new();
        for text in [
            "",
            "a",
            "\0",
            "\u{1}",
            "\u{1}0",
            "\u{1}1",
            "\0\u{1}\0",
            "ä\0ß",
            "0",
            "1",
        ] {
            let stored = stored(text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(read(&stored), text);
            assert!(seen.insert(stored.into_owned()), "{text:?}");
        }
    }
}
