//! Chats: presses on cards, and conversations with the built-in agent.

pub mod click;
pub(crate) mod seal_key;
pub mod threads;
