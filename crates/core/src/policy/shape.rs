//! Command shapes: a program, its subcommand and flags as words, `*` for any word.
//!
//! A rule that forbids and a rule that permits read the same shape differently, each to the safe
//! side. Forbidding finds the shape in any simple command that can be reached through pipes,
//! substitutions, wrappers and shell texts, with the flags in any order. Permitting wants every
//! simple command to begin with exactly these words and nothing in it that only a shell could
//! resolve.

use crate::knowledge::{Reader, Role, Row, Value, program};
use crate::shell::parse::parse;
use crate::shell::syntax::{
    AssignedValue, Block, Command, Operation, Part, Redirect, RedirectKind, Script, Simple, Word,
};

/// Simple commands that are looked at in one text.
const COMMANDS_MAX: usize = 2000;
/// Shell texts inside shell texts that are followed.
const TEXTS_DEEP_MAX: u32 = 8;

/// A command shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    words: Vec<String>,
}

impl Shape {
    /// Returns the shape written as `text`, or `None` if it has no word.
    pub fn new(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// Whether any simple command that can be reached in `command` has this shape.
    pub fn found_in(&self, command: &str) -> bool {
        let mut search = Search {
            shape: self,
            left: COMMANDS_MAX,
        };
        search.text(command, 0)
    }

    /// Whether `command` is nothing but simple commands that begin with these words.
    pub fn covers(&self, command: &str) -> bool {
        parse(command).is_ok_and(|script| {
            script.documents.is_empty()
                && !script.block.is_empty()
                && self.covers_block(&script.block)
        })
    }

    /// Whether `command` is one simple command with exactly these words.
    pub fn equals(&self, command: &str) -> bool {
        parse(command).is_ok_and(|script| match script.block.as_slice() {
            [Command::Simple(simple)] => {
                script.documents.is_empty()
                    && simple.words.len() == self.words.len()
                    && self.covers_simple(simple)
            }
            _ => false,
        })
    }

    fn covers_block(&self, block: &Block) -> bool {
        block.iter().all(|command| self.covers_command(command))
    }

    fn covers_command(&self, command: &Command) -> bool {
        match command {
            Command::Simple(simple) => self.covers_simple(simple),
            Command::Pipeline(commands) | Command::AndOr(commands, _) => {
                self.covers_block(commands)
            }
            Command::Not(command) => self.covers_command(command),
            Command::Group { .. }
            | Command::Branches { .. }
            | Command::Loop { .. }
            | Command::Function { .. }
            | Command::Test { .. }
            | Command::Background(_) => false,
        }
    }

    fn covers_simple(&self, simple: &Simple) -> bool {
        if !simple.assignments.is_empty() || !simple.redirects.is_empty() {
            return false;
        }
        let words: Option<Vec<String>> = simple.words.iter().map(literal).collect();
        words.is_some_and(|words| {
            words.len() >= self.words.len()
                && self
                    .words
                    .iter()
                    .zip(&words)
                    .all(|(shape, word)| shape == "*" || shape == word)
        })
    }

    /// Whether `words`, a program and what follows, have this shape, with flags in any order.
    fn fits(&self, words: &[Option<String>]) -> bool {
        let Some((first, rest)) = self.words.split_first() else {
            return false;
        };
        let Some((program, arguments)) = words.split_first() else {
            return false;
        };
        let name = program.as_deref().map(base_name);
        if first != "*" && name != Some(base_name(first)) {
            return false;
        }
        let mut at = 0;
        let mut is_subcommand = true;
        rest.iter().all(|shape| {
            if shape.starts_with('-') && shape.len() > 1 {
                return arguments.iter().flatten().any(|word| is_flag(shape, word));
            }
            let ahead = arguments.get(at..).unwrap_or(&[]);
            let found = ahead
                .iter()
                .position(|word| shape == "*" || word.as_ref() == Some(shape));
            // A subcommand stands behind nothing but options and what may be their values:
            // `git -C x push` pushes, `npm run push` does not.
            let skipped = ahead.get(..found.unwrap_or(0)).unwrap_or(&[]);
            let fits = !is_subcommand || shape == "*" || only_options(skipped);
            is_subcommand = false;
            at += found.map_or(0, |ahead| ahead + 1);
            found.is_some() && fits
        })
    }
}

/// Looks for a shape in everything a text would run.
struct Search<'a> {
    shape: &'a Shape,
    left: usize,
}

