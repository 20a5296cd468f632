//! The writer thread: writes everything pending in one transaction, then repeats.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::watch;

use super::{file, packs, rows, words};
use crate::batch::Batch;
use crate::failure::Failure;
use crate::queue::{Job, Next, Outcome, Queue};
use crate::{Record, Tail};

/// How often it is looked whether another process wrote.
const FOREIGN_POLL: Duration = Duration::from_millis(200);

/// Entries of another process that are read at a time.
const FOREIGN_ENTRIES: u32 = 500;

pub(super) struct Writer {
    file: file::Opened,
    /// None after a fault that it may not have survived.
    connection: Option<Connection>,
    /// What SQLite counts when another connection writes.
    data_version: Option<i64>,
    looked: Instant,
    queue: Arc<Queue>,
    tail: Tail,
}

impl Writer {
    pub(super) fn new(
        file: file::Opened,
        connection: Connection,
        queue: Arc<Queue>,
        tail: Tail,
    ) -> Self {
        Self {
            file,
            connection: Some(connection),
            data_version: None,
            looked: Instant::now(),
            queue,
            tail,
        }
    }

    /// Writes until the queue is closed and empty, then says so.
    pub(super) fn run(mut self, stopped: &watch::Sender<bool>) {
        loop {
            match self.queue.next_on_thread(FOREIGN_POLL) {
                Next::Write(jobs) => self.write(jobs),
                Next::Idle => {}
                Next::Stop => break,
            }
            if self.queue.is_hopeless() {
                break;
            }
            if self.looked.elapsed() >= FOREIGN_POLL {
                self.look_for_foreign_entries();
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
                    // Somebody else's entries come before ours.
                    self.data_version = None;
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
        if jobs.iter().all(Job::is_empty) {
            return Ok(jobs.iter().map(|_| Ok(Vec::new())).collect());
        }
        let opened = self.file.clone();
        write_together(self.connection()?, &opened, jobs)
    }

    fn connection(&mut self) -> Result<&mut Connection, Failure> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            closed @ None => Ok(closed.insert(self.file.open_again()?)),
        }
    }

    /// Makes visible what another process wrote since the last look.
    fn look_for_foreign_entries(&mut self) {
        self.looked = Instant::now();
        let seen = self.data_version;
        let looked = self.connection().and_then(|connection| {
            let version = connection
                .pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))
                .map_err(words::failure)?;
            Ok((version, seen != Some(version)))
        });
        let outcome = looked.and_then(|(version, is_new)| {
            if is_new {
                self.publish_foreign_entries()?;
                self.data_version = Some(version);
            }
            Ok(())
        });
        if let Err(failure) = outcome {
            tracing::warn!(why = failure.why, cause = %failure.cause, "the ledger could not be followed");
        }
    }

    fn publish_foreign_entries(&mut self) -> Result<(), Failure> {
        let tail = self.tail.clone();
        let connection = self.connection()?;
        loop {
            let entries = rows::entries(connection, tail.last_now(), FOREIGN_ENTRIES)
                .map_err(words::failure)?;
            if entries.is_empty() {
                return Ok(());
            }
            if tail.publish(entries.into_iter().map(Arc::new)).is_err() {
                return Err(Failure::new("the ledger has a gap", "entries are missing"));
            }
        }
    }
}

fn write_together(
    connection: &mut Connection,
    opened: &file::Opened,
    jobs: &[Job],
) -> Result<Vec<Outcome>, Failure> {
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(words::failure)?;
    let outcomes = write_all(&transaction, jobs).map_err(words::failure)?;
    // Nobody is told that something is kept which lies where nobody will look for it.
    opened.check()?;
    transaction.commit().map_err(words::failure)?;
    Ok(outcomes)
}

fn write_all(transaction: &Connection, jobs: &[Job]) -> rusqlite::Result<Vec<Outcome>> {
    // Nobody else writes until the end. Both are read anew: another process may have written
    // since the last time.
    let end = rows::last(transaction)?;
    let mut versions = HashMap::with_capacity(jobs.len());
    for (kind, id) in Batch::keys(jobs) {
        versions.insert((kind, id), rows::version(transaction, kind, id)?);
    }
    let batch = Batch::of(jobs, &versions, end);
    let (packed, single): (Vec<_>, Vec<_>) = batch.rows.iter().partition(|row| packs::takes(row));
    for row in single {
        if !rows::write(transaction, row)? {
            return Err(rusqlite::Error::StatementChangedRows(0));
        }
    }
    let packed: Vec<&Record> = packed.into_iter().map(|row| row.record).collect();
    packs::write(transaction, &packed)?;
    for (is_appended, entries) in batch.runs(jobs) {
        if is_appended {
            rows::write_packed_entries(transaction, &entries)?;
        } else {
            for entry in entries {
                rows::write_entry(transaction, entry)?;
            }
        }
    }
    Ok(batch.outcomes)
}
