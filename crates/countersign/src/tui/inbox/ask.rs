//! Prompts of the inbox: a filter, a note, a confirmation.

use countersign_core::time::UnixMillis;
use ratatui::crossterm::event::KeyEvent;
use ratatui::text::Line;

use crate::tui::arming::Arming;
use crate::tui::input::{Input, Lines};
use crate::tui::keys::{Act, Place, act};
use crate::tui::panel::{HINT, IsSelected, choice_rows, prose};
use crate::tui::theme::Theme;

/// Longest line that is typed, in bytes.
const LINE_BYTES_MAX: usize = 4096;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) enum Asking {
    /// Nothing: keys go to the list.
    Nothing,
    /// Words to filter by.
    Filter(Input),
    /// The note for the agents whose calls are denied.
    Note { note: Input, ids: Vec<String> },
    /// Whether it is meant.
    Sure(Sure),
    /// Nothing: the keys are listed.
    Keys,
}

/// Returns an empty line.
pub(super) const fn line() -> Input {
    Input::new(Lines::One, LINE_BYTES_MAX)
}

/// The action after confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Allow these once.
    Allow(Vec<String>),
    /// Take a permission back.
    Revoke(String),
    /// Lift a denial.
    Lift(String),
    /// Undo what ran.
    Undo(String),
}

/// A question with two answers. It starts on the one that changes nothing.
#[derive(Clone, Debug)]
pub(super) struct Sure {
    question: String,
    yes: String,
    no: &'static str,
    deed: Deed,
    selected: usize,
    arming: Arming,
}

/// The result of a key press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing yet.
    Nothing,
    /// It came too soon to be meant.
    TooSoon,
    /// Do it.
    Yes(Deed),
    /// Leave it.
    No,
}

impl Sure {
    pub(super) fn new(question: String, yes: String, no: &'static str, deed: Deed) -> Self {
        Self {
            question,
            yes,
            no,
            deed,
            selected: 1,
            arming: Arming::default(),
        }
    }

    /// Takes a key. What changes nothing may be said at any time.
    pub(super) fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Said {
        let may_answer = self.arming.key(now);
        match act(Place::Card, key) {
            Some(Act::Number(1)) => self.yes(may_answer),
            Some(Act::Confirm) if self.selected == 0 => self.yes(may_answer),
            Some(Act::Number(2) | Act::Confirm | Act::Leave) => Said::No,
            Some(Act::Up) => {
                self.selected = 0;
                Said::Nothing
            }
            Some(Act::Down) => {
                self.selected = 1;
                Said::Nothing
            }
            Some(_) | None => Said::Nothing,
        }
    }

    fn yes(&self, may_answer: bool) -> Said {
        if may_answer {
            Said::Yes(self.deed.clone())
        } else {
            Said::TooSoon
        }
    }

    /// It is not drawn, or not all of it.
    pub(super) const fn out_of_view(&mut self) {
        self.arming.out_of_view();
    }

    /// Something was pasted, which is no answer.
    pub(super) const fn pasted(&mut self, now: UnixMillis) {
        self.arming.typed(now);
    }

    /// Returns its rows, and notes that it is in view.
    pub(super) fn lines(
        &mut self,
        width: usize,
        theme: Theme,
        now: UnixMillis,
    ) -> Vec<Line<'static>> {
        self.arming.in_view(now);
        let style = if self.arming.may_answer(now) {
            theme.plain()
        } else {
            theme.quiet()
        };
        let mut lines = prose(&self.question, width, theme.heading());
        for (number, label) in [self.yes.as_str(), self.no].into_iter().enumerate() {
            let is_selected = IsSelected::from(number == self.selected);
            lines.extend(choice_rows(
                Some(number + 1),
                label,
                is_selected,
                style,
                theme,
                width,
            ));
        }
        lines.extend(prose(HINT, width, theme.quiet()));
        lines
    }

    /// Returns when it looks different.
    pub(super) fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.arming.armed_at(now)
    }
}
