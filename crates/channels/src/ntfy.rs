//! The ntfy channel: tells a topic of a server such as ntfy that something waits, with a link to it.
//!
//! Nobody answers there. A notification has no buttons: whoever reads a topic could press them, and
//! a topic proves nothing about its reader. Messages are published as JSON, because headers carry no
//! letters beyond ASCII.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::card::Card;
use countersign_core::digest::Digest;
use countersign_core::status::Risk;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::chat::Finding;
use crate::notifier::{Notifier, NotifierKind};
use crate::order::{Destination, Shown, Subject};
use crate::platform::{PAGE, Question, Settings, Wants};
use crate::{BoxFuture, Channel, Delivered, DeliveryError, Order};

/// The type of this channel in the configuration.
const NTFY: &str = "ntfy";

/// The row of ntfy in the registry.
pub(crate) const KIND: NotifierKind = NotifierKind {
    name: NTFY,
    needs: "it needs `type: ntfy`, the server's `url`, a `topic`, and `page_url`, where people open this page; \
            `token_env` names the variable its token is in",
    build,
    questions: &[
        Question {
            how: "Run an ntfy server of your own, or choose one.",
            ask: "Its address, such as https://ntfy.example.org",
            key: "url",
            wants: Wants::Text,
        },
        Question {
            how: "Choose a topic nobody guesses, and subscribe to it in the ntfy app: whoever knows it can read it.",
            ask: "The topic",
            key: "topic",
            wants: Wants::Text,
        },
        Question {
            how: "If the server wants an access token, `ntfy token add` makes one.",
            ask: "The access token (empty: none)",
            key: "token_env",
            wants: Wants::MaybeSecret("NTFY_TOKEN"),
        },
        PAGE,
    ],
    account: "a topic that only they read; everybody else reads the one of the channel",
    borrows: None,
};
/// How long the server may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest name of a topic; servers take no more.
const TOPIC_LETTERS_MAX: usize = 64;
/// Letters that name a notification, so that it can be replaced and cleared.
const SEQUENCE_LETTERS: usize = 32;

/// How an ntfy channel is set up.
#[derive(Clone)]
pub struct NtfySettings {
    /// Its name in the configuration.
    pub name: String,
    /// The address of the server: `https`, or `http` on this machine.
    pub url: String,
    /// The topic everybody who may answer reads.
    pub topic: String,
    /// What the server knows us by, if it asks.
    pub token: Option<String>,
    /// Where people open the page.
    pub page_url: String,
    /// How much a notification tells.
    pub shows: Shows,
}

/// How much a notification tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// That something waits.
    #[default]
    That,
    /// What waits, too.
    What,
}

impl Shows {
    /// Returns what a configuration calls `word`.
    pub fn of(word: Option<&str>) -> Option<Self> {
        match word {
            Some("what") => Some(Self::What),
            Some("that") => Some(Self::That),
            Some(_) | None => None,
        }
    }
}

impl std::fmt::Debug for NtfySettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NtfySettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A channel to a server of notifications.
#[derive(Clone, Debug)]
pub struct Ntfy {
    settings: NtfySettings,
    server: Url,
    page: Url,
    client: reqwest::Client,
}

impl Ntfy {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: NtfySettings) -> Result<Self, String> {
        let server = crate::checked_url(&settings.url)?;
        let page = crate::checked_url(&settings.page_url)
            .map_err(|_| "its page_url must be the https address of the page".to_owned())?;
        if !is_topic(&settings.topic) {
            return Err("its topic must be 1 to 64 letters, digits, `-` or `_`".to_owned());
        }
        let client = crate::http()
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            settings,
            server,
            page,
            client,
        })
    }

    /// Returns the topic an order goes to. Somebody's account is a topic that only they read.
    fn topic<'a>(&'a self, to: &'a Destination) -> Result<&'a str, DeliveryError> {
        match to {
            Destination::Usual => Ok(&self.settings.topic),
            Destination::Person(topic) if is_topic(topic) => Ok(topic),
            Destination::Person(_) => Err(self.never("the account is no topic")),
            Destination::Thread(_) => Err(self.never("it has no conversations")),
        }
    }

    /// Returns the message about `card`.
    fn message(&self, order: &Order, card: &Card) -> Result<Value, DeliveryError> {
        let click = crate::card_link(&self.page, &card.approval_id);
        // The server reads along, so nothing is told of a person in crisis.
        let (title, text) = if self.settings.shows == Shows::What && !order.is_crisis {
            (card.title.as_str(), card.command.as_str())
        } else {
            ("Countersign", "A call is waiting for your answer.")
        };
        Ok(json!({
            "topic": self.topic(&order.to)?,
            "title": title,
            "message": text,
            "priority": priority(card.risk),
            "click": click.as_str(),
            "sequence_id": sequence(&card.approval_id),
        }))
    }

    async fn request(&self, method: Method, url: Url, body: &Value) -> Result<(), DeliveryError> {
        let mut request = self.client.request(method, url);
        if let Some(token) = &self.settings.token {
            request = request.bearer_auth(token);
        }
        if !body.is_null() {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        // A topic is a secret, and the address may carry one.
        let sent = request.send().await;
        let response = sent.map_err(|error| self.later(crate::words(&error.without_url())))?;
        let status = response.status();
        if status.is_success() {
            Ok(())
        } else if status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429) {
            Err(self.later(format!("it responded with {status}")))
        } else {
            Err(self.never(&format!("it responded with {status}")))
        }
    }

    fn later(&self, why: String) -> DeliveryError {
        DeliveryError::Later {
            channel: self.settings.name.clone(),
            why,
        }
    }

    fn never(&self, why: &str) -> DeliveryError {
        DeliveryError::Never {
            channel: self.settings.name.clone(),
            why: why.to_owned(),
        }
    }
}

