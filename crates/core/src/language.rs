//! Effects of a code fragment in another language, as far as they can be determined.
//!
//! A shell command often carries code of another language: SQL for `psql -c`, a script for
//! `sed`, Python for `python -c`. Each reader below turns such a fragment into a [`Reading`]: what
//! it was seen to do, and whether anything in it stayed hidden. Readers never run anything, take
//! linear time, and say [`Reading::hidden`] when in doubt.

mod cursor;
mod forks;

pub mod awk;
pub mod cmd;
pub(crate) mod compiled;
pub mod find;
pub mod jq;
pub mod powershell;
pub mod script;
pub mod sed;
pub mod sql;

pub(crate) use self::forks::without_end;

use std::collections::BTreeSet;

use crate::knowledge::names::SECRET_VARIABLE_WORDS;
use crate::knowledge::{Effect, Role, languages};

/// Longer fragments are not read at all: nobody types them, and a person should look.
pub(crate) const FRAGMENT_BYTES_MAX: usize = 64 * 1024;
/// Longest program of a whole programming language that is read: these take more time per byte.
pub(crate) const CODE_BYTES_MAX: usize = 20 * 1024;

/// Why a fragment above [`FRAGMENT_BYTES_MAX`] stays hidden.
pub(crate) const TOO_LONG: &str = "a fragment of code that is too long to read";

/// Why code stays hidden that makes or loads code while it runs.
pub(crate) const MAKES_CODE: &str = "code that makes other code while it runs";

/// What stands for the environment variables where a fragment reads them.
pub(crate) const ENVIRONMENT: &str = "environment";

/// Stands in a word for the value of a variable whose name says that it holds a secret.
pub(crate) const SECRET_PART: char = '\u{fdd3}';

/// Stands in a word for something that was read on this machine.
pub(crate) const DATA_PART: &str = "\u{fdd4}";

/// What is said of all variables of the environment.
pub(crate) const ALL_VARIABLES: &str = "all variables of the environment";

/// Whether the name of a variable says that it holds a credential.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_VARIABLE_WORDS
        .iter()
        .any(|sign| upper.contains(sign))
}

/// Longest text that can be the name of a variable.
const VARIABLE_BYTES_MAX: usize = 64;

/// Whether a text is the name of a variable of the environment that holds a credential, and nothing else.
pub(crate) fn is_name_of_secret(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() <= VARIABLE_BYTES_MAX && text.bytes().all(is_letter) && is_secret_variable(text)
}

/// The file that holds them all.
pub(crate) const WHOLE_ENVIRONMENT: &str = "/proc/self/environ";

/// One thing a fragment of code was seen to do. Texts are taken from the fragment as they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Hands this text to a system shell.
    Shell(String),
    /// Runs this program with these arguments, without a shell.
    Run(Vec<String>),
    /// Runs this program with these arguments and types something into it that is not seen.
    Feed(Vec<String>),
    /// Runs this program with these arguments and types exactly this text into it.
    Give(Vec<String>, String),
    /// Loads the file at this path in a way in which it may run code of its own.
    Load(String),
    /// A text is handed to something that may run it.
    MayRun(String),
    /// Writes some file whose path may have this text in it.
    MayWrite(String),
    /// Reads some file whose path may have this text in it.
    MayRead(String),
    /// Reads the file at this path.
    ReadFile(String),
    /// Shows these variables of the environment, which hold credentials.
    Reveal(String),
    /// Creates or overwrites the file at this path, or appends to it.
    WriteFile(String),
    /// Stores what was loaded over the network in the file at this path.
    Download(String),
    /// Goes to the directory at this path, perhaps to come back later.
    Enter {
        /// Where to; a hole where it cannot be known.
        path: String,
        /// Whether a later [`Deed::Leave`] comes back from there.
        returns: bool,
    },
    /// Goes back to where the last directory was left that is come back to.
    Leave,
    /// Sets this environment variable to this value; a hole stands for what is not known.
    SetVariable(String, String),
    /// Makes a link through which this path can be read and written.
    Link(String),
    /// Deletes the file at this path.
    DeleteFile(String),
    /// Deletes the directory at this path with everything in it.
    DeleteTree(String),
    /// Deletes the directory at this path, which holds the output of a build.
    DeleteBuilt(String),
    /// Loads something over the network, from this address where it is visible.
    Fetch(String),
    /// Sends something over the network, to this address where it is visible.
    Send(String),
    /// Reads rows or state of a database.
    DbRead,
    /// Adds or changes rows, or adds schema, in a way that loses little.
    DbWrite(String),
    /// Deletes or overwrites data or schema wholesale; the text names what.
    DbDestroy(String),
    /// Changes users, roles, rights or server settings of a database.
    DbAdmin(String),
    /// Stops, restarts or reconfigures the machine or a service; the text names how.
    Control(String),
    /// Halts or restarts the machine; the text names how.
    Halt(String),
    /// Starts copies of itself without end; the text names how.
    Multiply(String),
    /// Ends processes; the text names which.
    Kill(String),
    /// Changes a setting that outlives the call (registry, policy, scheduled task, user).
    Persist(String),
    /// Raises privileges or weakens a protection.
    Privilege(String),
    /// Wipes or formats a disk or volume; the text names which.
    WipeDisk(String),
}

