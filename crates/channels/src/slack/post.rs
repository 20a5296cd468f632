//! Posts cards (each once), full texts and messages.

use std::collections::HashMap;

use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::api::ApiError;
use super::paint::{Painted, paint};
use super::rich::{Look, block, escaped, preformatted, section, words};
use super::wire::{History, Posted, Said, Upload};
use super::{EVENT_TYPE, Found, MESSAGE_CHARS_MAX, Slack, locked, split, unix_millis};
use crate::order::{Attempt, Delivered, Destination, Order, Subject};
use crate::text::pieces;

/// How far Slack's clock may be behind ours when an earlier delivery is looked for.
const SKEW_MILLIS: i64 = 5 * 60 * 1000;
/// What a full text is called as a file.
const FILE_NAME: &str = "full-text.txt";
/// Messages on one page of a conversation.
const PAGE: &str = "200";
/// Pages that are looked at for an earlier delivery.
const PAGES_MAX: usize = 50;
/// Longest line for notifications, in characters.
const NOTIFICATION_CHARS_MAX: usize = 300;
/// Most cards whose looks are remembered.
const LOOKS_MAX: usize = 4096;

impl Slack {
    pub(super) async fn put_card(&self, order: &Order) -> Result<Delivered, ApiError> {
        let (place, root) = self.place_of(&order.to).await?;
        let painted = self.painted(order, &place).await?;
        let since = order.since.0.saturating_sub(SKEW_MILLIS);
        let text = &painted.text;
        let ts = self
            .post_once(&place, &root, text, &painted.blocks, order, since)
            .await?;
        let reference = format!("{place}/{ts}");
        self.note_subject(&reference, order.what.id());
        *self.looks_of(&reference).lock().await = Some(looks(&painted));
        Ok(Delivered {
            channel: self.inner.settings.name.clone(),
            reference,
            shown: painted.shown,
        })
    }

    async fn painted(&self, order: &Order, place: &str) -> Result<Painted, ApiError> {
        let tenant = self.known().await?.auth.team_id;
        Ok(paint(order, &self.canvas(&tenant, place)))
    }

    async fn post_once(
        &self,
        place: &str,
        root: &str,
        text: &str,
        blocks: &[Value],
        order: &Order,
        since: i64,
    ) -> Result<String, ApiError> {
        if order.attempt == Attempt::Again
            && let Some(ts) = self.earlier(place, root, &order.key, since).await?
        {
            return Ok(ts);
        }
        self.create(place, root, text, blocks, &order.key).await
    }

    /// Posts a message under a key by which it is found again.
    async fn create(
        &self,
        place: &str,
        root: &str,
        text: &str,
        blocks: &[Value],
        key: &str,
    ) -> Result<String, ApiError> {
        locked(&self.inner.tried).insert(key.to_owned());
        let blocks = json!(blocks).to_string();
        let metadata = metadata(key);
        let mut args = vec![
            ("channel", place),
            ("text", text),
            ("blocks", &blocks),
            ("metadata", &metadata),
            ("mrkdwn", "false"),
            ("parse", "none"),
            ("link_names", "false"),
            ("unfurl_links", "false"),
            ("unfurl_media", "false"),
        ];
        if !root.is_empty() {
            args.push(("thread_ts", root));
        }
        let posted: Posted = self.inner.api.call("chat.postMessage", &args).await?;
        locked(&self.inner.tried).remove(key);
        Ok(posted.ts)
    }

    /// Returns what was posted under `key` before. What this process has not tried itself can only
    /// have been posted before it began, so looking once is enough for all of those.
    async fn earlier(
        &self,
        place: &str,
        root: &str,
        key: &str,
        since: i64,
    ) -> Result<Option<String>, ApiError> {
        let is_ours = locked(&self.inner.tried).contains(key);
        let thread = format!("{place}/{root}");
        let mut found = self.inner.found.lock().await;
        if !is_ours
            && let Some(found) = found.get(&thread)
            && found.since <= since
        {
            return Ok(found.posts.get(key).cloned());
        }
        let mut posts = HashMap::new();
        for said in self.read(place, root, since).await? {
            if let Some(key) = self.key_of(&said).await? {
                posts.insert(key, said.ts);
            }
        }
        let ts = posts.get(key).cloned();
        found.insert(thread, Found { since, posts });
        Ok(ts)
    }

