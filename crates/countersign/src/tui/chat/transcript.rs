//! The transcript of a conversation, including the message in progress.
//!
//! What the agent says is never at the left edge, so it cannot pass for the person or for us.

use std::ops::Range;

use countersign_core::display::{inline, unfenced};
use countersign_core::status::Ended;
use countersign_core::time::UnixMillis;
use countersign_gate::records::event::{MessageHeld, ToolCompleted, ToolStarted};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::doc::Doc;
use crate::tui::markdown::{Look, drawn};
use crate::tui::panel::draw_lines;
use crate::tui::theme::Theme;
use crate::tui::wrap::{Break, Wrapped};
use crate::wire::shown::MessageView;
use crate::words::named;

/// How often the sign of work moves, in milliseconds.
pub(super) const SPIN_MILLIS: i64 = 120;
const SPIN: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// What stands before the first row of an entry, and as wide before the others.
const INDENT: usize = 2;

/// Returns the sign of work at `now`.
pub(super) fn spinner(now: UnixMillis) -> &'static str {
    let turn = now.0.div_euclid(SPIN_MILLIS).rem_euclid(10);
    let turn = usize::try_from(turn).unwrap_or(0);
    SPIN.get(turn).copied().unwrap_or("·")
}

/// Who or what an entry is of.
#[derive(Clone, Debug)]
enum Kind {
    Person,
    Agent,
    /// A tool, and the call it is.
    Tool {
        call: Named,
        state: Work,
    },
    /// Said by the program.
    Note,
    /// Something that went wrong.
    Trouble,
    /// A table of ours.
    Table(Doc),
}

/// The two names of a call: the gateway's, and the model's, which may come again in a later answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Named {
    call: String,
    of_model: String,
}

impl Named {
    fn new(call: Option<&str>, of_model: Option<&str>) -> Self {
        Self {
            call: call.unwrap_or_default().to_owned(),
            of_model: of_model.unwrap_or_default().to_owned(),
        }
    }

    fn of_start(tool: &ToolStarted) -> Self {
        Self::new(tool.call_id.as_deref(), Some(&tool.tool_call_id))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Work {
    Runs,
    Done(String),
    /// It failed, or did not run: why.
    Failed(String),
    /// Nobody can say what came of it.
    Unknown(String),
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    text: Wrapped,
    /// How parts of the text look, in bytes and in order.
    looks: Vec<(Range<usize>, Look)>,
}

/// A message that is being said. What else happens meanwhile stands below it.
#[derive(Clone, Debug)]
struct Saying {
    /// Which entry it is.
    entry: usize,
    /// As it came.
    text: String,
}

/// The transcript.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    entries: Vec<Entry>,
    /// The message that is being said.
    saying: Option<Saying>,
    /// The last message that was completed since the person spoke.
    said: String,
    /// The last notice that stands for a draft, and which draft that is.
    held: Option<(String, Option<u32>)>,
    is_stale: bool,
    /// Rows that are scrolled past at the end.
    behind: usize,
}

impl Transcript {
    /// Whether nothing was said yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn push(&mut self, kind: Kind, text: impl Into<String>) {
        let how = match kind {
            Kind::Tool { .. } => Break::Anywhere,
            Kind::Person | Kind::Agent | Kind::Note | Kind::Trouble | Kind::Table(_) => {
                Break::Words
            }
        };
        self.entries.push(Entry {
            kind,
            text: Wrapped::new(text, how),
            looks: Vec::new(),
        });
    }

    /// The person said this.
    pub(super) fn person(&mut self, text: &str) {
        self.end_message();
        self.push(Kind::Person, unfenced(text));
        self.said.clear();
        self.held = None;
        self.behind = 0;
    }

