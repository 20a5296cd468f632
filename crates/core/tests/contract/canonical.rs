//! Canonical JSON: RFC 8785 where it has a form, a refusal where two readers could disagree.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may run another program to be held against, and may fail loudly"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use countersign_core::canonical::{CanonicalError, WHOLE_NUMBER_MAX, canonical, parse};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn written(text: &str) -> String {
    let value = parse(text.as_bytes()).unwrap();
    String::from_utf8(canonical(&value).unwrap()).unwrap()
}

#[test]
fn the_examples_of_the_rfc_are_written_as_it_says() {
    // Without its `1E30`, which is refused here: its neighbours have the same form.
    let rows = [
        (
            "primitive types, section 3.2.2",
            r#"{"numbers":[333333333.33333329,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
        ),
        (
            "order of keys, section 3.2.3",
            r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        ),
        ("an empty object", " { } ", "{}"),
        ("an empty list", "[ ]", "[]"),
        (
            "an object within",
            r#"{"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]}"#,
            r#"{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}"#,
        ),
    ];
    for (name, text, expected) in rows {
        assert_eq!(written(text), expected, "{name}");
    }
}

#[test]
fn the_floats_of_the_rfc_are_written_as_it_says() {
    let rows: [(u64, &str); 16] = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x433f_ffff_ffff_ffff, "9007199254740991"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3e7a_d7f2_9abc_af48, "1e-7"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        (0x3fb9_9999_9999_999a, "0.1"),
    ];
    for (bits, expected) in rows {
        let value = json!(f64::from_bits(bits));
        assert_eq!(
            canonical(&value).unwrap(),
            expected.as_bytes(),
            "{bits:016x}"
        );
    }
}

