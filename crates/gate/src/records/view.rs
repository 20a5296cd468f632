//! Views: what the API returns.

use countersign_core::approval::{Choice, State};
use countersign_core::card::Card;
use countersign_core::display::inline;
use countersign_core::ending::{Ending, Refusal};
use countersign_core::grant::Scope;
use countersign_core::status::{Cause, Outcome, Risk, Status};
use countersign_core::time::{self, UnixMillis};
use countersign_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::base::settings::Settings;
use crate::records::entries::{decision, description};
use crate::records::fold;
use crate::records::schema;
use crate::records::stored::{Decision, StoredApproval, StoredCall};

/// The text shown in place of a draft.
pub(crate) const DRAFT: &str = "a draft of the agent's reply, which another person reviews";

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DecisionView {
    /// `approved`, `denied`, `expired`, `withdrawn`, `allowed` or `refused`.
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// `rule`, `grant`, `person`, `model`, `expiry`, `undeliverable`, `withdrawal`, `deny_memory`,
    /// `flood` or `no_approver`.
    #[schema(value_type = String)]
    pub cause: Cause,
    /// The choice.
    #[schema(value_type = Option<schema::Choice>)]
    pub choice: Option<Choice>,
    /// Who chose it.
    pub by: Option<String>,
    /// Where.
    pub via: Option<String>,
    /// The note.
    pub note: Option<String>,
    /// When, in seconds on the wire.
    #[serde(with = "time::seconds")]
    #[schema(value_type = f64)]
    pub at: UnixMillis,
    /// The grant it left, or that let it run.
    pub grant_id: Option<String>,
    /// The arguments as the person changed them.
    pub args: Option<Value>,
    /// The deny rule that refused it, by its name.
    pub rule: Option<String>,
    /// When the same was denied, where that refused it, in seconds on the wire.
    #[serde(default, with = "time::maybe_seconds")]
    #[schema(value_type = Option<f64>)]
    pub denied_at: Option<UnixMillis>,
    /// The question whose denial is remembered, where that is the cause.
    #[serde(default)]
    pub denial_id: Option<String>,
    /// After how many seconds the agent may ask again, where it asked too much.
    #[serde(default)]
    pub retry_after: Option<u32>,
}

impl From<Decision> for DecisionView {
    fn from(kept: Decision) -> Self {
        Self {
            outcome: kept.outcome,
            cause: kept.cause,
            choice: kept.choice,
            by: kept.by,
            via: kept.via,
            note: kept.note,
            at: kept.at,
            grant_id: kept.grant_id,
            args: kept.args,
            rule: kept.rule,
            denied_at: kept.denied_at,
            denial_id: kept.denial_id,
            retry_after: kept.retry_after,
        }
    }
}

impl DecisionView {
    /// Returns how a call ended that did not run because of this; `None` if it may run.
    pub fn ending(&self) -> Option<Ending> {
        match self.outcome {
            Outcome::Approved | Outcome::Allowed => None,
            Outcome::Denied => Some(Ending::Denied {
                by: self.by.clone(),
                note: self.note.clone(),
            }),
            Outcome::Refused => Some(Ending::Refused(self.refusal())),
            Outcome::Expired => Some(Ending::Expired {
                reached: self.was_anyone_reached(),
            }),
            Outcome::Withdrawn => Some(Ending::Withdrawn),
        }
    }

    fn refusal(&self) -> Refusal {
        match (self.cause, &self.rule) {
            (Cause::DenyMemory, _) => Refusal::DeniedBefore {
                by: self.by.clone(),
                ago: self.denied_at.map(|denied| self.at.since(denied)),
                note: self.note.clone(),
            },
            (Cause::NoApprover, _) => Refusal::NoApprover,
            (_, Some(rule)) => Refusal::Rule(rule.clone()),
            (_, None) => Refusal::Floor,
        }
    }

    /// Whether anybody could have answered.
    fn was_anyone_reached(&self) -> bool {
        !matches!(self.cause, Cause::Undeliverable | Cause::NoApprover)
    }
}

/// One call, as its asker sees it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
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
    #[schema(value_type = String)]
    pub status: Status,
    /// `allow`, `allow_then_review`, `ask` or `refuse`.
    #[schema(value_type = schema::Verdict)]
    pub verdict: Verdict,
    /// Its effects.
    #[serde(deserialize_with = "raw")]
    #[schema(value_type = schema::AssessmentView)]
    pub assessment: Box<RawValue>,
    /// The digest that the decision is bound to.
    pub digest: String,
    /// The question, if there is one.
    pub approval_id: Option<String>,
    /// When the question expires, in seconds.
    pub expires_at: Option<f64>,
    /// The decision.
    pub decision: Option<DecisionView>,
    /// The proof, for the asker alone.
    pub token: Option<String>,
    /// When the proof ends, in seconds.
    pub token_expires_at: Option<f64>,
    /// The message for the model.
    pub message: String,
    /// When it was submitted, in seconds.
    pub created_at: f64,
}

