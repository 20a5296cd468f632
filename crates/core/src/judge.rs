//! One call from assessment to verdict, under the policy that holds where it is made.

use crate::assess::assess;
use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::policy::{Policy, RuleKind, situation};
use crate::shell::walk::Knows;
use crate::verdict::{Ruling, Situation, verdict};

/// A call as judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What it would do.
    pub assessment: Assessment,
    /// What the firewall concludes.
    pub ruling: Ruling,
}

/// Judges `call` under `policy`, as if there were no grants and nothing had happened before.
pub fn judge(policy: &Policy, call: &ToolCall) -> Judged {
    let (assessment, situation) = consider(policy, call);
    let ruling = verdict(&assessment, &situation);
    Judged { assessment, ruling }
}

/// Returns what `call` would do and what `policy` says about it. What only the moment knows,
/// grants and earlier denials, is for the caller to add before the verdict.
pub fn consider(policy: &Policy, call: &ToolCall) -> (Assessment, Situation) {
    let workspace = call.workspace.as_deref().or(call.cwd.as_deref());
    let knows = Knows {
        trusts_workspace: policy.trusts(workspace),
        ..Knows::default()
    };
    let mut assessment = assess(call, &knows);
    let situation = situation(policy, call, &assessment);
    if let Some(reason) = rule_reason(policy, call) {
        assessment.reasons.insert(0, reason);
    }
    (assessment, situation)
}

/// Names the rule of the owner that refuses `call` or wants it asked about, wherever reasons are
/// shown.
fn rule_reason(policy: &Policy, call: &ToolCall) -> Option<String> {
    let kinds = [
        (&policy.deny, RuleKind::Deny, "refuses this"),
        (&policy.ask, RuleKind::Ask, "wants this asked about"),
    ];
    kinds.into_iter().find_map(|(rules, kind, does)| {
        let rule = rules.iter().find(|rule| rule.matches(call, kind))?;
        Some(format!("the rule `{}` {does}", rule.name))
    })
}
