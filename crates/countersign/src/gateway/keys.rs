//! Creates and revokes keys in a home's own store, whether or not a gateway runs.
//!
//! Whoever can write there is the home's admin anyway. Separate because two commands use it.

use countersign_gate::base::principal::Role;
use countersign_gate::people::{KeyBounds, NewKey};
use countersign_gate::{Gate, GateError};

use super::{open_beside, owner};
use crate::complaint::Complaint;
use crate::config::Home;

/// Who the ledger says made them.
const BY: &str = "command line";

/// Creates a key.
pub(crate) fn create(
    home: &Home,
    role: Role,
    name: &str,
    bounds: &KeyBounds,
) -> Result<NewKey, Complaint> {
    beside(home, async |gate| {
        gate.create_bound_key(BY, name, role, bounds).await
    })
}

/// Revokes the key `id`.
pub(crate) fn revoke(home: &Home, id: &str) -> Result<(), Complaint> {
    let revoked = beside(home, async |gate| gate.revoke_key(&owner(BY), id).await);
    revoked.map(|_| ())
}

/// Does `work` with the gate of `home`, beside a gateway that may be running there.
fn beside<T>(
    home: &Home,
    work: impl AsyncFnOnce(&Gate) -> Result<T, GateError>,
) -> Result<T, Complaint> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
    runtime.block_on(async {
        let gate = open_beside(home).await?;
        let done = work(&gate).await;
        gate.store().close().await;
        done.map_err(|error| {
            if let GateError::Invalid { message, .. } = error {
                return Complaint::usage(message, "see --help");
            }
            let hint = "is the disk full, or does the home belong to somebody else?";
            Complaint::failed(error.to_string(), hint)
        })
    })
}
