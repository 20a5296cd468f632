//! HTTP client for Discord: one request at a time per route and place, and the pauses Discord asks for.
//!
//! Discord counts requests per route and channel, announces the end of a count in headers, and has one
//! limit over all. Answers to interactions are counted apart from everything else.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_core::display;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::locked;
use crate::DeliveryError;

/// How long Discord may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How often a request that came too early is sent again.
const TOO_MANY_TRIES: u32 = 60;
/// Pause after such an answer if Discord does not say how long.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause that is kept because Discord says so.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest part of an error that is repeated, in characters.
const WHY_CHARS_MAX: usize = 200;
/// Lanes that are kept.
const LANES_MAX: usize = 1024;
/// Discord refuses clients that do not name themselves in this form.
const AGENT: &str = concat!("DiscordBot (countersign, ", env!("CARGO_PKG_VERSION"), ")");

/// Discord's numbers for refusals that are handled apart from others.
pub(super) mod code {
    pub(crate) const UNKNOWN_CHANNEL: u32 = 10_003;
    pub(crate) const UNKNOWN_MEMBER: u32 = 10_007;
    pub(crate) const UNKNOWN_MESSAGE: u32 = 10_008;
    pub(crate) const UNKNOWN_WEBHOOK: u32 = 10_015;
    pub(crate) const MISSING_ACCESS: u32 = 50_001;
}

/// Why Discord did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// It may work later.
    #[error("{0}")]
    Away(String),
    /// It will not.
    #[error("it was refused: {words}")]
    Refused {
        /// The status of the response; 0 for a refusal of our own.
        status: u16,
        /// Discord's own number for it.
        code: u32,
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
            refused @ Self::Refused { .. } => DeliveryError::Never {
                channel,
                why: refused.to_string(),
            },
        }
    }

    /// A refusal of our own.
    pub(super) fn ours(words: &str) -> Self {
        Self::Refused {
            status: 0,
            code: 0,
            words: words.to_owned(),
        }
    }

    /// Whether Discord refused with this number.
    pub(super) const fn is(&self, number: u32) -> bool {
        match self {
            Self::Away(_) => false,
            Self::Refused { code, .. } => *code == number,
        }
    }

    /// Returns the status of a refusal.
    pub(super) const fn status(&self) -> Option<u16> {
        match self {
            Self::Away(_) => None,
            Self::Refused { status, .. } => Some(*status),
        }
    }
}

/// When the next request of a lane may be sent.
type Lane = Arc<tokio::sync::Mutex<Option<Instant>>>;

/// The way to Discord.
pub(super) struct Api {
    base: Url,
    authorization: String,
    http: reqwest::Client,
    lanes: Mutex<HashMap<String, Lane>>,
    /// Discord wants no request at all before this.
    not_before: Mutex<Option<Instant>>,
}

/// What is sent.
enum Body {
    None,
    Json(String),
    Form { boundary: String, bytes: Vec<u8> },
}

/// Whether a request is made as the bot, or with a token in its address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Bot,
    Interaction,
}

impl Api {
    /// Returns the way to Discord at `base` for the bot with this token.
    pub(super) fn new(base: Url, token: &str) -> Result<Self, String> {
        let http = crate::http().timeout(TIMEOUT).user_agent(AGENT).build();
        Ok(Self {
            base,
            authorization: format!("Bot {token}"),
            http: http.map_err(|error| error.to_string())?,
            lanes: Mutex::default(),
            not_before: Mutex::default(),
        })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, ApiError> {
        self.get_with(path, &[]).await
    }

    pub(super) async fn get_with<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ApiError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let (answer, _) = self.ask(Method::GET, url, path, &Body::None).await?;
        Ok(answer)
    }

    /// Returns the answer to a GET with its headers.
    pub(super) async fn get_with_headers<T: DeserializeOwned>(
        &self,
        path: &[&str],
    ) -> Result<(T, HeaderMap), ApiError> {
        let url = self.url(path);
        self.ask(Method::GET, url, path, &Body::None).await
    }

