//! Vectors about the use of a token: too early, too late, again, and whose key it is.

use countersign_core::token::PublicKey;
use serde_json::{Value, json};

use super::case::{Call, Case, NOW, key, second_key, signed};

/// The same token at other times, and tokens of other times.
pub(crate) fn times() -> Vec<Case> {
    let token = Call::default().token();
    let mut cases = Vec::new();
    for (name, now, result) in [
        ("at its beginning", NOW - 10, "ok"),
        ("as early as clocks may differ", NOW - 40, "ok"),
        ("a second too early", NOW - 41, "not_yet_valid"),
        ("long before", 0, "not_yet_valid"),
        ("at its end", NOW + 110, "ok"),
        ("as late as clocks may differ", NOW + 139, "ok"),
        ("a second too late", NOW + 140, "expired"),
        ("a day later", NOW + 86_400, "expired"),
        ("at the end of time", 9_007_199_254_740_991, "expired"),
    ] {
        cases.push(Case::new(&format!("time: {name}"), &token, result).at(now));
    }
    for (name, iat, nbf, exp, result) in [
        ("the longest life", NOW, NOW, NOW + 300, "ok"),
        ("the shortest life", NOW, NOW, NOW + 1, "ok"),
        ("valid from its end", NOW, NOW + 1, NOW + 1, "ok"),
        (
            "valid before it was issued",
            NOW,
            NOW - 1000,
            NOW + 60,
            "ok",
        ),
        (
            "issued in the future",
            NOW + 31,
            NOW,
            NOW + 60,
            "not_yet_valid",
        ),
        (
            "valid in the future",
            NOW,
            NOW + 31,
            NOW + 60,
            "not_yet_valid",
        ),
        ("long over", 1_000_000, 1_000_000, 1_000_300, "expired"),
    ] {
        let mut claims = Call::default().claims();
        claims["iat"] = json!(iat);
        claims["nbf"] = json!(nbf);
        claims["exp"] = json!(exp);
        cases.push(Case::new(
            &format!("time: {name}"),
            &signed(&claims),
            result,
        ));
    }
    cases
}

/// Tokens that come again. A refusal does not use a token up.
pub(crate) fn replays() -> Vec<Case> {
    let token = Call::default().token();
    let mut claims = Call::with(json!({"to": "bob"})).claims();
    let twin = signed(&claims);
    claims["jti"] = json!("tok_02");
    let second = signed(&claims);
    let bob = Call::with(json!({"to": "bob"})).expected();
    let after = |before: &str, case: Case| Case {
        after: Some(before.to_owned()),
        ..case
    };
    vec![
        after("honest", Case::new("again", &token, "used")),
        after(
            "honest",
            Case::new("again, at its end", &token, "used").at(NOW + 139),
        ),
        after(
            "honest",
            Case::new("again, after its end", &token, "expired").at(NOW + 140),
        ),
        after(
            "honest",
            Case::new("another token of the same name", &twin, "used").doing(bob.clone()),
        ),
        after(
            "honest",
            Case::new("another token", &second, "ok").doing(bob),
        ),
        after(
            "other tool",
            Case::new("after a refusal for another tool", &token, "ok"),
        ),
        after(
            "other call: no directory",
            Case::new("after a refusal for another call", &token, "ok"),
        ),
        after(
            "time: a second too early",
            Case::new("after a refusal for its time", &token, "ok"),
        ),
    ]
}

/// Whose keys the verifier knows.
pub(crate) fn keys() -> Vec<Case> {
    let token = Call::default().token();
    let own = PublicKey::new(key().verifying_key()).jwk();
    let second = PublicKey::new(second_key().verifying_key()).jwk();
    let with = |member: &str, value: Value| {
        let mut jwk = own.clone();
        jwk[member] = value;
        jwk
    };
    let without = |member: &str| {
        let mut jwk = own.clone();
        jwk.as_object_mut().unwrap().shift_remove(member);
        jwk
    };
    let rows = [
        ("two, ours last", vec![second.clone(), own.clone()], "ok"),
        (
            "ours among others of other kinds",
            vec![
                json!({"kty": "oct", "k": "AAAA"}),
                json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "rsa"}),
                own.clone(),
            ],
            "ok",
        ),
        (
            "ours without what may be left out",
            vec![json!({"kty": "OKP", "crv": "Ed25519", "x": own["x"], "kid": own["kid"]})],
            "ok",
        ),
        ("none", vec![], "unknown_key"),
        ("only another", vec![second.clone()], "unknown_key"),
        (
            "another under our name",
            vec![{
                let mut jwk = second;
                jwk["kid"] = own["kid"].clone();
                jwk
            }],
            "unknown_key",
        ),
        (
            "ours under another name",
            vec![with("kid", json!("mine"))],
            "unknown_key",
        ),
        ("ours without a name", vec![without("kid")], "unknown_key"),
        (
            "ours as a secret",
            vec![json!({"kty": "oct", "k": own["x"], "kid": own["kid"]})],
            "unknown_key",
        ),
        (
            "ours on another curve",
            vec![with("crv", json!("X25519"))],
            "unknown_key",
        ),
        (
            "ours of another family",
            vec![with("kty", json!("EC"))],
            "unknown_key",
        ),
        (
            "ours cut short",
            vec![with("x", json!("AAAA"))],
            "unknown_key",
        ),
        (
            "ours with padding",
            vec![with("x", json!(format!("{}=", own["x"].as_str().unwrap())))],
            "unknown_key",
        ),
    ];
    rows.into_iter()
        .map(|(name, keys, result)| Case {
            keys,
            ..Case::new(&format!("keys: {name}"), &token, result)
        })
        .collect()
}
