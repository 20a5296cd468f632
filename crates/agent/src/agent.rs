//! `Agent`: starts, drives, stops and resumes runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_core::status::RunStatus;
use countersign_gate::base::principal::Principal;
use countersign_gate::records::view::FileChanges;
use countersign_gate::runs::{LEASE_MILLIS, NewRun, Run, builtin};
use countersign_gate::{Gate, GateError};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::feed::Feed;
use crate::message::Message;
use crate::model::Client;
use crate::toolbox::Toolbox;
use crate::tools::Around;
use crate::tools::compare::file_changes;

/// Runs that may be under way at the same time.
pub const RUNS_MAX: usize = 32;
/// Longest input, in bytes.
pub const INPUT_BYTES_MAX: usize = 1024 * 1024;

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// How often the model is asked.
    pub steps: u32,
    /// Tokens in all.
    pub tokens: u64,
    /// How long it may take, waiting for people included.
    pub time: Duration,
    /// How much of the conversation the model is told, in bytes.
    pub context_bytes: usize,
    /// Tokens of one answer.
    pub answer_tokens: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            steps: 60,
            tokens: 2_000_000,
            time: Duration::from_hours(4),
            context_bytes: 200_000,
            answer_tokens: 16_384,
        }
    }
}

/// Says which model thinks, as it is configured at the moment.
pub trait Models: std::fmt::Debug + Send + Sync {
    /// Returns the model; `None` if none is configured, and words if what is configured is wrong.
    fn current(&self) -> Result<Option<Client>, String>;

    /// Returns the names of other models at the same address that a run may ask for.
    fn others(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Always the same one, or none.
impl Models for Option<Client> {
    fn current(&self) -> Result<Option<Client>, String> {
        Ok(self.clone())
    }
}

/// What an agent is made of.
#[derive(Debug)]
pub struct AgentParts {
    /// The gate.
    pub gate: Gate,
    /// The address of the model.
    pub models: Arc<dyn Models>,
    /// What it can do.
    pub tools: Toolbox,
    /// Limits of one run.
    pub limits: RunLimits,
    /// The directory runs work in that name none.
    pub cwd: PathBuf,
    /// What a person in crisis is shown instead of the draft.
    pub crisis_notices: CrisisNotices,
}

/// What a person in crisis is shown instead of a draft: the operator's words, which never change.
#[derive(Clone, Debug, Default)]
pub struct CrisisNotices {
    /// While somebody else looks at it.
    pub asked: String,
    /// Where nobody else could be asked.
    pub unreachable: String,
}

impl CrisisNotices {
    /// Returns the one that is true.
    pub(crate) fn of(&self, reached: bool) -> &str {
        if reached {
            &self.asked
        } else {
            &self.unreachable
        }
    }
}

/// The task.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The messages; the last is from the person who starts the run.
    pub input: Vec<Message>,
    /// Additional instructions for the model.
    pub instructions: Option<String>,
    /// The conversation it belongs to; a new one if it is not named.
    pub session: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
    /// One of the configured models; the first if it is not named.
    pub model: Option<String>,
}

/// The built-in agent. Cheap to clone; all clones are the same agent.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) parts: AgentParts,
    /// Who drives, in the records of runs.
    driver: String,
    live: Mutex<HashMap<String, Live>>,
    /// Counts the runs that were begun to be driven here.
    driven: watch::Sender<u64>,
}

/// A run that this process drives.
#[derive(Clone, Debug)]
struct Live {
    feed: Arc<Feed>,
    stop: watch::Sender<bool>,
    /// Ends the driver without a word, once another gateway has the run.
    driver: Option<AbortHandle>,
}

impl Agent {
    /// Returns an agent; [`Agent::watch`] must be running beside it.
    pub fn new(parts: AgentParts) -> Self {
        let mut bytes = [0; 8];
        // A name that collides is noticed by the compare-and-set of the lease, not trusted.
        if getrandom::fill(&mut bytes).is_err() {
            tracing::warn!("no randomness for the driver's name");
        }
        let driver = format!("{}-{:016x}", std::process::id(), u64::from_be_bytes(bytes));
        Self {
            inner: Arc::new(Inner {
                parts,
                driver,
                live: Mutex::default(),
                driven: watch::Sender::new(0),
            }),
        }
    }

