//! Mattermost: cards with buttons, slash commands, dialogs, and conversations.
//!
//! `paint` turns a card into a post, `post` puts it there once, `api` is the way to the server, `callback` reads what the server
//! sends back, `trigger` proves who did it, `commands` keeps the slash commands, `socket` hears what is
//! said, `doctor` says what is wrong.

mod api;
mod callback;
mod commands;
mod doctor;
mod mention;
mod paint;
mod post;
pub(crate) mod settings;
mod socket;
#[cfg(test)]
mod tests;
mod trigger;
mod wire;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_core::tier::Tier;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use self::api::{Api, ApiError};
use self::commands::Registered;
use self::paint::Canvas;
pub use self::settings::MattermostSettings;
use self::trigger::ServerKey;
use self::wire::{Place, Post, Team, User};
use crate::chat::{
    Callback, Chat, Finding, Heard, Received, Reply, Response, Route, SENT_DIRECTLY, Since, Typed,
};
use crate::order::{Delivered, Destination, Order};
use crate::press::{Click, Press, Standing, Untrusted};
use crate::seal::Bound;
use crate::text::tamed;
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// Its name in the configuration.
const NAME: &str = "mattermost";
/// The property under which our posts are found again.
pub(crate) const KEY_PROP: &str = "countersign";
/// Longest message the server takes, in characters, with room for a fence.
const MESSAGE_CHARS_MAX: usize = 16_000;
/// How often the server's key is asked for again after a signature that did not fit.
const KEY_EVERY: Duration = Duration::from_secs(30);
/// How long a dialog may stay open, in seconds.
const DIALOG_SECONDS: i64 = 600;

/// A Mattermost server. Clones are the same.
#[derive(Clone, Debug)]
pub struct Mattermost {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: MattermostSettings,
    tenant: String,
    action_url: Option<String>,
    api: Api,
    known: tokio::sync::Mutex<Option<Known>>,
    key: tokio::sync::Mutex<Option<(ServerKey, tokio::time::Instant)>>,
    registered: Mutex<Registered>,
    /// Whether commands are being registered, or were never looked at; told after each of them.
    registering: tokio::sync::watch::Sender<bool>,
    /// Commands that came from our own bot: the doctor runs one to see whether it comes back.
    own_commands: AtomicU64,
    directs: Mutex<HashMap<String, String>>,
    /// Usernames of accounts, for mentions.
    names: Mutex<HashMap<String, String>>,
    /// Deliveries this process has tried.
    tried: Mutex<HashSet<String>>,
    found: tokio::sync::Mutex<HashMap<String, Found>>,
}

/// Who we are there, and where cards go.
#[derive(Clone, Debug)]
struct Known {
    bot: User,
    team: Option<String>,
    place: Option<String>,
}

/// Earlier deliveries found in a place.
#[derive(Clone, Debug)]
struct Found {
    since: i64,
    posts: HashMap<String, String>,
}

