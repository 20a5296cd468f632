//! Slack: cards with buttons, one slash command, dialogs, and conversations.
//!
//! `paint` turns a card into blocks of `rich` text, `post` puts it there once, `api` is the way to
//! Slack, `socket` and `signature` are the two ways back, `callback` reads what comes by either,
//! `manifest` describes the app, `doctor` says what is wrong.

mod accounts;
mod api;
mod callback;
mod doctor;
mod manifest;
mod paint;
mod post;
mod rich;
pub(crate) mod settings;
mod signature;
mod socket;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_core::digest::Digest;
use countersign_core::id::{ApprovalId, ClarificationId};
use countersign_core::tier::Tier;
use reqwest::Url;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::api::{Api, ApiError, Tokens};
pub use self::manifest::manifest;
use self::paint::Canvas;
pub use self::settings::{Arrival, SlackSettings};
use self::wire::{Auth, ChannelInfo, History, User};
use crate::chat::{
    Callback, Chat, Finding, Heard, Received, Reply, Response, Route, SENT_DIRECTLY, Since, Typed,
};
use crate::memory::Memory;
use crate::order::{Delivered, Destination, Order};
use crate::press::{Click, Standing};
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// Its name in the configuration.
const NAME: &str = "slack";
/// The one slash command; ours follow it.
pub(crate) const COMMAND: &str = "/countersign";
/// What our messages are marked with, so that they are found again.
const EVENT_TYPE: &str = "countersign_message";
/// Longest message, in characters. Slack refuses blocks of more than about 13 000.
const MESSAGE_CHARS_MAX: usize = 11_000;
/// How long a dialog may stay open, in seconds.
const DIALOG_SECONDS: i64 = 600;

/// A Slack workspace. Clones are the same.
#[derive(Clone, Debug)]
pub struct Slack {
    inner: Arc<Inner>,
}

/// An account and when it was looked up; whoever else needs it meanwhile waits.
type LookedUp = tokio::sync::Mutex<Option<(Instant, User)>>;

#[derive(Debug)]
struct Inner {
    settings: SlackSettings,
    url: Url,
    callback_host: Option<String>,
    api: Api,
    known: tokio::sync::Mutex<Option<Known>>,
    directs: Mutex<HashMap<String, String>>,
    /// Deliveries this process has tried.
    tried: Mutex<HashSet<String>>,
    found: tokio::sync::Mutex<HashMap<String, Found>>,
    /// The question of each card that this process has posted.
    subjects: Mutex<HashMap<String, String>>,
    /// How each card looks that this process has painted.
    looks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<Digest>>>>>,
    /// Whoever did something lately, and when Slack was asked about them.
    users: Mutex<HashMap<String, Arc<LookedUp>>>,
    memory: Mutex<Memory>,
    /// Whoever is told what comes, once somebody listens.
    heard: Mutex<Option<mpsc::Sender<Heard>>>,
    wire: Mutex<Wire>,
}

/// Who we are there.
#[derive(Clone, Debug)]
struct Known {
    auth: Auth,
}

/// Earlier deliveries found in a place.
#[derive(Clone, Debug)]
struct Found {
    since: i64,
    posts: HashMap<String, String>,
}

/// How it stands with our connections.
#[derive(Clone, Debug, Default)]
struct Wire {
    /// How many are open.
    open: u32,
    /// Why the last one could not be opened.
    why: Option<String>,
    /// The app they belong to, as Slack says.
    app: Option<String>,
    /// How many connections the app has, ours included.
    connections: u32,
}

