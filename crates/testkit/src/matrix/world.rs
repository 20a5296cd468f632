//! What the homeserver knows: accounts, rooms, events in one order, and who has seen how much.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::error::{Refusal, forbidden, too_much};

/// The name of the server, behind every id.
pub(super) const SERVER: &str = "strict.example";

/// How many events an account may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// So many become free each second.
    pub per_second: u32,
    /// So many at once.
    pub burst: u32,
}

/// An account.
#[derive(Clone, Debug, Default)]
pub(super) struct User {
    pub(super) password: String,
    pub(super) name: String,
    pub(super) is_closed: bool,
}

/// A room.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// The state, by type and key: the number of the event.
    pub(super) state: BTreeMap<(String, String), usize>,
}

/// An event, as it is kept.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) room: String,
    pub(super) kind: String,
    pub(super) sender: String,
    pub(super) state_key: Option<String>,
    pub(super) content: Value,
    pub(super) at: i64,
    /// The redaction that took its content away.
    pub(super) redacted: Option<Value>,
    /// Under which name it was sent, and with which token.
    pub(super) txn: Option<(String, String)>,
}

/// Something that clients are told, in the order in which it happened.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// An event; told again if a test wants that.
    Event(usize),
    /// Somebody has read up to an event.
    Read {
        room: String,
        user: String,
        event: String,
        at: i64,
    },
    /// Who writes in a room.
    Typing { room: String, users: Vec<String> },
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

/// Everything.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) users: BTreeMap<String, User>,
    /// Accounts by token.
    pub(super) tokens: BTreeMap<String, String>,
    pub(super) rooms: BTreeMap<String, Room>,
    pub(super) aliases: BTreeMap<String, String>,
    pub(super) events: Vec<Event>,
    pub(super) news: Vec<News>,
    /// Events by token, path and transaction id.
    pub(super) sent: BTreeMap<(String, String), String>,
    pub(super) account_data: BTreeMap<(String, String), Value>,
    pub(super) filters: Vec<Value>,
    pub(super) files: BTreeMap<String, File>,
    buckets: BTreeMap<String, (Instant, f64)>,
    last: u64,
}

impl World {
    /// Returns a number that was not used before.
    pub(super) fn unique(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether an account may send one more event; otherwise it may after some time.
    pub(super) fn take(&mut self, user: &str, limit: Option<Limit>) -> Result<(), Refusal> {
        let Some(limit) = limit else {
            return Ok(());
        };
        let now = Instant::now();
        let rate = f64::from(limit.per_second);
        let most = f64::from(limit.burst);
        let bucket = self.buckets.entry(user.to_owned()).or_insert((now, most));
        let left = (bucket.1 + now.duration_since(bucket.0).as_secs_f64() * rate).min(most);
        if left < 1.0 {
            *bucket = (now, left);
            let seconds = (1.0 - left) / rate.max(0.01);
            let millis = std::time::Duration::from_secs_f64(seconds).as_millis();
            return Err(too_much(u64::try_from(millis).unwrap_or(1000) + 1));
        }
        *bucket = (now, left - 1.0);
        Ok(())
    }

    /// Returns the event that is this part of a room's state.
    pub(super) fn state(&self, room: &str, kind: &str, key: &str) -> Option<&Event> {
        let state = &self.rooms.get(room)?.state;
        let number = state.get(&(kind.to_owned(), key.to_owned()))?;
        self.events.get(*number)
    }

    /// Returns how somebody is in a room: `join`, `invite`, `leave`; empty if they never were.
    pub(super) fn membership(&self, room: &str, user: &str) -> &str {
        let member = self.state(room, "m.room.member", user);
        let membership = member.and_then(|it| it.content.get("membership")?.as_str());
        membership.unwrap_or_default()
    }

    /// Fails unless somebody is in a room.
    pub(super) fn is_in(&self, room: &str, user: &str) -> Result<(), Refusal> {
        if self.membership(room, user) == "join" {
            return Ok(());
        }
        Err(forbidden(&format!("User {user} not in room {room}")))
    }

    /// Returns who is in a room in one of these ways.
    pub(super) fn members(&self, room: &str, ways: &[&str]) -> BTreeSet<String> {
        let state = self.rooms.get(room).map(|room| &room.state);
        let members = state.into_iter().flat_map(BTreeMap::keys);
        let members = members.filter(|(kind, _)| kind == "m.room.member");
        let members = members.map(|(_, user)| user.clone());
        members
            .filter(|user| ways.contains(&self.membership(room, user)))
            .collect()
    }

    /// Fails unless somebody has the power to send such an event.
    pub(super) fn may_send(
        &self,
        room: &str,
        user: &str,
        kind: &str,
        is_state: bool,
    ) -> Result<(), Refusal> {
        self.is_in(room, user)?;
        let levels = self.levels(room);
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_i64);
        let default = if is_state {
            "state_default"
        } else {
            "events_default"
        };
        let events = levels.get("events").cloned().unwrap_or_default();
        let needed = number(&events, kind).or_else(|| number(&levels, default));
        let needed = needed.unwrap_or(if is_state { 50 } else { 0 });
        if self.power(room, user) < needed {
            return Err(forbidden(&format!(
                "You don't have permission to post that to the room. user_level ({}) < send_level ({needed})",
                self.power(room, user)
            )));
        }
        Ok(())
    }