impl Search<'_> {
    fn text(&mut self, text: &str, depth: u32) -> bool {
        if depth > TEXTS_DEEP_MAX {
            return false;
        }
        parse(text).is_ok_and(|script| {
            let Script { block, documents } = script;
            self.block(&block, &documents, depth)
                || documents
                    .iter()
                    .any(|word| self.parts(&word.parts, &documents, depth))
        })
    }

    fn block(&mut self, block: &[Command], documents: &[Word], depth: u32) -> bool {
        block
            .iter()
            .any(|command| self.command(command, documents, depth))
    }

    fn command(&mut self, command: &Command, documents: &[Word], depth: u32) -> bool {
        match command {
            Command::Simple(simple) => self.simple(simple, documents, depth),
            Command::Pipeline(commands) => self.pipeline(commands, documents, depth),
            Command::AndOr(commands, _) => self.block(commands, documents, depth),
            Command::Group {
                body, redirects, ..
            } => self.block(body, documents, depth) || self.redirects(redirects, documents, depth),
            Command::Branches {
                words,
                blocks,
                redirects,
                ..
            } => {
                self.words(words, documents, depth)
                    || blocks
                        .iter()
                        .any(|block| self.block(block, documents, depth))
                    || self.redirects(redirects, documents, depth)
            }
            Command::Loop {
                words,
                body,
                redirects,
                ..
            } => {
                self.words(words.as_deref().unwrap_or(&[]), documents, depth)
                    || self.block(body, documents, depth)
                    || self.redirects(redirects, documents, depth)
            }
            Command::Function { body, .. } | Command::Background(body) | Command::Not(body) => {
                self.command(body, documents, depth)
            }
            Command::Test { words, redirects } => {
                self.words(words, documents, depth) || self.redirects(redirects, documents, depth)
            }
        }
    }

    /// `echo 'text' | sh`: what is printed into a shell is a text for it.
    fn pipeline(&mut self, commands: &[Command], documents: &[Word], depth: u32) -> bool {
        self.block(commands, documents, depth)
            || commands.windows(2).any(|pair| match pair {
                [Command::Simple(from), Command::Simple(to)] => {
                    carries_commands(&to.words.iter().map(quoted).collect::<Vec<_>>())
                        && from
                            .words
                            .iter()
                            .skip(1)
                            .filter_map(quoted)
                            .any(|text| self.text(&text, depth + 1))
                }
                _ => false,
            })
    }

    fn simple(&mut self, simple: &Simple, documents: &[Word], depth: u32) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let words: Vec<Option<String>> = simple.words.iter().map(quoted).collect();
        if self.shape.fits(&words) {
            return true;
        }
        if carries_commands(&words) && self.carried(&words, simple, documents, depth) {
            return true;
        }
        let assigned = simple
            .assignments
            .iter()
            .any(|assignment| match &assignment.value {
                AssignedValue::One(word) => self.parts(&word.parts, documents, depth),
                AssignedValue::Array(words) => self.words(words, documents, depth),
            });
        assigned
            || self.words(&simple.words, documents, depth)
            || self.redirects(&simple.redirects, documents, depth)
    }

    /// Looks into what a wrapper or a shell is given: a command in its words, or a text.
    fn carried(
        &mut self,
        words: &[Option<String>],
        simple: &Simple,
        documents: &[Word],
        depth: u32,
    ) -> bool {
        let as_words =
            (1..words.len()).any(|from| self.shape.fits(words.get(from..).unwrap_or(&[])));
        if as_words
            || words
                .iter()
                .skip(1)
                .flatten()
                .any(|text| self.text(text, depth + 1))
        {
            return true;
        }
        // `ssh host rm x` and `eval rm x` join their words.
        let joined: Vec<&str> = words.iter().skip(1).flatten().map(String::as_str).collect();
        if joined.len() > 1 && self.text(&joined.join(" "), depth + 1) {
            return true;
        }
        simple.redirects.iter().any(|redirect| {
            let text = match redirect.kind {
                RedirectKind::HereDocument(number) => documents.get(number).and_then(quoted),
                RedirectKind::HereString => quoted(&redirect.target),
                RedirectKind::Read
                | RedirectKind::Write
                | RedirectKind::Append
                | RedirectKind::ReadWrite
                | RedirectKind::Duplicate => None,
            };
            text.is_some_and(|text| self.text(&text, depth + 1))
        })
    }

    fn redirects(&mut self, redirects: &[Redirect], documents: &[Word], depth: u32) -> bool {
        redirects
            .iter()
            .any(|redirect| self.parts(&redirect.target.parts, documents, depth))
    }

    fn words(&mut self, words: &[Word], documents: &[Word], depth: u32) -> bool {
        words
            .iter()
            .any(|word| self.parts(&word.parts, documents, depth))
    }

    fn parts(&mut self, parts: &[Part], documents: &[Word], depth: u32) -> bool {
        parts.iter().any(|part| match part {
            Part::Plain(_) | Part::Quoted(_) | Part::Hidden(_) => false,
            Part::Substitution { body, .. } | Part::Process { body, .. } => {
                self.block(body, documents, depth)
            }
            Part::Arithmetic(parts) => self.parts(parts, documents, depth),
            Part::Parameter { expansion, .. } => {
                let index = expansion
                    .index
                    .as_ref()
                    .is_some_and(|word| self.parts(&word.parts, documents, depth));
                index || self.operation(&expansion.operation, documents, depth)
            }
        })
    }

    fn operation(&mut self, operation: &Operation, documents: &[Word], depth: u32) -> bool {
        match operation {
            Operation::Value
            | Operation::Length
            | Operation::Indirect
            | Operation::Upper { .. }
            | Operation::Lower { .. }
            | Operation::Transform(_) => false,
            Operation::Default(word)
            | Operation::Assign(word)
            | Operation::Alternative(word)
            | Operation::Error(word)
            | Operation::Substring(word)
            | Operation::TrimStart { pattern: word, .. }
            | Operation::TrimEnd { pattern: word, .. } => self.parts(&word.parts, documents, depth),
            Operation::Replace {
                pattern,
                replacement,
                ..
            } => {
                self.parts(&pattern.parts, documents, depth)
                    || self.parts(&replacement.parts, documents, depth)
            }
        }
    }
}

