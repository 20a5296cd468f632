//! Mirrors of the core's types that describe them in the API's schema; no program logic uses them.
//!
//! They are separate because the core knows no HTTP. A mirror has the name, the fields and the words
//! of its original, and `tests/gate/schema.rs` compares the two. A view names it on its field with
//! `#[schema(value_type = …)]`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The verdicts, from loosest to strictest.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs at once.
    Allow,
    /// It runs at once and a person looks at it afterwards.
    AllowThenReview,
    /// A person is asked.
    Ask,
    /// It does not run.
    Refuse,
}

/// Which of the three confirmation patterns a verdict belongs to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// A person decides before it runs.
    PreExecutionGate,
    /// A person looks after it ran.
    PostExecutionReview,
    /// Score and confidence decide.
    ConfidenceThreshold,
}

/// What a call changes, from nothing to what always asks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// Changes nothing.
    ReadOnly,
    /// Changes something here that can be changed back.
    LocalReversible,
    /// Reaches other machines or people.
    External,
    /// Always asks.
    Critical,
}

/// How bad a finding is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Below the first line.
    Low,
    /// Between the thresholds.
    Medium,
    /// Above the second line, or always a question.
    High,
    /// Refused.
    Catastrophic,
}

/// What a person may choose.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This call, once.
    Once,
    /// Such calls, in this session.
    Session,
    /// Such calls, from now on.
    Always,
    /// No.
    Deny,
}

/// From advisory to proven.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub enum Tier {
    /// Same account: advisory.
    T0,
    /// Same account, hardened: a credential of its own, a process that cannot be read.
    T1,
    /// The firewall runs under its own user; the asker comes through the agent socket.
    T2,
    /// Answered on another device through a verified channel.
    T3,
    /// A passkey over the digest of the call.
    T4,
}

/// SHA-256, in hexadecimal with its name in front where it is written.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(value_type = String)]
pub struct Digest(pub String);

/// Milliseconds since 1970.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

/// What a call would do, how sure that is, and what follows.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is its own yes or no on the wire"
)]
pub struct AssessmentView {
    /// The tool, as the caller names it.
    pub tool_name: String,
    /// The risk, 0 to 1.
    pub risk_score: f64,
    /// The same in one word, as cards say it: `low`, `medium`, `high` or `critical`. Records of
    /// earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub risk: Option<String>,
    /// The confidence, 0 to 1.
    pub confidence: f64,
    /// Which confirmation pattern the verdict belongs to.
    pub pattern: Pattern,
    /// Whether a person is asked.
    pub requires_human: bool,
    /// Sentences for a person, the worst first.
    pub reasons: Vec<String>,
    /// Whether it can be undone.
    pub reversible: bool,
    /// Whether it may affect a person in crisis.
    pub crisis_sensitive: bool,
    /// The side-effect class.
    pub side_effect: SideEffect,
    /// Whether it is outbound.
    pub outbound: bool,
    /// The verdict, before any person is asked.
    pub verdict: Verdict,
    /// The five factors.
    pub factors: Vec<FactorView>,
    /// Everything that was found, the worst first.
    pub findings: Vec<FindingView>,
    /// The rule that decided.
    pub rule: RuleView,
}

/// One of the five factors of a score.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FactorView {
    /// `tool_class`, `target_sensitivity`, `reversibility`, `human_impact` or `context_certainty`.
    pub factor: String,
    /// How much, 0 to 1. High is risky, except for `context_certainty`, where high is good.
    pub score: f64,
    /// The evidence.
    pub evidence: String,
}

/// One thing that was found.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FindingView {
    /// A stable code.
    pub code: String,
    /// The severity.
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// Where in the command or text: first byte and the one behind the last, in UTF-8.
    pub span: Option<(u32, u32)>,
}

/// The rule that decided.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleView {
    /// Its number in the order of rules.
    pub number: u8,
    /// What it says.
    pub sentence: String,
}

