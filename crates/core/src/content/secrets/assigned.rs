//! Secrets recognised by their name: `password = …`, `"api_key": "…"`, `the token is …`.
//!
//! Names are split into words (`DB_PASSWORD`, `clientSecret`, `api key`), so that `compass` or
//! `tokenizer` say nothing. The value decides the rest: references, names and stand-ins are no secrets.

use super::Candidate;
use super::plausible::{Made, entropy, is_placeholder, is_reference, is_uuid};
use crate::knowledge::names::{
    KEY_OWNERS, LINKING_PREPOSITIONS, LINKING_VERBS, NOT_SECRET_WORDS, PASSWORD_WORDS,
    SECRET_NAME_HINTS, TOKEN_WORDS,
};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// What the name promises about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// A password: may be short, and need not be random.
    Password,
    /// A token, key or secret: long and random.
    Token,
    /// A word that may mean many things (`key`): only a value that is random beyond doubt counts.
    Vague,
}

/// What a word of a name says; a word may say several things.
const PASSWORD: u8 = 1;
const TOKEN: u8 = 2;
const OWNER: u8 = 4;
const OTHER: u8 = 8;
const PUBLIC: u8 = 16;

const PASSWORD_ENDS: &[&str] = &["password", "passwd", "passphrase", "passwort"];
const TOKEN_ENDS: &[&str] = &["secret", "token", "apikey", "sessionid"];

/// Words that make a key one that everybody may know.
const PUBLIC_WORDS: &[&str] = &["public", "publishable"];

/// All words with what they say, sorted.
static MEANINGS: LazyLock<Vec<(&str, u8)>> = LazyLock::new(|| {
    let lists = [
        (&PASSWORD_WORDS, PASSWORD),
        (&TOKEN_WORDS, TOKEN),
        (&KEY_OWNERS, OWNER),
        (&NOT_SECRET_WORDS, OTHER),
    ];
    let public = PUBLIC_WORDS.iter().map(|word| (*word, PUBLIC));
    let each = lists
        .into_iter()
        .flat_map(|(list, says)| list.iter().map(move |word| (word, says)))
        .chain(public);
    let mut meanings: Vec<(&str, u8)> = each.collect();
    meanings.sort_unstable();
    meanings.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        kept.1 |= if same { later.1 } else { 0 };
        same
    });
    meanings
});

/// Returns what a word of a name says.
fn meaning(word: &str) -> u8 {
    let found = MEANINGS.binary_search_by(|(known, _)| (*known).cmp(word));
    found
        .ok()
        .and_then(|at| MEANINGS.get(at))
        .map_or(0, |(_, says)| *says)
}

static PREFILTER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(SECRET_NAME_HINTS.iter())
        .ok()
});

/// Longest name, connecting words and value looked at, in bytes.
const NAME_BYTES_MAX: usize = 64;
const CONNECTION_BYTES_MAX: usize = 48;
const VALUE_BYTES_MAX: usize = 512;
/// By how much of its beginning a long value is judged. A text may name a credential in every word, so
/// that each value holds all those behind it.
const JUDGED_BYTES_MAX: usize = 128;

