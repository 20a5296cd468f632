//! Characters that make a shell command look different from what runs.

use super::glyph::{Glyph, Treatment, imitates_dash, is_dressed_letter, is_unusual_space, treat};
use super::{Deception, Severity};
use crate::knowledge::names::READING_PROGRAMS;

/// Returns the first character of a command that makes it look different from what runs: invisible, turning
/// the direction, moving the cursor, a blank that is none, a letter or sign of another script.
///
/// Typographic quotes are not among them: word processors and web pages put them there, so they are
/// no sign of deceit.
pub fn is_deceptive_for_shell(command: &str) -> Option<Deception> {
    if super::is_printable_ascii(command) {
        return None;
    }
    let glyphs = treat(command);
    let mut quote: Option<char> = None;
    // What stands in a remark does not run, and Chinese and Japanese use wide signs in prose.
    let mut remark = false;
    // Where the command at hand begins. Inside of quotes there is none, unless the text holds one.
    let mut command_at = 0;
    let holds_commands = command.contains("$(") || command.contains('`') || command.contains("<(");
    for (index, glyph) in glyphs.iter().enumerate() {
        let character = glyph.character;
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') if !remark => quote = Some(character),
            (Some(_) | None, _) => {}
        }
        let after = glyphs.get(index + 1).map(|next| next.character);
        let begins = index
            .checked_sub(1)
            .and_then(|before| glyphs.get(before))
            .is_none_or(|before| before.character.is_ascii_whitespace());
        remark = character != '\n' && (remark || quote.is_none() && character == '#' && begins);
        if quote.is_none() && matches!(character, '|' | ';' | '&' | '\n' | '(') {
            command_at = glyph.at + 1;
        }
        let of_reader = || {
            let head = command.get(command_at..glyph.at).unwrap_or_default();
            !holds_commands && begins_reader(head) && is_written_so(&glyphs, index)
        };
        let line_end = character == '\r' && after.is_none_or(|next| next == '\n');
        let code = match glyph.treatment {
            Treatment::Escape(Some("mixed_script") | None, _) => None,
            Treatment::Escape(_, _) if line_end => None,
            Treatment::Escape(Some("homoglyph"), _)
                if quote.is_some() && is_full_width(character) && of_reader() =>
            {
                None
            }
            Treatment::Escape(Some(code), _) => Some(code),
            Treatment::Show if quote.is_none() && is_unusual_space(character) => {
                Some("unusual_space")
            }
            Treatment::Show if quote.is_none() && !remark && is_full_width(character) => {
                let is_name = !is_operator(character) && of_reader();
                (!is_name).then_some("homoglyph")
            }
            Treatment::Show if imitates_dash(character) => {
                let before = index
                    .checked_sub(1)
                    .and_then(|i| glyphs.get(i))
                    .map(|g| g.character);
                let option = before.is_none_or(char::is_whitespace)
                    && after.is_some_and(|next| {
                        next.is_ascii_alphabetic() || imitates_dash(next) || next == '-'
                    });
                (option
                    && quote.is_none()
                    && !is_reader(command.get(..glyph.at).unwrap_or_default()))
                .then_some("homoglyph")
            }
            Treatment::Show => None,
        };
        if let Some(code) = code {
            let span = (glyph.at, glyph.at + character.len_utf8());
            return Some(Deception {
                code,
                span,
                severity: Severity::High,
            });
        }
    }
    None
}

/// Whether a wide sign stands in the name of a file, and not in a word that is nothing but ASCII otherwise and
/// looks like a path or an address: a browser that saves a page puts wide signs where the narrow ones may not
/// stand, and Chinese, Japanese and Korean names have them anyway.
fn is_written_so(glyphs: &[Glyph], index: usize) -> bool {
    let is_wide = |glyph: &Glyph| is_full_width(glyph.character);
    let is_end = |glyph: &&Glyph| matches!(glyph.character, '\'' | '"' | '\n');
    let before = glyphs.get(..index).unwrap_or_default().iter().rev();
    let behind = glyphs.get(index..).unwrap_or_default().iter();
    let mut word = before
        .take_while(|glyph| !is_end(glyph))
        .chain(behind.take_while(|glyph| !is_end(glyph)))
        .take(WORD_MAX);
    // Letters that look like Latin ones are the disguise; signs are not.
    word.all(|glyph| !is_wide(glyph) || is_wide_sign(glyph.character))
}

/// Characters of one word that are looked at.
const WORD_MAX: usize = 256;

/// Whether a character is a wide sign that no path, address or option is made of.
fn is_wide_sign(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}')
        && !matches!(character, '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
        && !matches!(
            character,
            '\u{ff0d}' | '\u{ff0e}' | '\u{ff0f}' | '\u{ff3c}' | '\u{ff04}' | '\u{ff40}'
        )
}

/// Whether a wide sign looks like an operator of a shell.
const fn is_operator(character: char) -> bool {
    matches!(
        character,
        '\u{ff1b}' | '\u{ff5c}' | '\u{ff06}' | '\u{ff1e}' | '\u{ff1c}' | '\u{ff04}' | '\u{ff40}'
    )
}

fn is_full_width(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}') || is_dressed_letter(character)
}

/// Returns whether the command that `head` belongs to is one of a program that only looks.
fn is_reader(head: &str) -> bool {
    let segment = head
        .rsplit(['|', ';', '&', '\n', '('])
        .next()
        .unwrap_or_default();
    begins_reader(segment)
}

/// Words in front of a command that are looked at.
const WORDS_MAX: usize = 16;

/// Returns whether a command that begins with `segment` is one of a program that only looks.
fn begins_reader(segment: &str) -> bool {
    let mut words = segment
        .split_whitespace()
        .take(WORDS_MAX)
        .filter(|word| !word.contains('='));
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let after_pipe = if program == "xargs" {
        words
            .find(|word| !word.starts_with('-') && !word.bytes().all(|b| b.is_ascii_digit()))
            .unwrap_or_default()
    } else {
        program
    };
    READING_PROGRAMS.contains(after_pipe)
}
