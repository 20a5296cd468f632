//! Request bodies. An unknown key is an error.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::approval::Choice;
use countersign_core::call::{Annotations, ToolCall};
use countersign_core::canonical::{self, Strict};
use countersign_core::digest::Digest;
use countersign_core::grant::Scope;
use countersign_core::id::ApprovalId;
use countersign_core::time::UnixMillis;
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::history::what_if::ProposedThresholds;
use countersign_gate::people::PersonView;
use countersign_gate::records::identifiers;
use countersign_gate::records::request::{GrantRequest, Reply, Report, Submission};
use countersign_gate::records::schema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::call;

/// Longest text a person or an agent adds.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// A call an agent wants to make. No key may stand twice in it, however deep.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallBody {
    /// The tool.
    tool: String,
    /// Its arguments, an object.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "strict")]
    args: Option<Value>,
    /// The arguments as bytes in base64, instead of `args`.
    args_raw: Option<String>,
    /// The session. Needed for `POST /v1/calls`.
    session_id: Option<String>,
    /// The run; one per key and session if it is not named.
    run_id: Option<String>,
    /// The agent's own name, a claim.
    agent: Option<String>,
    /// The directory the call is made from.
    cwd: Option<String>,
    /// The directory the agent works on.
    workspace: Option<String>,
    /// The executor; `tool:NAME` by default.
    executor: Option<String>,
    /// The message being answered: a text, or a list of `{"from","text"}`, oldest first.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "strict")]
    replying_to: Option<Value>,
    /// Hints of an MCP server.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "strict")]
    annotations: Option<Value>,
    /// The tool's definition, as the model sees it.
    #[schema(value_type = Option<Object>)]
    #[serde(default, deserialize_with = "strict")]
    tool_definition: Option<Value>,
    /// SHA-256 of what is attached, `sha256:…`.
    attachments: Option<Vec<String>>,
    /// The agent's explanation, shown as unverified.
    explanation: Option<String>,
    /// When a hook let the call run by the same rules, without asking. It is recorded, and nobody is
    /// asked about it.
    let_run_at: Option<f64>,
    /// Whether the asker can run the call with arguments that a person changed (`decision.args`). If
    /// not, nobody is offered to change them.
    #[serde(default = "yes")]
    takes_changes: bool,
    /// How long to wait for a decision, 0 to 60.
    pub(crate) wait_seconds: Option<f64>,
}

const fn yes() -> bool {
    true
}

fn strict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let value: Option<Strict> = Deserialize::deserialize(deserializer)?;
    Ok(value.map(|Strict(value)| value))
}

impl CallBody {
    /// Returns the call as it is judged, and its arguments as bytes where they came that way.
    pub(crate) fn call(&mut self) -> Result<(ToolCall, Option<Vec<u8>>), GateError> {
        let (args, raw) = match (self.args.take(), self.args_raw.take()) {
            (Some(_), Some(_)) => {
                let message = "give either `args` or `args_raw`";
                return Err(invalid("args_raw", "invalid_args", message));
            }
            (None, None) => {
                return Err(invalid("args", "invalid_args", "`args` is missing"));
            }
            (Some(args), None) => (args, None),
            (None, Some(text)) => {
                let bytes = STANDARD
                    .decode(text)
                    .map_err(|_| invalid("args_raw", "invalid_args", "`args_raw` is not base64"))?;
                // What the bytes say is judged; bytes that say nothing are unreadable, and ask.
                (canonical::parse(&bytes).unwrap_or(Value::Null), Some(bytes))
            }
        };
        let tool = std::mem::take(&mut self.tool);
        identifiers::check("tool", &tool)?;
        if raw.is_none() && !args.is_object() {
            let message = "`args` must be an object";
            return Err(invalid("args", "invalid_args", message));
        }
        let replying_to = self
            .replying_to
            .take()
            .map_or(Ok(Vec::new()), call::replying_to)
            .map_err(|why| invalid("replying_to", "invalid_body", why))?;
        let annotations = self
            .annotations
            .take()
            .map_or(Ok(Annotations::default()), call::annotations)
            .map_err(|why| invalid("annotations", "invalid_body", why))?;
        let call = ToolCall {
            tool,
            args,
            cwd: self.cwd.take(),
            workspace: self.workspace.take(),
            replying_to,
            annotations,
            definition: self.tool_definition.clone(),
            // The owner's word; no caller gives it.
            pinned: false,
        };
        Ok((call, raw))
    }

