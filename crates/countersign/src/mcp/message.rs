//! Peeks at a JSON-RPC message without changing a byte of it.
//!
//! Separate because everything else rests on it: what this file does not recognise as a call is
//! forwarded without a question. A server may read a line less strictly than this program (keys in
//! other letter case, a carriage return as the end of a line, the last of two equal keys), so a line
//! that two readers could understand differently is refused.

use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::Call;

/// Longest message that is forwarded, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Deepest nesting of batches that is looked into.
const BATCH_DEPTH_MAX: usize = 8;

/// The code of a message that is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The code of a message that is no request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// The code of a request with wrong parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// The method that is gated.
const CALL: &str = "tools/call";
/// Keys of an answer that clients act on.
const ANSWER: &[&str] = &["id", "result", "error", "method"];
/// Bytes that a message, or a part of one, cannot do without.
const STRUCTURE: &[u8] = b"{}[]\"";
/// Keys of a message that servers act on.
pub(crate) const KEYS: &[&str] = &["id", "method", "params"];

/// A message of a client.
#[derive(Debug)]
pub(crate) enum FromClient {
    /// It is forwarded as it is.
    Pass(Passing),
    /// A call of a tool: the gateway decides.
    Call(Box<Call>),
    /// It is not forwarded.
    Refused(Refused),
}

/// A message that is not forwarded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What the client is answered, if it can be answered.
    pub(crate) answer: Option<Vec<u8>>,
    /// Why, for a log.
    pub(crate) why: String,
}

/// What a message is about that is forwarded, as far as the proxy takes note of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// `initialize`: who the client is and what it can do.
    Initialize {
        /// The client.
        client: Client,
    },
    /// `tools/list`.
    ListTools {
        /// The key of its id.
        key: Option<String>,
        /// Whether it asks for the first page.
        is_first: bool,
    },
    /// `notifications/cancelled`: the key of the request that is taken back.
    Cancelled(String),
    /// An answer to a request of the server: the key of its id.
    Response(String),
    /// Anything else.
    Other,
}

/// What a client says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Client {
    /// Its name and version.
    pub(crate) name: Option<String>,
    /// Whether it can show a link to the person in front of it.
    pub(crate) opens_links: bool,
}

/// An answer of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response<'a> {
    id: &'a RawValue,
    /// The result, if it is one.
    pub(crate) result: Option<&'a RawValue>,
}

impl Response<'_> {
    /// Whether a client could read a listing of tools in it.
    pub(crate) fn lists_tools(&self) -> bool {
        self.result.is_some_and(has_tools)
    }

    /// Returns the key of the request it answers.
    pub(crate) fn key(&self) -> String {
        id_key(self.id)
    }

    /// Whether the tool, or the server, failed.
    pub(crate) fn failed(&self) -> bool {
        #[derive(serde::Deserialize)]
        struct Tool {
            #[serde(default, rename = "isError")]
            is_error: Value,
        }
        match self.result {
            None => true,
            Some(result) => serde_json::from_str::<Tool>(result.get())
                .is_ok_and(|tool| tool.is_error == Value::Bool(true)),
        }
    }
}

