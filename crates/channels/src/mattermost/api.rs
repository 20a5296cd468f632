//! REST client for Mattermost, with a concurrency limit and backoff.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::wire::Failure;
use crate::DeliveryError;

/// How long the server may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Requests under way at the same time.
const AT_ONCE: usize = 4;
/// How often a request that came too early is sent again.
const TOO_MANY_TRIES: u32 = 60;
/// Pause after such an answer if the server says nothing about it.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause that is kept because the server says so.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest part of an error that is repeated, in characters.
const WHY_CHARS_MAX: usize = 200;

/// Why the server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// It may work later.
    #[error("{0}")]
    Away(String),
    /// It will not.
    #[error("it responded with {status}: {message}")]
    Refused {
        /// HTTP.
        status: u16,
        /// The server's own name for it.
        id: String,
        /// In words, safe to show.
        message: String,
    },
}

impl ApiError {
    /// Returns it as the reason why something was not delivered to `channel`.
    pub(super) fn undelivered(self, channel: &str) -> DeliveryError {
        let channel = channel.to_owned();
        match self {
            Self::Away(why) => DeliveryError::Later { channel, why },
            refused @ Self::Refused { .. } => DeliveryError::Never {
                channel,
                why: refused.to_string(),
            },
        }
    }

    /// Returns the HTTP status of a refusal.
    pub(super) const fn status(&self) -> Option<u16> {
        match self {
            Self::Away(_) => None,
            Self::Refused { status, .. } => Some(*status),
        }
    }
}

/// What a request carries.
#[derive(Clone, Copy)]
enum Body<'a> {
    Json(&'a Value),
    Text(&'a str),
}

/// The way to one server.
pub(super) struct Api {
    base: Url,
    token: String,
    http: reqwest::Client,
    at_once: Semaphore,
    /// The server wants no request before this.
    not_before: Mutex<Option<Instant>>,
}

impl Api {
    /// Returns the way to the server at `base`.
    pub(super) fn new(base: Url, token: String) -> Result<Self, String> {
        let http = crate::http().timeout(TIMEOUT).build();
        Ok(Self {
            base,
            token,
            http: http.map_err(|error| error.to_string())?,
            at_once: Semaphore::new(AT_ONCE),
            not_before: Mutex::new(None),
        })
    }

    /// Returns the bot's token, for the websocket.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the address of `path` below the API.
    pub(super) fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "v4"]).extend(path);
        }
        url
    }

    /// Reads what is at `path`.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ApiError> {
        self.ask(Method::GET, self.asked(path, query), None).await
    }

    /// Sends a text to `path` as it is, not as JSON.
    pub(super) async fn upload<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        text: &str,
    ) -> Result<T, ApiError> {
        let body = Body::Text(text);
        self.ask(Method::POST, self.asked(path, query), Some(body))
            .await
    }

    /// Removes what is at `path`.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<(), ApiError> {
        let _done: Value = self.ask(Method::DELETE, self.url(path), None).await?;
        Ok(())
    }

    fn asked(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Sends `body` to `path`.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &Value,
    ) -> Result<T, ApiError> {
        let body = Body::Json(body);
        self.ask(Method::POST, self.url(path), Some(body)).await
    }

    /// Replaces what is at `path`.
    pub(super) async fn put<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &Value,
    ) -> Result<T, ApiError> {
        let body = Body::Json(body);
        self.ask(Method::PUT, self.url(path), Some(body)).await
    }

    /// Returns the server's clock, in Unix seconds, as its answers say.
    pub(super) async fn server_seconds(&self) -> Option<i64> {
        let url = self.url(&["system", "ping"]);
        let answer = self.http.get(url).send().await.ok()?;
        let date = answer.headers().get("date")?.to_str().ok()?;
        crate::zone::http_date(date)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        body: Option<Body<'_>>,
    ) -> Result<T, ApiError> {
        for _ in 0..TOO_MANY_TRIES {
            let answered = {
                let permit = self.at_once.acquire().await;
                let _permit =
                    permit.map_err(|_| ApiError::Away("the gateway is stopping".to_owned()))?;
                self.wait_for_turn().await;
                self.ask_once(&method, &url, body).await?
            };
            if let Some((status, text)) = answered {
                return read(status, &text);
            }
        }
        Err(ApiError::Away("it is rate-limiting us".to_owned()))
    }

    /// Returns status and body; `None` if the request came too early.
    async fn ask_once(
        &self,
        method: &Method,
        url: &Url,
        body: Option<Body<'_>>,
    ) -> Result<Option<(StatusCode, Vec<u8>)>, ApiError> {
        let mut request = self
            .http
            .request(method.clone(), url.clone())
            .bearer_auth(&self.token);
        request = match body {
            Some(Body::Json(body)) => request
                .header("content-type", "application/json")
                .body(body.to_string()),
            Some(Body::Text(text)) => request
                .header("content-type", "text/plain; charset=utf-8")
                .body(text.to_owned()),
            None => request,
        };
        let away = |error: reqwest::Error| ApiError::Away(error.without_url().to_string());
        let mut response = request.send().await.map_err(away)?;
        let status = response.status();
        let seconds = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            value.trim().parse::<u64>().ok().map(Duration::from_secs)
        };
        if status == StatusCode::TOO_MANY_REQUESTS {
            let pause = seconds("retry-after").or(seconds("x-ratelimit-reset"));
            self.pause(pause.unwrap_or(PAUSE).max(Duration::from_millis(100)));
            return Ok(None);
        }
        if seconds("x-ratelimit-remaining") == Some(Duration::ZERO)
            && let Some(reset) = seconds("x-ratelimit-reset")
        {
            self.pause(reset);
        }
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(away)? {
            text.extend_from_slice(&piece);
            if text.len() > ANSWER_BYTES_MAX {
                return Err(ApiError::Away("its answer is too long".to_owned()));
            }
        }
        Ok(Some((status, text)))
    }

    fn pause(&self, time: Duration) {
        let until = Instant::now() + time.min(PAUSE_MAX);
        let mut not_before = self.turn();
        *not_before = Some(not_before.map_or(until, |known| known.max(until)));
    }

    async fn wait_for_turn(&self) {
        loop {
            let until = *self.turn();
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                Some(_) | None => return,
            }
        }
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

fn read<T: DeserializeOwned>(status: StatusCode, text: &[u8]) -> Result<T, ApiError> {
    if status.is_success() {
        return serde_json::from_slice(text)
            .map_err(|_| ApiError::Away("its answer cannot be read".to_owned()));
    }
    let failure: Failure = serde_json::from_slice(text).unwrap_or_default();
    let shown = countersign_core::display::line(&failure.message);
    let message: String = shown.chars().take(WHY_CHARS_MAX).collect();
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return Err(ApiError::Away(format!(
            "it responded with {status} {message}"
        )));
    }
    Err(ApiError::Refused {
        status: status.as_u16(),
        id: failure.id,
        message,
    })
}
