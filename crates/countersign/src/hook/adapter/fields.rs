//! Reads the fields of a hook's input. A field that is missing or of another type is an error.

use serde_json::{Map, Value};

/// Takes the text `name`, which must not be empty.
pub(super) fn text(input: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match input.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(_) => Err(format!("`{name}` is not a text")),
        None => Err(format!("`{name}` is missing")),
    }
}

/// Takes the text `name` if there is one.
pub(super) fn maybe_text(
    input: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<String>, String> {
    match input.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{name}` is not a text")),
    }
}

/// Takes the object `name`.
pub(super) fn object(
    input: &mut Map<String, Value>,
    name: &str,
) -> Result<Map<String, Value>, String> {
    match input.remove(name) {
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(format!("`{name}` is not an object")),
        None => Err(format!("`{name}` is missing")),
    }
}

/// Takes the arguments `name` of a call.
pub(super) fn args(input: &mut Map<String, Value>, name: &str) -> Result<Value, String> {
    object(input, name).map(Value::Object)
}

/// Takes the arguments `name` of a call: an object, or the text of one.
pub(super) fn args_or_text(input: &mut Map<String, Value>, name: &str) -> Result<Value, String> {
    let Some(Value::String(json)) = input.get(name) else {
        return args(input, name);
    };
    match countersign_core::canonical::parse(json.as_bytes()) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(format!("`{name}` is not an object")),
        Err(error) => Err(format!("`{name}`: {error}")),
    }
}

/// Returns the value of the environment variable `name`, if it is set and readable.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the directory in which the agent started the hook.
pub(super) fn working_directory() -> Option<String> {
    let directory = std::env::current_dir().ok()?;
    directory.to_str().map(str::to_owned)
}
