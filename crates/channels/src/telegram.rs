//! Telegram: cards with buttons, a command menu, prompts for words, and conversations.
//!
//! `paint` turns a card into text with entities and buttons, `api` is the way to the
//! server, `send` puts messages there, `updates` hears what people do and answers it, `commands` keeps
//! the menu, `doctor` says what is wrong.
//!
//! Telegram has no key under which a message is sent once, and a bot cannot look for its messages. A
//! card whose delivery was cut off is sent again; a copy that arrived nevertheless does not count and
//! loses its buttons when somebody presses them.

mod answers;
mod api;
mod commands;
mod doctor;
mod paint;
mod send;
pub(crate) mod settings;
#[cfg(test)]
mod tests;
mod updates;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::tier::Tier;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde_json::json;
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, mpsc};

use self::api::{Api, ApiError};
use self::paint::{Canvas, UNITS_MAX};
pub use self::settings::TelegramSettings;
use self::updates::{ANSWERS_MAX, TAKEN_WITHIN};
use self::wire::{Update, User};
use crate::chat::{
    Callback, Chat, Finding, Heard, Met, Received, Reply, Response, Route, Since, Typed,
};
use crate::memory::Seldom;
use crate::order::{Delivered, Destination, Order};
use crate::press::{Click, Clicker, Press, Proof, Untrusted};
use crate::rich::Rich;
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// How often a group is told how somebody in it is answered.
const HINTS_IN_GROUP_EVERY: Duration = Duration::from_mins(1);
/// How often one account is told so.
const HINTS_TO_ONE_EVERY: Duration = Duration::from_mins(10);
/// Its name in the configuration.
const NAME: &str = "telegram";
/// Longest message in characters: no character is more than two UTF-16 code units.
const MESSAGE_CHARS_MAX: usize = 2000;
/// Stands at the end of a message that was cut.
const CUT: &str = "\n⟨the rest does not fit⟩";
/// Cards that people replied to, as far as they are remembered.
const REPLIED_MAX: usize = 256;

/// A Telegram bot. Clones are the same.
#[derive(Clone, Debug)]
pub struct Telegram {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: TelegramSettings,
    /// The bot's id, which stands in its token.
    tenant: String,
    /// Where cards usually go: a group, and a topic of it.
    usual: Option<(i64, Option<i64>)>,
    is_secure: bool,
    api: Api,
    known: tokio::sync::Mutex<Option<User>>,
    /// Who was told in a group how to be answered.
    hints: Hints,
    /// Groups that have become supergroups, and their new ids.
    moved: Mutex<HashMap<i64, i64>>,
    /// Questions of cards that people replied to, by where the card is.
    replied: Mutex<VecDeque<(String, String)>>,
    /// Where full texts were shown.
    unfolded: Mutex<HashMap<String, String>>,
    /// Where updates go that come in at the route; nowhere while nobody follows.
    arriving: Mutex<Option<mpsc::Sender<Heard>>>,
    /// Whoever sends an answer has one of these.
    answers: Semaphore,
    /// Why nothing is heard, if nothing is.
    deaf: Mutex<Option<String>>,
}

/// Limits what a group reads because somebody there cannot be answered alone.
#[derive(Debug)]
struct Hints {
    in_groups: Seldom,
    to_people: Seldom,
}