/// What a fragment of code was seen to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is its own yes or no")]
pub struct Reading {
    /// The observations, in order.
    pub deeds: Vec<Deed>,
    /// Why some of it could not be seen, in words that complete "cannot see inside: …".
    pub hidden: Option<&'static str>,
    /// Why some of it is not known, although nothing of it is known to reach beyond the program: an
    /// ordinary library, a file whose name is computed. Inside a project that is ordinary code.
    pub unfamiliar: Option<&'static str>,
    /// Modules that it loads, as it names them.
    pub imports: Vec<String>,
    /// Whether a way was taken to keep something from being seen that ordinary code does not need: code
    /// made while it runs, names spelt in parts, code that other code loads by force.
    pub(crate) conceals: bool,
    /// Whether it reads files whose names it computes.
    pub(crate) reads_computed: bool,
    /// Whether it writes files whose names it computes.
    pub(crate) writes_computed: bool,
    /// Whether it prints a variable of the environment whose name it computes or is given.
    pub(crate) reveals_computed: bool,
}

impl Reading {
    /// A reading of a fragment nothing is known about.
    pub fn hidden(why: &'static str) -> Self {
        Self {
            hidden: Some(why),
            ..Self::default()
        }
    }

    /// Whether the fragment was understood completely and does nothing but compute and print.
    pub fn is_harmless(&self) -> bool {
        self.hidden.is_none()
            && self.unfamiliar.is_none()
            && self
                .deeds
                .iter()
                .all(|deed| matches!(deed, Deed::DbRead | Deed::MayRead(_)))
    }

    /// Notes a deed; that the database was read is noted once.
    pub(crate) fn see(&mut self, deed: Deed) {
        if deed != Deed::DbRead || !self.deeds.contains(&Deed::DbRead) {
            self.deeds.push(deed);
        }
    }

    /// Notes that something stayed hidden; the first reason is kept.
    pub(crate) fn hide(&mut self, why: &'static str) {
        // That code is made is said before all else.
        if self.hidden.is_none() || why == MAKES_CODE {
            self.hidden = Some(why);
        }
    }

    /// Notes that something is not known but ordinary inside a project.
    pub(crate) fn wonder(&mut self, why: &'static str) {
        self.unfamiliar = self.unfamiliar.or(Some(why));
    }

    /// Takes `bin` for the output of a build where `obj` beside it is deleted, too: that is where
    /// the tools of .NET put what they make.
    pub(crate) fn pair_outputs(&mut self) {
        let beside = |deed: &Deed, name: &str| {
            if let Deed::DeleteTree(path) = deed {
                path.strip_suffix(name).map(str::to_owned)
            } else {
                None
            }
        };
        let is_directory = |start: &String| start.is_empty() || start.ends_with('/');
        let pairs = self.deeds.iter().filter_map(|deed| beside(deed, "obj"));
        let pairs: BTreeSet<String> = pairs.filter(is_directory).collect();
        for deed in &mut self.deeds {
            if let Some(start) = beside(deed, "bin").filter(|start| pairs.contains(start)) {
                *deed = Deed::DeleteBuilt(format!("{start}bin"));
            }
        }
    }

    /// Notes that something is piped into the programs that were seen from `first` on.
    pub(crate) fn feed(&mut self, first: usize) {
        for deed in self.deeds.iter_mut().skip(first) {
            if let Deed::Run(words) = deed {
                *deed = Deed::Feed(std::mem::take(words));
            }
        }
    }

    /// Notes that `text`, and nothing else, is piped into the only program that was seen from `first` on.
    pub(crate) fn give(&mut self, first: usize, text: &str) {
        if let Some([Deed::Run(words)]) = self.deeds.get_mut(first..) {
            let words = std::mem::take(words);
            self.deeds.truncate(first);
            self.deeds.push(Deed::Give(words, text.to_owned()));
        } else {
            self.feed(first);
        }
    }

