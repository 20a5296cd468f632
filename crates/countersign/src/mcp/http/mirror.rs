//! The headers of a request that repeat what its body says.
//!
//! From 2026-07-28 on, a client repeats method, name and some arguments in headers, and a server refuses a
//! request in which the two differ. Separate because the proxy writes them (a program that speaks over
//! standard input has no headers) and checks them (what is judged is the body, so a header that says
//! something else must not reach a server that believes it).

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mcp::message::{Fields, id_key, is_call};

/// The first protocol version without a session.
pub(crate) const STATELESS: &str = "2026";
/// Where a request says which version it is written in.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The version of a request.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the names of headers that repeat an argument begin with.
const PARAM: &str = "mcp-param-";
/// Arguments of one tool that are repeated in headers.
const PARAMS_MAX: usize = 32;
/// Longest value of a header, in bytes.
const VALUE_BYTES_MAX: usize = 4 * 1024;
/// Depth to which the schema of a tool is searched.
const SCHEMA_DEPTH_MAX: usize = 16;

/// What a message says that headers repeat.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The method, if it is a request or a notification.
    pub(crate) method: Option<String>,
    /// The version it is written in, if it says so.
    pub(crate) version: Option<String>,
    /// The tool, prompt, resource or task it names.
    pub(crate) name: Option<String>,
    /// Its id, as it is written.
    pub(crate) id: Option<Box<RawValue>>,
    arguments: Option<Box<RawValue>>,
}

impl Said {
    /// Reads a message; nothing of what is no single message.
    pub(crate) fn read(message: &[u8]) -> Self {
        let read = || {
            let text = std::str::from_utf8(message).ok()?;
            let fields = Fields::read(text)?;
            let method = text_of(fields.get("method"));
            let params = fields.get("params").and_then(|it| Fields::read(it.get()));
            let param = |name: &str| params.as_ref().and_then(|it| it.get(name));
            let meta = param("_meta").and_then(|it| Fields::read(it.get()));
            let named = match method.as_deref() {
                Some("tools/call" | "prompts/get") => param("name"),
                Some("resources/read") => param("uri"),
                Some("tasks/get" | "tasks/update" | "tasks/cancel") => param("taskId"),
                Some(_) | None => None,
            };
            let owned = |it: Option<&RawValue>| it.map(ToOwned::to_owned);
            Some(Self {
                version: meta.and_then(|meta| text_of(meta.get(VERSION_KEY))),
                name: text_of(named),
                id: owned(fields.get("id")),
                arguments: owned(param("arguments")),
                method,
            })
        };
        read().unwrap_or_default()
    }

    /// Returns what tells its id from others.
    pub(crate) fn key(&self) -> Option<String> {
        self.id.as_deref().map(id_key)
    }

    /// Whether it is written without a session.
    pub(crate) fn is_stateless(&self) -> bool {
        self.version.as_deref().is_some_and(|it| it >= STATELESS)
    }

    /// Puts into `headers` what repeats it; `schema` is that of the tool it calls.
    pub(crate) fn mirror(&self, headers: &mut HeaderMap, schema: Option<&Value>) {
        let told = [
            (VERSION, &self.version),
            (METHOD, &self.method),
            (NAME, &self.name),
        ];
        for (header, value) in told {
            if let Some(value) = value.as_deref().and_then(written) {
                headers.insert(header, value);
            }
        }
        self.mirror_arguments(headers, schema);
    }

    /// Puts into `headers` the arguments that `schema` wants repeated, and takes out all others.
    pub(crate) fn mirror_arguments(&self, headers: &mut HeaderMap, schema: Option<&Value>) {
        let stale: Vec<HeaderName> = headers
            .keys()
            .filter(|name| name.as_str().starts_with(PARAM))
            .cloned()
            .collect();
        for name in stale {
            headers.remove(name);
        }
        let arguments: Option<Value> = self
            .arguments
            .as_ref()
            .and_then(|it| serde_json::from_str(it.get()).ok());
        let (Some(schema), Some(arguments)) = (schema, arguments) else {
            return;
        };
        let mut wanted = Vec::new();
        collect(schema, &arguments, 0, &mut wanted);
        for (name, value) in wanted {
            let header = HeaderName::try_from(format!("{PARAM}{name}")).ok();
            if let (Some(header), Some(value)) = (header, written(&value)) {
                headers.insert(header, value);
            }
        }
    }

    /// Whether it says something else about its arguments than `other`.
    pub(crate) fn arguments_differ(&self, other: &Self) -> bool {
        let text = |said: &Self| said.arguments.as_ref().map(|it| it.get().to_owned());
        text(self) != text(other)
    }

