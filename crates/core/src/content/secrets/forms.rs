//! Secrets recognised by their container: key blocks, signed tokens, headers, URLs with a password,
//! seed phrases.

use super::Candidate;
use super::plausible::{entropy, is_placeholder, is_reference};
use crate::knowledge::names::{GENERIC_PASSWORDS, PROSE_WORDS};
use regex::bytes::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// A form: what a person calls it, what must occur before it is tried, and its expression. Group 1 is
/// the credential.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) keywords: &'static [&'static str],
    pattern: &'static str,
    /// Least entropy of the credential in tenths of a bit per byte.
    entropy_min: u16,
    compiled: OnceLock<Option<Regex>>,
}

const fn form(
    kind: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    entropy_min: u16,
) -> Form {
    Form {
        kind,
        keywords,
        pattern,
        entropy_min,
        compiled: OnceLock::new(),
    }
}

pub(super) static FORMS: [Form; 14] = [
    form(
        "private key",
        &["private key"],
        r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)",
        0,
    ),
    form(
        "private key",
        &["private-lines"],
        r"(Private-Lines: [0-9]+\s+[A-Za-z0-9+/=]{32,})",
        0,
    ),
    form(
        "signed token",
        &["eyj"],
        r"(?:^|[^A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})",
        38,
    ),
    form(
        "signed token",
        &["eyj"],
        r"(?:^|[^A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        38,
    ),
    form(
        "address with password",
        &["://"],
        r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:([^\s/@"'<>\[\]]{3,})@[^\s/@]"#,
        0,
    ),
    form(
        "authorization header",
        &["authorization"],
        r#"(?i)authorization["'\]]*\s*[:=,]\s*["']?(?:(?:basic|bearer|token|digest|apikey|api-key|key|bot|negotiate|aws4-hmac-sha256)\s+)?([A-Za-z0-9._~+/=:%-]{12,})"#,
        28,
    ),
    form(
        "bearer token",
        &["bearer"],
        r"(?i)bearer\s+([A-Za-z0-9._~+/=-]{20,})",
        33,
    ),
    form(
        "login",
        &["-u", "--user"],
        r#"(?:^|\s)(?:-u|--user|--proxy-user|-U)[ =]?["']?[A-Za-z0-9._@-]+:([^\s"':/]*(?:[0-9!@#$%^&*+=?~]|[a-z][A-Z]|[A-Z][a-z])[^\s"':/]*)"#,
        20,
    ),
    form(
        "login",
        &["sshpass", "mysql", "mysqldump"],
        r#"(?:sshpass\s+-p\s?|mysql(?:dump|admin)?\s(?:[^|;\n]*\s)?-p)["']?([^\s"'-][^\s"']{4,})"#,
        20,
    ),
    form(
        "one-time password seed",
        &["otpauth"],
        r"otpauth(?:-migration)?://[^\s]*?(?:secret|data)=([A-Za-z2-7%+/=]{12,})",
        25,
    ),
    form(
        "login",
        &["machine", "login"],
        r"(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(\S{4,})",
        0,
    ),
    form(
        "password hash",
        &["$"],
        r"(\$(?:1|5|6|y|7|2[abxy]|argon2id?|scrypt|apr1)\$[A-Za-z0-9./$=,+]{20,})",
        30,
    ),
    form(
        "session cookie",
        &["cookie"],
        r#"(?i)cookie["']?\s*[:=]\s*["']?[^\n"']*?(?:sess|sid|auth|token|jwt|login|remember)[a-z0-9_.-]*=([A-Za-z0-9._%+/=:-]{16,})"#,
        33,
    ),
    form(
        "bot token",
        &["."],
        r"(?:^|[^A-Za-z0-9])([MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
        40,
    ),
];

impl Form {
    /// Adds every credential in this form.
    pub(super) fn scan(&self, text: &[u8], finds: &mut Vec<Candidate>) {
        let regex = self
            .compiled
            .get_or_init(|| RegexBuilder::new(self.pattern).unicode(false).build().ok());
        let Some(regex) = regex else { return };
        let mut close = Close::default();
        for captures in regex.captures_iter(text) {
            let Some(found) = captures.get(1) else {
                continue;
            };
            let end = if self.kind == "private key" {
                let Some(end) = end_of_block(text, found.end(), &mut close) else {
                    continue;
                };
                end
            } else if is_stand_in(found.as_bytes())
                || self.kind == "login" && is_reference(found.as_bytes())
                || entropy(found.as_bytes()) < self.entropy_min
            {
                continue;
            } else {
                found.end()
            };
            finds.push(Candidate {
                kind: self.kind,
                start: found.start(),
                end,
            });
        }
    }
}

fn is_stand_in(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    GENERIC_PASSWORDS.contains(lower.as_str())
        || value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        || value
            .first()
            .is_some_and(|byte| matches!(byte, b'$' | b'{' | b'%' | b'<' | b'['))
            && is_reference(value)
            && !value.starts_with(b"$6$")
        || value.starts_with(b"${")
        || is_placeholder(value)
}

/// Longest key block looked at, in bytes.
const BLOCK_BYTES_MAX: usize = 16 * 1024;
/// A header with less than this behind it is a mention, not a key.
const BLOCK_LETTERS_MIN: usize = 40;
const BLOCK_OPENING_BYTES: usize = 160;

const CLOSING: &[u8] = b"-----END";

/// Where the next block closes. Many blocks may open before one does, and each looks for the same place.
#[derive(Debug, Default)]
struct Close {
    /// The first place at or behind which it was looked for.
    from: usize,
    /// Where it is, if anywhere.
    at: Option<usize>,
    known: bool,
}

impl Close {
    /// Returns the first at or behind `start`, which never goes back.
    fn behind(&mut self, text: &[u8], start: usize) -> Option<usize> {
        if !self.known || start < self.from || self.at.is_some_and(|at| at < start) {
            let found = memchr::memmem::find(text.get(start..)?, CLOSING);
            *self = Self {
                from: start,
                at: found.map(|at| start + at),
                known: true,
            };
        }
        self.at
    }
}

fn end_of_block(text: &[u8], start: usize, close: &mut Close) -> Option<usize> {
    let rest = text.get(start..)?;
    let rest = rest
        .get(..rest.len().min(BLOCK_BYTES_MAX))
        .unwrap_or_default();
    // The first lines tell a key from a mention, so that many mentions cost little.
    let opening = rest
        .get(..rest.len().min(BLOCK_OPENING_BYTES))
        .unwrap_or_default();
    let opening = opening
        .get(..memchr::memmem::find(opening, b"-----").unwrap_or(opening.len()))
        .unwrap_or_default();
    let letters = opening
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .count();
    let blanks = memchr::memchr_iter(b' ', opening).count();
    if letters < BLOCK_LETTERS_MIN || blanks > letters / 8 {
        return None;
    }
    let close = close.behind(text, start).map(|at| at - start);
    let Some(close) = close.filter(|close| close + CLOSING.len() <= rest.len()) else {
        return Some(start + rest.len());
    };
    let tail = rest.get(close + 8..).unwrap_or_default();
    let dashes = memchr::memmem::find(tail.get(..tail.len().min(64)).unwrap_or_default(), b"-----");
    Some(start + close + 8 + dashes.map_or(0, |at| at + 5))
}

/// Adds every run of twelve to twenty-four seed words after a word that introduces one.
pub(super) fn scan_seed(text: &[u8], hint_end: usize, finds: &mut Vec<Candidate>) {
    let rest = text.get(hint_end..).unwrap_or_default();
    let rest = rest.get(..rest.len().min(400)).unwrap_or_default();
    let mut best: Option<(usize, usize, usize)> = None;
    let mut run = (0, 0, 0);
    let mut at = 0;
    for word in rest.split(|byte| {
        matches!(
            byte,
            b' ' | b',' | b'\n' | b'"' | b'\'' | b'.' | b':' | b'='
        )
    }) {
        let seed = (3..=8).contains(&word.len())
            && word.iter().all(u8::is_ascii_lowercase)
            && !std::str::from_utf8(word).is_ok_and(|word| PROSE_WORDS.contains(word));
        if seed {
            if run.2 == 0 {
                run.0 = at;
            }
            run = (run.0, at + word.len(), run.2 + 1);
            if best.is_none_or(|best| run.2 > best.2) {
                best = Some(run);
            }
        } else if !word.is_empty() && !word.iter().all(u8::is_ascii_digit) {
            run = (0, 0, 0);
        }
        at += word.len() + 1;
    }
    if let Some((start, end, count)) = best
        && (12..=26).contains(&count)
    {
        finds.push(Candidate {
            kind: "seed phrase",
            start: hint_end + start,
            end: hint_end + end,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for form in &FORMS {
            let built = RegexBuilder::new(form.pattern).unicode(false).build();
            assert!(built.is_ok(), "{}: {:?}", form.kind, built.err());
        }
    }
}
