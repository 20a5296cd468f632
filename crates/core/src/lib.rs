//! What a tool call would do, how risky that is, and whether a person must confirm it.
//!
//! Pure functions: no clock, no file, no environment, no network, no randomness. What they need
//! to know arrives as an argument, so every verdict can be replayed.

pub mod act;
pub mod assessment;
pub mod content;
pub mod display;
pub mod knowledge;
pub mod language;
pub mod place;
mod program;
pub mod score;
pub mod shell;
