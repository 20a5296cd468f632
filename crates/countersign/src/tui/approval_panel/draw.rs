//! Draws the approval panel: risk and reason on top, the call behind its fence, who asks, and the
//! choices, always visible.

use countersign_core::card::label;
use countersign_core::status::Outcome;
use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding};
use unicode_width::UnicodeWidthStr as _;

use super::change::Columns;
use super::choosing::Row;
use super::edit::Edit;
use super::subject::Subject;
use super::{ApprovalPanel, Face, Step, Text, before, why};
use crate::tui::arming::Armed;
use crate::tui::doc::{Doc, Part};
use crate::tui::keys::{Place, help};
use crate::tui::panel::{
    Focus, HINT, IsSelected, choice_rows, draw_lines, draw_typed, hint_rows, prose,
};
use crate::tui::theme::Theme;
use crate::tui::wrap::{Break, cut, rows};
use crate::words::{ago, named, span};

/// The label of the last choice if the text does not fit.
const VIEW: &str = "Show full command";
/// Reasons on the card; `w` shows all.
const REASONS_MAX: usize = 3;
/// Of a card's rows, reasons take at most one in so many, so that none can push the call out.
const REASONS_SHARE: usize = 4;
/// Columns from which a change may be shown side by side.
const SIDE_BY_SIDE_COLUMNS: u16 = 120;
/// Rows the text must have, or nothing can be read and nothing is answered.
const TEXT_ROWS_MIN: usize = 2;
/// What one border and one column of space take on both sides.
const FRAME_COLUMNS: u16 = 4;
/// The upper and the lower border.
const FRAME_ROWS: usize = 2;

/// The texts of a card, laid out once.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    body: Doc,
    about: Doc,
    columns: Columns,
    /// The width it was drawn with last.
    width: usize,
    why: Option<Doc>,
}

impl Pages {
    pub(super) fn new(subject: &Subject, columns: Columns, theme: Theme) -> Self {
        let mut about = subject.about(theme);
        if !subject.card.on_timeout.is_empty() {
            about.push(Part::words(
                "Timeout",
                &subject.card.on_timeout,
                theme.plain(),
            ));
        }
        Self {
            body: subject.body(columns, theme),
            about,
            columns,
            width: usize::MAX,
            why: None,
        }
    }

    #[cfg(test)]
    pub(super) const fn body_mut(&mut self) -> &mut Doc {
        &mut self.body
    }

    pub(super) fn forget_why(&mut self) {
        self.why = None;
    }

    /// Returns the rows of the card in which a mark begins, at the width it was drawn last.
    pub(super) fn marked_rows(&mut self) -> Vec<usize> {
        self.body.marked_rows(self.width)
    }

    /// Returns how many rows the card has, with an empty one between what and who.
    fn rows(&mut self, width: usize) -> usize {
        self.width = width;
        self.body.rows(width) + 1 + self.about.rows(width)
    }
}

/// What stands above and below the text, for one frame.
struct Around {
    top: Vec<Line<'static>>,
    bottom: Vec<Line<'static>>,
    hint: Vec<Line<'static>>,
    /// Rows at the end of the bottom into which is typed.
    input: usize,
}

impl Around {
    fn rows(&self) -> usize {
        self.top.len() + self.bottom.len() + self.input
    }
}

impl ApprovalPanel {
    /// Returns how many rows it would like to have at `width` cells.
    pub(crate) fn height(&mut self, width: u16, focus: Focus, now: UnixMillis) -> u16 {
        self.lay_out(width);
        let inner = usize::from(width.saturating_sub(FRAME_COLUMNS)).max(1);
        let around = self.around((usize::from(width), inner), usize::MAX, focus, now);
        let text = match self.face {
            Face::Card => self.pages.rows(inner) + 2 + around.rows(),
            Face::Why | Face::Before | Face::Keys => self.page(now).rows(inner),
        };
        u16::try_from(text + FRAME_ROWS + around.hint.len()).unwrap_or(u16::MAX)
    }

