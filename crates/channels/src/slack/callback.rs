//! What comes from Slack: buttons, dialogs, commands, events, by whichever way.
//!
//! Slack wants an acknowledgement within three seconds, so a press or a command is acknowledged first
//! and done then; what there is to say follows by itself. Only a dialog waits for its answer. Nothing in
//! a payload is believed by itself: who sent it is proven by its signature or by the connection, which
//! button it was by the code in its value, and whose account it is by asking Slack.

use std::time::Duration;

use countersign_core::digest::Digest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::api::ApiError;
use super::post::Back;
use super::rich::heard as as_seen;
use super::settings::Arrival;
use super::wire::{Command, EventCallback, Interaction, Said};
use super::{COMMAND, DIALOG_SECONDS, NAME, Slack, locked, signature, split, unix_millis};
use crate::chat::{Callback, Heard, Message, Received, Reply, Response, Route, Typed};
use crate::order::Order;
use crate::press::{Click, Clicker, Press, Proof, Standing, Untrusted};
use crate::seal::Bound;
use crate::text::pieces;
use crate::wording::{Entry, Wording, wording};

/// Longest body that is read, in bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Longest words of a dialog, in characters; Slack's own limit.
const WORDS_CHARS_MAX: usize = 3000;
/// Longest text of a section, in characters.
const SECTION_CHARS_MAX: usize = 3000;
/// How long a dialog waits for what it is answered. Slack waits three seconds.
const DIALOG_WITHIN: Duration = Duration::from_millis(2500);
/// The block and the input of a dialog.
const ENTRY: &str = "words";

/// Something that came, read.
#[derive(Clone, Debug)]
pub(super) enum Came {
    Interaction(Box<Interaction>),
    Command(Box<Command>),
    Event(Box<EventCallback>),
}

impl Came {
    /// Reads the payload of a frame of this kind.
    pub(super) fn of(kind: &str, payload: &Value) -> Option<Self> {
        fn read<T: DeserializeOwned>(payload: &Value) -> Option<Box<T>> {
            serde_json::from_value(payload.clone()).ok().map(Box::new)
        }
        match kind {
            "interactive" => read(payload).map(Self::Interaction),
            "slash_commands" => read(payload).map(Self::Command),
            "events_api" => read(payload).map(Self::Event),
            _ => None,
        }
    }

    /// Reads the body of a request: JSON for an event, a form for the rest.
    fn in_body(body: &[u8]) -> Option<Self> {
        if body.len() > BODY_BYTES_MAX {
            return None;
        }
        let text = std::str::from_utf8(body).ok()?;
        if text.trim_start().starts_with('{') {
            return Self::of("events_api", &serde_json::from_str(text).ok()?);
        }
        let mut url = Url::parse("http://form/").ok()?;
        url.set_query(Some(text));
        let fields: serde_json::Map<String, Value> = url
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
            .collect();
        match fields.get("payload").and_then(Value::as_str) {
            Some(payload) => Self::of("interactive", &serde_json::from_str(payload).ok()?),
            None if fields.contains_key("command") => {
                Self::of("slash_commands", &Value::Object(fields))
            }
            None => None,
        }
    }
}

impl Slack {
    /// Reads a request of Slack. What comes of it goes the same way as what comes by a connection.
    pub(super) async fn request(&self, call: Callback<'_>) -> Received {
        let Arrival::Requests { signing_secret, .. } = &self.inner.settings.arrival else {
            return Received::Done(Reply::status(404));
        };
        let header = |name: &str| text_of(call.headers, name);
        let transport = signature::verify(
            signing_secret,
            header("x-slack-request-timestamp"),
            header("x-slack-signature"),
            call.body,
            unix_millis() / 1000,
        );
        let Some(came) = Came::in_body(call.body) else {
            return Received::Done(Reply::status(400));
        };
        let sender = locked(&self.inner.heard).clone();
        let Some(heard) = sender else {
            // Slack tries events again; a person sees that nothing happened.
            return Received::Done(Reply::status(503));
        };
        if let Err(why) = transport {
            tracing::warn!(channel = self.inner.settings.name, %why, "a request was refused");
            if let Came::Interaction(interaction) = came {
                // It is in the ledger, as every click is that does not count.
                self.tell_untrusted(&interaction, why, &heard);
            }
            return Received::Done(Reply::status(401));
        }
        if let Came::Event(event) = &came
            && event.kind == "url_verification"
        {
            let body = json!({ "challenge": event.challenge });
            return Received::Done(Reply::ok(body));
        }
        Received::Done(Reply::ok(self.take(came, &heard).await))
    }

