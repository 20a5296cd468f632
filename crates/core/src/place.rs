//! How sensitive a path is: lexical, without looking at the file system.
//!
//! Links are not followed: that would race, and the core reads no files. So a path is what its
//! text says, after `.`, `..`, doubled slashes and the ways around (`/proc/self/root`) are gone.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::LazyLock;

use crate::knowledge::{
    PATH_ANYWHERE, PATH_PATTERNS, PATH_ROOTS, PATH_STARRED, PATH_TRIGGERS, PATHS, PathKind,
    PathRoot, PathRow,
};
use crate::score::Score;

/// Stands for the home directory in an expanded word: `~`, `$HOME`.
pub const HOME: char = '\u{fdd1}';
/// Stands for a part of a word that cannot be known.
pub const HOLE: char = '\u{fdd0}';

/// Names of a path that are looked at; deeper ones cannot make it less sensitive.
const NAMES_MAX: usize = 64;

/// Where a call happens, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The working directory: absolute, or beginning with [`HOME`]. `None`: nothing is claimed.
    pub cwd: Option<String>,
    /// The directory inside which ordinary work is no question.
    pub workspace: Option<String>,
    /// The directory it would still be in had a `cd` failed that nobody looked after.
    pub perhaps: Option<String>,
}

/// What is known about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path, normalised, with `~` for a home and `…` for what is not known.
    pub path: String,
    /// What kind of place it is.
    pub kind: PathKind,
    /// The place in words, where a table names it.
    pub what: &'static str,
    /// How sensitive reading it is.
    pub read: Score,
    /// How sensitive changing it is.
    pub write: Score,
    /// Whether it lies in the workspace; `None` if that cannot be told.
    pub inside: Option<bool>,
    /// Whether the path names the working directory, the workspace or all that is in it.
    pub whole_workspace: bool,
    /// Whether part of the path is not known.
    pub vague: bool,
}

impl Ground {
    /// Returns ground with `cwd` as claimed and the workspace it may count as.
    ///
    /// `/`, a home or its parents, system and credential directories never count as a workspace,
    /// whatever the caller says.
    pub fn new(cwd: Option<&str>, workspace: Option<&str>) -> Self {
        let clean = |path: &str| {
            let marked = mark_home(path);
            let absolute = is_absolute(&marked).then_some(marked)?;
            Some(normalise(&absolute))
        };
        let cwd = cwd.and_then(clean);
        let workspace = workspace
            .map_or_else(|| cwd.clone(), clean)
            .filter(|path| may_be_workspace(path));
        Self {
            cwd,
            workspace,
            perhaps: None,
        }
    }

    /// Returns the ground after `cd directory`; what is not known makes the directory unknown.
    pub fn enter(&mut self, directory: &str) {
        let path = self.resolve(directory);
        self.cwd = (is_absolute(&path) && !path.contains(HOLE)).then_some(path);
    }

    /// Returns `text` as a normalised path, absolute where the working directory is known.
    fn resolve(&self, text: &str) -> String {
        let text = text.strip_prefix("file://").unwrap_or(text);
        if is_absolute(text) {
            return normalise(text);
        }
        // A `~` that was quoted is a strange name for a file, and more likely meant as a home.
        if text == "~" || text.starts_with("~/") {
            return normalise(&mark_home(text));
        }
        match &self.cwd {
            Some(cwd) => normalise(&format!("{cwd}/{text}")),
            None => normalise(text),
        }
    }

    /// Returns what is known about the path `text`.
    pub fn place(&self, text: &str) -> Place {
        let path = self.resolve(text);
        let vague = path.contains(HOLE);
        let inside = self.inside(&path);
        let whole_workspace = self.whole(&path);
        let relative = self.relative(&path);
        let in_workspace = relative.and_then(first_match);
        let found = [first_match(&path), in_workspace].into_iter().flatten();
        let found = found.min().and_then(row).or_else(|| behind_hole(&path));
        let (mut kind, mut what, mut read, mut write) = match found {
            Some(row) => (row.kind, row.what, row.read, row.write),
            None => self.ordinary(&path, inside, vague),
        };
        // Where a call claims to be never makes what it names less sensitive.
        if !is_absolute(text)
            && self.cwd.is_some()
            && let Some(row) = self.named(text, relative, in_workspace)
        {
            if row.read > read || row.write > write || runs_later(row.kind) {
                (kind, what) = (row.kind, row.what);
            }
            read = read.max(row.read);
            write = write.max(row.write);
        }
        if let Some(row) = most_sensitive_in(&path).filter(|row| row.read > read) {
            (kind, what, read) = (row.kind, row.what, row.read);
        }
        Place {
            path: display(&path),
            kind,
            what,
            read: Score::new(read),
            write: Score::new(write),
            inside,
            whole_workspace,
            vague,
        }
    }

