//! The gateway: hello, heartbeats, identify and resume, events with their sequence, and closing.

use std::collections::HashMap;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Packet;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::server::{Shared, TOKEN, gateway_url, locked};
use super::world::{APPLICATION, BOT};

/// Events of a session that are kept.
const KEPT_MAX: usize = 10_000;
/// Intents without which events are not sent.
const GUILD_MESSAGES: u64 = 1 << 9;
const DIRECT_MESSAGES: u64 = 1 << 12;
const MESSAGE_CONTENT: u64 = 1 << 15;

type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// What a connection is told to do.
#[derive(Clone, Debug)]
enum Out {
    Frame(Value),
    Close(u16),
    /// Ends without a word.
    Cut,
}

#[derive(Debug)]
struct Session {
    intents: u64,
    /// What was sent, by number.
    events: Vec<(u64, Value)>,
    number: u64,
    out: Option<mpsc::UnboundedSender<Out>>,
}

/// The sessions of the application.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: HashMap<String, Session>,
    begun: u64,
    resumed: u64,
}

impl Sessions {
    /// Every connection has ended; the sessions can be resumed.
    pub(super) fn all_closed(&mut self) {
        for session in self.all.values_mut() {
            session.out = None;
        }
    }

    pub(super) fn open(&self) -> usize {
        self.all.values().filter(|it| it.out.is_some()).count()
    }

    /// Returns how many sessions began, and how often one was resumed.
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.begun, self.resumed)
    }

    /// Forgets every session, so that none can be resumed.
    pub(super) fn forget(&mut self) {
        self.all.clear();
    }

    fn tell(&mut self, out: &Out) {
        for session in self.all.values_mut() {
            if let Some(way) = &session.out {
                // Who is gone already is told nothing.
                let _sent = way.send(out.clone()).is_ok();
            }
        }
    }

    pub(super) fn cut(&mut self) {
        self.tell(&Out::Cut);
        self.all_closed();
    }

    pub(super) fn close(&mut self, code: u16) {
        self.tell(&Out::Close(code));
        self.all_closed();
    }

    pub(super) fn frame(&mut self, frame: &Value) {
        self.tell(&Out::Frame(frame.clone()));
    }

    /// Sends an event, or keeps it until the session is resumed. Whether there is a session.
    fn dispatch(&mut self, name: &str, content: &Value) -> bool {
        let mut is_told = false;
        for session in self.all.values_mut() {
            let Some(content) = seen(name, content, session.intents) else {
                continue;
            };
            session.number += 1;
            let event = json!({ "op": 0, "s": session.number, "t": name, "d": content });
            session.events.push((session.number, event.clone()));
            if session.events.len() > KEPT_MAX {
                session.events.remove(0);
            }
            is_told = true;
            if let Some(out) = &session.out
                && out.send(Out::Frame(event)).is_err()
            {
                session.out = None;
            }
        }
        is_told
    }
}

