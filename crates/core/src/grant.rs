//! `Grant`: what *session* and *always* create, and which calls it covers.
//!
//! A grant never widens: it covers only calls whose effects and targets lie inside what its words
//! say. It belongs to one key, and to one session unless it was given for good; it knows the tool's
//! definition it was given for.
//!
//! Calls are compared as they are parsed, never as text: [`form`] says what of a call a grant can
//! be bound to, and that some calls can be bound to nothing and are asked about every time;
//! [`command`] does so for shell text; [`handle`] says of which words nobody knows what they will mean; [`reason`] is the one form in
//! which a command may be covered among others, and only for a session; [`within`] holds the line
//! that no covered call may do more, or anything worse, than the call the grant was given for.

mod command;
mod form;
mod handle;
mod reason;
mod within;
mod words;

use serde::{Deserialize, Serialize};

use crate::assessment::{Assessment, SideEffect};
use crate::call::ToolCall;
use crate::canonical::canonical;
use crate::card::{Redacts, one_line, without_secrets};
use crate::digest::Digest;
use crate::id::{ApprovalId, GrantId, KeyId};
use crate::time::UnixMillis;
use crate::verdict::{Rule, Ruling, Verdict};

use form::Form;

pub use command::CommandShape;
pub use within::Within;

/// Which calls a grant is about. In every kind `within` is what the call it was given for would
/// do: no covered call does anything else or worse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// Exactly these arguments of this tool, from this directory.
    Exact {
        /// The tool.
        tool: String,
        /// SHA-256 of the canonical arguments.
        arguments: Digest,
        /// The call on one line, for people.
        shown: String,
        /// The directory.
        cwd: Option<String>,
        /// Its rights.
        within: Within,
    },
    /// Shell commands: these simple commands in this order and nothing beside them.
    Command {
        /// The tool.
        tool: String,
        /// The simple commands, each with all its words.
        shapes: Vec<CommandShape>,
        /// The directory it is bound to.
        cwd: Option<String>,
        /// SHA-256 of the arguments beside the command.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// Shell commands: this program, subcommand and options on ordinary files of the workspace, for
    /// the same reason. Only for a session.
    Reason {
        /// The tool.
        tool: String,
        /// The commands that were the reason, without their operands.
        shapes: Vec<CommandShape>,
        /// The other commands of the call, with all their words.
        beside: Vec<CommandShape>,
        /// The workspace.
        workspace: String,
        /// The directory it is bound to.
        cwd: Option<String>,
        /// Code and cause of the findings that made it a question.
        causes: Vec<String>,
        /// SHA-256 of the arguments beside the command.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// A tool on paths under a directory.
    Path {
        /// The tool.
        tool: String,
        /// The directory, normalised.
        prefix: String,
        /// SHA-256 of the arguments beside paths and content.
        others: Digest,
        /// Its rights.
        within: Within,
    },
    /// A tool to one recipient.
    Recipient {
        /// The tool.
        tool: String,
        /// The recipient, exactly.
        recipient: String,
        /// SHA-256 of the arguments beside recipient and text.
        others: Digest,
        /// Its rights.
        within: Within,
    },
}

/// One grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Which calls it is about.
    pub scope: Scope,
    /// Calls by agent.
    pub key: KeyId,
    /// In which session; `None`: in any of that key.
    pub session: Option<String>,
    /// Hash of the tool's definition it was given for.
    pub tool_definition: Option<Digest>,
    /// Who runs it.
    pub executor: String,
    /// Until when.
    pub expires_at: Option<UnixMillis>,
    /// How many uses are left.
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
    /// Who would run it.
    pub executor: &'a str,
    /// Whether a rule of the owner asks about the call. A grant for one reason does not lift that.
    pub is_asked_by_rule: bool,
    /// Whether the same was denied a moment ago. A grant that names no exact call does not lift that.
    pub is_denied: bool,
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
            && self.executor == caller.executor
            && (!self.scope.is_for_session() || self.session.is_some() && !caller.is_asked_by_rule)
            && (!caller.is_denied || self.scope.names_one_call())
            && self.scope.covers(call, assessment)
    }
}

