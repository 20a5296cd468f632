//! Catastrophes that a row of a table does not say by itself: what happens to a whole file system,
//! how the machine is stopped, and what starts copies of itself without end.
//!
//! They follow from the effect and its target, so that a new way to the same end needs no rule here.

use super::Line;
use super::code::Filled;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::names::{
    BUS_PROGRAMS, HALTING_CALLS, HALTING_FILES, HALTING_UNITS, MIRRORING, VOLUME_WIPERS,
};
use crate::knowledge::{Effect, PathKind, Role};
use crate::score::Score;
use crate::shell::syntax::{Command, Part, Span};

/// Conditions that always hold.
const ALWAYS: [&str; 4] = ["true", ":", "/bin/true", "/usr/bin/true"];

impl Walk<'_> {
    /// Whether a path is the root of a file system, of all homes, or a home.
    pub(crate) fn is_whole(&mut self, arg: &Arg) -> bool {
        let place = self.place(&arg.text);
        !place.vague && matches!(place.kind, PathKind::Root | PathKind::Home)
    }

    fn is_root(&mut self, arg: &Arg) -> bool {
        let place = self.place(&arg.text);
        !place.vague && place.kind == PathKind::Root
    }

    /// `fd . / -X rm -rf`: without a pattern and a filter it is all that lies below.
    pub(super) fn finds_all(&mut self, line: &Line<'_>, run: &[String]) {
        let [pattern, roots @ ..] = line.read.operands.as_slice() else {
            return;
        };
        let filters = line.read.hits.iter().any(|hit| hit.value.is_some());
        if filters || !matches!(pattern.text.as_str(), "." | "" | ".*") {
            return;
        }
        for root in roots {
            if self.is_whole(root) {
                let all = Filled {
                    marker: Some("{}".to_owned()),
                    with: format!("{}/*", root.text.trim_end_matches('/')),
                    glob: true,
                    appended: true,
                    ..Filled::default()
                };
                self.template(run, line.span, &all);
            }
        }
    }

    /// Notes that a whole file system, or all homes, are lost.
    pub(crate) fn loses_all(&mut self, arg: &Arg, program: &'static str, why: &'static str) {
        let mut act = Act::new(Effect::Wipe, program, self.here(arg.span))
            .because(why)
            .on(arg.shown())
            .target(Score::ONE);
        act.marks.floor = true;
        self.note(act);
    }

    /// Notes that something starts copies of itself without end.
    pub(crate) fn multiplies(&mut self, what: String, span: Span) {
        let mut act = Act::new(Effect::Wipe, "", self.here(span))
            .because("starts copies of itself without end")
            .on(what);
        act.marks.floor = true;
        self.note(act);
    }

    /// Notes catastrophes of a command line beyond what its row says.
    pub(super) fn catastrophes(&mut self, line: &Line<'_>) {
        if line.read.left_over.is_some() {
            return;
        }
        let program = line.row.name;
        let operands = || line.read.operands.iter().copied();
        let recursive = gives(line, 'R', "--recursive");
        if recursive
            && (line.row.has_operand(Role::Permission) || line.row.does == Effect::Permission)
        {
            for operand in operands() {
                if self.is_root(operand) {
                    self.loses_all(
                        operand,
                        program,
                        "changes the rights of a whole file system",
                    );
                }
            }
        }
        if line.name.ends_with("git clean") || program == "git clean" {
            let here = Arg::literal(".", line.span);
            if gives(line, 'f', "--force") && self.is_whole(&here) {
                self.loses_all(
                    &here,
                    program,
                    "deletes everything that is not in a repository",
                );
            }
        }
        if line.read.has(&["--remove-files"])
            || program == "zip" && line.read.has(&["-m", "--move"])
        {
            for operand in operands() {
                if self.is_whole(operand) {
                    self.loses_all(operand, program, "deletes a whole tree after packing it");
                }
            }
        }
        if MIRRORING.contains(line.name)
            && let Some(target) = operands().last()
            && self.is_whole(target)
        {
            self.loses_all(target, program, "deletes what the source does not have");
        }
        if line.row.does == Effect::Wipe {
            let wipes = VOLUME_WIPERS.contains(line.name)
                || line.name == "zfs destroy"
                    && operands().any(|it| !it.text.contains(['/', '@', '#']));
            let target = operands().next().cloned();
            let whole = operands().find(|operand| self.is_whole(operand)).cloned();
            if let Some(target) = whole.or(target.filter(|_| wipes)) {
                self.loses_all(&target, program, "wipes a volume");
            }
        }
        if is_halted_by(line) {
            self.note(Act::new(Effect::Halt, program, line.span));
        }
    }

    /// Notes a loop that never ends and only starts commands beside itself.
    pub(crate) fn endless_loop(&mut self, blocks: &[Vec<Command>]) {
        let [condition, body] = blocks else {
            return;
        };
        let beside = |command: &Command| matches!(command, Command::Background(_));
        if is_always_true(condition) && !body.is_empty() && body.iter().all(beside) {
            self.multiplies(
                "a loop that starts commands without end".to_owned(),
                Span::default(),
            );
        }
    }
}

