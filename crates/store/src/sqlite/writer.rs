//! The thread that writes: whatever is waiting, in one transaction, then the next.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::digest::Digest;
use countersign_core::ledger::Entry;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::watch;

use super::{file, rows, words};
use crate::failure::Failure;
use crate::queue::{Job, Next, Outcome, Queue};
use crate::{Change, StoreError, Tail};

/// How often it is looked whether another process wrote.
const FOREIGN_POLL: Duration = Duration::from_millis(200);

/// Entries of another process that are read at a time.
const FOREIGN_ENTRIES: u32 = 500;

pub(super) struct Writer {
    file: PathBuf,
    /// None after a fault that it may not have survived.
    connection: Option<Connection>,
    /// What SQLite counts when another connection writes.
    data_version: Option<i64>,
    queue: Arc<Queue>,
    tail: Tail,
}

impl Writer {
    pub(super) fn new(
        file: PathBuf,
        connection: Connection,
        queue: Arc<Queue>,
        tail: Tail,
    ) -> Self {
        Self {
            file,
            connection: Some(connection),
            data_version: None,
            queue,
            tail,
        }
    }

    /// Writes until the queue is closed and empty, then says so.
    pub(super) fn run(mut self, stopped: &watch::Sender<bool>) {
        loop {
            match self.queue.next_on_thread(FOREIGN_POLL) {
                Next::Write(jobs) => self.write(jobs),
                Next::Idle => self.look_for_foreign_entries(),
                Next::Stop => break,
            }
            if self.queue.is_hopeless() {
                break;
            }
        }
        // The connection is closed before anybody may open the file anew.
        drop(self.connection.take());
        self.queue.abandon();
        stopped.send_replace(true);
    }

    fn write(&mut self, jobs: Vec<Job>) {
        match self.try_to_write(&jobs) {
            Ok(outcomes) => {
                let entries = outcomes.iter().flatten().flatten().cloned();
                if self.tail.publish(entries).is_err() {
                    self.look_for_foreign_entries();
                }
                self.queue.written(jobs.into_iter().zip(outcomes));
            }
            Err(failure) if words::is_refusal(&failure) => match <[Job; 1]>::try_from(jobs) {
                Ok([job]) => self.queue.written([(job, Err(failure.into()))]),
                // One of them spoils it for all: each alone.
                Err(jobs) => jobs.into_iter().for_each(|job| self.write(vec![job])),
            },
            Err(failure) => {
                if words::breaks_connection(&failure) {
                    self.connection = None;
                }
                self.queue.failed(jobs, &failure);
            }
        }
    }

    fn try_to_write(&mut self, jobs: &[Job]) -> Result<Vec<Outcome>, Failure> {
        if jobs.iter().all(|job| is_empty(&job.change)) {
            return Ok(jobs.iter().map(|_| Ok(Vec::new())).collect());
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            closed @ None => closed.insert(file::open_for_writing(&self.file)?),
        };
        write_together(connection, jobs).map_err(words::failure)
    }

    fn look_for_foreign_entries(&mut self) {
        let Some(connection) = &self.connection else {
            return;
        };
        let version = connection
            .pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))
            .ok();
        let behind = self.tail.last_now();
        let moved = version != self.data_version || version.is_none();
        if !moved && rows::last(connection).is_ok_and(|(last, _)| last == behind) {
            return;
        }
        match self.publish_foreign_entries(connection) {
            Ok(()) => self.data_version = version,
            Err(error) => tracing::warn!(%error, "the ledger could not be followed"),
        }
    }

    fn publish_foreign_entries(&self, connection: &Connection) -> rusqlite::Result<()> {
        loop {
            let entries = rows::entries(connection, self.tail.last_now(), FOREIGN_ENTRIES)?;
            if entries.is_empty() {
                return Ok(());
            }
            if self.tail.publish(entries).is_err() {
                tracing::error!("the ledger has a gap");
                return Ok(());
            }
        }
    }
}

fn write_together(connection: &mut Connection, jobs: &[Job]) -> rusqlite::Result<Vec<Outcome>> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read anew each time: another process may have written meanwhile.
    let mut end = rows::last(&transaction)?;
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        outcomes.push(write_one(&mut transaction, &job.change, &mut end)?);
    }
    transaction.commit()?;
    Ok(outcomes)
}

/// Writes one change, or nothing of it if something else is there than it expects.
fn write_one(
    transaction: &mut Transaction<'_>,
    change: &Change,
    end: &mut (u64, Digest),
) -> rusqlite::Result<Outcome> {
    let missed = match change.puts.as_slice() {
        // A single statement writes or does not; only several need to be taken back.
        [put] => (!rows::write(transaction, put)?).then_some(put),
        puts => {
            let savepoint = transaction.savepoint()?;
            let mut missed = None;
            for put in puts {
                if !rows::write(&savepoint, put)? {
                    missed = Some(put);
                    break;
                }
            }
            // Without a commit it is taken back when dropped.
            match missed {
                Some(_) => savepoint.finish()?,
                None => savepoint.commit()?,
            }
            missed
        }
    };
    if let Some(put) = missed {
        return Ok(Err(StoreError::Conflict {
            kind: put.record.kind,
            id: put.record.id.clone(),
        }));
    }
    let mut entries = Vec::with_capacity(change.entries.len());
    for draft in &change.entries {
        let entry = Entry::seal(draft.clone(), end.0 + 1, end.1);
        rows::write_entry(transaction, &entry)?;
        *end = (entry.seq, entry.hash);
        entries.push(entry);
    }
    Ok(Ok(entries))
}

fn is_empty(change: &Change) -> bool {
    change.puts.is_empty() && change.entries.is_empty()
}
