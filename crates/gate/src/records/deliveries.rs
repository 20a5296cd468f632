//! Deliveries as they are stored: a card and one place of one channel.
//!
//! Separate from the room `delivery`, because whether anybody was reached also decides how a
//! question ends.

use countersign_channels::Delivered;
use countersign_channels::order::Shown;
use countersign_store::{Kind, Query, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::base::Base;

/// A card and one place of one channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredDelivery {
    pub(crate) channel: String,
    pub(crate) reference: Option<String>,
    pub(crate) why: Option<String>,
    /// Where it goes, as `Destination::word` says it.
    #[serde(default)]
    pub(crate) to: String,
    /// Whether only parts are shown there.
    #[serde(default)]
    pub(crate) is_cut: bool,
    /// Which gateway delivers it.
    #[serde(default)]
    pub(crate) driver: String,
    /// How often it was deleted and is delivered again.
    #[serde(default)]
    pub(crate) again: u32,
}

impl StoredDelivery {
    /// Returns where the card is, if it is anywhere.
    pub(crate) fn delivered(&self) -> Option<Delivered> {
        Some(Delivered {
            channel: self.channel.clone(),
            reference: self.reference.clone()?,
            shown: if self.is_cut {
                Shown::Cut
            } else {
                Shown::Whole
            },
        })
    }

    /// Returns the key under which it is delivered to question `subject`.
    pub(crate) fn key(&self, subject: &str) -> String {
        let key = match self.to.as_str() {
            "" => format!("{subject}:{}", self.channel),
            to => format!("{subject}:{}:{to}", self.channel),
        };
        match self.again {
            0 => key,
            // Under its own key the one that was deleted would be found.
            again => format!("{key}:again{again}"),
        }
    }
}

impl Base {
    /// Returns where cards of a question are or were to be.
    pub(crate) async fn deliveries(&self, subject: &str) -> Result<Vec<Record>, StoreError> {
        let of_subject = Query {
            link: Some(subject.to_owned()),
            ..Query::of(Kind::Delivery)
        };
        self.store.find(of_subject).await
    }
}
