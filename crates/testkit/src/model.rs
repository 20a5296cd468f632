//! A scripted model: an OpenAI-compatible server on loopback with prepared answers.
//!
//! It runs in a thread of its own and ends when it is dropped. Each request to
//! `/v1/chat/completions` takes the next reply of the script, or the one a closure chooses. Questions of the second
//! reader are no part of the script: [`ModelServer::reads`] says how they are answered; else they get nonsense, so that
//! the model fails its examination and is not used for that.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::background::Background;

/// The server's name for its model.
pub const MODEL: &str = "scripted-1";

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    /// What is sent, piece by piece.
    pieces: Vec<String>,
    /// The final chunk; missing if the answer was cut off.
    ending: Vec<String>,
    end: End,
    pause: Duration,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Properly,
    /// The connection is cut.
    Cut,
    /// Nothing more comes until the server is told to go on.
    Held,
}

/// A tool call of a reply.
#[derive(Clone, Debug)]
pub struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    /// Returns a call of the tool `name`.
    pub fn new(id: &str, name: &str, arguments: &Value) -> Self {
        Self::written(id, name, &arguments.to_string())
    }

    /// Returns a call whose arguments are `arguments`, whether that is JSON or not.
    pub fn written(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }
}

impl Reply {
    /// Returns a reply that says `pieces`, one event each.
    pub fn text<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::calls(pieces, &[])
    }

    /// Returns a reply that says `pieces` and wants to use tools. The fragments of the calls are
    /// mixed as of a model that writes them in parallel.
    pub fn calls<'a>(pieces: impl IntoIterator<Item = &'a str>, calls: &[Call]) -> Self {
        let mut events = vec![delta(&json!({ "role": "assistant", "content": "" }))];
        events.extend(
            pieces
                .into_iter()
                .map(|piece| delta(&json!({ "content": piece }))),
        );
        for (index, call) in calls.iter().enumerate() {
            events.push(delta(&json!({ "tool_calls": [{
                "index": index, "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": "" },
            }] })));
        }
        let mut rest: Vec<(usize, &str)> = calls
            .iter()
            .map(|call| call.arguments.as_str())
            .enumerate()
            .collect();
        while !rest.is_empty() {
            rest.retain_mut(|(index, arguments)| {
                let middle = arguments
                    .char_indices()
                    .nth(7)
                    .map_or(arguments.len(), |(at, _)| at);
                let (now, later) = arguments.split_at(middle);
                *arguments = later;
                events.push(delta(&json!({ "tool_calls": [
                    { "index": *index, "function": { "arguments": now } },
                ] })));
                !later.is_empty()
            });
        }
        let reason = if calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        Self {
            ending: ending(reason, 10, 5),
            ..Self::raw("text/event-stream", events)
        }
    }

    /// Returns a reply with another status than success.
    pub fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            ..Self::raw("application/json", [body.to_owned()])
        }
    }

    /// Returns a reply that sends `pieces` as they are.
    pub fn raw(content_type: &str, pieces: impl IntoIterator<Item = String>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            pieces: pieces.into_iter().collect(),
            ending: Vec::new(),
            end: End::Properly,
            pause: Duration::ZERO,
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With these numbers of tokens, and an end as if a limit had cut it off.
    #[must_use]
    pub fn cut_off(mut self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        self.ending = ending("length", prompt_tokens, completion_tokens);
        self
    }

    /// With these numbers of tokens.
    #[must_use]
    pub fn usage(mut self, prompt_tokens: u64, completion_tokens: u64) -> Self {
        if let Some(place) = self.ending.get_mut(1) {
            *place = usage(prompt_tokens, completion_tokens);
        }
        self
    }

    /// The connection is cut after the last piece.
    #[must_use]
    pub fn then_breaks_off(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// After the last piece the server says that it failed.
    #[must_use]
    pub fn then_fails(mut self, error: &Value) -> Self {
        self.ending = vec![event(&json!({ "error": error, "choices": [] }))];
        self
    }

    /// After the last piece nothing comes until [`ModelServer::release`]; then the proper end.
    #[must_use]
    pub fn then_hangs(mut self) -> Self {
        self.end = End::Held;
        self
    }

    /// Waits before each piece.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

/// A running server.
#[derive(Debug)]
pub struct ModelServer {
    server: Background,
    shared: Arc<Shared>,
}

type Choose = dyn FnMut(&Value) -> Reply + Send;

type ChooseReading = dyn FnMut(&Asked) -> Reply + Send;

/// What a second reader is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The conversation and the message, as they were given.
    pub data: Value,
    /// What it answers if somebody is in crisis.
    pub hold: String,
    /// What it answers if nobody is.
    pub clear: String,
    /// The whole question, as it was sent.
    pub body: Value,
}

impl Asked {
    /// Returns the message it is asked about.
    pub fn message(&self) -> &str {
        let message = self.data.get("message").and_then(Value::as_str);
        message.unwrap_or_default()
    }

    /// Reads a question; `None` if it is none to a second reader.
    fn of(body: &Value) -> Option<Self> {
        let text = |index: usize| {
            let message = body.get("messages")?.get(index)?;
            message.get("content")?.as_str()
        };
        if !text(0)?.starts_with("You read messages for signs of a person in crisis.") {
            return None;
        }
        let (_, rest) = text(1)?.split_once("BEGIN UNTRUSTED DATA\n")?;
        let (data, words) = rest.split_once("\nEND UNTRUSTED DATA\n")?;
        let words = words.strip_prefix("Answer ")?.trim_end_matches('.');
        let (hold, clear) = words.split_once(" or ")?;
        Some(Self {
            data: serde_json::from_str(data).ok()?,
            hold: hold.to_owned(),
            clear: clear.to_owned(),
            body: body.clone(),
        })
    }
}

struct Shared {
    choose: Mutex<Box<Choose>>,
    choose_reading: Mutex<Box<ChooseReading>>,
    readings: Mutex<Vec<Asked>>,
    requests: Mutex<Vec<Received>>,
    count: watch::Sender<usize>,
    go_on: Semaphore,
}

struct Received {
    body: Value,
    authorization: Option<String>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl ModelServer {
    /// Starts a server that gives one reply of `script` to each request, and refuses what comes
    /// after them.
    pub fn start(script: Vec<Reply>) -> io::Result<Self> {
        let mut script = VecDeque::from(script);
        Self::answering(move |_| {
            let over = || Reply::status(400, r#"{"error":{"message":"the script is over"}}"#);
            script.pop_front().unwrap_or_else(over)
        })
    }

    /// Starts a server whose replies are chosen by the request.
    pub fn answering(choose: impl FnMut(&Value) -> Reply + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            choose: Mutex::new(Box::new(choose)),
            choose_reading: Mutex::new(Box::new(|_| Reply::text(["I read for nobody."]))),
            readings: Mutex::default(),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
            go_on: Semaphore::new(0),
        });
        let routes = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&shared));
        let server = Background::serve("scripted-model", routes)?;
        Ok(Self { server, shared })
    }

    /// Answers questions of the second reader as `choose` says from now on.
    pub fn reads(&self, choose: impl FnMut(&Asked) -> Reply + Send + 'static) {
        *locked(&self.shared.choose_reading) = Box::new(choose);
    }

    /// Returns what a second reader was asked so far.
    pub fn readings(&self) -> Vec<Asked> {
        locked(&self.shared.readings).clone()
    }

    /// Returns what stands before `/chat/completions`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.address)
    }

    /// Returns the bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        locked(&self.shared.requests)
            .iter()
            .map(|received| received.body.clone())
            .collect()
    }

    /// Returns the `Authorization` of each request so far.
    pub fn authorizations(&self) -> Vec<Option<String>> {
        locked(&self.shared.requests)
            .iter()
            .map(|received| received.authorization.clone())
            .collect()
    }

    /// Waits until there have been `count` requests.
    pub async fn asked(&self, count: usize) {
        let mut seen = self.shared.count.subscribe();
        // The sender lives as long as the server.
        let _seen = seen.wait_for(|seen| *seen >= count).await.is_ok();
    }

    /// Lets one reply that hangs go on.
    pub fn release(&self) {
        self.shared.go_on.add_permits(1);
    }
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({ "object": "list", "data": [{ "id": MODEL, "object": "model" }] }))
}

