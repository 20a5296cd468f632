//! Matrix: cards that are answered by reactions, commands behind `!countersign`, and conversations.
//!
//! `paint` turns a card into a message (`html`) with a legend of reactions (`legend`), `api` is the way
//! to the homeserver, `rooms` knows who is where, `send` puts messages there, `sync` hears what people
//! do, `read` understands it, `answers` responds to it, `doctor` says what is wrong.
//!
//! Matrix has no buttons and no message that one person alone sees. Who is told something alone is told
//! in a conversation that the bot opens with them. No room is encrypted that we use: there is no
//! cryptography of Matrix here.

mod answers;
mod api;
mod doctor;
mod html;
mod legend;
mod paint;
mod read;
mod rooms;
mod send;
pub(crate) mod settings;
mod sync;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::display::inline;
use countersign_core::tier::Tier;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use self::answers::ANSWERS_MAX;
use self::api::{Api, ApiError};
use self::paint::{Canvas, Ours};
use self::rooms::{Directs, Room};
use self::send::spoken;
pub use self::settings::MatrixSettings;
use self::wire::{Profile, Whoami};
use crate::chat::{
    Callback, Chat, Finding, Heard, Met, Received, Reply, Response, Route, Since, Typed,
};
use crate::memory::Memory;
use crate::order::{Delivered, Destination, Order};
use crate::press::{Click, Clicker, Press, Proof};
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// Its name in the configuration.
const NAME: &str = "matrix";
/// Longest message in characters; with all that is written out it stays far below the server's limit.
const MESSAGE_CHARS_MAX: usize = 4000;
/// What every command begins with, as it is shown.
const PREFIX: &str = "!countersign";

/// A Matrix bot. Clones are the same.
#[derive(Clone, Debug)]
pub struct Matrix {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: MatrixSettings,
    tenant: String,
    is_secure: bool,
    api: Api,
    known: tokio::sync::Mutex<Option<Known>>,
    /// The room where cards go, once its alias was looked up.
    usual: tokio::sync::Mutex<Option<String>>,
    /// What is known of rooms, and how often each changed.
    rooms: Mutex<HashMap<String, Room>>,
    changes: Mutex<HashMap<String, u64>>,
    directs: tokio::sync::Mutex<Directs>,
    /// Where full texts were shown.
    unfolded: Mutex<HashMap<String, String>>,
    /// Events that were dealt with.
    memory: Mutex<Memory>,
    /// How often events failed since everything new was dealt with.
    failed: Mutex<HashMap<String, u32>>,
    /// Whoever sends an answer has one of these.
    answers: Semaphore,
    /// How far was read is shown in order, by room.
    reads: Mutex<HashMap<String, JoinHandle<()>>>,
    /// Why nothing is heard, if nothing is.
    deaf: Mutex<Option<String>>,
}

/// Who we are there.
#[derive(Clone, Debug)]
struct Known {
    user: String,
    /// What people see as our name.
    name: String,
    is_guest: bool,
}

