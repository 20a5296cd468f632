//! The strict Mattermost is strict: each rule it enforces, tried from outside. A server for tests
//! that lets everything pass would prove nothing about what is tested against it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod buttons;
mod commands;
mod dialogs;
mod events;
mod faults;
mod posts;
mod support;
