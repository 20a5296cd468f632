//! Socket Mode: presses, commands and events come by connections that we open.
//!
//! Slack closes each connection after some hours and says so before, so the next one is opened while
//! the old one still listens. What happens while there is none at all is lost to us: messages are read
//! from Slack afterwards, presses fail in front of the person, who presses again.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::api::{ApiError, As};
use super::callback::Came;
use super::wire::{Connection, Envelope, Places};
use super::{Slack, Wire, locked};
use crate::chat::Heard;
use crate::fields::set;

/// First pause before a connection is opened again; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Slack sends a sign of life more often than this; without one a connection is taken for dead.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// A sign of life is asked for so often.
const BEAT: Duration = Duration::from_secs(20);
/// How long a connection that Slack is about to close is still listened to.
const LEAVE_WITHIN: Duration = Duration::from_secs(30);
/// How long a connection may take to open.
const OPEN_WITHIN: Duration = Duration::from_secs(15);
/// Largest frame that is read, in bytes.
const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// Conversations on a page, and the pages that are read to catch up.
const PAGE: &str = "200";
const PAGES_MAX: usize = 10;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What a connection tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// Slack greeted us: from now on it listens.
    Greeted,
    /// It is about to end, or has ended.
    Leaving,
}

impl Slack {
    /// Keeps a connection open, for as long as it is polled.
    pub(super) async fn listen(&self, since: Option<i64>, heard: mpsc::Sender<Heard>) {
        let mut running = JoinSet::new();
        let (tell, mut signs) = mpsc::channel(16);
        let (mut pause, mut last) = (PAUSE_FIRST, since);
        loop {
            match self.open().await {
                Ok(socket) => {
                    let (chat, tell, heard) = (self.clone(), tell.clone(), heard.clone());
                    running.spawn(async move { chat.serve(socket, &tell, &heard).await });
                }
                Err(why) => {
                    tracing::warn!(why, "Slack cannot be listened to; it is tried again");
                    locked(&self.inner.wire).why = Some(why);
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                    continue;
                }
            }
            loop {
                let sign = tokio::select! {
                    sign = signs.recv() => sign,
                    () = heard.closed() => return,
                };
                match sign {
                    Some(Sign::Greeted) => {
                        pause = PAUSE_FIRST;
                        // Opened first, so that nothing falls between what is read and what is heard;
                        // beside it, because Slack may let us read slowly and end the connection.
                        let since = last.replace(super::unix_millis());
                        let (chat, heard) = (self.clone(), heard.clone());
                        running.spawn(async move {
                            chat.catch_up(since, &heard).await;
                            let _gone = heard.send(Heard::Connected).await;
                        });
                    }
                    Some(Sign::Leaving) => break,
                    None => return,
                }
            }
            while running.try_join_next().is_some() {}
            if locked(&self.inner.wire).open == 0 {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }

    async fn open(&self) -> Result<Socket, String> {
        let api = &self.inner.api;
        let opened = api.call_as::<Connection>(As::App, "apps.connections.open", &[]);
        let (connection, _) = opened.await.map_err(|error| error.to_string())?;
        let url = api.given(&connection.url).map_err(|it| it.to_string())?;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let opening =
            tokio_tungstenite::connect_async_with_config(url.as_str(), Some(limits), true);
        let opened = tokio::time::timeout(OPEN_WITHIN, opening).await;
        let opened = opened.map_err(|_| "it took too long to open".to_owned())?;
        // The address holds a ticket, so an error is told in our words.
        let (socket, _) = opened.map_err(|_| "the connection could not be opened".to_owned())?;
        Ok(socket)
    }

    /// Listens to one connection until it ends.
    async fn serve(
        &self,
        mut socket: Socket,
        tell: &mpsc::Sender<Sign>,
        heard: &mpsc::Sender<Heard>,
    ) {
        locked(&self.inner.wire).open += 1;
        let mut is_leaving = false;
        if self
            .served(&mut socket, tell, heard, &mut is_leaving)
            .await
            .is_err()
        {
            tracing::debug!("a connection to Slack broke off");
        }
        locked(&self.inner.wire).open -= 1;
        if !is_leaving {
            let _gone = tell.send(Sign::Leaving).await;
        }
    }

    async fn served(
        &self,
        socket: &mut Socket,
        tell: &mpsc::Sender<Sign>,
        heard: &mpsc::Sender<Heard>,
        is_leaving: &mut bool,
    ) -> Result<(), SocketError> {
        // Acknowledgements come from what is done meanwhile.
        let (acknowledge, mut acknowledged) = mpsc::channel::<Value>(64);
        let mut beat = tokio::time::interval(BEAT);
        let mut alive = tokio::time::Instant::now();
        let far = tokio::time::Instant::now() + Duration::from_hours(24 * 365);
        let mut until = far;
        loop {
            let frame = tokio::select! {
                frame = socket.next() => frame,
                Some(answer) = acknowledged.recv() => {
                    socket.send(Frame::text(answer.to_string())).await?;
                    continue;
                }
                _ = beat.tick() => {
                    if alive.elapsed() > SILENCE_MAX {
                        return Ok(());
                    }
                    socket.send(Frame::Ping(Vec::new().into())).await?;
                    continue;
                }
                () = tokio::time::sleep_until(until) => return Ok(()),
            };
            alive = tokio::time::Instant::now();
            let text = match frame {
                Some(Ok(Frame::Text(text))) => text,
                Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Binary(_) | Frame::Frame(_))) => {
                    continue;
                }
                Some(Ok(Frame::Close(_))) | None => return Ok(()),
                Some(Err(error)) => return Err(error),
            };
            let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
                continue;
            };
            match envelope.kind.as_str() {
                "hello" => {
                    self.note_hello(&envelope);
                    let _gone = tell.send(Sign::Greeted).await;
                }
                "disconnect" => {
                    tracing::info!(reason = envelope.reason, "Slack ends a connection");
                    if envelope.reason == "link_disabled" {
                        locked(&self.inner.wire).why =
                            Some("Socket Mode is switched off".to_owned());
                        return Ok(());
                    }
                    if !*is_leaving {
                        *is_leaving = true;
                        until = tokio::time::Instant::now() + LEAVE_WITHIN;
                        let _gone = tell.send(Sign::Leaving).await;
                    }
                }
                kind => self.envelope(kind, envelope.clone(), &acknowledge, heard),
            }
        }
    }

    /// Does what a frame says beside the others, and has it acknowledged.
    fn envelope(
        &self,
        kind: &str,
        envelope: Envelope,
        acknowledge: &mpsc::Sender<Value>,
        heard: &mpsc::Sender<Heard>,
    ) {
        if envelope.envelope_id.is_empty() {
            return;
        }
        let came = Came::of(kind, &envelope.payload);
        let (chat, acknowledge, heard) = (self.clone(), acknowledge.clone(), heard.clone());
        tokio::spawn(async move {
            let answer = match came {
                Some(came) => chat.take(came, &heard).await,
                // Not acknowledged it would come again, and mean as little.
                None => json!({}),
            };
            let mut said = json!({ "envelope_id": envelope.envelope_id });
            if answer != json!({}) {
                set(&mut said, "payload", answer);
            }
            let _gone = acknowledge.send(said).await;
        });
    }

    fn note_hello(&self, envelope: &Envelope) {
        let mut wire = locked(&self.inner.wire);
        *wire = Wire {
            open: wire.open,
            why: None,
            app: Some(envelope.connection_info.app_id.clone()),
            connections: envelope.num_connections,
        };
    }

    /// Reads what was said and not heard.
    pub(super) async fn catch_up(&self, since: Option<i64>, heard: &mpsc::Sender<Heard>) {
        // Nothing was ever heard: it begins now.
        let Some(since) = since else {
            return;
        };
        if !self.inner.settings.talk {
            return;
        }
        if let Err(error) = self.missed(since, heard).await {
            tracing::warn!(%error, "what was said meanwhile could not be read");
        }
    }

    async fn missed(&self, since: i64, heard: &mpsc::Sender<Heard>) -> Result<(), ApiError> {
        let known = self.known().await?;
        let us = format!("<@{}>", known.auth.user_id);
        let mut missed = Vec::new();
        for place in self.places().await? {
            for mut said in self.read(&place.id, "", since).await? {
                let is_mention = said.text.contains(&us);
                said.channel.clone_from(&place.id);
                if place.is_im {
                    "im".clone_into(&mut said.channel_type);
                } else if is_mention {
                    "app_mention".clone_into(&mut said.kind);
                } else {
                    continue;
                }
                missed.push(said);
            }
        }
        missed.sort_by(|one, two| one.ts.cmp(&two.ts));
        for said in missed {
            if super::callback::millis(&said.ts) > since {
                self.said(said, heard).await;
            }
        }
        Ok(())
    }

    /// Returns the conversations we are in.
    async fn places(&self) -> Result<Vec<super::wire::Place>, ApiError> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        for _ in 0..PAGES_MAX {
            let mut args = vec![
                ("types", "im,public_channel,private_channel"),
                ("exclude_archived", "true"),
                ("limit", PAGE),
            ];
            if !cursor.is_empty() {
                args.push(("cursor", &cursor));
            }
            let page: Places = self.inner.api.call("users.conversations", &args).await?;
            all.extend(page.channels);
            cursor = page.response_metadata.next_cursor;
            if cursor.is_empty() {
                break;
            }
        }
        Ok(all)
    }
}
