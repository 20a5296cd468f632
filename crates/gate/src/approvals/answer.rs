//! Answers: checks and records a person's choice.

use countersign_core::approval::{Answer, Choice, Happened, StepError};
use countersign_core::judge::files_of;
use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Kind, Order, Query};
use serde_json::Value;

use crate::GateError;
use crate::approvals::Approvals;
use crate::approvals::change::Unchanged;
use crate::base::principal::Principal;
use crate::records::error::invalid;
use crate::records::request::{GrantRequest, Reply};
use crate::records::stored::{StoredApproval, StoredGrantRequest, read};
use crate::records::view::{ApprovalView, Page};
use crate::sessions::written_files::written_puts;

/// Longest note, in bytes.
const NOTE_BYTES_MAX: usize = 4096;
/// Most approvals on one page.
const PAGE_MAX: u32 = 500;

/// Which approvals.
#[derive(Clone, Debug, Default)]
pub struct ApprovalFilter {
    /// Where they stand.
    pub status: Option<Status>,
    /// Of this run.
    pub run: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
    /// The cursor of the previous page.
    pub behind: Option<String>,
}

impl Approvals {
    /// Notes that somebody who can answer is looking at what waits.
    pub fn note_looking(&self, who: &Principal) {
        if who.role.answers() {
            self.admission.looked(self.base.clock.now());
        }
    }

    /// Returns approvals, the newest first; with `status`, only those.
    pub async fn list(
        &self,
        who: &Principal,
        filter: ApprovalFilter,
    ) -> Result<Page<ApprovalView>, GateError> {
        self.note_looking(who);
        let limit = filter.limit.unwrap_or(100).clamp(1, PAGE_MAX);
        let records = self
            .base
            .store
            .find(Query {
                status: filter.status.map(|it| it.word().to_owned()),
                run: filter.run,
                owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
                behind: filter
                    .behind
                    .as_deref()
                    .and_then(crate::records::view::cursor),
                order: Order::NewestFirst,
                limit: limit + 1,
                ..Query::of(Kind::Approval)
            })
            .await?;
        let next = crate::records::view::next(&records, limit);
        let now = self.base.clock.now();
        let items = records
            .iter()
            .take(limit as usize)
            .map(|record| Ok(self.seen_by(who, &read(record)?, now)))
            .collect::<Result<_, GateError>>()?;
        Ok(Page { items, next })
    }

    /// Returns one approval.
    pub async fn approval(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        self.note_looking(who);
        let stored = self.base.stored_approval(id).await?;
        if !who.role.sees_all() && stored.call.key != who.key {
            return Err(unknown(id));
        }
        Ok(self.seen_by(who, &stored, self.base.clock.now()))
    }

    /// Whether `who` may answer one approval, as far as the question itself says.
    pub async fn is_open_to(&self, who: &Principal, id: &str) -> Result<bool, GateError> {
        let stored = self.base.stored_approval(id).await?;
        let may = self.base.settings.starter_may_answer;
        Ok(stored.call.key != who.key && !stored.call.is_closed_to(&who.name, may))
    }

    /// Answers one approval.
    pub async fn answer(&self, who: &Principal, reply: Reply) -> Result<ApprovalView, GateError> {
        may_answer(who)?;
        let note = reply.note.filter(|note| !note.trim().is_empty());
        if note
            .as_ref()
            .is_some_and(|note| note.len() > NOTE_BYTES_MAX)
        {
            return Err(invalid(
                "note",
                "note_too_long",
                "the note is longer than 4 KiB",
            ));
        }
        let id = reply.approval.0;
        let changed = self
            .change_approval(&id, |stored, now| {
                self.check_open_to(who, stored)?;
                let offered = stored.approval.choices.contains(&reply.choice);
                let waits = stored.approval.answer().is_none();
                let mut rebound = None;
                if offered && waits {
                    stored.grant = grant_request(stored, reply.choice, reply.grant.as_ref())?;
                    if let Some(args) = &reply.args {
                        rebound = Some(self.rebound(stored, reply.choice, args)?);
                        stored.edited = Some(args.clone());
                    }
                }
                Ok(Happened::Answered(Answer {
                    choice: reply.choice,
                    by: who.name.clone(),
                    via: who.via.clone(),
                    // Whoever asked from a place of its own is separated however it is answered.
                    tier: who.tier.max(stored.call.tier),
                    note: note.clone(),
                    at: now,
                    grant_id: None,
                    rebound,
                }))
            })
            .await;
        if let (Ok(stored), Some(args)) = (&changed, &reply.args) {
            self.remember_edited(stored, args)?;
        }
        self.told(who, changed)
    }

    /// Remembers what a call leaves in files as a person changed it.
    fn remember_edited(&self, stored: &StoredApproval, args: &Value) -> Result<(), GateError> {
        let call = &stored.call;
        let files = files_of(&call.tool_call(Some(args)));
        let puts = written_puts(&call.key, &call.session, &files.writes, call.at);
        if !puts.is_empty() {
            let entries = Vec::new();
            self.base.store.append(Change { puts, entries })?;
        }
        Ok(())
    }