    /// Sends JSON as the bot.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<T, ApiError> {
        let body = Body::Json(body.to_string());
        let (answer, _) = self.ask(method, self.url(path), path, &body).await?;
        Ok(answer)
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &Value,
    ) -> Result<T, ApiError> {
        self.send(Method::POST, path, body).await
    }

    /// Sends JSON with a file beside it.
    pub(super) async fn upload<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &Value,
        (name, text): (&str, &str),
    ) -> Result<T, ApiError> {
        let form = form(&body.to_string(), name, text);
        let (answer, _) = self.ask(Method::POST, self.url(path), path, &form).await?;
        Ok(answer)
    }

    /// Sends JSON to an address whose token is the interaction's. Nobody else waits for it.
    pub(super) async fn interact(
        &self,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<(), ApiError> {
        let body = Body::Json(body.to_string());
        let lane = Lane::default();
        let url = self.url(path);
        let request = || self.request(&method, &url, &body, As::Interaction);
        let (_, _): (Value, _) = self.in_lane(&lane, request, As::Interaction).await?;
        Ok(())
    }

    /// Returns the address of the gateway that Discord gave us, if it is Discord's and as well protected.
    pub(super) fn gateway(&self, text: &str) -> Result<Url, ApiError> {
        let foreign = || ApiError::ours("the address of the gateway is not Discord's");
        let mut url = Url::parse(text).map_err(|_| foreign())?;
        let (ours, theirs) = (self.base.host_str(), url.host_str());
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return Err(foreign());
        };
        let is_safe = match self.base.scheme() {
            "https" => url.scheme() == "wss",
            _ => url.scheme() == "ws",
        };
        let is_theirs = ours == "discord.com" && theirs.ends_with(".discord.gg");
        if !is_safe || !(is_theirs || ours == theirs) || !url.username().is_empty() {
            return Err(foreign());
        }
        url.set_query(Some("v=10&encoding=json"));
        Ok(url)
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        path: &[&str],
        body: &Body,
    ) -> Result<(T, HeaderMap), ApiError> {
        let lane = self.lane(&method, path);
        let request = || self.request(&method, &url, body, As::Bot);
        self.in_lane(&lane, request, As::Bot).await
    }

    fn request(&self, method: &Method, url: &Url, body: &Body, who: As) -> reqwest::RequestBuilder {
        let mut request = self.http.request(method.clone(), url.clone());
        if who == As::Bot {
            request = request.header("authorization", &self.authorization);
        }
        match body {
            Body::None => request,
            Body::Json(text) => {
                let json = request.header("content-type", "application/json");
                json.body(text.clone())
            }
            Body::Form { boundary, bytes } => {
                let kind = format!("multipart/form-data; boundary={boundary}");
                request.header("content-type", kind).body(bytes.clone())
            }
        }
    }

    /// Returns the lane of a route: its first three parts name the place and the kind of thing in it.
    fn lane(&self, method: &Method, path: &[&str]) -> Lane {
        let mut key = method.to_string();
        for part in path.iter().take(3) {
            key.push('/');
            key.push_str(part);
        }
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
        who: As,
    ) -> Result<(T, HeaderMap), ApiError> {
        let mut not_before = lane.lock().await;
        for _ in 0..TOO_MANY_TRIES {
            let of_all = match who {
                As::Bot => *locked(&self.not_before),
                As::Interaction => None,
            };
            if let Some(until) = not_before.max(of_all) {
                tokio::time::sleep_until(until).await;
            }
            let (status, headers, text) = ask_once(request()).await?;
            if status == StatusCode::TOO_MANY_REQUESTS {
                let (pause, is_for_all) = too_early(&headers, &text);
                let until = Some(Instant::now() + pause);
                if is_for_all {
                    *locked(&self.not_before) = until;
                } else {
                    *not_before = until;
                }
                continue;
            }
            *not_before = used_up(&headers);
            return Ok((read(status, &text)?, headers));
        }
        Err(ApiError::Away("it is rate-limiting us".to_owned()))
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token.
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

async fn ask_once(
    request: reqwest::RequestBuilder,
) -> Result<(StatusCode, HeaderMap, Vec<u8>), ApiError> {
    // An address may hold the token of an interaction, so it is never repeated.
    let away = |error: reqwest::Error| ApiError::Away(crate::words(&error.without_url()));
    let mut response = request.send().await.map_err(away)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(away)? {
        text.extend_from_slice(&piece);
        if text.len() > ANSWER_BYTES_MAX {
            return Err(ApiError::Away("its answer is too long".to_owned()));
        }
    }
    Ok((status, headers, text))
}

/// The body of a response that says it was too early.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TooEarly {
    retry_after: Option<f64>,
    global: bool,
}

