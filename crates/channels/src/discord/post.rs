//! Posts cards (each once), full texts and messages, and changes them.
//!
//! A message is created under a nonce, so that Discord itself drops a second one for some minutes; after
//! that an earlier card is looked for by the id in its footer.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use countersign_core::id::{ApprovalId, ClarificationId};
use reqwest::Method;
use serde_json::{Value, json};

use super::api::{ApiError, code};
use super::markdown::{literal, pieces, spoken, translated};
use super::paint::{Painted, paint};
use super::wire::Said;
use super::{Discord, Found, MESSAGE_MAX, locked, split, unix_millis};
use crate::chat::Heard;
use crate::fields::set;
use crate::order::{Attempt, Delivered, Destination, Order, Subject};

/// How far Discord's clock may be behind ours when an earlier delivery is looked for.
const SKEW_MILLIS: i64 = 5 * 60 * 1000;
/// What a full text is called as a file.
const FILE_NAME: &str = "full-text.txt";
/// Messages on one page of a channel, and the pages that are looked at.
const PAGE: usize = 100;
const PAGES_MAX: usize = 50;
/// Most cards whose looks are remembered.
const LOOKS_MAX: usize = 4096;
/// Bytes of a nonce before they are written as letters; Discord takes 25 letters.
const NONCE_BYTES: usize = 18;
/// The flag of a message whose links are not previewed.
pub(super) const NO_PREVIEWS: u32 = 4;
/// When Discord's ids begin, in Unix milliseconds.
const EPOCH_MILLIS: i64 = 1_420_070_400_000;
/// Longest part of a text that is sent as it is, in characters: each could need a backslash.
const LITERAL_CHARS_MAX: usize = 950;
/// Stands at the end of a message that was cut.
const CUT: &str = "\n⟨the rest does not fit⟩";

impl Discord {
    pub(super) async fn put_card(&self, order: &Order) -> Result<Delivered, ApiError> {
        let place = self.place_of(&order.to).await?;
        let painted = self.painted(order, &place).await?;
        let since = order.since.0.saturating_sub(SKEW_MILLIS);
        let earlier = match order.attempt {
            Attempt::First => None,
            Attempt::Again => {
                let subject = order.what.id();
                self.earlier(&place, subject, &order.key, since).await?
            }
        };
        // What was found once may have been deleted since.
        let earlier = match earlier {
            Some(id) if self.is_message(&format!("{place}/{id}")).await? => Some(id),
            Some(_) | None => None,
        };
        let id = match earlier {
            Some(id) => id,
            None => self.create(&place, &painted.body, &order.key).await?,
        };
        let reference = format!("{place}/{id}");
        self.note_subject(&reference, order.what.id()).await;
        self.note_looks(&reference, &painted).await;
        Ok(Delivered {
            channel: self.inner.settings.name.clone(),
            reference,
            shown: painted.shown,
        })
    }

    /// Renders a card for a place.
    pub(super) async fn painted(&self, order: &Order, place: &str) -> Result<Painted, ApiError> {
        let known = self.known().await?;
        Ok(paint(order, &self.canvas(&known.application, place)))
    }

    /// Posts a message under a key, once.
    async fn create(&self, place: &str, body: &Value, key: &str) -> Result<String, ApiError> {
        locked(&self.inner.tried).insert(key.to_owned());
        let body = with_nonce(body, key);
        let path = ["channels", place, "messages"];
        let posted: Said = self.inner.api.post(&path, &body).await?;
        locked(&self.inner.tried).remove(key);
        Ok(posted.id)
    }

    /// Returns the card of a question that was posted before. What this process has not tried itself can
    /// only have been posted before it began, so looking once is enough for all of those.
    async fn earlier(
        &self,
        place: &str,
        subject: &str,
        key: &str,
        since: i64,
    ) -> Result<Option<String>, ApiError> {
        let is_ours = locked(&self.inner.tried).contains(key);
        let mut found = self.inner.found.lock().await;
        if !is_ours
            && let Some(found) = found.get(place)
            && found.since <= since
        {
            return Ok(found.cards.get(subject).cloned());
        }
        let mut cards = HashMap::new();
        for said in self.read(place, &snowflake(since)).await? {
            if let Some(subject) = self.subject_of(&said).await? {
                cards.insert(subject, said.id);
            }
        }
        let id = cards.get(subject).cloned();
        found.insert(place.to_owned(), Found { since, cards });
        Ok(id)
    }

