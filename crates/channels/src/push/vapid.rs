//! Says to a push service who sends: VAPID, RFC 8292.
//!
//! A browser subscribes for one public key, and its push service takes messages signed by that key
//! alone. So the key is made once and stays.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::error::Unspecified;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

/// How long a signature is good, in seconds. Services take up to a day.
const GOOD_SECONDS: i64 = 12 * 3600;

/// The key that signs messages to push services.
pub struct VapidKey {
    pair: EcdsaKeyPair,
    public: String,
}

impl std::fmt::Debug for VapidKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VapidKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl VapidKey {
    /// Makes a key, as PKCS #8.
    pub fn generate() -> Result<Vec<u8>, String> {
        let made =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| "a key for push services could not be made".to_owned())?;
        Ok(made.as_ref().to_vec())
    }

    /// Reads a key that was made here.
    pub fn from_pkcs8(bytes: &[u8]) -> Result<Self, String> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, bytes, &SystemRandom::new());
        let pair = pair.map_err(|why| format!("the key for push services is damaged: {why}"))?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(Self { pair, public })
    }

    /// Returns the public half, as browsers take it: an uncompressed point in base64url.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// Returns the header `authorization` for messages to the service at `origin`, at `now` in Unix
    /// seconds. `contact` is where its operator reaches ours.
    pub(crate) fn authorization(
        &self,
        origin: &str,
        contact: Option<&str>,
        now: i64,
    ) -> Result<String, Unspecified> {
        let header = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let mut claims = json!({ "aud": origin, "exp": now.saturating_add(GOOD_SECONDS) });
        if let (Some(contact), Some(claims)) = (contact, claims.as_object_mut()) {
            claims.insert("sub".to_owned(), json!(contact));
        }
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes())?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(format!("vapid t={signed}.{signature}, k={}", self.public))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    /// Returns header and claims of a value of `authorization` whose signature is right.
    fn verified(authorization: &str) -> Option<(String, String)> {
        let (token, key) = authorization.strip_prefix("vapid t=")?.split_once(", k=")?;
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(key)?)
            .verify(signed.as_bytes(), &bytes(signature)?)
            .ok()?;
        let text = |part: &str| String::from_utf8(bytes(part)?).ok();
        Some((text(header)?, text(claims)?))
    }

    /// The example of section 2.4. Its signature cannot be made again, only verified.
    const OF_RFC_8292: &str = "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5u\
        ZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOe\
        pC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, \
        k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs";

    #[test]
    fn our_signature_says_what_the_example_of_rfc_8292_says() {
        let (header, claims) = verified(OF_RFC_8292).unwrap();
        let key = VapidKey::from_pkcs8(&VapidKey::generate().unwrap()).unwrap();
        let then = 1_453_523_768 - GOOD_SECONDS;
        let contact = Some("mailto:push@example.com");
        let ours = key.authorization("https://push.example.net", contact, then);
        let ours = ours.unwrap();
        assert_eq!(verified(&ours).unwrap(), (header, claims));
        assert!(ours.ends_with(key.public()));
        let altered = ours.replace("t=e", "t=f");
        assert_eq!(verified(&altered), None);
    }

    #[test]
    fn the_private_half_is_not_in_what_a_log_would_show() {
        let made = VapidKey::generate().unwrap();
        let key = VapidKey::from_pkcs8(&made).unwrap();
        assert_eq!(
            format!("{key:?}"),
            format!("VapidKey {{ public: {:?}, .. }}", key.public())
        );
    }
}
