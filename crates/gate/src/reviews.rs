//! What ran and awaits a look.

use countersign_core::ledger::Draft;
use countersign_store::Put;
use serde::Serialize;

use crate::principal::Principal;
use crate::stored::StoredCall;
use crate::view::{CallView, Page};
use crate::{Gate, GateError};

/// What a person says about something that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It stays.
    Keep,
    /// It is to be undone.
    Undo,
}

/// Something that ran and awaits a look.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewView {
    /// The review.
    pub review_id: String,
    /// The call.
    pub call: CallView,
    /// `waiting`, `kept` or `undone`.
    pub status: String,
    /// Who settled it.
    pub by: Option<String>,
}

impl Gate {
    /// Returns what awaits a look.
    pub async fn reviews(&self, who: &Principal) -> Result<Page<ReviewView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "review",
            id: String::new(),
        })
    }

    /// Settles a review: it is kept, or its asker is told to undo it.
    pub async fn settle_review(
        &self,
        who: &Principal,
        id: &str,
        settled: Settled,
    ) -> Result<ReviewView, GateError> {
        let _ = (who, id, settled, &self.inner);
        Err(GateError::NotFound {
            kind: "review",
            id: String::new(),
        })
    }

    /// Returns what must be written so that `call`, shown as `command`, is looked at afterwards.
    pub(crate) fn review_of(&self, call: &StoredCall, command: &str) -> Option<(Put, Draft)> {
        let _ = (call, command, &self.inner);
        None
    }
}
