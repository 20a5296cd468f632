//! A strict Mattermost: a server on loopback that enforces the rules of the real one.
//!
//! It knows the part of the API that approvals in a chat need, and refuses what the real server
//! refuses: it is there so that a mistake fails here and not in somebody's team. It runs in a thread
//! of its own, keeps what it knows over a restart, and breaks down when a test wants it to.
//! [`Person`] is somebody with an account, on this server or on a real one.

mod actions;
mod attachments;
mod commands;
mod dialogs;
mod error;
mod files;
mod gatekeeper;
mod outgoing;
mod people;
mod person;
mod place;
mod posts;
mod prose;
mod reactions;
mod routes;
mod server;
mod settings;
mod teams;
mod trigger;
mod websocket;
mod world;

pub use gatekeeper::{Fault, Hit};
pub use person::{Asked, Person};
pub use place::Place;
pub use prose::outside_code;
pub use server::MattermostServer;
pub use settings::{BotAccounts, FileAttachments, RateLimit, Settings, SiteUrl, Version};
pub use trigger::Signer;
