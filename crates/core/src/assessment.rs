//! `Assessment`: risk, confidence, side effect, reasons and factors. It decides nothing.

use serde::{Deserialize, Serialize};

use crate::score::Score;
use crate::shell::syntax::Span;

/// What a call changes, from nothing to what always asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl SideEffect {
    /// All of them, the mildest first.
    pub const ALL: [Self; 4] = [
        Self::ReadOnly,
        Self::LocalReversible,
        Self::External,
        Self::Critical,
    ];

    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::LocalReversible => "local_reversible",
            Self::External => "external",
            Self::Critical => "critical",
        }
    }

    /// Returns the text for people, the same on every surface.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::ReadOnly => "changes nothing",
            Self::LocalReversible => "local change",
            Self::External => "reaches other machines or people",
            Self::Critical => "critical",
        }
    }
}

/// What a call would do and how sure we are of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The tool, as the caller names it.
    pub tool_name: String,
    /// The risk.
    pub risk: Score,
    /// How sure we are.
    pub confidence: Score,
    /// The side-effect class of the call.
    pub side_effect: SideEffect,
    /// Whether what it does can be undone.
    pub reversible: bool,
    /// Whether it touches a person in crisis.
    pub crisis_sensitive: bool,
    /// Whether it carries something out of the machine.
    pub outbound: bool,
    /// Sentences for a person, the worst first.
    pub reasons: Vec<String>,
    /// The five factors.
    pub factors: Vec<Factor>,
    /// Everything that was found, the worst first.
    pub findings: Vec<Finding>,
    /// Marks that decide more than the score.
    pub marks: AssessmentMarks,
}

/// Marks of an assessment that the verdict looks at before the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each mark is its own yes or no"
)]
pub struct AssessmentMarks {
    /// Catastrophic.
    pub floor: bool,
    /// Cannot be read, or nothing is known about the tool.
    pub unreadable: bool,
    /// Changes or stops the firewall itself, or an agent's permissions.
    pub guard: bool,
    /// Moves money.
    pub money: bool,
    /// A tool that sends something to people or other machines as its purpose.
    pub sender: bool,
    /// A terminal command that Countersign calls dangerous.
    pub dangerous_terminal: bool,
    /// A working rollback exists.
    pub rollback: bool,
    /// The words alone leave open whether a person in crisis may be affected. Decides nothing here.
    pub crisis_unsure: bool,
}

/// One of the five factors of a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Which: `tool_class`, `target_sensitivity`, `reversibility`, `human_impact`,
    /// `context_certainty`.
    pub name: &'static str,
    /// How much. High is risky, except for `context_certainty`, where high is good.
    pub score: Score,
    /// The evidence.
    pub evidence: String,
}

/// Returns what people call the factor `name`, everywhere.
pub fn factor_words(name: &str) -> &str {
    match name {
        "tool_class" => "what it does",
        "target_sensitivity" => "what it touches",
        "reversibility" => "how hard to undo",
        "human_impact" => "effect on people",
        "context_certainty" => "how clear it is",
        other => other,
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable code.
    pub code: &'static str,
    /// The sentence without what it names: the same for every call with this cause. The code, where
    /// that says it all.
    pub cause: &'static str,
    /// The severity.
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// Where in the command or text, in UTF-8 bytes.
    pub span: Option<Span>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl Severity {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Catastrophic => "catastrophic",
        }
    }
}
