//! Web API client for Slack: one call at a time per conversation, and the pauses it asks for.
//!
//! Slack counts messages per conversation and everything else per method, so each of those has a lane
//! of its own with its own pause. Arguments go as a form, because reading methods take nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::DeliveryError;

/// How long Slack may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Requests of one method under way at the same time.
const AT_ONCE: usize = 4;
/// How often a request that came too early is sent again.
const TOO_MANY_TRIES: u32 = 60;
/// Pause after such an answer if Slack does not say how long.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause that is kept because Slack says so.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest part of an error that is repeated, in characters.
const WHY_CHARS_MAX: usize = 200;
/// Errors that pass by themselves.
const PASSING: &[&str] = &[
    "fatal_error",
    "internal_error",
    "ratelimited",
    "rollup_error",
    "service_unavailable",
    "request_timeout",
];

/// Why Slack did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// It may work later.
    #[error("{0}")]
    Away(String),
    /// It will not.
    #[error("{method} was refused: {error}")]
    Refused {
        /// What was asked.
        method: String,
        /// Slack's own word for it.
        error: String,
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

    /// Returns Slack's word for a refusal; empty if it is none.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Away(_) => "",
            Self::Refused { error, .. } => error,
        }
    }
}

/// Which token a call is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum As {
    /// The bot's.
    Bot,
    /// The app's own, for Socket Mode.
    App,
}

/// The tokens of an app.
#[derive(Clone, Default)]
pub(super) struct Tokens {
    pub(super) bot: String,
    pub(super) app: String,
}

/// What every answer says.
#[derive(Deserialize)]
struct Outcome {
    ok: bool,
    #[serde(default)]
    error: String,
    #[serde(default)]
    needed: String,
}

/// What must not be done faster than Slack allows.
struct Lane {
    at_once: Semaphore,
    /// Slack wants no request before this.
    not_before: Mutex<Option<Instant>>,
}

/// The way to Slack.
pub(super) struct Api {
    base: Url,
    tokens: Tokens,
    http: reqwest::Client,
    lanes: Mutex<HashMap<String, Arc<Lane>>>,
}

impl Api {
    /// Returns the way to Slack at `base`.
    pub(super) fn new(base: Url, tokens: Tokens) -> Result<Self, String> {
        let http = crate::http().timeout(TIMEOUT).build();
        Ok(Self {
            base,
            tokens,
            http: http.map_err(|error| error.to_string())?,
            lanes: Mutex::default(),
        })
    }

