//! Reads traces and the ledger, and replays calls under another policy.

use axum::Json;
use axum::extract::State;
use countersign_core::policy::Policy;
use countersign_gate::GateError;
use countersign_gate::base::settings::Policies as _;
use countersign_gate::history::statistics::StatsView;
use countersign_gate::history::traces::{Replayed, TraceView};
use countersign_gate::ledger::verify::LedgerState;

use super::{Answer, Reach};
use crate::config::{read, schema};
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params};
use crate::server::problem::Problem;
use crate::server::whole_id::WholeId;
use crate::wire::lists::{EntryList, TraceList};
use crate::wire::queries::{HistoryQuery, LedgerQuery, StatsQuery, millis};
use crate::wire::requests::ReplayBody;

/// Entries of one page.
const ENTRIES_MAX: u32 = 1000;

/// Lists traces of calls
#[utoipa::path(get, path = "/v1/traces", params(HistoryQuery),
    responses((status = 200, description = "traces", body = TraceList)))]
pub(crate) async fn traces(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<HistoryQuery>,
) -> Answer<TraceList> {
    let page = app.gate.traces(&caller.principal, query.into()).await?;
    Ok(Json(page.into()))
}

/// Explains one call
#[utoipa::path(get, path = "/v1/traces/{id}",
    params(("id" = String, Path, description = "the call, or its approval")),
    responses((status = 200, description = "the trace", body = TraceView)))]
pub(crate) async fn trace(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<TraceView> {
    Ok(Json(app.gate.trace(&caller.principal, &id).await?))
}

/// Statistics: verdicts over time, answers, most frequent findings
#[utoipa::path(get, path = "/v1/stats", params(StatsQuery),
    responses((status = 200, description = "counts", body = StatsView)))]
pub(crate) async fn stats(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<StatsQuery>,
) -> Answer<StatsView> {
    let counted = app.gate.statistics(&caller.principal, query.into());
    Ok(Json(counted.await?))
}

/// Shows entries of the ledger
#[utoipa::path(get, path = "/v1/ledger", params(LedgerQuery),
    responses((status = 200, description = "entries; `next` is the next `after`", body = EntryList)))]
pub(crate) async fn ledger(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<LedgerQuery>,
) -> Answer<EntryList> {
    let limit = query.limit.unwrap_or(100).clamp(1, ENTRIES_MAX);
    let (entries, next) = app
        .gate
        .entries(&caller.principal, query.after, limit)
        .await?;
    let last = *app.gate.store().tail().last().borrow();
    Ok(Json(EntryList {
        entries,
        next: (next < last).then(|| next.to_string()),
        last,
    }))
}

/// Verifies the ledger
#[utoipa::path(get, path = "/v1/ledger/verify",
    responses((status = 200, description = "whether the ledger is intact", body = LedgerState)))]
pub(crate) async fn verify(State(app): Reach, caller: Caller) -> Answer<LedgerState> {
    Ok(Json(app.gate.verify_ledger(&caller.principal).await?))
}

/// Replays past calls under another configuration
#[utoipa::path(post, path = "/v1/replay", request_body = ReplayBody,
    responses((status = 200, description = "what would differ", body = Replayed)))]
pub(crate) async fn replay(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<ReplayBody>,
) -> Answer<Replayed> {
    let since = body.since.map_or(0, millis);
    if let Some(thresholds) = body.thresholds {
        if body.config.is_some() {
            let message = "give either `thresholds` or `config`";
            return Err(Problem::invalid("thresholds", "invalid_config", message));
        }
        let proposed = thresholds.proposed()?;
        return Ok(Json(
            app.gate.what_if(&caller.principal, since, proposed).await?,
        ));
    }
    let policy = match body.config {
        None => app
            .policies
            .at(None)
            .map_err(GateError::Policy)?
            .policy
            .clone(),
        Some(values) => {
            let wrong = |problem: schema::Problem| {
                Problem::invalid("config", "invalid_config", problem.typed().message())
            };
            schema::check(&values).map_err(wrong)?;
            Policy::default().with(read::changes(&values).map_err(wrong)?)
        }
    };
    let replayed = app.gate.replay(&caller.principal, since, policy).await?;
    Ok(Json(replayed))
}
