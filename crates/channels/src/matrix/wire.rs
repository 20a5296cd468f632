//! The parts of Matrix's JSON that matter here. What else is there is ignored.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A refusal of the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wrong {
    pub(super) errcode: String,
    pub(super) error: String,
    pub(super) retry_after_ms: Option<u64>,
}

/// Whose token it is.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Whoami {
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) is_guest: bool,
}

/// What somebody is called.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Profile {
    pub(super) displayname: Option<String>,
}

/// Where an event is.
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    pub(super) event_id: String,
}

/// A room by its id.
#[derive(Debug, Deserialize)]
pub(super) struct RoomId {
    pub(super) room_id: String,
}

/// A file that was uploaded.
#[derive(Debug, Deserialize)]
pub(super) struct Uploaded {
    pub(super) content_uri: String,
}

/// The rooms we are in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct JoinedRooms {
    pub(super) joined_rooms: Vec<String>,
}

/// Something that happened in a room.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(rename = "event_id")]
    pub(super) id: String,
    pub(super) sender: String,
    pub(super) origin_server_ts: i64,
    pub(super) state_key: Option<String>,
    pub(super) content: Value,
    /// What a redaction takes away, in rooms of older versions.
    pub(super) redacts: Option<String>,
    pub(super) unsigned: Value,
}

impl Event {
    /// Returns what it relates to.
    pub(super) fn relation(&self) -> &Value {
        self.content.get("m.relates_to").unwrap_or(&Value::Null)
    }

    /// Whether it relates to another event in this way.
    pub(super) fn is_related(&self, kind: &str) -> bool {
        text(self.relation(), "rel_type") == kind
    }

    /// Returns the event below which it was written: what it replies to, or what its thread is about.
    pub(super) fn above(&self) -> Option<&str> {
        let relation = self.relation();
        let is_fallback = relation.get("is_falling_back") == Some(&Value::Bool(true));
        let reply = relation
            .get("m.in_reply_to")
            .map_or("", |it| text(it, "event_id"));
        let thread = self.thread().unwrap_or_default();
        let above = if reply.is_empty() || (is_fallback && !thread.is_empty()) {
            thread
        } else {
            reply
        };
        (!above.is_empty()).then_some(above)
    }

    /// Returns the event its thread is about.
    pub(super) fn thread(&self) -> Option<&str> {
        let root = text(self.relation(), "event_id");
        Some(root).filter(|root| self.is_related("m.thread") && !root.is_empty())
    }

    /// Returns how it looks now: as it was last edited by its own author.
    pub(super) fn look(&self) -> &Value {
        let edit = self
            .unsigned
            .get("m.relations")
            .and_then(|it| it.get("m.replace"));
        let own = edit.filter(|edit| text(edit, "sender") == self.sender);
        let new = own.and_then(|edit| edit.get("content")?.get("m.new_content"));
        new.unwrap_or(&self.content)
    }
}

/// Events, as lists of them come.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Events {
    pub(super) events: Vec<Value>,
}

/// What is new.
#[derive(Debug, Deserialize)]
pub(super) struct Synced {
    pub(super) next_batch: String,
    #[serde(default)]
    pub(super) rooms: Rooms,
}

/// What is new in rooms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rooms {
    pub(super) join: BTreeMap<String, Joined>,
    pub(super) invite: BTreeMap<String, Invited>,
}

/// What is new in a room we are in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Joined {
    pub(super) timeline: Timeline,
    pub(super) state: Events,
}

/// What happened, oldest first.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timeline {
    pub(super) events: Vec<Value>,
    /// Whether there is more before it than was sent.
    pub(super) limited: bool,
    pub(super) prev_batch: Option<String>,
}

/// What may be known of a room we are invited to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Invited {
    pub(super) invite_state: Events,
}

/// A page of what happened in a room.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Page {
    pub(super) chunk: Vec<Value>,
    pub(super) end: Option<String>,
}

/// Reads the events that can be read; others would be no better if they were asked for again.
pub(super) fn events(values: Vec<Value>) -> Vec<Event> {
    let events = values.into_iter();
    events
        .filter_map(|it| serde_json::from_value(it).ok())
        .collect()
}

/// Longest id of an event, in bytes.
const EVENT_ID_MAX: usize = 255;

/// Whether `text` can be the id of an event. Anybody can name anything as what they reply to, and a
/// server need not answer a question about what cannot be one.
pub(super) fn is_event_id(text: &str) -> bool {
    text.starts_with('$')
        && text.len() <= EVENT_ID_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns a text of an object; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
