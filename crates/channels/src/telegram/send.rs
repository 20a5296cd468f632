//! Sends cards, full texts, prompts and messages, and changes them.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::api::ApiError;
use super::paint::{Painted, UNITS_MAX, bound, paint};
use super::wire::Said;
use super::{MESSAGE_CHARS_MAX, Telegram, locked};
use crate::chat::Typed;
use crate::data::Data;
use crate::fields::set;
use crate::order::{COVERS, Delivered, Order, Subject};
use crate::press::{Click, Press, Proof};
use crate::rich::{Rich, Style};
use crate::text::pieces;

/// What a full text is called as a file.
const FILE_NAME: &str = "full-text.txt";
/// How long somebody may take to write what they were asked for, in seconds.
const PROMPT_SECONDS: i64 = 600;
/// Full texts that are remembered as shown.
const UNFOLDED_MAX: usize = 4096;

/// A place, and a topic of it.
pub(super) type To = (i64, Option<i64>);

impl Telegram {
    pub(super) async fn put_card(&self, order: &Order) -> Result<Delivered, ApiError> {
        let to = self.place_of(&order.to)?;
        match self.put_card_in(to, order).await {
            // The group got another id when it grew; buttons are bound to where they are.
            Err(ApiError::Refused {
                moved_to: Some(chat),
                ..
            }) => {
                locked(&self.inner.moved).insert(to.0, chat);
                self.put_card_in((chat, to.1), order).await
            }
            put => put,
        }
    }

    async fn put_card_in(&self, to: To, order: &Order) -> Result<Delivered, ApiError> {
        let place = to.0.to_string();
        let Painted {
            text,
            keyboard,
            shown,
        } = paint(order, self.canvas(&place));
        let sent = self.send_rich(to, &text, &keyboard, None).await?;
        Ok(Delivered {
            channel: self.inner.settings.name.clone(),
            reference: format!("{place}/{}", sent.message_id),
            shown,
        })
    }

    pub(super) async fn paint_again(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let (place, _) = split(&delivered.reference);
        let painted = paint(order, self.canvas(place));
        self.change(&delivered.reference, &painted.text, &painted.keyboard)
            .await
    }

    /// Changes a message. Without a keyboard it loses the one it has.
    pub(super) async fn change(
        &self,
        reference: &str,
        text: &Rich,
        keyboard: &Value,
    ) -> Result<(), ApiError> {
        let (place, id) = split(reference);
        let mut params = content(text, keyboard);
        set(&mut params, "chat_id", json!(number(place)?));
        set(&mut params, "message_id", json!(number(id)?));
        let changed = self.inner.api.call::<Value>("editMessageText", &params);
        as_it_is(changed.await)
    }

    /// Takes the buttons from a message.
    pub(super) async fn take_buttons(&self, reference: &str) -> Result<(), ApiError> {
        let (place, id) = split(reference);
        let params = json!({ "chat_id": number(place)?, "message_id": number(id)? });
        let method = "editMessageReplyMarkup";
        as_it_is(self.inner.api.call::<Value>(method, &params).await)
    }

    /// Shows the full text below the card: as a message where it fits into one, otherwise as a file.
    pub(super) async fn show_all(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let Subject::Card(card) = &order.what else {
            return Ok(());
        };
        let shown = locked(&self.inner.unfolded).get(&order.key).cloned();
        if let Some(shown) = shown
            && self.is_there(&shown).await?
        {
            return Ok(());
        }
        let (place, id) = split(&delivered.reference);
        let (place, id) = (number(place)?, number(id)?);
        let (_, topic) = self.place_of(&order.to)?;
        let text = card.plain_text();
        let mut rich = Rich::default();
        rich.plain("Full text\n").styled(Style::Pre, &text);
        let sent: Said = if rich.units() <= UNITS_MAX {
            let to = (place, topic);
            self.send_rich(to, &rich, &Value::Null, Some(id)).await?
        } else {
            let count = text.chars().count();
            let digest = Digest::of(text.as_bytes());
            let caption = format!("Full text, {count} characters, {digest}");
            let mut params = json!({ "chat_id": place, "caption": caption });
            set(&mut params, "reply_parameters", reply(id));
            if let Some(topic) = topic {
                set(&mut params, "message_thread_id", json!(topic));
            }
            let file = ("document", FILE_NAME, text.as_str());
            self.inner.api.upload("sendDocument", &params, file).await?
        };
        let mut unfolded = locked(&self.inner.unfolded);
        if unfolded.len() > UNFOLDED_MAX {
            unfolded.clear();
        }
        let reference = format!("{place}/{}", sent.message_id);
        unfolded.insert(order.key.clone(), reference);
        Ok(())
    }

    /// Whether a message of ours without buttons is still there: it can be asked to stay as it is.
    async fn is_there(&self, reference: &str) -> Result<bool, ApiError> {
        match self.take_buttons(reference).await {
            Ok(()) => Ok(true),
            Err(ApiError::Refused { .. }) => Ok(false),
            Err(away @ ApiError::Away(_)) => Err(away),
        }
    }

    /// Sends a text in as many messages as it takes.
    pub(super) async fn send_parts(
        &self,
        to: To,
        text: &str,
        below: Option<i64>,
    ) -> Result<(), ApiError> {
        let mut rich = Rich::default();
        rich.markdown(text);
        for part in rich.split(UNITS_MAX) {
            self.send_rich(to, &part, &Value::Null, below).await?;
        }
        Ok(())
    }

