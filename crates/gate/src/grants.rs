//! Standing permissions: what people see of them, and taking them back.

use countersign_core::grant::{Grant, Scope};
use countersign_core::ledger::Draft;
use countersign_store::{Expect, Kind, Put, Record};

use crate::principal::Principal;
use crate::stored::{StoredCall, written};
use crate::view::{GrantView, Page, ScopeView};
use crate::{Gate, GateError};

impl Gate {
    /// Returns grants, the newest first; only live ones unless asked for all.
    pub async fn grants(&self, who: &Principal, all: bool) -> Result<Page<GrantView>, GateError> {
        let _ = (who, all, &self.inner);
        Err(GateError::NotFound {
            kind: "grant",
            id: String::new(),
        })
    }

    /// Takes a grant back.
    pub async fn revoke_grant(&self, who: &Principal, id: &str) -> Result<GrantView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "grant",
            id: String::new(),
        })
    }

    /// Returns the grants that could be left for an approval, or `scope` alone, each with how many of the last 500 calls of that key it would have matched.
    pub async fn preview(
        &self,
        who: &Principal,
        approval: &str,
        scope: Option<Scope>,
    ) -> Result<Vec<ScopeView>, GateError> {
        let _ = (who, approval, scope, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }
}

/// Returns the record of `grant`.
pub(crate) fn grant_put(grant: &Grant, expect: Expect) -> Put {
    let status = if grant.revoked.is_some() {
        "revoked"
    } else if grant.uses_left == Some(0) {
        "ended"
    } else {
        "live"
    };
    Put {
        record: Record {
            kind: Kind::Grant,
            id: grant.id.0.clone(),
            version: 0,
            status: status.to_owned(),
            owner: grant.key.0.clone(),
            session: grant.session.clone().unwrap_or_default(),
            run: String::new(),
            link: grant.approval_id.0.clone(),
            at: grant.given_at.0,
            due_at: grant.expires_at.map(|end| end.0),
            body: written(grant),
        },
        expect,
    }
}

/// A grant was left by the answer about `call`.
pub(crate) fn grant_created(grant: &Grant, call: &StoredCall) -> Draft {
    told("grant.created", grant, call)
}

/// Returns what must be written when `grant`, read at `version`, lets `call` run.
pub(crate) fn grant_used(mut grant: Grant, version: u64, call: &StoredCall) -> (Put, Draft) {
    grant.uses += 1;
    grant.used_at = Some(call.at);
    grant.uses_left = grant.uses_left.map(|left| left.saturating_sub(1));
    let entry = told("grant.used", &grant, call);
    (grant_put(&grant, Expect::Version(version)), entry)
}

fn told(event: &str, grant: &Grant, call: &StoredCall) -> Draft {
    let body = serde_json::json!({
        "event": event,
        "grant_id": grant.id.as_str(),
        "call_id": call.call_id.as_str(),
        "run_id": call.run,
        "session_id": call.session,
        "scope": grant.scope.words(),
        "by": grant.by,
        "uses": grant.uses,
        "uses_left": grant.uses_left,
        "expires_at": grant.expires_at.map(countersign_core::time::UnixMillis::as_seconds),
        "timestamp": call.at.as_seconds(),
    });
    Draft {
        at: call.at,
        event: event.to_owned(),
        owner: call.key.0.clone(),
        run: call.run.clone(),
        session: call.session.clone(),
        subject: grant.id.0.clone(),
        body: body.to_string(),
    }
}
