//! Secrets of unknown vendors: a prefix, a separator and a long random part, or a long random value
//! after a word such as *token*.

use super::Candidate;
use super::plausible::{Made, entropy, is_placeholder};
use crate::knowledge::names::{CREDENTIAL_PREFIX_PARTS, CREDENTIAL_WORDS, PUBLIC_PREFIX_PARTS};

/// No credential told by its shape has a run of letters, digits, `-`, `_` and `.` shorter than this.
const LONG_RUN_BYTES_MIN: usize = 16;

/// Returns whether `text` has a run long enough for any shape.
pub(super) fn has_long_run(text: &[u8]) -> bool {
    let mut length = 0;
    for byte in text {
        if is_run_byte(*byte) {
            length += 1;
            if length >= LONG_RUN_BYTES_MIN {
                return true;
            }
        } else {
            length = 0;
        }
    }
    false
}

fn is_run_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'_' | b'.' | b':' | b'/' | b'$' | b'%' | b'~' | b'+'
        )
}

const CONTEXT_BYTES: usize = 40;
/// Longer runs are data, not credentials.
const RUN_BYTES_MAX: usize = 200;

/// Adds every long random value with a telling prefix or context.
pub(super) fn scan(text: &[u8], finds: &mut Vec<Candidate>) {
    let mut start = 0;
    for run in
        text.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')))
    {
        let trimmed = run.len() - run.iter().rev().take_while(|byte| **byte == b'.').count();
        let run_start = start;
        start += run.len() + 1;
        let Some(value) = run.get(..trimmed) else {
            continue;
        };
        if !(24..=RUN_BYTES_MAX).contains(&value.len()) || is_placeholder(value) {
            continue;
        }
        let before = text
            .get(run_start.saturating_sub(CONTEXT_BYTES)..run_start)
            .unwrap_or_default();
        let kind = if has_telling_prefix(value) {
            "api key"
        } else if is_announced(before, value) {
            "token"
        } else {
            continue;
        };
        finds.push(Candidate {
            kind,
            start: run_start,
            end: run_start + value.len(),
        });
    }
}

fn has_telling_prefix(value: &[u8]) -> bool {
    let mut rest = value;
    let mut parts: Vec<String> = Vec::new();
    // The prefix is every short part before the first long one.
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, b'_' | b'-' | b'.'))
    {
        let part = rest.get(..at).unwrap_or_default();
        let plain = part.iter().all(u8::is_ascii_lowercase) && part.len() <= 12
            || part.iter().all(u8::is_ascii_uppercase) && part.len() <= 8
            || part.len() <= 4 && part.first().is_some_and(u8::is_ascii_alphabetic);
        if !plain || part.is_empty() || parts.len() >= 4 {
            break;
        }
        parts.push(String::from_utf8_lossy(part).to_ascii_lowercase());
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    if parts.is_empty()
        || parts
            .iter()
            .any(|part| PUBLIC_PREFIX_PARTS.contains(part.as_str()))
    {
        return false;
    }
    let body: &[u8] = rest;
    let longest = body
        .split(|byte| matches!(byte, b'-' | b'_' | b'.'))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    let made = Made::of(body);
    if !made.digit || !made.letter() || longest < 16 {
        return false;
    }
    let marked = parts
        .iter()
        .any(|part| CREDENTIAL_PREFIX_PARTS.contains(part.as_str()));
    if marked && body.len() >= 20 {
        return entropy(body) >= 32;
    }
    body.len() >= 30 && made.lower && made.upper && entropy(body) >= 42
}

fn is_announced(before: &[u8], value: &[u8]) -> bool {
    let made = Made::of(value);
    if value.len() < 30
        || !made.digit
        || !made.lower
        || !made.upper
        || entropy(value) < 42
        || value.starts_with(b"AAAA")
    {
        return false;
    }
    let longest = value
        .split(|byte| matches!(byte, b'-' | b'_' | b'.'))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    let lower = before.to_ascii_lowercase();
    // What has a new line or sentence between it and the word is not what the word announced.
    let near = lower
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    longest >= 20
        && memchr::memmem::find(near, b"public").is_none()
        && CREDENTIAL_WORDS
            .iter()
            .any(|word| memchr::memmem::find(near, word.as_bytes()).is_some())
}