    /// Returns the first row for the path as it is written, which is mostly what it is inside the
    /// workspace.
    fn named(
        &self,
        text: &str,
        relative: Option<&str>,
        in_workspace: Option<u16>,
    ) -> Option<&'static PathRow> {
        let named = normalise(text);
        let number = if relative == Some(named.as_str()) {
            in_workspace
        } else {
            first_match(&named)
        };
        number.and_then(row)
    }

    /// Returns the path as seen from the workspace, where it lies inside.
    fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let workspace = self.workspace.as_deref()?;
        let rest = path.strip_prefix(workspace)?;
        if rest.is_empty() {
            Some(".")
        } else {
            rest.strip_prefix('/')
        }
    }

    fn inside(&self, path: &str) -> Option<bool> {
        if path.starts_with(HOLE) {
            return None;
        }
        if self.workspace.is_some() {
            if !is_absolute(path) {
                return None;
            }
            return Some(self.relative(path).is_some());
        }
        None
    }

    fn whole(&self, path: &str) -> bool {
        let base = path.trim_end_matches(['*', '/']).trim_end_matches('/');
        let base = base.strip_suffix("/.").unwrap_or(base);
        match self.workspace.as_ref().or(self.cwd.as_ref()) {
            Some(workspace) => {
                base == workspace
                    || workspace
                        .strip_prefix(base)
                        .is_some_and(|rest| rest.starts_with('/'))
            }
            None => {
                !is_absolute(path)
                    && (matches!(base, "" | ".") || base.split('/').all(|name| name == ".."))
            }
        }
    }

    /// Returns what an ordinary path weighs that no table names.
    fn ordinary(
        &self,
        path: &str,
        inside: Option<bool>,
        vague: bool,
    ) -> (PathKind, &'static str, u16, u16) {
        if inside == Some(true) {
            return (PathKind::Document, "", 40, 100);
        }
        if path.starts_with(HOLE) {
            // `$dir/name` may be anywhere, but it is called `name`; `$path` is called nothing.
            let named = path.rsplit('/').next().is_some_and(|name| {
                name.chars().any(|letter| letter != HOLE) && path.contains('/')
            });
            return (
                PathKind::Document,
                "a path that cannot be known",
                150,
                if named { 300 } else { 450 },
            );
        }
        if !is_absolute(path) {
            let up = path.starts_with("..");
            return (
                PathKind::Document,
                "",
                60,
                if up {
                    500
                } else if vague {
                    300
                } else {
                    180
                },
            );
        }
        let outside = if self.workspace.is_some() {
            "outside the workspace"
        } else {
            ""
        };
        if path.starts_with(HOME) {
            (PathKind::Document, outside, 100, 550)
        } else {
            (PathKind::Document, outside, 100, 600)
        }
    }
}

/// Whether what lies in a place of this kind is run or obeyed by something later.
const fn runs_later(kind: PathKind) -> bool {
    matches!(
        kind,
        PathKind::Guard
            | PathKind::Agent
            | PathKind::Startup
            | PathKind::Schedule
            | PathKind::Ci
            | PathKind::Hook
    )
}

/// Whether `path` begins at a root, a home or a drive.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with(HOME) || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    matches!((bytes.next(), bytes.next(), bytes.next()), (Some(letter), Some(b':'), Some(b'\\' | b'/') | None) if letter.is_ascii_alphabetic())
}

/// Returns `path` with a home directory at its front replaced by [`HOME`].
pub fn mark_home(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path == "~" {
        return HOME.to_string();
    }
    if let Some(rest) = path.strip_prefix("~/") {
        return format!("{HOME}/{rest}");
    }
    path.to_owned()
}

