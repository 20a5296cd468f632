//! Detects secrets in a text by their shape, their container or their name, also encoded or
//! disguised.
//!
//! A secret that was sent is gone, so a miss costs more than a question. But a firewall that cries at
//! every hash is switched off, so references, stand-ins and plain names are told apart. A keyword search
//! decides which expressions run at all; each is compiled at first use and takes linear time.

mod assigned;
mod forms;
mod generic;
mod plausible;
pub mod shape;
pub(crate) mod views;

pub use views::View;

use super::tables::{SHAPE_KEYWORDS, SHAPES_REVERSED};
use crate::digest::Digest;
use crate::knowledge::names::SEED_HINTS;
use aho_corasick::AhoCorasick;
use forms::FORMS;
use plausible::{entropy, has_checksum, is_placeholder};
use shape::{SHAPES, Shape};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Most bytes of a text that are looked at.
pub(crate) const TEXT_BYTES_MAX: usize = 256 * 1024;

/// A secret found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFind {
    /// What a person calls it: `github token`.
    pub kind: &'static str,
    /// Byte offsets in the original text. In a decoded view: of the encoded run.
    pub span: (usize, usize),
    /// How it was written.
    pub view: View,
    /// The first four hexadecimal digits of the SHA-256 of the value.
    pub fingerprint: String,
}

/// A possible find in one reading of the text.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    kind: &'static str,
    start: usize,
    end: usize,
}

/// A find before it is known whether another covers it; what is covered needs no fingerprint.
struct Find<'a> {
    kind: &'static str,
    span: (usize, usize),
    view: View,
    value: Cow<'a, [u8]>,
}

impl Find<'_> {
    fn named(self) -> SecretFind {
        SecretFind {
            kind: self.kind,
            span: self.span,
            view: self.view,
            fingerprint: fingerprint(&self.value),
        }
    }
}

/// Returns the secrets in `text`, in the order of their place. Only the first [`TEXT_BYTES_MAX`] bytes
/// are looked at.
pub fn scan(text: &str) -> Vec<SecretFind> {
    let text = head(text);
    let mut finds = Vec::new();
    collect(text.as_bytes(), Rules::All, |candidate, value| {
        finds.push(Find {
            kind: candidate.kind,
            span: (candidate.start, candidate.end),
            view: View::Plain,
            value: Cow::Borrowed(value),
        });
    });
    for reading in views::decoded(text) {
        add_from(&reading, Rules::All, &mut finds);
        // Encodings are stacked to get past scanners that take off only one.
        if let Ok(inner) = std::str::from_utf8(&reading.bytes) {
            for nested in views::decoded(inner) {
                let whole = reading.span(0, reading.bytes.len());
                let mut inner_finds = Vec::new();
                add_from(&nested, Rules::All, &mut inner_finds);
                finds.extend(inner_finds.into_iter().map(|find| {
                    let (start, end) = (find.span.0, find.span.1);
                    let span = reading.span(start, end);
                    Find {
                        span: if span.0 < span.1 { span } else { whole },
                        ..find
                    }
                }));
            }
        }
    }
    for reading in views::rearranged(text) {
        add_from(&reading, Rules::ShapesOnly, &mut finds);
    }
    if has_reversed_keyword(text.as_bytes()) {
        add_from(&views::reversed(text), Rules::ShapesOnly, &mut finds);
    }
    let kept = without_overlaps(text, finds);
    kept.into_iter().map(Find::named).collect()
}

/// Returns `text` with every secret replaced by its kind and fingerprint, as in
/// `‹secret: github token, sha256 ab12›`. What lies beyond [`TEXT_BYTES_MAX`] was not looked at and is
/// left out, with its length. Applying it twice changes nothing more.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_around(text, |_| Vec::new())
}

/// Does what [`redact`] does, but leaves the places alone that `keeps` names, in their order, even
/// where they lie inside a secret.
pub(crate) fn redact_around(
    text: &str,
    keeps: impl Fn(&str) -> Vec<(usize, usize)>,
) -> Cow<'_, str> {
    let looked_at = head(text);
    let mut redacted = Cow::Borrowed(looked_at);
    // Taking one secret out can bring words together that look like another, so this is repeated.
    for _ in 0..REDACTION_ROUNDS_MAX {
        let kept = keeps(&redacted);
        let finds: Vec<SecretFind> = scan(&redacted)
            .into_iter()
            .flat_map(|find| pieces(find, &kept))
            .collect();
        if finds.is_empty() {
            break;
        }
        redacted = Cow::Owned(replace(&redacted, &finds));
    }
    let left_out = text.len() - looked_at.len();
    if left_out > 0 {
        return Cow::Owned(format!("{redacted}‹{left_out} bytes not looked at›"));
    }
    redacted
}

