//! What led to a call: the message its run answers, and the last calls of that run.

use countersign_core::card::{Redacts, without_secrets};
use countersign_core::display::{line, unfenced};
use countersign_core::time::UnixMillis;
use countersign_store::{Kind, Order, Query};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::GateError;
use crate::base::principal::Principal;
use crate::base::settings::redacts;
use crate::history::History;
use crate::history::traces::TraceView;
use crate::records::stored::{StoredCall, read};
use crate::runs::BUILTIN;

/// Most calls that are shown.
const CALLS_MAX: u32 = 5;
/// Longest message that is shown in full, in characters; of a longer one its beginning.
const MESSAGE_CHARS_MAX: usize = 4000;
/// Messages that are read in one go.
const READ_MAX: u32 = 100;

/// What led to a call.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BeforeView {
    /// What a person said that the run answers.
    pub message: Option<MessageBefore>,
    /// The last calls of the run before this one, the oldest first.
    pub calls: Vec<TraceView>,
}

/// What a person said before a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MessageBefore {
    /// Who said it. Of agents other than the built-in one, their own word.
    pub from: String,
    /// The text, display-redacted; of a long one the beginning.
    pub text: String,
}

impl History {
    /// Returns what led to the call of the question `id`.
    pub async fn before(&self, who: &Principal, id: &str) -> Result<BeforeView, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents see their own calls alone"));
        }
        let call = self.base.stored_approval(id).await?.call;
        let query = Query {
            owner: Some(call.key.0.clone()),
            run: Some(call.run.clone()),
            behind: Some((call.at.0, call.call_id.0.clone())),
            order: Order::NewestFirst,
            limit: CALLS_MAX,
            ..Query::of(Kind::Call)
        };
        let mut calls = Vec::new();
        for record in self.base.store.find(query).await? {
            calls.push(self.trace_view(who, read(&record)?).await?);
        }
        calls.reverse();
        let message = self.message_before(&call).await?;
        Ok(BeforeView { message, calls })
    }

    async fn message_before(&self, call: &StoredCall) -> Result<Option<MessageBefore>, GateError> {
        let (from, text) = match &call.starter {
            Some(starter) => match self.last_said(&call.run, call.at).await? {
                Some(text) => (starter.clone(), text),
                None => return Ok(None),
            },
            None => match call.replying_to.last() {
                Some(said) => said.clone(),
                None => return Ok(None),
            },
        };
        // A policy that cannot be read today hides more, not less.
        let policy = self.base.policies.at(call.cwd.as_deref());
        let redacts = policy.map_or(Redacts::Secrets, |it| redacts(&it.policy));
        let shown = unfenced(&without_secrets(&text, redacts));
        // Not every agent says who it answers.
        let from = match from.as_str() {
            "" => "somebody".to_owned(),
            from => line(from),
        };
        Ok(Some(MessageBefore {
            from,
            text: beginning(shown),
        }))
    }

    /// Returns what the person said last in a run of the built-in agent, up to `moment`.
    async fn last_said(&self, run: &str, moment: UnixMillis) -> Result<Option<String>, GateError> {
        let mut query = Query {
            owner: Some(BUILTIN.to_owned()),
            run: Some(run.to_owned()),
            behind: Some((moment.plus(1).0, String::new())),
            order: Order::NewestFirst,
            limit: READ_MAX,
            ..Query::of(Kind::Message)
        };
        loop {
            let records = self.base.store.find(query.clone()).await?;
            for record in &records {
                let message: Value = read(record)?;
                if message.get("role").and_then(Value::as_str) == Some("user") {
                    let text = message.get("content").and_then(Value::as_str);
                    return Ok(text.map(str::to_owned));
                }
            }
            let Some(last) = records.last() else {
                return Ok(None);
            };
            query.behind = Some((last.at, last.id.clone()));
        }
    }
}

fn beginning(text: String) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        None => text,
        Some((at, _)) => format!("{} …", text.get(..at).unwrap_or_default()),
    }
}
