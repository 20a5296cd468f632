//! A person answers.

use crate::principal::Principal;
use crate::request::Reply;
use crate::view::{ApprovalView, Page};
use crate::{Gate, GateError};

/// Which approvals.
#[derive(Clone, Debug, Default)]
pub struct ApprovalFilter {
    /// `waiting`, `approved`, `denied`, `expired` or `withdrawn`.
    pub status: Option<String>,
    /// Of this run.
    pub run: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub behind: Option<String>,
}

impl Gate {
    /// Returns approvals, the newest first; with `status`, only those.
    pub async fn approvals(
        &self,
        who: &Principal,
        filter: ApprovalFilter,
    ) -> Result<Page<ApprovalView>, GateError> {
        let _ = (who, filter, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }

    /// Returns one approval.
    pub async fn approval(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }

    /// Answers one approval.
    pub async fn answer(&self, who: &Principal, reply: Reply) -> Result<ApprovalView, GateError> {
        let _ = (who, reply, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }

    /// Takes an allowing answer back while it is held.
    pub async fn take_back(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }

    /// Records that a person opened the full text.
    pub async fn viewed(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }
}
