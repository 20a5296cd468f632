//! The start of an event stream: after a named event, now, or at the beginning of a run.

use axum::http::{HeaderMap, StatusCode};
use countersign_gate::GateError;
use countersign_store::{Database, Kind, Query, StoreError};

use crate::server::App;
use crate::server::auth::Caller;
use crate::server::problem::Problem;
use crate::wire::queries::EventsQuery;

/// Entries are written in the order they are committed, not in the order they were drafted; a run's
/// first entry may stand a little before its call's time would put it.
const SLACK_MILLIS: i64 = 5_000;

/// Returns the event a client names as the last it has seen.
pub(super) fn named(headers: &HeaderMap, query: &EventsQuery) -> Result<Option<u64>, Problem> {
    match headers.get("last-event-id") {
        None => Ok(query.last_event_id),
        Some(id) => {
            let text = id.to_str().unwrap_or("-").trim();
            if text.is_empty() {
                return Ok(query.last_event_id);
            }
            text.parse().map(Some).map_err(|_| {
                let message = "`Last-Event-ID` must be the id of an event";
                Problem::invalid("Last-Event-ID", "invalid_event_id", message)
            })
        }
    }
}

/// Returns the number of the last entry.
pub(crate) fn now(app: &App) -> u64 {
    *app.gate.store().tail().last().borrow()
}

/// Returns a number before the first entry of `run`, if the caller may know of it.
pub(super) async fn of_run(app: &App, caller: &Caller, run: &str) -> Result<u64, Problem> {
    let store = app.gate.store();
    let who = &caller.principal;
    let mut first: Option<i64> = None;
    for kind in [Kind::Run, Kind::Call, Kind::Clarification] {
        let query = Query {
            run: Some(run.to_owned()),
            owner: (!who.role.sees_all()).then(|| who.key.0.clone()),
            limit: 1,
            ..Query::of(kind)
        };
        let found = store.find(query).await.map_err(GateError::Store)?;
        let at = found.first().map(|record| record.at);
        first = first.into_iter().chain(at).min();
    }
    let Some(first) = first else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "run_not_found",
            format!("there is no run `{run}`"),
        ));
    };
    let before = before(store, now(app), first - SLACK_MILLIS).await;
    Ok(before.map_err(GateError::Store)?)
}

/// Returns the number of the last entry before `moment`, by halving: the ledger is in order of time.
async fn before(store: &Database, last: u64, moment: i64) -> Result<u64, StoreError> {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2;
        let entries = store.entries(middle, 1).await?;
        match entries.first() {
            Some(entry) if entry.draft.at.0 < moment => low = middle + 1,
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}
