//! The client of the client-server API: one event at a time, and the pauses the server wants.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_core::display;
use reqwest::header::HeaderValue;
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::wire::{Sent, Uploaded, Wrong};
use crate::DeliveryError;

/// How long the server may take for one answer, besides what it was asked to wait.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often a request that came too early is sent again.
const TOO_MANY_TRIES: u32 = 60;
/// Longest and shortest pause that is kept because the server says so.
const PAUSE_MAX: Duration = Duration::from_mins(2);
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// Pause where the server says none.
const PAUSE_MILLIS: u64 = 1000;
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Longest part of an error that is repeated, in characters.
const WHY_CHARS_MAX: usize = 200;
/// Refusals of a request as such, which count even if they do not say why. Others that cannot be read
/// may come from a server that stands in for a homeserver that is away.
const REFUSED_UNREAD: [StatusCode; 4] = [
    StatusCode::BAD_REQUEST,
    StatusCode::PAYLOAD_TOO_LARGE,
    StatusCode::URI_TOO_LONG,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
];
/// The part of the API that most calls are in.
pub(super) const V3: &[&str] = &["_matrix", "client", "v3"];
const MEDIA: &[&str] = &["_matrix", "media", "v3"];

/// Why the server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// It may work later.
    #[error("{0}")]
    Away(String),
    /// It will not.
    #[error("{words}")]
    Refused {
        /// The server's word for it; empty if the refusal is ours.
        errcode: String,
        /// In words, safe to show.
        words: String,
    },
}

impl ApiError {
    /// Returns it as the reason why something was not delivered to `channel`.
    pub(super) fn undelivered(self, channel: &str) -> DeliveryError {
        let channel = channel.to_owned();
        match self {
            Self::Away(why) => DeliveryError::Later { channel, why },
            Self::Refused { words: why, .. } => DeliveryError::Never { channel, why },
        }
    }

    /// Whether the server refuses with this word.
    pub(super) fn is(&self, code: &str) -> bool {
        match self {
            Self::Away(_) => false,
            Self::Refused { errcode, .. } => errcode == code,
        }
    }

    /// A refusal of our own.
    pub(super) fn ours(words: impl Into<String>) -> Self {
        Self::Refused {
            errcode: String::new(),
            words: words.into(),
        }
    }
}

/// The way to the server.
pub(super) struct Api {
    base: Url,
    token: HeaderValue,
    http: reqwest::Client,
    /// Events go one after the other, because the server limits an account: one that is sent beside
    /// others that wait would only be refused again. Until then nothing is sent.
    lane: tokio::sync::Mutex<Option<Instant>>,
    /// How often the server said that it was too much.
    too_many: AtomicU64,
}

