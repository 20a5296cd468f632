//! Call routes: submit, wait, withdraw, report, and tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use countersign_core::judge::judge;
use countersign_core::record;
use countersign_gate::GateError;
use countersign_gate::base::settings::Policies as _;
use countersign_gate::records::schema::AssessmentView;
use countersign_gate::records::view::{CallView, ConsumedView};

use super::{Answer, Reach};
use crate::server::App;
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params, StrictBody, wait};
use crate::server::mcp::OfPinned;
use crate::server::problem::Problem;
use crate::telemetry;
use crate::wire::lists::CallList;
use crate::wire::queries::{TraceQuery, WaitQuery};
use crate::wire::requests::{CallBody, ConsumeBody, OutcomeBody, WithdrawBody};

/// Longest name of a request.
const IDEMPOTENCY_BYTES_MAX: usize = 255;

/// Assesses a call without submitting it
#[utoipa::path(post, path = "/v1/assess", request_body = CallBody,
    responses((status = 200, description = "the assessment", body = AssessmentView)))]
pub(crate) async fn assess(
    State(app): Reach,
    StrictBody(mut body): StrictBody<CallBody>,
) -> Result<Response, Problem> {
    let (call, _) = body.call()?;
    let rules = app
        .policies
        .at(call.cwd.as_deref())
        .map_err(GateError::Policy)?;
    let mut out = Vec::with_capacity(2048);
    record::write(&mut out, None, &judge(&rules.policy, &call));
    Ok(([(header::CONTENT_TYPE, "application/json")], out).into_response())
}

/// Submits a call
#[utoipa::path(post, path = "/v1/calls", request_body = CallBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "sent twice, submitted once")),
    responses((status = 200, description = "decided", body = CallView),
              (status = 202, description = "waiting for a person", body = CallView)))]
pub(crate) async fn submit(
    State(app): Reach,
    caller: Caller,
    headers: HeaderMap,
    pinned: Option<Extension<OfPinned>>,
    StrictBody(body): StrictBody<CallBody>,
) -> Result<Response, Problem> {
    let patience = wait(body.wait_seconds)?;
    let mut submission = body.submission(idempotency_key(&headers)?)?;
    submission.of_pinned_server = pinned.is_some_and(|Extension(it)| it.covers(&submission));
    let submitting = app.gate.submit(&caller.principal, submission);
    let mut call = Box::pin(submitting).await?;
    if call.is_waiting() && !patience.is_zero() {
        let id = std::mem::take(&mut call.call_id);
        // Thousands may wait; none of them keeps what it will not say.
        drop(call);
        call = settled(&app, &caller, &id, patience).await?;
    }
    Ok(shown(call))
}

/// Shows a call; can wait for its decision
#[utoipa::path(get, path = "/v1/calls/{id}",
    params(("id" = String, Path, description = "the call"), WaitQuery),
    responses((status = 200, description = "decided", body = CallView),
              (status = 202, description = "waiting for a person", body = CallView)))]
pub(crate) async fn one(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    Params(query): Params<WaitQuery>,
) -> Result<Response, Problem> {
    let patience = wait(query.wait_seconds)?;
    settled(&app, &caller, &id, patience).await.map(shown)
}

/// Lists calls
#[utoipa::path(get, path = "/v1/calls", params(TraceQuery),
    responses((status = 200, description = "calls", body = CallList)))]
pub(crate) async fn list(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<TraceQuery>,
) -> Answer<CallList> {
    let page = app.gate.calls(&caller.principal, query.into()).await?;
    Ok(Json(page.into()))
}

/// Withdraws a call
#[utoipa::path(post, path = "/v1/calls/{id}/withdraw", request_body = WithdrawBody,
    params(("id" = String, Path, description = "the call")),
    responses((status = 200, description = "the call", body = CallView)))]
pub(crate) async fn withdraw(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<WithdrawBody>,
) -> Answer<CallView> {
    let call = app.gate.withdraw(&caller.principal, &id, body.note).await?;
    Ok(Json(call))
}

/// Reports the outcome of a call
#[utoipa::path(post, path = "/v1/calls/{id}/outcome", request_body = OutcomeBody,
    params(("id" = String, Path, description = "the call")),
    responses((status = 200, description = "the call", body = CallView)))]
pub(crate) async fn outcome(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<OutcomeBody>,
) -> Answer<CallView> {
    let report = body.report()?;
    let call = app.gate.report(&caller.principal, &id, report).await?;
    Ok(Json(call))
}

/// Consumes a token
#[utoipa::path(post, path = "/v1/tokens/consume", request_body = ConsumeBody,
    responses((status = 200, description = "the token was valid and is now consumed", body = ConsumedView)))]
pub(crate) async fn consume(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<ConsumeBody>,
) -> Answer<ConsumedView> {
    let consumed = app.gate.consume(&caller.principal, &body.token).await?;
    Ok(Json(consumed))
}

/// Returns the call when it is decided, when patience ends, or when the gateway stops.
async fn settled(
    app: &Arc<App>,
    caller: &Caller,
    id: &str,
    patience: Duration,
) -> Result<CallView, Problem> {
    let call = tokio::select! {
        call = app.gate.call(&caller.principal, id, patience) => call,
        () = app.stopped() => Box::pin(app.gate.call(&caller.principal, id, Duration::ZERO)).await,
    };
    Ok(call?)
}

fn shown(call: CallView) -> Response {
    telemetry::note_call(&call);
    let status = if call.is_waiting() {
        StatusCode::ACCEPTED
    } else {
        StatusCode::OK
    };
    (status, Json(call)).into_response()
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    key.to_str()
        .ok()
        .filter(|key| !key.is_empty() && key.len() <= IDEMPOTENCY_BYTES_MAX)
        .map(|key| Some(key.to_owned()))
        .ok_or_else(|| {
            let message = "`Idempotency-Key` must have 1 to 255 visible letters";
            Problem::invalid("Idempotency-Key", "invalid_idempotency_key", message)
        })
}