impl Slack {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: SlackSettings) -> Result<Self, String> {
        let url = crate::checked_url(&settings.url)?;
        let bot = begins(&settings.token, "xoxb-", "the bot's token")?;
        let (app, callback_host) = match &settings.arrival {
            Arrival::Socket { app_token } => {
                let app = begins(app_token, "xapp-", "the app's token")?;
                (app, None)
            }
            Arrival::Requests {
                signing_secret,
                callback_url,
            } => {
                if signing_secret.trim().is_empty() {
                    return Err("its signing secret is empty".to_owned());
                }
                let rest = callback_url.split_once("://").map(|(_, rest)| rest);
                let host = rest.and_then(|rest| rest.split('/').next());
                let host = host.filter(|host| !host.is_empty());
                let host = host.ok_or("its `callback_url` is not an address")?;
                (String::new(), Some(host.to_owned()))
            }
        };
        let is_id = |id: &String| is_id(id, &['C', 'G', 'D']);
        if settings.channel.as_ref().is_some_and(|id| !is_id(id)) {
            return Err(
                "its `channel` must be an id such as C024BE91L, which stands at the end of \
                        the channel's details"
                    .to_owned(),
            );
        }
        let tokens = Tokens { bot, app };
        Ok(Self {
            inner: Arc::new(Inner {
                api: Api::new(url.clone(), tokens)?,
                url,
                callback_host,
                known: tokio::sync::Mutex::default(),
                directs: Mutex::default(),
                tried: Mutex::default(),
                found: tokio::sync::Mutex::default(),
                subjects: Mutex::default(),
                looks: Mutex::default(),
                users: Mutex::default(),
                memory: Mutex::default(),
                heard: Mutex::default(),
                wire: Mutex::default(),
                settings,
            }),
        })
    }

    /// How far an answer from there could have been given by the asker: what comes over a line others
    /// can change proves nothing about another device.
    fn tier(&self) -> Tier {
        let is_local = matches!(
            self.inner.url.host_str(),
            Some("localhost" | "127.0.0.1" | "[::1]")
        );
        // Whoever has the signing secret can sign what they like in anybody's name.
        let is_socket = matches!(self.inner.settings.arrival, Arrival::Socket { .. });
        if is_socket && (is_local || self.inner.url.scheme() == "https") {
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
        let auth: Auth = self.inner.api.call("auth.test", &[]).await?;
        let wanted = self.inner.settings.team.as_ref();
        if wanted.is_some_and(|team| *team != auth.team_id) {
            return Err(ApiError::Refused {
                method: "auth.test".to_owned(),
                error: format!("the token is of the workspace {}", auth.team_id),
            });
        }
        let found = Known { auth };
        *known = Some(found.clone());
        Ok(found)
    }

    /// Returns the id of the place a card goes to, and the root of the thread there.
    async fn place_of(&self, to: &Destination) -> Result<(String, String), ApiError> {
        match to {
            Destination::Usual => {
                let place = self.inner.settings.channel.clone();
                let place = place.ok_or_else(|| ApiError::Refused {
                    method: "posting".to_owned(),
                    error: "no `channel` is set for cards".to_owned(),
                })?;
                Ok((place, String::new()))
            }
            Destination::Thread(thread) => {
                let (place, root) = split(thread);
                Ok((place.to_owned(), root.to_owned()))
            }
            Destination::Person(account) => Ok((self.direct(account).await?, String::new())),
        }
    }

    /// Returns the conversation between the bot and one account.
    async fn direct(&self, account: &str) -> Result<String, ApiError> {
        if let Some(place) = locked(&self.inner.directs).get(account) {
            return Ok(place.clone());
        }
        let args = [("users", account)];
        let opened: ChannelInfo = self.inner.api.call("conversations.open", &args).await?;
        let place = opened.channel.id;
        locked(&self.inner.directs).insert(account.to_owned(), place.clone());
        Ok(place)
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

impl Channel for Slack {
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
            // The ids of conversations of two begin so.
            Destination::Thread(thread) => thread.starts_with('D'),
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
            let (place, ts) = split(&delivered.reference);
            match self.message(place, ts).await {
                Ok(message) => Ok(message.is_some()),
                Err(error) => Err(self.undelivered(error)),
            }
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
                let (place, root) = self.place_of(&Destination::Usual).await?;
                let key = format!("say:{}", unix_millis());
                self.say_in(&place, &root, rich::spoken(text), text, &key)
                    .await
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
            let sent = async {
                let to = to.strip_prefix('@').unwrap_or(to);
                let place = if is_id(to, &['U', 'W']) {
                    self.direct(to).await?
                } else if is_id(to, &['C', 'G', 'D']) {
                    to.to_owned()
                } else {
                    return Err(refused_to("Slack knows people and channels by id alone"));
                };
                if text.chars().count() > MESSAGE_CHARS_MAX {
                    return Err(refused_to("it is too long for one message"));
                }
                // A person saw exactly this text and allowed exactly this, so nothing is changed in it.
                let words = rich::words(text, rich::Look::Plain);
                let said = rich::block(vec![rich::section(words)]);
                self.say_in(&place, "", said, text, key).await
            };
            sent.await
                .map(drop)
                .map_err(|error| self.undelivered(error))
        })
    }
}

