//! Scopes for one reason: the same program, subcommand and options on ordinary files of one
//! workspace, for the rest of a session.
//!
//! Agents put the command that is a question among others, and the others change from call to call.
//! So such a scope is about the commands that were the reason. Their operands are open to ordinary
//! files of the workspace; what else stood in the call is kept word by word, and a later call may
//! leave it out or add commands that only show something.
//!
//! INVARIANT: nothing critical, outbound, unreadable, inline or unknown is offered one, and no scope
//! covers a call whose worst findings have another cause.

use super::command::{CommandShape, MOVING, ON_NAMED_FILES};
use super::form::{absolute, lies_in};
use crate::act::profile;
use crate::assessment::{Assessment, Finding, Severity, SideEffect};
use crate::call::ToolCall;
use crate::knowledge::names::COMPANIONS;
use crate::knowledge::{Effect, PathKind, program};
use crate::place::Ground;
use crate::policy::shape::base_name;
use crate::shell::syntax::Span;

/// What may happen beside a covered command. A finding of these that may be a reason of its own is another cause.
pub(super) const SHOWING: &[Effect] = &[Effect::Compute, Effect::Inspect, Effect::Read];
/// Severity from which a finding may be the reason of a question.
const REASON: Severity = Severity::Medium;

/// The commands of a granted call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Those that are the reason, their operands open.
    pub(super) open: Vec<CommandShape>,
    /// The others, with all their words.
    pub(super) beside: Vec<CommandShape>,
    /// The workspace.
    pub(super) workspace: String,
    /// Why it was a question.
    pub(super) causes: Vec<String>,
}

/// Returns the parts of a call for which a scope may be offered.
pub(super) fn parts(
    commands: &[(CommandShape, Span)],
    call: &ToolCall,
    assessment: &Assessment,
) -> Option<Parts> {
    let marks = assessment.marks;
    let barred = assessment.side_effect >= SideEffect::External
        || assessment.outbound
        || assessment.crisis_sensitive
        || marks.unreadable
        || marks.floor
        || marks.guard
        || marks.money;
    let workspace = workspace(call)?;
    if barred || commands.iter().any(|(shape, _)| shape.moves()) {
        return None;
    }
    let mut parts = Parts {
        open: Vec::new(),
        beside: Vec::new(),
        workspace,
        causes: causes(assessment),
    };
    for (shape, span) in commands {
        let mut reasons = reasons(assessment).filter(|found| lies_on(found, *span));
        let opened = opened(shape, call, &parts.workspace);
        // What is not about the files it names is kept as it stands, unless it alone would ask.
        if reasons.clone().next().is_none() {
            parts.beside.push(unjoined(shape));
        } else if let Some(opened) = opened.filter(|_| reasons.clone().all(is_on_files)) {
            if !parts.open.contains(&opened) {
                parts.open.push(opened);
            }
        } else if reasons.any(|found| found.severity > REASON) {
            return None;
        } else {
            parts.beside.push(unjoined(shape));
        }
    }
    // A reason that belongs to no command is not known well enough.
    let placed = |found: &Finding| commands.iter().any(|(_, span)| lies_on(found, *span));
    (!parts.open.is_empty() && reasons(assessment).all(placed)).then_some(parts)
}

/// Whether every command of a call lies inside.
pub(super) fn covers(
    (open, beside): (&[CommandShape], &[CommandShape]),
    (within, known): (&str, &[String]),
    given: &[CommandShape],
    call: &ToolCall,
    assessment: &Assessment,
) -> bool {
    let mut is_about_it = false;
    let every = given.iter().all(|shape| {
        let opened = opened(shape, call, within);
        if opened.is_some_and(|opened| open.contains(&opened)) {
            is_about_it = true;
            return true;
        }
        beside.contains(&unjoined(shape)) || shape.is_companion()
    });
    let same_causes = causes(assessment).iter().all(|cause| known.contains(cause));
    let moves = given.iter().any(CommandShape::moves);
    let here = workspace(call).is_some_and(|workspace| workspace == within);
    every && is_about_it && same_causes && here && !moves
}

/// Returns the workspace of a call, if it counts as one.
fn workspace(call: &ToolCall) -> Option<String> {
    let named = call.workspace.as_deref().or(call.cwd.as_deref())?;
    let directory = absolute(None, named)?;
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    (ground.place(&directory).inside == Some(true)).then_some(directory)
}

fn reasons(assessment: &Assessment) -> impl Iterator<Item = &Finding> + Clone {
    let found = assessment.findings.iter();
    found.filter(|found| found.severity >= REASON)
}

/// Returns the causes of what may be the reason of a question, sorted.
fn causes(assessment: &Assessment) -> Vec<String> {
    let named = |found: &Finding| format!("{}: {}", found.code, found.cause);
    let mut causes: Vec<String> = reasons(assessment).map(named).collect();
    causes.sort();
    causes.dedup();
    causes
}

fn lies_on(found: &Finding, command: Span) -> bool {
    found
        .span
        .is_some_and(|span| command.start <= span.start && span.end <= command.end)
}

fn is_on_files(found: &Finding) -> bool {
    let mut codes = ON_NAMED_FILES.iter().map(|effect| profile(*effect).code);
    codes.any(|code| code == found.code)
}

/// Returns `shape` without what joins it to the command before it. What is fed to it stays.
fn unjoined(shape: &CommandShape) -> CommandShape {
    let is_fed = matches!(shape.join.as_str(), "|" | "|&");
    CommandShape {
        join: if is_fed { "|" } else { "" }.to_owned(),
        ..shape.clone()
    }
}

/// Returns `shape` with its operands open to ordinary files of `workspace`, if all of them are
/// some. Nothing may be redirected, because where that goes is not among the operands.
fn opened(shape: &CommandShape, call: &ToolCall, workspace: &str) -> Option<CommandShape> {
    let (head, rest) = shape.words.split_first()?;
    let known = program(base_name(head))?;
    // A subcommand is one only where no option stands before it.
    let named = rest.first().filter(|_| known.has_subs);
    let is_sub = |word: &String| known.subs.iter().any(|(name, _)| name == word);
    if known.has_subs && !named.is_some_and(is_sub) || !shape.redirects.is_empty() {
        return None;
    }
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    let mut words = vec![head.clone()];
    words.extend(named.cloned());
    let mut operands = 0;
    for word in rest.iter().skip(usize::from(named.is_some())) {
        if word == "-" || word == "--" {
            return None;
        }
        if word.starts_with('-') {
            words.push(word.clone());
            continue;
        }
        // `of=/etc/x` and `host:/x` name another place than the path they look like.
        if word.contains(['=', ':', '@']) {
            return None;
        }
        let path = absolute(call.cwd.as_deref(), word)?;
        let place = ground.place(&path);
        let is_ordinary = matches!(place.kind, PathKind::Document | PathKind::Generated);
        if path == workspace || !lies_in(&path, workspace) || !is_ordinary {
            return None;
        }
        operands += 1;
    }
    let join = unjoined(shape).join;
    (operands > 0 && join.is_empty()).then(|| CommandShape {
        join,
        words,
        redirects: Vec::new(),
        open: Some(workspace.to_owned()),
    })
}

impl CommandShape {
    /// Whether names without a root mean another place after it.
    fn moves(&self) -> bool {
        self.words
            .first()
            .is_some_and(|head| MOVING.contains(&base_name(head)))
    }

    /// Whether it may stand beside anything. A name with a slash may be any program.
    fn is_companion(&self) -> bool {
        let head = self.words.first();
        self.redirects.is_empty() && head.is_some_and(|head| COMPANIONS.contains(head.as_str()))
    }
}
