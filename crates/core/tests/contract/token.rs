//! Tokens: the shared vectors, and the laws of binding as far as they are pure.
//!
//! `corpus/tokens.jsonl` is what verifiers in every language agree on. It is made here, so that
//! what is signed can be anything; `COUNTERSIGN_WRITE_VECTORS=1 cargo test -p countersign-core
//! --test token` writes it anew.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::too_many_lines,
    reason = "tests read data, may fail loudly, and have long tables"
)]

mod calls;
mod case;
mod claims;
mod forms;
mod headers;
mod laws;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::canonical;
use countersign_core::digest::Digest;
use countersign_core::token::{Arguments, Expected, PublicKey, TokenError, verify};
use serde_json::Value;

use case::Case;

/// Returns every vector, in the order of the file.
fn vectors() -> Vec<Case> {
    [
        calls::honest(),
        calls::other(),
        uses::times(),
        uses::replays(),
        uses::keys(),
        claims::kinds(),
        claims::members(),
        claims::values(),
        headers::algorithms(),
        headers::names(),
        headers::members(),
        forms::spellings(),
        forms::signatures(),
    ]
    .concat()
}

#[test]
fn the_file_of_vectors_is_what_is_made_here() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/tokens.jsonl");
    let made: String = vectors().iter().map(|case| case.line() + "\n").collect();
    if std::env::var_os("COUNTERSIGN_WRITE_VECTORS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    let differs = made.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None);
    assert_eq!(made.lines().count(), kept.lines().count());
}

#[test]
fn there_are_many_vectors_and_each_has_its_own_name() {
    let vectors = vectors();
    let names: BTreeSet<&str> = vectors.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), vectors.len());
    let refused = vectors.iter().filter(|case| case.result != "ok").count();
    assert!(vectors.len() >= 200 && refused * 4 >= vectors.len() * 3);
}

#[test]
fn every_vector_ends_as_it_should() {
    let vectors = vectors();
    let by_name: BTreeMap<&str, &Case> = vectors
        .iter()
        .map(|case| (case.name.as_str(), case))
        .collect();
    let mut wrong = Vec::new();
    for case in &vectors {
        let mut used = BTreeSet::new();
        let before = case.after.as_deref().map(|name| by_name[name]);
        for case in before.into_iter().chain([case]) {
            let result = present(case, &mut used);
            if result != case.result {
                wrong.push(format!("{}: {result}, not {}", case.name, case.result));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Presents the token of `case` to a verifier that has seen the tokens `used`.
fn present(case: &Case, used: &mut BTreeSet<String>) -> String {
    // Through text, so that what is tried is what stands in the file.
    let row: Value = serde_json::from_str(&case.line()).unwrap();
    let keys: Vec<PublicKey> = row["jwks"]["keys"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(PublicKey::from_jwk)
        .collect();
    let expected = &row["expected"];
    let text = |name: &str| expected.get(name).and_then(Value::as_str);
    let json = text("arguments_text").map_or_else(
        || expected.get("arguments").cloned().unwrap_or_default(),
        |text| canonical::parse(text.as_bytes()).unwrap(),
    );
    let raw = text("arguments_raw").map(|raw| STANDARD.decode(raw).unwrap());
    let attachments: Vec<Digest> = expected["attachments"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|hash| Digest::parse(hash.as_str().unwrap()).unwrap())
        .collect();
    let expected = Expected {
        audience: text("audience").unwrap(),
        tool: text("tool").unwrap(),
        session: text("session").unwrap(),
        agent: text("agent"),
        arguments: raw
            .as_deref()
            .map_or(Arguments::Json(&json), Arguments::Raw),
        cwd: text("cwd"),
        attachments: &attachments,
    };
    let now = row["now"].as_i64().unwrap();
    match verify(row["token"].as_str().unwrap(), &keys, now, expected) {
        Ok(claims) if !used.insert(claims.jti.clone()) => "used".to_owned(),
        Ok(_) => "ok".to_owned(),
        Err(TokenError::Malformed) => "malformed".to_owned(),
        Err(TokenError::UnknownKey) => "unknown_key".to_owned(),
        Err(TokenError::BadSignature) => "bad_signature".to_owned(),
        Err(TokenError::Expired) => "expired".to_owned(),
        Err(TokenError::NotYetValid) => "not_yet_valid".to_owned(),
        Err(TokenError::Other(what)) => format!("other_{what}"),
    }
}
