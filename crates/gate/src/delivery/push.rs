//! Tells devices that a question waits, and that it is settled.
//!
//! Separate from the channels: nobody answers a notification, so one that fails ends no question.
//! What is told is recorded like a delivered card, so no restart and no second gateway tells twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_channels::order::{Destination, Shown, Subject};
use countersign_channels::push::{
    Notice, Push, PushError, PushSettings, Subscription, VapidKey, What,
};
use countersign_channels::{Delivered, DeliveryError};
use countersign_core::status::{DeliveryStatus, Risk};
use countersign_store::{Database, Kind, Record, StoreError};
use serde::{Deserialize, Serialize};

use super::repaint::REPAINTS_MAX;
use super::{About, Claim, Delivery, Lease, PAUSE_FIRST, PAUSE_MAX, delivery_to};
use crate::GateError;
use crate::base::principal::Principal;
use crate::base::settings::PushShows;
use crate::records::deliveries::StoredDelivery;
use crate::records::kept_key;
use crate::records::stored::read;

/// What deliveries to devices are recorded under. Has a space, so that no channel is called so.
const CHANNEL: &str = "web push";

/// Longest pause before a device is told once more that a question is settled.
const CLOSING_PAUSE_MAX: Duration = Duration::from_mins(5);

/// The deliveries of questions whose end a device is being told, by the id of their record.
#[derive(Debug, Default)]
pub(super) struct Endings(Mutex<HashSet<String>>);

impl Endings {
    /// Marks that a device is being told, until the mark is dropped; `None` if it is already.
    pub(super) fn begin(&self, record: &str) -> Option<Telling<'_>> {
        let is_new = self.locked().insert(record.to_owned());
        is_new.then(|| Telling {
            endings: self,
            record: record.to_owned(),
        })
    }

    fn locked(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device is being told that a question is settled.
#[derive(Debug)]
pub(super) struct Telling<'a> {
    endings: &'a Endings,
    record: String,
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.endings.locked().remove(&self.record);
    }
}

/// How the test of a device went.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeviceTest {
    /// Whether the push service took it. What the device does with it is seen there.
    pub delivered: bool,
    /// Why not.
    pub why: Option<String>,
}

/// Returns what sends under the key of `store`, which is made if it is not there.
pub(crate) async fn open(store: &Database, settings: PushSettings) -> Result<Push, StoreError> {
    let unusable = |why: String| kept_key::unreadable(&why);
    let fresh = VapidKey::generate().map_err(unusable)?;
    let key = kept_key::load_or_create(store, Kind::PushKey, &fresh).await?;
    let key = VapidKey::from_pkcs8(&key).map_err(unusable)?;
    Push::new(key, settings).map_err(unusable)
}

impl Delivery {
    /// Tells every device of the people who may answer, in the background.
    pub(super) fn notify_soon(self: &Arc<Self>, subject: &str) {
        let (delivery, subject) = (Arc::clone(self), subject.to_owned());
        tokio::spawn(async move {
            if let Err(error) = delivery.notify(&subject).await {
                tracing::error!(%error, %subject, "devices were not told");
            }
        });
    }

    /// Tells devices that a question is settled, in the background.
    pub(super) fn close_soon(self: &Arc<Self>, subject: &str) {
        let (delivery, subject) = (Arc::clone(self), subject.to_owned());
        tokio::spawn(async move {
            if let Err(error) = delivery.close(&subject).await {
                tracing::error!(%error, %subject, "devices were not told of the answer");
            }
        });
    }

    /// Returns the devices of everybody who may answer the question.
    pub(super) async fn devices_for(&self, about: &About) -> Result<Vec<String>, GateError> {
        let left_out = about
            .starter
            .as_ref()
            .filter(|it| it.is_closed || it.is_hidden);
        let may = |person: &str| left_out.is_none_or(|starter| starter.name != person);
        let told = self.people.told().await?;
        let told = told.iter().filter(|it| may(&it.person));
        Ok(told.map(|it| it.device.clone()).collect())
    }

    /// Whether no device is told of anything.
    pub(super) async fn has_no_device(&self) -> Result<bool, GateError> {
        Ok(self.people.told().await?.is_empty())
    }

    async fn notify(self: &Arc<Self>, subject: &str) -> Result<(), GateError> {
        if self.has_no_device().await? {
            return Ok(());
        }
        let about = self.about(subject).await?;
        if about.closing.is_some() {
            return Ok(());
        }
        for device in self.devices_for(&about).await? {
            let (delivery, subject) = (Arc::clone(self), subject.to_owned());
            // Each by itself: a push service that is away delays no other.
            tokio::spawn(async move {
                if let Err(error) = delivery.notify_device(&subject, &device).await {
                    tracing::error!(%error, %subject, "a device was not told");
                }
            });
        }
        Ok(())
    }

