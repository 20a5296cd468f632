//! The write queue: commits, whose senders wait, and appends, whose senders do not. One writer
//! takes everything that is pending, in order.
//!
//! Appended changes are lent to no one: if they cannot be written they go back to the front, and
//! until they are written nothing more may be appended. Who reads can ask whether something of
//! theirs is still waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::ledger::{Draft, Entry};
use tokio::sync::{Notify, oneshot};

use crate::failure::Failure;
use crate::{APPEND_MILLIS_MAX, Change, Expect, Kind, StoreError};

/// Changes that are written together.
const BATCH_CHANGES_MAX: usize = 512;

/// Bytes that are written together; a single change may have more.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Appended changes that may wait. Commits are not counted: each has a sender that waits for it.
const APPENDED_CHANGES_MAX: usize = 65_536;

/// Bytes of appended changes that may wait.
const APPENDED_BYTES_MAX: usize = 128 << 20;

/// How long appended changes gather. The rest of [`APPEND_MILLIS_MAX`] is left for the disk.
const GATHER: Duration = Duration::from_millis(APPEND_MILLIS_MAX * 3 / 5);

/// The first pause before writing again what could not be written; it doubles.
const RETRY_FIRST: Duration = Duration::from_millis(50);

/// The longest pause before writing again what could not be written.
const RETRY_MAX: Duration = Duration::from_secs(1);

/// A change that is to be written.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) change: Change,
    sender: Sender,
}

/// Who wants a change to be written.
#[derive(Debug)]
enum Sender {
    /// Somebody who went on.
    Appended,
    /// Somebody who waits.
    Waiting(Reply),
    /// Somebody who waited and was told that it is not known.
    Answered,
}

impl Job {
    /// Tells whether nothing is to be written; the sender only waits for what came before.
    pub(crate) fn is_empty(&self) -> bool {
        self.change.puts.is_empty() && self.change.entries.is_empty()
    }

    /// Tells the sender, if one waits, that it failed, though it may turn out to be written.
    pub(crate) fn answer(&mut self, failure: &Failure) {
        match std::mem::replace(&mut self.sender, Sender::Answered) {
            Sender::Waiting(reply) => drop(reply.send(Err(failure.clone().into()))),
            sender @ (Sender::Appended | Sender::Answered) => self.sender = sender,
        }
    }

    /// Tells whether nobody waits for it.
    pub(crate) const fn is_appended(&self) -> bool {
        matches!(self.sender, Sender::Appended)
    }
}

type Reply = oneshot::Sender<Outcome>;

/// The next step of the writer.
#[derive(Debug)]
pub(crate) enum Next {
    /// Writes these and reports with [`Queue::written`] or [`Queue::failed`].
    Write(Vec<Job>),
    /// Nothing came for as long as was asked.
    Idle,
    /// Nothing will come any more.
    Stop,
}

/// The write queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Wakes a writer that is a thread.
    thread: Condvar,
    /// Wakes a writer that is a task.
    task: Notify,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Commits among the jobs.
    commits: usize,
    /// Appended changes that wait or are being written, and their bytes.
    appended: usize,
    appended_bytes: usize,
    /// The records among them.
    unwritten: HashMap<Kind, HashMap<String, usize>>,
    /// When the oldest appended change came.
    oldest: Option<Instant>,
    /// The error of the last failed append.
    failing: Option<Failing>,
    closed: bool,
}

#[derive(Debug)]
struct Failing {
    failure: Failure,
    pause: Duration,
    again: Instant,
}

