//! The parts of Telegram's JSON that matter here. What else is there is ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer of the server.
#[derive(Debug, Deserialize)]
pub(super) struct Answer<T> {
    pub(super) ok: bool,
    pub(super) result: Option<T>,
    #[serde(default)]
    pub(super) error_code: u16,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) parameters: Parameters,
}

/// What the server says besides about a refusal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Parameters {
    pub(super) retry_after: Option<u64>,
    pub(super) migrate_to_chat_id: Option<i64>,
}

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) is_bot: bool,
    pub(super) first_name: String,
    pub(super) username: String,
    pub(super) can_read_all_group_messages: bool,
}

/// A conversation, or a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    pub(super) id: i64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) is_forum: bool,
}

impl Place {
    /// Whether nobody but us is there.
    pub(super) fn is_private(&self) -> bool {
        self.kind == "private"
    }
}

/// A message. Of one that is out of reach only the place and the id are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) message_id: i64,
    pub(super) message_thread_id: Option<i64>,
    pub(super) is_topic_message: bool,
    pub(super) from: Option<User>,
    /// Who speaks as a whole group or channel; nobody can say who that is.
    pub(super) sender_chat: Option<Place>,
    pub(super) chat: Place,
    pub(super) text: String,
    pub(super) reply_to_message: Option<Box<Said>>,
    /// What it replies to in another chat.
    pub(super) external_reply: Option<Value>,
    /// Whose words they were before, and when; older servers say only the latter.
    pub(super) forward_origin: Option<Value>,
    pub(super) forward_date: Option<i64>,
    /// The program that wrote it for somebody.
    pub(super) via_bot: Option<User>,
    pub(super) sender_business_bot: Option<User>,
}

impl Said {
    /// Whether its author typed it: not forwarded, and written by no program.
    pub(super) const fn is_typed(&self) -> bool {
        self.forward_origin.is_none()
            && self.forward_date.is_none()
            && self.via_bot.is_none()
            && self.sender_business_bot.is_none()
    }
}

/// A button that was pressed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Pressed {
    pub(super) id: String,
    pub(super) from: User,
    pub(super) message: Option<Said>,
    pub(super) data: String,
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Update {
    #[serde(rename = "update_id")]
    pub(super) id: i64,
    pub(super) message: Option<Said>,
    pub(super) callback_query: Option<Pressed>,
}

/// How updates are delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct WebhookInfo {
    pub(super) url: String,
    pub(super) pending_update_count: i64,
    pub(super) last_error_message: String,
}

/// Somebody in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Member {
    pub(super) status: String,
    pub(super) can_send_messages: Option<bool>,
}

/// A command of the menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MenuRow {
    pub(super) command: String,
    pub(super) description: String,
}