    /// Calls a method as the bot.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        args: &[(&str, &str)],
    ) -> Result<T, ApiError> {
        let (answer, _) = self.call_as(As::Bot, method, args).await?;
        Ok(answer)
    }

    /// Calls a method, and returns the headers of the answer as well.
    pub(super) async fn call_as<T: DeserializeOwned>(
        &self,
        who: As,
        method: &str,
        args: &[(&str, &str)],
    ) -> Result<(T, HeaderMap), ApiError> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(method);
        }
        let token = match who {
            As::Bot => &self.tokens.bot,
            As::App => &self.tokens.app,
        };
        let request = || {
            let form = self.http.post(url.clone()).bearer_auth(token);
            form.header("content-type", "application/x-www-form-urlencoded")
                .body(form_of(args))
        };
        let lane = self.lane(method, args);
        let (status, headers, text) = in_turn(&lane, request).await?;
        let answer = read(method, status, &text)?;
        Ok((answer, headers))
    }

    /// Sends JSON to an address that Slack gave us for one response.
    pub(super) async fn respond(&self, url: &str, body: &Value) -> Result<(), ApiError> {
        let url = self.given(url)?;
        let request = || {
            let post = self.http.post(url.clone());
            post.header("content-type", "application/json")
                .body(body.to_string())
        };
        // Each address has its own pauses, so nobody waits for the response to somebody else.
        let (status, ..) = in_turn(&Lane::new(1), request).await?;
        accepted("response_url", status)
    }

    /// Sends a text to an address that Slack gave us for a file.
    pub(super) async fn upload(&self, url: &str, text: &str) -> Result<(), ApiError> {
        let url = self.given(url)?;
        let request = || {
            let post = self.http.post(url.clone());
            post.header("content-type", "application/octet-stream")
                .body(text.to_owned())
        };
        let lane = self.lane("upload_url", &[]);
        let (status, ..) = in_turn(&lane, request).await?;
        accepted("upload_url", status)
    }

    /// Returns an address that Slack gave us, if it is Slack's: its own host or one below it, and as
    /// well protected.
    pub(super) fn given(&self, text: &str) -> Result<Url, ApiError> {
        let foreign = || ApiError::Refused {
            method: "an address".to_owned(),
            error: "it is not Slack's".to_owned(),
        };
        let url = Url::parse(text).map_err(|_| foreign())?;
        let is_safe = match self.base.scheme() {
            "https" => matches!(url.scheme(), "https" | "wss"),
            _ => matches!(url.scheme(), "http" | "ws"),
        };
        let (ours, theirs) = (self.base.host_str(), url.host_str());
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return Err(foreign());
        };
        let is_below = theirs
            .strip_suffix(ours)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        if is_safe && is_below && url.username().is_empty() {
            Ok(url)
        } else {
            Err(foreign())
        }
    }

    fn lane(&self, method: &str, args: &[(&str, &str)]) -> Arc<Lane> {
        let place = args.iter().find(|(name, _)| *name == "channel");
        let (name, at_once) = match place {
            // In order, and each only after the one before: a burst would only be sent back.
            Some((_, place)) if method.starts_with("chat.") => (format!("{method} {place}"), 1),
            Some(_) | None => (method.to_owned(), AT_ONCE),
        };
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(name);
        Arc::clone(lane.or_insert_with(|| Arc::new(Lane::new(at_once))))
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

/// Sends a request when its turn has come, and again as often as it came too early.
async fn in_turn(
    lane: &Lane,
    request: impl Fn() -> reqwest::RequestBuilder,
) -> Result<(StatusCode, HeaderMap, Vec<u8>), ApiError> {
    let turn = lane.at_once.acquire().await;
    let _turn = turn.map_err(|_| ApiError::Away("the gateway is stopping".to_owned()))?;
    let away = |error: reqwest::Error| ApiError::Away(crate::words(&error.without_url()));
    for _ in 0..TOO_MANY_TRIES {
        lane.wait().await;
        let mut response = request().send().await.map_err(away)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status == StatusCode::TOO_MANY_REQUESTS {
            lane.pause(retry_after(&headers).unwrap_or(PAUSE));
            continue;
        }
        let mut text = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(away)? {
            text.extend_from_slice(&piece);
            if text.len() > ANSWER_BYTES_MAX {
                return Err(ApiError::Away("its answer is too long".to_owned()));
            }
        }
        return Ok((status, headers, text));
    }
    Err(ApiError::Away("it is rate-limiting us".to_owned()))
}

impl Lane {
    fn new(at_once: usize) -> Self {
        Self {
            at_once: Semaphore::new(at_once),
            not_before: Mutex::new(None),
        }
    }

    fn pause(&self, time: Duration) {
        let until = Instant::now() + time.min(PAUSE_MAX);
        let mut not_before = self.until();
        *not_before = Some(not_before.map_or(until, |known| known.max(until)));
    }

    async fn wait(&self) {
        loop {
            let until = *self.until();
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                Some(_) | None => return,
            }
        }
    }

    fn until(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?;
    let seconds = value.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds).max(Duration::from_millis(100)))
}

/// Returns arguments as a form.
fn form_of(args: &[(&str, &str)]) -> String {
    let Ok(mut url) = Url::parse("http://form/") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(args);
    url.query().unwrap_or_default().to_owned()
}

