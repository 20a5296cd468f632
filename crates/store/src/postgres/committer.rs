//! The commit task: writes everything pending in one transaction, then repeats.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use tokio::sync::{Notify, watch};

use super::follower::Follower;
use super::server::Server;
use super::{rows, words};
use crate::batch::Batch;
use crate::failure::Failure;
use crate::queue::{Job, Next, Outcome, Queue};

/// How long a batch may take, the wait for other replicas included.
const WRITE: Duration = Duration::from_secs(15);

/// How long those who wait for a commit that was interrupted are kept waiting for the truth.
const TRUTH: Duration = Duration::from_secs(10);

/// The pause between two looks at what became of it.
const TRUTH_PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Committer {
    server: Server,
    /// None after a fault.
    connection: Option<PgConnection>,
    queue: Arc<Queue>,
    follower: Follower,
    /// Who this is among all who ever wrote the database, and how many batches it wrote.
    name: String,
    batches: i64,
    wrote: Arc<Notify>,
}

/// What became of a batch.
enum Attempt {
    /// It is on disk.
    Written(Vec<Outcome>),
    /// Nothing of it is there.
    Failed(Failure),
    /// The connection was lost when it was to be committed.
    Unknown(Vec<Outcome>),
}

impl Committer {
    pub(super) fn new(
        server: Server,
        connection: PgConnection,
        queue: Arc<Queue>,
        follower: Follower,
        wrote: Arc<Notify>,
    ) -> Result<Self, Failure> {
        let name = getrandom::u64()
            .map_err(|error| Failure::new("there is no randomness", error.to_string()))?;
        Ok(Self {
            server,
            connection: Some(connection),
            queue,
            follower,
            name: format!("{name:016x}"),
            batches: 0,
            wrote,
        })
    }

    /// Commits until the queue is closed and empty, then says so.
    pub(super) async fn run(mut self, stopped: watch::Sender<bool>) {
        loop {
            match self.queue.next_in_task().await {
                Next::Write(jobs) => self.write(jobs).await,
                Next::Idle => {}
                Next::Stop => break,
            }
            if self.queue.is_hopeless() {
                break;
            }
        }
        self.queue.abandon();
        stopped.send_replace(true);
    }

    async fn write(&mut self, jobs: Vec<Job>) {
        match self.attempt(&jobs).await {
            Attempt::Written(outcomes) => self.written(jobs, outcomes).await,
            Attempt::Unknown(outcomes) => self.find_out(jobs, outcomes).await,
            Attempt::Failed(failure) if !words::is_refusal(&failure) => {
                self.queue.failed(jobs, &failure);
            }
            Attempt::Failed(failure) => match <[Job; 1]>::try_from(jobs) {
                Ok([job]) => self.queue.written([(job, Err(failure.into()))]),
                // One of them spoils it for all: each alone.
                Err(jobs) => {
                    for job in jobs {
                        Box::pin(self.write(vec![job])).await;
                    }
                }
            },
        }
    }

    async fn attempt(&mut self, jobs: &[Job]) -> Attempt {
        if jobs.iter().all(Job::is_empty) {
            return Attempt::Written(jobs.iter().map(|_| Ok(Vec::new())).collect());
        }
        // It comes back only if it can be trusted to be outside any transaction.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => match self.server.connect().await {
                Ok(connection) => connection,
                Err(failure) => return Attempt::Failed(failure),
            },
        };
        self.batches += 1;
        let working = prepare(&mut connection, jobs, &self.name, self.batches);
        let outcomes = match tokio::time::timeout(WRITE, working).await {
            Ok(Ok(outcomes)) => outcomes,
            Ok(Err(error)) => {
                let failure = words::failure(error);
                if words::is_refusal(&failure) && end(&mut connection, "ROLLBACK").await {
                    self.connection = Some(connection);
                }
                return Attempt::Failed(failure);
            }
            Err(_) => return Attempt::Failed(words::too_slow()),
        };
        if end(&mut connection, "COMMIT").await {
            self.connection = Some(connection);
            return Attempt::Written(outcomes);
        }
        Attempt::Unknown(outcomes)
    }

    async fn written(&self, jobs: Vec<Job>, outcomes: Vec<Outcome>) {
        let entries = outcomes.iter().flatten().flatten().cloned();
        if self.follower.tail().publish(entries).is_err()
            && let Err(failure) = self.follower.catch_up().await
        {
            // It is written; that is what is answered. It becomes visible with the next look.
            tracing::warn!(why = failure.why, cause = %failure.cause, "the ledger could not be followed");
        }
        self.wrote.notify_one();
        self.queue.written(jobs.into_iter().zip(outcomes));
    }

    /// Finds out whether the last batch was committed, however long that takes: what was appended
    /// must be written once, not twice.
    async fn find_out(&mut self, mut jobs: Vec<Job>, outcomes: Vec<Outcome>) {
        let started = Instant::now();
        loop {
            match self.last_batch().await {
                Ok(last) if last == Some(self.batches) => {
                    return self.written(jobs, outcomes).await;
                }
                Ok(_) => {
                    let failure = Failure::new(
                        "the database was lost while writing",
                        "the batch was not committed",
                    );
                    return self.queue.failed(jobs, &failure);
                }
                Err(failure) => {
                    self.queue.failed(Vec::new(), &failure);
                    if started.elapsed() > TRUTH {
                        let unknown = Failure::new(
                            "the database was lost while writing; whether it was written is not \
                             known yet",
                            failure.cause,
                        );
                        for job in &mut jobs {
                            job.answer(&unknown);
                        }
                        if self.queue.is_closed() {
                            return;
                        }
                    }
                }
            }
            tokio::time::sleep(TRUTH_PAUSE).await;
        }
    }

    async fn last_batch(&mut self) -> Result<Option<i64>, Failure> {
        let mut connection = self.server.connect().await?;
        let looking = rows::last_batch(&mut connection, &self.name);
        let last = tokio::time::timeout(WRITE, looking)
            .await
            .map_err(|_| words::too_slow())?
            .map_err(words::failure)?;
        self.connection = Some(connection);
        Ok(last)
    }
}

/// Does everything but commit.
async fn prepare(
    connection: &mut PgConnection,
    jobs: &[Job],
    name: &str,
    number: i64,
) -> sqlx::Result<Vec<Outcome>> {
    let end = rows::begin(connection).await?;
    let keys: Vec<_> = Batch::keys(jobs).collect();
    let versions = rows::versions(connection, keys).await?;
    let batch = Batch::of(jobs, &versions, end);
    if !rows::write(connection, &batch).await? {
        return Err(sqlx::Error::Protocol(
            "somebody writes records without locking the ledger".to_owned(),
        ));
    }
    rows::write_entries(connection, &batch, name, number).await?;
    Ok(batch.outcomes)
}

/// Ends the transaction; tells whether that is certain.
async fn end(connection: &mut PgConnection, how: &'static str) -> bool {
    let ending = sqlx::raw_sql(how).execute(connection);
    match tokio::time::timeout(WRITE, ending).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, how, "the connection was lost at the end of a transaction");
            false
        }
        Err(_) => {
            tracing::warn!(how, "no answer at the end of a transaction");
            false
        }
    }
}
