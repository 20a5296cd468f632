//! Reviews: calls that ran and can be kept or undone.
//!
//! Undoing is the work of whoever ran the call. Another agent is told to; the built-in one kept a
//! [`Snapshot`] and undoes it itself: `begin_undo` takes the review, so that nobody settles
//! it otherwise meanwhile, the files are put back, `finish_undo` says how that went.

mod snapshot;

use countersign_core::card::{Redacts, without_secrets};
use countersign_core::display::{line, unfenced};
use countersign_core::id::ReviewId;
use countersign_core::ledger::Draft;
use countersign_core::status::ReviewStatus;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};

use std::sync::Arc;

use crate::GateError;
use crate::base::Base;
use crate::base::principal::Principal;
use crate::base::random::random;
use crate::base::settings::redacts;
use crate::records::entries::about;
use crate::records::error::invalid;
use crate::records::event::{Event, ReviewRequired, ReviewResolved};
use crate::records::stored::{StoredCall, read, status, written};
use crate::records::view::{CallView, Page};

pub use snapshot::{Held, SNAPSHOT_BYTES_MAX, Snapshot};

/// What a person says about something that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It stays.
    Keep,
    /// It is to be undone.
    Undo,
}

impl Settled {
    /// Returns the status of a review that was settled so.
    pub const fn status(self) -> ReviewStatus {
        match self {
            Self::Keep => ReviewStatus::Kept,
            Self::Undo => ReviewStatus::Undone,
        }
    }
}

/// How putting files back went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// They are as they were.
    Done,
    /// Nothing was put back.
    NotDone,
}

/// Something that ran and awaits a look.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReviewView {
    /// The review.
    pub review_id: String,
    /// The call.
    pub call: CallView,
    /// It on one line, display-redacted.
    pub command: String,
    /// The agent's own name, a claim.
    pub agent: Option<String>,
    /// Name of the key.
    pub key_name: String,
    /// `waiting`, `undoing`, `kept` or `undone`.
    #[schema(value_type = String)]
    pub status: ReviewStatus,
    /// Who settled it.
    pub by: Option<String>,
    /// The file that was changed, where it can be put back.
    pub path: Option<String>,
    /// What was changed in it.
    pub diff: Option<String>,
}

/// A review as it is kept. Its call is the record's link.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredReview {
    /// The call on one line, display-redacted.
    command: String,
    /// The model's id of the call, for calls of the built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    by: Option<String>,
    settled_at: Option<UnixMillis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<Snapshot>,
}

/// Calls that ran and await a review.
#[derive(Debug)]
pub struct Reviews {
    base: Arc<Base>,
}

impl Reviews {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self { base }
    }
}

impl Reviews {
    /// Returns what awaits a look.
    pub async fn list(&self, who: &Principal) -> Result<Page<ReviewView>, GateError> {
        let mut items = Vec::new();
        // Whoever finds an undo that a crash interrupted may go on with it.
        for status in [ReviewStatus::Waiting, ReviewStatus::Undoing] {
            let query = Query {
                status: Some(status.word().to_owned()),
                owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
                ..Query::of(Kind::Review)
            };
            for record in self.base.find_all(query).await? {
                items.push(self.review_view(&record).await?);
            }
        }
        Ok(Page { items, next: None })
    }

    /// Keeps a file as it is before a call changes it. The call must not run unless this succeeds.
    pub async fn keep_snapshot(
        &self,
        who: &Principal,
        call_id: &str,
        snapshot: Snapshot,
    ) -> Result<(), GateError> {
        if snapshot.before.size().max(snapshot.after.size()) > SNAPSHOT_BYTES_MAX {
            let message = "the file is larger than 1 MiB, so it could not be restored";
            return Err(invalid("path", "too_large", message));
        }
        let call = self.base.own_call(who, call_id).await?;
        let query = Query {
            session: Some(call.session.clone()),
            link: Some(call_id.to_owned()),
            limit: 1,
            ..Query::of(Kind::Review)
        };
        let found = self.base.store.find(query).await?;
        let record = found.into_iter().next().ok_or_else(|| unknown(call_id))?;
        let mut review: StoredReview = read(&record)?;
        if record.status != ReviewStatus::Waiting.word() || review.snapshot.is_some() {
            return Err(settled_already(&record, &review));
        }
        review.snapshot = Some(snapshot);
        self.put_review(record, &review, ReviewStatus::Waiting, Vec::new())
            .await?;
        Ok(())
    }

    /// Takes a review in order to undo it, and returns what to put back; `None` if that is the
    /// asker's work.
    pub async fn begin_undo(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<Option<Snapshot>, GateError> {
        let (record, review) = self.open_review(who, id).await?;
        let snapshot = review.snapshot.clone();
        if snapshot.is_some() && record.status == ReviewStatus::Waiting.word() {
            self.put_review(record, &review, ReviewStatus::Undoing, Vec::new())
                .await?;
        }
        Ok(snapshot)
    }

    /// Says how putting back went: the review is settled, or waits again.
    pub async fn finish_undo(
        &self,
        who: &Principal,
        id: &str,
        went: Undoing,
    ) -> Result<ReviewView, GateError> {
        let (record, review) = self.open_review(who, id).await?;
        if record.status != ReviewStatus::Undoing.word() {
            return Err(settled_already(&record, &review));
        }
        match went {
            Undoing::Done => self.settle(who, record, review, Settled::Undo).await,
            Undoing::NotDone => {
                let record = self
                    .put_review(record, &review, ReviewStatus::Waiting, Vec::new())
                    .await?;
                self.review_view(&record).await
            }
        }
    }

    /// Settles a review: it is kept, or its asker is told to undo it.
    pub async fn settle_review(
        &self,
        who: &Principal,
        id: &str,
        settled: Settled,
    ) -> Result<ReviewView, GateError> {
        let (record, review) = self.open_review(who, id).await?;
        if record.status == ReviewStatus::Undoing.word() {
            return Err(settled_already(&record, &review));
        }
        if settled == Settled::Undo && review.snapshot.is_some() {
            let message = "it is undone by restoring its file";
            return Err(invalid("id", "has_snapshot", message));
        }
        self.settle(who, record, review, settled).await
    }

    /// Returns a review that `who` may settle and nobody has settled.
    async fn open_review(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<(Record, StoredReview), GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can settle reviews"));
        }
        let record = self.stored_review(id).await?;
        let review: StoredReview = read(&record)?;
        match status(&record)? {
            ReviewStatus::Waiting | ReviewStatus::Undoing => Ok((record, review)),
            ReviewStatus::Kept | ReviewStatus::Undone => Err(settled_already(&record, &review)),
        }
    }

