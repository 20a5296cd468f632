//! `Verdict`: what the firewall decides before any person: allow, allow then review, ask, refuse.
//!
//! Twelve rules, the first that applies decides. The order is fixed; the numbers of rule 11 are
//! configuration.

use serde::{Deserialize, Serialize};

use crate::assessment::{Assessment, SideEffect};
use crate::score::Score;

/// The verdicts, from loosest to strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl Verdict {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowThenReview => "allow_then_review",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
        }
    }
}

/// Which of the three confirmation patterns a verdict belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// A person decides before it runs.
    PreExecutionGate,
    /// A person looks after it ran.
    PostExecutionReview,
    /// Score and confidence decide.
    ConfidenceThreshold,
}

impl Pattern {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PreExecutionGate => "pre_execution_gate",
            Self::PostExecutionReview => "post_execution_review",
            Self::ConfidenceThreshold => "confidence_threshold",
        }
    }
}

/// The rule that decided, by its number in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// 1: the floor, or an `approvals.deny` rule.
    FloorOrDenied,
    /// 2: a person in crisis, and outbound or irreversible.
    CrisisGate,
    /// 3: the firewall itself, or money.
    GuardOrMoney,
    /// 4: a tool marked `approval_required`.
    ApprovalRequired,
    /// 5: a live grant.
    Granted,
    /// 6: yolo, `mode: off` or `observe`.
    ModeAllows,
    /// 7: denied a moment ago.
    DeniedBefore,
    /// 8: an `ask` or `allow` rule.
    PolicyRule,
    /// 9: critical.
    Critical,
    /// 10: unreadable or unknown.
    Unreadable,
    /// 11: the thresholds.
    Thresholds,
    /// 12: the review lane.
    Review,
}

impl Rule {
    /// Returns the rule's number in the order.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Returns why, in words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::FloorOrDenied => "such calls are always refused",
            Self::CrisisGate => "a person in crisis may be affected, so a person decides",
            Self::GuardOrMoney => "it changes the firewall or moves money, so a person decides",
            Self::ApprovalRequired => "the tool is marked as needing approval",
            Self::Granted => "a grant covers it",
            Self::ModeAllows => "the current mode allows it",
            Self::DeniedBefore => "the same effect was denied recently",
            Self::PolicyRule => "a policy rule matches",
            Self::Critical => "it is critical",
            Self::Unreadable => "its effect is unreadable or unknown",
            Self::Thresholds => "risk and confidence compared with the thresholds",
            Self::Review => "it can be rolled back, so it is reviewed afterwards",
        }
    }
}

/// The thresholds of rule 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Risk below this runs.
    pub auto_below: Score,
    /// Risk above this asks.
    pub ask_above: Score,
    /// Between the two, confidence below this asks.
    pub confidence_min: Score,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            auto_below: Score::new(250),
            ask_above: Score::new(600),
            confidence_min: Score::new(700),
        }
    }
}

/// The mode of the firewall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything is enforced.
    #[default]
    Enforce,
    /// Everything is assessed; the gates that cannot be switched off stand.
    Observe,
    /// A session's override: ordinary calls run without a question, critical ones do not.
    Yolo,
    /// `approvals.mode: off`, or a session's override that covers critical calls, too.
    Off,
}

/// The policy and state that apply to one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one of the twelve rules' conditions"
)]
pub struct Situation {
    /// The thresholds in force.
    pub thresholds: Thresholds,
    /// A `deny` rule of the policy matches.
    pub denied_by_rule: bool,
    /// The tool is marked `approval_required` and `outbound.require_approval` is on.
    pub approval_required: bool,
    /// A live grant covers the call.
    pub granted: bool,
    /// The mode of the firewall.
    pub mode: Mode,
    /// The effects of this call were denied recently.
    pub denied_before: bool,
    /// An `ask` rule of the policy matches.
    pub asked_by_rule: bool,
    /// An `allow` rule of the policy matches.
    pub allowed_by_rule: bool,
    /// The review lane is on.
    pub review: bool,
}

/// A verdict and the rule that decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The conclusion.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: Rule,
    /// The confirmation pattern.
    pub pattern: Pattern,
    /// Whether only *once* and *deny* may be offered.
    pub once_only: bool,
}

/// Returns what the firewall concludes about `assessment` in `situation`.
pub fn verdict(assessment: &Assessment, situation: &Situation) -> Ruling {
    let (verdict, rule) = decide(assessment, situation);
    let above = assessment.risk > situation.thresholds.ask_above;
    let gate = matches!(
        rule,
        Rule::FloorOrDenied
            | Rule::CrisisGate
            | Rule::GuardOrMoney
            | Rule::ApprovalRequired
            | Rule::DeniedBefore
            | Rule::PolicyRule
            | Rule::Critical
    );
    let pattern = if rule == Rule::Review {
        Pattern::PostExecutionReview
    } else if gate || above {
        Pattern::PreExecutionGate
    } else {
        Pattern::ConfidenceThreshold
    };
    let once_only = matches!(
        rule,
        Rule::CrisisGate | Rule::GuardOrMoney | Rule::ApprovalRequired
    );
    Ruling {
        verdict,
        rule,
        pattern,
        once_only,
    }
}

fn decide(assessment: &Assessment, situation: &Situation) -> (Verdict, Rule) {
    let marks = assessment.marks;
    let critical = assessment.side_effect == SideEffect::Critical;
    if marks.floor || situation.denied_by_rule {
        return (Verdict::Refuse, Rule::FloorOrDenied);
    }
    if assessment.crisis_sensitive && (assessment.outbound || !assessment.reversible) {
        return (Verdict::Ask, Rule::CrisisGate);
    }
    let always_asked = if marks.guard || marks.money {
        Some(Rule::GuardOrMoney)
    } else {
        situation
            .approval_required
            .then_some(Rule::ApprovalRequired)
    };
    if let Some(rule) = always_asked {
        // A person has answered this a moment ago; asking again would wear the answer down.
        return if situation.denied_before {
            (Verdict::Refuse, Rule::DeniedBefore)
        } else {
            (Verdict::Ask, rule)
        };
    }
    if situation.granted {
        return (Verdict::Allow, Rule::Granted);
    }
    match situation.mode {
        Mode::Observe if marks.dangerous_terminal => return (Verdict::Ask, Rule::Critical),
        Mode::Yolo if critical => {}
        Mode::Observe | Mode::Yolo | Mode::Off => return (Verdict::Allow, Rule::ModeAllows),
        Mode::Enforce => {}
    }
    if situation.denied_before {
        return (Verdict::Refuse, Rule::DeniedBefore);
    }
    if situation.asked_by_rule {
        return (Verdict::Ask, Rule::PolicyRule);
    }
    if situation.allowed_by_rule && !critical {
        return (Verdict::Allow, Rule::PolicyRule);
    }
    if critical {
        return (Verdict::Ask, Rule::Critical);
    }
    if marks.unreadable {
        return (Verdict::Ask, Rule::Unreadable);
    }
    let thresholds = situation.thresholds;
    let asks = assessment.risk > thresholds.ask_above
        || assessment.risk >= thresholds.auto_below
            && assessment.confidence < thresholds.confidence_min;
    let reviewable = marks.rollback
        && assessment.side_effect <= SideEffect::LocalReversible
        && !assessment.crisis_sensitive;
    if asks && situation.review && reviewable && assessment.risk <= thresholds.ask_above {
        return (Verdict::AllowThenReview, Rule::Review);
    }
    (
        if asks { Verdict::Ask } else { Verdict::Allow },
        Rule::Thresholds,
    )
}
