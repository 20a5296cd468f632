//! The ledger's evidence: checkpoints, the kept head, verification, published keys.

pub mod anchor;
pub(crate) mod checkpoint;
pub(crate) mod config;
pub(crate) mod public_keys;
pub(crate) mod reconcile;
pub mod verify;

use std::sync::{Arc, OnceLock};

use tokio::sync::Mutex;

use crate::base::Base;
use anchor::Anchor;

/// The ledger and its evidence.
#[derive(Debug)]
pub struct Ledger {
    base: Arc<Base>,
    anchor: OnceLock<Anchor>,
    verifying: Mutex<()>,
}

impl Ledger {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            anchor: OnceLock::new(),
            verifying: Mutex::default(),
        }
    }
}