/// Adds every value of `text` that is named as a credential and looks like one.
pub(super) fn scan(text: &[u8], finds: &mut Vec<Candidate>) {
    let Some(prefilter) = PREFILTER.as_ref() else {
        return;
    };
    let mut done = 0;
    let mut stop = 0;
    for hit in prefilter.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let (start, end) = name_around(text, hit.start(), hit.end());
        done = end;
        let option = start >= 2 && text.get(start.saturating_sub(2)..start) == Some(b"--")
            || text
                .get(start..end)
                .is_some_and(|name| name.starts_with(b"--"));
        let Some((link, at)) = link(text, end, option) else {
            continue;
        };
        let Some((from, to)) = value(text, at, &mut stop) else {
            continue;
        };
        let Some(promise) = text
            .get(start..end)
            .and_then(|name| promise(text, start, name))
        else {
            continue;
        };
        if let Some(found) = text.get(from..to)
            && is_secret(found, promise, link)
        {
            let kind = match promise {
                Promise::Password => "password",
                Promise::Token => "token",
                Promise::Vague => "key",
            };
            finds.push(Candidate {
                kind,
                start: from,
                end: to,
            });
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || byte >= 0x80
}

fn name_around(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let before = text
        .get(..start)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(|byte| is_name_byte(**byte))
        .count();
    let after = text
        .iter()
        .skip(end)
        .take(NAME_BYTES_MAX)
        .take_while(|byte| is_name_byte(**byte))
        .count();
    (start - before, end + after)
}

/// What the words of a name say together.
#[derive(Debug, Default)]
struct Said {
    meanings: u8,
    ends_in_password: bool,
    ends_in_token: bool,
    /// The last word.
    last: String,
}

impl Said {
    /// Takes one more word, in lower case. Leaves an empty one in its place.
    fn hear(&mut self, word: &mut String) {
        if word.is_empty() {
            return;
        }
        let ends = |list: &[&str]| list.iter().any(|end| word.ends_with(end));
        self.meanings |= meaning(word);
        self.ends_in_password |= ends(PASSWORD_ENDS);
        self.ends_in_token |= ends(TOKEN_ENDS);
        std::mem::swap(&mut self.last, word);
        word.clear();
    }

    /// Takes a name, split at `_`, `-`, `.` and where a small letter meets a large one.
    fn hear_name(&mut self, name: &str) {
        let mut word = String::with_capacity(name.len());
        let mut after_small = false;
        for character in name.chars() {
            let breaks = matches!(character, '_' | '-' | '.');
            if breaks || (after_small && character.is_uppercase()) {
                self.hear(&mut word);
            }
            after_small = character.is_lowercase() || character.is_ascii_digit();
            if character.is_ascii() && !breaks {
                word.push(character.to_ascii_lowercase());
            } else if !breaks {
                word.extend(character.to_lowercase());
            }
        }
        self.hear(&mut word);
    }

    fn has(&self, meaning: u8) -> bool {
        self.meanings & meaning != 0
    }
}

fn promise(text: &[u8], start: usize, name: &[u8]) -> Option<Promise> {
    let name = std::str::from_utf8(name).ok()?;
    let mut said = Said::default();
    if let Some(mut before) = word_before(text, start) {
        said.hear(&mut before);
    }
    said.hear_name(name);
    let last = said.last.as_str();
    let is_key = matches!(last, "key" | "keys" | "schlüssel" | "code") || last.ends_with("key");
    let owned = is_key && said.has(OWNER);
    if said.has(OTHER) && !owned {
        return None;
    }
    if said.has(PASSWORD) || said.ends_in_password {
        Some(Promise::Password)
    } else if said.has(TOKEN) || said.ends_in_token || owned {
        (!said.has(PUBLIC)).then_some(Promise::Token)
    } else if is_key && last != "code" {
        // `DD_KEY`, `fooKey`: a compound is more telling than the word alone, but not by much.
        Some(Promise::Vague)
    } else {
        None
    }
}

/// Returns the word that stands one blank before a name: `api key`, `private key`, `public key`.
fn word_before(text: &[u8], start: usize) -> Option<String> {
    let head = text.get(..start)?.strip_suffix(b" ")?;
    let length = head
        .iter()
        .rev()
        .take(16)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let word = head.get(head.len() - length..)?;
    (!word.is_empty()).then(|| String::from_utf8_lossy(word).to_lowercase())
}

/// How a name and its value are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// By a sign: `=`, `:`, an attribute, an option.
    Sign,
    /// By a verb: `is`, `lautet`.
    Verb,
}

/// Returns how the name that ends at `end` is tied to what follows, and where that starts.
fn link(text: &[u8], end: usize, option: bool) -> Option<(Link, usize)> {
    let mut at = end;
    at += text
        .iter()
        .skip(at)
        .take(2)
        .take_while(|byte| matches!(byte, b'"' | b'\'' | b']' | b'`' | b'*' | b'\\'))
        .count();
    at += text
        .iter()
        .skip(at)
        .take(2)
        .take_while(|byte| matches!(byte, b'"' | b'\'' | b']' | b'`' | b'*' | b'\\'))
        .count();
    let blanks = text
        .iter()
        .skip(at)
        .take(4)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let rest = text.get(at + blanks..)?;
    let rest = rest
        .get(..rest.len().min(CONNECTION_BYTES_MAX))
        .unwrap_or_default();
    for sign in [
        &b"=>"[..],
        b":=",
        b"->",
        b"=",
        b":",
        "：".as_bytes(),
        b"value=",
    ] {
        if rest.starts_with(sign) {
            return Some((Link::Sign, at + blanks + sign.len()));
        }
    }
    if blanks == 0 {
        return rest.starts_with(b">").then_some((Link::Sign, at + 1));
    }
    if option {
        return Some((Link::Sign, at + blanks));
    }
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let first = line.split(' ').next().unwrap_or_default();
    if LINKING_VERBS.contains(first) {
        let mut after = at + blanks + first.len();
        // `is: X`, `is now X`, `is still X`.
        let tail = line.get(first.len()..).unwrap_or_default();
        for filler in [":", " now", " still", " currently", " simply", " just"] {
            if tail.starts_with(filler) {
                after += filler.len();
            }
        }
        return Some((Link::Verb, after));
    }
    if LINKING_PREPOSITIONS.contains(first) {
        let sign = line
            .find([':', '='])
            .map(|found| (Link::Sign, at + blanks + found + 1));
        let verb = line
            .find(" is ")
            .map(|found| (Link::Verb, at + blanks + found + 4));
        return sign.or(verb);
    }
    None
}

