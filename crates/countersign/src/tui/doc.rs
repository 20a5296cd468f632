//! A scrollable document of named texts.
//!
//! Somebody else's text stands behind a fence, and its name before it, so nothing in a text can pass
//! for a name or for a word of ours. Rows are found when they are drawn; a long text costs nothing
//! while it is out of view.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::GraphemeCursor;
use unicode_width::UnicodeWidthStr as _;

use super::syntax::{Language, Token, tokens};
use super::theme::{FENCE, Theme};
use super::wrap::{Break, Wrapped};

/// Widest column of names, in cells.
const NAMES_MAX: usize = 18;
/// Between a name and its text, in cells.
const GAP: usize = 2;

/// One text.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    name: Wrapped,
    columns: Vec<Column>,
}

/// A text with what stands before each of its rows.
#[derive(Clone, Debug)]
struct Column {
    lead: &'static str,
    text: Wrapped,
    style: Style,
    /// Parts of the text to look at, in bytes, in order.
    marks: Vec<Range<usize>>,
    /// What has a colour, in bytes, in order.
    tokens: Vec<Token>,
    /// Cells of the largest line number; none: its lines have no numbers.
    digits: usize,
}

impl Part {
    /// Somebody else's text.
    pub(crate) fn fenced(name: &str, text: &str, style: Style) -> Self {
        Self::with_lead(name, FENCE, text, style)
    }

    /// Points at parts of its text, given in bytes and in order.
    pub(crate) fn marked(mut self, marks: Vec<Range<usize>>) -> Self {
        if let [column] = self.columns.as_mut_slice() {
            column.marks = marks;
        }
        self
    }

    /// Gives its text the colours of `language`.
    pub(crate) fn coloured(mut self, language: Option<&Language>) -> Self {
        if let ([column], Some(language)) = (self.columns.as_mut_slice(), language) {
            column.tokens = tokens(column.text.text(), language);
        }
        self
    }

    /// Numbers the lines of its text, if it has several.
    pub(crate) fn numbered(mut self) -> Self {
        if let [column] = self.columns.as_mut_slice() {
            let lines = column.text.text().split('\n').count();
            column.digits = if lines > 1 {
                lines.to_string().len()
            } else {
                0
            };
        }
        self
    }

    /// Somebody else's text, with a fence that says more.
    pub(crate) fn with_lead(name: &str, lead: &'static str, text: &str, style: Style) -> Self {
        Self::of(name, vec![column(lead, text, Break::Anywhere, style)])
    }

    /// Two texts side by side.
    pub(crate) fn pair(
        left: (&'static str, &str, Style),
        right: (&'static str, &str, Style),
    ) -> Self {
        let columns =
            [left, right].map(|(lead, text, style)| column(lead, text, Break::Anywhere, style));
        Self::of("", columns.into())
    }

    /// Our own words.
    pub(crate) fn words(name: &str, text: &str, style: Style) -> Self {
        Self::of(name, vec![column("", text, Break::Words, style)])
    }

    fn of(name: &str, columns: Vec<Column>) -> Self {
        Self {
            name: Wrapped::new(name, Break::Anywhere),
            columns,
        }
    }

    fn rows(&mut self, place: Names, width: usize) -> usize {
        let (names, room) = place.split(width);
        let beside = column_width(room, self.columns.len());
        let texts = self.columns.iter_mut().map(|it| it.rows(beside)).max();
        let texts = texts.unwrap_or(0);
        let has_name = !self.name.text().is_empty();
        match place {
            Names::Beside(_) if has_name => texts.max(self.name.rows(names)),
            Names::Above if has_name => texts + self.name.rows(names),
            Names::Beside(_) | Names::Above => texts,
        }
    }

    /// Returns the rows in which a marked part of its first column begins.
    fn marked_rows(&mut self, place: Names, width: usize) -> impl Iterator<Item = usize> + use<> {
        let (names, room) = place.split(width);
        let above = match place {
            Names::Above if !self.name.text().is_empty() => self.name.rows(names),
            Names::Above | Names::Beside(_) => 0,
        };
        let beside = column_width(room, self.columns.len());
        let rows = self.columns.first_mut().map(|it| it.marked_rows(beside));
        rows.unwrap_or_default()
            .into_iter()
            .map(move |row| above + row)
    }

    /// Returns row `number` as it is drawn.
    fn row(&mut self, number: usize, place: Names, width: usize, theme: Theme) -> Line<'static> {
        let (names, room) = place.split(width);
        let has_name = !self.name.text().is_empty();
        let (number, mut spans) = match place {
            Names::Beside(column) => {
                let name = self.name.row(number, names).unwrap_or_default();
                let padding = (column + GAP).saturating_sub(name.width());
                let name = format!("{name}{:padding$}", "");
                (number, vec![Span::styled(name, theme.quiet())])
            }
            Names::Above => {
                let above = if has_name { self.name.rows(names) } else { 0 };
                let Some(number) = number.checked_sub(above) else {
                    let name = self.name.row(number, names).unwrap_or_default();
                    return Line::from(Span::styled(name.to_owned(), theme.quiet()));
                };
                (number, Vec::new())
            }
        };
        let count = self.columns.len();
        let beside = column_width(room, count);
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.push_row(&mut spans, number, beside, theme);
            if at + 1 < count {
                let drawn: usize = spans.iter().map(Span::width).sum();
                let wanted = (width - room) + (at + 1) * (beside + GAP);
                spans.push(Span::raw(" ".repeat(wanted.saturating_sub(drawn))));
            }
        }
        Line::from(spans)
    }
}

