//! Records the handover of a message before it happens, so that after a crash it is known what was
//! certainly not sent.

use countersign_store::{Change, Expect, Kind};

use crate::GateError;
use crate::base::principal::Principal;
use crate::calls::Calls;
use crate::calls::permit::Permit;
use crate::records::entries::about;
use crate::records::event::{CallHandedOver, Event};
use crate::records::retry::{busy, retry_on_conflict};
use crate::records::stored::{StoredCall, read};

impl Calls {
    /// Notes, durably, that the call of `permit` is handed over now to whoever carries it outside.
    /// Nothing may be sent unless this succeeds, and it succeeds once.
    pub async fn hand_over(&self, who: &Principal, permit: &Permit) -> Result<(), GateError> {
        let id = permit.call_id();
        self.base.own_call(who, id).await?;
        retry_on_conflict(|| async {
            let record = self.base.store.get(Kind::Call, id).await?;
            let record = record.ok_or_else(|| GateError::NotFound {
                kind: "call",
                id: id.to_owned(),
            })?;
            let mut call: StoredCall = read(&record)?;
            if call.handed_over_at.is_some() {
                return Err(GateError::AlreadySettled {
                    kind: "call",
                    how: "it was handed over".to_owned(),
                });
            }
            let now = self.base.clock.now();
            call.handed_over_at = Some(now);
            let event = Event::CallHandedOver(CallHandedOver {
                call_id: id.to_owned(),
                tool_call_id: call.tool_call_id.clone(),
                run_id: call.run.clone(),
                session_id: call.session.clone(),
                tool: call.tool.clone(),
                timestamp: now.as_seconds(),
            });
            let entry = about(&call, id, now, &event);
            let change = Change {
                puts: vec![call.put(Expect::Version(record.version))],
                entries: vec![entry],
            };
            self.base.store.commit(change).await?;
            Ok(())
        })
        .await
        .map_err(busy("too many concurrent changes of this call"))
    }

    /// Whether a call was handed over. One that was begun and was not handed over was certainly not
    /// sent; one that was may or may not have arrived.
    pub async fn is_handed_over(&self, who: &Principal, id: &str) -> Result<bool, GateError> {
        let call = self.base.own_call(who, id).await?;
        Ok(call.handed_over_at.is_some())
    }
}
