//! Policy rules: by tool, command shape, path and recipient, each with examples.
//!
//! All conditions of a rule must hold. A rule that forbids or asks holds if *any* path, recipient
//! or command of the call fits; a rule that permits only if *all* of them do.

use serde_json::Value;

use super::shape::{Shape, quoted};
use crate::call::ToolCall;
use crate::glob::star_matches;
use crate::knowledge::{ArgumentRole, tool};
use crate::place::{Ground, display, lies_in, mark_home, normalise};
use crate::shell::parse::parse;
use crate::shell::syntax::{Command, Simple};

/// Values of one call that are compared with a rule.
const VALUES_MAX: usize = 1000;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Refuses.
    Deny,
    /// Asks.
    Ask,
    /// Lets run, unless it is critical.
    Allow,
}

/// One rule of the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRule {
    /// Its name in errors and traces.
    pub name: String,
    /// The tool; `*` stands for any part of the name.
    pub tool: Option<String>,
    /// The command.
    pub command: Option<Shape>,
    /// A path: `*` within one name, `**` any number of names, `~` a home.
    pub path: Option<String>,
    /// Who receives a message; `*` stands for any part.
    pub recipient: Option<String>,
    /// Only of rules that permit: the command has these words and no others.
    pub exact: bool,
    /// Only of rules that permit: the call is made from this directory or below it. The directory
    /// is the asker's word, so it may narrow a permission and must not narrow a prohibition.
    pub cwd: Option<String>,
    /// Calls it must hold for.
    pub matches: Vec<Example>,
    /// Calls it must not hold for.
    pub not_match: Vec<Example>,
}

/// An example of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// The command, path, recipient or tool, by what the rule is about.
    Text(String),
    /// A whole call.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Value,
    },
}

/// A rule does not do what its examples say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    /// It should hold and does not.
    #[error("rule `{rule}` does not match its example `{example}`")]
    Missed {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
    /// It should not hold and does.
    #[error("rule `{rule}` matches `{example}`, which is listed under not_match")]
    Overdone {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}

impl PolicyRule {
    /// Whether the rule, which does `kind`, holds for `call`.
    pub fn matches(&self, call: &ToolCall, kind: RuleKind) -> bool {
        let tool = self
            .tool
            .as_ref()
            .is_none_or(|tool| star_matches(tool, &call.tool));
        tool && self.is_made_here(call, kind)
            && self
                .command
                .as_ref()
                .is_none_or(|shape| self.command_fits(shape, call, kind))
            && self
                .path
                .as_ref()
                .is_none_or(|path| path_fits(path, call, kind))
            && self
                .recipient
                .as_ref()
                .is_none_or(|who| recipient_fits(who, call, kind))
    }

    /// Whether the call is made from where the rule permits it.
    fn is_made_here(&self, call: &ToolCall, kind: RuleKind) -> bool {
        match (&self.cwd, kind) {
            (None, _) | (Some(_), RuleKind::Deny | RuleKind::Ask) => true,
            (Some(directory), RuleKind::Allow) => {
                let cwd = call.cwd.as_deref();
                cwd.is_some_and(|cwd| lies_in(cwd, directory))
            }
        }
    }

    fn command_fits(&self, shape: &Shape, call: &ToolCall, kind: RuleKind) -> bool {
        let commands = commands(call);
        match kind {
            RuleKind::Deny | RuleKind::Ask => {
                commands.iter().any(|command| shape.found_in(command))
            }
            RuleKind::Allow => {
                let fits = |command: &String| {
                    if self.exact {
                        shape.equals(command)
                    } else {
                        shape.covers(command)
                    }
                };
                !commands.is_empty() && commands.iter().all(fits)
            }
        }
    }

    /// Checks the examples of the rule, which does `kind`.
    pub fn check(&self, kind: RuleKind) -> Result<(), ExampleError> {
        let names = |example: &Example| (self.name.clone(), example.to_string());
        if let Some(missed) = self
            .matches
            .iter()
            .find(|it| !self.matches(&self.call(it), kind))
        {
            let (rule, example) = names(missed);
            return Err(ExampleError::Missed { rule, example });
        }
        if let Some(overdone) = self
            .not_match
            .iter()
            .find(|it| self.matches(&self.call(it), kind))
        {
            let (rule, example) = names(overdone);
            return Err(ExampleError::Overdone { rule, example });
        }
        Ok(())
    }

    /// Returns the call an example stands for.
    fn call(&self, example: &Example) -> ToolCall {
        let text = match example {
            Example::Call { tool, args } => {
                return ToolCall {
                    tool: tool.clone(),
                    args: args.clone(),
                    cwd: self.cwd.clone(),
                    ..ToolCall::default()
                };
            }
            Example::Text(text) => text.clone(),
        };
        let (usual, argument) = if self.command.is_some() {
            ("terminal", "command")
        } else if self.path.is_some() {
            ("write_file", "path")
        } else if self.recipient.is_some() {
            ("send_message", "to")
        } else {
            return ToolCall {
                tool: text,
                cwd: self.cwd.clone(),
                ..ToolCall::default()
            };
        };
        let tool = self.tool.as_ref().filter(|tool| !tool.contains('*'));
        let tool = tool.map_or(usual, String::as_str).to_owned();
        ToolCall {
            tool,
            args: serde_json::json!({ argument: text }),
            cwd: self.cwd.clone(),
            ..ToolCall::default()
        }
    }
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Call { tool, args } => write!(f, "{tool} {args}"),
        }
    }
}

