//! Decoded variants of a text, for secrets behind an encoding or a disguise.
//!
//! Each view keeps, for every byte, the offset it came from, so that a find in the view can be
//! pointed at in the original. Every view is made only when the text shows a sign of it.

use unicode_normalization::UnicodeNormalization;

use crate::encoding::{base64, hexadecimal, percent_byte};

/// How a secret was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// As it is.
    Plain,
    /// In full-width or other compatibility letters.
    Compatibility,
    /// With invisible characters in between.
    ZeroWidth,
    /// In base64.
    Base64,
    /// In hexadecimal.
    Hex,
    /// With `%41` escapes.
    Percent,
    /// With `\u0041` or `\x41` escapes.
    UnicodeEscape,
    /// With `&#65;` references.
    HtmlEntity,
    /// With a separator after every letter.
    Spaced,
    /// Broken over lines.
    Joined,
    /// Backwards.
    Reversed,
}

/// A reading of a text.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) view: View,
    pub(super) bytes: Vec<u8>,
    /// For each byte, where in the original its source starts; one more entry for the end. Texts are far
    /// shorter than what fits.
    origin: Vec<u32>,
}

impl Reading {
    fn new(view: View) -> Self {
        Self {
            view,
            bytes: Vec::new(),
            origin: Vec::new(),
        }
    }

    fn push(&mut self, byte: u8, from: usize) {
        self.bytes.push(byte);
        self.origin.push(u32::try_from(from).unwrap_or(u32::MAX));
    }

    /// Takes over what stands at `from` as it is.
    fn push_plain(&mut self, text: &str, from: usize) {
        if text.is_ascii() {
            let first = u32::try_from(from).unwrap_or(u32::MAX);
            let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
            self.bytes.extend_from_slice(text.as_bytes());
            self.origin.extend(first..first.saturating_add(bytes));
        } else {
            for (at, character) in text.char_indices() {
                self.push_char(character, from + at);
            }
        }
    }

    fn push_char(&mut self, character: char, from: usize) {
        let mut buffer = [0; 4];
        for byte in character.encode_utf8(&mut buffer).bytes() {
            self.push(byte, from);
        }
    }

    fn finish(mut self, end: usize) -> Self {
        self.origin.push(u32::try_from(end).unwrap_or(u32::MAX));
        self
    }

    /// Returns where in the original the bytes `start..end` of this reading come from.
    pub(super) fn span(&self, start: usize, end: usize) -> (usize, usize) {
        let from = |at: usize| self.origin.get(at).map_or(0, |from| *from as usize);
        match self.view {
            View::Reversed => (from(end), from(start)),
            // Where inside an encoded run the secret lies is of no use to a reader.
            View::Base64 | View::Hex => (from(0), from(self.origin.len().saturating_sub(1))),
            View::Plain
            | View::Compatibility
            | View::ZeroWidth
            | View::Percent
            | View::UnicodeEscape
            | View::HtmlEntity
            | View::Spaced
            | View::Joined => (from(start), from(end).max(from(start))),
        }
    }
}

/// Returns the readings of `text` in which rules for all kinds of secrets make sense.
pub(super) fn decoded(text: &str) -> Vec<Reading> {
    let mut readings = Vec::new();
    readings.extend(unicode(text));
    readings.extend(escapes(text));
    readings.extend(encoded_runs(text));
    readings
}

/// Returns the readings in which only the shapes of credentials make sense, because ordinary words
/// fall together there.
pub(super) fn rearranged(text: &str) -> Vec<Reading> {
    let mut readings = Vec::new();
    readings.extend(spaced(text));
    readings.extend(joined(text));
    readings
}

/// Returns the text backwards.
pub(super) fn reversed(text: &str) -> Reading {
    let mut reading = Reading::new(View::Reversed);
    let length = text.len();
    for (at, byte) in text.bytes().rev().enumerate() {
        reading.push(byte, length - at);
    }
    reading.finish(0)
}

