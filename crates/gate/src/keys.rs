//! What tokens and checkpoints are signed with. The private half never leaves this machine.

use std::path::Path;

use countersign_core::token::{Claims, PublicKey, mint};
use ed25519_dalek::SigningKey;

/// A signing key.
#[derive(Clone, Debug)]
pub struct Signer {
    key: SigningKey,
}

impl Signer {
    /// Returns the signer of this seed.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self {
            key: SigningKey::from_bytes(&seed),
        }
    }

    /// Returns the signer kept in `file`, which is made, readable by its owner only, if it is not
    /// there.
    pub fn load_or_create(file: &Path) -> std::io::Result<Self> {
        let _ = file;
        Err(std::io::Error::other("not yet"))
    }

    /// Returns the public half.
    pub fn public(&self) -> PublicKey {
        PublicKey::new(self.key.verifying_key())
    }

    /// Returns the token that says `claims`.
    pub fn sign_token(&self, claims: &Claims) -> String {
        mint(claims, &self.key)
    }
}
