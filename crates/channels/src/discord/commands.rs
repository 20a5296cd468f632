//! Registers our commands with Discord, so that its clients offer and complete them.
//!
//! All of them are set by one request, and only when Discord has others.

use std::time::Duration;

use countersign_core::command::{Row, TABLE};
use reqwest::Method;
use serde_json::{Value, json};

use super::Discord;
use super::api::ApiError;

/// Pause after the commands could not be looked at.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// The option that takes what follows a command.
pub(super) const OPTION: &str = "text";
/// Longest description, in characters.
const DESCRIPTION_CHARS_MAX: usize = 100;
/// Longest value of the option, in characters.
const VALUE_CHARS_MAX: u16 = 4000;

impl Discord {
    /// Registers the commands once that is possible.
    pub(super) async fn keep_commands(&self) {
        let channel = &self.inner.settings.name;
        loop {
            match self.set_commands().await {
                Ok(_) => return,
                Err(error @ ApiError::Refused { .. }) => {
                    tracing::warn!(%error, channel, "no commands are registered");
                    return;
                }
                Err(error @ ApiError::Away(_)) => {
                    tracing::warn!(%error, channel, "no commands are registered yet");
                }
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    /// Makes the commands as they should be, and returns how many there are.
    pub(super) async fn set_commands(&self) -> Result<usize, ApiError> {
        let application = self.known().await?.application;
        let path = ["applications", &application, "commands"];
        let wanted: Vec<Value> = if self.inner.settings.commands {
            TABLE.iter().map(command).collect()
        } else {
            Vec::new()
        };
        let there: Vec<Value> = self.inner.api.get(&path).await?;
        let mut there: Vec<Value> = there.iter().map(compared).collect();
        let mut compared_with = wanted.clone();
        let name = |it: &Value| it["name"].to_string();
        there.sort_by_key(name);
        compared_with.sort_by_key(name);
        if there != compared_with {
            let _set: Value = self
                .inner
                .api
                .send(Method::PUT, &path, &json!(wanted))
                .await?;
        }
        Ok(wanted.len())
    }
}

/// Returns a command as it is registered: in servers and in conversations with the bot.
fn command(row: &Row) -> Value {
    let options = if row.hint.is_empty() {
        Vec::new()
    } else {
        vec![json!({
            "type": 3,
            "name": OPTION,
            "description": row.hint,
            "required": !row.hint.starts_with('['),
            "max_length": VALUE_CHARS_MAX,
        })]
    };
    let does: String = row.does.chars().take(DESCRIPTION_CHARS_MAX).collect();
    json!({
        "type": 1,
        "name": row.name,
        "description": does,
        "options": options,
        "contexts": [0, 1],
        "integration_types": [0],
    })
}

/// Returns what Discord says of a command in the form in which we register it. Discord leaves out what is
/// not set, and adds ids.
fn compared(there: &Value) -> Value {
    let options = there["options"].as_array().into_iter().flatten();
    let options: Vec<Value> = options
        .map(|it| {
            json!({
                "type": it["type"],
                "name": it["name"],
                "description": it["description"],
                "required": it["required"].as_bool().unwrap_or(false),
                "max_length": it["max_length"],
            })
        })
        .collect();
    json!({
        "type": there["type"].as_u64().unwrap_or(1),
        "name": there["name"],
        "description": there["description"],
        "options": options,
        "contexts": there["contexts"],
        "integration_types": there["integration_types"],
    })
}
