//! Known recipients. Cards say whether somebody was written to before.

use countersign_core::call::ToolCall;
use countersign_core::card::recipients;
use countersign_core::digest::Digest;
use countersign_store::{Change, Expect, Kind, Put, Record};

use crate::GateError;
use crate::approvals::Approvals;
use crate::records::stored::StoredApproval;

/// Recipients of one call that are looked up; of more, one counts as new.
const RECIPIENTS_MAX: usize = 32;

impl Approvals {
    /// Returns whether everybody `call` would write to was written to before; `None` if it would
    /// write to nobody.
    pub(crate) async fn knows_recipients(
        &self,
        call: &ToolCall,
    ) -> Result<Option<bool>, GateError> {
        let names = recipients(call);
        if names.is_empty() {
            return Ok(None);
        }
        if names.len() > RECIPIENTS_MAX {
            return Ok(Some(false));
        }
        for name in &names {
            let known = self
                .base
                .store
                .get(Kind::Recipient, &record_id(name))
                .await?;
            if known.is_none() {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Remembers whom an approved call wrote to. Only for show, so it may be lost in a crash.
    pub(crate) fn remember_recipients(&self, stored: &StoredApproval) {
        let call = stored.call.tool_call(stored.edited.as_ref());
        let at = self.base.clock.now().0;
        let puts: Vec<Put> = recipients(&call)
            .iter()
            .take(RECIPIENTS_MAX)
            .map(|name| Put {
                record: Record::new(Kind::Recipient, record_id(name), at, "{}".to_owned()),
                expect: Expect::Anything,
            })
            .collect();
        if puts.is_empty() {
            return;
        }
        let change = Change {
            puts,
            entries: Vec::new(),
        };
        if let Err(error) = self.base.store.append(change) {
            tracing::warn!(%error, "who was written to is not remembered");
        }
    }
}

/// Names are kept as hashes: an address book is not for whoever reads the database.
fn record_id(name: &str) -> String {
    Digest::of(format!("countersign/v1/recipient\0{}", name.trim()).as_bytes()).hex()
}
