//! `Screen`: keys and events in, requests out, drawable at any time. It does no I/O; the event loop
//! does.

use countersign_core::time::UnixMillis;
use countersign_gate::records::event::Event;
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use reqwest::Method;
use serde_json::Value;

use crate::client::Answer;

/// A full-screen program.
pub(crate) trait Screen {
    /// What is wanted before the first key.
    fn begin(&mut self, now: UnixMillis) -> Vec<Wish>;

    /// Takes a key.
    fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Vec<Wish>;

    /// Takes text that was pasted. It is never an answer.
    fn pasted(&mut self, text: &str, now: UnixMillis) -> Vec<Wish>;

    /// Takes news.
    fn told(&mut self, news: News, now: UnixMillis) -> Vec<Wish>;

    /// Draws it as it is.
    fn draw(&mut self, frame: &mut Frame<'_>, now: UnixMillis);

    /// When it must be drawn again although nothing happens: a countdown, a spinner. `None`: not
    /// before something does.
    fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis>;
}

/// Names a request, so that its answer finds back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// What was asked for.
    pub(crate) what: &'static str,
    /// About which thing.
    pub(crate) id: String,
}

/// What a program wants done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wish {
    /// Send a request; what comes of it is news.
    Send {
        tag: Tag,
        method: Method,
        path: String,
        body: Option<Value>,
    },
    /// Follow the events of a path, and no others.
    Follow { path: String },
    /// Name the terminal's window.
    Title(String),
    /// Ring once.
    Bell,
    /// End the program.
    Leave,
}

/// What a program is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum News {
    /// A request was answered.
    Answered { tag: Tag, answer: Answer },
    /// A request could not be sent, or nothing came back. Whether it was carried out is not known.
    Unanswered { tag: Tag, why: String },
    /// Something happened.
    Event(Box<Event>),
    /// Something happened, but the gateway's event cannot be read.
    Unreadable { why: String },
    /// The gateway went away; events stop.
    Away { why: String },
    /// It is back, and events go on from where they stopped.
    Back,
}
