//! What ran and awaits a look. Undoing it is the asker's work; a review tells it to.

use countersign_core::id::ReviewId;
use countersign_core::ledger::Draft;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gate::random;
use crate::principal::Principal;
use crate::stored::{StoredCall, read, written};
use crate::told::told;
use crate::view::{CallView, Page};
use crate::{Gate, GateError};

const WAITING: &str = "waiting";

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
    pub const fn status(self) -> &'static str {
        match self {
            Self::Keep => "kept",
            Self::Undo => "undone",
        }
    }
}

/// Something that ran and awaits a look.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ReviewView {
    /// The review.
    pub review_id: String,
    /// The call.
    pub call: CallView,
    /// `waiting`, `kept` or `undone`.
    pub status: String,
    /// Who settled it.
    pub by: Option<String>,
}

/// A review as it is kept. Its call is the record's link.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredReview {
    /// The call on one line, display-redacted.
    command: String,
    by: Option<String>,
    settled_at: Option<UnixMillis>,
}

impl Gate {
    /// Returns what awaits a look.
    pub async fn reviews(&self, who: &Principal) -> Result<Page<ReviewView>, GateError> {
        let query = Query {
            status: Some(WAITING.to_owned()),
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            ..Query::of(Kind::Review)
        };
        let mut items = Vec::new();
        for record in self.find_all(query).await? {
            items.push(self.review_view(&record).await?);
        }
        Ok(Page { items, next: None })
    }

    /// Settles a review: it is kept, or its asker is told to undo it.
    pub async fn settle_review(
        &self,
        who: &Principal,
        id: &str,
        settled: Settled,
    ) -> Result<ReviewView, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only an approver settles reviews"));
        }
        let mut record = self.stored_review(id).await?;
        let mut review: StoredReview = read(&record)?;
        if record.status != WAITING {
            return Err(settled_already(&record, &review));
        }
        let now = self.inner.clock.now();
        review.by = Some(who.name.clone());
        review.settled_at = Some(now);
        settled.status().clone_into(&mut record.status);
        record.body = written(&review);
        let detail = json!({
            "review_id": id,
            "call_id": record.link,
            "run_id": record.run,
            "session_id": record.session,
            "outcome": settled.status(),
            "by": who.name,
            "via": who.via,
        });
        let change = Change {
            puts: vec![Put {
                record: record.clone(),
                expect: Expect::Version(record.version),
            }],
            entries: vec![Draft {
                owner: record.owner.clone(),
                run: record.run.clone(),
                session: record.session.clone(),
                ..told(now, "review.resolved", id, detail)
            }],
        };
        match self.inner.store.commit(change).await {
            Ok(_) => self.review_view(&record).await,
            // A review changes only by being settled.
            Err(StoreError::Conflict { .. }) => {
                let record = self.stored_review(id).await?;
                Err(settled_already(&record, &read(&record)?))
            }
            Err(failed @ (StoreError::Unavailable { .. } | StoreError::Closed)) => {
                Err(failed.into())
            }
        }
    }

    async fn stored_review(&self, id: &str) -> Result<Record, GateError> {
        let found = self.inner.store.get(Kind::Review, id).await?;
        found.ok_or_else(|| GateError::NotFound {
            kind: "review",
            id: id.to_owned(),
        })
    }

    async fn review_view(&self, record: &Record) -> Result<ReviewView, GateError> {
        let review: StoredReview = read(record)?;
        let call = self.inner.store.get(Kind::Call, &record.link).await?;
        let call = call.ok_or_else(|| GateError::NotFound {
            kind: "call",
            id: record.link.clone(),
        })?;
        // What awaits a look was let through by a rule, so no question tells more about it.
        let call: StoredCall = read(&call)?;
        Ok(ReviewView {
            review_id: record.id.clone(),
            call: CallView::of(&call, None),
            status: record.status.clone(),
            by: review.by,
        })
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
    let detail = json!({
        "review_id": id,
        "call_id": call.call_id,
        "run_id": call.run,
        "session_id": call.session,
        "tool": call.tool,
        "command": command,
    });
    let entry = Draft {
        owner: call.key.0.clone(),
        run: call.run.clone(),
        session: call.session.clone(),
        ..told(call.at, "review.required", id.as_str(), detail)
    };
    let review = StoredReview {
        command: command.to_owned(),
        by: None,
        settled_at: None,
    };
    let record = Record {
        kind: Kind::Review,
        id: id.0,
        version: 0,
        status: WAITING.to_owned(),
        owner: call.key.0.clone(),
        session: call.session.clone(),
        run: call.run.clone(),
        link: call.call_id.0.clone(),
        at: call.at.0,
        due_at: None,
        body: written(&review),
    };
    let put = Put {
        record,
        expect: Expect::Absent,
    };
    (put, entry)
}
