//! The settings of a Discord application, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{Discord, NAME};
use crate::chat::Chat;
use crate::platform::{Platform, Question, Settings, Wants};

/// The row of Discord in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: discord` and `token_env`, the variable the bot's token is in; where Discord is to send \
            interactions to this gateway also `public_key` and `callback_url`",
    allowed_users: "DISCORD_ALLOWED_USERS",
    build,
    questions: &[
        Question {
            how: "Open https://discord.com/developers/applications → New Application. Under Bot, press Reset Token and copy it; \
                  leave the privileged intents off. Use an application of its own: one serves one gateway.",
            ask: "The bot's token",
            key: "token_env",
            wants: Wants::Secret("DISCORD_TOKEN"),
        },
        Question {
            how: "Under OAuth2 → URL Generator choose the scopes `bot` and `applications.commands` and the bot permissions View \
                  Channels, Send Messages, Send Messages in Threads, Embed Links, Attach Files and Read Message History. Open the \
                  URL and add the bot to your server; people can get direct messages only from a bot they share a server with. \
                  Cards can go to a channel; without one each approver gets cards directly.",
            ask: "The id of the channel (empty: none)",
            key: "channel",
            wants: Wants::Met,
        },
    ],
    account: "in Discord, switch on User Settings → Advanced → Developer Mode, then right-click your name → Copy User ID; or \
              type `/whoami`",
    manifest: None,
};

/// Where Discord's HTTP API is, if nothing is configured.
const URL: &str = "https://discord.com/api/v10/";

/// How Discord is set up.
#[derive(Clone)]
pub struct DiscordSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The HTTP API.
    pub url: String,
    /// The bot's token.
    pub token: String,
    /// How presses and commands arrive.
    pub arrival: Arrival,
    /// Id of the server whose people are ours; without it that of `channel`.
    pub guild: Option<String>,
    /// Id of the channel where cards go; without it they go to each approver.
    pub channel: Option<String>,
    /// Whether slash commands are registered.
    pub commands: bool,
    /// Whether people can talk to the built-in agent there.
    pub talk: bool,
    /// Whether a card mentions those who may answer it.
    pub mention: bool,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

/// How presses and commands arrive. Messages always come by the gateway connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// By a connection that the gateway opens. Nothing has to reach this machine.
    Gateway,
    /// By signed requests to the gateway.
    Requests {
        /// The key that verifies them, in hexadecimal. It is no secret.
        public_key: String,
        /// Where Discord reaches the gateway.
        callback_url: String,
    },
}

impl std::fmt::Debug for DiscordSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token.
        f.debug_struct("DiscordSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn build(settings: Settings<'_>) -> Result<Arc<dyn Chat>, String> {
    let arrival = match (settings.text("public_key"), settings.text("callback_url")) {
        (None, None) => Arrival::Gateway,
        (Some(public_key), Some(callback_url)) => Arrival::Requests {
            public_key,
            callback_url,
        },
        (Some(_), None) => return Err("`callback_url` is not set".to_owned()),
        (None, Some(_)) => return Err("`public_key` is not set".to_owned()),
    };
    let settings = DiscordSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_else(|| URL.to_owned()),
        token: settings.secret("token_env")?,
        arrival,
        guild: settings.text("guild"),
        channel: settings.text("channel"),
        commands: settings.flag("commands"),
        talk: settings.flag("talk"),
        mention: settings.flag("mention"),
        accounts: settings.accounts,
    };
    Ok(Arc::new(Discord::new(settings)?))
}
