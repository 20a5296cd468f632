//! The gate on a real database: calls held and answered, grants, credentials, sessions, questions to
//! people, reviews, assessors and what is told of all of it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

mod anchors;
mod answers;
mod asking;
mod assessors;
mod clarifications;
mod clicks;
mod clock;
mod credentials;
mod crisis;
mod definitions;
mod deliveries;
mod denials;
mod deputies;
mod earlier_builds;
mod editing;
mod extending;
mod floods;
mod folds;
mod grants;
mod history;
mod keys;
mod permits;
mod published;
mod reviews;
mod runs;
mod schema;
mod search;
mod second_reader;
mod sessions;
mod simulation;
mod support;
mod written;

use countersign_core::ledger::Entry;
use countersign_gate::Gate;
use countersign_gate::base::principal::{Principal, Role};
use support::principal;

/// Everybody there is, one of each role.
async fn everybody(gate: &Gate) -> Vec<Principal> {
    let mut all = Vec::new();
    for role in Role::ALL {
        all.push(principal(gate, role.word(), role).await);
    }
    all
}

/// Everything the ledger says, as its owner reads it.
async fn ledger(gate: &Gate) -> Vec<Entry> {
    gate.store().flush().await.unwrap();
    gate.store().entries(0, 100_000).await.unwrap()
}

/// The bodies of the entries of one event.
async fn told(gate: &Gate, event: &str) -> Vec<serde_json::Value> {
    let entries = ledger(gate).await;
    let of_event = entries.iter().filter(|entry| entry.draft.event == event);
    of_event
        .map(|entry| serde_json::from_str(&entry.draft.body).unwrap())
        .collect()
}