impl Queue {
    /// Has `change` written; returns its entries when it is on disk.
    pub(crate) async fn commit(&self, change: Change) -> Outcome {
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.state();
            if state.closed {
                return Err(StoreError::Closed);
            }
            state.commits += 1;
            state.jobs.push_back(Job {
                change,
                sender: Sender::Waiting(reply),
            });
        }
        self.wake();
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Has `change` written soon.
    pub(crate) fn append(&self, change: Change) -> Result<(), StoreError> {
        let expects = |put: &&crate::Put| matches!(put.expect, Expect::Version(_));
        if let Some(put) = change.puts.iter().find(expects) {
            return Err(StoreError::Conflict {
                kind: put.record.kind,
                id: put.record.id.clone(),
            });
        }
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::Closed);
        }
        if let Some(failing) = &state.failing {
            return Err(failing.failure.clone().into());
        }
        let bytes = bytes(&change);
        if state.appended >= APPENDED_CHANGES_MAX
            || state.appended_bytes.saturating_add(bytes) > APPENDED_BYTES_MAX
        {
            return Err(Failure::new("too much is waiting to be written", "queue is full").into());
        }
        state.appended += 1;
        state.appended_bytes += bytes;
        for put in &change.puts {
            let of_kind = state.unwritten.entry(put.record.kind).or_default();
            *of_kind.entry(put.record.id.clone()).or_default() += 1;
        }
        let first = state.oldest.is_none();
        if first {
            state.oldest = Some(Instant::now());
        }
        state.jobs.push_back(Job {
            change,
            sender: Sender::Appended,
        });
        // The writer sleeps until the first is old enough; only a full batch wakes it before.
        let wake = first || state.jobs.len() == BATCH_CHANGES_MAX;
        drop(state);
        if wake {
            self.wake();
        }
        Ok(())
    }

    /// Returns when nothing appended to this record, or with `None` to any of its kind, waits.
    pub(crate) async fn settle(&self, kind: Kind, id: Option<&str>) -> Result<(), StoreError> {
        let waits = self
            .state()
            .unwritten
            .get(&kind)
            .is_some_and(|ids| id.map_or(!ids.is_empty(), |id| ids.contains_key(id)));
        if waits {
            self.commit(Change::default()).await?;
        }
        Ok(())
    }

    /// Takes nothing more. What waits is still written.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.wake();
    }

    /// Gives up on everything: whoever waits is told that the store is closed.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.closed = true;
        if state.appended > 0 {
            tracing::error!(
                changes = state.appended,
                "appended changes were not written"
            );
        }
        *state = State {
            closed: true,
            ..State::default()
        };
    }

    /// Waits for something to write, on a thread, but not longer than `idle`.
    pub(crate) fn next_on_thread(&self, idle: Duration) -> Next {
        let end = Instant::now() + idle;
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let until = match state.ready(now) {
                Ready::Now => return Next::Write(state.take()),
                Ready::Stop => return Next::Stop,
                Ready::At(moment) => moment.min(end),
                Ready::Later => end,
            };
            if now >= end {
                return Next::Idle;
            }
            state = self
                .thread
                .wait_timeout(state, until.saturating_duration_since(now))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for something to write, in a task.
    pub(crate) async fn next_in_task(&self) -> Next {
        loop {
            let woken = self.task.notified();
            let until = {
                let mut state = self.state();
                match state.ready(Instant::now()) {
                    Ready::Now => return Next::Write(state.take()),
                    Ready::Stop => return Next::Stop,
                    Ready::At(moment) => Some(moment),
                    Ready::Later => None,
                }
            };
            match until {
                Some(moment) => {
                    // Whichever comes first, the state is looked at again.
                    drop(tokio::time::timeout_at(moment.into(), woken).await);
                }
                None => woken.await,
            }
        }
    }

    /// Answers for jobs that were written; each with its own outcome.
    pub(crate) fn written(&self, outcomes: impl IntoIterator<Item = (Job, Outcome)>) {
        let mut state = self.state();
        state.failing = None;
        for (job, outcome) in outcomes {
            match job.sender {
                Sender::Appended => {
                    state.forget(&job.change);
                    if let Err(error) = outcome {
                        tracing::error!(%error, "an appended change was refused");
                    }
                }
                // The one who waited may be gone; it is written all the same.
                Sender::Waiting(reply) => drop(reply.send(outcome)),
                Sender::Answered => {}
            }
        }
    }

    /// Answers for jobs that could not be written: commits fail, and with them those that wait
    /// behind; appended changes wait for the next try.
    pub(crate) fn failed(&self, jobs: Vec<Job>, failure: &Failure) {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.jobs);
        for mut job in jobs.into_iter().chain(waiting) {
            if job.is_appended() {
                state.jobs.push_back(job);
            } else {
                job.answer(failure);
            }
        }
        state.commits = 0;
        if state.jobs.is_empty() {
            return;
        }
        let pause = state
            .failing
            .as_ref()
            .map_or(RETRY_FIRST, |failing| (failing.pause * 2).min(RETRY_MAX));
        tracing::warn!(
            why = failure.why, cause = %failure.cause, changes = state.jobs.len(),
            "what was appended could not be written; retrying"
        );
        state.failing = Some(Failing {
            failure: failure.clone(),
            pause,
            again: Instant::now() + pause,
        });
    }

    /// Tells whether nothing more is taken.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Tells whether the store is closing and the last try failed.
    pub(crate) fn is_hopeless(&self) -> bool {
        let state = self.state();
        state.closed && state.failing.is_some()
    }

    fn wake(&self) {
        self.thread.notify_one();
        self.task.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of one change.
pub(crate) type Outcome = Result<Vec<Arc<Entry>>, StoreError>;

enum Ready {
    Now,
    At(Instant),
    Later,
    Stop,
}

impl State {
    fn ready(&self, now: Instant) -> Ready {
        if self.jobs.is_empty() {
            return if self.closed {
                Ready::Stop
            } else {
                Ready::Later
            };
        }
        if self.commits > 0 || self.closed {
            return Ready::Now;
        }
        let moment = match (&self.failing, self.oldest) {
            (Some(failing), _) => failing.again,
            (None, Some(_)) if self.jobs.len() >= BATCH_CHANGES_MAX => return Ready::Now,
            (None, Some(oldest)) => oldest + GATHER,
            (None, None) => return Ready::Now,
        };
        if moment <= now {
            Ready::Now
        } else {
            Ready::At(moment)
        }
    }

    fn take(&mut self) -> Vec<Job> {
        let mut batch = Vec::new();
        let mut size = 0;
        while batch.len() < BATCH_CHANGES_MAX {
            let Some(job) = self.jobs.pop_front() else {
                break;
            };
            size += bytes(&job.change);
            if size > BATCH_BYTES_MAX && !batch.is_empty() {
                self.jobs.push_front(job);
                break;
            }
            if !job.is_appended() {
                self.commits -= 1;
            }
            batch.push(job);
        }
        // What is left came before now, so it is written with the next batch, without a pause.
        let left = self.jobs.iter().any(Job::is_appended);
        self.oldest = self.oldest.filter(|_| left);
        batch
    }

    fn forget(&mut self, change: &Change) {
        self.appended = self.appended.saturating_sub(1);
        self.appended_bytes = self.appended_bytes.saturating_sub(bytes(change));
        for put in &change.puts {
            let Some(of_kind) = self.unwritten.get_mut(&put.record.kind) else {
                continue;
            };
            if let Some(times) = of_kind.get_mut(&put.record.id) {
                *times -= 1;
                if *times == 0 {
                    of_kind.remove(&put.record.id);
                }
            }
        }
    }
}

fn bytes(change: &Change) -> usize {
    let puts = change.puts.iter().map(|put| {
        let record = &put.record;
        let texts = [
            &record.id,
            &record.status,
            &record.owner,
            &record.session,
            &record.run,
            &record.link,
            &record.body,
        ];
        texts.iter().map(|text| text.len()).sum::<usize>()
    });
    let entries = change.entries.iter().map(|draft: &Draft| {
        let texts = [
            &draft.event,
            &draft.owner,
            &draft.run,
            &draft.session,
            &draft.subject,
            &draft.body,
        ];
        texts.iter().map(|text| text.len()).sum::<usize>()
    });
    puts.sum::<usize>() + entries.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Put, Record};

    fn change(id: &str, body: usize) -> Change {
        let record = Record {
            kind: Kind::Call,
            id: id.to_owned(),
            version: 0,
            status: String::new(),
            owner: String::new(),
            session: String::new(),
            run: String::new(),
            link: String::new(),
            at: 0,
            due_at: None,
            body: "x".repeat(body),
        };
        Change {
            puts: vec![Put {
                record,
                expect: Expect::Absent,
            }],
            entries: Vec::new(),
        }
    }

    fn take(queue: &Queue) -> Vec<Job> {
        match queue.next_on_thread(Duration::from_mins(1)) {
            Next::Write(jobs) => jobs,
            other @ (Next::Idle | Next::Stop) => panic!("{other:?}"),
        }
    }

    fn write(queue: &Queue) -> usize {
        let jobs = take(queue);
        let written = jobs.len();
        queue.written(jobs.into_iter().map(|job| (job, Ok(Vec::new()))));
        written
    }

    fn why(outcome: Result<(), StoreError>) -> &'static str {
        match outcome {
            Err(StoreError::Unavailable { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn more_changes_than_may_wait_are_refused_until_some_are_written() {
        let queue = Queue::default();
        for _ in 0..APPENDED_CHANGES_MAX {
            queue.append(change("a", 0)).unwrap();
        }
        let full = "too much is waiting to be written";
        assert_eq!(why(queue.append(change("a", 0))), full);
        assert_eq!(write(&queue), BATCH_CHANGES_MAX);
        queue.append(change("a", 0)).unwrap();
    }

    #[test]
    fn more_bytes_than_may_wait_are_refused_until_some_are_written() {
        let queue = Queue::default();
        for _ in 0..16 {
            queue.append(change("", APPENDED_BYTES_MAX / 16)).unwrap();
        }
        let full = "too much is waiting to be written";
        assert_eq!(why(queue.append(change("a", 1))), full);
        assert_eq!(write(&queue), 1, "a batch has a limit in bytes as well");
        queue.append(change("a", 1)).unwrap();
    }

    #[tokio::test]
    async fn after_a_failure_commits_fail_and_appended_changes_wait_in_order() {
        let queue = Arc::new(Queue::default());
        queue.append(change("first", 0)).unwrap();
        let waiting = Arc::clone(&queue);
        let commit = tokio::spawn(async move { waiting.commit(change("commit", 0)).await });
        while queue.state().commits == 0 {
            tokio::task::yield_now().await;
        }
        queue.append(change("second", 0)).unwrap();
        let failure = Failure::new("the disk is full", "13");
        queue.failed(take(&queue), &failure);
        assert_eq!(why(commit.await.unwrap().map(drop)), "the disk is full");
        assert_eq!(why(queue.append(change("third", 0))), "the disk is full");

        let again = take(&queue);
        let ids: Vec<&str> = again
            .iter()
            .map(|job| job.change.puts[0].record.id.as_str())
            .collect();
        assert_eq!(ids, ["first", "second"]);
        queue.written(again.into_iter().map(|job| (job, Ok(Vec::new()))));
        queue.append(change("third", 0)).unwrap();
    }

    #[test]
    fn what_was_appended_gathers_before_it_is_written() {
        let queue = Queue::default();
        let started = Instant::now();
        queue.append(change("a", 0)).unwrap();
        queue.append(change("b", 0)).unwrap();
        assert_eq!(write(&queue), 2);
        assert!(started.elapsed() >= GATHER);
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        let queue = Queue::default();
        queue.append(change("a", 0)).unwrap();
        queue.close();
        assert!(matches!(
            queue.append(change("b", 0)),
            Err(StoreError::Closed)
        ));
        assert_eq!(write(&queue), 1);
        assert!(matches!(queue.next_on_thread(Duration::ZERO), Next::Stop));
    }
}
