//! The targets about proof: what a decision is bound to, and the token that carries it.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::canonical::{canonical, parse};
use countersign_core::digest::{Action, Digest, Encoding, context};
use countersign_core::token::{Claims, PublicKey, mint, read};
use ed25519_dalek::{Signer as _, SigningKey};

const NOW: i64 = 1_790_000_000;

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_bytes(&[5; 32]));
static KEYS: LazyLock<[PublicKey; 1]> = LazyLock::new(|| [PublicKey::new(KEY.verifying_key())]);
static TOKENS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let read = |claims: String| serde_json::from_str::<Claims>(&claims).ok();
    let claims = claims().into_iter().filter_map(read);
    claims.map(|claims| mint(&claims, &KEY)).collect()
});

/// Returns good tokens.
pub fn tokens() -> Vec<String> {
    TOKENS.clone()
}

/// Returns the claims of good tokens, in their canonical form.
pub fn claims() -> Vec<String> {
    let hash = Digest::of(b"").hex();
    let texts = ["ses-1", "", "é🦀\\n\\u0001", "..", "a\\\"b"].into_iter();
    texts
        .map(|text| {
            format!(
                r#"{{"adg":"{hash}","agt":"key_01","apr":{{"channel":"web","tier":"T1","who":"{text}"}},"aud":"tool:x","enc":"jcs","exp":{},"iat":{NOW},"iss":"countersign","jti":"tok_01","nbf":{NOW},"pol":"{hash}","ses":"{text}","sub":"appr_01","tdh":"{hash}","tier":"T1","tool":"x","v":1}}"#,
                NOW + 120
            )
        })
        .collect()
}

/// Reads `text` as arguments, writes it, reads that, and hashes the call.
pub(crate) fn arguments(text: &str) -> Option<&'static str> {
    let Ok(value) = parse(text.as_bytes()) else {
        return None;
    };
    let Ok(once) = canonical(&value) else {
        return None;
    };
    let Ok(again) = parse(&once) else {
        return Some("the canonical form cannot be read");
    };
    if canonical(&again).as_ref() != Ok(&once) {
        return Some("the canonical form has another canonical form");
    }
    let digest = |arguments: &[u8]| {
        Action {
            tool: "x",
            tool_definition: None,
            encoding: Encoding::Jcs,
            arguments,
            context: &context(Some(text), "tool:x", &[]),
            session: text,
            agent: "key_01",
        }
        .digest()
    };
    let mut longer = once.clone();
    longer.push(b' ');
    (digest(&once) == digest(&longer)).then_some("two calls share a digest")
}

/// Reads `text` as a token if it begins like one, and else signs it as claims.
pub(crate) fn token(text: &str) -> Option<&'static str> {
    if text.starts_with("ey") {
        let is_taken = read(text, KEYS.as_slice(), NOW).is_ok();
        let is_good = TOKENS.iter().any(|token| token == text);
        return (is_taken != is_good).then_some("a changed token was taken, or a good one refused");
    }
    let header = format!(
        r#"{{"alg":"EdDSA","kid":"{}","typ":"countersign+jwt"}}"#,
        KEYS.first().map_or("", |key| &key.kid)
    );
    let [header, body] = [header.as_str(), text].map(|part| URL_SAFE_NO_PAD.encode(part));
    let signed = format!("{header}.{body}");
    let signature = URL_SAFE_NO_PAD.encode(KEY.sign(signed.as_bytes()).to_bytes());
    let token = format!("{signed}.{signature}");
    // Whatever is taken is what its claims would be minted as: there is no second spelling.
    let claims = read(&token, KEYS.as_slice(), NOW).ok()?;
    (mint(&claims, &KEY) != token).then_some("claims were taken in another spelling")
}