/// Returns the commands of `call`; one that is given as a list of words is written out.
fn commands(call: &ToolCall) -> Vec<String> {
    let runs = |role: Option<ArgumentRole>, name: &str| {
        role.map_or(matches!(name, "command" | "cmd"), |role| {
            role == ArgumentRole::Shell
        })
    };
    arguments(call, runs)
        .flat_map(|value| match value {
            Value::Array(words) => {
                let words = words.iter().filter_map(Value::as_str);
                let quoted = words.map(|word| format!("'{}'", word.replace('\'', r"'\''")));
                vec![quoted.collect::<Vec<_>>().join(" ")]
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => texts(value),
        })
        .collect()
}

fn path_fits(pattern: &str, call: &ToolCall, kind: RuleKind) -> bool {
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    let pattern = display(&normalise(&mark_home(pattern)));
    let pattern: Vec<&str> = pattern.split('/').collect();
    let fits = |path: &str| {
        let place = ground.place(&mark_home(path));
        let names: Vec<&str> = place.path.split('/').collect();
        names_fit(&pattern, &names)
    };
    let named = values(call, |role, name| {
        role.map_or_else(
            || name.contains("path") || matches!(name, "file" | "filename" | "directory" | "dir"),
            |role| {
                matches!(
                    role,
                    ArgumentRole::Read
                        | ArgumentRole::Write
                        | ArgumentRole::Edit
                        | ArgumentRole::Delete
                        | ArgumentRole::Attachment
                )
            },
        )
    });
    match kind {
        RuleKind::Deny | RuleKind::Ask => {
            named.iter().any(|path| fits(path)) || command_words(call).iter().any(|word| fits(word))
        }
        // A path in a command does not say what else the command does.
        RuleKind::Allow => {
            let runs = call.args.get("command").is_some() || call.args.get("cmd").is_some();
            !runs && !named.is_empty() && named.iter().all(|path| fits(path))
        }
    }
}

fn recipient_fits(pattern: &str, call: &ToolCall, kind: RuleKind) -> bool {
    let pattern = pattern.to_lowercase();
    let recipients = values(call, |role, name| {
        role.map_or_else(
            || {
                matches!(
                    name,
                    "to" | "cc"
                        | "bcc"
                        | "recipient"
                        | "recipients"
                        | "channel"
                        | "chat_id"
                        | "target"
                )
            },
            |role| role == ArgumentRole::Recipient,
        )
    });
    let fits = |who: &String| star_matches(&pattern, &who.to_lowercase());
    match kind {
        RuleKind::Deny | RuleKind::Ask => recipients.iter().any(fits),
        RuleKind::Allow => !recipients.is_empty() && recipients.iter().all(fits),
    }
}

/// Returns the texts of the arguments that `wanted` picks; lists count by their items.
fn values(call: &ToolCall, wanted: impl Fn(Option<ArgumentRole>, &str) -> bool) -> Vec<String> {
    arguments(call, wanted)
        .flat_map(texts)
        .take(VALUES_MAX)
        .collect()
}

/// Returns the arguments that `wanted` picks by role, or by name where no role is known.
fn arguments(
    call: &ToolCall,
    wanted: impl Fn(Option<ArgumentRole>, &str) -> bool,
) -> impl Iterator<Item = &Value> {
    let roles = tool(&call.tool).map_or([].as_slice(), |row| row.args);
    let role = move |name: &str| {
        roles
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, role)| *role)
    };
    let all = call.args.as_object().into_iter().flatten();
    all.filter(move |(name, _)| wanted(role(name), name))
        .map(|(_, value)| value)
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items
            .iter()
            .take(VALUES_MAX)
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Object(_) => Vec::new(),
    }
}

