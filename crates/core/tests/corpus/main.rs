//! Rates over whole collections of commands and messages: `corpus/`, and data sets where there are.
//!
//! Slow in the dev profile, so apart from the tests of single calls.

#![expect(
    clippy::disallowed_methods,
    reason = "a test may read files and the environment; the core may not"
)]
#![expect(clippy::panic, reason = "a failing test panics")]

mod commands;
mod crisis;
mod crisis_authors;
mod impact;
mod parser_agreement;
mod personal;
#[path = "../support/processor.rs"]
mod processor;
#[path = "../support/rows.rs"]
mod rows;
mod secrets;
mod shuck;
#[expect(clippy::disallowed_methods, reason = "tests read the environment")]
#[path = "../../../testkit/src/skipped.rs"]
pub mod skipped;
mod trajectories;
