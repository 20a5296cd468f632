//! The one object: what it is made of, and what it does by itself.

use std::sync::Arc;

use countersign_channels::Channel;
use countersign_core::token::PublicKey;
use countersign_store::Database;

use crate::GateError;
use crate::clock::Clock;
use crate::credentials::Credentials;
use crate::keys::Signer;
use crate::settings::{Policies, Settings};

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
    pub(crate) credentials: Credentials,
}

impl Gate {
    /// Returns a gate that works; [`Gate::run`] must be running beside it for what happens by
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
        Ok(Self {
            inner: Arc::new(Inner {
                store,
                clock,
                signer,
                policies,
                settings,
                channels,
                credentials: Credentials::default(),
            }),
        })
    }

    /// Does what happens by itself until `shutdown` ends: questions expire, cards are delivered,
    /// the ledger is followed and signed.
    pub async fn run(&self, shutdown: impl Future<Output = ()> + Send) {
        shutdown.await;
    }

    /// Returns the store, for those who only read: the ledger and its live end.
    pub fn store(&self) -> &Database {
        &self.inner.store
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Returns the keys a token may be signed by.
    pub async fn public_keys(&self) -> Result<Vec<PublicKey>, GateError> {
        Ok(vec![self.inner.signer.public()])
    }
}
