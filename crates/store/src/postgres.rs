//! The store on PostgreSQL, for several replicas of the gateway on one database.
//!
//! Each replica has one task that commits whatever is waiting in one transaction. It locks the end
//! of the ledger first, so the batches of all replicas follow each other: nothing deadlocks, no two
//! continue the same entry, and entries become visible in the order of their numbers. A replica
//! waits for another no longer than for that one row.
//!
//! Rows are the truth. A notification after the transaction is a hint that saves the others a
//! second at most: all of them look by themselves as well.

mod committer;
mod follower;
mod rows;
mod server;
mod text;
mod words;

use std::sync::Arc;

use countersign_core::digest::Digest;
use countersign_core::ledger::Entry;
use sqlx::PgPool;
use tokio::sync::{Notify, watch};

use crate::queue::{Outcome, Queue};
use crate::{Change, Kind, Query, Record, StoreError, Tail};

/// The store on PostgreSQL.
#[derive(Clone, Debug)]
pub struct Postgres {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Arc<Queue>,
    tail: Tail,
    pool: PgPool,
    /// Becomes true when the committing task has ended.
    stopped: watch::Receiver<bool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let server = server::Server::of(url)?;
        let mut connection = server.connect().await?;
        server::migrate(&mut connection).await?;
        let pool = server.pool();
        let (last, _) = rows::last(&pool).await.map_err(words::failure)?;
        let tail = Tail::behind(last);
        let queue = Arc::new(Queue::default());
        let (stops, stopped) = watch::channel(false);
        let wrote = Arc::new(Notify::new());
        let follower = follower::Follower::new(pool.clone(), tail.clone(), stopped.clone());
        follower.start(&wrote);
        let committer =
            committer::Committer::new(server, connection, Arc::clone(&queue), follower, wrote)?;
        tokio::spawn(committer.run(stops));
        Ok(Self {
            inner: Arc::new(Inner {
                queue,
                tail,
                pool,
                stopped,
            }),
        })
    }

    pub(crate) async fn commit(&self, change: Change) -> Outcome {
        self.inner.queue.commit(change).await
    }

    pub(crate) fn append(&self, change: Change) -> Result<(), StoreError> {
        self.inner.queue.append(change)
    }

    pub(crate) async fn get(&self, kind: Kind, id: &str) -> Result<Option<Record>, StoreError> {
        self.inner.queue.settle(kind, Some(id)).await?;
        answer(rows::get(&self.inner.pool, kind, id).await)
    }

    pub(crate) async fn find(&self, query: Query) -> Result<Vec<Record>, StoreError> {
        self.inner.queue.settle(query.kind, None).await?;
        answer(rows::find(&self.inner.pool, &query).await)
    }

    pub(crate) async fn count(&self, query: Query) -> Result<u64, StoreError> {
        self.inner.queue.settle(query.kind, None).await?;
        answer(rows::count(&self.inner.pool, &query).await)
    }

    pub(crate) async fn entries(&self, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        answer(rows::entries(&self.inner.pool, after, limit).await)
    }

    pub(crate) async fn last(&self) -> Result<(u64, Digest), StoreError> {
        answer(rows::last(&self.inner.pool).await)
    }

    pub(crate) fn tail(&self) -> &Tail {
        &self.inner.tail
    }

    pub(crate) async fn close(&self) {
        self.inner.queue.close();
        let mut stopped = self.inner.stopped.clone();
        // An error means that the task is gone, which is what is waited for.
        drop(stopped.wait_for(|stopped| *stopped).await);
        self.inner.pool.close().await;
    }
}

fn answer<T>(outcome: sqlx::Result<T>) -> Result<T, StoreError> {
    match outcome {
        Err(sqlx::Error::PoolClosed) => Err(StoreError::Closed),
        outcome => Ok(outcome.map_err(words::failure)?),
    }
}
