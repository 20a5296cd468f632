//! The reviews and grants tabs.

use countersign_core::display::{inline, shortened};
use countersign_core::status::ReviewStatus;
use countersign_core::time::UnixMillis;
use countersign_gate::records::view::GrantView;
use countersign_gate::reviews::ReviewView;
use countersign_gate::runs::BUILTIN;
use countersign_gate::sessions::OverrideView;

use super::shelf::{Entry, Shelf};
use crate::words::{assessed, named, span};

/// Something that ran and awaits a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Review {
    id: String,
    pub(super) what: String,
    pub(super) tool: String,
    pub(super) path: Option<String>,
    /// The diff.
    pub(super) diff: Option<String>,
    /// Whether it is being undone.
    pub(super) is_undoing: bool,
    pub(super) ran_at: UnixMillis,
}

impl Entry for Review {
    fn id(&self) -> &str {
        &self.id
    }

    fn words(&self) -> Vec<&str> {
        vec![
            &self.what,
            &self.tool,
            self.path.as_deref().unwrap_or_default(),
        ]
    }
}

impl Review {
    fn of(review: ReviewView) -> Self {
        let tool = inline(&review.call.tool);
        let path = named(review.path.as_deref());
        let assessment = assessed(&review.call.assessment);
        let reason = assessment.as_ref().and_then(|it| it.reasons.first());
        let what = match (&path, reason) {
            (Some(path), _) => format!("{tool} {path}"),
            (None, Some(reason)) => format!("{tool}: {reason}"),
            (None, None) => tool.clone(),
        };
        Self {
            id: review.review_id,
            what: shortened(&what),
            tool,
            path,
            diff: review.diff,
            is_undoing: review.status == ReviewStatus::Undoing,
            ran_at: UnixMillis::of_seconds(review.call.created_at),
        }
    }
}

/// Takes a list of reviews.
pub(super) fn take_reviews(list: &mut Shelf<Review>, reviews: Vec<ReviewView>) {
    *list.change() = reviews.into_iter().map(Review::of).collect();
}

/// A standing permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    id: String,
    /// What it covers.
    pub(super) words: String,
    pub(super) session: Option<String>,
    pub(super) by: String,
    pub(super) uses: u64,
    pub(super) uses_left: Option<u32>,
    pub(super) expires_at: Option<UnixMillis>,
    pub(super) given_at: UnixMillis,
    pub(super) last_used_at: Option<UnixMillis>,
}

impl Entry for Grant {
    fn id(&self) -> &str {
        &self.id
    }

    fn words(&self) -> Vec<&str> {
        vec![
            &self.words,
            &self.by,
            self.session.as_deref().unwrap_or_default(),
        ]
    }
}

impl Grant {
    fn of(grant: GrantView) -> Self {
        Self {
            id: grant.grant_id,
            words: inline(&grant.words),
            session: named(grant.session_id.as_deref()),
            by: inline(&grant.by),
            uses: grant.uses,
            uses_left: grant.uses_left,
            expires_at: grant.expires_at.map(UnixMillis::of_seconds),
            given_at: UnixMillis::of_seconds(grant.created_at),
            last_used_at: grant.last_used_at.map(UnixMillis::of_seconds),
        }
    }
}

/// A session that runs without questions for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Override {
    session: String,
    key: String,
    /// What it covers.
    words: String,
    by: String,
    pub(super) until: UnixMillis,
}

impl Override {
    /// Returns an override that holds; `None` if it has no end any more.
    fn of(it: &OverrideView) -> Option<Self> {
        Some(Self {
            session: named(Some(&it.session_id))?,
            key: inline(&it.key_id),
            words: inline(&it.words),
            by: inline(&it.by),
            until: UnixMillis::of_seconds(it.until?),
        })
    }

    /// Returns what runs without questions, for how long still, and how that is ended.
    pub(super) fn sentence(&self, now: UnixMillis) -> String {
        let whose = match self.key.as_str() {
            BUILTIN => String::new(),
            key => format!(" --key-id {key}"),
        };
        format!(
            "Session {} {} for {} (started by {}). End it: countersign grants end {}{whose}",
            self.session,
            self.words,
            span(self.until.since(now)),
            self.by,
            self.session
        )
    }
}

/// Takes a list of overrides.
pub(super) fn take_overrides(list: &mut Vec<Override>, overrides: &[OverrideView]) {
    *list = overrides.iter().filter_map(Override::of).collect();
}

/// Takes a list of grants.
pub(super) fn take_grants(list: &mut Shelf<Grant>, grants: Vec<GrantView>) {
    *list.change() = grants.into_iter().map(Grant::of).collect();
}