/// Sends an event to every session that may hear it.
pub(super) fn tell(shared: &Shared, name: &str, content: &Value) -> bool {
    let mut content = content.clone();
    if name.starts_with("MESSAGE_")
        && let Some(map) = content.as_object_mut()
    {
        let place = map
            .get("channel_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let world = shared.world();
        let guild = world.places.get(place).and_then(|it| it.guild.clone());
        match guild {
            Some(guild) => map.insert("guild_id".to_owned(), json!(guild)),
            None => map.remove("guild_id"),
        };
    }
    let is_told = locked(&shared.sessions).dispatch(name, &content);
    shared.stir();
    is_told
}

/// Returns an event as a session with these intents sees it.
fn seen(name: &str, content: &Value, intents: u64) -> Option<Value> {
    if !name.starts_with("MESSAGE_") {
        return Some(content.clone());
    }
    let is_direct = content.get("guild_id").is_none();
    let needed = if is_direct {
        DIRECT_MESSAGES
    } else {
        GUILD_MESSAGES
    };
    if intents & needed == 0 {
        return None;
    }
    let mentions = content.get("mentions").and_then(Value::as_array);
    let is_named = mentions.is_some_and(|it| it.iter().any(|user| user["id"] == BOT));
    let author = content.pointer("/author/id").and_then(Value::as_str);
    let is_own = author == Some(BOT);
    let mut content = content.clone();
    if !is_direct && !is_named && !is_own && intents & MESSAGE_CONTENT == 0 {
        for (key, nothing) in [
            ("content", json!("")),
            ("embeds", json!([])),
            ("attachments", json!([])),
            ("components", json!([])),
        ] {
            if let Some(part) = content.get_mut(key) {
                *part = nothing;
            }
        }
    }
    Some(content)
}

/// Turns a request into a connection.
pub(super) async fn upgrade(
    State(shared): State<Shared>,
    Query(asked): Query<HashMap<String, String>>,
    headers: HeaderMap,
    mut request: Request,
) -> Response {
    let Some(key) = headers.get(header::SEC_WEBSOCKET_KEY) else {
        return (StatusCode::BAD_REQUEST, "no websocket").into_response();
    };
    let is = |name: &str, value: &str| asked.get(name).is_some_and(|it| it == value);
    let is_known = is("v", "10") && is("encoding", "json");
    let accept = derive_accept_key(key.as_bytes());
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let socket =
                WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
            let connection = Connection {
                shared,
                socket,
                session: None,
            };
            connection.run(is_known).await;
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

struct Connection {
    shared: Shared,
    socket: Socket,
    session: Option<String>,
}

impl Connection {
    async fn run(mut self, is_known: bool) {
        let (out, frames) = mpsc::unbounded_channel();
        let ended = if is_known {
            self.talk(&out, frames).await
        } else {
            Some(4012)
        };
        drop(out);
        if let Some(code) = ended {
            let close = CloseFrame {
                code: code.into(),
                reason: "".into(),
            };
            let _closed = self.socket.close(Some(close)).await.is_ok();
        }
        self.shared.stir();
    }

    /// Talks until the connection ends; returns with which number it is closed.
    async fn talk(
        &mut self,
        out: &mpsc::UnboundedSender<Out>,
        mut frames: mpsc::UnboundedReceiver<Out>,
    ) -> Option<u16> {
        let every = self.shared.settings().heartbeat;
        let millis = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
        let hello =
            json!({ "op": 10, "d": { "heartbeat_interval": millis }, "s": null, "t": null });
        self.send(&hello).await;
        let mut alive = Instant::now();
        loop {
            tokio::select! {
                frame = frames.recv() => match frame? {
                    Out::Frame(frame) => self.send(&frame).await,
                    Out::Close(code) => return Some(code),
                    Out::Cut => return None,
                },
                () = tokio::time::sleep_until(alive + every * 2) => return Some(4000),
                said = self.socket.next() => {
                    let text = match said {
                        Some(Ok(Packet::Text(text))) => text,
                        Some(Ok(Packet::Close(close))) => {
                            self.left(close.map(|it| it.code.into()));
                            return None;
                        }
                        Some(Err(_)) | None => {
                            self.left(None);
                            return None;
                        }
                        Some(Ok(Packet::Ping(_) | Packet::Pong(_) | Packet::Binary(_) | Packet::Frame(_))) => continue,
                    };
                    let Ok(said) = serde_json::from_str::<Value>(text.as_str()) else {
                        return Some(4002);
                    };
                    if said.get("op").and_then(Value::as_u64) == Some(1) {
                        alive = Instant::now();
                    }
                    if let Err(code) = self.said(&said, out).await {
                        return Some(code);
                    }
                }
            }
        }
    }

    async fn send(&mut self, frame: &Value) {
        // Who is gone is noticed by what they do not say any more.
        let _sent = self
            .socket
            .send(Packet::text(frame.to_string()))
            .await
            .is_ok();
    }

    /// The client has gone; what is closed for good cannot be resumed.
    fn left(&self, code: Option<u16>) {
        let Some(id) = &self.session else {
            return;
        };
        let mut sessions = locked(&self.shared.sessions);
        if matches!(code, Some(1000 | 1001)) {
            sessions.all.remove(id);
        } else if let Some(session) = sessions.all.get_mut(id) {
            session.out = None;
        }
    }

    async fn said(&mut self, said: &Value, out: &mpsc::UnboundedSender<Out>) -> Result<(), u16> {
        let data = &said["d"];
        match (said["op"].as_u64(), &self.session) {
            (Some(1), _) => {
                if !data.is_null() && !data.is_u64() {
                    return Err(4007);
                }
                if self.shared.settings().answers_heartbeats {
                    self.send(&json!({ "op": 11 })).await;
                }
                Ok(())
            }
            (Some(2 | 6), Some(_)) => Err(4005),
            (Some(2), None) => self.identify(data, out).await,
            (Some(6), None) => self.resume(data, out).await,
            (Some(3 | 4 | 8), Some(_)) => Ok(()),
            (Some(3 | 4 | 8), None) => Err(4003),
            (Some(_) | None, _) => Err(4001),
        }
    }

    async fn identify(
        &mut self,
        data: &Value,
        out: &mpsc::UnboundedSender<Out>,
    ) -> Result<(), u16> {
        self.check_token(data)?;
        let settings = self.shared.settings();
        let intents = data["intents"].as_u64().ok_or(4013_u16)?;
        if !data["properties"].is_object() {
            return Err(4002);
        }
        if intents & settings.refused_intents != 0 {
            return Err(4014);
        }
        let left = settings.starts_left.checked_sub(1).ok_or(4008_u16)?;
        locked(&self.shared.settings).starts_left = left;
        let (id, user, guilds) = {
            let mut world = self.shared.world();
            let guilds: Vec<Value> = world
                .guilds
                .keys()
                .map(|id| json!({ "id": id, "unavailable": true }))
                .collect();
            (format!("session{}", world.id()), world.account(BOT), guilds)
        };
        let ready = json!({ "op": 0, "s": 1, "t": "READY", "d": {
            "v": 10, "user": user, "guilds": guilds, "session_id": id,
            "resume_gateway_url": gateway_url(&self.shared.url),
            "application": { "id": APPLICATION, "flags": 0 },
        } });
        self.send(&ready).await;
        let session = Session {
            intents,
            events: vec![(1, ready)],
            number: 1,
            out: Some(out.clone()),
        };
        {
            let mut sessions = locked(&self.shared.sessions);
            sessions.all.insert(id.clone(), session);
            sessions.begun += 1;
        }
        self.session = Some(id);
        self.shared.stir();
        Ok(())
    }

    async fn resume(&mut self, data: &Value, out: &mpsc::UnboundedSender<Out>) -> Result<(), u16> {
        self.check_token(data)?;
        let id = data["session_id"].as_str().unwrap_or_default().to_owned();
        let number = data["seq"].as_u64().ok_or(4007_u16)?;
        let missed = {
            let mut sessions = locked(&self.shared.sessions);
            match sessions.all.get_mut(&id) {
                None => None,
                Some(session) if number > session.number => return Err(4007),
                Some(session) => {
                    let missed = session.events.iter().filter(|(it, _)| *it > number);
                    let missed: Vec<Value> = missed.map(|(_, event)| event.clone()).collect();
                    // In order: what comes from now on waits behind what was missed.
                    for event in missed {
                        let _sent = out.send(Out::Frame(event)).is_ok();
                    }
                    session.number += 1;
                    let resumed = json!({ "op": 0, "s": session.number, "t": "RESUMED", "d": {} });
                    session.events.push((session.number, resumed.clone()));
                    let _sent = out.send(Out::Frame(resumed)).is_ok();
                    session.out = Some(out.clone());
                    sessions.resumed += 1;
                    Some(())
                }
            }
        };
        if missed.is_none() {
            self.send(&json!({ "op": 9, "d": false })).await;
            return Ok(());
        }
        self.session = Some(id);
        self.shared.stir();
        Ok(())
    }

    fn check_token(&self, data: &Value) -> Result<(), u16> {
        let token = data["token"].as_str().unwrap_or_default();
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        if token == TOKEN && !self.shared.settings().is_reset {
            Ok(())
        } else {
            Err(4004)
        }
    }
}
