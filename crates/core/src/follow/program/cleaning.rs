//! Finds the output directory of a build that its arguments or variables set, and what cleaning it
//! deletes.

use super::Line;
use super::options::Options;
use crate::act::Breadth;
use crate::follow::value::Arg;
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{CLEANING_WORDS, EVALUATING_TASKS, OUTPUT_WORDS, USUAL_PREFIXES};
use crate::knowledge::{Effect, PathKind, Role, Row, Value};
use crate::place::{HOME, is_absolute};

impl Walk<'_> {
    /// Judges directories for output that a line of a build names: `make DESTDIR=/etc install`,
    /// `gradle -PbuildDir=/srv clean`, `GOMODCACHE=/srv go clean -modcache`.
    pub(super) fn outputs(&mut self, row: &'static Row, read: &Options<'_>, words: &[Arg]) {
        let builds = matches!(
            row.does,
            Effect::Build | Effect::Project | Effect::Install | Effect::Uninstall
        );
        if !builds {
            return;
        }
        let cleans = words
            .iter()
            .map(|word| word.text.as_str())
            .chain(row.name.split(' '))
            .any(is_cleaning);
        let operands = read.operands.iter().copied();
        let given = operands.filter(|_| row.has_operand(Role::Define));
        let set = read.hits.iter().filter_map(|hit| match hit.flag.value {
            Value::Next(Role::Define) | Value::Attached(Role::Define) => hit.value.as_ref(),
            Value::None | Value::Next(_) | Value::Attached(_) => None,
        });
        for pair in given.chain(set) {
            if let Some((name, _)) = pair.text.split_once('=') {
                self.output(name, &pair.after(name.len() + 1), row.name, cleans);
            }
        }
        if !cleans {
            return;
        }
        for hit in &read.hits {
            if let Some((Role::Create | Role::Write, directory)) = hit.meaning() {
                self.cleaned(directory, row.name);
            }
        }
        // What was judged once need not be judged again by the next command.
        let set = self.scope.take_outputs();
        for (name, value) in set.into_iter().chain(self.scope.given.clone()) {
            self.output(&name, &value, row.name, true);
        }
    }

    /// Judges one directory for output, by the name of the variable that holds it.
    fn output(&mut self, name: &str, value: &Arg, program: &'static str, cleans: bool) {
        if !says_output(name, &value.text) {
            return;
        }
        let path = crate::place::display(&value.text);
        if cleans {
            self.cleaned(value, program);
        } else if !USUAL_PREFIXES.contains(path.trim_end_matches('/')) {
            self.writes(value, program, Writing::Create);
        }
    }

    /// Judges a directory that a cleaning command empties.
    fn cleaned(&mut self, directory: &Arg, program: &'static str) {
        let place = self.place(&directory.text);
        if place.kind != PathKind::Temp && place.inside != Some(true) || place.whole_workspace {
            self.deletes(directory, program, Breadth::Tree);
        }
    }

    /// Judges a command line that `line` hands on behind `--`, where its row knows of none.
    pub(super) fn behind_dashes(&mut self, line: &Line<'_>) {
        let carries = matches!(
            line.row.does,
            Effect::Build | Effect::Start | Effect::Install | Effect::Inspect | Effect::Setting
        ) || line.row.has_operand(Role::Task);
        if !carries || line.read.command.is_some() {
            return;
        }
        let Some(at) = line.args.iter().position(|arg| arg.text == "--") else {
            return;
        };
        let mut command = line.args.get(at + 1..).unwrap_or(&[]).to_vec();
        // `pm2 start rm -- -rf src`: the program stands before, its words behind.
        let before = at.checked_sub(1).and_then(|at| line.args.get(at));
        let takes_program = line.row.has_operand(Role::Task) || line.row.has_operand(Role::Script);
        if let Some(program) = before.filter(|_| takes_program)
            && command.first().is_some_and(|arg| arg.text.starts_with('-'))
        {
            command.insert(0, program.clone());
        }
        let known = command
            .first()
            .and_then(|first| crate::knowledge::program(&first.text))
            .is_some_and(|program| !program.has_subs);
        if known && command.len() > 1 {
            self.program(&command, line.stdin);
        }
    }

    /// Judges the name of a task, which is a command line where it begins with a known program.
    pub(super) fn task(&mut self, arg: &Arg, program: &'static str) {
        let mut words = arg.text.split_whitespace();
        let first = words.next().unwrap_or("");
        let more = words.next().is_some();
        let evaluates = EVALUATING_TASKS.contains(first) && more
            || arg.text.starts_with('"')
            || arg.text.contains("sys.process")
            || arg.text.ends_with(".!")
            || arg.text.ends_with(".!!");
        if evaluates {
            self.code(Role::Code, arg, program);
        } else if more && crate::knowledge::program(first).is_some() {
            self.shell_text(arg, &crate::follow::value::Stream::default());
        }
    }
}

/// Whether a word asks for what a build has made to be deleted.
fn is_cleaning(word: &str) -> bool {
    CLEANING_WORDS.contains(word)
        || word
            .split(['-', ':', '_', '.'])
            .any(|part| matches!(part, "clean" | "distclean" | "purge"))
            && !word.starts_with("--no-")
}

/// Whether a variable says that output goes to another directory.
pub(crate) fn says_output(name: &str, value: &str) -> bool {
    leads_elsewhere(value) && names_output(name)
}

/// Whether a variable's name says that it holds a directory for output.
fn names_output(name: &str) -> bool {
    // `buildDir` is `build_Dir` is `BUILD_DIR`.
    let apart = name.chars().fold(String::new(), |mut apart, letter| {
        if letter.is_ascii_uppercase() && apart.ends_with(|last: char| last.is_ascii_lowercase()) {
            apart.push('_');
        }
        apart.push(letter);
        apart
    });
    apart
        .split(['_', '.', '-'])
        .any(|part| OUTPUT_WORDS.contains(part.to_ascii_uppercase().as_str()))
}

/// Whether a value is a path that may lead out of the directory at hand.
fn leads_elsewhere(value: &str) -> bool {
    is_absolute(value) || value.starts_with("..") || value.starts_with([HOME, '~']) || value == "."
}