impl Mattermost {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: MattermostSettings) -> Result<Self, String> {
        let url = checked(&settings.url, "url")?;
        if settings.token.trim().is_empty() {
            return Err("its token is empty".to_owned());
        }
        let action_url = match &settings.callback_url {
            Some(text) => Some(callback_url(
                &checked(text, "callback_url")?,
                &settings.name,
            )),
            None => None,
        };
        Ok(Self {
            inner: Arc::new(Inner {
                tenant: url.as_str().trim_end_matches('/').to_owned(),
                action_url,
                api: Api::new(url, settings.token.trim().to_owned())?,
                known: tokio::sync::Mutex::default(),
                key: tokio::sync::Mutex::default(),
                registered: Mutex::default(),
                registering: tokio::sync::watch::Sender::new(true),
                own_commands: AtomicU64::new(0),
                directs: Mutex::default(),
                names: Mutex::default(),
                tried: Mutex::default(),
                found: tokio::sync::Mutex::default(),
                settings,
            }),
        })
    }

    fn route_url(&self, route: &str) -> Option<String> {
        let action = self.inner.action_url.as_ref()?;
        let base = action.strip_suffix("action")?;
        Some(format!("{base}{route}"))
    }

    /// How far an answer from there could have been given by the asker: what comes over a line others
    /// can change proves nothing about another device.
    fn tier(&self) -> Tier {
        let is_local = Url::parse(&self.inner.settings.url).is_ok_and(|url| is_local(&url));
        if is_local || self.inner.tenant.starts_with("https:") {
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
        let api = &self.inner.api;
        let bot: User = api.get(&["users", "me"], &[]).await?;
        let settings = &self.inner.settings;
        let (team, channel) = match settings.channel.as_deref().map(|it| it.split_once('/')) {
            Some(Some((team, channel))) => (Some(team), Some(channel)),
            Some(None) => (settings.team.as_deref(), settings.channel.as_deref()),
            None => (settings.team.as_deref(), None),
        };
        let team = match team {
            Some(team) => Some(self.team(team).await?.id),
            None => None,
        };
        let place = match (channel, &team) {
            (Some(id), _) if is_id(id) => Some(id.to_owned()),
            (Some(name), Some(team)) => {
                let path = ["teams", team.as_str(), "channels", "name", name];
                Some(api.get::<Place>(&path, &[]).await?.id)
            }
            (Some(_), None) => {
                return Err(ApiError::Refused {
                    status: 0,
                    id: String::new(),
                    message: "`channel` is a name, so `team` must be set".to_owned(),
                });
            }
            (None, _) => None,
        };
        let found = Known { bot, team, place };
        *known = Some(found.clone());
        Ok(found)
    }

    async fn team(&self, team: &str) -> Result<Team, ApiError> {
        let api = &self.inner.api;
        if is_id(team) {
            api.get(&["teams", team], &[]).await
        } else {
            api.get(&["teams", "name", team], &[]).await
        }
    }

    /// Returns the id of the place a card goes to, and the root of the thread there.
    async fn place_of(&self, to: &Destination) -> Result<(String, String), ApiError> {
        match to {
            Destination::Usual => {
                let place = self.known().await?.place;
                let place = place.ok_or_else(|| ApiError::Refused {
                    status: 0,
                    id: String::new(),
                    message: "no `channel` is set for cards".to_owned(),
                })?;
                Ok((place, String::new()))
            }
            Destination::Thread(thread) => {
                let (place, root) = thread.split_once('/').unwrap_or((thread, ""));
                Ok((place.to_owned(), root.to_owned()))
            }
            Destination::Person(account) => {
                let place = self.direct(account).await?;
                Ok((place, String::new()))
            }
        }
    }

    /// Returns the conversation between the bot and one account.
    async fn direct(&self, account: &str) -> Result<String, ApiError> {
        if let Some(place) = locked(&self.inner.directs).get(account) {
            return Ok(place.clone());
        }
        let bot = self.known().await?.bot.id;
        let body = json!([bot, account]);
        let path = ["channels", "direct"];
        let place: Place = self.inner.api.post(&path, &body).await?;
        locked(&self.inner.directs).insert(account.to_owned(), place.id.clone());
        Ok(place.id)
    }

    fn canvas<'a>(&'a self, place: &'a str, mentions: &'a str) -> Canvas<'a> {
        Canvas {
            tenant: &self.inner.tenant,
            place,
            action_url: self.inner.action_url.as_deref(),
            mentions,
            commands: self.commands_about_a_card(),
        }
    }

    /// Returns which commands are about a waiting card. Nobody is told to type what is not there.
    fn commands_about_a_card(&self) -> Option<String> {
        let (edit, before) = self.typed_as("edit").zip(self.typed_as("before"))?;
        Some(format!("{edit} edits it, {before} shows what led here"))
    }

    async fn standing(&self, account: &str) -> Standing {
        if !is_id(account) {
            return Standing::Unknown;
        }
        match self.inner.api.get::<User>(&["users", account], &[]).await {
            Ok(user) if user.is_bot => Standing::Bot,
            Ok(user) if user.delete_at != 0 => Standing::Closed,
            Ok(user) if user.id == account => Standing::Person,
            Ok(_) => Standing::Unknown,
            Err(error) => {
                tracing::warn!(%error, "an account could not be looked at");
                Standing::Unknown
            }
        }
    }

    /// Returns the server's key.
    async fn server_key(&self) -> Option<ServerKey> {
        let mut kept = self.inner.key.lock().await;
        if let Some((key, _)) = &*kept {
            return Some(key.clone());
        }
        self.ask_for_key(&mut kept).await
    }

    /// Returns the server's key, asked for again, because a signature did not fit; but not all the
    /// time, also if nothing comes of it, because anybody can send what does not fit.
    async fn newer_key(&self) -> Option<ServerKey> {
        let mut kept = self.inner.key.lock().await;
        match &mut *kept {
            Some((key, at)) if at.elapsed() < KEY_EVERY => return Some(key.clone()),
            Some((_, at)) => *at = tokio::time::Instant::now(),
            None => {}
        }
        self.ask_for_key(&mut kept).await
    }

    async fn ask_for_key(
        &self,
        kept: &mut Option<(ServerKey, tokio::time::Instant)>,
    ) -> Option<ServerKey> {
        let path = ["config", "client"];
        let asked = self.inner.api.get::<Value>(&path, &[("format", "old")]);
        match asked.await {
            Ok(config) => {
                let text = config.get("AsymmetricSigningPublicKey");
                let key = text.and_then(Value::as_str).and_then(ServerKey::parse)?;
                *kept = Some((key.clone(), tokio::time::Instant::now()));
                Some(key)
            }
            Err(error) => {
                tracing::warn!(%error, "the server's key is not available");
                None
            }
        }
    }

    /// Checks that the server signed `trigger` for `account` a moment ago, and returns its id.
    async fn check_trigger(&self, trigger: &str, account: &str) -> Result<String, Untrusted> {
        let now = unix_millis();
        let key = self.server_key().await.ok_or(Untrusted::NoKey)?;
        let mut read = key.verify(trigger, now, trigger::AGE_MILLIS_MAX);
        if read == Err(Untrusted::WrongSignature)
            && let Some(newer) = self.newer_key().await
            && newer != key
        {
            read = newer.verify(trigger, now, trigger::AGE_MILLIS_MAX);
        }
        let read = read?;
        if read.user_id != account {
            return Err(Untrusted::OtherPerson);
        }
        Ok(read.id)
    }

    fn undelivered(&self, error: ApiError) -> DeliveryError {
        error.undelivered(&self.inner.settings.name)
    }
}

