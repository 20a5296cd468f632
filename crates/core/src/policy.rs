//! `Policy`: thresholds, modes and rules, as plain data.
//!
//! Reading the file is the binary's work; what arrives here is already typed. [`Changes`] is what
//! one file says, [`Policy`] is what holds. The owner's file may say anything ([`Policy::with`]); a
//! project's file comes with the code an agent works on, so it may only tighten
//! ([`Policy::tightened`]).
//!
//! INVARIANT: for every assessment, the verdict under a tightened policy is at least as strict as
//! under the policy it was made from. (`tests/judge/policy.rs` holds it.)

pub mod programs;
pub mod rule;
pub mod shape;

use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::content::crisis::Sensitivity;
use crate::glob::star_matches;
use crate::knowledge::owners::Programs;
use crate::place::lies_in;
use crate::score::Score;
use crate::verdict::{Mode, Situation, Thresholds};

pub use rule::{Example, ExampleError, PolicyRule, RuleKind};
pub use shape::Shape;

/// Shown to a person in crisis while another person has been asked to look.
pub const CRISIS_NOTICE: &str = "A person has been asked to look at this before anything is sent.";

/// Shown to a person in crisis when nobody else can be asked to look.
pub const CRISIS_NOTICE_UNREACHABLE: &str = "Nobody could be reached to look at this, so nothing is sent. Please talk to somebody you trust.";

/// Who answers, from strictest to loosest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovalsMode {
    /// People answer.
    #[default]
    Manual,
    /// A model may answer where nothing critical, outbound or crisis-sensitive is at stake.
    Smart,
    /// Nobody is asked, except by the rules that cannot be switched off.
    Off,
}

/// Whether verdicts are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FirewallMode {
    /// They are.
    #[default]
    Enforce,
    /// Everything is assessed; only the gates that cannot be switched off stand.
    Observe,
}

/// Which directories count as a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Any that may be one on the asker's word, and those the owner has listed.
    #[default]
    All,
    /// These and what lies in them.
    Listed(Vec<String>),
}

/// On whose word a directory counts as a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// On nobody's: it is none.
    Nobodys,
    /// On the word of whoever asks, which is enough for an ordinary directory.
    Askers,
    /// The owner has listed it, or bound the key to it.
    Owners,
}

/// What holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The thresholds of rule 11.
    pub thresholds: Thresholds,
    /// Whether verdicts are enforced.
    pub firewall: FirewallMode,
    /// Who answers.
    pub approvals: ApprovalsMode,
    /// What is refused.
    pub deny: Vec<PolicyRule>,
    /// What always asks.
    pub ask: Vec<PolicyRule>,
    /// What runs, unless it is critical.
    pub allow: Vec<PolicyRule>,
    /// Tools that need approval, or do not although they send something.
    pub approval_required: Vec<(String, bool)>,
    /// Whether tools marked as needing approval, and all that send, ask.
    pub require_approval: bool,
    /// Whether what can be rolled back may run and be reviewed afterwards.
    pub review: bool,
    /// Which directories count as a workspace.
    pub trust: Trust,
    /// The directories the owner has listed: they count even where the asker's word is not enough.
    pub vouched: Vec<String>,
    /// What a person in crisis is shown meanwhile.
    pub crisis_notice: String,
    /// The notice if nobody else can be asked.
    pub crisis_notice_unreachable: String,
    /// The owner's help lines, for whoever answers a card about a person in crisis.
    pub crisis_help_lines: Vec<String>,
    /// How much is held of what may affect a person in crisis.
    pub crisis_sensitivity: Sensitivity,
    /// Whether secrets are hidden where calls are shown.
    pub redact_secrets: bool,
    /// Programs that the owner described.
    pub programs: Programs,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            firewall: FirewallMode::Enforce,
            approvals: ApprovalsMode::Manual,
            deny: Vec::new(),
            ask: Vec::new(),
            allow: Vec::new(),
            approval_required: Vec::new(),
            require_approval: true,
            review: false,
            trust: Trust::All,
            vouched: Vec::new(),
            crisis_notice: CRISIS_NOTICE.to_owned(),
            crisis_notice_unreachable: CRISIS_NOTICE_UNREACHABLE.to_owned(),
            crisis_help_lines: Vec::new(),
            crisis_sensitivity: Sensitivity::Default,
            redact_secrets: true,
            programs: Programs::default(),
        }
    }
}

