//! The sensitivity of a path: lexical, without access to the file system.
//!
//! Links are not followed: that would race, and the core reads no files. So a path is what its
//! text says, after `.`, `..`, doubled slashes and the ways around (`/proc/self/root`) are gone.

pub(crate) mod below;
mod beside;
mod drives;
mod patterns;
pub(crate) mod shares;
mod workspace;

use std::sync::Arc;

use self::patterns::{first_match, most_sensitive_in};
use crate::knowledge::{PATHS, PathKind, PathRow};
use crate::score::Score;

pub use self::workspace::may_be_vouched;
pub(crate) use self::workspace::{is_shared, lies_in};

/// Stands for the home directory in an expanded word: `~`, `$HOME`.
pub(crate) const HOME: char = '\u{fdd1}';
/// Stands for a part of a word that cannot be known.
pub(crate) const HOLE: char = '\u{fdd0}';
/// Follows a [`HOLE`] that is the number of a process this script may end: the one it started last, or
/// what serves a port of development.
pub(crate) const JOB: char = '\u{fdd2}';

/// Where a call happens, as far as it is known. It is copied wherever a command may leave the
/// directory, so the copies share their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The working directory: absolute, or beginning with [`HOME`]. `None`: nothing is claimed.
    pub cwd: Option<Arc<str>>,
    /// The directory inside which ordinary work is no question.
    pub workspace: Option<Arc<str>>,
    /// The directory it would still be in had a `cd` failed that nobody looked after.
    pub perhaps: Option<Arc<str>>,
    /// Whether the working directory is one of Windows.
    pub(crate) is_windows: bool,
    /// The directory that was claimed, where only the owner's word is missing to make it a workspace.
    unvouched: Option<Arc<str>>,
    /// The row that is about the workspace as a whole, where the owner's word outweighs it.
    outweighed: Option<u16>,
}

