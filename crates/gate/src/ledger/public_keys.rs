//! Public keys that may sign tokens: this gateway's and those of its replicas.
//!
//! A gateway writes the public half of its key to the store before it signs anything, and goes on
//! saying that it signs with it. A key nobody has spoken for in ten minutes opens nothing any more:
//! its gateway is gone or has another key, and the last token it signed is over. The record stays,
//! because what such a key has signed in the ledger must be provable for as long as the ledger is.
//!
//! All times here are the machine's, like those in the tokens.

use std::time::Duration;

use countersign_core::token::PublicKey;
use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::signer::PUBLISHED_SECONDS;
use crate::ledger::Ledger;
use crate::records::event::{Event, KeyPublished};
use crate::records::stored::{read, written};

/// How often a gateway says that it signs with its key. Several of these and the life of a token
/// fit into the time a key is believed.
const SAID_EVERY: Duration = Duration::from_mins(1);
/// How long to wait before a store that could not be written is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Keys of replicas that are believed, the most recent ones.
const KEYS_MAX: u32 = 256;

/// A public key as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredPublicKey {
    public_key: String,
}

impl Ledger {
    /// Returns the keys a token may be signed by, this gateway's first.
    pub async fn public_keys(&self) -> Result<Vec<PublicKey>, GateError> {
        let now = self.base.clock.machine();
        let mut keys = self.base.signer.published(now);
        let query = Query {
            since: Some(now.plus(1 - PUBLISHED_SECONDS * 1000).0),
            order: Order::NewestFirst,
            limit: KEYS_MAX,
            ..Query::of(Kind::SigningKey)
        };
        for record in self.base.store.find(query).await? {
            let key = public_key(&record)?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Says that this gateway signs with its key. The ledger tells of it the first time.
    pub(crate) async fn publish_key(&self) -> Result<(), StoreError> {
        let key = self.base.signer.public();
        let known = self.base.store.get(Kind::SigningKey, &key.kid).await?;
        let stored = StoredPublicKey {
            public_key: key.text(),
        };
        let mut change = Change::default();
        if known.is_none() {
            let now = self.base.clock.now();
            let event = Event::KeyPublished(KeyPublished {
                kid: key.kid.clone(),
                public_key: stored.public_key.clone(),
                timestamp: now.as_seconds(),
            });
            change.entries.push(event.draft(&key.kid, now));
        }
        change.puts.push(Put {
            record: Record::new(
                Kind::SigningKey,
                key.kid,
                self.base.clock.machine().0,
                written(&stored),
            ),
            expect: known.map_or(Expect::Absent, |known| Expect::Version(known.version)),
        });
        match self.base.store.commit(change).await {
            // Another process with the same key has just said the same.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error @ (StoreError::Unavailable { .. } | StoreError::Closed)) => Err(error),
        }
    }

    /// Goes on saying so for as long as it is polled.
    pub(crate) async fn publish_forever(&self) {
        loop {
            tokio::time::sleep(SAID_EVERY).await;
            while let Err(error) = self.publish_key().await {
                tracing::error!(%error, "the signing key cannot be published; retrying");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn public_key(record: &Record) -> Result<PublicKey, StoreError> {
    let stored: StoredPublicKey = read(record)?;
    PublicKey::from_text(&stored.public_key).ok_or_else(|| StoreError::Unavailable {
        why: "a record cannot be read",
        cause: format!("`{}` is not a public key", stored.public_key).into(),
    })
}
