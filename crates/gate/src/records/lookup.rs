//! Reads calls, approvals and whole lists from the store, for every room.

use countersign_core::ledger::Draft;
use countersign_store::{Expect, Kind, Put, Query, Record, StoreError};
use serde_json::json;

use crate::GateError;
use crate::base::Base;
use crate::base::principal::Principal;
use crate::records::entries::call_reported;
use crate::records::error::invalid;
use crate::records::request::Report;
use crate::records::stored::{StoredApproval, StoredCall, read};
use crate::records::view::CallView;

/// Longest summary of an outcome that is kept, in bytes.
const SUMMARY_BYTES_MAX: usize = 16 * 1024;

impl Base {
    /// Returns an approval as it is kept.
    pub(crate) async fn stored_approval(&self, id: &str) -> Result<StoredApproval, GateError> {
        let record = self.store.get(Kind::Approval, id).await?;
        let record = record.ok_or_else(|| GateError::NotFound {
            kind: "approval",
            id: id.to_owned(),
        })?;
        Ok(read(&record)?)
    }

    /// Returns a call that `who` may see.
    pub(crate) async fn stored_call(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<StoredCall, GateError> {
        let record = self.store.get(Kind::Call, id).await?;
        let record = record.ok_or_else(|| no_call(id))?;
        let call: StoredCall = read(&record)?;
        if !who.role.sees_all() && call.key != who.key {
            return Err(no_call(id));
        }
        Ok(call)
    }

    /// Returns a call that `who` submitted.
    pub(crate) async fn own_call(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<StoredCall, GateError> {
        if !who.role.asks() {
            return Err(GateError::Forbidden(
                "only the agent that submitted a call may do this",
            ));
        }
        self.stored_call(who, id).await
    }

    /// Returns a call with what came of it, and what has to be written for that.
    pub(crate) async fn reported(
        &self,
        id: &str,
        report: &Report,
    ) -> Result<(StoredCall, Put, Draft), GateError> {
        let summary = report.summary.as_deref().unwrap_or_default();
        if summary.len() > SUMMARY_BYTES_MAX {
            let message = "the summary is longer than 16 KiB";
            return Err(invalid("summary", "too_long", message));
        }
        let record = self.store.get(Kind::Call, id).await?;
        let record = record.ok_or_else(|| no_call(id))?;
        let mut call: StoredCall = read(&record)?;
        let now = self.clock.now();
        let entry = call_reported(&call, report, now);
        call.outcome = Some(json!({
            "failed": report.failed,
            "summary": report.summary,
            "duration": report.duration_millis,
            "exit_code": report.exit_code,
            "at": now.as_seconds(),
        }));
        let put = call.put(Expect::Version(record.version));
        Ok((call, put, entry))
    }

    /// Returns how a call stands, without its token.
    pub(crate) async fn view_without_collecting(
        &self,
        call: &StoredCall,
    ) -> Result<CallView, GateError> {
        let stored = match &call.approval {
            None => None,
            Some(id) => Some(self.stored_approval(id.as_str()).await?),
        };
        Ok(CallView::of(call, stored.as_ref()))
    }

    /// Returns everything `query` asks for, page by page.
    pub(crate) async fn find_all(&self, mut query: Query) -> Result<Vec<Record>, StoreError> {
        let mut found = Vec::new();
        loop {
            let page = self.store.find(query.clone()).await?;
            let full = page.len() >= usize::try_from(query.limit).unwrap_or(usize::MAX);
            query.behind = page.last().map(|last| (last.at, last.id.clone()));
            found.extend(page);
            if !full {
                return Ok(found);
            }
        }
    }
}

/// Returns the error for a call that does not exist or that the asker may not see.
pub(crate) fn no_call(id: &str) -> GateError {
    GateError::NotFound {
        kind: "call",
        id: id.to_owned(),
    }
}
