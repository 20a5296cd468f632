//! Callbacks from the server: buttons, commands, dialogs, and our responses.
//!
//! Nothing in a callback is believed by itself. Who did it is proven by the signed trigger, which
//! button it was by the code in its context; both are checked, and the rest is the gate's to compare
//! with what it knows.

use std::sync::atomic::Ordering;

use countersign_core::digest::Digest;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::ApiError;
use super::paint::{Painted, paint};
use super::wire::{ActionCallback, CommandCallback, DialogCallback};
use super::{DIALOG_SECONDS, KEY_PROP, Mattermost, NAME, dialog_bound, split, unix_millis};
use crate::chat::{Received, Response, Route, Typed};
use crate::fields::set;
use crate::order::Order;
use crate::press::{Click, Clicker, Press, Proof, Standing, Untrusted};
use crate::text::{inert, quiet};
use crate::wording::{Entry, Wording, wording};

/// Longest body that is read, in bytes.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Longest words of a dialog, in characters; the server's own limit.
const WORDS_CHARS_MAX: usize = 3000;

/// The payload of our buttons.
#[derive(Deserialize)]
struct Context {
    v: u32,
    a: String,
    d: String,
    g: String,
    t: String,
}

impl Mattermost {
    /// Reads a button that was pressed.
    pub(super) async fn action(&self, body: &[u8]) -> Received {
        let Some(callback) = parsed::<ActionCallback>(body) else {
            return Received::Refused(Untrusted::Malformed);
        };
        // Only buttons of a post; not what a dialog or a menu of somebody else sends.
        if callback.kind != "button" {
            return Received::Refused(Untrusted::Malformed);
        }
        let context = Value::Object(callback.context);
        let read: Result<Context, _> = serde_json::from_value(context);
        let Some((context, press, digest)) = read.ok().and_then(|context| {
            let press = Press::of(&context.d)?;
            let digest = Digest::parse(&context.g)?;
            (context.v == 1).then_some((context, press, digest))
        }) else {
            return Received::Refused(Untrusted::Malformed);
        };
        let checked = self
            .check_trigger(&callback.trigger_id, &callback.user_id)
            .await;
        let (transport, ticket) = match checked {
            Ok(ticket) => (Ok(()), Some(ticket)),
            Err(why) => (Err(why), None),
        };
        let clicker = self.clicker(&callback.user_id, transport).await;
        let click = Click {
            ticket,
            proof: Proof::Button { code: context.t },
            subject: context.a,
            press,
            digest: Some(digest),
            reference: format!("{}/{}", callback.channel_id, callback.post_id),
            place: callback.channel_id,
            ..self.click(clicker, transport)
        };
        Received::Click {
            click: Box::new(click),
            handle: callback.trigger_id,
        }
    }

    /// Reads a dialog that was closed. It bears no trigger; what proves it is the code in its state,
    /// which is bound to the person it was opened for.
    pub(super) async fn dialog(&self, body: &[u8]) -> Received {
        let Some(callback) = parsed::<DialogCallback>(body) else {
            return Received::Refused(Untrusted::Malformed);
        };
        if callback.kind != "dialog_submission" {
            return Received::Refused(Untrusted::Malformed);
        }
        if callback.cancelled {
            return Received::Nothing;
        }
        let parts: Vec<&str> = callback.state.split('.').collect();
        let ["1", subject, press, digest, place, post, until, code] = parts.as_slice() else {
            return Received::Refused(Untrusted::Malformed);
        };
        let (Some(press), Some(digest), Ok(until)) = (
            Press::of(press),
            Digest::parse(&format!("sha256:{digest}")),
            until.parse(),
        ) else {
            return Received::Refused(Untrusted::Malformed);
        };
        let words = callback.submission.as_ref();
        let words = words.and_then(|it| it.get("text")).and_then(Value::as_str);
        let words = words.unwrap_or_default();
        if words.chars().count() > WORDS_CHARS_MAX {
            return Received::Refused(Untrusted::Malformed);
        }
        let clicker = self.clicker(&callback.user_id, Ok(())).await;
        let click = Click {
            proof: Proof::Dialog {
                code: (*code).to_owned(),
                until,
            },
            subject: (*subject).to_owned(),
            press,
            digest: Some(digest),
            reference: format!("{place}/{post}"),
            place: (*place).to_owned(),
            text: Some(words.to_owned()).filter(|words| !words.trim().is_empty()),
            ..self.click(clicker, Ok(()))
        };
        Received::Click {
            click: Box::new(click),
            handle: String::new(),
        }
    }

    /// Reads a command that was typed.
    pub(super) async fn command(&self, body: &[u8]) -> Received {
        let Some(callback) = form(body) else {
            return Received::Refused(Untrusted::Malformed);
        };
        let trigger = callback.command.trim_start_matches('/');
        let Some(name) = self.typed_command(trigger, &callback.token).await else {
            return Received::Refused(Untrusted::WrongToken);
        };
        let checked = self
            .check_trigger(&callback.trigger_id, &callback.user_id)
            .await;
        let (transport, ticket) = match checked {
            Ok(ticket) => (Ok(()), Some(ticket)),
            Err(why) => (Err(why), None),
        };
        if transport.is_ok()
            && let Ok(known) = self.known().await
            && known.bot.id == callback.user_id
        {
            self.inner.own_commands.fetch_add(1, Ordering::Relaxed);
        }
        let clicker = self.clicker(&callback.user_id, transport).await;
        Received::Typed(Box::new(Typed {
            name: name.to_owned(),
            rest: callback.text,
            clicker,
            is_reply: !callback.root_id.is_empty(),
            thread: format!("{}/{}", callback.channel_id, callback.root_id),
            place: callback.channel_id,
            transport,
            ticket,
        }))
    }

