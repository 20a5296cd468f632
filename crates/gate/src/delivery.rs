//! How people are reached: every channel is given the card, again if it must be, and paints it
//! again when it has changed.
//!
//! A delivery is tried under a key that stays the same, so a retry or a restart puts no second card
//! in front of anybody. Delivering never decides: a card
//! that did not arrive leaves the question waiting for whoever looks by themselves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_channels::{Channel, Delivered, DeliveryError};
use countersign_core::assessment::SideEffect;
use countersign_core::display::line;
use countersign_core::id::ApprovalId;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::principal::Principal;
use crate::stored::{StoredApproval, read, written};
use crate::told::told;
use crate::view::{ApprovalView, Page};
use crate::{Gate, GateError};

/// First pause after a delivery that may work later; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How often a card that has changed is painted again before it is left to the next start.
const REPAINTS_MAX: u32 = 5;

/// Deliveries that are looked at to say how a channel fares.
const DELIVERIES_MAX: u32 = 500;

/// How a channel fares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ChannelView {
    /// Its name in the configuration.
    pub name: String,
    /// What it is: `webhook` and so on.
    pub kind: String,
    /// `ok`, `failing` or `unused`: nothing was delivered yet.
    pub health: String,
    /// When a card was delivered last, in seconds.
    pub delivered_at: Option<f64>,
    /// When a card could not be delivered last, in seconds.
    pub failed_at: Option<f64>,
    /// Why not.
    pub why: Option<String>,
    /// How long a question waits that is put there, in seconds.
    pub timeout_seconds: f64,
    /// People who can be reached there.
    pub people: Vec<String>,
}

/// What happened to channels since this gateway was started, by name. Tries that may work later
/// leave no record.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<BTreeMap<String, Fared>>);

#[derive(Clone, Debug, Default)]
struct Fared {
    delivered_at: Option<UnixMillis>,
    failed: Option<(UnixMillis, String)>,
}

impl Health {
    fn note(&self, channel: &str, now: UnixMillis, tried: &Result<Delivered, DeliveryError>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fared = all.entry(channel.to_owned()).or_default();
        match tried {
            Ok(_) => fared.delivered_at = Some(now),
            Err(DeliveryError::Later { why, .. } | DeliveryError::Never { why, .. }) => {
                fared.failed = Some((now, why.clone()));
            }
        }
    }

    fn of(&self, channel: &str) -> Fared {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(channel).cloned().unwrap_or_default()
    }
}

/// A card and one channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredDelivery {
    channel: String,
    reference: Option<String>,
    why: Option<String>,
}

impl Gate {
    /// Returns how long a question about a call of this side effect waits, in milliseconds.
    pub(crate) fn waits(&self, side_effect: SideEffect) -> i64 {
        let channels = self.inner.channels.iter().map(|channel| channel.name());
        self.inner.settings.timeouts.of(side_effect, channels)
    }

    /// Delivers the card of an approval to every channel, in the background.
    pub(crate) fn deliver_soon(&self, approval: &ApprovalId) {
        for channel in &self.inner.channels {
            let (gate, channel, approval) = (
                self.clone(),
                Arc::clone(channel),
                approval.as_str().to_owned(),
            );
            tokio::spawn(async move {
                if let Err(error) = gate.deliver(&*channel, &approval).await {
                    tracing::error!(%error, %approval, channel = channel.name(), "not delivered");
                }
            });
        }
    }

    /// Paints the cards of an approval again, in the background.
    pub(crate) fn repaint_soon(&self, approval: &ApprovalId) {
        if self.inner.channels.is_empty() {
            return;
        }
        let (gate, approval) = (self.clone(), approval.as_str().to_owned());
        tokio::spawn(async move {
            if let Err(error) = gate.repaint(&approval).await {
                tracing::error!(%error, %approval, "cards were not painted again");
            }
        });
    }