/// What one file says; what it does not mention stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// `approvals.thresholds.auto_below`
    pub auto_below: Option<Score>,
    /// `approvals.thresholds.ask_above`
    pub ask_above: Option<Score>,
    /// `approvals.thresholds.confidence_min`
    pub confidence_min: Option<Score>,
    /// `firewall.mode`
    pub firewall: Option<FirewallMode>,
    /// `approvals.mode`
    pub approvals: Option<ApprovalsMode>,
    /// `approvals.deny`
    pub deny: Vec<PolicyRule>,
    /// `approvals.ask`
    pub ask: Vec<PolicyRule>,
    /// `approvals.allow`
    pub allow: Vec<PolicyRule>,
    /// `tools.NAME.approval_required`
    pub approval_required: Vec<(String, bool)>,
    /// `outbound.require_approval`
    pub require_approval: Option<bool>,
    /// `review.enabled`
    pub review: Option<bool>,
    /// `workspaces.trust` with `workspaces.listed`
    pub trust: Option<Trust>,
    /// `workspaces.listed`; only the owner vouches for a directory
    pub vouched: Option<Vec<String>>,
    /// `crisis.notice`
    pub crisis_notice: Option<String>,
    /// `crisis.notice_unreachable`
    pub crisis_notice_unreachable: Option<String>,
    /// `crisis.help_lines`
    pub crisis_help_lines: Option<Vec<String>>,
    /// `crisis.sensitivity`
    pub crisis_sensitivity: Option<Sensitivity>,
    /// `security.redact_secrets`
    pub redact_secrets: Option<bool>,
    /// `programs`; only the owner describes a program
    pub programs: Programs,
}

/// A project's file would loosen the policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` would loosen the policy: {why}")]
pub struct LoosenError {
    /// The key that would.
    pub key: String,
    /// What it may be instead.
    pub why: String,
}

impl Policy {
    /// Returns the policy with what the owner's file says.
    #[must_use]
    pub fn with(mut self, changes: Changes) -> Self {
        let thresholds = &mut self.thresholds;
        thresholds.auto_below = changes.auto_below.unwrap_or(thresholds.auto_below);
        thresholds.ask_above = changes.ask_above.unwrap_or(thresholds.ask_above);
        thresholds.confidence_min = changes.confidence_min.unwrap_or(thresholds.confidence_min);
        self.firewall = changes.firewall.unwrap_or(self.firewall);
        self.approvals = changes.approvals.unwrap_or(self.approvals);
        self.deny.extend(changes.deny);
        self.ask.extend(changes.ask);
        self.allow.extend(changes.allow);
        self.approval_required.extend(changes.approval_required);
        self.require_approval = changes.require_approval.unwrap_or(self.require_approval);
        self.review = changes.review.unwrap_or(self.review);
        self.trust = changes.trust.unwrap_or(self.trust);
        self.vouched = changes.vouched.unwrap_or(self.vouched);
        self.crisis_notice = changes.crisis_notice.unwrap_or(self.crisis_notice);
        self.crisis_notice_unreachable = changes
            .crisis_notice_unreachable
            .unwrap_or(self.crisis_notice_unreachable);
        self.crisis_help_lines = changes.crisis_help_lines.unwrap_or(self.crisis_help_lines);
        self.crisis_sensitivity = changes
            .crisis_sensitivity
            .unwrap_or(self.crisis_sensitivity);
        self.redact_secrets = changes.redact_secrets.unwrap_or(self.redact_secrets);
        if !changes.programs.is_empty() {
            self.programs = changes.programs;
        }
        self
    }

