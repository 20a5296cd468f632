//! A strict Discord: a server on loopback that enforces the rules of the real one.
//!
//! Bodies of requests are checked against the part of Discord's own description that approvals need
//! (`openapi.json`), and against the rules that stand only in its words: lengths of messages and embeds,
//! unique ids of buttons, nonces, permissions, three seconds for the first answer to an interaction and
//! fifteen minutes for its token, rate limits, and the operations of the gateway with their sequence. It runs
//! in a thread of its own, keeps what it knows over a restart, and breaks down when a test wants it to.
//! discord.py works with it.

mod found;
mod gateway;
mod interactions;
mod message;
mod people;
mod routes;
mod schema;
mod server;
mod world;

pub use interactions::{Modal, Told};
pub use message::Message;
pub use server::{Arrival, DiscordServer, Fault, Hit, RateLimit, Settings};