impl Matrix {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: MatrixSettings) -> Result<Self, String> {
        let url = crate::checked_url(&settings.url)?;
        let token = settings.token.trim().to_owned();
        if token.is_empty() {
            return Err("its token is empty".to_owned());
        }
        let is_room = |it: &String| it.starts_with(['!', '#']) && it.len() > 1;
        if let Some(room) = settings.channel.as_ref().filter(|it| !is_room(it)) {
            return Err(format!(
                "its `channel` must be the id of a room, which begins with `!`, or an alias such as `#approvals:example.org`, not `{}`",
                inline(room)
            ));
        }
        let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        Ok(Self {
            inner: Arc::new(Inner {
                tenant: url.as_str().trim_end_matches('/').to_owned(),
                is_secure: url.scheme() == "https" || is_local,
                api: Api::new(&url, &token)?,
                known: tokio::sync::Mutex::default(),
                usual: tokio::sync::Mutex::default(),
                rooms: Mutex::default(),
                changes: Mutex::default(),
                directs: tokio::sync::Mutex::default(),
                unfolded: Mutex::default(),
                memory: Mutex::default(),
                failed: Mutex::default(),
                answers: Semaphore::new(ANSWERS_MAX),
                reads: Mutex::default(),
                deaf: Mutex::default(),
                settings,
            }),
        })
    }

    /// Returns who we are there.
    async fn known(&self) -> Result<Known, ApiError> {
        let mut known = self.inner.known.lock().await;
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let found = self.asked_anew().await?;
        *known = Some(found.clone());
        Ok(found)
    }

    /// Asks the server who we are.
    async fn asked_anew(&self) -> Result<Known, ApiError> {
        let api = &self.inner.api;
        let me: Whoami = api.get(&["account", "whoami"], &[]).await?;
        let profile: Result<Profile, ApiError> =
            api.get(&["profile", me.user_id.as_str()], &[]).await;
        let name = match profile {
            Ok(profile) => profile.displayname.unwrap_or_default(),
            // Without a profile it has no name.
            Err(ApiError::Refused { .. }) => String::new(),
            Err(away @ ApiError::Away(_)) => return Err(away),
        };
        Ok(Known {
            user: me.user_id,
            name,
            is_guest: me.is_guest,
        })
    }

    /// Returns the id of the room where cards go, if there is one.
    async fn usual(&self) -> Result<Option<String>, ApiError> {
        let Some(named) = &self.inner.settings.channel else {
            return Ok(None);
        };
        let mut usual = self.inner.usual.lock().await;
        if usual.is_none() {
            *usual = Some(self.resolved(named).await?);
        }
        Ok(usual.clone())
    }

    fn canvas<'a>(&'a self, place: &'a str) -> Canvas<'a> {
        Canvas {
            tenant: &self.inner.tenant,
            place,
        }
    }

    /// Returns a click with what is the same for all of this bot. That the homeserver tells of it is
    /// proven by the connection it came by.
    fn click(&self, clicker: Clicker) -> Click {
        Click {
            channel: self.inner.settings.name.clone(),
            platform: NAME.to_owned(),
            tenant: self.inner.tenant.clone(),
            transport: Ok(()),
            ticket: None,
            proof: Proof::OnCard,
            subject: String::new(),
            press: Press::View,
            digest: None,
            place: String::new(),
            reference: String::new(),
            clicker,
            tier: self.separation(),
            text: None,
        }
    }

    fn undelivered(&self, error: ApiError) -> DeliveryError {
        error.undelivered(&self.inner.settings.name)
    }
}

impl Channel for Matrix {
    fn name(&self) -> &str {
        &self.inner.settings.name
    }

    fn kind(&self) -> &'static str {
        NAME
    }

    fn accounts(&self) -> Vec<&str> {
        let accounts = &self.inner.settings.accounts;
        accounts.iter().map(String::as_str).collect()
    }

    fn has_usual_place(&self) -> bool {
        self.inner.settings.channel.is_some()
    }

    fn is_for_one(&self, to: &Destination) -> bool {
        match to {
            Destination::Person(_) => true,
            Destination::Thread(thread) => self.is_alone_with_one(split(thread).0),
            Destination::Usual => false,
        }
    }

    fn takes_questions(&self) -> bool {
        true
    }

    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            let put = self.put_card(order).await;
            put.map_err(|error| self.undelivered(error))
        })
    }

    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let painted = self.paint_again(delivered, order).await;
            painted.map_err(|error| self.undelivered(error))
        })
    }

    fn is_there<'a>(
        &'a self,
        delivered: &'a Delivered,
    ) -> BoxFuture<'a, Result<bool, DeliveryError>> {
        Box::pin(async move {
            let is_there = Self::is_there(self, &delivered.reference).await;
            is_there.map_err(|error| self.undelivered(error))
        })
    }

    fn unfold<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let shown = self.show_all(delivered, order).await;
            shown.map_err(|error| self.undelivered(error))
        })
    }

    fn say<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let said = async {
                let to = self.place_of(&Destination::Usual).await?;
                self.say_in(to, &spoken(text), &send::unique()).await
            };
            said.await
                .map(drop)
                .map_err(|error| self.undelivered(error))
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let sent = self.send_exactly(to, text, key).await;
            sent.map_err(|error| self.undelivered(error))
        })
    }
}

