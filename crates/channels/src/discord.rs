//! Discord: cards with buttons, slash commands, dialogs, and conversations.
//!
//! `paint` turns a card into embeds and buttons in the dialect of `markdown`, `post` puts it there once,
//! `api` is the way to Discord, `gateway` and `signature` are the two ways back, `interactions` reads and
//! answers what comes by either, `messages` reads what people write, `commands` registers commands,
//! `doctor` says what is wrong.

mod api;
mod commands;
mod doctor;
mod gateway;
mod interactions;
mod markdown;
mod messages;
mod paint;
mod permissions;
mod post;
pub(crate) mod settings;
mod signature;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_core::digest::Digest;
use countersign_core::tier::Tier;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::api::{Api, ApiError};
use self::interactions::Asking;
use self::paint::Canvas;
pub use self::settings::{Arrival, DiscordSettings};
use self::wire::{Application, Place, User};
use crate::chat::{
    Callback, Chat, Finding, Heard, Met, Received, Reply, Response, Route, SENT_DIRECTLY, Since,
    Typed,
};
use crate::memory::Memory;
use crate::order::{Delivered, Destination, Order};
use crate::press::Click;
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// Its name in the configuration.
const NAME: &str = "discord";
/// Longest message, in the units that `markdown::length` counts.
const MESSAGE_MAX: usize = 2000;
/// Longest message of the agent, in characters: writing out what must not act makes it longer.
const MESSAGE_CHARS_MAX: usize = 1600;
/// How long a dialog may stay open, in seconds.
const DIALOG_SECONDS: i64 = 600;
/// Stands before the id of a conversation of two.
const DIRECT: char = '@';

/// A Discord application. Clones are the same.
#[derive(Clone, Debug)]
pub struct Discord {
    inner: Arc<Inner>,
}

struct Inner {
    settings: DiscordSettings,
    token: String,
    url: Url,
    /// Verifies requests; empty where none come.
    public_key: Vec<u8>,
    callback_host: Option<String>,
    api: Api,
    known: tokio::sync::Mutex<Option<Known>>,
    /// The server whose people are ours, once it is known.
    home: tokio::sync::Mutex<Option<String>>,
    directs: Mutex<HashMap<String, String>>,
    /// Deliveries this process has tried and not finished.
    tried: Mutex<HashSet<String>>,
    found: tokio::sync::Mutex<HashMap<String, Found>>,
    /// The question of each card that this process has posted.
    subjects: Mutex<HashMap<String, String>>,
    /// Messages that were deleted lately.
    gone: Mutex<VecDeque<String>>,
    /// How each card looks that this process has painted.
    looks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Digest>>>>>,
    memory: Mutex<Memory>,
    /// Interactions that are being answered, by id.
    asking: Mutex<HashMap<String, Arc<Asking>>>,
    /// Whoever is told what comes, once somebody listens.
    heard: Mutex<Option<mpsc::Sender<Heard>>>,
    wire: Mutex<Wire>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token.
        f.debug_struct("Inner")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Who we are there.
#[derive(Clone, Debug)]
struct Known {
    /// The id of the application.
    application: String,
    user: User,
}

/// Earlier cards found in a place, by question.
#[derive(Clone, Debug)]
struct Found {
    since: i64,
    cards: HashMap<String, String>,
}

/// How it stands with the gateway connection.
#[derive(Clone, Debug, Default)]
struct Wire {
    is_open: bool,
    /// Why the last one could not be opened.
    why: Option<String>,
}

impl Discord {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: DiscordSettings) -> Result<Self, String> {
        let url = crate::checked_url(&settings.url)?;
        let token = settings.token.trim().to_owned();
        if !is_token(&token) {
            return Err(
                "its token is none: the Developer Portal shows it once, under Bot → Reset Token"
                    .to_owned(),
            );
        }
        for (key, id) in [("channel", &settings.channel), ("guild", &settings.guild)] {
            if id.as_deref().is_some_and(|id| !is_id(id)) {
                return Err(format!(
                    "its `{key}` must be an id such as 1100000000000000000: switch on Developer Mode, right-click → Copy ID"
                ));
            }
        }
        let (public_key, callback_host) = match &settings.arrival {
            Arrival::Gateway => (Vec::new(), None),
            Arrival::Requests {
                public_key,
                callback_url,
            } => {
                let key = signature::public_key(public_key);
                let key = key.ok_or("its `public_key` must be 64 hexadecimal digits")?;
                let rest = callback_url.split_once("://").map(|(_, rest)| rest);
                let host = rest.and_then(|rest| rest.split('/').next());
                let host = host.filter(|host| !host.is_empty());
                let host = host.ok_or("its `callback_url` is not an address")?;
                (key, Some(host.to_owned()))
            }
        };
        Ok(Self {
            inner: Arc::new(Inner {
                api: Api::new(url.clone(), &token)?,
                token,
                url,
                public_key,
                callback_host,
                known: tokio::sync::Mutex::default(),
                home: tokio::sync::Mutex::default(),
                directs: Mutex::default(),
                tried: Mutex::default(),
                found: tokio::sync::Mutex::default(),
                subjects: Mutex::default(),
                gone: Mutex::default(),
                looks: Mutex::default(),
                memory: Mutex::default(),
                asking: Mutex::default(),
                heard: Mutex::default(),
                wire: Mutex::default(),
                settings,
            }),
        })
    }