fn read<T: DeserializeOwned>(method: &str, status: StatusCode, text: &[u8]) -> Result<T, ApiError> {
    if !status.is_success() {
        return Err(unsuccessful(method, status));
    }
    let unreadable = |_| ApiError::Away("its answer cannot be read".to_owned());
    let outcome: Outcome = serde_json::from_slice(text).map_err(unreadable)?;
    if outcome.ok {
        return serde_json::from_slice(text).map_err(unreadable);
    }
    let needed = match outcome.needed.as_str() {
        "" => String::new(),
        needed => format!(", it needs {needed}"),
    };
    let shown = countersign_core::display::line(&format!("{}{needed}", outcome.error));
    let error: String = shown.chars().take(WHY_CHARS_MAX).collect();
    if PASSING.contains(&outcome.error.as_str()) {
        return Err(ApiError::Away(format!("it responded with {error}")));
    }
    Err(ApiError::Refused {
        method: method.to_owned(),
        error,
    })
}

fn accepted(method: &str, status: StatusCode) -> Result<(), ApiError> {
    if status.is_success() {
        return Ok(());
    }
    Err(unsuccessful(method, status))
}

fn unsuccessful(method: &str, status: StatusCode) -> ApiError {
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return ApiError::Away(format!("it responded with {status}"));
    }
    ApiError::Refused {
        method: method.to_owned(),
        error: status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_response_waits_for_no_response_to_somebody_else() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        let (tell, mut seen) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let mut stuck = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 12];
                stream.read_exact(&mut head).unwrap();
                if head.starts_with(b"POST /stuck") {
                    stuck.push(stream);
                } else {
                    let said = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    stream.write_all(said).unwrap();
                    stuck.push(stream);
                }
                if tell.send(()).is_err() {
                    return;
                }
            }
        });
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let api = Api::new(Url::parse(&base).unwrap(), Tokens::default()).unwrap();
            let api = Arc::new(api);
            let mut all = tokio::task::JoinSet::new();
            for number in 0..AT_ONCE {
                let (api, url) = (Arc::clone(&api), format!("{base}stuck/{number}"));
                all.spawn(async move { api.respond(&url, &Value::Null).await });
            }
            for _ in 0..AT_ONCE {
                seen.recv().await.unwrap();
            }
            let url = format!("{base}free");
            let free = api.respond(&url, &Value::Null);
            tokio::select! {
                done = free => assert_eq!(done, Ok(())),
                stuck = all.join_next() => panic!("it waited: {stuck:?}"),
            }
        });
    }

    #[test]
    fn only_addresses_of_slack_are_called_back() {
        let api = |base: &str| Api::new(Url::parse(base).unwrap(), Tokens::default()).unwrap();
        let real = api("https://slack.com/api/");
        let rows = [
            ("https://hooks.slack.com/actions/T1/1/abc", true),
            ("wss://wss-primary.slack.com/link/?ticket=1", true),
            ("http://hooks.slack.com/actions/T1/1/abc", false),
            ("https://evilslack.com/", false),
            ("https://slack.com.evil.example/", false),
            ("https://hooks.slack.com@evil.example/", false),
            ("https://169.254.169.254/latest", false),
            ("file:///etc/passwd", false),
            ("nothing", false),
        ];
        for (url, expected) in rows {
            assert_eq!(real.given(url).is_ok(), expected, "{url}");
        }
        let local = api("http://127.0.0.1:7/api/");
        assert!(local.given("http://127.0.0.1:7/response/1").is_ok());
        assert!(local.given("http://10.0.0.1/").is_err());
    }

    #[test]
    fn a_refusal_says_what_is_needed_and_what_passes_is_tried_again() {
        let ok = StatusCode::OK;
        let refused = br#"{"ok":false,"error":"missing_scope","needed":"chat:write"}"#;
        let error = read::<Value>("chat.update", ok, refused).unwrap_err();
        let words = "chat.update was refused: missing_scope, it needs chat:write";
        assert_eq!(error.to_string(), words);
        let passing = br#"{"ok":false,"error":"internal_error"}"#;
        let error = read::<Value>("chat.update", ok, passing).unwrap_err();
        assert!(matches!(error, ApiError::Away(_)), "{error}");
    }
}
