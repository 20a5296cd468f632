//! Looks into a JSON-RPC message without changing it.
//!
//! Only the few fields are read that tell what a line is. Who needs more parses the whole line.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mcp::message::{Fields, KEYS};

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// It has a method and an id: an answer is expected.
    Request(Id, String),
    /// It has a method and no id.
    Notification(String),
    /// It has an id and no method: it answers a request.
    Response(Id),
    /// It is no message, and cannot be taken for one.
    Noise,
    /// It looks like a message and cannot be read.
    Unreadable,
}

/// The id of a request, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(String);

impl Id {
    /// Returns the id of JSON `value`.
    pub(super) fn of(value: &Value) -> Self {
        Self(value.to_string())
    }

    /// Returns it as JSON.
    pub(super) fn json(&self) -> &str {
        &self.0
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "written")]
    id: Option<&'a RawValue>,
}

/// Reads a value that is there, whatever it is: an id may be null.
fn written<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

/// Returns what `line` is.
pub(super) fn look(line: &[u8]) -> Message {
    // An editor may skip what stands in front of a message, such as a mark of the byte order, or take a
    // carriage return for the end of a line.
    if !line.contains(&b'{') {
        return Message::Noise;
    }
    let text = line.trim_ascii();
    if text.contains(&b'\r') || has_lookalike(text) {
        return Message::Unreadable;
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(text) else {
        return Message::Unreadable;
    };
    let id = head
        .id
        .map(|raw| match serde_json::from_str::<String>(raw.get()) {
            // One text has many spellings.
            Ok(text) => Id::of(&Value::String(text)),
            Err(_) => Id(raw.get().to_owned()),
        });
    match (head.method, id) {
        (Some(method), Some(id)) => Message::Request(id, method.into_owned()),
        (Some(method), None) => Message::Notification(method.into_owned()),
        (None, Some(id)) => Message::Response(id),
        (None, None) => Message::Unreadable,
    }
}

/// Whether the message in `text` has a key that some readers take for another one.
fn has_lookalike(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).ok();
    let fields = text.and_then(Fields::read);
    fields.is_none_or(|fields| fields.ambiguous(KEYS).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_by_its_method_and_id() {
        let request = |id: &str, method: &str| Message::Request(Id(id.into()), method.into());
        let rows = [
            (r#"{"id":1,"method":"a"}"#, request("1", "a")),
            (
                r#" {"method":"\u0061","id":"x","params":{"method":"b"}}"#,
                request("\"x\"", "a"),
            ),
            (r#"{"id":"\u0078","method":"a"}"#, request("\"x\"", "a")),
            (r#"{"id":1.5,"method":"a"}"#, request("1.5", "a")),
            (
                r#"{"method":"a","params":[1e999]}"#,
                Message::Notification("a".into()),
            ),
            (r#"{"id":0,"result":{}}"#, Message::Response(Id("0".into()))),
            (
                r#"{"id":null,"error":{}}"#,
                Message::Response(Id("null".into())),
            ),
            (r#"{"method":"a","method":"b","id":1}"#, Message::Unreadable),
            (r#"{"method":7,"id":1}"#, Message::Unreadable),
            (r#"[{"method":"a","id":1}]"#, Message::Unreadable),
            (r#"{"method":"a""#, Message::Unreadable),
            ("{}", Message::Unreadable),
            ("starting…", Message::Noise),
            ("", Message::Noise),
        ];
        for (line, expected) in rows {
            assert_eq!(look(line.as_bytes()), expected, "{line}");
        }
    }
}