    /// The program says this. It is safe to show.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.push(Kind::Note, text);
    }

    /// The program shows this.
    pub(super) fn table(&mut self, table: Doc) {
        self.push(Kind::Table(table), "");
    }

    /// Something went wrong. It is safe to show.
    pub(super) fn trouble(&mut self, text: impl Into<String>) {
        self.push(Kind::Trouble, text);
    }

    /// The agent said this, a while ago.
    pub(super) fn agent(&mut self, text: &str) {
        self.push(Kind::Agent, "");
        if let Some(entry) = self.entries.last_mut() {
            entry.says(text);
        }
    }

    /// A tool was asked for, a while ago; [`Self::tool_ended`] says what came of it.
    pub(super) fn tool(&mut self, of_model: &str, preview: &str) {
        let kind = Kind::Tool {
            call: Named {
                of_model: of_model.to_owned(),
                ..Named::default()
            },
            state: Work::Runs,
        };
        self.push(kind, preview);
    }

    /// A message of the record says how a tool ended.
    pub(super) fn tool_ended(&mut self, message: &MessageView) {
        let ended = message.ended.as_ref();
        let call = ended.map(|ended| ended.call_id.as_str());
        let named = Named::new(call, message.tool_call_id.as_deref());
        let work = ended.map_or_else(
            || Work::Unknown("outcome not recorded".to_owned()),
            |ended| Work::ended(ended.outcome, Some(&ended.words)),
        );
        self.settle_one(&named, work);
    }

    /// The agent says more.
    pub(super) fn say(&mut self, piece: &str) {
        if self.is_notice(piece) {
            return;
        }
        match &mut self.saying {
            Some(saying) => saying.text.push_str(piece),
            None if piece.trim().is_empty() => return,
            None => {
                self.saying = Some(Saying {
                    entry: self.entries.len(),
                    text: piece.to_owned(),
                });
                self.push(Kind::Agent, "");
            }
        }
        self.is_stale = true;
    }

    /// The agent says this, of which a part may have been said already.
    pub(super) fn say_anew(&mut self, message: &str) {
        if self.is_notice(message) {
            return;
        }
        match &mut self.saying {
            Some(saying) if message.starts_with(saying.text.as_str()) => {
                message.clone_into(&mut saying.text);
                self.is_stale = true;
            }
            Some(_) | None => {
                self.end_message();
                self.say(message);
            }
        }
    }

    /// Whether this is the notice that stands there already.
    fn is_notice(&self, message: &str) -> bool {
        let held = self.held.as_ref().map(|(notice, _)| notice.as_str());
        self.saying.is_none() && held == Some(message)
    }

    /// The draft is held, and the person sees a notice instead, once per draft.
    pub(super) fn hold(&mut self, event: &MessageHeld) {
        let (notice, draft) = (event.notice.as_str(), event.draft);
        if let Some(saying) = self.saying.take()
            && saying.entry < self.entries.len()
        {
            self.entries.remove(saying.entry);
        }
        let held = (notice.to_owned(), draft);
        if draft.is_none() || self.held.as_ref() != Some(&held) {
            self.agent(notice);
        }
        self.held = Some(held);
    }

    /// The whole answer, at the end of a run: said unless it was said already.
    pub(super) fn answer(&mut self, output: &str) {
        if self.is_notice(output) {
            return;
        }
        let said = self
            .saying
            .as_ref()
            .map_or(&self.said, |saying| &saying.text);
        if said.is_empty() || !output.ends_with(said.as_str()) {
            self.say_anew(output);
        }
        self.end_message();
    }

    /// The message is complete.
    pub(super) fn end_message(&mut self) {
        self.freshen();
        if let Some(saying) = self.saying.take() {
            self.said = saying.text;
        }
    }

    fn freshen(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let Some(saying) = &self.saying else {
            return;
        };
        if let Some(entry) = self.entries.get_mut(saying.entry) {
            entry.says(&saying.text);
        }
    }

    /// A tool begins.
    pub(super) fn tool_started(&mut self, tool: &ToolStarted) {
        self.end_message();
        let kind = Kind::Tool {
            call: Named::of_start(tool),
            state: Work::Runs,
        };
        self.push(kind, inline(&tool.preview));
    }

    /// A tool that stands there from the record began: now it is known which call it is.
    pub(super) fn tool_known(&mut self, tool: &ToolStarted) {
        let named = Named::of_start(tool);
        let unnamed = |(call, _): &(&mut Named, &mut Work)| {
            call.call.is_empty() && call.of_model == named.of_model
        };
        if let Some((call, _)) = self.running().find(unnamed) {
            *call = named;
        }
    }

    /// A tool has ended.
    pub(super) fn tool_completed(&mut self, tool: &ToolCompleted) {
        let named = Named::new(tool.call_id.as_deref(), tool.tool_call_id.as_deref());
        self.settle_one(&named, Work::of(tool));
    }

    /// Says how one call ended. Which one is said by its names and by nothing else.
    fn settle_one(&mut self, named: &Named, work: Work) {
        let is_call =
            |(call, _): &(&mut Named, &mut Work)| !named.call.is_empty() && call.call == named.call;
        let is_of_model = |(call, _): &(&mut Named, &mut Work)| {
            !named.of_model.is_empty() && call.of_model == named.of_model
        };
        let by_call = self.running().position(|it| is_call(&it));
        let place = by_call.or_else(|| self.running().position(|it| is_of_model(&it)));
        let found = place.and_then(|place| self.running().nth(place));
        if let Some((call, state)) = found {
            *state = work;
            if !named.call.is_empty() {
                named.call.clone_into(&mut call.call);
            }
        }
    }

    /// Returns the calls of which it is not said yet how they ended.
    fn running(&mut self) -> impl Iterator<Item = (&mut Named, &mut Work)> {
        self.entries
            .iter_mut()
            .filter_map(|entry| match &mut entry.kind {
                Kind::Tool { call, state } if *state == Work::Runs => Some((call, state)),
                Kind::Person
                | Kind::Agent
                | Kind::Tool { .. }
                | Kind::Note
                | Kind::Trouble
                | Kind::Table(_) => None,
            })
    }

    /// The run is over: nothing runs any more.
    pub(super) fn settle(&mut self) {
        self.end_message();
        for entry in &mut self.entries {
            if let Kind::Tool { state, .. } = &mut entry.kind
                && *state == Work::Runs
            {
                *state = Work::Unknown("outcome unknown".to_owned());
            }
        }
    }

    /// Scrolls back by `rows`.
    pub(super) const fn scroll_up(&mut self, rows: usize) {
        self.behind = self.behind.saturating_add(rows);
    }

    /// Scrolls forward by `rows`.
    pub(super) const fn scroll_down(&mut self, rows: usize) {
        self.behind = self.behind.saturating_sub(rows);
    }

    /// Whether the end is out of view.
    pub(super) const fn is_scrolled(&self) -> bool {
        self.behind > 0
    }

    /// Draws the end of it, or what was scrolled to.
    pub(super) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        theme: Theme,
        now: UnixMillis,
    ) {
        self.freshen();
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let mut lines: Vec<Line<'static>> = Vec::new();
        let wanted = height + self.behind;
        // From the end backwards: only what is in view is laid out.
        let mut below: Option<&Kind> = None;
        for entry in self.entries.iter_mut().rev() {
            if lines.len() >= wanted {
                break;
            }
            if below.is_some_and(|below| !belongs_to(&entry.kind, below)) {
                lines.push(Line::default());
            }
            let mut rows = entry.lines(width, theme, now);
            rows.reverse();
            lines.append(&mut rows);
            below = Some(&entry.kind);
        }
        self.behind = self.behind.min(lines.len().saturating_sub(height));
        let mut lines: Vec<Line<'static>> =
            lines.into_iter().skip(self.behind).take(height).collect();
        lines.reverse();
        let free = height.saturating_sub(lines.len());
        let top = u16::try_from(free).unwrap_or(0);
        let area = Rect {
            y: area.y + top,
            height: area.height - top,
            ..area
        };
        draw_lines(frame, area, &lines);
    }
}

