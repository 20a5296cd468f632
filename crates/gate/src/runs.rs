//! Stored runs of the built-in agent: who started them, their messages and progress.
//!
//! The agent thinks; the gate writes. A run is a record that changes by compare-and-set, its
//! messages are records that are only added to, and what happens to it is in the ledger in the same
//! commit, so that a run is after a crash where it was before.

pub mod event;
mod steering;
pub mod threads;
pub mod usage;

use countersign_core::id::{KeyId, RunId};
use countersign_core::status::RunStatus;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_store::{Change, Expect, Kind, Order, Put, Query, Record, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use std::sync::Arc;

use crate::GateError;
use crate::base::Base;
use crate::base::principal::{Principal, Role};
use crate::base::random::random;
use crate::records::event::{
    Event, RunCompleted, RunFailed, RunHappening, RunStarted, RunStopping, Usage,
};
use crate::records::identifiers;
use crate::records::request::Report;
use crate::records::retry::{Conflict, busy, retry_on_conflict};
use crate::records::stored::{read, written};
use crate::records::view::{Page, cursor, next};
use crate::runs::event::{RunEvent, entry};

/// The key that calls of built-in runs are requested by.
pub const BUILTIN: &str = "builtin";
/// How long a gateway that drives a run may be silent before another takes it over.
pub const LEASE_MILLIS: i64 = 15_000;
/// Most runs on one page.
const PAGE_MAX: u32 = 500;

/// A run as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The run.
    pub run_id: String,
    /// The conversation it belongs to.
    pub session: String,
    /// The person who started it.
    pub starter: String,
    /// The model.
    pub model: String,
    /// Additional instructions for the model.
    pub instructions: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
    /// How far it is.
    pub status: RunStatus,
    /// Its result.
    pub output: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Tokens that were read.
    pub prompt_tokens: u64,
    /// Tokens that were written.
    pub completion_tokens: u64,
    /// How often the model was asked.
    pub steps: u32,
    /// Messages that were added.
    pub messages: u32,
    /// The last event.
    pub last_event: String,
    /// When it began.
    pub created_at: UnixMillis,
    /// When it last changed.
    pub updated_at: UnixMillis,
    /// Which gateway drives it.
    pub driver: String,
    /// What the person said meanwhile and the agent has not read yet, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// A run that is to begin.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    /// The conversation; a new one if it is not named.
    pub session: Option<String>,
    /// The model.
    pub model: String,
    /// Additional instructions for the model.
    pub instructions: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
    /// The greeting.
    pub messages: Vec<Value>,
    /// Which gateway drives it.
    pub driver: String,
}

/// What is added to a run.
#[derive(Clone, Debug, Default)]
pub struct RunStep {
    /// What was said.
    pub messages: Vec<Value>,
    /// How many of the unread messages are read with it.
    pub read: usize,
    /// Tokens that were read and written.
    pub tokens: (u64, u64),
    /// How often the model was asked.
    pub asked: u32,
    /// Under which task and model the tokens are counted.
    pub usage: Option<(&'static str, String)>,
    /// What came of calls.
    pub reports: Vec<(String, Report)>,
    /// Events for readers.
    pub events: Vec<RunEvent>,
    /// The end.
    pub end: Option<RunEnd>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What was said.
    pub message: Value,
    /// In which run.
    pub run: String,
    /// Where it stands in the conversation.
    pub place: (i64, String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With this answer.
    Completed(String),
    /// For this reason.
    Failed(String),
    /// Because somebody stopped it.
    Cancelled,
}

impl Run {
    /// Returns its token usage.
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.prompt_tokens,
            output_tokens: self.completion_tokens,
            total_tokens: self.prompt_tokens.saturating_add(self.completion_tokens),
        }
    }
}

/// Returns as whom the built-in agent asks.
pub fn builtin() -> Principal {
    Principal {
        key: KeyId(BUILTIN.to_owned()),
        name: BUILTIN.to_owned(),
        role: Role::Agent,
        via: BUILTIN.to_owned(),
        // It runs as the same user as the gate.
        tier: Tier::T0,
    }
}

/// Runs of the built-in agent.
#[derive(Debug)]
pub struct Runs {
    base: Arc<Base>,
}

impl Runs {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self { base }
    }
}