impl CallView {
    /// Whether nobody has decided yet.
    pub fn is_waiting(&self) -> bool {
        self.status == Status::Waiting
    }

    /// Returns how it ended, if it may not run.
    pub fn ending(&self) -> Option<Ending> {
        self.decision.as_ref().and_then(DecisionView::ending)
    }
}

/// One question, as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
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
    #[schema(value_type = String)]
    pub status: Status,
    /// Whether an answer is held back and can be taken back, and until when, in seconds.
    pub held_until: Option<f64>,
    /// The tool.
    pub tool: String,
    /// Its arguments, display-redacted; null where they are not shown.
    pub args: Value,
    /// The shell text or the call on one line, display-redacted.
    pub command: String,
    /// The first reason.
    pub description: String,
    /// The choices.
    #[schema(value_type = Vec<schema::Choice>)]
    pub choices: Vec<Choice>,
    /// Whether allowing takes a second step, such as Enter after the number: the call is critical.
    #[serde(default)]
    pub confirm_allow: bool,
    /// What the judge found.
    #[serde(deserialize_with = "raw")]
    #[schema(value_type = schema::AssessmentView)]
    pub assessment: Box<RawValue>,
    /// The digest that an answer is bound to.
    pub digest: String,
    /// When it was asked, in seconds.
    pub created_at: f64,
    /// When it expires, in seconds.
    pub expires_at: f64,
    /// By how many seconds it can be extended now; null where that is not offered.
    #[serde(default)]
    pub extend_seconds: Option<f64>,
    /// The decision.
    pub decision: Option<DecisionView>,
    /// The card.
    #[schema(value_type = schema::Card)]
    pub card: Card,
    /// Grants that may be left, narrowest first.
    pub scopes: Vec<ScopeView>,
    /// Whether a person can change the arguments before allowing it. They are then exactly `args`.
    #[serde(default)]
    pub editable: bool,
    /// Equal for similar approvals that wait: three or more may be shown as one row. Null for one
    /// that must have its own row; its text means nothing else.
    pub fold_key: Option<String>,
}

/// A call as a person would change it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EditedView {
    /// Its arguments, display-redacted.
    pub args: Value,
    /// What the rules say about it. A person is asked in any case.
    #[schema(value_type = schema::Verdict)]
    pub verdict: Verdict,
    /// Whether allowing it takes a second step, such as Enter after the number.
    pub confirm_allow: bool,
    /// What the judge found.
    #[serde(deserialize_with = "raw")]
    #[schema(value_type = schema::AssessmentView)]
    pub assessment: Box<RawValue>,
    /// The digest that an answer would be bound to.
    pub digest: String,
    /// The card as it would be.
    #[schema(value_type = schema::Card)]
    pub card: Card,
}

/// How a call would change files, compared with what they hold now.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileChanges {
    /// The files of the workspace that it would change; none if it is no call of a file tool, or if
    /// their places are sensitive.
    pub files: Vec<FileChange>,
    /// When the files were read, in seconds.
    pub read_at: f64,
}

/// How a call would change one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// Its text now, display-redacted; null if there is no such file.
    pub before: Option<String>,
    /// Its text after the call, display-redacted; null if it was not compared.
    pub after: Option<String>,
    /// Why it was not compared.
    pub why: Option<String>,
}

/// A grant that may be left.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScopeView {
    /// The scope, to be sent back.
    #[schema(value_type = schema::Scope)]
    pub scope: Scope,
    /// In words.
    pub words: String,
    /// Which calls like this one would still be asked about, in words.
    #[serde(default)]
    pub excludes: String,
    /// Whether only *session* may leave it.
    #[serde(default)]
    pub session_only: bool,
    /// How many of the last calls it would have matched, where that was asked for.
    pub matched: Option<u32>,
    /// How many calls were looked at.
    pub of: Option<u32>,
    /// The riskiest of those it would have matched, on one line.
    pub riskiest: Option<String>,
}

/// One grant, as people see it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GrantView {
    /// The grant.
    pub grant_id: String,
    /// The scope.
    #[schema(value_type = schema::Scope)]
    pub scope: Scope,
    /// In words.
    pub words: String,
    /// Calls by agent.
    pub key_id: String,
    /// In which session; null: in any.
    pub session_id: Option<String>,
    /// Until when, in seconds.
    pub expires_at: Option<f64>,
    /// How many uses are left.
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
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
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

