//! Web Push: tells a browser that something waits, also while the page is closed.
//!
//! No [`Channel`](crate::Channel): nobody answers there, and nobody configures it. A person turns it
//! on for a device, and the browser names the push service that reaches it. The service sees that
//! there is a message and when; what it says only that browser can read.

mod address;
mod encrypt;
mod vapid;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

pub use address::Reach;
pub use vapid::VapidKey;

use encrypt::Receiver;

/// How long a push service may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a service keeps the news that a question is settled, in seconds.
const CLOSED_SECONDS: i64 = 3600;
/// How long it keeps a test.
const TEST_SECONDS: i64 = 60;
/// Longest pause a service may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// Longest part of a card in a message, in bytes.
const TEXT_BYTES_MAX: usize = 240;
/// Messages that are on their way at once; more wait their turn.
const SENDING_MAX: usize = 32;
/// Letters of a topic; services take no more.
const TOPIC_LETTERS: usize = 32;

/// A browser's subscription, as it gives it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Where messages are sent. Whoever knows it can send some.
    pub endpoint: String,
    /// The public key of the browser.
    pub p256dh: String,
    /// A secret that is shared with the browser.
    pub auth: String,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// A message to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A question waits.
    Waiting {
        /// Its id.
        id: String,
        /// What it is about, where the owner wants that told.
        what: Option<What>,
        /// Whether it is about something critical.
        is_critical: bool,
        /// How long it still waits, in seconds.
        seconds: i64,
    },
    /// It is settled: the notification of it goes away.
    Closed {
        /// Its id.
        id: String,
    },
    /// Somebody wants to see that it works.
    Test,
}

/// What a question is about, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    /// Who wants what.
    pub title: String,
    /// The command, or the call on one line.
    pub text: String,
}

/// Why a message did not arrive at the push service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The browser has given up the subscription.
    #[error("the device no longer takes notifications")]
    Gone,
    /// It may work later.
    #[error("the push service cannot be reached now: {why}")]
    Later {
        /// What happened, without secrets.
        why: String,
        /// How long to wait, if the service says so.
        after: Option<Duration>,
    },
    /// It will not work.
    #[error("the push service refuses: {why}")]
    Never {
        /// What happened, without secrets.
        why: String,
    },
}

/// How messages are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushSettings {
    /// Where operators of push services reach the owner: `mailto:…` or `https://…`.
    pub contact: Option<String>,
    /// Where push services may be.
    pub reach: Reach,
}

/// Sends messages to devices.
#[derive(Debug)]
pub struct Push {
    key: VapidKey,
    settings: PushSettings,
    client: reqwest::Client,
    turns: Semaphore,
}

impl Push {
    /// Returns what sends under `key`.
    pub fn new(key: VapidKey, settings: PushSettings) -> Result<Self, String> {
        let client = crate::http()
            .timeout(TIMEOUT)
            // A proxy would look names up itself, where nobody sees what they stand for.
            .no_proxy()
            .dns_resolver(address::PublicOnly(settings.reach))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            key,
            settings,
            client,
            turns: Semaphore::new(SENDING_MAX),
        })
    }

    /// Returns the public key browsers subscribe for.
    pub fn public_key(&self) -> &str {
        self.key.public()
    }

    /// Returns the host of the push service of `to`, or what is wrong with the subscription.
    pub fn check(&self, to: &Subscription) -> Result<String, &'static str> {
        let url = address::endpoint(&to.endpoint, self.settings.reach)?;
        Receiver::parse(&to.p256dh, &to.auth)?;
        Ok(url.host_str().unwrap_or_default().to_owned())
    }

    /// Sends `notice` to one device.
    pub async fn notify(&self, to: &Subscription, notice: &Notice) -> Result<(), PushError> {
        let never = |why: &str| PushError::Never {
            why: why.to_owned(),
        };
        let url = address::endpoint(&to.endpoint, self.settings.reach).map_err(never)?;
        let receiver = Receiver::parse(&to.p256dh, &to.auth).map_err(never)?;
        let body = encrypt::encrypt(&receiver, notice.message().as_bytes());
        let body = body.map_err(|_| never("the message cannot be encrypted"))?;
        let now = unix_seconds();
        let origin = url.origin().ascii_serialization();
        let contact = self.settings.contact.as_deref();
        let authorization = self.key.authorization(&origin, contact, now);
        let authorization = authorization.map_err(|_| never("the message cannot be signed"))?;
        let mut request = self
            .client
            .post(url)
            .header("authorization", authorization)
            .header("content-encoding", "aes128gcm")
            .header("content-type", "application/octet-stream")
            .header("ttl", notice.seconds_to_live().to_string())
            .header("urgency", notice.urgency());
        if let Some(topic) = notice.topic() {
            request = request.header("topic", topic);
        }
        let _turn = self.turns.acquire().await;
        // The address is a secret of the device, so it is left out.
        let sent = request.body(body).send().await;
        let response = sent.map_err(|error| PushError::Later {
            why: crate::words(&error.without_url()),
            after: None,
        })?;
        outcome(response.status(), response.headers())
    }
}

