//! Displays one character, or writes it out if it hides, moves or imitates something.
//!
//! The place matters. A joiner inside an emoji or a Persian word, a flag's tag sequence, a Hebrew letter or a
//! full-width comma in Chinese text are honest; the same characters in `r m` or `git push` are not.

use super::{Deception, Severity};
use crate::knowledge::look_alike;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What happens to a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It is what it looks like.
    Show,
    /// It is written as its code; with a name and a weight when it deceives.
    Escape(Option<&'static str>, Severity),
}

/// A character of a text with its place and treatment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyph {
    /// Byte offset.
    pub at: usize,
    /// The character.
    pub character: char,
    /// What happens to it.
    pub treatment: Treatment,
}

/// The characters of a text one after the other.
#[derive(Debug)]
pub(crate) struct Glyphs {
    glyphs: Vec<Glyph>,
    next: usize,
}

/// Characters that carry text no one sees.
#[derive(Debug)]
pub(crate) struct HiddenRun {
    /// How many there are.
    pub count: usize,
    /// What they say, as far as it is ASCII.
    pub text: String,
}

impl Glyphs {
    /// Looks at all characters of `text`.
    pub(crate) fn new(text: &str) -> Self {
        Self {
            glyphs: treat(text),
            next: 0,
        }
    }

    /// If two or more characters that carry hidden text start at `at`, steps over them and returns them.
    pub(crate) fn hidden_run(&mut self, at: usize) -> Option<HiddenRun> {
        let first = self.next.checked_sub(1)?;
        let run = self.glyphs.get(first..)?;
        if run.first()?.at != at {
            return None;
        }
        let codes: Vec<u32> = run
            .iter()
            .take_while(|glyph| glyph.treatment != Treatment::Show && carries_text(glyph.character))
            .map(|glyph| u32::from(glyph.character))
            .collect();
        if codes.len() < 2 {
            return None;
        }
        self.next = first + codes.len();
        let said = |offset: u32| -> String {
            codes
                .iter()
                .filter_map(|code| match *code {
                    tag @ 0xE0000..=0xE007F => Some(tag - 0xE0000),
                    selector @ 0xE0100..=0xE01EF => Some(selector - 0xE0100 + offset),
                    _ => None,
                })
                .filter_map(char::from_u32)
                .map(|character| {
                    if matches!(character, ' '..='~') {
                        character
                    } else {
                        '?'
                    }
                })
                .collect()
        };
        // Selectors are used to carry bytes in two ways: counted from zero, and from sixteen.
        let (zero, sixteen) = (said(0), said(16));
        let letters = |text: &str| {
            text.chars()
                .filter(|c| c.is_ascii_alphanumeric() || *c == ' ')
                .count()
        };
        let text = if letters(&zero) >= letters(&sixteen) {
            zero
        } else {
            sixteen
        };
        Some(HiddenRun {
            count: codes.len(),
            text,
        })
    }
}

impl Iterator for Glyphs {
    type Item = Glyph;

    fn next(&mut self) -> Option<Glyph> {
        let glyph = self.glyphs.get(self.next).copied();
        self.next += 1;
        glyph
    }
}

/// Adds every character of `text` that deceives.
pub(super) fn deceptions(text: &str, found: &mut Vec<Deception>) {
    for glyph in treat(text) {
        if let Treatment::Escape(Some(code), severity) = glyph.treatment
            && glyph.character != '\n'
        {
            let end = glyph.at + glyph.character.len_utf8();
            match found.last_mut() {
                Some(last) if last.code == code && last.span.1 == glyph.at => {
                    last.span.1 = end;
                    last.severity = last.severity.max(severity);
                }
                Some(_) | None => found.push(Deception {
                    code,
                    span: (glyph.at, end),
                    severity,
                }),
            }
        }
    }
}

/// Longest line repeated in plain letters in a note, in characters.
const NOTE_CHARS_MAX: usize = 300;

