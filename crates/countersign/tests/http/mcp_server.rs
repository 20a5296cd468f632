//! A small MCP server over HTTP for tests: it keeps what it is sent and answers with fixed bytes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::PATIENCE;

/// What a stream of the server says, to the byte.
pub(crate) const STREAM: &str = ": hello\r\n\r\nid: 7\nretry: 250\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata:  \"method\":\"notifications/message\",\"params\":{\"x\":1.0}}\n\n: between\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":{\"odd\": 1e2}}\n\n";

/// A request as the server got it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    /// Returns the message in it.
    pub(crate) fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Default)]
struct Inside {
    seen: Mutex<Vec<Seen>>,
    released: Notify,
}

/// The server, until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    inside: Arc<Inside>,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let inside = Arc::new(Inside::default());
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&inside));
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            url,
            inside,
            _runtime: runtime,
        }
    }

    /// Returns everything it was sent.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inside.seen.lock().unwrap().clone()
    }

    /// Returns the calls of tools it was sent.
    pub(crate) fn calls(&self) -> Vec<Seen> {
        let mut seen = self.seen();
        seen.retain(|it| it.message()["method"] == "tools/call");
        seen
    }

    /// Waits until it was sent `count` requests with the method.
    pub(crate) fn wait_for(&self, method: &Method, count: usize) {
        let since = Instant::now();
        while self.seen().iter().filter(|it| it.method == *method).count() < count {
            assert!(since.elapsed() < PATIENCE, "{:?}", self.seen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Lets the calls go on that wait in the tool `read_slowly`.
    pub(crate) fn release(&self) {
        self.inside.released.notify_one();
    }
}

async fn answer(
    State(inside): State<Arc<Inside>>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let seen = Seen {
        method: method.clone(),
        headers: headers.clone(),
        body,
    };
    let message = seen.message();
    inside.seen.lock().unwrap().push(seen);
    let id = message["id"].clone();
    if method == Method::DELETE {
        return plain(StatusCode::NO_CONTENT, "");
    }
    if method == Method::GET {
        return match headers.get("last-event-id") {
            Some(last) if last == "9" => events(&format!(
                "id: 10\ndata: {}\n\n",
                json!({ "jsonrpc": "2.0", "id": "later", "result": { "resumed": true } })
            )),
            Some(_) => events(STREAM),
            None => plain(StatusCode::METHOD_NOT_ALLOWED, ""),
        };
    }
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "fixture", "version": "0" } });
            let mut response = result_of(&id, &result);
            let session = "session-of-the-server".parse().unwrap();
            response.headers_mut().insert("mcp-session-id", session);
            response
        }
        "tools/list" => result_of(&id, &json!({ "tools": tools() })),
        "tools/call" => call(&inside, &id, &message["params"]).await,
        "stream" => events(STREAM),
        "breaks" => events("id: 9\nretry: 1\ndata:\n\n"),
        "moved" => {
            let mut response = plain(StatusCode::TEMPORARY_REDIRECT, "");
            let elsewhere = "http://127.0.0.1:9/".parse().unwrap();
            response.headers_mut().insert("location", elsewhere);
            response
        }
        "sign in" => plain(StatusCode::UNAUTHORIZED, ""),
        "cookie" => {
            let mut response = result_of(&id, &json!({}));
            let cookie = "countersign_session=evil".parse().unwrap();
            response.headers_mut().insert("set-cookie", cookie);
            response
                .headers_mut()
                .insert("x-of-server", "kept".parse().unwrap());
            response
        }
        "big" => result_of(
            &id,
            &json!({ "length": message["params"]["text"].as_str().unwrap().len(),
            "text": message["params"]["text"] }),
        ),
        "unknown" => {
            let error =
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no" } });
            let mut response = plain(StatusCode::NOT_FOUND, &error.to_string());
            let kind = "application/json".parse().unwrap();
            response.headers_mut().insert("content-type", kind);
            response
        }
        _ => plain(StatusCode::ACCEPTED, ""),
    }
}

fn tools() -> Value {
    let schema = json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
    let tool = |name: &str| json!({ "name": name, "description": "of the fixture", "inputSchema": schema });
    json!([
        tool("read_note"),
        tool("read_slowly"),
        tool("send_note"),
        tool("send_stream"),
        { "name": "frobnicate", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }
    ])
}

async fn call(inside: &Inside, id: &Value, params: &Value) -> Response<Body> {
    let said = json!({ "content": [{ "type": "text", "text": params["arguments"] }] });
    match params["name"].as_str().unwrap_or_default() {
        "read_slowly" => {
            inside.released.notified().await;
            result_of(id, &said)
        }
        "send_stream" => {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": said });
            events(&format!(": of the server\n\nid: 3\ndata: {answer}\n\n"))
        }
        _ => result_of(id, &said),
    }
}

fn result_of(id: &Value, result: &Value) -> Response<Body> {
    let text = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let mut response = plain(StatusCode::OK, &text);
    let kind = "application/json".parse().unwrap();
    response.headers_mut().insert("content-type", kind);
    response
}

fn events(text: &str) -> Response<Body> {
    let mut response = plain(StatusCode::OK, text);
    let kind = "text/event-stream".parse().unwrap();
    response.headers_mut().insert("content-type", kind);
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    response
}
