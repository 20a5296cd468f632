//! What the gate remembers between calls so that an allowed call needs no reading from disk.
//!
//! Nothing here is the truth. A grant from this memory is used by compare-and-set on its record, so
//! one that was revoked elsewhere cannot be used; what other replicas did arrives through the
//! ledger.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::approval::State;
use countersign_core::digest::Digest;
use countersign_core::grant::Grant;
use countersign_core::ledger::Draft;
use countersign_core::time::UnixMillis;
use serde::Deserialize;

use crate::stored::StoredApproval;

/// Denials that are remembered; the oldest go first.
const DENIALS_MAX: usize = 10_000;
/// Askers that may be in the middle of asking at once without waiting for each other.
const LANES: usize = 64;

/// How long a count of questions is believed; other replicas ask, too.
const TALLY_BELIEVED: Duration = Duration::from_secs(1);

/// A denial, as the next asker is told it.
#[derive(Clone, Debug)]
pub(crate) struct Denial {
    pub(crate) by: String,
    pub(crate) note: Option<String>,
    pub(crate) at: UnixMillis,
}

/// How many questions wait, at most: counted once, and what was asked here since.
#[derive(Clone, Copy, Debug)]
struct Tally {
    at_most: u64,
    counted: Instant,
}

/// A grant with the version of its record.
pub(crate) type VersionedGrant = (Grant, u64);

/// What the gate remembers.
#[derive(Debug)]
pub(crate) struct Moment {
    denials: Mutex<HashMap<(String, String, Digest), Denial>>,
    looked_at: AtomicI64,
    tally: Mutex<Option<Tally>>,
    lanes: Vec<tokio::sync::Mutex<()>>,
}

impl Default for Moment {
    fn default() -> Self {
        Self {
            denials: Mutex::default(),
            looked_at: AtomicI64::new(i64::MIN),
            tally: Mutex::default(),
            lanes: (0..LANES).map(|_| tokio::sync::Mutex::default()).collect(),
        }
    }
}

impl Moment {
    /// Notes a denial, so that the same call is not asked about again at once.
    pub(crate) fn remember_denial(&self, stored: &StoredApproval) {
        let State::Denied { answer } = &stored.approval.state else {
            return;
        };
        let key = (
            stored.call.key.0.clone(),
            stored.call.session.clone(),
            stored.call.digest,
        );
        let denial = Denial {
            by: answer.by.clone(),
            note: answer.note.clone(),
            at: answer.at,
        };
        self.insert_denial(key, denial);
    }

    /// Notes a denial that the ledger tells of: it was given on another replica.
    pub(crate) fn remember_denial_told(&self, draft: &Draft) {
        #[derive(Deserialize)]
        struct Resolved {
            outcome: String,
            digest: Digest,
            by: Option<String>,
            note: Option<String>,
        }
        let Ok(resolved) = serde_json::from_str::<Resolved>(&draft.body) else {
            return;
        };
        if resolved.outcome == "denied" {
            let key = (draft.owner.clone(), draft.session.clone(), resolved.digest);
            let denial = Denial {
                by: resolved.by.unwrap_or_default(),
                note: resolved.note,
                at: draft.at,
            };
            self.insert_denial(key, denial);
        }
    }

    fn insert_denial(&self, key: (String, String, Digest), denial: Denial) {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        if denials.len() >= DENIALS_MAX
            && let Some(oldest) = denials
                .iter()
                .min_by_key(|(_, denial)| denial.at)
                .map(|(key, _)| key.clone())
        {
            denials.remove(&oldest);
        }
        denials.insert(key, denial);
    }

    /// Returns the denial of the same call at or after `since`.
    pub(crate) fn denial(
        &self,
        key: &str,
        session: &str,
        digest: Digest,
        since: UnixMillis,
    ) -> Option<Denial> {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        if denials.is_empty() {
            return None;
        }
        let key = (key.to_owned(), session.to_owned(), digest);
        let denial = denials.get(&key)?.clone();
        if denial.at <= since {
            denials.remove(&key);
            return None;
        }
        Some(denial)
    }

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
        let moment = Moment::default();
        assert!(!moment.takes_place(3), "nobody has counted");
        moment.counted(1);
        assert!(moment.takes_place(3));
        assert!(moment.takes_place(3));
        assert!(!moment.takes_place(3), "it has to be counted again");
        moment.counted(2);
        assert!(moment.takes_place(3), "somebody was answered meanwhile");
    }
}