fn column(lead: &'static str, text: &str, how: Break, style: Style) -> Column {
    Column {
        lead,
        text: Wrapped::new(text, how),
        style,
        marks: Vec::new(),
        tokens: Vec::new(),
        digits: 0,
    }
}

impl Column {
    fn rows(&mut self, width: usize) -> usize {
        let room = self.room(width);
        self.text.rows(room)
    }

    /// Returns the cells that the text has of `width`: the fence and the numbers take theirs.
    fn room(&self, width: usize) -> usize {
        let numbers = match self.digits {
            0 => 0,
            digits => digits + 1,
        };
        width.saturating_sub(self.lead.width() + numbers)
    }

    /// Returns the number of the line that begins in row `number`; empty in the rows it goes on in.
    fn line_number(&mut self, number: usize, room: usize) -> String {
        let start = self.text.range(number, room).map_or(0, |row| row.start);
        let before = self.text.text().get(..start).unwrap_or_default();
        let is_first = before.is_empty() || before.ends_with('\n');
        let line = before.matches('\n').count() + 1;
        let line = if is_first {
            line.to_string()
        } else {
            String::new()
        };
        let digits = self.digits;
        format!("{line:>digits$} ")
    }

    fn push_row(
        &mut self,
        spans: &mut Vec<Span<'static>>,
        number: usize,
        width: usize,
        theme: Theme,
    ) {
        let room = self.room(width);
        let rows = self.text.rows(room);
        if number < rows {
            // The sign of a changed line is part of the line, the fence is ours.
            let (fence, sign) = self.lead.split_at(self.lead.len().min(FENCE.len()));
            spans.push(Span::styled(fence, theme.quiet()));
            spans.push(Span::styled(sign, self.style));
            if self.digits > 0 {
                spans.push(Span::styled(self.line_number(number, room), theme.quiet()));
            }
            self.push_text(spans, number, room, theme);
        }
    }
}

impl Column {
    fn marked_rows(&mut self, width: usize) -> Vec<usize> {
        let room = self.room(width);
        let marks = &self.marks;
        let rows = (0..self.text.rows(room)).filter_map(|row| {
            let range = self.text.range(row, room)?;
            let begins = marks.iter().any(|mark| range.contains(&mark.start));
            begins.then_some(row)
        });
        rows.collect()
    }

    /// Adds the text of row `number`: its marked parts set apart, its tokens in their colours.
    fn push_text(
        &mut self,
        spans: &mut Vec<Span<'static>>,
        number: usize,
        room: usize,
        theme: Theme,
    ) {
        let Some(row) = self.text.range(number, room) else {
            return;
        };
        let cuts = self.cuts(&row);
        for (start, end) in cuts.iter().zip(cuts.iter().skip(1)) {
            let piece = self.text.text().get(*start..*end).unwrap_or_default();
            if !piece.is_empty() {
                let style = self.style_at(*start, theme);
                spans.push(Span::styled(piece.to_owned(), style));
            }
        }
    }

