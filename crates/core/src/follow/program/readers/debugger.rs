//! Debuggers in batch mode: `gdb -batch -ex run -ex bt ./app`.
//!
//! A debugger's commands can run a shell, load scripts and call functions of the program. Commands that
//! only look at it or step through it are listed; the program itself runs where one of them starts it, with
//! the words it is started with.

use super::super::options::Hit;
use super::Line;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::Role;
use crate::knowledge::names::{
    DEBUGGER_LOOKS, DEBUGGER_OPTIONS, DEBUGGER_PARTS, DEBUGGER_PROGRAMS, DEBUGGER_STARTS,
};

impl Walk<'_> {
    /// Judges commands that are given to a debugger. What is listed is no question; all else is code.
    pub(crate) fn read_debugger(&mut self, line: &Line<'_>) -> Option<Stream> {
        let given = |hit: &&Hit| DEBUGGER_OPTIONS.contains(hit.name.trim_start_matches('-'));
        let commands = line.read.hits.iter().filter(given);
        let commands: Vec<&Arg> = commands.filter_map(|hit| hit.value.as_ref()).collect();
        for command in commands {
            if looks(command) {
                self.shows_files(command, line.row.name);
            } else if let Some(words) = started_with(command) {
                self.starts_program(line, command, &words);
            } else {
                self.code(Role::Code, command, line.row.name);
            }
        }
        self.reads_memory(line);
        None
    }

    /// Judges the files that a command names by a line in them: `list src/main.c:40`.
    fn shows_files(&mut self, command: &Arg, program: &'static str) {
        for word in command.text.split_whitespace().skip(1) {
            let file = word.trim_matches(['\'', '"', '*', '&']);
            let file = file.split(':').next().unwrap_or("");
            if word.contains([':', '/', '.']) && !file.is_empty() {
                self.reads(&Arg::literal(file, command.span), program);
            }
        }
    }

    /// Judges the program that a command starts as the command line it is then. What `--args` names is one
    /// already, as long as no other words take their place.
    fn starts_program(&mut self, line: &Line<'_>, command: &Arg, words: &[&str]) {
        let program = |hit: &Hit| DEBUGGER_PROGRAMS.contains(hit.name.trim_start_matches('-'));
        let named = line.read.hits.iter().any(program);
        let operands = line.read.operands.as_slice();
        let words = words.iter().map(|word| Arg::literal(*word, command.span));
        let words: Vec<Arg> = words.collect();
        match operands {
            _ if named => self.code(Role::Code, command, line.row.name),
            [] if words.is_empty() => {}
            [] => self.code(Role::Code, command, line.row.name),
            [program, rest @ ..] => {
                let mut started = vec![(*program).clone()];
                // Behind the program `lldb` takes its words, and `gdb` a file of memory or a process.
                if takes_words(line) {
                    started.extend(rest.iter().map(|word| (*word).clone()));
                }
                started.extend(words);
                self.dispatch(&started, &Stream::default());
            }
        }
    }

    /// Judges a file of memory from outside the workspace: it holds what any program knew.
    fn reads_memory(&mut self, line: &Line<'_>) {
        let by_option = |hit: &&Hit| matches!(hit.name.trim_start_matches('-'), "c" | "core");
        let named = line.read.hits.iter().filter(by_option);
        let named = named.filter_map(|hit| hit.value.as_ref());
        let behind = line.read.operands.get(1).copied();
        for memory in behind
            .filter(|_| !takes_words(line))
            .into_iter()
            .chain(named)
        {
            if self.ground.place(&memory.text).inside == Some(false) {
                self.unreadable("shows the memory of a program elsewhere", memory.span);
            }
        }
    }
}

/// Whether what stands behind the program are its words, and no file of memory.
fn takes_words(line: &Line<'_>) -> bool {
    line.name.rsplit('/').next() == Some("lldb")
}

/// Whether a command shows something of the program or steps through it. No function is called, nothing
/// is set, nothing goes to a shell, and no option changes what it does.
fn looks(command: &Arg) -> bool {
    let text = command.text.trim();
    let plain = !command.vague()
        && !text.contains(['(', ')', '|', '!', '`', '>', '<', ';', '\n', '{', '}']);
    let settings = text.starts_with("set ");
    plain
        && (settings || !text.contains('='))
        && !text.split_whitespace().any(is_option)
        && begins_with(text, |it| DEBUGGER_LOOKS.contains(it))
        && names_part(text)
        && applies_looks(text)
}

/// Whether a word is an option and not a number.
fn is_option(word: &str) -> bool {
    let rest = word.strip_prefix('-');
    rest.is_some_and(|rest| !rest.bytes().all(|byte| byte.is_ascii_digit()) || rest.is_empty())
}

/// Whether the word behind `thread` or `frame` is one that is known in full: `thread ap all shell id` is
/// read as `apply`.
fn names_part(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let known = |word: &str| {
        DEBUGGER_PARTS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    !matches!(first, "thread" | "frame" | "f") || words.next().is_none_or(known)
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

/// Returns the words with which a command starts the program, where a shell leaves them as they are.
fn started_with(command: &Arg) -> Option<Vec<&str>> {
    let text = command.text.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_./,:=+@".contains(&byte);
    let starts = !command.vague()
        && text.bytes().all(plain)
        && begins_with(text, |it| DEBUGGER_STARTS.contains(it));
    let mut words: Vec<&str> = text.split_whitespace().skip(1).collect();
    if text.starts_with("process") {
        // `process launch` has options of its own, which write files and choose a shell.
        let launch = words.split_off(1.min(words.len()));
        let own = launch.iter().any(|word| word.starts_with('-'));
        return (starts && !own).then_some(launch);
    }
    starts.then_some(words)
}

/// Whether `text` is one of the commands, with words or a format behind it: `x/20x $sp`.
fn begins_with(text: &str, is_command: impl Fn(&str) -> bool) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or("");
    let first = first.split('/').next().unwrap_or("");
    let pair = words.next().map(|second| format!("{first} {second}"));
    is_command(first) || pair.is_some_and(|pair| is_command(&pair))
}
