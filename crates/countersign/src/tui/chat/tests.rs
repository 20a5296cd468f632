//! The chat: what it looks like, and what keys and events do to it.