/// The row of one path.
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
    /// Returns ground with `cwd` as claimed and the workspace it may count as on the asker's word.
    pub fn new(cwd: Option<&str>, workspace: Option<&str>) -> Self {
        Self::with(cwd, workspace, false)
    }

    /// Returns ground whose workspace the owner has vouched for.
    pub fn vouched(cwd: Option<&str>, workspace: Option<&str>) -> Self {
        Self::with(cwd, workspace, true)
    }

    /// Returns ground without a workspace, whatever is claimed.
    pub fn nowhere(cwd: Option<&str>) -> Self {
        Self::with(cwd, Some(""), false)
    }

    fn with(cwd: Option<&str>, workspace: Option<&str>, vouched: bool) -> Self {
        let claim = workspace.or(cwd);
        let counts = claim.and_then(|claim| workspace::workspace(claim, vouched));
        let counts: Option<Arc<str>> = counts.map(Arc::from);
        let unvouched = claim.filter(|_| counts.is_none());
        let unvouched = unvouched.and_then(|claim| workspace::workspace(claim, true));
        let outweighed = counts.as_deref().filter(|_| vouched);
        let here = match &counts {
            // The same directory, in the same form.
            Some(counts) if workspace.is_none() => Some(Arc::clone(counts)),
            Some(_) | None => {
                let marked = cwd.map(mark_home).filter(|path| is_absolute(path));
                marked.map(|path| normalise(&path).into())
            }
        };
        Self {
            outweighed: outweighed.and_then(first_match),
            unvouched: unvouched.map(Arc::from),
            cwd: here,
            workspace: counts,
            perhaps: None,
            is_windows: cwd.is_some_and(|cwd| is_drive(cwd) || cwd.starts_with("\\\\")),
        }
    }

    /// Returns the ground after `cd directory`; what is not known makes the directory unknown.
    pub fn enter(&mut self, directory: &str) {
        let path = self.resolve(directory);
        self.cwd = (is_absolute(&path) && !has_hole(&path)).then(|| path.into());
    }

    /// Returns `text` as a normalised path, absolute where the working directory is known.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let text = text.strip_prefix("file://").unwrap_or(text);
        if is_absolute(text) {
            let mounted = if self.is_windows {
                drives::of_mount(text)
            } else {
                None
            };
            return mounted.unwrap_or_else(|| normalise(text));
        }
        // A `~` that was quoted is a strange name for a file, and more likely meant as a home.
        if text == "~" || text.starts_with("~/") {
            return normalise(&mark_home(text));
        }
        // A name with backslashes alone is one of Windows, wherever it is said.
        if text.contains('\\') && !text.contains('/') {
            return self.resolve(&text.replace('\\', "/"));
        }
        match &self.cwd {
            Some(cwd) => normalise(&[cwd.as_ref(), "/", text].concat()),
            None => normalise(text),
        }
    }

    /// Returns what is known about the path `text`.
    pub fn place(&self, text: &str) -> Place {
        let path = self.resolve(text);
        let rated = self.rated(text, &path);
        Place {
            whole_workspace: self.whole(&path),
            path: display(&path),
            kind: rated.kind,
            what: rated.what,
            read: Score::new(rated.read),
            write: Score::new(rated.write),
            inside: rated.inside,
            vague: rated.vague,
        }
    }

    /// Returns the kind of a place alone, for the many texts of which most are no path.
    pub(crate) fn kind(&self, text: &str) -> PathKind {
        self.rated(text, &self.resolve(text)).kind
    }

    /// Rates `text`, which leads to `path`.
    fn rated(&self, text: &str, path: &str) -> Rated {
        let vague = has_hole(path);
        let inside = self.inside(path);
        let relative = self.relative(path);
        let in_workspace = relative.and_then(first_match);
        // What the owner calls a workspace is not judged by the place it lies in.
        let by_path = first_match(path)
            .filter(|number| inside != Some(true) || self.outweighed != Some(*number));
        let found = [by_path, in_workspace].into_iter().flatten();
        let found = found.min().and_then(row).or_else(|| behind_hole(path));
        let (mut kind, mut what, mut read, mut write) = match found {
            Some(row) => (row.kind, row.what, row.read, row.write),
            None => self.ordinary(path, inside, vague),
        };
        // Where a call claims to be never makes what it names less sensitive.
        if !is_absolute(text)
            && self.cwd.is_some()
            && let Some(row) = named(text, relative, in_workspace)
        {
            if row.read > read || row.write > write || runs_later(row.kind) {
                (kind, what) = (row.kind, row.what);
            }
            read = read.max(row.read);
            write = write.max(row.write);
        }
        if let Some(row) = most_sensitive_in(path).filter(|row| row.read > read) {
            (kind, what, read) = (row.kind, row.what, row.read);
        }
        Rated {
            kind,
            what,
            read,
            write,
            inside,
            vague,
        }
    }

    /// Whether a path lies in the claimed directory, which is no workspace without the owner's word. What
    /// a build there picks up by itself is no question, so the same file is none when it is named.
    pub(crate) fn is_picked_up(&self, text: &str) -> bool {
        let path = self.resolve(text);
        let rest = self
            .unvouched
            .as_deref()
            .and_then(|front| self.behind(&path, front));
        rest.is_some_and(|rest| rest.starts_with('/')) && !path.contains(HOLE)
    }

    /// Returns the path as seen from the workspace, where it lies inside.
    fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let workspace = self.workspace.as_deref()?;
        let rest = self.behind(path, workspace)?;
        if rest.is_empty() {
            Some(".")
        } else {
            rest.strip_prefix('/')
        }
    }

    /// Returns what follows `front` in `path`; on Windows the case of letters does not tell paths apart.
    fn behind<'p>(&self, path: &'p str, front: &str) -> Option<&'p str> {
        if self.is_windows {
            drives::strip_prefix(path, front)
        } else {
            path.strip_prefix(front)
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
                let rest = self.behind(workspace, base);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

/// What the tables and the workspace say about a path.
struct Rated {
    kind: PathKind,
    what: &'static str,
    read: u16,
    write: u16,
    inside: Option<bool>,
    vague: bool,
}

/// Returns the first row for a path as it is written, which is mostly what it is inside the workspace.
fn named(
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

/// Whether what lies in a place of this kind is run or obeyed by something later.
const fn runs_later(kind: PathKind) -> bool {
    matches!(
        kind,
        PathKind::Guard
            | PathKind::Agent
            | PathKind::Instruction
            | PathKind::Startup
            | PathKind::Schedule
            | PathKind::Ci
            | PathKind::Hook
    )
}

/// The byte that [`HOME`], [`HOLE`] and [`JOB`] begin with. Few words have it.
const MARK: u8 = 0xef;

/// Whether part of a text is not known.
pub(crate) fn has_hole(text: &str) -> bool {
    memchr::memchr(MARK, text.as_bytes()).is_some() && text.contains(HOLE)
}

/// Whether `path` begins at a root, a home or a drive.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with(HOME) || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    matches!((bytes.next(), bytes.next(), bytes.next()), (Some(letter), Some(b':'), Some(b'\\' | b'/') | None) if letter.is_ascii_alphabetic())
}

/// Returns `path` with a home directory at its front replaced by [`HOME`].
pub(crate) fn mark_home(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path == "~" {
        return HOME.to_string();
    }
    match path.strip_prefix("~/") {
        Some(rest) => in_home(rest),
        None => path.to_owned(),
    }
}

/// Returns the path that `rest` is below a home.
fn in_home(rest: &str) -> String {
    let mut path = String::with_capacity(HOME.len_utf8() + 1 + rest.len());
    path.push(HOME);
    path.push('/');
    path.push_str(rest);
    path
}

/// Returns `path` without `.`, `..`, doubled slashes and ways around, homes marked.
pub fn normalise(path: &str) -> String {
    fold_home(plain(path).path)
}

/// A path without `.`, `..`, doubled slashes and ways around.
struct Plain {
    path: String,
    /// Whether it was seen through a process (`/proc/self/root`).
    by_process: bool,
}

fn plain(path: &str) -> Plain {
    if is_plain(path) {
        return Plain {
            path: path.to_owned(),
            by_process: false,
        };
    }
    cleaned(path)
}

/// Whether a path is spelled as most are, so that nothing in it has to go.
fn is_plain(path: &str) -> bool {
    let rooted = path.strip_prefix('/');
    // `/proc/self/root`, `/private/etc`, and `/$HOME`, which is a home all the same.
    let may_lead_around = rooted.is_some_and(|below| {
        below.starts_with("proc/") || below.starts_with("private/") || below.starts_with(HOME)
    });
    let below = rooted.unwrap_or(path).as_bytes();
    // A name begins at the front and behind every slash.
    let begins_well = |name: &[u8]| {
        !matches!(
            name,
            [] | [b'/', ..] | [b'.'] | [b'.', b'/', ..] | [b'.', b'.'] | [b'.', b'.', b'/', ..]
        )
    };
    let names_begin_well = || {
        let bytes = below.iter().enumerate();
        let mut slashes = bytes.filter(|(_, byte)| **byte == b'/');
        slashes.all(|(at, _)| below.get(at + 1..).is_some_and(begins_well))
    };
    !may_lead_around && !below.contains(&b'\\') && begins_well(below) && names_begin_well()
}

fn cleaned(path: &str) -> Plain {
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
    let mut by_process = false;
    loop {
        match names.as_slice() {
            ["proc", _, "root" | "cwd", ..] if absolute => {
                names.drain(..3);
                by_process = true;
            }
            ["proc", _, "task", _, "root" | "cwd", ..] if absolute => {
                names.drain(..5);
                by_process = true;
            }
            ["private", "etc" | "var" | "tmp", ..] if absolute => {
                names.remove(0);
            }
            _ => break,
        }
    }
    let joined = names.join("/");
    let path = if joined.starts_with(HOME) {
        joined
    } else if absolute {
        format!("/{joined}")
    } else if joined.is_empty() {
        ".".to_owned()
    } else {
        joined
    };
    Plain { path, by_process }
}

/// Returns a path below a drive as Git Bash shows it as Windows writes it, and others as they are.
pub(crate) fn of_drive(path: &str) -> String {
    drives::of_mount(path).unwrap_or_else(|| path.to_owned())
}

/// Returns `path` with `/root`, `/home/name` and `/Users/name` as [`HOME`].
pub(crate) fn fold_home(path: String) -> String {
    match below_home(&path) {
        Some("") => HOME.to_string(),
        Some(rest) => in_home(rest),
        None => path,
    }
}

/// Returns what follows a home at the front of `path`, if there is one; nothing follows where the path
/// is the home.
fn below_home(path: &str) -> Option<&str> {
    let (root, rest) = first_name(path);
    let (first, rest) = first_name(rest?);
    if root.is_empty() && first == "root" {
        return Some(rest.unwrap_or_default());
    }
    let (name, rest) = first_name(rest?);
    let homes = match first {
        "home" => root.is_empty(),
        "Users" => root.is_empty() || is_drive(path),
        _ => false,
    };
    let is_pattern = root.is_empty() && (name.contains('*') || name.starts_with('.'));
    (homes && !is_pattern).then_some(rest.unwrap_or_default())
}

/// Splits a path behind its first name.
pub(crate) fn first_name(path: &str) -> (&str, Option<&str>) {
    let at = path.bytes().position(|byte| byte == b'/');
    match at.and_then(|at| path.split_at_checked(at)) {
        Some((name, rest)) => (name, rest.get(1..)),
        None => (path, None),
    }
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
            | PathKind::Instruction
            | PathKind::Environment
            | PathKind::Hook
    )
    .then_some(row)
}

