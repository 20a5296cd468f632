//! Wire types of Slack, as far as we need them; other fields are ignored.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Who the bot's token belongs to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Auth {
    pub(super) url: String,
    pub(super) team: String,
    pub(super) team_id: String,
    pub(super) user: String,
    pub(super) user_id: String,
    pub(super) bot_id: String,
    pub(super) enterprise_id: Option<String>,
}

/// The answer of `users.info`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UserInfo {
    pub(super) user: User,
}

/// Somebody with an account.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "as Slack spells them")]
pub(super) struct User {
    pub(super) id: String,
    pub(super) team_id: String,
    pub(super) name: String,
    pub(super) deleted: bool,
    pub(super) is_bot: bool,
    /// Whether it is known here only by a channel that is shared with another organisation.
    pub(super) is_stranger: bool,
    pub(super) tz: Option<String>,
    pub(super) enterprise_user: Option<EnterpriseUser>,
}

/// The same account in an organisation of several workspaces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EnterpriseUser {
    pub(super) enterprise_id: String,
}

/// The answer of `bots.info`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotInfo {
    pub(super) bot: Bot,
}

/// A bot.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Bot {
    pub(super) app_id: String,
}

/// The answer of `conversations.open` and `conversations.info`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChannelInfo {
    pub(super) channel: Place,
}

/// A page of conversations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Places {
    pub(super) channels: Vec<Place>,
    pub(super) response_metadata: Cursor,
}

/// A conversation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "as Slack says it, each by itself"
)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_im: bool,
    pub(super) is_member: bool,
    pub(super) is_archived: bool,
    pub(super) is_ext_shared: bool,
}

/// Where the next page begins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cursor {
    pub(super) next_cursor: String,
}

/// A message that was posted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Posted {
    pub(super) channel: String,
    pub(super) ts: String,
}

/// A page of messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct History {
    pub(super) messages: Vec<Said>,
    pub(super) has_more: bool,
    pub(super) response_metadata: Cursor,
}

/// A message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subtype: Option<String>,
    pub(super) user: String,
    pub(super) bot_id: Option<String>,
    /// The app it was written with, also if that has a person's token.
    pub(super) app_id: Option<String>,
    /// Slack's own programs for people number what is typed in them.
    pub(super) client_msg_id: Option<String>,
    pub(super) text: String,
    pub(super) ts: String,
    pub(super) thread_ts: Option<String>,
    pub(super) channel: String,
    pub(super) channel_type: String,
    pub(super) metadata: Option<Metadata>,
    pub(super) files: Vec<File>,
    /// Of a message that was deleted.
    pub(super) deleted_ts: String,
    pub(super) previous_message: Option<Box<Self>>,
}

impl Said {
    /// Whether it is a message of the bot with this token.
    pub(super) fn is_of(&self, auth: &Auth) -> bool {
        self.bot_id.as_ref() == Some(&auth.bot_id) || self.user == auth.user_id
    }

    /// Whether a person wrote it, and not a program in their name.
    pub(super) fn is_of_a_person(&self) -> bool {
        let is_of_program = self.bot_id.is_some() || self.app_id.is_some();
        !is_of_program && self.subtype.is_none() && !self.user.is_empty()
    }

    /// Whether a person typed it into Slack itself, as it must be to answer anything.
    pub(super) fn is_typed(&self) -> bool {
        let is_numbered = self.client_msg_id.as_ref().is_some_and(|id| !id.is_empty());
        self.is_of_a_person() && is_numbered
    }
}

/// What we note on a message of ours.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub(super) event_type: String,
    pub(super) event_payload: BTreeMap<String, Value>,
}

/// A file below a message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) title: String,
}

/// Where a file may be sent to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Upload {
    pub(super) upload_url: String,
    pub(super) file_id: String,
}

/// Where the next connection is opened.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Connection {
    pub(super) url: String,
}

/// A frame of a connection.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "as Slack spells them")]
pub(super) struct Envelope {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) envelope_id: String,
    pub(super) payload: Value,
    /// Of `disconnect`.
    pub(super) reason: String,
    /// Of `hello`.
    pub(super) num_connections: u32,
    pub(super) connection_info: ConnectionInfo,
}

/// Whose connection it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConnectionInfo {
    pub(super) app_id: String,
}

/// What somebody did with a button or in a dialog.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Interaction {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) user: Actor,
    pub(super) team: Option<Named>,
    pub(super) container: Container,
    pub(super) trigger_id: String,
    pub(super) response_url: String,
    pub(super) actions: Vec<Action>,
    pub(super) view: View,
}

/// Who did it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Actor {
    pub(super) id: String,
    pub(super) team_id: String,
}

/// Something with an id.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub(super) id: String,
}

/// Where a button is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Container {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) channel_id: String,
    pub(super) message_ts: String,
    pub(super) thread_ts: Option<String>,
}

/// A button that was pressed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "as Slack spells them")]
pub(super) struct Action {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) action_id: String,
    pub(super) value: String,
}

/// A dialog that was sent off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct View {
    pub(super) private_metadata: String,
    pub(super) state: ViewState,
}

/// What was entered, by block and by input.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ViewState {
    pub(super) values: BTreeMap<String, BTreeMap<String, Entered>>,
}

/// What was entered in one input.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Entered {
    pub(super) value: Option<String>,
}

/// A command that was typed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "as Slack spells them")]
pub(super) struct Command {
    pub(super) command: String,
    pub(super) text: String,
    pub(super) user_id: String,
    pub(super) team_id: String,
    pub(super) channel_id: String,
    pub(super) trigger_id: String,
    pub(super) response_url: String,
}

/// An event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EventCallback {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) challenge: String,
    pub(super) team_id: String,
    pub(super) event: Said,
}
