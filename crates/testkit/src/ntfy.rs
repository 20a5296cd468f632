//! A test server for notifications that takes what ntfy takes, and nothing else.
//!
//! Stricter than the original: a field it does not know is an error, and so is a button, because a
//! notification must not be able to answer.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post, put};
use serde_json::{Value, json};

use crate::background::Background;

/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);
/// The fields of a message that are used.
const FIELDS: &[&str] = &[
    "topic",
    "title",
    "message",
    "priority",
    "click",
    "sequence_id",
];

/// What arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A message was published.
    Published(Value),
    /// The notification of this topic and this name was cleared.
    Cleared(String, String),
}

#[derive(Debug, Default)]
struct Shared {
    token: String,
    heard: Mutex<Vec<Heard>>,
    refused: Mutex<Vec<String>>,
    arrived: Condvar,
}

/// A running server.
#[derive(Debug)]
pub struct NtfyServer {
    server: Background,
    shared: Arc<Shared>,
}

impl NtfyServer {
    /// Starts one that knows its publisher by `token`.
    pub fn start(token: &str) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            token: token.to_owned(),
            ..Shared::default()
        });
        let routes = Router::new()
            .route("/", post(publish))
            .route("/{topic}/{sequence}/clear", put(clear))
            .route("/v1/health", get(|| async { r#"{"healthy":true}"# }))
            .with_state(Arc::clone(&shared));
        let server = Background::serve("ntfy", routes)?;
        Ok(Self { server, shared })
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Returns why requests were refused.
    pub fn refused(&self) -> Vec<String> {
        locked(&self.shared.refused).clone()
    }

    /// Waits until so much has arrived; `None` if it never does.
    pub fn until(&self, count: usize) -> Option<Vec<Heard>> {
        let heard = locked(&self.shared.heard);
        let arrived = &self.shared.arrived;
        let waited = arrived.wait_timeout_while(heard, PATIENCE, |it| it.len() < count);
        let (heard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (heard.len() >= count).then(|| heard.clone())
    }
}

async fn publish(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let message = checked(&shared, &headers, &body);
    shared.answer(message.map(Heard::Published))
}

async fn clear(
    State(shared): State<Arc<Shared>>,
    Path((topic, sequence)): Path<(String, String)>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    let known = known(&shared, &headers);
    shared.answer(known.map(|()| Heard::Cleared(topic, sequence)))
}

fn known(shared: &Shared, headers: &HeaderMap) -> Result<(), (u16, &'static str)> {
    let wanted = format!("Bearer {}", shared.token);
    let given = headers.get("authorization");
    if given.is_some_and(|it| it.as_bytes() == wanted.as_bytes()) {
        Ok(())
    } else {
        Err((403, "the token is missing or wrong"))
    }
}

fn checked(
    shared: &Shared,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Value, (u16, &'static str)> {
    known(shared, headers)?;
    for name in [
        "title",
        "x-title",
        "priority",
        "click",
        "actions",
        "x-actions",
    ] {
        if headers.contains_key(name) {
            return Err((400, "a message in JSON has no headers"));
        }
    }
    let message: Value =
        serde_json::from_slice(body).map_err(|_| (400, "the message is not JSON"))?;
    let fields = message.as_object().ok_or((400, "it is not an object"))?;
    if fields.keys().any(|name| !FIELDS.contains(&name.as_str())) {
        return Err((400, "it has a field that is not known here, or buttons"));
    }
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_name = |it: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=64).contains(&it.len()) && it.bytes().all(is_letter)
    };
    if !is_name(text("topic")) || !is_name(text("sequence_id")) {
        return Err((400, "the topic or the sequence is no name"));
    }
    if !(1..=5).contains(&fields.get("priority").and_then(Value::as_i64).unwrap_or(3)) {
        return Err((400, "the priority is not 1 to 5"));
    }
    Ok(message)
}

impl Shared {
    fn answer(&self, heard: Result<Heard, (u16, &'static str)>) -> (StatusCode, String) {
        match heard {
            Ok(heard) => {
                locked(&self.heard).push(heard);
                self.arrived.notify_all();
                (StatusCode::OK, json!({ "id": "x" }).to_string())
            }
            Err((status, why)) => {
                locked(&self.refused).push(why.to_owned());
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                (status, json!({ "error": why }).to_string())
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
