//! Programs that the owner described: which names they may have, and what a row cannot speak for.
//!
//! A row that calls a word plain text says nothing about the word itself. What an unknown program
//! would be asked about for its words (a place that holds secrets or that the system obeys, a secret,
//! a command) is asked about for a described one as well.

use super::resolve::find_program;
use super::roles::operand_roles;
use super::unknown::speaks_against;
use super::{Line, is_cmdlet};
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::languages::by_interpreter;
use crate::knowledge::names::{RUNNING_OPTION_WORDS, WINDOWS_PROGRAMS};
use crate::knowledge::{self, Effect, Program, Role};

/// Longest name that a described program may have.
const NAME_BYTES_MAX: usize = 64;
/// How many words of one command are tried as the beginning of another.
const STARTS_MAX: usize = 4;

/// Roles by which a word is not judged as a file or as code.
const PLAIN_ROLES: &[Role] = &[
    Role::Text,
    Role::Name,
    Role::Password,
    Role::Argument,
    Role::Define,
    Role::Config,
    Role::Context,
    Role::Format,
    Role::Filter,
    Role::Revision,
    Role::Url,
    Role::UrlSend,
    Role::Send,
    Role::Task,
    Role::Variable,
    Role::Mode,
];

/// Why a command is asked about whose row says nothing yet.
pub(super) const UNMARKED: &str = "its row under `programs` in config.yaml is not marked yet";

/// Whether a row of the owner would speak for this name alone.
pub(crate) fn is_describable(name: &str) -> bool {
    is_name(name) && !is_taken(name)
}

/// Whether the name of an option speaks of more than looking or building.
pub(crate) fn speaks_of_more(option: &str) -> bool {
    let runs = RUNNING_OPTION_WORDS
        .iter()
        .any(|word| option.contains(word));
    let table = knowledge::verbs("unknown");
    runs || table.is_none_or(|table| speaks_against(table, option))
}

/// Whether a program may have this name: letters, digits, `.`, `_`, `+` and `-`, so that it can be
/// shown and typed as it is.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(is_plain)
}

/// Whether the tables already say what a command of this name does, in any case of its letters:
/// some file systems make no difference.
pub(crate) fn is_taken(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_known = |name: &str| find_program(name).is_some() || by_interpreter(name).is_some();
    is_known(name) || is_known(&lower) || WINDOWS_PROGRAMS.contains(&lower) || is_cmdlet(name)
}

impl Walk<'_> {
    /// Returns what the owner said about a program that nothing else is known about. A path is
    /// another program.
    pub(super) fn described(&self, name: &str, first: &Arg) -> Option<&'static Program> {
        let described = self.knows.programs.find(name)?;
        (first.text == name && !described.known).then_some(described.program)
    }

    /// Adds what the owner said about a program to what was found about it without that.
    pub(super) fn described_besides(
        &mut self,
        first: &Arg,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Option<Stream> {
        let described = self.knows.programs.find(&first.text)?;
        if !described.known {
            return None;
        }
        if !self.budget.word_command() {
            self.unreadable("there are too many commands in its words", first.span);
            return None;
        }
        Some(self.known_program(described.program, described.name, first, rest, stdin))
    }

    /// Judges the words that a row of the owner says nothing about.
    pub(super) fn beyond_the_owners_row(&mut self, line: &Line<'_>) {
        let inspects = line.row.does == Effect::Inspect;
        let says_nothing =
            |role: Role| PLAIN_ROLES.contains(&role) || role == Role::Read && inspects;
        let values = line.read.hits.iter().filter_map(|hit| hit.meaning());
        let roles = operand_roles(line.row, line.read);
        let operands = line.read.operands.iter().copied().zip(roles);
        let operands = operands.filter_map(|(operand, role)| Some((role?, operand)));
        let plain: Vec<Arg> = values
            .chain(operands)
            .filter(|(role, _)| says_nothing(*role))
            .map(|(_, word)| word.clone())
            .chain(unlisted_values(line))
            .collect();
        for word in plain {
            self.plain_word(&word, line);
        }
        // What only computes is a filter. Anything else may take what it reads for orders.
        if line.stdin.connected && line.stdin.taint.network && line.row.does > Effect::Compute {
            self.unreadable(
                "hands what was loaded from the network to a program that may obey it",
                line.span,
            );
        }
        self.commands_in_words(line);
    }

    /// Judges a word of which the row only says that it is text.
    fn plain_word(&mut self, word: &Arg, line: &Line<'_>) {
        let sensitive = self.is_sensitive(&word.text);
        if !sensitive && !word.taint.secret && word.delivers.is_none() {
            return;
        }
        if sensitive {
            let start = word.text.rfind(['=', '@']).map_or(0, |at| at + 1);
            self.reads(&word.after(start), line.row.name);
        }
        let act = Act::new(Effect::Unknown, line.row.name, self.here(word.span))
            .because("its row does not say what it does with this")
            .on(word.shown());
        self.note(act);
    }

    /// Judges a command that stands in the words: a program that runs others is a wrapper, whether or
    /// not its row says so. People write such words without meaning a command, so none of it is
    /// refused for good.
    fn commands_in_words(&mut self, line: &Line<'_>) {
        if line.read.command.is_some() {
            return;
        }
        let starts = |(at, arg): (usize, &Arg)| {
            let more = at + 1 < line.args.len();
            (more && knowledge::program(&arg.text).is_some()).then_some(at)
        };
        let starts: Vec<usize> = line.args.iter().enumerate().filter_map(starts).collect();
        for at in starts.into_iter().take(STARTS_MAX) {
            if !self.budget.word_command() {
                self.unreadable("there are too many commands in its words", line.span);
                return;
            }
            let before = self.acts.len();
            self.program(line.args.get(at..).unwrap_or(&[]), &Stream::default());
            for act in self.acts.iter_mut().skip(before) {
                act.marks.critical |= act.marks.floor;
                act.marks.floor = false;
            }
        }
    }
}

/// Returns the values in options that the row does not list: `--file=x`, `-fx`.
fn unlisted_values<'a>(line: &'a Line<'_>) -> impl Iterator<Item = Arg> + 'a {
    let is_listed = |name: &str| {
        let mut flags = line.row.flags.iter();
        flags.any(|flag| flag.names.contains(&name))
    };
    line.args.iter().filter_map(move |arg| {
        let name = arg.text.split('=').next().unwrap_or("");
        if !name.starts_with('-') || is_listed(name) {
            return None;
        }
        let start = if name.len() < arg.text.len() {
            name.len() + 1
        } else {
            arg.text.char_indices().nth(2)?.0
        };
        (!name.starts_with("--") || name.len() < arg.text.len()).then(|| arg.after(start))
    })
}
