//! The settings of a Matrix bot, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{Matrix, NAME};
use crate::chat::Chat;
use crate::platform::{Platform, Question, Settings, Wants};

/// The row of Matrix in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: matrix`, the homeserver's `url`, and `token_env`, the variable the bot's access token is in",
    allowed_users: "MATRIX_ALLOWED_USERS",
    build,
    questions: &[
        Question {
            how: "The address of the homeserver itself, not of a client such as Element. The client shows it when \
                  you sign in.",
            ask: "The address of the homeserver",
            key: "url",
            wants: Wants::Text,
        },
        Question {
            how: "Create an account of its own for the bot on the homeserver and sign in as it. In Element: Settings → Help & \
                  About → Advanced → Access Token. Do not sign out there, which ends the token; close the window.",
            ask: "The bot's access token",
            key: "token_env",
            wants: Wants::Secret("MATRIX_TOKEN"),
        },
        Question {
            how: "Create a private room for cards WITHOUT encryption (in Element: turn off \"Enable end-to-end encryption\" while \
                  you create it; it cannot be turned off later) and invite the bot and the approvers. Countersign has no \
                  encryption for Matrix: what a card shows, the homeserver can read. Without a room each approver gets cards in a \
                  conversation that the bot opens.",
            ask: "The id of the room (empty: none)",
            key: "channel",
            wants: Wants::Met,
        },
    ],
    account: "it looks like @name:example.org; the client shows it in its settings, and `!countersign whoami` in the room answers with it",
    manifest: None,
};

/// How a Matrix bot is set up.
#[derive(Clone)]
pub struct MatrixSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The homeserver.
    pub url: String,
    /// The bot's access token.
    pub token: String,
    /// The id or the alias of the room where cards go; without it they go to each approver.
    pub channel: Option<String>,
    /// Whether people can talk to the built-in agent there.
    pub talk: bool,
    /// Whether a card mentions those who may answer it.
    pub mention: bool,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

impl std::fmt::Debug for MatrixSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatrixSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn build(settings: Settings<'_>) -> Result<Arc<dyn Chat>, String> {
    let settings = MatrixSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_default(),
        token: settings.secret("token_env")?,
        channel: settings.text("channel"),
        talk: settings.flag("talk"),
        mention: settings.flag("mention"),
        accounts: settings.accounts,
    };
    Ok(Arc::new(Matrix::new(settings)?))
}
