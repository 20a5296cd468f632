//! What happened: traces, the ledger, and what another policy would have said.

use countersign_core::ledger::Entry;
use countersign_core::policy::Policy;
use serde::Serialize;

use crate::principal::Principal;
use crate::view::Page;
use crate::{Gate, GateError};

/// Which traces.
#[derive(Clone, Debug, Default)]
pub struct TraceFilter {
    /// Of this run.
    pub run: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// With this verdict.
    pub verdict: Option<String>,
    /// At or after this moment, in milliseconds.
    pub since: Option<i64>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub behind: Option<String>,
}

/// How a call was judged and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct TraceView {
    /// The call as its asker sees it, without its token.
    #[serde(flatten)]
    pub call: crate::view::CallView,
    /// The arguments, display-redacted.
    pub args: serde_json::Value,
    /// The call on one line, display-redacted.
    pub command: String,
    /// The directory.
    pub cwd: Option<String>,
    /// What the agent calls itself.
    pub agent: Option<String>,
    /// Name of the key.
    pub key_name: String,
    /// Hash of the policy it was judged under.
    pub policy: String,
    /// What came of it, as the asker reports.
    pub outcome: Option<serde_json::Value>,
}

/// Whether the ledger is what it was.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerState {
    /// Whether it is.
    pub ok: bool,
    /// Good entries.
    pub entries: u64,
    /// Hash of the last good one.
    pub head: String,
    /// Signatures that were checked.
    pub checkpoints: u64,
    /// The first bad entry.
    pub first_bad: Option<u64>,
    /// What is wrong with it.
    pub why: Option<String>,
}

/// What another policy would have said.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replayed {
    /// Calls that were judged again.
    pub calls: u64,
    /// Verdicts then and now: `{"ask":{"allow":3}}`.
    pub verdicts: std::collections::BTreeMap<String, std::collections::BTreeMap<String, u64>>,
    /// Calls whose verdict differs, at most a hundred.
    pub changed: Vec<ReplayedCall>,
}

/// A call whose verdict differs.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayedCall {
    /// The call.
    pub call_id: String,
    /// On one line, display-redacted.
    pub command: String,
    /// The verdict then.
    pub was: String,
    /// The verdict now.
    pub now: String,
    /// Why.
    pub reason: String,
}

impl Gate {
    /// Returns traces, the newest first.
    pub async fn traces(
        &self,
        who: &Principal,
        filter: TraceFilter,
    ) -> Result<Page<TraceView>, GateError> {
        let _ = (who, filter, &self.inner);
        Err(GateError::NotFound {
            kind: "trace",
            id: String::new(),
        })
    }

    /// Returns one trace, by the id of its call or of its approval.
    pub async fn trace(&self, who: &Principal, id: &str) -> Result<TraceView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "trace",
            id: String::new(),
        })
    }

    /// Returns at most `limit` entries behind number `after` that `who` may see, and the number to go on from.
    pub async fn entries(
        &self,
        who: &Principal,
        after: u64,
        limit: u32,
    ) -> Result<(Vec<Entry>, u64), GateError> {
        let _ = (who, after, limit, &self.inner);
        Err(GateError::NotFound {
            kind: "entry",
            id: String::new(),
        })
    }

    /// Verifies the whole chain and its signatures.
    pub async fn verify_ledger(&self, who: &Principal) -> Result<LedgerState, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "entry",
            id: String::new(),
        })
    }

    /// Judges the calls since `since` (milliseconds) again under `policy`.
    pub async fn replay(
        &self,
        who: &Principal,
        since: i64,
        policy: Policy,
    ) -> Result<Replayed, GateError> {
        let _ = (who, since, policy, &self.inner);
        Err(GateError::NotFound {
            kind: "trace",
            id: String::new(),
        })
    }
}
