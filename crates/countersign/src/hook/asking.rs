//! Submits a call to the gateway, waits until it is decided, and uses the permission up.
//!
//! Separate from [`super::ask`], which is a hook's way of asking: whoever stands between an agent and
//! its tools asks the same way.

use std::time::{Duration, Instant};

use countersign_core::status::Status;
use countersign_gate::records::view::CallView;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Client, segment};
use crate::complaint::Complaint;

/// Longest time the gateway takes for anything but waiting for a person.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one request waits for a person.
const WAIT: Duration = Duration::from_secs(30);
/// How long a gateway that went away while a person was asked may be gone; a restart is shorter.
const ABSENCE: Duration = Duration::from_mins(1);
/// How long to wait before a gateway that is away is tried again.
const PAUSE: Duration = Duration::from_millis(250);

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The rules, or a person, have decided.
    Decided(Decided),
    /// The deadline has passed, and the question stays open.
    Undecided(Box<CallView>),
    /// The asker stopped waiting; the question is withdrawn.
    Stopped,
}

/// A decided call.
#[derive(Debug)]
pub(crate) struct Decided {
    /// The gateway's id of it.
    pub(crate) id: String,
    /// Arguments that a person changed, if any, of a call that may run now; otherwise why it may not.
    pub(crate) answer: Result<Option<Value>, String>,
}

/// Submits the call of `body` and waits for the answer until `deadline`, or until `stopped` ends.
pub(crate) async fn ask(
    client: &Client,
    body: &Value,
    deadline: Option<Instant>,
    stopped: impl Future<Output = ()>,
) -> Result<Asked, Complaint> {
    let submitted = send(
        client,
        Method::POST,
        "/v1/calls",
        Some(body),
        Duration::ZERO,
    );
    let call = submitted.await?;
    if !call.is_waiting() {
        return conclude(client, call).await.map(Asked::Decided);
    }
    let path = format!("/v1/calls/{}", segment(&call.call_id));
    tokio::select! {
        settled = settle(client, &path, deadline) => match settled? {
            Some(settled) => conclude(client, settled).await.map(Asked::Decided),
            None => Ok(Asked::Undecided(Box::new(call))),
        },
        () = stopped => {
            withdraw(client, &path).await?;
            Ok(Asked::Stopped)
        }
    }
}

/// Waits until the call at `path` is decided; `None` at the deadline.
async fn settle(
    client: &Client,
    path: &str,
    deadline: Option<Instant>,
) -> Result<Option<CallView>, Complaint> {
    let mut away_since: Option<Instant> = None;
    loop {
        let left = deadline.map_or(WAIT, |it| it.saturating_duration_since(Instant::now()));
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
async fn conclude(client: &Client, call: CallView) -> Result<Decided, Complaint> {
    let id = call.call_id.clone();
    let answer = answer(client, call).await?;
    Ok(Decided { id, answer })
}

async fn answer(
    client: &Client,
    call: CallView,
) -> Result<Result<Option<Value>, String>, Complaint> {
    let allowed = matches!(call.status, Status::Allowed | Status::Approved);
    if !allowed {
        return Ok(Err(call.message));
    }
    match &call.token {
        Some(token) => {
            let body = json!({ "token": token });
            let consumed = client.send(Method::POST, "/v1/tokens/consume", Some(&body));
            let consumed = limited(consumed, Duration::ZERO).await?;
            if !consumed.is_success() {
                let why = consumed.refusal().error.message;
                return Ok(Err(format!(
                    "The permission for this call cannot be used: {why}. Try the call again to ask anew."
                )));
            }
        }
        None if call.status == Status::Approved => {
            let reason = "The permission for this call is over. Try the call again to ask anew.";
            return Ok(Err(reason.to_owned()));
        }
        None => {}
    }
    Ok(Ok(call.decision.and_then(|decision| decision.args)))
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
