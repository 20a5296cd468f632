//! Socket Mode: tickets that open one connection each, envelopes and their acknowledgements.

use std::collections::{HashMap, HashSet};

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::mpsc as plain;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::server::{Shared, locked};
use super::world::APP;

/// The connections of the app.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    tickets: HashSet<String>,
    open: Vec<(u64, mpsc::UnboundedSender<String>)>,
    waiting: HashMap<String, plain::Sender<Value>>,
    counter: u64,
}

impl Sockets {
    /// Issues a ticket for one connection.
    pub(super) fn ticket(&mut self, ticket: String) -> String {
        self.tickets.insert(ticket.clone());
        ticket
    }

    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.waiting.clear();
        self.tickets.clear();
    }

    /// Says that every connection is about to end, and gives no more to those.
    pub(super) fn refresh(&mut self) {
        let farewell = json!({ "type": "disconnect", "reason": "refresh_requested" }).to_string();
        for (_, out) in self.open.drain(..) {
            // Who is gone already needs no farewell.
            let _sent = out.send(farewell.clone()).is_ok();
        }
    }

    /// Gives an envelope to one connection; `None` if there is none. What is acknowledged comes out
    /// of the receiver.
    pub(super) fn send(
        &mut self,
        kind: &str,
        payload: &Value,
        accepts_response: bool,
    ) -> Option<plain::Receiver<Value>> {
        self.counter += 1;
        let id = format!("envelope-{}", self.counter);
        let envelope = json!({
            "envelope_id": id, "type": kind, "payload": payload,
            "accepts_response_payload": accepts_response,
        });
        let (out, acknowledged) = plain::channel();
        while !self.open.is_empty() {
            let count = u64::try_from(self.open.len()).unwrap_or(1);
            let turn = usize::try_from(self.counter % count).unwrap_or(0);
            let sent = self.open.get(turn)?.1.send(envelope.to_string());
            if sent.is_ok() {
                self.waiting.insert(id, out);
                return Some(acknowledged);
            }
            self.open.remove(turn);
        }
        None
    }

    fn acknowledge(&mut self, said: &Value) {
        let id = said.get("envelope_id").and_then(Value::as_str);
        let Some(waiting) = id.and_then(|id| self.waiting.remove(id)) else {
            return;
        };
        let payload = said.get("payload").cloned().unwrap_or_else(|| json!({}));
        // Who does not wait any more has given up.
        let _sent = waiting.send(payload).is_ok();
    }
}

/// Turns a request with a good ticket into a connection.
pub(super) async fn upgrade(
    State(shared): State<Shared>,
    Query(asked): Query<HashMap<String, String>>,
    headers: HeaderMap,
    mut request: Request,
) -> Response {
    let ticket = asked.get("ticket").map_or("", String::as_str);
    let is_good = locked(&shared.sockets).tickets.remove(ticket);
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_good);
    let Some(key) = key else {
        return (StatusCode::FORBIDDEN, "invalid ticket").into_response();
    };
    let accept = derive_accept_key(key.as_bytes());
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let socket =
                WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
            talk(&shared, socket).await;
        }
    });
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::UPGRADE, "websocket")
        .header(header::CONNECTION, "Upgrade")
        .header(header::SEC_WEBSOCKET_ACCEPT, accept)
        .body(Body::empty());
    response.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn talk(shared: &Shared, mut socket: WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>) {
    let (out, mut frames) = mpsc::unbounded_channel();
    let settings = shared.settings();
    let app = settings.other_app.unwrap_or_else(|| APP.to_owned());
    let connections = {
        let mut sockets = locked(&shared.sockets);
        sockets.counter += 1;
        let id = sockets.counter;
        sockets.open.push((id, out));
        let open = u32::try_from(sockets.open.len()).unwrap_or(u32::MAX);
        (id, open + settings.other_connections)
    };
    let hello = json!({
        "type": "hello", "num_connections": connections.1, "connection_info": { "app_id": app },
        "debug_info": { "host": "strict", "approximate_connection_time": 18060 },
    });
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    shared.stir();
    loop {
        tokio::select! {
            frame = frames.recv() => {
                // Without a sender it was told to go; what it still says is heard.
                let Some(frame) = frame else {
                    break;
                };
                if socket.send(Message::text(frame)).await.is_err() {
                    break;
                }
            }
            said = socket.next() => match said {
                Some(Ok(Message::Text(said))) => {
                    let said: Value = serde_json::from_str(said.as_str()).unwrap_or_default();
                    locked(&shared.sockets).acknowledge(&said);
                    shared.stir();
                }
                Some(Ok(Message::Ping(bytes))) => {
                    let _sent = socket.send(Message::Pong(bytes)).await.is_ok();
                }
                Some(Ok(Message::Binary(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            },
        }
    }
    locked(&shared.sockets)
        .open
        .retain(|(id, _)| *id != connections.0);
    // Slack closes what it said farewell to.
    let _closed = socket.close(None).await.is_ok();
    shared.stir();
}
