//! Standing permission: what a *session* or *always* leaves behind, and which calls lie inside it.
//!
//! A grant never widens: it covers only calls whose effects and targets lie inside what its words
//! say. It belongs to one key, and to one session unless it was given for good; it knows the tool's
//! definition it was given for.

use serde::{Deserialize, Serialize};

use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::digest::Digest;
use crate::id::{ApprovalId, GrantId, KeyId};
use crate::time::UnixMillis;
use crate::verdict::Ruling;

/// Which calls a grant is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// Exactly these arguments of this tool, from this directory.
    Exact {
        /// The tool.
        tool: String,
        /// SHA-256 of the canonical arguments.
        arguments: Digest,
        /// The directory.
        cwd: Option<String>,
    },
    /// Shell commands: every simple command begins with one of these word lists, nothing else in it.
    Command {
        /// The tool.
        tool: String,
        /// Program, subcommand and flags; literal targets too where the command is dangerous.
        shapes: Vec<CommandShape>,
        /// The directory it is bound to.
        cwd: Option<String>,
    },
    /// A tool on paths under a directory.
    Path {
        /// The tool.
        tool: String,
        /// The directory, normalised.
        prefix: String,
    },
    /// A tool to one recipient.
    Recipient {
        /// The tool.
        tool: String,
        /// The recipient, exactly.
        recipient: String,
    },
}

/// The words a simple command must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommandShape {
    /// The words it begins with.
    pub words: Vec<String>,
    /// Whether more words may follow.
    pub open: bool,
}

/// One grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Which calls it is about.
    pub scope: Scope,
    /// Whose calls.
    pub key: KeyId,
    /// In which session; `None`: in any of that key.
    pub session: Option<String>,
    /// Hash of the tool's definition it was given for.
    pub tool_definition: Option<Digest>,
    /// Until when.
    pub expires_at: Option<UnixMillis>,
    /// How often still.
    pub uses_left: Option<u32>,
    /// How often it was used.
    pub uses: u64,
    /// When it was used last.
    pub used_at: Option<UnixMillis>,
    /// Who gave it.
    pub by: String,
    /// When.
    pub given_at: UnixMillis,
    /// In answer to which question.
    pub approval_id: ApprovalId,
    /// Who took it back, and when.
    pub revoked: Option<(String, UnixMillis)>,
}

/// Who calls, as far as grants care.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The key.
    pub key: &'a KeyId,
    /// The session.
    pub session: &'a str,
    /// Hash of the tool's definition.
    pub tool_definition: Option<Digest>,
}

impl Grant {
    /// Whether it still holds at `now`.
    pub fn is_live(&self, now: UnixMillis) -> bool {
        self.revoked.is_none()
            && self.expires_at.is_none_or(|end| now < end)
            && self.uses_left != Some(0)
    }

    /// Whether it lets `call` run. Only for calls that no rule before it decides.
    pub fn covers(
        &self,
        caller: Caller<'_>,
        call: &ToolCall,
        assessment: &Assessment,
        now: UnixMillis,
    ) -> bool {
        self.is_live(now)
            && self.key == *caller.key
            && self
                .session
                .as_ref()
                .is_none_or(|session| session == caller.session)
            && self.tool_definition == caller.tool_definition
            && self.scope.covers(call, assessment)
    }
}

/// Returns the grants that may be offered for `call`, the narrowest first; none if it must be
/// asked about every time.
pub fn candidates(call: &ToolCall, assessment: &Assessment, ruling: &Ruling) -> Vec<Scope> {
    let _ = (call, assessment, ruling);
    Vec::new()
}

impl Scope {
    /// Whether `call` lies inside.
    pub fn covers(&self, call: &ToolCall, assessment: &Assessment) -> bool {
        let _ = (call, assessment);
        false
    }

    /// Returns what it lets run, in words.
    pub fn words(&self) -> String {
        String::new()
    }
}
