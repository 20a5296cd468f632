//! The model interface: requests, answers, errors.
//!
//! [`Client`] speaks the streaming form of OpenAI's chat completions to any server that speaks it
//! too. `stream` cuts what arrives into payloads, `accumulate` puts payloads together into one
//! answer, `complaint` reads what a server says went wrong; these three are pure.

mod accumulate;
mod client;
mod complaint;
mod stream;

pub use client::{Client, Endpoint, Limits};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Message, ToolRequest};

/// What a model is asked.
#[derive(Clone, Debug, Default)]
pub struct ChatRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools it may use.
    pub tools: Vec<ToolSchema>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u32>,
}

/// How a tool is described to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// The tool.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Tools it wants to use, each with an id of its own.
    pub tool_requests: Vec<ToolRequest>,
    /// Its token usage.
    pub usage: Usage,
    /// Which model answered.
    pub model: String,
    /// Whether the answer was cut off by a limit.
    pub cut_off: bool,
}

/// Tokens that were read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read.
    pub prompt_tokens: u64,
    /// Written.
    pub completion_tokens: u64,
}

/// A piece of an answer as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Of the text.
    Text(&'a str),
    /// Of what the model thinks aloud.
    Reasoning(&'a str),
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model is configured.
    #[error("no model is configured")]
    NotConfigured,
    /// Its configuration is invalid.
    #[error("{0}")]
    Misconfigured(String),
    /// It cannot be reached.
    #[error("the model cannot be reached: {0}")]
    Unreachable(String),
    /// It takes too long.
    #[error("the model did not answer in time")]
    TimedOut,
    /// It wants us to wait.
    #[error("the model is busy")]
    RateLimited {
        /// For so many seconds, where it says.
        retry_after: Option<u64>,
    },
    /// Somebody has to pay.
    #[error("the model's account is out of credit")]
    OutOfCredit,
    /// It does not take the request.
    #[error("the model refused the request ({status}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its output, shortened.
        message: String,
    },
    /// Its content is invalid.
    #[error("the model's answer cannot be read: {0}")]
    Malformed(String),
    /// The answer broke off.
    #[error("the model's answer was cut off: {0}")]
    BrokeOff(String),
}
