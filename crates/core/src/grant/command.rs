//! Shell text that a grant can cover: a sequence of simple commands with literal words. Anything
//! else cannot be granted.

use serde::{Deserialize, Serialize};

use super::form::{absolute, lies_in};
use super::handle;
use super::within::Within;
use crate::act::profile;
use crate::call::ToolCall;
use crate::follow::program::is_cmdlet;
use crate::knowledge::{Effect, PathKind, Program, Reader, Role, Row, Value, program};
use crate::place::Ground;
use crate::policy::shape::{base_name, carries_commands};
use crate::score::Score;
use crate::shell::parse::parse;
use crate::shell::syntax::{Command, Part, Redirect, RedirectKind, Simple, Span, Word};

/// What may stand between two simple commands.
const JOINS: &[&str] = &["&&", "||", "|", "|&", ";"];
/// Commands after which a name without a root means another place.
pub(super) const MOVING: &[&str] = &["cd", "pushd", "popd"];
/// Effects that happen to the files a command names and to nothing else, so that a grant may leave
/// the names open.
pub(super) const ON_NAMED_FILES: &[Effect] = &[
    Effect::Compute,
    Effect::Inspect,
    Effect::Read,
    Effect::Create,
    Effect::Write,
    Effect::Delete,
];
/// How sensitive a file may be for output to be sent into it under a grant.
const OUTPUT_SENSITIVITY_MAX: Score = Score::new(300);

/// One simple command of a granted text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommandShape {
    /// What joins it to the command before it: `&&`, `||`, `|`, `|&`, `;`; empty for the first.
    pub join: String,
    /// Its words; without the operands if it is open.
    pub words: Vec<String>,
    /// Its redirections.
    pub redirects: Vec<String>,
    /// The directory in which its operands may name anything; `None`: there are no others.
    pub open: Option<String>,
}

/// Returns the simple commands of `text` and where they stand; `None` if there is anything in it
/// that only a shell could resolve, or that hides what runs.
pub(super) fn shapes(text: &str, call: &ToolCall) -> Option<Vec<(CommandShape, Span)>> {
    let script = parse(text).ok()?;
    if !script.documents.is_empty() {
        return None;
    }
    let mut simples = Vec::new();
    collect(&script.block, &mut simples)?;
    simples.sort_by_key(|simple| simple.span.start);
    let mut shapes: Vec<(CommandShape, Span)> = Vec::new();
    let mut done = 0;
    for simple in &simples {
        let before = text.get(done..simple.span.start as usize)?;
        let shape = CommandShape {
            join: join(before, shapes.is_empty())?,
            words: words(simple)?,
            redirects: redirects(simple)?,
            open: None,
        };
        shapes.push((shape, simple.span));
        done = simple.span.end as usize;
    }
    let rest = text.get(done..)?.trim();
    let plain = !shapes.is_empty()
        && matches!(rest, "" | ";")
        && !shapes.iter().any(|(shape, _)| shape.hides_code())
        && !shapes.iter().any(|(shape, _)| shape.names_by_handle())
        && outputs_are_ordinary(&simples, call);
    plain.then_some(shapes)
}

/// Collects simple commands that stand in a row; `None` if there is any other construct.
fn collect<'s>(block: &'s [Command], simples: &mut Vec<&'s Simple>) -> Option<()> {
    for command in block {
        match command {
            Command::Simple(simple) => simples.push(simple),
            Command::Pipeline(inner) | Command::AndOr(inner, _) => collect(inner, simples)?,
            Command::Group { .. }
            | Command::Branches { .. }
            | Command::Loop { .. }
            | Command::Function { .. }
            | Command::Test { .. }
            | Command::Not(_)
            | Command::Background(_) => return None,
        }
    }
    Some(())
}

/// Reads what stands before a simple command. The syntax tree does not keep the difference between
/// `&&` and `||`, so the text between the commands is asked.
fn join(before: &str, first: bool) -> Option<String> {
    let written = before.trim();
    if first {
        return written.is_empty().then(String::new);
    }
    if written.is_empty() && before.contains('\n') {
        return Some(";".to_owned());
    }
    JOINS.contains(&written).then(|| written.to_owned())
}

fn words(simple: &Simple) -> Option<Vec<String>> {
    let literal: Option<Vec<String>> = simple.words.iter().map(literal).collect();
    literal.filter(|words| simple.assignments.is_empty() && !words.is_empty())
}

