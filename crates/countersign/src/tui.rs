//! The terminal: full-screen programs that speak to the gateway as any other client does.
//!
//! A program is a [`screen::Screen`]: it draws, takes keys and news, and says what it wants done. It
//! does nothing itself, so every one of them is tested without a terminal, a clock or a gateway.

pub(crate) mod screen;
