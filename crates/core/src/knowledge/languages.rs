//! Names and calls of the supported script languages, compiled from `knowledge/languages/`.
//!
//! Lists are sorted at build time and searched in place, so nothing is built when a program starts.

use std::cmp::Ordering;

use super::index::shape;
use super::vocabulary::{CallReader, Effect, Feature, Lang, Syntax};
use super::{Flag, Lifts, Operand, Role, Value};

/// A language, and how it is recognised.
#[derive(Debug)]
pub struct Language {
    /// Its name in tables.
    pub name: &'static str,
    /// The role of its code.
    pub role: Role,
    /// Programs that run it, the usual one first; a star stands for the rest of a name.
    pub interpreters: &'static [&'static str],
    /// Names tools give it.
    pub called: &'static [&'static str],
    /// What its files' names end in, without the dot.
    pub extensions: &'static [&'static str],
    /// Options with which its interpreters only check a file.
    pub checks: &'static [&'static str],
}

/// Returns the language that the interpreter at `path` runs.
pub fn by_interpreter(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let runs = |interpreter: &str| match interpreter.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == interpreter,
    };
    LANGUAGES
        .iter()
        .find(|language| language.interpreters.iter().any(|known| runs(known)))
}

/// Returns the language of files whose names end in `extension`.
pub fn by_extension(extension: &str) -> Option<&'static Language> {
    LANGUAGES
        .iter()
        .find(|language| language.extensions.contains(&extension))
}

/// Returns the language that a tool calls `name`.
pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES
        .iter()
        .find(|language| language.called.contains(&name))
}

/// Returns the language whose code has `role`.
pub fn by_role(role: Role) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.role == role)
}

/// Everything the reader of scripts needs to know about one language.
#[derive(Debug)]
pub struct Script {
    /// Which language it is.
    pub lang: Lang,
    /// Syntax that has code of its own.
    pub syntax: Syntax,
    /// Which shared features the language has.
    pub features: &'static [Feature],
    /// Words and functions that stand alone.
    pub functions: Names,
    /// Methods and attributes that only compute, whatever they belong to.
    pub methods: Names,
    /// Modules that may be loaded.
    pub modules: Names,
    /// Modules of which only the version may be asked.
    pub versioned: Names,
    /// Names that load or compute code.
    pub forbidden: Names,
    /// Those of them that make code out of texts.
    pub makers: Names,
    /// Modules and global names that reach beyond the program, so that what is not known of them
    /// stays hidden. Without any, nothing unknown counts as ordinary.
    pub reaching: Names,
    /// Methods that reach beyond the program on objects of many libraries.
    pub reaching_methods: Names,
    /// Methods that call the functions they are given; what these are must be visible.
    pub callers: Names,
    /// Words after which names are bound.
    pub binders: Names,
    /// Functions that join the parts of a path.
    pub joins: Names,
    /// Functions and methods that return what they are given, as far as texts go.
    pub same: Names,
    /// Functions and methods that return a number, or a name without a directory.
    pub plain: Names,
    /// Functions that list what is in a directory.
    pub listing: Names,
    /// Functions that name a new temporary file.
    pub scratch: Names,
    /// What stands for the home of who runs the script.
    pub home: Names,
    /// What stands for the working directory, or that of the script.
    pub here: Names,
    /// What holds texts from outside: arguments, the environment, the input, the network.
    pub foreign: Names,
    /// What makes texts out of numbers or encoded ones.
    pub decoders: Names,
    /// Modules that other modules hold as attributes, so that they are reached through them.
    pub carried: Names,
    /// Modules that reach beyond the program by functions alone: their objects do nothing more.
    pub quiet: Names,
    /// Names of `reaching` that run other code than that of a module.
    pub loaders: Names,
    /// Modules of the standard library that are on no other list.
    pub standard: Names,
    /// Methods that take a statement for a database in some libraries.
    pub statements: Names,
    /// Modules whose objects take statements for a database.
    pub databases: Names,
    /// Methods that send or change something where a library is loaded that reaches out.
    pub sending_methods: Names,
    /// Attributes by which an object mapper reaches the rows of a database.
    pub mappers: Names,
    /// Methods that change rows where there is such an attribute.
    pub row_methods: Names,
    /// What may be taken from modules.
    pub attributes: Attributes,
    /// Calls with effects, by their dotted path.
    pub calls: Calls,
    /// Methods with effects on the file their object stands for.
    pub members: Calls,
}

