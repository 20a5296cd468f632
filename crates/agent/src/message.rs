//! `Message`: conversation messages, as stored and as sent to models.

use countersign_core::status;
use serde::{Deserialize, Serialize};

/// One message of a conversation, in the shape of `OpenAI`'s chat completions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The system prompt.
    System {
        /// The text.
        content: String,
    },
    /// What a person says.
    User {
        /// The text.
        content: String,
    },
    /// The text of the model.
    Assistant {
        /// The text, if there is one.
        content: Option<String>,
        /// Tools it wants to use.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolRequest>,
    },
    /// The result of a tool call of the model.
    Tool {
        /// Which request it answers.
        tool_call_id: String,
        /// The text.
        content: String,
        /// How it ended, for people. Models are not told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<Ended>,
    },
}

/// The outcome of a tool call, in the same words on every surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The call it was.
    pub call_id: String,
    /// In one word.
    pub outcome: status::Ended,
    /// For people.
    pub words: String,
}

/// A tool the model wants to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireRequest", into = "WireRequest")]
pub struct ToolRequest {
    /// Names the request; unique within a message.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as JSON text, exactly as the model wrote them.
    pub arguments: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct WireRequest {
    id: String,
    #[serde(rename = "type", default = "function")]
    kind: String,
    function: WireFunction,
}

#[derive(Clone, Serialize, Deserialize)]
struct WireFunction {
    name: String,
    arguments: String,
}

fn function() -> String {
    "function".to_owned()
}

impl From<WireRequest> for ToolRequest {
    fn from(wire: WireRequest) -> Self {
        Self {
            id: wire.id,
            name: wire.function.name,
            arguments: wire.function.arguments,
        }
    }
}

impl From<ToolRequest> for WireRequest {
    fn from(request: ToolRequest) -> Self {
        Self {
            id: request.id,
            kind: function(),
            function: WireFunction {
                name: request.name,
                arguments: request.arguments,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_models_expect_it() {
        let message = Message::Assistant {
            content: None,
            tool_calls: vec![ToolRequest {
                id: "call_1".to_owned(),
                name: "terminal".to_owned(),
                arguments: r#"{"command":"ls"}"#.to_owned(),
            }],
        };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(
            text,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]}"#
        );
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    }
}
