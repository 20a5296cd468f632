//! Caches what an allowed call needs, so that it reads nothing from disk.
//!
//! Nothing here is the truth. A grant from this memory is used by compare-and-set on its record, so
//! one that was revoked elsewhere cannot be used; what other replicas did arrives through the
//! ledger.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::time::UnixMillis;

use crate::approvals::quota::Quota;

/// Askers that may be in the middle of asking at once without waiting for each other.
const LANES: usize = 64;

/// How long a count of questions is believed; other replicas ask, too.
const TALLY_BELIEVED: Duration = Duration::from_secs(1);

/// How many questions wait, at most: counted once, and what was asked here since.
#[derive(Clone, Copy, Debug)]
struct Tally {
    at_most: u64,
    counted: Instant,
}

/// The state of the gate in memory.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) quota: Quota,
    looked_at: AtomicI64,
    tally: Mutex<Option<Tally>>,
    lanes: Vec<tokio::sync::Mutex<()>>,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            quota: Quota::default(),
            looked_at: AtomicI64::new(i64::MIN),
            tally: Mutex::default(),
            lanes: (0..LANES).map(|_| tokio::sync::Mutex::default()).collect(),
        }
    }
}

impl Admission {
    /// Notes that somebody who can answer is looking.
    pub(crate) fn looked(&self, now: UnixMillis) {
        self.looked_at.fetch_max(now.0, Ordering::Relaxed);
    }

    /// Whether somebody who can answer has looked at or after `since`.
    pub(crate) fn was_looked_at(&self, since: UnixMillis) -> bool {
        self.looked_at.load(Ordering::Relaxed) >= since.0
    }

    /// Takes a place among the `most` questions that may wait, if there is one for sure; false if
    /// they have to be counted first.
    pub(crate) fn takes_place(&self, most: u64) -> bool {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match tally.as_mut() {
            Some(tally) if tally.at_most < most && tally.counted.elapsed() < TALLY_BELIEVED => {
                tally.at_most += 1;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Notes how many questions wait.
    pub(crate) fn counted(&self, waiting: u64) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally = Some(Tally {
            at_most: waiting,
            counted: Instant::now(),
        });
    }

    /// Returns the lane in which the calls of `key` are asked about one after the other, so that
    /// equal calls find each other and limits are exact.
    pub(crate) async fn lane(&self, key: &str) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let sum = key
            .bytes()
            .fold(0usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
        match self.lanes.get(sum % LANES) {
            Some(lane) => Some(lane.lock().await),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_out_only_as_far_as_the_last_count_is_sure_of_them() {
        let moment = Admission::default();
        assert!(!moment.takes_place(3), "nobody has counted");
        moment.counted(1);
        assert!(moment.takes_place(3));
        assert!(moment.takes_place(3));
        assert!(!moment.takes_place(3), "it has to be counted again");
        moment.counted(2);
        assert!(moment.takes_place(3), "somebody was answered meanwhile");
    }
}
