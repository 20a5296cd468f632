//! The clarification panel: up to nine choices, or a typed answer.
//!
//! An answer is never consent: nothing is allowed by it. If nobody answers, the gateway tells the
//! agent so; it is never told to decide by itself.

#[cfg(test)]
mod tests;

use countersign_core::status::ClarificationStatus;
use countersign_core::time::UnixMillis;
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::records::event::{ClarifyResolved, Event};
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::arming::Arming;
use super::input::{Input, Lines};
use super::keys::{Act, Place, act, is_press};
use super::panel::{
    Focus, HINT, IsSelected, Reaction, choice_rows, draw_lines, draw_typed, hint_rows, prose,
};
use super::screen::{News, Tag, Wish};
use super::theme::Theme;
use super::wrap::{Break, Wrapped, cut};
use crate::client::{Answer, segment};
use crate::words::{answer_of, named, refusal, span, span_changes_at};

/// Longest answer in one's own words, in bytes; the gateway takes no more.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
/// Rows into which an answer is typed.
const INPUT_ROWS: usize = 3;
/// Rows of a question that must be seen, or nothing is answered.
const QUESTION_ROWS_MIN: usize = 1;

const QUESTION: &str = "clarification.question";
const ANSWER: &str = "clarification.answer";
const OTHER: &str = "Other (type your answer)";
const OTHER_OPEN: &str = "Other (type below)";
const OPEN: &str = "Type your answer in the prompt below, then press Enter.";
const TOO_SOON: &str = "Too fast: that key was ignored. Press it again.";

/// A question on the screen.
#[derive(Clone, Debug)]
pub(crate) struct ClarifyPanel {
    theme: Theme,
    agent: String,
    id: String,
    question: Wrapped,
    choices: Vec<String>,
    expires_at: UnixMillis,
    status: Status,
    selected: usize,
    /// The first row of the question that is drawn.
    first: usize,
    typed: Input,
    is_typing: bool,
    arming: Arming,
    notice: Option<String>,
    is_sent: bool,
    was_answered_here: bool,
}

/// The state of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Status {
    Waits,
    /// It ended, and how.
    Over(String),
}

impl Status {
    fn of(question: &ClarificationView) -> Self {
        match question.status {
            ClarificationStatus::Waiting => Self::Waits,
            ClarificationStatus::Answered | ClarificationStatus::Expired => {
                Self::Over(ended(question))
            }
        }
    }
}

impl ClarifyPanel {
    /// Shows `question`; `agent` is who asks, safe to show.
    pub(crate) fn new(question: &ClarificationView, agent: &str, theme: Theme) -> Self {
        let choices = question.choices.clone();
        Self {
            theme,
            agent: agent.to_owned(),
            id: question.clarification_id.clone(),
            question: Wrapped::new(question.question.clone(), Break::Words),
            expires_at: UnixMillis::of_seconds(question.expires_at),
            status: Status::of(question),
            selected: 0,
            first: 0,
            typed: Input::new(Lines::One, ANSWER_BYTES_MAX),
            // An open question has nothing else to do than type.
            is_typing: choices.is_empty(),
            choices,
            arming: Arming::default(),
            notice: None,
            is_sent: false,
            was_answered_here: false,
        }
    }

    /// Returns the request that fetches the question `id`, whose answer is handed to
    /// [`ClarifyPanel::new`] once it was read.
    pub(crate) fn fetch(id: &str) -> Wish {
        Wish::Send {
            tag: tag(QUESTION, id),
            method: Method::GET,
            path: format!("/v1/clarifications/{}", segment(id)),
            body: None,
        }
    }

    /// Whether `tag` is that of [`ClarifyPanel::fetch`].
    pub(crate) fn is_question(tag: &Tag) -> bool {
        tag.what == QUESTION
    }

    /// Returns which question it is.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Whether it waits for an answer.
    pub(crate) const fn is_waiting(&self) -> bool {
        matches!(self.status, Status::Waits)
    }

    /// Whether a key pressed now could answer.
    pub(crate) fn is_armed(&self, now: UnixMillis) -> bool {
        self.arming.may_answer(now)
    }