/// Returns `path` without `.`, `..`, doubled slashes and ways around, homes marked.
pub fn normalise(path: &str) -> String {
    let windows = is_drive(path) || path.contains('\\') && !path.contains('/');
    let path = if windows {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let mut absolute = path.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => match names.last() {
                Some(&"..") | None if !absolute => names.push(".."),
                // Nothing lies above a drive.
                Some(last) if names.len() == 1 && is_drive(last) => {}
                Some(last) if last.starts_with(HOME) && names.len() == 1 => {
                    names.clear();
                    names.push("home");
                    absolute = true;
                }
                _ => {
                    names.pop();
                }
            },
            name => names.push(name),
        }
    }
    // The root seen through a process is the root; `/private/etc` is `/etc`.
    loop {
        match names.as_slice() {
            ["proc", _, "root" | "cwd", ..] if absolute => {
                names.drain(..3);
            }
            ["proc", _, "task", _, "root" | "cwd", ..] if absolute => {
                names.drain(..5);
            }
            ["private", "etc" | "var" | "tmp", ..] if absolute => {
                names.remove(0);
            }
            _ => break,
        }
    }
    let joined = names.join("/");
    if joined.starts_with(HOME) {
        return joined;
    }
    let whole = if absolute {
        format!("/{joined}")
    } else if joined.is_empty() {
        ".".to_owned()
    } else {
        joined
    };
    fold_home(&whole)
}

/// Returns `path` with `/root`, `/home/name` and `/Users/name` as [`HOME`].
fn fold_home(path: &str) -> String {
    let names: Vec<&str> = path.split('/').collect();
    let rest = match names.as_slice() {
        ["", "root", rest @ ..] => rest,
        ["", "home" | "Users", name, rest @ ..]
            if !name.contains('*') && !name.starts_with('.') =>
        {
            rest
        }
        [drive, "Users", _, rest @ ..] if is_drive(&format!("{drive}/")) => rest,
        _ => return path.to_owned(),
    };
    if rest.is_empty() {
        HOME.to_string()
    } else {
        format!("{HOME}/{}", rest.join("/"))
    }
}

/// Whether a normalised directory may count as a workspace.
fn may_be_workspace(path: &str) -> bool {
    if path.contains(HOLE) || path == "/" || path.len() == HOME.len_utf8() && path.starts_with(HOME)
    {
        return false;
    }
    match first_match(path).and_then(row).map(|row| row.kind) {
        None | Some(PathKind::Temp | PathKind::Generated | PathKind::Document) => {}
        Some(
            PathKind::Root
            | PathKind::Home
            | PathKind::System
            | PathKind::Device
            | PathKind::Sink
            | PathKind::Credential
            | PathKind::Startup
            | PathKind::Schedule
            | PathKind::Guard
            | PathKind::Agent
            | PathKind::Ci
            | PathKind::Hook
            | PathKind::History
            | PathKind::Process
            | PathKind::Log
            | PathKind::ContainerSocket
            | PathKind::Environment,
        ) => return false,
    }
    // A directory directly under the root (`/tmp`, `/opt`, `/data`) is nobody's project, with the
    // exception of the names containers use for one.
    let names: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if let [only] = names.as_slice() {
        return matches!(
            *only,
            "app"
                | "workspace"
                | "work"
                | "src"
                | "project"
                | "repo"
                | "code"
                | "workdir"
                | "testbed"
        );
    }
    true
}

fn row(number: u16) -> Option<&'static PathRow> {
    PATHS.get(usize::from(number))
}

/// Returns the first row for what follows an unknown directory, which may be a home or the root.
fn behind_hole(path: &str) -> Option<&'static PathRow> {
    let (first, rest) = path.split_once('/')?;
    if !first.ends_with(HOLE) || first.chars().any(char::is_alphanumeric) {
        return None;
    }
    let row = first_match(&format!("{HOME}/{rest}")).and_then(row)?;
    // Only a telling name counts: anything at all may lie in a home.
    matches!(
        row.kind,
        PathKind::Credential
            | PathKind::Startup
            | PathKind::Guard
            | PathKind::Agent
            | PathKind::Environment
            | PathKind::Hook
    )
    .then_some(row)
}