    /// Reads the messages of a conversation, or of a thread in it, since some moment.
    pub(super) async fn read(
        &self,
        place: &str,
        root: &str,
        since: i64,
    ) -> Result<Vec<Said>, ApiError> {
        let oldest = format!(
            "{}.{:03}000",
            since.div_euclid(1000),
            since.rem_euclid(1000)
        );
        let mut all = Vec::new();
        let mut cursor = String::new();
        for _ in 0..PAGES_MAX {
            let mut args = vec![
                ("channel", place),
                ("oldest", &oldest),
                ("limit", PAGE),
                ("include_all_metadata", "true"),
            ];
            if !cursor.is_empty() {
                args.push(("cursor", &cursor));
            }
            let method = if root.is_empty() {
                "conversations.history"
            } else {
                args.push(("ts", root));
                "conversations.replies"
            };
            let page: History = self.inner.api.call(method, &args).await?;
            all.extend(page.messages);
            cursor = page.response_metadata.next_cursor;
            if !page.has_more || cursor.is_empty() {
                break;
            }
        }
        Ok(all)
    }

    /// Returns the key of a message of ours. Anybody's app can write our key into a message of its
    /// own, which would then stand where the card should.
    pub(super) async fn key_of(&self, said: &Said) -> Result<Option<String>, ApiError> {
        let is_ours = said.is_of(&self.known().await?.auth);
        let noted = said.metadata.as_ref();
        let noted = noted.filter(|noted| is_ours && noted.event_type == EVENT_TYPE);
        let key = noted.and_then(|noted| noted.event_payload.get("key"));
        Ok(key.and_then(Value::as_str).map(str::to_owned))
    }

    /// Paints a delivered card as `order` says, unless it looks so already.
    pub(super) async fn paint_again(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let (place, ts) = split(&delivered.reference);
        let painted = self.painted(order, place).await?;
        let looks_now = looks(&painted);
        let shown = self.looks_of(&delivered.reference);
        // One at a time, so that what is remembered is what was painted last.
        let mut shown = shown.lock().await;
        if shown.as_ref() == Some(&looks_now) {
            return Ok(());
        }
        self.change(place, ts, &painted.text, &painted.blocks)
            .await?;
        *shown = Some(looks_now);
        Ok(())
    }

    fn note_subject(&self, reference: &str, subject: &str) {
        let mut subjects = locked(&self.inner.subjects);
        if subjects.len() > LOOKS_MAX {
            subjects.clear();
        }
        subjects.insert(reference.to_owned(), subject.to_owned());
    }

    fn looks_of(&self, reference: &str) -> std::sync::Arc<tokio::sync::Mutex<Option<Digest>>> {
        let mut looks = locked(&self.inner.looks);
        if looks.len() > LOOKS_MAX {
            // What is forgotten is painted once more than it must be.
            looks.clear();
        }
        std::sync::Arc::clone(looks.entry(reference.to_owned()).or_default())
    }

    /// Changes a message of ours.
    pub(super) async fn change(
        &self,
        place: &str,
        ts: &str,
        text: &str,
        blocks: &[Value],
    ) -> Result<(), ApiError> {
        let blocks = json!(blocks).to_string();
        let args = [
            ("channel", place),
            ("ts", ts),
            ("text", text),
            ("blocks", &blocks),
            ("parse", "none"),
            ("link_names", "false"),
        ];
        let _changed: Posted = self.inner.api.call("chat.update", &args).await?;
        Ok(())
    }

    /// Shows the full text below a card: as one file if it is long, else as a message.
    pub(super) async fn show_all(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let Subject::Card(card) = &order.what else {
            return Ok(());
        };
        let (place, ts) = split(&delivered.reference);
        // A reply stands in the thread of the card, or of the thread the card is in.
        let root = match &order.to {
            Destination::Thread(thread) => match split(thread) {
                (_, "") => ts,
                (_, root) => root,
            },
            Destination::Usual | Destination::Person(_) => ts,
        };
        let key = format!("{}:full", order.key);
        let auth = self.known().await?.auth;
        let mut there = Vec::new();
        for said in self.read(place, root, 0).await? {
            there.extend(self.key_of(&said).await?);
            // Anybody can read the key off the card and give a file of their own this title.
            if said.is_of(&auth) {
                there.extend(said.files.into_iter().map(|file| file.title));
            }
        }
        if there.contains(&key) {
            return Ok(());
        }
        let text = card.plain_text();
        let all = pieces(&text, MESSAGE_CHARS_MAX - 400);
        let count = all.len();
        if count > 1 && self.show_file(place, root, &key, &text).await? {
            return Ok(());
        }
        for (number, piece) in (1..).zip(&all) {
            let key = if count == 1 {
                key.clone()
            } else {
                format!("{key}:{number}")
            };
            if there.contains(&key) {
                continue;
            }
            let title = format!("Full text, part {number} of {count}");
            let parts = vec![section(words(&title, Look::Bold)), preformatted(piece)];
            self.create(place, root, &title, &[block(parts)], &key)
                .await?;
        }
        Ok(())
    }

