//! A server at an address, for a client that speaks over standard input and output.
//!
//! Separate because it does for such a client what HTTP asks of one: a request for each message, sessions,
//! headers that repeat the body, streams that are taken up again where they broke off. To the proxy it is
//! what a child process is: lines go in, lines come out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use futures_util::StreamExt as _;
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::mirror::{Said, VERSION};
use super::sse::Events;
use crate::complaint::Complaint;
use crate::mcp::message::{MESSAGE_BYTES_MAX, error, id_key, read_server};
use crate::mcp::stdio::{Line, read_line};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// How long a connection may take to open.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long to wait before a stream is taken up again, unless the server says otherwise.
const RETRY: Duration = Duration::from_secs(1);
/// How often in a row a stream is taken up again without anything coming of it.
const RETRIES_MAX: usize = 5;
/// Messages for the client that may wait to be written.
const WAITING_MAX: usize = 64;
/// Tools whose arguments are repeated in headers.
const SCHEMAS_MAX: usize = 1024;
/// How long the end of the session may take to be told.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(2);
/// The code of a server that failed.
const INTERNAL_ERROR: i32 = -32603;

/// A server at an address.
#[derive(Debug)]
pub(crate) struct Remote {
    url: Url,
    http: reqwest::Client,
    credential: Option<HeaderValue>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The session, and the version that was agreed on in it.
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The schemas of tools whose arguments stand in headers.
    schemas: HashMap<String, Value>,
    /// Requests in progress that are taken back by closing their connection.
    open: HashMap<String, AbortHandle>,
}

