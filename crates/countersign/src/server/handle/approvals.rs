//! Approval routes: the inbox, one card, answers.

use axum::Json;
use axum::extract::State;
use countersign_gate::history::before::BeforeView;
use countersign_gate::records::view::{ApprovalView, EditedView, FileChanges};

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params};
use crate::server::whole_id::WholeId;
use crate::telemetry;
use crate::wire::edits::EditBody;
use crate::wire::lists::{ApprovalList, DeliveryList};
use crate::wire::queries::ApprovalQuery;
use crate::wire::requests::ResolveBody;
use crate::wire::rows::{InboxList, InboxQuery};

/// Lists approvals
#[utoipa::path(get, path = "/v1/approvals", params(ApprovalQuery),
    responses((status = 200, description = "approvals", body = ApprovalList)))]
pub(crate) async fn list(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<ApprovalQuery>,
) -> Answer<ApprovalList> {
    let page = app.gate.approvals(&caller.principal, query.into()).await?;
    Ok(Json(page.into()))
}

/// Lists waiting approvals as rows: what a list shows, without the full cards
#[utoipa::path(get, path = "/v1/inbox", params(InboxQuery),
    responses((status = 200, description = "rows, the newest first", body = InboxList)))]
pub(crate) async fn inbox(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<InboxQuery>,
) -> Answer<InboxList> {
    let page = app.gate.approvals(&caller.principal, query.into()).await?;
    Ok(Json(page.into()))
}

/// Shows one approval with its card
#[utoipa::path(get, path = "/v1/approvals/{id}",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the approval", body = ApprovalView)))]
pub(crate) async fn one(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ApprovalView> {
    Ok(Json(app.gate.approval(&caller.principal, &id).await?))
}

/// Answers an approval
#[utoipa::path(post, path = "/v1/approvals/{id}/resolve", request_body = ResolveBody,
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the approval with its decision", body = ApprovalView),
              (status = 410, description = "it expired or was withdrawn")))]
pub(crate) async fn resolve(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
    JsonBody(body): JsonBody<ResolveBody>,
) -> Answer<ApprovalView> {
    let reply = body.reply(id)?;
    let answered = app.gate.answer(&caller.principal, reply).await?;
    telemetry::note_approval(&answered);
    Ok(Json(answered))
}

/// Judges a call as a person would change it; answers nothing
#[utoipa::path(post, path = "/v1/approvals/{id}/assess", request_body = EditBody,
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the card and assessment it would have", body = EditedView),
              (status = 422, description = "it would be refused, or cannot be edited")))]
pub(crate) async fn assess(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
    JsonBody(body): JsonBody<EditBody>,
) -> Answer<EditedView> {
    let who = &caller.principal;
    Ok(Json(app.gate.assess_edited(who, &id, &body.args).await?))
}

/// Shows how a call would change files of its workspace, compared with what they hold now
#[utoipa::path(get, path = "/v1/approvals/{id}/changes",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the files", body = FileChanges)))]
pub(crate) async fn changes(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<FileChanges> {
    Ok(Json(app.agent.file_changes(&caller.principal, &id).await?))
}

/// Shows what led to a call: the message its run answers, and the last calls of that run
#[utoipa::path(get, path = "/v1/approvals/{id}/before",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "what led to it", body = BeforeView)))]
pub(crate) async fn before(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<BeforeView> {
    Ok(Json(app.gate.before(&caller.principal, &id).await?))
}

/// Undoes an approval before it takes effect
#[utoipa::path(post, path = "/v1/approvals/{id}/take_back",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the approval", body = ApprovalView)))]
pub(crate) async fn take_back(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ApprovalView> {
    Ok(Json(app.gate.take_back(&caller.principal, &id).await?))
}

/// Gives a waiting approval more time; answers nothing
#[utoipa::path(post, path = "/v1/approvals/{id}/extend",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the approval with its new deadline", body = ApprovalView),
              (status = 410, description = "it expired or was withdrawn"),
              (status = 422, description = "no more time can be added")))]
pub(crate) async fn extend(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ApprovalView> {
    Ok(Json(app.gate.extend(&caller.principal, &id).await?))
}

/// Lifts a denial, so the agent may ask again; only for the person who denied it or an admin
#[utoipa::path(post, path = "/v1/approvals/{id}/lift",
    params(("id" = String, Path, description = "the approval that was denied")),
    responses((status = 200, description = "the approval", body = ApprovalView),
              (status = 403, description = "somebody else denied it")))]
pub(crate) async fn lift(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ApprovalView> {
    Ok(Json(app.gate.lift_denial(&caller.principal, &id).await?))
}

/// Shows where the card of an approval was delivered, and where delivery failed
#[utoipa::path(get, path = "/v1/approvals/{id}/deliveries",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "deliveries", body = DeliveryList)))]
pub(crate) async fn deliveries(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<DeliveryList> {
    let page = app.gate.deliveries_of(&caller.principal, &id).await?;
    Ok(Json(page.into()))
}

/// Records that the full text was opened
#[utoipa::path(post, path = "/v1/approvals/{id}/viewed",
    params(("id" = String, Path, description = "the approval")),
    responses((status = 200, description = "the approval", body = ApprovalView)))]
pub(crate) async fn viewed(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
) -> Answer<ApprovalView> {
    Ok(Json(app.gate.viewed(&caller.principal, &id).await?))
}
