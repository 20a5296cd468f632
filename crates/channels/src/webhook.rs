//! The webhook channel: signed POSTs out, signed answers back.
//!
//! Both directions carry `Countersign-Signature: t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of
//! `v1:SECONDS:BODY` under a secret both sides know. A signature older or newer than five minutes
//! proves nothing; whether a fresh one was seen before is for the gate to say, where an answer
//! counts once anyway.

use std::time::Duration;

use countersign_core::approval::Choice;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::order::{Shown, Subject};
use crate::{BoxFuture, Channel, Delivered, DeliveryError, Order};

/// The header a signature travels in.
pub(crate) const SIGNATURE_HEADER: &str = "countersign-signature";
/// How far the clocks of both sides may differ, in seconds.
const SKEW_SECONDS: i64 = 300;
/// Shortest secret, in bytes.
const SECRET_BYTES_MIN: usize = 16;
/// How long the other side may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How a webhook is set up.
#[derive(Clone)]
pub struct WebhookSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The address for cards: `https`, or `http` on this machine.
    pub url: String,
    /// The secret both sides know.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for WebhookSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A channel for any program that can take a POST.
#[derive(Clone, Debug)]
pub struct Webhook {
    settings: WebhookSettings,
    client: reqwest::Client,
}

/// An answer that really comes from the other side. Who the person is, and whether they may answer,
/// is for the gate to say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// To which question.
    pub approval_id: String,
    /// The choice.
    pub choice: Choice,
    /// The account of the person on the other side.
    pub account: String,
    /// The note.
    #[serde(default)]
    pub note: Option<String>,
}

/// Why an answer is not authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// There is no signature, or it is written wrongly.
    #[error("the signature is missing or cannot be read")]
    Unsigned,
    /// It is too old or from the future.
    #[error("the signature is too old or from the future")]
    Stale,
    /// It does not belong to the body.
    #[error("the signature is wrong")]
    BadSignature,
    /// The body is not an answer.
    #[error("the body is not an answer")]
    Malformed,
}

impl Webhook {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: WebhookSettings) -> Result<Self, String> {
        if settings.secret.len() < SECRET_BYTES_MIN {
            return Err("its secret is shorter than 16 bytes".to_owned());
        }
        crate::checked_url(&settings.url)?;
        let client = crate::http()
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { settings, client })
    }

    /// Returns the answer in `body`, if `signature` proves at `now` (Unix seconds) that it comes
    /// from the other side.
    pub fn verify(
        &self,
        signature: Option<&str>,
        body: &[u8],
        now: i64,
    ) -> Result<Verified, VerifyError> {
        let (at, given) = signature
            .and_then(parse_signature)
            .ok_or(VerifyError::Unsigned)?;
        if (now - at).abs() > SKEW_SECONDS {
            return Err(VerifyError::Stale);
        }
        let expected = self.sign(at, body);
        if !bool::from(expected.as_bytes().ct_eq(given.as_bytes())) {
            return Err(VerifyError::BadSignature);
        }
        serde_json::from_slice(body).map_err(|_| VerifyError::Malformed)
    }

    /// Returns the signature of `body` at `at`, in hexadecimal.
    fn sign(&self, at: i64, body: &[u8]) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.settings.secret) else {
            return String::new();
        };
        mac.update(format!("v1:{at}:").as_bytes());
        mac.update(body);
        let bytes: [u8; 32] = mac.finalize().into_bytes().into();
        countersign_core::digest::Digest(bytes).hex()
    }

    async fn post(&self, key: &str, body: &Value) -> Result<(), DeliveryError> {
        let name = &self.settings.name;
        let later = |why: String| DeliveryError::Later {
            channel: name.clone(),
            why,
        };
        let body = body.to_string();
        let at = unix_seconds();
        let response = self
            .client
            .post(&self.settings.url)
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .header(
                SIGNATURE_HEADER,
                format!("t={at},v1={}", self.sign(at, body.as_bytes())),
            )
            .body(body)
            .send()
            .await
            // The address may carry something secret in its path, so it is left out.
            .map_err(|error| later(crate::words(&error.without_url())))?;
        let status = response.status();
        if status.is_success() {
            Ok(())
        } else if status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429) {
            Err(later(format!("it responded with {status}")))
        } else {
            Err(DeliveryError::Never {
                channel: name.clone(),
                why: format!("it responded with {status}"),
            })
        }
    }
}

impl Channel for Webhook {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn kind(&self) -> &'static str {
        "webhook"
    }

    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            self.post(&order.key, &body(order, "")).await?;
            Ok(Delivered {
                channel: self.settings.name.clone(),
                reference: order.key.clone(),
                shown: Shown::Whole,
            })
        })
    }

    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let is_over = order.what.outcome().is_some();
            let key = format!("{}:{is_over}", delivered.reference);
            self.post(&key, &body(order, ".updated")).await
        })
    }

    fn unfold<'a>(
        &'a self,
        _delivered: &'a Delivered,
        _order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        // The other side was given all of it.
        Box::pin(async { Ok(()) })
    }

    fn say<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let key = countersign_core::digest::Digest::of(text.as_bytes()).hex();
            self.post(&key, &json!({"type": "message", "text": text}))
                .await
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let body = json!({"type": "message", "to": to, "text": text});
            self.post(key, &body).await
        })
    }
}

