//! The compiled knowledge tables: programs, paths, hosts, variables and tools.
//!
//! The tables themselves are in `knowledge/` and read like a list; `build.rs` turns them into the
//! static data below. Nothing here decides anything.

pub mod grammar;
mod index;
pub mod languages;
pub mod owners;
pub mod vocabulary;

pub use grammar::{Lifts, Operand, Value};
pub use vocabulary::{CallReader, Effect, Feature, Lang, Reader, Role, Style, Syntax};

use crate::assessment::SideEffect;
use index::Index;
pub(crate) use index::letters;

/// The row of one program.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// How it reads its words, up to the subcommand where it has those.
    pub row: Row,
    /// Whether its first operand is a subcommand.
    pub has_subs: bool,
    /// Its subcommands, sorted by name; further words are separated by blanks.
    pub subs: &'static [(&'static str, &'static Row)],
    /// Verbs that stand in for subcommands without a row.
    pub verbs: Option<&'static Verbs>,
    /// How many leading words may hold the verb.
    pub verb_words: u8,
    /// Whether it comes with a system, so that a package of this name is another program.
    pub of_system: bool,
}

/// The row of a program or subcommand.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The program, with its subcommand if the row is for one.
    pub name: &'static str,
    /// What running it does before its words are looked at.
    pub does: Effect,
    /// Whether an option that is not listed makes the command a question.
    pub closed: bool,
    /// The manual in which every option was looked up, where options need not be listed.
    pub manual: &'static str,
    /// How options are written.
    pub style: Style,
    /// The options that matter.
    pub flags: &'static [Flag],
    /// The roles of the operands.
    pub operands: &'static [Operand],
    /// A hand-written reader for what a table cannot hold.
    pub reader: Option<Reader>,
    /// Whether the owner of this machine wrote it.
    pub owned: bool,
    /// Commands this row recognises.
    pub matches: &'static [&'static str],
    /// Look-alikes in which more, or something else, must be found.
    pub not_match: &'static [&'static str],
}

impl Row {
    /// Whether some operand has `role`.
    pub fn has_operand(&self, role: Role) -> bool {
        self.operands.iter().any(|operand| operand.role == role)
    }
}

/// One option of a program.
#[derive(Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its spellings, dashes included.
    pub names: &'static [&'static str],
    /// Whether it takes a value, and what that stands for.
    pub value: Value,
    /// What giving it does.
    pub effects: &'static [Effect],
    /// What the command no longer does when it is given.
    pub lifts: Lifts,
    /// Whether the command then only prints help or a version.
    pub help: bool,
    /// Whether it is the last option: what follows belongs to what its value names.
    pub last: bool,
}

/// Verbs that command lines of one kind have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Verbs {
    /// What the table is called.
    pub name: &'static str,
    /// Whole words, sorted.
    pub exact: &'static [(&'static str, Effect)],
    /// Beginnings of words.
    pub prefix: &'static [(&'static str, Effect)],
    /// Ends of words.
    pub suffix: &'static [(&'static str, Effect)],
    /// Parts of words, for those that nothing else is said about.
    pub infix: &'static [(&'static str, Effect)],
}

impl Verbs {
    /// Returns what `word` means as a verb.
    pub fn effect(&self, word: &str) -> Option<Effect> {
        if let Ok(at) = self.exact.binary_search_by(|(verb, _)| (*verb).cmp(word)) {
            return self.exact.get(at).map(|(_, effect)| *effect);
        }
        let begins = self
            .prefix
            .iter()
            .filter(|(verb, _)| word.starts_with(verb));
        let ends = self.suffix.iter().filter(|(verb, _)| word.ends_with(verb));
        let said = begins.chain(ends).filter(|(verb, _)| !verb.is_empty());
        let said = said.map(|(_, effect)| *effect).max();
        said.or_else(|| {
            let every = self.prefix.iter().filter(|(verb, _)| verb.is_empty());
            let holds = self.infix.iter().filter(|(verb, _)| holds(word, verb));
            every.chain(holds).map(|(_, effect)| *effect).max()
        })
    }
}

/// Whether the parts of `pattern`, which stars separate, stand in `word` one behind the other.
fn holds(word: &str, pattern: &str) -> bool {
    let rest = pattern.split('*').try_fold(word, |rest, part| {
        rest.split_once(part).map(|(_, behind)| behind)
    });
    rest.is_some()
}

/// What kind of place a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathKind {
    /// The root of the file system, or a place all else hangs on.
    Root,
    /// A home directory as a whole.
    Home,
    /// Part of the operating system.
    System,
    /// A disk, partition or other device.
    Device,
    /// Swallows what is written to it: `/dev/null`, a terminal.
    Sink,
    /// Scratch space.
    Temp,
    /// Keys, tokens, passwords.
    Credential,
    /// Read and run when a shell, a session or a program starts.
    Startup,
    /// Run by the clock.
    Schedule,
    /// This firewall's own files.
    Guard,
    /// Settings of an agent that say what it may do.
    Agent,
    /// Instructions that agents follow.
    Instruction,
    /// Run by a build server.
    Ci,
    /// Run by a version control system.
    Hook,
    /// What a person typed.
    History,
    /// A view into running processes or the kernel.
    Process,
    /// Records of what happened.
    Log,
    /// Made by a build and made again by the next.
    Generated,
    /// Ordinary files.
    Document,
    /// A socket that controls containers, and through them the machine.
    ContainerSocket,
    /// Project settings that often hold secrets: `.env`.
    Environment,
}

