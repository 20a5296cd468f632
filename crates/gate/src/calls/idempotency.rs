//! The same request sent twice: an idempotency key names it, so that it is submitted once.

use countersign_core::digest::Digest;
use countersign_core::id::CallId;
use countersign_store::{Expect, Kind, Put, Record};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::calls::Calls;
use crate::records::error::invalid;
use crate::records::request::Submission;
use crate::records::stored::{StoredCall, read, written};
use crate::records::view::CallView;

impl Calls {
    /// Returns the call that was submitted under this idempotency key, whatever it was about, for
    /// whoever takes up work after a crash and must not submit it anew.
    pub async fn submitted(
        &self,
        who: &Principal,
        name: &str,
    ) -> Result<Option<CallView>, GateError> {
        let id = idempotency_id(who, name);
        let Some(record) = self.base.store.get(Kind::Idempotency, &id).await? else {
            return Ok(None);
        };
        let before: Repeated = read(&record)?;
        let call = self.call(who, before.call_id.as_str(), std::time::Duration::ZERO);
        call.await.map(Some)
    }

    /// Returns the call that was submitted under the same idempotency key before.
    pub(crate) async fn repeated(
        &self,
        who: &Principal,
        submission: &Submission,
    ) -> Result<Option<CallView>, GateError> {
        let Some(name) = &submission.idempotency_key else {
            return Ok(None);
        };
        let id = idempotency_id(who, name);
        let Some(record) = self.base.store.get(Kind::Idempotency, &id).await? else {
            return Ok(None);
        };
        let before: Repeated = read(&record)?;
        if before.fingerprint != fingerprint(submission) {
            let message = "this Idempotency-Key was used for another call";
            return Err(invalid(
                "Idempotency-Key",
                "idempotency_key_reused",
                message,
            ));
        }
        self.call(who, before.call_id.as_str(), std::time::Duration::ZERO)
            .await
            .map(Some)
    }
}

/// What was submitted under an idempotency key.
#[derive(Serialize, Deserialize)]
struct Repeated {
    call_id: CallId,
    fingerprint: Digest,
}

fn idempotency_id(who: &Principal, name: &str) -> String {
    format!("{}\n{name}", who.key)
}

pub(crate) fn idempotency_put(
    who: &Principal,
    name: &str,
    submission: &Submission,
    call: &StoredCall,
) -> Put {
    Put {
        record: Record {
            kind: Kind::Idempotency,
            id: idempotency_id(who, name),
            version: 0,
            status: String::new(),
            owner: who.key.0.clone(),
            session: String::new(),
            run: String::new(),
            link: String::new(),
            at: call.at.0,
            due_at: None,
            body: written(&Repeated {
                call_id: call.call_id.clone(),
                fingerprint: fingerprint(submission),
            }),
        },
        expect: Expect::Absent,
    }
}

/// Returns what tells one request from another under the same idempotency key.
fn fingerprint(submission: &Submission) -> Digest {
    let Submission {
        call,
        raw,
        session,
        run,
        agent,
        executor,
        tool_definition,
        attachments,
        explanation,
        starter,
        answers_starter,
        call_id: _,
        tool_call_id: _,
        idempotency_key: _,
        on_disk: _,
    } = submission;
    let all = format!(
        "{call:?}{raw:?}{session:?}{run:?}{agent:?}{executor:?}{tool_definition:?}{attachments:?}\
         {explanation:?}{starter:?}{answers_starter:?}"
    );
    Digest::of(all.as_bytes())
}