/// Returns what is left of `find` outside the places that are kept.
fn pieces(find: SecretFind, kept: &[(usize, usize)]) -> Vec<SecretFind> {
    let (mut start, end) = find.span;
    let mut left = Vec::new();
    for keep in kept {
        if keep.0 >= end || keep.1 <= start {
            continue;
        }
        if start < keep.0 {
            left.push(SecretFind {
                span: (start, keep.0),
                ..find.clone()
            });
        }
        start = start.max(keep.1);
    }
    if start < end {
        left.push(SecretFind {
            span: (start, end),
            ..find
        });
    }
    left
}

const REDACTION_ROUNDS_MAX: usize = 8;

fn replace(text: &str, finds: &[SecretFind]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for find in finds {
        replaced.push_str(text.get(done..find.span.0).unwrap_or_default());
        let _infallible = write!(
            replaced,
            "‹secret: {}, sha256 {}›",
            find.kind, find.fingerprint
        );
        done = find.span.1;
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn fingerprint(value: &[u8]) -> String {
    let digest = Digest::of(value).hex();
    digest.get(..4).unwrap_or_default().to_owned()
}

/// Which rules make sense for a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    All,
    ShapesOnly,
}

fn add_from(reading: &views::Reading, rules: Rules, finds: &mut Vec<Find<'_>>) {
    collect(&reading.bytes, rules, |candidate, value| {
        finds.push(Find {
            kind: candidate.kind,
            span: reading.span(candidate.start, candidate.end),
            view: reading.view,
            value: Cow::Owned(value.to_vec()),
        });
    });
}

/// The words of the forms and of seed phrases, and what each switches on.
struct Prefilter {
    words: Option<AhoCorasick>,
    word_forms: Vec<Option<usize>>,
}

static PREFILTER: LazyLock<Prefilter> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut word_forms = Vec::new();
    for (index, form) in FORMS.iter().enumerate() {
        for keyword in form.keywords {
            words.push(*keyword);
            word_forms.push(Some(index));
        }
    }
    for hint in SEED_HINTS.iter() {
        words.push(hint);
        word_forms.push(None);
    }
    Prefilter {
        words: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&words)
            .ok(),
        word_forms,
    }
});

fn has_reversed_keyword(text: &[u8]) -> bool {
    generic::has_long_run(text) && SHAPES_REVERSED.any(text)
}

/// Calls `found` with every secret in `text` and its value.
fn collect<'a>(text: &'a [u8], rules: Rules, mut found: impl FnMut(Candidate, &'a [u8])) {
    let mut candidates = Vec::new();
    let long_run = generic::has_long_run(text);
    if long_run {
        scan_shapes(text, &mut candidates);
    }
    if rules == Rules::All {
        scan_words(text, long_run, &mut candidates);
        assigned::scan(text, &mut candidates);
        if long_run {
            generic::scan(text, &mut candidates);
        }
    }
    for candidate in candidates {
        if let Some(value) = text.get(candidate.start..candidate.end) {
            found(candidate, value);
        }
    }
}

fn scan_shapes(text: &[u8], candidates: &mut Vec<Candidate>) {
    let mut wanted = Vec::new();
    SHAPE_KEYWORDS.each_asking(text, |index| {
        wanted.resize(SHAPES.len(), false);
        if let Some(flag) = wanted.get_mut(usize::from(index)) {
            *flag = true;
        }
    });
    for (shape, _) in SHAPES.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
        let Some(regex) = shape.regex() else { continue };
        for captures in regex.captures_iter(text) {
            if let Some(token) = captures.get(1)
                && is_real(shape, token.as_bytes())
            {
                candidates.push(Candidate {
                    kind: shape.kind,
                    start: token.start(),
                    end: token.end(),
                });
            }
        }
    }
}

