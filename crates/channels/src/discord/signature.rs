//! Verifies that a request comes from Discord: Ed25519 over the timestamp and the body.
//!
//! `X-Signature-Ed25519` is the hexadecimal signature of `X-Signature-Timestamp` followed by the body's
//! bytes as they came. Discord bounds the age of a request by nothing, so it is bounded here: five minutes
//! before and after. Discord sends wrong signatures on purpose and expects 401.

use ring::signature::{ED25519, ED25519_PUBLIC_KEY_LEN, UnparsedPublicKey};

use crate::press::Untrusted;

/// How old a request may be, and how far the clocks of both sides may differ, in seconds.
pub(super) const AGE_SECONDS_MAX: i64 = 300;
/// Bytes of a signature.
const SIGNATURE_BYTES: usize = 64;

/// Checks the signature of `body`, as its two headers say, at `now` in Unix seconds.
pub(super) fn verify(
    public_key: &[u8],
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
    let signature = bytes_of(signature).filter(|it| it.len() == SIGNATURE_BYTES);
    let signature = signature.ok_or(Untrusted::WrongSignature)?;
    let mut message = timestamp.as_bytes().to_vec();
    message.extend_from_slice(body);
    UnparsedPublicKey::new(&ED25519, public_key)
        .verify(&message, &signature)
        .map_err(|_| Untrusted::WrongSignature)?;
    let at: i64 = timestamp.parse().map_err(|_| Untrusted::Malformed)?;
    if now.saturating_sub(at).saturating_abs() > AGE_SECONDS_MAX {
        return Err(Untrusted::Stale);
    }
    Ok(())
}

/// Reads the public key of an application as the Developer Portal shows it.
pub(super) fn public_key(text: &str) -> Option<Vec<u8>> {
    bytes_of(text.trim()).filter(|it| it.len() == ED25519_PUBLIC_KEY_LEN)
}

/// Returns the bytes of a text of hexadecimal digits.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        public_key_hex: String,
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
        let text = include_str!("../../tests/data/discord-signature-vectors.json");
        serde_json::from_str(text).unwrap()
    }

    fn checked(case: &Case, key: &[u8], now: i64) -> Result<(), Untrusted> {
        let (timestamp, signature) = (Some(&*case.timestamp), Some(&*case.signature));
        verify(key, timestamp, signature, case.body.as_bytes(), now)
    }

    #[test]
    fn a_request_counts_only_as_discord_signed_it() {
        let vectors = vectors();
        let key = public_key(&vectors.public_key_hex).unwrap();
        for case in &vectors.cases {
            let read = checked(case, &key, 1_786_000_000);
            assert_eq!(read.is_ok(), case.ok, "{}: {read:?}", case.name);
        }
        let good = vectors.cases.iter().filter(|case| case.ok).count();
        assert_eq!((vectors.cases.len(), good), (5, 2));
    }

    #[test]
    fn a_signature_counts_for_five_minutes_both_ways() {
        let vectors = vectors();
        let key = public_key(&vectors.public_key_hex).unwrap();
        let case = vectors.cases.iter().find(|case| case.ok).unwrap();
        let at: i64 = case.timestamp.parse().unwrap();
        let rows = [
            (-301, Err(Untrusted::Stale)),
            (-300, Ok(())),
            (300, Ok(())),
            (301, Err(Untrusted::Stale)),
        ];
        for (later, expected) in rows {
            assert_eq!(checked(case, &key, at + later), expected, "{later}");
        }
        let unsigned = verify(&key, Some("1"), None, b"", at);
        assert_eq!(unsigned, Err(Untrusted::Unsigned));
    }

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        assert!(public_key(&"0a".repeat(32)).is_some());
        for wrong in ["", "0a", &"0a".repeat(33), &"zz".repeat(32), "ä"] {
            assert_eq!(public_key(wrong), None, "{wrong}");
        }
    }
}
