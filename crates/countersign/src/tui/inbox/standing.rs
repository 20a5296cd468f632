//! What stands without a question: what ran and awaits a look, and permissions that were left.

use countersign_core::display::shortened;
use countersign_core::time::UnixMillis;
use countersign_gate::runs::BUILTIN;
use serde_json::Value;

use super::shelf::{Entry, Shelf};
use crate::config::read::at;
use crate::words::{moment, named, span};

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

/// A session that runs without questions for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Override {
    session: String,
    key: String,
    /// What it lets run.
    words: String,
    by: String,
    pub(super) until: UnixMillis,
}

impl Override {
    fn read(it: &Value) -> Option<Self> {
        Some(Self {
            session: named(it, "session_id")?,
            key: named(it, "key_id").unwrap_or_default(),
            words: named(it, "words").unwrap_or_default(),
            by: named(it, "by").unwrap_or_default(),
            until: moment(it, "until")?,
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
pub(super) fn take_overrides(list: &mut Vec<Override>, body: &Value) {
    let overrides = at(body, "overrides").as_array().into_iter().flatten();
    *list = overrides.filter_map(Override::read).collect();
}

/// Takes a list of grants.
pub(super) fn take_grants(list: &mut Shelf<Grant>, body: &Value) {
    let grants = at(body, "grants").as_array().into_iter().flatten();
    *list.change() = grants.filter_map(Grant::read).collect();
}
