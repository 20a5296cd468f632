//! A strict Telegram: a Bot API server on loopback that enforces the rules of the real one.
//!
//! Every request is checked against the part of the API's description that approvals need
//! (`api.json`), and against the limits that stand only in its words: 4096 characters, 64 bytes of a
//! button, entities within the text, numbers of updates, one poller, rates. It refuses in the words of
//! the real one. What the real server finds in plain text by itself (mentions, commands, links) is
//! found here, too. People act through [`TelegramServer`]; what their clients could never send a
//! hostile one can.

mod found;
mod methods;
mod params;
mod schema;
mod server;
mod world;

pub use server::{Alert, Fault, Hit, TelegramServer};
pub use world::{Limit, Message};
