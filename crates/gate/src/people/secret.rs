//! Creates secrets from system randomness and stores only their hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use subtle::ConstantTimeEq as _;

/// Longest text that is looked at as a secret.
const SECRET_BYTES_MAX: usize = 128;

/// A secret and what is kept of it.
pub(super) struct Secret {
    pub(super) text: String,
    pub(super) hash: Digest,
}

/// Returns the secret made of `random`: `prefix` and 43 characters.
pub(super) fn fresh(prefix: &str, random: [u8; 32]) -> Secret {
    let text = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random));
    let hash = Digest::of(text.as_bytes());
    Secret { text, hash }
}

/// Returns the hash a secret is kept as, unless the text is too long to be one.
pub(super) fn hash(secret: &str) -> Option<Digest> {
    (!secret.is_empty() && secret.len() <= SECRET_BYTES_MAX).then(|| Digest::of(secret.as_bytes()))
}

/// Whether two hashes are the same; how long it takes does not tell where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