/// How sensitive a place is.
#[derive(Debug)]
pub struct PathRow {
    /// Patterns: `~` a home, `*` within one name, `**` any number of names.
    pub like: &'static [&'static str],
    /// The place in words.
    pub what: &'static str,
    /// What kind of place it is.
    pub kind: PathKind,
    /// How sensitive reading it is, per mille.
    pub read: u16,
    /// How sensitive changing it is, per mille.
    pub write: u16,
    /// Paths the row is for.
    pub matches: &'static [&'static str],
    /// Paths it is not for.
    pub not_match: &'static [&'static str],
}

/// Where a pattern of the path table begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRoot {
    /// At `/`.
    Slash,
    /// At a home.
    Home,
    /// At a Windows drive, in lower case.
    Drive,
    /// Wherever the path is taken from; `**` reaches every depth.
    Anywhere,
}

/// A pattern of the path table, split into names.
#[derive(Debug)]
pub struct PathPattern {
    /// Where it begins.
    pub root: PathRoot,
    /// Its names; `**` stands for any number of names, `*` for any part of one.
    pub names: &'static [&'static str],
    /// The letters that a path must have to match it.
    pub letters: u64,
    /// Its row in [`PATHS`].
    pub row: u16,
}

/// How some name of a path must begin and end, and the pattern that needs it.
pub type StarredName = (&'static str, &'static str, u16);

/// A name of a path, and the patterns that need it.
pub type NeededName = (&'static str, &'static [u16]);

/// What kind of host a name or address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// Hands out credentials of a cloud machine.
    Metadata,
    /// This firewall.
    Firewall,
    /// A package registry or code host everybody uses.
    Registry,
    /// A place made for dropping data or catching requests.
    Drop,
    /// A name that somebody else keeps and that leads to this machine, or to the address in it.
    Alias,
}

/// What kind of path of a web address has to do with approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// A page of this firewall that everybody may see.
    Public,
    /// A path of this firewall, which may listen on any port of this machine.
    Ours,
    /// A path on which an approval system takes its answers.
    Answers,
    /// A path that sends a message to people when it is asked for; its first name is the host.
    Message,
}

/// Paths of web addresses that have to do with approvals.
#[derive(Debug)]
pub struct RouteRow {
    /// Patterns; `*` stands for one name, `**` for any number of them.
    pub like: &'static [&'static str],
    /// The path in words.
    pub what: &'static str,
    /// Its kind.
    pub kind: RouteKind,
    /// Addresses the row is for.
    pub matches: &'static [&'static str],
    /// Addresses it is not for.
    pub not_match: &'static [&'static str],
}

/// How a program or tool reads a directory with everything in it.
#[derive(Debug)]
pub struct TreeRow {
    /// Options (of a tool: arguments) with which it does; always, if there are none.
    pub with: &'static [&'static str],
    /// Options, or arguments with their value, with which it only shows names.
    pub unless: &'static [&'static str],
    /// Whether it leaves hidden files out by itself.
    pub skips_hidden: bool,
    /// Options with which it looks at hidden files all the same.
    pub unhides: &'static [&'static str],
    /// Options whose values say which names alone are read.
    pub only: &'static [&'static str],
    /// Options whose values say which names are left out.
    pub not: &'static [&'static str],
    /// Whether it reads the working directory where none is named.
    pub here: bool,
}

/// The row of a host.
#[derive(Debug)]
pub struct HostRow {
    /// Names or address patterns; `*.` at the front stands for subdomains.
    pub like: &'static [&'static str],
    /// The host in words.
    pub what: &'static str,
    /// Its kind.
    pub kind: HostKind,
    /// Hosts the row is for.
    pub matches: &'static [&'static str],
    /// Hosts it is not for.
    pub not_match: &'static [&'static str],
}

/// An environment variable that makes programs do something.
#[derive(Debug)]
pub struct VariableRow {
    /// Names; a star at the end stands for the rest.
    pub names: &'static [&'static str],
    /// Its effect, as text.
    pub what: &'static str,
    /// What its value stands for.
    pub value: Role,
    /// Assignments the row is for.
    pub matches: &'static [&'static str],
    /// Assignments it is not for.
    pub not_match: &'static [&'static str],
}

