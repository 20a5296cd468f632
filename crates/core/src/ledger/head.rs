//! `Head`: a signed number and hash of the newest entry, kept outside the database: in a file, a
//! chat, a mail. Whoever can write the database cannot forge one.
//!
//! A checkpoint is an entry of the chain and goes with the rows that are cut off; a head stays.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use serde_json::{Value, json};

use super::checkpoint::{Checkpoint, CheckpointError};
use crate::canonical;
use crate::digest::Digest;
use crate::time::UnixMillis;
use crate::token::PublicKey;

/// Domain separation: prefixed to the signed bytes, so no other signature can be reused.
const DOMAIN: &[u8] = b"countersign/v1/head\0";

/// The newest entry at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last entry.
    pub last: Checkpoint,
    /// When it was the last.
    pub at: UnixMillis,
}

/// Returns `head` signed by `key`, to be kept.
pub fn sign_head(head: Head, key: &SigningKey) -> Value {
    let signature = key.sign(&signed_text(head)).to_bytes();
    let public = PublicKey::new(key.verifying_key());
    body(head, &public, &URL_SAFE_NO_PAD.encode(signature))
}

/// Returns what a kept head says, if it is signed by one of `keys`; without `keys`, by the key it
/// names itself.
pub fn verify_head(said: &Value, keys: Option<&[PublicKey]>) -> Result<Head, CheckpointError> {
    let (head, key, signature) = read(said).ok_or(CheckpointError::Malformed)?;
    if keys.is_some_and(|keys| !keys.contains(&key)) {
        return Err(CheckpointError::UnknownKey);
    }
    key.key
        .verify_strict(&signed_text(head), &signature)
        .map_err(|_| CheckpointError::BadSignature)?;
    Ok(head)
}

/// Reads a head that a person kept: `NUMBER:HASH`, or the signed JSON.
pub fn parse_kept(text: &str) -> Result<Checkpoint, CheckpointError> {
    let text = text.trim();
    if text.starts_with('{') {
        let said = canonical::parse(text.as_bytes()).map_err(|_| CheckpointError::Malformed)?;
        return verify_head(&said, None).map(|head| head.last);
    }
    let (seq, hash) = text.split_once(':').ok_or(CheckpointError::Malformed)?;
    let seq = seq.parse().map_err(|_| CheckpointError::Malformed)?;
    let hash = Digest::parse(hash).ok_or(CheckpointError::Malformed)?;
    Ok(Checkpoint { seq, hash })
}

fn read(said: &Value) -> Option<(Head, PublicKey, Signature)> {
    let text = |name| said.get(name).and_then(Value::as_str);
    let last = Checkpoint {
        seq: said.get("seq")?.as_u64()?,
        hash: Digest::parse(text("hash")?)?,
    };
    let at = UnixMillis(said.get("at")?.as_i64()?);
    let head = Head { last, at };
    let key = PublicKey::from_text(text("public_key")?)?;
    let signature = text("signature")?;
    // Written again it must be the same: no other members, no other spellings.
    if body(head, &key, signature) != *said {
        return None;
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    Some((head, key, Signature::from_slice(&signature).ok()?))
}

fn body(head: Head, key: &PublicKey, signature: &str) -> Value {
    json!({
        "seq": head.last.seq,
        "hash": head.last.hash,
        "at": head.at.0,
        "kid": key.kid,
        "public_key": key.text(),
        "signature": signature,
    })
}

fn signed_text(head: Head) -> Vec<u8> {
    let Head { last, at } = head;
    [
        DOMAIN,
        &last.seq.to_be_bytes(),
        &last.hash.0,
        &at.0.to_be_bytes(),
    ]
    .concat()
}

impl Checkpoint {
    /// Returns it as a person keeps it: `NUMBER:HASH`.
    pub fn text(&self) -> String {
        format!("{}:{}", self.seq, self.hash)
    }
}
