//! Changes an approval: applies the core's transition to the stored record by compare-and-set.

use countersign_core::approval::{Approval, Followup, Happened, State, StepError, step};
use countersign_core::grant::Grant;
use countersign_core::id::GrantId;
use countersign_core::ledger::Draft;
use countersign_core::status::DeliveryStatus;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Query};

use crate::GateError;
use crate::approvals::Approvals;
use crate::base::random::random;
use crate::records::entries::{SMART_VIA, approval_happening, approval_resolved};
use crate::records::event::Event;
use crate::records::retry::{Conflict, busy, retry_on_conflict};
use crate::records::stored::{StoredApproval, read, status};

/// Approvals that time settles in one go.
const LAPSES_MAX: u32 = 500;

/// Why an approval did not change.
#[derive(Debug)]
pub(crate) enum Unchanged {
    /// The step is not possible; this is how it stands.
    Step(StepError, Box<StoredApproval>),
    /// Anything else.
    Gate(GateError),
}

impl<E: Into<GateError>> From<E> for Unchanged {
    fn from(error: E) -> Self {
        Self::Gate(error.into())
    }
}

impl Conflict for Unchanged {
    fn is_conflict(&self) -> bool {
        match self {
            Self::Step(..) => false,
            Self::Gate(error) => error.is_conflict(),
        }
    }
}

impl Approvals {
    /// Lets something happen to an approval. `happens` sees it as it stands, may add to what is
    /// kept with it, and is called again if somebody else was faster.
    pub(crate) async fn change_approval(
        &self,
        id: &str,
        happens: impl Fn(&mut StoredApproval, UnixMillis) -> Result<Happened, GateError>,
    ) -> Result<StoredApproval, Unchanged> {
        let changed = retry_on_conflict(|| async {
            let record = self.base.store.get(Kind::Approval, id).await?;
            let record = record.ok_or_else(|| GateError::NotFound {
                kind: "approval",
                id: id.to_owned(),
            })?;
            let mut stored: StoredApproval = read(&record)?;
            let before = stored.clone();
            let now = self.base.clock.now();
            let happened = happens(&mut stored, now)?;
            let mut refused = None;
            let (approval, followups) = match step(stored.approval.clone(), happened, now) {
                Ok(stepped) => stepped,
                Err(error) => {
                    // What time has settled is written down even if nothing else can happen, so
                    // that nobody is told of a question that is over as if it still waited.
                    stored = before.clone();
                    refused = Some(error);
                    Box::pin(self.lapsed(&before, now)).await?
                }
            };
            stored.approval = approval;
            stored.card.expires_at = stored.approval.expires_at;
            let done = |stored| match refused {
                None => Ok(stored),
                Some(error) => Err(Unchanged::Step(error, Box::new(stored))),
            };
            let Some(change) = change_of(&before, &mut stored, &followups, now, record.version)
            else {
                return done(stored);
            };
            self.base.store.commit(change).await?;
            self.after(&stored, &followups);
            done(stored)
        });
        changed.await.map_err(|error| match error {
            Unchanged::Gate(error) => Unchanged::Gate(busy("too many concurrent answers")(error)),
            step @ Unchanged::Step(..) => step,
        })
    }

    /// Returns an approval as time has left it.
    async fn lapsed(
        &self,
        before: &StoredApproval,
        now: UnixMillis,
    ) -> Result<(Approval, Vec<Followup>), Unchanged> {
        let approval = before.approval.clone();
        if approval.due_at().is_none_or(|due| due > now) {
            return Ok((approval, Vec::new()));
        }
        let reached = self.was_anyone_reached(approval.id.as_str()).await?;
        step(approval, Happened::TimePassed { reached }, now)
            .map_err(|error| Unchanged::Step(error, Box::new(before.clone())))
    }

    /// Lets time settle what it settles.
    pub(crate) async fn lapse_approvals(&self) -> Result<(), GateError> {
        loop {
            let now = self.base.clock.now();
            let due = self
                .base
                .store
                .find(Query {
                    due_by: Some(now.0),
                    limit: LAPSES_MAX,
                    ..Query::of(Kind::Approval)
                })
                .await?;
            let count = due.len();
            for record in due {
                match self.settle_by_time(&record.id).await {
                    Ok(_) | Err(Unchanged::Step(..)) => {}
                    Err(Unchanged::Gate(error)) => return Err(error),
                }
            }
            if count < LAPSES_MAX as usize {
                return Ok(());
            }
        }
    }

    /// Whether anybody could have seen the question: a card was delivered, there is no channel that
    /// could have failed, or somebody looked by themselves.
    pub(crate) async fn was_anyone_reached(&self, approval: &str) -> Result<bool, GateError> {
        if self.base.channels.is_empty() {
            return Ok(true);
        }
        let asked_at = self.base.stored_approval(approval).await?.approval.asked_at;
        if self.admission.was_looked_at(asked_at) {
            return Ok(true);
        }
        let deliveries = self.base.deliveries(approval).await?;
        for record in &deliveries {
            match status(record)? {
                DeliveryStatus::Delivered | DeliveryStatus::Settled => return Ok(true),
                DeliveryStatus::Trying | DeliveryStatus::Failed => {}
            }
        }
        Ok(false)
    }