    /// Does what came, and returns what it is acknowledged with.
    pub(super) async fn take(&self, came: Came, heard: &mpsc::Sender<Heard>) -> Value {
        let (chat, heard) = (self.clone(), heard.clone());
        match came {
            Came::Interaction(interaction) if interaction.kind == "view_submission" => {
                let press = dialog_of(&interaction).map(|state| state.press);
                let done = chat.submitted(&interaction, &heard);
                let response = tokio::time::timeout(DIALOG_WITHIN, done).await;
                dialog_answer(press, response.ok().flatten().as_ref())
            }
            Came::Interaction(interaction) => {
                tokio::spawn(async move { chat.pressed(*interaction, &heard).await });
                json!({})
            }
            Came::Command(command) => {
                tokio::spawn(async move { chat.commanded(*command, &heard).await });
                json!({})
            }
            Came::Event(event) => {
                tokio::spawn(async move { chat.happened(*event, &heard).await });
                json!({})
            }
        }
    }

    /// A button was pressed.
    async fn pressed(&self, interaction: Interaction, heard: &mpsc::Sender<Heard>) {
        let team = interaction.team.as_ref().map(|team| team.id.as_str());
        let (account, container) = (&interaction.user.id, &interaction.container);
        let back = Back {
            response_url: interaction.response_url.clone(),
            place: container.channel_id.clone(),
            root: container.thread_ts.clone().unwrap_or_default(),
            account: account.clone(),
        };
        let received = match self.press_of(&interaction, Ok(())) {
            Some(click) => Received::Click {
                click: Box::new(Click {
                    clicker: self.clicker(account, team).await,
                    ..click
                }),
                handle: interaction.trigger_id.clone(),
            },
            None => Received::Refused(Untrusted::Malformed),
        };
        self.arrived(Route::Action, received, &back, heard).await;
    }

    /// Tells of a press that nobody vouches for. Nobody is asked about it and nobody is told.
    fn tell_untrusted(
        &self,
        interaction: &Interaction,
        why: Untrusted,
        heard: &mpsc::Sender<Heard>,
    ) {
        let Some(click) = self.press_of(interaction, Err(why)) else {
            return;
        };
        let (reply, _nobody) = oneshot::channel();
        let received = Received::Click {
            click: Box::new(click),
            handle: String::new(),
        };
        let arrived = Heard::Arrived {
            route: Route::Action,
            received,
            reply,
        };
        // A flood of it must not hold up what is genuine.
        let _full = heard.try_send(arrived).is_err();
    }

    /// Reads a press of one of our buttons.
    fn press_of(
        &self,
        interaction: &Interaction,
        transport: Result<(), Untrusted>,
    ) -> Option<Click> {
        let [action] = interaction.actions.as_slice() else {
            return None;
        };
        let is_button = interaction.kind == "block_actions"
            && interaction.container.kind == "message"
            && action.kind == "button";
        let parts: Vec<&str> = action.value.split('|').collect();
        let ["1", subject, press, digest, code] = parts.as_slice() else {
            return None;
        };
        if !is_button || *press != action.action_id || interaction.trigger_id.is_empty() {
            return None;
        }
        let container = &interaction.container;
        let tenant = interaction.team.as_ref().map(|team| team.id.clone());
        Some(Click {
            tenant: tenant.unwrap_or_default(),
            ticket: Some(interaction.trigger_id.clone()),
            proof: Proof::Button {
                code: (*code).to_owned(),
            },
            subject: (*subject).to_owned(),
            press: Press::of(press)?,
            digest: Some(Digest::parse(&format!("sha256:{digest}"))?),
            place: container.channel_id.clone(),
            reference: format!("{}/{}", container.channel_id, container.message_ts),
            ..self.click(&interaction.user.id, transport)
        })
    }

