//! Puts a call that was judged to people: a question of its own, or the same one that waits already.

use super::{Considered, WAITING_MAX, WAITING_OF_ONE_MAX};
use countersign_core::approval::{Answer, Approval, Choice, State};
use countersign_core::card::{Card, Definition, Lineage, is_showable, shown_args};
use countersign_core::grant::candidates;
use countersign_core::id::ApprovalId;
use countersign_core::judge::Judged;
use countersign_core::policy::Policy;
use countersign_core::status::Status;
use countersign_store::{Change, Expect, Kind, Order, Query};

use crate::GateError;
use crate::base::random::random;
use crate::base::settings::redacts;
use crate::calls::Calls;
use crate::records::entries::{approval_required, call_assessed};
use crate::records::stored::{StoredApproval, StoredCall, read};
use crate::records::view::CallView;

/// What a card says of a call that the call does not say itself.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// Whether all who would be written to were written to before; `None` if nobody would be.
    known_recipients: Option<bool>,
    /// What is known of the definition of the tool.
    definition: Definition,
}

impl Calls {
    /// Puts a call to people, or joins it to the same question that waits already.
    pub(super) async fn ask(&self, considered: Considered) -> Result<CallView, GateError> {
        let lane = self
            .approvals
            .admission
            .lane(considered.call.key.as_str())
            .await;
        // Looked at before the open question is looked for: whoever puts the same question at the
        // same moment, on another replica, changes it, and then this one is concluded anew and joins.
        let digest = considered.call.digest.hex();
        let latest = self.base.store.get(Kind::Question, &digest).await?;
        let joined = self.open_question(&considered.call).await?;
        if joined.is_none() {
            self.check_room(&considered.call).await?;
            if let Some(wait) = self.approvals.admission.quota.takes(&considered.call) {
                return Box::pin(self.hold_back(considered, wait)).await;
            }
        }
        let Considered {
            mut call,
            judged,
            ruleset,
            command,
            commitment,
            definition,
            mut puts,
            writes,
            mut entries,
            ..
        } = considered;
        puts.extend(writes);
        let mut required = None;
        let stored = if let Some(open) = joined {
            open
        } else {
            let known = self
                .approvals
                .knows_recipients(&call.tool_call(None))
                .await?;
            let shown = self
                .approvals
                .show_definition(&call, definition.as_ref())
                .await?;
            let about = About {
                known_recipients: known,
                definition: shown.standing,
            };
            let mut stored = self.question(&mut call, &judged, &ruleset.policy, about);
            stored.definition = shown.accepts;
            stored.deeds = crate::approvals::denials::to_remember(&ruleset.policy, &call);
            puts.push(stored.put(Expect::Absent));
            puts.push(stored.latest_put(latest.map(|record| record.version)));
            required = Some(approval_required(&stored, &judged.assessment));
            stored
        };
        call.approval = Some(stored.approval.id.clone());
        call.decision = None;
        entries.push(call_assessed(
            &call,
            Status::Waiting,
            &judged,
            &command,
            &commitment,
        ));
        let is_new = required.is_some();
        entries.extend(required);
        puts.push(call.put(Expect::Absent));
        self.base.store.commit(Change { puts, entries }).await?;
        drop(lane);
        if is_new && !self.approvals.depute(&stored, &judged, &ruleset.policy) {
            self.base.cards.deliver_soon(stored.approval.id.as_str());
        }
        self.view_of(call).await
    }

