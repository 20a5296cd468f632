//! Registers waiting calls and wakes them when their approval changes.
//!
//! Waiting is only a hint: whoever wakes looks at the store again, because the store is the truth
//! and another replica may have changed it. What must not happen is a wake that falls between
//! looking and waiting; so a waiter enrols before it looks.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::sync::{Arc, Instant, Mutex, PoisonError, sleep};

/// While somebody waits, the store is looked at this often even if nobody wakes them. What another
/// replica answers comes through the ledger, which the store follows without hints, too; this is for
/// the day that fails, and thousands may wait.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Everyone who waits, by the id of what they wait for.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    by_id: Arc<Mutex<HashMap<String, Enrolled>>>,
}

/// Those who wait for one thing.
#[derive(Default)]
struct Enrolled {
    notify: Arc<Notify>,
    /// Counted, because the last one takes the entry away.
    waiters: usize,
}

/// One waiter. It must be made before the state is looked at.
pub(crate) struct Waiter {
    waiting: Waiting,
    id: String,
    notify: Arc<Notify>,
}

/// The observed state of the awaited object.
pub(crate) enum Look<T> {
    /// There is nothing more to wait for.
    Settled(T),
    /// It waits; time will change it after this long.
    Waits(T, Duration),
}

impl Waiting {
    /// Looks at `id` until it is settled, for at most `wait`, and returns what was seen last.
    pub(crate) async fn until_settled<T, E, F>(
        &self,
        id: &str,
        wait: Duration,
        mut look: impl FnMut() -> F,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<Look<T>, E>>,
    {
        let deadline = Instant::now() + wait;
        let waiter = self.enrol(id);
        loop {
            // Before looking: a wake after this line is not missed.
            let woken = waiter.woken();
            let (seen, until_due) = match look().await? {
                Look::Settled(seen) => return Ok(seen),
                Look::Waits(seen, until_due) => (seen, until_due),
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(seen);
            }
            tokio::select! {
                biased;
                () = woken => {}
                () = sleep(left.min(until_due).min(LOOK_EVERY)) => {}
            }
        }
    }

    /// Enrols a waiter for `id`.
    pub(crate) fn enrol(&self, id: &str) -> Waiter {
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        let enrolled = by_id.entry(id.to_owned()).or_default();
        enrolled.waiters += 1;
        Waiter {
            waiting: self.clone(),
            id: id.to_owned(),
            notify: Arc::clone(&enrolled.notify),
        }
    }

    /// Wakes everyone who waits for `id`.
    pub(crate) fn wake(&self, id: &str) {
        let by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(enrolled) = by_id.get(id) {
            enrolled.notify.notify_waiters();
        }
    }

    /// Returns how many things are waited for.
    pub(crate) fn len(&self) -> usize {
        let by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        by_id.len()
    }
}

impl Waiter {
    /// Returns a future that ends at the next wake. A wake after this call is not missed, even if
    /// the future has not been polled yet.
    pub(crate) fn woken(&self) -> Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let by_id = &self.waiting.by_id;
        let mut by_id = by_id.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(enrolled) = by_id.get_mut(&self.id) {
            enrolled.waiters -= 1;
            if enrolled.waiters == 0 {
                by_id.remove(&self.id);
            }
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("waited_for", &self.len())
            .finish()
    }
}
