//! HTTP client for models: sends a request and reads the streamed answer, with limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use countersign_core::card::{Redacts, without_secrets};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, Url};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::accumulate::Accumulator;
use super::complaint::Complaint;
use super::stream::{Frame, Frames};
use super::{ChatRequest, Completion, Delta, ModelError};

/// Most of a body that says what went wrong, in bytes.
const COMPLAINT_BYTES_MAX: usize = 64 * 1024;
/// How long the end of a stream may take after the answer is complete.
const REST: Duration = Duration::from_secs(3);

/// Where a model is.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What stands before `/chat/completions`: `https`, or `http` on this machine or its network.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The credential of our requests.
    pub api_key: Option<String>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// What an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// Without a sign of life.
    pub idle: Duration,
    /// In all, repetitions included.
    pub total: Duration,
    /// Bytes of the answer as it is sent.
    pub answer_bytes: usize,
    /// Bytes of one line of it.
    pub line_bytes: usize,
    /// How often to ask again when the model is busy or gone.
    pub retries: u32,
    /// How long to wait before asking again; doubles each time.
    pub backoff: Duration,
    /// Longest wait before asking again. Who wants us to wait longer is not asked again.
    pub wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(10),
            answer_bytes: 4 * 1024 * 1024,
            line_bytes: 1024 * 1024,
            retries: 3,
            backoff: Duration::from_millis(500),
            wait: Duration::from_secs(30),
        }
    }
}

/// Asks one model.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    model: String,
    key: Option<Key>,
    limits: Limits,
    dialect: Arc<Dialect>,
}

/// Request features that the server has rejected.
#[derive(Debug, Default)]
struct Dialect {
    /// The limit of an answer must be called `max_completion_tokens`.
    new_limit: AtomicBool,
    /// It does not know `stream_options`.
    no_options: AtomicBool,
}

