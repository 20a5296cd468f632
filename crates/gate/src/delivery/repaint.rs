//! Paints delivered cards again when their question has changed.
//!
//! A press is answered with the card as it is then. Painting it from here as well would change it
//! twice, so that is left until the reply had time to arrive, and is done only if it did not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_channels::DeliveryError;
use countersign_channels::order::Attempt;
use countersign_core::status::DeliveryStatus;
use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record, StoreError};
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::GateError;
use crate::delivery::{Delivery, LOOK_EVERY, NOTED_WITHIN, PAUSE_FIRST, PAUSE_MAX};
use crate::records::deliveries::StoredDelivery;
use crate::records::stored::{read, written};

/// How often a card that has changed is painted again before it is left to the next start.
pub(super) const REPAINTS_MAX: u32 = 5;

/// Most cards that are looked for after a connection was away.
const LOOKED_FOR_MAX: u32 = 200;
/// How long a reply has to paint a card.
const REPLY_WITHIN: Duration = Duration::from_secs(2);

/// The cards that were pressed a moment ago, by channel and reference.
#[derive(Debug, Default)]
pub(super) struct Replies(Mutex<HashMap<(String, String), Instant>>);

impl Replies {
    /// Notes that a card was pressed.
    fn note(&self, channel: &str, reference: &str) {
        let now = Instant::now();
        let mut due = self.locked();
        due.retain(|_, due| *due > now);
        let key = (channel.to_owned(), reference.to_owned());
        due.insert(key, now + REPLY_WITHIN);
    }

    /// Returns when a card may be painted from here; `None` if at once.
    fn due(&self, delivery: &StoredDelivery) -> Option<Instant> {
        let key = (delivery.channel.clone(), delivery.reference.clone()?);
        self.locked().get(&key).copied()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<(String, String), Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Delivery {
    /// Notes that the reply to a press is about to paint a card.
    pub(crate) fn note_reply(&self, channel: &str, reference: &str) {
        self.replies.note(channel, reference);
    }

    /// Looks for the cards of questions that wait in a channel, and delivers those again that were
    /// deleted while nobody listened.
    pub async fn look_for_cards(&self, channel: &str) -> Result<(), GateError> {
        let Some(there) = self.channel(channel) else {
            return Ok(());
        };
        let delivered = Query {
            status: Some(DeliveryStatus::Delivered.word().to_owned()),
            order: Order::NewestFirst,
            limit: LOOKED_FOR_MAX,
            ..Query::of(Kind::Delivery)
        };
        for record in self.base.store.find(delivered).await? {
            let delivery: StoredDelivery = read(&record)?;
            let Some(delivered) = delivery.delivered().filter(|it| it.channel == channel) else {
                continue;
            };
            let is_waiting = self.about(&record.link).await?.closing.is_none();
            if is_waiting && there.is_there(&delivered).await == Ok(false) {
                self.card_gone(&record.link, channel, &delivered.reference)
                    .await?;
            }
        }
        Ok(())
    }

    /// Delivers a card again that somebody deleted while its question waits. Of several gateways that
    /// hear of it one does.
    pub async fn card_gone(
        &self,
        subject: &str,
        channel: &str,
        reference: &str,
    ) -> Result<(), GateError> {
        let Some((record, mut delivery)) = self.noted(subject, channel, reference).await? else {
            return Ok(());
        };
        if self.about(subject).await?.closing.is_some() {
            return Ok(());
        }
        delivery.reference = None;
        delivery.driver.clear();
        delivery.again += 1;
        let put = Put {
            expect: Expect::Version(record.version),
            record: Record {
                // Nobody works at it, so whoever looks first takes it.
                status: DeliveryStatus::Trying.word().to_owned(),
                due_at: Some(self.base.clock.now().0),
                body: written(&delivery),
                ..record
            },
        };
        let change = Change {
            puts: vec![put],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            Ok(_) => self.base.cards.deliver_soon(subject),
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Returns the delivery whose card is `reference`. A card can be deleted before it is noted that
    /// it was delivered, so one that is under way is waited for.
    async fn noted(
        &self,
        subject: &str,
        channel: &str,
        reference: &str,
    ) -> Result<Option<(Record, StoredDelivery)>, GateError> {
        let since = Instant::now();
        loop {
            let mut is_under_way = false;
            for record in self.base.deliveries(subject).await? {
                let delivery: StoredDelivery = read(&record)?;
                if delivery.channel != channel {
                    continue;
                }
                match delivery.reference.as_deref() {
                    Some(known) if known == reference => return Ok(Some((record, delivery))),
                    Some(_) => {}
                    None => is_under_way |= record.status == DeliveryStatus::Trying.word(),
                }
            }
            if !is_under_way || since.elapsed() > NOTED_WITHIN {
                return Ok(None);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Paints the cards of a question as they are to look now, each by itself: one that takes long
    /// delays no other.
    pub(super) async fn repaint(&self, subject: &str) -> Result<(), GateError> {
        let records = self.base.deliveries(subject).await?;
        let all = records.iter().map(|record| self.repaint_one(record));
        join_all(all).await.into_iter().collect()
    }

    async fn repaint_one(&self, record: &Record) -> Result<(), GateError> {
        let subject = record.link.as_str();
        let delivery: StoredDelivery = read(record)?;
        let channel = self.channel(&delivery.channel);
        let (Some(channel), Some(delivered)) = (channel, delivery.delivered()) else {
            return Ok(());
        };
        // The reply to a press paints the card that was pressed.
        if let Some(due) = self.replies.due(&delivery) {
            tokio::time::sleep_until(due).await;
        }
        // What cannot be changed is told once, also if two changes come at the same time.
        let mut telling = None;
        if channel.tells_once() {
            if self.about(subject).await?.closing.is_none() {
                return Ok(());
            }
            telling = self.endings.begin(&record.id);
            if telling.is_none() || !self.is_delivered(&record.id).await? {
                return Ok(());
            }
        }
        let mut pause = PAUSE_FIRST;
        for _ in 0..REPAINTS_MAX {
            let about = self.about(subject).await?;
            let order = self.order(&about, &delivery, Attempt::Again);
            match channel.repaint(&delivered, &order).await {
                Ok(()) if about.what.outcome().is_some() => {
                    self.note_settled(record).await?;
                    break;
                }
                Ok(()) | Err(DeliveryError::Never { .. }) => break,
                Err(error @ DeliveryError::Later { .. }) => {
                    tracing::warn!(%error, %subject, "a card will be painted again later");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
        drop(telling);
        Ok(())
    }

    /// Whether a card was delivered and does not show yet how the question ended.
    async fn is_delivered(&self, delivery: &str) -> Result<bool, GateError> {
        let record = self.base.store.get(Kind::Delivery, delivery).await?;
        Ok(record.is_some_and(|it| it.status == DeliveryStatus::Delivered.word()))
    }

    /// Notes that a card shows how the question ended: nothing is left to do with it.
    pub(super) async fn note_settled(&self, record: &Record) -> Result<(), GateError> {
        let put = Put {
            record: Record {
                status: DeliveryStatus::Settled.word().to_owned(),
                ..record.clone()
            },
            expect: Expect::Version(record.version),
        };
        let change = Change {
            puts: vec![put],
            entries: Vec::new(),
        };
        match self.base.store.commit(change).await {
            // Somebody else has painted it too.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
