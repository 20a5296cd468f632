//! Models as the agent meets them, on a scripted server: the client, the chain for side tasks, smart
//! mode.
#![expect(clippy::unwrap_used, reason = "tests may fail loudly")]

mod auxiliary;
mod client;
mod smart;
