//! Tables, times and JSON on standard output.
//!
//! Commands and slash commands share it.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use countersign_core::display::inline;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

/// Widest column of a list, in cells.
const COLUMN_CELLS_MAX: usize = 72;

/// The style of a heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// The style of what matters less.
pub(crate) const QUIET: Style = AnsiColor::BrightBlack.on_default();

/// Returns `text` safe to show; a dash if it is empty.
pub(crate) fn text(text: &str) -> String {
    if text.is_empty() {
        return "-".to_owned();
    }
    inline(text)
}

/// Returns `text` safe to show; a dash if there is none.
pub(crate) fn maybe(it: Option<&str>) -> String {
    text(it.unwrap_or_default())
}

/// Returns how long ago a moment in Unix seconds was: `12s ago`, `in 4m`.
pub(crate) fn ago(at: f64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |passed| passed.as_secs_f64());
    let passed = now - at;
    if passed >= 0.0 {
        format!("{} ago", span(passed))
    } else {
        format!("in {}", span(-passed))
    }
}

/// Returns how long ago a moment was; a dash if there is none.
pub(crate) fn maybe_ago(at: Option<f64>) -> String {
    at.map_or_else(|| "-".to_owned(), ago)
}

fn span(seconds: f64) -> String {
    let rows = [(86_400.0, 'd'), (3_600.0, 'h'), (60.0, 'm'), (1.0, 's')];
    rows.iter().find(|(unit, _)| seconds >= *unit).map_or_else(
        || "0s".to_owned(),
        |(unit, letter)| format!("{:.0}{letter}", (seconds / unit).floor()),
    )
}

/// Returns rows as aligned columns under their headings.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|it| it.width()).collect();
    let shown: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cut(cell)).collect())
        .collect();
    for row in &shown {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut out = String::new();
    let line = |out: &mut String, cells: &mut dyn Iterator<Item = &str>, style: Style| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            let pad = width.saturating_sub(cell.width());
            let _infallible = write!(text, "{cell}{:pad$}  ", "");
        }
        let _infallible = writeln!(out, "{style}{}{style:#}", text.trim_end());
    };
    line(&mut out, &mut headings.iter().copied(), HEADING);
    for row in &shown {
        line(&mut out, &mut row.iter().map(String::as_str), Style::new());
    }
    out
}

fn cut(cell: &str) -> String {
    if cell.width() <= COLUMN_CELLS_MAX {
        return cell.to_owned();
    }
    let mut out = String::new();
    for letter in cell.chars() {
        out.push(letter);
        if out.width() >= COLUMN_CELLS_MAX {
            break;
        }
    }
    out.pop();
    out.push('…');
    out
}

/// Writes `text` to standard output, coloured where it can be.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    anstream::stdout().lock().write_all(text.as_bytes())
}

/// Writes `value` to standard output as one line of JSON.
pub(crate) fn print_json(value: &Value) -> std::io::Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout().lock(), "{value}")
}