/// Returns the word's text if nothing in it is left to a shell.
fn literal(word: &Word) -> Option<String> {
    let live =
        |part: &Part| matches!(part, Part::Plain(text) if text.contains(['*', '?', '[', '{', '~']));
    if word.parts.iter().any(live) {
        None
    } else {
        quoted(word)
    }
}

/// Returns the word's text, globs as they are written, if it holds no expansion.
pub(crate) fn quoted(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Plain(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::Parameter { .. }
            | Part::Substitution { .. }
            | Part::Arithmetic(_)
            | Part::Process { .. }
            | Part::Hidden(_) => return None,
        }
    }
    Some(text)
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether `words` are options, each followed by at most one word that may be its value.
fn only_options(words: &[Option<String>]) -> bool {
    let is_option = |word: &Option<String>| word.as_ref().is_none_or(|word| word.starts_with('-'));
    let first = words.first().is_none_or(is_option);
    first && words.windows(2).all(|pair| pair.iter().any(is_option))
}

/// Whether `word` gives the flag `shape`: itself, with a value, or among bundled letters.
fn is_flag(shape: &str, word: &str) -> bool {
    if word == shape
        || word
            .strip_prefix(shape)
            .is_some_and(|rest| rest.starts_with('='))
    {
        return true;
    }
    let bundled = |flag: &str| !flag.starts_with("--") && flag.len() > 1;
    bundled(shape)
        && bundled(word)
        && word.starts_with('-')
        && shape
            .chars()
            .skip(1)
            .all(|letter| word.chars().skip(1).any(|other| other == letter))
}

/// Whether the program that `words` begin with runs a command or shell text it is given.
pub(crate) fn carries_commands(words: &[Option<String>]) -> bool {
    let Some((Some(name), arguments)) = words.split_first() else {
        return false;
    };
    let given = |sub: &str| {
        let first = sub.split(' ').next().unwrap_or(sub);
        arguments.iter().flatten().any(|word| word == first)
    };
    program(base_name(name)).is_some_and(|known| {
        row_carries(&known.row)
            || known
                .subs
                .iter()
                .any(|(sub, row)| given(sub) && row_carries(row))
    })
}

fn row_carries(row: &Row) -> bool {
    let runs = |role: Role| matches!(role, Role::Command | Role::Shell | Role::Program);
    let by_flag = row.flags.iter().any(|flag| match flag.value {
        Value::None => false,
        Value::Next(role) | Value::Attached(role) => runs(role),
    });
    let by_reader = row.reader.is_some_and(|reader| {
        matches!(
            reader,
            Reader::Shell
                | Reader::Eval
                | Reader::Ssh
                | Reader::Find
                | Reader::Container
                | Reader::Xargs
                | Reader::Trap
                | Reader::Alias
        )
    });
    by_flag || by_reader || row.operands.iter().any(|operand| runs(operand.role))
}