/// Returns the literal words and redirection targets of the commands of `call`.
fn command_words(call: &ToolCall) -> Vec<String> {
    let commands = commands(call);
    let mut words = Vec::new();
    for script in commands.iter().filter_map(|command| parse(command).ok()) {
        block_words(&script.block, &mut words);
    }
    words
}

fn block_words(block: &[Command], words: &mut Vec<String>) {
    for command in block {
        if words.len() >= VALUES_MAX {
            return;
        }
        match command {
            Command::Simple(simple) => simple_words(simple, words),
            Command::Pipeline(commands) | Command::AndOr(commands, _) => {
                block_words(commands, words);
            }
            Command::Group {
                body, redirects, ..
            }
            | Command::Loop {
                body, redirects, ..
            } => {
                block_words(body, words);
                words.extend(
                    redirects
                        .iter()
                        .filter_map(|redirect| quoted(&redirect.target)),
                );
            }
            Command::Branches {
                blocks, redirects, ..
            } => {
                for block in blocks {
                    block_words(block, words);
                }
                words.extend(
                    redirects
                        .iter()
                        .filter_map(|redirect| quoted(&redirect.target)),
                );
            }
            Command::Function { body, .. } | Command::Background(body) | Command::Not(body) => {
                block_words(std::slice::from_ref(body), words);
            }
            Command::Test { .. } => {}
        }
    }
}

fn simple_words(simple: &Simple, words: &mut Vec<String>) {
    for word in simple.words.iter().filter_map(quoted) {
        // `of=/dev/sda`, `--output=/etc/x`: the path stands behind the sign.
        if let Some((_, value)) = word.split_once('=') {
            words.push(value.to_owned());
        }
        words.push(word);
    }
    words.extend(
        simple
            .redirects
            .iter()
            .filter_map(|redirect| quoted(&redirect.target)),
    );
}

/// Whether the names of a path fit those of a pattern; `**` stands for any number of names.
///
/// Only the last `**` is tried again, as a star in a text, so the time is bounded by the product.
fn names_fit(pattern: &[&str], names: &[&str]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut any: Option<(usize, usize)> = None;
    while let Some(name) = names.get(seen) {
        match (pattern.get(at), any) {
            (Some(&"**"), _) => {
                any = Some((at + 1, seen));
                at += 1;
            }
            (Some(piece), _) if star_matches(piece, name) => {
                at += 1;
                seen += 1;
            }
            (_, Some((after, from))) => {
                at = after;
                seen = from + 1;
                any = Some((after, from + 1));
            }
            (_, None) => return false,
        }
    }
    pattern
        .get(at..)
        .unwrap_or(&[])
        .iter()
        .all(|piece| *piece == "**")
}