    /// Takes an allowing answer back while it is held.
    pub async fn take_back(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        may_answer(who)?;
        let changed = self
            .change_approval(id, |stored, _| {
                stored.grant = None;
                stored.edited = None;
                Ok(Happened::TakenBack)
            })
            .await;
        self.told(who, changed)
    }

    /// Gives a question that waits more time: as much as it had at first, as far as the owner lets
    /// people extend it. It answers nothing.
    pub async fn extend(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        may_answer(who)?;
        let changed = self
            .change_approval(id, |stored, _| {
                self.check_open_to(who, stored)?;
                stored.extended_by = Some(who.name.clone());
                Ok(Happened::Extended {
                    max_millis: match stored.held_back {
                        None => self.base.settings.extend_max_millis,
                        // The card of a flood closes by itself.
                        Some(_) => 0,
                    },
                })
            })
            .await;
        self.told(who, changed)
    }

    /// Refuses whoever must leave this question to somebody else.
    fn check_open_to(&self, who: &Principal, stored: &StoredApproval) -> Result<(), GateError> {
        if stored.call.key == who.key {
            return Err(GateError::Forbidden(
                "the asker cannot answer; another person must",
            ));
        }
        if stored
            .call
            .is_closed_to(&who.name, self.base.settings.starter_may_answer)
        {
            return Err(GateError::Forbidden(
                "you started this run; another person must answer",
            ));
        }
        Ok(())
    }

    /// Records that a person opened the full text.
    pub async fn viewed(&self, who: &Principal, id: &str) -> Result<ApprovalView, GateError> {
        may_answer(who)?;
        self.note_looking(who);
        let changed = self
            .change_approval(id, |stored, _| {
                if stored.call.is_hidden_from(&who.name) {
                    return Err(GateError::Forbidden(
                        "you started this run; another person must review it",
                    ));
                }
                if !stored.viewed_by.contains(&who.name) {
                    stored.viewed_by.push(who.name.clone());
                }
                Ok(Happened::TimePassed { reached: true })
            })
            .await;
        self.told(who, changed)
    }

    fn seen_by(&self, who: &Principal, stored: &StoredApproval, now: UnixMillis) -> ApprovalView {
        ApprovalView::seen_by(&who.name, stored, &self.base.settings, now)
    }

    /// Returns what `who` is told of a change: what that person may see, and no more.
    pub(crate) fn told(
        &self,
        who: &Principal,
        changed: Result<StoredApproval, Unchanged>,
    ) -> Result<ApprovalView, GateError> {
        let now = self.base.clock.now();
        match changed {
            Ok(stored) => Ok(self.seen_by(who, &stored, now)),
            Err(Unchanged::Gate(error)) => Err(error),
            Err(Unchanged::Step(error, stored)) => {
                let view = Box::new(self.seen_by(who, &stored, now));
                Err(match error {
                    StepError::NotOffered(choice) => GateError::NotOffered(choice),
                    StepError::NoMoreTime => invalid(
                        "id",
                        "not_extendable",
                        "no more time can be added to this approval; \
                         the owner sets `approvals.extend_max`",
                    ),
                    StepError::Expired | StepError::Withdrawn => GateError::Gone(view),
                    StepError::AlreadyAnswered
                    | StepError::NothingHeld
                    | StepError::NotApproved
                    | StepError::AlreadyCollected
                    | StepError::AlreadyUsed
                    | StepError::OtherToken => GateError::AlreadyResolved(view),
                })
            }
        }
    }
}

/// Returns the grant to leave: one of those the card offered, the narrowest if none was named.
fn grant_request(
    stored: &StoredApproval,
    choice: Choice,
    asked: Option<&GrantRequest>,
) -> Result<Option<StoredGrantRequest>, GateError> {
    let session_only = match choice {
        Choice::Session => true,
        Choice::Always => false,
        Choice::Once | Choice::Deny if asked.is_some() => {
            let message = "`scope` belongs to `session` and `always`";
            return Err(invalid("scope", "scope_without_grant", message));
        }
        Choice::Once | Choice::Deny => return Ok(None),
    };
    let asked = asked.cloned().unwrap_or_default();
    let scope = match asked.scope {
        None => stored.scopes.first().cloned(),
        Some(scope) => stored.scopes.iter().find(|it| **it == scope).cloned(),
    };
    let scope = scope.ok_or_else(|| {
        let message = "this scope was not offered for this approval";
        invalid("scope", "scope_not_offered", message)
    })?;
    if scope.is_for_session() && !session_only {
        let message = "this scope can only be allowed for a session";
        return Err(invalid("scope", "scope_session_only", message));
    }
    let in_range = asked.lasts_millis.is_none_or(|millis| millis > 0) && asked.uses != Some(0);
    if !in_range {
        let message = "a grant needs a duration above zero and at least one use";
        return Err(invalid("scope", "scope_empty", message));
    }
    Ok(Some(StoredGrantRequest {
        scope,
        lasts_millis: asked.lasts_millis,
        uses: asked.uses,
        session_only,
    }))
}

pub(super) fn may_answer(who: &Principal) -> Result<(), GateError> {
    if who.role.answers() {
        return Ok(());
    }
    Err(GateError::Forbidden("only approvers can answer"))
}

fn unknown(id: &str) -> GateError {
    GateError::NotFound {
        kind: "approval",
        id: id.to_owned(),
    }
}
