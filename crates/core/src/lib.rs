//! What a tool call would do, how risky that is, and whether a person must confirm it.
//!
//! Pure functions: no clock, no file, no environment, no network, no randomness. What they need
//! to know arrives as an argument, so every verdict can be replayed.
//!
//! Reading order: [`call`] is what comes in, [`mod@assess`] turns it into acts and a score,
//! [`mod@verdict`] decides. [`shell`] and `program` follow commands by the tables of [`knowledge`];
//! [`content`] reads messages; [`display`] shows untrusted text.

pub mod act;
pub mod assess;
pub mod assessment;
pub mod call;
pub mod content;
pub mod display;
pub mod knowledge;
pub mod language;
pub mod place;
pub mod policy;
mod program;
pub mod score;
pub mod shell;
pub mod verdict;
