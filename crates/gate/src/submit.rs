//! A call comes in: judged, then let through, refused, or put to people.

use std::time::Duration;

use crate::principal::Principal;
use crate::request::{Report, Submission};
use crate::view::{CallView, Page};
use crate::{Gate, GateError};

impl Gate {
    /// Takes a call and returns how it stands at once.
    pub async fn submit(
        &self,
        who: &Principal,
        submission: Submission,
    ) -> Result<CallView, GateError> {
        let _ = (who, submission, &self.inner);
        Err(GateError::NotFound {
            kind: "call",
            id: String::new(),
        })
    }

    /// Returns how a call stands, waiting for at most `wait` until it is decided. Hands out its token.
    pub async fn call(
        &self,
        who: &Principal,
        id: &str,
        wait: Duration,
    ) -> Result<CallView, GateError> {
        let _ = (who, id, wait, &self.inner);
        Err(GateError::NotFound {
            kind: "call",
            id: String::new(),
        })
    }

    /// Returns calls, the newest first.
    pub async fn calls(
        &self,
        who: &Principal,
        filter: crate::history::TraceFilter,
    ) -> Result<Page<CallView>, GateError> {
        let _ = (who, filter, &self.inner);
        Err(GateError::NotFound {
            kind: "call",
            id: String::new(),
        })
    }

    /// The asker takes a call back.
    pub async fn withdraw(
        &self,
        who: &Principal,
        id: &str,
        note: Option<String>,
    ) -> Result<CallView, GateError> {
        let _ = (who, id, note, &self.inner);
        Err(GateError::NotFound {
            kind: "call",
            id: String::new(),
        })
    }

    /// The asker reports what came of a call.
    pub async fn report(
        &self,
        who: &Principal,
        id: &str,
        report: Report,
    ) -> Result<CallView, GateError> {
        let _ = (who, id, report, &self.inner);
        Err(GateError::NotFound {
            kind: "call",
            id: String::new(),
        })
    }

    /// Uses a token up.
    pub async fn consume(
        &self,
        who: &Principal,
        token: &str,
    ) -> Result<crate::view::ConsumedView, GateError> {
        let _ = (who, token, &self.inner);
        Err(GateError::NotFound {
            kind: "token",
            id: String::new(),
        })
    }
}
