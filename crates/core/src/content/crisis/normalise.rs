//! Normalises text to the plain letters a reader sees, whatever characters encode them.
//!
//! Undone here: transport escapes (JSON, percent, quoted-printable, HTML), tags, invisible
//! characters, compatibility forms (full-width, mathematical, enclosed letters), case, accents,
//! Arabic spelling variants, traditional Chinese. Words stay as they are written; repairing these
//! is the business of `spelling`.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, decompose_canonical};

use crate::encoding::hex_byte;
use crate::knowledge::look_alike;
use crate::knowledge::names::{BLOCK_TAGS, INLINE_TAGS};

/// A rewritten text that remembers where each of its bytes came from.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The rewritten text.
    pub(super) text: String,
    /// For each byte of `text`, the byte of the original it stands for.
    origin: Vec<u32>,
}

impl View {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            origin: Vec::with_capacity(bytes),
        }
    }

    pub(super) fn push(&mut self, c: char, origin: u32) {
        self.text.push(c);
        self.origin.resize(self.text.len(), origin);
    }

    pub(super) fn push_str(&mut self, text: &str, origin: u32) {
        self.text.push_str(text);
        self.origin.resize(self.text.len(), origin);
    }

    /// Pushes ASCII text in small letters; it stands for itself, from byte `at` on.
    pub(super) fn push_plain(&mut self, text: &str, at: usize) {
        let first = u32::try_from(at).unwrap_or(u32::MAX);
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let start = self.text.len();
        self.text.push_str(text);
        if let Some(pushed) = self.text.get_mut(start..) {
            pushed.make_ascii_lowercase();
        }
        self.origin.extend(first..first.saturating_add(bytes));
        self.origin.resize(self.text.len(), u32::MAX);
    }

    pub(super) fn pop(&mut self) {
        self.text.pop();
        self.origin.truncate(self.text.len());
    }

    pub(super) fn origin_at(&self, byte: usize) -> u32 {
        self.origin
            .get(byte)
            .or(self.origin.last())
            .copied()
            .unwrap_or(0)
    }

    /// The part of `original` that the given part of this view stands for.
    pub(super) fn span_in_original(
        &self,
        start: usize,
        end: usize,
        original: &str,
    ) -> Option<(usize, usize)> {
        let from = original.floor_char_boundary(*self.origin.get(start)? as usize);
        let to = self
            .origin
            .get(end)
            .map_or(original.len(), |&at| at as usize);
        let to = original.floor_char_boundary(to.max(from));
        let seen = original.get(from..to)?.trim_end();
        Some((from, from + seen.len()))
    }
}

/// Folds a whole text. Linear in its length.
pub(super) fn fold(text: &str) -> View {
    let mut view = View::with_capacity(text.len());
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
                fold_char(c, origin, &mut view);
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

/// Folds the non-ASCII letters of a rule's pattern as texts are folded, so that rules can be
/// written in ordinary spelling.
pub(super) fn fold_pattern(pattern: &str) -> String {
    let mut view = View::with_capacity(pattern.len());
    for c in pattern.chars() {
        if c.is_ascii() {
            view.push(c, 0);
        } else {
            fold_char(c, 0, &mut view);
        }
    }
    view.text
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

fn fold_char(c: char, origin: u32, view: &mut View) {
    if is_invisible(c) {
        return;
    }
    if let Some(letter) = enclosed_letter(c) {
        view.push(letter, origin);
        return;
    }
    for part in std::iter::once(c).nfkc() {
        for lower in part.to_lowercase() {
            fold_letter(lower, origin, view);
        }
    }
}

fn fold_letter(c: char, origin: u32, view: &mut View) {
    if c.is_ascii() || ('\u{4e00}'..='\u{9fff}').contains(&c) {
        view.push(simplified(c), origin);
        return;
    }
    if is_dropped_mark(c) {
        return;
    }
    if let Some(known) = look_alike(c).filter(|known| known.styled) {
        view.push(known.sign, origin);
        return;
    }
    if let Some(text) = replacement(c) {
        view.push_str(text, origin);
        return;
    }
    // A voicing mark or a Hangul part written by itself joins the letter before it.
    if matches!(c, '\u{3099}' | '\u{309a}' | '\u{1161}'..='\u{11ff}')
        && let Some(whole) = view
            .text
            .chars()
            .next_back()
            .and_then(|last| compose(last, c))
    {
        let first_origin = view.origin_at(view.text.len().saturating_sub(1));
        view.pop();
        view.push(whole, first_origin);
        return;
    }
    let mut base = None;
    let mut marked = false;
    decompose_canonical(c, |part| {
        if is_dropped_mark(part) {
            marked = true;
        } else if base.is_none() {
            base = Some(part);
        }
    });
    match base {
        Some(base) if marked => view.push(base, origin),
        Some(_) | None => view.push(c, origin),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Accents, Arabic vowel signs and tatweel, the Devanagari nukta, combining symbols.
fn is_dropped_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{610}'..='\u{61a}' | '\u{640}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{93c}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Letters in circles, squares and flags that compatibility folding leaves alone.
fn enclosed_letter(c: char) -> Option<char> {
    let code = u32::from(c);
    let first = [0x1f150, 0x1f170, 0x1f1e6]
        .into_iter()
        .find(|&first| (first..first + 26).contains(&code))?;
    char::from_u32(u32::from('a') + code - first)
}

/// Letters with no decomposition that readers take for others, and spelling variants.
fn replacement(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '\u{b4}' | '\u{2bc}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => "\"",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'ı' => "i",
        'أ' | 'إ' | 'آ' | 'ٱ' => "ا",
        'ى' | 'ی' | 'ئ' => "ي",
        'ة' => "ه",
        'ک' => "ك",
        'ؤ' => "و",
        'ँ' => "ं",
        'ё' => "е",
        _ => return None,
    })
}

/// Traditional characters of the rules' vocabulary, and Japanese forms alike, as simplified ones.
fn simplified(c: char) -> char {
    static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let mut pairs = HashMap::new();
        let mut chars = TRADITIONAL_AND_SIMPLIFIED.chars();
        while let (Some(from), Some(to)) = (chars.next(), chars.next()) {
            pairs.insert(from, to);
        }
        pairs
    });
    if c.is_ascii() {
        return c;
    }
    SIMPLIFIED.get(&c).copied().unwrap_or(c)
}

/// Pairs: a traditional (or Japanese) character, then the simplified one.
const TRADITIONAL_AND_SIMPLIFIED: &str = "\
    殺杀傷伤殘残輕轻離离開开這这沒没無无還还個个們们會会說说讓让該该後后過过結结遺遗書书別别麼么樂乐\
    藥药樣样裡里給给寫写覺觉見见絕绝絶绝斷断來来時时間间為为對对幾几擔担負负樓楼熱热線线專专請请聽听\
    願愿捨舍從从邊边準准備备經经濟济獨独關关壓压體体義义氣气訴诉聯联繫系醫医處处煩烦恥耻辭辞淚泪";