/// Returns the word's text if a shell could make nothing else of it.
fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Plain(piece) => {
                let home = piece.starts_with('~') && text.is_empty()
                    || piece.contains("=~")
                    || piece.contains(":~");
                // Braces stand for several words only with a comma or two dots between them.
                let braces = piece.contains('{') && (piece.contains(',') || piece.contains(".."));
                if home || braces || piece.contains(['*', '?', '[']) {
                    return None;
                }
                text.push_str(piece);
            }
            Part::Quoted(piece) => text.push_str(piece),
            Part::Parameter { .. }
            | Part::Substitution { .. }
            | Part::Arithmetic(_)
            | Part::Process { .. }
            | Part::Hidden(_) => return None,
        }
    }
    Some(text)
}

fn redirects(simple: &Simple) -> Option<Vec<String>> {
    simple.redirects.iter().map(redirect).collect()
}

fn redirect(redirect: &Redirect) -> Option<String> {
    let sign = match redirect.kind {
        RedirectKind::Read => "<",
        RedirectKind::Write => ">",
        RedirectKind::Append => ">>",
        RedirectKind::ReadWrite => "<>",
        RedirectKind::Duplicate => ">&",
        RedirectKind::HereDocument(_) | RedirectKind::HereString => return None,
    };
    let from = redirect
        .descriptor
        .map_or_else(String::new, |number| number.to_string());
    Some(format!("{from}{sign}{}", literal(&redirect.target)?))
}

/// Whether output goes only into ordinary files of the workspace, or nowhere.
fn outputs_are_ordinary(simples: &[&Simple], call: &ToolCall) -> bool {
    let moves = simples.iter().any(|simple| {
        let program = simple.words.first().and_then(literal);
        program.is_some_and(|program| MOVING.contains(&base_name(&program)))
    });
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    let writes = |redirect: &&Redirect| {
        matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    };
    simples
        .iter()
        .flat_map(|simple| &simple.redirects)
        .filter(writes)
        .all(|redirect| {
            literal(&redirect.target).is_some_and(|target| {
                let place = ground.place(&target);
                let found = !moves || target.starts_with('/');
                let ordinary = place.inside == Some(true) && place.write <= OUTPUT_SENSITIVITY_MAX;
                place.kind == PathKind::Sink || found && ordinary
            })
        })
}

impl CommandShape {
    /// Whether `given`, a command with all its words, lies inside.
    pub(super) fn covers(&self, given: &Self, call: &ToolCall) -> bool {
        let Some(directory) = &self.open else {
            return self == given;
        };
        let Some(opened) = given.without_operands(call, directory) else {
            return false;
        };
        *self == opened
    }

    /// Returns the command with its operands left open, if all of them name something in
    /// `directory`.
    fn without_operands(&self, call: &ToolCall, directory: &str) -> Option<Self> {
        let (program, rest) = self.words.split_first()?;
        if self.words.iter().any(|word| word == "--" || word == "-") {
            return None;
        }
        // Which word is the subcommand depends on the options before it, so programs that have
        // those are granted word by word.
        if crate::knowledge::program(base_name(program))?.has_subs {
            return None;
        }
        let mut kept = vec![program.clone()];
        for word in rest {
            if word.starts_with('-') {
                kept.push(word.clone());
                continue;
            }
            let path = absolute(call.cwd.as_deref(), word)?;
            if path == directory || !lies_in(&path, directory) {
                return None;
            }
        }
        Some(Self {
            words: kept,
            open: Some(directory.to_owned()),
            ..self.clone()
        })
    }

    /// Whether a word means something else a moment later.
    fn names_by_handle(&self) -> bool {
        handle::in_command(self, self.heads())
    }

    /// Returns how many of the words may be the program that runs.
    fn heads(&self) -> usize {
        let optional: Vec<Option<String>> = self.words.iter().cloned().map(Some).collect();
        let first = self.words.first().map(|word| base_name(word));
        let known = first.and_then(program);
        // Behind a wrapper, and behind what is not known, any word may be the program.
        if known.is_none() || carries_commands(&optional) {
            self.words.len()
        } else {
            1
        }
    }