    /// Takes up what a restart interrupted: cards that were not delivered, cards that show a
    /// question which is settled.
    pub(crate) async fn resume_deliveries(&self) -> Result<(), GateError> {
        if self.inner.channels.is_empty() {
            return Ok(());
        }
        let waiting = Query {
            status: Some("waiting".to_owned()),
            ..Query::of(Kind::Approval)
        };
        for record in self.find_all(waiting).await? {
            self.deliver_soon(&ApprovalId(record.id));
        }
        let delivered = Query {
            status: Some("delivered".to_owned()),
            ..Query::of(Kind::Delivery)
        };
        for record in self.find_all(delivered).await? {
            let stored = self.stored_approval(&record.link).await?;
            if stored.approval.status() != "waiting" {
                self.repaint_soon(&stored.approval.id);
            }
        }
        Ok(())
    }

    /// Whether anybody could have seen the question: a card was delivered, there is no channel that
    /// could have failed, or somebody looked by themselves.
    pub(crate) async fn was_anyone_reached(&self, approval: &str) -> Result<bool, GateError> {
        if self.inner.channels.is_empty() {
            return Ok(true);
        }
        let asked_at = self.stored_approval(approval).await?.approval.asked_at;
        if self.inner.moment.was_looked_at(asked_at) {
            return Ok(true);
        }
        let deliveries = self.deliveries(approval).await?;
        Ok(deliveries.iter().any(|record| record.status == "delivered"))
    }