    /// How far an answer from there could have been given by the asker. Only Discord can sign requests,
    /// so they prove as much as the connection does.
    fn tier(&self) -> Tier {
        let host = self.inner.url.host_str();
        let is_local = matches!(host, Some("localhost" | "127.0.0.1" | "[::1]"));
        if is_local || self.inner.url.scheme() == "https" {
            Tier::T3
        } else {
            Tier::T1
        }
    }

    async fn known(&self) -> Result<Known, ApiError> {
        let mut known = self.inner.known.lock().await;
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let user: User = self.inner.api.get(&["users", "@me"]).await?;
        let application: Application = self.inner.api.get(&["applications", "@me"]).await?;
        let found = Known {
            application: application.id,
            user,
        };
        *known = Some(found.clone());
        Ok(found)
    }

    /// Returns the server whose people are ours; `None` if only conversations with the bot count.
    async fn home(&self) -> Result<Option<String>, ApiError> {
        let settings = &self.inner.settings;
        if settings.guild.is_some() {
            return Ok(settings.guild.clone());
        }
        let Some(channel) = &settings.channel else {
            return Ok(None);
        };
        let mut home = self.inner.home.lock().await;
        if home.is_none() {
            let place: Result<Place, ApiError> = self.inner.api.get(&["channels", channel]).await;
            match place {
                Ok(place) => *home = place.guild_id,
                // The doctor says what is wrong with the channel; conversations with the bot work.
                Err(ApiError::Refused { .. }) => return Ok(None),
                Err(away @ ApiError::Away(_)) => return Err(away),
            }
        }
        Ok(home.clone())
    }

    /// Returns the conversation between the bot and one account.
    async fn direct(&self, account: &str) -> Result<String, ApiError> {
        if let Some(place) = locked(&self.inner.directs).get(account) {
            return Ok(place.clone());
        }
        if !is_id(account) {
            return Err(ApiError::ours("the account is not an id"));
        }
        let body = json!({ "recipient_id": account });
        let opened: Place = self
            .inner
            .api
            .post(&["users", "@me", "channels"], &body)
            .await?;
        locked(&self.inner.directs).insert(account.to_owned(), opened.id.clone());
        Ok(opened.id)
    }

    fn canvas<'a>(&'a self, tenant: &'a str, place: &'a str) -> Canvas<'a> {
        Canvas {
            tenant,
            place,
            mentions: self.inner.settings.mention,
        }
    }

    fn undelivered(&self, error: ApiError) -> DeliveryError {
        error.undelivered(&self.inner.settings.name)
    }
}

