//! The OpenAPI 3.1 description, generated from the routes.
//!
//! What is the same everywhere (who may use a route, how refusals look) is added here, so that no
//! route can forget it.

#[cfg(test)]
mod typescript;

use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::path::Paths;
use utoipa::openapi::schema::Schema;

use super::auth::Access;

/// Refusals that any route with a credential may give.
const REFUSALS: &[(&str, &str)] = &[
    ("401", "missing or invalid credential"),
    ("403", "wrong role, or sent by another page"),
    ("404", "not found, or not visible to this key"),
    ("409", "conflict with the current state; see the message"),
    ("413", "the body is longer than 1 MiB"),
    ("415", "the body is not sent as JSON"),
    ("422", "invalid input; `param` names the field"),
    ("429", "rate limit; see `Retry-After`"),
    ("503", "not recorded or judged, so nothing was done"),
];

/// Responses that omit a field instead of sending null. Requests may always omit fields.
const MAY_LACK: &[&str] = &[
    "CallAssessed",
    "ClarifiedView",
    "MessageView",
    "RunView",
    "SessionHappening",
    "ToolCompleted",
];
/// How the names of what comes in end.
const COMES_IN: &[&str] = &["Body", "Options"];

/// Returns the description of `rows` as JSON.
pub(crate) fn describe<'a>(
    rows: impl Iterator<Item = (Access, &'a [(String, RefOr<Schema>)], &'a Paths)>,
) -> String {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    schemas.insert("Error".to_owned(), error_schema());
    for (access, named, described) in rows {
        for (name, schema) in named {
            schemas.insert(name.clone(), complete(name, json!(schema)));
        }
        let Value::Object(described) = json!(described) else {
            continue;
        };
        for (path, item) in described {
            let named = path.replace(['/', '{', '}', '.', '-'], " ");
            let words: Vec<&str> = named.split_whitespace().collect();
            let entry = paths.entry(path).or_insert_with(|| json!({}));
            let methods = item.as_object().into_iter().flatten();
            for (method, operation) in methods {
                let mut operation = completed(operation.clone(), access);
                // Handlers share names across modules; a client's generated functions must not.
                if let Some(fields) = operation.as_object_mut() {
                    let id = format!("{method}_{}", words.join("_"));
                    fields.insert("operationId".to_owned(), json!(id));
                }
                if let Some(entry) = entry.as_object_mut() {
                    entry.insert(method.clone(), operation);
                }
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Countersign",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A human confirmation firewall for AI agents. Times are Unix seconds. \
                            The roles that may use a route stand under `x-roles`.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer" },
                "page": { "type": "apiKey", "in": "cookie", "name": super::auth::COOKIE },
            },
        },
    })
    .to_string()
}

/// Says that every field of what goes out is there, null or not: that is how it is written.
fn complete(name: &str, mut schema: Value) -> Value {
    let comes_in = COMES_IN.iter().any(|end| name.ends_with(end));
    if !comes_in && !MAY_LACK.contains(&name) {
        require_all(&mut schema);
    }
    schema
}

fn require_all(schema: &mut Value) {
    for several in ["oneOf", "allOf"] {
        let parts = schema.get_mut(several).and_then(Value::as_array_mut);
        parts.into_iter().flatten().for_each(require_all);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(properties) = properties {
        let names: Vec<&String> = properties.keys().collect();
        let names = json!(names);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("required".to_owned(), names);
        }
    }
}

fn completed(mut operation: Value, access: Access) -> Value {
    let Some(fields) = operation.as_object_mut() else {
        return operation;
    };
    match access {
        Access::Open | Access::Page => {
            fields.insert("security".to_owned(), json!([]));
        }
        Access::Roles(roles) => {
            let words: Vec<&str> = roles.iter().map(|role| role.word()).collect();
            fields.insert("x-roles".to_owned(), json!(words));
            fields.insert("security".to_owned(), json!([{"key": []}, {"page": []}]));
        }
    }
    let responses = fields.entry("responses").or_insert_with(|| json!({}));
    if let (Access::Roles(_), Some(responses)) = (access, responses.as_object_mut()) {
        for (status, description) in REFUSALS {
            let refusal = json!({
                "description": description,
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            });
            responses.entry(*status).or_insert(refusal);
        }
    }
    operation
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["message", "type", "param", "code"],
                "properties": {
                    "message": { "type": "string", "description": "a sentence for a person" },
                    "type": { "type": "string" },
                    "param": { "type": ["string", "null"], "description": "the field that is wrong" },
                    "code": { "type": "string", "description": "a stable word for programs" },
                },
            },
        },
    })
}