impl Telegram {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: TelegramSettings) -> Result<Self, String> {
        let url = crate::checked_url(&settings.url)?;
        let token = settings.token.trim().to_owned();
        let tenant = bot_id(&token)
            .ok_or("its token is none: BotFather gives one like `123456789:AAF…`")?
            .to_owned();
        let usual = settings.channel.as_deref().map(place).transpose()?;
        if usual.is_some_and(|(chat, _)| chat > 0) {
            let why = "its `channel` is the id of a person; without it cards go to each approver directly";
            return Err(why.to_owned());
        }
        if let Some(text) = &settings.callback_url {
            let url = crate::checked_url(text)?;
            if url.query().is_some() || url.fragment().is_some() {
                return Err("its `callback_url` must be an address and a path alone".to_owned());
            }
        }
        if settings.secret.as_deref().is_some_and(|it| !is_secret(it)) {
            return Err("its secret must be 16 to 256 letters, digits, `_` or `-`".to_owned());
        }
        Ok(Self {
            inner: Arc::new(Inner {
                is_secure: url.scheme() == "https" || is_local(&url),
                api: Api::new(&url, &token)?,
                tenant,
                usual,
                known: tokio::sync::Mutex::default(),
                hints: Hints {
                    in_groups: Seldom::new(HINTS_IN_GROUP_EVERY),
                    to_people: Seldom::new(HINTS_TO_ONE_EVERY),
                },
                moved: Mutex::default(),
                replied: Mutex::default(),
                unfolded: Mutex::default(),
                arriving: Mutex::default(),
                answers: Semaphore::new(ANSWERS_MAX),
                deaf: Mutex::default(),
                settings,
            }),
        })
    }

    /// Returns who we are there.
    async fn known(&self) -> Result<User, ApiError> {
        let mut known = self.inner.known.lock().await;
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let me = self.asked_anew().await?;
        *known = Some(me.clone());
        Ok(me)
    }

    /// Asks the server who we are.
    async fn asked_anew(&self) -> Result<User, ApiError> {
        self.inner.api.call("getMe", &json!({})).await
    }

    /// Returns the place and the topic of a destination.
    fn place_of(&self, to: &Destination) -> Result<(i64, Option<i64>), ApiError> {
        let (chat, topic) = match to {
            Destination::Usual => self
                .inner
                .usual
                .ok_or_else(|| ApiError::ours("no `channel` is set for cards"))?,
            Destination::Thread(thread) => {
                place(thread).map_err(|_| ApiError::ours("there is no such conversation"))?
            }
            Destination::Person(account) => {
                let id = account.parse();
                let id = id.map_err(|_| ApiError::ours("the account is not a number"))?;
                (id, None)
            }
        };
        Ok((self.moved(chat), topic))
    }

    /// Returns the id of a group as it is now.
    fn moved(&self, chat: i64) -> i64 {
        let moved = locked(&self.inner.moved);
        moved.get(&chat).copied().unwrap_or(chat)
    }

    fn canvas<'a>(&'a self, place: &'a str) -> Canvas<'a> {
        Canvas {
            tenant: &self.inner.tenant,
            place,
        }
    }

    /// Returns a click with what is the same for all of this bot. That it comes from Telegram is
    /// proven by the connection it came by.
    fn click(&self, clicker: Clicker) -> Click {
        Click {
            channel: self.inner.settings.name.clone(),
            platform: NAME.to_owned(),
            tenant: self.inner.tenant.clone(),
            transport: Ok(()),
            ticket: None,
            proof: Proof::Typed,
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

    /// Takes an update that Telegram sent to the route, and returns once it is dealt with: what is
    /// not confirmed Telegram sends again.
    async fn webhook(&self, call: Callback<'_>) -> Reply {
        let said = call.headers.get("x-telegram-bot-api-secret-token");
        let said = said.map_or(&[][..], HeaderValue::as_bytes);
        let secret = self.inner.settings.secret.as_deref().unwrap_or_default();
        let is_telegram = !secret.is_empty() && bool::from(secret.as_bytes().ct_eq(said));
        if call.route != Route::Action || !is_telegram {
            let why = Untrusted::WrongToken;
            let channel = &self.inner.settings.name;
            tracing::warn!(channel, %why, "a callback was refused");
            return Reply::status(401);
        }
        let Ok(update) = serde_json::from_slice::<Update>(call.body) else {
            // Sent again it would be no better.
            return Reply::status(200);
        };
        let heard = locked(&self.inner.arriving).clone();
        let Some(heard) = heard else {
            return Reply::status(503);
        };
        if let Some(taken) = self.deal_with(update, &heard).await
            && tokio::time::timeout(TAKEN_WITHIN, taken).await.is_err()
        {
            tracing::warn!("something takes long; Telegram does not wait for it");
        }
        Reply::status(if heard.is_closed() { 503 } else { 200 })
    }
}

impl Channel for Telegram {
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
        self.inner.usual.is_some()
    }

    fn is_for_one(&self, to: &Destination) -> bool {
        match to {
            Destination::Person(_) => true,
            // Groups have negative ids.
            Destination::Thread(thread) => place(thread).is_ok_and(|(chat, _)| chat > 0),
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
                let to = self.place_of(&Destination::Usual)?;
                self.say_in(to, &spoken(text)).await
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
        _key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let sent = async {
                let to = place(to).map_err(|_| ApiError::ours("the recipient is not an id"))?;
                self.send_exactly((self.moved(to.0), to.1), text).await
            };
            sent.await.map_err(|error| self.undelivered(error))
        })
    }
}

