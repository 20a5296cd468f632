//! The full-screen inbox: waiting cards, history, reviews and grants, live.
//!
//! A new card joins its list and moves nothing: neither the keys nor the selected row. Answers are
//! given on a card that has the keys (the panels), in a batch that was selected by hand, or not at
//! all.

mod ask;
mod batch;
mod cursor;
mod explain;
mod history;
mod hour;
mod keys;
mod load;
mod open;
mod paint;
mod rows;
mod shelf;
mod standing;
#[cfg(test)]
mod tests;
mod waiting;

use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use reqwest::Method;
use serde_json::Value;

use self::ask::Asking;
use self::batch::Batch;
use self::history::History;
use self::hour::LastHour;
use self::load::Loading;
use self::open::Open;
use self::shelf::Shelf;
use self::standing::{Grant, Override, Review};
use self::waiting::Waiting;
use super::screen::{News, Screen, Tag, Wish};
use super::theme::Theme;
use crate::words::sentence;

/// New cards this close together ring once.
const BURST_MILLIS: i64 = 5_000;

/// Whether a new card rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bell {
    /// Once per burst.
    Rings,
    /// Never.
    Silent,
}

/// What is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Waiting,
    History,
    Reviews,
    Grants,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Waiting, Self::History, Self::Reviews, Self::Grants];

    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::History => "History",
            Self::Reviews => "Reviews",
            Self::Grants => "Grants",
        }
    }

    fn step(self, by: isize) -> Self {
        let index = Self::ALL.iter().position(|tab| *tab == self).unwrap_or(0);
        let count = Self::ALL.len();
        let index = (index + count).saturating_add_signed(by) % count;
        Self::ALL.get(index).copied().unwrap_or_default()
    }
}

/// The inbox.
pub(crate) struct Inbox {
    theme: Theme,
    bell: Bell,
    /// Who is answering, in words.
    who: String,
    tab: Tab,
    waiting: Waiting,
    history: History,
    reviews: Shelf<Review>,
    grants: Shelf<Grant>,
    overrides: Vec<Override>,
    hour: LastHour,
    loading: Loading,
    /// Whether an agent has a key, once that is known.
    has_agent: Option<bool>,
    /// The card that is shown.
    open: Option<Open>,
    /// The card that is opened as soon as it is there, unless another key comes first.
    opening: Option<String>,
    /// Whether the details of a row of another tab have the keys, and how far they are scrolled.
    is_detail_open: bool,
    scrolled: usize,
    filter: String,
    asking: Asking,
    batch: Batch,
    /// Something said to the person, until the next key.
    said: Option<String>,
    /// Why the gateway is unreachable.
    away: Option<String>,
    last_new_at: Option<UnixMillis>,
    title: String,
    /// Rows of a list on the last frame: what a page is.
    page: usize,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Inbox").finish_non_exhaustive()
    }
}

impl Inbox {
    /// Returns an inbox that knows nothing yet. `who` is answering.
    pub(crate) fn new(theme: Theme, bell: Bell, who: String) -> Self {
        Self {
            theme,
            bell,
            who,
            tab: Tab::default(),
            waiting: Waiting::default(),
            history: History::default(),
            reviews: Shelf::default(),
            grants: Shelf::default(),
            overrides: Vec::new(),
            hour: LastHour::default(),
            loading: Loading::default(),
            has_agent: None,
            open: None,
            opening: None,
            is_detail_open: false,
            scrolled: 0,
            filter: String::new(),
            asking: Asking::Nothing,
            batch: Batch::default(),
            said: None,
            away: None,
            last_new_at: None,
            title: String::new(),
            page: 1,
        }
    }

    /// Names the window if the number has changed.
    fn retitle(&mut self, wishes: &mut Vec<Wish>) {
        let title = match (&self.away, self.waiting.count()) {
            (Some(_), _) => "countersign: gateway away".to_owned(),
            (None, 0) => "countersign".to_owned(),
            (None, count) => format!("({count}) countersign"),
        };
        if title != self.title {
            self.title.clone_from(&title);
            wishes.push(Wish::Title(title));
        }
    }

    /// Rings for a new card, once per burst.
    fn ring(&mut self, now: UnixMillis, wishes: &mut Vec<Wish>) {
        let last = self.last_new_at.replace(now);
        let is_burst = last.is_some_and(|last| now.since(last) < BURST_MILLIS);
        if self.bell == Bell::Rings && !is_burst {
            wishes.push(Wish::Bell);
        }
    }
}

impl Screen for Inbox {
    fn begin(&mut self, now: UnixMillis) -> Vec<Wish> {
        let path = "/v1/events".to_owned();
        let mut wishes = vec![Wish::Follow { path }];
        wishes.extend(self.load_all(now));
        self.retitle(&mut wishes);
        wishes
    }

    fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        let mut wishes = self.pressed(key, now);
        self.retitle(&mut wishes);
        wishes
    }

    fn pasted(&mut self, text: &str, now: UnixMillis) -> Vec<Wish> {
        let mut wishes = self.typed_in(text, now);
        self.retitle(&mut wishes);
        wishes
    }

    fn told(&mut self, news: News, now: UnixMillis) -> Vec<Wish> {
        let mut wishes = self.told_panel(&news);
        match news {
            News::Event(event) => self.happened(&event, now, &mut wishes),
            News::Answered { tag, answer } => wishes.extend(self.answered(&tag, &answer)),
            News::Unanswered { tag, why } => self.unanswered(&tag, &why),
            News::Unreadable { why } => self.said = Some(sentence(&why)),
            News::Away { why } => self.away = Some(why),
            News::Back => {
                self.away = None;
                wishes.extend(self.load_all(now));
            }
        }
        wishes.extend(self.load_missing());
        self.retitle(&mut wishes);
        wishes
    }

    fn draw(&mut self, frame: &mut Frame<'_>, now: UnixMillis) {
        self.paint(frame, now);
    }

    fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.changes(now)
    }
}

/// Returns the wish to ask for `path`.
fn get(what: &'static str, id: &str, path: String) -> Wish {
    let id = id.to_owned();
    Wish::Send {
        tag: Tag { what, id },
        method: Method::GET,
        path,
        body: None,
    }
}

/// Returns the wish to send `body` to `path`.
fn post(what: &'static str, id: &str, path: String, body: Value) -> Wish {
    let id = id.to_owned();
    Wish::Send {
        tag: Tag { what, id },
        method: Method::POST,
        path,
        body: Some(body),
    }
}