    /// Posts the full text as one file below the card. `false` if the app may send no files.
    async fn show_file(
        &self,
        place: &str,
        root: &str,
        key: &str,
        text: &str,
    ) -> Result<bool, ApiError> {
        let length = text.len().to_string();
        let args = [("filename", FILE_NAME), ("length", &length)];
        let method = "files.getUploadURLExternal";
        let upload: Upload = match self.inner.api.call(method, &args).await {
            Ok(upload) => upload,
            Err(error @ ApiError::Away(_)) => return Err(error),
            Err(error @ ApiError::Refused { .. }) => {
                tracing::warn!(%error, "the full text cannot be sent as a file");
                return Ok(false);
            }
        };
        self.inner.api.upload(&upload.upload_url, text).await?;
        let files = json!([{ "id": upload.file_id, "title": key }]).to_string();
        let count = text.chars().count();
        let digest = Digest::of(text.as_bytes());
        let comment = format!("Full text, {count} characters, {digest}");
        let args = [
            ("files", files.as_str()),
            ("channel_id", place),
            ("thread_ts", root),
            ("initial_comment", &comment),
        ];
        let method = "files.completeUploadExternal";
        let _completed: Value = self.inner.api.call(method, &args).await?;
        Ok(true)
    }

    /// Says something in a conversation, once under its key as far as this process knows.
    pub(super) async fn say_in(
        &self,
        place: &str,
        root: &str,
        said: Value,
        notification: &str,
        key: &str,
    ) -> Result<String, ApiError> {
        let is_tried = locked(&self.inner.tried).contains(key);
        if is_tried {
            let since = unix_millis() - SKEW_MILLIS;
            if let Some(ts) = self.earlier(place, root, key, since).await? {
                return Ok(format!("{place}/{ts}"));
            }
        }
        let text = line(notification);
        let ts = self.create(place, root, &text, &[said], key).await?;
        Ok(format!("{place}/{ts}"))
    }

    /// Tells one person something that nobody else sees, where they did something.
    pub(super) async fn say_privately(&self, back: &Back, said: &str) -> Result<(), ApiError> {
        let blocks = json!([super::rich::shown(said)]);
        let text = line(said);
        if !back.response_url.is_empty() {
            let body = json!({
                "response_type": "ephemeral",
                "replace_original": false,
                "text": text,
                "blocks": blocks,
            });
            match self.inner.api.respond(&back.response_url, &body).await {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(%error, "somebody is told in another way"),
            }
        }
        let blocks = blocks.to_string();
        let mut args = vec![
            ("channel", back.place.as_str()),
            ("user", back.account.as_str()),
            ("text", text.as_str()),
            ("blocks", blocks.as_str()),
        ];
        if !back.root.is_empty() {
            args.push(("thread_ts", back.root.as_str()));
        }
        let _told: Value = self.inner.api.call("chat.postEphemeral", &args).await?;
        Ok(())
    }
}

/// Where somebody is told something.
#[derive(Clone, Debug, Default)]
pub(super) struct Back {
    /// Slack's own address for it; empty if there is none.
    pub(super) response_url: String,
    pub(super) place: String,
    pub(super) root: String,
    pub(super) account: String,
}

/// Returns the line for notifications.
pub(super) fn line(said: &str) -> String {
    let head: String = said.chars().take(NOTIFICATION_CHARS_MAX).collect();
    escaped(&head)
}

fn metadata(key: &str) -> String {
    json!({ "event_type": EVENT_TYPE, "event_payload": { "key": key } }).to_string()
}

/// Returns what tells one look of a card from another.
fn looks(painted: &Painted) -> Digest {
    let all = json!([painted.text, painted.blocks]).to_string();
    Digest::of(all.as_bytes())
}
