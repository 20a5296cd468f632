//! One `tools/call` of a client: what it says, and the bytes that are sent on.
//!
//! Separate because these bytes are what a person approves: they are kept, and only the
//! token, edited arguments, and the id and `_meta` of a later request for the same call are put into them.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::canonical::{canonical, parse};
use countersign_core::digest::Digest;
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::message::{
    Client, Fields, INVALID_PARAMS, INVALID_REQUEST, Refused, id_key, place_of, refuse,
};

/// The key under which a token travels in `params._meta`.
pub(crate) const TOKEN_KEY: &str = "dev.countersign/token";
/// What the states begin with that a proxy gives to clients; those of servers are left alone.
pub(super) const STATE_MARK: &str = "countersign.1.";
/// Decimal digits that every reader of JSON keeps of a number.
const DIGITS_MAX: usize = 15;
/// Keys of the parameters that servers act on.
const PARAMS: &[&str] = &[
    "name",
    "arguments",
    "_meta",
    "task",
    "requestState",
    "inputResponses",
];
/// The first protocol version without a session.
const STATELESS: &str = "2026";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Which of the two families of protocol versions a request is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: a session begins with `initialize`.
    Stateful,
    /// From 2026-07-28: each request says all there is to know.
    Stateless,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The message, as it came.
    text: String,
    /// Its id, as it is written.
    pub(crate) id: Box<RawValue>,
    /// The tool.
    pub(crate) tool: String,
    /// The arguments, as the gateway is told.
    pub(crate) arguments: Arguments,
    /// What else the parameters say that the server acts on.
    pub(crate) extras: Option<Digest>,
    /// Its progress token, as it is written.
    pub(crate) progress_token: Option<Box<RawValue>>,
    /// The protocol it is written in.
    pub(crate) era: Era,
    /// What it says of the client; only in the stateless era.
    pub(crate) client: Option<Client>,
    /// The state that an answer of a proxy gave it.
    pub(crate) resumes: Option<String>,
    places: Places,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    /// They have a canonical form.
    Canonical(Value),
    /// They have none, such as numbers that not every reader keeps: their bytes, in base64.
    Raw(String),
}

/// Where the parts of a call stand in its text.
#[derive(Clone, Debug)]
struct Places {
    id: Range<usize>,
    params: Range<usize>,
    /// Whether there is nothing in the parameters.
    params_are_empty: bool,
    arguments: Option<Range<usize>>,
    meta: Option<Meta>,
}

#[derive(Clone, Debug)]
struct Meta {
    place: Range<usize>,
    is_empty: bool,
    is_null: bool,
}

impl Call {
    /// Reads the call in `text`, whose id and parameters these are.
    pub(super) fn read(
        text: &str,
        id: Option<&RawValue>,
        params: Option<&RawValue>,
    ) -> Result<Self, Refused> {
        let Some(id) = id else {
            return Err(Refused {
                answer: None,
                why: "a tool call without an id is not forwarded".to_owned(),
            });
        };
        if id.get() == "null" {
            return Err(refuse(None, INVALID_REQUEST, "the id is null"));
        }
        let invalid = |why: &str| refuse(Some(id), INVALID_PARAMS, why);
        let raw = params.ok_or_else(|| invalid("`params` is missing"))?;
        let params = Fields::read(raw.get()).ok_or_else(|| invalid("`params` is not an object"))?;
        if let Some(key) = params.ambiguous(PARAMS) {
            return Err(invalid(&format!(
                "`params.{key}` stands twice, or in an unusual spelling"
            )));
        }
        let tool = params
            .get("name")
            .and_then(|it| serde_json::from_str(it.get()).ok())
            .ok_or_else(|| invalid("`params.name` is not a text"))?;
        let given = params.get("arguments").filter(|it| it.get() != "null");
        let arguments = Arguments::read(given).map_err(invalid)?;
        let meta = params.get("_meta");
        let told = match meta.filter(|it| it.get() != "null") {
            None => Fields(Vec::new()),
            Some(meta) => Fields::read(meta.get())
                .ok_or_else(|| invalid("`params._meta` is not an object"))?,
        };
        if told.get(TOKEN_KEY).is_some() {
            let why = format!("`{TOKEN_KEY}` is set by Countersign alone");
            return Err(invalid(&why));
        }
        let version = text_of(told.get(VERSION_KEY));
        let era = match version {
            Some(version) if version.as_str() >= STATELESS => Era::Stateless,
            Some(_) | None => Era::Stateful,
        };
        let progress_token = told
            .get("progressToken")
            .filter(|it| it.get().starts_with(|at: char| at != 'n'))
            .map(ToOwned::to_owned);
        let request_state = text_of(params.get("requestState"));
        let is_resumed = request_state
            .as_deref()
            .is_some_and(|state| state.starts_with(STATE_MARK));
        // What only answers the proxy's own question is no part of the call.
        let is_of_us = |key: &str| {
            matches!(key, "name" | "arguments" | "_meta")
                || is_resumed && matches!(key, "requestState" | "inputResponses")
        };
        let extras: Vec<String> = params
            .0
            .iter()
            .filter(|(key, _)| !is_of_us(key))
            .map(|(key, value)| format!("{key}\0{}\0", value.get()))
            .collect();
        let client = (era == Era::Stateless)
            .then(|| Client::read(told.get(CLIENT_KEY), told.get(CAPABILITIES_KEY)));
        let at = |part: &RawValue| place_of(part.get(), text);
        Ok(Self {
            places: Places {
                id: at(id),
                params: at(raw),
                params_are_empty: params.0.is_empty(),
                arguments: params.get("arguments").map(at),
                meta: meta.map(|meta| Meta {
                    place: at(meta),
                    is_empty: told.0.is_empty(),
                    is_null: meta.get() == "null",
                }),
            },
            text: text.to_owned(),
            id: id.to_owned(),
            tool,
            arguments,
            extras: (!extras.is_empty()).then(|| Digest::of(extras.concat().as_bytes())),
            progress_token,
            era,
            client,
            resumes: request_state.filter(|_| is_resumed),
        })
    }

