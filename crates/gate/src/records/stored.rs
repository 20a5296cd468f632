//! Stored calls and approvals: the bodies of records.

use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::approval::{Approval, Choice};
use countersign_core::call::{Annotations, ToolCall, Turn};
use countersign_core::card::Card;
use countersign_core::content::crisis::SecondReading;
use countersign_core::digest::{Action, Digest, Encoding, context};
use countersign_core::grant::Scope;
use countersign_core::id::{ApprovalId, CallId, KeyId};
use countersign_core::judge::Judged;
use countersign_core::record;
use countersign_core::status::{Cause, Outcome, Status, UnknownWord};
use countersign_core::tier::Tier;
use countersign_core::time::{self, UnixMillis};
use countersign_core::verdict::Verdict;
use countersign_store::{Expect, Kind, Put, Record, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::base::settings::Settings;

/// The status of the record of a call that people were asked about.
const ASKED: &str = "asked";

/// A call as it is kept. Written once; only what came of it is added later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    pub(crate) call_id: CallId,
    pub(crate) tool: String,
    pub(crate) args: Value,
    /// The arguments as bytes in base64, where they came that way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) workspace: Option<String>,
    /// The directories its workspace may lie in, on the owner's word; none: any it claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) bound: Vec<String>,
    /// Who said what, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replying_to: Vec<(String, String)>,
    /// Hints of the server: read-only, destructive, idempotent, open world.
    #[serde(default)]
    pub(crate) annotations: [Option<bool>; 4],
    pub(crate) session: String,
    pub(crate) run: String,
    /// The model's id of the call, for calls of the built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) executor: String,
    pub(crate) tool_definition: Option<Digest>,
    /// The definition itself, where the judge reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<Value>,
    /// How its server's pin stands; `None` if it came from no pinned server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<Pin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Digest>,
    /// Hash of what the files may hold that it runs and that the same key wrote: its words alone do
    /// not say what runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runs_written: Option<Digest>,
    pub(crate) explanation: Option<String>,
    /// The person whose run of the built-in agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) starter: Option<String>,
    /// Whether it is the agent's own reply to that person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) answers_starter: bool,
    /// Whether whoever runs it cannot take changed arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fixed: bool,
    pub(crate) key: KeyId,
    pub(crate) key_name: String,
    pub(crate) tier: Tier,
    pub(crate) at: UnixMillis,
    pub(crate) digest: Digest,
    /// Hash of the policy it was judged under.
    pub(crate) policy: String,
    pub(crate) verdict: Verdict,
    pub(crate) assessment: Box<RawValue>,
    pub(crate) approval: Option<ApprovalId>,
    /// How it ended, where no person was asked.
    pub(crate) decision: Option<Decision>,
    /// What a second reader said, where one was asked: a fact that the verdict rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) second_reading: Option<SecondReading>,
    /// Salt of the commitments the ledger makes to this call.
    pub(crate) salt: String,
    /// When the run started, for calls without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun_at: Option<UnixMillis>,
    /// When the built-in agent handed it to its transport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handed_over_at: Option<UnixMillis>,
    /// The outcome that the asker reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<Value>,
}

/// How a call ended, as it is kept. [`crate::records::view::DecisionView`] is what the wire shows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) outcome: Outcome,
    pub(crate) cause: Cause,
    pub(crate) choice: Option<Choice>,
    pub(crate) by: Option<String>,
    pub(crate) via: Option<String>,
    pub(crate) note: Option<String>,
    #[serde(with = "time::seconds")]
    pub(crate) at: UnixMillis,
    /// The grant it left, or that let it run.
    pub(crate) grant_id: Option<String>,
    /// The arguments as the person changed them.
    pub(crate) args: Option<Value>,
    /// The deny rule that refused it, by its name.
    pub(crate) rule: Option<String>,
    /// When the same was denied, where that refused it.
    #[serde(default, with = "time::maybe_seconds")]
    pub(crate) denied_at: Option<UnixMillis>,
    /// The question whose denial is remembered, where that is the cause.
    #[serde(default)]
    pub(crate) denial_id: Option<String>,
    /// After how many seconds the agent may ask again, where it asked too much.
    #[serde(default)]
    pub(crate) retry_after: Option<u32>,
}

