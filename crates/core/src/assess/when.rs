//! What a known tool does by the values of its arguments.

use serde_json::{Map, Value};

use super::roles::same_key;
use super::{arguments, narrow};
use crate::knowledge::{Effect, ToolRow};

/// Returns what the call does by the values of its arguments, and whether a value decided it.
pub(super) fn effect(row: &ToolRow, args: &Map<String, Value>) -> (Effect, bool) {
    let mut found: Option<Effect> = None;
    let mut open = false;
    let mut typed_nothing = false;
    let rows = |key: &str| {
        let key = key.to_owned();
        let decides = move |row: &&(&str, &str, Effect)| same_key(row.0, &key);
        row.when.iter().filter(decides)
    };
    for (key, value) in args {
        if rows(key).next().is_none() || value.is_null() {
            continue;
        }
        let text = arguments::plain(value).unwrap_or_default();
        let hit = rows(key)
            .filter(|(_, known, _)| known.eq_ignore_ascii_case(&text))
            // What is typed is compared as it is: a blank or a line break does something.
            .filter(|(_, known, _)| !is_keystroke(known) || value.as_str() == Some(known))
            .max_by_key(|(_, _, effect)| *effect);
        open |= hit.is_none();
        typed_nothing |= hit.is_some_and(|(_, known, _)| is_keystroke(known));
        found = found.max(hit.map(|(_, _, effect)| *effect));
    }
    // A tool that types may take the text from another argument than the empty one.
    open |= typed_nothing
        && args.iter().any(|(key, value)| {
            rows(key).next().is_none() && !narrow::only_locates(key) && holds_text(value)
        });
    match found {
        Some(effect) if open => (effect.max(row.does), false),
        Some(effect) => (effect, true),
        None => (row.does, false),
    }
}

/// Whether a value of a table stands for nothing typed, or for control characters alone.
fn is_keystroke(known: &str) -> bool {
    known.chars().all(char::is_control)
}

/// Whether a value is a text or holds something in which one may stand.
fn holds_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
