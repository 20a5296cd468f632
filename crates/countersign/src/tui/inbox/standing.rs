//! What stands without a question: what ran and awaits a look, and permissions that were left.

use countersign_core::display::shortened;
use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::shelf::{Entry, Shelf};
use crate::config::read::at;
use crate::tui::words::{moment, named};

/// Something that ran and awaits a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Review {
    id: String,
    pub(super) what: String,
    pub(super) tool: String,
    pub(super) path: Option<String>,
    /// What was changed, as lines.
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
    fn read(review: &Value) -> Option<Self> {
        let call = at(review, "call");
        let tool = named(call, "tool").unwrap_or_default();
        let path = named(review, "path");
        let reason = at(call, "assessment.reasons")
            .get(0)
            .and_then(Value::as_str);
        let what = path.as_ref().map(|path| format!("{tool} {path}"));
        let what = what.or_else(|| reason.map(|reason| format!("{tool}: {reason}")));
        Some(Self {
            id: at(review, "review_id").as_str()?.to_owned(),
            what: shortened(&what.unwrap_or_else(|| tool.clone())),
            tool,
            path,
            diff: at(review, "diff").as_str().map(str::to_owned),
            is_undoing: at(review, "status") == "undoing",
            ran_at: moment(call, "created_at")?,
        })
    }
}

/// Takes a list of reviews.
pub(super) fn take_reviews(list: &mut Shelf<Review>, body: &Value) {
    let reviews = at(body, "reviews").as_array().into_iter().flatten();
    *list.change() = reviews.filter_map(Review::read).collect();
}

/// A standing permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    id: String,
    /// What it lets run.
    pub(super) words: String,
    pub(super) session: Option<String>,
    pub(super) by: String,
    pub(super) uses: u64,
    pub(super) uses_left: Option<u64>,
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
    fn read(grant: &Value) -> Option<Self> {
        Some(Self {
            id: at(grant, "grant_id").as_str()?.to_owned(),
            words: named(grant, "words").unwrap_or_default(),
            session: named(grant, "session_id"),
            by: named(grant, "by").unwrap_or_default(),
            uses: at(grant, "uses").as_u64().unwrap_or(0),
            uses_left: at(grant, "uses_left").as_u64(),
            expires_at: moment(grant, "expires_at"),
            given_at: moment(grant, "created_at")?,
            last_used_at: moment(grant, "last_used_at"),
        })
    }
}

/// Takes a list of grants.
pub(super) fn take_grants(list: &mut Shelf<Grant>, body: &Value) {
    let grants = at(body, "grants").as_array().into_iter().flatten();
    *list.change() = grants.filter_map(Grant::read).collect();
}