/// Reads JSON that is kept as text. It goes through a value, because a flattened view has no text.
fn raw<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    serde_json::value::to_raw_value(&value).map_err(serde::de::Error::custom)
}

/// Returns where a page ended, from the words that were given for it.
pub(crate) fn cursor(text: &str) -> Option<(i64, String)> {
    let (at, id) = text.split_once('.')?;
    Some((at.parse().ok()?, id.to_owned()))
}

/// Returns the words for where a page of `limit` ends, if more follow.
pub(crate) fn next(records: &[countersign_store::Record], limit: u32) -> Option<String> {
    let limit = limit as usize;
    let last = records.get(limit.checked_sub(1)?)?;
    (records.len() > limit).then(|| format!("{}.{}", last.at, last.id))
}

impl ApprovalView {
    /// Returns what people see of `stored`.
    pub(crate) fn of(stored: &StoredApproval, now: UnixMillis) -> Self {
        let StoredApproval { approval, call, .. } = stored;
        let decision = decision(stored).map(DecisionView::from);
        let mut card = stored.card.clone();
        card.outcome = decision.as_ref().map(sentence);
        if decision.is_some() {
            card.choices.clear();
        }
        let held_until = match &approval.state {
            State::Held { until, .. } if *until > now => Some(until.as_seconds()),
            State::Held { .. }
            | State::Waiting
            | State::Approved { .. }
            | State::Consumed { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Withdrawn { .. } => None,
        };
        Self {
            approval_id: approval.id.0.clone(),
            call_id: call.call_id.0.clone(),
            run_id: call.run.clone(),
            session_id: call.session.clone(),
            status: approval.status(),
            held_until,
            tool: call.tool.clone(),
            args: stored.shown_args.clone(),
            command: stored.card.command.clone(),
            description: description(stored).to_owned(),
            choices: approval.choices.clone(),
            confirm_allow: false,
            assessment: call.assessment.clone(),
            digest: approval.digest.to_string(),
            created_at: approval.asked_at.as_seconds(),
            expires_at: approval.expires_at.as_seconds(),
            extend_seconds: None,
            decision,
            card,
            scopes: stored
                .scopes
                .iter()
                .map(|scope| ScopeView {
                    words: scope.words(),
                    excludes: scope.excludes(),
                    session_only: scope.is_for_session(),
                    scope: scope.clone(),
                    matched: None,
                    of: None,
                    riskiest: None,
                })
                .collect(),
            editable: stored.is_editable(),
            fold_key: fold::key(stored),
        }
    }
}

impl ApprovalView {
    /// Returns what `person` sees of `stored`: not the draft of the reply to that very person.
    pub(crate) fn seen_by(
        person: &str,
        stored: &StoredApproval,
        settings: &Settings,
        now: UnixMillis,
    ) -> Self {
        let mut view = Self::of(stored, now);
        view.confirm_allow = settings.confirm_critical && view.card.risk == Risk::Critical;
        let is_closed = stored
            .call
            .is_closed_to(person, settings.starter_may_answer);
        let more = stored.extension(settings).filter(|_| !is_closed);
        view.extend_seconds = more.map(|millis| UnixMillis(millis).as_seconds());
        if stored.call.is_hidden_from(person) {
            DRAFT.clone_into(&mut view.command);
            DRAFT.clone_into(&mut view.card.command);
            view.args = Value::Null;
            view.editable = false;
            view.card.body.clear();
            view.card.help_lines.clear();
            // Which words held it is for those who decide about it.
            for field in &mut view.card.lineage {
                field.marks.clear();
            }
        }
        view
    }
}

impl CallView {
    /// Returns what its asker sees of `call`, which waits for `approval` or did.
    pub(crate) fn of(call: &StoredCall, approval: Option<&StoredApproval>) -> Self {
        let own = call.decision.clone();
        let decided = own.or_else(|| approval.and_then(decision));
        let decided = decided.map(DecisionView::from);
        Self {
            call_id: call.call_id.0.clone(),
            run_id: call.run.clone(),
            session_id: call.session.clone(),
            tool: call.tool.clone(),
            message: match &decided {
                Some(decided) => message(decided),
                None => asked(call),
            },
            status: decided
                .as_ref()
                .map_or(Status::Waiting, |it| it.outcome.into()),
            verdict: call.verdict,
            assessment: call.assessment.clone(),
            digest: approval
                .map_or(call.digest, |it| it.approval.digest)
                .to_string(),
            approval_id: call.approval.as_ref().map(|id| id.0.clone()),
            expires_at: approval.map(|it| it.approval.expires_at.as_seconds()),
            decision: decided,
            // For the asker alone, and only where it asks for it.
            token: None,
            token_expires_at: None,
            created_at: call.at.as_seconds(),
        }
    }
}

/// Returns the time of day, as people say it.
pub(crate) fn time_of_day(at: UnixMillis) -> String {
    let minutes = at.seconds().rem_euclid(86_400) / 60;
    format!("{:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Returns how it ended, for people: "Approved once by Ana · 14:02 UTC · page".
fn sentence(decision: &DecisionView) -> String {
    let by = decision.by.as_deref().unwrap_or("the firewall");
    let via = decision.via.as_deref().unwrap_or("the firewall");
    let at = time_of_day(decision.at);
    match decision.outcome {
        Outcome::Approved => {
            let choice = match decision.choice {
                Some(Choice::Session) => "for this session",
                Some(Choice::Always) => "always",
                Some(Choice::Once | Choice::Deny) | None => "once",
            };
            let edited = if decision.args.is_some() {
                " with edited arguments"
            } else {
                ""
            };
            format!("Approved {choice}{edited} by {by} · {at} · {via}")
        }
        Outcome::Denied => format!("Denied by {by} · {at} · {via}"),
        Outcome::Withdrawn => "Withdrawn by the agent".to_owned(),
        Outcome::Expired if !decision.was_anyone_reached() => "Nobody could be reached".to_owned(),
        Outcome::Expired => "Expired: nobody answered in time".to_owned(),
        Outcome::Allowed | Outcome::Refused => decision.outcome.to_string(),
    }
}

/// Returns what to tell the model about a denial that is remembered.
fn denied_before(by: &str, note: &str, decision: &DecisionView) -> String {
    let when = decision.denied_at.map_or_else(
        || "a moment ago".to_owned(),
        |denied| ago(decision.at.since(denied)),
    );
    let id = decision.denial_id.as_deref();
    let id = id.map_or_else(String::new, |id| format!(" ({id})"));
    format!(
        "{by} denied this {when}, so it did not run and nobody was asked again. Rephrasing the call \
         does not change that.{note} Tell the user. {by} or an admin can lift the denial{id} in the \
         history; then you may ask again."
    )
}

/// Returns how long ago something was, in words.
fn ago(millis: i64) -> String {
    // Rounded down, and never negative: the clock of the gate does not go back.
    let seconds = UnixMillis(millis.max(0)).seconds();
    let (count, unit) = match seconds {
        ..5 => return "just now".to_owned(),
        5..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600.. => (seconds / 3600, "hour"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// Returns what to tell the model about a call that people are asked about.
fn asked(call: &StoredCall) -> String {
    format!(
        "A person has been asked about this call ({}). Wait for the answer; it has not run.",
        call.call_id
    )
}

/// Returns what to tell the model. A denial names no way round it.
fn message(decision: &DecisionView) -> String {
    let note = decision.note.as_deref();
    let note = note.map_or_else(String::new, |note| format!(" They say: {note}"));
    let by = decision.by.as_deref().unwrap_or("a person");
    match decision.outcome {
        Outcome::Allowed => "Allowed. Run it exactly as submitted.".to_owned(),
        Outcome::Approved if decision.args.is_some() => format!(
            "{by} changed the arguments and approved the call as changed. Run it with the \
             arguments of the decision, once.{note}"
        ),
        Outcome::Approved => format!("Approved by {by}. Run it exactly as submitted, once.{note}"),
        Outcome::Denied => format!(
            "{by} denied this call; it must not run. Do not try to reach the same effect another \
             way. Tell the user.{note}"
        ),
        Outcome::Refused => refusal_message(by, &note, decision),
        Outcome::Expired if !decision.was_anyone_reached() => {
            "Nobody could be reached, so it did not run. This is not a denial.".to_owned()
        }
        Outcome::Expired => {
            "Nobody answered in time, so it did not run. This is not a denial.".to_owned()
        }
        Outcome::Withdrawn => "You withdrew this call; it did not run.".to_owned(),
    }
}

/// Returns what to tell the model about a call that was refused.
fn refusal_message(by: &str, note: &str, decision: &DecisionView) -> String {
    match (decision.cause, &decision.rule) {
        (Cause::DenyMemory, _) => denied_before(by, note, decision),
        (Cause::Flood, _) => format!(
            "You asked too often: this call did not run, and nobody was asked about it. Try again \
             in {} s, one call at a time, and do not withdraw calls.{note}",
            decision.retry_after.unwrap_or(60)
        ),
        (Cause::NoApprover, _) => "This call needs a person's approval, and there is no \
             approver. It did not run. Tell the user."
            .to_owned(),
        (_, Some(rule)) => format!(
            "Refused by the deny rule {}: such calls are never allowed. Tell the user.",
            inline(rule)
        ),
        (_, None) => "Refused: such calls are never allowed. Tell the user.".to_owned(),
    }
}
