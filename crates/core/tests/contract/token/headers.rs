//! Vectors about headers: algorithms, names of keys, members. The signature is good where it can be.

use countersign_core::token::PublicKey;
use ed25519_dalek::Signer as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::case::{
    Call, Case, canonical_text, encoded, header, key, second_key, signed_bytes, signed_under,
};

fn with(name: &str, value: Value) -> Value {
    let mut header = header(&key());
    header[name] = value;
    header
}

fn without(name: &str) -> Value {
    let mut header = header(&key());
    header.as_object_mut().unwrap().shift_remove(name);
    header
}

fn malformed(name: &str, header: &Value) -> Case {
    Case::new(name, &signed_under(header), "malformed")
}

/// Other algorithms, with our signature and with the one they would carry.
pub(crate) fn algorithms() -> Vec<Case> {
    let mut cases = Vec::new();
    for alg in [
        "none",
        "None",
        "NONE",
        "nOnE",
        "",
        "HS256",
        "HS384",
        "HS512",
        "ES256",
        "ES256K",
        "RS256",
        "PS256",
        "eddsa",
        "EDDSA",
        "EdDSA ",
        "Ed25519",
        "Ed448",
        "Ed25519ph",
        "dir",
        "A128KW",
    ] {
        let name = format!("algorithm `{alg}`");
        cases.push(malformed(&name, &with("alg", json!(alg))));
    }
    for (name, alg) in [
        ("a list", json!(["EdDSA"])),
        ("a list with none", json!(["none", "EdDSA"])),
        ("null", Value::Null),
        ("a number", json!(1)),
        ("a truth value", json!(true)),
        ("an object", json!({"name": "EdDSA"})),
    ] {
        cases.push(malformed(
            &format!("algorithm as {name}"),
            &with("alg", alg),
        ));
    }
    cases.push(malformed("no algorithm", &without("alg")));
    let claims = canonical_text(&Call::default().claims());
    let unsigned = |alg: &str| {
        let header = canonical_text(&with("alg", json!(alg)));
        format!("{}.{}", encoded(&header), encoded(&claims))
    };
    let none = format!("{}.", unsigned("none"));
    cases.push(Case::new("none, and no signature", &none, "malformed"));
    let unsigned_ours = format!("{}.", unsigned("EdDSA"));
    cases.push(Case::new(
        "our algorithm, and no signature",
        &unsigned_ours,
        "bad_signature",
    ));
    let public = key().verifying_key();
    let spelled = encoded(public.as_bytes());
    for (name, secret) in [
        ("the bytes of the public key", public.as_bytes().as_slice()),
        ("the text of the public key", spelled.as_bytes()),
        ("nothing", b"".as_slice()),
    ] {
        for (alg, result) in [("HS256", "malformed"), ("EdDSA", "bad_signature")] {
            let text = unsigned(alg);
            let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
            mac.update(text.as_bytes());
            let token = format!("{text}.{}", encoded(&mac.finalize().into_bytes()));
            let name = format!("a hash keyed with {name} as {alg}");
            cases.push(Case::new(&name, &token, result));
        }
    }
    cases
}

/// Other names of keys, and other kinds of token.
pub(crate) fn names() -> Vec<Case> {
    let mut cases = Vec::new();
    let kid = PublicKey::new(key().verifying_key()).kid;
    for (name, kid) in [
        ("unknown", "nobody".to_owned()),
        ("empty", String::new()),
        ("a path", "../../../../etc/passwd".to_owned()),
        ("an address", "https://example.org/key".to_owned()),
        ("a question to a database", "' or '1'='1".to_owned()),
        ("with a space behind", format!("{kid} ")),
        ("with padding", format!("{kid}=")),
        ("in small letters", kid.to_lowercase()),
        ("the key itself", encoded(key().verifying_key().as_bytes())),
        ("a word of the language", "__proto__".to_owned()),
        ("another word of the language", "constructor".to_owned()),
        (
            "a key the verifier does not know",
            PublicKey::new(second_key().verifying_key()).kid,
        ),
    ] {
        let token = signed_under(&with("kid", json!(kid)));
        cases.push(Case::new(
            &format!("key name {name}"),
            &token,
            "unknown_key",
        ));
    }
    let both = |name: &str, token: &str, result: &str| Case {
        keys: [key(), second_key()]
            .map(|key| PublicKey::new(key.verifying_key()).jwk())
            .to_vec(),
        ..Case::new(name, token, result)
    };
    let others = signed_under(&header(&second_key()));
    cases.push(both(
        "key name of another known key",
        &others,
        "bad_signature",
    ));
    let text = signed_under(&header(&key()));
    let (text, _) = text.rsplit_once('.').unwrap();
    let signature = second_key().sign(text.as_bytes()).to_bytes();
    let token = format!("{text}.{}", encoded(&signature));
    cases.push(both("signed by another known key", &token, "bad_signature"));
    for (name, value) in [
        ("a number", json!(0)),
        ("null", Value::Null),
        ("a list", json!([kid])),
        ("an object", json!({})),
        ("a truth value", json!(true)),
    ] {
        cases.push(malformed(
            &format!("key name as {name}"),
            &with("kid", value),
        ));
    }
    cases.push(malformed("no key name", &without("kid")));
    for typ in [
        "JWT",
        "jwt",
        "at+jwt",
        "dpop+jwt",
        "",
        "countersign+JWT",
        "Countersign+jwt",
        "countersign",
        "countersign+jwt ",
        "application/countersign+jwt",
        "countersign-approval+jwt",
    ] {
        cases.push(malformed(
            &format!("kind `{typ}`"),
            &with("typ", json!(typ)),
        ));
    }
    for (name, typ) in [
        ("a list", json!(["countersign+jwt"])),
        ("null", Value::Null),
        ("a number", json!(1)),
    ] {
        cases.push(malformed(&format!("kind as {name}"), &with("typ", typ)));
    }
    cases.push(malformed("no kind", &without("typ")));
    cases
}

