//! Trigger ids: base64 of `client_id:user_id:unix_ms:` and a P-256 signature over exactly that.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};

use super::world::new_id;

/// What stands before the 65 bytes of a P-256 key in its DER form.
const SPKI_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A signing key of a server.
#[derive(Debug)]
pub struct Signer {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

/// What a trigger id says, once its signature has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    pub(super) user_id: String,
    pub(super) at: i64,
}

impl Signer {
    /// Makes a new key.
    pub fn new() -> std::io::Result<Self> {
        let random = SystemRandom::new();
        let failed = |_| std::io::Error::other("no key could be made");
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(Self { pair, random })
    }

    /// Returns the public key as the server's configuration shows it: base64 of DER.
    pub fn public_key(&self) -> String {
        let key = self.pair.public_key();
        STANDARD.encode([SPKI_HEAD.as_slice(), key.as_ref()].concat())
    }

    /// Returns a trigger id of `user_id` at `at`, in Unix milliseconds.
    pub fn trigger_id(&self, user_id: &str, at: i64) -> String {
        let said = format!("{}:{user_id}:{at}:", new_id());
        let signature = self
            .pair
            .sign(&self.random, said.as_bytes())
            .map(|signature| STANDARD.encode(signature))
            .unwrap_or_default();
        STANDARD.encode(format!("{said}{signature}"))
    }

    /// Reads a trigger id that this key has signed.
    pub(super) fn read(&self, trigger_id: &str) -> Option<Trigger> {
        let text = String::from_utf8(STANDARD.decode(trigger_id).ok()?).ok()?;
        let (said, signature) = text.rsplit_once(':')?;
        let said = format!("{said}:");
        let parts: Vec<&str> = said.split(':').collect();
        let [_client, user_id, at, ""] = parts.as_slice() else {
            return None;
        };
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, self.pair.public_key())
            .verify(said.as_bytes(), &STANDARD.decode(signature).ok()?)
            .ok()?;
        Some(Trigger {
            user_id: (*user_id).to_owned(),
            at: at.parse().ok()?,
        })
    }
}
