//! Assembles the chunks of an answer into one [`Completion`]. Pure.
//!
//! Servers differ most in how they stream tool calls, so `calls` decides which fragment belongs to
//! which call. Nothing is taken for complete before the server says that the answer has ended.

mod calls;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::complaint::Complaint;
use super::{Completion, Delta, ModelError, Usage};
use crate::message::ToolRequest;
use calls::{Call, Calls, Fragment};

/// Longest id of a server that is kept, in bytes.
const ID_BYTES_MAX: usize = 128;

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    text: String,
    calls: Calls,
    usage: Usage,
    model: String,
    cut_off: bool,
    ended: bool,
    come: Come,
}

/// What has come so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Come {
    #[default]
    Nothing,
    /// Something that can be read, but nothing of the answer.
    Frame,
    /// A part of the answer.
    Part,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Value,
    #[serde(default)]
    delta: Option<Said>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    error: Value,
}

/// What a model says, or a part of it.
#[derive(Default, Deserialize)]
struct Said {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Value,
    #[serde(default)]
    reasoning: Value,
    #[serde(default)]
    reasoning_content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<Fragment>>,
}

impl Accumulator {
    /// Takes the next payload and passes on what is new in it.
    pub(super) fn push(
        &mut self,
        payload: &[u8],
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), ModelError> {
        let chunk: Chunk = serde_json::from_slice(payload)
            .map_err(|error| ModelError::Malformed(format!("a part of it: {error}")))?;
        if self.come == Come::Nothing {
            self.come = Come::Frame;
        }
        if !chunk.error.is_null() {
            return Err(Complaint::read(&chunk.error).into_error_midway());
        }
        if self.model.is_empty() {
            chunk
                .model
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut self.model);
        }
        self.count(&chunk.usage);
        for choice in chunk.choices.unwrap_or_default() {
            // Only one answer was asked for.
            if choice.index.as_u64().unwrap_or(0) == 0 {
                self.choose(choice, on)?;
            }
        }
        Ok(())
    }

    /// Whether a part of the answer has come. Before that, nothing is lost by asking again.
    pub(super) fn begun(&self) -> bool {
        self.come == Come::Part
    }

    /// Whether the server has said that the answer is complete.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Notes that the server said that nothing follows.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the answer. `mint` makes ids for calls that have none of their own.
    pub(super) fn finish(self, mint: &mut dyn FnMut() -> String) -> Result<Completion, ModelError> {
        if self.come == Come::Nothing {
            return Err(ModelError::Malformed("it is empty".to_owned()));
        }
        if !self.ended {
            return Err(ModelError::BrokeOff("it has no end".to_owned()));
        }
        let mut taken = BTreeSet::new();
        let mut tool_requests = Vec::new();
        for Call {
            id,
            name,
            arguments,
            ..
        } in self.calls.into_calls()
        {
            if name.is_empty() {
                let why = "a tool call does not say which tool";
                return Err(ModelError::Malformed(why.to_owned()));
            }
            let usable = (1..=ID_BYTES_MAX).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_graphic());
            let id = if usable && !taken.contains(&id) {
                id
            } else {
                mint()
            };
            taken.insert(id.clone());
            // No arguments are an empty object, which every server takes back.
            let arguments = if arguments.trim().is_empty() {
                "{}".to_owned()
            } else {
                arguments
            };
            tool_requests.push(ToolRequest {
                id,
                name,
                arguments,
            });
        }
        Ok(Completion {
            text: self.text,
            tool_requests,
            usage: self.usage,
            model: self.model,
            cut_off: self.cut_off,
        })
    }

    fn choose(
        &mut self,
        choice: Choice,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), ModelError> {
        if !choice.error.is_null() {
            return Err(Complaint::read(&choice.error).into_error_midway());
        }
        match (choice.delta, choice.message) {
            (Some(said), _) => self.say(said, on)?,
            // A whole message ends the answer; after deltas it only repeats them.
            (None, Some(said)) => {
                if !self.begun() {
                    self.say(said, on)?;
                }
                self.ended = true;
            }
            (None, None) => {}
        }
        match choice.finish_reason.as_str().unwrap_or_default() {
            "" => {}
            "error" => return Err(ModelError::BrokeOff("the server failed".to_owned())),
            // Whether it is called `stop` or `tool_calls` does not matter: what came counts.
            reason => {
                self.ended = true;
                self.cut_off |= matches!(reason, "length" | "max_tokens" | "content_filter");
            }
        }
        Ok(())
    }

    fn say(
        &mut self,
        said: Said,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), ModelError> {
        // Where both are there, they are the same.
        let thought = [&said.reasoning_content, &said.reasoning]
            .into_iter()
            .find_map(|it| it.as_str().filter(|words| !words.is_empty()));
        if let Some(words) = thought {
            self.come = Come::Part;
            on(Delta::Reasoning(words));
        }
        for value in [&said.content, &said.refusal] {
            for words in texts(value).filter(|words| !words.is_empty()) {
                self.come = Come::Part;
                self.text.push_str(words);
                on(Delta::Text(words));
            }
        }
        let fragments = said.tool_calls.unwrap_or_default();
        if !fragments.is_empty() {
            self.come = Come::Part;
        }
        self.calls.push(fragments)
    }

    /// Servers count at the end, or in every part the sum so far, under one of two names.
    fn count(&mut self, usage: &Value) {
        let counted = |names: [&str; 2]| {
            names
                .iter()
                .find_map(|name| usage.get(name).and_then(Value::as_u64))
                .unwrap_or(0)
        };
        let prompt = counted(["prompt_tokens", "input_tokens"]);
        let completion = counted(["completion_tokens", "output_tokens"]);
        self.usage.prompt_tokens = self.usage.prompt_tokens.max(prompt);
        self.usage.completion_tokens = self.usage.completion_tokens.max(completion);
    }
}

/// Returns the texts of a content: words, or a list of parts of which some are words.
fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    content.as_str().into_iter().chain(
        parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str)),
    )
}

#[cfg(test)]
mod tests;
