//! The MCP proxy between a client and a server, both of which are played here, and the real gateway.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod definitions;
mod fidelity;
mod guide;
mod hostile;
mod links;
mod named;
mod scene;
mod waiting;

#[path = "../shared/ours.rs"]
mod ours;
#[path = "../http/support.rs"]
#[expect(dead_code, reason = "written for another suite, which uses the rest")]
mod support;
