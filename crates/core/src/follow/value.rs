//! `Value`: what is known about a word, a variable or a stream while a script is followed.

use crate::place::{display, has_hole};
use crate::shell::syntax::Span;
use crate::written::Content;

/// Longest text that is followed through variables and pipes.
pub(crate) const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Sensitive names that are followed from one command to the next.
pub(crate) const NAMES_MAX: usize = 8;

/// Where a text may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each origin is its own yes or no"
)]
pub struct Taint {
    /// Some of it was read from a place that holds secrets.
    pub secret: bool,
    /// All variables of an environment are part of it, credentials included.
    pub variables: bool,
    /// Some of it was loaded from the network.
    pub network: bool,
    /// Some of it is what a command printed.
    pub command: bool,
    /// Some of it is data of this machine: what files hold, or what commands found out.
    pub data: bool,
    /// Some of it may be any words, options included: a program computed it, or a file holds it.
    pub free: bool,
    /// A program of some language, or one that nobody knows, computed some of it.
    pub computed: bool,
    /// Its lines may begin with anything; those of `grep -n` begin with a number or a name.
    pub loose: bool,
    /// A variable whose name says production is part of it.
    pub live: bool,
    /// It was set where it may not have been: behind `&&`, in a branch.
    pub uncertain: bool,
    /// The service whose credential is part of it: its place in `SERVICE_HOSTS`, counted from one.
    pub service: u8,
    /// The owner by whose name a credential is called that is none of those services: a mark of the name,
    /// zero where there is none.
    pub owner: u32,
}

/// Credentials of several services.
const SEVERAL: u8 = u8::MAX;
/// The mark of an owner that is not known, or of several.
pub(crate) const NOBODY: u32 = u32::MAX;

impl Taint {
    /// Returns both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            secret: self.secret || other.secret,
            variables: self.variables || other.variables,
            network: self.network || other.network,
            command: self.command || other.command,
            data: self.data || other.data,
            free: self.free || other.free,
            computed: self.computed || other.computed,
            loose: self.loose || other.loose,
            live: self.live || other.live,
            uncertain: self.uncertain || other.uncertain,
            service: match (self.service, other.service) {
                (0, service) | (service, 0) => service,
                (service, same) if service == same => service,
                _ => SEVERAL,
            },
            owner: match (self.owner, other.owner) {
                (0, owner) | (owner, 0) => owner,
                (owner, same) if owner == same => owner,
                _ => NOBODY,
            },
        }
    }
}

/// What a word may turn into, because nobody knows what an expansion in it yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Open {
    /// Nothing else.
    #[default]
    No,
    /// One word that may be an option: the expansion is quoted.
    Word,
    /// Any number of words.
    Words,
}

/// A word after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arg {
    /// The text, with [`HOLE`](crate::place::HOLE) where it cannot be known.
    pub text: String,
    /// Whether it is a pattern for file names.
    pub glob: bool,
    /// What an expansion in it may turn it into.
    pub open: Open,
    /// Its origin.
    pub taint: Taint,
    /// What it delivers when it is a process substitution.
    pub delivers: Option<Box<Stream>>,
    /// The position.
    pub span: Span,
}

impl Arg {
    /// Returns a word of this text.
    pub(crate) fn literal(text: impl Into<String>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            ..Self::default()
        }
    }

    /// Whether part of it cannot be known.
    pub(crate) fn vague(&self) -> bool {
        has_hole(&self.text)
    }

    /// Returns it as people read it.
    pub(crate) fn shown(&self) -> String {
        display(&self.text)
    }

    /// Returns the word that is left after the first `bytes`.
    #[must_use]
    pub(crate) fn after(&self, bytes: usize) -> Self {
        Self {
            text: self.text.get(bytes..).unwrap_or("").to_owned(),
            ..self.clone()
        }
    }
}

/// The output of a command in a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// All of it, where it is known.
    pub text: Option<String>,
    /// Its origin.
    pub taint: Taint,
    /// Whether anything is connected: a pipe, a file, a here-document.
    pub connected: bool,
    /// Sensitive files that its lines may name: `find ~ -name id_rsa` prints where they lie.
    pub names: Vec<String>,
    /// Files out of which it was read as they stand.
    pub files: Vec<String>,
}

impl Stream {
    /// A stream that is known to the last byte.
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            taint: Taint::default(),
            connected: true,
            names: Vec::new(),
            files: Vec::new(),
        }
    }

    /// A stream nothing is known about but where it comes from.
    pub const fn unknown(taint: Taint) -> Self {
        Self {
            text: None,
            taint,
            connected: true,
            names: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The same, of which nobody knows that it is no data of this machine, nor what words it is.
    #[must_use]
    pub const fn telling(mut self) -> Self {
        self.taint.data = true;
        self.taint.free = true;
        self.taint.computed = true;
        self.taint.loose = true;
        self
    }

    /// Nothing is written.
    pub fn empty() -> Self {
        Self {
            text: Some(String::new()),
            taint: Taint::default(),
            connected: true,
            names: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Adds what comes after.
    pub fn append(&mut self, next: Self) {
        self.taint = self.taint.and(next.taint);
        self.names.extend(next.names);
        self.names.truncate(NAMES_MAX);
        self.files.extend(next.files);
        self.files.truncate(NAMES_MAX);
        self.text = match (self.text.take(), next.text) {
            (Some(text), more) if text.is_empty() => more,
            (Some(mut text), Some(more)) if text.len() + more.len() <= TEXT_BYTES_MAX => {
                text.push_str(&more);
                Some(text)
            }
            _ => None,
        };
    }
}

impl From<&Content> for Stream {
    fn from(content: &Content) -> Self {
        match content {
            Content::Exact(text) => Self::known(text.clone()),
            Content::Unknown => Self::unknown(Taint::default()),
            Content::Fetched => Self::unknown(Taint {
                network: true,
                ..Taint::default()
            }),
            // There is nothing in it that has to be read.
            Content::Built => Self::known(""),
        }
    }
}

impl From<Stream> for Content {
    fn from(stream: Stream) -> Self {
        match stream.text {
            _ if stream.taint.network => Self::Fetched,
            Some(text) if !stream.taint.uncertain => Self::of(&text),
            Some(_) | None => Self::Unknown,
        }
    }
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its elements; a plain variable has one. `None`: cannot be known.
    pub items: Option<Vec<String>>,
    /// Its origin.
    pub taint: Taint,
}

impl Value {
    /// A variable with this text.
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            items: Some(vec![text.into()]),
            taint: Taint::default(),
        }
    }

    /// A variable that may hold anything.
    pub const fn unknown(taint: Taint) -> Self {
        Self { items: None, taint }
    }
}
