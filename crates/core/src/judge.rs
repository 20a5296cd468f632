//! One call from assessment to verdict, under the policy that holds where it is made.

use crate::assess::assess;
use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::policy::{Policy, Standing, situation};
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
    judge_bound(policy, call, &[])
}

/// Judges a call of a key that is bound to these directories.
pub fn judge_bound(policy: &Policy, call: &ToolCall, bound: &[String]) -> Judged {
    let (assessment, situation) = consider_bound(policy, call, bound);
    let ruling = verdict(&assessment, &situation);
    Judged { assessment, ruling }
}

/// Returns what `call` would do and what `policy` says about it. What only the moment knows,
/// grants and earlier denials, is for the caller to add before the verdict.
pub fn consider(policy: &Policy, call: &ToolCall) -> (Assessment, Situation) {
    consider_bound(policy, call, &[])
}

/// Returns the same for a call of a key that is bound to these directories.
pub fn consider_bound(
    policy: &Policy,
    call: &ToolCall,
    bound: &[String],
) -> (Assessment, Situation) {
    let assessment = assess(call, &known(policy, call, bound));
    let situation = situation(policy, call, &assessment);
    (assessment, situation)
}

/// Returns what is known about `call` beyond its own claims.
pub(crate) fn known(policy: &Policy, call: &ToolCall, bound: &[String]) -> Knows {
    let workspace = call.workspace.as_deref().or(call.cwd.as_deref());
    let standing = policy.standing(workspace, bound);
    Knows {
        trusts_workspace: standing != Standing::Nobodys,
        vouched_workspace: standing == Standing::Owners,
        ..Knows::default()
    }
}