impl Chat for Telegram {
    fn receive<'a>(&'a self, call: Callback<'a>) -> BoxFuture<'a, Received> {
        Box::pin(async move { Received::Done(self.webhook(call).await) })
    }

    fn respond(&self, _route: Route, _response: &Response) -> Reply {
        // What comes in is answered by messages of its own.
        Reply::status(200)
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
        Box::pin(async move {
            tokio::join!(self.keep_commands(), self.listen(since, heard));
        })
    }

    fn post<'a>(
        &'a self,
        thread: &'a str,
        text: &'a str,
        _key: &'a str,
    ) -> BoxFuture<'a, Result<String, DeliveryError>> {
        Box::pin(async move {
            let said = async {
                let to = self.place_of(&Destination::Thread(thread.to_owned()))?;
                self.say_in(to, &spoken(text)).await
            };
            said.await.map_err(|error| self.undelivered(error))
        })
    }

    fn show_typing<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let shown = self.show_typing_in(thread).await;
            shown.map_err(|error| self.undelivered(error))
        })
    }

    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let edited = self.change(reference, &spoken(text), &json!(null)).await;
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
                let to = self.place_of(&Destination::Person(account.to_owned()))?;
                self.say_in(to, &spoken(text)).await
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
            let sent = self.answer_alone(typed, text).await;
            sent.map_err(|error| self.undelivered(error))
        }))
    }

    fn typed_as(&self, name: &str) -> Option<String> {
        // Typed commands arrive whether or not there is a menu.
        Some(format!("/{name}"))
    }

    fn taps_send(&self) -> bool {
        true
    }

    fn separation(&self) -> Tier {
        // Whoever has the secret of a webhook can send what they like in anybody's name.
        if self.inner.is_secure && self.inner.settings.callback_url.is_none() {
            Tier::T3
        } else {
            Tier::T1
        }
    }

    fn card_above<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Option<String>> {
        let replied = locked(&self.inner.replied);
        let known = replied.iter().rfind(|(reference, _)| reference == thread);
        let subject = known.map(|(_, subject)| subject.clone());
        Box::pin(std::future::ready(subject))
    }

    fn message_chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn username<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Option<String>> {
        // Usernames change hands; the id stands for somebody.
        Box::pin(std::future::ready(None))
    }

    fn zone<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Zone> {
        Box::pin(std::future::ready(Zone::default()))
    }

    fn callback_host(&self) -> Option<&str> {
        let url = self.inner.settings.callback_url.as_ref()?;
        let (_, rest) = url.split_once("://")?;
        rest.split('/').next()
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

/// Returns what somebody says as text with entities, hidden characters written out.
fn spoken(text: &str) -> Rich {
    let mut rich = Rich::default();
    rich.markdown(&countersign_core::display::unfenced(text));
    if rich.units() <= UNITS_MAX {
        return rich;
    }
    // Only what is full of hidden characters grows so much when they are written out.
    let parts = rich.split(UNITS_MAX - CUT.len());
    let mut head = parts.into_iter().next().unwrap_or_default();
    head.plain(CUT);
    head
}

/// Reads `CHAT` or `CHAT/TOPIC`.
fn place(text: &str) -> Result<(i64, Option<i64>), String> {
    let wrong = || {
        format!(
            "its `channel` must be the number of a group, such as -1001234567890, with /TOPIC for a topic, not `{}`",
            countersign_core::display::inline(text)
        )
    };
    let (chat, topic) = text.split_once('/').unwrap_or((text, ""));
    let chat: i64 = chat.trim().parse().map_err(|_| wrong())?;
    let topic = match topic.trim() {
        "" => None,
        topic => Some(topic.parse().map_err(|_| wrong())?),
    };
    if chat == 0 {
        return Err(wrong());
    }
    Ok((chat, topic))
}

/// Returns the bot's id, which stands in front in its token.
fn bot_id(token: &str) -> Option<&str> {
    let (id, secret) = token.split_once(':')?;
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (is_number && secret.len() >= 8 && secret.bytes().all(fits)).then_some(id)
}

fn is_secret(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (16..=256).contains(&text.len()) && text.bytes().all(fits)
}

fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
