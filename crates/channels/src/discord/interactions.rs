//! Presses, commands and dialogs, by the gateway connection or by signed requests.
//!
//! Discord wants a first answer within three seconds, and a dialog can only be the first answer. So the
//! gate is given two seconds; after that the interaction is acknowledged without an answer, and what there
//! is to say follows. An interaction's token counts for fifteen minutes, its button for ever: what cannot
//! be said with the token any more is said in the person's own conversation with the bot, and cards are
//! changed by the bot itself. Nothing in a payload is believed by itself: who sent it is proven by its
//! signature or by the connection, and which button it was by the code in it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_core::command::TABLE;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::api::{ApiError, code};
use super::commands::OPTION;
use super::markdown::{pieces, translated};
use super::paint::bound;
use super::post::NO_PREVIEWS;
use super::settings::Arrival;
use super::wire::{DIRECT, Interaction, User, kind};
use super::{DIALOG_SECONDS, Discord, MESSAGE_MAX, NAME, locked, signature, split, unix_millis};
use crate::chat::{Callback, Heard, Received, Reply, Response, Route, Typed};
use crate::data::Data;
use crate::order::{Delivered, Order};
use crate::press::{Click, Clicker, Proof, Standing, Untrusted};
use crate::wording::{Entry, Wording, wording};

/// Longest body that is read, in bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Longest words of a dialog, in characters; Discord's own limit.
const WORDS_CHARS_MAX: usize = 4000;
/// Longest text above the input of a dialog, in characters.
const INTRODUCTION_CHARS_MAX: usize = 3500;
/// How long the gate may take before an interaction is acknowledged without an answer. Discord waits three
/// seconds.
const FIRST_WITHIN: Duration = Duration::from_secs(2);
/// How long Discord may take to take the first answer.
const TAKEN_WITHIN: Duration = Duration::from_secs(20);
/// How often and how long a message is tried that comes before Discord has taken the first answer.
const EARLY_TRIES: usize = 10;
const EARLY_PAUSE: Duration = Duration::from_millis(200);
/// The input of a dialog.
const ENTRY: &str = "words";
/// The flag of a message that one person alone sees.
const EPHEMERAL: u32 = 64;
/// The type of a button, and that of a text.
const BUTTON: u8 = 2;

/// The types of first answers.
mod answer {
    pub(super) const PONG: u8 = 1;
    pub(super) const MESSAGE: u8 = 4;
    pub(super) const MESSAGE_LATER: u8 = 5;
    pub(super) const UPDATE_LATER: u8 = 6;
    pub(super) const UPDATE: u8 = 7;
    pub(super) const MODAL: u8 = 9;
}

/// An interaction that is being answered.
#[derive(Debug)]
pub(super) struct Asking {
    interaction: Interaction,
    /// Takes the first answer, once.
    first: Mutex<Option<oneshot::Sender<Value>>>,
    /// Whether Discord has taken the first answer; `None` while that is not known.
    is_taken: watch::Sender<Option<bool>>,
}

impl Asking {
    /// Gives the first answer; whether it is the first.
    fn give(&self, value: Value) -> bool {
        let first = locked(&self.first).take();
        first.is_some_and(|first| first.send(value).is_ok())
    }

    /// Waits until it is known whether Discord has taken the first answer.
    async fn is_taken(&self) -> bool {
        let mut taken = self.is_taken.subscribe();
        let known = taken.wait_for(Option::is_some);
        let known = tokio::time::timeout(TAKEN_WITHIN, known).await;
        matches!(known, Ok(Ok(it)) if *it == Some(true))
    }

    /// Returns where the message is that was pressed.
    fn reference(&self) -> Option<String> {
        let message = self.interaction.message.as_ref()?;
        Some(format!("{}/{}", self.interaction.channel_id, message.id))
    }

    /// Returns the first answer if there is nothing to say in time.
    fn later(&self) -> Value {
        if self.interaction.kind == kind::COMMAND {
            json!({ "type": answer::MESSAGE_LATER, "data": { "flags": EPHEMERAL } })
        } else {
            json!({ "type": answer::UPDATE_LATER })
        }
    }
}

