//! The menu of commands that Telegram's clients offer.
//!
//! Commands arrive whether or not they are in the menu; it is there so that people find them. They have
//! one list in one language, so it is set for every language and every chat. What permits something is
//! not in it, because choosing a command from the menu sends it at once.

use std::time::Duration;

use countersign_core::command::TABLE;
use serde_json::json;

use super::Telegram;
use super::api::ApiError;
use super::wire::MenuRow;
use crate::chat::NEVER_TAPPED;

/// Pause after the menu could not be looked at.
const RETRY_AFTER: Duration = Duration::from_secs(30);

impl Telegram {
    /// Sets the menu once it can be set.
    pub(super) async fn keep_commands(&self) {
        let channel = &self.inner.settings.name;
        loop {
            match self.set_commands().await {
                Ok(_) => return,
                Err(error @ ApiError::Refused { .. }) => {
                    tracing::warn!(%error, channel, "no menu of commands");
                    return;
                }
                Err(error @ ApiError::Away(_)) => {
                    tracing::warn!(%error, channel, "no menu of commands yet");
                }
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    /// Makes the menu as it should be, and returns how many commands it has.
    pub(super) async fn set_commands(&self) -> Result<usize, ApiError> {
        let api = &self.inner.api;
        let wanted = if self.inner.settings.commands {
            menu()
        } else {
            Vec::new()
        };
        let there: Vec<MenuRow> = api.call("getMyCommands", &json!({})).await?;
        if there != wanted {
            let _set: bool = if wanted.is_empty() {
                api.call("deleteMyCommands", &json!({})).await?
            } else {
                api.call("setMyCommands", &json!({ "commands": wanted }))
                    .await?
            };
        }
        Ok(wanted.len())
    }
}

fn menu() -> Vec<MenuRow> {
    let rows = TABLE.iter();
    let rows = rows.filter(|row| !NEVER_TAPPED.contains(&row.name));
    let rows = rows.map(|row| MenuRow {
        command: row.name.to_owned(),
        description: if row.hint.is_empty() {
            row.does.to_owned()
        } else {
            format!("{} · {}", row.hint, row.does)
        },
    });
    rows.collect()
}
