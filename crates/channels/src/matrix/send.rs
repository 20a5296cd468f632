//! Sends cards, full texts, prompts and messages, and edits them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_core::digest::Digest;
use reqwest::Method;
use serde_json::{Value, json};

use super::api::ApiError;
use super::html;
use super::legend::YES;
use super::paint::{CARD, PROMPT, bound, is_sendable, paint};
use super::wire::{Event, Page, events, text};
use super::{MESSAGE_CHARS_MAX, Matrix, locked, split};
use crate::fields::set;
use crate::order::{Attempt, Delivered, Destination, Order, Subject};
use crate::press::{Click, Press};
use crate::rich::{Rich, Style};
use crate::text::pieces;
use crate::wording::wording;

/// What a full text is called as a file.
const FILE_NAME: &str = "full-text.txt";
/// How long somebody may take to write what they were asked for, in seconds.
const PROMPT_SECONDS: i64 = 600;
/// Full texts that are remembered as shown.
const UNFOLDED_MAX: usize = 4096;
/// How far the server's clock may be behind ours when an earlier delivery is looked for.
const SKEW_MILLIS: i64 = 5 * 60 * 1000;
/// Pages that are looked at for an earlier delivery, and events on each.
const PAGES_MAX: usize = 50;
const PAGE: &str = "100";
/// How long it is shown that something is being written.
const TYPING_MILLIS: u64 = 5000;
/// Stands at the end of a message that was cut.
const CUT: &str = "\n⟨the rest does not fit⟩";
/// A message, for people to read at once or only beside others: clients notify nobody of the latter.
pub(super) const LOUD: &str = "m.text";
pub(super) const QUIET: &str = "m.notice";
/// The type of a message.
const MESSAGE: &str = "m.room.message";
/// Says to what somebody did a message is the response.
pub(super) const ABOUT: &str = "countersign.about";

impl Matrix {
    pub(super) async fn put_card(&self, order: &Order) -> Result<Delivered, ApiError> {
        let (room, thread) = self.place_of(&order.to).await?;
        match self.check_open(&room).await {
            // It may have been invited since it began.
            Err(error) if order.to == Destination::Usual && error.is("M_FORBIDDEN") => {
                self.join(&room).await?;
                self.check_open(&room).await?;
            }
            checked => checked?,
        }
        let mentions = self.mentions(order);
        let painted = paint(order, self.canvas(&room), &mentions);
        let mut content = painted.content;
        if let Some(root) = &thread {
            set(&mut content, "m.relates_to", in_thread(root));
        }
        let earlier = match order.attempt {
            Attempt::First => None,
            Attempt::Again => self.earlier(&room, &order.key, order.since.0).await?,
        };
        let event = match earlier {
            Some(event) => event,
            None => {
                self.inner
                    .api
                    .send(&room, MESSAGE, &txn(&order.key), &content)
                    .await?
            }
        };
        Ok(Delivered {
            channel: self.inner.settings.name.clone(),
            reference: format!("{room}/{event}"),
            shown: painted.shown,
        })
    }

    /// Returns whom a card mentions: those who may answer it.
    fn mentions(&self, order: &Order) -> Vec<String> {
        if !self.inner.settings.mention || order.closing.is_some() {
            return Vec::new();
        }
        order.callees.clone()
    }