    /// Returns who did it. The server is asked only about people it vouched for.
    async fn clicker(&self, account: &str, transport: Result<(), Untrusted>) -> Clicker {
        let standing = match transport {
            Ok(()) => self.standing(account).await,
            Err(_) => Standing::Unknown,
        };
        Clicker {
            account: account.to_owned(),
            standing,
        }
    }

    /// Returns a click with what is the same for all from this server.
    pub(super) fn click(&self, clicker: Clicker, transport: Result<(), Untrusted>) -> Click {
        Click {
            channel: self.inner.settings.name.clone(),
            platform: NAME.to_owned(),
            tenant: self.inner.tenant.clone(),
            transport,
            ticket: None,
            proof: Proof::Typed,
            subject: String::new(),
            press: Press::View,
            digest: None,
            place: String::new(),
            reference: String::new(),
            clicker,
            tier: self.tier(),
            text: None,
        }
    }

    /// Opens the dialog in which a person writes a note or an answer.
    pub(super) async fn open_dialog(
        &self,
        order: &Order,
        click: &Click,
        handle: &str,
    ) -> Result<(), ApiError> {
        let until = unix_millis() / 1000 + DIALOG_SECONDS;
        let bound = dialog_bound(&self.inner.tenant, click, click.press, until);
        let digest = bound.digest.hex();
        let (place, post) = split(&click.reference);
        let code = order.seal.code(&bound);
        let state = [
            "1",
            &click.subject,
            click.press.word(),
            &digest,
            place,
            post,
            &until.to_string(),
            &code,
        ]
        .join(".");
        let body = json!({
            "trigger_id": handle,
            "url": self.route_url("dialog"),
            "dialog": dialog(click.press, &wording(order, click.press), &state),
        });
        let path = ["actions", "dialogs", "open"];
        let _opened: Value = self.inner.api.post(&path, &body).await?;
        Ok(())
    }
}

/// Returns a dialog of these words.
pub(super) fn dialog(press: Press, wording: &Wording, state: &str) -> Value {
    let element = |entry: Entry| {
        json!({
            "display_name": entry.name,
            "name": "text",
            "type": "textarea",
            "help_text": entry.help,
            "optional": entry.is_optional,
            "max_length": WORDS_CHARS_MAX,
        })
    };
    let mut dialog = json!({
        "callback_id": press.word(),
        "title": wording.title,
        "submit_label": wording.submit,
        "notify_on_cancel": false,
        "state": state,
        "elements": wording.entry.map(element).into_iter().collect::<Vec<_>>(),
    });
    if !wording.introduction.is_empty() {
        let text = format!("{} {}", wording.introduction, inert(&wording.covers));
        set(&mut dialog, "introduction_text", text);
    }
    dialog
}

/// Returns what the server is answered; it takes nothing but 200.
pub(super) fn respond(chat: &Mattermost, route: Route, response: &Response) -> Value {
    match (route, response) {
        (
            Route::Command,
            Response::Words(words) | Response::Over(words) | Response::Counted { words, .. },
        ) => json!({
            "response_type": "ephemeral",
            "text": quiet(words),
            "skip_slack_parsing": true,
        }),
        (
            Route::Dialog,
            Response::Words(words) | Response::Over(words) | Response::DialogError(words),
        ) => json!({ "error": words }),
        (
            Route::Action,
            Response::Counted {
                order,
                delivered,
                words,
            },
        ) => {
            let (place, _) = split(&delivered.reference);
            let Painted {
                message,
                attachments,
                ..
            } = paint(order, &chat.canvas(place, ""));
            // Without `props` the server would keep the old ones, buttons and all.
            let props = json!({ "attachments": attachments, KEY_PROP: order.key });
            json!({
                "update": { "message": message, "props": props },
                "ephemeral_text": quiet(words),
                "skip_slack_parsing": true,
            })
        }
        (Route::Action | Route::Command, Response::DialogError(words))
        | (Route::Action, Response::Words(words) | Response::Over(words)) => json!({
            "ephemeral_text": quiet(words),
            "skip_slack_parsing": true,
        }),
        (Route::Dialog, Response::Counted { .. }) | (_, Response::Nothing) => json!({}),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(body: &[u8]) -> Option<T> {
    if body.len() > BODY_BYTES_MAX {
        return None;
    }
    serde_json::from_slice(body).ok()
}

/// Reads the form a command comes as.
fn form(body: &[u8]) -> Option<CommandCallback> {
    if body.len() > BODY_BYTES_MAX {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let mut url = Url::parse("http://form/").ok()?;
    url.set_query(Some(text));
    let mut callback = CommandCallback::default();
    for (name, value) in url.query_pairs() {
        let field = match &*name {
            "token" => &mut callback.token,
            "channel_id" => &mut callback.channel_id,
            "user_id" => &mut callback.user_id,
            "command" => &mut callback.command,
            "text" => &mut callback.text,
            "trigger_id" => &mut callback.trigger_id,
            "root_id" => &mut callback.root_id,
            _ => continue,
        };
        *field = value.into_owned();
    }
    (!callback.token.is_empty()).then_some(callback)
}
