//! Readiness: tests with a rate limit whether the store accepts writes.

use std::time::{Duration, Instant};

use countersign_store::{Change, Expect, Kind, Put, Record, StoreError};
use tokio::sync::Mutex;

use crate::base::Base;

/// How long an answer holds, so that who asks often does not write often.
const FRESH: Duration = Duration::from_secs(1);
/// How long the store may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// The one record that is written, over and over.
const ID: &str = "ready";

/// The last result and its time.
#[derive(Debug, Default)]
pub(crate) struct Probe(Mutex<Option<(Instant, Option<&'static str>)>>);

impl Base {
    /// Returns why nothing can be written now, or `None` if something can.
    pub async fn unwritable(&self) -> Option<&'static str> {
        // Held while it is tried, so that many who ask at once share one try.
        let mut last = self.probe.0.lock().await;
        if let Some((at, why)) = *last
            && at.elapsed() < FRESH
        {
            return why;
        }
        let tried = tokio::time::timeout(PATIENCE, self.store.commit(self.probe()));
        let why = match tried.await {
            // Somebody else wrote it in the same moment: it can be written.
            Ok(Ok(_) | Err(StoreError::Conflict { .. })) => None,
            Ok(Err(error)) => {
                tracing::warn!(?error, "nothing can be written");
                Some(match error {
                    StoreError::Unavailable { why, .. } => why,
                    StoreError::Closed | StoreError::Conflict { .. } => "the store is closed",
                })
            }
            Err(_) => Some("the database does not respond in time"),
        };
        *last = Some((Instant::now(), why));
        why
    }

    fn probe(&self) -> Change {
        let now = self.clock.now();
        let record = Record::new(Kind::Probe, ID.to_owned(), now.0, "{}".to_owned());
        Change {
            puts: vec![Put {
                record,
                expect: Expect::Anything,
            }],
            entries: Vec::new(),
        }
    }
}
