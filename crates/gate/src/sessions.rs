//! A session's facts: its workspace, its override, whether a person in crisis was in it.

use countersign_core::id::KeyId;
use countersign_core::time::UnixMillis;
use countersign_store::Put;
use serde::Serialize;

use crate::principal::Principal;
use crate::{Gate, GateError};

/// What is known of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionFacts {
    /// The workspace, fixed by the session's first call.
    pub(crate) workspace: Option<String>,
    /// Whether a person in crisis was in it.
    pub(crate) crisis: bool,
    /// Until when it runs without questions.
    pub(crate) override_until: Option<UnixMillis>,
    /// The version of its record; none yet.
    pub(crate) version: Option<u64>,
}

/// An override of one session.
#[derive(Clone, Debug, Serialize)]
pub struct OverrideView {
    /// The session.
    pub session_id: String,
    /// Whose.
    pub key_id: String,
    /// Until when, in seconds; null: none.
    pub until: Option<f64>,
    /// Why.
    pub reason: String,
    /// Who gave it.
    pub by: String,
}

impl Gate {
    /// Lets a session run without questions for a while; rules 1 to 4 stand.
    pub async fn start_override(
        &self,
        who: &Principal,
        key: Option<&str>,
        session: &str,
        minutes: u32,
        reason: &str,
    ) -> Result<OverrideView, GateError> {
        let _ = (who, key, session, minutes, reason, &self.inner);
        Err(GateError::NotFound {
            kind: "session",
            id: String::new(),
        })
    }

    /// Ends an override.
    pub async fn end_override(
        &self,
        who: &Principal,
        key: Option<&str>,
        session: &str,
    ) -> Result<OverrideView, GateError> {
        let _ = (who, key, session, &self.inner);
        Err(GateError::NotFound {
            kind: "session",
            id: String::new(),
        })
    }

    /// Returns the sessions with a live override.
    pub async fn overrides(&self, who: &Principal) -> Result<Vec<OverrideView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "session",
            id: String::new(),
        })
    }

    /// Returns what is known of a session.
    pub(crate) async fn session_facts(
        &self,
        key: &KeyId,
        session: &str,
    ) -> Result<SessionFacts, GateError> {
        let _ = (key, session, &self.inner);
        Ok(SessionFacts::default())
    }

    /// Returns what must be written for a session to go from `before` to `after`; nothing if they
    /// are the same.
    pub(crate) fn session_put(
        &self,
        key: &KeyId,
        session: &str,
        before: &SessionFacts,
        after: &SessionFacts,
    ) -> Option<Put> {
        let _ = (key, session, before, after, &self.inner);
        None
    }

    /// Forgets what is remembered of a session: it has changed.
    pub(crate) fn forget_session(&self, key: &KeyId, session: &str) {
        let _ = (key, session, &self.inner);
    }
}
