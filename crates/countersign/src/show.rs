//! Tables, times and JSON on standard output.
//!
//! Commands and slash commands share it.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use countersign_core::display::inline;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

/// Widest column of a list that is not read on a terminal, in cells.
const COLUMN_CELLS_MAX: usize = 72;
/// Narrowest column that a terminal's width makes of a wider one, in cells.
const COLUMN_CELLS_MIN: usize = 8;
/// Cells between two columns.
const GAP: usize = 2;

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

/// Returns a number with its noun: `1 call`, `2 calls`.
pub(crate) fn count(number: impl Into<Count>, one: &str, many: &str) -> String {
    let Count(number) = number.into();
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}

/// A number of things.
pub(crate) struct Count(u64);

impl From<u64> for Count {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<usize> for Count {
    fn from(number: usize) -> Self {
        Self(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

/// Returns rows as aligned columns under their headings, fitted to the terminal they are read on.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    use std::io::IsTerminal as _;
    let columns = std::io::stdout()
        .is_terminal()
        .then(ratatui::crossterm::terminal::size)
        .and_then(Result::ok)
        .map(|(columns, _)| usize::from(columns));
    fitted(headings, rows, columns)
}

/// Returns the table in `columns` cells, where that is known. The first column is never cut: ids are
/// copied from it.
fn fitted(headings: &[&str], rows: &[Vec<String>], columns: Option<usize>) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|it| it.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    match columns {
        Some(columns) => narrow(&mut widths, columns),
        None => {
            for width in &mut widths {
                *width = (*width).min(COLUMN_CELLS_MAX);
            }
        }
    }
    let cut_row = |row: &Vec<String>| -> Vec<String> {
        let cells = row.iter().zip(&widths);
        cells.map(|(cell, width)| cut(cell, *width)).collect()
    };
    let shown: Vec<Vec<String>> = rows.iter().map(cut_row).collect();
    let mut out = String::new();
    let line = |out: &mut String, cells: &mut dyn Iterator<Item = &str>, style: Style| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            let pad = width.saturating_sub(cell.width());
            let _infallible = write!(text, "{cell}{:1$}", "", pad + GAP);
        }
        let _infallible = writeln!(out, "{style}{}{style:#}", text.trim_end());
    };
    line(&mut out, &mut headings.iter().copied(), HEADING);
    for row in &shown {
        line(&mut out, &mut row.iter().map(String::as_str), Style::new());
    }
    out
}

/// Takes cells from the widest column behind the first until all fit into `columns`.
fn narrow(widths: &mut [usize], columns: usize) {
    loop {
        let gaps = widths.len().saturating_sub(1) * GAP;
        let total = widths.iter().sum::<usize>() + gaps;
        let widest = widths.iter_mut().skip(1).max();
        match widest.filter(|widest| **widest > COLUMN_CELLS_MIN) {
            Some(widest) if total > columns => *widest -= 1,
            Some(_) | None => return,
        }
    }
}

fn cut(cell: &str, cells: usize) -> String {
    if cell.width() <= cells {
        return cell.to_owned();
    }
    let mut out = String::new();
    for letter in cell.chars() {
        out.push(letter);
        // One cell is for the sign that something is missing.
        if out.width() >= cells {
            out.pop();
            break;
        }
    }
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

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn a_table_fits_the_terminal_and_never_cuts_its_first_column() {
        let id = "appr_01kzzzzzzzzzzzzzzzzzzzzzzz";
        let rows = vec![vec![
            id.to_owned(),
            "high".to_owned(),
            "rm -rf 你好 /srv/www/".repeat(9),
            "Denied by ana via the command line".to_owned(),
        ]];
        let headings = ["approval", "risk", "command", "state"];
        for columns in [64, 80, 120, 200] {
            let shown = fitted(&headings, &rows, Some(columns));
            let shown = anstream::adapter::strip_str(&shown).to_string();
            let widest = shown.lines().map(UnicodeWidthStr::width).max();
            assert!(widest.is_some_and(|it| it <= columns), "{columns}\n{shown}");
            assert!(shown.contains(id), "{shown}");
            assert!(shown.contains('…'), "{shown}");
        }
        let whole = fitted(&headings, &rows, Some(600));
        assert!(!whole.contains('…'), "{whole}");
        let piped = fitted(&headings, &rows, None);
        let piped = anstream::adapter::strip_str(&piped).to_string();
        assert!(
            piped.contains('…') && piped.contains("command line"),
            "{piped}"
        );
    }

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!(count(1_u64, "entry", "entries"), "1 entry");
        assert_eq!(count(0_usize, "entry", "entries"), "0 entries");
        assert_eq!(count(2_usize, "entry", "entries"), "2 entries");
    }
}
