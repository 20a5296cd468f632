//! The parts of a call to which a grant can be bound. Some calls have none.

use serde_json::{Map, Value};

use super::command::{self, CommandShape};
use super::handle;
use crate::act::profile;
use crate::assess::FINDINGS_MAX;
use crate::assess::told::{Argument, Told, told};
use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::canonical::canonical;
use crate::digest::Digest;
use crate::knowledge::{ArgumentRole, Effect, PathKind};
use crate::place::Ground;
use crate::shell::syntax::Span;

/// Arguments of a terminal that change from call to call and say nothing about what runs.
const SAY_NOTHING: &[&str] = &[
    "description",
    "explanation",
    "timeout",
    "timeout_ms",
    "timeout_seconds",
];
/// Fewest names a directory must have for a grant on what lies in it.
const DIRECTORY_NAMES_MIN: usize = 2;

/// A call as grants see it.
#[derive(Debug)]
pub(super) enum Form {
    /// A terminal's command.
    Command {
        /// Its simple commands.
        shapes: Vec<CommandShape>,
        /// Where they stand in its text.
        spans: Vec<Span>,
        /// The other arguments.
        others: Digest,
    },
    /// A tool on files.
    Files {
        /// The paths, absolute and normalised.
        paths: Vec<String>,
        /// The directory all of them lie in, where a grant may be about it.
        directory: Option<String>,
        /// The other arguments.
        others: Digest,
    },
    /// A message to one recipient.
    Message {
        /// Who.
        recipient: String,
        /// The other arguments.
        others: Digest,
    },
    /// Anything else.
    Other,
}

impl Form {
    /// Returns `call` as grants see it; `None` if it must be asked about every time.
    pub(super) fn of(call: &ToolCall, assessment: &Assessment) -> Option<Self> {
        let marks = assessment.marks;
        let hidden = profile(Effect::Exec).code;
        let barred = marks.floor
            || marks.guard
            || marks.money
            || assessment.crisis_sensitive
            || assessment.findings.len() >= FINDINGS_MAX
            || assessment.findings.iter().any(|found| found.code == hidden);
        // Without arguments that can be read there is nothing to bind to.
        if barred || !(call.args.is_object() || call.args.is_string()) {
            return None;
        }
        let told = told(call)?;
        let unseen = |argument: &Argument| {
            matches!(
                argument.role,
                Some(
                    ArgumentRole::Code
                        | ArgumentRole::Tool
                        | ArgumentRole::Arguments
                        | ArgumentRole::Attachment
                )
            ) || argument.role == Some(ArgumentRole::Shell) && !told.is_terminal()
        };
        if told.args.iter().any(unseen) {
            return None;
        }
        if told.is_terminal() {
            return Self::command(&told, call);
        }
        if handle::in_arguments(&call.args) {
            return None;
        }
        Some(
            Self::message(&told)
                .or_else(|| Self::files(&told, call))
                .unwrap_or(Self::Other),
        )
    }

    fn command(told: &Told, call: &ToolCall) -> Option<Self> {
        if told.args.iter().any(Argument::feeds_a_command) {
            return None;
        }
        let mut commands = told.args.iter().filter_map(Argument::shell_text);
        let text = commands.next()?;
        if commands.next().is_some() {
            return None;
        }
        let beside = |argument: &Argument| {
            argument.role != Some(ArgumentRole::Shell)
                && !SAY_NOTHING.contains(&argument.name.as_str())
        };
        let (shapes, spans) = command::shapes(&text, call)?.into_iter().unzip();
        Some(Self::Command {
            shapes,
            spans,
            others: others(told, beside)?,
        })
    }

    fn message(told: &Told) -> Option<Self> {
        let mut recipients = told.with(ArgumentRole::Recipient);
        let recipient = recipients.next()?.value.as_str()?.to_owned();
        if recipients.next().is_some() || recipient.trim().is_empty() {
            return None;
        }
        let beside = |argument: &Argument| {
            !matches!(
                argument.role,
                Some(ArgumentRole::Recipient | ArgumentRole::Body)
            )
        };
        Some(Self::Message {
            recipient,
            others: others(told, beside)?,
        })
    }

    fn files(told: &Told, call: &ToolCall) -> Option<Self> {
        let is_path = |argument: &Argument| {
            matches!(
                argument.role,
                Some(
                    ArgumentRole::Read
                        | ArgumentRole::Write
                        | ArgumentRole::Edit
                        | ArgumentRole::Delete
                )
            )
        };
        // A list of files with their content names paths of its own.
        let named_inside = |argument: &Argument| {
            argument.role == Some(ArgumentRole::Content) && !argument.value.is_string()
        };
        let mut paths = Vec::new();
        for argument in told.args.iter().filter(|argument| is_path(argument)) {
            for path in argument.words()? {
                paths.push(absolute(call.cwd.as_deref(), &path)?);
            }
        }
        if paths.is_empty() || told.args.iter().any(named_inside) {
            return None;
        }
        let beside = |argument: &Argument| {
            !is_path(argument) && argument.role != Some(ArgumentRole::Content)
        };
        let others = others(told, beside)?;
        let directory = directory(&paths, call);
        Some(Self::Files {
            paths,
            directory,
            others,
        })
    }
}

/// Returns the hash of the arguments that `beside` picks.
fn others(told: &Told, beside: impl Fn(&Argument) -> bool) -> Option<Digest> {
    let picked: Map<String, Value> = told
        .args
        .iter()
        .filter(|argument| beside(argument))
        .map(|argument| (argument.name.clone(), argument.value.clone()))
        .collect();
    canonical(&Value::Object(picked))
        .ok()
        .map(|bytes| Digest::of(&bytes))
}

/// Returns the directory all of `paths` lie in directly, if it is an ordinary one: neither
/// sensitive nor above the workspace.
fn directory(paths: &[String], call: &ToolCall) -> Option<String> {
    let parent = |path: &String| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let directory = parent(paths.first()?)?;
    if !paths
        .iter()
        .all(|path| parent(path).as_ref() == Some(&directory))
    {
        return None;
    }
    let place = Ground::new(call.cwd.as_deref(), call.workspace.as_deref()).place(&directory);
    let ordinary = matches!(
        place.kind,
        PathKind::Document | PathKind::Generated | PathKind::Temp
    );
    let above = [&call.cwd, &call.workspace]
        .into_iter()
        .flatten()
        .any(|inner| *inner != directory && lies_in(inner, &directory));
    let names = directory.split('/').filter(|name| !name.is_empty()).count();
    (ordinary && !above && names >= DIRECTORY_NAMES_MIN).then_some(directory)
}

/// Returns `path` as seen from the root. Homes and `..` are left to whoever knows where they lead.
pub(super) fn absolute(cwd: Option<&str>, path: &str) -> Option<String> {
    let path = path.trim();
    // Two slashes in front mean another root to some programs.
    let whole = if path.starts_with('/') && !path.starts_with("//") {
        path.to_owned()
    } else if path.is_empty() || path.starts_with(['/', '~', '$', '%']) || path.contains("://") {
        return None;
    } else {
        format!("{}/{path}", cwd.filter(|cwd| cwd.starts_with('/'))?)
    };
    if whole.contains(['\\', '*', '?', '[', '{', '\0']) {
        return None;
    }
    let names: Vec<&str> = whole
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .collect();
    (!names.contains(&"..")).then(|| format!("/{}", names.join("/")))
}

/// Whether `path` is `directory` or lies in it.
pub(super) fn lies_in(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
