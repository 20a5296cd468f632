//! Channel routes: health, and callbacks verified by the channel's own signature.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use countersign_channels::Channel as _;
use countersign_channels::chat::{Callback, Finding, Route};
use countersign_channels::notifier::Notifier;
use countersign_core::id::ApprovalId;
use countersign_core::tier::Tier;
use countersign_gate::records::request::Reply;
use countersign_gate::records::view::ApprovalView;

use super::{Answer, Reach};
use crate::gateway::chats::Desk;
use crate::server::App;
use crate::server::auth::Caller;
use crate::server::problem::Problem;
use crate::wire::lists::ChannelList;
use crate::wire::shown::Diagnosis;

/// Lists channels and their state
#[utoipa::path(get, path = "/v1/channels",
    responses((status = 200, description = "channels", body = ChannelList)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<ChannelList> {
    Ok(Json(app.gate.channels(&caller.principal).await?.into()))
}

/// Callback for a pressed button in a chat, or for the answer of a webhook
#[utoipa::path(post, path = "/channels/{name}/action", request_body = Object,
    params(("name" = String, Path, description = "the channel")),
    responses((status = 200, description = "answered", body = ApprovalView),
        (status = 401, description = "the signature is missing or wrong"),
        (status = 403, description = "the account may not answer"),
        (status = 409, description = "somebody answered first")))]
pub(crate) async fn action(
    State(app): Reach,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    if desk(&app, &name).is_ok() {
        return callback(&app, &name, Route::Action, &headers, &body).await;
    }
    let view = webhook(&app, &name, &headers, &body).await?;
    Ok(Json(view).into_response())
}

/// Callback for a slash command
#[utoipa::path(post, path = "/channels/{name}/command", request_body = String,
    params(("name" = String, Path, description = "the channel")),
    responses((status = 200, description = "the reply to the person", body = Object)))]
pub(crate) async fn command(
    State(app): Reach,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    callback(&app, &name, Route::Command, &headers, &body).await
}

/// Callback for a dialog
#[utoipa::path(post, path = "/channels/{name}/dialog", request_body = Object,
    params(("name" = String, Path, description = "the channel")),
    responses((status = 200, description = "accepted, or the error", body = Object)))]
pub(crate) async fn dialog(
    State(app): Reach,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    callback(&app, &name, Route::Dialog, &headers, &body).await
}

/// Diagnoses a channel
#[utoipa::path(get, path = "/v1/channels/{name}/doctor",
    params(("name" = String, Path, description = "the channel")),
    responses((status = 200, description = "problems, each with a fix", body = Object)))]
pub(crate) async fn doctor(
    State(app): Reach,
    _caller: Caller,
    Path(name): Path<String>,
) -> Answer<Diagnosis> {
    let findings = match desk(&app, &name) {
        Ok(desk) => desk.findings().await,
        Err(_) if app.webhooks.iter().any(|it| it.name() == name) => Vec::new(),
        Err(problem) => match app.notifiers.iter().find(|it| it.name() == name) {
            Some(notifier) => examined(&app, &**notifier).await,
            None => return Err(problem),
        },
    };
    Ok(Json(Diagnosis {
        channel: name,
        findings,
    }))
}

/// Returns what is found at a channel that only tells, and at the people it tells.
async fn examined(app: &App, notifier: &dyn Notifier) -> Vec<Finding> {
    let mut findings = notifier.examine().await;
    let people = match app.gate.people_in(notifier.name()).await {
        Ok(people) => people,
        Err(error) => {
            findings.push(Finding::bad("people", error.to_string(), "see the log"));
            return findings;
        }
    };
    if people.is_empty() && !notifier.has_usual_place() {
        findings.push(Finding::bad(
            "people",
            "no approver has an address there, so nobody is told",
            format!(
                "`countersign people set NAME --role approver --account {}=ADDRESS`",
                notifier.name()
            ),
        ));
    }
    for (name, account) in &people {
        findings.extend(notifier.examine_account(name, account).await);
    }
    findings
}

async fn callback(
    app: &App,
    name: &str,
    route: Route,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, Problem> {
    let call = Callback {
        route,
        headers,
        body,
    };
    let reply = desk(app, name)?.callback(call).await;
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::BAD_GATEWAY);
    Ok((status, Json(reply.body)).into_response())
}

fn desk<'a>(app: &'a App, name: &str) -> Result<&'a Desk, Problem> {
    let mut desks = app.desks.iter();
    desks
        .find(|desk| desk.chat.name() == name)
        .ok_or_else(no_channel)
}

fn no_channel() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "no such channel")
}

async fn webhook(
    app: &App,
    name: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<ApprovalView, Problem> {
    let webhook = app
        .webhooks
        .iter()
        .find(|webhook| webhook.name() == name)
        .ok_or_else(no_channel)?;
    let signature = headers
        .get("countersign-signature")
        .and_then(|value| value.to_str().ok());
    let now = app.gate.clock().machine().seconds();
    let verified = webhook.verify(signature, body, now).map_err(|error| {
        let code = match error {
            countersign_channels::VerifyError::Malformed => StatusCode::UNPROCESSABLE_ENTITY,
            countersign_channels::VerifyError::Unsigned
            | countersign_channels::VerifyError::Stale
            | countersign_channels::VerifyError::BadSignature => StatusCode::UNAUTHORIZED,
        };
        Problem::new(code, "not_verified", error.to_string())
    })?;
    // The secret lies on this machine, so nothing proves that the answer came from another one.
    let who = app
        .gate
        .principal_of_account(name, &verified.account, Tier::T1)
        .await?;
    let reply = Reply {
        approval: ApprovalId(verified.approval_id),
        choice: verified.choice,
        note: verified.note,
        grant: None,
        args: None,
    };
    Ok(app.gate.answer(&who, reply).await?)
}
