//! Events: one typed shape per name. The body of a ledger entry, the event stream and the
//! description of the API are all made of it.
//!
//! Stored bodies are compared byte for byte with what these types write, so the order of fields
//! stays as it is.

use countersign_core::approval::Choice;
use countersign_core::assessment::SideEffect;
use countersign_core::digest::Digest;
use countersign_core::ledger::Draft;
use countersign_core::status::{
    Cause, ClarificationStatus, Ended, Outcome, ReviewStatus, Risk, Status,
};
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::base::principal::Role;
use crate::records::schema;
use crate::records::stored::written;

/// Declares [`Event`]: each variant with its shape and its name. Two have another name for clients of
/// Hermes, which is read as well.
macro_rules! events {
    // Names are token trees: as literals they would be wrapped in a way that utoipa cannot read.
    ($($(#[doc = $doc:literal])* $variant:ident($shape:ident) = $name:tt $(also $alias:tt)?,)*) => {
        /// Something that happened. Times are Unix seconds.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(tag = "event")]
        pub enum Event {
            $($(#[doc = $doc])* #[serde(rename = $name $(, alias = $alias)?)] $variant($shape),)*
        }

        impl Event {
            /// Returns its name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Whether there is an event of this name.
            pub fn is_known(name: &str) -> bool {
                [$($name, $($alias,)?)*].contains(&name)
            }
        }
    };
}

events! {
    /// A call was judged.
    CallAssessed(CallAssessed) = "call.assessed",
    /// A call is about to leave the machine.
    CallHandedOver(CallHandedOver) = "call.handed_over",
    /// A question was put to people.
    ApprovalRequired(ApprovalRequired) = "approval.required" also "approval.request",
    /// A question is settled.
    ApprovalResolved(ApprovalResolved) = "approval.resolved" also "approval.responded",
    /// A person opened the full text.
    ApprovalViewed(ApprovalHappening) = "approval.viewed",
    /// An answer is held back and can be taken back; `detail` is the choice.
    ApprovalHeld(ApprovalHappening) = "approval.held",
    /// An answer was taken back; the question waits again.
    ApprovalTakenBack(ApprovalHappening) = "approval.taken_back",
    /// A person gave the question more time; `detail` is when it expires now, in Unix seconds.
    ApprovalExtended(ApprovalHappening) = "approval.extended",
    /// A denial was lifted: the agent may ask again.
    ApprovalLifted(ApprovalHappening) = "approval.lifted",
    /// A card that tells of a flood of calls tells of more; `detail` is how many.
    ApprovalChanged(ApprovalHappening) = "approval.changed",
    /// The asker collected the proof; `detail` is its name.
    TokenMinted(ApprovalHappening) = "token.minted",
    /// The proof was used up; `detail` is its name.
    TokenConsumed(ApprovalHappening) = "token.consumed",
    /// Somebody else's key tried to use the proof up; `detail` is its name. Nothing was used.
    TokenRefused(ApprovalHappening) = "token.refused",
    /// A card reached a channel.
    CardDelivered(CardHappening) = "card.delivered",
    /// A card could not be delivered; `why` says why.
    CardFailed(CardHappening) = "card.failed",
    /// A click in a channel did not count.
    ClickRefused(ClickRefused) = "click.refused",
    /// An agent asks a person.
    ClarifyRequired(ClarifyRequired) = "clarify.required",
    /// The question is answered, or nobody answered in time.
    ClarifyResolved(ClarifyResolved) = "clarify.resolved",
    /// Something ran and awaits a look.
    ReviewRequired(ReviewRequired) = "review.required",
    /// Somebody looked.
    ReviewResolved(ReviewResolved) = "review.resolved",
    /// A standing permission was left.
    GrantCreated(GrantHappening) = "grant.created",
    /// A standing permission let a call run.
    GrantUsed(GrantHappening) = "grant.used",
    /// A standing permission was taken back.
    GrantRevoked(GrantRevoked) = "grant.revoked",
    /// A session is known from now on.
    SessionStarted(SessionHappening) = "session.started",
    /// The state of a session changed.
    SessionChanged(SessionHappening) = "session.changed",
    /// A session runs without questions about ordinary calls for a while.
    OverrideStarted(OverrideStarted) = "session.override_started",
    /// It asks again.
    OverrideEnded(OverrideEnded) = "session.override_ended",
    /// A server says something else of its tool than before. Grants for it are suspended.
    DefinitionChanged(DefinitionChanged) = "definition.changed",
    /// The recipient gets the crisis mark.
    CrisisMarked(CrisisMarked) = "crisis.marked",
    /// A person cleared the crisis mark of a session or a recipient.
    CrisisCleared(CrisisCleared) = "crisis.cleared",
    /// A model that is to read messages again for a person in crisis was examined.
    ReaderExamined(ReaderExamined) = "crisis.reader_examined",
    /// A run of the built-in agent began.
    RunStarted(RunStarted) = "run.started",
    /// Somebody wants it to stop.
    RunStopping(RunStopping) = "run.stopping",
    /// The agent read what the person said meanwhile; the text is in the conversation.
    RunSteered(RunSteered) = "run.steered",
    /// It ended with an answer.
    RunCompleted(RunCompleted) = "run.completed",
    /// It could not go on.
    RunFailed(RunFailed) = "run.failed",
    /// It was stopped.
    RunCancelled(RunHappening) = "run.cancelled",
    /// The next part of what the agent says. Has no id.
    MessageDelta(MessageDelta) = "message.delta",
    /// All of the message so far, for who came late. Has no id.
    MessageSnapshot(MessageSnapshot) = "message.snapshot",
    /// The agent's reply waits for a person; until then a notice is shown.
    MessageHeld(MessageHeld) = "message.held",
    /// The agent begins with a tool.
    ToolStarted(ToolStarted) = "tool.started",
    /// A tool has run, as its runner reports.
    ToolCompleted(ToolCompleted) = "tool.completed",
    /// A key was made.
    KeyCreated(KeyHappening) = "key.created",
    /// A key was made useless.
    KeyRevoked(KeyHappening) = "key.revoked",
    /// A gateway signs with this key.
    KeyPublished(KeyPublished) = "key.published",
    /// A person was added or changed.
    PersonChanged(PersonChanged) = "person.changed",
    /// A person was removed.
    PersonRemoved(PersonRemoved) = "person.removed",
    /// A link to sign in was made.
    LoginOffered(LoginOffered) = "login.offered",
    /// A browser signed in.
    LoginStarted(LoginStarted) = "login.started",
    /// A browser was signed out.
    LoginEnded(LoginEnded) = "login.ended",
    /// A browser takes notifications from now on.
    DeviceAdded(DeviceHappening) = "device.added",
    /// It takes none any more.
    DeviceRemoved(DeviceHappening) = "device.removed",
    /// The configuration is about to be changed.
    ConfigChanged(ConfigChanged) = "config.changed",
    /// The ledger up to here was signed.
    Checkpoint(CheckpointTold) = "ledger.checkpoint",
    /// The ledger was taken as it was: by a home that kept no head of it yet, or by a person.
    Anchored(AnchoredTold) = "ledger.anchored",
}

impl Event {
    /// Returns the ledger entry that tells of it about `subject`.
    pub(crate) fn draft(&self, subject: &str, at: UnixMillis) -> Draft {
        drafted(self.name(), self, subject, at)
    }
}

/// `tool.completed` of a tool of the built-in agent that did not run. Read as [`ToolCompleted`];
/// separate because ledgers have these fields in another order.
#[derive(Serialize)]
#[serde(tag = "event", rename = "tool.completed")]
pub(crate) struct ToolNotRun {
    pub(crate) run_id: String,
    pub(crate) tool: String,
    pub(crate) tool_call_id: String,
    pub(crate) call_id: String,
    pub(crate) session_id: String,
    pub(crate) duration: f64,
    pub(crate) error: bool,
    pub(crate) outcome: Ended,
    pub(crate) words: String,
    pub(crate) timestamp: f64,
}

impl ToolNotRun {
    /// Returns the ledger entry that tells of it about `subject`.
    pub(crate) fn draft(&self, subject: &str, at: UnixMillis) -> Draft {
        drafted("tool.completed", self, subject, at)
    }
}

fn drafted(name: &str, body: &impl Serialize, subject: &str, at: UnixMillis) -> Draft {
    Draft {
        at,
        event: name.to_owned(),
        subject: subject.to_owned(),
        body: written(body),
        ..Draft::default()
    }
}

/// Each shape with its fields. What an event has not is null, or is not there.
macro_rules! shapes {
    ($($(#[doc = $doc:literal])* $name:ident {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $said:literal,)*
    })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
        pub struct $name {
            $(#[doc = $said] $(#[$attribute])* pub $field: $type,)*
        }
    )*};
}

shapes! {
    /// A call was judged.
    CallAssessed {
        call_id: String = "The call.",
        #[serde(skip_serializing_if = "Option::is_none")] tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        agent: Option<String> = "The agent's own name, a claim.",
        tool: String = "The tool.",
        command: String = "On one line, display-redacted; never empty.",
        #[schema(value_type = schema::Verdict)] verdict: Verdict = "The verdict.",
        #[schema(value_type = String)] status: Status = "`waiting`, `allowed` or `refused`.",
        #[schema(value_type = Option<String>)] cause: Option<Cause> = "The cause, if nobody was asked: `rule`, `grant`, `deny_memory`, `flood` or `no_approver`.",
        risk_score: f64 = "The risk, 0 to 1.",
        confidence: f64 = "The confidence, 0 to 1.",
        #[schema(value_type = schema::SideEffect)] side_effect: SideEffect = "The side-effect class.",
        outbound: bool = "Whether it is outbound.",
        crisis_sensitive: bool = "Whether it may affect a person in crisis.",
        reasons: Vec<String> = "Reasons, the worst first.",
        rule: Option<u8> = "The number of the rule that decided.",
        finding: Option<String> = "The code of the first finding.",
        #[schema(value_type = schema::Digest)] digest: Digest = "The digest that a decision is bound to.",
        arguments_commitment: String = "A salted hash of the arguments.",
        approval_id: Option<String> = "The approval, if a person is asked.",
        timestamp: f64 = "When.",
    }
    /// A call is about to leave the machine.
    CallHandedOver {
        call_id: String = "The call.",
        tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        tool: String = "The tool.",
        timestamp: f64 = "When.",
    }
    /// A question was put to people.
    ApprovalRequired {
        run_id: String = "Its run.",
        approval_id: String = "The question.",
        command: String = "On one line, display-redacted; never empty.",
        description: String = "The first reason.",
        #[schema(value_type = Vec<schema::Choice>)] choices: Vec<Choice> = "The choices.",
        tool: String = "The tool.",
        args: Value = "The arguments, display-redacted; null where they are not shown.",
        risk_score: f64 = "The risk, 0 to 1.",
        confidence: f64 = "The confidence, 0 to 1.",
        reasons: Vec<String> = "Reasons, the worst first.",
        expires_at: f64 = "When it expires.",
        #[schema(value_type = schema::Digest)] digest: Digest = "The digest that an answer is bound to.",
        timestamp: f64 = "When.",
        call_id: String = "The call.",
        #[serde(skip_serializing_if = "Option::is_none")] tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        session_id: String = "Its session.",
        agent: Option<String> = "The agent's own name, a claim.",
        #[schema(value_type = String)] risk: Risk = "`low`, `medium`, `high` or `critical`.",
        #[schema(value_type = schema::Tier)] tier: Tier = "The tier: how well asker and approver are separated.",
    }
    /// A question is settled.
    ApprovalResolved {
        approval_id: String = "The question.",
        run_id: String = "Its run.",
        #[schema(value_type = String)] outcome: Outcome = "`approved`, `denied`, `expired` or `withdrawn`.",
        #[schema(value_type = String)] cause: Cause = "`person`, `model`, `expiry`, `undeliverable` or `withdrawal`.",
        #[schema(value_type = Option<schema::Choice>)] choice: Option<Choice> = "The choice.",
        by: Option<String> = "Who chose it.",
        via: Option<String> = "Where.",
        note: Option<String> = "The note.",
        timestamp: f64 = "When.",
        session_id: String = "Its session.",
        call_id: String = "The call.",
        #[serde(skip_serializing_if = "Option::is_none")] tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        #[schema(value_type = schema::Digest)] digest: Digest = "The digest that the answer is bound to.",
        grant_id: Option<String> = "The grant it created.",
        edited: bool = "Whether the person edited the arguments.",
        #[schema(value_type = Option<schema::Tier>)] tier: Option<Tier> = "The tier: how well asker and approver are separated.",
    }
    /// Something that settles nothing happened to a question.
    ApprovalHappening {
        approval_id: String = "The question.",
        call_id: String = "The call.",
        #[serde(skip_serializing_if = "Option::is_none")] tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        by: Option<String> = "Who did it.",
        detail: Option<String> = "What exactly.",
        timestamp: f64 = "When.",
    }
    /// A card was handed to a channel.
    CardHappening {
        approval_id: String = "The question.",
        call_id: Option<String> = "The call, if it is about one.",
        tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        channel: String = "The channel.",
        why: Option<String> = "Why it failed.",
        timestamp: f64 = "When.",
    }
    /// A click in a channel did not count.
    ClickRefused {
        approval_id: String = "The question that the click names; not verified.",
        channel: String = "The channel.",
        account: String = "The account that clicked; not verified.",
        choice: String = "What was clicked.",
        reason: String = "Why it did not count, as a code.",
        timestamp: f64 = "When.",
    }
    /// An agent asks a person.
    ClarifyRequired {
        clarification_id: String = "The question.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        question: String = "Its text.",
        choices: Vec<String> = "Answers to choose from.",
        expires_at: f64 = "When it expires.",
        timestamp: f64 = "When.",
    }
    /// An agent's question is settled.
    ClarifyResolved {
        clarification_id: String = "The question.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        #[schema(value_type = String)] outcome: ClarificationStatus = "`answered` or `expired`.",
        choice: Option<u32> = "The number of the choice, from 1.",
        by: Option<String> = "Who answered.",
        via: Option<String> = "Where.",
        timestamp: f64 = "When.",
    }
    /// Something ran and awaits a look.
    ReviewRequired {
        review_id: String = "The review.",
        call_id: String = "The call.",
        tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        tool: String = "The tool.",
        command: String = "On one line, display-redacted; never empty.",
        timestamp: f64 = "When.",
    }
    /// Somebody looked.
    ReviewResolved {
        review_id: String = "The review.",
        call_id: String = "The call.",
        tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        #[schema(value_type = String)] outcome: ReviewStatus = "`kept` or `undone`.",
        by: String = "Who.",
        via: String = "Where.",
        timestamp: f64 = "When.",
    }
    /// A standing permission was left, or let a call run.
    GrantHappening {
        grant_id: String = "The grant.",
        call_id: String = "The call.",
        tool_call_id: Option<String> = "The model's id of the call, for calls of the built-in agent.",
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        scope: String = "What it covers, as text.",
        by: String = "Who gave it.",
        uses: u64 = "How often it was used.",
        uses_left: Option<u32> = "How many uses are left.",
        expires_at: Option<f64> = "Until when.",
        timestamp: f64 = "When.",
    }
    /// A standing permission was taken back.
    GrantRevoked {
        grant_id: String = "The grant.",
        session_id: Option<String> = "The session it was valid in; null for any.",
        scope: String = "What it covered, as text.",
        by: String = "Who.",
        via: String = "Where.",
        uses: u64 = "How often it was used.",
        timestamp: f64 = "When.",
    }
    /// The state of a session.
    SessionHappening {
        session_id: String = "Its session.",
        key_id: String = "Whose session.",
        workspace: Option<String> = "Its workspace.",
        crisis_sensitive: bool = "Whether it has the crisis mark.",
        timestamp: f64 = "When.",
    }
    /// A session runs without questions for a while.
    OverrideStarted {
        session_id: String = "Its session.",
        key_id: String = "Whose session.",
        until: f64 = "Until when.",
        reason: String = "Why.",
        all: Option<bool> = "Whether it includes critical calls.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// A session asks again.
    OverrideEnded {
        session_id: String = "Its session.",
        key_id: String = "Whose session.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// The definition of a tool changed.
    DefinitionChanged {
        tool: String = "The tool.",
        executor: String = "The server.",
        key_id: String = "The key that told of it.",
        call_id: String = "The first call with the new definition.",
        was: String = "The hash of the definition before.",
        now: String = "The hash of the definition now.",
        timestamp: f64 = "When.",
    }
    /// A recipient carries the crisis mark.
    CrisisMarked {
        recipient: String = "The recipient, in normal form.",
        session_id: String = "The session in which the signs were seen.",
        key_id: String = "Whose session.",
        call_id: Option<String> = "The call that showed the signs, if any.",
        timestamp: f64 = "When.",
    }
    /// A crisis mark was cleared.
    CrisisCleared {
        #[serde(skip_serializing_if = "Option::is_none")] recipient: Option<String> = "The recipient whose mark was cleared, in normal form.",
        #[serde(skip_serializing_if = "Option::is_none")] session_id: Option<String> = "The session whose mark it was.",
        #[serde(skip_serializing_if = "Option::is_none")] key_id: Option<String> = "Whose session.",
        by: String = "Who cleared it.",
        via: String = "Where.",
        note: Option<String> = "The note.",
        timestamp: f64 = "When.",
    }
    /// A model that is to read messages again was examined.
    ReaderExamined {
        model: String = "The model.",
        passed: bool = "Whether it is used.",
        questions: u32 = "How many texts it was asked about.",
        missed: u32 = "How many texts with a person in crisis it did not notice.",
        alarms: u32 = "How many other texts it took for one.",
        unanswered: u32 = "How many it did not answer with the one word that was asked for.",
        timestamp: f64 = "When.",
    }
    /// A run began.
    RunStarted {
        run_id: String = "Its run.",
        session_id: String = "Its session.",
        model: String = "The model.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// A run is to stop.
    RunStopping {
        run_id: String = "Its run.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// The agent read messages that were sent into the run.
    RunSteered {
        run_id: String = "Its run.",
        by: String = "Who sent them.",
        messages: u32 = "How many messages it read.",
        timestamp: f64 = "When.",
    }
    /// A run ended with an answer.
    RunCompleted {
        run_id: String = "Its run.",
        output: String = "The answer.",
        usage: Usage = "Its token usage.",
        timestamp: f64 = "When.",
    }
    /// A run could not go on.
    RunFailed {
        run_id: String = "Its run.",
        error: String = "Why.",
        timestamp: f64 = "When.",
    }
    /// Something happened to a run.
    RunHappening {
        run_id: String = "Its run.",
        timestamp: f64 = "When.",
    }
    /// What a run cost, in tokens.
    Usage {
        input_tokens: u64 = "Read.",
        output_tokens: u64 = "Written.",
        total_tokens: u64 = "Both.",
    }
    /// The next part of a message.
    MessageDelta {
        run_id: String = "Its run.",
        timestamp: f64 = "When.",
        delta: String = "The part.",
        notice: Option<bool> = "Whether it is the notice of `message.held`.",
    }
    /// A message so far.
    MessageSnapshot {
        run_id: String = "Its run.",
        timestamp: f64 = "When.",
        text: String = "The message so far.",
        notice: Option<bool> = "Whether it is the notice of `message.held`.",
    }
    /// A message waits for a person.
    MessageHeld {
        run_id: String = "Its run.",
        notice: String = "The notice shown meanwhile.",
        draft: Option<u32> = "The draft of the run; the notice is shown once per draft.",
        reached: Option<bool> = "Whether another person was asked; if not, nobody could be reached.",
        timestamp: f64 = "When.",
    }
    /// The agent begins with a tool.
    ToolStarted {
        run_id: String = "Its run.",
        tool: String = "The tool.",
        tool_call_id: String = "The model's id of the call.",
        call_id: Option<String> = "The id of the call, unless it was rejected before.",
        preview: String = "On one line, shortened.",
        timestamp: f64 = "When.",
    }
    /// A tool has run.
    ToolCompleted {
        call_id: Option<String> = "The call; null if it was never submitted.",
        tool_call_id: Option<String> = "The model's id of the call.",
        run_id: String = "Its run.",
        session_id: Option<String> = "Its session.",
        tool: String = "The tool.",
        error: Option<bool> = "Whether it failed, or did not run.",
        #[schema(value_type = Option<String>)] outcome: Option<Ended> = "How it ended: `done`, `failed`, `denied`, `refused`, `expired`, `withdrawn`, `unknown` or `not_run`.",
        words: Option<String> = "The outcome as text: `denied by ana: keep it`.",
        exit_code: Option<i32> = "The exit code, if it ran a process.",
        duration: Option<f64> = "How long it took, in seconds.",
        timestamp: f64 = "When.",
    }
    /// A key was made or revoked.
    KeyHappening {
        key_id: String = "The key.",
        name: String = "Its name.",
        role: Role = "Its role.",
        by: String = "Who.",
        #[serde(skip_serializing_if = "Option::is_none")] executors: Option<Vec<String>> = "Executors whose tokens it may consume besides its own.",
        #[serde(skip_serializing_if = "Option::is_none")] workspaces: Option<Vec<String>> = "The directories it is bound to, if any.",
        timestamp: f64 = "When.",
    }
    /// A gateway signs with a key.
    KeyPublished {
        kid: String = "Its name.",
        public_key: String = "The key.",
        timestamp: f64 = "When.",
    }
    /// A person was added or changed.
    PersonChanged {
        name: String = "The person.",
        roles: Vec<String> = "Their roles.",
        channels: Vec<String> = "Their accounts in channels.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// A person was removed.
    PersonRemoved {
        name: String = "The person.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// A link to sign in was made.
    LoginOffered {
        key_id: String = "Whose.",
        name: String = "The name of the key.",
        expires_at: f64 = "When it expires.",
        timestamp: f64 = "When.",
    }
    /// A browser signed in.
    LoginStarted {
        login_id: String = "The login.",
        key_id: String = "Whose.",
        name: String = "The name of the key.",
        expires_at: f64 = "Until when.",
        timestamp: f64 = "When.",
    }
    /// A browser was signed out.
    LoginEnded {
        login_id: String = "The login.",
        key_id: String = "Whose.",
        by: String = "Who.",
        timestamp: f64 = "When.",
    }
    /// A browser takes notifications, or no longer does.
    DeviceHappening {
        device_id: String = "The device.",
        name: String = "Its name.",
        person: String = "Whose it is.",
        service: String = "The host of its push service.",
        by: String = "Who did it; `push service` if the browser gave it up.",
        timestamp: f64 = "When.",
    }
    /// The configuration is about to be changed.
    ConfigChanged {
        key: String = "The signing key.",
        by: String = "Who.",
        via: String = "Where.",
        timestamp: f64 = "When.",
    }
    /// The ledger was signed.
    CheckpointTold {
        seq: u64 = "The last signed entry.",
        #[schema(value_type = schema::Digest)] hash: Digest = "Its hash.",
        kid: String = "The name of the key.",
        public_key: String = "The key.",
        signature: String = "The signature.",
    }
    /// The ledger was taken as it was.
    AnchoredTold {
        kid: String = "The name of the key that signs its head.",
        was: Option<String> = "The head that was kept before, as `NUMBER:HASH`.",
        head: String = "The last entry that was found, as `NUMBER:HASH`.",
        why: String = "Why.",
        by: String = "Who accepted it.",
        timestamp: f64 = "When.",
    }
}