/// Adds how lines read whose letters are only dressed up.
pub(super) fn notes(text: &str, found: &mut Vec<String>) {
    if text.is_ascii() {
        return;
    }
    for line in text.lines() {
        let dressed = line.chars().any(is_dressed_letter);
        if dressed && !line.chars().any(is_east_asian) {
            let read: String = line.nfkc().take(NOTE_CHARS_MAX).collect();
            found.push(format!("reads as: {read}"));
        }
    }
}

/// Returns the treatment of every character of `text`.
pub(super) fn treat(text: &str) -> Vec<Glyph> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let ascii = text.is_ascii();
    let east_asian_lines = if ascii {
        Vec::new()
    } else {
        east_asian_lines(&characters)
    };
    let mixed = if ascii {
        Vec::new()
    } else {
        mixed_words(&characters)
    };
    let mut glyphs = Vec::with_capacity(characters.len());
    let mut marks = 0;
    let mut flag_until = 0;
    let mut line = 0;
    for (index, (at, character)) in characters.iter().copied().enumerate() {
        let place = Place {
            // What was itself written out does not make its neighbour honest.
            before: glyphs
                .last()
                .filter(|glyph: &&Glyph| matches!(glyph.treatment, Treatment::Show))
                .map(|glyph| glyph.character),
            after: characters.get(index + 1).map(|c| c.1),
            east_asian: east_asian_lines.get(line).copied().unwrap_or(false),
        };
        line += usize::from(character == '\n');
        marks = if !character.is_ascii() && is_combining_mark(character) {
            marks + 1
        } else {
            0
        };
        if character == '\u{1f3f4}' {
            flag_until = index + flag_length(characters.get(index + 1..).unwrap_or_default());
        }
        let treatment = if matches!(character, ' '..='~' | '\t') {
            Treatment::Show
        } else if marks > MARKS_MAX {
            Treatment::Escape(Some("combining_marks"), Severity::High)
        } else if index <= flag_until && flag_until > 0 && is_tag(character) {
            Treatment::Show
        } else if let Some(code) = mixed.get(index).copied().flatten() {
            let severity = if code == "homoglyph" {
                Severity::High
            } else {
                Severity::Low
            };
            Treatment::Escape(Some(code), severity)
        } else {
            alone(character, place)
        };
        glyphs.push(Glyph {
            at,
            character,
            treatment,
        });
    }
    glyphs
}

/// Most combining marks on one letter; Hebrew, Thai and Vietnamese need up to four.
const MARKS_MAX: usize = 4;

/// What stands around a character.
#[derive(Clone, Copy)]
struct Place {
    before: Option<char>,
    after: Option<char>,
    /// Whether the line has Chinese, Japanese or Korean letters.
    east_asian: bool,
}

impl Place {
    fn next_to(self, test: fn(char) -> bool) -> bool {
        self.before.is_some_and(test) || self.after.is_some_and(test)
    }

    fn between(self, test: fn(char) -> bool) -> bool {
        self.before.is_some_and(test) && self.after.is_some_and(test)
    }
}

const fn deceives(code: &'static str) -> Treatment {
    Treatment::Escape(Some(code), Severity::High)
}

const fn marked(code: &'static str) -> Treatment {
    Treatment::Escape(Some(code), Severity::Low)
}

const WRITTEN_OUT: Treatment = Treatment::Escape(None, Severity::Low);

