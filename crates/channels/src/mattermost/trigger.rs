//! Verifies who pressed a button: Mattermost does not sign callbacks, but it signs the `trigger_id`
//! with the person and the time.
//!
//! A trigger is the base64 of `ID:USER:MILLISECONDS:SIGNATURE`; the signature is ECDSA P-256 over the
//! SHA-256 of everything before it. Other integrations on the same server see triggers of the same
//! people, so a trigger alone proves nothing about a card.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

use crate::press::Untrusted;

/// How old a trigger may be, and how far the clocks of both sides may differ, in milliseconds.
pub(super) const AGE_MILLIS_MAX: i64 = 60_000;
/// Bytes of a point on the curve, which ends the server's public key.
const POINT_BYTES: usize = 65;
/// Bytes of the public key as the server gives it.
const KEY_BYTES: usize = 91;
/// Longest trigger that is read, in bytes.
const TRIGGER_BYTES_MAX: usize = 1024;

/// A trigger that the server signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    /// Its own id; each is used once.
    pub(super) id: String,
    /// Who.
    pub(super) user_id: String,
}

/// The public key of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerKey(Vec<u8>);

impl ServerKey {
    /// Reads the key as the server gives it: base64 of DER.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim()).ok()?;
        if bytes.len() != KEY_BYTES {
            return None;
        }
        let point = bytes.get(KEY_BYTES - POINT_BYTES..)?;
        (point.first() == Some(&4)).then(|| Self(point.to_vec()))
    }

    /// Returns the trigger, if the server signed it not longer than `age` milliseconds ago.
    pub(super) fn verify(&self, trigger: &str, now: i64, age: i64) -> Result<Trigger, Untrusted> {
        if trigger.is_empty() {
            return Err(Untrusted::Unsigned);
        }
        if trigger.len() > TRIGGER_BYTES_MAX {
            return Err(Untrusted::Malformed);
        }
        let bytes = STANDARD.decode(trigger).map_err(|_| Untrusted::Malformed)?;
        let text = String::from_utf8(bytes).map_err(|_| Untrusted::Malformed)?;
        let parts: Vec<&str> = text.split(':').collect();
        let [id, user_id, at, signature] = parts.as_slice() else {
            return Err(Untrusted::Malformed);
        };
        let signed = format!("{id}:{user_id}:{at}:");
        let signature = STANDARD
            .decode(signature)
            .map_err(|_| Untrusted::Malformed)?;
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.0)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| Untrusted::WrongSignature)?;
        let at: i64 = at.parse().map_err(|_| Untrusted::Malformed)?;
        if now.saturating_sub(at).saturating_abs() > age {
            return Err(Untrusted::Stale);
        }
        Ok(Trigger {
            id: (*id).to_owned(),
            user_id: (*user_id).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        public_key_der_b64: String,
        now_ms: i64,
        max_age_ms: i64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        trigger_id: String,
        ok: bool,
        user_id: Option<String>,
    }

    fn vectors() -> Vectors {
        serde_json::from_str(include_str!("../../tests/data/trigger-id-vectors.json")).unwrap()
    }

    #[test]
    fn a_trigger_counts_only_signed_by_the_server_and_fresh() {
        let vectors = vectors();
        let key = ServerKey::parse(&vectors.public_key_der_b64).unwrap();
        let mut good = 0;
        for case in &vectors.cases {
            let read = key.verify(&case.trigger_id, vectors.now_ms, vectors.max_age_ms);
            assert_eq!(read.is_ok(), case.ok, "{}: {read:?}", case.name);
            if let Ok(trigger) = read {
                assert_eq!(Some(trigger.user_id), case.user_id, "{}", case.name);
                good += 1;
            }
        }
        assert_eq!((vectors.cases.len(), good), (7, 1));
        let none = key.verify("", vectors.now_ms, vectors.max_age_ms);
        assert_eq!(none, Err(Untrusted::Unsigned));
    }

    #[test]
    fn what_is_no_key_is_none() {
        for (name, text) in [("empty", ""), ("no base64", "%"), ("short", "AAAA")] {
            assert_eq!(ServerKey::parse(text), None, "{name}");
        }
    }
}
