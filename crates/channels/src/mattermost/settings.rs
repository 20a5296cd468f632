//! The settings of a Mattermost server, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{Mattermost, NAME};
use crate::chat::Chat;
use crate::platform::{Platform, Question, Settings, Wants};

/// The row of Mattermost in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: mattermost`, the server's `url`, and `token_env`, the variable the bot's token is in",
    allowed_users: "MATTERMOST_ALLOWED_USERS",
    build,
    questions: &[
        Question {
            how: "The address that people open in their browser.",
            ask: "The address of the server",
            key: "url",
            wants: Wants::Text,
        },
        Question {
            how: "In Mattermost: Integrations → Bot Accounts → Add Bot Account; make it a team admin for slash commands. \
                  Its token is shown once.",
            ask: "The bot's token",
            key: "token_env",
            wants: Wants::Secret("MATTERMOST_TOKEN"),
        },
        Question {
            how: "The name of the team, as it stands in the address of its channels. Add the bot to the team.",
            ask: "The team",
            key: "team",
            wants: Wants::Text,
        },
        Question {
            how: "The name of the channel for cards, as it stands in its address. Add the bot to it. Without one each approver \
                  gets cards directly.",
            ask: "The channel (empty: none)",
            key: "channel",
            wants: Wants::Maybe,
        },
        Question {
            how: "Where the Mattermost server reaches this gateway, such as http://127.0.0.1:7777. Without it people answer by \
                  reaction or reply instead of by button.",
            ask: "The callback address (empty: none)",
            key: "callback_url",
            wants: Wants::Maybe,
        },
    ],
    account: "it is in the person's profile; `/whoami` there shows it, too",
    manifest: None,
};

/// What stands before a command whose own name is taken, if nothing is configured.
const COMMAND_PREFIX: &str = "cs-";

/// How Mattermost is set up.
#[derive(Clone)]
pub struct MattermostSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The server.
    pub url: String,
    /// The bot's token.
    pub token: String,
    /// Name or id of the team.
    pub team: Option<String>,
    /// Id, name or `TEAM/NAME` of where cards go; without it they go to each approver.
    pub channel: Option<String>,
    /// Where the server reaches the gateway; without it people answer by reaction or reply.
    pub callback_url: Option<String>,
    /// Whether slash commands are registered.
    pub commands: bool,
    /// The prefix for commands whose name is taken.
    pub command_prefix: String,
    /// Whether people can talk to the built-in agent there.
    pub talk: bool,
    /// Whether a card mentions those who may answer it.
    pub mention: bool,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

impl std::fmt::Debug for MattermostSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MattermostSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn build(settings: Settings<'_>) -> Result<Arc<dyn Chat>, String> {
    let settings = MattermostSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_default(),
        token: settings.secret("token_env")?,
        team: settings.text("team"),
        channel: settings.text("channel"),
        callback_url: settings.text("callback_url"),
        commands: settings.flag("commands"),
        command_prefix: settings
            .text("command_prefix")
            .unwrap_or_else(|| COMMAND_PREFIX.to_owned()),
        talk: settings.flag("talk"),
        mention: settings.flag("mention"),
        accounts: settings.accounts,
    };
    Ok(Arc::new(Mattermost::new(settings)?))
}
