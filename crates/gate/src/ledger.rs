//! The ledger's evidence: checkpoints, the kept head, verification, published keys.

pub mod anchor;
pub(crate) mod checkpoint;
pub(crate) mod public_keys;
pub(crate) mod reconcile;
pub mod verify;