/// Returns what the other side is sent.
fn body(order: &Order, suffix: &str) -> Value {
    match &order.what {
        Subject::Card(card) => {
            json!({"type": format!("card{suffix}"), "card": card, "text": card.plain_text()})
        }
        // It says that it takes none.
        Subject::Question(_) => Value::Null,
    }
}

/// Returns time and signature of `t=SECONDS,v1=HEX`.
fn parse_signature(text: &str) -> Option<(i64, &str)> {
    let (at, signature) = text.strip_prefix("t=")?.split_once(",v1=")?;
    // A sign or spaces would let one signature be written in several ways.
    if at.is_empty() || !at.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((at.parse().ok()?, signature))
}

fn unix_seconds() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |passed| {
            i64::try_from(passed.as_secs()).unwrap_or(i64::MAX)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Webhook {
        Webhook::new(WebhookSettings {
            name: "pager".to_owned(),
            url: "http://127.0.0.1:9/card".to_owned(),
            secret: b"sixteen bytes or more".to_vec(),
        })
        .unwrap()
    }

    const ANSWER: &[u8] = br#"{"approval_id":"appr_1","choice":"once","account":"ana"}"#;

    #[test]
    fn an_answer_counts_only_with_a_fresh_signature_over_exactly_its_bytes() {
        let hook = hook();
        let now = 1_700_000_000;
        let signed = |at: i64, body: &[u8]| format!("t={at},v1={}", hook.sign(at, body));
        let good = signed(now, ANSWER);
        assert_eq!(
            hook.verify(Some(&good), ANSWER, now).unwrap().account,
            "ana"
        );
        let other = br#"{"approval_id":"appr_2","choice":"once","account":"ana"}"#;
        let rows: [(&str, Option<String>, &[u8], VerifyError); 8] = [
            ("no signature", None, ANSWER, VerifyError::Unsigned),
            ("empty", Some(String::new()), ANSWER, VerifyError::Unsigned),
            (
                "a sign before the time",
                Some(good.replace("t=", "t=+")),
                ANSWER,
                VerifyError::Unsigned,
            ),
            (
                "another body",
                Some(good.clone()),
                other,
                VerifyError::BadSignature,
            ),
            (
                "another time",
                Some(good.replace("t=1700000000", "t=1700000001")),
                ANSWER,
                VerifyError::BadSignature,
            ),
            (
                "too old",
                Some(signed(now - 301, ANSWER)),
                ANSWER,
                VerifyError::Stale,
            ),
            (
                "from the future",
                Some(signed(now + 301, ANSWER)),
                ANSWER,
                VerifyError::Stale,
            ),
            (
                "not an answer",
                Some(signed(now, b"{}")),
                b"{}",
                VerifyError::Malformed,
            ),
        ];
        for (name, signature, body, expected) in rows {
            let got = hook.verify(signature.as_deref(), body, now);
            assert_eq!(got, Err(expected), "{name}");
        }
    }

    #[tokio::test]
    async fn a_message_to_somebody_names_them_and_is_signed() {
        use std::io::{BufRead as _, BufReader, Read as _, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let hook = Webhook::new(WebhookSettings {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            ..hook().settings
        })
        .unwrap();
        let other_side = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            let value = |name: &str| {
                let line = head.lines().find(|line| line.starts_with(name));
                line.unwrap().split_once(": ").unwrap().1.to_owned()
            };
            let mut body = vec![0; value("content-length").parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
                .unwrap();
            (value("idempotency-key"), value(SIGNATURE_HEADER), body)
        });
        hook.send("room 7", "hello", "call_1").await.unwrap();
        let (key, signature, body) = other_side.join().unwrap();
        assert_eq!(key, "call_1");
        assert_eq!(body, br#"{"type":"message","to":"room 7","text":"hello"}"#);
        let (at, given) = parse_signature(&signature).unwrap();
        assert_eq!(given, hook.sign(at, &body));
    }

    #[test]
    fn settings_that_would_leak_are_refused() {
        let rows = [
            ("plain http elsewhere", "http://example.org/x", 32),
            (
                "a password in the address",
                "https://ana:x@example.org/",
                32,
            ),
            ("no address", "pager", 32),
            ("a short secret", "https://example.org/", 15),
        ];
        for (name, url, secret) in rows {
            let made = Webhook::new(WebhookSettings {
                name: "pager".to_owned(),
                url: url.to_owned(),
                secret: vec![b'x'; secret],
            });
            assert!(made.is_err(), "{name}");
        }
    }

    #[test]
    fn the_secret_is_not_in_what_a_log_would_show() {
        assert!(!format!("{:?}", hook()).contains("sixteen"));
    }
}
