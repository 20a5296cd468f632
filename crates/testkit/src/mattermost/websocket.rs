//! The websocket: connections and numbered events.

use std::collections::VecDeque;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::error::{Answer, AppError, done, needed, object, text};
use super::routes::{Asked, Session};
use super::server::{Shared, locked};
use super::world::new_id;

/// How many events are kept for a connection that was lost.
const KEPT_EVENTS: usize = 128;
/// How long a connection may be silent about who it is.
const SILENCE: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Everybody who is connected, or was a moment ago.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    open: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    id: String,
    user_id: String,
    /// The number of the next event.
    seq: i64,
    kept: VecDeque<(i64, String)>,
    out: Option<mpsc::UnboundedSender<String>>,
}

/// Somebody writes something; the others of the channel see that.
pub(super) async fn typing(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let channel_id = needed(&body, "channel_id")?;
    if session.meant(&id) != session.user_id {
        return Err(AppError::forbidden());
    }
    let world = shared.world();
    world.may_write(&session.user_id, channel_id)?;
    let mut audience = world.audience(channel_id);
    audience.retain(|user| *user != session.user_id);
    let data = json!({ "parent_id": text(&body, "parent_id"), "user_id": session.user_id });
    let broadcast = json!({ "channel_id": channel_id });
    locked(&shared.sockets).tell(&audience, "typing", &data, &broadcast);
    done()
}

impl Sockets {
    /// Tells those of `audience` who are connected.
    pub(super) fn tell(&mut self, audience: &[String], event: &str, data: &Value, to: &Value) {
        for connection in &mut self.open {
            if audience.contains(&connection.user_id) {
                connection.tell(event, data, to);
            }
        }
    }

    /// Cuts everybody off, and forgets them.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// Returns how many connections of an account are open.
    pub(super) fn of(&self, user_id: &str) -> usize {
        let of_them =
            |connection: &&Connection| connection.user_id == user_id && connection.out.is_some();
        self.open.iter().filter(of_them).count()
    }

    /// Greets a connection: the one that was lost with what it missed, or a new one.
    fn greet(
        &mut self,
        user_id: &str,
        resume: Option<(&str, i64)>,
        version: &str,
    ) -> (String, mpsc::UnboundedReceiver<String>) {
        let (out, events) = mpsc::unbounded_channel();
        let lost = resume.and_then(|(id, next)| {
            let known = |connection: &&mut Connection| {
                let oldest = connection
                    .kept
                    .front()
                    .map_or(connection.seq, |(seq, _)| *seq);
                connection.id == id
                    && connection.user_id == user_id
                    && connection.out.is_none()
                    && (oldest..=connection.seq).contains(&next)
            };
            Some((self.open.iter_mut().find(known)?, next))
        });
        if let Some((connection, next)) = lost {
            let missed: Vec<String> = connection
                .kept
                .iter()
                .filter(|(seq, _)| *seq >= next)
                .map(|(_, text)| text.clone())
                .collect();
            for text in missed {
                // The other end is in this function.
                let _sent = out.send(text).is_ok();
            }
            connection.out = Some(out);
            return (connection.id.clone(), events);
        }
        let mut connection = Connection {
            id: new_id(),
            user_id: user_id.to_owned(),
            seq: 0,
            kept: VecDeque::new(),
            out: Some(out),
        };
        let id = connection.id.clone();
        let hello = json!({ "server_version": format!("{version}.{version}.fake.false"), "connection_id": id });
        connection.tell("hello", &hello, &json!({ "user_id": user_id }));
        self.open.push(connection);
        (id, events)
    }

    fn lost(&mut self, id: &str) {
        let found = self.open.iter_mut().find(|connection| connection.id == id);
        if let Some(connection) = found {
            connection.out = None;
        }
    }
}

impl Connection {
    fn tell(&mut self, event: &str, data: &Value, to: &Value) {
        let mut broadcast = json!({
            "omit_users": null, "user_id": "", "channel_id": "", "team_id": "",
            "connection_id": "", "omit_connection_id": "",
        });
        if let (Some(broadcast), Some(to)) = (broadcast.as_object_mut(), to.as_object()) {
            broadcast.extend(to.clone());
        }
        let said = json!({ "event": event, "data": data, "broadcast": broadcast, "seq": self.seq });
        let said = said.to_string();
        self.kept.push_back((self.seq, said.clone()));
        if self.kept.len() > KEPT_EVENTS {
            self.kept.pop_front();
        }
        self.seq += 1;
        if let Some(out) = &self.out
            && out.send(said).is_err()
        {
            self.out = None;
        }
    }
}

