//! Checks parameters against the description of the API.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// Fields of a method or a type: `[name, [types], is_required]`.
type Fields = Vec<Value>;

fn api() -> &'static Value {
    static API: OnceLock<Value> = OnceLock::new();
    API.get_or_init(|| serde_json::from_str(include_str!("api.json")).unwrap_or_default())
}

fn fields(kind: &str, name: &str) -> Option<&'static Fields> {
    api().get(kind)?.get(name)?.as_array()
}

/// Whether there is such a method.
pub(super) fn is_method(name: &str) -> bool {
    fields("methods", name).is_some()
}

/// Returns the types a parameter may have.
pub(super) fn types(method: &str, param: &str) -> Vec<&'static str> {
    let known = fields("methods", method).into_iter().flatten();
    let field = known.filter(|it| it.get(0).and_then(Value::as_str) == Some(param));
    field.flat_map(types_of).collect()
}

/// Fails with what is wrong about the parameters of a method.
pub(super) fn check(method: &str, params: &Map<String, Value>) -> Result<(), String> {
    let known = fields("methods", method).ok_or("method not found")?;
    check_fields(method, known, params)
}

fn check_fields(
    name: &str,
    known: &'static Fields,
    object: &Map<String, Value>,
) -> Result<(), String> {
    for field in known {
        let key = field.get(0).and_then(Value::as_str).unwrap_or("");
        let is_required = field.get(2).and_then(Value::as_bool).unwrap_or(false);
        match object.get(key) {
            Some(value) => {
                let types = types_of(field);
                let fits = types.iter().any(|kind| check_value(kind, value).is_ok());
                if !fits {
                    return Err(format!(
                        "field \"{key}\" of {name} must be of type {types:?}, not {value}"
                    ));
                }
            }
            None if is_required => {
                return Err(format!("parameter \"{key}\" of {name} is required"));
            }
            None => {}
        }
    }
    let is_known = |key: &str| {
        known
            .iter()
            .any(|it| it.get(0).and_then(Value::as_str) == Some(key))
    };
    match object.keys().find(|key| !is_known(key)) {
        // The real server lets it pass; a client that sends it has a mistake in it.
        Some(key) => Err(format!("{name} has no field \"{key}\"")),
        None => Ok(()),
    }
}

fn types_of(field: &Value) -> Vec<&str> {
    let types = field.get(1).and_then(Value::as_array).into_iter().flatten();
    types.filter_map(Value::as_str).collect()
}

fn check_value(kind: &str, value: &Value) -> Result<(), String> {
    let fits = match kind {
        "Integer" => value.is_i64() || value.is_u64(),
        "Float" => value.is_number(),
        "String" | "InputFile" => value.is_string(),
        "Boolean" => value.is_boolean(),
        _ => return check_named(kind, value),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{value} is no {kind}"))
    }
}

fn check_named(kind: &str, value: &Value) -> Result<(), String> {
    if let Some(kind) = kind.strip_prefix("Array of ") {
        let items = value.as_array().ok_or(format!("{value} is no array"))?;
        return items.iter().try_for_each(|item| check_value(kind, item));
    }
    let subtypes = api()
        .get("subtypes")
        .and_then(|it| it.get(kind))
        .and_then(Value::as_array);
    if let Some(subtypes) = subtypes {
        let mut subtypes = subtypes.iter().filter_map(Value::as_str);
        let fits = subtypes.any(|kind| check_value(kind, value).is_ok());
        return if fits {
            Ok(())
        } else {
            Err(format!("{value} is no {kind}"))
        };
    }
    let known = fields("types", kind).ok_or(format!("{kind} is not described here"))?;
    let object = value.as_object().ok_or(format!("{value} is no object"))?;
    check_fields(kind, known, object)
}
