//! Messages typed while a run is under way: shown above the prompt, sent one after the other when the
//! agent is idle, and taken back with ↑; or sent into the run, which the agent reads before its next
//! step.

use std::collections::VecDeque;

use countersign_core::time::UnixMillis;
use ratatui::text::{Line, Span};
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Attention, Chat, STEER, Work, send};
use crate::client::{Answer, segment};
use crate::tui::screen::Wish;
use crate::tui::theme::Theme;
use crate::tui::wrap::cut;
use crate::words::refusal;

/// Most messages that wait.
const QUEUED_MAX: usize = 20;
/// Most of them that are shown.
const SHOWN_MAX: usize = 3;

/// What waits to be said.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    messages: VecDeque<String>,
    /// What was sent into the run and not read yet, the oldest first.
    steering: VecDeque<String>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns a row for each of the first, and how many more there are.
    pub(super) fn lines(&self, width: usize, theme: Theme) -> Vec<Line<'static>> {
        let row = |words: String| Line::from(Span::styled(cut(&words, width), theme.quiet()));
        let rows = |messages: &VecDeque<String>, state: &str| -> Vec<Line<'static>> {
            let first = messages.iter().take(SHOWN_MAX);
            first
                .map(|text| {
                    let text = countersign_core::display::line(&text.replace('\n', " "));
                    row(format!("  {state}: {text}"))
                })
                .collect()
        };
        let mut lines = rows(&self.steering, "sent, not read yet");
        lines.extend(rows(&self.messages, "queued"));
        let more = self.messages.len().saturating_sub(SHOWN_MAX);
        if more > 0 {
            lines.push(row(format!("  and {more} more queued")));
        }
        lines
    }
}

impl Chat {
    /// Keeps what was typed until the agent is idle.
    pub(super) fn enqueue(&mut self) {
        if self.queue.messages.len() >= QUEUED_MAX {
            self.transcript
                .note("Too many messages are queued; what you typed stays here.");
            return;
        }
        let text = self.input.take();
        self.said.add(&text);
        self.queue.messages.push_back(text);
        // Whoever writes goes on writing: the empty prompt must not hand the next key to a card.
        if self.cards.shown().is_some() {
            self.focus = Attention::Prompt;
        }
    }

    /// Puts the last queued message back into the empty prompt. Returns whether there was one.
    pub(super) fn take_back_queued(&mut self) -> bool {
        if !self.input.is_empty() {
            return false;
        }
        let Some(text) = self.queue.messages.pop_back() else {
            return false;
        };
        self.input.set(&text);
        true
    }

    /// Says the next queued message to the idle agent.
    pub(super) fn say_queued(&mut self) -> Vec<Wish> {
        if self.work != Work::Rests {
            return Vec::new();
        }
        match self.queue.messages.pop_front() {
            Some(text) => self.begin_run(&text),
            None => Vec::new(),
        }
    }

    /// Sends what is typed into the run, or else the first queued message. Where nothing runs it is
    /// an ordinary message.
    pub(super) fn steer_typed(&mut self, now: UnixMillis) -> Vec<Wish> {
        let typed = self.input.text();
        let is_command = typed.trim_start().starts_with('/') && !typed.contains('\n');
        if self.work == Work::Rests || is_command {
            return self.submit(now);
        }
        if !self.can_steer() {
            return Vec::new();
        }
        if typed.trim().is_empty() {
            let first = self.queue.messages.pop_front();
            return first.map_or_else(Vec::new, |text| self.steer(text));
        }
        let text = self.input.take();
        self.said.add(&text);
        if self.cards.shown().is_some() {
            self.focus = Attention::Prompt;
        }
        self.steer(text)
    }

    /// Says `text` to the agent: into its run, or as a message if nothing runs.
    pub(super) fn tell(&mut self, text: String) -> Vec<Wish> {
        if self.work == Work::Rests {
            return self.begin_run(&text);
        }
        if self.can_steer() {
            return self.steer(text);
        }
        self.give_back([text]);
        Vec::new()
    }

    /// Whether a run is under way that can be told something; if not, says so.
    fn can_steer(&mut self) -> bool {
        let can = matches!(
            self.work,
            Work::Runs {
                is_stopping: false,
                ..
            }
        );
        if !can {
            let words =
                "The agent is starting or stopping; nothing was sent. Try again in a moment.";
            self.transcript.note(words);
        }
        can
    }

    fn steer(&mut self, text: String) -> Vec<Wish> {
        let Work::Runs { run, .. } = &self.work else {
            return Vec::new();
        };
        let path = format!("/v1/runs/{}/steer", segment(run));
        let body = json!({ "input": text });
        let wish = send(STEER, &text, Method::POST, path, Some(body));
        self.queue.steering.push_back(text);
        vec![wish]
    }

    /// Takes whether `text` reached the run.
    pub(super) fn steer_answered(&mut self, text: &str, answer: &Answer) -> Vec<Wish> {
        if answer.is_success() || !self.forget_steering(text) {
            return Vec::new();
        }
        if answer.status() == StatusCode::CONFLICT {
            // The run came to its end meanwhile: it is the next message.
            self.queue.messages.push_front(text.to_owned());
            return self.say_queued();
        }
        self.transcript.trouble(refusal(answer));
        self.give_back([text.to_owned()]);
        Vec::new()
    }

    pub(super) fn steer_unanswered(&mut self, text: &str, why: &str) {
        if self.forget_steering(text) {
            let words = "Whether the agent was told is not known";
            self.transcript.trouble(format!("{words}: {why}."));
            self.give_back([text.to_owned()]);
        }
    }

    fn forget_steering(&mut self, text: &str) -> bool {
        let steering = &mut self.queue.steering;
        let place = steering.iter().position(|it| it == text);
        place.and_then(|place| steering.remove(place)).is_some()
    }

    /// The agent read the oldest of what was sent into the run.
    pub(super) fn steered(&mut self, messages: u32) {
        for _ in 0..messages {
            match self.queue.steering.pop_front() {
                Some(text) => self.transcript.person(&text),
                None => self
                    .transcript
                    .note("The agent read a message that you sent from elsewhere."),
            }
        }
    }

    /// Puts `messages` before what is typed.
    fn give_back(&mut self, messages: impl IntoIterator<Item = String>) {
        let mut messages: Vec<String> = messages.into_iter().collect();
        let typed = self.input.take();
        messages.extend((!typed.trim().is_empty()).then_some(typed));
        self.input.set(&messages.join("\n"));
    }

    /// Gives everything that is queued or unread back to the prompt: the run did not end as whoever
    /// typed it expected, so nothing more is said without a look.
    pub(super) fn return_queued(&mut self) {
        let unread = self.queue.steering.drain(..);
        let messages: Vec<String> = unread.chain(self.queue.messages.drain(..)).collect();
        if messages.is_empty() {
            return;
        }
        self.give_back(messages);
        self.transcript
            .note("Queued and unread messages are in the prompt again.");
    }
}