impl Remote {
    /// Returns the server at `url`, which is shown the token.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Result<Self, Complaint> {
        let url = checked(url)?;
        let http = countersign_channels::http()
            .connect_timeout(CONNECT_TIME_MAX)
            .build()
            .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
        let credential = token.map(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                Complaint::usage("the token of the server cannot stand in a header", "")
            })?;
            value.set_sensitive(true);
            Ok::<_, Complaint>(value)
        });
        Ok(Self {
            url,
            http,
            credential: credential.transpose()?,
            known: Mutex::default(),
        })
    }

    /// Takes lines from `input` and writes what the server says to `output`, until there are no more.
    pub(crate) async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) {
        let remote = Arc::new(self);
        let (said, heard) = mpsc::channel(WAITING_MAX);
        let writing = tokio::spawn(write(heard, output));
        let mut requests = JoinSet::new();
        let mut listening = None;
        let mut input = BufReader::new(input);
        loop {
            let line = tokio::select! {
                line = read_line(&mut input) => line,
                () = said.closed() => break,
            };
            match line {
                Line::Ended => break,
                Line::TooLong => {}
                Line::Whole(line) => {
                    let message = line.trim_ascii().to_vec();
                    if message.is_empty() {
                        continue;
                    }
                    let begins = remote.take(message, &said, &mut requests).await;
                    if begins && listening.is_none() {
                        let (remote, said) = (Arc::clone(&remote), said.clone());
                        listening = Some(tokio::spawn(async move { remote.listen(&said).await }));
                    }
                }
            }
            while requests.try_join_next().is_some() {}
        }
        requests.abort_all();
        if let Some(listening) = listening {
            listening.abort();
        }
        let _told = tokio::time::timeout(GOODBYE_TIME_MAX, remote.leave()).await;
        drop(said);
        let _written = tokio::time::timeout(GOODBYE_TIME_MAX, writing).await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one message of the client. Whether a session has begun with it.
    async fn take(
        self: &Arc<Self>,
        message: Vec<u8>,
        said: &mpsc::Sender<Vec<u8>>,
        requests: &mut JoinSet<()>,
    ) -> bool {
        let about = Said::read(&message);
        let method = about.method.clone();
        if let (Some(id), Some(_)) = (&about.id, &method) {
            let key = id_key(id);
            let remote = Arc::clone(self);
            let (said, closed) = (said.clone(), key.clone());
            let (started, mut starts) = watch::channel(false);
            let handle = requests.spawn(async move {
                remote.ask(message, about, &said, started).await;
                remote.known().open.remove(&closed);
            });
            self.known().open.insert(key, handle);
            // One after the other is begun, so that they arrive in their order as far as that goes.
            let _begun = starts.wait_for(|it| *it).await;
            return false;
        }
        // Without a session, closing the connection takes a request back, and nothing else does.
        if method.as_deref() == Some("notifications/cancelled") && self.known().session.is_none() {
            if let Some(open) = cancelled(&message).and_then(|key| self.known().open.remove(&key)) {
                open.abort();
            }
            return false;
        }
        let sent = self.post(message, &about).await;
        let is_taken = sent.is_ok_and(|response| response.status().is_success());
        is_taken && method.as_deref() == Some("notifications/initialized")
    }

    /// Sends a request and hands on what comes of it.
    async fn ask(
        &self,
        message: Vec<u8>,
        about: Said,
        said: &mpsc::Sender<Vec<u8>>,
        started: watch::Sender<bool>,
    ) {
        let sending = self.post(message, &about);
        let _waits = started.send(true);
        let failed = |why: String| {
            let why = format!("countersign: {why}");
            error(about.id.as_deref(), INTERNAL_ERROR, &why)
        };
        let answer = match sending.await {
            Err(error) => Some(failed(format!(
                "the server cannot be reached: {}",
                why(&error)
            ))),
            Ok(response) => match self.answered(response, &about, said).await {
                Outcome::Answered => None,
                Outcome::Message(message) => Some(message),
                Outcome::Nothing(why) => Some(failed(why)),
            },
        };
        if let Some(answer) = answer {
            let _gone = said.send(answer).await;
        }
    }

    async fn answered(
        &self,
        response: Response,
        about: &Said,
        said: &mpsc::Sender<Vec<u8>>,
    ) -> Outcome {
        let status = response.status();
        if about.method.as_deref() == Some("initialize") && status.is_success() {
            self.known().session = response.headers().get(SESSION).cloned();
        }
        let kind = kind_of(response.headers());
        if kind == "text/event-stream" && status.is_success() {
            return self.follow(response, about, said).await;
        }
        let body = match whole(response).await {
            Ok(body) => body,
            Err(error) => {
                return Outcome::Nothing(format!("the answer broke off: {}", why(&error)));
            }
        };
        let is_answer = read_server(&body)
            .iter()
            .any(|it| Some(it.key()) == about.key());
        if is_answer {
            self.learn(&body, about);
            return Outcome::Message(body);
        }
        // An error that names no request would leave the client waiting.
        let told = serde_json::from_slice::<Value>(&body).ok();
        let told = told.as_ref().and_then(|it| it.get("error"));
        let code = told.and_then(|it| it.get("code")?.as_i64());
        let words = told.and_then(|it| it.get("message")?.as_str());
        match (code.and_then(|code| i32::try_from(code).ok()), words) {
            (Some(code), Some(words)) => Outcome::Message(error(about.id.as_deref(), code, words)),
            (_, _) => Outcome::Nothing(format!("the server responded with {status}")),
        }
    }

    /// Hands on the events of a stream until the answer has come. A stream that breaks off before is
    /// taken up again behind its last event, if its events have ids.
    async fn follow(
        &self,
        response: Response,
        about: &Said,
        said: &mpsc::Sender<Vec<u8>>,
    ) -> Outcome {
        let mut stream = Some(response);
        let (mut last, mut retry, mut failures) = (None, RETRY, 0);
        loop {
            if let Some(response) = stream.take() {
                let mut events = Events::default();
                let mut pieces = response.bytes_stream();
                while let Some(Ok(piece)) = pieces.next().await {
                    let Ok(found) = events.feed(&piece) else {
                        return Outcome::Nothing("a message is longer than 64 MiB".to_owned());
                    };
                    for event in found {
                        failures = 0;
                        retry = event.retry.unwrap_or(retry);
                        last = event.id.filter(|it| !it.is_empty()).or(last);
                        if event.data.trim_ascii().is_empty() {
                            continue;
                        }
                        let answers = read_server(&event.data);
                        let is_answer = answers.iter().any(|it| Some(it.key()) == about.key());
                        if is_answer {
                            self.learn(&event.data, about);
                        }
                        if said.send(event.data).await.is_err() || is_answer {
                            return Outcome::Answered;
                        }
                    }
                }
            }
            let Some(id) = &last else {
                return Outcome::Nothing("the answer broke off".to_owned());
            };
            failures += 1;
            if failures > RETRIES_MAX {
                return Outcome::Nothing("the answer broke off".to_owned());
            }
            tokio::time::sleep(retry).await;
            let taken_up = self.get(Some(id)).await;
            stream = taken_up.ok().filter(|it| it.status().is_success());
        }
    }

    /// Hands on what the server says by itself.
    async fn listen(&self, said: &mpsc::Sender<Vec<u8>>) {
        let (mut last, mut retry, mut failures) = (None::<String>, RETRY, 0);
        while failures <= RETRIES_MAX {
            match self.get(last.as_deref()).await {
                Ok(response) if response.status().is_success() => {
                    let mut events = Events::default();
                    let mut pieces = response.bytes_stream();
                    while let Some(Ok(piece)) = pieces.next().await {
                        let Ok(found) = events.feed(&piece) else {
                            return;
                        };
                        for event in found {
                            failures = 0;
                            retry = event.retry.unwrap_or(retry);
                            last = event.id.filter(|it| !it.is_empty()).or(last);
                            let is_message = !event.data.trim_ascii().is_empty();
                            if is_message && said.send(event.data).await.is_err() {
                                return;
                            }
                        }
                    }
                }
                // It does not speak by itself, or the session is over.
                Ok(response) if response.status().is_client_error() => return,
                Ok(_) | Err(_) => {}
            }
            failures += 1;
            tokio::time::sleep(retry).await;
        }
    }

    async fn post(&self, message: Vec<u8>, about: &Said) -> reqwest::Result<Response> {
        let mut headers = self.headers(about.is_stateless());
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        if about.is_stateless() {
            let schema = about
                .name
                .as_ref()
                .and_then(|it| self.known().schemas.get(it).cloned());
            about.mirror(&mut headers, schema.as_ref());
        }
        let request = self.http.request(Method::POST, self.url.clone());
        request.headers(headers).body(message).send().await
    }

    async fn get(&self, last: Option<&str>) -> reqwest::Result<Response> {
        let mut headers = self.headers(false);
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("text/event-stream"),
        );
        if let Some(last) = last.and_then(|last| HeaderValue::try_from(last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let request = self.http.request(Method::GET, self.url.clone());
        request.headers(headers).send().await
    }

    /// Ends the session.
    async fn leave(&self) {
        if self.known().session.is_some() {
            let request = self.http.request(Method::DELETE, self.url.clone());
            drop(request.headers(self.headers(false)).send().await);
        }
    }

    fn headers(&self, is_stateless: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(credential) = &self.credential {
            headers.insert(header::AUTHORIZATION, credential.clone());
        }
        let known = self.known();
        if !is_stateless {
            if let Some(session) = &known.session {
                headers.insert(SESSION, session.clone());
            }
            if let Some(version) = &known.version {
                headers.insert(VERSION, version.clone());
            }
        }
        headers
    }

    /// Takes note of what later requests have to repeat in their headers.
    fn learn(&self, answer: &[u8], about: &Said) {
        let method = about.method.as_deref();
        if !matches!(method, Some("initialize" | "tools/list")) {
            return;
        }
        let Ok(answer) = serde_json::from_slice::<Value>(answer) else {
            return;
        };
        let result = answer.get("result");
        let mut known = self.known();
        if method == Some("initialize") {
            let version = result.and_then(|it| it.get("protocolVersion")?.as_str());
            known.version = version.and_then(|it| HeaderValue::try_from(it).ok());
            return;
        }
        let tools = result.and_then(|it| it.get("tools")?.as_array());
        for tool in tools.into_iter().flatten() {
            let name = tool.get("name").and_then(Value::as_str);
            let (Some(name), Some(schema)) = (name, tool.get("inputSchema")) else {
                continue;
            };
            let is_repeated = schema.to_string().contains("x-mcp-header");
            if !is_repeated {
                known.schemas.remove(name);
            } else if known.schemas.len() < SCHEMAS_MAX {
                known.schemas.insert(name.to_owned(), schema.clone());
            }
        }
    }
}

/// What came of a request.
enum Outcome {
    /// The client has its answer.
    Answered,
    /// This is the answer.
    Message(Vec<u8>),
    /// There is none, and why.
    Nothing(String),
}

async fn write(mut heard: mpsc::Receiver<Vec<u8>>, mut output: impl AsyncWrite + Unpin) {
    while let Some(mut message) = heard.recv().await {
        for byte in &mut message {
            // A message is one line here; outside of texts a line break is a blank to JSON.
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        message.push(b'\n');
        if output.write_all(&message).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

async fn whole(response: Response) -> reqwest::Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if all.len() + piece.len() > MESSAGE_BYTES_MAX {
            // Nothing that is cut off can be read, so it is no answer.
            return Ok(Vec::new());
        }
        all.extend_from_slice(&piece);
    }
    Ok(all)
}

fn kind_of(headers: &HeaderMap) -> String {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let kind = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Returns the key of the request that a cancellation names.
fn cancelled(message: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Notice<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "requestId")]
        id: &'a serde_json::value::RawValue,
    }
    let notice: Notice<'_> = serde_json::from_slice(message).ok()?;
    Some(id_key(notice.params.id))
}

/// Returns why a request failed, without its address.
fn why(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it does not respond in time"
    } else if error.is_connect() {
        "nothing is listening there"
    } else {
        "the connection broke"
    }
}

/// Returns the address of a server, which is told what agents do: on this machine, or behind TLS.
pub(crate) fn checked(text: &str) -> Result<Url, Complaint> {
    let wrong = |why: &str, hint: &str| {
        let shown = countersign_core::display::inline(text);
        Err(Complaint::usage(format!("`{shown}`: {why}"), hint))
    };
    let Ok(url) = Url::parse(text) else {
        return wrong(
            "not an address",
            "give one such as https://mcp.example.org/mcp",
        );
    };
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if !url.username().is_empty() || url.password().is_some() {
        let why = "an address must not contain a password";
        return Err(Complaint::usage(
            format!("the address of the server: {why}"),
            "name the environment variable that holds the token: --token-env NAME",
        ));
    }
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return wrong("it must be https, or http on this machine", "");
    }
    Ok(url)
}