/// Returns whether a value in the shape of a credential is one. A vendor's checksum settles it.
fn is_real(shape: &Shape, value: &[u8]) -> bool {
    let body = value
        .strip_prefix(shape.keyword.as_bytes())
        .unwrap_or(value);
    if matches!(shape.kind, "github token" | "npm token") && has_checksum(body) {
        return true;
    }
    let varied = body.iter().any(u8::is_ascii_digit)
        || (body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase))
        || shape.kind == "aws access key";
    varied && entropy(value) >= shape.entropy_min && !is_placeholder(body)
}

/// Most places in a text where a list of seed words is looked for.
const SEEDS_TRIED_MAX: usize = 64;

fn scan_words(text: &[u8], long_run: bool, candidates: &mut Vec<Candidate>) {
    let Some(prefilter) = PREFILTER.words.as_ref() else {
        return;
    };
    let mut tried = [false; FORMS.len()];
    let mut seeds_tried = 0;
    for hit in prefilter.find_overlapping_iter(text) {
        match PREFILTER.word_forms.get(hit.pattern().as_usize()) {
            Some(Some(index)) => {
                let (Some(form), Some(tried)) = (FORMS.get(*index), tried.get_mut(*index)) else {
                    continue;
                };
                // A full stop is in every text; the form behind it needs a long run as well.
                if !*tried && (long_run || form.keywords != ["."]) {
                    *tried = true;
                    form.scan(text, candidates);
                }
            }
            Some(None) if seeds_tried < SEEDS_TRIED_MAX => {
                seeds_tried += 1;
                forms::scan_seed(text, hit.end(), candidates);
            }
            Some(None) | None => {}
        }
    }
}

/// Sorts finds, keeps the first of those that overlap (plain text and telling shapes come first), and
/// leaves alone what an earlier redaction wrote.
fn without_overlaps<'a>(text: &str, mut finds: Vec<Find<'a>>) -> Vec<Find<'a>> {
    let chips: Vec<(usize, usize)> = chips(text);
    let mut kept: Vec<Find<'a>> = Vec::new();
    for find in &mut finds {
        // Spans from views may fall inside a character when the source is not well-formed.
        while !text.is_char_boundary(find.span.0) {
            find.span.0 -= 1;
        }
        while !text.is_char_boundary(find.span.1) {
            find.span.1 += 1;
        }
    }
    finds.retain(|find| find.span.0 < find.span.1 && find.span.1 <= text.len());
    finds.sort_by(|a, b| a.span.0.cmp(&b.span.0).then(b.span.1.cmp(&a.span.1)));
    for find in finds {
        // They stand one behind the other, so only the first that ends behind the beginning can overlap.
        let behind = chips.partition_point(|chip| chip.1 <= find.span.0);
        if chips.get(behind).is_some_and(|chip| chip.0 < find.span.1) {
            continue;
        }
        match kept.last_mut() {
            Some(last) if find.span.0 < last.span.1 => {
                // Both cover the same text: what they cover together goes out, under the more telling name.
                if is_vague(last.kind) && !is_vague(find.kind) {
                    last.kind = find.kind;
                    last.value = find.value;
                    last.view = find.view;
                }
                last.span.1 = last.span.1.max(find.span.1);
            }
            Some(_) | None => kept.push(find),
        }
    }
    kept
}

fn is_vague(kind: &str) -> bool {
    matches!(
        kind,
        "token" | "key" | "api key" | "password" | "bearer token" | "authorization header"
    )
}

/// Returns where earlier redactions stand.
fn chips(text: &str) -> Vec<(usize, usize)> {
    const OPENING: &str = "‹secret: ";
    /// Longer than any chip, so that many openings without an end cost little.
    const CHIP_BYTES_MAX: usize = 160;
    let mut found = Vec::new();
    for (start, _) in text.match_indices(OPENING) {
        let from = start + OPENING.len();
        let to = text.floor_char_boundary(from.saturating_add(CHIP_BYTES_MAX));
        let rest = text.get(from..to).unwrap_or_default();
        let Some((inside, _)) = rest.split_once('›') else {
            continue;
        };
        let written_here = inside
            .split_once(", sha256 ")
            .is_some_and(|(kind, digits)| {
                is_known_kind(kind)
                    && digits.len() == 4
                    && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            });
        if written_here {
            found.push((start, start + OPENING.len() + inside.len() + '›'.len_utf8()));
        }
    }
    found
}

fn is_known_kind(kind: &str) -> bool {
    matches!(kind, "token" | "key" | "password" | "seed phrase")
        || SHAPES.iter().any(|shape| shape.kind == kind)
        || FORMS.iter().any(|form| form.kind == kind)
}
