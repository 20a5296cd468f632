//! Checks the bodies of requests against Discord's own description of its API.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static API: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("openapi.json")).unwrap_or_default());

/// Fails with what is wrong about the body of an operation such as `POST /users/@me/channels`.
pub(super) fn check(operation: &str, body: &Value) -> Result<(), String> {
    let schema = API.get("bodies").and_then(|it| it.get(operation));
    let schema = schema.ok_or_else(|| format!("{operation} is not described here"))?;
    let (inner, each) = match (operation.starts_with("PUT "), body) {
        // A list replaces all.
        (true, Value::Array(items)) if schema.get("items").is_none() => (schema, items.as_slice()),
        _ => (schema, std::slice::from_ref(body)),
    };
    each.iter().try_for_each(|it| fits(inner, it, "body"))
}

fn fits(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap_or("");
        let known = API.get("schemas").and_then(|it| it.get(name));
        let known = known.ok_or_else(|| format!("{path}: {name} is not described here"))?;
        return fits(known, value, path);
    }
    if let Some(types) = schema.get("type") {
        has_type(types, value, path)?;
    }
    if value.is_null() {
        return Ok(());
    }
    for part in list(schema, "allOf") {
        fits(part, value, path)?;
    }
    for key in ["oneOf", "anyOf"] {
        one_of(list(schema, key), value, path)?;
    }
    let allowed = list(schema, "enum");
    if !allowed.is_empty() && !allowed.contains(value) {
        return Err(format!("{path}: {value} is not one of {allowed:?}"));
    }
    if schema.get("const").is_some_and(|it| it != value) {
        return Err(format!("{path}: {value} is not what it must be"));
    }
    match value {
        Value::String(text) => is_string(schema, text, path),
        Value::Array(items) => is_array(schema, items, path),
        Value::Object(fields) => is_object(schema, fields, path),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let least = schema.get("minimum").and_then(Value::as_f64);
            let most = schema.get("maximum").and_then(Value::as_f64);
            if least.is_some_and(|it| number < it) || most.is_some_and(|it| number > it) {
                return Err(format!("{path}: {number} is too small or too large"));
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

/// Returns the first fit, or why the one that comes closest does not.
fn one_of(options: &[Value], value: &Value, path: &str) -> Result<(), String> {
    let mut deepest: Option<String> = None;
    for option in options {
        match fits(option, value, path) {
            Ok(()) => return Ok(()),
            Err(why) => {
                let is_deeper = deepest.as_ref().is_none_or(|it| depth(&why) > depth(it));
                if is_deeper {
                    deepest = Some(why);
                }
            }
        }
    }
    deepest.map_or(Ok(()), Err)
}

fn depth(why: &str) -> usize {
    let path = why.split(':').next().unwrap_or("");
    let is_kind = path.rsplit('.').next() == Some("type");
    // A wrong type tells which option was not meant.
    if is_kind {
        0
    } else {
        path.matches('.').count() + 1
    }
}

fn has_type(types: &Value, value: &Value, path: &str) -> Result<(), String> {
    let is_of = |name: &str| match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let fits = match types {
        Value::String(name) => is_of(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is_of),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{path}: {value} is no {types}"))
    }
}

fn is_string(schema: &Value, text: &str, path: &str) -> Result<(), String> {
    let count = text.chars().count();
    if count > most(schema, "maxLength") || count < least(schema, "minLength") {
        return Err(format!(
            "{path}: {count} characters are too few or too many"
        ));
    }
    let is_id = schema.get("format").and_then(Value::as_str) == Some("snowflake");
    if is_id && (text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit())) {
        return Err(format!("{path}: {text} is no id"));
    }
    Ok(())
}

fn is_array(schema: &Value, items: &[Value], path: &str) -> Result<(), String> {
    if items.len() > most(schema, "maxItems") || items.len() < least(schema, "minItems") {
        return Err(format!(
            "{path}: {} items are too few or too many",
            items.len()
        ));
    }
    let Some(kind) = schema.get("items") else {
        return Ok(());
    };
    let mut each = items.iter().enumerate();
    each.try_for_each(|(at, item)| fits(kind, item, &format!("{path}.{at}")))
}

fn is_object(schema: &Value, fields: &Map<String, Value>, path: &str) -> Result<(), String> {
    for name in list(schema, "required").iter().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{path}.{name}: it is required"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, value) in fields {
        let kind = known.and_then(|it| it.get(name));
        match (kind, schema.get("additionalProperties")) {
            (Some(kind), _) | (None, Some(kind)) => fits(kind, value, &format!("{path}.{name}"))?,
            // The real server lets it pass; a client that sends it has a mistake in it.
            (None, None) if known.is_some() => {
                return Err(format!("{path}.{name}: there is no such field"));
            }
            (None, None) => {}
        }
    }
    Ok(())
}

fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn most(schema: &Value, key: &str) -> usize {
    let most = schema.get(key).and_then(Value::as_u64);
    most.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

fn least(schema: &Value, key: &str) -> usize {
    let least = schema.get(key).and_then(Value::as_u64);
    least.map_or(0, |it| usize::try_from(it).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_checked_as_discord_describes_them() {
        let message = "POST /channels/{channel_id}/messages";
        let button = |id: &str| {
            json!({ "components": [{ "type": 1, "components": [
                { "type": 2, "style": 3, "label": "Once", "custom_id": id },
            ] }] })
        };
        let callback = "POST /interactions/{interaction_id}/{interaction_token}/callback";
        let commands = "PUT /applications/{application_id}/commands";
        let rows = [
            (message, json!({ "content": "x" }), true),
            (message, json!({ "content": 1 }), false),
            (message, json!({ "contents": "x" }), false),
            (message, button(&"x".repeat(100)), true),
            (message, button(&"x".repeat(101)), false),
            (callback, json!({ "type": 6 }), true),
            (callback, json!({ "type": 9 }), false),
            (
                callback,
                json!({ "type": 9, "data": {
                "custom_id": "x", "title": "y", "components": [{ "type": 10, "content": "z" }],
            } }),
                true,
            ),
            (
                callback,
                json!({ "type": 4, "data": { "content": "x".repeat(2001) } }),
                false,
            ),
            (commands, json!([{ "name": "a", "description": "b" }]), true),
            (
                commands,
                json!([{ "name": "a".repeat(33), "description": "b" }]),
                false,
            ),
            (
                "POST /users/@me/channels",
                json!({ "recipient_id": "ana" }),
                false,
            ),
            ("POST /nowhere", json!({}), false),
        ];
        for (operation, body, expected) in rows {
            let checked = check(operation, &body);
            assert_eq!(checked.is_ok(), expected, "{operation} {body}: {checked:?}");
        }
    }
}