    /// Returns the gate.
    pub fn gate(&self) -> &Gate {
        &self.inner.parts.gate
    }

    /// Returns the model's name, if one is configured.
    pub fn model(&self) -> Option<String> {
        let model = self.inner.parts.models.current().ok().flatten();
        model.map(|model| model.model().to_owned())
    }

    /// Returns the names of all models a run may ask for, the usual one first.
    pub fn models(&self) -> Vec<String> {
        let Some(usual) = self.model() else {
            return Vec::new();
        };
        let others = self.inner.parts.models.others().into_iter();
        let others = others.filter(|name| *name != usual);
        [usual.clone()].into_iter().chain(others).collect()
    }

    /// Returns the tools.
    pub fn tools(&self) -> &Toolbox {
        &self.inner.parts.tools
    }

    /// Starts a run for `who`.
    pub async fn start(&self, who: &Principal, request: RunRequest) -> Result<Run, GateError> {
        let wrong = |why: String| invalid("model", "no_model", &why);
        let model = self.inner.parts.models.current().map_err(wrong)?;
        let Some(model) = model else {
            return Err(invalid(
                "model",
                "no_model",
                "no model is configured; set `agent.base_url` and `agent.model`",
            ));
        };
        let model = match request.model {
            None => model.model().to_owned(),
            Some(name) if self.models().contains(&name) => name,
            Some(_) => {
                let names = self.models().join(", ");
                let message = format!("`model` must be one of those configured: {names}");
                return Err(invalid("model", "unknown_model", &message));
            }
        };
        let is_said = |message: &Message| match message {
            Message::User { content } => !content.trim().is_empty(),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => false,
        };
        if !request.input.last().is_some_and(is_said) {
            return Err(invalid(
                "input",
                "empty_input",
                "`input` ends with what a person says",
            ));
        }
        let messages: Vec<_> = request
            .input
            .iter()
            .filter_map(|message| serde_json::to_value(message).ok())
            .collect();
        let bytes: usize = messages
            .iter()
            .map(|message| message.to_string().len())
            .sum();
        if bytes > INPUT_BYTES_MAX {
            return Err(invalid("input", "too_long", "`input` is longer than 1 MiB"));
        }
        if self.live().len() >= RUNS_MAX {
            return Err(GateError::TooMany {
                message: "too many runs are under way",
                retry_after: 1,
            });
        }
        let cwd = request
            .cwd
            .unwrap_or_else(|| self.inner.parts.cwd.display().to_string());
        let run = self
            .gate()
            .begin_run(
                who,
                NewRun {
                    session: request.session,
                    model,
                    instructions: request.instructions,
                    cwd: Some(cwd),
                    messages,
                    driver: self.inner.driver.clone(),
                },
            )
            .await?;
        self.drive_soon(&run);
        Ok(run)
    }

    /// Stops a run: what waits is taken back, what runs is ended.
    pub async fn stop(&self, who: &Principal, id: &str) -> Result<Run, GateError> {
        let run = self.gate().stop_run(who, id).await?;
        self.tell_stop(id);
        Ok(run)
    }

    /// Sends `text` into a run that is under way: the agent reads it before it asks the model again.
    /// Whether it is about a crisis is looked at now: then nothing more of an answer that is being
    /// written is shown, and its text is held like every later one.
    pub async fn steer(&self, who: &Principal, id: &str, text: &str) -> Result<Run, GateError> {
        let run = self.gate().steer_run(who, id, text).await?;
        let heeded = self.gate().heed(&builtin(), &run.session, &[text]).await;
        if !matches!(heeded, Ok(false))
            && let Some(feed) = self.feed(id)
        {
            feed.hush();
        }
        heeded?;
        Ok(run)
    }

    /// Returns how the call of the question `id` would change files, compared with what they hold now.
    pub async fn file_changes(&self, who: &Principal, id: &str) -> Result<FileChanges, GateError> {
        file_changes(self.gate(), who, id).await
    }

