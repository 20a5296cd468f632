//! The Hermes dialect: Hermes' event names and fields in their order, with ours after them. Events
//! without a Hermes name are left out, unless a person must see them.

use std::io::{self, Write};

use serde_json::ser::Formatter;
use serde_json::{Map, Value, json};

/// Our name of an event, the name there, and its fields there, in order.
const SHAPES: &[(&str, &str, &[&str])] = &[
    (
        "approval.required",
        "approval.request",
        &[
            "command",
            "pattern_key",
            "pattern_keys",
            "description",
            "allow_permanent",
            "event",
            "run_id",
            "timestamp",
            "choices",
        ],
    ),
    (
        "approval.resolved",
        "approval.responded",
        &["event", "run_id", "timestamp", "choice", "resolved"],
    ),
    (
        "tool.started",
        "tool.started",
        &["event", "run_id", "timestamp", "tool", "preview"],
    ),
    (
        "tool.completed",
        "tool.completed",
        &["event", "run_id", "timestamp", "tool", "duration", "error"],
    ),
    (
        "run.completed",
        "run.completed",
        &["event", "run_id", "timestamp", "output", "usage"],
    ),
    (
        "run.failed",
        "run.failed",
        &["event", "run_id", "timestamp", "error"],
    ),
    (
        "run.cancelled",
        "run.cancelled",
        &["event", "run_id", "timestamp"],
    ),
];

/// Events without a name there that a person must know of all the same.
const KEPT: &[&str] = &["clarify.required", "clarify.resolved", "message.held"];

/// Returns our `name` of an event as it is called there.
pub(crate) fn name(name: &str) -> &str {
    let shape = SHAPES.iter().find(|(ours, ..)| *ours == name);
    shape.map_or(name, |(_, theirs, _)| theirs)
}

/// Returns the event `name` with this body as clients of Hermes expect it; `None` if they know
/// nothing like it.
pub(crate) fn hermes(name: &str, body: &str) -> Option<String> {
    let Some((_, theirs, order)) = SHAPES.iter().find(|(ours, ..)| *ours == name) else {
        return KEPT.contains(&name).then(|| body.to_owned());
    };
    let Ok(Value::Object(mut event)) = serde_json::from_str::<Value>(body) else {
        return Some(body.to_owned());
    };
    event.insert("event".to_owned(), json!(theirs));
    if let Some(id) = event.get("approval_id").cloned() {
        event.insert("request_id".to_owned(), id);
    }
    match name {
        "approval.required" => {
            let description = event.get("description").cloned().unwrap_or_default();
            let is_permanent = event
                .get("choices")
                .and_then(Value::as_array)
                .is_some_and(|choices| choices.iter().any(|choice| choice == "always"));
            event.insert("pattern_key".to_owned(), description.clone());
            event.insert("pattern_keys".to_owned(), json!([description]));
            event.insert("allow_permanent".to_owned(), json!(is_permanent));
        }
        "approval.resolved" => {
            event.insert("resolved".to_owned(), json!(1));
            // Clients there know answers only; a question that ended without one was denied.
            if event.get("choice").is_none_or(Value::is_null) {
                event.insert("choice".to_owned(), json!("deny"));
            }
        }
        _ => {}
    }
    let mut shaped = Map::new();
    for key in *order {
        if let Some(value) = event.shift_remove(*key) {
            shaped.insert((*key).to_owned(), value);
        }
    }
    shaped.extend(event);
    Some(spaced(&Value::Object(shaped)))
}

/// Returns `value` as Python's `json.dumps` writes it, which is what clients there were tested
/// against: a space behind every comma and colon, nothing but ASCII.
pub(crate) fn spaced(value: &Value) -> String {
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut out, Spaced);
    // Writing a JSON value to memory cannot fail.
    let _written = serde::Serialize::serialize(value, &mut writer);
    String::from_utf8(out).unwrap_or_default()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for letter in fragment.chars() {
            if letter.is_ascii() {
                to.write_all(letter.encode_utf8(&mut [0; 4]).as_bytes())?;
                continue;
            }
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(to, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, body: &str) -> Value {
        serde_json::from_str(&hermes(name, body).unwrap()).unwrap()
    }

    fn keys(event: &Value) -> Vec<&str> {
        let keys = event.as_object().unwrap().keys();
        keys.map(String::as_str).collect()
    }

    #[test]
    fn a_question_and_its_end_have_the_names_clients_know() {
        let asked = told(
            "approval.required",
            r#"{"event":"approval.required","run_id":"r","approval_id":"appr_1","command":"c","description":"d","choices":["once","deny"],"timestamp":1.0}"#,
        );
        assert_eq!(asked["event"], "approval.request");
        assert_eq!(asked["request_id"], "appr_1");
        assert_eq!(asked["pattern_keys"], json!(["d"]));
        assert_eq!(asked["allow_permanent"], false);
        let (_, _, order) = SHAPES[0];
        assert_eq!(keys(&asked)[..order.len()], *order, "theirs come first");

        let ended = told(
            "approval.resolved",
            r#"{"event":"approval.resolved","approval_id":"appr_1","outcome":"expired","choice":null}"#,
        );
        assert_eq!(ended["event"], "approval.responded");
        assert_eq!(ended["choice"], "deny");
        assert_eq!(ended["outcome"], "expired");
    }

    #[test]
    fn what_is_told_is_written_as_python_writes_it() {
        let told = hermes(
            "run.failed",
            r#"{"event":"run.failed","run_id":"r","error":"gr\u00fc\u00df \ud83e\udd80","timestamp":1.5}"#,
        );
        let wanted = r#"{"event": "run.failed", "run_id": "r", "timestamp": 1.5, "error": "gr\u00fc\u00df \ud83e\udd80"}"#;
        assert_eq!(told.as_deref(), Some(wanted));
    }

    #[test]
    fn what_clients_cannot_know_is_not_told_unless_a_person_must_know_it() {
        let body = r#"{"event":"call.assessed"}"#;
        assert_eq!(hermes("call.assessed", body), None);
        let body = r#"{"event":"message.held"}"#;
        assert_eq!(hermes("message.held", body).as_deref(), Some(body));
    }
}