impl Channel for Discord {
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
            Destination::Thread(thread) => thread.starts_with(DIRECT),
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
            let there = self.is_message(&delivered.reference).await;
            there.map_err(|error| self.undelivered(error))
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
                let place = self.place_of(&Destination::Usual).await?;
                let key = format!("say:{}", unix_millis());
                self.say_in(&place, text, &key).await
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

impl Chat for Discord {
    fn receive<'a>(&'a self, call: Callback<'a>) -> BoxFuture<'a, Received> {
        Box::pin(self.request(call))
    }

    fn respond(&self, _route: Route, _response: &Response) -> Reply {
        // What came was answered by `request` itself.
        Reply::status(200)
    }

    fn ask_for_words<'a>(
        &'a self,
        order: &'a Order,
        click: &'a Click,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let opened = self.open_dialog(order, click, handle);
            opened.map_err(|error| self.undelivered(error))
        })
    }

    fn follow(&self, since: Since, heard: mpsc::Sender<Heard>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            *locked(&self.inner.heard) = Some(heard.clone());
            tokio::join!(self.keep_commands(), self.listen(since.cursor, heard));
        })
    }

    fn post<'a>(
        &'a self,
        thread: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, DeliveryError>> {
        Box::pin(async move {
            let said = self.say_in(place_in(thread), text, key).await;
            said.map_err(|error| self.undelivered(error))
        })
    }

    fn show_typing<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let path = ["channels", place_in(thread), "typing"];
            let shown = self.inner.api.post::<Value>(&path, &json!({})).await;
            shown.map(drop).map_err(|error| self.undelivered(error))
        })
    }

    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let changed = self.reword(reference, text).await;
            changed.map_err(|error| self.undelivered(error))
        })
    }

    fn whisper<'a>(
        &'a self,
        account: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let said = self.tell(account, text).await;
            said.map_err(|error| self.undelivered(error))
        })
    }

    fn show_whole<'a>(
        &'a self,
        typed: &'a Typed,
        text: &'a str,
    ) -> Option<BoxFuture<'a, Result<(), DeliveryError>>> {
        Some(self.whisper(&typed.clicker.account, text))
    }

    fn shown_elsewhere(&self) -> &'static str {
        SENT_DIRECTLY
    }

    fn typed_as(&self, name: &str) -> Option<String> {
        let is_served = self.inner.settings.commands;
        is_served.then(|| format!("/{name}"))
    }

    fn separation(&self) -> Tier {
        self.tier()
    }

    fn card_above<'a>(&'a self, _thread: &'a str) -> BoxFuture<'a, Option<String>> {
        // A slash command replies to nothing.
        Box::pin(std::future::ready(None))
    }

    fn message_chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn username<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let user: User = self.inner.api.get(&["users", account]).await.ok()?;
            Some(user.username)
        })
    }

    fn zone<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Zone> {
        // Discord tells a bot nobody's time zone.
        Box::pin(std::future::ready(Zone::default()))
    }

    fn callback_host(&self) -> Option<&str> {
        self.inner.callback_host.as_deref()
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

/// Whether `text` has the form of a bot's token: three parts with full stops between.
fn is_token(text: &str) -> bool {
    let fits = |part: &str| {
        let is_of_one = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        !part.is_empty() && part.bytes().all(is_of_one)
    };
    text.split('.').count() == 3 && text.split('.').all(fits)
}

/// Whether `text` is an id.
fn is_id(text: &str) -> bool {
    let is_number = text.parse::<u64>().is_ok_and(|it| it > 0);
    is_number && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the conversation of a place: those of two are told from others.
fn thread(place: &str, guild: Option<&String>) -> String {
    match guild {
        Some(_) => place.to_owned(),
        None => format!("{DIRECT}{place}"),
    }
}

/// Returns the place of a conversation.
fn place_in(thread: &str) -> &str {
    thread.strip_prefix(DIRECT).unwrap_or(thread)
}

/// Returns the place and the message of a reference.
fn split(reference: &str) -> (&str, &str) {
    reference.split_once('/').unwrap_or((reference, ""))
}

fn unix_millis() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| {
        i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
