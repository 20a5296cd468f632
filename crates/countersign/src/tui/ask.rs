//! One question of a run on the whole screen: the panel of the chat and the inbox, and nothing else.
//!
//! `countersign run` prints what the agent says as lines and shows this while a person is asked, so
//! that a card looks and is answered the same everywhere.

use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;

use super::chat::cards::Panel;
use super::keys::{Act, Place, act, is_press};
use super::panel::{Focus, Then};
use super::screen::{News, Screen, Wish};

/// A question that is put to the person at this terminal.
#[derive(Debug)]
pub(crate) struct Ask {
    panel: Panel,
    /// The events that say when it is settled elsewhere.
    events: String,
    left: Left,
}

/// Why the question is no longer on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It was answered, here or elsewhere, or its time is over.
    Settled,
    /// The person left it unanswered.
    Unanswered,
    /// The person wants the run to stop.
    Interrupted,
}

impl Ask {
    /// Shows `panel`; `events` is the path of the run's events.
    pub(crate) const fn new(panel: Panel, events: String) -> Self {
        let left = Left::Unanswered;
        Self {
            panel,
            events,
            left,
        }
    }

    /// Returns why it is no longer on the screen.
    pub(crate) const fn left(&self) -> Left {
        self.left
    }

    /// Leaves once the question is settled and can no longer be undone.
    fn settled(&mut self, mut wishes: Vec<Wish>, now: UnixMillis) -> Vec<Wish> {
        if !self.panel.is_waiting() && !self.panel.is_held(now) {
            self.left = Left::Settled;
            wishes.push(Wish::Leave);
        }
        wishes
    }
}

impl Screen for Ask {
    fn begin(&mut self, _now: UnixMillis) -> Vec<Wish> {
        let path = self.events.clone();
        vec![Wish::Follow { path }, Wish::Bell]
    }

    fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        if !is_press(key) {
            return Vec::new();
        }
        if act(Place::Chat, key) == Some(Act::Interrupt) {
            self.left = Left::Interrupted;
            return vec![Wish::Leave];
        }
        let reaction = self.panel.key(key, now);
        match reaction.then {
            Then::Stays => self.settled(reaction.wishes, now),
            Then::Leaves => vec![Wish::Leave],
            Then::NotMine => Vec::new(),
        }
    }

    fn pasted(&mut self, text: &str, now: UnixMillis) -> Vec<Wish> {
        self.panel.pasted(text, now);
        Vec::new()
    }

    fn told(&mut self, news: News, now: UnixMillis) -> Vec<Wish> {
        let wishes = self.panel.told(&news);
        self.settled(wishes, now)
    }

    fn draw(&mut self, frame: &mut Frame<'_>, now: UnixMillis) {
        let mut area = frame.area();
        let height = self.panel.height(area.width, Focus::Here, now);
        area.height = area.height.min(height.max(1));
        self.panel.draw(frame, area, Focus::Here, now);
    }

    fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.panel.changes_at(now)
    }
}
