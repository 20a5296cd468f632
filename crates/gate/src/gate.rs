//! `Gate`: the rooms put together, and their background tasks.

mod operations;

use std::sync::{Arc, Weak};
use std::time::Duration;

use countersign_channels::Channel;
use countersign_channels::seal::Seal;
use countersign_core::ledger::Entry;
use countersign_store::Database;

use crate::GateError;
use crate::approvals::Approvals;
use crate::base::Base;
use crate::base::cards::{Cards, Painter};
use crate::base::clock::Clock;
use crate::base::random::random;
use crate::base::readiness::Probe;
use crate::base::settings::{Policies, Settings};
use crate::base::signer::Signer;
use crate::base::waiting::Waiting;
use crate::calls::Calls;
use crate::chats::{Chats, seal_key};
use crate::clarifications::Clarifications;
use crate::delivery::{Delivery, push};
use crate::grants::Grants;
use crate::history::History;
use crate::ledger::Ledger;
use crate::people::People;
use crate::reviews::Reviews;
use crate::runs::Runs;
use crate::sessions::Sessions;

/// How often time is let settle what nobody waits for.
const LAPSE_EVERY: Duration = Duration::from_millis(500);
/// Entries that are looked at in one go.
const OBSERVED_MAX: usize = 1000;

/// The gate. Cheap to clone; all clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    rooms: Arc<Rooms>,
}

/// A gate that may be gone: for whoever the gate itself holds.
#[derive(Clone, Debug)]
pub struct WeakGate(Weak<Rooms>);

impl WeakGate {
    /// Returns the gate, if it is still there.
    pub fn upgrade(&self) -> Option<Gate> {
        self.0.upgrade().map(|rooms| Gate { rooms })
    }
}

/// What a gate is made of.
#[derive(Debug)]
pub struct Parts {
    /// The database.
    pub store: Database,
    /// The current time.
    pub clock: Clock,
    /// What tokens and checkpoints are signed with.
    pub signer: Signer,
    /// Where policies come from.
    pub policies: Arc<dyn Policies>,
    /// Settings of the gate.
    pub settings: Settings,
    /// How people are reached.
    pub channels: Vec<Arc<dyn Channel>>,
}

#[derive(Debug)]
struct Rooms {
    base: Arc<Base>,
    ledger: Arc<Ledger>,
    people: Arc<People>,
    runs: Arc<Runs>,
    sessions: Arc<Sessions>,
    grants: Arc<Grants>,
    approvals: Arc<Approvals>,
    clarifications: Arc<Clarifications>,
    delivery: Arc<Delivery>,
    calls: Calls,
    reviews: Reviews,
    history: History,
    chats: Chats,
}

impl Rooms {
    fn new(base: Base) -> Self {
        let base = Arc::new(base);
        let shared = || Arc::clone(&base);
        let ledger = Arc::new(Ledger::new(shared()));
        let people = Arc::new(People::new(shared()));
        let runs = Arc::new(Runs::new(shared()));
        let sessions = Arc::new(Sessions::new(shared(), Arc::clone(&people)));
        let grants = Arc::new(Grants::new(shared()));
        let approvals = Arc::new(Approvals::new(shared()));
        let clarifications = Arc::new(Clarifications::new(shared()));
        let delivery = Arc::new(Delivery::new(
            shared(),
            Arc::clone(&people),
            Arc::clone(&runs),
            Arc::clone(&approvals),
            Arc::clone(&clarifications),
        ));
        let painter: Arc<dyn Painter> = Arc::clone(&delivery) as Arc<dyn Painter>;
        base.cards.set_painter(Arc::downgrade(&painter));
        Self {
            calls: Calls::new(
                shared(),
                Arc::clone(&ledger),
                Arc::clone(&people),
                Arc::clone(&sessions),
                Arc::clone(&grants),
                Arc::clone(&approvals),
            ),
            reviews: Reviews::new(shared()),
            history: History::new(shared(), Arc::clone(&people)),
            chats: Chats::new(
                shared(),
                Arc::clone(&people),
                Arc::clone(&grants),
                Arc::clone(&approvals),
                Arc::clone(&clarifications),
                Arc::clone(&delivery),
            ),
            base,
            ledger,
            people,
            runs,
            sessions,
            grants,
            approvals,
            clarifications,
            delivery,
        }
    }
}

