//! Looks at an answer of a server while it passes: how a call ended, and which tools were listed.
//!
//! Separate because nothing here changes what passes.

use std::sync::Arc;

use super::reply::Reply;
use crate::mcp::gatekeeper::Gatekeeper;
use crate::mcp::http::sse::Events;
use crate::mcp::message::{MESSAGE_BYTES_MAX, read_server};

/// What is looked for.
#[derive(Debug)]
pub(super) enum Watch {
    /// How the call with this key ended.
    Call { key: String },
    /// The tools in the answer to the request with this key.
    Tools {
        key: String,
        is_first: bool,
        gatekeeper: Arc<Gatekeeper>,
    },
}

/// An answer that is looked at.
#[derive(Debug)]
pub(super) struct Watched {
    watch: Watch,
    reading: Reading,
    /// How the call ended, if it was seen.
    failed: Option<bool>,
}

#[derive(Debug)]
enum Reading {
    Events(Events),
    Message(Vec<u8>),
    /// It cannot be read, or has been.
    Nothing,
}

impl Watched {
    /// Returns what looks at `reply`.
    pub(super) fn new(watch: Watch, reply: &Reply) -> Self {
        let reading = if reply.is_events() {
            Reading::Events(Events::default())
        } else if reply.is_json() {
            Reading::Message(Vec::new())
        } else {
            Reading::Nothing
        };
        Self {
            watch,
            reading,
            failed: None,
        }
    }

    /// Takes the next piece, before the client has it.
    pub(super) fn take(&mut self, piece: &[u8]) {
        match &mut self.reading {
            Reading::Nothing => {}
            Reading::Events(events) => match events.feed(piece) {
                Ok(events) => {
                    for event in events {
                        self.look(&event.data);
                    }
                }
                Err(_) => self.reading = Reading::Nothing,
            },
            Reading::Message(message) => {
                if message.len() + piece.len() > MESSAGE_BYTES_MAX {
                    self.reading = Reading::Nothing;
                } else {
                    message.extend_from_slice(piece);
                }
            }
        }
    }

    /// There are no more pieces.
    pub(super) fn end(&mut self) {
        if let Reading::Message(message) = std::mem::replace(&mut self.reading, Reading::Nothing) {
            self.look(&message);
        }
    }

    /// Whether the call failed, or ended in a way that nobody saw.
    pub(super) fn failed(&self) -> bool {
        self.failed.unwrap_or(true)
    }

    fn look(&mut self, message: &[u8]) {
        for response in read_server(message) {
            match &self.watch {
                Watch::Call { key } if response.key() == *key => {
                    self.failed = Some(response.failed());
                }
                Watch::Tools {
                    key,
                    is_first,
                    gatekeeper,
                } if response.key() == *key => {
                    if let Some(result) = response.result {
                        gatekeeper.learn(result, *is_first);
                    }
                }
                Watch::Call { .. } | Watch::Tools { .. } => {}
            }
        }
    }
}