    async fn notify_device(self: &Arc<Self>, subject: &str, device: &str) -> Result<(), GateError> {
        let to = Destination::Person(device.to_owned());
        let mut delivery = delivery_to(CHANNEL, &to, &self.base.driver);
        match self.claim(subject, &mut delivery).await? {
            Claim::Ours(_) => {}
            Claim::Done(_) => return Ok(()),
        }
        let mut pause = PAUSE_FIRST;
        loop {
            let about = self.about(subject).await?;
            if about.closing.is_some() {
                return Ok(());
            }
            let tried = match self.reach(&about, device).await? {
                Some(to) => {
                    let notice = self.notice(&about);
                    let telling = self.base.push.notify(&to, &notice);
                    self.while_renewing(telling, &delivery, subject).await
                }
                // Its person may no longer answer, or has removed it: nobody else is told there.
                None => Err(PushError::Never {
                    why: "the device is not told of this question".to_owned(),
                }),
            };
            let error = match tried {
                Ok(()) => {
                    let delivered = Delivered {
                        channel: CHANNEL.to_owned(),
                        reference: device.to_owned(),
                        shown: Shown::Whole,
                    };
                    self.note_delivery(&about, delivery, Ok(delivered)).await?;
                    // It may have been settled while it was on its way.
                    if self.about(subject).await?.closing.is_some() {
                        self.close_soon(subject);
                    }
                    return Ok(());
                }
                Err(error) => error,
            };
            tracing::warn!(%error, %subject, "a device was not told");
            let PushError::Later { after, .. } = error else {
                self.heed(&error, device).await?;
                let error = DeliveryError::Never {
                    channel: CHANNEL.to_owned(),
                    why: error.to_string(),
                };
                return self.note_delivery(&about, delivery, Err(error)).await;
            };
            let wait = after
                .unwrap_or(pause)
                .max(pause)
                .min(self.waits_for(&about));
            let waiting = tokio::time::sleep(wait);
            self.while_renewing(waiting, &delivery, subject).await;
            pause = (pause * 2).min(PAUSE_MAX);
            if self.renew(subject, &delivery).await? == Lease::Lost {
                return Ok(());
            }
        }
    }

    async fn close(self: &Arc<Self>, subject: &str) -> Result<(), GateError> {
        if self.has_no_device().await? || self.about(subject).await?.closing.is_none() {
            return Ok(());
        }
        for record in self.base.deliveries(subject).await? {
            let told: StoredDelivery = read(&record)?;
            let is_open = record.status == DeliveryStatus::Delivered.word();
            if told.channel != CHANNEL || !is_open {
                continue;
            }
            let (delivery, subject) = (Arc::clone(self), subject.to_owned());
            tokio::spawn(async move {
                let device = told.reference.unwrap_or_default();
                if let Err(error) = delivery.close_on(&subject, &device, &record).await {
                    tracing::error!(%error, %subject, "a device was not told of the answer");
                }
            });
        }
        Ok(())
    }

    async fn close_on(
        &self,
        subject: &str,
        device: &str,
        record: &Record,
    ) -> Result<(), GateError> {
        // The answer and the end of the delivery both lead here, perhaps at the same moment.
        let Some(_telling) = self.endings.begin(&record.id) else {
            return Ok(());
        };
        let now = self.base.store.get(Kind::Delivery, &record.id).await?;
        if now.is_none_or(|now| now.version != record.version) {
            return Ok(());
        }
        let notice = Notice::Closed {
            id: subject.to_owned(),
        };
        let mut pause = PAUSE_FIRST;
        for _ in 0..REPAINTS_MAX {
            // Who was told that it waits is told that it does not, whatever they may do since.
            let Some(to) = self.people.subscription(device).await? else {
                break;
            };
            match self.base.push.notify(&to, &notice).await {
                Ok(()) => break,
                Err(error @ (PushError::Gone | PushError::Never { .. })) => {
                    self.heed(&error, device).await?;
                    break;
                }
                Err(PushError::Later { after, .. }) => {
                    let wait = after.unwrap_or(pause).max(pause);
                    tokio::time::sleep(wait.min(CLOSING_PAUSE_MAX)).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
        self.note_settled(record).await
    }

    /// Sends a notification to a device of `who`, to see that it works.
    pub async fn test_device(&self, who: &Principal, id: &str) -> Result<DeviceTest, GateError> {
        let to = self.people.own_device(who, id).await?;
        let sent = self.base.push.notify(&to, &Notice::Test).await;
        if let Err(error) = &sent {
            self.heed(error, id).await?;
        }
        Ok(DeviceTest {
            delivered: sent.is_ok(),
            why: sent.err().map(|error| error.to_string()),
        })
    }

    /// Forgets a device that its browser has given up.
    async fn heed(&self, error: &PushError, device: &str) -> Result<(), GateError> {
        match error {
            PushError::Gone => self.people.forget_device(device).await,
            PushError::Later { .. } | PushError::Never { .. } => Ok(()),
        }
    }

    /// Returns where `device` is told of the question, if its person may still answer it.
    async fn reach(&self, about: &About, device: &str) -> Result<Option<Subscription>, GateError> {
        let devices = self.devices_for(about).await?;
        if !devices.iter().any(|it| it == device) {
            return Ok(None);
        }
        self.people.subscription(device).await
    }

    fn notice(&self, about: &About) -> Notice {
        let (mut what, mut is_critical) = (None, false);
        if let Subject::Card(card) = &about.what {
            is_critical = card.risk == Risk::Critical;
            // A screen may be read by somebody passing by.
            if self.base.settings.push_shows == PushShows::What && !about.is_crisis {
                what = Some(What {
                    title: card.title.clone(),
                    text: card.command.clone(),
                });
            }
        }
        Notice::Waiting {
            id: about.what.id().to_owned(),
            what,
            is_critical,
            seconds: i64::try_from(self.waits_for(about).as_secs()).unwrap_or(i64::MAX),
        }
    }

    /// Returns how long the question still waits.
    fn waits_for(&self, about: &About) -> Duration {
        let until = match &about.what {
            Subject::Card(card) => card.expires_at,
            Subject::Question(inquiry) => inquiry.expires_at,
        };
        let millis = until.0.saturating_sub(self.base.clock.now().0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_tell_a_device_of_the_end_at_once_one_does() {
        let endings = Endings::default();
        let telling = endings.begin("d1");
        assert!(telling.is_some() && endings.begin("d1").is_none());
        assert!(endings.begin("d2").is_some());
        drop(telling);
        assert!(
            endings.begin("d1").is_some(),
            "the next start tells it again"
        );
    }
}
