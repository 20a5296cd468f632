//! The JSON of a submitted call.

use countersign_core::call::{Annotations, ToolCall, Turn};
use countersign_core::display::inline;
use serde_json::{Map, Value};

/// Keys of a line that mean something here; others are ignored unless they look like these.
const KEYS: &[&str] = &[
    "id",
    "tool",
    "args",
    "command",
    "cwd",
    "workspace",
    "replying_to",
    "annotations",
    "tool_definition",
];

/// Why a call cannot be read: a sentence.
pub(crate) type Unreadable = String;

/// Reads a call from the object of one line.
pub(crate) fn from_object(mut object: Map<String, Value>) -> Result<ToolCall, Unreadable> {
    let mut call = match (object.remove("tool"), object.remove("command")) {
        (Some(_), Some(_)) => return Err("both `tool` and `command` are given".to_owned()),
        (None, None) => return Err("`tool` is missing".to_owned()),
        (None, Some(Value::String(command))) => ToolCall::command(command),
        (None, Some(other)) => return Err(wrong("command", "a string", &other)),
        (Some(Value::String(tool)), None) => {
            let args = object.remove("args").ok_or("`args` is missing")?;
            with_args(tool, args)?
        }
        (Some(other), None) => return Err(wrong("tool", "a string", &other)),
    };
    call.cwd = directory("cwd", object.remove("cwd"))?;
    call.workspace = directory("workspace", object.remove("workspace"))?;
    call.replying_to = object
        .remove("replying_to")
        .map_or(Ok(Vec::new()), replying_to)?;
    call.annotations = object
        .remove("annotations")
        .map_or(Ok(Annotations::default()), annotations)?;
    call.definition = object
        .remove("tool_definition")
        .filter(|definition| !definition.is_null());
    if let Some((key, near)) = object.keys().find_map(|key| Some((key, near_miss(key)?))) {
        return Err(format!(
            "`{}` is not a key of a call; did you mean `{near}`?",
            inline(key)
        ));
    }
    Ok(call)
}

/// Returns the call of `tool` with `args`, which must be an object.
pub(crate) fn with_args(tool: String, args: Value) -> Result<ToolCall, Unreadable> {
    if tool.trim().is_empty() {
        return Err("`tool` is empty".to_owned());
    }
    if !args.is_object() {
        return Err(wrong("args", "an object", &args));
    }
    Ok(ToolCall {
        tool,
        args,
        ..ToolCall::default()
    })
}

/// Reads the conversation being answered: one text, or a list of turns.
pub(crate) fn replying_to(value: Value) -> Result<Vec<Turn>, Unreadable> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Turn {
            from: String::new(),
            text,
        }]),
        Value::Array(turns) => turns.into_iter().map(turn).collect(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            Err(wrong("replying_to", "a string or a list", &other))
        }
    }
}

fn turn(value: Value) -> Result<Turn, Unreadable> {
    let mut object = match value {
        Value::String(text) => {
            return Ok(Turn {
                from: String::new(),
                text,
            });
        }
        Value::Object(object) => object,
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
            return Err(wrong(
                "replying_to",
                "a list of {\"from\", \"text\"}",
                &other,
            ));
        }
    };
    let from = match object.remove("from") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(from)) => from,
        Some(other) => return Err(wrong("replying_to.from", "a string", &other)),
    };
    match object.remove("text") {
        Some(Value::String(text)) => Ok(Turn { from, text }),
        Some(other) => Err(wrong("replying_to.text", "a string", &other)),
        None => Err("`replying_to.text` is missing".to_owned()),
    }
}

fn directory(key: &str, value: Option<Value>) -> Result<Option<String>, Unreadable> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(path)) => Ok(Some(path)),
        Some(other) => Err(wrong(key, "a string", &other)),
    }
}

/// Reads the hints of an MCP server, by their names there.
pub(crate) fn annotations(value: Value) -> Result<Annotations, Unreadable> {
    let object = match value {
        Value::Null => return Ok(Annotations::default()),
        Value::Object(object) => object,
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(wrong("annotations", "an object", &other));
        }
    };
    let hint = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(hint)) => Ok(Some(*hint)),
        Some(other) => Err(wrong(
            &format!("annotations.{name}"),
            "true or false",
            other,
        )),
    };
    Ok(Annotations {
        read_only: hint("readOnlyHint")?,
        destructive: hint("destructiveHint")?,
        idempotent: hint("idempotentHint")?,
        open_world: hint("openWorldHint")?,
    })
}

fn wrong(key: &str, wanted: &str, got: &Value) -> Unreadable {
    let kind = match got {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("`{key}` must be {wanted}, not {kind}")
}

/// Returns the key that `key` was meant to be, if it is one letter or two away.
fn near_miss(key: &str) -> Option<&'static str> {
    if key.len() < 5 || key.len() > 24 {
        return None;
    }
    KEYS.iter()
        .find(|known| known.len() >= 4 && strsim::levenshtein(known, key) <= 2)
        .copied()
}
