//! Reports to the room `delivery` that a card must be delivered or repainted.
//!
//! Rooms below `delivery` open and settle questions. They report it here, so that none of them has to
//! know who delivers.

use std::sync::{Arc, OnceLock, Weak};

/// Delivers and repaints cards in the background.
pub(crate) trait Painter: std::fmt::Debug + Send + Sync {
    /// Delivers the card of a question that was just opened.
    fn deliver_soon(self: Arc<Self>, subject: &str);
    /// Repaints the cards of a question that has changed.
    fn repaint_soon(self: Arc<Self>, subject: &str);
}

/// The painter, once there is one. It is not kept alive by this.
#[derive(Debug, Default)]
pub(crate) struct Cards(OnceLock<Weak<dyn Painter>>);

impl Cards {
    /// Names the painter. Only the first one counts.
    pub(crate) fn set_painter(&self, painter: Weak<dyn Painter>) {
        self.0.get_or_init(|| painter);
    }

    /// Delivers the card of a question that was just opened.
    pub(crate) fn deliver_soon(&self, subject: &str) {
        if let Some(painter) = self.painter() {
            painter.deliver_soon(subject);
        }
    }

    /// Repaints the cards of a question that has changed.
    pub(crate) fn repaint_soon(&self, subject: &str) {
        if let Some(painter) = self.painter() {
            painter.repaint_soon(subject);
        }
    }

    fn painter(&self) -> Option<Arc<dyn Painter>> {
        self.0.get().and_then(Weak::upgrade)
    }
}
