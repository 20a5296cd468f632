//! The live end of the ledger: the last visible number, and the entries just before it.
//!
//! Readers keep a number of their own and ask for what stands behind it; how fast they read is
//! their business, so nothing is buffered per reader and nothing is lost to a slow one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::ledger::Entry;
use tokio::sync::watch;

/// Entries that are kept in memory.
const RECENT_MAX: usize = 4096;

/// The live end of the ledger.
#[derive(Clone, Debug)]
pub struct Tail {
    recent: Arc<Mutex<VecDeque<Arc<Entry>>>>,
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
        let last = *self.last.borrow();
        if after >= last {
            return Some(Vec::new());
        }
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let first = recent.front()?.seq;
        if after + 1 < first {
            return None;
        }
        let skip = usize::try_from(after + 1 - first).ok()?;
        Some(recent.iter().skip(skip).take(limit).cloned().collect())
    }

    /// Makes `entries` visible. They must follow each other; what is visible already is skipped,
    /// and a gap is refused: the caller reads the database instead.
    pub(crate) fn publish(&self, entries: &[Entry]) -> Result<(), Gap> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = *self.last.borrow();
        for entry in entries {
            if entry.seq <= last {
                continue;
            }
            if entry.seq != last + 1 {
                return Err(Gap);
            }
            if recent.len() >= RECENT_MAX {
                recent.pop_front();
            }
            recent.push_back(Arc::new(entry.clone()));
            last = entry.seq;
        }
        drop(recent);
        self.last.send_if_modified(|visible| {
            let grows = last > *visible;
            *visible = last.max(*visible);
            grows
        });
        Ok(())
    }
}

/// Entries are missing between what is visible and what was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap;
