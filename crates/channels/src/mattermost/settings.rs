//! The settings of a Mattermost server, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{Mattermost, NAME};
use crate::chat::Chat;
use crate::platform::{Platform, Settings};

/// The row of Mattermost in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: mattermost`, the server's `url`, and `token_env`, the variable the bot's token is in",
    allowed_users: "MATTERMOST_ALLOWED_USERS",
    build,
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
