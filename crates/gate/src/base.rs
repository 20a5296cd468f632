//! Shared parts of the gate: clock, signing key, settings, principals, cache, waiting.

pub(crate) mod cache;
pub(crate) mod cards;
pub mod clock;
pub mod practice;
pub mod principal;
pub(crate) mod random;
pub(crate) mod readiness;
pub mod settings;
pub mod signer;
pub(crate) mod sync;
pub(crate) mod waiting;

use std::sync::Arc;

use countersign_channels::Channel;
use countersign_channels::push::Push;
use countersign_channels::seal::Seal;
use countersign_core::assessment::SideEffect;
use countersign_core::time::UnixMillis;
use countersign_store::Database;

use cards::Cards;
use clock::Clock;
use readiness::Probe;
use settings::{Policies, Settings};
use signer::Signer;
use waiting::Waiting;

/// What every room stands on.
#[derive(Debug)]
pub struct Base {
    pub(crate) store: Database,
    pub(crate) clock: Clock,
    pub(crate) signer: Signer,
    pub(crate) policies: Arc<dyn Policies>,
    pub(crate) settings: Settings,
    pub(crate) channels: Vec<Arc<dyn Channel>>,
    /// Sends notifications to devices.
    pub(crate) push: Push,
    /// What buttons in chats are sealed with.
    pub(crate) seal: Seal,
    /// This gateway's name in the records of deliveries.
    pub(crate) driver: String,
    /// Calls and clarifications that wait for an answer.
    pub(crate) waiting: Waiting,
    /// Where rooms report that a card must be delivered or repainted.
    pub(crate) cards: Cards,
    pub(crate) probe: Probe,
}

impl Base {
    /// Returns how long a question about a call of this side effect waits, in milliseconds.
    pub(crate) fn waits(&self, side_effect: SideEffect) -> i64 {
        let channels = self.channels.iter().map(|channel| channel.name());
        self.settings.timeouts.of(side_effect, channels)
    }

    /// Returns the longest time any question may wait, with all that people may add.
    pub(crate) fn waits_at_most(&self) -> i64 {
        self.settings.timeouts.longest() + self.settings.extend_max_millis
    }

    /// Returns since when denials count.
    pub(crate) fn denials_since(&self) -> UnixMillis {
        self.clock.now().plus(-self.settings.deny_memory_millis)
    }
}
