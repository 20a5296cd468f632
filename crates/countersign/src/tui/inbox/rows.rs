//! Rows of the four lists. Columns depend on the width; the subject is always shown.

use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::Inbox;
use super::history::Past;
use super::standing::{Grant, Review};
use super::waiting::{Item, Row, common};
use crate::tui::theme::{NO_POINTER, POINTER, Theme};
use crate::tui::wrap::cut;
use crate::words::{ago, span};

/// The widest word for a risk, `CRITICAL`, and `QUESTION` for what has none.
const RISK_CELLS: usize = 8;
/// How long still: `119 min`.
const LEFT_CELLS: usize = 7;

/// Whether a row is the selected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// It is.
    Yes,
    /// It is, but the keys are elsewhere.
    Quietly,
    /// It is not.
    No,
}

/// One cell of a row.
struct Cell {
    text: String,
    width: usize,
    style: Style,
    /// Whether it stands at the right edge of its width.
    is_right: bool,
}

impl Cell {
    const fn left(text: String, width: usize, style: Style) -> Self {
        Self {
            text,
            width,
            style,
            is_right: false,
        }
    }

    const fn right(text: String, width: usize, style: Style) -> Self {
        Self {
            text,
            width,
            style,
            is_right: true,
        }
    }
}

/// Returns a row of cells, one cell apart, with the pointer before it.
fn row(cells: Vec<Cell>, here: Here, theme: Theme) -> Line<'static> {
    let pointer = match here {
        Here::Yes | Here::Quietly => POINTER,
        Here::No => NO_POINTER,
    };
    let mut spans = vec![Span::styled(pointer, theme.heading())];
    for (number, cell) in cells.into_iter().enumerate() {
        if number > 0 {
            spans.push(Span::raw(" "));
        }
        let text = cut(&cell.text, cell.width);
        let pad = " ".repeat(cell.width.saturating_sub(text.width()));
        let text = if cell.is_right {
            format!("{pad}{text}")
        } else {
            format!("{text}{pad}")
        };
        let style = match here {
            Here::Yes => theme.selected().patch(cell.style),
            Here::Quietly | Here::No => cell.style,
        };
        spans.push(Span::styled(text, style));
    }
    // The gaps of a selected row belong to it.
    if here == Here::Yes {
        for span in spans.iter_mut().skip(1) {
            span.style = theme.selected().patch(span.style);
        }
    }
    Line::from(spans)
}

impl Inbox {
    /// Returns a row of what waits.
    pub(super) fn waiting_row(
        &self,
        of: &Row,
        here: Here,
        width: usize,
        now: UnixMillis,
    ) -> Line<'static> {
        let theme = self.theme;
        let room = width.saturating_sub(POINTER.width());
        match of {
            Row::Heading { run, count } => self.heading(run, *count, width),
            Row::One { id, is_inside } => {
                let Some(item) = self.waiting.get(id) else {
                    return Line::default();
                };
                let indent = if *is_inside { "  " } else { "" };
                let what = format!("{indent}{}{}", self.mark(&[id]), item.what);
                row(waiting_cells(item, what, room, now, theme), here, theme)
            }
            Row::Fold { members, is_open } => {
                let items: Vec<&Item> = members
                    .iter()
                    .filter_map(|id| self.waiting.get(id))
                    .collect();
                let Some(worst) = items.iter().max_by_key(|item| item.risk) else {
                    return Line::default();
                };
                let ends = items.iter().map(|item| item.expires_at).min();
                let whole = Item {
                    expires_at: ends.unwrap_or(worst.expires_at),
                    held_until: None,
                    ..(*worst).clone()
                };
                let fold = if *is_open { "▾" } else { "▸" };
                let ids: Vec<&String> = members.iter().collect();
                let mark = self.mark(&ids);
                let what = format!("{mark}{fold} {} × {}", items.len(), alike(&items));
                row(waiting_cells(&whole, what, room, now, theme), here, theme)
            }
        }
    }

    /// Returns who asks, from where, and how much.
    fn heading(&self, run: &str, count: usize, width: usize) -> Line<'static> {
        let items = || self.waiting.all().filter(|item| item.run == run);
        let asker = self.waiting.asker(run);
        let directory = items().find_map(|item| item.directory.as_deref());
        let run = countersign_core::display::inline(run);
        let asker = cut(asker.unwrap_or("agent"), width.saturating_sub(1));
        let mut about = vec![format!(" · {count} waiting")];
        about.extend(directory.map(|directory| format!(" · {directory}")));
        about.push(format!(" · {run}"));
        let about = cut(&about.concat(), width.saturating_sub(asker.width()));
        Line::from(vec![
            Span::styled(asker, self.theme.heading()),
            Span::styled(about, self.theme.quiet()),
        ])
    }

    /// Returns the mark of what is selected for a batch; nothing while nothing is.
    fn mark(&self, ids: &[&String]) -> &'static str {
        let chosen = self.waiting.chosen();
        if chosen.is_empty() {
            ""
        } else if ids.iter().all(|id| chosen.contains(*id)) {
            "[x] "
        } else if ids.iter().any(|id| chosen.contains(*id)) {
            "[-] "
        } else {
            "[ ] "
        }
    }
}