impl Discord {
    /// Reads a request of Discord. What comes of it goes the same way as what comes by the connection.
    pub(super) async fn request(&self, call: Callback<'_>) -> Received {
        let Arrival::Requests { .. } = &self.inner.settings.arrival else {
            return Received::Done(Reply::status(404));
        };
        let header = |name: &str| text_of(call.headers, name);
        let transport = signature::verify(
            &self.inner.public_key,
            header("x-signature-timestamp"),
            header("x-signature-ed25519"),
            call.body,
            unix_millis() / 1000,
        );
        let is_short = call.body.len() <= BODY_BYTES_MAX;
        let interaction = serde_json::from_slice::<Interaction>(call.body).ok();
        let Some(interaction) = interaction.filter(|_| is_short) else {
            let status = if transport.is_ok() { 400 } else { 401 };
            return Received::Done(Reply::status(status));
        };
        let heard = locked(&self.inner.heard).clone();
        if let Err(why) = transport {
            tracing::warn!(channel = self.inner.settings.name, %why, "a request was refused");
            if let Some(heard) = heard {
                // It is in the ledger, as every click is that does not count.
                self.tell_untrusted(&interaction, why, &heard);
            }
            return Received::Done(Reply::status(401));
        }
        if interaction.kind == kind::PING {
            return Received::Done(Reply::ok(json!({ "type": answer::PONG })));
        }
        let Some(heard) = heard else {
            return Received::Done(Reply::status(503));
        };
        let Some((asking, first)) = self.take(interaction, &heard).await else {
            return Received::Done(Reply::status(503));
        };
        let Ok(first) = first.await else {
            return Received::Done(Reply::status(503));
        };
        asking.is_taken.send_replace(Some(true));
        Received::Done(Reply::ok(first))
    }

    /// Takes an interaction that came by the connection, and gives Discord the first answer.
    pub(super) async fn interaction(&self, interaction: Interaction, heard: &mpsc::Sender<Heard>) {
        let Some((asking, first)) = self.take(interaction, heard).await else {
            return;
        };
        let chat = self.clone();
        tokio::spawn(async move {
            let Ok(first) = first.await else {
                return;
            };
            let Interaction { id, token, .. } = &asking.interaction;
            let path = ["interactions", id, token, "callback"];
            let given = chat.inner.api.interact(Method::POST, &path, &first).await;
            if let Err(error) = &given {
                // One that was sent again after a gap is too old to be answered, and counts nevertheless.
                tracing::info!(%error, "an interaction could not be answered");
            }
            asking.is_taken.send_replace(Some(given.is_ok()));
        });
    }

    /// Tells of an interaction. Returns what takes its first answer; `None` if nobody listens.
    async fn take(
        &self,
        interaction: Interaction,
        heard: &mpsc::Sender<Heard>,
    ) -> Option<(Arc<Asking>, oneshot::Receiver<Value>)> {
        let (first, first_answer) = oneshot::channel();
        let (route, received) = self.received(&interaction, Ok(())).await;
        let asking = Arc::new(Asking {
            interaction,
            first: Mutex::new(Some(first)),
            is_taken: watch::Sender::new(None),
        });
        let id = asking.interaction.id.clone();
        locked(&self.inner.asking).insert(id.clone(), Arc::clone(&asking));
        let (reply, response) = oneshot::channel();
        let arrived = Heard::Arrived {
            route,
            received,
            reply,
        };
        if heard.send(arrived).await.is_err() {
            locked(&self.inner.asking).remove(&id);
            return None;
        }
        let (chat, answered) = (self.clone(), Arc::clone(&asking));
        tokio::spawn(async move {
            chat.answer(&answered, response).await;
            locked(&chat.inner.asking).remove(&id);
        });
        Some((asking, first_answer))
    }

