//! Generates the page's TypeScript types from the API description, so both always agree.
//!
//! The file is in the repository, because the page is built without Rust. The test below fails when
//! it is not what the description says, and writes it anew when it is told to.

use std::fmt::Write as _;

use countersign_gate::records::fold::FOLD_MIN;
use serde_json::{Map, Value};

use crate::server::routes;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/wire.gen.ts");
const UPDATE: &str = "COUNTERSIGN_UPDATE_TYPES";
const HEAD: &str = "// What goes over the wire. Written from the description of the API by\n\
    // `COUNTERSIGN_UPDATE_TYPES=1 cargo test -p countersign the_pages_types`; do not change it by hand.\n";
/// Methods of a path, in the order they are written.
const METHODS: &[&str] = &["get", "post", "put", "delete"];

#[test]
fn the_pages_types_are_those_of_the_api() {
    let description: Value = serde_json::from_str(&routes::description()).unwrap();
    let wanted = written(&description);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(FILE, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(FILE).unwrap_or_default();
    let differs = found
        .lines()
        .zip(wanted.lines())
        .position(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "web/src/wire.gen.ts is not what the API is, from line {}; write it anew with \
         `{UPDATE}=1 cargo test -p countersign the_pages_types` and read the difference",
        differs.map_or_else(
            || found.lines().count().min(wanted.lines().count()) + 1,
            |at| at + 1
        ),
    );
}

#[test]
fn every_shape_has_its_type() {
    let rows = [
        (r#"{"type":"string"}"#, "string"),
        (r#"{"type":["integer","null"]}"#, "number | null"),
        (r#"{"type":"string","enum":["a","b"]}"#, r#""a" | "b""#),
        (r##"{"$ref":"#/components/schemas/Card"}"##, "Card"),
        (
            r#"{"type":"array","items":{"type":["string","null"]}}"#,
            "(string | null)[]",
        ),
        (
            r#"{"type":"array","items":false,"prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
            "[number, string]",
        ),
        (
            r##"{"oneOf":[{"type":"null"},{"$ref":"#/components/schemas/Card"}]}"##,
            "null | Card",
        ),
        (
            r##"{"allOf":[{"$ref":"#/components/schemas/A"},{"oneOf":[{"type":"string"},{"type":"null"}]}]}"##,
            "A & (string | null)",
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
            "Record<string, number>",
        ),
        (r#"{"type":"object"}"#, "Record<string, unknown>"),
        ("{}", "unknown"),
    ];
    for (schema, wanted) in rows {
        assert_eq!(
            shape(&serde_json::from_str(schema).unwrap(), ""),
            wanted,
            "{schema}"
        );
    }
}

fn written(description: &Value) -> String {
    let mut out = HEAD.to_owned();
    let _infallible = write!(
        out,
        "\n/** So many approvals with one `fold_key` are one row. */\n\
         export const FOLD_MIN = {FOLD_MIN};\n"
    );
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let mut names: Vec<&String> = schemas.keys().collect();
    names.sort();
    for name in names {
        let schema = &schemas[name];
        out.push('\n');
        say(&mut out, schema, "");
        let is_plain = schema["properties"].is_object() && schema.get("allOf").is_none();
        let shape = shape(schema, "");
        let _infallible = if is_plain {
            writeln!(out, "export interface {name} {shape}")
        } else {
            writeln!(out, "export type {name} = {shape};")
        };
    }
    out.push_str(
        "\n/** Every route: what is asked, sent and answered. */\nexport interface Routes {\n",
    );
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                route(
                    &mut out,
                    &format!("{} {path}", method.to_uppercase()),
                    operation,
                );
            }
        }
    }
    out.push_str("}\n");
    out
}

fn route(out: &mut String, name: &str, operation: &Value) {
    let json = "/content/application~1json/schema";
    let body = operation["requestBody"]
        .pointer(json)
        .map_or_else(|| "undefined".to_owned(), |schema| shape(schema, "    "));
    let answers = operation["responses"].as_object().unwrap().iter();
    let mut answers: Vec<String> = answers
        .filter(|(status, _)| status.starts_with('2'))
        .map(
            |(_, answer)| match (answer.pointer(json), answer.get("content")) {
                (Some(schema), _) => shape(schema, "    "),
                (None, Some(_)) => "string".to_owned(),
                (None, None) => "undefined".to_owned(),
            },
        )
        .collect();
    answers.dedup();
    let parameters = operation["parameters"].as_array();
    let mut query = String::new();
    for parameter in parameters
        .into_iter()
        .flatten()
        .filter(|it| it["in"] == "query")
    {
        let name = parameter["name"].as_str().unwrap();
        let mark = if parameter["required"] == true {
            ""
        } else {
            "?"
        };
        let shape = shape(&parameter["schema"], "");
        let _infallible = write!(query, " {name}{mark}: {shape};");
    }
    let query = if query.is_empty() {
        "undefined".to_owned()
    } else {
        format!("{{{query} }}")
    };
    say(out, &operation["summary"], "  ");
    let answer = answers.join(" | ");
    let _infallible = writeln!(
        out,
        "  \"{name}\": {{ query: {query}; body: {body}; answer: {answer} }};"
    );
}

/// Writes what is said about something as a comment.
fn say(out: &mut String, about: &Value, indent: &str) {
    let said = about["description"].as_str().or_else(|| about.as_str());
    if let Some(said) = said {
        let said = said
            .replace("*/", "* /")
            .replace('\n', &format!("\n{indent} * "));
        let _infallible = writeln!(out, "{indent}/** {} */", said.trim_end());
    }
}

/// Returns the type of `schema`; lines after the first begin with `indent`.
fn shape(schema: &Value, indent: &str) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        return joined(words.iter().map(Value::to_string), " | ");
    }
    for (key, sign) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(parts) = schema[key].as_array() {
            let parts = parts.iter().map(|part| {
                let part_shape = shape(part, indent);
                let is_several =
                    sign == " & " && part_shape.contains(" | ") && !part_shape.starts_with('{');
                if is_several {
                    format!("({part_shape})")
                } else {
                    part_shape
                }
            });
            return joined(parts, sign);
        }
    }
    let types = match &schema["type"] {
        Value::String(word) => vec![word.as_str()],
        Value::Array(words) => words.iter().map(|word| word.as_str().unwrap()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return "unknown".to_owned();
        }
    };
    joined(
        types.iter().map(|word| of_type(word, schema, indent)),
        " | ",
    )
}

