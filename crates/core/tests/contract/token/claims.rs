//! Vectors about claims: their kinds, members and values. The signature is always good.

use serde_json::{Value, json};

use super::case::{Call, Case, NOW, canonical_text, header, key, signed, signed_bytes};

/// The claims that are texts.
const TEXTS: [&str; 12] = [
    "iss", "aud", "sub", "jti", "tool", "tdh", "enc", "adg", "ses", "agt", "tier", "pol",
];
/// The claims that are whole numbers.
const NUMBERS: [&str; 4] = ["v", "iat", "nbf", "exp"];

fn malformed(name: &str, claims: &Value) -> Case {
    Case::new(name, &signed(claims), "malformed")
}

/// Returns the vector whose claims are exactly `text`.
fn malformed_text(name: &str, text: &[u8]) -> Case {
    let token = signed_bytes(&canonical_text(&header(&key())), text);
    Case::new(name, &token, "malformed")
}

/// Returns the honest claims as text.
fn honest() -> String {
    String::from_utf8(canonical_text(&Call::default().claims())).unwrap()
}

/// Returns the honest claims with one piece of their text exchanged.
fn exchanged(from: &str, to: &str) -> String {
    let honest = honest();
    assert_eq!(honest.matches(from).count(), 1, "{from}");
    honest.replace(from, to)
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = Call::default().claims();
    claims[name] = value;
    claims
}

/// Every claim, missing and of every wrong kind.
pub(crate) fn kinds() -> Vec<Case> {
    let mut cases = Vec::new();
    for claim in TEXTS.into_iter().chain(NUMBERS).chain(["apr"]) {
        let mut claims = Call::default().claims();
        claims.as_object_mut().unwrap().shift_remove(claim);
        cases.push(malformed(&format!("claim {claim} is missing"), &claims));
        let null = with(claim, Value::Null);
        cases.push(malformed(&format!("claim {claim} is null"), &null));
    }
    for claim in TEXTS {
        let honest = Call::default().claims()[claim].clone();
        for (kind, value) in [
            ("a number", json!(1)),
            ("a list", json!([honest.clone()])),
            ("an object", json!({"value": honest})),
            ("a truth value", json!(true)),
        ] {
            let name = format!("claim {claim} is {kind}");
            cases.push(malformed(&name, &with(claim, value)));
        }
    }
    for claim in NUMBERS {
        let honest = Call::default().claims()[claim].clone();
        for (kind, value) in [
            ("a text", json!(honest.to_string())),
            ("a truth value", json!(true)),
            ("a list", json!([honest.clone()])),
            ("half a second later", json!(honest.as_f64().unwrap() + 0.5)),
        ] {
            let name = format!("claim {claim} is {kind}");
            cases.push(malformed(&name, &with(claim, value)));
        }
        for (kind, spelling) in [
            ("with a fraction of zero", format!("{honest}.0")),
            ("with an exponent", format!("{honest}e0")),
            ("with a capital exponent", format!("{honest}E0")),
            ("with a sign", format!("+{honest}")),
            ("with a zero in front", format!("0{honest}")),
            ("in hexadecimal", format!("{:#x}", honest.as_i64().unwrap())),
        ] {
            let ending = if claim == "v" { "}" } else { "," };
            let text = exchanged(
                &format!(r#""{claim}":{honest}{ending}"#),
                &format!(r#""{claim}":{spelling}{ending}"#),
            );
            let name = format!("claim {claim} is written {kind}");
            cases.push(malformed_text(&name, text.as_bytes()));
        }
    }
    cases
}

/// Too many members, members twice, other shapes, other spellings of the same.
pub(crate) fn members() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, value) in [
        ("admin", json!(true)),
        ("scope", json!("always")),
        ("cnf", json!({"jkt": "x"})),
        ("!x", json!(1)),
        ("Exp", json!(NOW + 9999)),
        ("", json!("")),
        ("__proto__", json!({"exp": NOW + 9999})),
        ("constructor", json!(null)),
    ] {
        cases.push(malformed(
            &format!("a claim `{name}` too many"),
            &with(name, value),
        ));
    }
    for (name, apr) in [
        ("without a person", json!({"channel": "web", "tier": "T1"})),
        ("without a channel", json!({"who": "ana", "tier": "T1"})),
        ("without a tier", json!({"who": "ana", "channel": "web"})),
        (
            "with a member too many",
            json!({"who": "ana", "channel": "web", "tier": "T1", "x": 1}),
        ),
        ("as a list", json!(["web", "T1", "ana"])),
        (
            "as a list in the order of the claims",
            json!(["ana", "web", "T1"]),
        ),
        ("as a text", json!("ana")),
        ("as a number", json!(1)),
        ("empty", json!({})),
        (
            "in a list",
            json!([{"who": "ana", "channel": "web", "tier": "T1"}]),
        ),
        (
            "with a number for a person",
            json!({"who": 1, "channel": "web", "tier": "T1"}),
        ),
        (
            "with null for a channel",
            json!({"who": "ana", "channel": null, "tier": "T1"}),
        ),
        (
            "with a list for a tier",
            json!({"who": "ana", "channel": "web", "tier": ["T1"]}),
        ),
    ] {
        cases.push(malformed(&format!("approver {name}"), &with("apr", apr)));
    }
    let fields: Vec<Value> = Call::default()
        .claims()
        .as_object()
        .unwrap()
        .values()
        .cloned()
        .collect();
    cases.push(malformed("claims as a list", &Value::Array(fields)));
    cases.push(malformed(
        "claims in a list",
        &json!([Call::default().claims()]),
    ));
    cases.extend(texts());
    cases
}

