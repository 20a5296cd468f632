//! Wire types of the Mattermost API, as far as we need them. Servers from 9.11 to 11.x differ in
//! other fields, which are ignored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Somebody with an account.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) username: String,
    pub(super) is_bot: bool,
    pub(super) delete_at: i64,
    pub(super) roles: String,
    pub(super) timezone: Timezone,
}

/// Which time zone somebody has set. The server keeps text only, also for yes and no.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timezone {
    #[serde(rename = "useAutomaticTimezone")]
    is_automatic: String,
    #[serde(rename = "automaticTimezone")]
    automatic: String,
    #[serde(rename = "manualTimezone")]
    manual: String,
}

impl Timezone {
    /// Returns the name of the zone; empty if there is none.
    pub(super) fn name(&self) -> &str {
        if self.is_automatic == "false" {
            &self.manual
        } else {
            &self.automatic
        }
    }
}

/// A team.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Team {
    pub(super) id: String,
    pub(super) name: String,
}

/// Somebody in a team.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TeamMember {
    pub(super) scheme_admin: bool,
    pub(super) roles: String,
}

/// A channel, or a conversation of a few people.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) name: String,
}

/// A message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Post {
    pub(super) id: String,
    pub(super) channel_id: String,
    pub(super) root_id: String,
    pub(super) user_id: String,
    pub(super) message: String,
    pub(super) create_at: i64,
    pub(super) delete_at: i64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) props: Map<String, Value>,
    pub(super) file_ids: Vec<String>,
}

/// What the server says of files that were sent to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Upload {
    pub(super) file_infos: Vec<File>,
}

/// A file the server keeps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) id: String,
}

impl Post {
    /// Returns the key we gave it, if it is one of ours.
    pub(super) fn key(&self) -> Option<&str> {
        self.props.get(super::KEY_PROP).and_then(Value::as_str)
    }
}

/// Messages by id, and their order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PostList {
    pub(super) order: Vec<String>,
    pub(super) posts: std::collections::BTreeMap<String, Post>,
}

/// A reaction to a message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reaction {
    pub(super) user_id: String,
    pub(super) post_id: String,
    pub(super) emoji_name: String,
    pub(super) create_at: i64,
}

/// A slash command as the server keeps it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ServerCommand {
    pub(super) id: String,
    pub(super) token: String,
    pub(super) creator_id: String,
    #[serde(flatten)]
    pub(super) wanted: WantedCommand,
}

/// A slash command as we want it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WantedCommand {
    pub(super) team_id: String,
    pub(super) trigger: String,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) auto_complete: bool,
    pub(super) auto_complete_hint: String,
    pub(super) auto_complete_desc: String,
    pub(super) display_name: String,
    pub(super) description: String,
}

/// The error message of the server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    pub(super) id: String,
    pub(super) message: String,
}

/// The callback of a button.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ActionCallback {
    pub(super) user_id: String,
    pub(super) channel_id: String,
    pub(super) post_id: String,
    pub(super) trigger_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) context: Map<String, Value>,
}

/// The callback of a dialog.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DialogCallback {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) user_id: String,
    pub(super) submission: Option<Map<String, Value>>,
    pub(super) cancelled: bool,
}

/// The callback of a slash command.
#[derive(Clone, Default)]
pub(super) struct CommandCallback {
    pub(super) token: String,
    pub(super) channel_id: String,
    pub(super) user_id: String,
    pub(super) command: String,
    pub(super) text: String,
    pub(super) trigger_id: String,
    pub(super) root_id: String,
}

/// What the websocket says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SocketEvent {
    pub(super) event: String,
    pub(super) seq: i64,
    pub(super) data: Map<String, Value>,
}
