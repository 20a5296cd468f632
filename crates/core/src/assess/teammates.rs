//! Messages between the agents of one session, told from messages to people.
//!
//! Agent teams write to each other with a tool whose name senders to people have as well. Only the
//! arguments tell them apart, so a call counts as one of a team if everything in it is.

use serde_json::{Map, Value};

use super::named::Named;
use crate::knowledge::names::{
    CALLED_TOGETHER, TEAM_MESSAGE_KEYS, TEAM_MESSAGE_PARTS, TEAM_MESSAGE_TYPES,
};
use crate::knowledge::{self, ToolRow};

/// The tool, in exactly this case: `sendMessage` is one of a chat.
const TOOL: &str = "SendMessage";
/// The row of such a message.
const ROW: &str = "message to a teammate";
/// Longest name of a teammate.
const NAME_BYTES_MAX: usize = 64;

/// Returns the row of a message to a teammate, if the call is one.
pub(super) fn row(named: &Named, args: &Map<String, Value>) -> Option<&'static ToolRow> {
    let inner = args.get("message").and_then(Value::as_object);
    let kind = kind_of(args, inner)?;
    let known = named.whole == TOOL
        && TEAM_MESSAGE_TYPES.contains(kind)
        && args.iter().all(|(key, value)| {
            let is_inner = key == "message" && inner.is_some();
            TEAM_MESSAGE_KEYS.contains(key.as_str()) && (is_inner || is_plain(value))
        })
        && inner.is_none_or(is_of_a_team);
    if !known {
        return None;
    }
    let mut recipients = ["recipient", "to"].iter().filter_map(|key| args.get(*key));
    let named_well = recipients
        .clone()
        .all(|name| name.as_str().is_some_and(is_name));
    // An answer names the request instead, and a broadcast goes to the team with a summary for the list.
    let needs_none = match kind {
        "broadcast" => args.contains_key("summary"),
        "shutdown_response" => args.contains_key("request_id") && args.contains_key("approve"),
        _ => false,
    };
    let goes_to_the_team = named_well && (needs_none || recipients.next().is_some());
    goes_to_the_team.then(|| knowledge::tool(ROW)).flatten()
}

/// The kind of a message. Newer teams put it into the message, and leave it out of plain ones, which carry a
/// summary for the list beside the text; no sender to people has such a pair.
fn kind_of<'a>(
    args: &'a Map<String, Value>,
    inner: Option<&'a Map<String, Value>>,
) -> Option<&'a str> {
    let said = inner
        .unwrap_or(args)
        .get("type")
        .or_else(|| args.get("type"));
    if let Some(kind) = said {
        return kind.as_str();
    }
    let is_text = |key: &str| args.get(key).is_some_and(Value::is_string);
    let has_both = is_text("summary") && is_text("message") && is_text("to");
    (has_both && inner.is_none()).then_some("message")
}

/// Whether a message that is an object holds only what one of a team holds.
fn is_of_a_team(message: &Map<String, Value>) -> bool {
    message
        .iter()
        .all(|(key, value)| TEAM_MESSAGE_PARTS.contains(key.as_str()) && is_plain(value))
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Bool(_) => true,
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether a word can be the name of a teammate: no address, number or identifier of a chat.
fn is_name(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let has = |test: fn(&char) -> bool| word.chars().any(|letter| test(&letter));
    let is_identifier = has(char::is_ascii_uppercase) && has(char::is_ascii_digit);
    word.len() <= NAME_BYTES_MAX
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(plain)
        && !is_identifier
        && !CALLED_TOGETHER.contains(word.to_ascii_lowercase().as_str())
}