    async fn settle(
        &self,
        who: &Principal,
        record: Record,
        mut review: StoredReview,
        settled: Settled,
    ) -> Result<ReviewView, GateError> {
        let now = self.base.clock.now();
        review.by = Some(who.name.clone());
        review.settled_at = Some(now);
        let event = Event::ReviewResolved(ReviewResolved {
            review_id: record.id.clone(),
            call_id: record.link.clone(),
            tool_call_id: review.tool_call_id.clone(),
            run_id: record.run.clone(),
            session_id: record.session.clone(),
            outcome: settled.status(),
            by: who.name.clone(),
            via: who.via.clone(),
            timestamp: now.as_seconds(),
        });
        let entry = Draft {
            owner: record.owner.clone(),
            run: record.run.clone(),
            session: record.session.clone(),
            ..event.draft(&record.id, now)
        };
        let status = settled.status();
        let record = self
            .put_review(record, &review, status, vec![entry])
            .await?;
        self.review_view(&record).await
    }

    /// Writes a review that is as it was when it was read; otherwise somebody answered first.
    async fn put_review(
        &self,
        mut record: Record,
        review: &StoredReview,
        status: ReviewStatus,
        entries: Vec<Draft>,
    ) -> Result<Record, GateError> {
        status.word().clone_into(&mut record.status);
        record.body = written(review);
        let change = Change {
            puts: vec![Put {
                record: record.clone(),
                expect: Expect::Version(record.version),
            }],
            entries,
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(record),
            Err(StoreError::Conflict { .. }) => {
                let record = self.stored_review(&record.id).await?;
                Err(settled_already(&record, &read(&record)?))
            }
            Err(failed @ (StoreError::Unavailable { .. } | StoreError::Closed)) => {
                Err(failed.into())
            }
        }
    }

    async fn stored_review(&self, id: &str) -> Result<Record, GateError> {
        let found = self.base.store.get(Kind::Review, id).await?;
        found.ok_or_else(|| unknown(id))
    }

    async fn review_view(&self, record: &Record) -> Result<ReviewView, GateError> {
        let review: StoredReview = read(record)?;
        let call = self.base.store.get(Kind::Call, &record.link).await?;
        let call = call.ok_or_else(|| GateError::NotFound {
            kind: "call",
            id: record.link.clone(),
        })?;
        // What awaits a look was let through by a rule, so no question tells more about it.
        let call: StoredCall = read(&call)?;
        Ok(ReviewView {
            review_id: record.id.clone(),
            call: CallView::of(&call, None),
            command: review.command,
            agent: call.agent.as_deref().map(line),
            key_name: call.key_name.clone(),
            status: status(record)?,
            by: review.by,
            path: review.snapshot.as_ref().map(|it| it.path.clone()),
            diff: review.snapshot.as_ref().map(|it| {
                let redacts = self.redacts_at(call.cwd.as_deref());
                unfenced(&without_secrets(&it.diff(), redacts))
            }),
        })
    }

    fn redacts_at(&self, cwd: Option<&str>) -> Redacts {
        let ruleset = self.base.policies.at(cwd);
        ruleset.map_or(Redacts::Secrets, |ruleset| redacts(&ruleset.policy))
    }
}

fn unknown(id: &str) -> GateError {
    GateError::NotFound {
        kind: "review",
        id: id.to_owned(),
    }
}

fn settled_already(record: &Record, review: &StoredReview) -> GateError {
    GateError::AlreadySettled {
        kind: "review",
        how: format!(
            "{} by {}",
            record.status,
            review.by.as_deref().unwrap_or("nobody")
        ),
    }
}

/// Returns the review of a call that runs, and the entry that asks for a look.
pub(crate) fn review_of(call: &StoredCall, command: &str) -> (Put, Draft) {
    let id = ReviewId::fresh(call.at, random());
    let event = Event::ReviewRequired(ReviewRequired {
        review_id: id.0.clone(),
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        run_id: call.run.clone(),
        session_id: call.session.clone(),
        tool: call.tool.clone(),
        command: command.to_owned(),
        timestamp: call.at.as_seconds(),
    });
    let entry = about(call, id.as_str(), call.at, &event);
    let review = StoredReview {
        command: command.to_owned(),
        tool_call_id: call.tool_call_id.clone(),
        by: None,
        settled_at: None,
        snapshot: None,
    };
    let record = Record {
        status: ReviewStatus::Waiting.word().to_owned(),
        owner: call.key.0.clone(),
        session: call.session.clone(),
        run: call.run.clone(),
        link: call.call_id.0.clone(),
        ..Record::new(Kind::Review, id.0, call.at.0, written(&review))
    };
    let put = Put {
        record,
        expect: Expect::Absent,
    };
    (put, entry)
}
