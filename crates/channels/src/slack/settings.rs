//! The settings of a Slack workspace, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use super::{NAME, Slack, manifest};
use crate::chat::Chat;
use crate::platform::{Platform, Question, Settings, Wants};

/// The row of Slack in the registry.
pub(crate) const PLATFORM: Platform = Platform {
    name: NAME,
    needs: "it needs `type: slack`, `token_env`, the variable the bot's token (xoxb-…) is in, and \
            `app_token_env`, the variable the app's token (xapp-…) is in; or `signing_secret_env` and \
            `callback_url` where Slack can reach this gateway",
    allowed_users: "SLACK_ALLOWED_USERS",
    build,
    questions: &[
        Question {
            how: "Open https://api.slack.com/apps → Create New App → From a manifest, choose your workspace, and paste what \
                  `countersign channels manifest slack` prints. Then Install to Workspace, and copy the Bot User OAuth Token \
                  from OAuth & Permissions.",
            ask: "The bot's token (xoxb-…)",
            key: "token_env",
            wants: Wants::Secret("SLACK_TOKEN"),
        },
        Question {
            how: "Basic Information → App-Level Tokens → Generate Token and Scopes → Add Scope `connections:write` → Generate.",
            ask: "The app's token (xapp-…)",
            key: "app_token_env",
            wants: Wants::Secret("SLACK_APP_TOKEN"),
        },
        Question {
            how: "Cards can go to a channel: type `/invite @countersign` in it; its id stands at the end of its details (click \
                  its name). Without a channel each approver gets cards directly.",
            ask: "The id of the channel, such as C024BE91L (empty: none)",
            key: "channel",
            wants: Wants::Maybe,
        },
    ],
    account: "in Slack, open your profile → ⋮ → Copy member ID; or type `/countersign whoami`",
    manifest: Some(manifest),
};

/// Where Slack is, if nothing is configured.
const URL: &str = "https://slack.com/api/";

/// How Slack is set up.
#[derive(Clone)]
pub struct SlackSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The Web API.
    pub url: String,
    /// The bot's token.
    pub token: String,
    /// How presses and messages arrive.
    pub arrival: Arrival,
    /// Id of the workspace; if it is set, a token of another one is refused.
    pub team: Option<String>,
    /// Id of the channel where cards go; without it they go to each approver.
    pub channel: Option<String>,
    /// Whether the slash command is served.
    pub commands: bool,
    /// Whether people can talk to the built-in agent there.
    pub talk: bool,
    /// Whether a card mentions those who may answer it.
    pub mention: bool,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

/// How presses, commands and messages arrive.
#[derive(Clone)]
pub enum Arrival {
    /// By a connection that the gateway opens. Nothing has to reach this machine.
    Socket {
        /// The app's own token.
        app_token: String,
    },
    /// By signed requests to the gateway.
    Requests {
        /// What they are signed with.
        signing_secret: String,
        /// Where Slack reaches the gateway.
        callback_url: String,
    },
}

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never what stands in it.
        f.write_str(match self {
            Self::Socket { .. } => "Socket",
            Self::Requests { .. } => "Requests",
        })
    }
}

impl std::fmt::Debug for SlackSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn build(settings: Settings<'_>) -> Result<Arc<dyn Chat>, String> {
    let arrival = match settings.text("signing_secret_env") {
        Some(_) => Arrival::Requests {
            signing_secret: settings.secret("signing_secret_env")?,
            callback_url: settings
                .text("callback_url")
                .ok_or("`callback_url` is not set")?,
        },
        None => Arrival::Socket {
            app_token: settings.secret("app_token_env")?,
        },
    };
    let settings = SlackSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_else(|| URL.to_owned()),
        token: settings.secret("token_env")?,
        arrival,
        team: settings.text("team"),
        channel: settings.text("channel"),
        commands: settings.flag("commands"),
        talk: settings.flag("talk"),
        mention: settings.flag("mention"),
        accounts: settings.accounts,
    };
    Ok(Arc::new(Slack::new(settings)?))
}
