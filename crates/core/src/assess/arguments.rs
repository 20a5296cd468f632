//! Size and depth limits of JSON arguments, and the texts in them.

use serde_json::Value;

use crate::call::{ARGUMENT_BYTES_MAX, ARGUMENT_DEPTH_MAX};
use crate::knowledge::names::LISTED_FILE_KEYS;

/// The argument that may carry this firewall's own token.
const TOKEN_KEY: &str = "user_approval_token";

/// Checks that arguments are small and flat enough to be judged.
pub(super) fn measure(args: &Value) -> Result<(), &'static str> {
    let mut bytes = 0;
    measure_at(args, 1, &mut bytes)
}

fn measure_at(value: &Value, depth: usize, bytes: &mut usize) -> Result<(), &'static str> {
    if depth > ARGUMENT_DEPTH_MAX {
        return Err("the arguments are nested too deeply to be read");
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => *bytes += 4,
        Value::String(text) => *bytes += text.len() + 2,
        Value::Array(items) => {
            *bytes += 2 + items.len();
            for item in items {
                measure_at(item, depth + 1, bytes)?;
            }
        }
        Value::Object(map) => {
            *bytes += 2;
            for (key, item) in map {
                *bytes += key.len() + 4;
                measure_at(item, depth + 1, bytes)?;
            }
        }
    }
    if *bytes > ARGUMENT_BYTES_MAX {
        Err("the arguments are too long to be read")
    } else {
        Ok(())
    }
}

/// Visits every text in `value` with the name it stands under. Keys of free objects are visited too:
/// what they say is sent as well.
pub(super) fn each_text<'a>(value: &'a Value, visit: &mut impl FnMut(&'a str, &'a str)) {
    each_under("", value, visit);
}

fn each_under<'a>(key: &'a str, value: &'a Value, visit: &mut impl FnMut(&'a str, &'a str)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => visit(key, text),
        Value::Array(items) => items.iter().for_each(|item| each_under(key, item, visit)),
        Value::Object(map) => map
            .iter()
            .for_each(|(key, item)| each_under(key, item, visit)),
    }
}

/// Returns all texts of a call that somebody else may read, one per line.
pub(super) fn all_text(args: &Value) -> String {
    let mut all = String::new();
    each_text(args, &mut |key, text| {
        if key != TOKEN_KEY {
            all.push_str(text);
            all.push('\n');
        }
    });
    all
}

/// Returns the words an argument gives: one, a list, or a list written as JSON. `None`: the argument
/// is of a type that no such argument has.
pub(super) fn words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(listed(text).unwrap_or_else(|| vec![text.clone()])),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Some(text.clone()),
                Value::Object(_) => path_in(item).map(str::to_owned),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
            })
            .collect(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns the file that an object inside a list names.
pub(super) fn path_in(item: &Value) -> Option<&str> {
    LISTED_FILE_KEYS
        .iter()
        .find_map(|key| item.get(key))?
        .as_str()
}

/// Returns the items of a list of texts written as JSON.
pub(super) fn listed(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if !(text.starts_with("[\"") || text.starts_with("[ \"")) {
        return None;
    }
    serde_json::from_str::<Vec<String>>(text).ok()
}

/// Returns a plain value as text, for comparison.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