    /// Returns the power of somebody in a room.
    pub(super) fn power(&self, room: &str, user: &str) -> i64 {
        let levels = self.levels(room);
        let own = levels.get("users").and_then(|it| it.get(user)?.as_i64());
        own.or_else(|| levels.get("users_default")?.as_i64())
            .unwrap_or(0)
    }

    fn levels(&self, room: &str) -> Value {
        let levels = self.state(room, "m.room.power_levels", "");
        levels.map(|it| it.content.clone()).unwrap_or_default()
    }

    /// Adds an event and returns its id.
    pub(super) fn put(
        &mut self,
        room: &str,
        sender: &str,
        (kind, state_key): (&str, Option<&str>),
        content: Value,
        txn: Option<(String, String)>,
    ) -> String {
        let id = format!("${}-{:x}", self.unique(), now());
        let number = self.events.len();
        self.events.push(Event {
            id: id.clone(),
            room: room.to_owned(),
            kind: kind.to_owned(),
            sender: sender.to_owned(),
            state_key: state_key.map(str::to_owned),
            content,
            at: now(),
            redacted: None,
            txn,
        });
        if let (Some(key), Some(room)) = (state_key, self.rooms.get_mut(room)) {
            let key = (kind.to_owned(), key.to_owned());
            room.state.insert(key, number);
        }
        self.news.push(News::Event(number));
        id
    }

    /// Returns an event of a room.
    pub(super) fn event(&self, room: &str, id: &str) -> Option<&Event> {
        self.events.iter().find(|it| it.id == id && it.room == room)
    }

    /// Takes away what an event says.
    pub(super) fn redact(&mut self, room: &str, id: &str, by: &Value) {
        let found = self
            .events
            .iter_mut()
            .find(|it| it.id == id && it.room == room);
        if let Some(event) = found {
            event.content = json!({});
            event.redacted = Some(by.clone());
        }
    }

    /// Returns an event as the owner of a token is told of it.
    pub(super) fn shown(&self, event: &Event, token: &str) -> Value {
        let mut unsigned = Map::new();
        unsigned.insert("age".to_owned(), json!(now() - event.at));
        if let Some((owner, txn)) = &event.txn
            && owner == token
        {
            unsigned.insert("transaction_id".to_owned(), json!(txn));
        }
        if let Some(redaction) = &event.redacted {
            unsigned.insert("redacted_because".to_owned(), redaction.clone());
        } else if let Some(edit) = self.last_edit(event) {
            let edit = Self::bare(edit);
            unsigned.insert("m.relations".to_owned(), json!({ "m.replace": edit }));
        }
        let mut shown = Self::bare(event);
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("unsigned".to_owned(), Value::Object(unsigned));
        }
        shown
    }

    /// Returns an event without what depends on who asks.
    pub(super) fn bare(event: &Event) -> Value {
        let mut shown = json!({
            "type": event.kind, "event_id": event.id, "room_id": event.room, "sender": event.sender,
            "origin_server_ts": event.at, "content": event.content,
        });
        if let (Some(key), Some(shown)) = (&event.state_key, shown.as_object_mut()) {
            shown.insert("state_key".to_owned(), json!(key));
        }
        shown
    }

    /// Returns the last edit of an event by its own author.
    fn last_edit(&self, event: &Event) -> Option<&Event> {
        let mut edits = self.events.iter().rev();
        edits.find(|it| {
            it.room == event.room
                && it.sender == event.sender
                && it.kind == event.kind
                && it.redacted.is_none()
                && relation(&it.content, "rel_type") == "m.replace"
                && relation(&it.content, "event_id") == event.id
        })
    }
}

/// Returns a text of what an event relates to.
pub(super) fn relation<'a>(content: &'a Value, key: &str) -> &'a str {
    let relation = content.get("m.relates_to");
    let text = relation.and_then(|it| it.get(key)?.as_str());
    text.unwrap_or_default()
}

/// Returns the time, in milliseconds.
pub(super) fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| i64::try_from(passed.as_millis()).unwrap_or(0))
}
