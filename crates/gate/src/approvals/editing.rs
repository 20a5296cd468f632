//! Edited calls: judges a call as a person changed it, before and when they allow it.
//!
//! A person may change a call to anything that may be asked about, but not past a refusal, and only
//! if whoever runs it takes changed arguments.

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::canonical::canonical;
use countersign_core::card::{Card, Lineage, is_showable, shown_args};
use countersign_core::digest::{Digest, Encoding};
use countersign_core::judge::{Judged, judge_bound};
use countersign_core::policy::Policy;
use countersign_core::status::Risk;
use countersign_core::verdict::Verdict;
use serde_json::Value;

use crate::GateError;
use crate::approvals::Approvals;
use crate::approvals::answer::may_answer;
use crate::approvals::definitions::said_of;
use crate::base::principal::Principal;
use crate::base::settings::redacts;
use crate::records::error::invalid;
use crate::records::stored::{StoredApproval, written_assessment};
use crate::records::view::EditedView;

/// A call as a person changed it.
struct Edited {
    call: ToolCall,
    judged: Judged,
    digest: Digest,
}

impl Approvals {
    /// Returns how the call of the question `id` would be judged with `args`. Answers nothing.
    pub async fn assess_edited(
        &self,
        who: &Principal,
        id: &str,
        args: &Value,
    ) -> Result<EditedView, GateError> {
        may_answer(who)?;
        let stored = self.base.stored_approval(id).await?;
        if stored.call.is_hidden_from(&who.name) {
            return Err(GateError::Forbidden(
                "you started this run; another person must answer",
            ));
        }
        let policy = self.policy_of(&stored)?;
        let Edited {
            call,
            judged,
            digest,
        } = edited(&stored, args, &policy)?;
        let mut approval = stored.approval.clone();
        approval.digest = digest;
        approval.choices = vec![Choice::Once, Choice::Deny];
        let redacts = redacts(&policy);
        let lineage = Lineage {
            tier: stored.call.tier,
            help_lines: policy.crisis_help_lines.clone(),
            definition: said_of(&stored),
            ..Lineage::default()
        };
        let mut card = Card::new(&approval, &call, &judged.assessment, &lineage, redacts);
        card.lineage.clone_from(&stored.card.lineage);
        Ok(EditedView {
            verdict: judged.ruling.verdict,
            confirm_allow: self.base.settings.confirm_critical && card.risk == Risk::Critical,
            args: shown_args(&call, redacts),
            assessment: written_assessment(&judged),
            digest: digest.to_string(),
            card,
        })
    }

    /// Returns what the call of `stored` is bound to with `args`.
    pub(super) fn rebound(
        &self,
        stored: &StoredApproval,
        choice: Choice,
        args: &Value,
    ) -> Result<Digest, GateError> {
        if choice != Choice::Once {
            let message = "edited arguments can only be allowed once";
            return Err(invalid("args", "edited_once_only", message));
        }
        let policy = self.policy_of(stored)?;
        Ok(edited(stored, args, &policy)?.digest)
    }

    fn policy_of(&self, stored: &StoredApproval) -> Result<Policy, GateError> {
        let cwd = stored.call.cwd.as_deref();
        let ruleset = self.base.policies.at(cwd).map_err(GateError::Policy)?;
        Ok(ruleset.policy.clone())
    }
}

fn edited(stored: &StoredApproval, args: &Value, policy: &Policy) -> Result<Edited, GateError> {
    if stored.call.fixed {
        let message = "this agent cannot run a call with changed arguments";
        return Err(invalid("args", "not_editable", message));
    }
    if !args.is_object() {
        let message = "`args` must be an object";
        return Err(invalid("args", "args_not_object", message));
    }
    let call = stored.call.tool_call(Some(args));
    if !is_showable(&call) {
        let message = "the edited call is too long to be shown in full";
        return Err(invalid("args", "edited_call_too_long", message));
    }
    let judged = judge_bound(policy, &call, &stored.call.bound);
    if judged.ruling.verdict == Verdict::Refuse {
        let message = "the edited call is always refused";
        return Err(invalid("args", "edited_call_refused", message));
    }
    let bytes = canonical(args)
        .map_err(|error| invalid("args", "args_not_canonical", &error.to_string()))?;
    let digest = stored.call.digest_with(Encoding::Jcs, &bytes);
    Ok(Edited {
        call,
        judged,
        digest,
    })
}