/// Whether two entries stand without an empty row between them.
const fn belongs_to(above: &Kind, below: &Kind) -> bool {
    matches!(
        (above, below),
        (Kind::Tool { .. }, Kind::Tool { .. } | Kind::Note)
            | (Kind::Note, Kind::Note | Kind::Tool { .. })
    )
}

impl Work {
    /// Returns how it ended, from the event that tells of it.
    fn of(tool: &ToolCompleted) -> Self {
        let lasted = || took(tool.duration);
        match tool.outcome {
            Some(Ended::Done) => Self::Done(lasted()),
            Some(ended) => Self::ended(ended, tool.words.as_deref()),
            // An older gateway says no more than this.
            None if tool.error == Some(true) => Self::Failed("failed, or not run".to_owned()),
            None => Self::Done(lasted()),
        }
    }

    /// Returns how it ended, from the record.
    fn ended(ended: Ended, words: Option<&str>) -> Self {
        let words = named(words);
        match ended {
            Ended::Done => Self::Done(String::new()),
            Ended::Unknown => Self::Unknown(words.unwrap_or_default()),
            Ended::Failed
            | Ended::Denied
            | Ended::Refused
            | Ended::Expired
            | Ended::Withdrawn
            | Ended::NotRun => Self::Failed(words.unwrap_or_else(|| ended.word().to_owned())),
        }
    }
}

