//! The parts of Discord's JSON that matter here. Unknown fields are ignored.

use serde::Deserialize;
use serde_json::Value;

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) username: String,
    pub(super) bot: bool,
}

/// Our application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Application {
    pub(super) id: String,
    pub(super) name: String,
    /// The key its requests are signed with, in hexadecimal.
    pub(super) verify_key: String,
    /// Where interactions are sent instead of the gateway connection.
    pub(super) interactions_endpoint_url: Option<String>,
}

/// A server of people, which Discord calls a guild.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Guild {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) owner_id: String,
    pub(super) roles: Vec<Role>,
}

/// A role with its permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Role {
    pub(super) id: String,
    pub(super) permissions: String,
}

/// A channel, a thread or a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) guild_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) permission_overwrites: Vec<Overwrite>,
}

/// The kind of a conversation of two.
pub(super) const DIRECT: u8 = 1;
/// The kinds of places that take messages: text, announcements, three kinds of threads.
pub(super) const TEXT_KINDS: [u8; 5] = [0, 5, 10, 11, 12];

/// What a role or a member may do otherwise in one channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Overwrite {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) allow: String,
    pub(super) deny: String,
}

/// Somebody in a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Member {
    pub(super) user: Option<User>,
    pub(super) roles: Vec<String>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) id: String,
    pub(super) channel_id: String,
    pub(super) guild_id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) author: User,
    pub(super) webhook_id: Option<String>,
    pub(super) content: String,
    pub(super) mentions: Vec<User>,
    pub(super) embeds: Vec<Embed>,
    pub(super) attachments: Vec<Value>,
    pub(super) message_reference: Option<Reference>,
}

/// The kinds of messages that people write: a message and a reply.
const WRITTEN_KINDS: [u8; 2] = [0, 19];

impl Said {
    /// Whether a person wrote it, and no program.
    pub(super) fn is_of_a_person(&self) -> bool {
        let is_written = WRITTEN_KINDS.contains(&self.kind);
        is_written && !self.author.bot && self.webhook_id.is_none() && !self.author.id.is_empty()
    }
}

/// A framed part of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Embed {
    pub(super) footer: Option<Footer>,
}

/// The small line below an embed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Footer {
    pub(super) text: String,
}

/// The message that another one replies to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Reference {
    pub(super) message_id: Option<String>,
}

/// A message that was deleted, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Deleted {
    pub(super) id: String,
    pub(super) ids: Vec<String>,
    pub(super) channel_id: String,
}

/// The kinds of interactions.
pub(super) mod kind {
    pub(crate) const PING: u8 = 1;
    pub(crate) const COMMAND: u8 = 2;
    pub(crate) const COMPONENT: u8 = 3;
    pub(crate) const MODAL: u8 = 5;
}

/// A press, a command or a dialog that was sent off.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Interaction {
    pub(super) id: String,
    pub(super) application_id: String,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) data: InteractionData,
    pub(super) guild_id: Option<String>,
    pub(super) channel_id: String,
    pub(super) channel: Option<Place>,
    /// Who it was, in a server.
    pub(super) member: Option<Member>,
    /// Who it was, in a conversation of two.
    pub(super) user: Option<User>,
    pub(super) token: String,
    pub(super) message: Option<Said>,
}

/// The content of an interaction.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct InteractionData {
    /// Of a command.
    pub(super) name: String,
    pub(super) options: Vec<OptionValue>,
    /// Of a button or a dialog.
    pub(super) custom_id: String,
    pub(super) component_type: u8,
    pub(super) components: Vec<Value>,
}

/// An option of a command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct OptionValue {
    pub(super) name: String,
    pub(super) value: Value,
}

/// The address of the gateway, and how often it may be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct GatewayBot {
    pub(super) url: String,
    pub(super) session_start_limit: StartLimit,
}

/// How often a connection may begin anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct StartLimit {
    pub(super) total: u32,
    pub(super) remaining: u32,
}

/// A frame of the gateway connection.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Frame {
    pub(super) op: u8,
    pub(super) d: Value,
    pub(super) s: Option<u64>,
    pub(super) t: Option<String>,
}

/// The beginning of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Ready {
    pub(super) session_id: String,
    pub(super) resume_gateway_url: String,
}
