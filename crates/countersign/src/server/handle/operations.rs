//! Operations routes: health, readiness, metrics, capabilities.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use countersign_gate::base::settings::Policies as _;
use countersign_gate::ledger::anchor::Anchor;
use serde_json::{Value, json};

use super::{Answer, Reach};
use crate::server::App;
use crate::server::problem::Problem;
use crate::wire::shown::{Capabilities, ModelList, ModelView, SkillView};

/// Liveness check
#[utoipa::path(get, path = "/health", responses((status = 200, description = "it is", body = Object)))]
pub(crate) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Readiness check: whether calls can be judged and decisions stored
#[utoipa::path(get, path = "/ready",
    responses((status = 200, description = "they can", body = Object),
              (status = 503, description = "not ready, and why", body = Object)))]
pub(crate) async fn ready(State(app): Reach) -> (StatusCode, Json<Value>) {
    let mut reasons = Vec::new();
    // Causes name files and hosts; anybody may ask here, so they stay in the log.
    if let Err(error) = app.gate.store().last().await {
        tracing::warn!(?error, "not ready: the store does not respond");
        reasons.push("the store does not respond");
    }
    // What can be read may still be full, locked or read-only.
    reasons.extend(app.gate.unwritable().await);
    if let Some(wrong) = app.gate.anchor().and_then(Anchor::wrong) {
        tracing::warn!(wrong, "not ready: the ledger's head cannot be stored");
        reasons.push("the ledger is damaged, or its head cannot be stored");
    }
    app.policies.look_again();
    if let Err(error) = app.policies.at(None) {
        tracing::warn!(error, "not ready: the policy cannot be read");
        reasons.push("the policy cannot be read");
    }
    if *app.stopping.borrow() {
        reasons.push("the gateway is stopping");
    }
    let (status, word) = if reasons.is_empty() {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not_ready")
    };
    (status, Json(json!({ "status": word, "reasons": reasons })))
}

/// Prometheus metrics
#[utoipa::path(get, path = "/metrics",
    responses((status = 200, description = "in the text format", body = String)))]
pub(crate) async fn metrics(State(app): Reach) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let text = app.metrics.text(&app.gate).await;
    ([(header::CONTENT_TYPE, kind)], text)
}

/// The public keys of tokens
#[utoipa::path(get, path = "/.well-known/jwks.json",
    responses((status = 200, description = "a JWKS", body = Object)))]
pub(crate) async fn jwks(State(app): Reach) -> Answer<Value> {
    let keys = app.gate.public_keys().await.map_err(Problem::from)?;
    let keys: Vec<Value> = keys
        .iter()
        .map(countersign_core::token::PublicKey::jwk)
        .collect();
    Ok(Json(json!({ "keys": keys })))
}

/// This description
#[utoipa::path(get, path = "/openapi.json",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub(crate) async fn openapi(State(app): Reach) -> impl IntoResponse {
    let text = app.description.get().cloned().unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text)
}

/// Capabilities, as Hermes clients expect them
#[utoipa::path(get, path = "/v1/capabilities",
    responses((status = 200, description = "features and endpoints", body = Object)))]
pub(crate) async fn capabilities(State(app): Reach) -> Json<Capabilities> {
    let endpoint = |method: &str, path: &str| json!({ "method": method, "path": path });
    let has_model = app.agent.model().is_some();
    Json(Capabilities {
        object: "hermes.api_server.capabilities".to_owned(),
        skills: SkillView::of(&app.agent),
        platform: "countersign".to_owned(),
        model: model_name(&app),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        auth: json!({ "type": "bearer", "required": true }),
        features: json!({
            "chat_completions": has_model,
            "chat_completions_streaming": has_model,
            "run_submission": has_model,
            "run_status": true,
            "run_events_sse": true,
            "run_stop": true,
            "run_approval_response": true,
            "tool_progress_events": true,
            "approval_events": true,
            "clarifications": true,
            "session_resources": true,
            "session_continuity_header": "X-Session-Id",
            "cors": true,
        }),
        endpoints: json!({
            "health": endpoint("GET", "/health"),
            "models": endpoint("GET", "/v1/models"),
            "chat_completions": endpoint("POST", "/v1/chat/completions"),
            "runs": endpoint("POST", "/v1/runs"),
            "run_status": endpoint("GET", "/v1/runs/{run_id}"),
            "run_events": endpoint("GET", "/v1/runs/{run_id}/events"),
            "run_approval": endpoint("POST", "/v1/runs/{run_id}/approval"),
            "run_stop": endpoint("POST", "/v1/runs/{run_id}/stop"),
            "approval_resolve": endpoint("POST", "/v1/approvals/{approval_id}/resolve"),
            "clarification_answer": endpoint("POST", "/v1/clarifications/{id}/answer"),
            "sessions": endpoint("GET", "/v1/sessions"),
        }),
    })
}

/// Lists the models of the built-in agent, the usual one first
#[utoipa::path(get, path = "/v1/models",
    responses((status = 200, description = "a list in OpenAI's format", body = Object)))]
pub(crate) async fn models(State(app): Reach) -> Json<ModelList> {
    let mut names = app.agent.models();
    if names.is_empty() {
        names.push(model_name(&app));
    }
    let created = app.gate.clock().now().seconds();
    let data = names.into_iter().map(|name| ModelView {
        id: name.clone(),
        object: "model".to_owned(),
        created,
        owned_by: "countersign".to_owned(),
        permission: Vec::new(),
        root: name,
        parent: None,
    });
    Json(ModelList {
        object: "list".to_owned(),
        data: data.collect(),
    })
}

/// Returns what the built-in agent's model is called.
fn model_name(app: &App) -> String {
    app.agent
        .model()
        .unwrap_or_else(|| "countersign".to_owned())
}
