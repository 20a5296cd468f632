//! Models for auxiliary tasks (titles, smart approvals): one chain with fallback.
//!
//! A task is asked of its own model first, then of the chain in order, then of the agent's model.
//! Who is out of credit is left alone for ten minutes, who is busy for as long as it says; both cost
//! no time when they are met again. The whole way down has one time limit, of which each model gets
//! an equal share of what is left, so that one that hangs leaves time for the next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_gate::base::clock::Clock;
use tokio::time::{Instant, timeout};

use crate::model::{ChatRequest, Client, Completion, Endpoint, Limits, ModelError, Usage};

/// How long a task may take in all, unless it is said otherwise.
pub const TASK_TIME: Duration = Duration::from_secs(20);
/// How long an account without credit is left alone.
const CREDIT_SKIP: Duration = Duration::from_mins(10);
/// How long a busy model is left alone that does not say how long.
const BUSY_SKIP: Duration = Duration::from_mins(1);
/// How long it may ask to be left alone.
const BUSY_SKIP_MAX: Duration = Duration::from_mins(10);
/// How long a model is left alone that was too slow [`SLOW_MAX`] times in a row.
const SLOW_SKIP: Duration = Duration::from_mins(1);
/// How often in a row a model may be too slow.
const SLOW_MAX: u32 = 3;
/// Most bytes of an answer to a side task.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Records token usage.
pub trait Accounts: Send + Sync + std::fmt::Debug {
    /// Notes what one answer cost.
    fn record(&self, task: &str, model: &str, usage: Usage);
}

/// What a router is made of.
#[derive(Debug)]
pub struct RouterParts {
    /// Tasks that have a model of their own.
    pub tasks: BTreeMap<String, Endpoint>,
    /// Models for every task, in order.
    pub chain: Vec<Endpoint>,
    /// The agent's model.
    pub main: Option<Endpoint>,
    /// Records its token usage.
    pub accounts: Arc<dyn Accounts>,
    /// By which models are left alone.
    pub clock: Clock,
    /// How long a task may take in all; [`TASK_TIME`] by default.
    pub time: Duration,
}

/// Asks models for side tasks. Cheap to clone; all clones know the same.
#[derive(Clone, Debug)]
pub struct Router {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    providers: Vec<Provider>,
    /// Places in `providers`, as are the next two.
    tasks: BTreeMap<String, usize>,
    chain: Vec<usize>,
    main: Option<usize>,
    accounts: Arc<dyn Accounts>,
    clock: Clock,
    time: Duration,
}

#[derive(Debug)]
struct Provider {
    endpoint: Endpoint,
    client: Client,
    health: Mutex<Health>,
}

/// How a model did lately.
#[derive(Debug, Default)]
struct Health {
    /// Until when it is left alone, in Unix milliseconds, and why.
    skipped: Option<(i64, ModelError)>,
    /// How often in a row it was too slow.
    slow: u32,
}

impl Router {
    /// Returns a router, or what is wrong with one of the endpoints.
    pub fn new(parts: RouterParts) -> Result<Self, ModelError> {
        let mut providers = Vec::new();
        let tasks = parts
            .tasks
            .into_iter()
            .map(|(task, endpoint)| Ok((task, place(&mut providers, endpoint, parts.time)?)))
            .collect::<Result<_, ModelError>>()?;
        let chain = parts
            .chain
            .into_iter()
            .map(|endpoint| place(&mut providers, endpoint, parts.time))
            .collect::<Result<_, ModelError>>()?;
        let main = parts
            .main
            .map(|endpoint| place(&mut providers, endpoint, parts.time))
            .transpose()?;
        Ok(Self {
            inner: Arc::new(Inner {
                providers,
                tasks,
                chain,
                main,
                accounts: parts.accounts,
                clock: parts.clock,
                time: parts.time,
            }),
        })
    }