/// What a person sees.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Card {
    /// The approval.
    pub approval_id: String,
    /// The title of the call.
    pub title: String,
    /// `low`, `medium`, `high` or `critical`.
    #[schema(value_type = String)]
    pub risk: String,
    /// Reasons, the worst first.
    pub reasons: Vec<String>,
    /// The tool.
    pub tool: String,
    /// The shell text, or the call on one line; never empty.
    pub command: String,
    /// What exactly will run, complete.
    pub body: Vec<Field>,
    /// Who asks, from where, for what: agent, run, session, directory.
    pub lineage: Vec<Field>,
    /// The owner's help lines, where a person in crisis may be concerned: for whoever answers.
    #[serde(default)]
    pub help_lines: Vec<String>,
    /// The agent's explanation, quoted and unverified.
    pub explanation: Option<String>,
    /// The choices.
    pub choices: Vec<Choice>,
    /// When it expires, in milliseconds.
    pub expires_at: UnixMillis,
    /// The follow-up.
    pub on_timeout: String,
    /// The tier: how well asker and approver are separated.
    pub tier: Tier,
    /// The digest the answer is bound to.
    pub digest: String,
    /// How it ended, in words: "Approved once by Ana · 14:02". `None` while it waits.
    pub outcome: Option<String>,
}

/// A named part of a card.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CardField)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its text, safe to show.
    pub text: String,
    /// Whether it is code, to be shown in fixed width with its line breaks.
    pub code: bool,
    /// Where the danger stands in it, in the order of the text.
    #[serde(default)]
    pub marks: Vec<Mark>,
}

/// A part of a text that a finding is about.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CardMark)]
pub struct Mark {
    /// Where it begins, in UTF-8 bytes of the shown text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, for a person.
    pub words: String,
}

/// Which calls a grant is about. In every kind `within` is what the call it was given for would
/// do: no covered call does anything else or worse.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// Exactly these arguments of this tool, from this directory.
    Exact {
        /// The tool.
        tool: String,
        /// SHA-256 of the canonical arguments.
        arguments: Digest,
        /// The call on one line, for people.
        shown: String,
        /// The directory.
        cwd: Option<String>,
        /// Its rights.
        within: Within,
    },
    /// Shell commands: these simple commands in this order and nothing beside them.
    Command {
        /// The tool.
        tool: String,
        /// The simple commands, each with all its words.
        shapes: Vec<CommandShape>,
        /// The directory it is bound to.
        cwd: Option<String>,
        /// SHA-256 of the arguments beside the command.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// Shell commands: this program, subcommand and options on ordinary files of the workspace, for
    /// the same reason. Only for a session.
    Reason {
        /// The tool.
        tool: String,
        /// The commands that were the reason, without their operands.
        shapes: Vec<CommandShape>,
        /// The other commands of the call, with all their words.
        beside: Vec<CommandShape>,
        /// The workspace.
        workspace: String,
        /// The directory it is bound to.
        cwd: Option<String>,
        /// Code and cause of the findings that made it a question.
        causes: Vec<String>,
        /// SHA-256 of the arguments beside the command.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// A tool on paths under a directory.
    Path {
        /// The tool.
        tool: String,
        /// The directory, normalised.
        prefix: String,
        /// SHA-256 of the arguments beside paths and content.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// A tool to one recipient.
    Recipient {
        /// The tool.
        tool: String,
        /// The recipient, exactly.
        recipient: String,
        /// SHA-256 of the arguments beside recipient and text.
        others: Digest,
        /// Its rights.
        within: Within,
    },
}

/// One simple command of a granted text.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CommandShape {
    /// What joins it to the command before it: `&&`, `||`, `|`, `|&`, `;`; empty for the first.
    pub join: String,
    /// Its words; without the operands if it is open.
    pub words: Vec<String>,
    /// Its redirections.
    pub redirects: Vec<String>,
    /// The directory in which its operands may name anything; `None`: there are no others.
    pub open: Option<String>,
}

/// What may happen at most.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Within {
    /// Codes of everything that was found, sorted.
    pub effects: Vec<String>,
    /// The risk, per mille.
    pub risk: u16,
    /// The side-effect class.
    pub side_effect: SideEffect,
    /// Whether something may leave the machine.
    pub outbound: bool,
    /// Whether it may be something that cannot be undone.
    pub irreversible: bool,
    /// Whether it may be something nothing is known about.
    pub unknown: bool,
}

/// One entry.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Entry {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// The hash of the entry before it.
    pub previous: Digest,
    /// Its own hash.
    pub hash: Digest,
    /// What it says.
    #[serde(flatten)]
    pub draft: Draft,
}

/// An entry before it has its place in the chain.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Draft {
    /// When it happened.
    pub at: UnixMillis,
    /// What happened: `approval.required`, `grant.revoked` …
    pub event: String,
    /// The key whose doing it is about; the agent behind it may see it. Empty: people only.
    pub owner: String,
    /// The run it belongs to, or empty.
    pub run: String,
    /// The session it belongs to, or empty.
    pub session: String,
    /// The id of the thing it is about, or empty.
    pub subject: String,
    /// The event as it is shown, a JSON object.
    pub body: String,
}
