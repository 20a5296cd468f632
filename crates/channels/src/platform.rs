//! The description of a chat platform: its name, the settings it needs, how to build a chat of it.
//!
//! Separate from the registry, so that a platform's module does not import the list it stands in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::chat::Chat;

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
    /// What is asked when a channel of it is added, in order.
    pub questions: &'static [Question],
    /// How people find the id of their account there.
    pub account: &'static str,
    /// Returns what describes our app to a platform that takes such a description, for presses by a
    /// connection or by requests to an address.
    pub manifest: Option<fn(Option<&str>) -> Value>,
}

/// Something that is asked when a channel is added.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Where to click to get it.
    pub how: &'static str,
    /// What is asked.
    pub ask: &'static str,
    /// The key in the section of the channel.
    pub key: &'static str,
    /// What kind of answer it wants.
    pub wants: Wants,
}

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A secret, which the gateway finds in this variable; the key names the variable.
    Secret(&'static str),
    /// A secret like that, or nothing; without it the key is left out.
    MaybeSecret(&'static str),
    /// A text.
    Text,
    /// A text, or nothing.
    Maybe,
    /// The id of something that the bot has met by now, or nothing.
    Met,
}

/// What channels ask that only tell, with a link to the page.
pub(crate) const PAGE: Question = Question {
    how: "People answer on the page. It needs an address that their devices reach: https, with a certificate \
          (`countersign serve --listen … --tls-cert … --tls-key …`, and its name in `api.hosts`).",
    ask: "The address of the page, such as https://gate.example.org:8750",
    key: "page_url",
    wants: Wants::Text,
};

/// The settings of one channel.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Its name in the configuration.
    pub name: &'a str,
    /// The entries below that name.
    pub values: &'a Value,
    /// The names under which people list their accounts there.
    pub accounts: Vec<String>,
    /// Variables that count before those of the environment: what somebody has just typed.
    pub variables: BTreeMap<String, String>,
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

    /// Returns the time `key`, a number of seconds as the configuration keeps times.
    pub fn time(&self, key: &str) -> Result<Option<Duration>, String> {
        let seconds = self.values.get(key).and_then(Value::as_f64);
        let time = seconds.map(Duration::try_from_secs_f64).transpose();
        time.map_err(|_| format!("`{key}` is no time"))
    }

    /// Returns the content of the environment variable that `key` names.
    pub fn secret(&self, key: &str) -> Result<String, String> {
        let name = self
            .text(key)
            .ok_or_else(|| format!("`{key}` is not set"))?;
        if let Some(typed) = self.variables.get(&name) {
            return Ok(typed.clone());
        }
        std::env::var(&name).map_err(|_| format!("the variable `{name}` is not set"))
    }
}