/// The fields of an object, in their order; a key may stand twice.
#[derive(Debug)]
pub(crate) struct Fields<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads the object in `text`.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the value of the only key `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| *value)
    }

    /// Returns a key in which two readers could see different things: one of `names` that stands
    /// twice, or is written in another way that some readers take for it.
    pub(crate) fn ambiguous(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| {
            let mut alike = self.0.iter().filter(|(key, _)| folded(key) == folded(name));
            match (alike.next(), alike.next()) {
                (Some((key, _)), None) => key != name,
                (Some(_), Some(_)) => true,
                (None, _) => false,
            }
        })
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The items of a list, as they are written.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Items<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}

/// Reads a message of a client, without the end of its line.
pub(crate) fn read_client(message: &[u8]) -> FromClient {
    // No reader of JSON finds an object, and so a request, where there is no brace. What could be the
    // rest of one that began in another message is read like everything else.
    if !message.iter().any(|byte| STRUCTURE.contains(byte)) {
        return FromClient::Pass(Passing::Other);
    }
    let Ok(text) = std::str::from_utf8(message) else {
        return refused(None, PARSE_ERROR, "the message is not UTF-8");
    };
    // To some readers a carriage return ends the line, so one message would be several.
    if text.contains('\r') {
        let why = "the message has a carriage return inside";
        return refused(None, PARSE_ERROR, why);
    }
    if text.trim_start().starts_with('[') {
        return batch(text);
    }
    let Some(fields) = Fields::read(text) else {
        // A number or a text is no request.
        if serde_json::from_str::<&RawValue>(text).is_ok() {
            return FromClient::Pass(Passing::Other);
        }
        return refused(None, PARSE_ERROR, "the message is not JSON");
    };
    single(text, &fields)
}

fn single(text: &str, fields: &Fields<'_>) -> FromClient {
    let id = fields.get("id");
    if let Some(key) = fields.ambiguous(KEYS) {
        let why = format!("the key `{key}` stands twice, or in an unusual spelling");
        let id = id.filter(|_| key != "id");
        return refused(id, INVALID_REQUEST, &why);
    }
    let method = match fields.get("method").map(method_of) {
        None | Some(Ok(None)) => None,
        Some(Ok(Some(method))) => Some(method),
        Some(Err(Unreadable)) => return refused(id, INVALID_REQUEST, "the method is unreadable"),
    };
    let Some(method) = method else {
        let answered = id.map(id_key).map_or(Passing::Other, Passing::Response);
        return FromClient::Pass(answered);
    };
    let params = fields.get("params");
    if is_call(&method) {
        return match Call::read(text, id, params) {
            Ok(call) => FromClient::Call(Box::new(call)),
            Err(refused) => FromClient::Refused(refused),
        };
    }
    FromClient::Pass(passing(&method, id, params))
}

fn passing(method: &str, id: Option<&RawValue>, params: Option<&RawValue>) -> Passing {
    let params = params.and_then(|it| Fields::read(it.get()));
    let field = |name: &str| params.as_ref().and_then(|it| it.get(name));
    match method {
        "initialize" => Passing::Initialize {
            client: Client::read(field("clientInfo"), field("capabilities")),
        },
        "tools/list" => Passing::ListTools {
            key: id.map(id_key),
            is_first: field("cursor").is_none_or(|it| it.get() == "null"),
        },
        "notifications/cancelled" => field("requestId")
            .map(id_key)
            .map_or(Passing::Other, Passing::Cancelled),
        _ => Passing::Other,
    }
}

/// Batches exist in one old version of the protocol. One that has a call in it is refused whole:
/// part of it could run while the rest waits.
fn batch(text: &str) -> FromClient {
    let mut found = Batch::default();
    if !found.look(text, 0) {
        return refused(None, PARSE_ERROR, "the message is not JSON");
    }
    if !found.has_call {
        return FromClient::Pass(Passing::Other);
    }
    let why = "a batch with a tool call is not forwarded; send each call by itself";
    let answers: Vec<String> = found
        .ids
        .iter()
        .map(|id| String::from_utf8_lossy(&error(Some(id), INVALID_REQUEST, why)).into_owned())
        .collect();
    let answer = (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")).into_bytes());
    FromClient::Refused(Refused {
        answer,
        why: why.to_owned(),
    })
}

#[derive(Default)]
struct Batch<'a> {
    ids: Vec<&'a RawValue>,
    has_call: bool,
}

impl<'a> Batch<'a> {
    /// Looks at each message in `text`; `false` if it is not JSON.
    fn look(&mut self, text: &'a str, depth: usize) -> bool {
        if text.trim_start().starts_with('[') {
            let Ok(Items(items)) = serde_json::from_str(text) else {
                return false;
            };
            self.has_call |= depth == BATCH_DEPTH_MAX;
            return depth == BATCH_DEPTH_MAX
                || items.iter().all(|item| self.look(item.get(), depth + 1));
        }
        let Some(fields) = Fields::read(text) else {
            // A number or a text in a batch is no request.
            return !text.trim_start().starts_with('{');
        };
        let method = fields.get("method").map(method_of);
        self.has_call |= match method {
            None | Some(Ok(None)) => false,
            Some(Ok(Some(method))) => is_call(&method),
            Some(Err(Unreadable)) => true,
        };
        self.has_call |= fields.ambiguous(KEYS).is_some();
        if fields.get("method").is_some() {
            self.ids.extend(fields.get("id"));
        }
        true
    }
}

/// Reads the answers in a message of a server: none, one, or those of a batch.
pub(crate) fn read_server(message: &[u8]) -> Vec<Response<'_>> {
    let Ok(text) = std::str::from_utf8(message) else {
        return Vec::new();
    };
    if text.trim_start().starts_with('[') {
        let Ok(Items(items)) = serde_json::from_str(text) else {
            return Vec::new();
        };
        return items.iter().filter_map(|it| response(it.get())).collect();
    }
    response(text).into_iter().collect()
}

fn response(text: &str) -> Option<Response<'_>> {
    let fields = Fields::read(text)?;
    if fields.get("method").is_some() {
        return None;
    }
    Some(Response {
        id: fields.get("id")?,
        result: fields.get("result"),
    })
}

/// Whether a client could read a listing of tools in `message`, and two clients different ones, or one
/// for another request.
pub(crate) fn lists_doubtfully(message: &[u8]) -> bool {
    let is_doubtful = |text: &str| {
        Fields::read(text).is_some_and(|fields| {
            let results = fields.0.iter().filter(|(key, _)| folded(key) == "result");
            let lists = results.into_iter().any(|(_, result)| has_tools(result));
            lists && (fields.ambiguous(ANSWER).is_some() || fields.get("method").is_some())
        })
    };
    let Ok(text) = std::str::from_utf8(message) else {
        return false;
    };
    if text.trim_start().starts_with('[') {
        let items = serde_json::from_str::<Items<'_>>(text);
        return items.is_ok_and(|Items(items)| items.iter().any(|it| is_doubtful(it.get())));
    }
    is_doubtful(text)
}

fn has_tools(result: &RawValue) -> bool {
    let fields = Fields::read(result.get());
    fields.is_some_and(|it| it.0.iter().any(|(key, _)| folded(key) == "tools"))
}

impl Client {
    /// Reads what a client says of itself.
    pub(super) fn read(info: Option<&RawValue>, capabilities: Option<&RawValue>) -> Self {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Info {
            name: String,
            version: String,
        }
        #[derive(serde::Deserialize)]
        struct Capabilities {
            elicitation: Option<Elicitation>,
        }
        #[derive(serde::Deserialize)]
        struct Elicitation {
            url: Option<serde::de::IgnoredAny>,
        }
        let info: Option<Info> = info.and_then(|it| serde_json::from_str(it.get()).ok());
        let can: Option<Capabilities> =
            capabilities.and_then(|it| serde_json::from_str(it.get()).ok());
        let name = info.map(|info| format!("{} {}", info.name, info.version).trim().to_owned());
        Self {
            name: name.filter(|name| !name.is_empty()),
            opens_links: can
                .and_then(|can| can.elicitation)
                .is_some_and(|it| it.url.is_some()),
        }
    }
}

/// A text that JSON readers turn into different texts.
struct Unreadable;

/// Returns the text of a method; `None` if it is none.
fn method_of(method: &RawValue) -> Result<Option<String>, Unreadable> {
    if !method.get().starts_with('"') {
        return Ok(None);
    }
    serde_json::from_str(method.get())
        .map(Some)
        .map_err(|_| Unreadable)
}

/// Whether a server could take `method` for a call of a tool.
pub(crate) fn is_call(method: &str) -> bool {
    folded(method.trim()) == CALL
}

/// Returns `key` as readers that compare it loosely see it: whatever its letter case, and up to the
/// first NUL.
fn folded(key: &str) -> String {
    key.chars()
        .take_while(|it| *it != '\0')
        .map(|it| match it {
            // The two letters outside ASCII that some readers hold equal to letters inside it.
            '\u{17f}' => 's',
            '\u{212a}' => 'k',
            it => it.to_ascii_lowercase(),
        })
        .collect()
}

/// Returns what tells one id from another, however it is written.
pub(crate) fn id_key(id: &RawValue) -> String {
    let text = id.get();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(text)) => format!("text {text}"),
        Ok(value @ Value::Number(_)) => countersign_core::canonical::canonical(&value)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map_or_else(|| format!("number {text}"), |it| format!("number {it}")),
        Ok(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | Err(_) => {
            format!("other {text}")
        }
    }
}

/// Returns an error in answer to the request `id`.
pub(crate) fn error(id: Option<&RawValue>, code: i32, message: &str) -> Vec<u8> {
    let id = id.map_or("null", RawValue::get);
    let message = Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
        .into_bytes()
}

/// Returns the refusal of a message.
pub(super) fn refuse(id: Option<&RawValue>, code: i32, why: &str) -> Refused {
    Refused {
        answer: Some(error(id, code, &format!("countersign: {why}"))),
        why: why.to_owned(),
    }
}

fn refused(id: Option<&RawValue>, code: i32, why: &str) -> FromClient {
    FromClient::Refused(refuse(id, code, why))
}

/// Returns where `part` stands in `whole`, of which it is a part.
pub(super) fn place_of(part: &str, whole: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start.saturating_add(part.len())
}

#[cfg(test)]
mod tests;
