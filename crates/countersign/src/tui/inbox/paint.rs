//! Draws the inbox: tabs, the list, the card beside or instead of it, and a help line.

use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::ask::Asking;
use super::rows::{Here, grant_row, past_row, review_row};
use super::waiting::Row;
use super::{Inbox, Open, Tab, explain};
use crate::tui::doc::{Doc, Part};
use crate::tui::keys::{Place, help};
use crate::tui::panel::{draw_input, draw_lines, prose};
use crate::tui::wrap::cut;
use crate::words::span_changes_at;

/// From this width on, the card stands beside the list.
const WIDE: u16 = 110;
/// Smallest window anything useful fits in.
const WIDTH_MIN: u16 = 20;
const HEIGHT_MIN: u16 = 6;
/// Below this many milliseconds seconds are counted.
const COUNTED_MILLIS: i64 = 120_000;

/// Sessions that run without questions that are named on top.
const OVERRIDES_MAX: usize = 3;

/// The hint if the gateway is unreachable.
const AWAY: &str =
    "The gateway is down. Calls are being refused. Start it with `countersign serve`.";

impl Inbox {
    /// Draws everything.
    pub(super) fn paint(&mut self, frame: &mut Frame<'_>, now: UnixMillis) {
        let area = frame.area();
        if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
            let words = format!("{} waiting; the window is too small", self.waiting.count());
            let lines = prose(&words, usize::from(area.width), self.theme.plain());
            draw_lines(frame, area, &lines);
            self.out_of_view();
            return;
        }
        let width = usize::from(area.width);
        let top = self.top(width, now);
        let bottom = self.bottom(width, now);
        let top_rows = rows_of(&top).min(area.height / 2);
        let asks_line = u16::from(matches!(
            self.asking,
            Asking::Filter(_) | Asking::Note { .. }
        ));
        let bottom_rows = (rows_of(&bottom) + asks_line).min(area.height - top_rows);
        // A question whose answers are not all on the screen cannot be answered.
        if rows_of(&bottom) + asks_line > bottom_rows {
            self.out_of_view();
        }
        let middle = Rect {
            y: area.y + top_rows,
            height: area.height.saturating_sub(top_rows + bottom_rows),
            ..area
        };
        draw_lines(
            frame,
            Rect {
                height: top_rows,
                ..area
            },
            &top,
        );
        self.middle(frame, middle, now);
        let below = Rect {
            y: middle.bottom(),
            height: bottom_rows,
            ..area
        };
        self.draw_bottom(frame, below, &bottom);
    }

    /// What could be answered is not drawn, so it is not read.
    fn out_of_view(&mut self) {
        if let Some(open) = &mut self.open {
            open.out_of_view();
        }
        if let Asking::Sure(sure) = &mut self.asking {
            sure.out_of_view();
        }
    }

    fn top(&mut self, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut spans = Vec::new();
        if width >= 60 {
            spans.push(Span::styled("Countersign  ", theme.heading()));
        }
        for tab in Tab::ALL {
            let count = match tab {
                Tab::Waiting => self.waiting.count(),
                Tab::History => 0,
                Tab::Reviews => self.reviews.all().len(),
                Tab::Grants => self.grants.all().len(),
            };
            let name = match count {
                0 => tab.name().to_owned(),
                count => format!("{} {count}", tab.name()),
            };
            let style = match (tab == self.tab, tab, count) {
                (true, ..) => theme.selected().patch(theme.heading()),
                (false, Tab::Waiting, 1..) => theme.waiting(),
                (false, ..) => theme.quiet(),
            };
            let name = if width >= 60 {
                format!(" {name} ")
            } else {
                name
            };
            spans.push(Span::styled(name, style));
            spans.push(Span::raw(" "));
        }
        let used: usize = spans.iter().map(Span::width).sum();
        if used + self.who.width() < width {
            let pad = " ".repeat(width - used - self.who.width());
            spans.push(Span::styled(format!("{pad}{}", self.who), theme.quiet()));
        }
        let mut lines = vec![
            Line::from(spans),
            Line::from(Span::styled("─".repeat(width), theme.quiet())),
        ];
        if self.away.is_some() {
            lines.extend(prose(AWAY, width, theme.bad().patch(theme.heading())));
        }
        let live: Vec<_> = self.overrides.iter().filter(|it| it.until > now).collect();
        for it in live.iter().take(OVERRIDES_MAX) {
            lines.extend(prose(&it.sentence(now), width, theme.waiting()));
        }
        if live.len() > OVERRIDES_MAX {
            let more = format!(
                "and {} more: countersign grants",
                live.len() - OVERRIDES_MAX
            );
            lines.extend(prose(&more, width, theme.waiting()));
        }
        lines
    }

    fn bottom(&mut self, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut lines = Vec::new();
        if let Asking::Sure(sure) = &mut self.asking {
            lines.push(Line::from(Span::styled("─".repeat(width), theme.quiet())));
            lines.extend(sure.lines(width, theme, now));
        }
        if let Some(said) = &self.said {
            lines.extend(prose(said, width, theme.waiting()));
        }
        if matches!(
            self.asking,
            Asking::Filter(_) | Asking::Note { .. } | Asking::Sure(_)
        ) {
            return lines;
        }
        let filtered = (!self.filter.is_empty()).then(|| format!("filter: {}", self.filter));
        let chosen = self.waiting.chosen().len();
        let chosen = (chosen > 0).then(|| format!("{chosen} selected"));
        let state: Vec<String> = [filtered, chosen].into_iter().flatten().collect();
        if !state.is_empty() {
            let state = cut(&state.join(" · "), width);
            lines.push(Line::from(Span::styled(state, theme.own())));
        }
        let has_keys = self.open.as_ref().is_some_and(Open::has_keys);
        if !has_keys {
            lines.push(Line::from(Span::styled(self.hints(width), theme.quiet())));
        }
        lines
    }

    /// Returns as many hints as fit, the most useful first, and always how to see all keys.
    fn hints(&mut self, width: usize) -> String {
        const LAST: &str = "? keys";
        let of_tab: &[&str] = match (self.tab, self.asking_nothing()) {
            (_, false) => &["↑↓ scroll", "any other key goes back"],
            _ if self.is_list_empty() => &["Tab next", "q leave"],
            (Tab::Waiting, _) if !self.waiting.chosen().is_empty() => {
                &["d deny", "a allow once", "x select", "Esc none"]
            }
            (Tab::Waiting, _) => &[
                "Enter open",
                "/ filter",
                "x select",
                "d deny",
                "a allow once",
                "Tab history",
                "q leave",
            ],
            (Tab::History, _) if self.is_denied_selected() => &[
                "Enter why",
                "L lift the denial",
                "/ filter",
                "Tab reviews",
                "q leave",
            ],
            (Tab::History, _) => &["Enter why", "/ filter", "Tab reviews", "q leave"],
            (Tab::Reviews, _) => &["Enter changes", "K keep", "u undo", "Tab grants", "q leave"],
            (Tab::Grants, _) => &["Enter details", "r revoke", "Tab waiting", "q leave"],
        };
        let mut hints = String::new();
        for hint in of_tab {
            if hints.width() + hint.width() + 3 + LAST.width() <= width {
                hints.push_str(hint);
                hints.push_str(" · ");
            }
        }
        format!("{hints}{LAST}")
    }

    fn is_denied_selected(&mut self) -> bool {
        let selected = self.history.list.selected();
        selected.is_some_and(|past| past.denial().is_some())
    }

    const fn asking_nothing(&self) -> bool {
        matches!(self.asking, Asking::Nothing)
    }

    fn draw_bottom(&self, frame: &mut Frame<'_>, area: Rect, lines: &[Line<'_>]) {
        draw_lines(frame, area, lines);
        let last = Rect {
            y: area.bottom().saturating_sub(1),
            height: 1,
            ..area
        };
        match &self.asking {
            Asking::Filter(input) => draw_input(frame, last, "/", input, self.theme),
            Asking::Note { note, ids } => {
                let calls = super::batch::calls(ids.len());
                let prompt = if area.width >= 80 {
                    format!("Deny {calls}. Tell the agent why (Enter to skip): ")
                } else {
                    format!("Deny {calls}. Why? ")
                };
                draw_input(frame, last, &prompt, note, self.theme);
            }
            Asking::Nothing | Asking::Sure(_) | Asking::Keys => {}
        }
    }

    fn middle(&mut self, frame: &mut Frame<'_>, area: Rect, now: UnixMillis) {
        if matches!(self.asking, Asking::Keys) {
            self.draw_keys(frame, area);
            return;
        }
        // An empty list has nothing beside it, and nothing behind its rows.
        let is_empty = self.is_list_empty();
        let is_wide = area.width >= WIDE && !is_empty;
        self.is_detail_open &= !is_empty;
        let has_card = self.open.as_ref().is_some_and(Open::has_keys);
        if is_wide {
            let list = (area.width * 2 / 5).max(48);
            let left = Rect {
                width: list,
                ..area
            };
            let right = Rect {
                x: area.x + list + 3,
                width: area.width.saturating_sub(list + 3),
                ..area
            };
            let bar = Line::from(Span::styled("│", self.theme.quiet()));
            for y in area.top()..area.bottom() {
                frame.buffer_mut().set_line(area.x + list + 1, y, &bar, 1);
            }
            self.draw_list(frame, left, now);
            self.draw_beside(frame, right, now);
        } else if has_card {
            if let Some(open) = &mut self.open {
                open.draw(frame, area, now);
            }
        } else if self.is_detail_open && self.tab != Tab::Waiting {
            self.draw_detail(frame, area, now);
        } else {
            // A card that is not drawn is not read.
            self.open = None;
            self.draw_list(frame, area, now);
        }
    }

    /// Draws the card of the selected row, or the details of it.
    fn draw_beside(&mut self, frame: &mut Frame<'_>, area: Rect, now: UnixMillis) {
        if self.tab != Tab::Waiting {
            self.draw_detail(frame, area, now);
            return;
        }
        let has_keys = self.open.as_ref().is_some_and(Open::has_keys);
        if !has_keys {
            let id = match self.waiting.selected() {
                Some(Row::One { id, .. }) => Some(id.clone()),
                Some(Row::Fold { .. } | Row::Heading { .. }) | None => None,
            };
            if self.open.as_ref().map(Open::id) != id.as_deref() {
                self.open = id.and_then(|id| self.card_of(&id));
            }
        }
        match &mut self.open {
            Some(open) => open.draw(frame, area, now),
            None => self.draw_detail(frame, area, now),
        }
    }

    fn is_list_empty(&mut self) -> bool {
        let rows = match self.tab {
            Tab::Waiting => self.waiting.rows().len() + usize::from(self.open.is_some()),
            Tab::History => self.history.list.count(),
            Tab::Reviews => self.reviews.count(),
            Tab::Grants => self.grants.count(),
        };
        rows == 0
    }

    fn draw_list(&mut self, frame: &mut Frame<'_>, area: Rect, now: UnixMillis) {
        let height = usize::from(area.height);
        self.page = height.saturating_sub(1).max(1);
        let width = usize::from(area.width);
        let lines = match self.tab {
            Tab::Waiting => self.waiting_lines(height, width, now),
            Tab::History => self.history_lines(height, width, now),
            Tab::Reviews => self.review_lines(height, width, now),
            Tab::Grants => self.grant_lines(height, width, now),
        };
        if lines.is_empty() {
            let lines = self.empty(width, now);
            draw_lines(frame, area, &lines);
            return;
        }
        draw_lines(frame, area, &lines);
    }

    fn here(&self, is_selected: bool) -> Here {
        let has_card = self.open.as_ref().is_some_and(Open::has_keys);
        match (is_selected, has_card || self.is_detail_open) {
            (false, _) => Here::No,
            (true, true) => Here::Quietly,
            (true, false) => Here::Yes,
        }
    }

    fn waiting_lines(
        &mut self,
        height: usize,
        width: usize,
        now: UnixMillis,
    ) -> Vec<Line<'static>> {
        let count = self.waiting.rows().len();
        let window = self.waiting.cursor.window(height, count);
        let selected = self.waiting.cursor.index();
        let shown: Vec<Row> = self
            .waiting
            .rows()
            .get(window.clone())
            .unwrap_or_default()
            .to_vec();
        window
            .zip(shown)
            .map(|(at, row)| self.waiting_row(&row, self.here(at == selected), width, now))
            .collect()
    }

    fn history_lines(
        &mut self,
        height: usize,
        width: usize,
        now: UnixMillis,
    ) -> Vec<Line<'static>> {
        let count = self.history.list.count();
        let window = self.history.list.cursor.window(height, count);
        let selected = self.history.list.cursor.index();
        let theme = self.theme;
        let mut lines = Vec::new();
        for at in window {
            let here = self.here(at == selected);
            let past = self.history.list.row(at);
            lines.extend(past.map(|past| past_row(past, here, width, now, theme)));
        }
        lines
    }

    fn review_lines(&mut self, height: usize, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let count = self.reviews.count();
        let window = self.reviews.cursor.window(height, count);
        let selected = self.reviews.cursor.index();
        let theme = self.theme;
        let mut lines = Vec::new();
        for at in window {
            let here = self.here(at == selected);
            let review = self.reviews.row(at);
            lines.extend(review.map(|review| review_row(review, here, width, now, theme)));
        }
        lines
    }

    fn grant_lines(&mut self, height: usize, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let count = self.grants.count();
        let window = self.grants.cursor.window(height, count);
        let selected = self.grants.cursor.index();
        let theme = self.theme;
        let mut lines = Vec::new();
        for at in window {
            let here = self.here(at == selected);
            let grant = self.grants.row(at);
            lines.extend(grant.map(|grant| grant_row(grant, here, width, now, theme)));
        }
        lines
    }

    fn draw_detail(&mut self, frame: &mut Frame<'_>, area: Rect, now: UnixMillis) {
        let theme = self.theme;
        let details = match self.tab {
            Tab::Waiting => {
                let ids = self.waiting.under_cursor();
                let items: Vec<_> = ids.iter().filter_map(|id| self.waiting.get(id)).collect();
                (items.len() > 1).then(|| explain::fold(&items, theme))
            }
            Tab::History => {
                let selected = self.history.list.selected();
                selected.map(|it| explain::past(it, now, theme))
            }
            Tab::Reviews => {
                let selected = self.reviews.selected();
                selected.map(|it| explain::review(it, now, theme))
            }
            Tab::Grants => {
                let selected = self.grants.selected();
                selected.map(|it| explain::grant(it, now, theme))
            }
        };
        let Some(mut details) = details else {
            return;
        };
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let last = details.rows(width).saturating_sub(height);
        self.scrolled = self.scrolled.min(last);
        let lines = details.lines(self.scrolled, height, width, theme);
        draw_lines(frame, area, &lines);
    }

    /// Lists the keys: those of cards too, where they fit beside.
    fn draw_keys(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let is_wide = area.width >= WIDE;
        let left = Rect {
            width: if is_wide { area.width / 2 } else { area.width },
            ..area
        };
        self.draw_keys_of(frame, left, "Keys of the inbox", Place::List);
        if is_wide {
            let right = Rect {
                x: left.right(),
                width: area.width - left.width,
                ..area
            };
            self.draw_keys_of(frame, right, "Keys of a card", Place::Card);
        }
    }

    fn draw_keys_of(&mut self, frame: &mut Frame<'_>, area: Rect, title: &str, place: Place) {
        let theme = self.theme;
        let title = Line::from(Span::styled(title.to_owned(), theme.heading()));
        draw_lines(frame, area, &[title]);
        let area = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        let mut doc = Doc::default();
        for row in help(place) {
            doc.push(Part::words(row.keys, row.does, theme.plain()));
        }
        let rows = doc.rows(usize::from(area.width));
        let last = rows.saturating_sub(usize::from(area.height));
        self.scrolled = self.scrolled.min(last);
        doc.draw(frame, area, self.scrolled, theme);
    }

    /// Returns what stands where a list has nothing to show.
    fn empty(&self, width: usize, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        if !self.filter.is_empty() {
            return prose("No matches. Esc clears the filter.", width, theme.plain());
        }
        let words = match self.tab {
            Tab::Waiting if !self.loading.is_done => return Vec::new(),
            Tab::Waiting if self.has_agent == Some(false) && self.history.list.all().is_empty() => {
                return self.first_steps(width);
            }
            Tab::Waiting => {
                let hour = self.hour.sentence(now).unwrap_or_default();
                format!("Nothing waiting. {hour}")
            }
            Tab::History if self.history.is_loaded => {
                "No calls yet. Calls of agents appear here.".to_owned()
            }
            Tab::History => return Vec::new(),
            Tab::Reviews => {
                "Nothing to review. With `review.enabled`, calls that can be undone run \
                             immediately and appear here with their changes."
                    .to_owned()
            }
            Tab::Grants => "No active grants. Answering a card with “Allow for this session” or \
                            “Add to permanent allowlist” creates one. You can revoke it here."
                .to_owned(),
        };
        prose(&words, width, theme.plain())
    }

    /// Returns what to do while no agent has a key.
    fn first_steps(&self, width: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let steps = [
            ("countersign try", "shows a harmless practice card"),
            ("countersign run TEXT", "gives the built-in agent a task"),
            (
                "countersign keys create --role agent --name NAME",
                "creates a key for your agent",
            ),
        ];
        let mut lines = prose("No agent is connected yet.", width, theme.heading());
        for (command, does) in steps {
            lines.push(Line::default());
            lines.extend(prose(command, width, theme.own()));
            lines.extend(prose(does, width, theme.quiet()));
        }
        lines
    }

    /// Returns when something on the screen changes by itself.
    pub(super) fn changes(&self, now: UnixMillis) -> Option<UnixMillis> {
        let open = self.open.as_ref().and_then(|open| open.changes_at(now));
        let sure = match &self.asking {
            Asking::Sure(sure) => sure.changes_at(now),
            Asking::Nothing | Asking::Filter(_) | Asking::Note { .. } | Asking::Keys => None,
        };
        let counted = match self.tab {
            Tab::Waiting => self.countdown(now),
            Tab::History => self.history.list.all().first().map(|it| it.at),
            Tab::Reviews => self.reviews.all().first().map(|it| it.ran_at),
            Tab::Grants => None,
        };
        // All rows are counted on together, at whole seconds or minutes: a list with a thousand
        // countdowns is not drawn a thousand times a second.
        let counted = counted.map(|moment| {
            let left = moment.since(now);
            let is_near = left.abs() < COUNTED_MILLIS;
            let unit = if is_near { 1_000 } else { 60_000 };
            let next = UnixMillis(now.0 - now.0.rem_euclid(unit) + unit);
            if left > COUNTED_MILLIS {
                next.min(moment.plus(1 - COUNTED_MILLIS))
            } else {
                next
            }
        });
        let lifted = self.overrides.iter().map(|it| it.until);
        let lifted = lifted.filter(|until| *until > now).min();
        let lifted = lifted.map(|until| span_changes_at(until, now));
        [open, sure, counted, lifted].into_iter().flatten().min()
    }

    /// Returns the next end of what waits.
    fn countdown(&self, now: UnixMillis) -> Option<UnixMillis> {
        let ends = self
            .waiting
            .all()
            .map(|item| item.held_until.unwrap_or(item.expires_at));
        ends.filter(|end| *end > now).min()
    }
}

fn rows_of(lines: &[Line<'_>]) -> u16 {
    u16::try_from(lines.len()).unwrap_or(u16::MAX)
}