impl Api {
    /// Returns the way to the server at `url` for whom this token stands.
    pub(super) fn new(url: &Url, token: &str) -> Result<Self, String> {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| "its token has characters that no token has".to_owned())?;
        bearer.set_sensitive(true);
        let http = crate::http().build().map_err(|error| error.to_string())?;
        Ok(Self {
            base: url.clone(),
            token: bearer,
            http,
            lane: tokio::sync::Mutex::default(),
            too_many: AtomicU64::new(0),
        })
    }

    /// Returns how often the server said that it was too much.
    pub(super) fn too_many(&self) -> u64 {
        self.too_many.load(Ordering::Relaxed)
    }

    /// Asks for something.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ApiError> {
        let request = || self.request(Method::GET, V3, path, query);
        self.asked(request).await
    }

    /// Asks for what is new; it may take `wait` longer than others.
    pub(super) async fn sync<T: DeserializeOwned>(
        &self,
        query: &[(&str, &str)],
        wait: Duration,
    ) -> Result<T, ApiError> {
        let request = || {
            self.request(Method::GET, V3, &["sync"], query)
                .timeout(TIMEOUT + wait)
        };
        self.asked(request).await
    }

    /// Does something that is no event.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<T, ApiError> {
        let body = body.to_string();
        let request = || json(self.request(method.clone(), V3, path, &[]), &body);
        self.asked(request).await
    }

    /// Sends an event into a room and returns its id. Under the same `txn` it is sent once.
    pub(super) async fn send(
        &self,
        room: &str,
        kind: &str,
        txn: &str,
        content: &Value,
    ) -> Result<String, ApiError> {
        let body = content.to_string();
        let path = ["rooms", room, "send", kind, txn];
        let request = || json(self.request(Method::PUT, V3, &path, &[]), &body);
        let sent: Sent = self.in_lane(request).await?;
        Ok(sent.event_id)
    }

    /// Uploads a text as a file and returns its address.
    pub(super) async fn upload(&self, name: &str, text: &str) -> Result<String, ApiError> {
        let query = [("filename", name)];
        let request = || {
            self.request(Method::POST, MEDIA, &["upload"], &query)
                .header("content-type", "text/plain; charset=utf-8")
                .body(text.to_owned())
        };
        let uploaded: Uploaded = self.in_lane(request).await?;
        Ok(uploaded.content_uri)
    }

    fn request(
        &self,
        method: Method,
        part: &[&str],
        path: &[&str],
        query: &[(&str, &str)],
    ) -> reqwest::RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(part).extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.http
            .request(method, url)
            .timeout(TIMEOUT)
            .header("authorization", self.token.clone())
    }

    async fn in_lane<T: DeserializeOwned>(
        &self,
        request: impl Fn() -> reqwest::RequestBuilder,
    ) -> Result<T, ApiError> {
        let mut not_before = self.lane.lock().await;
        for _ in 0..TOO_MANY_TRIES {
            if let Some(until) = *not_before {
                tokio::time::sleep_until(until).await;
            }
            match self.ask_once(request()).await? {
                Asked::Answer(answer) => return answer,
                Asked::TooEarly(pause) => *not_before = Some(Instant::now() + pause),
            }
        }
        Err(limited())
    }

    async fn asked<T: DeserializeOwned>(
        &self,
        request: impl Fn() -> reqwest::RequestBuilder,
    ) -> Result<T, ApiError> {
        for _ in 0..TOO_MANY_TRIES {
            match self.ask_once(request()).await? {
                Asked::Answer(answer) => return answer,
                Asked::TooEarly(pause) => tokio::time::sleep(pause).await,
            }
        }
        Err(limited())
    }

    async fn ask_once<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<Asked<T>, ApiError> {
        let away = |error: reqwest::Error| ApiError::Away(crate::words(&error.without_url()));
        let mut response = request.send().await.map_err(away)?;
        let status = response.status();
        let after = response.headers().get("retry-after").cloned();
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(away)? {
            text.extend_from_slice(&piece);
            if text.len() > ANSWER_BYTES_MAX {
                return Err(ApiError::Away("its answer is too long".to_owned()));
            }
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            self.too_many.fetch_add(1, Ordering::Relaxed);
            return Ok(Asked::TooEarly(pause(after.as_ref(), &text)));
        }
        let unreadable =
            || ApiError::Away(format!("it responded with {status}, which cannot be read"));
        if status.is_success() {
            let answer = serde_json::from_slice(&text).map_err(|_| unreadable())?;
            return Ok(Asked::Answer(Ok(answer)));
        }
        match serde_json::from_slice::<Wrong>(&text) {
            Ok(wrong) => Ok(Asked::Answer(Err(refused(status, &wrong)))),
            // A server in front of the homeserver will not take this request later either.
            Err(_) if REFUSED_UNREAD.contains(&status) => {
                Ok(Asked::Answer(Err(refused(status, &Wrong::default()))))
            }
            Err(_) => Err(unreadable()),
        }
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

/// What came of one request.
enum Asked<T> {
    Answer(Result<T, ApiError>),
    TooEarly(Duration),
}

fn json(request: reqwest::RequestBuilder, body: &str) -> reqwest::RequestBuilder {
    request
        .header("content-type", "application/json")
        .body(body.to_owned())
}

fn limited() -> ApiError {
    ApiError::Away("it is rate-limiting us".to_owned())
}

/// Returns how long the server wants us to wait.
fn pause(after: Option<&HeaderValue>, text: &[u8]) -> Duration {
    let wrong: Wrong = serde_json::from_slice(text).unwrap_or_default();
    let seconds = after.and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    let millis = wrong
        .retry_after_ms
        .or(seconds.map(|it| it.saturating_mul(1000)));
    Duration::from_millis(millis.unwrap_or(PAUSE_MILLIS)).clamp(PAUSE_MIN, PAUSE_MAX)
}

fn refused(status: StatusCode, wrong: &Wrong) -> ApiError {
    let shown = display::line(&wrong.error);
    let words: String = shown.chars().take(WHY_CHARS_MAX).collect();
    if status.is_server_error() {
        return ApiError::Away(format!("it is not well: {words}"));
    }
    let code = display::inline(&wrong.errcode);
    let status = status.as_u16();
    ApiError::Refused {
        words: format!("it responded with {status} {code}: {words}"),
        errcode: wrong.errcode.clone(),
    }
}
