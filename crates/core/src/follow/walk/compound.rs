//! Compound commands: lists, groups, branches, loops.

use super::Walk;
use crate::follow::value::{Arg, Stream, Taint, Value};
use crate::knowledge::names::{GOING_WELL, LEAVING_WORDS};
use crate::place::HOLE;
use crate::shell::syntax::{
    Block, Command, Join, Part, Redirect, RedirectKind, Simple, Span, Word,
};

/// How many words of a loop are tried one by one.
const LOOP_WORDS_MAX: usize = 16;

impl Walk<'_> {
    /// `a && b || c`. A directory that was entered is certain as long as the list goes on because
    /// entering it has succeeded; after the list it is not, unless failing ends the script.
    pub(super) fn and_or(
        &mut self,
        commands: &[Command],
        joins: &[Join],
        stdin: &Stream,
    ) -> Stream {
        let mut out = Stream::empty();
        let mut mark = None;
        let mut perhaps = None;
        // What follows because all before it went well is written for certain while the list goes on
        // like that. After the list it is so only behind commands that go well anyway.
        let start = self.memory.mark();
        let (mut sure, mut goes_on, mut chosen) = (start, true, false);
        for (index, command) in commands.iter().enumerate() {
            let before = self.ground.perhaps.clone();
            out.append(self.command(command, stdin));
            if chosen {
                self.memory.doubt_since(sure);
            } else if goes_on {
                sure = self.memory.mark();
            }
            goes_on &= goes_well(command);
            mark.get_or_insert_with(|| self.scope.variables.clone());
            let Some(join) = joins.get(index) else { break };
            let next = commands.get(index + 1);
            let proven = proves(command);
            if !proven || *join == Join::Or && !next.is_some_and(leaves) {
                chosen = true;
                sure = start;
                self.memory.doubt_since(start);
            }
            if !proven {
                continue;
            }
            let entered = std::mem::replace(&mut self.ground.perhaps, before);
            if *join == Join::And || !next.is_some_and(leaves) {
                perhaps = perhaps.or(entered);
            }
        }
        self.memory.doubt_since(sure);
        self.ground.perhaps = perhaps.or(self.ground.perhaps.take());
        self.scope.doubt_since(&mark.unwrap_or_default());
        out
    }

    /// `if`, `while`, `case`: each block may run.
    pub(super) fn branches(
        &mut self,
        words: &[Word],
        blocks: &[Block],
        redirects: &[Redirect],
        stdin: &Stream,
    ) -> Stream {
        let mut stdin = stdin.clone();
        for word in words {
            self.expand_one(word);
        }
        // `for ((i = x; …))` evaluates its words.
        if words.len() == 1 {
            self.evaluated("", Span::default());
        }
        let sink = self.redirects(redirects, &mut stdin, None);
        let mark = self.scope.variables.clone();
        let mut taint = Taint::default();
        let mut perhaps = None;
        for (index, block) in blocks.iter().enumerate() {
            let before = self.ground.perhaps.clone();
            let written = self.memory.mark();
            taint = taint.and(self.block(block, &stdin).taint);
            let proven = block.last().is_none_or(proves);
            if index > 0 || !words.is_empty() || !proven {
                self.memory.doubt_since(written);
            }
            if index == 0 && words.is_empty() && proven {
                // What follows a condition runs because the condition holds.
                perhaps = std::mem::replace(&mut self.ground.perhaps, before);
            }
        }
        self.ground.perhaps = perhaps.or(self.ground.perhaps.take());
        self.scope.doubt_since(&mark);
        let out = Stream::unknown(taint);
        self.remember_output(redirects, &out);
        sink.unwrap_or(out)
    }

    pub(super) fn group(
        &mut self,
        body: &Block,
        subshell: bool,
        redirects: &[Redirect],
        stdin: &Stream,
    ) -> Stream {
        let mut stdin = stdin.clone();
        let sink = self.redirects(redirects, &mut stdin, None);
        let saved = subshell.then(|| self.state());
        let out = self.block(body, &stdin);
        if let Some(state) = saved {
            self.restore(state);
        }
        self.remember_output(redirects, &out);
        sink.unwrap_or(out)
    }

    pub(super) fn repeat(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Block,
        redirects: &[Redirect],
        stdin: &Stream,
    ) -> Stream {
        let mut stdin = stdin.clone();
        let items = match words {
            Some(words) => self.expand_all(words),
            None => self
                .scope
                .positional
                .clone()
                .unwrap_or_else(|| vec![Arg::literal(HOLE.to_string(), Span::default())]),
        };
        let sink = self.redirects(redirects, &mut stdin, None);
        let mark = self.scope.variables.clone();
        let taint = items
            .iter()
            .fold(Taint::default(), |taint, item| taint.and(item.taint));
        let tried = if items.len() <= LOOP_WORDS_MAX && self.budget.allows_loop() {
            items
                .iter()
                .map(|item| {
                    if item.glob {
                        glob_value(&item.text)
                    } else {
                        Value {
                            items: Some(vec![item.text.clone()]),
                            taint: item.taint,
                        }
                    }
                })
                .collect()
        } else {
            vec![Value::unknown(taint)]
        };
        let mut out = Stream::unknown(taint);
        let written = self.memory.mark();
        for value in tried {
            self.assign(name, value);
            out.taint = out.taint.and(self.block(body, &stdin).taint);
        }
        self.scope.doubt_since(&mark);
        self.memory.doubt_since(written);
        self.remember_output(redirects, &out);
        sink.unwrap_or(out)
    }

    /// Remembers what a compound command has written into the files its output goes to.
    fn remember_output(&mut self, redirects: &[Redirect], out: &Stream) {
        for redirect in redirects {
            let writes = matches!(
                redirect.kind,
                RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
            ) && redirect.descriptor.is_none_or(|number| number == 1);
            // A name with expansions in it was expanded already, and is not expanded twice.
            if let Some(name) = plain_text(&redirect.target).filter(|_| writes) {
                let file = Arg::literal(name, redirect.target.span);
                if redirect.kind == RedirectKind::Append {
                    self.remember_added(&file, out);
                } else {
                    self.remember_file(&file, out.clone());
                }
            }
        }
    }
}

