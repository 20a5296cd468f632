//! Messages typed while a run is under way: shown above the prompt, sent one after the other when the
//! agent is idle, and taken back with ↑.

use std::collections::VecDeque;

use ratatui::text::{Line, Span};

use super::{Attention, Chat, Work};
use crate::tui::screen::Wish;
use crate::tui::theme::Theme;
use crate::tui::wrap::cut;

/// Most messages that wait.
const QUEUED_MAX: usize = 20;
/// Most of them that are shown.
const SHOWN_MAX: usize = 3;

/// What waits to be said.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    messages: VecDeque<String>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns a row for each of the first, and how many more there are.
    pub(super) fn lines(&self, width: usize, theme: Theme) -> Vec<Line<'static>> {
        let row = |words: String| Line::from(Span::styled(cut(&words, width), theme.quiet()));
        let first = self.messages.iter().take(SHOWN_MAX);
        let mut lines: Vec<Line<'static>> = first
            .map(|text| {
                let text = countersign_core::display::line(&text.replace('\n', " "));
                row(format!("  queued: {text}"))
            })
            .collect();
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

    /// Gives everything that is queued back to the prompt: the run did not end as whoever typed it
    /// expected, so nothing more is said without a look.
    pub(super) fn return_queued(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let mut messages: Vec<String> = self.queue.messages.drain(..).collect();
        let typed = self.input.take();
        messages.extend((!typed.trim().is_empty()).then_some(typed));
        self.input.set(&messages.join("\n"));
        self.transcript
            .note("What was queued is in the prompt again; it was not sent.");
    }
}
