//! The settings of a Telegram bot, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{NAME, Telegram};
use crate::chat::Chat;
use crate::platform::{Platform, Question, Settings, Wants};

/// The row of Telegram in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: telegram` and `token_env`, the variable the bot's token is in",
    allowed_users: "TELEGRAM_ALLOWED_USERS",
    build,
    questions: &[
        Question {
            how: "In Telegram, open https://t.me/BotFather, send /newbot, choose a name and a username that ends in \
                  `bot`. BotFather replies with a token. Use a bot of its own: one bot serves one gateway.",
            ask: "The bot's token",
            key: "token_env",
            wants: Wants::Secret("TELEGRAM_TOKEN"),
        },
        Question {
            how: "In Telegram, open the bot's page (t.me/ and its username) and press Start. If cards are to go to a group, add the \
                  bot to it and send /whoami there; without a group each approver gets cards directly. `/TOPIC` behind the id of \
                  a group names a topic.",
            ask: "The id of the group (empty: none)",
            key: "channel",
            wants: Wants::Met,
        },
    ],
    account: "each presses Start in a conversation with the bot; /whoami there replies with the id",
    manifest: None,
};

/// Where bots speak to Telegram, unless a server of one's own is configured.
const URL: &str = "https://api.telegram.org";

/// How a Telegram bot is set up.
#[derive(Clone)]
pub struct TelegramSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The server.
    pub url: String,
    /// The bot's token.
    pub token: String,
    /// The id of the group where cards go, with `/TOPIC` for a topic of it; without it they go to
    /// each approver.
    pub channel: Option<String>,
    /// Where Telegram reaches the gateway; without it the bot asks for what is new.
    pub callback_url: Option<String>,
    /// What Telegram says with each callback, so that nobody else can.
    pub secret: Option<String>,
    /// Whether there is a menu of commands.
    pub commands: bool,
    /// Whether people can talk to the built-in agent there.
    pub talk: bool,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

impl std::fmt::Debug for TelegramSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TelegramSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn build(settings: Settings<'_>) -> Result<Arc<dyn Chat>, String> {
    let callback_url = settings.text("callback_url");
    let secret = match &callback_url {
        Some(_) => Some(settings.secret("secret_env")?),
        None => None,
    };
    let settings = TelegramSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_else(|| URL.to_owned()),
        token: settings.secret("token_env")?,
        channel: settings.text("channel"),
        callback_url,
        secret,
        commands: settings.flag("commands"),
        talk: settings.flag("talk"),
        accounts: settings.accounts,
    };
    Ok(Arc::new(Telegram::new(settings)?))
}
