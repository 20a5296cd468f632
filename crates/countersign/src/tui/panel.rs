//! Shared parts of the panels: key results and stacked rows.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::input::Input;
use super::screen::Wish;
use super::theme::{NO_POINTER, POINTER, Theme};
use super::wrap::{Break, rows};

/// How every list of choices is used.
pub(crate) const HINT: &str = "a number answers, or ↑/↓ and Enter";

/// What becomes of a panel after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It took the key and stays.
    Stays,
    /// The person left it. Nothing was answered by that.
    Leaves,
    /// The key means nothing to it.
    NotMine,
}

/// The result of a key press.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reaction {
    /// What is wanted now.
    pub(crate) wishes: Vec<Wish>,
    /// What becomes of the panel.
    pub(crate) then: Then,
}

impl Reaction {
    /// It stays, and wants nothing.
    pub(crate) const STAYS: Self = Self {
        wishes: Vec::new(),
        then: Then::Stays,
    };
    /// The person left it.
    pub(crate) const LEAVES: Self = Self {
        wishes: Vec::new(),
        then: Then::Leaves,
    };
    /// The key means nothing to it.
    pub(crate) const NOT_MINE: Self = Self {
        wishes: Vec::new(),
        then: Then::NotMine,
    };

    /// It stays, and wants this.
    pub(crate) const fn wants(wishes: Vec<Wish>) -> Self {
        Self {
            wishes,
            then: Then::Stays,
        }
    }
}

/// Whether keys reach a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// They do.
    Here,
    /// They go elsewhere; Tab brings them here.
    Elsewhere,
    /// They go to the list it stands beside; Enter brings them here.
    Beside,
}

/// Returns one row of a list, wrapped under its number, if it has one.
pub(crate) fn choice_rows(
    number: Option<usize>,
    label: &str,
    is_selected: IsSelected,
    style: ratatui::style::Style,
    theme: Theme,
    width: usize,
) -> Vec<Line<'static>> {
    let (pointer, style) = match is_selected {
        IsSelected::Yes => (POINTER, theme.selected().patch(style)),
        IsSelected::No => (NO_POINTER, style),
    };
    let head = match number {
        Some(number) => format!("{pointer}{number}. "),
        None => pointer.to_owned(),
    };
    let indent = head.width();
    let room = width.saturating_sub(indent).max(1);
    rows(label, room, Break::Words)
        .into_iter()
        .enumerate()
        .map(|(at, row)| {
            let head = if at == 0 {
                head.clone()
            } else {
                " ".repeat(indent)
            };
            let text = format!("{head}{}", row.trim_end());
            Line::from(Span::styled(text, style))
        })
        .collect()
}

/// Whether Enter means a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsSelected {
    Yes,
    No,
}

impl From<bool> for IsSelected {
    fn from(is: bool) -> Self {
        if is { Self::Yes } else { Self::No }
    }
}

/// Returns prose as rows in one style.
pub(crate) fn prose(text: &str, width: usize, style: ratatui::style::Style) -> Vec<Line<'static>> {
    rows(text, width, Break::Words)
        .into_iter()
        .map(|row| Line::from(Span::styled(row.trim_end().to_owned(), style)))
        .collect()
}

/// Draws `lines` one below the other; what does not fit is left out.
pub(crate) fn draw_lines(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'_>]) {
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

/// Draws what is being typed behind `prompt`, the cursor in it, as many rows as `area` has.
pub(crate) fn draw_input(
    frame: &mut Frame<'_>,
    area: Rect,
    prompt: &str,
    input: &Input,
    theme: Theme,
) {
    draw_typed(frame, area, prompt, (input, Focus::Here), theme);
}

/// Draws what was typed; the cursor stands in it only if letters go there.
pub(crate) fn draw_typed(
    frame: &mut Frame<'_>,
    area: Rect,
    prompt: &str,
    (input, focus): (&Input, Focus),
    theme: Theme,
) {
    let indent = u16::try_from(prompt.width()).unwrap_or(u16::MAX);
    let drawn = input.drawn(usize::from(area.width.saturating_sub(indent)));
    let at = drawn.iter().position(|row| row.cursor.is_some());
    let skipped = (at.unwrap_or(0) + 1).saturating_sub(usize::from(area.height));
    let style = match focus {
        Focus::Here => theme.own(),
        Focus::Elsewhere | Focus::Beside => theme.quiet(),
    };
    let rows = drawn.iter().enumerate().skip(skipped);
    for ((number, row), y) in rows.zip(area.top()..area.bottom()) {
        let lead = if number == 0 { prompt } else { "" };
        let padding = prompt.width().saturating_sub(lead.width());
        let lead = Span::styled(format!("{lead}{:padding$}", ""), style);
        let line = Line::from(vec![lead, Span::raw(row.text.clone())]);
        frame.buffer_mut().set_line(area.x, y, &line, area.width);
        if let (Some(cell), Focus::Here) = (row.cursor, focus) {
            let cell = u16::try_from(cell).unwrap_or(u16::MAX);
            let x = area.x.saturating_add(indent).saturating_add(cell);
            frame.set_cursor_position((x.min(area.right().saturating_sub(1)), y));
        }
    }
}

/// Returns as many of `parts` as fit one row, the first two at any price.
pub(crate) fn hint_rows(parts: &[&str], width: usize, theme: Theme) -> Vec<Line<'static>> {
    let style = theme.quiet();
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    let all = format!(" {}", parts.join(" · "));
    if all.width() <= width {
        return vec![Line::from(Span::styled(all, style))];
    }
    let needed: Vec<&str> = parts.iter().copied().take(2).collect();
    let one = format!(" {}", needed.join(" · "));
    if one.width() <= width {
        return vec![Line::from(Span::styled(one, style))];
    }
    let mut lines = Vec::new();
    for part in needed {
        lines.extend(prose(&format!(" {part}"), width, style));
    }
    lines
}