impl Script {
    /// Whether the language has `feature`.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether a module may be loaded.
    pub fn knows_module(&self, module: &str) -> bool {
        let first = module.split('.').next().unwrap_or(module);
        self.modules.contains(module) || self.versioned.contains(first)
    }

    /// Whether `name` is a module of the standard library, or of a library whose names are listed.
    pub fn is_standard(&self, name: &str) -> bool {
        self.standard.contains(name) || self.modules.contains(name) || self.reaching.contains(name)
    }

    /// Whether names that are not known may be ordinary: the language lists those that are not.
    pub const fn has_ordinary_names(&self) -> bool {
        !self.reaching.is_empty()
    }

    /// Whether a name or module that is not known may be an ordinary one.
    pub fn is_ordinary(&self, path: &str) -> bool {
        let reaches = |end: usize| {
            let front = path.get(..end).unwrap_or(path);
            self.reaching.contains(front)
        };
        let ends = path.match_indices(['.', '/']).map(|(at, _)| at);
        self.has_ordinary_names()
            && !path.starts_with("__")
            && !path.is_empty()
            && !ends.chain([path.len()]).any(reaches)
    }

    /// Whether the values of a script are followed through the function `path`.
    pub fn is_value(&self, path: &str) -> bool {
        [
            &self.joins,
            &self.same,
            &self.plain,
            &self.listing,
            &self.scratch,
            &self.home,
            &self.here,
        ]
        .iter()
        .any(|names| names.contains(path))
    }

    /// Whether a method that is not known may be an ordinary one.
    pub fn is_ordinary_method(&self, name: &str) -> bool {
        self.has_ordinary_names()
            && !name.starts_with("__")
            && !self.reaching_methods.contains(name)
            && !self.forbidden.contains(name)
            && !self.members.contains(name)
    }
}

impl Lang {
    /// Returns what is known about the language.
    pub fn script(self) -> Option<&'static Script> {
        SCRIPTS.get(usize::from(self.0))
    }

    /// Returns all scripting languages.
    pub fn all() -> impl Iterator<Item = Self> {
        SCRIPTS.iter().map(|script| script.lang)
    }
}

/// A list of names.
///
/// It is one text and the places where its names end: a list of references would have to be
/// relocated, name by name, whenever the program starts.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The names, one behind the other, in the order of the table.
    pub(super) text: &'static str,
    /// Where each name ends.
    pub(super) ends: &'static [u16],
    /// The numbers of the names, sorted by name.
    pub(super) sorted: &'static [u16],
    /// The shapes that names of the list have.
    pub(super) shapes: u128,
}

impl Names {
    /// A list without names.
    pub const NONE: Self = Self {
        text: "",
        ends: &[],
        sorted: &[],
        shapes: 0,
    };

    /// Whether `name` is on the list.
    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Whether `name`, in any case, is on a list in lower case.
    pub fn contains_in_any_case(&self, name: &str) -> bool {
        self.place_in_any_case(name).is_some()
    }

