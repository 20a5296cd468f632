//! Requests to the gate.

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_core::grant::Scope;
use countersign_core::id::{ApprovalId, CallId};
use countersign_core::time::UnixMillis;
use countersign_core::written::Content;
use serde_json::Value;

/// A call an agent wants to make.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// The call as it is judged. With `raw`, its arguments are what the bytes say, or null.
    pub call: ToolCall,
    /// The arguments as bytes, where they came that way.
    pub raw: Option<Vec<u8>>,
    /// The session.
    pub session: String,
    /// The run; one per key and session if it is not named.
    pub run: Option<String>,
    /// The agent's own name, a claim.
    pub agent: Option<String>,
    /// The executor; `tool:NAME` by default.
    pub executor: Option<String>,
    /// The tool's definition.
    pub tool_definition: Option<Value>,
    /// Hashes of what is attached.
    pub attachments: Vec<Digest>,
    /// The agent's explanation, unverified.
    pub explanation: Option<String>,
    /// The person whose run of the built-in agent asks.
    pub starter: Option<String>,
    /// Whether it is the agent's own reply to that person, who then must not be the one to allow it.
    pub answers_starter: bool,
    /// Its name, where whoever asks has told of it already; a fresh one if there is none.
    pub call_id: Option<CallId>,
    /// The model's id of the call.
    pub tool_call_id: Option<String>,
    /// Names the request, so that sending it twice submits it once.
    pub idempotency_key: Option<String>,
    /// Files the call may run, as whoever runs it finds them.
    pub on_disk: Vec<OnDisk>,
    /// When a hook let it run by the same rules without asking; the call is recorded, nobody is asked.
    pub let_run_at: Option<UnixMillis>,
    /// Whether whoever runs it cannot take arguments that a person changed.
    pub fixed: bool,
    /// Whether the gateway's own endpoint of a server submits it that the owner pinned, so that definition and hints
    /// are the server's and not a claim.
    pub of_pinned_server: bool,
}

/// A file that a call may run, as it is on disk. Whoever runs the call compares it again just before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Where, as [`countersign_core::place::Place`] spells it.
    pub path: String,
    /// What it holds; `None` if that is no text or too long to be read.
    pub content: Option<String>,
    /// Its hash.
    pub digest: Digest,
}

impl From<OnDisk> for Content {
    fn from(file: OnDisk) -> Self {
        file.content.map_or(Self::Unknown, |text| Self::of(&text))
    }
}

/// An answer a person gives.
#[derive(Clone, Debug)]
pub struct Reply {
    /// To which question.
    pub approval: ApprovalId,
    /// The choice.
    pub choice: Choice,
    /// The note.
    pub note: Option<String>,
    /// The grant to leave, for *session* and *always*.
    pub grant: Option<GrantRequest>,
    /// The arguments as the person changed them.
    pub args: Option<Value>,
}

/// The grant an answer leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantRequest {
    /// The offered scope; the narrowest by default.
    pub scope: Option<Scope>,
    /// For how long, in milliseconds.
    pub lasts_millis: Option<i64>,
    /// How often.
    pub uses: Option<u32>,
}

/// How a call that ran went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether it failed.
    pub failed: bool,
    /// A summary of the output, by the asker.
    pub summary: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_millis: Option<u64>,
    /// The exit code, if it ran a process.
    pub exit_code: Option<i32>,
    /// The model's id of the call, if it differs from the submitted one.
    pub tool_call_id: Option<String>,
}
