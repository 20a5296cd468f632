//! What a shell command would do: parsed, expanded and followed, never run.

mod arithmetic;
mod braces;
mod escape;
mod expand;
pub mod parse;
pub mod placeholder;
pub mod syntax;
pub mod value;
pub mod walk;

pub(crate) use escape::unescape;