/// Whether a command ends the script, the function or the loop it stands in.
fn leaves(command: &Command) -> bool {
    match command {
        Command::Simple(Simple { words, .. }) => words.first().is_some_and(|word| {
            let name = plain_text(word).unwrap_or_default();
            LEAVING_WORDS.contains(name.as_str())
        }),
        Command::Group {
            body,
            subshell: false,
            ..
        } => body.last().is_some_and(leaves),
        Command::Group { .. }
        | Command::Pipeline(_)
        | Command::AndOr(..)
        | Command::Branches { .. }
        | Command::Loop { .. }
        | Command::Function { .. }
        | Command::Test { .. }
        | Command::Not(_)
        | Command::Background(_) => false,
    }
}

/// Whether all that a command does was done where it has succeeded. `! cd x` succeeds where nothing was
/// entered, `if … fi` where nothing was tried, and `{ cd x; true; }` in any case.
fn proves(command: &Command) -> bool {
    match command {
        Command::Simple(_) | Command::Pipeline(_) | Command::Test { .. } => true,
        Command::AndOr(commands, joins) => {
            joins.iter().all(|join| *join == Join::And) && commands.iter().all(proves)
        }
        // What a subshell enters ends with it.
        Command::Group { body, subshell, .. } => match body.as_slice() {
            [only] => proves(only),
            _ => *subshell,
        },
        Command::Branches { .. }
        | Command::Loop { .. }
        | Command::Function { .. }
        | Command::Not(_)
        | Command::Background(_) => false,
    }
}

/// Whether a command goes well wherever it runs: it sets a variable, prints, or enters or makes a
/// directory. One that cannot be entered is a question of its own.
fn goes_well(command: &Command) -> bool {
    let Command::Simple(Simple { words, .. }) = command else {
        return false;
    };
    let words: Vec<String> = words
        .iter()
        .take(2)
        .map(|word| plain_text(word).unwrap_or_default())
        .collect();
    match words.as_slice() {
        [] => true,
        [name] => GOING_WELL.contains(name.as_str()) || name == "cat",
        [name, first, ..] => {
            GOING_WELL.contains(name.as_str()) || name == "mkdir" && first.starts_with("-p")
        }
    }
}

/// Returns a word in which nothing is expanded.
pub(super) fn plain_text(word: &Word) -> Option<String> {
    word.parts
        .iter()
        .map(|part| match part {
            Part::Plain(text) | Part::Quoted(text) => Some(text.as_str()),
            Part::Hidden(_)
            | Part::Arithmetic(_)
            | Part::Process { .. }
            | Part::Substitution { .. }
            | Part::Parameter { .. } => None,
        })
        .collect()
}

/// A loop over a pattern visits files that match it: the directory is known, the name is not.
fn glob_value(pattern: &str) -> Value {
    Value {
        items: Some(vec![pattern.to_owned()]),
        taint: Taint::default(),
    }
}
