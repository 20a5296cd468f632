//! Vectors about calls: honest ones, and other ones than the token is for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::digest::Digest;
use serde_json::{Value, json};

use super::case::{Call, Case, signed};

fn ok(name: &str, call: &Call) -> Case {
    Case::new(name, &call.token(), "ok").doing(call.expected())
}

/// Tokens that must be taken.
pub(crate) fn honest() -> Vec<Case> {
    let plain = Call::default();
    let mut cases = vec![
        ok("honest", &plain),
        ok("honest, the asker not known", &plain).but("agent", Value::Null),
        ok(
            "no directory",
            &Call {
                cwd: None,
                ..plain.clone()
            },
        ),
        ok(
            "an empty directory",
            &Call {
                cwd: Some(String::new()),
                ..plain.clone()
            },
        ),
        ok(
            "an empty session",
            &Call {
                session: String::new(),
                ..plain.clone()
            },
        ),
        ok(
            "another executor",
            &Call {
                executor: "mail@gateway-1".to_owned(),
                ..plain.clone()
            },
        ),
        ok(
            "a definition",
            &Call {
                definition: Some(Digest::of(b"schema")),
                ..plain.clone()
            },
        ),
        ok(
            "attachments",
            &Call {
                attachments: vec![Digest::of(b"a"), Digest::of(b"b")],
                ..plain.clone()
            },
        ),
        ok(
            "bytes",
            &Call {
                raw: Some(b"{ \"to\": \"ana\" }\n".to_vec()),
                ..plain.clone()
            },
        ),
        ok(
            "no bytes",
            &Call {
                raw: Some(Vec::new()),
                ..plain.clone()
            },
        ),
        ok(
            "bytes that are no text",
            &Call {
                raw: Some(vec![0, 0xff, 0xc0, 0x80]),
                ..plain.clone()
            },
        ),
        ok(
            "names from many scripts",
            &Call {
                tool: "envoyé_送る".to_owned(),
                session: "сеанс 🦀".to_owned(),
                ..plain.clone()
            },
        ),
        ok(
            "names that need escapes",
            &Call {
                session: "a\"b\\c\n\u{1}\u{7f}\u{2028}/".to_owned(),
                ..plain
            },
        ),
    ];
    for (name, arguments) in [
        ("nothing", json!({})),
        ("null", Value::Null),
        ("a text", json!("ls")),
        ("a list", json!([1, [2, []], {}])),
        (
            "the largest number",
            json!({"id": 9_007_199_254_740_991_i64}),
        ),
        (
            "the smallest number",
            json!({"id": -9_007_199_254_740_991_i64}),
        ),
        (
            "fractions",
            json!([
                0.1,
                1.5,
                123_456.789,
                0.000_001,
                0.000_000_1,
                5e-324,
                -2.5e-9,
                0.3,
                4.35,
                1e-7
            ]),
        ),
        (
            "names beyond the first plane",
            json!({"\u{fb33}": 1, "🦀": 2, "é": 3, "e\u{301}": 4, "1": 5, "": 6, "10": 7, "2": 8}),
        ),
        (
            "texts that need escapes",
            json!({"a": "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\"\\/\u{7f}\u{80}\u{2028}\u{feff}"}),
        ),
        (
            "truth values",
            json!({"yes": true, "no": false, "unset": null}),
        ),
        (
            "a word of the language",
            json!({"__proto__": {"to": "bo"}, "constructor": 1, "toString": "x"}),
        ),
        ("as deep as is judged", nested(64)),
    ] {
        cases.push(ok(&format!("arguments: {name}"), &Call::with(arguments)));
    }
    for (name, text) in [
        (
            "in another order",
            r#"{"text":"I will be late","copies":2,"to":"ana"}"#,
        ),
        (
            "with white space",
            "\n{ \"to\" : \"ana\",\t\"text\":\"I will be late\" , \"copies\":2}\r\n",
        ),
        (
            "with escapes",
            r#"{"t\u006f":"\u0061na","text":"I will be late","copies":2}"#,
        ),
        (
            "with a fraction of zero",
            r#"{"to":"ana","text":"I will be late","copies":2.0}"#,
        ),
        (
            "with an exponent",
            r#"{"to":"ana","text":"I will be late","copies":0.2e1}"#,
        ),
    ] {
        let case = ok(&format!("the same arguments {name}"), &Call::default());
        cases.push(
            case.but("arguments", Value::Null)
                .but("arguments_text", json!(text)),
        );
    }
    let zero = ok("minus zero is zero", &Call::with(json!([0, 0])));
    cases.push(
        zero.but("arguments", Value::Null)
            .but("arguments_text", json!("[-0, -0.0]")),
    );
    cases
}