fn alone(character: char, place: Place) -> Treatment {
    match character {
        // This module's own marks may not be forged.
        '\n' | '⟨' | '⟩' | '⇥' | '\u{2329}' | '\u{232a}' => WRITTEN_OUT,
        '\r' if place.after == Some('\n') => marked("control"),
        '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => deceives("ansi_escape"),
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => deceives("control"),
        // Direction marks are honest beside letters written from right to left; still they are shown.
        '\u{200e}' | '\u{200f}' | '\u{61c}' if place.next_to(is_right_to_left) => WRITTEN_OUT,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            deceives("bidi")
        }
        '\u{200c}' if place.between(joins) => Treatment::Show,
        '\u{200d}' if place.between(joins) || place.between(is_emoji_part) => Treatment::Show,
        '\u{fe00}'..='\u{fe0f}' if takes_selector(place) => Treatment::Show,
        '\u{e0100}'..='\u{e01ef}' if place.before.is_some_and(is_east_asian) => Treatment::Show,
        _ if is_tag(character) => deceives("tag_block"),
        _ if is_zero_width(character) => deceives("zero_width"),
        '\u{3000}' if place.next_to(is_east_asian) => Treatment::Show,
        '\u{a0}' | '\u{202f}' if place.next_to(takes_narrow_space) => Treatment::Show,
        _ if is_unusual_space(character) => marked("unusual_space"),
        // Hyphens that do not break are common in honest prose; in a command they are not.
        '\u{2010}' | '\u{2011}' if place.next_to(|c| c.is_ascii_alphanumeric()) => {
            marked("homoglyph")
        }
        '\u{2044}' | '\u{2236}' | '\u{2215}' if place.between(|c| c.is_ascii_digit()) => {
            Treatment::Show
        }
        '\u{ff01}'..='\u{ff5e}' | '\u{ffe0}'..='\u{ffe6}' if place.east_asian => Treatment::Show,
        _ if imitates(character) => deceives("homoglyph"),
        _ if is_dressed_letter(character) => marked("homoglyph"),
        // Private use and no characters at all: what they look like is up to the font.
        '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fffe}'..='\u{ffff}'
        | '\u{f0000}'..='\u{10ffff}' => WRITTEN_OUT,
        _ => Treatment::Show,
    }
}

fn imitates(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}' | '\u{ffe0}'..='\u{ffe6}')
        || deceives_as(character).is_some_and(|sign| !sign.is_ascii_alphabetic())
}

/// Returns whether the character is a dash that honest prose uses and a command may be fooled by.
pub(super) fn imitates_dash(character: char) -> bool {
    matches!(character, '\u{2012}'..='\u{2015}' | '\u{2212}')
}

/// Returns whether the character is a Latin letter or digit in another dress: full-width, mathematical,
/// enclosed.
pub(super) fn is_dressed_letter(character: char) -> bool {
    matches!(character,
        '\u{1d400}'..='\u{1d7ff}' | '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}'
        | '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}')
        // Letters on red or blue squares are also emoji: blood groups, parking.
        && !matches!(character, '\u{1f170}' | '\u{1f171}' | '\u{1f17e}' | '\u{1f17f}' | '\u{24c2}')
}

/// Returns whether the character is a space that is not the usual one.
pub(super) fn is_unusual_space(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{2800}'
    )
}

fn is_zero_width(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}')
}

fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

fn carries_text(character: char) -> bool {
    is_tag(character) || matches!(character, '\u{e0100}'..='\u{e01ef}')
}

/// Returns how many tag characters after a black flag make a regional flag: a region's code and the end tag.
fn flag_length(after: &[(usize, char)]) -> usize {
    let letters = after
        .iter()
        .take(7)
        .take_while(|(_, c)| matches!(c, '\u{e0061}'..='\u{e007a}' | '\u{e0030}'..='\u{e0039}'))
        .count();
    let ends = after.get(letters).is_some_and(|(_, c)| *c == '\u{e007f}');
    if (3..=6).contains(&letters) && ends {
        letters + 1
    } else {
        0
    }
}

fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
        && character != '\u{61c}'
}

/// Returns whether letters of this script join, so that a joiner between them changes how they look.
fn joins(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1800}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && character != '\u{61c}'
}