impl Gate {
    /// Returns a gate that works and whose key its replicas know; [`Gate::run`] must be running
    /// beside it for what happens by itself.
    pub async fn open(parts: Parts) -> Result<Self, GateError> {
        let Parts {
            store,
            clock,
            signer,
            policies,
            settings,
            channels,
        } = parts;
        let seal = seal_key::load_or_create(&store).await?;
        let push = push::open(&store, settings.push.clone()).await?;
        let base = Base {
            seal,
            driver: format!("{:032x}", u128::from_be_bytes(random())),
            store,
            clock,
            signer,
            policies,
            settings,
            channels,
            push,
            waiting: Waiting::default(),
            cards: Cards::default(),
            probe: Probe::default(),
        };
        let gate = Self {
            rooms: Arc::new(Rooms::new(base)),
        };
        gate.rooms.ledger.publish_key().await?;
        Ok(gate)
    }

    /// Does what happens by itself until `shutdown` ends: questions expire, cards are delivered,
    /// the ledger is followed and signed and its head kept, the signing key stays published.
    pub async fn run(&self, shutdown: impl Future<Output = ()> + Send) {
        if let Err(error) = self.rooms.delivery.resume_deliveries().await {
            tracing::error!(%error, "cards of an earlier run could not be taken up");
        }
        tokio::select! {
            () = shutdown => {}
            () = self.lapse_forever() => {}
            () = self.follow_forever() => {}
            () = self.rooms.ledger.checkpoints() => {}
            () = self.rooms.ledger.keep_head() => {}
            () = self.rooms.ledger.publish_forever() => {}
            () = self.rooms.delivery.sweep_deliveries() => {}
        }
    }

    /// Returns a way to the gate that does not keep it.
    pub fn downgrade(&self) -> WeakGate {
        WeakGate(Arc::downgrade(&self.rooms))
    }

    /// Returns the store, for those who only read: the ledger and its live end.
    pub fn store(&self) -> &Database {
        &self.rooms.base.store
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.rooms.base.clock
    }

    /// Returns what the owner decided about the gate itself.
    pub fn settings(&self) -> &Settings {
        &self.rooms.base.settings
    }

    /// Returns what buttons in chats are sealed with.
    pub fn seal(&self) -> &Seal {
        &self.rooms.base.seal
    }

    /// Returns the public key under which devices are told; browsers subscribe for it.
    pub fn push_key(&self) -> &str {
        self.rooms.base.push.public_key()
    }

    /// Returns why nothing can be written now, or `None` if something can.
    pub async fn unwritable(&self) -> Option<&'static str> {
        self.rooms.base.unwritable().await
    }

    async fn lapse_forever(&self) {
        loop {
            for lapsed in [
                self.rooms.approvals.lapse_approvals().await,
                self.rooms.calls.tell_floods().await,
                self.rooms.clarifications.lapse_clarifications().await,
            ] {
                if let Err(error) = lapsed {
                    tracing::error!(%error, "what time settles could not be written; retrying");
                }
            }
            tokio::time::sleep(LAPSE_EVERY).await;
        }
    }

    /// Follows the ledger, because another replica or another process may have written to it.
    async fn follow_forever(&self) {
        let tail = self.rooms.base.store.tail();
        let mut last = tail.last();
        let mut seen = *last.borrow_and_update();
        loop {
            if last.changed().await.is_err() {
                return;
            }
            let visible = *last.borrow_and_update();
            while seen < visible {
                match tail.recent(seen, OBSERVED_MAX) {
                    Some(entries) if !entries.is_empty() => {
                        for entry in &entries {
                            self.observe(entry);
                            seen = entry.seq;
                        }
                    }
                    Some(_) => break,
                    None => match self.rooms.base.store.entries(seen, 1000).await {
                        Ok(entries) if !entries.is_empty() => {
                            for entry in &entries {
                                self.observe(entry);
                                seen = entry.seq;
                            }
                        }
                        Ok(_) => break,
                        Err(error) => {
                            tracing::error!(%error, "the ledger cannot be followed; retrying");
                            tokio::time::sleep(LAPSE_EVERY).await;
                        }
                    },
                }
            }
        }
    }

    /// Takes note of what happened, here or elsewhere.
    fn observe(&self, entry: &Entry) {
        let Entry { draft, .. } = entry;
        if draft.event.starts_with("approval.") || draft.event.starts_with("clarify.") {
            self.rooms.base.waiting.wake(&draft.subject);
        }
    }
}