    /// Lets time settle one approval: it expires, or a held answer takes effect.
    pub(crate) async fn settle_by_time(&self, id: &str) -> Result<StoredApproval, Unchanged> {
        let reached = self.was_anyone_reached(id).await?;
        self.change_approval(id, |_, _| Ok(Happened::TimePassed { reached }))
            .await
    }

    /// Does what follows once a change is on disk.
    fn after(&self, stored: &StoredApproval, followups: &[Followup]) {
        let id = stored.approval.id.as_str();
        if followups.contains(&Followup::Resolve) {
            if is_allowed_by_person(stored) {
                self.accept_definition(stored);
            }
            self.after_answer(stored);
            self.base.waiting.wake(id);
        }
        if followups.contains(&Followup::Repaint) {
            self.base.cards.repaint_soon(stored.approval.id.as_str());
        }
    }
}

fn is_allowed_by_person(stored: &StoredApproval) -> bool {
    let is_approved = matches!(stored.approval.state, State::Approved { .. });
    let answer = stored.approval.answer();
    is_approved && answer.is_some_and(|answer| answer.via != SMART_VIA)
}

/// Returns what else the ledger says: what a person or the asker did that settles nothing.
fn passing(before: &StoredApproval, after: &StoredApproval, now: UnixMillis) -> Option<Draft> {
    let told = |event, by: Option<&str>, detail: Option<&str>| {
        Some(approval_happening(after, event, by, detail, now))
    };
    match (&before.approval.state, &after.approval.state) {
        (State::Waiting, State::Held { answer, .. }) => told(
            Event::ApprovalHeld,
            Some(&answer.by),
            Some(answer.choice.word()),
        ),
        (State::Held { answer, .. }, State::Waiting) => {
            told(Event::ApprovalTakenBack, Some(&answer.by), None)
        }
        (
            State::Approved {
                collected: None, ..
            },
            State::Approved {
                collected: Some(collected),
                ..
            },
        ) => told(Event::TokenMinted, None, Some(collected.jti.as_str())),
        (State::Approved { .. }, State::Consumed { jti, .. }) => {
            told(Event::TokenConsumed, None, Some(jti.as_str()))
        }
        _ if before.approval.extended_millis != after.approval.extended_millis => {
            let until = after.approval.expires_at.as_seconds().to_string();
            told(
                Event::ApprovalExtended,
                after.extended_by.as_deref(),
                Some(&until),
            )
        }
        _ if before.lifted != after.lifted => told(
            Event::ApprovalLifted,
            after.lifted.as_ref().map(|(by, _)| by.as_str()),
            None,
        ),
        _ if before.held_back != after.held_back => {
            let count = after.held_back.unwrap_or_default().to_string();
            told(Event::ApprovalChanged, None, Some(&count))
        }
        _ if before.viewed_by != after.viewed_by => told(
            Event::ApprovalViewed,
            after.viewed_by.last().map(String::as_str),
            None,
        ),
        _ => None,
    }
}

/// Returns the grant that the answer leaves, and notes its id in the answer.
fn grant_of(stored: &mut StoredApproval, now: UnixMillis) -> Option<Grant> {
    let request = stored.grant.clone()?;
    let State::Approved { answer, .. } = &mut stored.approval.state else {
        return None;
    };
    let id = GrantId::fresh(now, random());
    answer.grant_id = Some(id.clone());
    Some(Grant {
        id,
        scope: request.scope,
        key: stored.call.key.clone(),
        session: request.session_only.then(|| stored.call.session.clone()),
        tool_definition: stored.call.tool_definition,
        executor: stored.call.executor.clone(),
        expires_at: request.lasts_millis.map(|millis| now.plus(millis)),
        uses_left: request.uses,
        uses: 0,
        used_at: None,
        by: answer.by.clone(),
        given_at: now,
        approval_id: stored.approval.id.clone(),
        revoked: None,
    })
}

/// Returns what must be written, or `None` if nothing has changed.
fn change_of(
    before: &StoredApproval,
    stored: &mut StoredApproval,
    followups: &[Followup],
    now: UnixMillis,
    version: u64,
) -> Option<Change> {
    let mut change = Change::default();
    for followup in followups {
        match followup {
            Followup::LeaveGrant => {
                if let Some(grant) = grant_of(stored, now) {
                    change
                        .entries
                        .push(crate::grants::grant_created(&grant, &stored.call));
                    change
                        .puts
                        .push(crate::grants::grant_put(&grant, Expect::Absent));
                }
            }
            Followup::Resolve => change.entries.extend(approval_resolved(stored, now)),
            Followup::Repaint => {}
        }
    }
    change.entries.extend(passing(before, stored, now));
    let same = before.approval == stored.approval
        && before.viewed_by == stored.viewed_by
        && before.lifted == stored.lifted
        && before.held_back == stored.held_back
        && before.edited == stored.edited;
    if same && change.entries.is_empty() {
        return None;
    }
    change.puts.push(stored.put(Expect::Version(version)));
    Some(change)
}
