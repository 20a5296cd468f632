//! One request while it is decided about: whether the client still wants it, and how it is told that
//! it waits.
//!
//! Separate because this is the race between a cancellation and the dispatch: exactly one of the two
//! happens.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::{Notify, mpsc};

const HELD: u8 = 0;
const CANCELLED: u8 = 1;
const DISPATCHED: u8 = 2;

/// A request that is held.
#[derive(Debug)]
pub(crate) struct Hold {
    state: AtomicU8,
    changed: Notify,
    told: mpsc::Sender<Vec<u8>>,
}

impl Hold {
    /// Returns a request that is held; its client reads what comes out of the other end of `told`.
    pub(crate) fn new(told: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            state: AtomicU8::new(HELD),
            changed: Notify::new(),
            told,
        }
    }

    /// The client takes it back. Whether it will never be dispatched; if not, it was already.
    pub(crate) fn cancel(&self) -> bool {
        let was = self.moved(CANCELLED);
        self.changed.notify_waiters();
        was != DISPATCHED
    }

    /// It is about to be sent to the server. `false`: the client took it back, and nothing is sent.
    pub(crate) fn dispatch(&self) -> bool {
        self.moved(DISPATCHED) == HELD
    }

    /// Moves on from being held, and returns the state before.
    fn moved(&self, to: u8) -> u8 {
        let moved = self
            .state
            .compare_exchange(HELD, to, Ordering::SeqCst, Ordering::SeqCst);
        moved.unwrap_or_else(|was| was)
    }

    /// Whether the client has taken it back.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::SeqCst) == CANCELLED
    }

    /// Waits until the client takes it back.
    pub(super) async fn cancelled(&self) {
        loop {
            let changed = self.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }

    /// Tells the client something meanwhile. A client that is gone, or does not read, is told nothing.
    pub(super) fn tell(&self, message: Vec<u8>) {
        let _gone_or_full = self.told.try_send(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_cancelled_or_dispatched_and_never_both() {
        for cancel_first in [true, false] {
            let (told, _heard) = mpsc::channel(1);
            let hold = Hold::new(told);
            if cancel_first {
                assert!(hold.cancel() && !hold.dispatch() && hold.is_cancelled());
            } else {
                assert!(hold.dispatch() && !hold.cancel() && !hold.is_cancelled());
            }
        }
    }
}
