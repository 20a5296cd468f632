//! What the gate answers, as programs see it on the wire.

use countersign_core::card::Card;
use countersign_core::grant::Scope;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct DecisionView {
    /// `approved`, `denied`, `expired`, `withdrawn`, `allowed` or `refused`.
    pub outcome: String,
    /// `rule`, `grant`, `person`, `model`, `expiry`, `undeliverable`, `withdrawal`, `deny_memory`
    /// or `no_approver`.
    pub cause: String,
    /// What was chosen.
    pub choice: Option<String>,
    /// Who chose it.
    pub by: Option<String>,
    /// Where.
    pub via: Option<String>,
    /// What was said about it.
    pub note: Option<String>,
    /// When, in milliseconds; seconds on the wire.
    #[serde(serialize_with = "seconds", deserialize_with = "millis")]
    pub at: i64,
    /// The grant it left, or that let it run.
    pub grant_id: Option<String>,
    /// The arguments as the person changed them.
    #[schema(value_type = Option<Object>)]
    pub args: Option<Value>,
}

/// One call, as its asker sees it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CallView {
    /// The call.
    pub call_id: String,
    /// Its run.
    pub run_id: String,
    /// Its session.
    pub session_id: String,
    /// The tool.
    pub tool: String,
    /// `waiting`, `allowed`, `approved`, `denied`, `refused`, `expired` or `withdrawn`.
    pub status: String,
    /// `allow`, `allow_then_review`, `ask` or `refuse`.
    pub verdict: String,
    /// What it would do.
    #[schema(value_type = Object)]
    pub assessment: Box<RawValue>,
    /// What the decision is bound to.
    pub digest: String,
    /// The question, if there is one.
    pub approval_id: Option<String>,
    /// When the question ends unanswered, in seconds.
    pub expires_at: Option<f64>,
    /// How it ended.
    pub decision: Option<DecisionView>,
    /// The proof, for the asker alone.
    pub token: Option<String>,
    /// When the proof ends, in seconds.
    pub token_expires_at: Option<f64>,
    /// What to tell the model.
    pub message: String,
    /// When it was submitted, in seconds.
    pub created_at: f64,
}

impl CallView {
    /// Whether nobody has decided yet.
    pub fn is_waiting(&self) -> bool {
        self.status == "waiting"
    }
}

/// One question, as people see it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ApprovalView {
    /// The question.
    pub approval_id: String,
    /// The call it is about (the first, if several wait for it).
    pub call_id: String,
    /// Its run.
    pub run_id: String,
    /// Its session.
    pub session_id: String,
    /// `waiting`, `approved`, `denied`, `expired` or `withdrawn`.
    pub status: String,
    /// Whether an answer is held back and can be taken back, and until when, in seconds.
    pub held_until: Option<f64>,
    /// The tool.
    pub tool: String,
    /// Its arguments, display-redacted.
    #[schema(value_type = Object)]
    pub args: Value,
    /// The shell text or the call on one line, display-redacted.
    pub command: String,
    /// The first reason.
    pub description: String,
    /// What may be chosen.
    pub choices: Vec<String>,
    /// What the judge found.
    #[schema(value_type = Object)]
    pub assessment: Box<RawValue>,
    /// What an answer is bound to.
    pub digest: String,
    /// When it was asked, in seconds.
    pub created_at: f64,
    /// When it ends unanswered, in seconds.
    pub expires_at: f64,
    /// How it ended.
    pub decision: Option<DecisionView>,
    /// The card.
    #[schema(value_type = Object)]
    pub card: Card,
    /// Grants that may be left, narrowest first.
    pub scopes: Vec<ScopeView>,
}

/// A grant that may be left.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ScopeView {
    /// The scope, to be sent back.
    #[schema(value_type = Object)]
    pub scope: Scope,
    /// In words.
    pub words: String,
    /// How many of the last calls it would have matched, where that was asked for.
    pub matched: Option<u32>,
    /// How many calls were looked at.
    pub of: Option<u32>,
    /// The riskiest of those it would have matched, on one line.
    pub riskiest: Option<String>,
}

/// One grant, as people see it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct GrantView {
    /// The grant.
    pub grant_id: String,
    /// The scope.
    #[schema(value_type = Object)]
    pub scope: Scope,
    /// In words.
    pub words: String,
    /// Whose calls.
    pub key_id: String,
    /// In which session; null: in any.
    pub session_id: Option<String>,
    /// Until when, in seconds.
    pub expires_at: Option<f64>,
    /// How often still.
    pub uses_left: Option<u32>,
    /// How often it was used.
    pub uses: u64,
    /// When last, in seconds.
    pub last_used_at: Option<f64>,
    /// Who gave it.
    pub by: String,
    /// When, in seconds.
    pub created_at: f64,
    /// In answer to which question.
    pub approval_id: String,
    /// Whether it still holds.
    pub live: bool,
}

/// A token that was used.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ConsumedView {
    /// The token.
    pub jti: String,
    /// The call it was for.
    pub call_id: String,
    /// When, in seconds.
    pub consumed_at: f64,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// What stands on it.
    pub items: Vec<T>,
    /// What to ask for the next one.
    pub next: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay exact")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn seconds<S: serde::Serializer>(millis: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*millis as f64 / 1000.0)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "times are far below the limit"
)]
fn millis<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let seconds: f64 = serde::Deserialize::deserialize(deserializer)?;
    Ok((seconds * 1000.0).round() as i64)
}