#[test]
fn what_two_readers_could_read_differently_is_refused() {
    let large = Err(CanonicalError::NumberTooLarge);
    let rows = [
        ("the next after the largest", "9007199254740992"),
        ("the same below zero", "-9007199254740992"),
        ("a 64-bit id", "1234567890123456789"),
        ("beyond 64 bits", "123456789012345678901234567890"),
        ("with an exponent", "1e16"),
        ("with a fraction of zero", "9007199254740992.0"),
        ("far beyond", "1E300"),
    ];
    for (name, text) in rows {
        let value = parse(text.as_bytes()).unwrap();
        assert_eq!(canonical(&value), large, "{name}");
        assert_eq!(canonical(&json!({"a": [value]})), large, "{name}, within");
    }
    let twice = [
        ("a key twice", r#"{"a":1,"a":1}"#),
        ("a key twice, once in escapes", r#"{"a":1,"\u0061":1}"#),
        ("a key twice, deep within", r#"[[{"b":{"":1,"":2}}]]"#),
        ("a key twice, far apart", r#"{"a":1,"b":2,"c":3,"a":null}"#),
    ];
    for (name, text) in twice {
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(
            error.to_string().contains("occurs twice"),
            "{name}: {error}"
        );
    }
    let broken: [(&str, &[u8]); 9] = [
        ("beyond every float", b"1e400"),
        ("half a surrogate pair", br#""\ud800""#),
        ("bytes that are no text", b"\"\xff\""),
        ("a zero in front", b"01"),
        ("not a number", b"NaN"),
        ("a comma too many", b"[1,]"),
        ("something behind", b"{} {}"),
        ("a control character as it is", b"\"\x01\""),
        ("nothing", b""),
    ];
    for (name, text) in broken {
        assert!(parse(text).is_err(), "{name}");
    }
}

#[test]
fn what_is_nested_deeper_than_is_judged_is_refused() {
    let nested = |levels: usize| ["[".repeat(levels), "1".to_owned(), "]".repeat(levels)].concat();
    assert_eq!(written(&nested(64)), nested(64));
    let value = parse(nested(65).as_bytes()).unwrap();
    assert_eq!(canonical(&value), Err(CanonicalError::TooDeep));
    assert!(parse(nested(100_000).as_bytes()).is_err());
}

#[test]
fn twins_in_other_code_points_stay_two() {
    let one = json!({"name": "\u{e9}"});
    let two = json!({"name": "e\u{301}"});
    assert_ne!(canonical(&one), canonical(&two));
    assert_ne!(
        canonical(&json!({"\u{e9}": 1})),
        canonical(&json!({"e\u{301}": 1}))
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let limit = i64::try_from(WHOLE_NUMBER_MAX).unwrap();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-limit..=limit).prop_map(Value::from),
        any::<f64>()
            .prop_filter("has a form", |float| float.abs() < 1e15)
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn turned(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(turned).collect(),
        Value::Object(map) => {
            let members = map.iter().rev();
            Value::Object(
                members
                    .map(|(key, item)| (key.clone(), turned(item)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #[test]
    fn the_canonical_form_is_its_own_canonical_form(value in any_json()) {
        let once = canonical(&value).unwrap();
        let read = parse(&once).unwrap();
        prop_assert_eq!(canonical(&read).unwrap(), once);
    }

    #[test]
    fn the_order_of_keys_and_white_space_mean_nothing(value in any_json()) {
        let spaced = serde_json::to_vec_pretty(&turned(&value)).unwrap();
        let read = parse(&spaced).unwrap();
        prop_assert_eq!(canonical(&read).unwrap(), canonical(&value).unwrap());
    }

    #[test]
    fn two_whole_numbers_never_share_a_form(a in any::<i64>(), step in 1..300_i64) {
        let b = a.saturating_add(step);
        prop_assume!(a != b);
        let (a, b) = (canonical(&json!({"id": a})), canonical(&json!({"id": b})));
        prop_assert!(a != b || a == Err(CanonicalError::NumberTooLarge));
    }

    #[test]
    fn two_values_share_a_form_only_if_they_are_the_same(a in any_json(), b in any_json()) {
        // Read back, so that `2.0` and `2` are one.
        let read = |value: &Value| parse(&canonical(value).unwrap()).unwrap();
        prop_assert_eq!(canonical(&a).unwrap() == canonical(&b).unwrap(), read(&a) == read(&b));
    }

    #[test]
    fn a_float_is_read_to_its_last_bit(float in any::<f64>(), digits in 17..40_usize) {
        let text = format!("{float:.digits$e}");
        let read = parse(text.as_bytes()).unwrap();
        prop_assert_eq!(read.as_f64().map(f64::to_bits), Some(float.to_bits()), "{}", text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(value) = parse(&bytes) {
            prop_assert!(canonical(&value).is_ok() || bytes.iter().any(u8::is_ascii_digit));
        }
    }
}

#[test]
fn numbers_and_texts_are_written_as_node_writes_them() {
    const COUNT: usize = 20_000;
    let script = "process.stdin.setEncoding('utf8');let s='';process.stdin.on('data',d=>s+=d).on('end',()=>\
        {for(const l of s.trimEnd().split('\\n'))console.log(JSON.stringify(JSON.parse(l)))})";
    let child = Command::new("node")
        .args(["-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        crate::skipped::skipped("node is not installed, so numbers are not compared with it");
        return;
    };
    // The same numbers in every run; a multiplicative generator is random enough here.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let lines: Vec<String> = (0..COUNT)
        .map(|case| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let bits = state ^ (state >> 29);
            match case % 3 {
                // Any float below the limit, with more digits than it needs.
                0 => format!("{:.40e}", f64::from_bits(bits & 0x833f_ffff_ffff_ffff)),
                1 => format!("{}.{}", bits >> 44, bits & 0xffff_ffff),
                _ => Value::from(
                    char::from_u32(u32::try_from(bits >> 43).unwrap())
                        .map_or(String::new(), String::from),
                )
                .to_string(),
            }
        })
        .collect();
    let mut input = child.stdin.take().unwrap();
    let sent = lines.join("\n");
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let theirs = String::from_utf8(output.stdout).unwrap();
    assert_eq!(theirs.trim_end().split('\n').count(), COUNT);
    for (line, theirs) in lines.iter().zip(theirs.trim_end().split('\n')) {
        assert_eq!(written(line), theirs, "{line}");
    }
}
