//! Idempotency keys: a repeated request is submitted once.

use countersign_core::digest::Digest;
use countersign_core::id::CallId;
use countersign_store::{Expect, Kind, Put, Record};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::GateError;
use crate::base::principal::Principal;
use crate::calls::Calls;
use crate::records::error::invalid;
use crate::records::request::Submission;
use crate::records::stored::{StoredCall, base64, read, written};
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
        let is_same = match before.digest {
            Some(digest) => digest == digest_of(submission),
            None => self.is_of(&before.call_id, submission).await?,
        };
        if !is_same {
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

    /// Whether `submission` asks for the call `id` again, as far as the stored call can tell. Rows
    /// of versions before the digest have only a hash of Rust's debug output, which changes with
    /// the names of fields; an honest retry must not fail because of that.
    async fn is_of(&self, id: &CallId, submission: &Submission) -> Result<bool, GateError> {
        let Some(record) = self.base.store.get(Kind::Call, id.as_str()).await? else {
            return Ok(false);
        };
        let call: StoredCall = read(&record)?;
        Ok(call.tool == submission.call.tool
            && call.args == submission.call.args
            && call.raw == submission.raw.as_deref().map(base64)
            && call.cwd == submission.call.cwd
            && call.session == submission.session)
    }
}

/// The call submitted under an idempotency key.
#[derive(Serialize, Deserialize)]
struct Repeated {
    call_id: CallId,
    /// What tells one request from another; missing in rows of earlier versions.
    #[serde(default)]
    digest: Option<Digest>,
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
            owner: who.key.0.clone(),
            ..Record::new(
                Kind::Idempotency,
                idempotency_id(who, name),
                call.at.0,
                written(&Repeated {
                    call_id: call.call_id.clone(),
                    digest: Some(digest_of(submission)),
                }),
            )
        },
        expect: Expect::Absent,
    }
}

/// Returns what tells one request from another under the same idempotency key. It is stored, so
/// this list only grows at its end, and only by what is not written where it is missing.
fn digest_of(submission: &Submission) -> Digest {
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
        let_run_at: _,
        fixed: _,
        of_pinned_server: _,
    } = submission;
    let turns = call.replying_to.iter().map(|turn| (&turn.from, &turn.text));
    let hints = call.annotations;
    let all = json!([
        [call.tool, call.args, call.cwd, call.workspace],
        turns.collect::<Vec<_>>(),
        [
            hints.read_only,
            hints.destructive,
            hints.idempotent,
            hints.open_world
        ],
        raw.as_deref().map(base64),
        [session, run, agent, executor],
        [tool_definition, attachments, explanation],
        [starter, answers_starter],
    ]);
    Digest::of(format!("countersign/v1/idempotency\0{all}").as_bytes())
}

#[cfg(test)]
mod tests {
    use countersign_core::call::ToolCall;

    use super::*;

    #[test]
    fn the_digest_of_a_request_is_the_one_that_is_stored() {
        let submission = Submission {
            call: ToolCall::command("rm -rf /srv/www").from_directory("/srv"),
            session: "s1".to_owned(),
            ..Submission::default()
        };
        let stored = "sha256:4b13c5d3e587bc6afe6b7fc75c3af07d4d762c5bfe8b4f94263b9bf6be747901";
        assert_eq!(digest_of(&submission).to_string(), stored);
        let other = Submission {
            session: "s2".to_owned(),
            ..submission
        };
        assert_ne!(digest_of(&other).to_string(), stored);
    }
}