impl Runs {
    /// Begins a run for `who`.
    pub async fn begin_run(&self, who: &Principal, new: NewRun) -> Result<Run, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can start runs"));
        }
        let now = self.base.clock.now();
        let run_id = RunId::fresh(now, random()).0;
        let session = new
            .session
            .unwrap_or_else(|| run_id.replace("run_", "ses_"));
        identifiers::check("session_id", &session)?;
        let lock = self.lock_conversation(who, &session, &run_id, now).await?;
        let started = Event::RunStarted(RunStarted {
            run_id: run_id.clone(),
            session_id: session.clone(),
            model: new.model.clone(),
            by: who.name.clone(),
            timestamp: now.as_seconds(),
        });
        let run = Run {
            run_id,
            session,
            starter: who.name.clone(),
            model: new.model,
            instructions: new.instructions,
            cwd: new.cwd,
            status: RunStatus::Running,
            output: None,
            error: None,
            prompt_tokens: 0,
            completion_tokens: 0,
            steps: 0,
            messages: 0,
            last_event: started.name().to_owned(),
            created_at: now,
            updated_at: now,
            driver: new.driver,
            unread: Vec::new(),
        };
        let step = RunStep {
            messages: new.messages,
            ..RunStep::default()
        };
        let (run, mut change) = stepped(run, &step, Expect::Absent, now);
        change.entries.push(entry(&run, &started));
        change.puts.push(lock);
        match self.base.store.commit(change).await {
            Ok(_) => Ok(run),
            Err(StoreError::Conflict { .. }) => Err(GateError::AlreadySettled {
                kind: "conversation",
                how: "another run just started in it".to_owned(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds to a run as its driver knows it. One that has ended, or that another gateway drives
    /// meanwhile, stays as it is, and says so. One that has unread messages is not completed: the
    /// agent answers them first.
    pub async fn advance_run(&self, driven: &Run, step: &RunStep) -> Result<Run, GateError> {
        self.change_run(&driven.run_id, |run| {
            if run.status.is_final() {
                return Err(ended(run));
            }
            if run.driver != driven.driver {
                return Err(GateError::AlreadySettled {
                    kind: "run",
                    how: "another gateway drives it".to_owned(),
                });
            }
            let mut step = step.clone();
            if steering::goes_on(run, &step) {
                step.end = None;
            }
            Ok(step)
        })
        .await
    }

    /// Somebody wants a run to end.
    pub async fn stop_run(&self, who: &Principal, id: &str) -> Result<Run, GateError> {
        if !who.role.answers() {
            return Err(GateError::Forbidden("only approvers can stop runs"));
        }
        let record = self.run_record(id).await?;
        let mut run: Run = read(&record)?;
        if run.status != RunStatus::Running {
            return Ok(run);
        }
        run.status = RunStatus::Stopping;
        run.updated_at = self.base.clock.now();
        let stopping = Event::RunStopping(RunStopping {
            run_id: run.run_id.clone(),
            by: who.name.clone(),
            timestamp: run.updated_at.as_seconds(),
        });
        let change = Change {
            puts: vec![put(&run, Expect::Version(record.version), run.updated_at)],
            entries: vec![entry(&run, &stopping)],
        };
        match self.base.store.commit(change).await {
            Ok(_) => Ok(run),
            // It went on meanwhile; look again.
            Err(StoreError::Conflict { .. }) => Box::pin(self.stop_run(who, id)).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Returns one run.
    pub async fn run_of(&self, who: &Principal, id: &str) -> Result<Run, GateError> {
        if !who.role.sees_all() && who.key.as_str() != BUILTIN {
            return Err(no_run(id));
        }
        Ok(read(&self.run_record(id).await?)?)
    }

    /// Returns runs, the newest first.
    pub async fn list(
        &self,
        who: &Principal,
        session: Option<String>,
        limit: Option<u32>,
        behind: Option<&str>,
    ) -> Result<Page<Run>, GateError> {
        if !who.role.sees_all() {
            return Ok(Page {
                items: Vec::new(),
                next: None,
            });
        }
        let limit = limit.unwrap_or(100).clamp(1, PAGE_MAX);
        let query = Query {
            session,
            behind: behind.and_then(cursor),
            order: Order::NewestFirst,
            limit: limit + 1,
            ..Query::of(Kind::Run)
        };
        let records = self.base.store.find(query).await?;
        let items = records
            .iter()
            .take(limit as usize)
            .map(read)
            .collect::<Result<_, _>>()?;
        let next = next(&records, limit);
        Ok(Page { items, next })
    }

    /// Returns everything that was said in a conversation, the oldest first.
    pub async fn conversation(&self, session: &str) -> Result<Vec<Value>, GateError> {
        let said = self.said_behind(session, None).await?;
        Ok(said.into_iter().map(|said| said.message).collect())
    }

    /// Returns what was said in a conversation behind `place`, the oldest first.
    pub async fn said_behind(
        &self,
        session: &str,
        place: Option<(i64, String)>,
    ) -> Result<Vec<Said>, GateError> {
        let query = Query {
            owner: Some(BUILTIN.to_owned()),
            session: Some(session.to_owned()),
            behind: place,
            ..Query::of(Kind::Message)
        };
        let mut said = Vec::new();
        for record in self.base.find_all(query).await? {
            said.push(Said {
                message: read(&record)?,
                run: record.run,
                place: (record.at, record.id),
            });
        }
        Ok(said)
    }

    /// Takes over the runs nobody drives: those whose gateway has been silent, or with `all`, at
    /// the start of the only gateway there is, every one that has not ended.
    pub async fn take_over_runs(&self, driver: &str, all: bool) -> Result<Vec<Run>, GateError> {
        let now = self.base.clock.now();
        let mut taken = Vec::new();
        for status in [RunStatus::Running, RunStatus::Stopping] {
            let query = Query {
                status: Some(status.word().to_owned()),
                due_by: (!all).then_some(now.0),
                ..Query::of(Kind::Run)
            };
            for record in self.base.find_all(query).await? {
                let mut run: Run = read(&record)?;
                driver.clone_into(&mut run.driver);
                let change = Change {
                    puts: vec![put(&run, Expect::Version(record.version), now)],
                    entries: Vec::new(),
                };
                match self.base.store.commit(change).await {
                    Ok(_) => taken.push(run),
                    // Another gateway was faster, or the run's own is alive after all.
                    Err(StoreError::Conflict { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(taken)
    }

    /// Says that `driver` still drives a run, and returns how far it is; `None` if it has ended or
    /// another gateway has it.
    pub async fn keep_run(&self, id: &str, driver: &str) -> Result<Option<RunStatus>, GateError> {
        let kept: Result<_, GateError> = retry_on_conflict(|| async {
            let record = self.run_record(id).await?;
            let run: Run = read(&record)?;
            if run.status.is_final() || run.driver != driver {
                return Ok(None);
            }
            let now = self.base.clock.now();
            let change = Change {
                puts: vec![put(&run, Expect::Version(record.version), now)],
                entries: Vec::new(),
            };
            self.base.store.commit(change).await?;
            Ok(Some(run.status))
        })
        .await;
        match kept {
            // Whoever changes it all the time keeps it, too.
            Err(error) if error.is_conflict() => Ok(Some(RunStatus::Running)),
            kept => kept,
        }
    }

    async fn change_run(
        &self,
        id: &str,
        step: impl Fn(&Run) -> Result<RunStep, GateError>,
    ) -> Result<Run, GateError> {
        retry_on_conflict(|| async {
            let record = self.run_record(id).await?;
            let run: Run = read(&record)?;
            let step = step(&run)?;
            let now = self.base.clock.now();
            let (run, mut change) = stepped(run, &step, Expect::Version(record.version), now);
            // What came of a call is told before what the run makes of it.
            for (at, (id, report)) in step.reports.iter().enumerate() {
                let (_, put, entry) = self.base.reported(id, report).await?;
                change.puts.push(put);
                change.entries.insert(at, entry);
            }
            if let Some((task, model)) = &step.usage {
                change
                    .puts
                    .push(self.usage_put(task, model, step.tokens).await?);
            }
            self.base.store.commit(change).await?;
            Ok(run)
        })
        .await
        .map_err(busy("too many concurrent changes of this run"))
    }

    /// A conversation belongs to one person and has one run at a time. Returns what has to be
    /// written together with a new run, so that of two who begin at once one fails.
    async fn lock_conversation(
        &self,
        who: &Principal,
        session: &str,
        run: &str,
        now: UnixMillis,
    ) -> Result<Put, GateError> {
        let found = self.base.store.get(Kind::Conversation, session).await?;
        if let Some(record) = &found {
            let last: Run = read(&self.run_record(&record.link).await?)?;
            if last.starter != who.name {
                return Err(GateError::Forbidden(
                    "this conversation belongs to another person",
                ));
            }
            if !last.status.is_final() {
                return Err(GateError::AlreadySettled {
                    kind: "conversation",
                    how: format!("{} is running in it", last.run_id),
                });
            }
        }
        Ok(Put {
            expect: found.map_or(Expect::Absent, |it| Expect::Version(it.version)),
            record: Record {
                owner: BUILTIN.to_owned(),
                session: session.to_owned(),
                run: run.to_owned(),
                link: run.to_owned(),
                ..Record::new(
                    Kind::Conversation,
                    session.to_owned(),
                    now.0,
                    "{}".to_owned(),
                )
            },
        })
    }

    async fn run_record(&self, id: &str) -> Result<Record, GateError> {
        let found = self.base.store.get(Kind::Run, id).await?;
        found.ok_or_else(|| no_run(id))
    }
}

/// Returns a run after `step`, and what has to be written for that.
fn stepped(mut run: Run, step: &RunStep, expect: Expect, now: UnixMillis) -> (Run, Change) {
    let mut puts = Vec::new();
    for message in &step.messages {
        puts.push(message_put(&run, message, now));
        run.messages += 1;
    }
    run.unread.drain(..step.read.min(run.unread.len()));
    run.prompt_tokens = run.prompt_tokens.saturating_add(step.tokens.0);
    run.completion_tokens = run.completion_tokens.saturating_add(step.tokens.1);
    run.steps = run.steps.saturating_add(step.asked);
    run.updated_at = now;
    let mut entries = Vec::new();
    for event in &step.events {
        let entry = event.entry(&run);
        entry.event.clone_into(&mut run.last_event);
        entries.push(entry);
    }
    if let Some(end) = &step.end {
        let event = ended_with(&mut run, end);
        entries.push(entry(&run, &event));
        event.name().clone_into(&mut run.last_event);
    }
    puts.push(put(&run, expect, now));
    (run, Change { puts, entries })
}

/// Ends a run, and returns the event that tells of it.
fn ended_with(run: &mut Run, end: &RunEnd) -> Event {
    let run_id = run.run_id.clone();
    let timestamp = run.updated_at.as_seconds();
    match end {
        RunEnd::Completed(output) => {
            run.status = RunStatus::Completed;
            run.output = Some(output.clone());
            Event::RunCompleted(RunCompleted {
                run_id,
                output: output.clone(),
                usage: run.usage(),
                timestamp,
            })
        }
        RunEnd::Failed(error) => {
            run.status = RunStatus::Failed;
            run.error = Some(error.clone());
            Event::RunFailed(RunFailed {
                run_id,
                error: error.clone(),
                timestamp,
            })
        }
        RunEnd::Cancelled => {
            run.status = RunStatus::Cancelled;
            Event::RunCancelled(RunHappening { run_id, timestamp })
        }
    }
}

fn put(run: &Run, expect: Expect, now: UnixMillis) -> Put {
    Put {
        record: Record {
            status: run.status.word().to_owned(),
            owner: BUILTIN.to_owned(),
            session: run.session.clone(),
            run: run.run_id.clone(),
            due_at: (!run.status.is_final()).then(|| now.plus(LEASE_MILLIS).0),
            ..Record::new(
                Kind::Run,
                run.run_id.clone(),
                run.created_at.0,
                written(run),
            )
        },
        expect,
    }
}

fn message_put(run: &Run, message: &Value, now: UnixMillis) -> Put {
    Put {
        record: Record {
            owner: BUILTIN.to_owned(),
            session: run.session.clone(),
            run: run.run_id.clone(),
            ..Record::new(
                Kind::Message,
                format!("{}.{:08}", run.run_id, run.messages),
                now.0,
                message.to_string(),
            )
        },
        expect: Expect::Absent,
    }
}

fn ended(run: &Run) -> GateError {
    GateError::AlreadySettled {
        kind: "run",
        how: run.status.word().to_owned(),
    }
}

fn no_run(id: &str) -> GateError {
    GateError::NotFound {
        kind: "run",
        id: id.to_owned(),
    }
}
