//! The gateway connection: presses, commands and messages come by a connection that we open.
//!
//! A connection that breaks off is resumed: Discord sends again what we have not confirmed by the number of
//! the last event. The session and that number are kept by the gate, so a restarted gateway resumes, too.
//! A session that Discord has forgotten begins anew, and what happened meanwhile is lost to us.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt as _, StreamExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message as Packet;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::settings::Arrival;
use super::wire::{Deleted, Frame, GatewayBot, Interaction, Ready, Said};
use super::{Discord, locked};
use crate::chat::Heard;

/// First pause before a connection is opened again; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// Pause before a session begins anew that Discord has ended, as Discord asks for.
const ANEW_AFTER: Duration = Duration::from_secs(1);
/// How long a connection may take to open and to say hello.
const OPEN_WITHIN: Duration = Duration::from_secs(15);
/// Largest frame that is read, in bytes.
const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Events that may wait to be told.
const EVENTS_MAX: usize = 1024;
/// Messages in servers and in conversations with the bot, and their deletion. Neither is privileged.
const INTENTS: u32 = (1 << 9) | (1 << 12);

/// What frames are for.
mod op {
    pub(super) const DISPATCH: u8 = 0;
    pub(super) const HEARTBEAT: u8 = 1;
    pub(super) const IDENTIFY: u8 = 2;
    pub(super) const RESUME: u8 = 6;
    pub(super) const RECONNECT: u8 = 7;
    pub(super) const INVALID_SESSION: u8 = 9;
    pub(super) const HELLO: u8 = 10;
    pub(super) const HEARTBEAT_ACK: u8 = 11;
}

/// Reasons to close a connection that no new one will take away, and what to do about them.
const FATAL: [(u16, &str); 5] = [
    (4004, "the token is refused"),
    (4010, "the shard is invalid"),
    (4011, "it wants several connections for so many servers"),
    (4013, "the intents are invalid"),
    (4014, "an intent is not allowed for this application"),
];
/// Reasons to close a connection after which a session cannot be resumed.
const FORGOTTEN: [u16; 5] = [1000, 1001, 4003, 4007, 4009];

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A session that can be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Session {
    id: String,
    url: String,
    /// The number of the last event.
    number: u64,
}

impl Session {
    /// Returns it as it is kept.
    fn written(&self) -> String {
        format!("{} {} {}", self.number, self.id, self.url)
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ' ');
        let number = parts.next()?.parse().ok()?;
        Some(Self {
            number,
            id: parts.next()?.to_owned(),
            url: parts.next()?.to_owned(),
        })
    }
}