/// Returns the number of the first row for `path`.
fn first_match(path: &str) -> Option<u16> {
    let root = if path.starts_with('/') {
        PathRoot::Slash
    } else if path.starts_with(HOME) {
        PathRoot::Home
    } else if is_drive(path) {
        PathRoot::Drive
    } else {
        PathRoot::Anywhere
    };
    let lower;
    let path = if root == PathRoot::Drive {
        lower = path.to_lowercase();
        lower.as_str()
    } else {
        path.trim_start_matches(HOME)
    };
    let names: Vec<Name<'_>> = path
        .split('/')
        .filter(|name| !name.is_empty())
        .take(NAMES_MAX)
        .map(Name::new)
        .collect();
    let mut best: Option<u16> = None;
    let mut try_pattern = |number: u16| {
        if let Some(pattern) = PATH_PATTERNS.get(usize::from(number))
            && best.is_none_or(|row| pattern.row < row)
            && (pattern.root == root || pattern.root == PathRoot::Anywhere)
            && sequence_matches(pattern.names, &names, pattern.root != PathRoot::Anywhere)
        {
            best = Some(pattern.row);
        }
    };
    let patterns = &*PATTERNS;
    patterns.any.iter().for_each(|number| try_pattern(*number));
    for name in &names {
        for (begins, ends, number) in patterns.starred(name.text) {
            if name.text.starts_with(begins) && name.text.ends_with(ends) {
                try_pattern(*number);
            }
        }
    }
    if names
        .iter()
        .any(|name| name.glob.is_some_and(Glob::says_something))
    {
        // A glob may stand for the name a pattern needs, so all that could apply are tried.
        let first = names.first().map_or("", |name| name.text);
        for number in listed(PATH_ROOTS, first).iter().chain(PATH_ANYWHERE) {
            try_pattern(*number);
        }
        return best;
    }
    for name in &names {
        for number in patterns.triggered.get(name.text).copied().unwrap_or(&[]) {
            try_pattern(*number);
        }
    }
    best
}

/// How some name must begin and end, and the pattern that needs it.
type Starred = (&'static str, &'static str, u16);

/// The patterns by what a name must have for them to be worth trying.
struct Patterns {
    /// Those that any name will do for.
    any: Vec<u16>,
    /// Those that need a name beginning with something, by its first byte.
    by_first: Vec<Vec<Starred>>,
    /// Those that need a name ending with something, by its last byte.
    by_last: Vec<Vec<Starred>>,
    /// Those that need a whole name.
    triggered: HashMap<&'static str, &'static [u16], BuildHasherDefault<DefaultHasher>>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let mut patterns = Patterns {
        any: Vec::new(),
        by_first: vec![Vec::new(); 256],
        by_last: vec![Vec::new(); 256],
        triggered: PATH_TRIGGERS.iter().copied().collect(),
    };
    for starred @ (begins, ends, number) in PATH_STARRED {
        let list = match (begins.as_bytes().first(), ends.as_bytes().last()) {
            (Some(first), _) => patterns.by_first.get_mut(usize::from(*first)),
            (None, Some(last)) => patterns.by_last.get_mut(usize::from(*last)),
            (None, None) => {
                patterns.any.push(*number);
                None
            }
        };
        if let Some(list) = list {
            list.push(*starred);
        }
    }
    patterns
});

impl Patterns {
    fn starred(&self, name: &str) -> impl Iterator<Item = &Starred> {
        let list = |lists: &'static [Vec<Starred>], byte: Option<&u8>| {
            byte.and_then(|byte| lists.get(usize::from(*byte)))
                .map_or(&[][..], Vec::as_slice)
        };
        let bytes = name.as_bytes();
        let first = list(&PATTERNS.by_first, bytes.first()).iter();
        first.chain(list(&PATTERNS.by_last, bytes.last()))
    }
}

/// Returns what a sorted table lists under `name`.
fn listed(table: &'static [(&'static str, &'static [u16])], name: &str) -> &'static [u16] {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok();
    found
        .and_then(|at| table.get(at))
        .map_or(&[], |(_, numbers)| numbers)
}

/// A name of a path, and what can be said about it once for all patterns.
#[derive(Clone, Copy, Debug)]
struct Name<'p> {
    text: &'p str,
    glob: Option<Glob<'p>>,
}

/// What a name that is a glob fixes of what it stands for.
#[derive(Clone, Copy, Debug)]
struct Glob<'p> {
    begins: &'p str,
    ends: &'p str,
    letters: usize,
}

impl<'p> Name<'p> {
    fn new(text: &'p str) -> Self {
        let glob = is_glob(text).then(|| Glob {
            begins: text.split(['*', '?', '[']).next().unwrap_or_default(),
            ends: text.rsplit(['*', '?', '[', ']']).next().unwrap_or_default(),
            letters: letters(text),
        });
        Self { text, glob }
    }
}

impl Glob<'_> {
    /// Whether it fixes at least two letters.
    const fn says_something(self) -> bool {
        self.letters >= 2
    }
}

