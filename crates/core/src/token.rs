//! `Token`: the signed proof of an approval, a JWS (Ed25519) bound to the digest of one call.
//!
//! A closed profile of JWT: one algorithm, taken from the key and not from the token; exactly the
//! headers `alg`, `kid`, `typ`; every claim required and typed; at most five minutes of life.
//! Header and claims stand in their canonical form (RFC 8785), and a token in any other form is
//! refused. That one rule leaves no room for doubled keys, other spellings of a number or a text,
//! and white space, so every reader in every language sees the same claims or none.
//! Whether it was used before is not the token's business but the gate's.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical::canonical;
use crate::digest::{Action, Digest, Encoding, context};

/// Longest life of a token.
pub(crate) const TOKEN_SECONDS_MAX: i64 = 300;
/// Longest token that is looked at.
pub(crate) const TOKEN_BYTES_MAX: usize = 4096;
/// How far the clocks of signer and verifier may differ.
pub(crate) const SKEW_SECONDS: i64 = 30;
/// The `typ` of the header.
pub(crate) const TYP: &str = "countersign+jwt";

/// The approver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approver {
    /// The person.
    pub who: String,
    /// Where.
    pub channel: String,
    /// The tier: how well asker and approver are separated.
    pub tier: String,
}

/// What a token says. All required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Version of this profile: 1.
    pub v: u8,
    /// The gateway.
    pub iss: String,
    /// The executor it is for.
    pub aud: String,
    /// The approval.
    pub sub: String,
    /// The token's own id.
    pub jti: String,
    /// Issued at, seconds.
    pub iat: i64,
    /// Not before, seconds.
    pub nbf: i64,
    /// Expires at, seconds.
    pub exp: i64,
    /// The tool.
    pub tool: String,
    /// Hash of the tool's definition, 64 hexadecimal digits; zeros if there is none.
    pub tdh: String,
    /// How the arguments were turned into bytes: `jcs` or `raw`.
    pub enc: String,
    /// The digest of the action, 64 hexadecimal digits.
    pub adg: String,
    /// The session.
    pub ses: String,
    /// The principal that asked.
    pub agt: String,
    /// The approver.
    pub apr: Approver,
    /// The tier: how well asker and approver are separated.
    pub tier: String,
    /// Hash of the policy it was judged under, 64 hexadecimal digits.
    pub pol: String,
}

/// Why a token is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not three parts of base64url, too long, not canonical JSON, a header or claim too many, too
    /// few or of the wrong kind, a longer life than any token has.
    #[error("not a token of this kind")]
    Malformed,
    /// Signed by a key that is not known.
    #[error("signed by an unknown key")]
    UnknownKey,
    /// The signature does not belong to it.
    #[error("the signature is wrong")]
    BadSignature,
    /// Its time is over.
    #[error("expired")]
    Expired,
    /// Its time has not come.
    #[error("not yet valid")]
    NotYetValid,
    /// It is for something else: another `executor`, `tool`, `session`, `agent`, `encoding` or
    /// `call`.
    #[error("it is for another {0}")]
    Other(&'static str),
}

/// The action to verify.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The executor it is: `tool:NAME` unless the request named another.
    pub audience: &'a str,
    /// The tool it is about to run.
    pub tool: &'a str,
    /// The session.
    pub session: &'a str,
    /// The principal that asked, where the verifier knows it. The digest binds it either way.
    pub agent: Option<&'a str>,
    /// The arguments of the tool.
    pub arguments: Arguments<'a>,
    /// The directory it runs in, as the request named it.
    pub cwd: Option<&'a str>,
    /// What is attached, as the request named it.
    pub attachments: &'a [Digest],
}

/// Arguments as the verifier has them.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// As JSON; the token must say `jcs`.
    Json(&'a Value),
    /// As bytes; the token must say `raw`.
    Raw(&'a [u8]),
}

/// A public key and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// RFC 7638 thumbprint.
    pub kid: String,
    /// The key.
    pub key: VerifyingKey,
}

/// Returns the token that says `claims`, signed by `key`.
///
/// Claims no verifier would take (a longer life, a digest that is none, texts beyond
/// [`TOKEN_BYTES_MAX`]) are not looked for here; such a token opens nothing.
pub fn mint(claims: &Claims, key: &SigningKey) -> String {
    let header = Header {
        alg: ALGORITHM.to_owned(),
        kid: PublicKey::new(key.verifying_key()).kid,
        typ: TYP.to_owned(),
    };
    let [header, claims] =
        [written(&header), written(claims)].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    let signed = format!("{header}.{claims}");
    let signature = key.sign(signed.as_bytes()).to_bytes();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Returns what `token` says, if one of `keys` signed it, it is in order in itself and it is alive
/// at `now` (Unix seconds) by the signer's own clock. For the gate; other machines [`verify`].
pub fn read(token: &str, keys: &[PublicKey], now: i64) -> Result<Claims, TokenError> {
    open(token, keys, now, 0)
}

/// Returns what `token` says, if one of `keys` signed it, it is in order in itself, it is alive at
/// `now` give or take [`SKEW_SECONDS`], and it is for exactly what the verifier is about to do.
pub fn verify(
    token: &str,
    keys: &[PublicKey],
    now: i64,
    expected: Expected<'_>,
) -> Result<Claims, TokenError> {
    let claims = open(token, keys, now, SKEW_SECONDS)?;
    let (encoding, arguments) = match expected.arguments {
        Arguments::Json(value) => (Encoding::Jcs, canonical(value).ok()),
        Arguments::Raw(bytes) => (Encoding::Raw, Some(bytes.to_vec())),
    };
    let same = [
        ("executor", claims.aud == expected.audience),
        ("tool", claims.tool == expected.tool),
        ("session", claims.ses == expected.session),
        (
            "agent",
            expected.agent.is_none_or(|agent| claims.agt == agent),
        ),
        ("encoding", claims.enc == encoding.word()),
    ];
    if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
        return Err(TokenError::Other(what));
    }
    let arguments = arguments.ok_or(TokenError::Other("call"))?;
    let action = Action {
        tool: expected.tool,
        tool_definition: Digest::parse(&claims.tdh),
        encoding,
        arguments: &arguments,
        context: &context(expected.cwd, expected.audience, expected.attachments),
        session: expected.session,
        agent: &claims.agt,
    };
    if action.digest().hex() == claims.adg {
        Ok(claims)
    } else {
        Err(TokenError::Other("call"))
    }
}