    /// Returns how long the message is.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns what tells its id from others.
    pub(crate) fn key(&self) -> String {
        id_key(&self.id)
    }

    /// Returns its `_meta` with the token in it.
    fn meta_with(&self, token: Option<&str>) -> String {
        let meta = self.places.meta.as_ref().filter(|meta| !meta.is_null);
        let text = meta.and_then(|meta| self.text.get(meta.place.clone()));
        let rest = text.and_then(|text| text.strip_prefix('{')).unwrap_or("}");
        let comma = if meta.is_none_or(|meta| meta.is_empty) {
            ""
        } else {
            ","
        };
        match token {
            Some(token) => format!("{{\"{TOKEN_KEY}\":{}{comma}{rest}", Value::from(token)),
            None => format!("{{{rest}"),
        }
    }

    /// Returns the message as the server gets it.
    pub(super) fn message(&self, change: &Change<'_>) -> Vec<u8> {
        let places = &self.places;
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        // What is put in front of everything else in the parameters.
        let mut first = Vec::new();
        if let Some(arguments) = change.arguments {
            match &places.arguments {
                Some(place) => edits.push((place.clone(), arguments.to_owned())),
                None => first.push(format!("\"arguments\":{arguments}")),
            }
        }
        let asker = change.answers.unwrap_or(self);
        if change.token.is_some() || change.answers.is_some() {
            let meta = asker.meta_with(change.token);
            match &places.meta {
                Some(own) => edits.push((own.place.clone(), meta)),
                None => first.push(format!("\"_meta\":{meta}")),
            }
        }
        if let Some(asker) = change.answers {
            edits.push((places.id.clone(), asker.id.get().to_owned()));
        }
        if !first.is_empty() {
            let comma = if places.params_are_empty { "" } else { "," };
            let at = places.params.start + 1;
            edits.push((at..at, format!("{}{comma}", first.join(","))));
        }
        edits.sort_by_key(|(place, _)| place.start);
        let mut message = Vec::with_capacity(self.text.len() + 1024);
        let mut done = 0;
        for (place, text) in edits {
            let kept = self.text.get(done..place.start).unwrap_or_default();
            message.extend_from_slice(kept.as_bytes());
            message.extend_from_slice(text.as_bytes());
            done = place.end;
        }
        message.extend_from_slice(self.text.get(done..).unwrap_or_default().as_bytes());
        message
    }

    /// Returns the answer of a tool that did not run, with the words for the model.
    pub(crate) fn refusal(&self, words: &str) -> Vec<u8> {
        let id = self.id.get();
        let words = Value::from(words);
        let kind = match self.era {
            Era::Stateful => "",
            Era::Stateless => r#""resultType":"complete","#,
        };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{{kind}"content":[{{"type":"text","text":{words}}}],"isError":true}}}}"#
        )
        .into_bytes()
    }
}

/// What is put into a message before it is sent on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change<'a> {
    /// The request that is answered: this one, or a later one for the same call.
    pub(super) answers: Option<&'a Call>,
    /// Other arguments.
    pub(super) arguments: Option<&'a str>,
    /// The token.
    pub(super) token: Option<&'a str>,
}

impl Arguments {
    fn read(given: Option<&RawValue>) -> Result<Self, &'static str> {
        let Some(given) = given.map(RawValue::get) else {
            return Ok(Self::Canonical(Value::Object(serde_json::Map::new())));
        };
        let value = parse(given.as_bytes()).map_err(|error| match error.classify() {
            Category::Data => "a key stands twice in `params.arguments`",
            Category::Io | Category::Syntax | Category::Eof => {
                "`params.arguments` cannot be read exactly"
            }
        })?;
        if !value.is_object() {
            return Err("`params.arguments` is not an object");
        }
        if has_long_number(given) || canonical(&value).is_err() {
            return Ok(Self::Raw(STANDARD.encode(given)));
        }
        Ok(Self::Canonical(value))
    }
}

/// Whether a number with a fraction or an exponent has more digits than every reader keeps, so that
/// its canonical form would stand for its neighbours, too.
fn has_long_number(json: &str) -> bool {
    let (mut in_text, mut escaped) = (false, false);
    let (mut digits, mut is_fraction) = (0, false);
    for byte in json.bytes() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'0'..=b'9' => digits += 1,
            b'.' | b'e' | b'E' if digits > 0 => is_fraction = true,
            b'-' | b'+' if digits > 0 => {}
            other => {
                if is_fraction && digits > DIGITS_MAX {
                    return true;
                }
                (digits, is_fraction) = (0, false);
                in_text = other == b'"';
            }
        }
    }
    false
}

fn text_of(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}