    /// A dialog was sent off. Returns `None` if it is not known what came of it.
    async fn submitted(
        &self,
        interaction: &Interaction,
        heard: &mpsc::Sender<Heard>,
    ) -> Option<Response> {
        let refused = |why: &str| Some(Response::DialogError(why.to_owned()));
        let Some(state) = dialog_of(interaction) else {
            return refused("Nothing was changed: this dialog was not made by this firewall.");
        };
        let entered = interaction.view.state.values.get(ENTRY);
        let entered = entered.and_then(|inputs| inputs.get(ENTRY)?.value.clone());
        let words = entered.filter(|words| !words.trim().is_empty());
        if words
            .as_ref()
            .is_some_and(|words| words.chars().count() > WORDS_CHARS_MAX)
        {
            return refused("Nothing was changed: it is too long.");
        }
        let team = interaction.team.as_ref().map(|team| team.id.as_str());
        let (place, _) = split(&state.reference);
        let click = Click {
            tenant: team.unwrap_or_default().to_owned(),
            ticket: Some(interaction.trigger_id.clone()).filter(|it| !it.is_empty()),
            proof: Proof::Dialog {
                code: state.code.clone(),
                until: state.until,
            },
            subject: state.subject.clone(),
            press: state.press,
            digest: Some(state.digest),
            place: place.to_owned(),
            reference: state.reference.clone(),
            text: words,
            clicker: self.clicker(&interaction.user.id, team).await,
            ..self.click(&interaction.user.id, Ok(()))
        };
        let received = Received::Click {
            click: Box::new(click),
            handle: String::new(),
        };
        let (reply, response) = oneshot::channel();
        let arrived = Heard::Arrived {
            route: Route::Dialog,
            received,
            reply,
        };
        if heard.send(arrived).await.is_err() {
            return refused("Nothing was changed: the gateway is stopping.");
        }
        response.await.ok()
    }

    /// A command was typed.
    async fn commanded(&self, command: Command, heard: &mpsc::Sender<Heard>) {
        if command.command != COMMAND || !self.inner.settings.commands {
            return;
        }
        let back = Back {
            response_url: command.response_url.clone(),
            place: command.channel_id.clone(),
            root: String::new(),
            account: command.user_id.clone(),
        };
        let (name, rest) = named(&command.text);
        let typed = Typed {
            name,
            rest,
            clicker: self.clicker(&command.user_id, Some(&command.team_id)).await,
            thread: format!("{}/", command.channel_id),
            place: command.channel_id,
            is_reply: false,
            transport: Ok(()),
            ticket: Some(command.trigger_id).filter(|it| !it.is_empty()),
        };
        let received = Received::Typed(Box::new(typed));
        self.arrived(Route::Command, received, &back, heard).await;
    }

    /// Hands on what came, and tells the person what came of it.
    async fn arrived(
        &self,
        route: Route,
        received: Received,
        back: &Back,
        heard: &mpsc::Sender<Heard>,
    ) {
        let (reply, response) = oneshot::channel();
        let arrived = Heard::Arrived {
            route,
            received,
            reply,
        };
        if heard.send(arrived).await.is_err() {
            return;
        }
        let Ok(response) = response.await else {
            return;
        };
        let words = match response {
            Response::Counted {
                order,
                delivered,
                words,
            } => {
                if let Err(error) = self.paint_again(&delivered, &order).await {
                    // The gate paints it again, as often as it takes.
                    tracing::warn!(%error, "a card could not be changed");
                }
                words
            }
            Response::Words(words) | Response::Over(words) | Response::DialogError(words) => words,
            Response::Nothing => return,
        };
        if words.is_empty() {
            return;
        }
        if let Err(error) = self.say_privately(back, &words).await {
            tracing::warn!(%error, "somebody could not be told");
        }
    }

    /// Tells of an event that is meant for us.
    async fn happened(&self, callback: EventCallback, heard: &mpsc::Sender<Heard>) {
        let Ok(known) = self.known().await else {
            return;
        };
        if callback.team_id != known.auth.team_id {
            return;
        }
        let said = callback.event;
        if said.subtype.as_deref() == Some("message_deleted") {
            if let Some(gone) = self.gone(&said).await {
                let _gone = heard.send(gone).await;
            }
            return;
        }
        self.said(said, heard).await;
    }

