//! Calls that wait for an answer, and how they are woken.
//!
//! Waiting is only a hint: whoever wakes looks at the store again, because the store is the truth
//! and another replica may have changed it. What must not happen is a wake that falls between
//! looking and waiting; so a waiter enrols before it looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Everyone who waits, by the id of what they wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    by_id: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

/// One waiter. It must be made before the state is looked at.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: Waiting,
    id: String,
    notify: Arc<Notify>,
}

impl Waiting {
    /// Enrols a waiter for `id`.
    pub(crate) fn enrol(&self, id: &str) -> Waiter {
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        let notify = by_id.entry(id.to_owned()).or_default();
        Waiter {
            waiting: self.clone(),
            id: id.to_owned(),
            notify: Arc::clone(notify),
        }
    }

    /// Wakes everyone who waits for `id`.
    pub(crate) fn wake(&self, id: &str) {
        let by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = by_id.get(id) {
            notify.notify_waiters();
        }
    }

    /// Returns how many things are waited for.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        by_id.len()
    }
}

impl Waiter {
    /// Returns a future that ends at the next wake. A wake after this call is not missed, even if
    /// the future has not been polled yet.
    pub(crate) fn woken(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut by_id = self
            .waiting
            .by_id
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // The map's own reference and this waiter's: nobody else waits.
        if Arc::strong_count(&self.notify) <= 2 {
            by_id.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wake_between_enrolling_and_waiting_is_not_missed() {
        let waiting = Waiting::default();
        let waiter = waiting.enrol("appr_1");
        let woken = waiter.woken();
        waiting.wake("appr_1");
        woken.await;
    }

    #[tokio::test]
    async fn nothing_is_left_when_the_last_waiter_goes() {
        let waiting = Waiting::default();
        let first = waiting.enrol("appr_1");
        let second = waiting.enrol("appr_1");
        drop(first);
        assert_eq!(waiting.len(), 1);
        drop(second);
        assert_eq!(waiting.len(), 0);
    }
}
