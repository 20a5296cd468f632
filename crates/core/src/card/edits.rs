//! Which text of a call a person edits, and the arguments it becomes: one argument that tells what the call
//! does, or all of them as JSON. The same on every surface.

use serde_json::{Map, Value};

/// Arguments that tell what a call does, the first that is there.
const TELLING_NAMES: &[&str] = &[
    "command", "cmd", "script", "text", "body", "message", "content",
];

/// Returns the argument that tells what a call with `args` does; `None`: none stands out.
pub fn telling_argument(args: &Value) -> Option<&'static str> {
    let is_text = |name: &&&str| args.get(**name).is_some_and(Value::is_string);
    TELLING_NAMES.iter().find(is_text).copied()
}

/// Returns the text that is edited.
pub fn edited_text(args: &Value) -> String {
    let telling = telling_argument(args).and_then(|name| args.get(name)?.as_str());
    telling.map_or_else(|| format!("{args:#}"), str::to_owned)
}

/// Returns `args` with `text` in place of what is edited; `None` if that is no JSON object.
pub fn edited_args(args: &Value, text: &str) -> Option<Value> {
    let Some(name) = telling_argument(args) else {
        let typed = serde_json::from_str::<Map<String, Value>>(text);
        return typed.ok().map(Value::Object);
    };
    let mut edited = args.as_object()?.clone();
    edited.insert(name.to_owned(), Value::String(text.to_owned()));
    Some(Value::Object(edited))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_argument_that_tells_most_is_edited_and_the_others_stay() {
        let args = json!({ "command": "ls", "timeout": 5 });
        assert_eq!(edited_text(&args), "ls");
        let wanted = json!({ "command": "ls -la", "timeout": 5 });
        assert_eq!(edited_args(&args, "ls -la"), Some(wanted));
    }

    #[test]
    fn where_none_stands_out_all_are_edited_as_json() {
        let args = json!({ "level": 5, "text": 3 });
        assert_eq!(edited_text(&args), "{\n  \"level\": 5,\n  \"text\": 3\n}");
        let edited = edited_args(&args, r#"{ "level": 6 }"#);
        assert_eq!(edited, Some(json!({ "level": 6 })));
        assert_eq!(edited_args(&args, "[]"), None);
        assert_eq!(edited_args(&args, "level 6"), None);
    }
}
