//! People answer from Mattermost: the real gateway, and a chat server that is as strict as the real
//! one.
//!
//! With `COUNTERSIGN_TEST_MATTERMOST_URL` and `COUNTERSIGN_TEST_MATTERMOST_ADMIN_TOKEN` the same scenes
//! run against a real server, in a team of their own; what only a server of our own can do is then
//! skipped, and says so.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod about;
mod clicks;
mod commands;
mod delivery;
mod fallback;
mod forged;
mod replicas;
mod scene;
mod short_ids;
mod talk;
mod texts;
mod tools;
mod who;

#[path = "../shared/ours.rs"]
mod ours;
#[path = "../http/support.rs"]
#[expect(dead_code, reason = "written for another suite, which uses the rest")]
mod support;