/// What an argument of a tool stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRole {
    /// Plain data.
    Text,
    /// A path that is read.
    Read,
    /// A path that is created or overwritten.
    Write,
    /// A path that is changed in place.
    Edit,
    /// A path that is deleted.
    Delete,
    /// What is written to the path.
    Content,
    /// A shell command.
    Shell,
    /// Code of an interpreter.
    Code,
    /// The language the code is in.
    Language,
    /// SQL.
    Sql,
    /// A web address that is read.
    Url,
    /// The method of a web request.
    Method,
    /// Who receives a message.
    Recipient,
    /// What a message says.
    Body,
    /// Files that are sent along.
    Attachment,
    /// Directory the command runs in.
    Cwd,
    /// A tool called through this one.
    Tool,
    /// Arguments of the tool called through this one.
    Arguments,
    /// A patch: files and lines.
    Patch,
    /// An order to another agent.
    Goal,
    /// A command line of the agent's own: the tool's name, then words that are data.
    Line,
    /// The same with words that are paths.
    PathLine,
}

/// The row of a tool.
#[derive(Debug)]
pub struct ToolRow {
    /// Its names; a star stands for a server's prefix.
    pub names: &'static [&'static str],
    /// What calling it does.
    pub does: Effect,
    /// Its side-effect class where the effect alone would say another.
    pub class: Option<SideEffect>,
    /// Whether it carries something out to people or other machines.
    pub outbound: bool,
    /// Whether it is part of an agent: a server's tool of that name is another tool.
    pub builtin: bool,
    /// What its arguments stand for.
    pub args: &'static [(&'static str, ArgumentRole)],
    /// Effects that depend on an argument's value: argument, value, effect.
    pub when: &'static [(&'static str, &'static str, Effect)],
    /// The tool in words.
    pub what: &'static str,
    /// Calls the row is for.
    pub matches: &'static [&'static str],
    /// Calls it is not for.
    pub not_match: &'static [&'static str],
}

/// Words that name something by its number, its place or its turn.
#[derive(Debug)]
pub struct HandleRow {
    /// What they name, in words.
    pub what: &'static str,
    /// Names of arguments of tools.
    pub arguments: &'static [&'static str],
    /// Values of arguments; `#` stands for digits.
    pub values: &'static [&'static str],
    /// Programs, perhaps with a subcommand, whose operands are such words.
    pub programs: &'static [&'static str],
    /// A program and an option of it whose value is such a word.
    pub options: &'static [&'static str],
    /// Words of any command; `#` stands for digits.
    pub words: &'static [&'static str],
    /// Calls that use one.
    pub matches: &'static [&'static str],
    /// Calls that do not.
    pub not_match: &'static [&'static str],
}

/// A character that looks like an ASCII letter or sign. `knowledge/look_alikes.tsv` explains the columns.
#[derive(Debug)]
pub(crate) struct LookAlike {
    /// The character.
    pub(crate) character: char,
    /// What it looks like.
    pub(crate) sign: char,
    /// Whether everybody takes it for the sign.
    pub(crate) deceives: bool,
    /// Whether it is the letter itself in another style.
    pub(crate) styled: bool,
    /// Whether it is read as the letter in a word that is disguised.
    pub(crate) resembles: bool,
}

include!(concat!(env!("OUT_DIR"), "/knowledge.rs"));

/// Returns what ASCII letter or sign `character` looks like.
pub(crate) fn look_alike(character: char) -> Option<&'static LookAlike> {
    if character.is_ascii() {
        return None;
    }
    if let Some(at) = LOW_LOOK_ALIKES.get(character as usize) {
        return LOOK_ALIKES.get(usize::from(*at));
    }
    let at = LOOK_ALIKES.binary_search_by_key(&character, |known| known.character);
    LOOK_ALIKES.get(at.ok()?)
}

/// Returns what is known about the program called `name`.
pub fn program(name: &str) -> Option<&'static Program> {
    let at = PROGRAM_INDEX.find(PROGRAM_NAMES, name)?;
    PROGRAMS.get(usize::from(PROGRAM_NAMES.get(at)?.1))
}

/// Returns the patterns of [`PATHS`] that need `name` somewhere in a path.
pub(crate) fn path_patterns(name: &str) -> &'static [u16] {
    let at = PATH_TRIGGER_INDEX.find(PATH_TRIGGERS, name);
    let found = at.and_then(|at| PATH_TRIGGERS.get(at));
    found.map_or(&[], |(_, numbers)| numbers)
}

/// Returns the verbs of the table called `table`.
pub(crate) fn verbs(table: &str) -> Option<&'static Verbs> {
    VERBS.iter().copied().find(|verbs| verbs.name == table)
}

/// Returns what is known about the tool called `name`, whatever its case.
pub fn tool(name: &str) -> Option<&'static ToolRow> {
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    let at = if name.bytes().all(is_lower) {
        TOOL_INDEX.find(TOOL_NAMES, name)?
    } else {
        TOOL_INDEX.find(TOOL_NAMES, &name.to_lowercase())?
    };
    TOOLS.get(usize::from(TOOL_NAMES.get(at)?.1))
}
