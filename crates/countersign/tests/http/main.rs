//! The gateway over HTTP, as programs and browsers meet it: the real binary, a home of its own,
//! a port of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod acp;
mod calls;
mod chat;
mod client_key;
mod command_line;
mod doctor;
mod events;
mod evidence;
mod extending;
mod faults;
mod history;
mod hook_deeds;
mod hook_failures;
mod hooks;
mod init;
mod kill;
mod letters;
mod letters_setup;
mod mcp;
mod mcp_hostile;
mod mcp_piped;
mod mcp_serve;
mod mcp_server;
mod models;
mod ntfy;
#[path = "../shared/ours.rs"]
mod ours;
mod page;
mod post;
mod push;
mod replicas;
mod roles;
mod runs;
mod runs_crisis;
mod runs_outside;
mod runs_stream;
mod said;
mod scene;
mod serve;
mod shapes;
mod statuses;
mod suggest;
mod support;
mod telemetry;
mod tiers;
mod tls;
mod truth;
mod webhook;
mod written;
