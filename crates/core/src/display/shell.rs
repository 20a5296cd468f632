//! Characters that make a shell command look different from what runs.

use super::glyph::{Treatment, imitates_dash, is_dressed_letter, is_unusual_space, treat};
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
        let line_end = character == '\r' && after.is_none_or(|next| next == '\n');
        let code = match glyph.treatment {
            Treatment::Escape(Some("mixed_script") | None, _) => None,
            Treatment::Escape(_, _) if line_end => None,
            Treatment::Escape(Some(code), _) => Some(code),
            Treatment::Show if quote.is_none() && is_unusual_space(character) => {
                Some("unusual_space")
            }
            Treatment::Show if quote.is_none() && !remark && is_full_width(character) => {
                Some("homoglyph")
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

fn is_full_width(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff5e}') || is_dressed_letter(character)
}

/// Returns whether the command that `head` belongs to is one of a program that only looks.
fn is_reader(head: &str) -> bool {
    let segment = head
        .rsplit(['|', ';', '&', '\n', '('])
        .next()
        .unwrap_or_default();
    let mut words = segment
        .split_whitespace()
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
