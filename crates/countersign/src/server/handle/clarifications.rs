//! Clarification routes.

use axum::Json;
use axum::extract::State;
use countersign_gate::clarifications::{ClarificationView, Clarified, Question};

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params, wait};
use crate::server::problem::Problem;
use crate::server::whole_id::WholeId;
use crate::wire::lists::ClarificationList;
use crate::wire::queries::WaitQuery;
use crate::wire::requests::{ClarifyBody, QuestionBody};

/// Asks a person a question
#[utoipa::path(post, path = "/v1/clarifications", request_body = QuestionBody,
    responses((status = 200, description = "the question", body = ClarificationView)))]
pub(crate) async fn ask(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<QuestionBody>,
) -> Answer<ClarificationView> {
    let patience = wait(body.wait_seconds)?;
    let question = Question {
        text: body.question,
        choices: body.choices,
        session: body.session_id,
        run: body.run_id,
    };
    // Asked first and waited for afterwards, so that a gateway that stops has asked all the same.
    let asked = app
        .gate
        .ask_person(&caller.principal, question, std::time::Duration::ZERO)
        .await?;
    if patience.is_zero() {
        return Ok(Json(asked));
    }
    let id = asked.clarification_id.clone();
    tokio::select! {
        view = app.gate.clarification(&caller.principal, &id, patience) => Ok(Json(view?)),
        () = app.stopped() => Ok(Json(asked)),
    }
}

/// Shows one question; can wait for its answer
#[utoipa::path(get, path = "/v1/clarifications/{id}",
    params(("id" = String, Path, description = "the question"), WaitQuery),
    responses((status = 200, description = "the question", body = ClarificationView)))]
pub(crate) async fn one(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
    Params(query): Params<WaitQuery>,
) -> Answer<ClarificationView> {
    let patience = wait(query.wait_seconds)?;
    let view = tokio::select! {
        view = app.gate.clarification(&caller.principal, &id, patience) => view,
        () = app.stopped() => {
            app.gate.clarification(&caller.principal, &id, std::time::Duration::ZERO).await
        }
    };
    Ok(Json(view?))
}

/// Lists waiting questions
#[utoipa::path(get, path = "/v1/clarifications",
    responses((status = 200, description = "questions", body = ClarificationList)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<ClarificationList> {
    Ok(Json(
        app.gate.clarifications(&caller.principal).await?.into(),
    ))
}

/// Answers a question
#[utoipa::path(post, path = "/v1/clarifications/{id}/answer", request_body = ClarifyBody,
    params(("id" = String, Path, description = "the question")),
    responses((status = 200, description = "the question", body = ClarificationView)))]
pub(crate) async fn answer(
    State(app): Reach,
    WholeId(id): WholeId,
    caller: Caller,
    JsonBody(body): JsonBody<ClarifyBody>,
) -> Answer<ClarificationView> {
    let reply = match (body.choice, body.text) {
        (Some(choice), None) => Clarified::Choice(choice),
        (None, Some(text)) => Clarified::Text(text),
        (Some(_), Some(_)) | (None, None) => {
            let message = "give either `choice` or `text`";
            return Err(Problem::invalid("choice", "invalid_answer", message));
        }
    };
    Ok(Json(app.gate.clarify(&caller.principal, &id, reply).await?))
}