    /// Reads an interaction.
    async fn received(
        &self,
        interaction: &Interaction,
        transport: Result<(), Untrusted>,
    ) -> (Route, Received) {
        let refused = Received::Refused(Untrusted::Malformed);
        let Some(clicker) = self.clicker(interaction).await else {
            return (Route::Action, refused);
        };
        match interaction.kind {
            kind::COMMAND => {
                let typed = Self::typed(interaction, clicker);
                let typed = typed.map_or(refused, |typed| Received::Typed(Box::new(typed)));
                (Route::Command, typed)
            }
            _ => match self.click_of(interaction, transport, clicker) {
                Some((route, click)) => {
                    let received = Received::Click {
                        click: Box::new(click),
                        handle: interaction.id.clone(),
                    };
                    (route, received)
                }
                None => (Route::Action, refused),
            },
        }
    }

    /// Returns who did it: in a server a member of it, in a conversation with the bot its other side.
    async fn clicker(&self, interaction: &Interaction) -> Option<Clicker> {
        let in_server = interaction.member.as_ref().and_then(|it| it.user.as_ref());
        let user: &User = match (&interaction.guild_id, in_server, &interaction.user) {
            (Some(_), Some(user), None) | (None, None, Some(user)) => user,
            (Some(_) | None, _, _) => return None,
        };
        if user.id.is_empty() || interaction.id.is_empty() {
            return None;
        }
        let is_direct = interaction
            .channel
            .as_ref()
            .is_some_and(|it| it.kind == DIRECT);
        let standing = match (&interaction.guild_id, self.home().await) {
            _ if user.bot => Standing::Bot,
            (None, _) if is_direct => Standing::Person,
            (Some(_), Err(_)) => Standing::Unknown,
            (Some(guild), Ok(Some(home))) if *guild == home => Standing::Person,
            (Some(_) | None, _) => Standing::Foreign,
        };
        Some(Clicker {
            account: user.id.clone(),
            standing,
        })
    }

    /// Reads a press of one of our buttons, or a dialog of ours that was sent off.
    fn click_of(
        &self,
        interaction: &Interaction,
        transport: Result<(), Untrusted>,
        clicker: Clicker,
    ) -> Option<(Route, Click)> {
        let data = Data::read(&interaction.data.custom_id)?;
        let message = interaction.message.as_ref()?;
        let is_dialog = matches!(data.proof, Proof::Dialog { .. });
        let (route, text) = match interaction.kind {
            kind::COMPONENT if interaction.data.component_type == BUTTON && !is_dialog => {
                (Route::Action, None)
            }
            kind::MODAL if is_dialog => (Route::Dialog, entered(&interaction.data.components)),
            _ => return None,
        };
        if text
            .as_ref()
            .is_some_and(|it| it.chars().count() > WORDS_CHARS_MAX)
        {
            return None;
        }
        let click = Click {
            channel: self.inner.settings.name.clone(),
            platform: NAME.to_owned(),
            tenant: interaction.application_id.clone(),
            transport,
            ticket: Some(format!("interaction:{}", interaction.id)),
            proof: data.proof,
            subject: data.subject,
            press: data.press,
            // It has no room in a button; the gate knows it.
            digest: None,
            place: interaction.channel_id.clone(),
            reference: format!("{}/{}", interaction.channel_id, message.id),
            clicker,
            tier: self.tier(),
            text,
        };
        Some((route, click))
    }

    /// Reads a command.
    fn typed(interaction: &Interaction, clicker: Clicker) -> Option<Typed> {
        let name = &interaction.data.name;
        let row = TABLE.iter().find(|row| row.name == name)?;
        let mut options = interaction.data.options.iter();
        let option = options.find(|it| it.name == OPTION);
        let rest = option.and_then(|it| it.value.as_str()).unwrap_or_default();
        Some(Typed {
            name: row.name.to_owned(),
            rest: rest.trim().to_owned(),
            clicker,
            place: interaction.channel_id.clone(),
            thread: super::thread(&interaction.channel_id, interaction.guild_id.as_ref()),
            is_reply: false,
            transport: Ok(()),
            ticket: Some(format!("interaction:{}", interaction.id)),
        })
    }