/// Returns a marked path as people read it.
pub fn display(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = memchr::memchr(MARK, rest.as_bytes())
        && let Some((before, behind)) = rest.split_at_checked(at)
    {
        let mut letters = behind.chars();
        shown.push_str(before);
        match letters.next() {
            Some(HOME) => shown.push('~'),
            Some(HOLE) => shown.push('…'),
            Some(JOB) | None => {}
            Some(other) => shown.push(other),
        }
        rest = letters.as_str();
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_left_as_it_is_has_nothing_to_be_cleaned() {
        let home = HOME.to_string();
        let names = [
            "",
            ".",
            "..",
            "...",
            ".x",
            "a",
            "proc",
            "self",
            "root",
            "private",
            "tmp",
            "C:",
            "a\\b",
            "home",
            home.as_str(),
        ];
        let mut left = 0;
        for front in ["", "/", "//"] {
            for first in names {
                for second in names {
                    for third in names {
                        for path in [
                            format!("{front}{first}"),
                            format!("{front}{first}/{second}"),
                            format!("{front}{first}/{second}/{third}"),
                        ] {
                            let Plain {
                                path: clean,
                                by_process,
                            } = cleaned(&path);
                            if is_plain(&path) {
                                left += 1;
                                assert_eq!((clean, by_process), (path.clone(), false), "{path}");
                            }
                        }
                    }
                }
            }
        }
        assert!(left > 1000, "{left} paths are left as they are");
    }

    #[test]
    fn homes_are_folded_whoever_lives_there() {
        for (path, folded) in [
            ("/root", "~"),
            ("/root/a/b", "~/a/b"),
            ("/home/ana", "~"),
            ("/home/ana/a", "~/a"),
            ("/Users/ana/a/b", "~/a/b"),
            ("C:/Users/ana/a", "~/a"),
            ("C:/Users/.x/a", "~/a"),
            ("/home", "/home"),
            ("/home/*", "/home/*"),
            ("/home/.x/a", "/home/.x/a"),
            ("/rooted/a", "/rooted/a"),
            ("C:/home/ana/a", "C:/home/ana/a"),
            ("a/home/ana", "a/home/ana"),
            ("root/a", "root/a"),
        ] {
            assert_eq!(display(&fold_home(path.to_owned())), folded, "{path}");
        }
        assert_eq!(normalise(&format!("/{HOME}/a")), format!("{HOME}/a"));
        let marked = format!("{HOME}/\u{f8ff}/{HOLE}{JOB}");
        assert_eq!(display(&marked), "~/\u{f8ff}/…");
    }
}
