//! What requests and events look like, as the specification of the client-server API describes them.
//!
//! Facts of the specification, in tables of our own. Fields it does not know are refused unless they
//! have a namespace, as it asks for: a client that sends others has a mistake in it.

use serde_json::{Map, Value};

use super::error::{Refusal, bad, refused};

/// The kind of a field.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Number,
    Flag,
    Texts,
    Objects,
    Object,
}

use Kind::{Flag, Number, Object, Objects, Text, Texts};

/// A field, and whether it must be there.
type Field = (&'static str, Kind, bool);

/// The bodies of requests, by the name of the operation.
const BODIES: &[(&str, &[Field])] = &[
    (
        "login",
        &[
            ("type", Text, true),
            ("identifier", Object, false),
            ("user", Text, false),
            ("password", Text, false),
            ("device_id", Text, false),
            ("initial_device_display_name", Text, false),
            ("refresh_token", Flag, false),
        ],
    ),
    (
        "register",
        &[
            ("auth", Object, false),
            ("username", Text, false),
            ("password", Text, false),
            ("device_id", Text, false),
            ("inhibit_login", Flag, false),
            ("initial_device_display_name", Text, false),
        ],
    ),
    (
        "createRoom",
        &[
            ("name", Text, false),
            ("topic", Text, false),
            ("preset", Text, false),
            ("visibility", Text, false),
            ("room_alias_name", Text, false),
            ("room_version", Text, false),
            ("invite", Texts, false),
            ("is_direct", Flag, false),
            ("creation_content", Object, false),
            ("initial_state", Objects, false),
            ("power_level_content_override", Object, false),
        ],
    ),
    ("join", &[("reason", Text, false)]),
    ("leave", &[("reason", Text, false)]),
    (
        "invite",
        &[("user_id", Text, true), ("reason", Text, false)],
    ),
    ("redact", &[("reason", Text, false)]),
    ("receipt", &[("thread_id", Text, false)]),
    (
        "typing",
        &[("typing", Flag, true), ("timeout", Number, false)],
    ),
    (
        "filter",
        &[
            ("account_data", Object, false),
            ("event_fields", Texts, false),
            ("event_format", Text, false),
            ("presence", Object, false),
            ("room", Object, false),
        ],
    ),
    ("displayname", &[("displayname", Text, false)]),
    ("state m.room.name", &[("name", Text, true)]),
    (
        "state m.room.encryption",
        &[
            ("algorithm", Text, true),
            ("rotation_period_ms", Number, false),
            ("rotation_period_msgs", Number, false),
        ],
    ),
];

/// The contents of events, by their type.
const EVENTS: &[(&str, &[Field])] = &[
    (
        "m.room.message",
        &[
            ("msgtype", Text, true),
            ("body", Text, true),
            ("format", Text, false),
            ("formatted_body", Text, false),
            ("filename", Text, false),
            ("url", Text, false),
            ("info", Object, false),
            ("m.mentions", Object, false),
            ("m.relates_to", Object, false),
            ("m.new_content", Object, false),
        ],
    ),
    ("m.reaction", &[("m.relates_to", Object, true)]),
    (
        "m.room.redaction",
        &[("redacts", Text, false), ("reason", Text, false)],
    ),
];

/// Types of messages, and whether they carry a file.
const MESSAGES: &[(&str, bool)] = &[
    ("m.text", false),
    ("m.notice", false),
    ("m.emote", false),
    ("m.file", true),
    ("m.image", true),
];

/// Largest event, in bytes.
const EVENT_BYTES_MAX: usize = 65_536;
/// What servers add to an event: hashes, signatures, the events before it.
const ADDED_BYTES: usize = 1500;

/// Reads the body of a request and fails with what is wrong about it.
pub(super) fn body(operation: &str, bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let text = if bytes.is_empty() { b"{}" } else { bytes };
    let value: Value = serde_json::from_slice(text)
        .map_err(|_| refused(400, "M_NOT_JSON", "Content not JSON."))?;
    let Value::Object(object) = value else {
        return Err(bad("Content must be a JSON object."));
    };
    if let Some((_, fields)) = BODIES.iter().find(|(name, _)| *name == operation) {
        fits(operation, fields, &object)?;
    }
    Ok(object)
}

/// Fails with what is wrong about the content of an event.
pub(super) fn content(kind: &str, content: &Map<String, Value>) -> Result<(), Refusal> {
    if has_fraction(&Value::Object(content.clone())) {
        return Err(bad("Bad JSON value: float"));
    }
    if let Some((_, fields)) = EVENTS.iter().find(|(name, _)| *name == kind) {
        fits(kind, fields, content)?;
    }
    if kind == "m.room.message" {
        message(content)?;
        if let Some(new) = content.get("m.new_content").and_then(Value::as_object) {
            message(new)?;
        }
    }
    Ok(())
}

/// Fails if an event is too large with everything that belongs to it.
pub(super) fn size(event: &Value) -> Result<(), Refusal> {
    if event.to_string().len() + ADDED_BYTES > EVENT_BYTES_MAX {
        return Err(refused(413, "M_TOO_LARGE", "event too large"));
    }
    Ok(())
}

fn message(content: &Map<String, Value>) -> Result<(), Refusal> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let kind = text("msgtype").unwrap_or_default();
    let Some((_, has_file)) = MESSAGES.iter().find(|(name, _)| *name == kind) else {
        return Err(bad("strict: there is no such msgtype"));
    };
    let url = text("url").unwrap_or_default();
    if *has_file != url.starts_with("mxc://") {
        return Err(bad("strict: a file has the address of what was uploaded"));
    }
    if content.contains_key("format") != content.contains_key("formatted_body") {
        return Err(bad("strict: `format` and `formatted_body` belong together"));
    }
    if text("format").is_some_and(|it| it != "org.matrix.custom.html") {
        return Err(bad("strict: there is no such format"));
    }
    match content.get("m.mentions") {
        Some(Value::Object(mentions)) => fits(
            "m.mentions",
            &[("user_ids", Texts, false), ("room", Flag, false)],
            mentions,
        ),
        Some(_) => Err(bad("m.mentions must be an object")),
        None => Ok(()),
    }
}

fn fits(name: &str, fields: &[Field], object: &Map<String, Value>) -> Result<(), Refusal> {
    for (key, kind, is_required) in fields {
        match object.get(*key) {
            Some(value) if !is(*kind, value) => {
                return Err(bad(&format!(
                    "`{key}` of {name} must be {kind:?}, not {value}"
                )));
            }
            None if *is_required => {
                let error = format!("Missing params: {key} of {name}");
                return Err(refused(400, "M_MISSING_PARAM", &error));
            }
            Some(_) | None => {}
        }
    }
    let is_known = |key: &str| fields.iter().any(|(known, ..)| *known == key);
    match object
        .keys()
        .find(|key| !is_known(key) && !key.contains('.'))
    {
        Some(key) => Err(bad(&format!("strict: {name} has no field `{key}`"))),
        None => Ok(()),
    }
}

fn is(kind: Kind, value: &Value) -> bool {
    let all = |fits: fn(&Value) -> bool| value.as_array().is_some_and(|all| all.iter().all(fits));
    match kind {
        Text => value.is_string(),
        Number => value.is_i64() || value.is_u64(),
        Flag => value.is_boolean(),
        Texts => all(Value::is_string),
        Objects => all(Value::is_object),
        Object => value.is_object(),
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(all) => all.iter().any(has_fraction),
        Value::Object(all) => all.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