    /// Tells of a press that nobody vouches for. Nobody is asked about it and nobody is told.
    fn tell_untrusted(
        &self,
        interaction: &Interaction,
        why: Untrusted,
        heard: &mpsc::Sender<Heard>,
    ) {
        let clicker = Clicker {
            account: String::new(),
            standing: Standing::Unknown,
        };
        let Some((route, click)) = self.click_of(interaction, Err(why), clicker) else {
            return;
        };
        let (reply, _nobody) = oneshot::channel();
        let received = Received::Click {
            click: Box::new(click),
            handle: String::new(),
        };
        let arrived = Heard::Arrived {
            route,
            received,
            reply,
        };
        // A flood of it must not hold up what is genuine.
        let _full = heard.try_send(arrived).is_err();
    }

    /// Answers an interaction once the gate has.
    async fn answer(&self, asking: &Asking, mut response: oneshot::Receiver<Response>) {
        let in_time = tokio::time::timeout(FIRST_WITHIN, &mut response).await;
        let response = if let Ok(response) = in_time {
            response
        } else {
            asking.give(asking.later());
            response.await
        };
        let Ok(response) = response else {
            asking.give(asking.later());
            return;
        };
        let mut is_over = false;
        let words = match response {
            Response::Counted {
                order,
                delivered,
                words,
            } => {
                self.show_counted(asking, &order, &delivered).await;
                words
            }
            Response::Over(words) => {
                is_over = true;
                words
            }
            Response::Words(words) | Response::DialogError(words) => words,
            Response::Nothing => {
                asking.give(asking.later());
                return;
            }
        };
        if let Err(error) = self.say_privately(asking, &words).await {
            tracing::warn!(%error, "somebody could not be told");
        }
        let subject = Data::read(&asking.interaction.data.custom_id).map(|it| it.subject);
        if let (true, Some(copy), Some(subject)) = (is_over, asking.reference(), subject)
            && let Err(error) = self.take_buttons(&copy, &subject).await
        {
            tracing::info!(%error, "the buttons of a copy stay");
        }
    }

    /// Shows a card as it is after it was answered, in the first answer if the card was pressed.
    async fn show_counted(&self, asking: &Asking, order: &Order, delivered: &Delivered) {
        let is_pressed = asking.reference().as_ref() == Some(&delivered.reference);
        if is_pressed {
            let (place, _) = split(&delivered.reference);
            if let Ok(painted) = self.painted(order, place).await
                && asking.give(json!({ "type": answer::UPDATE, "data": painted.body }))
                && asking.is_taken().await
            {
                self.note_looks(&delivered.reference, &painted).await;
                return;
            }
        }
        if let Err(error) = self.paint_again(delivered, order).await {
            // The gate paints it again, as often as it takes.
            tracing::warn!(%error, "a card could not be changed");
        }
    }

    /// Tells one person something that nobody else sees.
    async fn say_privately(&self, asking: &Asking, words: &str) -> Result<(), ApiError> {
        let pieces = pieces(&translated(words), MESSAGE_MAX);
        let mut rest = pieces.iter();
        if let Some(first) = pieces.first()
            && asking.give(json!({ "type": answer::MESSAGE, "data": private(first) }))
        {
            rest.next();
        }
        if pieces.is_empty() {
            asking.give(asking.later());
        }
        if !asking.is_taken().await {
            // Discord has told the person that it failed.
            return Ok(());
        }
        while let Some(piece) = rest.next() {
            if let Err(error) = self.follow_up(asking, &private(piece)).await {
                tracing::info!(%error, "somebody is told in another way");
                let left: Vec<&str> = std::iter::once(piece)
                    .chain(rest)
                    .map(String::as_str)
                    .collect();
                let account = asking.account();
                return self.tell(account, &left.join("\n")).await;
            }
        }
        Ok(())
    }

    /// Says something behind the first answer.
    async fn follow_up(&self, asking: &Asking, body: &Value) -> Result<(), ApiError> {
        let application = &asking.interaction.application_id;
        let path = ["webhooks", application, &asking.interaction.token];
        for _ in 0..EARLY_TRIES {
            match self.inner.api.interact(Method::POST, &path, body).await {
                // The response to a request may arrive after this.
                Err(error) if error.is(code::UNKNOWN_WEBHOOK) => {
                    tokio::time::sleep(EARLY_PAUSE).await;
                }
                done => return done,
            }
        }
        Err(ApiError::Away("the first answer was not taken".to_owned()))
    }

