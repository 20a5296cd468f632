//! The client of the Bot API: one request at a time for each place, and the pauses the server wants.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_core::display;
use reqwest::{StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::locked;
use super::wire::Answer;
use crate::DeliveryError;

/// How long the server may take for one answer, besides what it was asked to wait.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often a request that came too early is sent again.
const TOO_MANY_TRIES: u32 = 60;
/// Longest pause that is kept because the server says so.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest part of an error that is repeated, in characters.
const WHY_CHARS_MAX: usize = 200;
/// Most lanes that are remembered.
const LANES_MAX: usize = 4096;

/// Why the server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// It may work later.
    #[error("{0}")]
    Away(String),
    /// It will not.
    #[error("it responded with {code}: {words}")]
    Refused {
        /// The server's number.
        code: u16,
        /// In words, safe to show.
        words: String,
        /// The new id of a group that became a supergroup.
        moved_to: Option<i64>,
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

    /// Returns the number of a refusal.
    pub(super) const fn code(&self) -> Option<u16> {
        match self {
            Self::Away(_) => None,
            Self::Refused { code, .. } => Some(*code),
        }
    }

    /// Whether the server refuses in these words.
    pub(super) fn says(&self, part: &str) -> bool {
        match self {
            Self::Away(_) => false,
            Self::Refused { words, .. } => words.contains(part),
        }
    }

    /// A refusal of our own.
    pub(super) fn ours(words: &str) -> Self {
        Self::Refused {
            code: 0,
            words: words.to_owned(),
            moved_to: None,
        }
    }
}

/// When the next request of a lane may be sent.
type Lane = Arc<tokio::sync::Mutex<Option<Instant>>>;

/// The way to the server.
pub(super) struct Api {
    base: Url,
    http: reqwest::Client,
    /// Requests of one method to one place go one after the other: the server limits each place, and
    /// what is sent again beside others that wait would only be refused again.
    lanes: Mutex<HashMap<(&'static str, String), Lane>>,
}

impl Api {
    /// Returns the way to the server at `url` for the bot with this token.
    pub(super) fn new(url: &Url, token: &str) -> Result<Self, String> {
        let mut base = url.clone();
        base.path_segments_mut()
            .map_err(|()| "its url is invalid".to_owned())?
            .pop_if_empty()
            .push(&format!("bot{token}"));
        let http = crate::http().build().map_err(|error| error.to_string())?;
        Ok(Self {
            base,
            http,
            lanes: Mutex::default(),
        })
    }

    /// Calls a method.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T, ApiError> {
        let lane = self.lane(method, params);
        let body = params.to_string();
        let request = || {
            self.request(method)
                .header("content-type", "application/json")
                .body(body.clone())
        };
        self.in_lane(&lane, request).await
    }

    /// Sends a file, with parameters beside it.
    pub(super) async fn upload<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
        (field, name, text): (&str, &str, &str),
    ) -> Result<T, ApiError> {
        let lane = self.lane(method, params);
        let (boundary, body) = form(params, field, name, text);
        let request = || {
            let kind = format!("multipart/form-data; boundary={boundary}");
            self.request(method)
                .header("content-type", kind)
                .body(body.clone())
        };
        self.in_lane(&lane, request).await
    }

    /// Calls a method that may take `wait` longer than others, and does not try again.
    pub(super) async fn wait<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
        wait: Duration,
    ) -> Result<T, ApiError> {
        let request = self
            .request(method)
            .timeout(TIMEOUT + wait)
            .header("content-type", "application/json")
            .body(params.to_string());
        match ask_once(request).await? {
            Asked::Answer(answer) => answer,
            Asked::TooEarly(pause) => {
                tokio::time::sleep(pause).await;
                Err(ApiError::Away("it is rate-limiting us".to_owned()))
            }
        }
    }

    fn request(&self, method: &str) -> reqwest::RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.push(method);
        }
        self.http.post(url).timeout(TIMEOUT)
    }

    fn lane(&self, method: &'static str, params: &Value) -> Lane {
        // A press is answered once, and beside all others.
        let place = params.get("chat_id").or(params.get("callback_query_id"));
        let place = place.map(Value::to_string);
        let key = (method, place.unwrap_or_default());
        let mut lanes = locked(&self.lanes);
        if lanes.len() > LANES_MAX {
            lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        Arc::clone(lanes.entry(key).or_default())
    }

    async fn in_lane<T: DeserializeOwned>(
        &self,
        lane: &Lane,
        request: impl Fn() -> reqwest::RequestBuilder,
    ) -> Result<T, ApiError> {
        let mut not_before = lane.lock().await;
        for _ in 0..TOO_MANY_TRIES {
            if let Some(until) = *not_before {
                tokio::time::sleep_until(until).await;
            }
            match ask_once(request()).await? {
                Asked::Answer(answer) => return answer,
                Asked::TooEarly(pause) => *not_before = Some(Instant::now() + pause),
            }
        }
        Err(ApiError::Away("it is rate-limiting us".to_owned()))
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its address holds the token.
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

/// What came of one request.
enum Asked<T> {
    Answer(Result<T, ApiError>),
    TooEarly(Duration),
}

async fn ask_once<T: DeserializeOwned>(
    request: reqwest::RequestBuilder,
) -> Result<Asked<T>, ApiError> {
    // The address holds the token, so it is never repeated.
    let away = |error: reqwest::Error| ApiError::Away(crate::words(&error.without_url()));
    let mut response = request.send().await.map_err(away)?;
    let status = response.status();
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(away)? {
        text.extend_from_slice(&piece);
        if text.len() > ANSWER_BYTES_MAX {
            return Err(ApiError::Away("its answer is too long".to_owned()));
        }
    }
    let Ok(answer) = serde_json::from_slice::<Answer<T>>(&text) else {
        return Err(ApiError::Away(format!(
            "it responded with {status}, which cannot be read"
        )));
    };
    if status == StatusCode::TOO_MANY_REQUESTS || answer.error_code == 429 {
        let seconds = answer.parameters.retry_after.unwrap_or(1).max(1);
        return Ok(Asked::TooEarly(Duration::from_secs(seconds).min(PAUSE_MAX)));
    }
    Ok(Asked::Answer(read(answer)))
}

fn read<T>(answer: Answer<T>) -> Result<T, ApiError> {
    match answer.result {
        Some(result) if answer.ok => return Ok(result),
        Some(_) | None => {}
    }
    let shown = display::line(&answer.description);
    let words: String = shown.chars().take(WHY_CHARS_MAX).collect();
    if answer.error_code >= 500 {
        return Err(ApiError::Away(format!("it is not well: {words}")));
    }
    Err(ApiError::Refused {
        code: answer.error_code,
        words,
        moved_to: answer.parameters.migrate_to_chat_id,
    })
}

/// Returns a form with a file, and the boundary between its parts, which is in none of them.
fn form(params: &Value, field: &str, name: &str, text: &str) -> (String, Vec<u8>) {
    let mut boundary = "countersign".to_owned();
    let written = params.to_string();
    while text.contains(&boundary) || written.contains(&boundary) {
        boundary.push('x');
    }
    let mut body = String::new();
    for (key, value) in params.as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let _infallible = write!(
            body,
            "--{boundary}\r\ncontent-disposition: form-data; name=\"{key}\"\r\n\r\n{value}\r\n"
        );
    }
    let _infallible = write!(
        body,
        "--{boundary}\r\ncontent-disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
         content-type: text/plain; charset=utf-8\r\n\r\n{text}\r\n--{boundary}--\r\n"
    );
    (boundary, body.into_bytes())
}
