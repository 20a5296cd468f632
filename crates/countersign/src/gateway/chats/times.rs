//! Times in replies to one person: how much is left, and when that is by their own clock.

use countersign_channels::chat::Typed;
use countersign_channels::zone::Zone;
use countersign_core::time::UnixMillis;

use super::Desk;
use crate::words::span;

/// The clock of who is replied to.
pub(super) struct Times {
    now: UnixMillis,
    zone: Zone,
}

impl Desk {
    /// Returns the clock of who typed this; in UTC if the chat does not say theirs.
    pub(super) async fn times(&self, typed: &Typed) -> Times {
        Times {
            now: self.gate.clock().now(),
            zone: self.chat.zone(&typed.clicker.account).await,
        }
    }
}

impl Times {
    /// Returns when something ends: `expires in 4 min, at 2026-11-16 15:02:05 (Europe/Berlin)`.
    pub(super) fn end(&self, at: UnixMillis) -> String {
        let left = span(at.since(self.now));
        format!("expires in {left}, at {}", self.zone.moment(at))
    }
}