    /// Opens the dialog in which a person writes a note or an answer, or confirms.
    pub(super) fn open_dialog(
        &self,
        order: &Order,
        click: &Click,
        handle: &str,
    ) -> Result<(), ApiError> {
        let asking = locked(&self.inner.asking).get(handle).cloned();
        let asking = asking.ok_or_else(|| ApiError::ours("the press is over"))?;
        let until = unix_millis() / 1000 + DIALOG_SECONDS;
        let holder = Some((click.clicker.account.as_str(), until));
        let canvas = self.canvas(&click.tenant, &click.place);
        let code = order.seal.code(&bound(click.press, order, &canvas, holder));
        let data = Data {
            subject: click.subject.clone(),
            press: click.press,
            proof: Proof::Dialog { code, until },
        };
        let state = data.written().unwrap_or_default();
        if asking.give(dialog(&wording(order, click.press), &state)) {
            return Ok(());
        }
        // A dialog can only be the first answer.
        Err(ApiError::Away("it took too long; press again".to_owned()))
    }
}

impl Asking {
    /// Returns the account that did it.
    fn account(&self) -> &str {
        let in_server = self.interaction.member.as_ref();
        let user = in_server.and_then(|it| it.user.as_ref());
        let user = user.or(self.interaction.user.as_ref());
        user.map_or("", |it| it.id.as_str())
    }
}

/// Returns a message that one person alone sees.
fn private(text: &str) -> Value {
    json!({
        "content": text,
        "allowed_mentions": { "parse": [] },
        "flags": EPHEMERAL | NO_PREVIEWS,
    })
}

/// Returns a dialog.
fn dialog(wording: &Wording, state: &str) -> Value {
    let mut components = Vec::new();
    if !wording.introduction.is_empty() {
        let mut letters = wording.covers.chars();
        let mut covers: String = letters.by_ref().take(INTRODUCTION_CHARS_MAX / 8).collect();
        if letters.next().is_some() {
            covers.push('…');
        }
        let covers = super::markdown::inert(&covers);
        let text = format!("{} {covers}", wording.introduction);
        components.push(json!({ "type": 10, "content": text }));
    }
    if let Some(Entry {
        name,
        help,
        is_optional,
    }) = wording.entry
    {
        components.push(json!({
            "type": 18,
            "label": name,
            "description": help,
            "component": {
                "type": 4,
                "custom_id": ENTRY,
                "style": 2,
                "required": !is_optional,
                "max_length": WORDS_CHARS_MAX,
            },
        }));
    }
    json!({
        "type": answer::MODAL,
        "data": { "custom_id": state, "title": wording.title, "components": components },
    })
}

/// Returns the words that were entered in a dialog.
fn entered(components: &[Value]) -> Option<String> {
    let inputs = components.iter().flat_map(|it| {
        // A label holds one input, a row of older clients several.
        let several = it["components"].as_array().into_iter().flatten();
        several.chain(it.get("component"))
    });
    let mut words = inputs.filter(|it| it["custom_id"] == ENTRY);
    let words = words.next()?["value"].as_str()?;
    Some(words.to_owned()).filter(|it| !it.trim().is_empty())
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_a_label_and_from_a_row() {
        let input = json!({ "type": 4, "custom_id": "words", "value": "ask ops" });
        let label = json!({ "type": 18, "component": input });
        let row = json!({ "type": 1, "components": [input] });
        let other = json!({ "type": 18, "component": { "custom_id": "x", "value": "y" } });
        let empty = json!({ "type": 18, "component": { "custom_id": "words", "value": " " } });
        assert_eq!(entered(&[label]).as_deref(), Some("ask ops"));
        assert_eq!(entered(&[row]).as_deref(), Some("ask ops"));
        assert_eq!(entered(&[other]), None);
        assert_eq!(entered(&[empty]), None);
    }
}