    /// Tells of a message that is meant for us: everything in a conversation of two, elsewhere what
    /// mentions us.
    pub(super) async fn said(&self, said: Said, heard: &mpsc::Sender<Heard>) {
        let Ok(known) = self.known().await else {
            return;
        };
        let us = format!("<@{}>", known.auth.user_id);
        let is_direct = said.channel_type == "im";
        let is_meant = match said.kind.as_str() {
            "message" if is_direct => true,
            "app_mention" => !is_direct && said.text.contains(&us),
            _ => false,
        };
        let is_ours = said.is_of(&known.auth);
        let id = format!("{}/{}", said.channel, said.ts);
        let is_heard = is_meant && said.is_of_a_person() && !is_ours;
        if !is_heard || !locked(&self.inner.memory).is_new(&id) {
            return;
        }
        let text = said.text.trim_start();
        let text = text.strip_prefix(&us).unwrap_or(text);
        let text = text.replace(&us, &format!("@{}", known.auth.user));
        let text = as_seen(&text).trim().to_owned();
        if text.is_empty() {
            return;
        }
        let root = match (&said.thread_ts, is_direct) {
            (Some(root), _) => root.as_str(),
            (None, true) => "",
            (None, false) => said.ts.as_str(),
        };
        let thread = format!("{}/{root}", said.channel);
        let command = text.strip_prefix('/');
        if command.is_some() && !said.is_typed() {
            tracing::warn!("a command that nobody typed into Slack is not taken");
            return;
        }
        let clicker = self.clicker(&said.user, Some(&known.auth.team_id)).await;
        if let Some(line) = command {
            // Slash commands do not work in threads, so here is how one is given there.
            let (name, rest) = named(line);
            let typed = Typed {
                name,
                rest,
                clicker,
                is_reply: said.thread_ts.is_some(),
                thread,
                place: said.channel.clone(),
                transport: Ok(()),
                ticket: Some(format!("message:{id}")),
            };
            let back = Back {
                response_url: String::new(),
                place: said.channel,
                root: said.thread_ts.unwrap_or_default(),
                account: said.user,
            };
            let received = Received::Typed(Box::new(typed));
            self.arrived(Route::Command, received, &back, heard).await;
            return;
        }
        if !self.inner.settings.talk {
            return;
        }
        let message = Message {
            thread,
            clicker,
            text,
            at: millis(&said.ts),
            id,
        };
        let _gone = heard.send(Heard::Message(message)).await;
    }

    /// Returns that a card of ours was deleted, if it was one. Slack may leave out what we noted on it.
    async fn gone(&self, said: &Said) -> Option<Heard> {
        let reference = format!("{}/{}", said.channel, said.deleted_ts);
        let noted = match &said.previous_message {
            Some(was) => self.key_of(was).await.ok()?,
            None => None,
        };
        let noted = noted.as_deref().and_then(|key| key.split(':').next());
        let known = || locked(&self.inner.subjects).get(&reference).cloned();
        let subject = noted.map(str::to_owned).or_else(known)?;
        Some(Heard::Gone { subject, reference })
    }

    /// Returns a click with what is the same for all from here.
    fn click(&self, account: &str, transport: Result<(), Untrusted>) -> Click {
        Click {
            channel: self.inner.settings.name.clone(),
            platform: NAME.to_owned(),
            tenant: String::new(),
            transport,
            ticket: None,
            proof: Proof::Typed,
            subject: String::new(),
            press: Press::View,
            digest: None,
            place: String::new(),
            reference: String::new(),
            clicker: Clicker {
                account: account.to_owned(),
                standing: Standing::Unknown,
            },
            tier: self.tier(),
            text: None,
        }
    }

