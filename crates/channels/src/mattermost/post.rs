//! Posts cards (each once), full texts and messages.

use std::collections::{HashMap, HashSet};

use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::api::ApiError;
use super::paint::{Painted, paint};
use super::wire::{Post, PostList, Upload};
use super::{Found, KEY_PROP, MESSAGE_CHARS_MAX, Mattermost, locked, split};
use crate::order::{Attempt, Delivered, Destination, Order, Subject};
use crate::text::{fenced, pieces};

/// How far the server's clock may be behind ours when an earlier delivery is looked for.
const SKEW_MILLIS: i64 = 5 * 60 * 1000;
/// What a full text is called as a file.
const FILE_NAME: &str = "full-text.txt";
/// Messages on one page of a channel.
const PAGE: usize = 200;
/// Pages that are looked at for an earlier delivery.
const PAGES_MAX: usize = 50;

impl Mattermost {
    pub(super) async fn put_card(&self, order: &Order) -> Result<Delivered, ApiError> {
        let (place, root) = self.place_of(&order.to).await?;
        let mentions = self.mentions(order).await;
        let painted = paint(order, &self.canvas(&place, &mentions));
        let id = self.post_once(&place, &root, order, &painted).await?;
        Ok(Delivered {
            channel: self.inner.settings.name.clone(),
            reference: format!("{place}/{id}"),
            shown: painted.shown,
        })
    }

    async fn post_once(
        &self,
        place: &str,
        root: &str,
        order: &Order,
        painted: &Painted,
    ) -> Result<String, ApiError> {
        if order.attempt == Attempt::Again
            && let Some(id) = self.earlier(place, &order.key, order.since.0).await?
        {
            return Ok(id);
        }
        locked(&self.inner.tried).insert(order.key.clone());
        let props = json!({ "attachments": painted.attachments, KEY_PROP: order.key });
        let posted = self
            .create(place, root, &painted.message, props, &order.key)
            .await;
        if posted.is_ok() {
            locked(&self.inner.tried).remove(&order.key);
        }
        posted
    }

    async fn create(
        &self,
        place: &str,
        root: &str,
        message: &str,
        props: Value,
        key: &str,
    ) -> Result<String, ApiError> {
        let bot = self.known().await?.bot.id;
        let body = json!({
            "channel_id": place,
            "root_id": root,
            "message": message,
            "props": props,
            "pending_post_id": format!("{bot}:{key}"),
        });
        let post: Post = self.inner.api.post(&["posts"], &body).await?;
        Ok(post.id)
    }

    /// Returns what was posted under `key` before. What this process has not tried itself can only
    /// have been posted before it began, so looking once is enough for all of those.
    async fn earlier(
        &self,
        place: &str,
        key: &str,
        asked_at: i64,
    ) -> Result<Option<String>, ApiError> {
        let since = asked_at.saturating_sub(SKEW_MILLIS);
        let is_ours = locked(&self.inner.tried).contains(key);
        let mut found = self.inner.found.lock().await;
        if !is_ours
            && let Some(found) = found.get(place)
            && found.since <= since
        {
            return Ok(found.posts.get(key).cloned());
        }
        let bot = self.known().await?.bot.id;
        let mut posts = HashMap::new();
        for page in 0..PAGES_MAX {
            let list = self.page(place, page).await?;
            let mut is_over = list.order.len() < PAGE;
            // Older messages come along where somebody replied to them; they are no end of the page.
            let on_page: HashSet<String> = list.order.into_iter().collect();
            for post in list.posts.into_values() {
                is_over |= post.create_at < since && on_page.contains(&post.id);
                let key = post.key().map(str::to_owned);
                if let Some(key) = key.filter(|_| post.user_id == bot && post.delete_at == 0) {
                    posts.insert(key, post.id);
                }
            }
            if is_over {
                break;
            }
        }
        let id = posts.get(key).cloned();
        found.insert(place.to_owned(), Found { since, posts });
        Ok(id)
    }

    pub(super) async fn page(&self, place: &str, page: usize) -> Result<PostList, ApiError> {
        let (page, per_page) = (page.to_string(), PAGE.to_string());
        let query = [("page", page.as_str()), ("per_page", per_page.as_str())];
        let path = ["channels", place, "posts"];
        self.inner.api.get(&path, &query).await
    }

