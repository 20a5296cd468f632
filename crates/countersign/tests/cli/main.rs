//! The binary as people and scripts meet it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod check;
mod config;
mod eval;
mod generated;
mod init;
#[path = "../shared/ours.rs"]
mod ours;
mod programs;
mod support;