impl Chat for Matrix {
    fn receive<'a>(&'a self, _call: Callback<'a>) -> BoxFuture<'a, Received> {
        // Homeservers call nobody back.
        Box::pin(std::future::ready(Received::Done(Reply::status(404))))
    }

    fn respond(&self, _route: Route, _response: &Response) -> Reply {
        Reply::status(404)
    }

    fn ask_for_words<'a>(
        &'a self,
        order: &'a Order,
        click: &'a Click,
        _handle: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let asked = self.prompt(order, click).await;
            asked.map_err(|error| self.undelivered(error))
        })
    }

    fn follow(&self, since: Since, heard: mpsc::Sender<Heard>) -> BoxFuture<'_, ()> {
        Box::pin(self.listen(since, heard))
    }

    fn post<'a>(
        &'a self,
        thread: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, DeliveryError>> {
        Box::pin(async move {
            let said = async {
                let to = self
                    .place_of(&Destination::Thread(thread.to_owned()))
                    .await?;
                self.say_in(to, &spoken(text), key).await
            };
            said.await.map_err(|error| self.undelivered(error))
        })
    }

    fn show_typing<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let shown = self.show_typing_in(split(thread).0).await;
            shown.map_err(|error| self.undelivered(error))
        })
    }

    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let (room, event) = split(reference);
            let edited = self.replace(room, event, &spoken(text)).await;
            edited.map_err(|error| self.undelivered(error))
        })
    }

    fn whisper<'a>(
        &'a self,
        account: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let said = async {
                let to = (self.direct(account).await?, None);
                self.say_in(to, &spoken(text), &send::unique()).await
            };
            said.await
                .map(drop)
                .map_err(|error| self.undelivered(error))
        })
    }

    fn show_whole<'a>(
        &'a self,
        typed: &'a Typed,
        text: &'a str,
    ) -> Option<BoxFuture<'a, Result<(), DeliveryError>>> {
        Some(Box::pin(async move {
            let sent = self.answer_typed(typed, text).await;
            sent.map_err(|error| self.undelivered(error))
        }))
    }

    fn typed_as(&self, name: &str) -> Option<String> {
        Some(format!("{PREFIX} {name}"))
    }

    fn separation(&self) -> Tier {
        if self.inner.is_secure {
            Tier::T3
        } else {
            Tier::T1
        }
    }

    fn card_above<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let (room, event) = split(thread);
            let us = self.known().await.ok()?.user;
            let event = self.event(room, event).await.ok()?;
            match paint::read(&event.content).filter(|_| event.sender == us)? {
                Ours::Card { subject } => Some(subject),
                Ours::Prompt { .. } => None,
            }
        })
    }

    fn message_chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn username<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Option<String>> {
        // The id is the name.
        Box::pin(std::future::ready(None))
    }

    fn zone<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Zone> {
        Box::pin(std::future::ready(Zone::default()))
    }

    fn callback_host(&self) -> Option<&str> {
        None
    }

    fn talks(&self) -> bool {
        self.inner.settings.talk
    }

    fn met(&self) -> BoxFuture<'_, Vec<Met>> {
        Box::pin(self.met_lately())
    }

    fn examine(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(self.findings())
    }

    fn examine_account<'a>(
        &'a self,
        person: &'a str,
        account: &'a str,
    ) -> BoxFuture<'a, Option<Finding>> {
        Box::pin(self.account(person, account))
    }
}

/// Returns the room and the event of a reference or a thread.
fn split(reference: &str) -> (&str, &str) {
    match reference.find("/$") {
        Some(at) => {
            let (room, event) = reference.split_at(at);
            (room, event.trim_start_matches('/'))
        }
        None => (reference, ""),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