    /// Returns the policy with what a project's file says, if that only tightens it.
    pub fn tightened(self, changes: Changes) -> Result<Self, LoosenError> {
        if let Some(error) = self.loosened_by(&changes) {
            return Err(error);
        }
        let trust = match (&self.trust, &changes.trust) {
            (Trust::Listed(ours), Some(Trust::Listed(theirs))) => Some(Trust::Listed(
                theirs
                    .iter()
                    .filter(|path| lies_in_one(path, ours))
                    .cloned()
                    .collect(),
            )),
            (Trust::All, Some(Trust::Listed(theirs))) => Some(Trust::Listed(theirs.clone())),
            (Trust::All | Trust::Listed(_), Some(Trust::All) | None) => None,
        };
        Ok(self.with(Changes {
            trust,
            vouched: None,
            ..changes
        }))
    }

    /// Returns how the firewall is set, as the verdict sees it.
    pub const fn mode(&self) -> Mode {
        mode(self.firewall, self.approvals)
    }

    /// Returns on whose word `workspace` counts as one for calls of a key that is bound to `bound`;
    /// a key that is bound to nothing may claim any. That it can be one at all is judged elsewhere.
    pub fn standing(&self, workspace: Option<&str>, bound: &[String]) -> Standing {
        let within =
            |directories: &[String]| workspace.is_some_and(|path| lies_in_one(path, directories));
        let counts = match &self.trust {
            Trust::All => true,
            Trust::Listed(listed) => within(listed),
        };
        let is_bound = !bound.is_empty();
        if !counts || is_bound && !within(bound) {
            Standing::Nobodys
        } else if is_bound || within(&self.vouched) {
            Standing::Owners
        } else {
            Standing::Askers
        }
    }

    /// Whether `workspace` counts as one on anybody's word.
    pub fn trusts(&self, workspace: Option<&str>) -> bool {
        self.standing(workspace, &[]) != Standing::Nobodys
    }

    /// Whether whoever runs `tool` wants to see a token: it is marked, or it sends something and
    /// nothing was said about it.
    pub fn wants_token(&self, tool: &str, assessment: &Assessment) -> bool {
        self.marked(tool).unwrap_or(assessment.marks.sender)
    }

    /// Whether the owner said that `tool` needs no approval although it sends something.
    pub fn waives(&self, tool: &str) -> bool {
        self.marked(tool) == Some(false)
    }

    fn marked(&self, tool: &str) -> Option<bool> {
        // The strictest mark wins, so that a later file cannot take an earlier one back.
        let marks = self
            .approval_required
            .iter()
            .filter(|(name, _)| star_matches(name, tool));
        marks.map(|(_, required)| *required).max()
    }

