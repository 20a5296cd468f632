//! Verifies that a request comes from Slack: version 0 of its request signature.
//!
//! `X-Slack-Signature` is `v0=` and the hexadecimal HMAC-SHA256 of `v0:TIMESTAMP:BODY` with the app's
//! signing secret, over the body's bytes as they came. A signature is believed for five minutes before
//! and after its own time. Slack writes small letters; nothing else is taken for a signature.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::press::Untrusted;

/// How old a request may be, and how far the clocks of both sides may differ, in seconds.
pub(super) const AGE_SECONDS_MAX: i64 = 300;
/// The only version there is.
const VERSION: &str = "v0";

/// Checks the signature of `body`, as its two headers say, at `now` in Unix seconds.
pub(super) fn verify(
    secret: &str,
    timestamp: Option<&str>,
    signature: Option<&str>,
    body: &[u8],
    now: i64,
) -> Result<(), Untrusted> {
    let (Some(timestamp), Some(signature)) = (timestamp, signature) else {
        return Err(Untrusted::Unsigned);
    };
    if signature.is_empty() {
        return Err(Untrusted::Unsigned);
    }
    // First the secret, then the clock: who does not know the one learns nothing of the other.
    let expected = sign(secret, timestamp, body).ok_or(Untrusted::NoKey)?;
    if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
        return Err(Untrusted::WrongSignature);
    }
    let at: i64 = timestamp.parse().map_err(|_| Untrusted::Malformed)?;
    if now.saturating_sub(at).saturating_abs() > AGE_SECONDS_MAX {
        return Err(Untrusted::Stale);
    }
    Ok(())
}

fn sign(secret: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(format!("{VERSION}:{timestamp}:").as_bytes());
    mac.update(body);
    let mut signature = format!("{VERSION}=");
    for byte in mac.finalize().into_bytes() {
        let _infallible = write!(signature, "{byte:02x}");
    }
    Some(signature)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        signing_secret: String,
        now: i64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        timestamp: String,
        body: String,
        signature: String,
        ok: bool,
    }

    fn vectors() -> Vectors {
        let text = include_str!("../../tests/data/slack-signature-vectors.json");
        serde_json::from_str(text).unwrap()
    }

    fn checked(case: &Case, vectors: &Vectors, now: i64) -> Result<(), Untrusted> {
        let (timestamp, signature) = (Some(&*case.timestamp), Some(&*case.signature));
        let body = case.body.as_bytes();
        verify(&vectors.signing_secret, timestamp, signature, body, now)
    }

    #[test]
    fn a_request_counts_only_signed_by_slack_and_fresh() {
        let vectors = vectors();
        for case in &vectors.cases {
            let read = checked(case, &vectors, vectors.now);
            assert_eq!(read.is_ok(), case.ok, "{}: {read:?}", case.name);
        }
        let good = vectors.cases.iter().filter(|case| case.ok).count();
        assert_eq!((vectors.cases.len(), good), (7, 1));
    }

    #[test]
    fn a_signature_is_believed_for_five_minutes_both_ways() {
        let vectors = vectors();
        let case = vectors.cases.iter().find(|case| case.ok).unwrap();
        let at: i64 = case.timestamp.parse().unwrap();
        let rows = [
            (-301, Err(Untrusted::Stale)),
            (-300, Ok(())),
            (300, Ok(())),
            (301, Err(Untrusted::Stale)),
        ];
        for (later, expected) in rows {
            assert_eq!(checked(case, &vectors, at + later), expected, "{later}");
        }
        let none = verify("s", None, Some("v0=00"), b"", at);
        assert_eq!(none, Err(Untrusted::Unsigned));
    }
}