    /// Whether it was answered by a key pressed here.
    pub(crate) const fn was_answered_here(&self) -> bool {
        self.was_answered_here && !self.is_waiting()
    }

    /// Whether something is being typed into it, so that every key is its own.
    pub(crate) const fn is_typing(&self) -> bool {
        self.is_typing && self.is_waiting()
    }

    /// It is covered or not drawn; it must be read again when it comes back.
    pub(crate) const fn out_of_view(&mut self) {
        self.arming.out_of_view();
    }

    /// Notes a key that went elsewhere, so that the next one is known to be part of a burst.
    pub(crate) const fn typed_elsewhere(&mut self, now: UnixMillis) {
        self.arming.typed(now);
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Reaction {
        if !is_press(key) {
            return Reaction::STAYS;
        }
        let may_answer = self.arming.key(now);
        self.notice = None;
        if self.is_typing() {
            return self.key_of_text(key);
        }
        let Some(act) = act(Place::Card, key) else {
            return Reaction::NOT_MINE;
        };
        match act {
            Act::Confirm | Act::Leave if !self.is_waiting() => return Reaction::LEAVES,
            Act::Number(number) if (1..=self.choices.len() + 1).contains(&number) => {
                if !may_answer {
                    return self.too_soon();
                }
                self.selected = number - 1;
                return self.pick();
            }
            Act::Confirm if !may_answer => return self.too_soon(),
            Act::Confirm => return self.pick(),
            Act::Up => self.selected = self.selected.saturating_sub(1),
            Act::Down => self.selected = (self.selected + 1).min(self.choices.len()),
            Act::Leave => return Reaction::LEAVES,
            Act::PageUp | Act::Top => self.first = 0,
            Act::PageDown => self.first = self.first.saturating_add(3),
            Act::End => self.first = usize::MAX,
            Act::Number(_)
            | Act::DenyWithNote
            | Act::Edit
            | Act::NextMark
            | Act::Why
            | Act::Before
            | Act::Keys
            | Act::SideBySide
            | Act::TakeBack
            | Act::Extend
            | Act::EditLimit => {}
            Act::SwitchFocus
            | Act::NewLine
            | Act::Steer
            | Act::Earlier
            | Act::Later
            | Act::Interrupt
            | Act::EndOfInput
            | Act::List(_) => return Reaction::NOT_MINE,
        }
        Reaction::STAYS
    }

    fn key_of_text(&mut self, key: KeyEvent) -> Reaction {
        match act(Place::Line, key) {
            Some(Act::Confirm) if self.typed.text().trim().is_empty() => Reaction::STAYS,
            Some(Act::Confirm) => {
                let text = self.typed.text();
                self.send(&json!({ "text": text.trim() }))
            }
            Some(Act::Leave) if self.choices.is_empty() => Reaction::LEAVES,
            Some(Act::Leave) => {
                self.is_typing = false;
                self.arming.out_of_view();
                Reaction::STAYS
            }
            Some(_) => Reaction::STAYS,
            None if self.typed.key(key) => Reaction::STAYS,
            None => Reaction::NOT_MINE,
        }
    }

    /// Takes pasted text. It answers nothing; it is typed where something can be typed.
    pub(crate) fn pasted(&mut self, text: &str, now: UnixMillis) {
        self.arming.typed(now);
        if self.is_typing() {
            self.typed.insert(text);
        }
    }

    fn pick(&mut self) -> Reaction {
        if self.selected >= self.choices.len() {
            self.is_typing = true;
            return Reaction::STAYS;
        }
        self.send(&json!({ "choice": self.selected + 1 }))
    }

    fn send(&mut self, answer: &Value) -> Reaction {
        if self.is_sent {
            return Reaction::STAYS;
        }
        self.is_sent = true;
        Reaction::wants(vec![Wish::Send {
            tag: tag(ANSWER, &self.id),
            method: Method::POST,
            path: format!("/v1/clarifications/{}/answer", segment(&self.id)),
            body: Some(answer.clone()),
        }])
    }

    fn too_soon(&mut self) -> Reaction {
        self.notice = Some(TOO_SOON.to_owned());
        Reaction::STAYS
    }

    /// Takes news; what does not concern this question is left alone.
    pub(crate) fn told(&mut self, news: &News) -> Vec<Wish> {
        match news {
            News::Answered { tag, answer } if tag.id == self.id => {
                self.answered(tag.what == ANSWER, answer)
            }
            News::Unanswered { tag, why } if tag.id == self.id && tag.what == ANSWER => {
                self.is_sent = false;
                let words = "The gateway did not confirm your answer; checking";
                self.notice = Some(format!("{words} ({why})."));
                vec![Self::fetch(&self.id)]
            }
            News::Event(event) => {
                if let Event::ClarifyResolved(told) = event.as_ref()
                    && told.clarification_id == self.id
                {
                    self.status = Status::Over(resolved(told));
                }
                Vec::new()
            }
            News::Back => vec![Self::fetch(&self.id)],
            News::Answered { .. }
            | News::Unanswered { .. }
            | News::Unreadable { .. }
            | News::Away { .. } => Vec::new(),
        }
    }

    /// Takes the answer to a request: that of the person's own answer, or of looking it up.
    fn answered(&mut self, is_own: bool, answer: &Answer) -> Vec<Wish> {
        if is_own {
            self.is_sent = false;
        }
        match answer.read() {
            Ok(question) => {
                self.was_answered_here |= is_own;
                self.status = Status::of(&question);
            }
            Err(_) if is_own && !answer.is_success() => {
                self.notice = Some(refusal(answer));
                if answer.status() == StatusCode::CONFLICT {
                    return vec![Self::fetch(&self.id)];
                }
            }
            Err(complaint) if is_own => self.notice = Some(complaint.message().to_owned()),
            Err(_) => {}
        }
        Vec::new()
    }

    /// Returns when it must be drawn again although nothing happens.
    pub(crate) fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        let end = self.expires_at;
        let end = (self.is_waiting() && end > now).then(|| span_changes_at(end, now));
        [end, self.arming.armed_at(now)].into_iter().flatten().min()
    }

