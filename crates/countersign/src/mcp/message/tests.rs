//! What is taken for a call, held against readers that are looser than ours.

use serde_json::Value;

use super::*;

/// Returns the messages that loose readers see in a line: the last of equal keys counts, letter case
/// does not, and a carriage return ends a line.
fn seen_loosely(line: &str) -> Vec<Value> {
    fn lowered(value: Value) -> Value {
        match value {
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, value)| (key.to_lowercase(), lowered(value)))
                .collect(),
            Value::Array(items) => items.into_iter().map(lowered).collect(),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
        }
    }
    line.split('\r')
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(lowered)
        .flat_map(|value| value.as_array().cloned().unwrap_or(vec![value]))
        .collect()
}

fn is_loosely_a_call(line: &str) -> bool {
    seen_loosely(line)
        .iter()
        .any(|message| message.get("method").and_then(Value::as_str) == Some("tools/call"))
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    /// Returns a value, mostly well-formed.
    fn value(&mut self, depth: usize) -> String {
        match self.roll(if depth > 3 { 5 } else { 8 }) {
            0 => self
                .pick(&["null", "true", "1.50", "-0", "1e400", "\"\\ud800\""])
                .to_owned(),
            1..=3 => self.text(),
            4 => self.pick(&["{}", "[]", " 7 ", ""]).to_owned(),
            5 => {
                let items: Vec<String> = (0..self.roll(4)).map(|_| self.value(depth + 1)).collect();
                format!("[{}]", items.join(self.pick(&[",", "\r,", " ,"])))
            }
            _ => self.object(depth),
        }
    }

    fn text(&mut self) -> String {
        let words = [
            "\"tools/call\"",
            "\"tools\\/call\"",
            "\"\\u0074ools/call\"",
            "\"ping\"",
            "\"Tools/Call\"",
            "\"wipe\"",
            "\"\"",
        ];
        self.pick(&words).to_owned()
    }

    fn object(&mut self, depth: usize) -> String {
        let keys = [
            "method",
            "method",
            "METHOD",
            "meth\\u006fd",
            "params",
            "Params",
            "id",
            "ID",
            "name",
            "arguments",
            "_meta",
            "x",
        ];
        let fields: Vec<String> = (0..self.roll(6))
            .map(|_| format!("\"{}\":{}", self.pick(&keys), self.value(depth + 1)))
            .collect();
        format!("{{{}}}", fields.join(self.pick(&[",", " , ", "\r,"])))
    }
}

#[test]
fn whatever_a_loose_reader_takes_for_a_call_is_not_passed() {
    let mut dice = Dice(7);
    let (mut calls, mut passed) = (0, 0);
    for _ in 0..100_000 {
        let line = match dice.roll(3) {
            0 => format!("[{},{}]", dice.object(0), dice.object(0)),
            1 => format!("{}{}", dice.object(0), dice.pick(&["", "\r{}", " x", "}"])),
            _ => dice.object(0),
        };
        let read = read_client(line.as_bytes());
        let is_passed = matches!(read, FromClient::Pass(_));
        passed += u32::from(is_passed);
        if is_loosely_a_call(&line) {
            calls += 1;
            assert!(!is_passed, "{line:?}");
        }
    }
    assert!(
        calls > 1000 && passed > 1000,
        "{calls} calls, {passed} passed"
    );
}

#[test]
fn an_id_is_the_same_however_it_is_written() {
    let key = |id: &str| id_key(&serde_json::from_str::<Box<RawValue>>(id).unwrap());
    assert_eq!(key("1"), key("1.0"));
    assert_eq!(key("100"), key("1e2"));
    assert_eq!(key(r#""a""#), key(r#""\u0061""#));
    assert_ne!(key("1"), key(r#""1""#));
    assert_ne!(key("18446744073709551615"), key("18446744073709551614"));
}

fn call(line: &str) -> Call {
    match read_client(line.as_bytes()) {
        FromClient::Call(call) => *call,
        other @ (FromClient::Pass(_) | FromClient::Refused(_)) => panic!("{line}: {other:?}"),
    }
}

fn with(line: &str, change: &crate::mcp::call::Change<'_>) -> String {
    String::from_utf8(call(line).message(change)).unwrap()
}

#[test]
fn token_and_edited_arguments_are_put_in_and_nothing_else_changes() {
    use crate::mcp::call::Change;
    let token = Change {
        token: Some("T"),
        ..Change::default()
    };
    let both = Change {
        arguments: Some("{\"b\":2}"),
        ..token
    };
    let head = r#"{"id":1, "method":"tools/call","params":"#;
    let key = r#""dev.countersign/token":"T""#;
    let rows = [
        (
            r#"{"name":"x"}"#,
            &token,
            format!(r#"{{"_meta":{{{key}}},"name":"x"}}"#),
        ),
        (
            r#"{"name":"x","_meta":{}}"#,
            &token,
            format!(r#"{{"name":"x","_meta":{{{key}}}}}"#),
        ),
        (
            r#"{"name":"x","_meta":null}"#,
            &token,
            format!(r#"{{"name":"x","_meta":{{{key}}}}}"#),
        ),
        (
            r#"{ "_meta":{ "a" : 1.0} ,"name":"x"}"#,
            &token,
            format!(r#"{{ "_meta":{{{key}, "a" : 1.0}} ,"name":"x"}}"#),
        ),
        (
            r#"{"arguments":{"b":1},"name":"x"}"#,
            &both,
            format!(r#"{{"_meta":{{{key}}},"arguments":{{"b":2}},"name":"x"}}"#),
        ),
        (
            r#"{"name":"x"}"#,
            &both,
            format!(r#"{{"arguments":{{"b":2}},"_meta":{{{key}}},"name":"x"}}"#),
        ),
    ];
    for (params, change, expected) in rows {
        let line = format!("{head}{params}, \"z\":[ ]}}");
        assert_eq!(
            with(&line, change),
            format!("{head}{expected}, \"z\":[ ]}}")
        );
        assert_eq!(with(&line, &Change::default()), line);
    }
}

#[test]
fn a_later_request_gives_its_id_and_meta_and_nothing_else() {
    use crate::mcp::call::Change;
    let first = r#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1.0},"_meta":{"progressToken":1}}}"#;
    let later = call(
        r#"{"params":{"_meta":{"progressToken":2},"arguments":{"a":1},"name":"x"},"method":"tools/call","id":"two"}"#,
    );
    let change = Change {
        answers: Some(&later),
        token: Some("T"),
        ..Change::default()
    };
    let expected = r#"{"id":"two","method":"tools/call","params":{"name":"x","arguments":{"a":1.0},"_meta":{"dev.countersign/token":"T","progressToken":2}}}"#;
    assert_eq!(with(first, &change), expected);
}

#[test]
fn numbers_that_readers_keep_differently_are_bound_as_they_are_written() {
    use crate::mcp::call::Arguments;
    let is_raw = |arguments: &str| {
        let line = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"x","arguments":{arguments}}}}}"#
        );
        matches!(call(&line).arguments, Arguments::Raw(_))
    };
    for raw in [
        r#"{"n":9007199254740993}"#,
        r#"{"n":0.10000000000000000555}"#,
        r#"{"n":[1.2345678901234567e3]}"#,
    ] {
        assert!(is_raw(raw), "{raw}");
    }
    for canonical in [
        r#"{"n":9007199254740991}"#,
        r#"{"n":-1.5e-7,"t":"0.10000000000000000555"}"#,
        r#"{"\"1.0000000000000000001":1}"#,
    ] {
        assert!(!is_raw(canonical), "{canonical}");
    }
}