impl Decision {
    /// Returns a decision that says nothing but this.
    pub(crate) const fn new(outcome: Outcome, cause: Cause, at: UnixMillis) -> Self {
        Self {
            outcome,
            cause,
            choice: None,
            by: None,
            via: None,
            note: None,
            at,
            grant_id: None,
            args: None,
            rule: None,
            denied_at: None,
            denial_id: None,
            retry_after: None,
        }
    }
}

/// A question as it is kept, with the call it is about and the card people were shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredApproval {
    pub(crate) approval: Approval,
    pub(crate) call: StoredCall,
    pub(crate) card: Card,
    /// The arguments as they are shown.
    pub(crate) shown_args: Value,
    /// Grants that may be left, narrowest first.
    pub(crate) scopes: Vec<Scope>,
    /// The grant the answer leaves, once there is one.
    pub(crate) grant: Option<StoredGrantRequest>,
    /// The arguments as the person changed them.
    pub(crate) edited: Option<Value>,
    /// Who opened the full text.
    #[serde(default)]
    pub(crate) viewed_by: Vec<String>,
    /// Who gave it more time last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extended_by: Option<String>,
    /// What it would do, as a denial remembers it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deeds: Vec<Digest>,
    /// Who lifted the denial, and when: the agent may ask again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lifted: Option<(String, UnixMillis)>,
    /// The number of refused calls, for the card of a flood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held_back: Option<u64>,
    /// The changed definition of the tool that the card shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<Box<KeptDefinition>>,
}

/// The grant an answer leaves when it takes effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredGrantRequest {
    pub(crate) scope: Scope,
    pub(crate) lasts_millis: Option<i64>,
    pub(crate) uses: Option<u32>,
    /// In this session only.
    pub(crate) session_only: bool,
}

impl StoredCall {
    /// Returns the call as it is judged, with the arguments as a person may have changed them.
    pub(crate) fn tool_call(&self, edited: Option<&Value>) -> ToolCall {
        let [read_only, destructive, idempotent, open_world] = self.annotations;
        ToolCall {
            tool: self.tool.clone(),
            args: edited.unwrap_or(&self.args).clone(),
            cwd: self.cwd.clone(),
            workspace: self.workspace.clone(),
            replying_to: self
                .replying_to
                .iter()
                .map(|(from, text)| Turn {
                    from: from.clone(),
                    text: text.clone(),
                })
                .collect(),
            annotations: Annotations {
                read_only,
                destructive,
                idempotent,
                open_world,
            },
            definition: self.definition.clone(),
            pinned: self.pin == Some(Pin::Holds),
        }
    }

    /// Returns the digest of this call with `arguments` in place of its own.
    pub(crate) fn digest_with(&self, encoding: Encoding, arguments: &[u8]) -> Digest {
        Action {
            tool: &self.tool,
            tool_definition: self.tool_definition,
            encoding,
            arguments,
            context: &context(self.cwd.as_deref(), &self.executor, &self.attachments),
            session: &self.session,
            agent: self.key.as_str(),
        }
        .digest()
    }

    /// Whether `person` must leave the answer to somebody else.
    pub(crate) fn is_closed_to(&self, person: &str, starter_may_answer: bool) -> bool {
        let is_starter = self.starter.as_deref() == Some(person);
        is_starter && (self.answers_starter || !starter_may_answer)
    }

    /// Whether it is a draft that `person` must not see before somebody else has allowed it: the
    /// agent's reply to that very person.
    pub(crate) fn is_hidden_from(&self, person: &str) -> bool {
        self.answers_starter && self.starter.as_deref() == Some(person)
    }

    /// Whether what it does depends on more than its arguments, so that no grant speaks of it: on
    /// what is attached, or on a file that the same key can write anew.
    pub(crate) fn is_more_than_its_words(&self) -> bool {
        !self.attachments.is_empty() || self.runs_written.is_some()
    }

    /// Whether a person in crisis may be concerned.
    pub(crate) fn is_crisis_sensitive(&self) -> bool {
        #[derive(Deserialize)]
        struct Judged {
            crisis_sensitive: bool,
        }
        serde_json::from_str::<Judged>(self.assessment.get()).is_ok_and(|it| it.crisis_sensitive)
    }

    /// Returns how its arguments were turned into bytes.
    pub(crate) const fn encoding(&self) -> Encoding {
        if self.raw.is_some() {
            Encoding::Raw
        } else {
            Encoding::Jcs
        }
    }

