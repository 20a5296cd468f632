//! Finds the one id that begins with what a person typed.
//!
//! One resolver for the API, the terminal and every chat. It never picks: if several begin so, the
//! person is told which. Answered and ended ones count, too; otherwise a short id that meant a card
//! somebody else has answered meanwhile would mean the next one.

use countersign_core::id::{
    ApprovalId, CallId, ClarificationId, GrantId, KeyId, ReviewId, made_between,
};
use countersign_store::{Kind, Order, Query};

use crate::GateError;
use crate::base::Base;
use crate::base::principal::{Principal, Role};
use crate::records::error::invalid;

/// A record may be written this much before or after its id was made, in milliseconds.
const SLACK_MILLIS: i64 = 2_000;
/// Ids that are looked at in one read.
const READ: u32 = 200;
/// Ids that are listed if several begin alike.
const LISTED_MAX: usize = 8;

impl Base {
    /// Returns the id that `typed` stands for: the only one of those `who` may see that begins so.
    /// What is whole, unknown or too short is returned as it is.
    pub(crate) async fn whole_id(&self, who: &Principal, typed: &str) -> Result<String, GateError> {
        let (Some(kind), Some((from, to))) = (kind_of(typed), made_between(typed)) else {
            return Ok(typed.to_owned());
        };
        if kind == Kind::Key && who.role != Role::Admin {
            return Ok(typed.to_owned());
        }
        let mut query = Query {
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            since: Some(from.0.saturating_sub(SLACK_MILLIS)),
            behind: Some((to.0.saturating_add(SLACK_MILLIS), String::new())),
            order: Order::NewestFirst,
            limit: READ,
            ..Query::of(kind)
        };
        let mut found = Vec::new();
        while found.len() <= LISTED_MAX {
            let records = self.store.find(query.clone()).await?;
            let Some(last) = records.last() else { break };
            query.behind = Some((last.at, last.id.clone()));
            let ids = records.into_iter().map(|record| record.id);
            found.extend(ids.filter(|id| id.starts_with(typed)));
        }
        match found.as_slice() {
            [] => Ok(typed.to_owned()),
            [only] => Ok(only.clone()),
            several => Err(ambiguous(typed, several)),
        }
    }
}

fn kind_of(typed: &str) -> Option<Kind> {
    let rows = [
        (ApprovalId::is_id(typed), Kind::Approval),
        (CallId::is_id(typed), Kind::Call),
        (ClarificationId::is_id(typed), Kind::Clarification),
        (GrantId::is_id(typed), Kind::Grant),
        (KeyId::is_id(typed), Kind::Key),
        (ReviewId::is_id(typed), Kind::Review),
    ];
    let mut rows = rows.into_iter();
    rows.find_map(|(is_one, kind)| is_one.then_some(kind))
}

fn ambiguous(typed: &str, ids: &[String]) -> GateError {
    let listed = ids.iter().take(LISTED_MAX).map(String::as_str);
    let listed = listed.collect::<Vec<_>>().join(", ");
    let more = if ids.len() > LISTED_MAX {
        ", and more"
    } else {
        ""
    };
    let message =
        format!("`{typed}` is the beginning of several ids: {listed}{more}; type more of it");
    invalid("id", "ambiguous_id", &message)
}
