//! A gate through generated lives: calls, answers, withdrawals, uses, time and restarts in any
//! order, on a real database. A checker beside it knows only what was acknowledged and holds the
//! gate to the laws: what runs was allowed for exactly this call (3), by one decision (4), once
//! (5), in time (6), and a restart changes nothing (12).
//!
//! Two dozen lives; `COUNTERSIGN_SOAK` makes it three thousand.

#![expect(clippy::panic, reason = "a law that is broken ends the life")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::time::UnixMillis;
use countersign_core::token::{Arguments, Expected, verify};
use countersign_gate::GateError;
use countersign_gate::records::request::Reply;
use countersign_gate::records::view::CallView;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::ledger;
use crate::support::{Wishes, World, command, open, reply, world};

const NOW: Duration = Duration::ZERO;
/// How long a question, an uncollected yes and a token live, in milliseconds.
const QUESTION: i64 = 300_000;
/// How long people may extend a question, in all.
const EXTEND_MAX: i64 = 3_600_000;
const UNCOLLECTED: i64 = 600_000;
const TOKEN: i64 = 120_000;

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    Submit { what: u8 },
    Answer { of: usize, allow: bool },
    Extend { of: usize },
    Withdraw { of: usize },
    Read { of: usize },
    Use { of: usize },
    Pass { seconds: u64 },
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let of = 0..100usize;
    prop_oneof![
        4 => (0..4u8).prop_map(|what| Step::Submit { what }),
        4 => (of.clone(), any::<bool>()).prop_map(|(of, allow)| Step::Answer { of, allow }),
        1 => of.clone().prop_map(|of| Step::Extend { of }),
        1 => of.clone().prop_map(|of| Step::Withdraw { of }),
        4 => of.clone().prop_map(|of| Step::Read { of }),
        4 => of.prop_map(|of| Step::Use { of }),
        2 => prop_oneof![1..30u64, 100..400u64, 590..610u64].prop_map(|seconds| Step::Pass { seconds }),
        1 => Just(Step::Restart),
    ]
}

/// What was acknowledged of one question.
#[derive(Debug)]
struct Known {
    call: String,
    what: u8,
    asked: UnixMillis,
    /// How long it waits for an answer.
    waits: i64,
    extensions: usize,
    /// How it ended, and when that was learnt.
    outcome: Option<(String, UnixMillis)>,
    token: Option<(String, UnixMillis)>,
    uses: usize,
}

/// A gate and what it has acknowledged, by approval.
struct Simulation {
    world: World,
    known: BTreeMap<String, Known>,
}

fn text(what: u8) -> String {
    format!("rm -rf /srv/{what}")
}

impl Simulation {
    fn now(&self) -> UnixMillis {
        self.world.clock.now()
    }