    /// Returns what a run says while it says it, if this process drives it.
    pub fn feed(&self, id: &str) -> Option<Arc<Feed>> {
        self.live().get(id).map(|live| Arc::clone(&live.feed))
    }

    /// Wakes when this process begins to drive a run, so that there may be a feed that was not there.
    pub fn driven(&self) -> watch::Receiver<u64> {
        self.inner.driven.subscribe()
    }

    /// Takes up what a restart interrupted, keeps what runs, and takes over what other gateways
    /// left, until `shutdown` ends. `alone`: no other gateway works on the same store.
    pub async fn watch(&self, alone: bool, shutdown: impl Future<Output = ()> + Send) {
        let watched = async {
            let mut all = alone;
            loop {
                self.take_over(all).await;
                all = false;
                let pause = u64::try_from(LEASE_MILLIS / 3).unwrap_or(5000);
                tokio::time::sleep(Duration::from_millis(pause)).await;
                self.keep_live().await;
            }
        };
        tokio::select! {
            () = shutdown => {}
            () = watched => {}
        }
    }

    async fn take_over(&self, all: bool) {
        match self.gate().take_over_runs(&self.inner.driver, all).await {
            Ok(runs) => {
                for run in runs {
                    self.drive_soon(&run);
                }
            }
            Err(error) => tracing::error!(%error, "interrupted runs could not be taken up"),
        }
    }

    async fn keep_live(&self) {
        let ids: Vec<String> = self.live().keys().cloned().collect();
        for id in ids {
            match self.gate().keep_run(&id, &self.inner.driver).await {
                // Somebody may have stopped it at another gateway.
                Ok(Some(RunStatus::Stopping)) => self.tell_stop(&id),
                Ok(Some(_)) => {}
                // Another gateway thought us dead and has it now; two must not drive, and what
                // waits is that one's to take back.
                Ok(None) => self.lose(&id),
                Err(error) => tracing::warn!(%error, run = id, "the run could not be kept"),
            }
        }
    }

    fn drive_soon(&self, run: &Run) {
        let stop = watch::Sender::new(run.status == RunStatus::Stopping);
        let feed = Arc::new(Feed::new(self.gate().store().tail().last()));
        let live = Live {
            feed: Arc::clone(&feed),
            stop: stop.clone(),
            driver: None,
        };
        {
            let mut all = self.live();
            if all.contains_key(&run.run_id) {
                // Its lease ran out while storage was away; it is driven all the same.
                return;
            }
            all.insert(run.run_id.clone(), live);
        }
        self.inner.driven.send_modify(|count| *count += 1);
        let around = Around {
            gate: self.gate().clone(),
            who: builtin(),
            cwd: PathBuf::from(run.cwd.clone().unwrap_or_else(|| "/".to_owned())),
            session: run.session.clone(),
            run: run.run_id.clone(),
            stop: stop.subscribe(),
        };
        let (agent, id) = (self.clone(), run.run_id.clone());
        let driving = tokio::spawn(async move { Box::pin(agent.drive(&id, &around, &feed)).await });
        if let Some(live) = self.live().get_mut(&run.run_id) {
            live.driver = Some(driving.abort_handle());
        }
        let (agent, id) = (self.clone(), run.run_id.clone());
        tokio::spawn(async move {
            // However it ends, also by a fault of ours, the run is no longer driven here.
            if let Err(error) = driving.await {
                tracing::error!(%error, run = id, "the run's driver ended early");
            }
            agent.live().remove(&id);
        });
    }

    pub(crate) fn tell_stop(&self, id: &str) {
        if let Some(live) = self.live().get(id) {
            live.stop.send_replace(true);
        }
    }

    fn lose(&self, id: &str) {
        let lost = self.live().remove(id);
        if let Some(driver) = lost.and_then(|live| live.driver) {
            driver.abort();
        }
    }

    /// Whether this process still drives the run.
    pub(crate) fn drives(&self, run: &Run) -> bool {
        run.driver == self.inner.driver && self.live().contains_key(&run.run_id)
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.inner
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn invalid(param: &'static str, code: &'static str, message: &str) -> GateError {
    GateError::Invalid {
        param,
        code,
        message: message.to_owned(),
    }
}
