//! A model of waiting, answering, running out of time and hanging up, in many thousand orders.
//!
//! `waiting.rs` is compiled here once more, against a scheduler that decides at every lock, atomic
//! and pause which task goes on, and that reports tasks which sleep for ever. The store is one
//! register that changes by compare-and-set, as an approval's record does. The look that is taken
//! every few seconds without a wake is switched off: nobody may depend on it.
//!
//! Ten thousand orders for each property; `COUNTERSIGN_SOAK` makes it a quarter of a million.

#[path = "../src/base/waiting.rs"]
mod waiting;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use shuttle::future::{block_on, spawn};
use shuttle::rand::Rng as _;
use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use sync::pauses;
use waiting::{Look, Waiting};

/// What `waiting.rs` is made of here.
mod sync {
    use std::cell::Cell;
    use std::ops::{Add, Deref};
    use std::time::Duration;

    pub(crate) use shuttle::sync::Mutex;
    pub(crate) use std::sync::PoisonError;

    /// A reference that others may come before when it is let go: who counts references must not
    /// count those that are about to go.
    #[derive(Debug, Default)]
    pub(crate) struct Arc<T>(std::sync::Arc<T>);

    impl<T> Clone for Arc<T> {
        fn clone(&self) -> Self {
            Self(std::sync::Arc::clone(&self.0))
        }
    }

    impl<T> Deref for Arc<T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T> Drop for Arc<T> {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                shuttle::thread::yield_now();
            }
        }
    }

    /// Pauses of this length and longer do not end: they are the look without a wake.
    const NEVER: Duration = Duration::from_secs(5);

    thread_local! {
        /// All tasks of one order run on one thread.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// A moment of the model's time, which passes only while somebody sleeps.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub(crate) fn now() -> Self {
            Self(NOW.get())
        }

        pub(crate) fn saturating_duration_since(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, passed: Duration) -> Self {
            Self(self.0 + passed)
        }
    }

    pub(crate) async fn sleep(pause: Duration) {
        if pause >= NEVER {
            std::future::pending::<()>().await;
        }
        pauses().await;
        NOW.set(NOW.get() + pause);
    }

    /// Lets others go on, a few times or not at all.
    pub(crate) async fn pauses() {
        use shuttle::rand::Rng as _;
        for _ in 0..shuttle::rand::thread_rng().gen_range(0..4u8) {
            shuttle::future::yield_now().await;
        }
    }
}

const ID: &str = "appr_1";
const WAITING: u8 = 0;
const EXPIRED: u8 = 9;
/// Long enough that nobody gives up.
const PATIENT: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_millis(1);

/// One approval, those who wait for it, and how often it was settled.
#[derive(Clone, Default)]
struct World {
    waiting: Waiting,
    state: Arc<AtomicU8>,
    is_due: Arc<AtomicBool>,
    settled: Arc<AtomicUsize>,
}

impl World {
    /// Settles the approval if nobody else has, then wakes those who wait, as a commit does.
    fn settle(&self, outcome: u8) -> bool {
        let (from, order) = (WAITING, Ordering::SeqCst);
        let won = self.state.compare_exchange(from, outcome, order, order);
        if won.is_ok() {
            self.settled.fetch_add(1, order);
            self.waiting.wake(ID);
        }
        won.is_ok()
    }

    /// Looks as the gate does: what is due is settled by whoever sees it first.
    async fn look(&self, until_due: Duration) -> Result<Look<u8>, Infallible> {
        pauses().await;
        loop {
            match self.state.load(Ordering::SeqCst) {
                WAITING if self.is_due.load(Ordering::SeqCst) => {
                    self.settle(EXPIRED);
                }
                WAITING => return Ok(Look::Waits(WAITING, until_due)),
                settled => return Ok(Look::Settled(settled)),
            }
        }
    }

    async fn wait(&self, wait: Duration, until_due: Duration) -> u8 {
        let look = || self.look(until_due);
        let seen: Result<u8, Infallible> = self.waiting.until_settled(ID, wait, look).await;
        seen.unwrap()
    }

    /// Holds what must be true whatever happened, once everybody is gone.
    fn check(&self) {
        assert_eq!(self.settled.load(Ordering::SeqCst), 1, "one outcome");
        assert_eq!(self.waiting.len(), 0, "nobody is left behind");
    }
}