    /// Reads the messages of a place behind one of them, oldest page first.
    async fn read(&self, place: &str, after: &str) -> Result<Vec<Said>, ApiError> {
        let mut all: Vec<Said> = Vec::new();
        let mut after = after.to_owned();
        let limit = PAGE.to_string();
        for _ in 0..PAGES_MAX {
            let path = ["channels", place, "messages"];
            let query = [("limit", limit.as_str()), ("after", after.as_str())];
            let page: Vec<Said> = self.inner.api.get_with(&path, &query).await?;
            let newest = page.iter().filter_map(|it| it.id.parse::<u64>().ok()).max();
            let is_last = page.len() < PAGE;
            all.extend(page);
            match newest {
                Some(newest) if !is_last => after = newest.to_string(),
                Some(_) | None => break,
            }
        }
        Ok(all)
    }

    /// Returns the question of a card of ours, as its footer says.
    async fn subject_of(&self, said: &Said) -> Result<Option<String>, ApiError> {
        if said.author.id != self.known().await?.user.id {
            return Ok(None);
        }
        let footers = said.embeds.iter().filter_map(|it| it.footer.as_ref());
        let mut ids = footers.filter_map(|it| it.text.split(' ').next());
        let subject = ids.find(|id| ApprovalId::is_id(id) || ClarificationId::is_id(id));
        Ok(subject.map(str::to_owned))
    }

    /// Paints a delivered card as `order` says, unless it looks so already.
    pub(super) async fn paint_again(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let (place, id) = split(&delivered.reference);
        let painted = self.painted(order, place).await?;
        let looks_now = looks(&painted);
        let shown = self.looks_of(&delivered.reference);
        // One at a time, so that what is remembered is what was painted last.
        let mut shown = shown.lock().await;
        if shown.as_ref() == Some(&looks_now) {
            return Ok(());
        }
        self.change(place, id, &painted.body).await?;
        *shown = Some(looks_now);
        Ok(())
    }

    /// Remembers that a card looks so.
    pub(super) async fn note_looks(&self, reference: &str, painted: &Painted) {
        *self.looks_of(reference).lock().await = Some(looks(painted));
    }

    /// Notes which question a card is about. One that was deleted before this is known is told now.
    async fn note_subject(&self, reference: &str, subject: &str) {
        {
            let mut subjects = locked(&self.inner.subjects);
            if subjects.len() > LOOKS_MAX {
                subjects.clear();
            }
            subjects.insert(reference.to_owned(), subject.to_owned());
        }
        let is_gone = locked(&self.inner.gone).iter().any(|it| it == reference);
        let heard = locked(&self.inner.heard).clone();
        if let (true, Some(heard)) = (is_gone, heard) {
            let gone = Heard::Gone {
                subject: subject.to_owned(),
                reference: reference.to_owned(),
            };
            let _stopping = heard.send(gone).await;
        }
    }

    fn looks_of(&self, reference: &str) -> Arc<tokio::sync::Mutex<Option<Digest>>> {
        let mut looks = locked(&self.inner.looks);
        if looks.len() > LOOKS_MAX {
            // What is forgotten is painted once more than it must be.
            looks.clear();
        }
        Arc::clone(looks.entry(reference.to_owned()).or_default())
    }

    /// Changes a message of ours.
    async fn change(&self, place: &str, id: &str, body: &Value) -> Result<(), ApiError> {
        let path = ["channels", place, "messages", id];
        let _changed: Value = self.inner.api.send(Method::PATCH, &path, body).await?;
        Ok(())
    }

    /// Takes the buttons from a copy of a card, if it is a message of ours about this question. Discord is
    /// asked: a payload says only which message was meant.
    pub(super) async fn take_buttons(&self, copy: &str, subject: &str) -> Result<(), ApiError> {
        let (place, id) = split(copy);
        let path = ["channels", place, "messages", id];
        let said: Said = self.inner.api.get(&path).await?;
        if self.subject_of(&said).await?.as_deref() != Some(subject) {
            return Ok(());
        }
        self.change(place, id, &json!({ "components": [] })).await
    }

