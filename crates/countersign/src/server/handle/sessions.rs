//! Session routes: conversations with the built-in agent.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use countersign_gate::runs::{Said, builtin};
use countersign_gate::sessions::crisis::{CrisisView, Marked};
use serde_json::Value;

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::JsonBody;
use crate::server::problem::Problem;
use crate::wire::requests::ClearBody;
use crate::wire::shown::{MessageList, SessionList, SessionView};

/// Runs that are looked at for a list of conversations.
const RUNS_MAX: u32 = 500;

/// Lists conversations, the newest first
#[utoipa::path(get, path = "/v1/sessions",
    responses((status = 200, description = "conversations", body = SessionList)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<SessionList> {
    let page = app
        .gate
        .runs(&caller.principal, None, Some(RUNS_MAX), None)
        .await?;
    let mut sessions: Vec<SessionView> = Vec::new();
    for run in page.items {
        let known = sessions.iter_mut().find(|it| it.session_id == run.session);
        if let Some(known) = known {
            // Runs come newest first, so an older one only moves the beginning.
            known.runs += 1;
            known.created_at = run.created_at.as_seconds();
        } else {
            sessions.push(SessionView {
                session_id: run.session,
                started_by: run.starter,
                model: run.model,
                runs: 1,
                last_run: run.run_id,
                status: run.status,
                created_at: run.created_at.as_seconds(),
                updated_at: run.updated_at.as_seconds(),
            });
        }
    }
    Ok(Json(SessionList {
        sessions,
        next: None,
    }))
}

/// Shows the messages of a conversation
#[utoipa::path(get, path = "/v1/sessions/{id}/messages",
    params(("id" = String, Path, description = "the conversation")),
    responses((status = 200, description = "messages, the oldest first", body = MessageList)))]
pub(crate) async fn messages(
    State(app): Reach,
    _caller: Caller,
    Path(id): Path<String>,
) -> Answer<MessageList> {
    let said = app.gate.said_behind(&id, None).await?;
    let of_run = |mut said: Said| {
        if let Some(fields) = said.message.as_object_mut() {
            fields.insert("run_id".to_owned(), said.run.into());
        }
        said.message
    };
    let mut messages: Vec<Value> = said.into_iter().map(of_run).collect();
    if messages.is_empty() {
        let message = format!("there is no conversation `{id}`");
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "session_not_found",
            message,
        ));
    }
    if app.gate.heed(&builtin(), &id, &[]).await? {
        messages.iter_mut().for_each(hide_aside);
    }
    Ok(Json(MessageList {
        session_id: id,
        messages,
        next: None,
    }))
}

/// Lists crisis marks of conversations and recipients
#[utoipa::path(get, path = "/v1/crisis",
    responses((status = 200, description = "marks", body = CrisisView)))]
pub(crate) async fn marks(State(app): Reach, caller: Caller) -> Answer<CrisisView> {
    Ok(Json(app.gate.crisis_marks(&caller.principal).await?))
}

/// Clears the crisis mark of a session or a recipient
#[utoipa::path(post, path = "/v1/crisis/clear", request_body = ClearBody,
    responses((status = 200, description = "the marks that are left", body = CrisisView)))]
pub(crate) async fn clear_mark(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<ClearBody>,
) -> Answer<CrisisView> {
    let whose = match (&body.session_id, &body.recipient) {
        (Some(session), None) => Marked::Session(session, body.key_id.as_deref()),
        (None, Some(recipient)) => Marked::Recipient(recipient),
        (Some(_), Some(_)) | (None, None) => {
            let message = "name either `session_id` or `recipient`";
            return Err(Problem::invalid("session_id", "ambiguous_mark", message));
        }
    };
    let left = app
        .gate
        .clear_crisis(&caller.principal, whose, body.note.as_deref())
        .await?;
    Ok(Json(left))
}

/// Takes away what the model said while it asked for tools: in a conversation with a person in
/// crisis nobody has looked at that.
fn hide_aside(message: &mut Value) {
    // A result may repeat what the model said.
    if message["role"] == "tool" {
        message["content"] = Value::Null;
        return;
    }
    let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) else {
        return;
    };
    for call in calls {
        if let Some(arguments) = call.pointer_mut("/function/arguments") {
            *arguments = Value::Null;
        }
    }
    if let Some(content) = message.get_mut("content") {
        *content = Value::Null;
    }
}