impl Channel for Mattermost {
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
            // Only a conversation of two has no message above it.
            Destination::Thread(thread) => split(thread).1.is_empty(),
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
            let (_, id) = split(&delivered.reference);
            match self.inner.api.get::<Post>(&["posts", id], &[]).await {
                Ok(post) => Ok(post.delete_at == 0),
                Err(error) if error.status() == Some(404) => Ok(false),
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
                self.say_in(&place, &root, &tamed(text), &key).await
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
                let place = match to.strip_prefix('@') {
                    Some(name) => {
                        let path = ["users", "username", name];
                        let user: User = self.inner.api.get(&path, &[]).await?;
                        self.direct(&user.id).await?
                    }
                    None => to.to_owned(),
                };
                // A person saw exactly this text and allowed exactly this, so nothing is changed in it.
                self.say_in(&place, "", text, key).await
            };
            sent.await
                .map(drop)
                .map_err(|error| self.undelivered(error))
        })
    }
}

impl Chat for Mattermost {
    fn receive<'a>(&'a self, call: Callback<'a>) -> BoxFuture<'a, Received> {
        Box::pin(async move {
            match call.route {
                Route::Action => self.action(call.body).await,
                Route::Command => self.command(call.body).await,
                Route::Dialog => self.dialog(call.body).await,
            }
        })
    }

    fn respond(&self, route: Route, response: &Response) -> Reply {
        Reply::ok(callback::respond(self, route, response))
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
            tokio::join!(self.keep_commands(), self.listen(since.at, heard));
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
            let said = self.say_in(place, root, &tamed(text), key).await;
            said.map_err(|error| self.undelivered(error))
        })
    }

    fn show_typing<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let (place, root) = split(thread);
            let body = json!({ "channel_id": place, "parent_id": root });
            let shown = self
                .inner
                .api
                .post::<Value>(&["users", "me", "typing"], &body);
            shown
                .await
                .map(drop)
                .map_err(|error| self.undelivered(error))
        })
    }

    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let body = json!({ "message": tamed(text) });
            let patched = self.patch(reference, &body).await;
            patched.map_err(|error| self.undelivered(error))
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
                self.say_in(&place, "", &tamed(text), &key).await
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

    fn typed_as(&self, name: &str) -> Option<String> {
        let registered = locked(&self.inner.registered);
        let trigger = registered.trigger(name)?;
        Some(format!("/{trigger}"))
    }

    fn separation(&self) -> Tier {
        self.tier()
    }

    fn card_above<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let (_, root) = split(thread);
            let post: Post = self.inner.api.get(&["posts", root], &[]).await.ok()?;
            // Anybody can write our key into a message of their own.
            let is_ours = post.user_id == self.known().await.ok()?.bot.id;
            let subject = post.key().filter(|_| is_ours)?.split(':').next()?;
            Some(subject.to_owned())
        })
    }

    fn message_chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn username<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let user: User = self.inner.api.get(&["users", account], &[]).await.ok()?;
            Some(user.username)
        })
    }

    fn zone<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Zone> {
        Box::pin(async move {
            let user = self.inner.api.get::<User>(&["users", account], &[]).await;
            user.map_or_else(
                |_| Zone::default(),
                |user| Zone::named(user.timezone.name()),
            )
        })
    }

    fn callback_host(&self) -> Option<&str> {
        let (_, rest) = self
            .inner
            .settings
            .callback_url
            .as_ref()?
            .split_once("://")?;
        rest.split('/').next()
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

/// Returns the code that a dialog about `click` is bound by.
fn dialog_bound<'a>(tenant: &'a str, click: &'a Click, press: Press, until: i64) -> Bound<'a> {
    Bound {
        platform: NAME,
        tenant,
        place: &click.place,
        subject: &click.subject,
        press,
        digest: click
            .digest
            .unwrap_or(countersign_core::digest::Digest([0; 32])),
        holder: Some((&click.clicker.account, until)),
    }
}

fn callback_url(base: &Url, name: &str) -> String {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(["channels", name, "action"]);
    }
    url.to_string()
}

/// Returns an address that keys may travel to: encrypted, or on a network somebody answers for.
fn checked(text: &str, what: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| format!("its `{what}` is not an address"))?;
    if !matches!(url.scheme(), "https" | "http") || url.host_str().is_none() {
        return Err(format!("its `{what}` must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("its `{what}` must not contain a password"));
    }
    if what == "url" && url.scheme() == "http" && !is_local(&url) {
        return Err("its `url` must be https, or http on this machine".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("its `{what}` must be an address and a path alone"));
    }
    Ok(url)
}

fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Whether `text` is an id of the server: 26 letters and digits.
fn is_id(text: &str) -> bool {
    text.len() == 26
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
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