    /// Whether a message is still there.
    pub(super) async fn is_message(&self, reference: &str) -> Result<bool, ApiError> {
        let (place, id) = split(reference);
        let path = ["channels", place, "messages", id];
        match self.inner.api.get::<Value>(&path).await {
            Ok(_) => Ok(true),
            Err(error) if error.is(code::UNKNOWN_MESSAGE) => Ok(false),
            Err(error) if error.is(code::UNKNOWN_CHANNEL) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Shows the full text as a file in a reply to the card.
    pub(super) async fn show_all(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let Subject::Card(card) = &order.what else {
            return Ok(());
        };
        let (place, id) = split(&delivered.reference);
        let us = self.known().await?.user.id;
        for said in self.read(place, id).await? {
            let above = said.message_reference.as_ref();
            let above = above.and_then(|it| it.message_id.as_deref());
            // Anybody can put a file of their own below a card.
            if above == Some(id) && said.author.id == us && !said.attachments.is_empty() {
                return Ok(());
            }
        }
        let text = card.plain_text();
        let count = text.chars().count();
        let digest = Digest::of(text.as_bytes());
        let body = json!({
            "content": format!("Full text, {count} characters, {digest}"),
            "allowed_mentions": { "parse": [], "replied_user": false },
            "message_reference": { "message_id": id, "fail_if_not_exists": false },
            "attachments": [{ "id": "0", "filename": FILE_NAME }],
        });
        // What the message looks like is ours; whether it is there was looked for above.
        let path = ["channels", place, "messages"];
        let key = format!("{}:full:{}", order.key, unix_millis());
        let body = with_nonce(&body, &key);
        let _posted: Said = self
            .inner
            .api
            .upload(&path, &body, (FILE_NAME, &text))
            .await?;
        Ok(())
    }

    /// Says something in a place, once under its key.
    pub(super) async fn say_in(
        &self,
        place: &str,
        text: &str,
        key: &str,
    ) -> Result<String, ApiError> {
        let id = self.create(place, &plain(&cut(spoken(text))), key).await?;
        Ok(format!("{place}/{id}"))
    }

    /// Tells one account something in their own conversation, in as many messages as it takes.
    pub(super) async fn tell(&self, account: &str, text: &str) -> Result<(), ApiError> {
        let place = self.direct(account).await?;
        for piece in pieces(&translated(text), MESSAGE_MAX) {
            let key = format!("tell:{account}:{}:{piece}", unix_millis());
            self.create(&place, &plain(&piece), &key).await?;
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
        let place = match to.strip_prefix('#') {
            Some(channel) => channel.to_owned(),
            None => self.direct(to.strip_prefix('@').unwrap_or(to)).await?,
        };
        let parts = crate::text::pieces(text, LITERAL_CHARS_MAX);
        for (number, part) in parts.iter().enumerate() {
            let key = format!("{key}:{number}");
            self.create(&place, &plain(&literal(part)), &key).await?;
        }
        Ok(())
    }

    /// Changes what was said.
    pub(super) async fn reword(&self, reference: &str, text: &str) -> Result<(), ApiError> {
        let (place, id) = split(reference);
        self.change(place, id, &plain(&cut(spoken(text)))).await
    }

    /// Returns the place of a destination.
    pub(super) async fn place_of(&self, to: &Destination) -> Result<String, ApiError> {
        match to {
            Destination::Usual => {
                let place = self.inner.settings.channel.clone();
                place.ok_or_else(|| ApiError::ours("no `channel` is set for cards"))
            }
            Destination::Thread(thread) => Ok(super::place_in(thread).to_owned()),
            Destination::Person(account) => self.direct(account).await,
        }
    }
}

/// Returns a message of words alone: nobody is mentioned and nothing is previewed.
pub(super) fn plain(text: &str) -> Value {
    json!({
        "content": text,
        "allowed_mentions": { "parse": [] },
        "flags": NO_PREVIEWS,
    })
}

fn with_nonce(body: &Value, key: &str) -> Value {
    let digest = Digest::of(key.as_bytes());
    let nonce = URL_SAFE_NO_PAD.encode(digest.0.get(..NONCE_BYTES).unwrap_or_default());
    let mut body = body.clone();
    set(&mut body, "nonce", nonce);
    set(&mut body, "enforce_nonce", true);
    body
}

/// Returns as much of a text as fits into one message.
fn cut(text: String) -> String {
    if super::markdown::length(&text) <= MESSAGE_MAX {
        return text;
    }
    let room = MESSAGE_MAX - super::markdown::length(CUT);
    let mut head = pieces(&text, room).into_iter().next().unwrap_or_default();
    head.push_str(CUT);
    head
}

/// Returns the smallest id that something of this moment can have.
fn snowflake(millis: i64) -> String {
    let since = u64::try_from(millis.saturating_sub(EPOCH_MILLIS)).unwrap_or(0);
    (since << 22).to_string()
}

/// Returns the moment of an id, in Unix milliseconds.
pub(super) fn millis_of(id: &str) -> i64 {
    let id: u64 = id.parse().unwrap_or(0);
    i64::try_from(id >> 22).map_or(0, |it| it.saturating_add(EPOCH_MILLIS))
}

/// Returns what tells one look of a card from another.
fn looks(painted: &Painted) -> Digest {
    Digest::of(painted.body.to_string().as_bytes())
}
