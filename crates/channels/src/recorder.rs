//! A channel that keeps what it was given, for tests and for practice.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::card::Card;
use tokio::sync::Notify;

use crate::{BoxFuture, Channel, Delivered, DeliveryError};

/// What a recorder was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A card, under its delivery key.
    Card(String, Box<Card>),
    /// A card that was painted again, by its reference.
    Again(String, Box<Card>),
    /// A message.
    Message(String),
    /// A message to one person or place.
    Sent {
        /// To whom.
        to: String,
        /// What was said.
        text: String,
        /// Names the sending.
        key: String,
    },
}

/// A channel that keeps what it was given. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    name: String,
    state: Arc<Mutex<State>>,
    more: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    said: Vec<Said>,
    failing: Option<Failing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failing {
    Now,
    Always,
}

impl Recorder {
    /// Returns an empty recorder called `name`.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Returns everything it was given, in order.
    pub fn said(&self) -> Vec<Said> {
        self.state().said.clone()
    }

    /// Waits until what it was given is as `holds` wants it.
    pub async fn until(&self, holds: impl Fn(&[Said]) -> bool) {
        loop {
            // Made before looking, so that what comes meanwhile is not missed.
            let more = self.more.notified();
            if holds(&self.state().said) {
                return;
            }
            more.await;
        }
    }

    /// Lets deliveries fail as if the other side were away.
    pub fn goes_away(&self) {
        self.state().failing = Some(Failing::Now);
    }

    /// Lets deliveries fail as if something were set up wrongly.
    pub fn refuses(&self) {
        self.state().failing = Some(Failing::Always);
    }

    /// Lets deliveries succeed again.
    pub fn comes_back(&self) {
        self.state().failing = None;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, said: Said) -> Result<(), DeliveryError> {
        let mut state = self.state();
        let channel = self.name.clone();
        match state.failing {
            Some(Failing::Now) => Err(DeliveryError::Later {
                channel,
                why: "it is away".to_owned(),
            }),
            Some(Failing::Always) => Err(DeliveryError::Never {
                channel,
                why: "it is set up wrongly".to_owned(),
            }),
            None => {
                state.said.push(said);
                self.more.notify_waiters();
                Ok(())
            }
        }
    }
}

impl Channel for Recorder {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "recorder"
    }

    fn deliver<'a>(
        &'a self,
        card: &'a Card,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            self.take(Said::Card(key.to_owned(), Box::new(card.clone())))?;
            Ok(Delivered {
                channel: self.name.clone(),
                reference: key.to_owned(),
            })
        })
    }

    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        card: &'a Card,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let reference = delivered.reference.clone();
            self.take(Said::Again(reference, Box::new(card.clone())))
        })
    }

    fn say<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move { self.take(Said::Message(text.to_owned())) })
    }

    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        let [to, text, key] = [to, text, key].map(str::to_owned);
        Box::pin(async move { self.take(Said::Sent { to, text, key }) })
    }
}