    /// Returns the card that was sent under `key` before. The server knows what was sent under the same
    /// name for some time only.
    async fn earlier(
        &self,
        room: &str,
        key: &str,
        asked_at: i64,
    ) -> Result<Option<String>, ApiError> {
        let us = self.known().await?.user;
        let since = asked_at.saturating_sub(SKEW_MILLIS);
        let filter = json!({ "types": [MESSAGE], "senders": [us] }).to_string();
        let mut from: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut query = vec![("dir", "b"), ("limit", PAGE), ("filter", filter.as_str())];
            query.extend(from.as_deref().map(|from| ("from", from)));
            let page: Page = self
                .inner
                .api
                .get(&["rooms", room, "messages"], &query)
                .await?;
            let found = events(page.chunk);
            let is_it = |it: &&Event| {
                let marks = it.content.get(CARD);
                it.sender == us
                    && marks.is_some_and(|marks| text(marks, "key") == key)
                    && !it.is_related("m.replace")
            };
            if let Some(event) = found.iter().find(is_it) {
                return Ok(Some(event.id.clone()));
            }
            let is_over = found.iter().any(|it| it.origin_server_ts < since);
            from = page.end;
            if is_over || from.is_none() {
                break;
            }
        }
        Ok(None)
    }

    /// Paints a card again, unless it looks so already.
    pub(super) async fn paint_again(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let (room, event) = split(&delivered.reference);
        let mentions = self.mentions(order);
        let painted = paint(order, self.canvas(room), &mentions);
        let card = self.event(room, event).await?;
        if is_redacted(&card) {
            return Err(ApiError::ours("the card was deleted"));
        }
        let is_same = |key: &str| card.look().get(key) == painted.content.get(key);
        if is_same("body") && is_same("formatted_body") {
            return Ok(());
        }
        self.replace(room, event, &painted.content).await
    }

    /// Edits an event: clients show the new content in its place.
    pub(super) async fn replace(
        &self,
        room: &str,
        event: &str,
        content: &Value,
    ) -> Result<(), ApiError> {
        // For clients that know no edits; the whole of it would not fit twice.
        let first = text(content, "body").lines().next().unwrap_or_default();
        let edit = json!({
            "msgtype": text(content, "msgtype"),
            "body": format!("* {first}"),
            // Nobody is called again.
            "m.mentions": {},
            "m.new_content": content,
            "m.relates_to": { "rel_type": "m.replace", "event_id": event },
        });
        let txn = unique();
        let sent = self.inner.api.send(room, MESSAGE, &txn, &edit);
        sent.await.map(drop)
    }

    /// Returns an event.
    pub(super) async fn event(&self, room: &str, id: &str) -> Result<Event, ApiError> {
        self.inner.api.get(&["rooms", room, "event", id], &[]).await
    }

    /// Whether a message of ours is there and was not deleted.
    pub(super) async fn is_there(&self, reference: &str) -> Result<bool, ApiError> {
        let (room, event) = split(reference);
        match self.event(room, event).await {
            Ok(event) => Ok(!is_redacted(&event)),
            Err(ApiError::Refused { .. }) => Ok(false),
            Err(away @ ApiError::Away(_)) => Err(away),
        }
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
        let (room, event) = split(&delivered.reference);
        self.check_open(room).await?;
        let text = card.plain_text();
        let mut rich = Rich::default();
        rich.plain("Full text\n").styled(Style::Pre, &text);
        let mut content = html::content(QUIET, &rich, &[]);
        if !is_sendable(&content) {
            let count = text.chars().count();
            let digest = Digest::of(text.as_bytes());
            content = json!({
                "msgtype": "m.file",
                "body": format!("Full text, {count} characters, {digest}"),
                "filename": FILE_NAME,
                "url": self.inner.api.upload(FILE_NAME, &text).await?,
                "info": { "mimetype": "text/plain; charset=utf-8", "size": text.len() },
                "m.mentions": {},
            });
        }
        set(&mut content, "m.relates_to", below(event));
        let sent = self
            .inner
            .api
            .send(room, MESSAGE, &unique(), &content)
            .await?;
        let mut unfolded = locked(&self.inner.unfolded);
        if unfolded.len() > UNFOLDED_MAX {
            unfolded.clear();
        }
        unfolded.insert(order.key.clone(), format!("{room}/{sent}"));
        Ok(())
    }

    /// Asks the person behind a reaction for words, or for a second yes. What proves it later is a code
    /// that is bound to this person and an end; it is in the event of the prompt, so a restart forgets
    /// nothing.
    pub(super) async fn prompt(&self, order: &Order, click: &Click) -> Result<(), ApiError> {
        let until = unix_seconds() + PROMPT_SECONDS;
        let holder = Some((click.clicker.account.as_str(), until));
        let canvas = self.canvas(&click.place);
        let code = order.seal.code(&bound(click.press, order, canvas, holder));
        let (room, card) = split(&click.reference);
        let mut rich = Rich::default();
        rich.styled(Style::Code, &click.clicker.account);
        match click.press {
            Press::Choose(_) => {
                let said = wording(order, click.press);
                rich.plain(" ").styled(Style::Bold, said.title).plain("\n");
                rich.plain(said.introduction).plain(" ");
                rich.words(&said.covers).plain("\n");
                rich.plain(&format!("React to this message: {YES} {}", said.submit));
            }
            Press::DenyNote => {
                rich.plain(" can reply to this message with the note for the agent; then the call is denied.");
            }
            Press::Other | Press::View | Press::Answer(_) | Press::Revoke => {
                rich.plain(" can reply to this message with the answer. It permits nothing.");
            }
        }
        let mentions = [click.clicker.account.clone()];
        let mut content = html::content(LOUD, &rich, &mentions);
        let marks = json!({
            "v": 1, "subject": click.subject, "press": click.press.word(),
            "code": code, "until": until, "card": card,
        });
        set(&mut content, PROMPT, marks);
        set(&mut content, "m.relates_to", below(card));
        // Of several gateways that heard the same reaction one asks.
        let txn = txn(click.ticket.as_deref().unwrap_or_default());
        self.inner
            .api
            .send(room, MESSAGE, &txn, &content)
            .await
            .map(drop)
    }

    /// Posts a text into a conversation and returns where it is.
    pub(super) async fn say_in(
        &self,
        (room, thread): (String, Option<String>),
        content: &Value,
        key: &str,
    ) -> Result<String, ApiError> {
        self.check_open(&room).await?;
        let mut content = content.clone();
        if let Some(root) = thread {
            set(&mut content, "m.relates_to", in_thread(&root));
        }
        let sent = self
            .inner
            .api
            .send(&room, MESSAGE, &txn(key), &content)
            .await?;
        Ok(format!("{room}/{sent}"))
    }

    /// Tells one person something in as many messages as it takes: where they asked if nobody else is
    /// there, otherwise in the conversation with them alone.
    pub(super) async fn tell_alone(
        &self,
        (room, event): (&str, &str),
        account: &str,
        words: &str,
        kind: &str,
    ) -> Result<(), ApiError> {
        let known = self.room(room).await?;
        let is_alone = known.people.len() <= 2 && known.people.contains(account);
        let to = if is_alone && !known.is_encrypted {
            room.to_owned()
        } else {
            self.direct(account).await?
        };
        let mut rich = Rich::default();
        rich.markdown(words);
        for (number, part) in rich.split(MESSAGE_CHARS_MAX).iter().enumerate() {
            let mut content = html::content(kind, part, &[]);
            set(&mut content, ABOUT, event);
            if to == room {
                set(&mut content, "m.relates_to", below(event));
            }
            let txn = txn(&format!("told {event} {number} {words}"));
            self.inner.api.send(&to, MESSAGE, &txn, &content).await?;
        }
        Ok(())
    }

    /// Sends a text as it is: a person saw exactly this and allowed exactly this.
    pub(super) async fn send_exactly(
        &self,
        to: &str,
        text: &str,
        key: &str,
    ) -> Result<(), ApiError> {
        let room = self.named(to).await?;
        self.check_open(&room).await?;
        for (number, piece) in pieces(text, MESSAGE_CHARS_MAX).iter().enumerate() {
            let content = json!({ "msgtype": LOUD, "body": piece, "m.mentions": {} });
            let txn = txn(&format!("{key} {number}"));
            self.inner.api.send(&room, MESSAGE, &txn, &content).await?;
        }
        Ok(())
    }

    pub(super) async fn show_typing_in(&self, room: &str) -> Result<(), ApiError> {
        let us = self.known().await?.user;
        let path = ["rooms", room, "typing", us.as_str()];
        let body = json!({ "typing": true, "timeout": TYPING_MILLIS });
        let _shown: Value = self.inner.api.call(Method::PUT, &path, &body).await?;
        Ok(())
    }
}

