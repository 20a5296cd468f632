//! Normalises text to the plain letters a reader sees, whatever characters encode them.
//!
//! Undone here: transport escapes (JSON, percent, quoted-printable, HTML), tags, invisible
//! characters, compatibility forms (full-width, mathematical, enclosed letters), case, accents,
//! Arabic spelling variants, traditional Chinese. Words stay as they are written; repairing these
//! is the business of `spelling`.

use super::folding::{View, fold_char, joins_the_one_before};
use crate::encoding::hex_byte;
use crate::knowledge::names::{BLOCK_TAGS, INLINE_TAGS};

/// Folds a whole text. Linear in its length.
pub(super) fn fold(text: &str, traced: bool) -> View {
    let mut view = View::with_capacity(text.len(), traced);
    let mut letters = Letters::default();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let plain = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b" .,'-".contains(b));
        let plain = plain.count();
        if plain > 0 {
            view.push_plain(rest.get(..plain).unwrap_or_default(), at);
            at += plain;
            continue;
        }
        let origin = u32::try_from(at).unwrap_or(u32::MAX);
        let taken = match c {
            '\\' | '%' | '=' | '&' | '<' => decode(rest, origin, &mut view),
            _ if c.is_ascii() => None,
            _ => {
                letters.fold(c, origin, &mut view);
                Some(c.len_utf8())
            }
        };
        at += taken.unwrap_or_else(|| {
            if c == '\n' || c == '\t' || c == '\r' || !c.is_ascii_control() {
                view.push(c, origin);
            }
            1
        });
    }
    view
}

/// What becomes of a character, whatever stands before it.
#[derive(Debug, Clone, Copy)]
enum Folded {
    /// Nothing.
    Dropped,
    /// This one.
    One(char),
    /// It must be looked at each time.
    Several,
}

/// Remembers what became of characters: a text uses few of them, each many times.
#[derive(Debug, Default)]
struct Letters {
    known: Vec<Option<(char, Folded)>>,
    /// Where one is tried by itself.
    trial: View,
}

impl Letters {
    const SLOTS: usize = 512;

    fn fold(&mut self, c: char, origin: u32, view: &mut View) {
        if self.known.is_empty() {
            self.known.resize(Self::SLOTS, None);
        }
        let slot = c as usize % Self::SLOTS;
        let folded = match self.known.get(slot) {
            Some(Some((known, folded))) if *known == c => *folded,
            _ => {
                let folded = self.tried(c);
                if let Some(known) = self.known.get_mut(slot) {
                    *known = Some((c, folded));
                }
                folded
            }
        };
        match folded {
            Folded::Dropped => {}
            Folded::One(letter) => view.push(letter, origin),
            Folded::Several => fold_char(c, origin, view),
        }
    }

    fn tried(&mut self, c: char) -> Folded {
        self.trial.text.clear();
        fold_char(c, 0, &mut self.trial);
        let mut letters = self.trial.text.chars();
        match (letters.next(), letters.next()) {
            (None, _) => Folded::Dropped,
            (Some(letter), None) if !joins_the_one_before(letter) => Folded::One(letter),
            (Some(_), _) => Folded::Several,
        }
    }
}

/// Undoes one transport escape at the start of `rest`; tells how many bytes it took.
fn decode(rest: &str, origin: u32, view: &mut View) -> Option<usize> {
    if let Some(after) = rest.strip_prefix('\\') {
        return decode_backslash(after, origin, view).map(|taken| taken + 1);
    }
    if rest.starts_with('<') {
        return decode_tag(rest, origin, view);
    }
    if rest.starts_with('&') {
        return decode_entity(rest, origin, view);
    }
    if rest.starts_with("=\n") || rest.starts_with("=\r\n") {
        // A soft line break of quoted-printable joins the two lines.
        return Some(if rest.starts_with("=\n") { 2 } else { 3 });
    }
    decode_hex_bytes(rest, origin, view)
}

fn decode_backslash(after: &str, origin: u32, view: &mut View) -> Option<usize> {
    // Texts escaped twice or thrice carry more backslashes before the letter.
    const SLASHES_MAX: usize = 7;
    let slashes = after
        .bytes()
        .take(SLASHES_MAX)
        .take_while(|&b| b == b'\\')
        .count();
    let escape = after.get(slashes..)?;
    match escape.chars().next()? {
        'n' | 'r' => view.push('\n', origin),
        't' => view.push(' ', origin),
        quote @ ('"' | '\'') => view.push(quote, origin),
        'u' => return decode_utf16(escape, origin, view).map(|taken| taken + slashes),
        _ => return None,
    }
    Some(slashes + 1)
}

fn decode_utf16(escape: &str, origin: u32, view: &mut View) -> Option<usize> {
    let unit = |from: usize| {
        let digits = escape.get(from..from + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(1)?;
    let second = escape
        .get(5..)
        .filter(|next| next.starts_with("\\u"))
        .and_then(|_| unit(7));
    let second = second.filter(|_| (0xd800..0xdc00).contains(&first));
    let c = char::decode_utf16(std::iter::once(first).chain(second))
        .next()?
        .ok()?;
    fold_any(c, origin, view);
    Some(if second.is_some() { 11 } else { 5 })
}

/// Drops a bare tag. One with attributes stays: these can hold text, too.
fn decode_tag(rest: &str, origin: u32, view: &mut View) -> Option<usize> {
    const TAG_BYTES_MAX: usize = 14;
    let end = rest.bytes().take(TAG_BYTES_MAX).position(|b| b == b'>')?;
    let name = rest
        .get(1..end)?
        .trim_matches(['/', ' '])
        .to_ascii_lowercase();
    if BLOCK_TAGS.contains(name.as_str()) {
        view.push('\n', origin);
    } else if !INLINE_TAGS.contains(name.as_str()) {
        return None;
    }
    Some(end + 1)
}

fn decode_entity(rest: &str, origin: u32, view: &mut View) -> Option<usize> {
    const ENTITY_BYTES_MAX: usize = 10;
    let end = rest
        .bytes()
        .take(ENTITY_BYTES_MAX)
        .position(|b| b == b';')?;
    let name = rest.get(1..end)?;
    let c = match name {
        "quot" => '"',
        "apos" | "rsquo" | "lsquo" => '\'',
        "nbsp" => ' ',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "shy" | "zwnj" | "zwj" => return Some(end + 1),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    fold_any(c, origin, view);
    Some(end + 1)
}

/// Undoes a run of `%41` or `=C3=A9`.
fn decode_hex_bytes(rest: &str, origin: u32, view: &mut View) -> Option<usize> {
    const RUN_MAX: usize = 16;
    let sign = *rest.as_bytes().first()?;
    let bytes: Vec<u8> = rest
        .as_bytes()
        .chunks_exact(3)
        .take(RUN_MAX)
        .map_while(|chunk| match chunk {
            [first, high, low] if *first == sign => hex_byte(*high, *low),
            _ => None,
        })
        .collect();
    // Of quoted-printable only non-ASCII bytes are taken: `timeout=30` is no escape.
    if sign == b'=' && bytes.first().is_none_or(u8::is_ascii) {
        return None;
    }
    let valid = match std::str::from_utf8(&bytes) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?,
    };
    if valid.is_empty() {
        return None;
    }
    for c in valid.chars() {
        fold_any(c, origin, view);
    }
    Some(valid.len() * 3)
}

fn fold_any(c: char, origin: u32, view: &mut View) {
    if c.is_ascii() {
        view.push(c.to_ascii_lowercase(), origin);
    } else {
        fold_char(c, origin, view);
    }
}