    /// Returns how many rows it would like to have at `width` cells.
    pub(crate) fn height(&mut self, width: u16, focus: Focus, now: UnixMillis) -> u16 {
        let inner = usize::from(width).saturating_sub(4).max(1);
        let bottom = self.bottom_lines(inner, focus, now).len() + self.input_rows(inner);
        let hint = self.hint_lines(usize::from(width), focus, now).len();
        let rows = self.question.rows(inner) + 1 + bottom + hint + 2;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    fn input_rows(&self, width: usize) -> usize {
        if self.is_typing() {
            self.typed
                .drawn(width.saturating_sub(2))
                .len()
                .min(INPUT_ROWS)
        } else {
            0
        }
    }

    /// Draws it.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        focus: Focus,
        now: UnixMillis,
    ) {
        frame.render_widget(Clear, area);
        let theme = self.theme;
        let hint = self.hint_lines(usize::from(area.width), focus, now);
        let hint_rows = u16::try_from(hint.len()).unwrap_or(0).min(area.height);
        let card = Rect {
            height: area.height - hint_rows,
            ..area
        };
        let title = cut(
            &format!("{} needs your input", self.agent),
            usize::from(area.width).saturating_sub(6),
        );
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(if self.is_waiting() {
                theme.own()
            } else {
                theme.quiet()
            })
            .padding(Padding::horizontal(1))
            .title(Span::styled(format!(" {title} "), theme.title()));
        let inner = block.inner(card);
        frame.render_widget(block, card);
        let hint_area = Rect {
            y: card.bottom(),
            height: hint_rows,
            ..area
        };
        draw_lines(frame, hint_area, &hint);
        self.draw_inner(frame, inner, focus, now);
    }

