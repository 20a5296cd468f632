//! What others rely on byte by byte: canonical JSON, tokens, the ledger, cards and their lifecycle.
//!
//! One binary, because each costs a link.

mod canonical;
mod card;
mod ledger;
mod lifecycle;
#[path = "../support/processor.rs"]
mod processor;
#[expect(clippy::disallowed_methods, reason = "tests read the environment")]
#[path = "../../../testkit/src/skipped.rs"]
pub mod skipped;
mod spoof;
mod token;
