//! Judges one call: from assessment to verdict, under the policy of its directory.

use crate::assess::{assess_with_files, hear};
use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::content::crisis::SecondReading;
use crate::follow::walk::Knows;
use crate::policy::{Policy, RuleKind, Standing, Trust, situation};
use crate::verdict::{Ruling, Situation, verdict};
use crate::written::{Files, Written};

/// A call as judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its effects.
    pub assessment: Assessment,
    /// The verdict.
    pub ruling: Ruling,
}

/// Judges `call` under `policy`, as if there were no grants and nothing had happened before.
pub fn judge(policy: &Policy, call: &ToolCall) -> Judged {
    judge_bound(policy, call, &[])
}

/// Judges a call of a key that is bound to these directories.
pub fn judge_bound(policy: &Policy, call: &ToolCall, bound: &[String]) -> Judged {
    judge_heard(policy, call, bound, None)
}

/// Judges a call of a key that is bound to these directories, of which a second reader said this.
pub fn judge_heard(
    policy: &Policy,
    call: &ToolCall,
    bound: &[String],
    said: Option<SecondReading>,
) -> Judged {
    let (mut assessment, situation) = consider_bound(policy, call, bound);
    if let Some(said) = said {
        hear(&mut assessment, said);
    }
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
    let considered = consider_after(policy, call, bound, Written::default());
    (considered.assessment, considered.situation)
}

/// A call as it is looked at before the verdict.
#[derive(Clone, Debug)]
pub struct Considered {
    /// Its effects.
    pub assessment: Assessment,
    /// What the policy says about it.
    pub situation: Situation,
    /// What it writes, and which files it would have to know.
    pub files: Files,
}

impl Considered {
    /// Whether nothing that happened in the session before could make a verdict of `allow` stricter:
    /// it runs no file that the session may have written, and even in a conversation with a person in
    /// crisis nobody would be asked, because nothing leaves the machine and all of it can be undone.
    pub fn stands_alone(&self) -> bool {
        let assessment = &self.assessment;
        self.files.wanted.is_empty()
            && self.files.runs.is_empty()
            && !assessment.outbound
            && !assessment.crisis_sensitive
            && assessment.reversible
    }
}

/// Considers `call` of a key that is bound to the directories `bound`, after earlier calls of the
/// same key have `written` files.
pub fn consider_after(
    policy: &Policy,
    call: &ToolCall,
    bound: &[String],
    written: Written,
) -> Considered {
    let knows = Knows {
        written,
        ..known(policy, call, bound)
    };
    let (mut assessment, files) = assess_with_files(call, &knows);
    let situation = situation(policy, call, &assessment);
    if let Some(reason) = rule_reason(policy, call) {
        assessment.reasons.insert(0, reason);
    }
    Considered {
        assessment,
        situation,
        files,
    }
}

/// Returns the files that `call` may run or change, as far as its text says: what whoever can look
/// at the disk should look at before the call is judged.
pub fn files_of(call: &ToolCall) -> Files {
    files_after(call, Written::default())
}

/// Returns the same, if the files hold `written` before the call.
pub(crate) fn files_after(call: &ToolCall, written: Written) -> Files {
    let knows = Knows {
        trusts_workspace: true,
        trusts_beside: true,
        written,
        ..Knows::default()
    };
    assess_with_files(call, &knows).1
}

/// Returns what is known about `call` beyond its own claims.
pub(crate) fn known(policy: &Policy, call: &ToolCall, bound: &[String]) -> Knows {
    let workspace = call.workspace.as_deref().or(call.cwd.as_deref());
    let standing = policy.standing(workspace, bound);
    Knows {
        trusts_workspace: standing != Standing::Nobodys,
        vouched_workspace: standing == Standing::Owners,
        trusts_beside: standing == Standing::Askers && policy.trust == Trust::All,
        programs: policy.programs,
        sensitivity: policy.crisis_sensitivity,
        ..Knows::default()
    }
}

/// Names the rule of the owner that refuses `call` or wants it asked about, wherever reasons are
/// shown.
fn rule_reason(policy: &Policy, call: &ToolCall) -> Option<String> {
    let kinds = [
        (&policy.deny, RuleKind::Deny, "refuses this"),
        (&policy.ask, RuleKind::Ask, "asks about this"),
    ];
    kinds.into_iter().find_map(|(rules, kind, does)| {
        let rule = rules.iter().find(|rule| rule.matches(call, kind))?;
        Some(format!("the rule `{}` {does}", rule.name))
    })
}