    fn chosen(&self, of: usize) -> Option<String> {
        let ids: Vec<&String> = self.known.keys().collect();
        let index = of.checked_rem(ids.len())?;
        Some(ids[index].clone())
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Submit { what } => self.submit(what).await,
            Step::Answer { of, allow } => {
                if let Some(id) = self.chosen(of) {
                    self.answer(&id, allow).await;
                }
            }
            Step::Extend { of } => {
                if let Some(id) = self.chosen(of) {
                    self.extend(&id).await;
                }
            }
            Step::Withdraw { of } => {
                if let Some(id) = self.chosen(of) {
                    let call = &self.known[&id].call;
                    let World { gate, agent, .. } = &self.world;
                    let view = gate.withdraw(agent, call, None).await.unwrap();
                    self.seen(&id, &view).await;
                    assert_ne!(view.status.word(), "waiting", "it was taken back");
                }
            }
            Step::Read { of } => {
                if let Some(id) = self.chosen(of) {
                    self.read(&id).await;
                }
            }
            Step::Use { of } => {
                if let Some(id) = self.chosen(of) {
                    self.use_up(&id).await;
                }
            }
            Step::Pass { seconds } => self.world.clock.advance(Duration::from_secs(seconds)),
            Step::Restart => self.restart().await,
        }
    }

    async fn submit(&mut self, what: u8) {
        let World { gate, agent, .. } = &self.world;
        let view = match gate.submit(agent, command(&text(what))).await {
            Ok(view) => view,
            Err(GateError::TooMany { .. }) => return,
            Err(error) => panic!("{error:?}"),
        };
        let Some(id) = view.approval_id.clone() else {
            assert_eq!(
                view.status.word(),
                "refused",
                "denied a moment ago: {view:?}"
            );
            assert!(view.token.is_none());
            return;
        };
        let (call, asked) = (view.call_id.clone(), self.now());
        let known = self.known.entry(id.clone()).or_insert_with(|| Known {
            call,
            what,
            asked,
            waits: QUESTION,
            extensions: 0,
            outcome: None,
            token: None,
            uses: 0,
        });
        assert_eq!(known.what, what, "it joins its own question only");
        self.seen(&id, &view).await;
    }

    async fn answer(&mut self, id: &str, allow: bool) {
        let (choice, word) = if allow {
            (Choice::Once, "approved")
        } else {
            (Choice::Deny, "denied")
        };
        let answer: Reply = reply(id, choice);
        let World { gate, ana, .. } = &self.world;
        match gate.answer(ana, answer).await {
            Ok(_) => {
                let known = &self.known[id];
                assert!(known.outcome.is_none(), "answered twice: {known:?}");
                assert!(
                    self.now().since(known.asked) < known.waits,
                    "late: {known:?}"
                );
                self.ended(id, word);
            }
            Err(GateError::AlreadyResolved(view) | GateError::Gone(view)) => {
                self.check_status(id, view.status.word());
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn extend(&mut self, id: &str) {
        let World { gate, ana, .. } = &self.world;
        let extended = gate.extend(ana, id).await;
        let now = self.now();
        match extended {
            Ok(view) => {
                let known = self.known.get_mut(id).unwrap();
                assert_eq!(view.status.word(), "waiting", "{known:?}");
                assert!(known.outcome.is_none(), "revived: {known:?}");
                assert!(now.since(known.asked) < known.waits, "late: {known:?}");
                known.waits += QUESTION.min(QUESTION + EXTEND_MAX - known.waits);
                known.extensions += 1;
                let ends = known.asked.plus(known.waits).as_seconds();
                assert!((view.expires_at - ends).abs() < 0.001, "{known:?}");
            }
            Err(GateError::AlreadyResolved(view) | GateError::Gone(view)) => {
                self.check_status(id, view.status.word());
            }
            Err(GateError::Invalid { .. }) => {
                assert_eq!(self.known[id].waits, QUESTION + EXTEND_MAX);
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn read(&mut self, id: &str) {
        let World { gate, agent, .. } = &self.world;
        let view = gate.call(agent, &self.known[id].call, NOW).await.unwrap();
        self.seen(id, &view).await;
    }

    /// Holds what the asker was shown against what it was told before.
    async fn seen(&mut self, id: &str, view: &CallView) {
        self.check_status(id, view.status.word());
        if let Some((outcome, since)) = &self.known[id].outcome
            && outcome == "approved"
            && self.known[id].token.is_none()
        {
            let is_over = self.now().since(*since) >= UNCOLLECTED;
            assert!(!is_over, "a yes nobody came for: {:?}", self.known[id]);
        }
        let Some(token) = &view.token else { return };
        let now = self.now();
        assert_eq!(view.status.word(), "approved", "a token without a yes");
        self.check_binding(id, token).await;
        let known = self.known.get_mut(id).unwrap();
        assert_eq!(known.uses, 0, "a used token is handed out: {known:?}");
        let (first, since) = known.token.get_or_insert_with(|| (token.clone(), now));
        assert_eq!(first, token, "the same for every read");
        assert!(now.since(*since) < TOKEN, "it is over");
    }

    /// Holds that the token proves this call and no other.
    async fn check_binding(&self, id: &str, token: &str) {
        let World { gate, agent, .. } = &self.world;
        let keys = gate.public_keys().await.unwrap();
        for what in 0..4 {
            let args = json!({ "command": text(what) });
            let expected = Expected {
                audience: "tool:terminal",
                tool: "terminal",
                session: "s1",
                agent: Some(agent.key.as_str()),
                arguments: Arguments::Json(&args),
                cwd: Some("/home/dev/project"),
                attachments: &[],
            };
            let machine = self.world.clock.machine().seconds();
            let verified = verify(token, &keys, machine, expected);
            assert_eq!(verified.is_ok(), what == self.known[id].what, "{what}");
        }
    }

    /// Holds a status against what is known, and learns from it.
    fn check_status(&mut self, id: &str, status: &str) {
        let (now, known) = (self.now(), &self.known[id]);
        match (&known.outcome, status) {
            (None, "waiting") => assert!(now.since(known.asked) < known.waits, "{known:?}"),
            (None, "expired") => {
                assert!(
                    now.since(known.asked) >= known.waits,
                    "too early: {known:?}"
                );
                self.ended(id, status);
            }
            // The withdrawal itself is how one learns of it.
            (None, "withdrawn") => self.ended(id, status),
            (None, other) => panic!("nobody said {other}: {known:?}"),
            (Some((outcome, since)), "expired") if outcome == "approved" => {
                let was_late = known.token.is_none() && now.since(*since) >= UNCOLLECTED;
                assert!(was_late, "a yes that was taken stands: {known:?}");
                self.ended(id, status);
            }
            (Some((outcome, _)), status) => assert_eq!(outcome, status, "{known:?}"),
        }
    }

    fn ended(&mut self, id: &str, outcome: &str) {
        let now = self.now();
        let known = self.known.get_mut(id).unwrap();
        known.outcome = Some((outcome.to_owned(), now));
    }

    async fn use_up(&mut self, id: &str) {
        let now = self.now();
        let Some((token, since)) = self.known[id].token.clone() else {
            return;
        };
        let is_over = now.since(since) >= TOKEN;
        let World { gate, agent, .. } = &self.world;
        let used = gate.consume(agent, &token).await;
        let known = self.known.get_mut(id).unwrap();
        match used {
            Ok(_) => {
                known.uses += 1;
                assert_eq!(known.uses, 1, "used twice: {known:?}");
                assert!(!is_over, "too late: {known:?}");
            }
            Err(GateError::TokenUsed) => assert_eq!(known.uses, 1, "{known:?}"),
            Err(GateError::TokenExpired) => assert!(is_over, "too early: {known:?}"),
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn restart(&mut self) {
        self.world.gate.store().close().await;
        let World { home, clock, .. } = &self.world;
        self.world.gate = open(home.path(), clock, Wishes::default()).await;
        self.check_all().await;
    }

    /// Reads everything again.
    async fn check_all(&mut self) {
        let ids: Vec<String> = self.known.keys().cloned().collect();
        for id in ids {
            let World { gate, ana, .. } = &self.world;
            // As a person, so that reading collects nothing. What is over may look as it was until
            // the next sweep, which is not running here; the asker never sees that.
            let view = gate.call(ana, &self.known[&id].call, NOW).await.unwrap();
            assert!(view.token.is_none(), "the token is the asker's alone");
            self.check_status(&id, view.status.word());
        }
    }

    /// Holds the ledger against what is known.
    async fn check_ledger(&self) {
        let World { gate, ana, .. } = &self.world;
        let state = gate.verify_ledger(ana).await.unwrap();
        assert!(state.ok, "{state:?}");
        let entries = ledger(gate).await;
        let count = |event: &str, subject: &str| {
            let of = |entry: &&countersign_core::ledger::Entry| {
                entry.draft.event == event && entry.draft.subject == subject
            };
            entries.iter().filter(of).count()
        };
        for (id, known) in &self.known {
            assert_eq!(count("approval.required", id), 1, "{known:?}");
            assert_eq!(count("token.consumed", id), known.uses, "{known:?}");
            assert!(count("token.minted", id) <= 1, "{known:?}");
            assert_eq!(
                count("approval.extended", id),
                known.extensions,
                "{known:?}"
            );
            let resolved = count("approval.resolved", id);
            match known.outcome {
                None => assert_eq!(resolved, 0, "{known:?}"),
                Some(_) => assert!(resolved >= 1, "{known:?}"),
            }
        }
    }
}

/// Lives one life from beginning to end, and returns how often something was used in it.
async fn live(steps: Vec<Step>) -> usize {
    let mut simulation = Simulation {
        world: world().await,
        known: BTreeMap::new(),
    };
    for step in steps {
        simulation.take(step).await;
    }
    simulation.restart().await;
    simulation.check_ledger().await;
    simulation.known.values().map(|known| known.uses).sum()
}

#[tokio::test]
async fn lives_that_once_went_wrong() {
    let asked = || Step::Submit { what: 0 };
    let allowed = || Step::Answer { of: 0, allow: true };
    let rows = [
        (
            "taken back when its time was over, and told that it waits",
            vec![
                asked(),
                Step::Pass { seconds: 300 },
                Step::Withdraw { of: 0 },
            ],
        ),
        (
            "answered when its time was over, and told that it waits",
            vec![asked(), Step::Pass { seconds: 300 }, allowed()],
        ),
        (
            "a yes nobody came for, and told that it stands",
            vec![
                asked(),
                allowed(),
                Step::Pass { seconds: 601 },
                Step::Read { of: 0 },
            ],
        ),
    ];
    for (name, steps) in rows {
        eprintln!("{name}");
        live(steps).await;
    }
}

#[test]
fn laws_3_4_5_6_12_hold_in_every_life() {
    let cases = if std::env::var_os("COUNTERSIGN_SOAK").is_some() {
        3000
    } else {
        24
    };
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (lives, uses) = (Cell::new(0), Cell::new(0));
    TestRunner::new(config)
        .run(&vec(step(), 1..60), |steps| {
            uses.set(uses.get() + runtime.block_on(live(steps)));
            lives.set(lives.get() + 1);
            if lives.get() % 250 == 0 {
                eprintln!("simulation: {} lives of {cases}", lives.get());
            }
            Ok(())
        })
        .unwrap();
    assert!(uses.get() > 0, "no life was long enough to use anything");
}