    /// Returns the key of what is said about people in crisis that `changes` would replace.
    fn speaks_instead(&self, changes: &Changes) -> Option<&'static str> {
        fn is_other<T: PartialEq>(new: Option<&T>, ours: &T) -> bool {
            new.is_some_and(|new| new != ours)
        }
        let notice = changes.crisis_notice.as_ref();
        let unreachable = changes.crisis_notice_unreachable.as_ref();
        let lines = changes.crisis_help_lines.as_ref();
        if is_other(notice, &self.crisis_notice) {
            Some("crisis.notice")
        } else if is_other(unreachable, &self.crisis_notice_unreachable) {
            Some("crisis.notice_unreachable")
        } else if is_other(lines, &self.crisis_help_lines) {
            Some("crisis.help_lines")
        } else {
            None
        }
    }

    /// Returns the key about people in crisis that `changes` may not set so, and why.
    fn loosens_crisis(&self, changes: &Changes) -> Option<(&'static str, &'static str)> {
        if let Some(key) = self.speaks_instead(changes) {
            return Some((key, "a project may not change crisis texts"));
        }
        let lower = changes.crisis_sensitivity?;
        (lower < self.crisis_sensitivity)
            .then_some(("crisis.sensitivity", "a project may only hold more"))
    }

    fn loosened_by(&self, changes: &Changes) -> Option<LoosenError> {
        let loosens = |key: &str, why: String| {
            Some(LoosenError {
                key: key.to_owned(),
                why,
            })
        };
        let thresholds = self.thresholds;
        if changes
            .auto_below
            .is_some_and(|line| line > thresholds.auto_below)
        {
            let why = format!("a project may set {} or less", thresholds.auto_below);
            return loosens("approvals.thresholds.auto_below", why);
        }
        if changes
            .ask_above
            .is_some_and(|line| line > thresholds.ask_above)
        {
            let why = format!("a project may set {} or less", thresholds.ask_above);
            return loosens("approvals.thresholds.ask_above", why);
        }
        if changes
            .confidence_min
            .is_some_and(|line| line < thresholds.confidence_min)
        {
            let why = format!("a project may set {} or more", thresholds.confidence_min);
            return loosens("approvals.thresholds.confidence_min", why);
        }
        if changes.approvals.is_some_and(|mode| mode > self.approvals) {
            return loosens(
                "approvals.mode",
                "a project may only set a stricter mode".to_owned(),
            );
        }
        let after = mode(
            changes.firewall.unwrap_or(self.firewall),
            changes.approvals.unwrap_or(self.approvals),
        );
        // Observing asks about dangerous commands that an allow rule would let through when
        // enforcing, so neither of the two is stricter than the other.
        if self.mode() != Mode::Off && after != self.mode() {
            return loosens(
                "firewall.mode",
                "a project may not change the mode".to_owned(),
            );
        }
        if let Some(rule) = changes.allow.first() {
            let why = format!("`{}`: a project may only add deny and ask rules", rule.name);
            return loosens("approvals.allow", why);
        }
        if let Some((tool, _)) = changes
            .approval_required
            .iter()
            .find(|(_, required)| !required)
        {
            let key = format!("tools.{tool}.approval_required");
            return loosens(&key, "a project may only set it to true".to_owned());
        }
        if changes.require_approval == Some(false) && self.require_approval {
            let why = "a project may only set it to true".to_owned();
            return loosens("outbound.require_approval", why);
        }
        if changes.review == Some(true) && !self.review {
            let why = "a project may only switch it off".to_owned();
            return loosens("review.enabled", why);
        }
        if changes.trust == Some(Trust::All) && self.trust != Trust::All {
            let why = "a project may only list fewer workspaces".to_owned();
            return loosens("workspaces.trust", why);
        }
        if let Some((key, why)) = self.loosens_crisis(changes) {
            return loosens(key, why.to_owned());
        }
        if !changes.programs.is_empty() {
            let why = "only the owner describes programs; a project may add deny and ask rules";
            return loosens("programs", why.to_owned());
        }
        if changes.redact_secrets == Some(false) && self.redact_secrets {
            let why = "a project may only set it to true".to_owned();
            return loosens("security.redact_secrets", why);
        }
        None
    }
}

/// Returns the name of the deny rule that refuses `call`, if one does.
pub fn denied_by<'a>(policy: &'a Policy, call: &ToolCall) -> Option<&'a str> {
    let mut rules = policy.deny.iter();
    let rule = rules.find(|rule| rule.matches(call, RuleKind::Deny))?;
    Some(&rule.name)
}

/// Returns what `policy` says about `call`, which was assessed as `assessment`.
///
/// What only the moment knows, grants and earlier denials, is left unset.
pub fn situation(policy: &Policy, call: &ToolCall, assessment: &Assessment) -> Situation {
    let any = |rules: &[PolicyRule], kind| rules.iter().any(|rule| rule.matches(call, kind));
    let marked = policy.wants_token(&call.tool, assessment);
    Situation {
        thresholds: policy.thresholds,
        denied_by_rule: any(&policy.deny, RuleKind::Deny),
        approval_required: policy.require_approval && marked,
        granted: false,
        mode: policy.mode(),
        denied_before: false,
        asked_by_rule: any(&policy.ask, RuleKind::Ask),
        allowed_by_rule: any(&policy.allow, RuleKind::Allow),
        review: policy.review,
    }
}

const fn mode(firewall: FirewallMode, approvals: ApprovalsMode) -> Mode {
    match (firewall, approvals) {
        (FirewallMode::Observe, _) => Mode::Observe,
        (FirewallMode::Enforce, ApprovalsMode::Off) => Mode::Off,
        (FirewallMode::Enforce, ApprovalsMode::Manual | ApprovalsMode::Smart) => Mode::Enforce,
    }
}

fn lies_in_one(path: &str, directories: &[String]) -> bool {
    directories.iter().any(|directory| lies_in(path, directory))
}