    fn draw_inner(&mut self, frame: &mut Frame<'_>, inner: Rect, focus: Focus, now: UnixMillis) {
        let theme = self.theme;
        let (width, height) = (usize::from(inner.width), usize::from(inner.height));
        let bottom = self.bottom_lines(width, focus, now);
        let input = self.input_rows(width);
        let free = height.saturating_sub(bottom.len() + input);
        if free < QUESTION_ROWS_MIN {
            self.arming.out_of_view();
            let words = "The window is too small to read this question. Make it larger to answer.";
            draw_lines(frame, inner, &prose(words, width, theme.bad()));
            return;
        }
        let room = if free > 3 { free - 1 } else { free };
        let rows = self.question.rows(width);
        self.first = self.first.min(rows.saturating_sub(room));
        let mut lines = Vec::new();
        for number in self.first..rows.min(self.first + room) {
            let row = self.question.row(number, width).unwrap_or_default();
            lines.push(Line::from(row.trim_end().to_owned()));
        }
        if rows > self.first + room
            && let Some(last) = lines.last_mut()
        {
            *last = Line::from(Span::styled("⋯ PgDn for more", theme.waiting()));
        }
        draw_lines(frame, inner, &lines);
        let below = |from: usize, rows: usize| Rect {
            y: inner.y + u16::try_from(from).unwrap_or(0),
            height: u16::try_from(rows).unwrap_or(0),
            ..inner
        };
        draw_lines(
            frame,
            below(height - bottom.len() - input, bottom.len()),
            &bottom,
        );
        if input > 0 {
            draw_typed(
                frame,
                below(height - input, input),
                "❯ ",
                (&self.typed, focus),
                theme,
            );
        }
        self.arming.in_view(now);
    }

    fn bottom_lines(&self, width: usize, focus: Focus, now: UnixMillis) -> Vec<Line<'static>> {
        let theme = self.theme;
        let mut lines = Vec::new();
        if let Status::Over(words) = &self.status {
            return prose(words, width, theme.heading());
        }
        let is_armed = focus == Focus::Here && self.arming.may_answer(now);
        let style = if is_armed {
            theme.plain()
        } else {
            theme.quiet()
        };
        for (number, choice) in self.choices.iter().enumerate() {
            let is_selected = IsSelected::from(number == self.selected && !self.is_typing);
            lines.extend(choice_rows(
                Some(number + 1),
                choice,
                is_selected,
                style,
                theme,
                width,
            ));
        }
        if self.choices.is_empty() {
            lines.extend(prose(OPEN, width, theme.plain()));
        } else {
            let label = if self.is_typing { OTHER_OPEN } else { OTHER };
            let is_selected =
                IsSelected::from(self.selected == self.choices.len() || self.is_typing);
            let number = self.choices.len() + 1;
            lines.extend(choice_rows(
                Some(number),
                label,
                is_selected,
                style,
                theme,
                width,
            ));
        }
        let sent = self.is_sent.then_some("Sending your answer…");
        if let Some(words) = sent.or(self.notice.as_deref()) {
            lines.extend(prose(words, width, theme.waiting()));
        }
        lines
    }

    fn hint_lines(&self, width: usize, focus: Focus, now: UnixMillis) -> Vec<Line<'static>> {
        let left = self.expires_at.since(now);
        let left = self
            .is_waiting()
            .then(|| format!("open for {}", span(left)));
        let first = match focus {
            Focus::Elsewhere => "press Tab to answer",
            Focus::Beside => "press Enter to answer",
            Focus::Here if !self.is_waiting() => "Enter to close",
            Focus::Here if self.is_typing => "type your answer and press Enter",
            Focus::Here => HINT,
        };
        hint_rows(&[first, &left.unwrap_or_default()], width, self.theme)
    }
}

/// Returns how a question ended.
fn ended(question: &ClarificationView) -> String {
    let Some(answer) = answer_of(question).filter(|answer| answer.answered) else {
        return "Nobody answered in time; the agent was told so.".to_owned();
    };
    let by = named(answer.by.as_deref()).unwrap_or_else(|| "somebody".to_owned());
    match named(answer.text.as_deref()) {
        Some(text) => format!("Answered by {by}: {text}"),
        None => format!("Answered by {by}"),
    }
}

/// Returns how a question ended, from the event that tells of it.
fn resolved(told: &ClarifyResolved) -> String {
    match (named(told.by.as_deref()), named(told.via.as_deref())) {
        (Some(by), Some(via)) => format!("Answered by {by} via {via}"),
        (Some(by), None) => format!("Answered by {by}"),
        (None, _) => "Nobody answered in time; the agent was told so.".to_owned(),
    }
}

fn tag(what: &'static str, id: &str) -> Tag {
    Tag {
        what,
        id: id.to_owned(),
    }
}