    /// Returns what the gate is asked.
    pub(crate) fn submission(
        mut self,
        idempotency_key: Option<String>,
    ) -> Result<Submission, GateError> {
        let (call, raw) = self.call()?;
        let Some(session) = self.session_id else {
            let message = "`session_id` is missing";
            return Err(invalid("session_id", "invalid_session", message));
        };
        check_text("explanation", self.explanation.as_ref())?;
        let attachments = self.attachments.unwrap_or_default();
        let attachments: Result<Vec<Digest>, GateError> =
            attachments.iter().map(|text| digest(text)).collect();
        Ok(Submission {
            call,
            raw,
            session,
            run: self.run_id,
            agent: self.agent,
            executor: self.executor,
            tool_definition: self.tool_definition,
            attachments: attachments?,
            explanation: self.explanation,
            starter: None,
            answers_starter: false,
            call_id: None,
            tool_call_id: None,
            idempotency_key,
            // What a caller says of its disk is a claim that could only talk risk down.
            on_disk: Vec::new(),
            let_run_at: self.let_run_at.map(UnixMillis::of_seconds),
            fixed: !self.takes_changes,
            of_pinned_server: false,
        })
    }
}

fn digest(text: &str) -> Result<Digest, GateError> {
    Digest::parse(text).ok_or_else(|| {
        let message = "an attachment is named by its hash, `sha256:` and 64 hexadecimal digits";
        invalid("attachments", "invalid_attachment", message)
    })
}

/// Returns the refusal of `param`.
pub(super) fn invalid(
    param: &'static str,
    code: &'static str,
    message: impl Into<String>,
) -> GateError {
    GateError::Invalid {
        param,
        code,
        message: message.into(),
    }
}

fn check_text(param: &'static str, text: Option<&String>) -> Result<(), GateError> {
    if text.is_some_and(|text| text.len() > TEXT_BYTES_MAX) {
        let message = format!("`{param}` is longer than 16 KiB");
        return Err(invalid(param, "too_long", message));
    }
    Ok(())
}

/// The asker takes a call back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithdrawBody {
    /// Why.
    pub(crate) note: Option<String>,
}

/// The outcome of a call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    /// Whether it failed.
    #[serde(default)]
    failed: bool,
    /// A summary of the output, by the asker.
    summary: Option<String>,
    /// How long it took, in milliseconds.
    duration_millis: Option<u64>,
    /// The exit code, if it ran a process.
    exit_code: Option<i32>,
}

impl OutcomeBody {
    /// Returns what the gate is told.
    pub(crate) fn report(self) -> Result<Report, GateError> {
        check_text("summary", self.summary.as_ref())?;
        Ok(Report {
            failed: self.failed,
            summary: self.summary,
            duration_millis: self.duration_millis,
            exit_code: self.exit_code,
            tool_call_id: None,
        })
    }
}

/// An answer a person gives.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveBody {
    /// The choice.
    #[schema(value_type = schema::Choice)]
    choice: String,
    /// The note for the agent.
    note: Option<String>,
    /// For *session* and *always*: which of the offered scopes; the narrowest if none is named.
    #[schema(value_type = Option<schema::Scope>)]
    scope: Option<Value>,
    /// For *session* and *always*: for how long.
    lasts_seconds: Option<u32>,
    /// For *session* and *always*: how often.
    uses: Option<u32>,
    /// The arguments as the person changed them; they are judged again.
    #[schema(value_type = Option<Object>)]
    args: Option<Value>,
}

impl ResolveBody {
    /// Returns what the gate is asked.
    pub(crate) fn reply(self, approval: String) -> Result<Reply, GateError> {
        let choice = choice(&self.choice).ok_or_else(|| {
            let message = "`choice` must be `once`, `session`, `always` or `deny`";
            invalid("choice", "choice_not_offered", message)
        })?;
        check_text("note", self.note.as_ref())?;
        let scope: Option<Scope> = self
            .scope
            .map(serde_json::from_value)
            .transpose()
            .map_err(|error| invalid("scope", "invalid_scope", error.to_string()))?;
        let wants_grant = matches!(choice, Choice::Session | Choice::Always);
        let names_grant = scope.is_some() || self.lasts_seconds.is_some() || self.uses.is_some();
        if names_grant && !wants_grant {
            let message = "`scope`, `lasts_seconds` and `uses` belong to `session` and `always`";
            return Err(invalid("scope", "invalid_scope", message));
        }
        Ok(Reply {
            approval: ApprovalId(approval),
            choice,
            note: self.note.filter(|note| !note.is_empty()),
            grant: wants_grant.then_some(GrantRequest {
                scope,
                lasts_millis: self.lasts_seconds.map(|it| i64::from(it) * 1000),
                uses: self.uses,
            }),
            args: self.args,
        })
    }
}

/// Returns the choice of this word.
pub(crate) fn choice(word: &str) -> Option<Choice> {
    [Choice::Once, Choice::Session, Choice::Always, Choice::Deny]
        .into_iter()
        .find(|choice| choice.word() == word)
}

/// A person, or what is to be changed of one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonBody {
    /// The name answers are recorded under.
    name: String,
    /// `viewer`, `approver` or `admin`.
    roles: Vec<String>,
    /// Accounts, by channel.
    #[serde(default)]
    accounts: BTreeMap<String, String>,
}

impl From<PersonBody> for PersonView {
    fn from(body: PersonBody) -> Self {
        Self {
            name: body.name,
            roles: body.roles,
            accounts: body.accounts,
        }
    }
}