/// Returns the value that starts at or after `at`: a quoted string, or the run up to a blank. Where such a run
/// stops is kept in `stop`: one run may hold many names, and each value ends there.
fn value(text: &[u8], at: usize, stop: &mut usize) -> Option<(usize, usize)> {
    let blanks = text
        .iter()
        .skip(at)
        .take(8)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let mut start = at + blanks;
    let opening = text.get(start).copied()?;
    if opening == b'\\' && text.get(start + 1) == Some(&b'"') {
        start += 1;
    }
    let quote = text
        .get(start)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    if quote.is_some() {
        start += 1;
    }
    let rest = text.get(start..)?;
    let rest = rest
        .get(..rest.len().min(VALUE_BYTES_MAX))
        .unwrap_or_default();
    let mut length = if let Some(quote) = quote {
        let stops = |byte: &u8| *byte == quote || *byte == b'\n';
        rest.iter().position(stops).unwrap_or(rest.len())
    } else {
        if *stop < start {
            let run = text.iter().skip(start).take_while(|byte| !is_stop(**byte));
            *stop = start + run.count();
        }
        rest.len().min(*stop - start)
    };
    if quote.is_none() {
        let trimmed = rest.get(..length).unwrap_or_default();
        length -= trimmed
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'.' | b':' | b')' | b']' | b'}' | b'\\'))
            .count();
    } else if rest.get(..length).unwrap_or_default().ends_with(b"\\") {
        length -= 1;
    }
    (length > 0).then_some((start, start + length))
}

/// Whether a value without quotes ends before this byte.
fn is_stop(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b'&')
}

fn is_secret(value: &[u8], promise: Promise, link: Link) -> bool {
    let value = value.get(..JUDGED_BYTES_MAX).unwrap_or(value);
    looks_secret(value, promise, link) && !is_placeholder(value) && !is_reference(value)
}

fn looks_secret(value: &[u8], promise: Promise, link: Link) -> bool {
    let made = Made::of(value);
    let blank = value.contains(&b' ');
    match promise {
        Promise::Password => {
            let counted = value
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let measure = counted > 0 && value.get(counted) == Some(&b'-');
            let mixed = made.letter() && (made.digit || made.symbol)
                || made.lower && value.iter().skip(1).any(u8::is_ascii_uppercase);
            let number = made.digit && !made.letter() && link == Link::Sign && value.len() >= 6;
            value.len() >= 6
                && !blank
                && !measure
                && !is_ordinary(value)
                && (mixed || number)
                && (link == Link::Sign || made.digit || made.symbol)
        }
        Promise::Token => {
            !blank
                && (is_random(value, made) || is_uuid(value) || is_short_secret(value, made, link))
        }
        Promise::Vague => {
            value.len() >= 24
                && !blank
                && made.lower
                && made.upper
                && made.digit
                && !value.starts_with(b"AAAA")
                && entropy(value) >= 38
        }
    }
}

/// Returns whether a value after a password's name is plainly something else: a time, an amount, a verb
/// with a sign.
fn is_ordinary(value: &[u8]) -> bool {
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let closing = value.last().is_some_and(|byte| matches!(byte, b'!' | b'?'));
    let word = value
        .get(..value.len().saturating_sub(1))
        .unwrap_or_default();
    (closing
        && word.iter().all(u8::is_ascii_alphabetic)
        && word.iter().skip(1).all(u8::is_ascii_lowercase))
        || value.contains(&b'|')
        || value.contains(&b'(')
        || letters == 0
            && value
                .iter()
                .any(|byte| matches!(byte, b'.' | b':' | b'/' | b'%'))
        || memchr::memchr_iter(b'/', value).count() >= 2
        || value
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || *byte == b'\'' || *byte >= 0x80)
}

fn is_random(value: &[u8], made: Made) -> bool {
    value.len() >= 16
        && made.letter()
        && (made.digit || (made.lower && made.upper && entropy(value) >= 38))
        && entropy(value) >= 29
        && !value
            .iter()
            .any(|byte| matches!(byte, b'(' | b'@') || *byte >= 0x80)
}

fn is_short_secret(value: &[u8], made: Made, link: Link) -> bool {
    link == Link::Sign
        && value.len() >= 10
        && made.digit
        && made.lower
        && (made.upper || made.symbol)
        && !value
            .iter()
            .any(|byte| matches!(byte, b'(' | b'[' | b':' | b'/') || *byte >= 0x80)
        && entropy(value) >= 30
}