/// Members too many, twice, and other shapes and spellings.
pub(crate) fn members() -> Vec<Case> {
    let jwk = PublicKey::new(second_key().verifying_key()).jwk();
    let mut cases = Vec::new();
    for (name, value) in [
        ("jku", json!("https://example.org/jwks.json")),
        ("jwk", jwk),
        ("x5u", json!("https://example.org/chain.pem")),
        ("x5c", json!(["MIIB"])),
        ("x5t", json!("abc")),
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("cty", json!("JWT")),
        ("enc", json!("A128GCM")),
        ("iss", json!("countersign")),
        ("exp", json!(9_000_000_000_i64)),
        ("ALG", json!("none")),
        ("", json!("")),
        ("__proto__", json!({"alg": "none"})),
    ] {
        cases.push(malformed(
            &format!("a header `{name}` too many"),
            &with(name, value),
        ));
    }
    let honest = String::from_utf8(canonical_text(&header(&key()))).unwrap();
    let kid = PublicKey::new(key().verifying_key()).kid;
    let twice = |member: &str| honest.replacen('{', &format!("{{{member},"), 1);
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("none before the algorithm", twice(r#""alg":"none""#).into()),
        (
            "none behind the algorithm",
            honest
                .replacen("\"EdDSA\"", "\"EdDSA\",\"alg\":\"none\"", 1)
                .into(),
        ),
        (
            "the algorithm twice, the same",
            twice(r#""alg":"EdDSA""#).into(),
        ),
        ("the key twice", twice(r#""kid":"nobody""#).into()),
        ("the kind twice", twice(r#""typ":"JWT""#).into()),
        ("white space within", honest.replacen(':', ": ", 1).into()),
        ("white space behind", format!("{honest} ").into()),
        (
            "in another order",
            format!(r#"{{"typ":"countersign+jwt","alg":"EdDSA","kid":"{kid}"}}"#).into(),
        ),
        (
            "a letter in escapes",
            honest.replacen("EdDSA", r"\u0045dDSA", 1).into(),
        ),
        (
            "a name in escapes",
            honest.replacen("alg", r"\u0061lg", 1).into(),
        ),
        (
            "as a list",
            format!(r#"["EdDSA","{kid}","countersign+jwt"]"#).into(),
        ),
        ("in a list", format!("[{honest}]").into()),
        ("null", b"null".to_vec()),
        ("a text", br#""EdDSA""#.to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("nothing", Vec::new()),
        ("not JSON", b"alg=EdDSA".to_vec()),
        ("cut off", honest.trim_end_matches('}').into()),
        ("a byte order mark", format!("\u{feff}{honest}").into()),
        ("bytes that are no text", vec![0xff; 12]),
        (
            "half a surrogate pair",
            honest.replacen(&kid, r"\ud800", 1).into(),
        ),
        ("lists without end", vec![b'['; 2000]),
        (
            "UTF-16",
            honest.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
    ];
    let claims = canonical_text(&Call::default().claims());
    cases.extend(rows.iter().map(|(name, text)| {
        let token = signed_bytes(text, &claims);
        Case::new(&format!("header: {name}"), &token, "malformed")
    }));
    cases
}
