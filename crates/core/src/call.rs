//! `ToolCall`: a call as the agent submitted it; all fields are claims.

use serde_json::Value;

/// Longest arguments that are judged, in bytes of their JSON text.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of arguments.
pub(crate) const ARGUMENT_DEPTH_MAX: usize = 64;
/// Longest definition of a tool that is read, in bytes of its texts and names.
pub(crate) const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// Deepest nesting of a definition.
pub(crate) const DEFINITION_DEPTH_MAX: usize = 32;

/// What an agent wants to do. Everything in it but `pinned` is a claim of the asker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The working directory.
    pub cwd: Option<String>,
    /// The directory inside which ordinary work is no question; the working directory if unsaid.
    pub workspace: Option<String>,
    /// The conversation being answered, oldest first.
    pub replying_to: Vec<Turn>,
    /// Hints of the server that offers the tool.
    pub annotations: Annotations,
    /// The definition of the tool as its server gives it: name, description, JSON schema. It may raise risk and never
    /// lowers it.
    pub definition: Option<Value>,
    /// Whether the owner pinned the server, and its definition of the tool is the accepted one. The gate sets it, by
    /// the owner's configuration; nothing that an asker sends becomes it.
    pub pinned: bool,
}

/// One turn of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Who said it.
    pub from: String,
    /// What was said.
    pub text: String,
}

/// Hints of an MCP server about its own tool. They may raise risk; they lower it only for a server that the owner
/// pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// The tool changes nothing.
    pub read_only: Option<bool>,
    /// The tool destroys something.
    pub destructive: Option<bool>,
    /// Calling it twice is like calling it once.
    pub idempotent: Option<bool>,
    /// The tool reaches beyond the server.
    pub open_world: Option<bool>,
}

impl ToolCall {
    /// Returns the call of a terminal tool for `command`.
    pub fn command(command: impl Into<String>) -> Self {
        Self {
            tool: "terminal".to_owned(),
            args: serde_json::json!({ "command": command.into() }),
            ..Self::default()
        }
    }

    /// Returns the same call from `cwd`.
    #[must_use]
    pub fn from_directory(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}
