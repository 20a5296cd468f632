//! `Checkpoint`: a signed statement that entry `seq` has this `hash`.
//!
//! It is an entry of the ledger itself and can be kept anywhere else as well: in a chat, a commit,
//! a mail. Whoever keeps one can tell later whether the ledger up to it was written anew.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use serde_json::{Value, json};

use crate::digest::Digest;
use crate::token::PublicKey;

/// The name of its event.
pub const EVENT: &str = "ledger.checkpoint";

/// Domain separation: prefixed to the signed bytes, so no other signature can be reused.
const DOMAIN: &[u8] = b"countersign/v1/checkpoint\0";

/// The newest entry of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of an entry.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// Why a checkpoint is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.why())]
pub enum CheckpointError {
    /// A member too many, too few or of the wrong kind.
    Malformed,
    /// Signed by a key that is not one of those it was held against.
    UnknownKey,
    /// The signature does not belong to it.
    BadSignature,
}

impl CheckpointError {
    /// Returns the reason in words.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Malformed => "it is not a checkpoint",
            Self::UnknownKey => "the checkpoint is signed by an unknown key",
            Self::BadSignature => "the signature of the checkpoint is wrong",
        }
    }
}

/// Returns the body of the event that says entry `seq` has this `hash`, signed by `key`.
pub fn sign_checkpoint(seq: u64, hash: Digest, key: &SigningKey) -> Value {
    let checkpoint = Checkpoint { seq, hash };
    let signature = key.sign(&checkpoint.signed_text()).to_bytes();
    body(
        checkpoint,
        &PublicKey::new(key.verifying_key()),
        &URL_SAFE_NO_PAD.encode(signature),
    )
}

/// Returns what the body of a checkpoint says, if it is signed by one of `keys`.
///
/// Without `keys` it is held against the key it names itself. That shows that nobody without that
/// key wrote it, not whose key it is.
pub fn verify_checkpoint(
    body: &Value,
    keys: Option<&[PublicKey]>,
) -> Result<Checkpoint, CheckpointError> {
    let (checkpoint, key, signature) = read(body).ok_or(CheckpointError::Malformed)?;
    if keys.is_some_and(|keys| !keys.contains(&key)) {
        return Err(CheckpointError::UnknownKey);
    }
    key.key
        .verify_strict(&checkpoint.signed_text(), &signature)
        .map_err(|_| CheckpointError::BadSignature)?;
    Ok(checkpoint)
}

fn read(said: &Value) -> Option<(Checkpoint, PublicKey, Signature)> {
    let text = |name| said.get(name).and_then(Value::as_str);
    let checkpoint = Checkpoint {
        seq: said.get("seq")?.as_u64()?,
        hash: Digest::parse(text("hash")?)?,
    };
    let key = PublicKey::from_text(text("public_key")?)?;
    let signature = text("signature")?;
    // Written again it must be the same: no other members, no other spellings.
    if body(checkpoint, &key, signature) != *said {
        return None;
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    Some((checkpoint, key, Signature::from_slice(&signature).ok()?))
}

fn body(checkpoint: Checkpoint, key: &PublicKey, signature: &str) -> Value {
    json!({
        "event": EVENT,
        "seq": checkpoint.seq,
        "hash": checkpoint.hash,
        "kid": key.kid,
        "public_key": key.text(),
        "signature": signature,
    })
}

impl Checkpoint {
    fn signed_text(&self) -> Vec<u8> {
        [DOMAIN, &self.seq.to_be_bytes(), &self.hash.0].concat()
    }
}
