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
    /// Its number.
    serial: u64,
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
    held: Mutex<Questions>,
}

#[derive(Debug, Default)]
struct Questions {
    by_id: BTreeMap<Id, Held>,
    /// How many there have been.
    count: u64,
}

/// A question that was added to the table. An id may be used again, this may not: an answer never goes to a
/// later question under the same id.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its number.
    pub(super) serial: u64,
    /// Ends when nobody waits for the answer any more.
    pub(super) stopped: Stopped,
}

impl Table {
    /// Adds the question `id`; nothing if it waits already, or if too many do.
    pub(super) fn add(&self, id: Id, session: &str, options: Answers) -> Option<Waiting> {
        let (stop, stopped) = oneshot::channel();
        let mut held = self.lock();
        if held.by_id.len() >= HELD_MAX || held.by_id.contains_key(&id) {
            return None;
        }
        let session = session.to_owned();
        held.count += 1;
        let serial = held.count;
        held.by_id.insert(
            id,
            Held {
                session,
                serial,
                options,
                _stop: stop,
            },
        );
        Some(Waiting { serial, stopped })
    }

    /// Takes the question `id`, to answer it, if it is still the one with this number.
    pub(super) fn take_same(&self, id: &Id, serial: u64) -> Option<Held> {
        let mut held = self.lock();
        let is_same = held.by_id.get(id).is_some_and(|it| it.serial == serial);
        is_same.then(|| held.by_id.remove(id)).flatten()
    }

    /// Takes the question `id`, which is over, whichever it is.
    pub(super) fn take(&self, id: &Id) -> Option<Held> {
        self.lock().by_id.remove(id)
    }

    /// Takes all questions of `session`, or all there are.
    pub(super) fn take_all(&self, session: Option<&str>) -> Vec<(Id, Held)> {
        let mut held = self.lock();
        let is_meant = |it: &Held| session.is_none_or(|session| it.session == session);
        held.by_id.extract_if(.., |_, it| is_meant(it)).collect()
    }

    /// Whether the question `id` waits.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.lock().by_id.contains_key(id)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Questions> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
