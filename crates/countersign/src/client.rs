//! The HTTP client of the command line and the terminal.
//!
//! It reads answers and events as the types the gateway serialises. Unknown fields and events are
//! skipped, so that a newer gateway can be used; a missing field is an error that people are told.

mod line;

use std::path::PathBuf;
use std::time::Duration;

use countersign_core::display::inline;
use countersign_gate::records::event::Event;
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::Home;
use crate::wire::refusal::Refusal;
pub(crate) use line::Line;

/// Longest stream of events; whoever follows longer comes back.
const STREAM_TIMEOUT: Duration = Duration::from_hours(24);
/// Longest silence of a stream: the gateway gives a sign of life every ten seconds.
const SILENCE: Duration = Duration::from_secs(30);
/// Longest event that is read, in bytes.
const EVENT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How the command line finds a gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    pub(crate) home: Option<PathBuf>,
    pub(crate) url: Option<String>,
    pub(crate) key_file: Option<PathBuf>,
    /// Whether it is a hook of an agent that asks: it uses the agents' socket where there is one, and
    /// no variable of the environment counts.
    pub(crate) asks_for_agent: bool,
}

impl Reach {
    /// Returns the environment variable `name`, if it counts.
    fn variable(&self, name: &str) -> Option<String> {
        if self.asks_for_agent {
            return None;
        }
        variable(name)
    }
}

/// A connection to a gateway that waits for its answers.
#[derive(Debug)]
pub(crate) struct Client {
    line: Line,
    runtime: tokio::runtime::Runtime,
}

/// An answer of the gateway: a status, and a body that is read as one of the gateway's own types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Value,
}

impl Answer {
    /// Returns an answer.
    pub(crate) const fn new(status: StatusCode, body: Value) -> Self {
        Self { status, body }
    }

    /// Returns an answer as a test scripts it.
    #[cfg(test)]
    pub(crate) fn scripted(status: u16, body: Value) -> Self {
        let status = StatusCode::from_u16(status).unwrap();
        Self { status, body }
    }

    /// Returns its status.
    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether the gateway did what was asked.
    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// Returns the body as it came, for `--json`.
    pub(crate) const fn json(&self) -> &Value {
        &self.body
    }

    /// Returns the body as it came.
    pub(crate) fn into_json(self) -> Value {
        self.body
    }

    /// Reads the body of a success. A refusal is an error, and so is a body without a field.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Complaint> {
        if !self.is_success() {
            return Err(self.complaint());
        }
        T::deserialize(&self.body).map_err(|error| {
            let hint = "are this program and the gateway of the same version?";
            Complaint::failed(
                format!("the gateway's answer cannot be read: {error}"),
                hint,
            )
        })
    }

    /// Returns what a refusal says, whoever wrote it.
    pub(crate) fn refusal(&self) -> Refusal {
        serde::Deserialize::deserialize(&self.body).unwrap_or_else(|_| {
            let mut refusal = Refusal::default();
            refusal.error.message = format!("the gateway responded with {}", self.status);
            refusal
        })
    }

    /// Returns it if it is a success; otherwise what the refusal says.
    pub(crate) fn done(self) -> Result<Self, Complaint> {
        if self.is_success() {
            return Ok(self);
        }
        Err(self.complaint())
    }

    /// Returns a refusal as an error for a person.
    pub(crate) fn complaint(&self) -> Complaint {
        let Refusal { error, .. } = self.refusal();
        let hint = match self.status {
            StatusCode::UNAUTHORIZED => {
                "this gateway does not know the key; `countersign keys create` creates one"
            }
            StatusCode::FORBIDDEN => "use a key with another role: --key-file FILE",
            StatusCode::NOT_FOUND => lists(error.param.as_deref().unwrap_or_default()),
            StatusCode::TOO_MANY_REQUESTS => "try again in a moment",
            StatusCode::SERVICE_UNAVAILABLE => "see the gateway's log",
            _ => "",
        };
        Complaint::failed(countersign_core::display::inline(&error.message), hint)
    }
}