    /// Returns what is wrong with the headers of a request without a session: they have to repeat what
    /// the body says.
    pub(crate) fn differs(&self, headers: &HeaderMap) -> Option<&'static str> {
        let one = |header: &HeaderName| {
            let mut values = headers.get_all(header).iter();
            let first = values.next().and_then(read);
            values.next().is_none().then_some(first).flatten()
        };
        if self.version.is_some() && one(&VERSION) != self.version {
            return Some("the header `MCP-Protocol-Version` does not match the body");
        }
        if self.method.is_some() && one(&METHOD) != self.method {
            return Some("the header `Mcp-Method` does not match the method in the body");
        }
        if self.name.is_some() && one(&NAME) != self.name {
            return Some("the header `Mcp-Name` does not match the name in the body");
        }
        None
    }

    /// Returns what is wrong with headers that have to repeat arguments, as `schema` says.
    pub(crate) fn arguments_contradicted(
        &self,
        headers: &HeaderMap,
        schema: &Value,
    ) -> Option<&'static str> {
        let mut expected = HeaderMap::new();
        self.mirror_arguments(&mut expected, Some(schema));
        let differs = |(name, value): (&HeaderName, &HeaderValue)| {
            let mut given = headers.get_all(name).iter();
            let same = given.next().and_then(read) == read(value);
            !same || given.next().is_some()
        };
        expected
            .iter()
            .any(differs)
            .then_some("a header `Mcp-Param-*` does not match the argument in the body")
    }

    /// Returns what is wrong with headers that could make a server call a tool that was not judged: the
    /// body is judged. Everything else that differs is for the server to refuse.
    pub(crate) fn contradicted(&self, headers: &HeaderMap) -> Option<&'static str> {
        let differs = |header: &HeaderName, said: &Option<String>| {
            let mut values = headers.get_all(header).iter();
            let first = values.next()?;
            let is_one = values.next().is_none();
            (!is_one || said.is_none() || read(first).as_ref() != said.as_ref()).then_some(())
        };
        // Of a value that cannot be read here, nobody knows what a looser reader makes of it.
        let claims_call = headers
            .get_all(METHOD)
            .iter()
            .any(|value| read(value).is_none_or(|it| is_call(&it)));
        let is_call = self.method.as_deref().is_some_and(is_call);
        if claims_call && !is_call {
            return Some("the header `Mcp-Method` does not match the method in the body");
        }
        if !is_call {
            return None;
        }
        differs(&NAME, &self.name)
            .map(|()| "the header `Mcp-Name` does not match the name in the body")
    }
}

/// Collects the arguments that a schema marks with `x-mcp-header`, with the name it gives them.
fn collect(schema: &Value, arguments: &Value, depth: usize, wanted: &mut Vec<(String, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get(name) else {
            continue;
        };
        if wanted.len() >= PARAMS_MAX {
            return;
        }
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            let text = match value {
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            wanted.extend(text.map(|text| (header.to_ascii_lowercase(), text)));
        } else if depth < SCHEMA_DEPTH_MAX {
            collect(property, value, depth + 1, wanted);
        }
    }
}

/// Returns `text` as the value of a header: as it is where that is possible, otherwise in base64.
fn written(text: &str) -> Option<HeaderValue> {
    if text.len() > VALUE_BYTES_MAX {
        return None;
    }
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let encoded = if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    };
    HeaderValue::try_from(encoded).ok()
}

/// Returns the text in the value of a header.
fn read(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?.trim();
    let encoded = text
        .strip_prefix("=?base64?")
        .and_then(|it| it.strip_suffix("?="));
    match encoded {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

fn text_of(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: &Value) -> Said {
        let meta = json!({ VERSION_KEY: "2026-07-28" });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        Said::read(message.to_string().as_bytes())
    }

    #[test]
    fn headers_repeat_version_method_name_and_marked_arguments() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": { "n": { "x-mcp-header": "N" } } },
            "plain": { "type": "string" } } });
        let arguments = json!({ "region": "Grüße", "deep": { "n": 7 }, "plain": "x" });
        let mut headers = HeaderMap::new();
        headers.insert("mcp-param-stale", HeaderValue::from_static("x"));
        call("notes", &arguments).mirror(&mut headers, Some(&schema));
        let told: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        let mut expected = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "notes"),
            ("mcp-param-region", "=?base64?R3LDvMOfZQ==?="),
            ("mcp-param-n", "7"),
        ];
        let mut told = told;
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected);
        assert_eq!(read(&headers["mcp-param-region"]).as_deref(), Some("Grüße"));
    }

    #[test]
    fn a_header_cannot_say_that_another_tool_is_called() {
        type Headers = &'static [(&'static str, &'static str)];
        type Row<'a> = (&'static str, &'a Said, Headers, bool);
        let list = Said::read(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let call = call("notes", &json!({}));
        let rows: &[Row<'_>] = &[
            ("without headers", &call, &[], true),
            (
                "the same",
                &call,
                &[("mcp-method", "tools/call"), ("mcp-name", "notes")],
                true,
            ),
            (
                "encoded",
                &call,
                &[("mcp-name", "=?base64?bm90ZXM=?=")],
                true,
            ),
            ("another tool", &call, &[("mcp-name", "wipe")], false),
            (
                "another tool, encoded",
                &call,
                &[("mcp-name", "=?base64?d2lwZQ==?=")],
                false,
            ),
            (
                "two names",
                &call,
                &[("mcp-name", "notes"), ("mcp-name", "wipe")],
                false,
            ),
            (
                "no call, says the header",
                &call,
                &[("mcp-method", "tools/list")],
                true,
            ),
            (
                "a call, says the header",
                &list,
                &[("mcp-method", "tools/call")],
                false,
            ),
            (
                "a call, in another case",
                &list,
                &[("mcp-method", "Tools/Call ")],
                false,
            ),
            (
                "something else",
                &list,
                &[("mcp-method", "prompts/list")],
                true,
            ),
        ];
        for (name, said, given, expected) in rows {
            let mut headers = HeaderMap::new();
            for (header, value) in *given {
                headers.append(*header, HeaderValue::from_static(value));
            }
            assert_eq!(said.contradicted(&headers).is_none(), *expected, "{name}");
        }
    }
}