impl Slack {
    /// Returns one message; `None` if it is not there.
    async fn message(&self, place: &str, ts: &str) -> Result<Option<wire::Said>, ApiError> {
        let args = [
            ("channel", place),
            ("ts", ts),
            ("limit", "1"),
            ("inclusive", "true"),
            ("include_all_metadata", "true"),
        ];
        let method = "conversations.replies";
        match self.inner.api.call::<History>(method, &args).await {
            Ok(page) => Ok(page.messages.into_iter().find(|said| said.ts == ts)),
            Err(error) if error.word() == "thread_not_found" => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Chat for Slack {
    fn receive<'a>(&'a self, call: Callback<'a>) -> BoxFuture<'a, Received> {
        Box::pin(self.request(call))
    }

    fn respond(&self, _route: Route, _response: &Response) -> Reply {
        // What came was acknowledged, and its response goes its own way.
        Reply::status(200)
    }

    fn ask_for_words<'a>(
        &'a self,
        order: &'a Order,
        click: &'a Click,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let opened = self.open_dialog(order, click, handle).await;
            opened.map_err(|error| self.undelivered(error))
        })
    }

    fn follow(&self, since: Since, heard: mpsc::Sender<Heard>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            *locked(&self.inner.heard) = Some(heard.clone());
            match &self.inner.settings.arrival {
                Arrival::Socket { .. } => self.listen(since.at, heard).await,
                Arrival::Requests { .. } => {
                    self.catch_up(since.at, &heard).await;
                    let _gone = heard.send(Heard::Connected).await;
                    heard.closed().await;
                }
            }
        })
    }

    fn post<'a>(
        &'a self,
        thread: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, DeliveryError>> {
        Box::pin(async move {
            let (place, root) = split(thread);
            let said = self
                .say_in(place, root, rich::spoken(text), text, key)
                .await;
            said.map_err(|error| self.undelivered(error))
        })
    }

    fn show_typing<'a>(&'a self, _thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        // Slack shows it for people alone.
        Box::pin(std::future::ready(Ok(())))
    }

    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let (place, ts) = split(reference);
            let blocks = [rich::spoken(text)];
            let changed = self.change(place, ts, &post::line(text), &blocks).await;
            changed.map_err(|error| self.undelivered(error))
        })
    }

    fn whisper<'a>(
        &'a self,
        account: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let said = async {
                let place = self.direct(account).await?;
                let key = format!("whisper:{}", unix_millis());
                self.say_in(&place, "", rich::shown(text), text, &key).await
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
        Some(self.whisper(&typed.clicker.account, text))
    }

    fn shown_elsewhere(&self) -> &'static str {
        SENT_DIRECTLY
    }

    fn standing_of<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Standing> {
        Box::pin(self.looked_at(account))
    }

    fn typed_as(&self, name: &str) -> Option<String> {
        let is_served = self.inner.settings.commands;
        is_served.then(|| format!("{COMMAND} {name}"))
    }

    fn separation(&self) -> Tier {
        self.tier()
    }

    fn card_above<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let (place, root) = split(thread);
            let said = self.message(place, root).await.ok()??;
            let key = self.key_of(&said).await.ok()??;
            let subject = key.split(':').next()?;
            // What the agent says is ours, too, but it is no question.
            let is_question = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
            is_question.then(|| subject.to_owned())
        })
    }

    fn message_chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn username<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move { Some(self.user_lately(account).await.ok()?.name) })
    }

    fn zone<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Zone> {
        Box::pin(async move {
            let user = self.user_lately(account).await.ok();
            let zone = user.and_then(|user| user.tz);
            zone.map_or_else(Zone::default, |name| Zone::named(&name))
        })
    }

    fn callback_host(&self) -> Option<&str> {
        self.inner.callback_host.as_deref()
    }

    fn talks(&self) -> bool {
        self.inner.settings.talk
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

fn refused_to(why: &str) -> ApiError {
    ApiError::Refused {
        method: "sending".to_owned(),
        error: why.to_owned(),
    }
}

/// Returns a token that begins as tokens of its kind do.
fn begins(token: &str, with: &str, what: &str) -> Result<String, String> {
    let token = token.trim();
    if token.starts_with(with) {
        return Ok(token.to_owned());
    }
    Err(format!("{what} must begin with `{with}`"))
}

/// Whether `text` is an id that begins with one of these letters.
fn is_id(text: &str, letters: &[char]) -> bool {
    let is_of_one = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    text.starts_with(letters) && text.len() >= 2 && text.bytes().all(is_of_one)
}

/// Returns the place and the message of a reference, or the place and the root of a thread.
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
