//! Debuggers in batch mode: `gdb -batch -ex run -ex bt ./app`.
//!
//! A debugger's commands can run a shell, load scripts and call functions of the program. Commands that
//! only look at it or step through it are listed; the program itself runs where one of them starts it.

use super::super::options::Hit;
use super::Line;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::Role;
use crate::knowledge::names::{DEBUGGER_LOOKS, DEBUGGER_OPTIONS, DEBUGGER_STARTS};

impl Walk<'_> {
    /// Judges commands that are given to a debugger. What is listed is no question; all else is code.
    pub(crate) fn read_debugger(&mut self, line: &Line<'_>) -> Option<Stream> {
        let given = |hit: &&Hit| DEBUGGER_OPTIONS.contains(hit.name.trim_start_matches('-'));
        let commands = line.read.hits.iter().filter(given);
        let commands: Vec<&Arg> = commands.filter_map(|hit| hit.value.as_ref()).collect();
        for command in &commands {
            if !looks(command) && !starts(command) {
                self.code(Role::Code, command, line.row.name);
            }
        }
        // What `--args` names is a command of its own.
        if commands.iter().any(|command| starts(command))
            && let Some(program) = line.read.operands.first()
        {
            self.script_file(program, line.row.name);
        }
        None
    }
}

/// Whether a command shows something of the program or steps through it. No function is called, nothing
/// is set, and nothing goes to a shell.
fn looks(command: &Arg) -> bool {
    let text = command.text.trim();
    let plain = !command.vague()
        && !text.contains(['(', ')', '|', '!', '`', '>', '<', ';', '\n', '{', '}']);
    let settings = text.starts_with("set ");
    plain
        && (settings || !text.contains('='))
        && begins_with(text, |it| DEBUGGER_LOOKS.contains(it))
        && applies_looks(text)
}

/// Whether a command that others are applied by, `thread apply all bt`, applies one that shows where a
/// thread is.
fn applies_looks(text: &str) -> bool {
    let Some((_, applied)) = text.split_once(" apply") else {
        return true;
    };
    let known = |word: &str| {
        matches!(word, "all" | "bt" | "backtrace" | "where" | "full")
            || word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    applied.split_whitespace().all(known)
}

/// Whether a command starts the program, with words that a shell leaves as they are.
fn starts(command: &Arg) -> bool {
    let text = command.text.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_./,:=+@".contains(&byte);
    !command.vague()
        && text.bytes().all(plain)
        && begins_with(text, |it| DEBUGGER_STARTS.contains(it))
}

/// Whether `text` is one of the commands, with words or a format behind it: `x/20x $sp`.
fn begins_with(text: &str, is_command: impl Fn(&str) -> bool) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or("");
    let first = first.split('/').next().unwrap_or("");
    let pair = words.next().map(|second| format!("{first} {second}"));
    is_command(first) || pair.is_some_and(|pair| is_command(&pair))
}