/// An API key; never shown.
#[derive(Clone)]
struct Key {
    text: String,
    header: HeaderValue,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Why one attempt failed, and whether another may help.
struct Failure {
    error: ModelError,
    again: Again,
}

/// Whether another attempt may help.
enum Again {
    No,
    Soon,
    /// The server says when.
    After(Duration),
}

impl Client {
    /// Returns a client, or what is wrong with the endpoint.
    pub fn new(endpoint: Endpoint, limits: Limits) -> Result<Self, ModelError> {
        let wrong = |why: &str| ModelError::Unreachable(format!("its base_url {why}"));
        let mut url = Url::parse(&endpoint.base_url).map_err(|_| wrong("is not one"))?;
        if url.scheme() != "https" && !(url.scheme() == "http" && is_near(&url)) {
            return Err(wrong(
                "must be https, or http on this machine or its network",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must not contain a password"));
        }
        url.path_segments_mut()
            .map_err(|()| wrong("is not one"))?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        let key = endpoint.api_key.as_deref().map(Key::new).transpose()?;
        // Another part of the process may have chosen already; the first choice holds.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect);
        if url.scheme() == "http" {
            // A proxy would read along, and is not on the way to what is near.
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| ModelError::Unreachable(error.to_string()))?;
        Ok(Self {
            http,
            url,
            model: endpoint.model,
            key,
            limits,
            dialect: Arc::default(),
        })
    }

    /// Returns the model's name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether both ask the same model at the same address with the same key.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let key = |client: &Self| client.key.as_ref().map(|key| key.text.clone());
        self.url == other.url && self.model == other.model && key(self) == key(other)
    }

    /// Returns the client of another model at the same address.
    #[must_use]
    pub fn named(&self, model: &str) -> Self {
        Self {
            model: model.to_owned(),
            ..self.clone()
        }
    }

    /// Asks the model; `on` is told each piece of the answer as it arrives. Asks again only while
    /// no piece has arrived. Dropping the future ends the request.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Completion, ModelError> {
        let deadline = Instant::now() + self.limits.total;
        let mut attempt = 0;
        loop {
            let body = self.body(request).to_string();
            let failure = match self.attempt(body, deadline, on).await {
                Ok(completion) => return Ok(completion),
                Err(failure) => failure,
            };
            if self.dialect.learns(&failure.error) {
                continue;
            }
            let pause = match failure.again {
                Again::Soon => self.pause(attempt),
                Again::After(told) if told <= self.limits.wait => told,
                Again::After(_) | Again::No => return Err(self.without_key(failure.error)),
            };
            if attempt >= self.limits.retries || Instant::now() + pause >= deadline {
                return Err(self.without_key(failure.error));
            }
            attempt += 1;
            tracing::debug!(attempt, model = %self.model, "the model is asked again");
            tokio::time::sleep(pause).await;
        }
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": request.messages,
            "stream": true,
        });
        if let Value::Object(fields) = &mut body {
            if !self.dialect.no_options.load(Ordering::Relaxed) {
                let options = json!({ "include_usage": true });
                fields.insert("stream_options".to_owned(), options);
            }
            if !request.tools.is_empty() {
                let tools = request.tools.iter().map(|tool| {
                    json!({ "type": "function", "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    } })
                });
                fields.insert("tools".to_owned(), tools.collect());
            }
            if let Some(max) = request.max_tokens {
                let name = if self.dialect.new_limit.load(Ordering::Relaxed) {
                    "max_completion_tokens"
                } else {
                    "max_tokens"
                };
                fields.insert(name.to_owned(), max.into());
            }
        }
        body
    }

    async fn attempt(
        &self,
        body: String,
        deadline: Instant,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Completion, Failure> {
        let mut request = self
            .http
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .body(body);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header.clone());
        }
        let response = match timeout_at(self.patience(deadline), request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let error = ModelError::Unreachable(cause(error));
                return Err(Failure::passing(error));
            }
            Err(_) => return Err(Failure::lasting(ModelError::TimedOut)),
        };
        if response.status().is_success() {
            self.read(response, deadline, on).await
        } else {
            Err(self.complaint(response, deadline).await)
        }
    }

    /// Reads the answer.
    async fn read(
        &self,
        mut response: Response,
        deadline: Instant,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Completion, Failure> {
        let mut frames = Frames::new(self.limits.answer_bytes, self.limits.line_bytes);
        let mut answer = Accumulator::default();
        let mut done = false;
        while !done {
            let mut until = self.patience(deadline);
            if answer.ended() {
                until = until.min(Instant::now() + REST);
            }
            let piece = match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                // What is still missing says at most what it cost.
                Ok(Err(_)) | Err(_) if answer.ended() => break,
                Ok(Err(error)) => {
                    let error = ModelError::BrokeOff(cause(error));
                    return Err(Failure::unless(answer.begun(), error));
                }
                Err(_) => return Err(Failure::lasting(ModelError::TimedOut)),
            };
            let parts = frames.push(&piece).map_err(Failure::lasting)?;
            done = take(parts, &mut answer, on)?;
        }
        if !done {
            let parts = frames.finish().map_err(Failure::lasting)?;
            take(parts, &mut answer, on)?;
        }
        let begun = answer.begun();
        let mut completion = answer
            .finish(&mut minted)
            .map_err(|error| Failure::unless(begun, error))?;
        if completion.model.is_empty() {
            completion.model.clone_from(&self.model);
        }
        Ok(completion)
    }

    /// Reads why there is no answer.
    async fn complaint(&self, mut response: Response, deadline: Instant) -> Failure {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let until = self.patience(deadline);
        let mut body = Vec::new();
        while body.len() < COMPLAINT_BYTES_MAX
            && let Ok(Ok(Some(piece))) = timeout_at(until, response.chunk()).await
        {
            body.extend_from_slice(&piece);
        }
        body.truncate(COMPLAINT_BYTES_MAX);
        let error = Complaint::read_body(&body).into_error(status, retry_after);
        let passing =
            matches!(status, 429 | 500 | 502 | 503 | 504 | 529) && error != ModelError::OutOfCredit;
        let again = match retry_after {
            _ if !passing => Again::No,
            Some(seconds) => Again::After(Duration::from_secs(seconds)),
            None => Again::Soon,
        };
        Failure { error, again }
    }

    /// Returns when to give up waiting for a sign of life.
    fn patience(&self, deadline: Instant) -> Instant {
        deadline.min(Instant::now() + self.limits.idle)
    }

    /// Returns how long to wait before asking again: the doubled backoff, between half and whole, so
    /// that many who failed together do not come back together.
    fn pause(&self, attempt: u32) -> Duration {
        let most = self
            .limits
            .backoff
            .saturating_mul(2_u32.saturating_pow(attempt))
            .min(self.limits.wait);
        let random = getrandom::u32().unwrap_or(u32::MAX);
        most / 2 + (most / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
    }

    /// Returns `error` without the key, which a server may have repeated.
    fn without_key(&self, error: ModelError) -> ModelError {
        let clean = |text: String| {
            let text = match &self.key {
                Some(key) => text.replace(&key.text, "…"),
                None => text,
            };
            without_secrets(&text, Redacts::Secrets).into_owned()
        };
        match error {
            ModelError::Unreachable(text) => ModelError::Unreachable(clean(text)),
            ModelError::Malformed(text) => ModelError::Malformed(clean(text)),
            ModelError::BrokeOff(text) => ModelError::BrokeOff(clean(text)),
            ModelError::Refused { status, message } => ModelError::Refused {
                status,
                message: clean(message),
            },
            ModelError::NotConfigured
            | ModelError::Misconfigured(_)
            | ModelError::TimedOut
            | ModelError::RateLimited { .. }
            | ModelError::OutOfCredit => error,
        }
    }
}