/// Returns whether the character shows nothing and takes no room.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn unicode(text: &str) -> Option<Reading> {
    if text.is_ascii() {
        return None;
    }
    let mut plain = Plain::default();
    text.chars().find(|character| !plain.is(*character))?;
    let mut reading = Reading::new(View::Compatibility);
    for (at, character) in text.char_indices() {
        if is_invisible(character) {
            // Tag characters carry ASCII of their own.
            if let Some(hidden) = (u32::from(character))
                .checked_sub(0xE0000)
                .filter(|code| (0x20..0x7F).contains(code))
                .and_then(char::from_u32)
            {
                reading.push_char(hidden, at);
            }
            reading.view = View::ZeroWidth;
        } else if plain.is(character) {
            reading.push_char(character, at);
        } else {
            for plain in std::iter::once(character).nfkc() {
                reading.push_char(plain, at);
            }
        }
    }
    Some(reading.finish(text.len()))
}

/// Remembers which characters stand for themselves: a text uses few of them, each many times.
#[derive(Default)]
struct Plain {
    known: Vec<Option<(char, bool)>>,
}

impl Plain {
    const SLOTS: usize = 512;

    fn is(&mut self, character: char) -> bool {
        if character.is_ascii() {
            return true;
        }
        if self.known.is_empty() {
            self.known.resize(Self::SLOTS, None);
        }
        let Some(slot) = self.known.get_mut(character as usize % Self::SLOTS) else {
            return false;
        };
        match slot {
            Some((known, is_plain)) if *known == character => *is_plain,
            _ => {
                let is_plain = !is_invisible(character)
                    && std::iter::once(character)
                        .nfkc()
                        .eq(std::iter::once(character));
                *slot = Some((character, is_plain));
                is_plain
            }
        }
    }
}

/// One escape notation: what it starts with, and how the rest is read.
struct Escape {
    view: View,
    /// The byte all of them start with.
    first: u8,
    starts: &'static [&'static str],
    read: fn(&str) -> Option<(char, usize)>,
}

const ESCAPES: &[Escape] = &[
    Escape {
        view: View::Percent,
        first: b'%',
        starts: &["%"],
        read: read_percent,
    },
    Escape {
        view: View::UnicodeEscape,
        first: b'\\',
        starts: &["\\u", "\\x", "\\U"],
        read: read_backslash,
    },
    Escape {
        view: View::HtmlEntity,
        first: b'&',
        starts: &["&#"],
        read: read_entity,
    },
];

fn escapes(text: &str) -> Vec<Reading> {
    ESCAPES
        .iter()
        .filter(|escape| escape.starts.iter().any(|start| text.contains(start)))
        .filter_map(|escape| {
            let mut reading = Reading::new(escape.view);
            let mut count = 0;
            let mut at = 0;
            while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
                let plain = memchr::memchr(escape.first, rest.as_bytes());
                let plain = plain.unwrap_or(rest.len());
                if plain > 0 {
                    reading.push_plain(rest.get(..plain).unwrap_or_default(), at);
                    at += plain;
                    continue;
                }
                let escaped = if escape.starts.iter().any(|start| rest.starts_with(start)) {
                    (escape.read)(rest)
                } else {
                    None
                };
                if let Some((decoded, length)) = escaped {
                    reading.push_char(decoded, at);
                    count += 1;
                    at += length;
                } else {
                    reading.push(escape.first, at);
                    at += 1;
                }
            }
            (count >= 2).then(|| reading.finish(text.len()))
        })
        .collect()
}

fn read_percent(rest: &str) -> Option<(char, usize)> {
    let code = percent_byte(rest.as_bytes())?;
    code.is_ascii().then_some((char::from(code), 3))
}

