//! What every chat must withstand, written once: the real gateway, and a strict server of each
//! platform.
//!
//! A platform implements [`venue::Venue`] and names itself in one line; `suite.rs` does the rest. What
//! only one platform can do stands beside its venue.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

#[macro_use]
mod suite;

mod discord;
mod matrix;
mod mattermost;
mod scene;
mod slack;
mod telegram;
mod venue;

#[path = "../shared/ours.rs"]
mod ours;
#[path = "../http/support.rs"]
#[expect(dead_code, reason = "written for another suite, which uses the rest")]
mod support;