fn waiting_cells(
    item: &Item,
    what: String,
    room: usize,
    now: UnixMillis,
    theme: Theme,
) -> Vec<Cell> {
    let (word, style) = match item.risk {
        Some(risk) => (risk.word().to_uppercase(), theme.risk(risk)),
        None => ("QUESTION".to_owned(), theme.own()),
    };
    let left = match item.held_until {
        Some(until) => format!("held {}", span(until.since(now))),
        None => span(item.expires_at.since(now)),
    };
    let left_cells = LEFT_CELLS.max(left.width());
    let text = room.saturating_sub(RISK_CELLS + left_cells + 2);
    vec![
        Cell::left(word, RISK_CELLS, style),
        Cell::left(what, text, theme.plain()),
        Cell::right(left, left_cells, theme.quiet()),
    ]
}

/// Returns what like things have in common, or all of them in a row.
fn alike(items: &[&Item]) -> String {
    let common = common(items.iter().map(|item| item.what.as_str()));
    let tool = items.first().map_or("", |item| item.tool.as_str());
    if common.trim().len() > tool.len().min(8) {
        return format!("{common}…");
    }
    let all: Vec<&str> = items
        .iter()
        .take(8)
        .map(|item| item.what.as_str())
        .collect();
    all.join(" · ")
}

/// Returns a row of what happened.
pub(super) fn past_row(
    past: &Past,
    here: Here,
    width: usize,
    now: UnixMillis,
    theme: Theme,
) -> Line<'static> {
    const WHEN: usize = 8;
    const OUTCOME: usize = 14;
    const WHO: usize = 24;
    let room = width.saturating_sub(POINTER.width());
    let outcome_style = match past.status {
        Status::Refused | Status::Denied | Status::Expired => theme.bad(),
        Status::Approved => theme.good(),
        Status::Waiting => theme.waiting(),
        Status::Allowed | Status::Withdrawn => theme.plain(),
    };
    let when = ago(past.at, now).replace(" ago", "");
    let mut cells = vec![Cell::left(
        past.outcome().to_owned(),
        OUTCOME,
        outcome_style,
    )];
    let mut used = OUTCOME + 1;
    let has_who = width >= 84;
    if has_who {
        used += WHO + 1;
    }
    let has_when = width >= 56;
    if has_when {
        used += WHEN + 1;
    }
    cells.push(Cell::left(
        past.what.clone(),
        room.saturating_sub(used),
        theme.plain(),
    ));
    if has_who {
        let who = match (&past.by, &past.via) {
            (Some(by), Some(via)) => format!("{by} via {via}"),
            (Some(by), None) => by.clone(),
            (None, _) => past.agent.clone(),
        };
        cells.push(Cell::left(who, WHO, theme.quiet()));
    }
    if has_when {
        cells.push(Cell::right(when, WHEN, theme.quiet()));
    }
    row(cells, here, theme)
}

/// Returns a row of what awaits a look.
pub(super) fn review_row(
    review: &Review,
    here: Here,
    width: usize,
    now: UnixMillis,
    theme: Theme,
) -> Line<'static> {
    const WHEN: usize = 8;
    let room = width.saturating_sub(POINTER.width());
    let state = if review.is_undoing {
        "being undone "
    } else {
        ""
    };
    let what = format!("{state}{}", review.what);
    let when = ago(review.ran_at, now).replace(" ago", "");
    let cells = vec![
        Cell::left(what, room.saturating_sub(WHEN + 1), theme.plain()),
        Cell::right(when, WHEN, theme.quiet()),
    ];
    row(cells, here, theme)
}

/// Returns a row of what stands.
pub(super) fn grant_row(
    grant: &Grant,
    here: Here,
    width: usize,
    now: UnixMillis,
    theme: Theme,
) -> Line<'static> {
    const USES: usize = 14;
    const ENDS: usize = 12;
    let room = width.saturating_sub(POINTER.width());
    let ends = match grant.expires_at {
        Some(at) => format!("ends in {}", span(at.since(now))),
        None if grant.session.is_some() => "this session".to_owned(),
        None => "always".to_owned(),
    };
    let uses = match (grant.uses, grant.uses_left) {
        (uses, Some(left)) => format!("used {uses}, {left} left"),
        (0, None) => "never used".to_owned(),
        (uses, None) => format!("used {uses} ×"),
    };
    let ends_cells = ENDS.max(ends.width());
    let has_uses = width >= 72;
    let taken = ends_cells + 1 + if has_uses { USES + 1 } else { 0 };
    let mut cells = vec![Cell::left(
        grant.words.clone(),
        room.saturating_sub(taken),
        theme.plain(),
    )];
    if has_uses {
        cells.push(Cell::left(uses, USES.max(14), theme.quiet()));
    }
    cells.push(Cell::right(ends, ends_cells, theme.quiet()));
    row(cells, here, theme)
}