    /// Returns where it stands by itself; one that people were asked about waits.
    pub(crate) fn status(&self) -> Status {
        self.decision
            .as_ref()
            .map_or(Status::Waiting, |decision| decision.outcome.into())
    }

    /// Returns the record of this call. Where a call stands that people were asked about is what its
    /// approval says.
    pub(crate) fn put(&self, expect: Expect) -> Put {
        let status = self.decision.as_ref().map_or(ASKED, |it| it.outcome.word());
        Put {
            record: Record {
                status: status.to_owned(),
                owner: self.key.0.clone(),
                session: self.session.clone(),
                run: self.run.clone(),
                link: self
                    .approval
                    .as_ref()
                    .map_or_else(String::new, |id| id.0.clone()),
                ..Record::new(Kind::Call, self.call_id.0.clone(), self.at.0, written(self))
            },
            expect,
        }
    }
}

/// How the owner's pin of a server stands for one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pin {
    /// The definition is the accepted one: the server's hints count.
    Holds,
    /// The definition changed, and nobody has accepted the change: its hints can only raise.
    Suspended,
}

/// The definition of a tool as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptDefinition {
    pub(crate) hash: Digest,
    /// Its words, a part a line.
    pub(crate) text: String,
    pub(crate) at: UnixMillis,
}

impl StoredApproval {
    /// Whether a person can change the arguments and allow the call as changed: whoever runs it takes
    /// them, what is shown is exactly what is stored, and the arguments are all there is to it.
    pub(crate) fn is_editable(&self) -> bool {
        let call = &self.call;
        !call.fixed
            && call.raw.is_none()
            && call.args.is_object()
            && self.shown_args == call.args
            && !call.is_more_than_its_words()
            && self.approval.choices.contains(&Choice::Once)
    }

    /// Returns how much time a person can add, in milliseconds. The card of a flood closes by itself.
    pub(crate) fn extension(&self, settings: &Settings) -> Option<i64> {
        let approval = self.held_back.is_none().then_some(&self.approval)?;
        approval.extension(settings.extend_max_millis)
    }

    /// Returns the record of this approval. It is found by the digest it was asked for, so that
    /// the same question joins it.
    pub(crate) fn put(&self, expect: Expect) -> Put {
        Put {
            record: Record {
                status: self.approval.status().word().to_owned(),
                owner: self.call.key.0.clone(),
                session: self.call.session.clone(),
                run: self.call.run.clone(),
                link: self.call.digest.hex(),
                due_at: self.approval.due_at().map(|due| due.0),
                ..Record::new(
                    Kind::Approval,
                    self.approval.id.0.clone(),
                    self.approval.asked_at.0,
                    written(self),
                )
            },
            expect,
        }
    }
}

impl StoredApproval {
    /// Returns the record that names this question as the latest about its call, in place of the one
    /// of version `seen`. The digest is of a key and a session, too.
    pub(crate) fn latest_put(&self, seen: Option<u64>) -> Put {
        Put {
            record: Record {
                owner: self.call.key.0.clone(),
                link: self.approval.id.0.clone(),
                ..Record::new(
                    Kind::Question,
                    self.call.digest.hex(),
                    self.approval.asked_at.0,
                    "{}".to_owned(),
                )
            },
            expect: seen.map_or(Expect::Absent, Expect::Version),
        }
    }
}

/// Returns the assessment of a call as it is kept.
pub(crate) fn written_assessment(judged: &Judged) -> Box<RawValue> {
    let mut out = Vec::with_capacity(1024);
    record::write(&mut out, None, judged);
    String::from_utf8(out)
        .ok()
        .and_then(|text| RawValue::from_string(text).ok())
        .unwrap_or_default()
}

/// Returns `bytes` in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns `value` as JSON.
pub(crate) fn written(value: &impl Serialize) -> String {
    // These are our own types with text keys; writing them to memory cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads the status of a record.
pub(crate) fn status<T: FromStr<Err = UnknownWord>>(record: &Record) -> Result<T, StoreError> {
    record
        .status
        .parse()
        .map_err(|cause: UnknownWord| StoreError::Unavailable {
            why: "the status of a record is not known",
            cause: Box::new(cause),
        })
}

/// Reads the body of a record back.
pub(crate) fn read<T: DeserializeOwned>(record: &Record) -> Result<T, StoreError> {
    serde_json::from_str(&record.body).map_err(|cause| StoreError::Unavailable {
        why: "a record cannot be read",
        cause: Box::new(cause),
    })
}
