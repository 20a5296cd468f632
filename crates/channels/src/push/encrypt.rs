//! Encrypts a message for one browser: RFC 8291 over the content coding `aes128gcm` of RFC 8188.
//!
//! Separate from sending, so that the vectors of the RFC test exactly the bytes that go out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Bytes of an uncompressed point of P-256.
const POINT_BYTES: usize = 65;
/// Bytes of the secret a browser shares with us.
const AUTH_BYTES: usize = 16;
/// The record size that is announced. There is one record, and it is shorter.
const RECORD_BYTES: u32 = 4096;
/// Every message is padded to this length, so that its size tells the push service nothing.
const PADDED_BYTES: usize = 1024;
/// Ends the text of the last record; zeros follow.
const LAST_RECORD: u8 = 2;

/// The keys of one browser's subscription.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Receiver {
    public: [u8; POINT_BYTES],
    auth: [u8; AUTH_BYTES],
}

impl Receiver {
    /// Reads the keys `p256dh` and `auth` of a subscription.
    pub(crate) fn parse(p256dh: &str, auth: &str) -> Result<Self, &'static str> {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let public = bytes(p256dh).and_then(|it| it.try_into().ok());
        let auth = bytes(auth).and_then(|it| it.try_into().ok());
        let receiver = Self {
            public: public.ok_or("`p256dh` must be 65 bytes in base64url")?,
            auth: auth.ok_or("`auth` must be 16 bytes in base64url")?,
        };
        // Whether it is a point of the curve is found out by using it.
        let tried = encrypt(&receiver, b"");
        tried.map_err(|_| "`p256dh` must be a public key of P-256")?;
        Ok(receiver)
    }
}

/// Returns `text` encrypted for `receiver`, under a key that is used once.
pub(crate) fn encrypt(receiver: &Receiver, text: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let private = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let public = private.compute_public_key()?;
    let mut salt = [0; 16];
    random.fill(&mut salt)?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, receiver.public);
    agree_ephemeral(private, &peer, |secret| {
        seal(secret, receiver, public.as_ref(), salt, &padded(text))
    })?
}

/// Returns `text`, its end, and zeros up to the common length.
fn padded(text: &[u8]) -> Vec<u8> {
    let mut padded = text.to_vec();
    padded.push(LAST_RECORD);
    padded.resize(padded.len().max(PADDED_BYTES), 0);
    padded
}

/// Returns the body that carries `record`, for the shared `secret` of our key `public` and the
/// receiver's.
fn seal(
    secret: &[u8],
    receiver: &Receiver,
    public: &[u8],
    salt: [u8; 16],
    record: &[u8],
) -> Result<Vec<u8>, Unspecified> {
    let keys = [b"WebPush: info\0".as_slice(), &receiver.public, public];
    let material: [u8; 32] = derived(&receiver.auth, secret, &keys)?;
    let key: [u8; 16] = derived(&salt, &material, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; 12] = derived(&salt, &material, &[b"Content-Encoding: nonce\0"])?;
    let mut sealed = record.to_vec();
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?).seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::empty(),
        &mut sealed,
    )?;
    let length = u8::try_from(public.len()).map_err(|_| Unspecified)?;
    let mut body = salt.to_vec();
    body.extend(RECORD_BYTES.to_be_bytes());
    body.push(length);
    body.extend(public);
    body.append(&mut sealed);
    Ok(body)
}

/// Returns `N` bytes of HKDF with SHA-256.
fn derived<const N: usize>(
    salt: &[u8],
    material: &[u8],
    info: &[&[u8]],
) -> Result<[u8; N], Unspecified> {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut out = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(material);
    key.expand(info, Length(N))?.fill(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UA_PUBLIC: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    #[test]
    fn the_example_of_rfc_8291_is_encrypted_to_its_bytes() {
        let receiver = Receiver::parse(UA_PUBLIC, AUTH).unwrap();
        let public = bytes(
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        );
        let secret = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let mut record = b"When I grow up, I want to be a watermelon".to_vec();
        record.push(LAST_RECORD);
        let body = seal(&secret, &receiver, &public, salt, &record).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc\
                        InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV\
                        WGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn messages_of_all_lengths_look_alike_and_no_two_are_equal() {
        let receiver = Receiver::parse(UA_PUBLIC, AUTH).unwrap();
        let short = encrypt(&receiver, b"a").unwrap();
        let long = encrypt(&receiver, &[b'a'; 1000]).unwrap();
        assert_eq!(short.len(), long.len());
        assert!(short.len() < 4096, "push services take 4096 bytes");
        assert_ne!(short, encrypt(&receiver, b"a").unwrap());
    }

    #[test]
    fn keys_that_are_no_keys_are_refused() {
        let mut off_the_curve = bytes(UA_PUBLIC);
        off_the_curve[40] ^= 1;
        let rows = [
            ("an empty key", String::new(), AUTH),
            ("not base64", "*".repeat(87), AUTH),
            (
                "a compressed point",
                UA_PUBLIC.chars().take(44).collect(),
                AUTH,
            ),
            (
                "a point off the curve",
                URL_SAFE_NO_PAD.encode(off_the_curve),
                AUTH,
            ),
            ("zeros", URL_SAFE_NO_PAD.encode([0; 65]), AUTH),
            ("a short secret", UA_PUBLIC.to_owned(), "BTBZMqHH"),
        ];
        for (name, p256dh, auth) in rows {
            assert!(Receiver::parse(&p256dh, auth).is_err(), "{name}");
        }
    }
}