impl Dialect {
    /// Whether `error` teaches something new, so that asking again in other words may help.
    fn learns(&self, error: &ModelError) -> bool {
        let ModelError::Refused {
            status: 400 | 422,
            message,
        } = error
        else {
            return false;
        };
        [
            ("max_completion_tokens", &self.new_limit),
            ("stream_options", &self.no_options),
        ]
        .into_iter()
        .any(|(sign, known)| message.contains(sign) && !known.swap(true, Ordering::Relaxed))
    }
}

impl Key {
    fn new(text: &str) -> Result<Self, ModelError> {
        let text = text.trim().to_owned();
        let mut header = HeaderValue::from_str(&format!("Bearer {text}"))
            .ok()
            .filter(|_| !text.is_empty())
            .ok_or_else(|| ModelError::Unreachable("its key cannot be sent".to_owned()))?;
        header.set_sensitive(true);
        Ok(Self { text, header })
    }
}

impl Failure {
    fn passing(error: ModelError) -> Self {
        Self {
            error,
            again: Again::Soon,
        }
    }

    fn lasting(error: ModelError) -> Self {
        Self {
            error,
            again: Again::No,
        }
    }

    /// A failure in reading: asking again loses nothing unless a part has been passed on.
    fn unless(begun: bool, error: ModelError) -> Self {
        match error {
            ModelError::BrokeOff(_) | ModelError::RateLimited { .. } if !begun => {
                Self::passing(error)
            }
            ModelError::BrokeOff(_)
            | ModelError::RateLimited { .. }
            | ModelError::NotConfigured
            | ModelError::Misconfigured(_)
            | ModelError::Unreachable(_)
            | ModelError::TimedOut
            | ModelError::OutOfCredit
            | ModelError::Refused { .. }
            | ModelError::Malformed(_) => Self::lasting(error),
        }
    }
}

/// Gives `parts` to `answer`; returns whether the last one was among them.
fn take(
    parts: Vec<Frame>,
    answer: &mut Accumulator,
    on: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<bool, Failure> {
    for part in parts {
        match part {
            Frame::Payload(payload) => answer
                .push(&payload, on)
                .map_err(|error| Failure::unless(answer.begun(), error))?,
            Frame::Done => {
                answer.end();
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether plain HTTP to `url` stays on this machine or its network.
fn is_near(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<std::net::Ipv4Addr>() {
        return address.is_loopback() || address.is_private() || address.is_link_local();
    }
    if let Ok(address) = bare.parse::<std::net::Ipv6Addr>() {
        return address.is_loopback()
            || address.is_unique_local()
            || address.is_unicast_link_local();
    }
    // A name without a dot is one of this network: another container, say.
    let network = [".localhost", ".local", ".internal", ".lan", ".home.arpa"];
    !host.contains('.') || network.iter().any(|end| host.ends_with(end))
}

/// Returns what `error` is about, innermost first: the outer words only repeat that it failed.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut inner: &dyn std::error::Error = &error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// Returns an id for a tool call: unlike any other, and never the same twice here.
fn minted() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = getrandom::u64().unwrap_or_default();
    format!("call_{random:016x}{count:08x}")
}