    /// Draws it. Being drawn is what makes it readable, so this is where it begins to be armed.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        focus: Focus,
        now: UnixMillis,
    ) {
        self.lay_out(area.width);
        frame.render_widget(Clear, area);
        let inner = area.inner(Margin::new(FRAME_COLUMNS / 2, 1));
        let width = usize::from(inner.width).max(1);
        let widths = (usize::from(area.width), width);
        let reasons_max = (usize::from(area.height) / REASONS_SHARE).max(2);
        let around = self.around(widths, reasons_max, focus, now);
        let hint_rows = u16::try_from(around.hint.len()).unwrap_or(0);
        let card = Rect {
            height: area.height.saturating_sub(hint_rows),
            ..area
        };
        let hint = Rect {
            y: card.bottom(),
            height: area.height - card.height,
            ..area
        };
        let inner = self.frame(card).inner(card);
        match self.face {
            Face::Card => self.draw_card(frame, inner, &around, focus, now),
            Face::Why | Face::Before | Face::Keys => self.draw_page(frame, inner, now),
        }
        frame.render_widget(self.frame(card), card);
        draw_lines(frame, hint, &around.hint);
    }

    fn lay_out(&mut self, width: u16) {
        let columns = if width < SIDE_BY_SIDE_COLUMNS {
            Columns::One
        } else {
            self.columns
        };
        if self.pages.columns != columns {
            self.pages = Pages::new(&self.subject, columns, self.theme);
        }
    }

    fn frame(&self, area: Rect) -> Block<'static> {
        let theme = self.theme;
        let room = usize::from(area.width).saturating_sub(6);
        let title = match self.face {
            Face::Card if self.subject.edited.is_some() => "Edited call",
            Face::Card => self.subject.card.title.as_str(),
            Face::Why => "Why a person is asked",
            Face::Before => "What led here",
            Face::Keys => "Keys",
        };
        let title = Span::styled(format!(" {} ", cut(title, room)), theme.title());
        let border = if self.is_waiting() {
            let style = theme.risk(self.subject.card.risk);
            style.remove_modifier(Modifier::BOLD)
        } else {
            theme.quiet()
        };
        let mut block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(border)
            .padding(Padding::horizontal(1))
            .title(title);
        let Text {
            first, shown, rows, ..
        } = self.text;
        let scrolls = self.face != Face::Card || self.text.is_open;
        if scrolls && rows > shown {
            let last = first.saturating_add(shown).min(rows);
            let more = if last < rows { "· PgDn " } else { "" };
            let place = format!(" {}–{last} of {rows} {more}", first.saturating_add(1));
            block =
                block.title_bottom(Line::from(Span::styled(place, theme.quiet())).right_aligned());
        }
        block
    }

    fn draw_card(
        &mut self,
        frame: &mut Frame<'_>,
        inner: Rect,
        around: &Around,
        focus: Focus,
        now: UnixMillis,
    ) {
        let height = usize::from(inner.height);
        let free = height.saturating_sub(around.rows());
        self.text.is_unreadable = free < TEXT_ROWS_MIN;
        if self.text.is_unreadable {
            self.arming.out_of_view();
            let words = "The window is too small to show this card. Enlarge it to answer.";
            let words = prose(words, usize::from(inner.width), self.theme.bad());
            draw_lines(frame, inner, &words);
            return;
        }
        // Air is the first thing to go.
        let air = usize::from(free > 6);
        let room = free - 2 * air;
        let top = part(inner, 0, around.top.len());
        let text = part(inner, around.top.len() + air, room);
        let bottom_at = height - around.bottom.len() - around.input;
        let bottom = part(inner, bottom_at, around.bottom.len());
        draw_lines(frame, top, &around.top);
        self.draw_text(frame, text);
        draw_lines(frame, bottom, &around.bottom);
        let typed = match &self.step {
            Step::Note(note) => Some(note),
            Step::Granting(granting) => granting.edited(),
            Step::Editing => self.edit.as_ref().map(Edit::input),
            Step::Choosing => None,
        };
        if let Some(typed) = typed {
            let area = part(inner, height - around.input, around.input);
            draw_typed(frame, area, "❯ ", (typed, focus), self.theme);
        }
        self.arming.in_view(now);
    }

    /// Draws what would run and who asks: all of it, or beginning and end, or from where it was
    /// scrolled to.
    fn draw_text(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let rows = self.pages.rows(width);
        self.text.is_long = rows > height;
        self.text.rows = rows;
        self.text.shown = height.min(rows);
        if self.text.is_long && !self.text.is_open {
            self.text.shown = 0;
            self.draw_cut_text(frame, area);
            return;
        }
        let last = rows.saturating_sub(height);
        self.text.first = self.text.first.min(last);
        self.text.is_read |= self.text.first == last;
        let first = self.text.first;
        let theme = self.theme;
        let body_rows = self.pages.body.rows(width);
        let shown = first..(first + height).min(rows);
        let mut lines = self.pages.body.lines(shown.clone(), width, theme);
        if shown.contains(&body_rows) {
            lines.push(Line::default());
        }
        let below = |row: usize| row.saturating_sub(body_rows + 1);
        lines.extend(
            self.pages
                .about
                .lines(below(shown.start)..below(shown.end), width, theme),
        );
        draw_lines(frame, area, &lines);
    }

    /// Draws as much as there is room for, and how much is missing.
    fn draw_cut_text(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let theme = self.theme;
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let about_rows = self.pages.about.rows(width).min(height / 3);
        let gap = usize::from(height > 8);
        let body_height = height - about_rows - gap;
        let body_rows = self.pages.body.rows(width);
        let mut lines = if body_rows <= body_height {
            self.pages.body.lines(0..body_rows, width, theme)
        } else {
            let head = (body_height.saturating_sub(1) * 2).div_ceil(3);
            let tail = body_height.saturating_sub(1) - head;
            let hidden = body_rows - head - tail;
            let mut lines = self.pages.body.lines(0..head, width, theme);
            let note = format!(
                "⋯ {hidden} of {body_rows} rows hidden · {} characters · {}",
                self.pages.body.characters(),
                self.subject.card.digest
            );
            lines.push(Line::from(Span::styled(cut(&note, width), theme.waiting())));
            lines.extend(
                self.pages
                    .body
                    .lines(body_rows - tail..body_rows, width, theme),
            );
            lines
        };
        lines.truncate(body_height);
        lines.extend(std::iter::repeat_n(Line::default(), gap));
        lines.extend(
            self.pages
                .about
                .lines(0..height - lines.len(), width, theme),
        );
        draw_lines(frame, area, &lines);
    }

    fn page(&mut self, now: UnixMillis) -> Doc {
        match self.face {
            Face::Card | Face::Why => self
                .pages
                .why
                .get_or_insert_with(|| why::page(&self.subject, self.trace.as_deref(), self.theme))
                .clone(),
            Face::Before => before::page(self.before.as_deref(), now, self.theme),
            Face::Keys => keys_page(self.theme),
        }
    }

    fn draw_page(&mut self, frame: &mut Frame<'_>, inner: Rect, now: UnixMillis) {
        let mut page = self.page(now);
        let rows = page.rows(usize::from(inner.width));
        let height = usize::from(inner.height);
        self.text.rows = rows;
        self.text.shown = height.min(rows);
        self.text.first = self.text.first.min(rows.saturating_sub(height));
        page.draw(frame, inner, self.text.first, self.theme);
    }

    /// Returns what stands around the text, for a card of `outer` cells with `width` inside.
    fn around(
        &self,
        (outer, width): (usize, usize),
        reasons_max: usize,
        focus: Focus,
        now: UnixMillis,
    ) -> Around {
        let may = focus == Focus::Here && self.arming.may_answer(now) && self.sent.is_none();
        let armed = Armed::from(may);
        let typing = match (&self.step, &self.edit) {
            (Step::Editing, Some(edit)) => edit.rows(width),
            _ => usize::from(self.is_typing()),
        };
        Around {
            top: self.risk_lines(width, reasons_max),
            bottom: self.bottom_lines(width, armed, now),
            hint: self.hint_lines(outer, focus, now),
            input: typing,
        }
    }

    /// Returns the risk in a word, and why.
    fn risk_lines(&self, width: usize, rows_max: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let card = &self.subject.card;
        let word = card.risk.word().to_uppercase();
        let dash = " — ";
        let indent = word.width() + dash.width();
        let style = theme.risk(card.risk);
        let room = width.saturating_sub(indent).max(8);
        let mut lines: Vec<Line<'static>> = Vec::new();
        for reason in card.reasons.iter().take(REASONS_MAX) {
            for (number, row) in rows(reason, room, Break::Words).into_iter().enumerate() {
                let lead = if lines.is_empty() {
                    Span::styled(format!("{word}{dash}"), style)
                } else if number == 0 {
                    Span::styled(format!("{:>indent$}", "· "), theme.quiet())
                } else {
                    Span::raw(" ".repeat(indent))
                };
                lines.push(Line::from(vec![lead, Span::raw(row.trim_end().to_owned())]));
            }
        }
        if lines.is_empty() {
            lines.push(Line::from(Span::styled(word, style)));
        }
        let more = card.reasons.len().saturating_sub(REASONS_MAX);
        let words = if lines.len() > rows_max {
            lines.truncate(rows_max.saturating_sub(1));
            "⋯ more: w".to_owned()
        } else if more > 0 {
            format!("and {more} more: w")
        } else {
            return lines;
        };
        let words = format!("{}{words}", " ".repeat(indent));
        lines.push(Line::from(Span::styled(words, theme.quiet())));
        lines
    }

    fn bottom_lines(&self, width: usize, armed: Armed, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut lines = match &self.step {
            Step::Note(_) => prose("Deny and tell the agent why", width, theme.heading()),
            Step::Granting(granting) => granting.lines(width, armed, theme),
            Step::Editing => {
                let title = self.edit.as_ref().map(Edit::title);
                prose(&title.unwrap_or_default(), width, theme.heading())
            }
            Step::Choosing if self.is_waiting() => self.choice_lines(width, armed),
            Step::Choosing => self.outcome_lines(width, now),
        };
        if let Some(words) = self.sent.or(self.notice.as_deref()) {
            lines.extend(prose(words, width, theme.waiting()));
        }
        lines
    }

    fn choice_lines(&self, width: usize, armed: Armed) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut lines = Vec::new();
        for (at, row) in self.rows().into_iter().enumerate() {
            let (label, is_free) = match row {
                Row::View => (VIEW, true),
                Row::Answer(choice) => (label(choice), self.block(choice).is_none()),
            };
            let style = if armed == Armed::Yes && is_free {
                theme.plain()
            } else {
                theme.quiet()
            };
            let is_selected = IsSelected::from(at == self.selected);
            lines.extend(choice_rows(
                Some(row.number()),
                label,
                is_selected,
                style,
                theme,
                width,
            ));
        }
        lines
    }

    /// Returns how it ended, or that it can be taken back.
    fn outcome_lines(&self, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        if self.is_held(now) {
            let words = "Your answer takes effect in a moment. Press z to undo it.";
            return prose(words, width, theme.waiting());
        }
        let Some(decision) = &self.subject.decision else {
            return prose("Allowed.", width, theme.good());
        };
        let when = format!(" · {}", ago(decision.at, now));
        let words = self.outcome().unwrap_or_default();
        let is_yes = decision.outcome == Outcome::Approved;
        let style = if is_yes { theme.good() } else { theme.bad() };
        let words = format!("{words}{when}");
        let mut lines = prose(&words, width, style.patch(theme.heading()));
        if let Some(note) = named(decision.note.as_deref()) {
            lines.extend(prose(&format!("Note: {note}"), width, theme.plain()));
        }
        lines
    }

    /// Returns which keys answer: exactly those that do.
    const fn answer_hint(&self) -> &'static str {
        if self.subject.confirm_allow {
            "a number, then Enter, to allow; 4 to deny"
        } else {
            HINT
        }
    }

    fn hint_lines(&self, width: usize, focus: Focus, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        let end = match self.subject.held_until.filter(|until| *until > now) {
            Some(until) => format!("takes effect in {}", span(until.since(now) + 999)),
            None if self.is_waiting() && self.subject.expires_at.0 > 0 => {
                let left = span(self.subject.expires_at.since(now));
                let takes_keys = focus == Focus::Here
                    && self.face == Face::Card
                    && matches!(self.step, Step::Choosing);
                match self.subject.extension.filter(|_| takes_keys) {
                    Some(more) => format!("expires in {left} (+ adds {})", span(more)),
                    None => format!("expires in {left}"),
                }
            }
            None => String::new(),
        };
        if self.text.is_unreadable {
            return hint_rows(&[&end], width, theme);
        }
        let (first, more) = match (focus, self.face, &self.step) {
            (Focus::Elsewhere, _, _) => ("press Tab to answer", ""),
            (Focus::Beside, _, _) => ("press Enter to answer", ""),
            (Focus::Here, Face::Why | Face::Before | Face::Keys, _) => {
                ("Esc to go back, PgUp/PgDn to scroll", "")
            }
            (Focus::Here, Face::Card, Step::Note(_)) => ("Enter to deny, Esc to go back", ""),
            (Focus::Here, Face::Card, Step::Granting(granting)) => match granting.edited() {
                Some(_) => ("Enter sets it, Esc leaves it as it was", ""),
                None => ("↑/↓ select, Enter creates this rule", "e limits · Esc back"),
            },
            (Focus::Here, Face::Card, Step::Editing) => (
                "Enter to check it, Alt-Enter for a new line, Esc to leave the call as it is",
                "",
            ),
            (Focus::Here, Face::Card, Step::Choosing) if self.subject.edited.is_some() => {
                (self.answer_hint(), "Esc back to the text")
            }
            (Focus::Here, Face::Card, Step::Choosing) if self.is_waiting() => {
                let more = if self.subject.editable {
                    "n deny with a note · e edit · w why · ? keys"
                } else {
                    "n deny with a note · w why · ? keys"
                };
                (self.answer_hint(), more)
            }
            (Focus::Here, Face::Card, Step::Choosing) if self.is_held(now) => {
                ("z to undo, Enter to close", "")
            }
            (Focus::Here, Face::Card, Step::Choosing) => ("Enter to close", ""),
        };
        hint_rows(&[first, &end, more], width, theme)
    }
}

fn keys_page(theme: Theme) -> Doc {
    let mut doc = Doc::default();
    for row in help(Place::Card) {
        doc.push(Part::words(row.keys, row.does, theme.plain()));
    }
    doc
}

/// Returns `rows` rows of `area` from row `first` on.
fn part(area: Rect, first: usize, rows: usize) -> Rect {
    let first = u16::try_from(first).unwrap_or(u16::MAX).min(area.height);
    let rows = u16::try_from(rows)
        .unwrap_or(u16::MAX)
        .min(area.height - first);
    Rect {
        y: area.y + first,
        height: rows,
        ..area
    }
}
