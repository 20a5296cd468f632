//! A test push service, and the browsers that are subscribed there.
//!
//! It is stricter than real ones: it refuses what RFC 8030, 8291 and 8292 do not allow, and as the
//! browser it decrypts every message, which a real service cannot.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{self, ECDSA_P256_SHA256_FIXED};
use serde_json::{Value, json};

use crate::background::Background;

/// Longest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;
/// Longest life of a signature, in seconds.
const SIGNATURE_SECONDS_MAX: i64 = 24 * 3600;
/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A message that arrived, as the browser reads it.
#[derive(Clone, Debug)]
pub struct Message {
    /// The browser's name.
    pub browser: String,
    /// What it says.
    pub text: Value,
    /// How long it would have been kept, in seconds.
    pub ttl: u64,
    /// `very-low`, `low`, `normal` or `high`.
    pub urgency: String,
    /// What it replaces.
    pub topic: Option<String>,
    /// Where the operator is reached.
    pub contact: Option<String>,
    /// When it arrived.
    pub at: Instant,
}

/// What a browser gives to the page when it subscribes.
#[derive(Clone, Debug)]
pub struct Subscribed {
    /// Where messages are sent.
    pub endpoint: String,
    /// Its public key.
    pub p256dh: String,
    /// Its shared secret.
    pub auth: String,
}

/// An answer the service gives instead of taking a message.
#[derive(Clone, Copy, Debug)]
pub struct Instead {
    /// The status.
    pub status: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
}

#[derive(Debug)]
struct Browser {
    private: [u8; 32],
    public: Vec<u8>,
    auth: [u8; 16],
    /// The key it subscribed for; others may not send.
    sender: String,
    instead: Vec<Instead>,
}

#[derive(Debug, Default)]
struct Shared {
    origin: Mutex<String>,
    browsers: Mutex<BTreeMap<String, Browser>>,
    messages: Mutex<Vec<Message>>,
    refused: Mutex<Vec<String>>,
    arrived: Condvar,
}

/// A running push service.
#[derive(Debug)]
pub struct PushService {
    server: Background,
    shared: Arc<Shared>,
}

impl PushService {
    /// Starts one.
    pub fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let routes = Router::new()
            .route("/push/{browser}", post(receive))
            .with_state(Arc::clone(&shared));
        let server = Background::serve("push service", routes)?;
        *locked(&shared.origin) = format!("http://{}", server.address);
        Ok(Self { server, shared })
    }

    /// Subscribes a browser for messages of `sender`, a public key in base64url.
    pub fn subscribe(&self, name: &str, sender: &str) -> io::Result<Subscribed> {
        let (mut private, mut auth) = ([0; 32], [0; 16]);
        let random = SystemRandom::new();
        let filled = random
            .fill(&mut private)
            .and_then(|()| random.fill(&mut auth));
        filled.map_err(|_| io::Error::other("no randomness"))?;
        let key = key_of(&private).ok_or_else(|| io::Error::other("no key"))?;
        let public = key.compute_public_key();
        let public = public.map_err(|_| io::Error::other("no public key"))?;
        let subscribed = Subscribed {
            endpoint: format!("http://{}/push/{name}", self.server.address),
            p256dh: URL_SAFE_NO_PAD.encode(&public),
            auth: URL_SAFE_NO_PAD.encode(auth),
        };
        let browser = Browser {
            private,
            public: public.as_ref().to_vec(),
            auth,
            sender: sender.to_owned(),
            instead: Vec::new(),
        };
        locked(&self.shared.browsers).insert(name.to_owned(), browser);
        Ok(subscribed)
    }

    /// Answers the next messages to `browser` with these, in order.
    pub fn answer_instead(&self, browser: &str, instead: &[Instead]) {
        if let Some(browser) = locked(&self.shared.browsers).get_mut(browser) {
            browser.instead = instead.to_vec();
        }
    }

    /// Returns what arrived, in order.
    pub fn messages(&self) -> Vec<Message> {
        locked(&self.shared.messages).clone()
    }

    /// Returns why messages were refused.
    pub fn refused(&self) -> Vec<String> {
        locked(&self.shared.refused).clone()
    }

    /// Waits until `wanted` holds of what arrived; `None` if it never does.
    pub fn until(&self, wanted: impl Fn(&[Message]) -> bool) -> Option<Vec<Message>> {
        let messages = locked(&self.shared.messages);
        let waiting = self
            .shared
            .arrived
            .wait_timeout_while(messages, PATIENCE, |it| !wanted(it));
        let (messages, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        wanted(&messages).then(|| messages.clone())
    }
}

async fn receive(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap) {
    let mut extra = HeaderMap::new();
    let instead = {
        let mut browsers = locked(&shared.browsers);
        let Some(browser) = browsers.get_mut(&name) else {
            return (StatusCode::NOT_FOUND, extra);
        };
        (!browser.instead.is_empty()).then(|| browser.instead.remove(0))
    };
    let taken = taken(&shared, &name, &headers, &body);
    if let (Some(instead), Ok(_)) = (instead, &taken) {
        if let Some(seconds) = instead.retry_after {
            extra.insert("retry-after", seconds.into());
        }
        let status = StatusCode::from_u16(instead.status);
        return (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), extra);
    }
    match taken {
        Ok(message) => {
            locked(&shared.messages).push(message);
            shared.arrived.notify_all();
            (StatusCode::CREATED, extra)
        }
        Err((status, why)) => {
            locked(&shared.refused).push(why.to_owned());
            let status = StatusCode::from_u16(status);
            (status.unwrap_or(StatusCode::BAD_REQUEST), extra)
        }
    }
}

