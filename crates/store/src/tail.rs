//! The tail of the ledger: the newest visible number and the entries just before it.
//!
//! Readers keep a number of their own and ask for what stands behind it; how fast they read is
//! their business, so nothing is buffered per reader and nothing is lost to a slow one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::ledger::Entry;
use tokio::sync::watch;

/// Entries that are kept in memory.
const RECENT_MAX: usize = 4096;

/// Bytes of their bodies.
const RECENT_BYTES_MAX: usize = 16 << 20;

/// The live end of the ledger.
#[derive(Clone, Debug)]
pub struct Tail {
    recent: Arc<Mutex<Recent>>,
    last: watch::Sender<u64>,
}

impl Tail {
    /// Returns a tail that begins behind entry number `last`.
    pub(crate) fn behind(last: u64) -> Self {
        Self {
            recent: Arc::default(),
            last: watch::Sender::new(last),
        }
    }

    /// Returns the number of the last visible entry, and wakes when it grows.
    pub fn last(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Returns at most `limit` entries behind number `after` if memory has all of them; `None` if
    /// the database must be asked.
    pub fn recent(&self, after: u64, limit: usize) -> Option<Vec<Arc<Entry>>> {
        if after >= self.last_now() {
            return Some(Vec::new());
        }
        let recent = self.recent_entries();
        let first = recent.entries.front()?.seq;
        let skip = usize::try_from((after + 1).checked_sub(first)?).ok()?;
        Some(
            recent
                .entries
                .iter()
                .skip(skip)
                .take(limit)
                .cloned()
                .collect(),
        )
    }

    /// Returns the number of the last visible entry.
    pub(crate) fn last_now(&self) -> u64 {
        *self.last.borrow()
    }

    /// Makes `entries` visible. They must follow each other; what is visible already is skipped,
    /// and behind a gap nothing is taken: the caller reads the database instead.
    pub(crate) fn publish(&self, entries: impl IntoIterator<Item = Arc<Entry>>) -> Result<(), Gap> {
        // Held until the number is out, so that of two who publish the second sees the first.
        let mut recent = self.recent_entries();
        let mut last = self.last_now();
        let mut outcome = Ok(());
        for entry in entries {
            if entry.seq <= last {
                continue;
            }
            if entry.seq != last + 1 {
                outcome = Err(Gap);
                break;
            }
            last = entry.seq;
            recent.push(entry);
        }
        self.last.send_if_modified(|visible| {
            let grows = last > *visible;
            *visible = last;
            grows
        });
        outcome
    }

    fn recent_entries(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Recent {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

impl Recent {
    fn push(&mut self, entry: Arc<Entry>) {
        self.bytes += entry.draft.body.len();
        self.entries.push_back(entry);
        while self.entries.len() > RECENT_MAX || self.bytes > RECENT_BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.draft.body.len();
        }
    }
}

/// Entries are missing between what is visible and what was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap;