/// Why a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// The session can be resumed.
    Broken(&'static str),
    /// The session is over.
    Over,
    /// It will not work before somebody changes something.
    Refused(&'static str),
}

/// An event in the order in which it came.
struct Event {
    name: String,
    content: Value,
    /// The session as it is with this event.
    session: Session,
}

impl Discord {
    /// Keeps a connection open and tells what comes by it, for as long as it is polled.
    pub(super) async fn listen(&self, cursor: Option<String>, heard: mpsc::Sender<Heard>) {
        let (events, told) = mpsc::channel(EVENTS_MAX);
        let connecting = self.keep_connected(cursor, &events, &heard);
        tokio::select! {
            () = connecting => {}
            () = self.tell_events(told, &heard) => {}
        }
    }

    async fn keep_connected(
        &self,
        cursor: Option<String>,
        events: &mpsc::Sender<Event>,
        heard: &mpsc::Sender<Heard>,
    ) {
        let mut session = cursor.as_deref().and_then(Session::read);
        let mut pause = PAUSE_FIRST;
        loop {
            let ended = tokio::select! {
                ended = self.connection(&mut session, &mut pause, events, heard) => ended,
                () = heard.closed() => return,
            };
            locked(&self.inner.wire).is_open = false;
            let wait = match ended {
                Ok(Ended::Broken(why)) => {
                    tracing::info!(why, "a connection to Discord ended; it is resumed");
                    pause
                }
                Ok(Ended::Over) => {
                    session = None;
                    ANEW_AFTER.max(pause)
                }
                Ok(Ended::Refused(why)) => {
                    tracing::warn!(why, "Discord refuses the connection");
                    locked(&self.inner.wire).why = Some(why.to_owned());
                    session = None;
                    PAUSE_MAX
                }
                Err(why) => {
                    tracing::warn!(why, "Discord cannot be listened to; it is tried again");
                    locked(&self.inner.wire).why = Some(why);
                    pause
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => pause = (pause * 2).min(PAUSE_MAX),
                () = heard.closed() => return,
            }
        }
    }

    /// Opens a connection and listens to it until it ends.
    async fn connection(
        &self,
        session: &mut Option<Session>,
        pause: &mut Duration,
        events: &mpsc::Sender<Event>,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<Ended, String> {
        // Who we are and whose people are ours is known before anything comes.
        self.known().await.map_err(|error| error.to_string())?;
        self.home().await.map_err(|error| error.to_string())?;
        let (mut socket, beat) = match self.open(session.as_ref()).await {
            Ok(opened) => opened,
            Err(why) => {
                // The address to resume at may be gone with the session.
                *session = None;
                return Err(why);
            }
        };
        let hello = match session {
            Some(session) => json!({ "op": op::RESUME, "d": {
                "token": self.inner.token,
                "session_id": session.id,
                "seq": session.number,
            } }),
            None => json!({ "op": op::IDENTIFY, "d": {
                "token": self.inner.token,
                "intents": INTENTS,
                "properties": { "os": "linux", "browser": "countersign", "device": "countersign" },
            } }),
        };
        if send(&mut socket, &hello).await.is_err() {
            return Ok(Ended::Broken("it broke off"));
        }
        let mut listener = Listener {
            chat: self,
            socket,
            beat,
            is_confirmed: true,
            session,
            pause,
            events,
            heard,
        };
        Ok(listener.run().await)
    }

    /// Opens a connection and waits for its hello. Returns how often it wants a heartbeat.
    async fn open(&self, session: Option<&Session>) -> Result<(Socket, Duration), String> {
        let url = if let Some(session) = session {
            session.url.clone()
        } else {
            let given = self.inner.api.get::<GatewayBot>(&["gateway", "bot"]).await;
            given.map_err(|error| error.to_string())?.url
        };
        let url = self.inner.api.gateway(&url).map_err(|it| it.to_string())?;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let opening = async {
            let opened =
                tokio_tungstenite::connect_async_with_config(url.as_str(), Some(limits), true);
            let (mut socket, _) = opened
                .await
                .map_err(|_| "the connection could not be opened".to_owned())?;
            let beat = loop {
                match frame(&mut socket).await {
                    Ok(Some(frame)) if frame.op == op::HELLO => {
                        let millis = frame.d.get("heartbeat_interval");
                        let millis = millis.and_then(Value::as_u64);
                        break Duration::from_millis(millis.unwrap_or(41_250).max(100));
                    }
                    Ok(_) => {}
                    Err(_) => return Err("it ended before it said hello".to_owned()),
                }
            };
            Ok((socket, beat))
        };
        let opened = tokio::time::timeout(OPEN_WITHIN, opening).await;
        opened.map_err(|_| "it took too long to open".to_owned())?
    }

    /// Tells what happened, in order.
    async fn tell_events(&self, mut events: mpsc::Receiver<Event>, heard: &mpsc::Sender<Heard>) {
        while let Some(event) = events.recv().await {
            let Event {
                name,
                content,
                session,
            } = event;
            let is_ours = match name.as_str() {
                "INTERACTION_CREATE" => match read::<Interaction>(content) {
                    // With requests, nothing may come by the connection; what comes is nobody's.
                    Some(interaction) if self.inner.settings.arrival == Arrival::Gateway => {
                        self.interaction(interaction, heard).await;
                        true
                    }
                    Some(_) | None => false,
                },
                "MESSAGE_CREATE" => match read::<Said>(content) {
                    Some(said) => self.said(said, heard).await,
                    None => false,
                },
                "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => match read::<Deleted>(content) {
                    Some(deleted) => self.deleted(deleted, heard).await,
                    None => false,
                },
                "READY" => true,
                _ => false,
            };
            if is_ours {
                let kept = Heard::Cursor(session.written());
                let _gone = heard.send(kept).await;
            }
        }
    }
}

/// Somebody who listens to one connection.
struct Listener<'a> {
    chat: &'a Discord,
    socket: Socket,
    beat: Duration,
    /// Whether the last heartbeat was answered.
    is_confirmed: bool,
    session: &'a mut Option<Session>,
    pause: &'a mut Duration,
    events: &'a mpsc::Sender<Event>,
    heard: &'a mpsc::Sender<Heard>,
}

impl Listener<'_> {
    async fn run(&mut self) -> Ended {
        // Not all clients beat at the same moment.
        let mut beat =
            tokio::time::interval_at(Instant::now() + self.beat.mul_f64(jitter()), self.beat);
        loop {
            let came = tokio::select! {
                came = frame(&mut self.socket) => came,
                _ = beat.tick() => {
                    if !self.is_confirmed {
                        return Ended::Broken("a heartbeat was not answered");
                    }
                    self.is_confirmed = false;
                    if self.heartbeat().await.is_err() {
                        return Ended::Broken("it broke off");
                    }
                    continue;
                }
            };
            let ended = match came {
                Ok(Some(frame)) => self.frame(frame).await,
                Ok(None) => None,
                Err(code) => Some(closed(code)),
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
    }

    async fn frame(&mut self, frame: Frame) -> Option<Ended> {
        match frame.op {
            op::DISPATCH => self.dispatch(frame).await,
            op::HEARTBEAT => {
                let sent = self.heartbeat().await;
                sent.err().map(|()| Ended::Broken("it broke off"))
            }
            op::HEARTBEAT_ACK => {
                self.is_confirmed = true;
                None
            }
            op::RECONNECT => Some(Ended::Broken("Discord asked for a new one")),
            op::INVALID_SESSION if frame.d == Value::Bool(true) => {
                Some(Ended::Broken("the session is to be resumed"))
            }
            op::INVALID_SESSION => Some(Ended::Over),
            _ => None,
        }
    }

    async fn dispatch(&mut self, frame: Frame) -> Option<Ended> {
        let name = frame.t.unwrap_or_default();
        if name == "READY" {
            let ready: Ready = read(frame.d.clone()).unwrap_or_default();
            *self.session = Some(Session {
                id: ready.session_id,
                url: ready.resume_gateway_url,
                number: 0,
            });
        }
        let session = self.session.as_mut()?;
        let before = session.number;
        session.number = frame.s.unwrap_or(before);
        if matches!(name.as_str(), "READY" | "RESUMED") {
            *self.pause = PAUSE_FIRST;
            {
                let mut wire = locked(&self.chat.inner.wire);
                (wire.is_open, wire.why) = (true, None);
            }
            let _gone = self.heard.send(Heard::Connected).await;
        }
        let event = Event {
            name,
            content: frame.d,
            session: session.clone(),
        };
        if self.events.try_send(event).is_err() {
            // It comes again when the session is resumed.
            session.number = before;
            return Some(Ended::Broken("too much came at once"));
        }
        None
    }

    async fn heartbeat(&mut self) -> Result<(), ()> {
        let number = self.session.as_ref().map(|it| it.number);
        let beat = json!({ "op": op::HEARTBEAT, "d": number });
        send(&mut self.socket, &beat).await
    }
}

/// Returns the next frame; `None` for one that says nothing, and how a connection was closed that ended.
async fn frame(socket: &mut Socket) -> Result<Option<Frame>, Option<u16>> {
    match socket.next().await {
        Some(Ok(Packet::Text(text))) => Ok(serde_json::from_str(&text).ok()),
        Some(Ok(Packet::Ping(_) | Packet::Pong(_) | Packet::Binary(_) | Packet::Frame(_))) => {
            Ok(None)
        }
        Some(Ok(Packet::Close(close))) => Err(close.map(|it| it.code.into())),
        Some(Err(_)) | None => Err(None),
    }
}

async fn send(socket: &mut Socket, what: &Value) -> Result<(), ()> {
    let packet = Packet::text(what.to_string());
    socket.send(packet).await.map_err(|_| ())
}

/// Returns what it means that a connection was closed with this number.
fn closed(code: Option<u16>) -> Ended {
    let Some(code) = code else {
        return Ended::Broken("it broke off");
    };
    if let Some((_, why)) = FATAL.iter().find(|(known, _)| *known == code) {
        return Ended::Refused(why);
    }
    if FORGOTTEN.contains(&code) {
        return Ended::Over;
    }
    Ended::Broken("Discord closed it")
}

fn read<T: DeserializeOwned>(content: Value) -> Option<T> {
    serde_json::from_value(content).ok()
}

/// Returns a part of one that differs from time to time.
fn jitter() -> f64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = passed.map_or(0, |it| it.subsec_nanos());
    f64::from(nanos) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_as_it_was_kept() {
        let session = Session {
            id: "abc".to_owned(),
            url: "wss://gateway-1.discord.gg".to_owned(),
            number: 42,
        };
        assert_eq!(Session::read(&session.written()), Some(session));
        for wrong in ["", "12", "x y z", "12 abc"] {
            assert_eq!(Session::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_closed_connection_is_resumed_unless_discord_forbids_it() {
        let rows = [
            (None, Ended::Broken("it broke off")),
            (Some(4000), Ended::Broken("Discord closed it")),
            (Some(4008), Ended::Broken("Discord closed it")),
            (Some(4009), Ended::Over),
            (Some(1000), Ended::Over),
            (Some(4004), Ended::Refused("the token is refused")),
        ];
        for (code, expected) in rows {
            assert_eq!(closed(code), expected, "{code:?}");
        }
    }
}
