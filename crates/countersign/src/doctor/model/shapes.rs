//! Requests and answers of four model protocols, as far as one tool call needs them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::NAME;

/// What the model says when it wants nothing more.
const DONE: &str = "done";
/// Names the one call. Agents only repeat it.
const CALL_ID: &str = "call_canary_1";

/// A tool call in an agent's own words.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::doctor) struct Call {
    /// The tool.
    pub(in crate::doctor) tool: String,
    /// Its arguments.
    pub(in crate::doctor) args: Value,
}

impl Call {
    /// Returns a call of `tool` with `args`.
    pub(in crate::doctor) fn new(tool: &str, args: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            args,
        }
    }
}

/// What the model answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn {
    /// It wants this call.
    Call(Call),
    /// It wants nothing more.
    Done,
}

/// A protocol that agents speak with models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI chat completions.
    Chat,
    /// Gemini's `generateContent`.
    Gemini,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// One object.
    Json(Value),
    /// Server-sent events.
    Events(String),
}

/// Returns the answer to a request that is not for the model: a list of models, or nothing.
pub(super) fn other(path: &str) -> Body {
    if path.ends_with("/models") {
        let model = json!({ "id": NAME, "object": "model" });
        return Body::Json(json!({ "object": "list", "data": [model] }));
    }
    if path.ends_with("/count_tokens") {
        return Body::Json(json!({ "input_tokens": 10 }));
    }
    if path.ends_with(":countTokens") {
        return Body::Json(json!({ "totalTokens": 10 }));
    }
    Body::Json(json!({}))
}