async fn complete(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    if let Some(asked) = Asked::of(&body) {
        let reply = locked(&shared.choose_reading)(&asked);
        locked(&shared.readings).push(asked);
        return answered(reply, shared);
    }
    let reply = locked(&shared.choose)(&body);
    let authorization = headers
        .get(header::AUTHORIZATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    locked(&shared.requests).push(Received {
        body,
        authorization,
    });
    shared.count.send_modify(|count| *count += 1);
    answered(reply, shared)
}

fn answered(reply: Reply, shared: Arc<Shared>) -> Response {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from_stream(sent(reply, shared)))
        .unwrap_or_else(|error| {
            let mut response = Response::new(Body::from(error.to_string()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        })
}

/// Sends a reply as it asks for.
fn sent(reply: Reply, shared: Arc<Shared>) -> impl stream::Stream<Item = io::Result<String>> {
    let steps: Vec<Step> = reply
        .pieces
        .into_iter()
        .map(Step::Send)
        .chain(match reply.end {
            End::Properly => None,
            End::Cut => Some(Step::Cut),
            End::Held => Some(Step::Hold),
        })
        .chain(reply.ending.into_iter().map(Step::Send))
        .collect();
    stream::unfold(
        (steps.into_iter(), shared),
        move |(mut steps, shared)| async move {
            loop {
                match steps.next()? {
                    Step::Send(piece) => {
                        // Even without a pause each piece travels alone.
                        tokio::task::yield_now().await;
                        tokio::time::sleep(reply.pause).await;
                        return Some((Ok(piece), (steps, shared)));
                    }
                    Step::Hold => {
                        if let Ok(permit) = shared.go_on.acquire().await {
                            permit.forget();
                        }
                    }
                    Step::Cut => {
                        // Lets what was sent arrive first.
                        tokio::task::yield_now().await;
                        let cut = io::Error::from(io::ErrorKind::ConnectionReset);
                        return Some((Err(cut), (Vec::new().into_iter(), shared)));
                    }
                }
            }
        },
    )
}

enum Step {
    Send(String),
    Hold,
    Cut,
}

fn delta(delta: &Value) -> String {
    event(&json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": null }],
    }))
}

fn ending(reason: &str, prompt_tokens: u64, completion_tokens: u64) -> Vec<String> {
    vec![
        event(&json!({
            "model": MODEL,
            "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
        })),
        usage(prompt_tokens, completion_tokens),
        "data: [DONE]\n\n".to_owned(),
    ]
}

fn usage(prompt_tokens: u64, completion_tokens: u64) -> String {
    event(&json!({ "model": MODEL, "choices": [], "usage": {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    } }))
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