    /// Returns how each channel fares.
    pub async fn channels(&self, who: &Principal) -> Result<Page<ChannelView>, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("an agent does not see channels"));
        }
        let newest = Query {
            order: Order::NewestFirst,
            limit: DELIVERIES_MAX,
            ..Query::of(Kind::Delivery)
        };
        let deliveries = self.inner.store.find(newest).await?;
        let people = self.live_people().await?;
        let mut items = Vec::new();
        for channel in &self.inner.channels {
            let name = channel.name();
            let mut fared = self.inner.health.of(name);
            for record in &deliveries {
                let delivery: StoredDelivery = read(record)?;
                let at = UnixMillis(record.at);
                match delivery.why {
                    _ if delivery.channel != name => {}
                    None => fared.delivered_at = fared.delivered_at.max(Some(at)),
                    Some(why) if fared.failed.as_ref().is_none_or(|(last, _)| *last < at) => {
                        fared.failed = Some((at, why));
                    }
                    Some(_) => {}
                }
            }
            let failed_at = fared.failed.as_ref().map(|(at, _)| *at);
            let health = if failed_at > fared.delivered_at {
                "failing"
            } else if fared.delivered_at.is_some() {
                "ok"
            } else {
                "unused"
            };
            let reached = people.iter().filter(|it| it.accounts.contains_key(name));
            let waits = &self.inner.settings.timeouts;
            let waits = waits.by_channel.get(name).copied().unwrap_or(waits.usual);
            items.push(ChannelView {
                name: name.to_owned(),
                kind: channel.kind().to_owned(),
                health: health.to_owned(),
                delivered_at: fared.delivered_at.map(UnixMillis::as_seconds),
                failed_at: failed_at.map(UnixMillis::as_seconds),
                why: fared.failed.map(|(_, why)| line(&why)),
                timeout_seconds: UnixMillis(waits).as_seconds(),
                people: reached.map(|person| person.name.clone()).collect(),
            });
        }
        Ok(Page { items, next: None })
    }

    async fn deliver(&self, channel: &dyn Channel, approval: &str) -> Result<(), GateError> {
        let id = format!("{approval}\n{}", channel.name());
        let known = self.inner.store.get(Kind::Delivery, &id).await?;
        if known.is_some() {
            return Ok(());
        }
        let mut pause = PAUSE_FIRST;
        loop {
            let stored = self.stored_approval(approval).await?;
            if stored.approval.status() != "waiting" {
                return Ok(());
            }
            let card = ApprovalView::of(&stored, self.inner.clock.now()).card;
            let key = format!("{approval}:{}", channel.name());
            let tried = channel.deliver(&card, &key).await;
            let now = self.inner.clock.now();
            self.inner.health.note(channel.name(), now, &tried);
            match tried {
                Ok(delivered) => {
                    self.note_delivery(&stored, &id, Ok(delivered)).await?;
                    // It may have been settled while it was on its way.
                    if self.stored_approval(approval).await?.approval.status() != "waiting" {
                        self.repaint_soon(&stored.approval.id);
                    }
                    return Ok(());
                }
                Err(error @ DeliveryError::Never { .. }) => {
                    tracing::warn!(%error, %approval, "a card cannot be delivered");
                    return self.note_delivery(&stored, &id, Err(error)).await;
                }
                Err(error @ DeliveryError::Later { .. }) => {
                    tracing::warn!(%error, %approval, "a card will be delivered later");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn note_delivery(
        &self,
        stored: &StoredApproval,
        id: &str,
        outcome: Result<Delivered, DeliveryError>,
    ) -> Result<(), GateError> {
        let now = self.inner.clock.now();
        let approval = stored.approval.id.as_str();
        let (status, event, delivery) = match outcome {
            Ok(delivered) => (
                "delivered",
                "card.delivered",
                StoredDelivery {
                    channel: delivered.channel,
                    reference: Some(delivered.reference),
                    why: None,
                },
            ),
            Err(DeliveryError::Never { channel, why } | DeliveryError::Later { channel, why }) => (
                "failed",
                "card.failed",
                StoredDelivery {
                    channel,
                    reference: None,
                    why: Some(why),
                },
            ),
        };
        let mut entry = told(
            now,
            event,
            approval,
            json!({
                "approval_id": approval,
                "run_id": stored.call.run,
                "channel": delivery.channel,
                "why": delivery.why,
            }),
        );
        entry.run.clone_from(&stored.call.run);
        entry.session.clone_from(&stored.call.session);
        let put = Put {
            record: Record {
                kind: Kind::Delivery,
                id: id.to_owned(),
                version: 0,
                status: status.to_owned(),
                owner: String::new(),
                session: String::new(),
                run: String::new(),
                link: approval.to_owned(),
                at: now.0,
                due_at: None,
                body: written(&delivery),
            },
            expect: Expect::Anything,
        };
        self.inner
            .store
            .commit(Change {
                puts: vec![put],
                entries: vec![entry],
            })
            .await?;
        Ok(())
    }

    async fn repaint(&self, approval: &str) -> Result<(), GateError> {
        for record in self.deliveries(approval).await? {
            let delivery: StoredDelivery = read(&record)?;
            let channel = self
                .inner
                .channels
                .iter()
                .find(|channel| channel.name() == delivery.channel);
            let (Some(channel), Some(reference)) = (channel, delivery.reference) else {
                continue;
            };
            let delivered = Delivered {
                channel: delivery.channel,
                reference,
            };
            let mut pause = PAUSE_FIRST;
            for _ in 0..REPAINTS_MAX {
                let stored = self.stored_approval(approval).await?;
                let view = ApprovalView::of(&stored, self.inner.clock.now());
                match channel.repaint(&delivered, &view.card).await {
                    Ok(()) if view.decision.is_some() => {
                        self.note_settled(&record).await?;
                        break;
                    }
                    Ok(()) | Err(DeliveryError::Never { .. }) => break,
                    Err(error @ DeliveryError::Later { .. }) => {
                        tracing::warn!(%error, %approval, "a card will be painted again later");
                    }
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
        Ok(())
    }

    /// Notes that a card shows how the question ended: nothing is left to do with it.
    async fn note_settled(&self, record: &Record) -> Result<(), GateError> {
        let put = Put {
            record: Record {
                status: "settled".to_owned(),
                ..record.clone()
            },
            expect: Expect::Version(record.version),
        };
        let change = Change {
            puts: vec![put],
            entries: Vec::new(),
        };
        match self.inner.store.commit(change).await {
            // Somebody else has painted it too.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn deliveries(&self, approval: &str) -> Result<Vec<Record>, GateError> {
        let of_approval = Query {
            link: Some(approval.to_owned()),
            ..Query::of(Kind::Delivery)
        };
        Ok(self.inner.store.find(of_approval).await?)
    }
}