    /// Answers a command with a text for its author alone.
    pub(super) async fn answer_alone(&self, typed: &Typed, text: &str) -> Result<(), ApiError> {
        let account = number(&typed.clicker.account)?;
        let is_alone = typed.place == typed.clicker.account;
        // The ticket is the message it was typed in.
        let message = typed.ticket.as_deref().and_then(|it| it.rsplit_once('/'));
        let message = message.and_then(|(_, id)| id.parse().ok());
        self.send_parts((account, None), text, message.filter(|_| is_alone))
            .await
    }

    /// Asks the person behind a press for words, or for a second yes. What proves it later is a code
    /// that is bound to this person and an end; it stands in the prompt itself, so a restart forgets
    /// nothing.
    pub(super) async fn prompt(&self, order: &Order, click: &Click) -> Result<(), ApiError> {
        let until = unix_seconds() + PROMPT_SECONDS;
        let holder = Some((click.clicker.account.as_str(), until));
        let canvas = self.canvas(&click.place);
        let code = order.seal.code(&bound(click.press, order, canvas, holder));
        let data = Data {
            subject: click.subject.clone(),
            press: click.press,
            proof: Proof::Dialog { code, until },
        };
        let data = data.written().unwrap_or_default();
        let (place, card) = split(&click.reference);
        let (place, card) = (number(place)?, number(card)?);
        let (_, topic) = self.place_of(&order.to)?;
        let mut rich = Rich::default();
        let keyboard = match click.press {
            Press::Choose(_) => {
                rich.styled(Style::Bold, "Allow permanently?").plain("\n");
                rich.plain("This call is critical. From now on calls like it run without asking: ");
                rich.words(covers(order));
                let button = json!({ "text": "Allow permanently", "callback_data": data, "style": "danger" });
                json!({ "inline_keyboard": [[button]] })
            }
            Press::DenyNote => {
                // A client opens the reply only for those who are mentioned.
                rich.mention("You", number(&click.clicker.account)?);
                rich.plain(" can reply to this message with the note for the agent; then the call is denied.");
                forced("Note", &mut rich, &data, card)
            }
            Press::Other | Press::View | Press::Answer(_) | Press::Revoke => {
                rich.mention("You", number(&click.clicker.account)?);
                rich.plain(" can reply to this message with your answer. It permits nothing.");
                forced("Answer", &mut rich, &data, card)
            }
        };
        let to = (place, topic);
        self.send_rich(to, &rich, &keyboard, Some(card)).await?;
        Ok(())
    }

    pub(super) async fn say_in(&self, to: To, text: &Rich) -> Result<String, ApiError> {
        let sent = self.send_rich(to, text, &Value::Null, None).await?;
        Ok(format!("{}/{}", sent.chat.id, sent.message_id))
    }

    /// Sends a text as it is: a person saw exactly this and allowed exactly this.
    pub(super) async fn send_exactly(&self, to: To, text: &str) -> Result<(), ApiError> {
        for piece in pieces(text, MESSAGE_CHARS_MAX) {
            let mut rich = Rich::default();
            rich.plain(&piece);
            self.send_rich(to, &rich, &Value::Null, None).await?;
        }
        Ok(())
    }

    pub(super) async fn send_rich(
        &self,
        (chat, topic): To,
        text: &Rich,
        markup: &Value,
        below: Option<i64>,
    ) -> Result<Said, ApiError> {
        let mut params = content(text, markup);
        set(&mut params, "chat_id", json!(chat));
        if let Some(topic) = topic {
            set(&mut params, "message_thread_id", json!(topic));
        }
        if let Some(message) = below {
            set(&mut params, "reply_parameters", reply(message));
        }
        self.inner.api.call("sendMessage", &params).await
    }

    pub(super) async fn show_typing_in(&self, thread: &str) -> Result<(), ApiError> {
        let (chat, topic) = super::place(thread).map_err(|why| ApiError::ours(&why))?;
        let mut params = json!({ "chat_id": self.moved(chat), "action": "typing" });
        if let Some(topic) = topic {
            set(&mut params, "message_thread_id", json!(topic));
        }
        let _shown: bool = self.inner.api.call("sendChatAction", &params).await?;
        Ok(())
    }
}

/// Returns the markup that lets a client open a reply, and adds what proves it to the prompt.
fn forced(hint: &str, rich: &mut Rich, data: &str, card: i64) -> Value {
    rich.plain("\n")
        .styled(Style::Code, &format!("{data}.{card}"));
    json!({ "force_reply": true, "selective": true, "input_field_placeholder": hint })
}

/// Returns what more than one use would cover.
fn covers(order: &Order) -> &str {
    match &order.what {
        Subject::Card(card) => {
            let covers = card.lineage.iter().find(|field| field.name == COVERS);
            covers.map_or("", |field| field.text.as_str())
        }
        Subject::Question(_) => "",
    }
}

fn content(text: &Rich, markup: &Value) -> Value {
    let mut params = json!({
        "text": text.text(),
        "entities": text.entities(),
        "link_preview_options": { "is_disabled": true },
    });
    if !markup.is_null() {
        set(&mut params, "reply_markup", markup.clone());
    }
    params
}

fn reply(message: i64) -> Value {
    json!({ "message_id": message, "allow_sending_without_reply": true })
}

/// A message that looks so already is as it should be.
fn as_it_is(changed: Result<Value, ApiError>) -> Result<(), ApiError> {
    match changed {
        Err(error) if error.says("message is not modified") => Ok(()),
        changed => changed.map(drop),
    }
}

/// Returns the place and the message of a reference.
pub(super) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('/').unwrap_or((reference, ""))
}

fn number(text: &str) -> Result<i64, ApiError> {
    text.parse()
        .map_err(|_| ApiError::ours("it is not a number"))
}

pub(super) fn unix_seconds() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| {
        i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
    })
}
