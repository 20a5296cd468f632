//! A recorded assessment as it is read back.

use serde::{Deserialize, Serialize};

use crate::assessment::{Severity, SideEffect};
use crate::status::Risk;
use crate::verdict::{Pattern, Verdict};

/// What a call would do, how sure that is, and what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub risk: Option<Risk>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorView {
    /// `tool_class`, `target_sensitivity`, `reversibility`, `human_impact` or `context_certainty`.
    pub factor: String,
    /// How much, 0 to 1. High is risky, except for `context_certainty`, where high is good.
    pub score: f64,
    /// The evidence.
    pub evidence: String,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleView {
    /// Its number in the order of rules.
    pub number: u8,
    /// What it says.
    pub sentence: String,
}