/// Returns how long it took, where that is worth saying.
fn took(seconds: Option<f64>) -> String {
    let seconds = seconds.filter(|seconds| *seconds >= 0.05);
    seconds.map_or_else(String::new, |seconds| format!("{seconds:.1} s"))
}

impl Entry {
    /// The agent says `text`, in Markdown.
    fn says(&mut self, text: &str) {
        let drawn = drawn(&unfenced(text.trim_end()));
        self.text = Wrapped::new(drawn.text, Break::Words);
        self.looks = drawn.looks;
    }

    /// Returns row `number` in pieces, each with its style.
    fn pieces(
        &mut self,
        number: usize,
        room: usize,
        style: Style,
        theme: Theme,
    ) -> Vec<Span<'static>> {
        let Some(row) = self.text.range(number, room) else {
            return Vec::new();
        };
        let text = self.text.text();
        let end = row.start + text.get(row.clone()).map_or(0, |it| it.trim_end().len());
        let mut spans = Vec::new();
        let mut at = row.start;
        let mut push = |range: Range<usize>, style: Style| {
            let piece = text.get(range).unwrap_or_default();
            if !piece.is_empty() {
                spans.push(Span::styled(piece.to_owned(), style));
            }
        };
        let seen = self.looks.partition_point(|(it, _)| it.end <= row.start);
        let looks = self.looks.iter().skip(seen);
        for (range, look) in looks.take_while(|(it, _)| it.start < end) {
            let (first, last) = (range.start.max(at), range.end.min(end));
            push(at..first, style);
            push(first..last, style.patch(theme.spoken(*look)));
            at = last;
        }
        push(at..end, style);
        spans
    }

    fn lines(&mut self, width: usize, theme: Theme, now: UnixMillis) -> Vec<Line<'static>> {
        let room = width.saturating_sub(INDENT).max(1);
        if let Kind::Table(doc) = &mut self.kind {
            let rows = doc.rows(room);
            let mut lines = doc.lines(0..rows, room, theme);
            for line in &mut lines {
                line.spans.insert(0, Span::raw(" ".repeat(INDENT)));
            }
            return lines;
        }
        let (sign, sign_style, style, end) = self.looks(theme, now);
        let count = self.text.rows(room);
        let mut lines = Vec::with_capacity(count);
        for number in 0..count {
            let lead = if number == 0 { sign } else { " " };
            let mut spans = vec![Span::styled(format!("{lead} "), sign_style)];
            spans.extend(self.pieces(number, room, style, theme));
            lines.push(Line::from(spans));
        }
        let end = Span::styled(format!("  {end}"), sign_style);
        match lines.last_mut() {
            Some(last) if last.width() + end.width() <= width => last.push_span(end),
            Some(_) | None => lines.push(Line::from(end)),
        }
        lines
    }

    /// Returns its sign and that one's style, its style, and what stands at its end.
    fn looks(&self, theme: Theme, now: UnixMillis) -> (&'static str, Style, Style, String) {
        match &self.kind {
            Kind::Person => ("❯", theme.own(), theme.own(), String::new()),
            Kind::Agent | Kind::Table(_) => (" ", theme.plain(), theme.plain(), String::new()),
            Kind::Note => ("·", theme.quiet(), theme.quiet(), String::new()),
            Kind::Trouble => ("!", theme.bad(), theme.plain(), String::new()),
            Kind::Tool { state, .. } => match state {
                Work::Runs => (spinner(now), theme.waiting(), theme.plain(), String::new()),
                Work::Done(took) => ("✓", theme.good(), theme.quiet(), took.clone()),
                Work::Failed(why) => ("✗", theme.bad(), theme.quiet(), why.clone()),
                Work::Unknown(why) => ("?", theme.waiting(), theme.quiet(), why.clone()),
            },
        }
    }
}
