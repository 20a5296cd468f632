//! Answers have the shapes that the description says: every field that is required is there, and no
//! field is there that is not described.

use serde_json::{Value, json};

use crate::support::{Gateway, RISKY, shell};

/// Returns what `value` has that `schema` does not say, or lacks.
fn wrong(all: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return wrong(all, &all[name], value, &format!("{at}<{name}>"));
    }
    if let Some(parts) = schema["oneOf"].as_array() {
        let found = parts.iter().map(|part| wrong(all, part, value, at));
        return found.min_by_key(Vec::len).unwrap();
    }
    if schema["allOf"].is_array() {
        return wrong(all, &merged(all, schema), value, at);
    }
    match value {
        Value::Object(fields) if schema["properties"].is_object() => {
            let known = &schema["properties"];
            let mut found = Vec::new();
            for name in schema["required"].as_array().into_iter().flatten() {
                if !fields.contains_key(name.as_str().unwrap()) {
                    found.push(format!("{at} lacks {name}"));
                }
            }
            for (name, value) in fields {
                match known.get(name) {
                    None => found.push(format!("{at} has `{name}`, which is not described")),
                    Some(schema) => {
                        found.extend(wrong(all, schema, value, &format!("{at}.{name}")));
                    }
                }
            }
            found
        }
        Value::Array(items) if schema["items"].is_object() => items
            .iter()
            .flat_map(|item| wrong(all, &schema["items"], item, &format!("{at}[]")))
            .collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => fits(schema, value, at),
    }
}

fn fits(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(words) = schema["enum"].as_array() {
        return if words.contains(value) {
            Vec::new()
        } else {
            vec![format!("{at} is {value}")]
        };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        Value::Null => return Vec::new(),
        one @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![one.clone()]
        }
    };
    let is_it = types
        .iter()
        .any(|it| it == kind || it == "number" && kind == "integer");
    if is_it {
        Vec::new()
    } else {
        vec![format!("{at} is {kind}, not {types:?}")]
    }
}

fn merged(all: &Value, schema: &Value) -> Value {
    let (mut properties, mut required) = (json!({}), Vec::new());
    for part in schema["allOf"].as_array().unwrap() {
        let part = match part["$ref"].as_str() {
            Some(name) => &all[name.rsplit('/').next().unwrap()],
            None => part,
        };
        let part = if part["allOf"].is_array() {
            merged(all, part)
        } else {
            part.clone()
        };
        for (name, schema) in part["properties"].as_object().into_iter().flatten() {
            properties[name] = schema.clone();
        }
        required.extend(part["required"].as_array().into_iter().flatten().cloned());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// What is read, with an id where one is needed.
const READ: &[&str] = &[
    "/v1/whoami",
    "/v1/approvals",
    "/v1/inbox",
    "/v1/approvals/{id}",
    "/v1/approvals/{id}/changes",
    "/v1/approvals/{id}/before",
    "/v1/calls",
    "/v1/traces",
    "/v1/traces/{id}",
    "/v1/stats",
    "/v1/grants",
    "/v1/reviews",
    "/v1/overrides",
    "/v1/clarifications",
    "/v1/keys",
    "/v1/people",
    "/v1/logins",
    "/v1/channels",
    "/v1/push",
    "/v1/devices",
    "/v1/ledger",
    "/v1/ledger/verify",
    "/v1/runs",
    "/v1/sessions",
    "/v1/usage",
    "/v1/crisis",
    "/v1/rules",
];

#[test]
fn answers_have_the_shapes_that_are_described() {
    let config = "review: { enabled: true }\n\
        approvals: { thresholds: { auto_below: 0.0, ask_above: 0.6, confidence_min: 1.0 } }\n";
    let gateway = Gateway::configured(config);
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let description = gateway.get(&admin, "/openapi.json").body;
    let (all, paths) = (&description["components"]["schemas"], &description["paths"]);
    let denied = gateway.ask(&agent, RISKY);
    gateway.resolve(&admin, &denied, "deny");
    gateway.submit(&agent, "rm -rf /");
    let granted = gateway.ask(&agent, "systemctl restart nginx");
    gateway.resolve(&admin, &granted, "session");
    let waiting = gateway.ask(&agent, "kubectl delete deployment api");
    let file = json!({ "path": "/home/dev/project/notes.md", "content": "x" });
    let body = json!({ "tool": "write_file", "args": file, "session_id": "s2", "cwd": "/home/dev/project" });
    let written = gateway.post(&agent, "/v1/calls", &body);
    assert_eq!(written.body["verdict"], "allow_then_review", "{written:?}");
    let question = json!({ "question": "Which?", "choices": ["a"], "session_id": "s1" });
    gateway.post(&agent, "/v1/clarifications", &question);
    gateway.post(
        &admin,
        "/v1/sessions/s1/yolo",
        &json!({ "minutes": 5, "reason": "a try" }),
    );
    let cry = json!({
        "tool": "send_message", "args": { "to": "sam", "text": "hello" }, "session_id": "s9",
        "replying_to": "I want to kill myself tonight",
    });
    gateway.post(&agent, "/v1/calls", &cry);
    let key =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    let device = json!({
        "name": "phone", "endpoint": "https://push.example.org/x", "p256dh": key,
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    gateway.post(&admin, "/v1/devices", &device);
    let schema = |path: &str, method: &str| {
        let json = "/content/application~1json/schema";
        paths[path][method]["responses"]["200"]
            .pointer(json)
            .unwrap()
            .clone()
    };
    for path in READ {
        let is_trace = path.starts_with("/v1/traces/");
        let id = if is_trace { &denied } else { &waiting };
        let said = gateway.get(&admin, &path.replace("{id}", id));
        assert_eq!(said.status, 200, "{said:?}");
        assert_eq!(
            wrong(all, &schema(path, "get"), &said.body, path),
            Vec::<String>::new()
        );
    }
    let posted = [
        ("/v1/assess", shell(RISKY)),
        (
            "/v1/approvals/{id}/assess",
            json!({ "args": { "command": "ls" } }),
        ),
        ("/v1/grants/preview", json!({ "approval_id": waiting })),
        ("/v1/replay", json!({})),
    ];
    for (path, body) in posted {
        let said = gateway.post(&admin, &path.replace("{id}", &waiting), &body);
        assert_eq!(said.status, 200, "{said:?}");
        assert_eq!(
            wrong(all, &schema(path, "post"), &said.body, path),
            Vec::<String>::new()
        );
    }
}

#[test]
fn what_is_wrong_is_found() {
    let all = json!({ "A": { "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] } });
    let schema = json!({ "$ref": "#/components/schemas/A" });
    for (value, is_right) in [
        (json!({ "x": "y" }), true),
        (json!({}), false),
        (json!({ "x": 1 }), false),
        (json!({ "x": "y", "z": 1 }), false),
    ] {
        assert_eq!(
            wrong(&all, &schema, &value, "it").is_empty(),
            is_right,
            "{value}"
        );
    }
}