    /// Adds what `other` was seen to do.
    pub fn absorb(&mut self, other: Self) {
        self.deeds.extend(other.deeds);
        self.hidden = self.hidden.or(other.hidden);
        self.unfamiliar = self.unfamiliar.or(other.unfamiliar);
        self.imports.extend(other.imports);
        self.conceals |= other.conceals;
        self.reads_computed |= other.reads_computed;
        self.reveals_computed |= other.reveals_computed;
        self.writes_computed |= other.writes_computed;
    }
}

/// Makes a deed of the text that names its object.
type ToDeed = fn(String) -> Deed;

/// What happens to the argument `text` of a call that has this role.
pub(crate) fn deed_on(role: Role, text: String) -> Option<Deed> {
    const BY_ROLE: &[(Role, ToDeed)] = &[
        (Role::Shell, Deed::Shell),
        (Role::Read, Deed::ReadFile),
        (Role::Load, Deed::Load),
        (Role::Write, Deed::WriteFile),
        (Role::Create, Deed::WriteFile),
        (Role::Link, Deed::Link),
        (Role::Move, Deed::DeleteFile),
        (Role::Delete, Deed::DeleteFile),
        (Role::DeleteTree, Deed::DeleteTree),
        (Role::Url, Deed::Fetch),
        (Role::Cwd, |path| Deed::Enter {
            path,
            returns: false,
        }),
        (Role::UrlSend, Deed::Send),
        (Role::Permission, |path| {
            Deed::Privilege(format!("rights of {path}"))
        }),
    ];
    let (_, deed) = BY_ROLE.iter().find(|(known, _)| *known == role)?;
    Some(deed(text))
}

/// Makes the directory at `path`, which is judged like the program that does so.
pub(crate) fn made(path: String) -> Deed {
    Deed::Run(
        ["mkdir", "-p", "--"]
            .map(str::to_owned)
            .into_iter()
            .chain([path])
            .collect(),
    )
}

/// Returns the directory that a deed makes.
pub(crate) fn makes(deed: &Deed) -> Option<&str> {
    let Deed::Run(words) = deed else { return None };
    let makes = words.first().is_some_and(|program| program == "mkdir");
    words.last().filter(|_| makes).map(String::as_str)
}

/// What a call does that has this effect whatever its arguments are; `what` names it.
pub(crate) fn deed_of(effect: Effect, what: String) -> Option<Deed> {
    const BY_EFFECT: &[(Effect, ToDeed)] = &[
        (Effect::DbRead, |_| Deed::DbRead),
        (Effect::DbWrite, Deed::DbWrite),
        (Effect::DbDestroy, Deed::DbDestroy),
        (Effect::DbAdmin, Deed::DbAdmin),
        (Effect::Control, Deed::Control),
        (Effect::Halt, Deed::Halt),
        (Effect::Kill, Deed::Kill),
        (Effect::Persist, Deed::Persist),
        (Effect::Privilege, Deed::Privilege),
        (Effect::Wipe, Deed::WipeDisk),
    ];
    let (_, deed) = BY_EFFECT.iter().find(|(known, _)| *known == effect)?;
    Some(deed(what))
}

/// The value of a variable of Windows with slashes, and its list of directories with colons.
pub(crate) fn posix_value(name: &str, value: &str) -> String {
    if !name.ends_with("PATH") {
        return value.replace('\\', "/");
    }
    let parts = value
        .split(';')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let part = part.replace('\\', "/");
            match part.split_once(":/") {
                Some((drive, rest)) if drive.len() == 1 => format!("/{drive}/{rest}"),
                _ => part,
            }
        });
    parts.collect::<Vec<_>>().join(":")
}

/// Whether a word that is started names a page for the browser.
pub(crate) fn is_page(word: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| word.starts_with(scheme))
}

/// What opening `address` in the browser does, told by the program that does it elsewhere.
pub(crate) fn opened(address: &str) -> Deed {
    Deed::Run(vec!["xdg-open".to_owned(), address.to_owned()])
}

/// Whether a command takes its orders from its standard input, so that text piped into it runs.
pub(crate) fn runs_its_input(command: &str) -> bool {
    const OTHERS: [&str; 8] = [
        "csh", "tcsh", "xargs", "parallel", "at", "batch", "ssh", "sudo",
    ];
    let is_interpreter = |name: &str| {
        let mut all = languages::LANGUAGES.iter();
        all.any(|language| language.interpreters.contains(&name))
    };
    let words = command.split(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '&'));
    words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .any(|name| OTHERS.contains(&name) || is_interpreter(name))
}
