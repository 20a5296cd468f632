//! The built-in agent against a scripted model: what runs, what waits, what the model is told, what
//! is shown meanwhile, and what a crash leaves.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may fail loudly")]

mod crisis;
mod interrupted;
mod looping;
mod real;
mod second_reader;
mod steering;
mod support;
mod written;