/// Returns what somebody says as a message, hidden characters written out.
pub(super) fn spoken(text: &str) -> Value {
    let mut rich = Rich::default();
    rich.markdown(&countersign_core::display::unfenced(text));
    let content = html::content(LOUD, &rich, &[]);
    if is_sendable(&content) {
        return content;
    }
    // Only what is full of hidden characters grows so much when they are written out.
    let parts = rich.split(MESSAGE_CHARS_MAX);
    let mut head = parts.into_iter().next().unwrap_or_default();
    head.plain(CUT);
    html::content(LOUD, &head, &[])
}

/// Whether an event was deleted: the server keeps where it was and takes away what it said.
pub(super) fn is_redacted(event: &Event) -> bool {
    let because = event.unsigned.get("redacted_because");
    because.is_some() || event.content.get("msgtype").is_none()
}

/// Returns the name under which something is sent once.
fn txn(key: &str) -> String {
    format!("cs{}", Digest::of(key.as_bytes()).hex())
}

/// Returns a name under which nothing was sent before.
pub(super) fn unique() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = passed.map_or(0, |passed| passed.as_nanos());
    let process = std::process::id();
    format!(
        "cs{process}.{nanos}.{}",
        LAST.fetch_add(1, Ordering::Relaxed)
    )
}

fn below(event: &str) -> Value {
    json!({ "m.in_reply_to": { "event_id": event } })
}

fn in_thread(root: &str) -> Value {
    json!({
        "rel_type": "m.thread", "event_id": root, "is_falling_back": true,
        "m.in_reply_to": { "event_id": root },
    })
}

pub(super) fn unix_seconds() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| {
        i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
    })
}
