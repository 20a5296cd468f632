//! The gate: runs the core with clock, keys, store and channels. It is the only writer, and it
//! wakes waiting calls.
//!
//! [`Gate`] is the front: it puts the rooms together and passes its operations on. A room is a
//! module with a type of the same name, which owns its part: its cache, its records, its rules. It
//! uses only rooms that stand above it in this table (a test checks that), and never [`Gate`]:
//!
//! | room | what it holds |
//! |---|---|
//! | [`base`] | store, clock, signing key, settings, principals, cache, waiting |
//! | [`records`] | requests, stored records, ledger entries, views, errors |
//! | [`runs`] | runs of the built-in agent, chat threads, model usage |
//! | [`people`] | API keys, browser logins, people and their accounts |
//! | [`ledger`] | checkpoints, the kept head, verification, published keys |
//! | [`sessions`] | a session's facts, overrides, crisis marks, files an agent wrote |
//! | [`grants`] | standing permissions |
//! | [`reviews`] | calls that ran and await a review |
//! | [`approvals`] | questions about calls: answering, expiring, quota, denials |
//! | [`clarifications`] | questions an agent asks a person |
//! | [`delivery`] | cards sent to channels, retried and repainted |
//! | [`history`] | traces, search, statistics, replay |
//! | [`calls`] | submitting, waiting, tokens, permits, reports |
//! | [`chats`] | presses on cards in chats |
//! | [`gate`] | the front |
//!
//! `approvals` and `clarifications` report through `base::cards` that a card must be sent or
//! repainted; what other gateways on the same database did arrives from the ledger.

pub mod approvals;
pub mod base;
pub mod calls;
pub mod chats;
pub mod clarifications;
pub mod delivery;
pub mod gate;
pub mod grants;
pub mod history;
pub mod ledger;
pub mod people;
pub mod records;
pub mod reviews;
pub mod runs;
pub mod sessions;

pub use gate::{Gate, Parts, WeakGate};
pub use records::error::GateError;