    /// Returns the open question about the same call of the same session: it waits, or it was
    /// allowed and nobody has used that yet.
    async fn open_question(&self, call: &StoredCall) -> Result<Option<StoredApproval>, GateError> {
        let found = self
            .base
            .store
            .find(Query {
                owner: Some(call.key.0.clone()),
                session: Some(call.session.clone()),
                link: Some(call.digest.hex()),
                order: Order::NewestFirst,
                limit: 1,
                ..Query::of(Kind::Approval)
            })
            .await?;
        let Some(record) = found.first() else {
            return Ok(None);
        };
        let stored: StoredApproval = read(record)?;
        if stored.call.runs_written != call.runs_written {
            // The words are the same, but what would run was written anew.
            return Ok(None);
        }
        let now = self.base.clock.now();
        let is_open = match &stored.approval.state {
            State::Waiting => now < stored.approval.expires_at,
            State::Held { .. } => true,
            State::Approved {
                collected: Some(collected),
                ..
            } => now < collected.until,
            State::Approved {
                since,
                collected: None,
                ..
            } => now < since.plus(countersign_core::approval::COLLECT_MILLIS_MAX),
            State::Consumed { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Withdrawn { .. } => false,
        };
        Ok(is_open.then_some(stored))
    }

    async fn check_room(&self, call: &StoredCall) -> Result<(), GateError> {
        let waiting = Query {
            status: Some(Status::Waiting.word().to_owned()),
            ..Query::of(Kind::Approval)
        };
        let of_one = self
            .base
            .store
            .count(Query {
                owner: Some(call.key.0.clone()),
                ..waiting.clone()
            })
            .await?;
        if of_one >= WAITING_OF_ONE_MAX {
            return Err(GateError::TooMany {
                message: "20 calls of this key are already waiting",
                retry_after: 5,
            });
        }
        // Counting thousands for every question takes longer than asking it.
        if self.approvals.admission.takes_place(WAITING_MAX) {
            return Ok(());
        }
        self.approvals
            .admission
            .counted(self.base.store.count(waiting).await?);
        if self.approvals.admission.takes_place(WAITING_MAX) {
            return Ok(());
        }
        Err(GateError::TooMany {
            message: "10 000 calls are already waiting",
            retry_after: 30,
        })
    }

    pub(crate) fn question(
        &self,
        call: &mut StoredCall,
        judged: &Judged,
        policy: &Policy,
        about: About,
    ) -> StoredApproval {
        let tool_call = call.tool_call(None);
        let mut scopes = candidates(&tool_call, &judged.assessment, &judged.ruling);
        let mut choices = vec![Choice::Once];
        if call.is_more_than_its_words() || !is_showable(&tool_call) {
            scopes.clear();
        }
        if !scopes.is_empty() {
            choices.extend([Choice::Session, Choice::Always]);
        }
        // Nobody may allow what a card cannot show.
        if !is_showable(&tool_call) {
            choices.clear();
        }
        choices.push(Choice::Deny);
        let approval = Approval {
            id: ApprovalId::fresh(call.at, random()),
            digest: call.digest,
            asked_at: call.at,
            expires_at: call.at.plus(self.base.waits(judged.assessment.side_effect)),
            extended_millis: 0,
            choices,
            undo_millis: self.base.settings.undo_millis,
            state: State::Waiting,
        };
        call.approval = Some(approval.id.clone());
        let lineage = Lineage {
            key_name: call.key_name.clone(),
            agent: call.agent.clone(),
            run: call.run.clone(),
            session: call.session.clone(),
            explanation: call.explanation.clone(),
            tier: call.tier,
            known_recipients: about.known_recipients,
            definition: about.definition,
            help_lines: policy.crisis_help_lines.clone(),
        };
        let redacts = redacts(policy);
        StoredApproval {
            card: Card::new(&approval, &tool_call, &judged.assessment, &lineage, redacts),
            shown_args: shown_args(&tool_call, redacts),
            approval,
            call: call.clone(),
            scopes,
            grant: None,
            edited: None,
            viewed_by: Vec::new(),
            extended_by: None,
            deeds: Vec::new(),
            lifted: None,
            held_back: None,
            definition: None,
        }
    }

    /// Returns the record from which the token of a call is minted that a rule allowed.
    pub(super) fn allowed_by_rule(
        &self,
        call: &mut StoredCall,
        judged: &Judged,
        policy: &Policy,
    ) -> StoredApproval {
        let mut stored = self.question(call, judged, policy, About::default());
        stored.approval.choices.clear();
        stored.approval.state = State::Approved {
            answer: Answer {
                choice: Choice::Once,
                by: "policy".to_owned(),
                via: "rule".to_owned(),
                tier: call.tier,
                note: None,
                at: call.at,
                grant_id: None,
                rebound: None,
            },
            since: call.at,
            collected: None,
        };
        stored
    }
}
