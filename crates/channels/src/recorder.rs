//! A channel that records its orders, for tests and for practice.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::order::{Attempt, Destination, Shown, Subject};
use crate::{BoxFuture, Channel, Delivered, DeliveryError, Order};

/// What a recorder was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A card, under its delivery key.
    Card(String, Box<countersign_core::card::Card>),
    /// A card that was painted again, by its reference.
    Again(String, Box<countersign_core::card::Card>),
    /// A clarification, under its delivery key, or painted again.
    Question(String, Box<crate::order::Inquiry>),
    /// The full text of a card, by its reference.
    Unfolded(String),
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
    /// Where each delivery went, and whether it may have happened before.
    orders: Vec<(Destination, Attempt)>,
    failing: Option<Failing>,
    cuts: bool,
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

    /// Returns where each delivery was to go, and whether it may have happened before.
    pub fn orders(&self) -> Vec<(Destination, Attempt)> {
        self.state().orders.clone()
    }

    /// Lets cards be shown only in parts from now on.
    pub fn cuts(&self) {
        self.state().cuts = true;
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

    fn takes_questions(&self) -> bool {
        true
    }

    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            let key = order.key.clone();
            self.take(match &order.what {
                Subject::Card(card) => Said::Card(key.clone(), card.clone()),
                Subject::Question(inquiry) => Said::Question(key.clone(), inquiry.clone()),
            })?;
            let mut state = self.state();
            state.orders.push((order.to.clone(), order.attempt));
            Ok(Delivered {
                channel: self.name.clone(),
                reference: key,
                shown: if state.cuts { Shown::Cut } else { Shown::Whole },
            })
        })
    }

    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let reference = delivered.reference.clone();
            self.take(match &order.what {
                Subject::Card(card) => Said::Again(reference, card.clone()),
                Subject::Question(inquiry) => Said::Question(reference, inquiry.clone()),
            })
        })
    }

    fn unfold<'a>(
        &'a self,
        delivered: &'a Delivered,
        _order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move { self.take(Said::Unfolded(delivered.reference.clone())) })
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
