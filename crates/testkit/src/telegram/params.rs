//! Reads the parameters of a request, in each of the ways the real server takes.

use serde_json::{Map, Value};

use super::schema;

/// Parameters, and the files among them.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) values: Map<String, Value>,
    pub(super) files: Map<String, Value>,
}

/// Reads parameters of `method` from the address, a form, a form with files, or JSON.
pub(super) fn read(method: &str, query: &str, kind: &str, body: &[u8]) -> Result<Params, String> {
    let mut params = Params::default();
    for (key, value) in pairs(query) {
        params
            .values
            .insert(key.clone(), typed(method, &key, value));
    }
    if kind.starts_with("application/json") {
        let object: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| "can't parse JSON object".to_owned())?;
        params.values.extend(object);
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        let text = std::str::from_utf8(body).map_err(|_| "strings must be encoded in UTF-8")?;
        for (key, value) in pairs(text) {
            params
                .values
                .insert(key.clone(), typed(method, &key, value));
        }
    } else if let Some((_, boundary)) = kind.split_once("boundary=") {
        let text = std::str::from_utf8(body).map_err(|_| "strings must be encoded in UTF-8")?;
        parts(method, text, boundary.trim_matches('"'), &mut params)?;
    } else if !body.is_empty() {
        return Err(format!("content type `{kind}` is not taken"));
    }
    Ok(params)
}

/// In a form everything is text; what is to be something else is read as JSON.
fn typed(method: &str, key: &str, text: String) -> Value {
    let types = schema::types(method, key);
    let read: Option<Value> = serde_json::from_str(&text).ok();
    match read {
        // A group is named by a number or by its name.
        Some(value) if types.contains(&"Integer") && value.is_i64() => value,
        Some(value) if !types.contains(&"String") => value,
        Some(_) | None => Value::String(text),
    }
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let Ok(mut url) = reqwest::Url::parse("http://form/") else {
        return Vec::new();
    };
    url.set_query(Some(text).filter(|text| !text.is_empty()));
    let pairs = url.query_pairs();
    pairs
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect()
}

fn parts(method: &str, text: &str, boundary: &str, params: &mut Params) -> Result<(), String> {
    let fence = format!("--{boundary}");
    let mut is_closed = false;
    for part in text.split(fence.as_str()).skip(1) {
        if part.starts_with("--") {
            is_closed = true;
            break;
        }
        let part = part.strip_prefix("\r\n").unwrap_or(part);
        let (head, body) = part
            .split_once("\r\n\r\n")
            .ok_or("a part has no end of its header")?;
        let body = body.strip_suffix("\r\n").unwrap_or(body);
        let named = |key: &str| {
            let (_, behind) = head.split_once(&format!("{key}=\""))?;
            Some(behind.split('"').next()?.to_owned())
        };
        let name = named("; name").ok_or("a part has no name")?;
        if named("; filename").is_some() {
            params
                .files
                .insert(name.clone(), Value::String(body.to_owned()));
            let attached = Value::String("attached".to_owned());
            params.values.insert(name, attached);
        } else {
            params
                .values
                .insert(name.clone(), typed(method, &name, body.to_owned()));
        }
    }
    if is_closed {
        Ok(())
    } else {
        Err("the form has no end".to_owned())
    }
}