fn texts() -> Vec<Case> {
    let honest = honest();
    let twice = |member: &str| honest.replacen('{', &format!("{{{member},"), 1);
    let rows: Vec<(&str, Vec<u8>)> = vec![
        (
            "the end twice, the later first",
            twice(r#""exp":1790000299"#).into(),
        ),
        (
            "the end twice, the same",
            twice(r#""exp":1790000110"#).into(),
        ),
        ("the tool twice", twice(r#""tool":"read_file""#).into()),
        ("the token's id twice", twice(r#""jti":"tok_02""#).into()),
        (
            "the tool twice, once in escapes",
            twice(r#""t\u006fol":"read_file""#).into(),
        ),
        (
            "the person twice",
            exchanged(r#""who":"ana""#, r#""who":"ana","who":"bo""#).into(),
        ),
        ("white space before", format!(" {honest}").into()),
        ("white space behind", format!("{honest}\n").into()),
        ("white space within", honest.replacen(':', ": ", 1).into()),
        ("two objects", format!("{honest}{honest}").into()),
        ("a comma too many", honest.replacen('}', ",}", 1).into()),
        ("a comment", honest.replacen('{', "{/**/", 1).into()),
        ("cut off", honest.trim_end_matches('}').into()),
        (
            "a letter in escapes",
            exchanged("ses-1", r"s\u0065s-1").into(),
        ),
        (
            "a slash in escapes",
            exchanged("countersign", r"counter\/sign").into(),
        ),
        (
            "half a surrogate pair",
            exchanged("countersign", r"\ud800").into(),
        ),
        (
            "half a surrogate pair at the end",
            exchanged("countersign", r"a\udc00").into(),
        ),
        (
            "a control character as it is",
            exchanged("countersign", "a\u{1}b").into(),
        ),
        (
            "an escape in capitals",
            exchanged("countersign", r"a\u001Fb").into(),
        ),
        ("a byte order mark", format!("\u{feff}{honest}").into()),
        (
            "bytes that are no text",
            honest
                .replace("countersign", "\u{7f}")
                .bytes()
                .map(|byte| if byte == 0x7f { 0xff } else { byte })
                .collect(),
        ),
        (
            "an overlong slash",
            honest
                .replace("countersign", "\u{7f}\u{7f}")
                .bytes()
                .map(|byte| if byte == 0x7f { 0xc0 } else { byte })
                .collect(),
        ),
        (
            "UTF-16",
            honest.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ),
        ("single quotes", honest.replace('"', "'").into()),
        ("not a number", exchanged("1790000110", "NaN").into()),
        ("infinity", exchanged("1790000110", "Infinity").into()),
        ("null", b"null".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("nothing", Vec::new()),
        ("a text", br#""claims""#.to_vec()),
        ("a number", b"1".to_vec()),
        (
            "lists in lists",
            [vec![b'['; 300], vec![b']'; 300]].concat(),
        ),
        ("lists without end", vec![b'['; 1200]),
    ];
    let mut cases: Vec<Case> = rows
        .iter()
        .map(|(name, text)| malformed_text(&format!("claims: {name}"), text))
        .collect();
    let members: Vec<&str> = honest.trim_matches(['{', '}']).splitn(2, ',').collect();
    let turned = format!("{{{},{}}}", members[1], members[0]);
    cases.push(malformed_text(
        "claims: in another order",
        turned.as_bytes(),
    ));
    cases
}

/// Claims of the right kind that say what no token says.
pub(crate) fn values() -> Vec<Case> {
    let hash = "0123456789abcdef".repeat(4);
    let mut cases = Vec::new();
    for (name, claim, value) in [
        ("version 0", "v", json!(0)),
        ("version 2", "v", json!(2)),
        ("version 257", "v", json!(257)),
        ("version -1", "v", json!(-1)),
        ("an end at its beginning", "exp", json!(NOW - 10)),
        ("an end before its beginning", "exp", json!(NOW - 11)),
        ("a life of 301 seconds", "exp", json!(NOW + 291)),
        ("a life of a year", "exp", json!(NOW + 31_536_000)),
        (
            "an end that never comes",
            "exp",
            json!(9_007_199_254_740_991_i64),
        ),
        ("a beginning long ago", "iat", json!(0)),
        (
            "a beginning before all time",
            "iat",
            json!(-9_007_199_254_740_991_i64),
        ),
        ("valid only after its end", "nbf", json!(NOW + 111)),
        ("an encoding there is not", "enc", json!("ijson")),
        ("an encoding in capitals", "enc", json!("JCS")),
        ("an encoding with a space", "enc", json!("raw ")),
        ("no encoding", "enc", json!("")),
    ] {
        cases.push(malformed(name, &with(claim, value)));
    }
    for claim in ["tdh", "adg", "pol"] {
        for (name, value) in [
            ("in capitals", hash.to_uppercase()),
            ("with a digit less", hash[1..].to_owned()),
            ("with a digit more", format!("{hash}0")),
            ("with its name in front", format!("sha256:{hash}")),
            ("with a letter that is no digit", hash.replacen('f', "g", 1)),
            ("with a sign", hash.replacen('0', "+", 1)),
            ("with a wide digit", hash.replacen('0', "０", 1)),
            ("with a line end", format!("{hash}\n")),
            ("left empty", String::new()),
        ] {
            let name = format!("hash {claim} {name}");
            cases.push(malformed(&name, &with(claim, json!(value))));
        }
    }
    for (name, spelling) in [
        ("beyond what every reader keeps", "9007199254740993"),
        ("beyond 64 bits", "18446744073709551617"),
        ("of four hundred digits", &"9".repeat(400)),
        ("beyond every float", "1e400"),
        ("of minus zero", "-0"),
    ] {
        let text = exchanged("1790000110", spelling);
        cases.push(malformed_text(&format!("an end {name}"), text.as_bytes()));
    }
    cases
}