/// Good tokens for something else.
pub(crate) fn other() -> Vec<Case> {
    let mut cases = Vec::new();
    let twin = Call {
        session: "é".to_owned(),
        ..Call::default()
    };
    cases.push(
        Case::new(
            "other session: a twin in other code points",
            &twin.token(),
            "other_session",
        )
        .doing(twin.expected())
        .but("session", json!("e\u{301}")),
    );
    let token = Call::default().token();
    for (name, member, value, result) in [
        ("executor", "audience", "tool:send_mail", "other_executor"),
        (
            "executor: in capitals",
            "audience",
            "TOOL:send_message",
            "other_executor",
        ),
        (
            "executor: the beginning of it",
            "audience",
            "tool:send",
            "other_executor",
        ),
        ("executor: nobody", "audience", "", "other_executor"),
        ("tool", "tool", "delete_message", "other_tool"),
        ("tool: in capitals", "tool", "Send_Message", "other_tool"),
        ("tool: with a space", "tool", "send_message ", "other_tool"),
        (
            "tool: a look-alike",
            "tool",
            "send_mess\u{430}ge",
            "other_tool",
        ),
        ("session", "session", "ses-2", "other_session"),
        ("session: none", "session", "", "other_session"),
        (
            "session: a longer one",
            "session",
            "ses-10",
            "other_session",
        ),
        ("agent", "agent", "key_02", "other_agent"),
        ("agent: nobody", "agent", "", "other_agent"),
        ("directory", "cwd", "/home/dev/other", "other_call"),
        (
            "directory: with a slash",
            "cwd",
            "/home/dev/project/",
            "other_call",
        ),
        ("directory: empty", "cwd", "", "other_call"),
    ] {
        cases.push(Case::new(&format!("other {name}"), &token, result).but(member, json!(value)));
    }
    let other = |name: &str| Case::new(&format!("other call: {name}"), &token, "other_call");
    cases.push(other("no directory").but("cwd", Value::Null));
    cases.push(other("an attachment").but("attachments", json!([Digest::of(b"a").hex()])));
    cases.push(
        Case::new(
            "other encoding: bytes in place of JSON",
            &token,
            "other_encoding",
        )
        .but("arguments", Value::Null)
        .but("arguments_raw", json!(STANDARD.encode(b"{}"))),
    );
    cases.extend(arguments());
    cases.extend(bytes());
    cases.extend(bindings());
    cases
}

/// Other arguments than the token is for.
fn arguments() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, approved, asked) in [
        ("another person", json!({"to": "ana"}), json!({"to": "bob"})),
        (
            "one member more",
            json!({"to": "ana"}),
            json!({"to": "ana", "cc": "bob"}),
        ),
        (
            "one member less",
            json!({"to": "ana", "cc": "bob"}),
            json!({"to": "ana"}),
        ),
        (
            "null in place of nothing",
            json!({"to": "ana"}),
            json!({"to": "ana", "cc": null}),
        ),
        (
            "a text in place of a number",
            json!({"copies": 2}),
            json!({"copies": "2"}),
        ),
        (
            "a number in place of a truth value",
            json!({"all": true}),
            json!({"all": 1}),
        ),
        (
            "a list in place of a text",
            json!({"to": "ana"}),
            json!({"to": ["ana"]}),
        ),
        (
            "a list in another order",
            json!(["a", "b"]),
            json!(["b", "a"]),
        ),
        (
            "an empty list in place of an empty object",
            json!({"a": {}}),
            json!({"a": []}),
        ),
        (
            "a space behind",
            json!({"to": "ana"}),
            json!({"to": "ana "}),
        ),
        ("capitals", json!({"to": "ana"}), json!({"to": "Ana"})),
        (
            "a twin in other code points",
            json!({"to": "André"}),
            json!({"to": "Andre\u{301}"}),
        ),
        (
            "a name in other code points",
            json!({"é": 1}),
            json!({"e\u{301}": 1}),
        ),
        (
            "a look-alike",
            json!({"to": "ana"}),
            json!({"to": "\u{430}na"}),
        ),
        (
            "a zero-width space",
            json!({"to": "ana"}),
            json!({"to": "an\u{200b}a"}),
        ),
        (
            "a line end of Windows",
            json!({"text": "a\nb"}),
            json!({"text": "a\r\nb"}),
        ),
        (
            "members moved up",
            json!({"a": {"b": 1}}),
            json!({"a": {}, "b": 1}),
        ),
        (
            "the next number",
            json!({"id": 9_007_199_254_740_991_i64}),
            json!({"id": 9_007_199_254_740_990_i64}),
        ),
        (
            "a small difference",
            json!({"amount": 0.1}),
            json!({"amount": 0.100_000_000_000_000_02}),
        ),
        ("another sign", json!({"amount": 5}), json!({"amount": -5})),
        (
            "JSON in a text",
            json!({"a": {"b": 1}}),
            json!({"a": "{\"b\":1}"}),
        ),
        ("everything else", json!({"to": "ana"}), json!("rm -rf /")),
    ] {
        let case = ok(&format!("other arguments: {name}"), &Call::with(approved));
        cases.push(
            Case {
                result: "other_call".to_owned(),
                ..case
            }
            .but("arguments", asked),
        );
    }
    // Approved as a number that every reader keeps; asked for with one that readers confuse.
    for id in [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "1e16",
        "1e300",
        "123456789012345678901234567890",
    ] {
        let call = Call::with(json!({"id": 9_007_199_254_740_991_i64}));
        let case = Case {
            result: "other_call".to_owned(),
            ..ok(&format!("other arguments: the number {id}"), &call)
        };
        cases.push(
            case.but("arguments", Value::Null)
                .but("arguments_text", json!(format!("{{\"id\":{id}}}"))),
        );
    }
    let deep = ok(
        "other arguments: deeper than is judged",
        &Call::with(nested(64)),
    );
    cases.push(
        Case {
            result: "other_call".to_owned(),
            ..deep
        }
        .but("arguments", nested(65)),
    );
    cases
}

