//! What the server knows: accounts, groups, messages, updates.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// How many messages one place takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// A second, for as long as they come.
    pub per_second: u32,
    /// At once.
    pub burst: u32,
}

/// A message as the server keeps it.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its number in its place.
    pub id: i64,
    /// Its place.
    pub chat: i64,
    /// The topic it is in.
    pub topic: Option<i64>,
    /// Who wrote it.
    pub from: i64,
    /// Its text, or the words below a file.
    pub text: String,
    /// Entities that came with it.
    pub entities: Vec<Value>,
    /// Entities that the server found by itself.
    pub found: Vec<Value>,
    /// Its buttons, or what else it asks a client for.
    pub markup: Value,
    /// The message it replies to.
    pub reply_to: Option<i64>,
    /// The file with it.
    pub document: Option<String>,
    /// How often it was changed.
    pub edits: u32,
    pub(super) date: u64,
}

impl Message {
    /// Returns its buttons, in order.
    pub fn buttons(&self) -> Vec<Value> {
        let rows = self.markup.get("inline_keyboard").and_then(Value::as_array);
        let rows = rows.into_iter().flatten().filter_map(Value::as_array);
        rows.flatten().cloned().collect()
    }
}

/// A group, or a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) kind: &'static str,
    pub(super) title: String,
    /// Who is there, and as what.
    pub(super) members: BTreeMap<i64, &'static str>,
    /// Topics, and whether each is open.
    pub(super) topics: BTreeMap<i64, bool>,
    pub(super) moved_to: Option<i64>,
    pub(super) last_message: i64,
}

/// Somebody, or the bot.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) is_bot: bool,
}

/// A press that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) at: Instant,
    pub(super) answer: Option<Value>,
}

/// Where updates are sent.
#[derive(Clone, Debug)]
pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) secret: String,
    pub(super) last_error: String,
}

#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) bot: i64,
    pub(super) users: BTreeMap<i64, User>,
    pub(super) places: BTreeMap<i64, Place>,
    pub(super) messages: Vec<Message>,
    pub(super) updates: VecDeque<Value>,
    pub(super) last_update: i64,
    pub(super) queries: HashMap<String, Query>,
    pub(super) webhook: Option<Webhook>,
    pub(super) commands: HashMap<String, Value>,
    pub(super) buckets: HashMap<i64, (f64, Instant)>,
    pub(super) reads_all: bool,
    /// Which poll is the last; earlier ones end.
    pub(super) polls: u64,
}

impl World {
    pub(super) fn user(&self, id: i64) -> Value {
        let Some(user) = self.users.get(&id) else {
            return json!({ "id": id, "is_bot": false, "first_name": "?" });
        };
        let mut shown = json!({ "id": id, "is_bot": user.is_bot, "first_name": user.name, "username": user.name });
        if let (true, Some(shown)) = (user.is_bot, shown.as_object_mut()) {
            shown.insert("can_join_groups".to_owned(), json!(true));
            shown.insert(
                "can_read_all_group_messages".to_owned(),
                json!(self.reads_all),
            );
            shown.insert("supports_inline_queries".to_owned(), json!(false));
        }
        shown
    }

    pub(super) fn place(&self, id: i64) -> Value {
        let Some(place) = self.places.get(&id) else {
            return Value::Null;
        };
        if place.kind == "private" {
            let name = self.users.get(&id).map_or("?", |user| user.name.as_str());
            return json!({ "id": id, "type": "private", "first_name": name, "username": name });
        }
        let mut shown = json!({ "id": id, "type": place.kind, "title": place.title });
        if let (false, Some(shown)) = (place.topics.is_empty(), shown.as_object_mut()) {
            shown.insert("is_forum".to_owned(), json!(true));
        }
        shown
    }

    pub(super) fn message(&self, chat: i64, id: i64) -> Option<&Message> {
        let mut messages = self.messages.iter();
        messages.find(|it| it.chat == chat && it.id == id)
    }

    /// Returns a message as a bot sees it, with the one it replies to but not what that replies to.
    pub(super) fn shown(&self, message: &Message, is_deep: bool) -> Value {
        let mut shown = Map::new();
        let mut set = |key: &str, value: Value| shown.insert(key.to_owned(), value);
        set("message_id", json!(message.id));
        set("from", self.user(message.from));
        set("chat", self.place(message.chat));
        set("date", json!(message.date));
        let entities: Vec<&Value> = message.entities.iter().chain(&message.found).collect();
        let (text, marks) = match &message.document {
            Some(file) => {
                let size = file.len();
                set(
                    "document",
                    json!({
                        "file_id": format!("file{}", message.id), "file_unique_id": format!("u{}", message.id),
                        "file_name": "full-text.txt", "file_size": size,
                    }),
                );
                ("caption", "caption_entities")
            }
            None => ("text", "entities"),
        };
        set(text, json!(message.text));
        if !entities.is_empty() {
            set(marks, json!(entities));
        }
        if message.markup.get("inline_keyboard").is_some() {
            set("reply_markup", message.markup.clone());
        }
        if let Some(topic) = message.topic {
            set("message_thread_id", json!(topic));
            set("is_topic_message", json!(true));
        }
        if message.edits > 0 {
            set("edit_date", json!(message.date));
        }
        let above = message
            .reply_to
            .and_then(|id| self.message(message.chat, id));
        if let (true, Some(above)) = (is_deep, above) {
            set("reply_to_message", self.shown(above, false));
        }
        Value::Object(shown)
    }

    /// Puts a message somewhere and returns its number.
    pub(super) fn put(&mut self, mut message: Message) -> i64 {
        if let Some(place) = self.places.get_mut(&message.chat) {
            place.last_message += 1;
            message.id = place.last_message;
        }
        let id = message.id;
        self.messages.push(message);
        id
    }

    /// Tells the bot that something happened.
    pub(super) fn tell(&mut self, key: &str, what: Value) {
        self.last_update += 1;
        let mut update = json!({ "update_id": self.last_update });
        if let Some(update) = update.as_object_mut() {
            update.insert(key.to_owned(), what);
        }
        self.updates.push_back(update);
    }

    /// Takes one message of a place; or says how many seconds to wait.
    pub(super) fn take(&mut self, chat: i64, limit: Option<Limit>) -> Result<(), u64> {
        let Some(limit) = limit else {
            return Ok(());
        };
        let burst = f64::from(limit.burst);
        let now = Instant::now();
        let (left, since) = self.buckets.entry(chat).or_insert((burst, now));
        let more = now.duration_since(*since).as_secs_f64() * f64::from(limit.per_second);
        *left = (*left + more).min(burst);
        *since = now;
        if *left < 1.0 {
            return Err(1);
        }
        *left -= 1.0;
        Ok(())
    }
}

pub(super) fn now() -> u64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| passed.as_secs())
}