    /// Whether there is no name on the list.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names, in the order of the table; those of languages are sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        let text = self.text;
        self.ends.iter().scan(0, move |start, end| {
            let name = text.get(*start..usize::from(*end));
            *start = usize::from(*end);
            name
        })
    }

    /// All names that begin with `start`, sorted.
    pub fn starting_with(&self, start: &str) -> impl Iterator<Item = &'static str> {
        let first = self
            .sorted
            .partition_point(|number| self.name(*number) < start);
        let names = self.sorted.iter().skip(first);
        names
            .map(|number| self.name(*number))
            .take_while(move |name| name.starts_with(start))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.place_by(name, |known| known.cmp(name))
    }

    fn place_in_any_case(&self, name: &str) -> Option<usize> {
        let lower = || name.bytes().map(|byte| byte.to_ascii_lowercase());
        self.place_by(name, |known| known.bytes().cmp(lower()))
    }

    fn place_by(&self, name: &str, compare: impl Fn(&str) -> Ordering) -> Option<usize> {
        if self.shapes & shape(name.as_bytes()) == 0 {
            return None;
        }
        let found = |number: &u16| compare(self.name(*number));
        self.sorted.binary_search_by(found).ok()
    }

    fn name(&self, number: u16) -> &'static str {
        let number = usize::from(number);
        let end = |number: usize| self.ends.get(number).copied().map(usize::from);
        let start = number.checked_sub(1).and_then(end).unwrap_or_default();
        let end = end(number).unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }
}

/// What may be taken from each module of a language.
#[derive(Clone, Copy, Debug)]
pub struct Attributes(&'static [(&'static str, Names)]);

impl Attributes {
    /// No module has attributes that may be taken.
    pub const NONE: Self = Self(&[]);

    /// Whether `attribute` may be taken from `module`.
    pub fn allow(&self, module: &str, attribute: &str) -> bool {
        found(self.0, module).is_some_and(|names| names.contains(attribute))
    }
}

/// Full names by their aliases.
#[derive(Clone, Copy, Debug)]
pub struct Aliases(&'static [(&'static str, &'static str)]);

impl Aliases {
    /// Returns the full name that `alias` is short for.
    pub fn get(&self, alias: &str) -> Option<&'static str> {
        found(self.0, alias).copied()
    }
}

/// Functions, methods or commands of a language that do the same.
#[derive(Debug)]
pub struct Call {
    /// What they are called.
    pub names: Names,
    /// The list of the language they are on.
    pub list: &'static str,
    /// What calling one does.
    pub does: Effect,
    /// What the arguments stand for, in order.
    pub takes: &'static [Operand],
    /// A hand-written reader for arguments that a table cannot describe.
    pub reader: Option<CallReader>,
    /// Words that change what it does.
    pub flags: &'static [Flag],
    /// Code in which a call of this row must be found.
    pub matches: &'static [&'static str],
}

impl Call {
    /// Whether some argument has `role`.
    pub fn takes(&self, role: Role) -> bool {
        self.takes.iter().any(|operand| operand.role == role)
    }
}

/// Calls by name.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    names: Names,
    /// For each name, the place of its call.
    rows: &'static [u8],
    found: &'static [&'static Call],
}

impl Calls {
    /// A list without calls.
    pub const NONE: Self = Self {
        names: Names::NONE,
        rows: &[],
        found: &[],
    };

    /// Returns what calling `name` does.
    pub fn get(&self, name: &str) -> Option<&'static Call> {
        self.at(self.names.place(name)?)
    }

    /// Returns what calling `name`, in any case, does, from a list in lower case.
    pub fn get_in_any_case(&self, name: &str) -> Option<&'static Call> {
        self.at(self.names.place_in_any_case(name)?)
    }

    /// Returns the first row with a name that begins with `start`, and the name.
    pub fn starting_with(&self, start: &str) -> Option<(&'static str, &'static Call)> {
        self.found.iter().find_map(|call| {
            let mut names = call.names.iter();
            let name = names.find(|name| name.starts_with(start))?;
            Some((name, *call))
        })
    }

    fn at(&self, place: usize) -> Option<&'static Call> {
        let row = self.rows.get(place)?;
        self.found.get(usize::from(*row)).copied()
    }

    /// Whether `name` is on the list.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

fn found<T>(sorted: &'static [(&'static str, T)], name: &str) -> Option<&'static T> {
    let at = sorted
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    sorted.get(at).map(|(_, value)| value)
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));
