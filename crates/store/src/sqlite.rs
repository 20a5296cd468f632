//! The store on SQLite: one file, one writing thread, a few reading connections.
//!
//! The thread takes all changes that are waiting and writes them in one transaction, so one sync
//! of the disk serves all of them. Another process (the command line beside a gateway) may write
//! the same file: the file's lock orders the two, the thread reads the end of the ledger anew in
//! each transaction, and looks several times a second whether somebody else wrote.

mod file;
mod packs;
mod rows;
mod words;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::digest::Digest;
use countersign_core::ledger::Entry;
use rusqlite::Connection;
use tokio::sync::{Semaphore, watch};

use crate::failure::Failure;
use crate::queue::{Outcome, Queue};
use crate::{Change, Kind, Query, Record, StoreError, Tail};

/// Connections that read at the same time.
const READERS_MAX: usize = 4;

/// The store on SQLite.
#[derive(Clone, Debug)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Arc<Queue>,
    tail: Tail,
    readers: Arc<Readers>,
    /// Becomes true when the writing thread has ended.
    stopped: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Readers {
    file: file::Opened,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Sqlite {
    pub(crate) async fn open(file: &Path) -> Result<Self, StoreError> {
        let path = file.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let (opened, connection) = file::Opened::open(&path)?;
            let (last, _) = rows::last(&connection).map_err(words::failure)?;
            let tail = Tail::behind(last);
            let queue = Arc::new(Queue::default());
            let (stops, stopped) = watch::channel(false);
            let writer =
                writer::Writer::new(opened.clone(), connection, Arc::clone(&queue), tail.clone());
            std::thread::Builder::new()
                .name("store-writer".to_owned())
                .spawn(move || writer.run(&stops))
                .map_err(|error| Failure::new("no thread can be started", error.to_string()))?;
            let readers = Arc::new(Readers {
                file: opened,
                idle: Mutex::default(),
                permits: Arc::new(Semaphore::new(READERS_MAX)),
            });
            Ok(Inner {
                queue,
                tail,
                readers,
                stopped,
            })
        });
        let inner: Result<Inner, Failure> = opened.await.map_err(|_| StoreError::Closed)?;
        Ok(Self {
            inner: Arc::new(inner?),
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
        let id = id.to_owned();
        self.read(move |connection| rows::get(connection, kind, &id))
            .await
    }

    pub(crate) async fn find(&self, query: Query) -> Result<Vec<Record>, StoreError> {
        self.inner.queue.settle(query.kind, None).await?;
        self.read(move |connection| rows::find(connection, &query))
            .await
    }

    pub(crate) async fn count(&self, query: Query) -> Result<u64, StoreError> {
        self.inner.queue.settle(query.kind, None).await?;
        self.read(move |connection| rows::count(connection, &query))
            .await
    }

    pub(crate) async fn entries(&self, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.read(move |connection| rows::entries(connection, after, limit))
            .await
    }

    pub(crate) async fn last(&self) -> Result<(u64, Digest), StoreError> {
        self.read(rows::last).await
    }

    pub(crate) fn tail(&self) -> &Tail {
        &self.inner.tail
    }

    pub(crate) async fn close(&self) {
        self.inner.queue.close();
        let mut stopped = self.inner.stopped.clone();
        // An error means that the thread is gone, which is what is waited for.
        drop(stopped.wait_for(|stopped| *stopped).await);
        self.inner.readers.permits.close();
        self.inner.readers.idle().clear();
    }

    /// Runs `work` on a reading connection, on a thread that may wait for the disk.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.inner.readers);
        let Ok(permit) = Arc::clone(&readers.permits).acquire_owned().await else {
            return Err(StoreError::Closed);
        };
        let done = tokio::task::spawn_blocking(move || {
            // Held here, because who asked may stop waiting before it is read.
            let _permit = permit;
            readers.file.check()?;
            let idle = readers.idle().pop();
            let connection = match idle {
                Some(connection) => connection,
                None => file::open_for_reading(&readers.file)?,
            };
            let outcome = work(&connection).map_err(words::failure);
            if outcome.is_ok() {
                // A connection that failed is closed; the next read opens another.
                readers.idle().push(connection);
            }
            outcome
        });
        let outcome: Result<T, Failure> = done.await.map_err(|_| StoreError::Closed)?;
        Ok(outcome?)
    }
}

impl Readers {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