    /// Paints a card again, unless it looks so already: a card changes once per press, also where the
    /// reply to the press has painted it.
    pub(super) async fn paint_again(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let (place, id) = split(&delivered.reference);
        let mentions = self.mentions(order).await;
        let painted = paint(order, &self.canvas(place, &mentions));
        let shown: Result<Post, _> = self.inner.api.get(&["posts", id], &[]).await;
        if shown.is_ok_and(|post| painted.is_shown_by(&post)) {
            return Ok(());
        }
        let props = json!({ "attachments": painted.attachments, KEY_PROP: order.key });
        let body = json!({ "message": painted.message, "props": props });
        self.patch(&delivered.reference, &body).await
    }

    pub(super) async fn patch(&self, reference: &str, body: &Value) -> Result<(), ApiError> {
        let (_, id) = split(reference);
        let path = ["posts", id, "patch"];
        let _post: Post = self.inner.api.put(&path, body).await?;
        Ok(())
    }

    /// Posts the full text below the card, in as many pieces as it takes, each once.
    pub(super) async fn show_all(
        &self,
        delivered: &Delivered,
        order: &Order,
    ) -> Result<(), ApiError> {
        let Subject::Card(card) = &order.what else {
            return Ok(());
        };
        let (place, id) = split(&delivered.reference);
        // A reply stands in the thread of the card, or of the thread the card is in.
        let root = match &order.to {
            Destination::Thread(thread) => match split(thread) {
                (_, "") => id,
                (_, root) => root,
            },
            Destination::Usual | Destination::Person(_) => id,
        };
        let text = card.plain_text();
        let all = pieces(&text, MESSAGE_CHARS_MAX - 400);
        let count = all.len();
        if count > 1 && self.show_file(place, root, order, &text).await? {
            return Ok(());
        }
        for (number, piece) in (1..).zip(&all) {
            let key = format!("{}:full:{number}", order.key);
            if self.earlier_reply(root, &key).await? {
                continue;
            }
            let message = format!("Full text, part {number} of {count}\n{}", fenced(piece));
            let props = json!({ KEY_PROP: key });
            self.create(place, root, &message, props, &key).await?;
        }
        Ok(())
    }

    /// Posts the full text as one file below the card. `false` if the server takes no files.
    async fn show_file(
        &self,
        place: &str,
        root: &str,
        order: &Order,
        text: &str,
    ) -> Result<bool, ApiError> {
        let key = format!("{}:file", order.key);
        if self.earlier_reply(root, &key).await? {
            return Ok(true);
        }
        let query = [("channel_id", place), ("filename", FILE_NAME)];
        let sent: Result<Upload, _> = self.inner.api.upload(&["files"], &query, text).await;
        let file = match sent {
            Ok(sent) => sent.file_infos.into_iter().next(),
            Err(error @ ApiError::Away(_)) => return Err(error),
            Err(error @ ApiError::Refused { .. }) => {
                tracing::warn!(%error, "the full text cannot be sent as a file");
                None
            }
        };
        let Some(file) = file else {
            return Ok(false);
        };
        let count = text.chars().count();
        let digest = Digest::of(text.as_bytes());
        let message = format!("Full text, {count} characters, `{digest}`");
        let bot = self.known().await?.bot.id;
        let body = json!({
            "channel_id": place,
            "root_id": root,
            "message": message,
            "file_ids": [file.id],
            "props": { KEY_PROP: key },
            "pending_post_id": format!("{bot}:{key}"),
        });
        let post: Post = self.inner.api.post(&["posts"], &body).await?;
        if post.file_ids.is_empty() {
            // The post is there, but what it is about is not.
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether we have posted this below `root` before. Anybody can write our key into a message of
    /// their own, and would then stand where the full text should.
    async fn earlier_reply(&self, root: &str, key: &str) -> Result<bool, ApiError> {
        let bot = self.known().await?.bot.id;
        let path = ["posts", root, "thread"];
        let list: PostList = self.inner.api.get(&path, &[]).await?;
        let is_it =
            |post: &Post| post.key() == Some(key) && post.user_id == bot && post.delete_at == 0;
        Ok(list.posts.values().any(is_it))
    }

    pub(super) async fn say_in(
        &self,
        place: &str,
        root: &str,
        text: &str,
        key: &str,
    ) -> Result<String, ApiError> {
        let id = self
            .create(place, root, text, json!({ KEY_PROP: key }), key)
            .await?;
        Ok(format!("{place}/{id}"))
    }
}