fn read_backslash(rest: &str) -> Option<(char, usize)> {
    let mut characters = rest.chars();
    characters.next()?;
    let marker = characters.next()?;
    if let Some(braced) = rest.get(2..)?.strip_prefix('{') {
        let end = braced.bytes().take(9).position(|byte| byte == b'}')?;
        let code = u32::from_str_radix(braced.get(..end)?, 16).ok()?;
        return Some((char::from_u32(code)?, end + 4));
    }
    let digits = match marker {
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
    Some((char::from_u32(code)?, 2 + digits))
}

fn read_entity(rest: &str) -> Option<(char, usize)> {
    let inside = rest.get(2..)?;
    let end = inside.bytes().take(9).position(|byte| byte == b';')?;
    let number = inside.get(..end)?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some((char::from_u32(code)?, end + 3))
}

/// Shortest base64 or hexadecimal run worth decoding.
const RUN_BYTES_MIN: usize = 16;

fn encoded_runs(text: &str) -> Vec<Reading> {
    let mut readings = Vec::new();
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let length = bytes
            .iter()
            .skip(start)
            .take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
            })
            .count();
        if length >= RUN_BYTES_MIN
            && let Some(run) = bytes.get(start..start + length)
        {
            let padding = bytes
                .iter()
                .skip(start + length)
                .take(2)
                .filter(|b| **b == b'=')
                .count();
            let end = start + length + padding;
            let mut add = |view, decoded: Option<Vec<u8>>| {
                if let Some(decoded) = decoded.filter(|decoded| is_readable(decoded)) {
                    let mut reading = Reading::new(view);
                    for byte in decoded {
                        reading.push(byte, start);
                    }
                    readings.push(reading.finish(end));
                }
            };
            add(View::Hex, hexadecimal(run));
            add(View::Base64, base64(run));
        }
        start += length + 1;
    }
    readings
}

/// Returns whether decoded bytes are text, which random bytes practically never are.
fn is_readable(decoded: &[u8]) -> bool {
    decoded.len() >= 8
        && decoded
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}

/// Shortest run of single letters, each followed by the same separator, that is worth closing up.
const SPACED_LETTERS_MIN: usize = 16;

fn spaced(text: &str) -> Option<Reading> {
    let bytes = text.as_bytes();
    // Most texts have no such run, and need no copy.
    let mut at = 0;
    loop {
        let length = spaced_run(bytes, at);
        if length >= SPACED_LETTERS_MIN {
            break;
        }
        at += (2 * length).max(1);
        if at >= bytes.len() {
            return None;
        }
    }
    let mut reading = Reading::new(View::Spaced);
    let mut at = 0;
    while at < bytes.len() {
        let length = spaced_run(bytes, at);
        if length >= SPACED_LETTERS_MIN {
            for step in 0..=length {
                if let Some(letter) = bytes.get(at + 2 * step) {
                    reading.push(*letter, at + 2 * step);
                }
            }
            at += 2 * length + 1;
        } else {
            // Runs too short to count are stepped over whole, which keeps the scan linear.
            let step = (2 * length).max(1);
            for offset in 0..step {
                if let Some(letter) = bytes.get(at + offset) {
                    reading.push(*letter, at + offset);
                }
            }
            at += step;
        }
    }
    Some(reading.finish(text.len()))
}

/// Returns how many letters stand at `at` of which each is followed by the same separator.
fn spaced_run(bytes: &[u8], at: usize) -> usize {
    let separator = bytes.get(at + 1).copied().filter(|next| {
        matches!(
            next,
            b' ' | b'\n' | b'\t' | b'.' | b',' | b'-' | b'|' | b'/' | b'*' | b'_'
        )
    });
    let Some(separator) = separator else {
        return 0;
    };
    let pairs = bytes.get(at..).unwrap_or_default().chunks_exact(2);
    pairs
        .take_while(|pair| match pair {
            [letter, next] => *next == separator && letter.is_ascii_graphic(),
            _ => false,
        })
        .count()
}

/// Closes line breaks that have a letter on both sides, with indentation and quote marks.
fn joined(text: &str) -> Option<Reading> {
    let bytes = text.as_bytes();
    memchr::memchr(b'\n', bytes)?;
    let mut reading = Reading::new(View::Joined);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let continues = matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'');
        if continues {
            let gap = bytes
                .iter()
                .skip(at)
                .take(16)
                .take_while(|b| {
                    matches!(
                        b,
                        b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'>' | b'"' | b'\'' | b'+'
                    )
                })
                .count();
            let breaks = bytes.iter().skip(at).take(gap).any(|b| *b == b'\n');
            let letter = |at: usize| {
                bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            };
            if breaks && at > 0 && letter(at - 1) && letter(at + gap) {
                at += gap;
                continue;
            }
        }
        reading.push(*byte, at);
        at += 1;
    }
    (reading.bytes.len() < bytes.len()).then(|| reading.finish(text.len()))
}