    /// Asks `request` for `task` of the first model that answers. Fails with what the last one
    /// said, or with why it was left alone.
    pub async fn ask(&self, task: &str, request: &ChatRequest) -> Result<Completion, ModelError> {
        let deadline = Instant::now() + self.inner.time;
        let mut error = ModelError::NotConfigured;
        let mut candidates = Vec::new();
        for provider in self.inner.way(task) {
            match provider.skipped(&self.inner.clock) {
                Some(why) => error = why,
                None => candidates.push(provider),
            }
        }
        let mut left = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        for provider in candidates {
            // Another of the same account may have run out of credit a moment ago.
            if provider.skipped(&self.inner.clock).is_none() {
                let share = deadline.saturating_duration_since(Instant::now()) / left;
                let answer = timeout(share, provider.client.complete(request, &mut |_| {}))
                    .await
                    .unwrap_or(Err(ModelError::TimedOut));
                match answer {
                    Ok(completion) => {
                        provider.health().slow = 0;
                        let model = provider.client.model();
                        self.inner.accounts.record(task, model, completion.usage);
                        return Ok(completion);
                    }
                    Err(failure) => {
                        self.inner.note(task, provider, &failure);
                        error = failure;
                    }
                }
            }
            left = left.saturating_sub(1).max(1);
        }
        Err(error)
    }
}

impl Inner {
    /// Returns whom to ask for `task`, in order, each once.
    fn way(&self, task: &str) -> Vec<&Provider> {
        let mut way: Vec<usize> = Vec::new();
        let own = self.tasks.get(task).into_iter();
        for place in own.chain(&self.chain).chain(&self.main) {
            if !way.contains(place) {
                way.push(*place);
            }
        }
        way.into_iter()
            .filter_map(|place| self.providers.get(place))
            .collect()
    }

    /// Remembers why `provider` did not answer, as far as it matters for the next time.
    fn note(&self, task: &str, provider: &Provider, failure: &ModelError) {
        let model = provider.client.model();
        tracing::warn!(task, model, error = %failure, "a model for side tasks did not answer");
        let skip = |provider: &Provider, time: Duration| {
            let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
            let until = self.clock.now().0.saturating_add(millis);
            let mut health = provider.health();
            health.skipped = Some((until, failure.clone()));
            health.slow = 0;
        };
        match failure {
            ModelError::OutOfCredit => {
                for it in &self.providers {
                    if it.endpoint.base_url == provider.endpoint.base_url
                        && it.endpoint.api_key == provider.endpoint.api_key
                    {
                        skip(it, CREDIT_SKIP);
                    }
                }
            }
            ModelError::RateLimited { retry_after } => {
                let told = retry_after.map_or(BUSY_SKIP, Duration::from_secs);
                skip(provider, told.min(BUSY_SKIP_MAX));
            }
            ModelError::TimedOut => {
                let slow = {
                    let mut health = provider.health();
                    health.slow += 1;
                    health.slow
                };
                if slow >= SLOW_MAX {
                    skip(provider, SLOW_SKIP);
                }
            }
            ModelError::NotConfigured
            | ModelError::Misconfigured(_)
            | ModelError::Unreachable(_)
            | ModelError::Refused { .. }
            | ModelError::Malformed(_)
            | ModelError::BrokeOff(_) => provider.health().slow = 0,
        }
    }
}

impl Provider {
    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns why it is left alone, if it is.
    fn skipped(&self, clock: &Clock) -> Option<ModelError> {
        let now = clock.now().0;
        let mut health = self.health();
        health.skipped.take_if(|(until, _)| *until <= now);
        health.skipped.as_ref().map(|(_, why)| why.clone())
    }
}

/// Returns the place of `endpoint` among `providers`, where it is put if it is not there yet.
fn place(
    providers: &mut Vec<Provider>,
    endpoint: Endpoint,
    time: Duration,
) -> Result<usize, ModelError> {
    let same = |it: &Provider| it.endpoint == endpoint;
    if let Some(place) = providers.iter().position(same) {
        return Ok(place);
    }
    let limits = Limits {
        idle: time,
        total: time,
        answer_bytes: ANSWER_BYTES_MAX,
        line_bytes: ANSWER_BYTES_MAX,
        // The next in the chain is asked instead.
        retries: 0,
        ..Limits::default()
    };
    let client = Client::new(endpoint.clone(), limits)?;
    providers.push(Provider {
        endpoint,
        client,
        health: Mutex::default(),
    });
    Ok(providers.len() - 1)
}