/// Returns whether the character may stand on either side of a joiner in an emoji.
fn is_emoji_part(character: char) -> bool {
    // Frames and blocks are no emoji, and this module draws its own fence with one of them.
    matches!(character, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{24ff}' | '\u{25a0}'..='\u{2bff}' | '\u{fe0f}')
        && !matches!(character, '⟨' | '⟩' | '⇥')
}

/// Returns whether a variation selector at this place chooses how the character before it is drawn.
fn takes_selector(place: Place) -> bool {
    match place.before {
        Some('0'..='9' | '#' | '*') => place.after == Some('\u{20e3}'),
        Some('©' | '®' | '™' | 'ℹ' | '‼' | '⁉' | '〰' | '〽' | '㊗' | '㊙') => true,
        Some(before) => {
            is_emoji_part(before) && before != '\u{fe0f}' || is_east_asian(before) || joins(before)
        }
        None => false,
    }
}

/// Returns whether a narrow or fixed space beside this sign is ordinary typography.
fn takes_narrow_space(character: char) -> bool {
    character.is_ascii_digit()
        || matches!(
            character,
            '«' | '»'
                | '!'
                | '?'
                | ';'
                | ':'
                | '%'
                | '€'
                | '£'
                | '$'
                | '–'
                | '—'
                | '°'
                | '§'
                | '№'
        )
}

/// Returns whether the character belongs to Chinese, Japanese or Korean writing.
pub(super) fn is_east_asian(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{2fdf}' | '\u{3001}'..='\u{3163}' | '\u{3165}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{1100}'..='\u{115e}' | '\u{1161}'..='\u{11ff}')
}

fn east_asian_lines(characters: &[(usize, char)]) -> Vec<bool> {
    characters
        .split(|(_, character)| *character == '\n')
        .map(|line| line.iter().any(|(_, character)| is_east_asian(*character)))
        .collect()
}

/// Returns the ASCII letter that `character` looks like.
pub(super) fn looks_like(character: char) -> Option<char> {
    deceives_as(character).filter(char::is_ascii_alphabetic)
}

/// Returns the ASCII letter or sign that everybody takes `character` for.
fn deceives_as(character: char) -> Option<char> {
    let known = look_alike(character).filter(|known| known.deceives);
    known.map(|known| known.sign)
}

/// Returns whether the character is a letter of a script that is easily taken for Latin.
fn is_rival_letter(character: char) -> bool {
    matches!(character, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{531}'..='\u{587}' | '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' | '\u{a4d0}'..='\u{a4f7}' | '\u{2c80}'..='\u{2cff}')
        && character.is_alphabetic()
        // Letters of mathematics and measurement stand beside Latin ones in honest text.
        && !matches!(character, 'α' | 'β' | 'γ' | 'δ' | 'ε' | 'λ' | 'μ' | 'π' | 'σ' | 'τ' | 'φ' | 'ω' | 'θ' | 'η' | 'Δ' | 'Ω' | 'Σ' | 'Π' | 'Φ' | 'Θ' | 'Λ' | 'Γ' | 'Ψ' | 'ψ' | 'ζ' | 'ξ' | 'Ξ')
}

/// For each character, the code it gets for standing in a word that also has ASCII letters.
fn mixed_words(characters: &[(usize, char)]) -> Vec<Option<&'static str>> {
    let mut codes = vec![None; characters.len()];
    let mut start = 0;
    while start < characters.len() {
        let length = characters
            .iter()
            .skip(start)
            .take_while(|(_, c)| c.is_alphanumeric() || *c == '_' || is_combining_mark(*c))
            .count();
        let word = characters.get(start..start + length).unwrap_or_default();
        if word.iter().any(|(_, c)| c.is_ascii_alphabetic()) {
            for (offset, (_, character)) in word.iter().enumerate() {
                let code = if looks_like(*character).is_some() {
                    Some("homoglyph")
                } else if is_rival_letter(*character) {
                    Some("mixed_script")
                } else {
                    None
                };
                if let Some(place) = codes.get_mut(start + offset) {
                    *place = code;
                }
            }
        }
        start += length + 1;
    }
    codes
}