impl Protocol {
    /// Returns the protocol of requests to `path`.
    pub(super) fn of(path: &str) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages") {
            Some(Self::Messages)
        } else if ends("/responses") {
            Some(Self::Responses)
        } else if ends("/chat/completions") {
            Some(Self::Chat)
        } else if ends(":generateContent") || ends(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// Returns the names of the tools that `request` offers.
    pub(super) fn offered(self, request: &Value) -> Vec<&str> {
        let tools = items(&request["tools"]);
        match self {
            Self::Messages | Self::Responses => {
                tools.filter_map(|tool| tool["name"].as_str()).collect()
            }
            Self::Chat => tools
                .filter_map(|tool| tool.pointer("/function/name")?.as_str())
                .collect(),
            Self::Gemini => tools
                .flat_map(|tool| items(&tool["functionDeclarations"]))
                .filter_map(|tool| tool["name"].as_str())
                .collect(),
        }
    }

    /// Returns what `request` tells about calls that were asked for.
    pub(super) fn results(self, request: &Value) -> Vec<String> {
        match self {
            Self::Messages => items(&request["messages"])
                .flat_map(|message| items(&message["content"]))
                .filter(|block| block["type"] == "tool_result")
                .map(|block| text(&block["content"]))
                .collect(),
            Self::Responses => items(&request["input"])
                .filter(|item| {
                    item["type"]
                        .as_str()
                        .is_some_and(|it| it.ends_with("_output"))
                })
                .map(|item| text(&item["output"]))
                .collect(),
            Self::Chat => items(&request["messages"])
                .filter(|message| message["role"] == "tool")
                .map(|message| text(&message["content"]))
                .collect(),
            Self::Gemini => items(&request["contents"])
                .flat_map(|content| items(&content["parts"]))
                .filter_map(|part| part.get("functionResponse"))
                .map(|response| text(&response["response"]))
                .collect(),
        }
    }

    /// Returns `turn` as the answer to `request`, which was sent to `path`.
    pub(super) fn answer(self, path: &str, request: &Value, turn: &Turn) -> Body {
        let streams = request["stream"] == true;
        match self {
            Self::Messages if streams => Body::Events(message_events(turn)),
            Self::Messages => Body::Json(message(turn)),
            Self::Responses => Body::Events(response_events(turn)),
            Self::Chat if streams => Body::Events(chat_events(turn)),
            Self::Chat => Body::Json(chat(turn)),
            Self::Gemini if path.ends_with(":streamGenerateContent") => {
                Body::Events(format!("data: {}\r\n\r\n", gemini(request, turn)))
            }
            Self::Gemini => Body::Json(gemini(request, turn)),
        }
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the text of a result: a text, a list of parts with texts, or the JSON of anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn message(turn: &Turn) -> Value {
    match turn {
        Turn::Call(call) => {
            let block =
                json!({ "type": "tool_use", "id": CALL_ID, "name": call.tool, "input": call.args });
            message_with(&json!([block]), Some("tool_use"))
        }
        Turn::Done => {
            let block = json!({ "type": "text", "text": DONE });
            message_with(&json!([block]), Some("end_turn"))
        }
    }
}

fn message_with(content: &Value, stop: Option<&str>) -> Value {
    json!({
        "id": "msg_canary", "type": "message", "role": "assistant", "model": NAME,
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn message_events(turn: &Turn) -> String {
    let (block, delta, stop) = match turn {
        Turn::Call(call) => (
            json!({ "type": "tool_use", "id": CALL_ID, "name": call.tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": call.args.to_string() }),
            "tool_use",
        ),
        Turn::Done => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": DONE }),
            "end_turn",
        ),
    };
    let start = message_with(&json!([]), None);
    let stop = json!({ "stop_reason": stop, "stop_sequence": null });
    named([
        json!({ "type": "message_start", "message": start }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": stop, "usage": { "output_tokens": 5 } }),
        json!({ "type": "message_stop" }),
    ])
}

fn response_events(turn: &Turn) -> String {
    let item = match turn {
        Turn::Call(call) => json!({
            "type": "function_call", "id": "fc_canary_1", "call_id": CALL_ID,
            "name": call.tool, "arguments": call.args.to_string(),
        }),
        Turn::Done => json!({
            "type": "message", "id": "msg_canary_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": DONE, "annotations": [] }],
        }),
    };
    let created = json!({
        "id": "resp_canary", "object": "response", "status": "in_progress", "output": [],
    });
    let completed = json!({
        "id": "resp_canary", "object": "response", "status": "completed", "output": [item],
        "usage": {
            "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": 15,
        },
    });
    named([
        json!({ "type": "response.created", "response": created }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": completed }),
    ])
}

fn chat(turn: &Turn) -> Value {
    let (message, finish) = match turn {
        Turn::Call(call) => (
            json!({ "role": "assistant", "content": null, "tool_calls": [chat_call(call)] }),
            "tool_calls",
        ),
        Turn::Done => (json!({ "role": "assistant", "content": DONE }), "stop"),
    };
    json!({
        "id": "chatcmpl-canary", "object": "chat.completion", "created": 0, "model": NAME,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": chat_usage(),
    })
}

fn chat_events(turn: &Turn) -> String {
    let (delta, finish) = match turn {
        Turn::Call(call) => (
            json!({ "role": "assistant", "content": null, "tool_calls": [chat_call(call)] }),
            "tool_calls",
        ),
        Turn::Done => (json!({ "role": "assistant", "content": DONE }), "stop"),
    };
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-canary", "object": "chat.completion.chunk", "created": 0,
            "model": NAME, "choices": choices, "usage": usage,
        })
    };
    let first = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    let last = json!([{ "index": 0, "delta": {}, "finish_reason": finish }]);
    let chunks = [
        chunk(first, Value::Null),
        chunk(last, Value::Null),
        chunk(json!([]), chat_usage()),
    ];
    let mut events = String::new();
    for chunk in chunks {
        let _infallible = write!(events, "data: {chunk}\n\n");
    }
    events.push_str("data: [DONE]\n\n");
    events
}

fn chat_call(call: &Call) -> Value {
    let function = json!({ "name": call.tool, "arguments": call.args.to_string() });
    // Only streams need the index; others skip it.
    json!({ "index": 0, "id": CALL_ID, "type": "function", "function": function })
}

fn chat_usage() -> Value {
    json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 })
}

fn gemini(request: &Value, turn: &Turn) -> Value {
    // Gemini CLI asks side questions whose answers it parses as JSON.
    let kind = request.pointer("/generationConfig/responseMimeType");
    let wants_json = kind.is_some_and(|kind| kind == "application/json");
    let part = match turn {
        Turn::Call(call) => {
            json!({ "functionCall": { "id": CALL_ID, "name": call.tool, "args": call.args } })
        }
        Turn::Done if wants_json => {
            let answer = json!({
                "reasoning": DONE, "next_speaker": "user", "complexity_reasoning": DONE,
                "complexity_score": 10, "model_choice": "flash",
            });
            json!({ "text": answer.to_string() })
        }
        Turn::Done => json!({ "text": DONE }),
    };
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": NAME,
    })
}