/// Whether a command asks another program to halt the machine: a unit, a message, a script.
fn is_halted_by(line: &Line<'_>) -> bool {
    let words = || line.args.iter().map(|arg| arg.text.as_str());
    let program = line.row.name;
    if program == "systemctl" {
        let starts =
            |word: &str| matches!(word, "start" | "isolate" | "restart" | "reload-or-restart");
        return words().any(starts)
            && words().any(|word| HALTING_UNITS.contains(word.trim_end_matches(".target")));
    }
    if BUS_PROGRAMS.contains(program) || BUS_PROGRAMS.contains(line.name) {
        let calls = |word: &str| {
            word.rsplit(['.', '/'])
                .next()
                .is_some_and(|last| HALTING_CALLS.contains(last))
        };
        return words().any(|word| {
            word.contains("login1")
                || word.contains("ConsoleKit")
                || word.contains("SessionManager")
        }) && words().any(calls);
    }
    if line.name == "osascript" {
        return words().any(|word| {
            let lower = word.to_ascii_lowercase();
            let told = ["system events", "finder", "loginwindow"];
            let says = [
                "to shut down",
                "to restart",
                "to sleep",
                "shut down\n",
                "restart\n",
            ];
            told.iter().any(|name| lower.contains(name))
                && says.iter().any(|order| lower.contains(order))
        });
    }
    false
}

/// Whether writing to a file halts the machine.
pub(crate) fn halts_when_written(path: &str) -> bool {
    HALTING_FILES.contains(path)
}

/// Whether an option is given, by its letter alone or in a bundle, or by its name.
fn gives(line: &Line<'_>, letter: char, long: &str) -> bool {
    let words = line.args.iter().map(|arg| arg.text.as_str());
    let mut options = words.take_while(|word| *word != "--");
    options.any(|word| match word.strip_prefix("--") {
        Some(name) => name.len() >= 3 && long.starts_with(word),
        None => word
            .strip_prefix('-')
            .is_some_and(|letters| letters.contains(letter)),
    })
}

/// Whether the condition of a loop is `true`, `:` or a number that is not zero.
fn is_always_true(condition: &[Command]) -> bool {
    let is_one_of = |command: &Command, known: &[&str]| {
        let Command::Simple(simple) = command else {
            return false;
        };
        let [word] = simple.words.as_slice() else {
            return false;
        };
        match word.parts.as_slice() {
            [Part::Plain(text) | Part::Quoted(text)] => known.contains(&text.as_str()),
            _ => false,
        }
    };
    match condition {
        [Command::Not(command)] => is_one_of(command, &["false"]),
        [command] => is_one_of(command, &ALWAYS),
        _ => false,
    }
}
