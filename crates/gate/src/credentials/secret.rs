//! Secrets: made of the system's randomness, kept only as a hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use countersign_store::StoreError;
use subtle::ConstantTimeEq as _;

use crate::GateError;

/// Longest text that is looked at as a secret.
const SECRET_BYTES_MAX: usize = 128;

/// A secret and what is kept of it.
pub(super) struct Secret {
    pub(super) text: String,
    pub(super) hash: Digest,
}

/// Returns a new secret: `prefix` and 43 characters of 32 random bytes.
pub(super) fn fresh(prefix: &str) -> Result<Secret, GateError> {
    let text = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random::<32>()?));
    let hash = Digest::of(text.as_bytes());
    Ok(Secret { text, hash })
}

/// Returns the hash a secret is kept as, unless the text is too long to be one.
pub(super) fn hash(secret: &str) -> Option<Digest> {
    (!secret.is_empty() && secret.len() <= SECRET_BYTES_MAX).then(|| Digest::of(secret.as_bytes()))
}

/// Whether two hashes are the same; how long it takes does not tell where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Returns bytes nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], GateError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|cause| {
        GateError::Store(StoreError::Unavailable {
            why: "the system gives no randomness",
            cause: cause.to_string().into(),
        })
    })?;
    Ok(bytes)
}
