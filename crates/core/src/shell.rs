//! Parses shell text into a tree.
//!
//! The parser knows nothing about programs: [`crate::follow`] decides what a script would do.

mod escape;
pub mod parse;
pub mod placeholder;
pub mod syntax;

pub(crate) use escape::{quote, unescape};