/// Returns how many letters a name fixes. A dot in front is one: few names begin with it.
fn letters(name: &str) -> usize {
    let mut in_class = false;
    let fixed = name.chars().filter(|letter| {
        in_class = (in_class || *letter == '[') && *letter != ']';
        letter.is_alphanumeric() && !in_class
    });
    fixed.count() + usize::from(name.starts_with('.'))
}

/// Returns the most sensitive row of a file that `directory/*` stands for among others, where the
/// directory is a hidden one: `~/.aws/*` is also `~/.aws/credentials`.
fn most_sensitive_in(path: &str) -> Option<&'static PathRow> {
    let directory = path.strip_suffix("/*")?;
    let root = if directory.starts_with(HOME) {
        PathRoot::Home
    } else {
        PathRoot::Anywhere
    };
    let names: Vec<Name<'_>> = directory
        .trim_start_matches(HOME)
        .split('/')
        .filter(|name| !name.is_empty())
        .take(NAMES_MAX)
        .map(Name::new)
        .collect();
    let hidden = |name: &&str| name.starts_with('.') && !is_glob(name) && name.len() > 1;
    if !names.iter().any(|name| hidden(&name.text)) {
        return None;
    }
    let beside = PATH_PATTERNS.iter().filter(|pattern| {
        (pattern.root == root || pattern.root == PathRoot::Anywhere)
            && pattern.names.split_last().is_some_and(|(_, directories)| {
                directories.iter().any(hidden)
                    && sequence_matches(directories, &names, pattern.root != PathRoot::Anywhere)
            })
    });
    let rows = beside.filter_map(|pattern| PATHS.get(usize::from(pattern.row)));
    rows.max_by_key(|row| row.read)
}

fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

fn sequence_matches(pattern: &[&str], path: &[Name<'_>], rooted: bool) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((&"**", rest)) => {
            if rest.is_empty() {
                return !path.is_empty();
            }
            if !rest.contains(&"**") {
                // What follows must be the end of the path.
                let tail = path
                    .len()
                    .checked_sub(rest.len())
                    .and_then(|from| path.get(from..));
                return tail.is_some_and(|tail| sequence_matches(rest, tail, rooted));
            }
            (0..=path.len()).any(|skip| {
                path.get(skip..)
                    .is_some_and(|path| sequence_matches(rest, path, rooted))
            })
        }
        Some((first, rest)) => match path.split_first() {
            Some((name, path)) => {
                name_matches(first, *name, rooted) && sequence_matches(rest, path, rooted)
            }
            None => false,
        },
    }
}

/// Whether one name matches a pattern with at most a few stars. A name that is itself a glob
/// matches what it could stand for, if it says enough to mean it.
fn name_matches(pattern: &str, name: Name<'_>, rooted: bool) -> bool {
    if pattern == "*" || pattern == name.text {
        return true;
    }
    let Some(glob) = name.glob else {
        return pattern.contains('*') && glob_matches(pattern.as_bytes(), name.text.as_bytes());
    };
    // A pattern that leaves its end open is met by what meets its beginning. Most are ruled out by
    // what the glob fixes.
    let begins = pattern.trim_end_matches('*');
    begins.starts_with(glob.begins)
        && begins.ends_with(glob.ends)
        && glob.says_something()
        && (rooted || glob.letters * 2 >= letters(begins))
        && !begins.contains('*')
        && glob_matches(name.text.as_bytes(), begins.as_bytes())
}

/// Matches a glob of `*`, `?` and `[…]`, remembering only the last star, so in time proportional to
/// the product of the lengths.
pub fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        let step = match glob.get(at) {
            Some(b'*') => {
                star = Some((at + 1, seen));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => {
                let class = glob.get(at + 1..).unwrap_or(&[]);
                class
                    .iter()
                    .skip(1)
                    .position(|byte| *byte == b']')
                    .map(|close| close + 3)
            }
            Some(byte) if text.get(seen) == Some(byte) => Some(1),
            Some(_) | None => None,
        };
        match (step, star) {
            (Some(step), _) => {
                at += step;
                seen += 1;
            }
            (None, Some((after, from))) => {
                at = after;
                seen = from + 1;
                star = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    glob.get(at..)
        .unwrap_or(&[])
        .iter()
        .all(|byte| *byte == b'*')
}

/// Returns a marked path as people read it.
pub fn display(path: &str) -> String {
    path.replace(HOME, "~").replace(HOLE, "…")
}