impl Client {
    /// Returns a client for the gateway the command line means.
    pub(crate) fn new(reach: &Reach) -> Result<Self, Complaint> {
        let line = Line::find(reach)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
        Ok(Self { line, runtime })
    }

    /// Says that a person answers in this terminal, not by a command of its own.
    pub(crate) const fn in_terminal(mut self) -> Self {
        self.line.surface = "terminal";
        self
    }

    /// Looks where the gateway is now: one that was started again may listen elsewhere.
    pub(crate) fn look_again(&self) {
        self.line.look_again();
    }

    /// Returns a client for the same gateway that uses another key.
    pub(crate) fn with_key(&self, key: &str) -> Agent<'_> {
        Agent {
            client: self,
            key: key.to_owned(),
        }
    }

    /// Returns where the gateway is.
    pub(crate) fn url(&self) -> String {
        self.line.url()
    }

    /// Asks for `path`.
    pub(crate) fn get(&self, path: &str) -> Result<Answer, Complaint> {
        self.ask(Method::GET, path, None).and_then(Answer::done)
    }

    /// Sends `body` to `path`.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Answer, Complaint> {
        self.ask(Method::POST, path, Some(body))
            .and_then(Answer::done)
    }

    /// Deletes what is at `path`.
    pub(crate) fn delete(&self, path: &str) -> Result<Answer, Complaint> {
        self.ask(Method::DELETE, path, None).and_then(Answer::done)
    }

    /// Sends a request and returns status and body, whatever they are.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Complaint> {
        self.ask_as(&self.line.key, method, path, body)
    }

    fn ask_as(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Complaint> {
        self.runtime
            .block_on(self.line.send_as(key, method, path, body, None))
    }

    /// Runs `work` to its end. What it asks of the gateway it asks with [`Client::send`].
    pub(crate) fn block_on<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    /// Sends a request and returns status and body, whatever they are.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, Complaint> {
        self.line.send(method, path, body).await
    }

    /// Sends a request that may be sent twice: the gateway does what it says once for each `name`.
    pub(crate) async fn send_named(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        name: &str,
    ) -> Result<Answer, Complaint> {
        self.line.send_named(method, path, body, name).await
    }

    /// Follows the events of `path` behind number `last`.
    pub(crate) async fn events(&self, path: &str, last: Option<u64>) -> Result<Events, Complaint> {
        let place = self.line.place();
        let mut request = place
            .http
            .get(format!("{}{path}", place.url))
            .bearer_auth(&self.line.key)
            .timeout(STREAM_TIMEOUT);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.map_err(|error| place.away(&error))?;
        if !response.status().is_success() {
            return Err(place.read(response).await?.complaint());
        }
        Ok(Events {
            response,
            arrived: Vec::new(),
        })
    }
}

/// The same gateway, asked with another key.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    client: &'a Client,
    key: String,
}

impl Agent<'_> {
    /// Asks for `path`.
    pub(crate) fn get(&self, path: &str) -> Result<Answer, Complaint> {
        self.client
            .ask_as(&self.key, Method::GET, path, None)
            .and_then(Answer::done)
    }

    /// Sends `body` to `path`.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Answer, Complaint> {
        self.client
            .ask_as(&self.key, Method::POST, path, Some(body))
            .and_then(Answer::done)
    }
}

/// Events as they come.
#[derive(Debug)]
pub(crate) struct Events {
    response: reqwest::Response,
    arrived: Vec<u8>,
}

