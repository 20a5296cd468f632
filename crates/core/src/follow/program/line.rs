//! A command line on its way through the tables, and what its words say together.

use super::options::{Hit, Options};
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::runs_in_subscript;
use crate::knowledge::names::FOREIGN_ENVIRONMENT;
use crate::knowledge::{self, Effect, Flag, Operand, Role, Row, Value};
use crate::shell::syntax::Span;

/// A command line on its way through the tables.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The row it was found by.
    pub(crate) row: &'static Row,
    /// The effect in the row.
    pub(crate) does: Effect,
    /// The name it was called by.
    pub(crate) name: &'a str,
    /// All words after the program or subcommand.
    pub(crate) args: &'a [Arg],
    /// The same, read by the row's grammar.
    pub(crate) read: &'a Options<'a>,
    /// What it reads.
    pub(crate) stdin: &'a Stream,
    /// The position.
    pub(crate) span: Span,
}

impl Line<'_> {
    /// `shutdown -c` takes back a shutdown that was planned; other options take that back.
    pub(super) fn cancels_halt(&self) -> bool {
        let mut words = self.args.iter().map(|arg| arg.text.as_str());
        self.name == "shutdown"
            && words.next() == Some("-c")
            && !words.any(|word| word.starts_with('-'))
    }

    /// Whether an option before `command` has it run outside the project's own environment.
    pub(super) fn leaves_environment(&self, command: &[Arg]) -> bool {
        let own = self.args.len().saturating_sub(command.len());
        let leaves = |arg: &Arg| {
            let option = arg.text.split('=').next().unwrap_or("");
            FOREIGN_ENVIRONMENT.contains(option)
        };
        self.args.iter().take(own).any(leaves)
    }

    /// Returns the words that are not options, as people read them.
    pub(super) fn operands_shown(&self) -> String {
        let shown: Vec<String> = self.read.operands.iter().map(|arg| arg.shown()).collect();
        shown.join(" ")
    }

    /// Returns where a command may begin that no dashes mark, where the row expects them.
    pub(super) fn unmarked_command(&self) -> Option<usize> {
        let marks = |pair: &[Operand]| matches!(pair, [first, next] if first.many && first.role == Role::Text && next.role == Role::Command);
        let is_program = |arg: &Arg| knowledge::program(&arg.text).is_some();
        let expects = self.row.operands.windows(2).any(marks);
        expects
            .then(|| self.args.iter().position(is_program))
            .flatten()
    }

    /// Returns the scripts given to `sed`.
    pub(super) fn sed_scripts(&self) -> impl Iterator<Item = &str> {
        let takes_script = |hit: &&Hit| hit.flag.value == Value::Next(Role::Sed);
        let given = self.read.hits.iter().filter(takes_script);
        let given = given.filter_map(|hit| hit.value.as_ref());
        let first = self.read.operands.first().copied();
        let first = first.filter(|_| self.row.has_operand(Role::Sed));
        given.chain(first).map(|arg| arg.text.as_str())
    }

    /// Whether it prints all variables, and so whatever secrets are kept in them.
    pub(super) fn prints_environment(&self) -> bool {
        let prints = matches!(self.name, "env" | "printenv" | "genv" | "gprintenv");
        prints && self.read.command.is_none() && self.read.operands.is_empty()
    }

    /// Whether it is a server that shows the working directory, because no other is named.
    pub(super) fn serves_here(&self, roles: &[Option<Role>]) -> bool {
        let takes = |flag: &Flag| flag.value == Value::Next(Role::Serve);
        let serves = self.row.has_operand(Role::Serve) || self.row.flags.iter().any(takes);
        serves
            && !roles.contains(&Some(Role::Serve))
            && !self.read.hits.iter().any(|hit| takes(hit.flag))
    }

    /// Whether a builtin evaluates a subscript that holds a command: `read 'a[$(id)]'`.
    pub(super) fn runs_subscript(&self) -> bool {
        const EVALUATING: &[&str] = &["-v", "-eq", "-ne", "-lt", "-gt", "-le", "-ge"];
        let evaluates = matches!(
            self.name,
            "read" | "mapfile" | "readarray" | "getopts" | "let" | "wait" | "declare" | "typeset"
        ) || self.row.does == Effect::Compute
            && self
                .args
                .iter()
                .any(|arg| EVALUATING.contains(&arg.text.as_str()));
        evaluates && self.args.iter().any(|arg| runs_in_subscript(&arg.text))
    }
}