/// Returns events that carry their name twice, as both vendors send them.
fn named<const N: usize>(events: [Value; N]) -> String {
    let mut text = String::new();
    for event in events {
        let name = event
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let _infallible = write!(text, "event: {name}\ndata: {event}\n\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Turn {
        Turn::Call(Call::new("Bash", json!({ "command": "ls" })))
    }

    /// Returns the events of an answer that was asked for as a stream.
    fn streamed(answer: Body) -> String {
        match answer {
            Body::Events(events) => events,
            Body::Json(whole) => panic!("a stream was asked for, but it is one text: {whole}"),
        }
    }

    #[test]
    fn messages() {
        let request = json!({
            "stream": true,
            "tools": [{ "name": "Bash" }, { "type": "web_search", "name": "web_search" }],
            "messages": [
                { "role": "user", "content": "go" },
                { "role": "user", "content": [{ "type": "tool_result", "content": "no" }] },
                { "role": "user", "content": [{ "type": "tool_result", "content": [{ "type": "text", "text": "never" }] }] },
            ],
        });
        let protocol = Protocol::of("/v1/messages").unwrap();
        assert_eq!(protocol.offered(&request), ["Bash", "web_search"]);
        assert_eq!(protocol.results(&request), ["no", "never"]);
        insta::assert_snapshot!(streamed(protocol.answer("/v1/messages", &request, &call())));
        let Body::Json(whole) = protocol.answer("/v1/messages", &json!({}), &Turn::Done) else {
            panic!("a stream");
        };
        assert_eq!(whole["content"][0]["text"], "done");
        assert_eq!(whole["stop_reason"], "end_turn");
    }

    #[test]
    fn responses() {
        let request = json!({
            "tools": [{ "type": "function", "name": "exec_command" }, { "type": "web_search" }],
            "input": [
                { "type": "message", "content": "go" },
                { "type": "function_call_output", "output": "no" },
                { "type": "custom_tool_call_output", "output": { "a": 1 } },
            ],
        });
        let protocol = Protocol::of("/v1/responses").unwrap();
        assert_eq!(protocol.offered(&request), ["exec_command"]);
        assert_eq!(protocol.results(&request), ["no", r#"{"a":1}"#]);
        insta::assert_snapshot!(streamed(protocol.answer(
            "/v1/responses",
            &request,
            &call()
        )));
    }

    #[test]
    fn chat_completions() {
        let request = json!({
            "stream": true,
            "tools": [{ "type": "function", "function": { "name": "bash" } }],
            "messages": [{ "role": "user", "content": "go" }, { "role": "tool", "content": "no" }],
        });
        let path = "/v1/chat/completions";
        let protocol = Protocol::of(path).unwrap();
        assert_eq!(protocol.offered(&request), ["bash"]);
        assert_eq!(protocol.results(&request), ["no"]);
        insta::assert_snapshot!(streamed(protocol.answer(path, &request, &call())));
        let Body::Json(whole) = protocol.answer(path, &json!({}), &call()) else {
            panic!("a stream");
        };
        let wanted = &whole["choices"][0]["message"]["tool_calls"][0]["function"];
        assert_eq!(wanted["arguments"], r#"{"command":"ls"}"#);
    }

    #[test]
    fn gemini_content() {
        let request = json!({
            "tools": [{ "functionDeclarations": [{ "name": "run_shell_command" }] }],
            "contents": [{ "parts": [{ "functionResponse": { "response": { "error": "no" } } }] }],
        });
        let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
        let protocol = Protocol::of(path).unwrap();
        assert_eq!(protocol.offered(&request), ["run_shell_command"]);
        assert_eq!(protocol.results(&request), [r#"{"error":"no"}"#]);
        insta::assert_snapshot!(streamed(protocol.answer(path, &request, &call())));
        let side = json!({ "generationConfig": { "responseMimeType": "application/json" } });
        let Body::Json(whole) = protocol.answer("/m:generateContent", &side, &Turn::Done) else {
            panic!("a stream");
        };
        let text = whole["candidates"][0]["content"]["parts"][0]["text"].as_str();
        let text: Value = serde_json::from_str(text.unwrap()).unwrap();
        assert_eq!(text["next_speaker"], "user");
    }

    #[test]
    fn other_paths_are_not_the_model_s() {
        for path in ["/v1/messages/count_tokens", "/v1/models", "/telemetry", "/"] {
            assert_eq!(Protocol::of(path), None, "{path}");
        }
        assert_eq!(
            other("/v1/messages/count_tokens"),
            Body::Json(json!({ "input_tokens": 10 }))
        );
    }
}