fn of_type(word: &str, schema: &Value, indent: &str) -> String {
    match word {
        "integer" | "number" => "number".to_owned(),
        "array" => {
            if let Some(parts) = schema["prefixItems"].as_array() {
                let parts = parts.iter().map(|part| shape(part, indent));
                return format!("[{}]", joined(parts, ", "));
            }
            let item = shape(&schema["items"], indent);
            if item.contains(" | ") {
                format!("({item})[]")
            } else {
                format!("{item}[]")
            }
        }
        "object" => match (
            schema["properties"].as_object(),
            schema.get("additionalProperties"),
        ) {
            (Some(properties), _) => object(properties, schema, indent),
            (None, Some(value)) if value.is_object() => {
                format!("Record<string, {}>", shape(value, indent))
            }
            (None, _) => "Record<string, unknown>".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn object(properties: &Map<String, Value>, schema: &Value, indent: &str) -> String {
    let required = schema["required"].as_array();
    let inner = format!("{indent}  ");
    let mut out = "{\n".to_owned();
    for (name, property) in properties {
        say(&mut out, property, &inner);
        let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
        let mark = if is_required { "" } else { "?" };
        let shape = shape(property, &inner);
        let _infallible = writeln!(out, "{inner}{name}{mark}: {shape};");
    }
    out + indent + "}"
}

fn joined(parts: impl Iterator<Item = String>, sign: &str) -> String {
    parts.collect::<Vec<_>>().join(sign)
}
