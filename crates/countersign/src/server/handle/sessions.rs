//! Conversations with the built-in agent.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use countersign_gate::runs::builtin;
use serde_json::{Value, json};

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::problem::Problem;

/// Runs that are looked at for a list of conversations.
const RUNS_MAX: u32 = 500;

/// Lists conversations, the newest first
#[utoipa::path(get, path = "/v1/sessions",
    responses((status = 200, description = "conversations", body = Object)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<Value> {
    let page = app
        .gate
        .runs(&caller.principal, None, Some(RUNS_MAX), None)
        .await?;
    let mut sessions: Vec<Value> = Vec::new();
    for run in page.items {
        let known = sessions
            .iter_mut()
            .find(|session| session.get("session_id") == Some(&json!(run.session)));
        if let Some(known) = known.and_then(Value::as_object_mut) {
            // Runs come newest first, so an older one only moves the beginning.
            let runs = known.get("runs").and_then(Value::as_u64).unwrap_or(0) + 1;
            known.insert("runs".to_owned(), json!(runs));
            let created_at = json!(run.created_at.as_seconds());
            known.insert("created_at".to_owned(), created_at);
        } else {
            sessions.push(json!({
                "session_id": run.session,
                "started_by": run.starter,
                "model": run.model,
                "runs": 1,
                "last_run": run.run_id,
                "status": run.status.word(),
                "created_at": run.created_at.as_seconds(),
                "updated_at": run.updated_at.as_seconds(),
            }));
        }
    }
    Ok(Json(json!({ "sessions": sessions, "next": null })))
}

/// Shows what was said in a conversation
#[utoipa::path(get, path = "/v1/sessions/{id}/messages",
    params(("id" = String, Path, description = "the conversation")),
    responses((status = 200, description = "messages, the oldest first", body = Object)))]
pub(crate) async fn messages(
    State(app): Reach,
    _caller: Caller,
    Path(id): Path<String>,
) -> Answer<Value> {
    let mut messages = app.gate.conversation(&id).await?;
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
    Ok(Json(json!({
        "session_id": id,
        "messages": messages,
        "next": null,
    })))
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
