//! The full-screen programs. They use the HTTP API like any other client.
//!
//! A program is a [`screen::Screen`]: it draws, takes keys and news, and says what it wants done. It
//! does nothing itself, so every one of them is tested without a terminal, a clock or a gateway.

pub(crate) mod approval_panel;
pub(crate) mod arming;
pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod clarify_panel;
pub(crate) mod doc;
pub(crate) mod drive;
pub(crate) mod inbox;
pub(crate) mod input;
pub(crate) mod keys;
pub(crate) mod markdown;
pub(crate) mod panel;
#[cfg(test)]
pub(crate) mod picture;
pub(crate) mod screen;
pub(crate) mod syntax;
pub(crate) mod theme;
pub(crate) mod wrap;
