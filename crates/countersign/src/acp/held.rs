//! The questions that wait for an answer.
//!
//! One lock decides who answers a question: whoever takes it out of the table. So a question is
//! answered once, and never after its turn was cancelled.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use super::message::Id;
use super::permission::Answers;

/// Most questions that wait at once.
const HELD_MAX: usize = 256;

/// A question that waits.
#[derive(Debug)]
pub(super) struct Held {
    /// Its session.
    pub(super) session: String,
    /// How it can be answered.
    pub(super) options: Answers,
    /// Ends the waiting, when it is dropped.
    _stop: oneshot::Sender<()>,
}

/// Ends when nobody waits for the answer any more.
pub(super) type Stopped = oneshot::Receiver<()>;

/// The table of waiting questions.
#[derive(Debug, Default)]
pub(super) struct Table {
    held: Mutex<BTreeMap<Id, Held>>,
}

impl Table {
    /// Adds the question `id`; nothing if it waits already, or if too many do.
    pub(super) fn add(&self, id: Id, session: &str, options: Answers) -> Option<Stopped> {
        let (stop, stopped) = oneshot::channel();
        let mut held = self.lock();
        if held.len() >= HELD_MAX || held.contains_key(&id) {
            return None;
        }
        let session = session.to_owned();
        held.insert(
            id,
            Held {
                session,
                options,
                _stop: stop,
            },
        );
        Some(stopped)
    }

    /// Takes the question `id`, to answer it.
    pub(super) fn take(&self, id: &Id) -> Option<Held> {
        self.lock().remove(id)
    }

    /// Takes all questions of `session`, or all there are.
    pub(super) fn take_all(&self, session: Option<&str>) -> Vec<(Id, Held)> {
        let mut held = self.lock();
        let is_meant = |it: &Held| session.is_none_or(|session| it.session == session);
        held.extract_if(.., |_, it| is_meant(it)).collect()
    }

    /// Whether the question `id` waits.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.lock().contains_key(id)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Id, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
