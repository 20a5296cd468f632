//! Remembers denials: the same act is refused without another question, in any spelling, until the
//! denial is lifted or expires.
//!
//! A denial belongs to the key that asked, not to a session: a session is a name the asker makes
//! up. Runs of the built-in agent share a key, so there it belongs to who started the run. The
//! truth is the record of the question; what is remembered here is forgotten as soon as the ledger
//! tells of an answer, here or on another replica.

use std::sync::Arc;

use countersign_core::approval::{Happened, State};
use countersign_core::call::ToolCall;
use countersign_core::deed::{Deeds, deeds};
use countersign_core::digest::Digest;
use countersign_core::policy::Policy;
use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_store::{Kind, Order, Query};

use crate::GateError;
use crate::approvals::Approvals;
use crate::base::cache::{Cache, ended_at};
use crate::base::principal::Principal;
use crate::records::error::invalid;
use crate::records::stored::{StoredApproval, StoredCall, read};
use crate::records::view::ApprovalView;

/// Denials of one key that are remembered; the oldest go first.
const DENIALS_MAX: u32 = 500;

/// A denial, as the next asker is told it.
#[derive(Clone, Debug)]
pub(crate) struct Denial {
    /// The question that was denied.
    pub(crate) id: String,
    pub(crate) by: String,
    pub(crate) note: Option<String>,
    pub(crate) at: UnixMillis,
    /// Who started the run that asked.
    starter: Option<String>,
    /// The call, where it was denied before deeds were kept.
    digest: Digest,
    deeds: Vec<Digest>,
}

/// Denials that were read a moment ago, by the key that asked.
#[derive(Debug)]
pub(crate) struct Denials(Cache<String, Arc<Vec<Denial>>>);

impl Default for Denials {
    fn default() -> Self {
        Self(Cache::until(&["approval.resolved", "approval.lifted"]))
    }
}

impl Approvals {
    /// Returns the latest denial of what `call` would do.
    pub(crate) async fn denial_of(
        &self,
        call: &StoredCall,
        tool_call: &ToolCall,
        policy: &Policy,
    ) -> Result<Option<Denial>, GateError> {
        let since = self.base.denials_since();
        let denials = self.denials_of(call.key.as_str()).await?;
        let mut live = denials
            .iter()
            .filter(|denial| denial.at > since && denial.starter == call.starter)
            .peekable();
        if live.peek().is_none() {
            return Ok(None);
        }
        let deeds = all_deeds(policy, tool_call, call);
        let same = |denial: &&Denial| {
            deeds.include(&denial.deeds) || denial.deeds.is_empty() && denial.digest == call.digest
        };
        Ok(live.find(same).cloned())
    }

    /// Lets the agent ask again about what was denied. Who denied it may, and an admin.
    pub async fn lift_denial(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can lift a denial"));
        }
        let changed = self
            .change_approval(id, |stored, now| {
                let State::Denied { answer } = &stored.approval.state else {
                    let message = "this call was not denied; there is nothing to lift";
                    return Err(invalid("id", "not_denied", message));
                };
                if stored.call.key == who.key {
                    return Err(GateError::Forbidden(
                        "the asker cannot lift a denial; another person must",
                    ));
                }
                if answer.by != who.name && !who.role.administers() {
                    return Err(GateError::Forbidden(
                        "only the person who denied it or an admin can lift it",
                    ));
                }
                if stored.lifted.is_none() {
                    stored.lifted = Some((who.name.clone(), now));
                }
                Ok(Happened::TimePassed { reached: true })
            })
            .await;
        self.denials.0.forget(ended_at(self.base.store.tail()));
        self.told(who, changed)
    }

    /// Notes that a question was settled.
    pub(crate) fn after_answer(&self, stored: &StoredApproval) {
        self.denials.0.forget(ended_at(self.base.store.tail()));
        if stored.approval.answer().is_some() && stored.held_back.is_none() {
            self.admission.quota.answered(&stored.call);
        }
    }

    /// Returns the denials of a key that may still count, the newest first.
    async fn denials_of(&self, key: &str) -> Result<Arc<Vec<Denial>>, GateError> {
        let (Denials(cache), tail) = (&self.denials, self.base.store.tail());
        if let Some(denials) = cache.get(tail, key) {
            return Ok(denials);
        }
        let as_of = ended_at(tail);
        // A question is found by when it was asked, and it may have waited for long.
        let asked_since = self.base.denials_since().0 - self.base.waits_at_most();
        let query = Query {
            status: Some(Status::Denied.word().to_owned()),
            owner: Some(key.to_owned()),
            since: Some(asked_since),
            order: Order::NewestFirst,
            limit: DENIALS_MAX,
            ..Query::of(Kind::Approval)
        };
        let mut denials = Vec::new();
        for record in self.base.store.find(query).await? {
            denials.extend(denial(read(&record)?));
        }
        let denials = Arc::new(denials);
        cache.put(tail, as_of, key.to_owned(), Arc::clone(&denials));
        Ok(denials)
    }
}

/// Returns the denial that `stored` tells of, unless it was lifted. That a flood was denied says
/// nothing about any one call.
fn denial(stored: StoredApproval) -> Option<Denial> {
    let State::Denied { answer } = stored.approval.state else {
        return None;
    };
    let counts = stored.lifted.is_none() && stored.held_back.is_none();
    counts.then_some(Denial {
        id: stored.approval.id.0,
        by: answer.by,
        note: answer.note,
        at: answer.at,
        starter: stored.call.starter,
        digest: stored.call.digest,
        deeds: stored.deeds,
    })
}

/// Returns what is remembered of `call` if it is denied.
pub(crate) fn to_remember(policy: &Policy, call: &StoredCall) -> Vec<Digest> {
    all_deeds(policy, &call.tool_call(None), call).to_remember()
}

/// What is attached is part of what a call does.
fn all_deeds(policy: &Policy, tool_call: &ToolCall, call: &StoredCall) -> Deeds {
    let mut deeds = deeds(policy, tool_call, &call.bound);
    for list in [&mut deeds.asked, &mut deeds.all] {
        list.extend(&call.attachments);
        list.sort_unstable();
        list.dedup();
    }
    deeds
}
