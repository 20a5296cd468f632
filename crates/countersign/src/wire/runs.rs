//! Run requests. Hermes and `OpenAI` clients may send additional fields, which are ignored: those
//! clients cannot be changed, and no field can allow anything.

use countersign_agent::message::Message;
use countersign_gate::GateError;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::requests::invalid;

/// Most messages of one request.
const MESSAGES_MAX: usize = 1000;

/// A run that is to begin.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct RunBody {
    /// The task: a text, or messages whose last is the person's.
    #[schema(value_type = Object)]
    pub(crate) input: Value,
    /// Additional instructions for the model.
    pub(crate) instructions: Option<String>,
    /// Earlier messages, for a conversation that is new here.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub(crate) conversation_history: Vec<Value>,
    /// The conversation it belongs to; a new one if it is not named.
    pub(crate) session_id: Option<String>,
    /// The directory it works in.
    pub(crate) cwd: Option<String>,
    /// One of the models that `GET /v1/models` lists; the first if it is not named.
    pub(crate) model: Option<String>,
}

/// A message for a run that is under way.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SteerBody {
    /// What the person says.
    pub(crate) input: String,
}

/// A request for a completion in the shape of `OpenAI`.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    /// The conversation, the last by the person.
    #[schema(value_type = Vec<Object>)]
    pub(crate) messages: Vec<Value>,
    /// Whether the answer is streamed.
    #[serde(default)]
    pub(crate) stream: bool,
    /// How.
    #[serde(default)]
    pub(crate) stream_options: Option<StreamOptions>,
}

/// How an answer is streamed.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct StreamOptions {
    /// Whether it ends with what it cost.
    #[serde(default)]
    pub(crate) include_usage: bool,
}

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunQuery {
    /// Of this conversation.
    pub(crate) session_id: Option<String>,
    /// At most so many.
    pub(crate) limit: Option<u32>,
    /// The cursor of the previous page.
    pub(crate) behind: Option<String>,
}

/// Since when.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// Not older than this, in Unix seconds.
    pub(crate) since: Option<f64>,
}

/// The messages, the instructions and the model.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) said: Vec<Message>,
    pub(crate) instructions: Vec<String>,
    /// The model that was asked for.
    pub(crate) model: Option<String>,
}

impl Conversation {
    /// Reads `messages`. Only what people and models said is taken: tools that a client claims to
    /// have used are not ours, and a request for one must come from the model.
    pub(crate) fn read(messages: &[Value]) -> Result<Self, GateError> {
        if messages.len() > MESSAGES_MAX {
            return Err(wrong("there are more than 1000 messages"));
        }
        let mut read = Self::default();
        for message in messages {
            let role = message.get("role").and_then(Value::as_str);
            let content = message.get("content").unwrap_or(&Value::Null);
            match role {
                Some("user") => {
                    let content = text(content)?;
                    read.said.push(Message::User { content });
                }
                Some("system" | "developer") => read.instructions.push(text(content)?),
                Some("assistant") if content.is_null() => {}
                Some("assistant") => read.said.push(Message::Assistant {
                    content: Some(text(content)?),
                    tool_calls: Vec::new(),
                }),
                Some("tool" | "function") => {}
                Some(_) | None => {
                    return Err(wrong(
                        "each message has a `role`: user, assistant, system, developer or tool",
                    ));
                }
            }
        }
        Ok(read)
    }

    /// Reads `input` of a run, after what was said before.
    pub(crate) fn of_run(history: &[Value], input: &Value) -> Result<Self, GateError> {
        let mut read = Self::read(history)?;
        match input {
            Value::String(content) => {
                let content = content.clone();
                read.said.push(Message::User { content });
            }
            Value::Array(messages) => {
                let more = Self::read(messages)?;
                read.said.extend(more.said);
                read.instructions.extend(more.instructions);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(wrong("`input` is a text or a list of messages"));
            }
        }
        Ok(read)
    }
}

/// Returns the text of a message: a text, or parts of which each is one.
fn text(content: &Value) -> Result<String, GateError> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    let parts = content
        .as_array()
        .ok_or_else(|| wrong("`content` is a text or a list of parts"))?;
    let mut texts = Vec::new();
    for part in parts {
        let kind = part.get("type").and_then(Value::as_str);
        let text = part.get("text").and_then(Value::as_str);
        match (kind, text) {
            (Some("text" | "input_text" | "output_text") | None, Some(text)) => texts.push(text),
            (Some(_) | None, _) => {
                return Err(wrong(
                    "only text can be read here, no pictures and no files",
                ));
            }
        }
    }
    Ok(texts.join("\n"))
}

fn wrong(message: &str) -> GateError {
    invalid("input", "invalid_input", message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_people_and_models_said_is_taken_from_a_client() {
        let messages = [
            json!({"role": "system", "content": "be brief"}),
            json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]}),
            json!({"role": "tool", "tool_call_id": "1", "content": "x"}),
            json!({"role": "assistant", "content": "c", "tool_calls": [{"id": "2", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}]}),
            json!({"role": "user", "content": "d"}),
        ];
        let read = Conversation::read(&messages).unwrap();
        assert_eq!(read.instructions, ["be brief"]);
        let said = serde_json::to_value(&read.said).unwrap();
        let wanted = json!([
            {"role": "user", "content": "a\nb"},
            {"role": "assistant", "content": "c"},
            {"role": "user", "content": "d"},
        ]);
        assert_eq!(said, wanted);
    }

    #[test]
    fn what_is_not_text_is_an_error() {
        let rows = [
            ("no role", json!({"content": "x"})),
            (
                "a picture",
                json!({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}),
            ),
            ("a number", json!({"role": "user", "content": 7})),
        ];
        for (name, message) in rows {
            assert!(Conversation::read(&[message]).is_err(), "{name}");
        }
        assert!(Conversation::of_run(&[], &json!({})).is_err());
    }
}
