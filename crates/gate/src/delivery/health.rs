//! Channel health: last delivery, last failure and its reason.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use countersign_channels::{Delivered, DeliveryError};
use countersign_core::display::line;
use countersign_core::time::UnixMillis;
use countersign_store::{Kind, Order, Query};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::delivery::Delivery;
use crate::people::PersonView;
use crate::records::deliveries::StoredDelivery;
use crate::records::stored::read;
use crate::records::view::Page;

/// Deliveries that are looked at to say how a channel fares.
const DELIVERIES_MAX: u32 = 500;

/// The state of a channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChannelView {
    /// Its name in the configuration.
    pub name: String,
    /// The type: `webhook` and so on.
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
    pub(crate) fn note(
        &self,
        channel: &str,
        now: UnixMillis,
        tried: &Result<Delivered, DeliveryError>,
    ) {
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

impl Delivery {
    /// Returns how each channel fares.
    pub async fn channels(&self, who: &Principal) -> Result<Page<ChannelView>, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot see channels"));
        }
        let newest = Query {
            order: Order::NewestFirst,
            limit: DELIVERIES_MAX,
            ..Query::of(Kind::Delivery)
        };
        let deliveries = self.base.store.find(newest).await?;
        let people = self.people.live_people().await?;
        let mut items = Vec::new();
        for channel in &self.base.channels {
            let name = channel.name();
            let mut fared = self.health.of(name);
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
            let accounts = channel.accounts();
            let has_account = |it: &&PersonView| {
                let mut accounts = accounts.iter();
                accounts.any(|account| it.accounts.contains_key(*account))
            };
            let reached = people.iter().filter(has_account);
            let waits = &self.base.settings.timeouts;
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
}