/// Returns the message, or with which status and why it is refused.
fn taken(
    shared: &Shared,
    name: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Message, (u16, &'static str)> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let browsers = locked(&shared.browsers);
    let browser = browsers.get(name).ok_or((404, "no such browser"))?;
    let claims = signed_claims(text("authorization"), &browser.sender)?;
    let origin = locked(&shared.origin).clone();
    if claims.get("aud") != Some(&Value::String(origin)) {
        return Err((403, "the signature is for another service"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX));
    let until = claims.get("exp").and_then(Value::as_i64);
    let good_for = until.unwrap_or_default() - now;
    if !(1..=SIGNATURE_SECONDS_MAX).contains(&good_for) {
        return Err((403, "the signature is over, or good for more than a day"));
    }
    let ttl = text("ttl").and_then(|it| it.parse().ok());
    let ttl = ttl.ok_or((400, "there is no TTL"))?;
    let urgency = text("urgency").unwrap_or("normal");
    if !["very-low", "low", "normal", "high"].contains(&urgency) {
        return Err((400, "there is no such urgency"));
    }
    let topic = text("topic");
    let is_topic = |it: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=32).contains(&it.len()) && it.bytes().all(is_letter)
    };
    if topic.is_some_and(|it| !is_topic(it)) {
        return Err((400, "the topic is not 32 letters of base64url at most"));
    }
    if text("content-encoding") != Some("aes128gcm") {
        return Err((400, "the content encoding is not aes128gcm"));
    }
    if body.len() > MESSAGE_BYTES_MAX {
        return Err((413, "the message is longer than 4096 bytes"));
    }
    let read = decrypted(browser, body).ok_or((400, "the browser cannot decrypt it"))?;
    let read = serde_json::from_slice(&read);
    Ok(Message {
        browser: name.to_owned(),
        text: read.map_err(|_| (400, "the message is not JSON"))?,
        ttl,
        urgency: urgency.to_owned(),
        topic: topic.map(str::to_owned),
        contact: claims.get("sub").and_then(Value::as_str).map(str::to_owned),
        at: Instant::now(),
    })
}

/// Returns what the sender signed, if it is the one the browser subscribed for.
fn signed_claims(authorization: Option<&str>, sender: &str) -> Result<Value, (u16, &'static str)> {
    let parts = authorization.and_then(|it| it.strip_prefix("vapid t=")?.split_once(", k="));
    let (token, key) = parts.ok_or((401, "there is no signature"))?;
    if key != sender {
        return Err((403, "the browser subscribed for another key"));
    }
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
    let claims = || {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Value = serde_json::from_slice(&bytes(header)?).ok()?;
        let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(key)?);
        key.verify(signed.as_bytes(), &bytes(signature)?).ok()?;
        (header == json!({ "typ": "JWT", "alg": "ES256" })).then_some(())?;
        serde_json::from_slice::<Value>(&bytes(claims)?).ok()
    };
    claims().ok_or((403, "the signature is wrong"))
}

/// Returns the text of an encrypted message, without its padding.
fn decrypted(browser: &Browser, body: &[u8]) -> Option<Vec<u8>> {
    let (salt, rest) = body.split_at_checked(16)?;
    let (record_bytes, rest) = rest.split_at_checked(4)?;
    let record_bytes = u32::from_be_bytes(record_bytes.try_into().ok()?);
    let (length, rest) = rest.split_first()?;
    let (sender, sealed) = rest.split_at_checked(usize::from(*length))?;
    if sealed.len() > usize::try_from(record_bytes).ok()? {
        return None;
    }
    let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
    let keys = [b"WebPush: info\0".as_slice(), &browser.public, sender];
    let agreed = agree_ephemeral(key_of(&browser.private)?, &peer, |secret| {
        derived::<32>(&browser.auth, secret, &keys)
    });
    let material = agreed.ok()??;
    let key: [u8; 16] = derived(salt, &material, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; 12] = derived(salt, &material, &[b"Content-Encoding: nonce\0"])?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let mut sealed = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let opened = key.open_in_place(nonce, Aad::empty(), &mut sealed).ok()?;
    let end = opened.iter().rposition(|byte| *byte != 0)?;
    let (text, delimiter) = opened.split_at_checked(end)?;
    (delimiter.first() == Some(&2)).then(|| text.to_vec())
}

/// Returns the private key of these bytes. A browser uses its key many times, which ring offers only
/// by making it again.
#[expect(
    deprecated,
    reason = "for tests: the one way to a key of chosen bytes without another crate"
)]
fn key_of(bytes: &[u8; 32]) -> Option<EphemeralPrivateKey> {
    let random = ring::test::rand::FixedSliceRandom { bytes };
    EphemeralPrivateKey::generate(&ECDH_P256, &random).ok()
}

fn derived<const N: usize>(salt: &[u8], material: &[u8], info: &[&[u8]]) -> Option<[u8; N]> {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut out = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(material);
    key.expand(info, Length(N)).ok()?.fill(&mut out).ok()?;
    Some(out)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    #[test]
    fn the_example_of_rfc_8291_is_read() {
        let private: [u8; 32] = bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
            .try_into()
            .unwrap();
        let public = key_of(&private).unwrap().compute_public_key().unwrap();
        let expected = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        assert_eq!(URL_SAFE_NO_PAD.encode(&public), expected);
        let browser = Browser {
            private,
            public: public.as_ref().to_vec(),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg").try_into().unwrap(),
            sender: String::new(),
            instead: Vec::new(),
        };
        let mut body = bytes(
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w\
             EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
        );
        let read = decrypted(&browser, &body).unwrap();
        assert_eq!(read, b"When I grow up, I want to be a watermelon");
        *body.last_mut().unwrap() ^= 1;
        assert_eq!(decrypted(&browser, &body), None);
    }
}
