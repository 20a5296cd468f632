//! The gate's clock. It never goes back, even if the machine's clock does.
//!
//! A clock that is set back must not revive what has ended, and one that stands wrong for a while
//! must not stop everything for good. So the gate's time is the machine's, or the last time it has
//! seen plus what the monotonic clock says has passed since, whichever is later. What other
//! machines compare with their own clocks (the times in a token) is the machine's own time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_core::time::UnixMillis;

/// A clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    System(Mutex<Anchor>),
    Manual { gate: AtomicI64, machine: AtomicI64 },
}

#[derive(Debug)]
struct Anchor {
    seen: i64,
    at: Instant,
}

impl Clock {
    /// Returns the machine's clock, which has already seen `seen`.
    pub fn system(seen: UnixMillis) -> Self {
        Self(Arc::new(Kind::System(Mutex::new(Anchor {
            seen: seen.0.max(machine_millis()),
            at: Instant::now(),
        }))))
    }

    /// Returns a clock that moves only when it is told to.
    pub fn manual(now: UnixMillis) -> Self {
        Self(Arc::new(Kind::Manual {
            gate: AtomicI64::new(now.0),
            machine: AtomicI64::new(now.0),
        }))
    }

    /// Returns the gate's time.
    pub fn now(&self) -> UnixMillis {
        match &*self.0 {
            Kind::System(anchor) => {
                let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                let passed = i64::try_from(anchor.at.elapsed().as_millis()).unwrap_or(i64::MAX);
                let reckoned = anchor.seen.saturating_add(passed);
                let machine = machine_millis();
                // The anchor moves only forward with the machine: moving it at every reading would
                // lose the part of a millisecond each time.
                if machine > reckoned {
                    *anchor = Anchor {
                        seen: machine,
                        at: Instant::now(),
                    };
                }
                UnixMillis(machine.max(reckoned))
            }
            Kind::Manual { gate, machine } => {
                let machine = machine.load(Ordering::SeqCst);
                UnixMillis(gate.fetch_max(machine, Ordering::SeqCst).max(machine))
            }
        }
    }

    /// Returns the machine's time, for what other machines compare with theirs.
    pub fn machine(&self) -> UnixMillis {
        match &*self.0 {
            Kind::System(_) => UnixMillis(machine_millis()),
            Kind::Manual { machine, .. } => UnixMillis(machine.load(Ordering::SeqCst)),
        }
    }

    /// Lets time pass on a manual clock; does nothing to the machine's.
    pub fn advance(&self, by: Duration) {
        if let Kind::Manual { gate, machine } = &*self.0 {
            let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            gate.fetch_add(millis, Ordering::SeqCst);
            machine.fetch_add(millis, Ordering::SeqCst);
        }
    }

    /// Sets the machine's time on a manual clock, as an administrator might.
    pub fn set_machine(&self, now: UnixMillis) {
        if let Kind::Manual { machine, .. } = &*self.0 {
            machine.store(now.0, Ordering::SeqCst);
        }
    }
}

fn machine_millis() -> i64 {
    // A clock before 1970 is a clock that stands wrong; the last time seen is used instead.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| i64::try_from(passed.as_millis()).unwrap_or(0))
}
