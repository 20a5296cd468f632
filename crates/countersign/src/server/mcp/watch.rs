//! Looks at an answer of a server while it passes: how a call ended, and which tools were listed.
//!
//! Separate because nothing here changes what passes.

use std::sync::Arc;

use super::reply::Reply;
use crate::mcp::gatekeeper::Gatekeeper;
use crate::mcp::http::sse::Events;
use crate::mcp::message::{MESSAGE_BYTES_MAX, read_server};

/// An answer that is looked at.
#[derive(Debug)]
pub(super) struct Watched {
    /// The key of the call whose end is looked for.
    call: Option<String>,
    /// Who learns which tools are listed: the answer to any request may come with any other.
    gatekeeper: Arc<Gatekeeper>,
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
    pub(super) fn new(call: Option<String>, gatekeeper: Arc<Gatekeeper>, reply: &Reply) -> Self {
        let reading = if reply.is_events() {
            Reading::Events(Events::default())
        } else if reply.is_json() {
            Reading::Message(Vec::new())
        } else {
            Reading::Nothing
        };
        Self {
            call,
            gatekeeper,
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
        self.gatekeeper.hear(message);
        let Some(key) = &self.call else {
            return;
        };
        for response in read_server(message) {
            if response.key() == *key {
                self.failed = Some(response.failed());
            }
        }
    }
}
