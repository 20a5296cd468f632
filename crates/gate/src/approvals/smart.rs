//! `approvals.mode: smart`: lets a model answer for a person, within law 11.
//!
//! The question is put down and can be answered by people from the first moment; the model is only
//! asked before channels are bothered. Whatever goes wrong with it, they are.

use std::pin::Pin;
use std::sync::Arc;

use countersign_core::approval::{Answer, Choice, Happened};
use countersign_core::assessment::SideEffect;
use countersign_core::judge::Judged;
use countersign_core::policy::{ApprovalsMode, Policy};
use countersign_core::tier::Tier;
use countersign_core::verdict::Rule;

use crate::approvals::Approvals;
use crate::approvals::change::Unchanged;
use crate::records::entries::SMART_VIA;
use crate::records::stored::StoredApproval;

/// Somebody who may answer for a person: a model behind it.
pub trait Deputy: Send + Sync + std::fmt::Debug {
    /// Returns who answers, for the ledger.
    fn name(&self) -> String;

    /// Returns its answer to the card in `text`, which is display-redacted; `None`: ask a person.
    fn judge<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<Deputed>> + Send + 'a>>;
}

/// What a deputy may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deputed {
    /// It may run, once.
    Once,
    /// It may not.
    Deny,
}

impl Approvals {
    /// Appoints who answers in smart mode. Only the first appointment counts.
    pub fn appoint(&self, deputy: Arc<dyn Deputy>) {
        if self.deputy.set(deputy).is_err() {
            tracing::warn!("a second deputy was not appointed");
        }
    }

    /// Asks the deputy about a question that was just put down, if there is one and law 11 lets it
    /// answer. False if people must be told at once.
    pub(crate) fn depute(
        self: &Arc<Self>,
        stored: &StoredApproval,
        judged: &Judged,
        policy: &Policy,
    ) -> bool {
        let Some(deputy) = self.deputy.get() else {
            return false;
        };
        if policy.approvals != ApprovalsMode::Smart || !may_depute(judged) {
            return false;
        }
        let (approvals, deputy) = (Arc::clone(self), Arc::clone(deputy));
        let (id, text) = (stored.approval.id.clone(), stored.card.plain_text());
        tokio::spawn(async move {
            let said = deputy.judge(&text).await;
            let answered = match said {
                None => false,
                Some(said) => {
                    approvals
                        .answer_deputed(id.as_str(), &deputy.name(), said)
                        .await
                }
            };
            if !answered {
                approvals.base.cards.deliver_soon(id.as_str());
            }
        });
        true
    }

    /// False if the answer could not be given and nobody else has answered.
    async fn answer_deputed(&self, id: &str, name: &str, said: Deputed) -> bool {
        let choice = match said {
            Deputed::Once => Choice::Once,
            Deputed::Deny => Choice::Deny,
        };
        let changed = self
            .change_approval(id, |_, now| {
                Ok(Happened::Answered(Answer {
                    choice,
                    by: name.to_owned(),
                    via: SMART_VIA.to_owned(),
                    tier: Tier::T0,
                    note: None,
                    at: now,
                    grant_id: None,
                    rebound: None,
                }))
            })
            .await;
        match changed {
            // Who was faster has settled it.
            Ok(_) | Err(Unchanged::Step(..)) => true,
            Err(Unchanged::Gate(error)) => {
                tracing::error!(%error, approval = id, "a model's answer could not be written");
                false
            }
        }
    }
}

/// Law 11: never for critical, crisis-sensitive or outbound calls, nor under rules 1 to 4.
fn may_depute(judged: &Judged) -> bool {
    let assessment = &judged.assessment;
    judged.ruling.rule > Rule::ApprovalRequired
        && assessment.side_effect != SideEffect::Critical
        && !assessment.outbound
        && !assessment.crisis_sensitive
}
