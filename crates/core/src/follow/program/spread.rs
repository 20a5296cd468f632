//! Words that an expansion yields when nobody knows what it is: `dd $(python3 gen.py)`.
//!
//! The shell splits what an unquoted expansion yields, and any of these words may be an option. Where
//! the output of a command consists of names, numbers or versions, it is taken for operands. Any other
//! output may be an option of the program, so the program is judged as if it were given one that matters.

use super::Line;
use super::carried;
use super::options::Hit;
use super::roles::operand_roles;
use crate::act::Act;
use crate::follow::value::{Arg, Open, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    FIRST_FIELDS, LINE_SEPARATORS, NAMING_OPTIONS, NAMING_PROGRAMS, NUMBERING_OPTIONS,
    SELECTING_PROGRAMS,
};
use crate::knowledge::{Effect, Flag, Lifts, Reader, Role, Row, Style, Value};
use crate::score::Score;

impl Walk<'_> {
    /// Judges words of a command of which nobody knows how many they are, nor whether they are options.
    pub(super) fn spreads(&mut self, line: &Line<'_>) {
        // What a wrapper starts is looked at by itself.
        let own = line.read.command.or(line.read.option_command);
        let own = line.args.get(..own.unwrap_or(line.args.len()));
        let own = own.unwrap_or(line.args);
        let ends = own.iter().position(|arg| arg.text == "--");
        let own = own.get(..ends.unwrap_or(own.len())).unwrap_or(own);
        // A quoted word behind an option is that option's value.
        let is_operand = |arg: &Arg| {
            line.read
                .operands
                .iter()
                .any(|word| std::ptr::eq(*word, arg))
        };
        let may_say_more = |arg: &&Arg| match arg.open {
            Open::No => false,
            Open::Word => is_operand(arg),
            Open::Words => true,
        };
        let Some(arg) = own.iter().find(may_say_more) else {
            return;
        };
        if obeys_options(line.row) {
            let mut act = Act::new(Effect::Exec, line.row.name, self.here(arg.span))
                .because("which options are given to a program cannot be known")
                .on(line.name);
            act.clarity = Score::new(300);
            self.note(act);
        }
    }
}

/// Returns whether what a command prints may be any words, and whether its lines may begin with any.
pub(super) fn freedom(line: &Line<'_>, stream: &Stream) -> (bool, bool) {
    let (before, taint) = (line.stdin.taint, stream.taint);
    if carried::hands_on(line) {
        return (taint.free, taint.loose);
    }
    if line.row.does == Effect::Compute && !line.stdin.connected {
        // `echo` and `basename` print their words.
        let free = line.args.iter().any(|arg| arg.taint.free);
        return (free, free);
    }
    if NAMING_PROGRAMS.contains(line.row.name)
        || NAMING_PROGRAMS.contains(line.name)
        || carried::is_answer(line)
    {
        return (false, false);
    }
    let splits = |arg: &Arg| LINE_SEPARATORS.contains(arg.text.as_str());
    let rearranges = line.name == "tr" && line.args.iter().all(splits);
    if !SELECTING_PROGRAMS.contains(line.name) && !rearranges {
        return (true, true);
    }
    let gives = |options: &Names| {
        let given = |arg: &Arg| options.contains(arg.text.as_str());
        line.args.iter().any(given)
    };
    // With a file of its own it prints what that holds.
    let reads = operand_roles(line.row, line.read).contains(&Some(Role::Read));
    let elsewhere = reads || !line.stdin.connected;
    let names = |arg: &Arg| is_naming_bundle(&arg.text);
    if gives(&NAMING_OPTIONS) || line.args.iter().any(names) {
        (false, false)
    } else if gives(&NUMBERING_OPTIONS) {
        (true, false)
    } else if gives(&FIRST_FIELDS) && !elsewhere {
        (before.loose, before.loose)
    } else {
        (before.free || elsewhere, before.loose || elsewhere)
    }
}

/// Whether short options in one word say that names of files are printed, or numbers: `-rlZ`. None of
/// these letters takes a value.
fn is_naming_bundle(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or("");
    letters.contains(['l', 'L', 'c'])
        && letters
            .bytes()
            .all(|letter| b"0EFGHILPRUZachilnorsvwxz".contains(&letter))
}

/// Whether code computes what a command prints: a script, an interpreter, a program of the project.
pub(super) fn computes(line: &Line<'_>, stream: &Stream) -> bool {
    let runs = matches!(line.does, Effect::Project | Effect::Exec | Effect::Unknown);
    let has_code = line.read.hits.iter().any(Hit::carries_code);
    let interprets = matches!(line.row.reader, Some(Reader::Interpreter));
    stream.taint.computed
        || line.stdin.taint.computed
        || runs
        || has_code
        || interprets
        || line.args.iter().any(|arg| arg.taint.computed)
}

/// Whether an option can make a program of this row do more than its row says.
fn obeys_options(row: &Row) -> bool {
    row.style != Style::Plain && (row.closed || row.flags.iter().any(|flag| does_more(row, flag)))
}

fn does_more(row: &Row, flag: &Flag) -> bool {
    let raises = |effect: &Effect| *effect > row.does && *effect > Effect::NetRead;
    let obeyed = match flag.value {
        Value::None => false,
        Value::Next(role) | Value::Attached(role) => is_obeyed(role),
    };
    flag.lifts == Lifts::Nothing && !flag.help && (obeyed || flag.effects.iter().any(raises))
}

/// Whether a word of this role is written to, run or sent, or says what is.
const fn is_obeyed(role: Role) -> bool {
    !matches!(
        role,
        Role::Text
            | Role::Read
            | Role::Name
            | Role::Password
            | Role::Argument
            | Role::Release
            | Role::Revision
            | Role::Variable
            | Role::Format
            | Role::Filter
            | Role::Jq
            | Role::Cwd
            | Role::Target
            | Role::Task
    )
}
