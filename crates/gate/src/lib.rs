//! Runs the core against clock, keys, store and channels; the only writer; wakes waiting calls.
//!
//! [`Gate`] is the front. Behind it are rooms, each a module that holds one part of the work. A
//! room uses only rooms that stand above it in this list:
//!
//! | room | what it holds |
//! |---|---|
//! | [`base`] | clock, signing key, settings, principals, cache, waiting |
//! | [`records`] | requests, stored records, ledger entries, views, errors |
//! | [`ledger`] | checkpoints, the kept head, verification, published keys |
//! | [`people`] | API keys, browser logins, people and their accounts |
//! | [`runs`] | runs of the built-in agent, model usage |
//! | [`sessions`] | a session's facts, overrides, crisis marks |
//! | [`grants`] | standing permissions |
//! | [`approvals`] | questions about calls: opening, answering, expiring, limits |
//! | [`clarifications`] | questions an agent asks a person |
//! | [`delivery`] | cards sent to channels, retried and repainted |
//! | [`calls`] | submitting, waiting, tokens, permits, reports |
//! | [`reviews`] | calls that ran and await a review |
//! | [`history`] | traces, search, statistics, replay |
//! | [`chats`] | presses on cards in chats, chat threads |

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

pub use gate::{Gate, Parts};
pub use records::error::GateError;