    /// Whether code stands in the words, comes from elsewhere, or a program is run that the words
    /// do not show.
    fn hides_code(&self) -> bool {
        let fed = self.join.starts_with('|') && self.join != "||"
            || self.redirects.iter().any(|redirect| redirect.contains('<'));
        let first = self.words.first().map(|word| base_name(word));
        // PowerShell reads quotes and backslashes in another way than the words were made by.
        if first.is_some_and(is_cmdlet) {
            return true;
        }
        (0..self.heads()).any(|at| {
            let words = self.words.get(at..).unwrap_or(&[]);
            words
                .split_first()
                .and_then(|(head, rest)| Some((program(base_name(head))?, rest)))
                .is_some_and(|(known, rest)| runs_code(known, rest, fed))
        })
    }
}

/// Whether `known`, called with `words`, runs code that stands in them or that it is fed.
fn runs_code(known: &Program, words: &[String], fed: bool) -> bool {
    // Options may stand before a subcommand, so it is looked for anywhere.
    let named = |sub: &str| {
        let first = sub.split(' ').next().unwrap_or(sub);
        words.iter().any(|word| word == first)
    };
    row_runs_code(&known.row, words, fed)
        || known
            .subs
            .iter()
            .any(|(sub, row)| named(sub) && row_runs_code(row, words, fed))
}

fn row_runs_code(row: &Row, words: &[String], fed: bool) -> bool {
    let by_flag = row.flags.iter().any(|flag| {
        let takes_code = match flag.value {
            Value::None => false,
            Value::Next(role) | Value::Attached(role) => is_code(role),
        };
        takes_code
            && words
                .iter()
                .any(|word| flag.names.iter().any(|name| may_be(name, word)))
    });
    let by_reader = match row.reader {
        Some(
            Reader::Debugger
            | Reader::Eval
            | Reader::Source
            | Reader::Trap
            | Reader::Alias
            | Reader::Xargs
            | Reader::Ssh,
        ) => true,
        // What is typed into a console runs.
        Some(Reader::Console | Reader::PythonRunner) => fed,
        // A script file is named at once; everything else may be code.
        Some(Reader::Shell | Reader::Interpreter) => {
            fed || words
                .first()
                .is_none_or(|word| word.starts_with('-') && word != "-m")
        }
        Some(
            Reader::Api
            | Reader::Cd
            | Reader::Chmod
            | Reader::Crontab
            | Reader::Curl
            | Reader::Dd
            | Reader::Declare
            | Reader::Container
            | Reader::Find
            | Reader::Fuser
            | Reader::GitCheckout
            | Reader::GitConfig
            | Reader::GitPush
            | Reader::Httpie
            | Reader::Kill
            | Reader::Packages
            | Reader::Printf
            | Reader::Rm
            | Reader::Rsync
            | Reader::Scp
            | Reader::Set
            | Reader::Systemctl
            | Reader::Tar
            | Reader::Unset,
        )
        | None => false,
    };
    by_flag || by_reader || row.operands.iter().any(|operand| is_code(operand.role))
}

/// Whether `word` may give the option `name`: itself, with its value, bundled or shortened.
pub(super) fn may_be(name: &str, word: &str) -> bool {
    let given = word.split('=').next().unwrap_or(word);
    let bundled = name
        .strip_prefix('-')
        .filter(|letter| letter.chars().count() == 1)
        .is_some_and(|letter| {
            !word.starts_with("--") && word.starts_with('-') && word.contains(letter)
        });
    let shortened = given.len() > 2 && given.starts_with("--") && name.starts_with(given);
    word.starts_with(name) || bundled || shortened
}

/// Whether a word of this role is a program of a whole language.
const fn is_code(role: Role) -> bool {
    matches!(
        role,
        Role::Shell | Role::Snippet(_) | Role::Code | Role::PowerShell | Role::Cmd | Role::Mongo
    )
}

/// Returns the one command of `shapes` with its operands open to whatever lies in the directory it
/// is run from, if all it does happens to the files it names.
pub(super) fn opened(
    shapes: &[CommandShape],
    call: &ToolCall,
    within: &Within,
) -> Option<Vec<CommandShape>> {
    let [shape] = shapes else { return None };
    let on_files = |code: &String| {
        ON_NAMED_FILES
            .iter()
            .any(|effect| profile(*effect).code == code)
    };
    if within.outbound || !within.effects.iter().all(on_files) || !shape.redirects.is_empty() {
        return None;
    }
    let directory = absolute(None, call.cwd.as_deref()?)?;
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    if ground.place(&directory).inside != Some(true) {
        return None;
    }
    let opened = shape.without_operands(call, &directory)?;
    (opened.words.len() < shape.words.len()).then(|| vec![opened])
}