impl PublicKey {
    /// Returns `key` under its thumbprint.
    pub fn new(key: VerifyingKey) -> Self {
        Self {
            kid: thumbprint(&key),
            key,
        }
    }

    /// Returns the key as a member of a JWKS.
    pub fn jwk(&self) -> Value {
        json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "x": self.text(),
            "kid": self.kid,
            "alg": ALGORITHM,
            "use": "sig",
        })
    }

    /// Returns the key a member of a JWKS holds, if it is an Ed25519 key under its own thumbprint.
    /// What else the member says is not looked at: here every key signs tokens, and nothing else.
    pub fn from_jwk(jwk: &Value) -> Option<Self> {
        let text = |name| jwk.get(name).and_then(Value::as_str);
        let key = Self::from_text(text("x")?)?;
        let is_ours = [("kty", "OKP"), ("crv", "Ed25519"), ("kid", &key.kid)]
            .into_iter()
            .all(|(name, value)| text(name) == Some(value));
        is_ours.then_some(key)
    }

    /// Returns the key written as [`PublicKey::text`] writes it, if it is not one of the few weak
    /// points under which a signature says nothing.
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let key = VerifyingKey::from_bytes(bytes.as_slice().try_into().ok()?).ok()?;
        (!key.is_weak()).then(|| Self::new(key))
    }

    /// Returns the key as text: base64url of its 32 bytes.
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key.as_bytes())
    }
}

/// The one algorithm there is.
const ALGORITHM: &str = "EdDSA";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    kid: String,
    typ: String,
}

/// Opens `token`, which may be used until `grace` seconds after its end.
fn open(token: &str, keys: &[PublicKey], now: i64, grace: i64) -> Result<Claims, TokenError> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(TokenError::Malformed);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    let [header, claims, signature] = [decoded(header)?, decoded(claims)?, decoded(signature)?];
    let header: Header = closed(&header)?;
    if header.alg != ALGORITHM || header.typ != TYP {
        return Err(TokenError::Malformed);
    }
    let key = keys.iter().find(|key| key.kid == header.kid);
    let key = key.ok_or(TokenError::UnknownKey)?;
    let signature = Signature::from_slice(&signature).map_err(|_| TokenError::BadSignature)?;
    key.key
        .verify_strict(signed.as_bytes(), &signature)
        .map_err(|_| TokenError::BadSignature)?;
    let claims: Claims = closed(&claims)?;
    if !is_in_order(&claims) {
        return Err(TokenError::Malformed);
    }
    if claims.exp.saturating_add(grace) <= now {
        return Err(TokenError::Expired);
    }
    if claims.nbf.max(claims.iat) > now.saturating_add(SKEW_SECONDS) {
        return Err(TokenError::NotYetValid);
    }
    Ok(claims)
}

/// Decodes base64url without padding; a spelling that leaves spare bits set is none.
fn decoded(part: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| TokenError::Malformed)
}

/// Reads `bytes` as exactly the canonical form of a `T`.
///
/// Writing it again and comparing also refuses what reading lets pass, such as a list in place of
/// an object.
fn closed<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, TokenError> {
    let read: T = serde_json::from_slice(bytes).map_err(|_| TokenError::Malformed)?;
    if written(&read) == bytes {
        Ok(read)
    } else {
        Err(TokenError::Malformed)
    }
}

/// Returns the canonical form of `value`; nothing, which is no token, if it has none.
fn written(value: &impl Serialize) -> Vec<u8> {
    let value = serde_json::to_value(value).unwrap_or_default();
    canonical(&value).unwrap_or_default()
}

fn is_in_order(claims: &Claims) -> bool {
    let is_hash = |text: &str| text.len() == 64 && Digest::parse(text).is_some();
    claims.v == 1
        && claims.exp > claims.iat
        && claims.exp.saturating_sub(claims.iat) <= TOKEN_SECONDS_MAX
        && claims.nbf <= claims.exp
        && [&claims.tdh, &claims.adg, &claims.pol]
            .into_iter()
            .all(|hash| is_hash(hash))
        && [Encoding::Jcs, Encoding::Raw]
            .into_iter()
            .any(|encoding| encoding.word() == claims.enc)
}

/// Returns the RFC 7638 thumbprint: the hash of the required members in canonical form.
fn thumbprint(key: &VerifyingKey) -> String {
    let x = URL_SAFE_NO_PAD.encode(key.as_bytes());
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    URL_SAFE_NO_PAD.encode(Digest::of(members.as_bytes()).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_named_as_in_rfc_8037() {
        let key = PublicKey::from_text("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        assert_eq!(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(PublicKey::from_jwk(&key.jwk()), Some(key));
    }
}
