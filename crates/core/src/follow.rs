//! Follows a script without running it: what would each command do?
//!
//! [`walk`] goes through the tree that [`crate::shell`] parsed, `expand` expands words, [`value`] is
//! what is known about them, and `program` says what a single command does.

mod arithmetic;
mod braces;
mod expand;
pub(crate) mod patch;
pub(crate) mod program;
pub mod value;
pub mod walk;