/// Turns a request into a websocket. Who it is may be said in the header or in the first message.
pub(super) async fn upgrade(
    State(shared): State<Shared>,
    Query(asked): Asked,
    headers: HeaderMap,
    mut request: Request,
) -> Answer {
    let says = |name: header::HeaderName, wanted: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.to_ascii_lowercase().contains(wanted))
    };
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let asks = says(header::UPGRADE, "websocket") && says(header::CONNECTION, "upgrade");
    let Some(key) = key.filter(|_| asks) else {
        return Err(AppError::bad(
            "api.web_socket.connect.upgrade.app_error",
            "URL Blocked because of CORS.",
        ));
    };
    let accept = derive_accept_key(key.as_bytes());
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.split_once(' '))
        .map(|(_, token)| token.trim().to_owned());
    let session = token.and_then(|token| Session::of(&shared, &token));
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let socket =
                WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
            // Whoever goes away ends their connection and nothing else.
            let _ended = talk(&shared, socket, session, &asked).await;
        }
    });
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::UPGRADE, "websocket")
        .header(header::CONNECTION, "Upgrade")
        .header(header::SEC_WEBSOCKET_ACCEPT, accept)
        .body(Body::empty())
        .map_err(|error| AppError::bad("api.web_socket", error.to_string()))
}

async fn talk(
    shared: &Shared,
    mut socket: Socket,
    session: Option<Session>,
    asked: &BTreeMap<String, String>,
) -> Option<()> {
    let session = match session {
        Some(session) => session,
        None => challenged(shared, &mut socket).await?,
    };
    let resume = asked
        .get("connection_id")
        .zip(asked.get("sequence_number"))
        .and_then(|(id, seq)| Some((id.as_str(), seq.parse().ok()?)));
    let version = shared.settings().version.number();
    let (id, mut events) = locked(&shared.sockets).greet(&session.user_id, resume, version);
    loop {
        tokio::select! {
            event = events.recv() => {
                // Without a sender the server is stopping.
                let sent = match event {
                    Some(event) => socket.send(Message::text(event)).await,
                    None => break,
                };
                if sent.is_err() {
                    break;
                }
            }
            said = socket.next() => match said {
                Some(Ok(Message::Text(said))) => answer(&mut socket, said.as_str()).await,
                Some(Ok(Message::Ping(bytes))) => pong(&mut socket, bytes).await,
                Some(Ok(Message::Binary(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            },
        }
    }
    locked(&shared.sockets).lost(&id);
    Some(())
}

/// Waits for the message that says who it is.
async fn challenged(shared: &Shared, socket: &mut Socket) -> Option<Session> {
    let first = tokio::time::timeout(SILENCE, socket.next()).await.ok()??;
    let Ok(Message::Text(first)) = first else {
        return None;
    };
    let said: Value = serde_json::from_str(first.as_str()).ok()?;
    let seq = said.get("seq")?.clone();
    let is_challenge =
        said.get("action").and_then(Value::as_str) == Some("authentication_challenge");
    let token = said.pointer("/data/token").and_then(Value::as_str);
    let session = token
        .filter(|_| is_challenge)
        .and_then(|token| Session::of(shared, token));
    let reply = match &session {
        Some(_) => json!({ "status": "OK", "seq_reply": seq }),
        None => json!({ "status": "FAIL", "seq_reply": seq, "error": {
            "id": "api.web_socket_router.not_authenticated.app_error",
            "message": "WebSocket connection is not authenticated. Please log in and try again.",
            "status_code": 401,
        } }),
    };
    socket.send(Message::text(reply.to_string())).await.ok()?;
    session
}

/// Answers what a client asks through the socket; only pings are understood.
async fn answer(socket: &mut Socket, said: &str) {
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    let seq = said.get("seq").cloned().unwrap_or_default();
    let reply = match said.get("action").and_then(Value::as_str) {
        Some("ping") => json!({ "status": "OK", "seq_reply": seq, "data": { "text": "pong" } }),
        _ => json!({ "status": "FAIL", "seq_reply": seq, "error": {
            "id": "api.web_socket_router.bad_action.app_error", "message": "Unknown WebSocket action.",
            "status_code": 500,
        } }),
    };
    // A socket that cannot be written to is found out by its next event.
    let _sent = socket.send(Message::text(reply.to_string())).await.is_ok();
}

async fn pong(socket: &mut Socket, bytes: Bytes) {
    let _sent = socket.send(Message::Pong(bytes)).await.is_ok();
}
