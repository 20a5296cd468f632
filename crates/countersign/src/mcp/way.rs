//! The way to the gateway: requests of many calls at once, each limited in time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_gate::records::view::CallView;
use futures_util::future::BoxFuture;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::hold::Hold;
use crate::client::{Answer, Line, Reach, segment};
use crate::complaint::Complaint;

/// Longest time the gateway takes for anything but waiting for a person.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one request waits for a person.
const WAIT: Duration = Duration::from_secs(30);
/// How long a gateway that went away while a person was asked may be gone; a restart is shorter.
const ABSENCE: Duration = Duration::from_mins(1);
/// How long to wait before a gateway that is away, or busy, is tried again.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a call waits for room where too many questions are open.
const ROOM_TIME_MAX: Duration = Duration::from_mins(5);

/// Where requests of an agent go in.
pub(crate) trait Door: std::fmt::Debug + Send + Sync {
    /// Sends a request and returns status and body, whatever they are. One with a `name` is done once,
    /// however often it is sent.
    fn ask<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        body: Option<&'a Value>,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Answer, Complaint>>;
}

impl Door for Line {
    fn ask<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        body: Option<&'a Value>,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Answer, Complaint>> {
        Box::pin(async move {
            match name {
                Some(name) => self.send_named(method, path, body, name).await,
                None => self.send(method, path, body).await,
            }
        })
    }
}

/// How the gateway is found, and the line to it once it was.
#[derive(Debug)]
pub(crate) struct Way {
    /// `None` where there is nothing to look for.
    reach: Option<Reach>,
    line: Mutex<Option<Arc<dyn Door>>>,
}

impl Way {
    /// Returns the way to the gateway that `reach` names. It may come later.
    pub(crate) fn new(reach: Reach) -> Self {
        Self {
            reach: Some(reach),
            line: Mutex::default(),
        }
    }

    /// Returns the way through a door that is always there.
    pub(crate) fn through(door: Arc<dyn Door>) -> Self {
        Self {
            reach: None,
            line: Mutex::new(Some(door)),
        }
    }

    /// Returns the line, found anew while there is none.
    fn line(&self) -> Result<Arc<dyn Door>, Complaint> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = &*line {
            return Ok(Arc::clone(line));
        }
        let reach = self.reach.clone().unwrap_or_default();
        let found: Arc<dyn Door> = Arc::new(Line::find(&reach)?);
        *line = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Forgets the line after a request failed: key and address are looked for again.
    fn look_again(&self) {
        if self.reach.is_none() {
            return;
        }
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Submits a call. The gateway takes it once, however often it is sent under `name`.
    pub(super) async fn submit(
        &self,
        body: &Value,
        name: &str,
        hold: &Hold,
    ) -> Result<CallView, Complaint> {
        let since = Instant::now();
        let mut is_second = false;
        loop {
            let line = self.line()?;
            let sent = line.ask(Method::POST, "/v1/calls", Some(body), Some(name));
            match limited(sent, Duration::ZERO).await {
                Ok(answer)
                    if answer.status() == StatusCode::TOO_MANY_REQUESTS
                        && since.elapsed() < ROOM_TIME_MAX
                        && !hold.is_cancelled() =>
                {
                    tokio::time::sleep(PAUSE).await;
                }
                Ok(answer) => return answer.read(),
                Err(complaint) => {
                    self.look_again();
                    if is_second || !complaint.is_unreachable() {
                        return Err(complaint);
                    }
                    is_second = true;
                }
            }
        }
    }

    /// Waits until the call is decided.
    pub(super) async fn settled(&self, call: &str) -> Result<CallView, Complaint> {
        let path = format!(
            "/v1/calls/{}?wait_seconds={}",
            segment(call),
            WAIT.as_secs()
        );
        let mut away_since: Option<Instant> = None;
        loop {
            let asked = async {
                let line = self.line()?;
                let answer = limited(line.ask(Method::GET, &path, None, None), WAIT).await?;
                if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                    return Err(Complaint::unreachable("the gateway is busy"));
                }
                answer.read::<CallView>()
            };
            match asked.await {
                Ok(call) if !call.is_waiting() => return Ok(call),
                Ok(_) => away_since = None,
                Err(complaint) if !complaint.is_unreachable() => return Err(complaint),
                Err(complaint) => {
                    let since = *away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > ABSENCE {
                        return Err(complaint);
                    }
                    self.look_again();
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Returns how a call stands.
    pub(super) async fn now(&self, call: &str) -> Result<CallView, Complaint> {
        let path = format!("/v1/calls/{}", segment(call));
        let line = self.line()?;
        let sent = line.ask(Method::GET, &path, None, None);
        limited(sent, Duration::ZERO).await?.read()
    }

    /// Uses a token up. The error says why it cannot be used.
    pub(super) async fn consume(&self, token: &str) -> Result<(), String> {
        let body = json!({ "token": token });
        let sent = async {
            let line = self.line()?;
            let sent = line.ask(Method::POST, "/v1/tokens/consume", Some(&body), None);
            limited(sent, Duration::ZERO).await
        };
        match sent.await {
            Ok(answer) if answer.is_success() => Ok(()),
            Ok(answer) => Err(answer.refusal().error.message),
            Err(complaint) => Err(complaint.in_one_line()),
        }
    }

    /// Takes a call back.
    pub(super) async fn withdraw(&self, call: &str, note: &str) -> Result<(), Complaint> {
        let path = format!("/v1/calls/{}/withdraw", segment(call));
        self.tell(&path, &json!({ "note": note })).await
    }

    /// Reports what came of a call.
    pub(super) async fn report(
        &self,
        call: &str,
        failed: bool,
        took: Duration,
        summary: Option<&str>,
    ) -> Result<(), Complaint> {
        let path = format!("/v1/calls/{}/outcome", segment(call));
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let body = json!({ "failed": failed, "duration_millis": millis, "summary": summary });
        self.tell(&path, &body).await
    }

    async fn tell(&self, path: &str, body: &Value) -> Result<(), Complaint> {
        let line = self.line()?;
        let sent = line.ask(Method::POST, path, Some(body), None);
        let told = limited(sent, Duration::ZERO).await;
        if told.is_err() {
            self.look_again();
        }
        told?.done().map(drop)
    }
}

/// Waits for `work`, which may take `wait` longer than the gateway needs by itself.
async fn limited<T>(
    work: impl Future<Output = Result<T, Complaint>>,
    wait: Duration,
) -> Result<T, Complaint> {
    tokio::time::timeout(wait + PATIENCE, work)
        .await
        .unwrap_or_else(|_| {
            Err(Complaint::unreachable(
                "the gateway does not respond in time",
            ))
        })
}