    /// Opens the dialog in which a person writes a note or an answer, or confirms.
    pub(super) async fn open_dialog(
        &self,
        order: &Order,
        click: &Click,
        trigger: &str,
    ) -> Result<(), ApiError> {
        let until = unix_millis() / 1000 + DIALOG_SECONDS;
        let digest = click.digest.unwrap_or(Digest([0; 32]));
        let bound = Bound {
            platform: NAME,
            tenant: &click.tenant,
            place: &click.place,
            subject: &click.subject,
            press: click.press,
            digest,
            holder: Some((&click.clicker.account, until)),
        };
        let state = [
            "1",
            &click.subject,
            click.press.word(),
            &digest.hex(),
            &click.reference,
            &until.to_string(),
            &order.seal.code(&bound),
        ]
        .join("|");
        let view = dialog(&wording(order, click.press), &state).to_string();
        let args = [("trigger_id", trigger), ("view", &view)];
        let _opened: Value = self.inner.api.call("views.open", &args).await?;
        Ok(())
    }
}

/// What a dialog is about, as it carries it itself.
struct DialogState {
    subject: String,
    press: Press,
    digest: Digest,
    reference: String,
    until: i64,
    code: String,
}

fn dialog_of(interaction: &Interaction) -> Option<DialogState> {
    let parts: Vec<&str> = interaction.view.private_metadata.split('|').collect();
    let ["1", subject, press, digest, reference, until, code] = parts.as_slice() else {
        return None;
    };
    Some(DialogState {
        subject: (*subject).to_owned(),
        press: Press::of(press)?,
        digest: Digest::parse(&format!("sha256:{digest}"))?,
        reference: (*reference).to_owned(),
        until: until.parse().ok()?,
        code: (*code).to_owned(),
    })
}

/// Returns a dialog.
pub(super) fn dialog(wording: &Wording, state: &str) -> Value {
    let mut blocks = Vec::new();
    if !wording.introduction.is_empty() {
        let text = format!("{} {}", wording.introduction, wording.covers);
        blocks.extend(pieces(&text, SECTION_CHARS_MAX).iter().map(|it| plain(it)));
    }
    if let Some(Entry {
        name,
        help,
        is_optional,
    }) = wording.entry
    {
        blocks.push(json!({
            "type": "input",
            "block_id": ENTRY,
            "label": { "type": "plain_text", "text": name },
            "hint": { "type": "plain_text", "text": help },
            "optional": is_optional,
            "element": {
                "type": "plain_text_input",
                "action_id": ENTRY,
                "multiline": true,
                "max_length": WORDS_CHARS_MAX,
            },
        }));
    }
    json!({
        "type": "modal",
        "title": { "type": "plain_text", "text": wording.title },
        "submit": { "type": "plain_text", "text": wording.submit },
        "close": { "type": "plain_text", "text": "Cancel" },
        "private_metadata": state,
        "blocks": blocks,
    })
}

/// Returns what a dialog is acknowledged with: it closes, or says what is wrong. Without a response the
/// click may still take effect, so nothing is said about what it changed.
pub(super) fn dialog_answer(press: Option<Press>, response: Option<&Response>) -> Value {
    let (title, words) = match response {
        Some(Response::Words(words) | Response::Over(words) | Response::DialogError(words)) => {
            ("Nothing was changed", words.as_str())
        }
        Some(Response::Counted { .. } | Response::Nothing) => return json!({}),
        None => (
            "Not known yet",
            "It takes longer than usual, and may still take effect. Look at the card before you try again.",
        ),
    };
    if press.is_some_and(Press::needs_words) {
        return json!({ "response_action": "errors", "errors": { ENTRY: words } });
    }
    json!({
        "response_action": "update",
        "view": {
            "type": "modal",
            "title": { "type": "plain_text", "text": title },
            "close": { "type": "plain_text", "text": "Close" },
            "blocks": [plain(words)],
        },
    })
}

fn plain(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "plain_text", "text": text, "emoji": false } })
}

/// Returns the name of a command and what follows it. Nothing at all asks for help.
fn named(line: &str) -> (String, String) {
    let line = line.trim();
    let line = line.strip_prefix('/').unwrap_or(line);
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = if name.is_empty() { "help" } else { name };
    (name.to_owned(), rest.trim().to_owned())
}

/// Returns the time of a message in milliseconds.
pub(super) fn millis(ts: &str) -> i64 {
    let (seconds, rest) = ts.split_once('.').unwrap_or((ts, ""));
    let thousandths = rest.get(..3).unwrap_or("0").parse().unwrap_or(0);
    let seconds: i64 = seconds.parse().unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(thousandths)
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
