//! Routes for grants, overrides and reviews.

use axum::Json;
use axum::extract::{Path, State};
use countersign_core::grant::Scope;
use countersign_gate::records::view::GrantView;
use countersign_gate::reviews::{ReviewView, Settled};
use countersign_gate::sessions::{OverrideRequest, OverrideView};

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params};
use crate::server::problem::Problem;
use crate::server::whole_id::WholeId;
use crate::wire::lists::{GrantList, OverrideList, ReviewList, ScopeList};
use crate::wire::queries::{GrantQuery, SessionQuery};
use crate::wire::requests::{OverrideBody, PreviewBody};

/// Lists grants
#[utoipa::path(get, path = "/v1/grants", params(GrantQuery),
    responses((status = 200, description = "grants", body = GrantList)))]
pub(crate) async fn list(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<GrantQuery>,
) -> Answer<GrantList> {
    let page = app.gate.grants(&caller.principal, query.all).await?;
    Ok(Json(page.into()))
}

/// Revokes a grant
#[utoipa::path(delete, path = "/v1/grants/{id}",
    params(("id" = String, Path, description = "the grant")),
    responses((status = 200, description = "the grant", body = GrantView)))]
pub(crate) async fn revoke(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<GrantView> {
    Ok(Json(app.gate.revoke_grant(&caller.principal, &id).await?))
}

/// Shows what a grant would have matched
#[utoipa::path(post, path = "/v1/grants/preview", request_body = PreviewBody,
    responses((status = 200, description = "scopes, narrowest first", body = ScopeList)))]
pub(crate) async fn preview(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<PreviewBody>,
) -> Answer<ScopeList> {
    let scope: Option<Scope> = body
        .scope
        .map(serde_json::from_value)
        .transpose()
        .map_err(|error| Problem::invalid("scope", "invalid_scope", error.to_string()))?;
    let who = &caller.principal;
    let approval = app.gate.whole_id(who, &body.approval_id).await?;
    let scopes = app.gate.preview(who, &approval, scope).await?;
    Ok(Json(ScopeList { scopes, next: None }))
}

/// Starts an override: the session runs without questions for a while; with `all` critical calls
/// included
#[utoipa::path(post, path = "/v1/sessions/{id}/yolo", request_body = OverrideBody,
    params(("id" = String, Path, description = "the session")),
    responses((status = 200, description = "the override", body = OverrideView)))]
pub(crate) async fn start_override(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<OverrideBody>,
) -> Answer<OverrideView> {
    let key = body.key_id.as_deref();
    let wanted = OverrideRequest {
        minutes: body.minutes,
        reason: &body.reason,
        all: body.all,
    };
    let view = app
        .gate
        .start_override(&caller.principal, key, &id, wanted)
        .await?;
    Ok(Json(view))
}

/// Ends an override, so the session asks questions again
#[utoipa::path(delete, path = "/v1/sessions/{id}/yolo",
    params(("id" = String, Path, description = "the session"), SessionQuery),
    responses((status = 200, description = "the override", body = OverrideView)))]
pub(crate) async fn end_override(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    Params(query): Params<SessionQuery>,
) -> Answer<OverrideView> {
    let key = query.key_id.as_deref();
    let view = app.gate.end_override(&caller.principal, key, &id).await?;
    Ok(Json(view))
}

/// Lists sessions that run without questions
#[utoipa::path(get, path = "/v1/overrides",
    responses((status = 200, description = "overrides", body = OverrideList)))]
pub(crate) async fn overrides(State(app): Reach, caller: Caller) -> Answer<OverrideList> {
    let overrides = app.gate.overrides(&caller.principal).await?;
    Ok(Json(OverrideList {
        overrides,
        next: None,
    }))
}

/// Lists reviews
#[utoipa::path(get, path = "/v1/reviews",
    responses((status = 200, description = "reviews", body = ReviewList)))]
pub(crate) async fn reviews(State(app): Reach, caller: Caller) -> Answer<ReviewList> {
    Ok(Json(app.gate.reviews(&caller.principal).await?.into()))
}

/// Undoes a reviewed call: restores the file, or tells the asker to undo it
#[utoipa::path(post, path = "/v1/reviews/{id}/undo",
    params(("id" = String, Path, description = "the review")),
    responses((status = 200, description = "the review", body = ReviewView)))]
pub(crate) async fn undo(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ReviewView> {
    let review = countersign_agent::undo::undo(&app.gate, &caller.principal, &id);
    Ok(Json(review.await?))
}

/// Keeps a reviewed call
#[utoipa::path(post, path = "/v1/reviews/{id}/keep",
    params(("id" = String, Path, description = "the review")),
    responses((status = 200, description = "the review", body = ReviewView)))]
pub(crate) async fn keep(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ReviewView> {
    let settled = Settled::Keep;
    let review = app.gate.settle_review(&caller.principal, &id, settled);
    Ok(Json(review.await?))
}
