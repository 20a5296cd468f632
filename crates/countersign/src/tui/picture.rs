//! A frame for tests: its text, and its styles in runs such as `bold red "HIGH"`.

use std::fmt::Write as _;

use countersign_core::time::UnixMillis;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use ratatui::{Frame, Terminal};
use unicode_width::UnicodeWidthStr as _;

/// Returns what `draw` leaves on a screen of this size.
pub(crate) fn drawn(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(draw).unwrap();
    terminal.backend().buffer().clone()
}

/// Returns the rows of `buffer`, spaces at their ends left out.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buffer) {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    out
}

/// Returns the styles of `buffer`: for each row that has any, its number and its runs.
pub(crate) fn styles(buffer: &Buffer) -> String {
    let mut out = String::new();
    for (number, row) in rows(buffer).into_iter().enumerate() {
        let mut runs: Vec<(String, String)> = Vec::new();
        for cell in row {
            let style = style(cell);
            match runs.last_mut() {
                Some((last, text)) if *last == style => text.push_str(cell.symbol()),
                Some(_) | None => runs.push((style, cell.symbol().to_owned())),
            }
        }
        // The sides of a border are coloured like its top.
        let says = |text: &str| !matches!(text.trim(), "" | "│");
        runs.retain(|(style, text)| !style.is_empty() && says(text));
        if !runs.is_empty() {
            let runs: Vec<String> = runs
                .iter()
                .map(|(style, text)| format!("{style} \"{}\"", shortened(text)))
                .collect();
            let _infallible = writeln!(out, "{number:>2}  {}", runs.join(" · "));
        }
    }
    out
}

/// Returns text and styles, as snapshots keep them.
pub(crate) fn both(buffer: &Buffer) -> String {
    format!("{}\n\n{}", text(buffer), styles(buffer))
}

/// Panics if a cell holds something that could do anything but be seen.
pub(crate) fn assert_harmless(buffer: &Buffer, name: &str) {
    for cell in &buffer.content {
        let symbol = cell.symbol();
        let hidden = symbol.chars().any(|letter| {
            letter.is_control()
                || matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e001f}')
        });
        assert!(!hidden, "{name}: {symbol:?}");
        assert!(
            symbol.is_empty() || symbol.width() > 0,
            "{name}: {symbol:?}"
        );
    }
}

/// The widths at which everything is looked at.
pub(crate) const WIDTHS: [u16; 3] = [40, 80, 120];

/// Returns pictures at all widths as one text.
pub(crate) fn album(mut picture: impl FnMut(u16) -> Buffer) -> String {
    let pages = WIDTHS.map(|width| format!("== {width} columns ==\n{}", both(&picture(width))));
    pages.join("\n")
}

/// A moment to begin at.
pub(crate) const START: UnixMillis = UnixMillis(1_790_000_000_000);

/// Rows of cells, without those that a wide letter covers.
fn rows(buffer: &Buffer) -> Vec<Vec<&Cell>> {
    let width = usize::from(buffer.area.width);
    buffer
        .content
        .chunks(width.max(1))
        .map(|row| {
            let mut covered = 0;
            row.iter()
                .filter(|cell| {
                    if covered > 0 {
                        covered -= 1;
                        return false;
                    }
                    covered = cell.symbol().width().saturating_sub(1);
                    true
                })
                .collect()
        })
        .collect()
}

fn style(cell: &Cell) -> String {
    let names = [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::REVERSED, "reversed"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::ITALIC, "italic"),
    ];
    let mut words: Vec<String> = names
        .iter()
        .filter(|(modifier, _)| cell.modifier.contains(*modifier))
        .map(|(_, name)| (*name).to_owned())
        .collect();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string().to_lowercase());
    }
    assert_eq!(cell.bg, Color::Reset, "a background is never set");
    words.join(" ")
}

/// Borders are long and say nothing.
fn shortened(text: &str) -> String {
    let mut out = String::new();
    let mut rule = 0;
    for letter in text.trim().chars() {
        rule = if letter == '─' { rule + 1 } else { 0 };
        match rule {
            0 | 1 => out.push(letter),
            2 => out.push('…'),
            _ => {}
        }
    }
    out
}