/// Returns how long Discord wants us to wait, and whether with everything.
fn too_early(headers: &HeaderMap, text: &[u8]) -> (Duration, bool) {
    let body: TooEarly = serde_json::from_slice(text).unwrap_or_default();
    let seconds = body.retry_after.or_else(|| number(headers, "retry-after"));
    let pause = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    (pause.unwrap_or(PAUSE).min(PAUSE_MAX), body.global)
}

/// Returns until when a lane must wait because its count is used up.
fn used_up(headers: &HeaderMap) -> Option<Instant> {
    let left = number(headers, "x-ratelimit-remaining")?;
    let after = number(headers, "x-ratelimit-reset-after")?;
    let after = Duration::try_from_secs_f64(after).ok()?;
    (left < 1.0).then(|| Instant::now() + after.min(PAUSE_MAX))
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The body of a refusal.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    code: u32,
    message: String,
}

fn read<T: DeserializeOwned>(status: StatusCode, text: &[u8]) -> Result<T, ApiError> {
    if status.is_success() {
        let text = if text.is_empty() { b"null" } else { text };
        let unreadable = |_| ApiError::Away("its answer cannot be read".to_owned());
        return serde_json::from_slice(text).map_err(unreadable);
    }
    if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
        return Err(ApiError::Away(format!("it responded with {status}")));
    }
    let said: Refusal = serde_json::from_slice(text).unwrap_or_default();
    let shown = display::line(&said.message);
    let shown: String = shown.chars().take(WHY_CHARS_MAX).collect();
    Err(ApiError::Refused {
        status: status.as_u16(),
        code: said.code,
        words: format!("{shown} ({status}, {})", said.code),
    })
}

/// Returns a form with JSON and one file; the boundary between its parts is in none of them.
fn form(json: &str, name: &str, text: &str) -> Body {
    let mut boundary = "countersign".to_owned();
    while text.contains(&boundary) || json.contains(&boundary) {
        boundary.push('x');
    }
    let mut body = String::new();
    let _infallible = write!(
        body,
        "--{boundary}\r\ncontent-disposition: form-data; name=\"payload_json\"\r\n\
         content-type: application/json\r\n\r\n{json}\r\n\
         --{boundary}\r\ncontent-disposition: form-data; name=\"files[0]\"; filename=\"{name}\"\r\n\
         content-type: text/plain; charset=utf-8\r\n\r\n{text}\r\n--{boundary}--\r\n"
    );
    Body::Form {
        boundary,
        bytes: body.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gateway_of_discord_is_connected_to() {
        let api = |base: &str| Api::new(Url::parse(base).unwrap(), "t").unwrap();
        let real = api("https://discord.com/api/v10/");
        let rows = [
            ("wss://gateway.discord.gg", true),
            ("wss://gateway-us-east1-b.discord.gg", true),
            ("ws://gateway.discord.gg", false),
            ("wss://gateway.discord.gg.evil.example", false),
            ("wss://evildiscord.gg", false),
            ("wss://gateway.discord.gg@evil.example", false),
            ("https://gateway.discord.gg", false),
            ("nothing", false),
        ];
        for (url, expected) in rows {
            assert_eq!(real.gateway(url).is_ok(), expected, "{url}");
        }
        let local = api("http://127.0.0.1:7/api/v10/");
        let url = local.gateway("ws://127.0.0.1:7/gateway").unwrap();
        assert_eq!(url.as_str(), "ws://127.0.0.1:7/gateway?v=10&encoding=json");
        assert!(local.gateway("wss://gateway.discord.gg").is_err());
    }

    #[test]
    fn a_pause_is_taken_from_the_body_or_from_the_header() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", 3.into());
        let body = br#"{"message":"slow","retry_after":0.5,"global":true}"#;
        let half = Duration::from_millis(500);
        assert_eq!(too_early(&headers, body), (half, true));
        let three = Duration::from_secs(3);
        assert_eq!(too_early(&headers, b"<html>"), (three, false));
        assert_eq!(too_early(&HeaderMap::new(), b"{}"), (PAUSE, false));
        let much = br#"{"retry_after":1e300}"#;
        assert_eq!(too_early(&HeaderMap::new(), much), (PAUSE, false));
    }
}
