//! What waiting is made of. Only a name: the model in `tests/model.rs` puts a scheduler's locks and
//! a time of its own in its place, and tries `waiting.rs` in many thousand orders of events.

pub(crate) use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use tokio::time::{Instant, sleep};

#[cfg(test)]
mod tests {
    use crate::waiting::Waiting;

    /// The model knows no reference counts, so this is tried on threads.
    #[test]
    fn nothing_is_left_when_the_last_waiters_go_at_once() {
        let waiting = Waiting::default();
        let both = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for number in 0..5_000 {
                        let waiter = waiting.enrol(&format!("appr_{number}"));
                        both.wait();
                        drop(waiter);
                    }
                });
            }
        });
        assert_eq!(waiting.len(), 0);
    }
}
