//! The chat platforms: adding one takes a module and a row in [`PLATFORMS`].
//!
//! Separate, because this is the only place that knows which platforms exist. The rest of the
//! program sees a [`Chat`].

use std::sync::Arc;

use serde_json::Value;

use crate::chat::Chat;
use crate::mattermost;

/// Every chat platform.
pub const PLATFORMS: &[Platform] = &[mattermost::settings::PLATFORM];

/// The type of a channel that is no chat.
pub const WEBHOOK: &str = "webhook";

/// The values of `channels.NAME.type`: webhooks, and every platform.
pub const TYPES: [&str; PLATFORMS.len() + 1] = types();

/// A kind of chat.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// Its name in the configuration.
    pub name: &'static str,
    /// The settings it cannot do without: the hint beside an error.
    pub needs: &'static str,
    /// The environment variable that lists accounts of approvers, besides `people`.
    pub allowed_users: &'static str,
    /// Builds a chat, or returns what is wrong with its settings.
    pub build: fn(Settings<'_>) -> Result<Arc<dyn Chat>, String>,
}

/// The settings of one channel.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Its name in the configuration.
    pub name: &'a str,
    /// The entries below that name.
    pub values: &'a Value,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
}

impl Settings<'_> {
    /// Returns the text of `key`; `None` if it is not set or empty.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = self.values.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns the flag `key`, which is true unless it is set to false.
    pub fn flag(&self, key: &str) -> bool {
        let flag = self.values.get(key).and_then(Value::as_bool);
        flag.unwrap_or(true)
    }

    /// Returns the content of the environment variable that `key` names.
    pub fn secret(&self, key: &str) -> Result<String, String> {
        let name = self
            .text(key)
            .ok_or_else(|| format!("`{key}` is not set"))?;
        std::env::var(&name).map_err(|_| format!("the variable `{name}` is not set"))
    }
}

/// Returns the platform called `name`.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
}

#[expect(
    clippy::indexing_slicing,
    reason = "by the length of the array; it runs only while compiling, where a wrong index is an error"
)]
const fn types() -> [&'static str; PLATFORMS.len() + 1] {
    let mut types = [WEBHOOK; PLATFORMS.len() + 1];
    let mut at = 0;
    while at < PLATFORMS.len() {
        types[at + 1] = PLATFORMS[at].name;
        at += 1;
    }
    types
}