/// Other bytes than the token is for.
fn bytes() -> Vec<Case> {
    let call = Call {
        raw: Some(br#"{"to": "ana"}"#.to_vec()),
        ..Call::default()
    };
    let mut cases = Vec::new();
    for (name, asked) in [
        ("without the space", br#"{"to":"ana"}"#.to_vec()),
        ("with a line end", b"{\"to\": \"ana\"}\n".to_vec()),
        ("another person", br#"{"to": "bob"}"#.to_vec()),
        ("none", Vec::new()),
        ("a member twice", br#"{"to": "ana", "to": "bob"}"#.to_vec()),
    ] {
        let case = ok(&format!("other bytes: {name}"), &call)
            .but("arguments_raw", json!(STANDARD.encode(asked)));
        cases.push(Case {
            result: "other_call".to_owned(),
            ..case
        });
    }
    let json = ok("other encoding: JSON in place of bytes", &call)
        .but("arguments_raw", Value::Null)
        .but("arguments", json!({"to": "ana"}));
    cases.push(Case {
        result: "other_encoding".to_owned(),
        ..json
    });
    cases
}

/// Good signatures over claims that do not belong together, and attachments.
fn bindings() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, claim, value, expected, result) in [
        (
            "the definition",
            "tdh",
            json!(Digest::of(b"other").hex()),
            None,
            "other_call",
        ),
        (
            "the digest",
            "adg",
            json!(Digest::of(b"other").hex()),
            None,
            "other_call",
        ),
        (
            "the asker, not known to the verifier",
            "agt",
            json!("key_02"),
            Some("agent"),
            "other_call",
        ),
        ("the encoding", "enc", json!("raw"), None, "other_encoding"),
    ] {
        let mut claims = Call::default().claims();
        claims[claim] = value;
        let case = Case::new(
            &format!("bound to something else: {name}"),
            &signed(&claims),
            result,
        );
        cases.push(match expected {
            Some(unknown) => case.but(unknown, Value::Null),
            None => case,
        });
    }
    let two = Call {
        attachments: vec![Digest::of(b"a"), Digest::of(b"b")],
        ..Call::default()
    };
    let hashes = |names: &[&str]| -> Value {
        names
            .iter()
            .map(|name| Digest::of(name.as_bytes()).hex())
            .collect()
    };
    for (name, attached) in [
        ("one missing", hashes(&["a"])),
        ("in another order", hashes(&["b", "a"])),
        ("one more", hashes(&["a", "b", "c"])),
        ("one exchanged", hashes(&["a", "c"])),
        ("none", Value::Null),
    ] {
        let case = ok(&format!("other attachments: {name}"), &two).but("attachments", attached);
        cases.push(Case {
            result: "other_call".to_owned(),
            ..case
        });
    }
    cases
}

/// Returns a number inside this many lists.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}