impl Events {
    /// Returns the next event; `None` if the stream is over or broken off. It may be dropped at any
    /// time without losing anything.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            while let Some(block) = self.block() {
                if let Some(event) = event(&block) {
                    return Some(event);
                }
            }
            if self.arrived.len() > EVENT_BYTES_MAX {
                return None;
            }
            let more = tokio::time::timeout(SILENCE, self.response.chunk()).await;
            let more = more.ok().and_then(Result::ok).flatten()?;
            self.arrived.extend_from_slice(&more);
        }
    }

    /// Returns what has arrived up to the next empty line.
    fn block(&mut self) -> Option<String> {
        let end = memchr::memmem::find(&self.arrived, b"\n\n")?;
        let rest = self.arrived.split_off(end + 2);
        let block = std::mem::replace(&mut self.arrived, rest);
        Some(String::from_utf8_lossy(&block).into_owned())
    }
}

/// One event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Its number, if it has one.
    pub(crate) id: Option<u64>,
    /// The event; `None` if this program does not know it. The error says why one that it knows
    /// cannot be read.
    pub(crate) event: Result<Option<Event>, String>,
    /// The event as it came, for `--json`.
    pub(crate) json: Value,
}

fn event(block: &str) -> Option<Told> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    let json: Value = serde_json::from_str(field("data: ")?).ok()?;
    Some(Told {
        id: field("id: ").and_then(|id| id.trim().parse().ok()),
        event: read_event(&json),
        json,
    })
}

fn read_event(json: &Value) -> Result<Option<Event>, String> {
    let name = json.get("event").and_then(Value::as_str);
    match serde::Deserialize::deserialize(json) {
        Ok(event) => Ok(Some(event)),
        Err(error) => match name.filter(|name| Event::is_known(name)) {
            Some(name) => Err(format!(
                "the gateway's event {name} cannot be read: {}",
                inline(&serde_json::Error::to_string(&error))
            )),
            None => Ok(None),
        },
    }
}

/// Returns where a person finds the ids of what was not found.
fn lists(kind: &str) -> &'static str {
    match kind {
        "approval" | "clarification" => "`countersign approvals` lists the waiting cards",
        "call" | "call or approval" => "`countersign history` lists calls",
        "run" => {
            "`countersign history` lists calls; `countersign explain CALL` names the run of one"
        }
        "conversation" | "session" => "without --session a new conversation starts",
        "grant" => "`countersign grants` lists them",
        "key" => "`countersign keys list` lists them",
        "person" => "`countersign people` lists them",
        "review" => "`countersign reviews` lists them",
        _ => "",
    }
}

/// Returns where the gateway of this home says it listens, and the fingerprint of its certificate
/// if it has one.
fn left_by_gateway(home: &Home) -> Option<(String, Option<String>)> {
    let text = std::fs::read_to_string(address_file(home)).ok()?;
    let mut lines = text.lines();
    let url = lines.next().filter(|url| url.starts_with("http"))?;
    Some((url.to_owned(), lines.next().map(str::to_owned)))
}

/// Returns where people find the page of the gateway that runs in `home`.
pub(crate) fn page_of(home: &Home) -> Option<String> {
    left_by_gateway(home).map(|(url, _)| url)
}

/// Returns the file in which the gateway of a home leaves its address, and below it the fingerprint
/// of its certificate.
pub(crate) fn address_file(home: &Home) -> PathBuf {
    home.directory().join("gateway.url")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}
/// Returns `id` as one segment of a path, whatever it is.
pub(crate) fn segment(id: &str) -> String {
    id.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read_event;
    use crate::samples;

    #[test]
    fn a_known_event_without_a_field_is_an_error_and_an_unknown_event_is_skipped() {
        let whole = samples::event(json!({ "event": "approval.held" }));
        let mut json = serde_json::to_value(&whole).unwrap();
        assert_eq!(read_event(&json), Ok(Some(whole)));
        json.as_object_mut().unwrap().remove("approval_id");
        assert_eq!(
            read_event(&json),
            Err(
                "the gateway's event approval.held cannot be read: missing field `approval_id`"
                    .to_owned()
            )
        );
        json["event"] = json!("approval.dreamed_of");
        assert_eq!(read_event(&json), Ok(None));
    }
}