    /// Returns where the look of `row` may change, its beginning and end included. A letter and the accents on it are never cut
    /// apart, because a terminal drops an accent that has no letter.
    fn cuts(&self, row: &Range<usize>) -> Vec<usize> {
        let text = self.text.text();
        let is_between_letters = |at: usize| {
            let cursor = GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0);
            cursor.unwrap_or(false)
        };
        let first = self.tokens.partition_point(|it| it.range.end <= row.start);
        let seen = self.tokens.iter().skip(first).map(|it| &it.range);
        let tokens = seen.take_while(|it| it.start < row.end);
        let mut cuts: Vec<usize> = tokens
            .chain(&self.marks)
            .flat_map(|it| [it.start, it.end])
            .filter(|at| row.contains(at) && is_between_letters(*at))
            .chain([row.start, row.end])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    fn style_at(&self, at: usize, theme: Theme) -> Style {
        let first = self.tokens.partition_point(|it| it.range.end <= at);
        let token = self.tokens.get(first).filter(|it| it.range.start <= at);
        let style = token.map_or(self.style, |it| self.style.patch(theme.code(it.kind)));
        if self.marks.iter().any(|mark| mark.contains(&at)) {
            style.patch(theme.marked())
        } else {
            style
        }
    }
}

fn column_width(room: usize, columns: usize) -> usize {
    match columns {
        0 | 1 => room,
        columns => room.saturating_sub(GAP * (columns - 1)) / columns,
    }
}

/// Where names stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// In a column of their own.
    Beside(usize),
    /// In rows of their own, or there are none.
    Above,
}

impl Names {
    /// Returns how wide names and texts are.
    fn split(self, width: usize) -> (usize, usize) {
        match self {
            Self::Beside(column) => (column, width.saturating_sub(column + GAP).max(1)),
            Self::Above => (width, width),
        }
    }
}

/// Named texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doc {
    parts: Vec<Part>,
}

impl Doc {
    /// Puts `part` below the others.
    pub(crate) fn push(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// Returns how many rows it has at `width` cells.
    pub(crate) fn rows(&mut self, width: usize) -> usize {
        let place = self.names(width);
        self.parts
            .iter_mut()
            .map(|part| part.rows(place, width))
            .sum()
    }

    /// Returns the rows in which a marked part begins, in order.
    pub(crate) fn marked_rows(&mut self, width: usize) -> Vec<usize> {
        let place = self.names(width);
        let mut found = Vec::new();
        let mut first = 0;
        for part in &mut self.parts {
            found.extend(part.marked_rows(place, width).map(|row| first + row));
            first += part.rows(place, width);
        }
        found
    }

    /// Returns how many characters stand in it.
    pub(crate) fn characters(&self) -> usize {
        let columns = self.parts.iter().flat_map(|part| &part.columns);
        columns
            .map(|column| column.text.text().chars().count())
            .sum()
    }

    fn names(&self, width: usize) -> Names {
        let widest = self.parts.iter().map(|part| part.name.text().width()).max();
        match widest {
            Some(widest @ 1..) if widest.min(NAMES_MAX) * 3 <= width => {
                Names::Beside(widest.min(NAMES_MAX))
            }
            Some(_) | None => Names::Above,
        }
    }

    /// Returns `rows` as they are drawn at `width` cells.
    pub(crate) fn lines(
        &mut self,
        rows: Range<usize>,
        width: usize,
        theme: Theme,
    ) -> Vec<Line<'static>> {
        let place = self.names(width);
        let mut lines = Vec::new();
        let mut first = 0;
        for part in &mut self.parts {
            let count = part.rows(place, width);
            let from = rows.start.saturating_sub(first).min(count);
            let to = rows.end.saturating_sub(first).min(count);
            for number in from..to {
                lines.push(part.row(number, place, width, theme));
            }
            first += count;
            if first >= rows.end {
                break;
            }
        }
        lines
    }

    /// Draws rows from `first` on, as many as `area` has.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, first: usize, theme: Theme) {
        let rows = first..first + usize::from(area.height);
        let lines = self.lines(rows, usize::from(area.width), theme);
        super::panel::draw_lines(frame, area, &lines);
    }
}
