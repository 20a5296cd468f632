//! A scripted model on loopback: asks an agent for one tool call, then says it is done.
//!
//! It speaks the protocols of the agents it stands in for, so that a real agent can be run without a
//! real model: Anthropic Messages, OpenAI Responses and chat completions, Gemini. [`shapes`] reads
//! requests and writes answers; this file serves them and keeps what the agent reported.

mod shapes;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(super) use shapes::Call;
use shapes::{Body, Protocol, Turn};

/// The name of the model.
pub(super) const NAME: &str = "countersign-canary";
/// Longest request of an agent that is read, in bytes.
const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What the agent did with the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Requests for an answer of the model.
    pub(super) requests: usize,
    /// Whether it was asked for the call.
    pub(super) was_asked: bool,
    /// What it told the model about the call.
    pub(super) result: Option<String>,
}

/// A model that serves.
#[derive(Debug)]
pub(super) struct Model {
    address: SocketAddr,
    script: Arc<Script>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Script {
    /// The same call in the words of different versions of an agent. The first that the agent offers
    /// is asked for.
    calls: Vec<Call>,
    seen: Mutex<Seen>,
}

impl Model {
    /// Serves at a free port of this machine. The agent is asked for the first of `calls` whose tool
    /// it offers.
    pub(super) async fn serve(calls: Vec<Call>) -> std::io::Result<Self> {
        let script = Arc::new(Script {
            calls,
            seen: Mutex::default(),
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
            .with_state(Arc::clone(&script));
        let serving = tokio::spawn(async move {
            // It ends when the canary does, and nobody waits for it.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            script,
            serving,
        })
    }

    /// Returns where it serves, without a path.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what the agent did so far.
    pub(super) fn seen(&self) -> Seen {
        self.script.seen().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Script {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the turn that answers `request`.
    fn turn(&self, protocol: Protocol, request: &Value) -> Turn {
        let offered = protocol.offered(request);
        let results = protocol.results(request);
        let mut seen = self.seen();
        seen.requests += 1;
        if let Some(result) = results.into_iter().next_back() {
            seen.result = Some(result);
            return Turn::Done;
        }
        let wanted = |call: &&Call| offered.iter().any(|name| *name == call.tool);
        match self.calls.iter().find(wanted) {
            // A title or a summary is asked for without tools.
            None => Turn::Done,
            Some(call) => {
                seen.was_asked = true;
                Turn::Call(call.clone())
            }
        }
    }
}

async fn answer(
    State(script): State<Arc<Script>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    let path = uri.path();
    if method != Method::POST {
        return written(shapes::other(path));
    }
    let Some(protocol) = Protocol::of(path) else {
        return written(shapes::other(path));
    };
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let turn = script.turn(protocol, &request);
    written(protocol.answer(path, &request, &turn))
}

fn written(body: Body) -> Response {
    let (kind, text) = match body {
        Body::Json(value) => ("application/json", value.to_string()),
        Body::Events(text) => ("text/event-stream", text),
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn calls() -> Vec<Call> {
        vec![
            Call::new("shell_command", json!({ "command": "ls" })),
            Call::new("exec_command", json!({ "cmd": "ls" })),
        ]
    }

    async fn post(model: &Model, path: &str, body: Value) -> String {
        let http = countersign_channels::http().no_proxy().build().unwrap();
        let sent = http.post(format!("{}{path}", model.url())).json(&body);
        sent.send().await.unwrap().text().await.unwrap()
    }

    #[tokio::test]
    async fn an_agent_is_asked_for_one_call_it_offers_and_then_told_to_stop() {
        let model = Model::serve(calls()).await.unwrap();
        let path = "/v1/responses";
        let titled = post(&model, path, json!({ "input": "a title" })).await;
        assert!(titled.contains("done"), "{titled}");
        let tools = json!([{ "type": "function", "name": "exec_command" }]);
        let asked = post(&model, path, json!({ "input": [], "tools": tools })).await;
        assert!(asked.contains(r#""name":"exec_command""#), "{asked}");
        let result = json!({ "type": "function_call_output", "output": "denied" });
        let ended = post(&model, path, json!({ "input": [result], "tools": tools })).await;
        assert!(ended.contains("done"), "{ended}");
        let seen = Seen {
            requests: 3,
            was_asked: true,
            result: Some("denied".to_owned()),
        };
        assert_eq!(model.seen(), seen);
    }

    #[tokio::test]
    async fn other_requests_get_an_answer_that_hurts_nobody() {
        let model = Model::serve(calls()).await.unwrap();
        let http = countersign_channels::http().no_proxy().build().unwrap();
        let models = http.get(format!("{}/v1/models", model.url())).send().await;
        let models: Value = models.unwrap().json().await.unwrap();
        assert_eq!(models["data"][0]["id"], NAME);
        assert_eq!(post(&model, "/telemetry", json!({})).await, "{}");
        assert_eq!(model.seen(), Seen::default());
    }
}
