//! The app manifest: everything Slack has to know about the app, to be pasted there once.
//!
//! The scopes are a table with the reason for each. The doctor compares a token with the same table.

use countersign_core::command::TABLE;
use serde_json::{Value, json};

use crate::fields::set;

use super::COMMAND;

/// Longest hint beside a command, in characters.
const HINT_CHARS_MAX: usize = 1000;

/// What the bot's token must permit, and what for.
pub(super) const SCOPES: &[(&str, &str)] = &[
    ("app_mentions:read", "to hear who mentions it"),
    (
        "channels:history",
        "to find its cards again in public channels",
    ),
    (
        "channels:read",
        "to see whether it is in the channel of the cards",
    ),
    ("chat:write", "to post cards and change them"),
    ("commands", "for the slash command"),
    ("files:write", "to show long commands as a file"),
    (
        "groups:history",
        "to find its cards again in private channels",
    ),
    ("groups:read", "to see whether it is in a private channel"),
    ("im:history", "to hear what is said to it directly"),
    ("im:read", "to find what was said while it was away"),
    ("im:write", "to write to people directly"),
    (
        "metadata.message:read",
        "to find its cards again by their key",
    ),
    (
        "users:read",
        "to see whether an account is a person's, and in use",
    ),
];

/// What the app hears of.
const EVENTS: &[&str] = &[
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
];

/// Returns the manifest for Socket Mode, or for requests to `callback_url`, the address of the channel
/// at the gateway.
pub fn manifest(callback_url: Option<&str>) -> Value {
    let scopes: Vec<&str> = SCOPES.iter().map(|(scope, _)| *scope).collect();
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    let mut hint = names.join(" | ");
    hint.truncate(hint.floor_char_boundary(HINT_CHARS_MAX));
    let mut command = json!({
        "command": COMMAND,
        "description": "Answer what agents ask, and steer them",
        "usage_hint": hint,
        "should_escape": false,
    });
    let mut events = json!({ "bot_events": EVENTS });
    let mut interactivity = json!({ "is_enabled": true });
    if let Some(url) = callback_url {
        set(&mut command, "url", format!("{url}/command"));
        set(&mut events, "request_url", format!("{url}/action"));
        set(&mut interactivity, "request_url", format!("{url}/action"));
    }
    json!({
        "display_information": {
            "name": "Countersign",
            "description": "Asks people before agents act",
            "background_color": "#1d2433",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": false,
                "messages_tab_enabled": true,
                "messages_tab_read_only_enabled": false,
            },
            "bot_user": { "display_name": "countersign", "always_online": true },
            "slash_commands": [command],
        },
        "oauth_config": { "scopes": { "bot": scopes } },
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": false,
            "socket_mode_enabled": callback_url.is_none(),
            "token_rotation_enabled": false,
        },
    })
}
