//! The one object: what it is made of, and what it does by itself.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use countersign_channels::Channel;
use countersign_channels::seal::Seal;
use countersign_core::ledger::Entry;
use countersign_core::time::UnixMillis;
use countersign_store::Database;

use crate::GateError;
use crate::approvals::admission::{Moment, VersionedGrant};
use crate::approvals::denials::Denials;
use crate::approvals::smart::Deputy;
use crate::base::cache::Remembered;
use crate::base::clock::Clock;
use crate::base::principal::Principal;
use crate::base::readiness::Probe;
use crate::base::settings::{Policies, Settings};
use crate::base::signer::Signer;
use crate::base::waiting::Waiting;
use crate::calls::assessors::Assessors;
use crate::chats::seal_key;
use crate::delivery::health::Health;
use crate::history::recent_calls;
use crate::ledger::anchor::Anchor;
use crate::people::Credentials;
use crate::sessions::Sessions;

/// How often time is let settle what nobody waits for.
const LAPSE_EVERY: Duration = Duration::from_millis(500);
/// Entries that are looked at in one go.
const OBSERVED_MAX: usize = 1000;

/// The gate. Cheap to clone; all clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    pub(crate) inner: Arc<Inner>,
}

/// What a gate is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where state is kept.
    pub store: Database,
    /// What time it is.
    pub clock: Clock,
    /// What tokens and checkpoints are signed with.
    pub signer: Signer,
    /// Where policies come from.
    pub policies: Arc<dyn Policies>,
    /// What the owner decided about the gate itself.
    pub settings: Settings,
    /// How people are reached.
    pub channels: Vec<Arc<dyn Channel>>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Database,
    pub(crate) clock: Clock,
    pub(crate) signer: Signer,
    pub(crate) policies: Arc<dyn Policies>,
    pub(crate) settings: Settings,
    pub(crate) channels: Vec<Arc<dyn Channel>>,
    pub(crate) grants: Remembered<String, Arc<Vec<VersionedGrant>>>,
    pub(crate) denials: Denials,
    pub(crate) moment: Moment,
    pub(crate) waiting: Waiting,
    pub(crate) credentials: Credentials,
    pub(crate) sessions: Sessions,
    pub(crate) assessors: Assessors,
    pub(crate) deputy: OnceLock<Arc<dyn Deputy>>,
    pub(crate) chronicle: recent_calls::Shared,
    pub(crate) health: Health,
    /// Where the head of the ledger is kept.
    pub(crate) anchor: OnceLock<Anchor>,
    pub(crate) probe: Probe,
    /// Held while the ledger is verified, which takes memory and time.
    pub(crate) verifying: tokio::sync::Mutex<()>,
    /// What buttons in chats are sealed with.
    pub(crate) seal: Seal,
    /// Who delivers, in the records of deliveries.
    pub(crate) driver: String,
}

impl Gate {
    /// Returns a gate that works and whose key its replicas know; [`Gate::run`] must be running beside it for what happens by
    /// itself.
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
        let gate = Self {
            inner: Arc::new(Inner {
                seal,
                driver: format!("{:032x}", u128::from_be_bytes(random())),
                store,
                clock,
                signer,
                policies,
                settings,
                channels,
                grants: Remembered::until(&["grant.created", "grant.used", "grant.revoked"]),
                denials: Denials::default(),
                moment: Moment::default(),
                waiting: Waiting::default(),
                credentials: Credentials::default(),
                sessions: Sessions::default(),
                assessors: Assessors::default(),
                deputy: OnceLock::new(),
                chronicle: recent_calls::Shared::default(),
                health: Health::default(),
                anchor: OnceLock::new(),
                probe: Probe::default(),
                verifying: tokio::sync::Mutex::default(),
            }),
        };
        gate.publish_key().await?;
        Ok(gate)
    }

    /// Does what happens by itself until `shutdown` ends: questions expire, cards are delivered,
    /// the ledger is followed and signed and its head kept, the signing key stays published.
    pub async fn run(&self, shutdown: impl Future<Output = ()> + Send) {
        if let Err(error) = self.resume_deliveries().await {
            tracing::error!(%error, "cards of an earlier run could not be taken up");
        }
        tokio::select! {
            () = shutdown => {}
            () = self.lapse_forever() => {}
            () = self.follow_forever() => {}
            () = self.checkpoints() => {}
            () = self.keep_head() => {}
            () = self.publish_forever() => {}
            () = self.sweep_deliveries() => {}
        }
    }

    /// Returns the store, for those who only read: the ledger and its live end.
    pub fn store(&self) -> &Database {
        &self.inner.store
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Returns what the owner decided about the gate itself.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Returns what buttons in chats are sealed with.
    pub fn seal(&self) -> &Seal {
        &self.inner.seal
    }

    /// Notes that somebody who can answer is looking at what waits.
    pub fn note_looking(&self, who: &Principal) {
        if who.role.answers() {
            self.inner.moment.looked(self.inner.clock.now());
        }
    }

    async fn lapse_forever(&self) {
        loop {
            for lapsed in [
                self.lapse_approvals().await,
                self.tell_floods().await,
                self.lapse_clarifications().await,
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
        let tail = self.inner.store.tail();
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
                    None => match self.inner.store.entries(seen, 1000).await {
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
            self.inner.waiting.wake(&draft.subject);
        }
    }

    /// Returns since when denials count.
    pub(crate) fn denials_since(&self) -> UnixMillis {
        self.inner
            .clock
            .now()
            .plus(-self.inner.settings.deny_memory_millis)
    }
}

/// Bytes of randomness that are fetched at once for ids and salts.
const RANDOM_BYTES: usize = 1024;

thread_local! {
    static RANDOM: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Returns bytes for an id or a salt, which cannot be guessed but are no secret: asking the kernel
/// for each takes longer than all else that is done with them.
pub(crate) fn random_id<const N: usize>() -> [u8; N] {
    RANDOM.with_borrow_mut(|store| {
        if store.len() < N {
            *store = random::<RANDOM_BYTES>().to_vec();
        }
        let rest = store.split_off(store.len().saturating_sub(N));
        rest.try_into().unwrap_or_else(|_| random())
    })
}

/// Returns bytes that cannot be guessed.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without randomness ids could be guessed and tokens would not be unique; there is no safe way
    // on, and no machine on which this happens.
    #[expect(clippy::expect_used, reason = "the kernel always has randomness")]
    getrandom::fill(&mut bytes).expect("the kernel has randomness");
    bytes
}