/// Returns what the answer of a push service means.
fn outcome(status: StatusCode, headers: &HeaderMap) -> Result<(), PushError> {
    let why = format!("it responded with {status}");
    match status.as_u16() {
        200..=299 => Ok(()),
        404 | 410 => Err(PushError::Gone),
        408 | 425 | 429 | 500..=599 => Err(PushError::Later {
            why,
            after: headers
                .get(RETRY_AFTER)
                .and_then(|value| retry_after(value.to_str().ok()?)),
        }),
        _ => Err(PushError::Never { why }),
    }
}

/// Returns how long `Retry-After` asks to wait: a number of seconds. A date is not read; the usual
/// pauses hold then.
fn retry_after(value: &str) -> Option<Duration> {
    let seconds = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

impl Notice {
    /// Returns what the browser reads.
    fn message(&self) -> String {
        let message = match self {
            Self::Waiting { id, what: None, .. } => {
                serde_json::json!({"type": "waiting", "id": id})
            }
            Self::Waiting {
                id,
                what: Some(what),
                ..
            } => serde_json::json!({
                "type": "waiting",
                "id": id,
                "title": cut(&what.title),
                "text": cut(&what.text),
            }),
            Self::Closed { id } => serde_json::json!({"type": "closed", "id": id}),
            Self::Test => serde_json::json!({"type": "test"}),
        };
        message.to_string()
    }

    /// Returns how long a service keeps it for a device that is away.
    fn seconds_to_live(&self) -> i64 {
        match self {
            Self::Waiting { seconds, .. } => (*seconds).max(0),
            Self::Closed { .. } => CLOSED_SECONDS,
            Self::Test => TEST_SECONDS,
        }
    }

    /// Returns how much it matters: whether a sleeping device is woken.
    const fn urgency(&self) -> &'static str {
        match self {
            Self::Waiting {
                is_critical: true, ..
            }
            | Self::Test => "high",
            Self::Waiting { .. } | Self::Closed { .. } => "normal",
        }
    }

    /// Returns a word that is the same for all messages about one question and tells nothing of it:
    /// of those, a service keeps the last one alone.
    fn topic(&self) -> Option<String> {
        let (Self::Waiting { id, .. } | Self::Closed { id }) = self else {
            return None;
        };
        let Digest(hash) = Digest::of(format!("countersign/v1/topic\0{id}").as_bytes());
        let mut topic = URL_SAFE_NO_PAD.encode(hash);
        topic.truncate(TOPIC_LETTERS);
        Some(topic)
    }
}

/// Returns the beginning of `text`, as much as a notification shows.
fn cut(text: &str) -> String {
    let mut end = TEXT_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let begun = text.get(..end).unwrap_or_default();
    if end < text.len() {
        format!("{begun}…")
    } else {
        begun.to_owned()
    }
}

fn unix_seconds() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    passed.map_or(0, |passed| {
        i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(what: Option<What>) -> Notice {
        Notice::Waiting {
            id: "appr_1".to_owned(),
            what,
            is_critical: false,
            seconds: 270,
        }
    }

    #[test]
    fn a_message_says_that_something_waits_and_what_only_if_it_is_to() {
        let that = waiting(None).message();
        assert_eq!(that, r#"{"type":"waiting","id":"appr_1"}"#);
        let what = What {
            title: "hermes wants to use terminal".to_owned(),
            text: "é".repeat(400),
        };
        let message = waiting(Some(what)).message();
        assert!(message.contains("hermes wants"), "{message}");
        assert!(message.contains('…') && message.len() < 1000, "{message}");
    }

    #[test]
    fn the_news_of_an_answer_replaces_the_question_and_names_it_not() {
        let asked = waiting(None).topic().unwrap();
        let id = "appr_1".to_owned();
        assert_eq!(Notice::Closed { id }.topic().as_ref(), Some(&asked));
        let id = "appr_2".to_owned();
        assert_ne!(Notice::Closed { id }.topic().as_ref(), Some(&asked));
        assert_eq!(asked.len(), TOPIC_LETTERS);
        assert!(!asked.contains("appr"), "{asked}");
    }

    #[test]
    fn what_a_service_answers_means_the_same_for_all_of_them() {
        let later = |seconds: Option<u64>| Err::<(), _>((true, seconds.map(Duration::from_secs)));
        let rows = [
            (201, None, Ok(())),
            (429, Some("7"), later(Some(7))),
            (503, Some("999999"), later(Some(3600))),
            (500, None, later(None)),
            (502, Some("soon"), later(None)),
            (400, Some("7"), Err((false, None))),
            (301, None, Err((false, None))),
            (403, None, Err((false, None))),
        ];
        for (status, header, expected) in rows {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(RETRY_AFTER, header.parse().unwrap());
            }
            let got = outcome(StatusCode::from_u16(status).unwrap(), &headers);
            let got = got.map_err(|error| match error {
                PushError::Later { after, .. } => (true, after),
                PushError::Never { .. } | PushError::Gone => (false, None),
            });
            assert_eq!(got, expected, "{status}");
        }
        for status in [404, 410] {
            let status = StatusCode::from_u16(status).unwrap();
            let got = outcome(status, &HeaderMap::new());
            assert_eq!(got, Err(PushError::Gone), "{status}");
        }
    }

    #[test]
    fn a_subscription_is_not_in_what_a_log_would_show() {
        let it = Subscription {
            endpoint: "https://push.example.org/secret".to_owned(),
            p256dh: String::new(),
            auth: "secret".to_owned(),
        };
        assert!(!format!("{it:?}").contains("secret"));
    }
}