/// Returns the grants that may be offered for `call`, the narrowest first; none if it must be
/// asked about every time.
pub fn candidates(call: &ToolCall, assessment: &Assessment, ruling: &Ruling) -> Vec<Scope> {
    if ruling.verdict != Verdict::Ask || ruling.once_only {
        return Vec::new();
    }
    let (Some(form), Ok(arguments)) = (Form::of(call, assessment), canonical(&call.args)) else {
        return Vec::new();
    };
    let tool = call.tool.clone();
    let cwd = call.cwd.clone();
    let within = Within::of(assessment);
    let exact = Scope::Exact {
        tool: tool.clone(),
        arguments: Digest::of(&arguments),
        shown: one_line(call, Redacts::Secrets),
        cwd: cwd.clone(),
        within: within.clone(),
    };
    // What always asks, or is not known, is granted as it stands or not at all.
    let mild = assessment.side_effect < SideEffect::Critical
        && !assessment.marks.unreadable
        && !assessment.marks.dangerous_terminal;
    match form {
        Form::Command {
            shapes,
            spans,
            others,
        } => {
            // A grant is listed word by word; a secret among the words would be listed too.
            let written = words::written(&shapes);
            if without_secrets(&written, Redacts::Secrets) != written {
                return vec![exact];
            }
            // The exact words take the place of the exact arguments: agents describe the same
            // command in other words each time.
            let opened = mild
                .then(|| command::opened(&shapes, call, &within))
                .flatten();
            let scope = |shapes| Scope::Command {
                tool: tool.clone(),
                shapes,
                cwd: cwd.clone(),
                others,
                within: within.clone(),
            };
            let commands: Vec<_> = shapes.iter().cloned().zip(spans).collect();
            // What the owner's rules ask about is lifted call by call.
            let reason = (ruling.rule != Rule::PolicyRule)
                .then(|| reason::parts(&commands, call, assessment))
                .flatten();
            let reason = reason.map(|parts| Scope::Reason {
                tool: tool.clone(),
                shapes: parts.open,
                beside: parts.beside,
                workspace: parts.workspace,
                cwd: cwd.clone(),
                causes: parts.causes,
                others,
                within: within.clone().and(reason::SHOWING),
            });
            let exact = [Some(shapes), opened].into_iter().flatten().map(scope);
            exact.chain(reason).collect()
        }
        Form::Files {
            directory: Some(prefix),
            others,
            ..
        } if mild => vec![
            exact,
            Scope::Path {
                tool,
                prefix,
                others,
                within,
            },
        ],
        Form::Message { recipient, others } if mild => vec![
            exact,
            Scope::Recipient {
                tool,
                recipient,
                others,
                within,
            },
        ],
        Form::Files { .. } | Form::Message { .. } | Form::Other => vec![exact],
    }
}

impl Scope {
    /// Whether `call` lies inside.
    pub fn covers(&self, call: &ToolCall, assessment: &Assessment) -> bool {
        if self.tool() != call.tool || !self.within().holds(assessment) {
            return false;
        }
        let Some(form) = Form::of(call, assessment) else {
            return false;
        };
        match (self, form) {
            (Self::Exact { arguments, cwd, .. }, _) => {
                *cwd == call.cwd
                    && canonical(&call.args).is_ok_and(|bytes| Digest::of(&bytes) == *arguments)
            }
            (
                Self::Command {
                    shapes,
                    cwd,
                    others,
                    ..
                },
                Form::Command {
                    shapes: given,
                    others: other,
                    ..
                },
            ) => {
                *cwd == call.cwd
                    && *others == other
                    && shapes.len() == given.len()
                    && shapes
                        .iter()
                        .zip(&given)
                        .all(|(shape, given)| shape.covers(given, call))
            }
            (
                Self::Reason {
                    shapes,
                    beside,
                    workspace,
                    cwd,
                    causes,
                    others,
                    ..
                },
                Form::Command {
                    shapes: given,
                    others: other,
                    ..
                },
            ) => {
                let commands = (shapes.as_slice(), beside.as_slice());
                let limits = (workspace.as_str(), causes.as_slice());
                *cwd == call.cwd
                    && *others == other
                    && reason::covers(commands, limits, &given, call, assessment)
            }
            (
                Self::Path { prefix, others, .. },
                Form::Files {
                    paths,
                    others: beside,
                    ..
                },
            ) => *others == beside && paths.iter().all(|path| form::lies_in(path, prefix)),
            (
                Self::Recipient {
                    recipient, others, ..
                },
                Form::Message {
                    recipient: given,
                    others: beside,
                },
            ) => *others == beside && *recipient == given,
            (
                Self::Command { .. }
                | Self::Reason { .. }
                | Self::Path { .. }
                | Self::Recipient { .. },
                Form::Command { .. } | Form::Files { .. } | Form::Message { .. } | Form::Other,
            ) => false,
        }
    }

    /// Whether it may be given only for a session.
    pub const fn is_for_session(&self) -> bool {
        match self {
            Self::Reason { .. } => true,
            Self::Exact { .. }
            | Self::Command { .. }
            | Self::Path { .. }
            | Self::Recipient { .. } => false,
        }
    }

    /// Whether it was given for one call, word by word. A scope that leaves a file, a recipient or a
    /// text open covers calls nobody has seen, so a person's *no* to one of those holds against it.
    pub fn names_one_call(&self) -> bool {
        match self {
            Self::Exact { .. } => true,
            Self::Command { shapes, .. } => shapes.iter().all(|shape| shape.open.is_none()),
            Self::Reason { .. } | Self::Path { .. } | Self::Recipient { .. } => false,
        }
    }

    /// Returns the tool it is about.
    pub fn tool(&self) -> &str {
        match self {
            Self::Exact { tool, .. }
            | Self::Command { tool, .. }
            | Self::Reason { tool, .. }
            | Self::Path { tool, .. }
            | Self::Recipient { tool, .. } => tool,
        }
    }

    /// Returns what no covered call goes beyond.
    pub const fn within(&self) -> &Within {
        match self {
            Self::Exact { within, .. }
            | Self::Command { within, .. }
            | Self::Reason { within, .. }
            | Self::Path { within, .. }
            | Self::Recipient { within, .. } => within,
        }
    }
}
