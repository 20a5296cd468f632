//! Folds single characters to the plain letters a reader sees. Texts and the rules' patterns are folded alike; the
//! patterns at build time, so this file knows nothing of the other modules.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, decompose_canonical};

use crate::knowledge::look_alike;

/// A rewritten text that remembers where each of its bytes came from.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The rewritten text.
    pub(super) text: String,
    /// For each byte of `text`, the byte of the original it stands for; empty in a view that is not traced.
    origin: Vec<u32>,
    traced: bool,
}

impl View {
    /// Makes an empty view, which remembers origins only if it is `traced`.
    pub(super) fn with_capacity(bytes: usize, traced: bool) -> Self {
        Self {
            text: String::with_capacity(bytes),
            origin: Vec::with_capacity(if traced { bytes } else { 0 }),
            traced,
        }
    }

    pub(super) const fn is_traced(&self) -> bool {
        self.traced
    }

    fn trace(&mut self, origin: u32) {
        if self.traced {
            self.origin.resize(self.text.len(), origin);
        }
    }

    /// Whether the last byte is one of these, which are all ASCII.
    pub(super) fn ends_in(&self, marks: &[u8]) -> bool {
        let last = self.text.as_bytes().last();
        last.is_some_and(|last| marks.contains(last))
    }

    pub(super) fn push(&mut self, c: char, origin: u32) {
        self.text.push(c);
        self.trace(origin);
    }

    pub(super) fn push_str(&mut self, text: &str, origin: u32) {
        self.text.push_str(text);
        self.trace(origin);
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
        if self.traced {
            self.origin.extend(first..first.saturating_add(bytes));
        }
        self.trace(u32::MAX);
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

/// Folds the non-ASCII letters of a rule's pattern as texts are folded, so that rules can be
/// written in ordinary spelling.
pub(super) fn fold_pattern(pattern: &str) -> String {
    let mut view = View::with_capacity(pattern.len(), false);
    for c in pattern.chars() {
        if c.is_ascii() {
            view.push(c, 0);
        } else {
            fold_char(c, 0, &mut view);
        }
    }
    view.text
}

pub(super) fn fold_char(c: char, origin: u32, view: &mut View) {
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
    if joins_the_one_before(c)
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

/// Whether it is a voicing mark or a part of a Hangul syllable.
pub(super) fn joins_the_one_before(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{1161}'..='\u{11ff}')
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
