//! Channels: render a card for a chat, deliver it, verify what comes back.
//!
//! A channel paints and delivers; it never decides. It sees a card, not the approval, and neither the
//! store nor the gate. What people do in a chat becomes a [`press::Click`], which the gate checks.

pub mod chat;
mod data;
pub mod discord;
pub mod email;
mod face;
mod fields;
mod hearing;
pub mod matrix;
pub mod mattermost;
pub mod memory;
pub mod notifier;
mod ntfy;
pub mod order;
pub mod platform;
pub mod press;
pub mod push;
mod recorder;
pub mod registry;
mod rich;
pub mod seal;
pub mod slack;
pub mod smtp;
pub mod telegram;
pub mod text;
mod webhook;
mod wording;
pub mod zone;

use std::future::Future;
use std::pin::Pin;

pub use ntfy::{Ntfy, NtfySettings, Shows};
use order::Destination;
pub use order::{Delivered, Order};
pub use recorder::{Recorder, Said};
pub use webhook::{Verified, VerifyError, Webhook, WebhookSettings};

/// Returns how HTTP clients of the project are made: no redirects, which would carry what is sent to
/// a place nobody configured, and one choice of cryptography.
pub fn http() -> reqwest::ClientBuilder {
    // Another part of the process may have chosen already; the first choice holds.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none())
}

/// Returns the address `text` of a server that is sent secrets, or what is wrong with it.
fn checked_url(text: &str) -> Result<reqwest::Url, String> {
    let url = reqwest::Url::parse(text).map_err(|_| "its url is invalid".to_owned())?;
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if url.scheme() != "https" && !(url.scheme() == "http" && local) {
        return Err("its url must be https, or http on this machine".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its url must not contain a password".to_owned());
    }
    Ok(url)
}

/// Returns where people find a card on the page. Opening it changes nothing.
fn card_link(page: &reqwest::Url, approval: &str) -> reqwest::Url {
    let mut link = page.clone();
    link.set_fragment(Some(&format!("/approvals/{approval}")));
    link
}

/// Returns what happened for people: the library's own words say less.
fn words(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        "it does not respond in time".to_owned()
    } else if error.is_connect() {
        "no connection can be made to its address".to_owned()
    } else {
        error.to_string()
    }
}

/// A future that can be kept behind `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a card did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// It may work later.
    #[error("{channel} cannot be reached now: {why}")]
    Later {
        /// The channel.
        channel: String,
        /// What happened, without secrets.
        why: String,
    },
    /// It will not work until somebody changes something.
    #[error("{channel} refuses: {why}")]
    Never {
        /// The channel.
        channel: String,
        /// What happened, without secrets.
        why: String,
    },
}

/// A way to put a card in front of people.
pub trait Channel: Send + Sync + std::fmt::Debug {
    /// Returns its name in the configuration.
    fn name(&self) -> &str;

    /// Returns what it is, as the configuration names it: `webhook` and so on.
    fn kind(&self) -> &'static str {
        "chat"
    }

    /// Returns the names under which people list their accounts there, the most particular first.
    fn accounts(&self) -> Vec<&str> {
        vec![self.name()]
    }

    /// Whether it has a place of its own for cards. Without one they go to each approver.
    fn has_usual_place(&self) -> bool {
        true
    }

    /// Whether what is delivered there is seen by one person alone.
    fn is_for_one(&self, to: &Destination) -> bool {
        matches!(to, Destination::Person(_))
    }

    /// Whether what it told people cannot be changed. Then they are told once how a question ended.
    fn tells_once(&self) -> bool {
        false
    }

    /// Whether it shows clarifications, too, and brings their answers back.
    fn takes_questions(&self) -> bool {
        false
    }

    /// Puts a question in front of people. Under the same key no card appears twice.
    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>>;

    /// Paints a delivered card again after it changed; not if it looks so already, because the reply
    /// to a press may have painted it.
    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Whether a delivered card is still there. Who cannot tell says that it is.
    fn is_there<'a>(
        &'a self,
        _delivered: &'a Delivered,
    ) -> BoxFuture<'a, Result<bool, DeliveryError>> {
        Box::pin(std::future::ready(Ok(true)))
    }

    /// Shows the full text beside a delivered card that shows only parts of it.
    fn unfold<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Says something that is no question.
    fn say<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Sends a message to one person or place, named as the channel names them. `key` names the
    /// sending; whoever receives it twice has received one message. It is not tried again here.
    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;
}