/// Tries `order` in many orders; panics if one of them breaks it.
fn in_many_orders(name: &str, order: fn()) {
    let (rounds, of) = if std::env::var_os("COUNTERSIGN_SOAK").is_some() {
        (25, 10_000)
    } else {
        (1, 10_000)
    };
    for round in 1..=rounds {
        shuttle::check_random(order, of);
        if rounds > 1 {
            eprintln!("model: {name}: {} orders", round * of);
        }
    }
}

#[test]
fn law_4_of_racing_answers_one_wins_and_every_waiter_is_woken_with_it() {
    in_many_orders("answers", || {
        let world = World::default();
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                spawn(async move { world.wait(PATIENT, PATIENT).await })
            })
            .collect();
        let answers: Vec<_> = (1..=3)
            .map(|answer| {
                let world = world.clone();
                spawn(async move { world.settle(answer) })
            })
            .collect();
        block_on(async move {
            let mut winners = 0;
            for answer in answers {
                winners += u32::from(answer.await.unwrap());
            }
            assert_eq!(winners, 1);
            let outcome = world.state.load(Ordering::SeqCst);
            for waiter in waiters {
                assert_eq!(waiter.await.unwrap(), outcome);
            }
            world.check();
        });
    });
}

#[test]
fn an_answer_that_races_with_time_and_a_withdrawal_leaves_one_outcome_for_all() {
    in_many_orders("time", || {
        let world = World::default();
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                // Whoever waits wakes when it is due, without being woken by anybody.
                spawn(async move { world.wait(PATIENT, SHORT).await })
            })
            .collect();
        let clock = world.clone();
        let lapse = world.clone();
        let (answer, withdrawal) = (world.clone(), world.clone());
        let others = [
            spawn(async move {
                pauses().await;
                clock.is_due.store(true, Ordering::SeqCst);
            }),
            spawn(async move {
                // The sweep of what is due.
                if lapse.is_due.load(Ordering::SeqCst) {
                    lapse.settle(EXPIRED);
                }
            }),
            spawn(async move {
                answer.settle(1);
            }),
            spawn(async move {
                withdrawal.settle(2);
            }),
        ];
        block_on(async move {
            let mut seen = Vec::new();
            for waiter in waiters {
                seen.push(waiter.await.unwrap());
            }
            for other in others {
                other.await.unwrap();
            }
            let outcome = world.state.load(Ordering::SeqCst);
            assert_eq!(seen, [outcome; 2], "what was seen is what stands");
            world.check();
        });
    });
}

#[test]
fn a_waiter_that_hangs_up_takes_nobody_with_it_and_leaves_nothing() {
    in_many_orders("hanging up", || {
        let world = World::default();
        let hanging_up: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                spawn(async move {
                    tokio::select! {
                        biased;
                        () = pauses() => {}
                        _ = world.wait(PATIENT, PATIENT) => {}
                    }
                })
            })
            .collect();
        let patient = world.clone();
        let patient = spawn(async move { patient.wait(PATIENT, PATIENT).await });
        let answer = world.clone();
        let answer = spawn(async move { answer.settle(1) });
        block_on(async move {
            for waiter in hanging_up {
                waiter.await.unwrap();
            }
            assert!(answer.await.unwrap());
            assert_eq!(patient.await.unwrap(), 1);
            world.check();
        });
    });
}

#[test]
fn a_waiter_whose_patience_ends_sees_it_waiting_or_answered_and_nothing_else() {
    in_many_orders("patience", || {
        let world = World::default();
        let (early, answer) = (world.clone(), world.clone());
        let patience = SHORT * shuttle::rand::thread_rng().gen_range(0..3u32);
        let early = spawn(async move { early.wait(patience, PATIENT).await });
        let answer = spawn(async move { answer.settle(1) });
        block_on(async move {
            assert!(matches!(early.await.unwrap(), WAITING | 1));
            assert!(answer.await.unwrap());
            assert_eq!(world.wait(PATIENT, PATIENT).await, 1);
            world.check();
        });
    });
}

/// The model would notice: who looks first and enrols afterwards sleeps through an answer.
#[test]
fn a_waiter_that_looks_before_it_enrols_is_found_out() {
    let found = std::panic::catch_unwind(|| {
        shuttle::check_random(
            || {
                let world = World::default();
                let answer = world.clone();
                let answer = spawn(async move { answer.settle(1) });
                block_on(async move {
                    while let Look::Waits(..) = world.look(PATIENT).await.unwrap() {
                        let waiter = world.waiting.enrol(ID);
                        waiter.woken().await;
                    }
                    answer.await.unwrap();
                });
            },
            10_000,
        );
    });
    let panic = found.unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(said.contains("deadlock"), "{said}");
}
