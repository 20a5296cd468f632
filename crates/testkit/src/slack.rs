//! A strict Slack: a server on loopback that enforces the rules of the real one.
//!
//! It knows the part of the Web API, of Block Kit and of Socket Mode that approvals in a chat need, and
//! refuses what Slack refuses: arguments that the published description of 2021 does not have, blocks
//! beyond their limits, triggers older than three seconds, more than its rate limits, acknowledgements
//! that come too late. It runs in a thread of its own, keeps what it knows over a restart, and breaks
//! down when a test wants it to. Slack's own SDK works with it.

mod blocks;
mod methods;
mod people;
mod server;
mod socket;
mod spec;
mod world;

pub use people::{Acknowledged, Payload};
pub use server::{Arrival, Fault, Hit, RateLimit, Settings, SlackServer};
pub use world::{Account, Told};
