//! Follows the ledger entries of all replicas.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::{Notify, watch};

use super::{rows, words};
use crate::Tail;
use crate::failure::Failure;

/// The notification channel of the replicas.
const CHANNEL: &str = "countersign_ledger";

/// How long an entry of another replica can stay unseen when no hint comes.
const POLL: Duration = Duration::from_secs(1);

/// The pause between two hints; what is written meanwhile shares one.
const HINT_PAUSE: Duration = Duration::from_millis(5);

/// Entries that are read at a time.
const ENTRIES: u32 = 500;

#[derive(Clone, Debug)]
pub(super) struct Follower {
    pool: PgPool,
    tail: Tail,
    stopped: watch::Receiver<bool>,
}

impl Follower {
    pub(super) fn new(pool: PgPool, tail: Tail, stopped: watch::Receiver<bool>) -> Self {
        Self {
            pool,
            tail,
            stopped,
        }
    }

    /// Starts the three tasks that listen, look and, when `wrote` says so, tell the others.
    pub(super) fn start(&self, wrote: &Arc<Notify>) {
        let heard = Arc::new(Notify::new());
        self.spawn(self.clone().listen(Arc::clone(&heard)));
        self.spawn(self.clone().look(heard));
        self.spawn(self.clone().tell(Arc::clone(wrote)));
    }

    pub(super) const fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Reads what stands behind the last visible entry and makes it visible.
    pub(super) async fn catch_up(&self) -> Result<(), Failure> {
        loop {
            let entries = rows::entries(&self.pool, self.tail.last_now(), ENTRIES)
                .await
                .map_err(words::failure)?;
            if entries.is_empty() {
                return Ok(());
            }
            if self
                .tail
                .publish(entries.into_iter().map(Arc::new))
                .is_err()
            {
                return Err(Failure::new("the ledger has a gap", "entries are missing"));
            }
        }
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut stopped = self.stopped.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = work => {}
                // An error means that the committing task is gone.
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        });
    }

    async fn listen(self, heard: Arc<Notify>) {
        loop {
            if let Err(error) = self.listen_once(&heard).await {
                tracing::debug!(%error, "hints cannot be heard; looking every second");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn listen_once(&self, heard: &Notify) -> sqlx::Result<()> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(CHANNEL).await?;
        // Something may have been written before it listened.
        heard.notify_one();
        loop {
            let hint = listener.recv().await?;
            // Most hints are this replica's own, and known.
            let last = hint.payload().parse().unwrap_or(u64::MAX);
            if last > self.tail.last_now() {
                heard.notify_one();
            }
        }
    }

    async fn look(self, heard: Arc<Notify>) {
        loop {
            if let Err(failure) = self.catch_up().await {
                tracing::warn!(why = failure.why, cause = %failure.cause, "the ledger could not be followed");
            }
            // Either way it is looked again.
            drop(tokio::time::timeout(POLL, heard.notified()).await);
        }
    }

    async fn tell(self, wrote: Arc<Notify>) {
        loop {
            wrote.notified().await;
            // A hint may be lost, so nobody waits for the disk because of it.
            let told = sqlx::query(
                "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            )
            .bind(CHANNEL)
            .bind(self.tail.last_now().to_string())
            .execute(&self.pool);
            if let Err(error) = told.await {
                tracing::debug!(%error, "a hint could not be given");
            }
            tokio::time::sleep(HINT_PAUSE).await;
        }
    }
}
