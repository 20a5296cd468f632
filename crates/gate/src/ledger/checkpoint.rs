//! Signs checkpoints as the ledger grows, so that rewriting it needs the key.
//!
//! Several gateways may write one ledger. A checkpoint of any of them is enough, so each counts
//! what was written since the last one, whoever signed that; otherwise they would sign each
//! other's signatures for ever.

use std::time::Duration;

use countersign_core::ledger::checkpoint::EVENT;
use countersign_core::ledger::{Draft, Entry};
use countersign_store::{Change, StoreError};
use tokio::time::Instant;

use crate::ledger::Ledger;

/// A checkpoint is written behind this many entries,
const ENTRIES_MAX: u64 = 100;
/// or this long after the first entry that none speaks of.
const EVERY: Duration = Duration::from_mins(1);
/// Entries that are read in one go.
const READ_MAX: u32 = 1000;
/// How long to wait before a ledger that could not be read or written is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// What was written since the last checkpoint.
#[derive(Debug)]
struct Unsigned {
    /// The last entry that was looked at.
    seen: u64,
    entries: u64,
    /// When it has to be signed at the latest.
    due: Option<Instant>,
}

impl Ledger {
    /// Signs the ledger for as long as it is polled.
    pub(crate) async fn checkpoints(&self) {
        let mut last = self.base.store.tail().last();
        let mut unsigned = loop {
            match self.unsigned_at_start().await {
                Ok(unsigned) => break unsigned,
                Err(error) => {
                    tracing::error!(%error, "the ledger cannot be read; retrying");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        };
        loop {
            last.mark_unchanged();
            if let Err(error) = self.sign_if_due(&mut unsigned).await {
                tracing::error!(%error, "the ledger cannot be signed; retrying");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            let due = async {
                match unsigned.due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = last.changed() => if changed.is_err() { return },
                () = due => {}
            }
        }
    }

    /// A ledger that does not end with a checkpoint of this key is signed at once: what came before
    /// may have been signed by a key that is not known for much longer.
    async fn unsigned_at_start(&self) -> Result<Unsigned, StoreError> {
        let (seen, _) = self.base.store.last().await?;
        let last = match seen.checked_sub(1) {
            Some(before) => self.base.store.entries(before, 1).await?,
            None => Vec::new(),
        };
        let kid = self.base.signer.public().kid;
        let is_signed = last
            .first()
            .is_none_or(|entry| entry.draft.event == EVENT && entry.draft.body.contains(&kid));
        Ok(Unsigned {
            seen,
            entries: u64::from(!is_signed),
            due: (!is_signed).then(Instant::now),
        })
    }

    async fn sign_if_due(&self, unsigned: &mut Unsigned) -> Result<(), StoreError> {
        loop {
            let before = unsigned.seen;
            let recent = self.base.store.tail().recent(before, usize::MAX);
            if let Some(entries) = recent {
                for entry in entries {
                    unsigned.look_at(&entry);
                }
            } else {
                for entry in self.base.store.entries(before, READ_MAX).await? {
                    unsigned.look_at(&entry);
                }
            }
            if unsigned.seen == before {
                break;
            }
        }
        let is_due = unsigned.due.is_some_and(|due| due <= Instant::now());
        if is_due || unsigned.entries >= ENTRIES_MAX {
            self.write_checkpoint().await?;
            unsigned.entries = 0;
            unsigned.due = None;
        }
        Ok(())
    }

    async fn write_checkpoint(&self) -> Result<(), StoreError> {
        let (seq, hash) = self.base.store.last().await?;
        let body = self.base.signer.sign_checkpoint(seq, hash);
        let entry = Draft {
            at: self.base.clock.now(),
            event: EVENT.to_owned(),
            body: body.to_string(),
            ..Draft::default()
        };
        let change = Change {
            puts: Vec::new(),
            entries: vec![entry],
        };
        self.base.store.commit(change).await.map(drop)
    }
}

impl Unsigned {
    fn look_at(&mut self, entry: &Entry) {
        self.seen = entry.seq;
        if entry.draft.event == EVENT {
            self.entries = 0;
            self.due = None;
        } else {
            self.entries += 1;
            self.due.get_or_insert_with(|| Instant::now() + EVERY);
        }
    }
}
