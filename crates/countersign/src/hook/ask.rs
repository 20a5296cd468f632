//! Puts a call to the gateway and waits for the answer.

use std::time::{Duration, Instant};

use countersign_core::status::Status;
use countersign_gate::records::view::CallView;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::adapter::{Answer, Wish};
use super::{Hook, outcome, spool};
use crate::client::{Client, page_of, segment};
use crate::complaint::Complaint;

/// Longest time the gateway takes for anything but waiting for a person.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one request waits for a person.
const WAIT: Duration = Duration::from_secs(30);
/// How long a gateway that went away while a person was asked may be gone; a restart is shorter.
const ABSENCE: Duration = Duration::from_mins(1);
/// How long to wait before a gateway that is away is tried again.
const PAUSE: Duration = Duration::from_millis(250);

/// Submits the call of `body` and returns what the agent is told.
pub(super) fn ask(
    hook: &Hook,
    client: &Client,
    wish: &Wish,
    body: &Value,
) -> Result<Answer, Complaint> {
    let conclude = async |call: CallView| {
        let id = call.call_id.clone();
        let answer = conclude(client, call).await?;
        if matches!(answer, Answer::Allow | Answer::Change(_)) {
            outcome::expect(hook, wish, &id);
        }
        Ok(answer)
    };
    client.block_on(async {
        spool::deliver(hook, client).await?;
        // Before it is sent: the agent may end the hook while the reply is on its way.
        let mut stop = Stop::new()?;
        let call = send(
            client,
            Method::POST,
            "/v1/calls",
            Some(body),
            Duration::ZERO,
        )
        .await?;
        if !call.is_waiting() {
            return conclude(call).await;
        }
        let path = format!("/v1/calls/{}", segment(&call.call_id));
        tokio::select! {
            settled = settle(hook, client, &path) => match settled? {
                Some(settled) => conclude(settled).await,
                None if hook.defers => Ok(Answer::Later(still_waiting(hook, &call))),
                None => Ok(Answer::Deny(still_waiting(hook, &call))),
            },
            () = stop.arrives() => {
                withdraw(client, &path).await?;
                let reason = "The agent stopped waiting, so the question was withdrawn.";
                Ok(Answer::Deny(reason.to_owned()))
            }
        }
    })
}

/// Waits until the call at `path` is decided; `None` at the deadline.
async fn settle(hook: &Hook, client: &Client, path: &str) -> Result<Option<CallView>, Complaint> {
    let mut away_since: Option<Instant> = None;
    loop {
        let left = hook.deadline.saturating_duration_since(Instant::now());
        let wait = left.min(WAIT);
        let asked = format!("{path}?wait_seconds={}", wait.as_secs());
        match send(client, Method::GET, &asked, None, wait).await {
            Ok(call) if !call.is_waiting() => return Ok(Some(call)),
            Ok(_) => away_since = None,
            Err(complaint) if !complaint.is_unreachable() => return Err(complaint),
            Err(complaint) => {
                let since = *away_since.get_or_insert_with(Instant::now);
                if since.elapsed() > ABSENCE {
                    return Err(complaint);
                }
                tokio::time::sleep(PAUSE).await;
                client.look_again();
            }
        }
        if left.is_zero() {
            return Ok(None);
        }
    }
}

/// Turns a decided call into an answer. What a person allowed is used up first: it runs once.
async fn conclude(client: &Client, call: CallView) -> Result<Answer, Complaint> {
    let allowed = matches!(call.status, Status::Allowed | Status::Approved);
    if !allowed {
        return Ok(Answer::Deny(call.message));
    }
    match &call.token {
        Some(token) => {
            let body = json!({ "token": token });
            let consumed = client.send(Method::POST, "/v1/tokens/consume", Some(&body));
            let consumed = limited(consumed, Duration::ZERO).await?;
            if !consumed.is_success() {
                let why = consumed.refusal().error.message;
                return Ok(Answer::Deny(format!(
                    "The permission for this call cannot be used: {why}. Try the call again to ask anew."
                )));
            }
        }
        None if call.status == Status::Approved => {
            let reason = "The permission for this call is over. Try the call again to ask anew.";
            return Ok(Answer::Deny(reason.to_owned()));
        }
        None => {}
    }
    let changed = call.decision.and_then(|decision| decision.args);
    Ok(changed.map_or(Answer::Allow, Answer::Change))
}

async fn withdraw(client: &Client, path: &str) -> Result<(), Complaint> {
    let path = format!("{path}/withdraw");
    let body = json!({ "note": "the agent stopped waiting" });
    send(client, Method::POST, &path, Some(&body), Duration::ZERO).await?;
    Ok(())
}

async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
    wait: Duration,
) -> Result<CallView, Complaint> {
    limited(client.send(method, path, body), wait).await?.read()
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

fn still_waiting(hook: &Hook, call: &CallView) -> String {
    let id = call.approval_id.as_deref().unwrap_or(&call.call_id);
    let page = page_of(&hook.home).map(|url| format!(" or at {url}"));
    format!(
        "Nobody has answered yet, so this was not run. The question {id} stays open: answer it with `countersign` in \
         another terminal{}, then let the agent try the same call again.",
        page.unwrap_or_default()
    )
}

/// Tells when the agent ends its hook.
struct Stop {
    terminated: Signal,
    interrupted: Signal,
}

impl Stop {
    fn new() -> Result<Self, Complaint> {
        let failed = |error: std::io::Error| {
            Complaint::failed(format!("cannot handle signals: {error}"), "")
        };
        Ok(Self {
            terminated: signal(SignalKind::terminate()).map_err(failed)?,
            interrupted: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn arrives(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.interrupted.recv() => {}
        }
    }
}