impl Channel for Ntfy {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn kind(&self) -> &'static str {
        NTFY
    }

    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            let Subject::Card(card) = &order.what else {
                return Err(self.never("it takes no questions"));
            };
            let message = self.message(order, card)?;
            self.request(Method::POST, self.server.clone(), &message)
                .await?;
            Ok(Delivered {
                channel: self.settings.name.clone(),
                reference: order.key.clone(),
                shown: Shown::Whole,
            })
        })
    }

    fn repaint<'a>(
        &'a self,
        _delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            if order.closing.is_none() {
                return Ok(());
            }
            let topic = self.topic(&order.to)?;
            let sequence = sequence(order.what.id());
            let url = self.server.join(&format!("{topic}/{sequence}/clear"));
            let url = url.map_err(|_| self.never("its url is invalid"))?;
            self.request(Method::PUT, url, &Value::Null).await
        })
    }

    fn unfold<'a>(
        &'a self,
        _delivered: &'a Delivered,
        _order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        // The link leads to all of it.
        Box::pin(async { Ok(()) })
    }

    fn say<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let message = json!({"topic": self.settings.topic, "message": text});
            self.request(Method::POST, self.server.clone(), &message)
                .await
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            if !is_topic(to) {
                return Err(self.never("the address is no topic"));
            }
            let message = json!({"topic": to, "message": text, "sequence_id": sequence(key)});
            self.request(Method::POST, self.server.clone(), &message)
                .await
        })
    }
}

impl Notifier for Ntfy {
    fn examine(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(async {
            let asked = match self.server.join("v1/health") {
                Ok(url) => self.request(Method::GET, url, &Value::Null).await,
                Err(_) => Err(self.never("its url is invalid")),
            };
            vec![match asked {
                Ok(()) => Finding::good("server", "it answers"),
                Err(error) => Finding::bad(
                    "server",
                    error.to_string(),
                    "is `url` the address of the server, and does it run?",
                ),
            }]
        })
    }
}

fn build(settings: &Settings<'_>) -> Result<Arc<dyn Notifier>, String> {
    let token = settings.text("token_env");
    let token = token.map(|_| settings.secret("token_env")).transpose()?;
    let settings = NtfySettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_default(),
        topic: settings.text("topic").unwrap_or_default(),
        token,
        page_url: settings.text("page_url").unwrap_or_default(),
        shows: Shows::of(settings.text("show").as_deref()).unwrap_or_default(),
    };
    Ok(Arc::new(Ntfy::new(settings)?))
}

/// Returns how loud a notification is, from 1 to 5.
const fn priority(risk: Risk) -> u8 {
    match risk {
        Risk::Low => 2,
        Risk::Medium => 3,
        Risk::High => 4,
        Risk::Critical => 5,
    }
}

/// Returns the name of the notification about `id`, which tells nothing of it.
fn sequence(id: &str) -> String {
    let Digest(hash) = Digest::of(format!("countersign/v1/ntfy\0{id}").as_bytes());
    let mut sequence = URL_SAFE_NO_PAD.encode(hash);
    sequence.truncate(SEQUENCE_LETTERS);
    sequence
}

fn is_topic(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=TOPIC_LETTERS_MAX).contains(&text.len()) && text.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> NtfySettings {
        NtfySettings {
            name: "phone".to_owned(),
            url: "https://ntfy.example.org".to_owned(),
            topic: "gate-7fK".to_owned(),
            token: Some("tk_secret".to_owned()),
            page_url: "https://gate.example.org".to_owned(),
            shows: Shows::That,
        }
    }

    #[test]
    fn settings_that_would_leak_or_lead_nowhere_are_refused() {
        let with = |url: &str, page_url: &str, topic: &str| NtfySettings {
            url: url.to_owned(),
            page_url: page_url.to_owned(),
            topic: topic.to_owned(),
            ..settings()
        };
        let (server, page) = ("https://ntfy.example.org", "https://gate.example.org");
        let long = "x".repeat(65);
        let rows = [
            ("plain http elsewhere", "http://ntfy.lan", page, "t"),
            ("no page", server, "", "t"),
            ("no topic", server, page, ""),
            ("a path in the topic", server, page, "a/b"),
            ("a long topic", server, page, &long),
        ];
        assert!(Ntfy::new(with(server, page, "t")).is_ok());
        for (name, url, page_url, topic) in rows {
            assert!(Ntfy::new(with(url, page_url, topic)).is_err(), "{name}");
        }
    }

    #[test]
    fn the_token_and_the_topic_are_not_in_what_a_log_would_show() {
        let shown = format!("{:?}", settings());
        assert!(!shown.contains("tk_") && !shown.contains("7fK"), "{shown}");
    }
}
