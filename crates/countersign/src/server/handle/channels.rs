//! Channels: how they fare, and what comes back from them: answers, proven by the channel's own
//! signature.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use countersign_core::id::ApprovalId;
use countersign_core::tier::Tier;
use countersign_gate::request::Reply;
use countersign_gate::view::ApprovalView;

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::problem::Problem;
use crate::wire::lists::ChannelList;

/// Lists how people are reached, and how that goes
#[utoipa::path(get, path = "/v1/channels",
    responses((status = 200, description = "channels", body = ChannelList)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<ChannelList> {
    Ok(Json(app.gate.channels(&caller.principal).await?.into()))
}

/// An answer that a webhook's other side sends back, signed as cards are
#[utoipa::path(post, path = "/channels/{name}/action", request_body = Object,
    params(("name" = String, Path, description = "the channel")),
    responses((status = 200, description = "answered", body = ApprovalView),
        (status = 401, description = "the signature proves nothing"),
        (status = 403, description = "the account belongs to nobody who may answer"),
        (status = 409, description = "somebody was faster")))]
pub(crate) async fn action(
    State(app): Reach,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<ApprovalView>, Problem> {
    let webhook = app
        .webhooks
        .iter()
        .find(|webhook| countersign_channels::Channel::name(*webhook) == name)
        .ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "not_found", "no such channel"))?;
    let signature = headers
        .get("countersign-signature")
        .and_then(|value| value.to_str().ok());
    let now = app.gate.clock().machine().seconds();
    let verified = webhook.verify(signature, &body, now).map_err(|error| {
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
        .principal_of_account(&name, &verified.account, Tier::T1)
        .await?;
    let reply = Reply {
        approval: ApprovalId(verified.approval_id),
        choice: verified.choice,
        note: verified.note,
        grant: None,
        args: None,
    };
    Ok(Json(app.gate.answer(&who, reply).await?))
}
