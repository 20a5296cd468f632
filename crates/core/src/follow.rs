//! Follows a script without running it and collects the effect of each command.
//!
//! [`walk`] goes through the tree that [`crate::shell`] parsed, `expand` expands words, [`value`] is
//! what is known about them, and `program` says what a single command does. A walk has a budget
//! (limits), a scope (names that the script defined) and a memory (files that it made).

mod arithmetic;
mod braces;
pub(crate) mod budget;
mod expand;
mod key_names;
pub(crate) mod memory;
pub(crate) mod patch;
pub(crate) mod program;
pub(crate) mod scope;
pub mod value;
pub mod walk;
