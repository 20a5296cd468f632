//! Decodes encoded parts of a text and shows the result beside them.

use super::{Deception, Severity, high, low};
use crate::encoding::{base64, hexadecimal, percent_byte};
use crate::knowledge::names::DECODERS;

/// Most encoded pieces of one text that are looked at.
const PIECES_MAX: usize = 32;
/// Longest decoded text shown in a note, in characters.
const NOTE_CHARS_MAX: usize = 300;
/// Shortest base64 or hexadecimal run looked at, in bytes.
const RUN_BYTES_MIN: usize = 12;
/// Escapes for plain letters in a row that are not there by chance.
const ESCAPES_MIN: usize = 3;

/// An encoded piece of a text.
#[derive(Debug)]
struct Piece {
    span: (usize, usize),
    says: String,
    severity: Option<Severity>,
}

/// Adds what encoded pieces of `text` say.
pub(super) fn notes(text: &str, found: &mut Vec<String>) {
    for piece in pieces(text) {
        let says: String = piece.says.chars().take(NOTE_CHARS_MAX).collect();
        found.push(format!("decoded: {says}"));
    }
}

/// Adds encoded pieces that are there to be decoded and used.
pub(super) fn deceptions(text: &str, found: &mut Vec<Deception>) {
    for piece in pieces(text) {
        let (start, end) = piece.span;
        match piece.severity {
            Some(Severity::High) => found.push(high("encoded_payload", start, end)),
            Some(Severity::Low) => found.push(low("encoded_payload", start, end)),
            None => {}
        }
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    runs(text, &mut found);
    if text.contains('\\') {
        backslashes(text, &mut found);
    }
    if text.contains('%') {
        percents(text, &mut found);
    }
    found.sort_by_key(|piece| piece.span);
    found.truncate(PIECES_MAX);
    found
}

fn runs(text: &str, found: &mut Vec<Piece>) {
    let is_run =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let mut decoder = None;
    let mut start = 0;
    for run in text.as_bytes().split(|byte| !is_run(byte)) {
        let (from, to) = (start, start + run.len());
        start = to + 1;
        // Encoded text has large and small letters or digits; ordinary words have neither mix.
        let mixed = run.iter().any(u8::is_ascii_digit)
            || run.iter().skip(1).any(u8::is_ascii_uppercase)
                && run.iter().any(u8::is_ascii_lowercase);
        if run.len() < RUN_BYTES_MIN || !mixed || found.len() >= PIECES_MAX {
            continue;
        }
        let says = hexadecimal(run)
            .and_then(|bytes| readable(&bytes))
            .or_else(|| base64(run).and_then(|bytes| readable(&bytes)));
        if let Some(says) = says {
            let will_decode = *decoder.get_or_insert_with(|| {
                let lower = text.to_ascii_lowercase();
                DECODERS.iter().any(|word| lower.contains(word))
            });
            found.push(Piece {
                span: (from, to),
                says,
                severity: will_decode.then_some(Severity::High),
            });
        }
    }
}

/// Returns decoded bytes as text, also from the two-byte letters that PowerShell uses.
fn readable(bytes: &[u8]) -> Option<String> {
    let wide = bytes.len() >= 8 && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0);
    let bytes: Vec<u8> = if wide {
        bytes.iter().copied().step_by(2).collect()
    } else {
        bytes.to_vec()
    };
    let plain = bytes.len() >= 4
        && (wide || bytes.len() >= 8)
        && bytes
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'));
    plain.then(|| String::from_utf8(bytes).ok()).flatten()
}

fn backslashes(text: &str, found: &mut Vec<Piece>) {
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + offset;
        let mut end = start;
        let mut says = String::new();
        let mut count = 0;
        while let Some((character, length)) = text.get(end..).and_then(escape) {
            says.push(character);
            end += length;
            count += usize::from(matches!(character, ' '..='~'));
        }
        at = end.max(start + 1);
        if count >= ESCAPES_MIN && found.len() < PIECES_MAX {
            found.push(Piece {
                span: (start, end),
                says,
                severity: Some(Severity::High),
            });
        }
    }
}

/// Reads one `\x41`, `\u0041`, `\101` escape.
fn escape(rest: &str) -> Option<(char, usize)> {
    let body = rest.strip_prefix('\\')?;
    let (digits, radix, skipped) = match body.bytes().next()? {
        b'x' => (2, 16, 1),
        b'u' => (4, 16, 1),
        b'U' => (8, 16, 1),
        b'0' => (4, 8, 0),
        b'1' => (3, 8, 0),
        _ => return None,
    };
    let read = |digits: usize| {
        let number = body.get(skipped..skipped + digits)?;
        let code = u32::from_str_radix(number, radix).ok()?;
        Some((char::from_u32(code)?, 1 + skipped + digits))
    };
    read(digits).or_else(|| if radix == 8 { read(3) } else { None })
}

fn percents(text: &str, found: &mut Vec<Piece>) {
    let mut start = 0;
    for word in text.split(char::is_whitespace) {
        let from = start;
        start += word.len();
        start += text
            .get(start..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        if found.len() >= PIECES_MAX {
            return;
        }
        let mut decoded = Vec::with_capacity(word.len());
        let mut rest = word;
        let (mut escapes, mut needless, mut nul) = (0, 0, false);
        while let Some(character) = rest.chars().next() {
            if let Some(code) = percent_byte(rest.as_bytes()) {
                escapes += 1;
                needless +=
                    usize::from(code.is_ascii_alphanumeric() || matches!(code, b'.' | b'-' | b'_'));
                nul |= code == 0;
                decoded.push(code);
                rest = rest.get(3..).unwrap_or_default();
            } else {
                decoded.extend(character.to_string().bytes());
                rest = rest.get(character.len_utf8()..).unwrap_or_default();
            }
        }
        let address = word.contains("://") || word.contains('?');
        if escapes >= 1 && (address || needless >= ESCAPES_MIN) {
            let severity = (needless >= ESCAPES_MIN || nul).then_some(Severity::High);
            let says = String::from_utf8_lossy(&decoded).into_owned();
            found.push(Piece {
                span: (from, from + word.len()),
                says,
                severity,
            });
        }
    }
}
