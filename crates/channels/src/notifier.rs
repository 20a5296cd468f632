//! `Notifier`: a channel that only tells people. Nobody answers there.
//!
//! Separate from `Chat`, whose people answer and talk: what comes back from a notifier counts nowhere.

use std::sync::Arc;

use crate::chat::Finding;
use crate::platform::{Question, Settings};
use crate::{BoxFuture, Channel};

/// A channel that only tells.
pub trait Notifier: Channel {
    /// Looks for mistakes in the setup.
    fn examine(&self) -> BoxFuture<'_, Vec<Finding>>;

    /// Looks whether somebody's account there can be told. Who cannot tell finds nothing.
    fn examine_account<'a>(
        &'a self,
        _person: &'a str,
        _account: &'a str,
    ) -> BoxFuture<'a, Vec<Finding>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// A kind of channel that only tells.
#[derive(Clone, Copy, Debug)]
pub struct NotifierKind {
    /// Its name in the configuration.
    pub name: &'static str,
    /// The settings it cannot do without: the hint beside an error.
    pub needs: &'static str,
    /// Builds a channel, or returns what is wrong with its settings.
    pub build: fn(&Settings<'_>) -> Result<Arc<dyn Notifier>, String>,
    /// What is asked when a channel of it is added, in order.
    pub questions: &'static [Question],
    /// How people find the name of their account there.
    pub account: &'static str,
    /// A section of the configuration that it uses where its own settings do not replace it.
    pub borrows: Option<Borrowed>,
}

/// A section of the configuration that a channel uses besides its own.
#[derive(Clone, Copy, Debug)]
pub struct Borrowed {
    /// Its name; the channel finds it under this name among its own settings.
    pub section: &'static str,
    /// The setting without which there is no such section.
    pub has: &'static str,
    /// The questions that need not be asked where there is one.
    pub spares: &'static [&'static str],
}