/// An answer as clients of Hermes give it. They may send more than we know; it is ignored, because
/// they cannot be changed and nothing of it could allow anything.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct RunApprovalBody {
    /// `once`, `session`, `always` or `deny`; `approve`, `approved` and `allow` mean `once`.
    pub(crate) choice: String,
    /// Which question.
    pub(crate) approval_id: Option<String>,
    /// The same under its other name.
    pub(crate) request_id: Option<String>,
    /// All that wait; only to deny.
    #[serde(default)]
    pub(crate) all: bool,
    /// The same under its other name.
    #[serde(default)]
    pub(crate) resolve_all: bool,
}

/// A token to be used up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsumeBody {
    /// The token.
    pub(crate) token: String,
}

/// A question an agent asks a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionBody {
    /// The question.
    pub(crate) question: String,
    /// Up to nine answers to choose from.
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    /// The session.
    pub(crate) session_id: String,
    /// The run.
    pub(crate) run_id: Option<String>,
    /// How long to wait, 0 to 60.
    pub(crate) wait_seconds: Option<f64>,
}

/// What a person answers: one of the choices, from 1, or their own words.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClarifyBody {
    /// One of the choices, from 1.
    pub(crate) choice: Option<usize>,
    /// In their own words.
    pub(crate) text: Option<String>,
}

/// Which grants could be left.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewBody {
    /// For which question.
    pub(crate) approval_id: String,
    /// This scope alone.
    #[schema(value_type = Option<schema::Scope>)]
    pub(crate) scope: Option<Value>,
}

/// Lets a session run without questions about ordinary calls for a while.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverrideBody {
    /// For how long.
    pub(crate) minutes: u32,
    /// Why.
    pub(crate) reason: String,
    /// Whether critical calls run without a question, too; rules 1 to 4 stand either way.
    #[serde(default)]
    pub(crate) all: bool,
    /// The key of the session, if several keys use that name.
    pub(crate) key_id: Option<String>,
}

/// Whose crisis mark a person clears: a session's or a recipient's.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearBody {
    /// The session.
    pub(crate) session_id: Option<String>,
    /// The key of the session, if several keys use that name.
    pub(crate) key_id: Option<String>,
    /// The recipient, however it is written.
    pub(crate) recipient: Option<String>,
    /// The reason, recorded in the ledger.
    pub(crate) note: Option<String>,
}

/// Judges past calls again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayBody {
    /// Calls at or after this moment, in seconds; all if it is not named.
    pub(crate) since: Option<f64>,
    /// The configuration to judge by, as in config.yaml; the present one if it is not named.
    #[schema(value_type = Option<Object>)]
    pub(crate) config: Option<Value>,
    /// Other lines and everything else as it was, instead of `config`: answered for the newest
    /// 100 000 calls from what was written down then, without judging them again.
    pub(crate) thresholds: Option<ThresholdsBody>,
}

/// Lines of rule 11, each 0 to 1.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdsBody {
    /// Risk below this runs.
    auto_below: f64,
    /// Risk above this asks.
    ask_above: f64,
    /// Between the two, confidence below this asks.
    confidence_min: f64,
}

impl ThresholdsBody {
    /// Returns the thresholds, which must be in order.
    pub(crate) fn proposed(self) -> Result<ProposedThresholds, GateError> {
        let all = [self.auto_below, self.ask_above, self.confidence_min];
        let is_score = |score: &f64| (0.0..=1.0).contains(score);
        if !all.iter().all(is_score) || self.auto_below > self.ask_above {
            let message =
                "thresholds are between 0 and 1, and `auto_below` is not above `ask_above`";
            return Err(invalid("thresholds", "invalid_thresholds", message));
        }
        Ok(ProposedThresholds {
            auto_below: self.auto_below,
            ask_above: self.ask_above,
            confidence_min: self.confidence_min,
        })
    }
}

/// A new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKeyBody {
    /// Its name; for approvers and admins the name of a person.
    pub(crate) name: String,
    /// Its role.
    pub(crate) role: Role,
    /// For an agent's key: audiences whose tokens it may use besides its own.
    #[serde(default)]
    pub(crate) executors: Vec<String>,
    /// For an agent: the directories its calls may count as their workspace; none: any they claim.
    pub(crate) workspaces: Option<Vec<String>>,
}

/// One key of the configuration.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigBody {
    /// With dots: `approvals.mode`.
    pub(crate) key: String,
    /// As it is written in YAML.
    pub(crate) value: String,
}

/// A browser that is to take notifications, as its push subscription says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceBody {
    /// A name for people, such as `Firefox on Android`.
    pub(crate) name: String,
    /// Where messages are sent: https, at a push service of the internet.
    pub(crate) endpoint: String,
    /// The public key of the browser, in base64url.
    pub(crate) p256dh: String,
    /// The secret of the browser, in base64url.
    pub(crate) auth: String,
}

/// A one-time code.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginBody {
    /// From the fragment of the link.
    pub(crate) code: String,
}
