//! Matches a path against the rows of the path tables.
//!
//! There are a thousand patterns and every word of a command may be a path, so a pattern is tried
//! only where the path has a name that it needs.

use super::{HOME, first_name, is_drive};
use crate::glob::{glob_matches, is_glob};
use crate::knowledge::{
    NeededName, PATH_ANY, PATH_BEGINNINGS, PATH_DRIVES, PATH_ENDS, PATH_PATTERNS, PATH_STARRED,
    PATH_TRIGGER_ENDS, PATH_TRIGGERS, PATHS, PathKind, PathPattern, PathRoot, PathRow, StarredName,
    letters, path_patterns,
};

/// Names of a path that are looked at; deeper ones cannot make it less sensitive.
const NAMES_MAX: usize = 64;
/// Names that most paths do not have more of.
const USUAL_NAMES: usize = 8;

/// Returns the number of the first row for `path`.
pub(super) fn first_match(path: &str) -> Option<u16> {
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
    let names = names(path);
    let mut best: Option<u16> = None;
    let spelled = Spelled::new(&names);
    // What a glob stands for may have any letters.
    let letters = match spelled.letters {
        None => letters(path.as_bytes()),
        Some(_) => u64::MAX,
    };
    let possible = |number: u16| {
        let pattern = PATH_PATTERNS.get(usize::from(number))?;
        let is_possible = pattern.letters & !letters == 0
            && (pattern.root == root || pattern.root == PathRoot::Anywhere);
        is_possible.then_some(pattern)
    };
    let mut try_pattern = |number: u16| {
        if let Some(pattern) = possible(number)
            && best.is_none_or(|row| pattern.row < row)
            && spelled.matches(pattern)
        {
            best = Some(pattern.row);
        }
    };
    let drives = match root {
        PathRoot::Drive => PATH_DRIVES,
        PathRoot::Slash | PathRoot::Home | PathRoot::Anywhere => &[],
    };
    for number in PATH_ANY.iter().chain(drives) {
        try_pattern(*number);
    }
    for name in &names {
        for (begins, ends, number) in starred(name.text) {
            if possible(*number).is_some()
                && name.text.starts_with(begins)
                && name.text.ends_with(ends)
            {
                try_pattern(*number);
            }
        }
    }
    let globs = names.iter().filter_map(|name| name.glob);
    let telling = globs.filter(|glob| glob.says_something());
    if telling.clone().next().is_some() {
        // A glob may stand for the name a pattern needs, and for a name with a star at its end.
        let first = names.first().map_or("", |name| name.text);
        let mut try_if_rooted = |number: u16| {
            let pattern = PATH_PATTERNS.get(usize::from(number));
            if pattern.is_some_and(|pattern| may_begin_with(pattern, first)) {
                try_pattern(number);
            }
        };
        for (begins, ends, number) in PATH_STARRED {
            let mut telling = telling.clone();
            if ends.is_empty() && telling.any(|glob| glob.may_be(begins)) {
                try_if_rooted(*number);
            }
        }
        for number in names.iter().flat_map(|name| needing(*name)) {
            try_if_rooted(number);
        }
        return best;
    }
    for name in &names {
        for number in path_patterns(name.text) {
            try_pattern(*number);
        }
    }
    best
}

/// Returns the names of a path that are looked at.
fn names(path: &str) -> Vec<Name<'_>> {
    let mut names = Vec::with_capacity(USUAL_NAMES);
    let mut rest = Some(path);
    while let Some(path) = rest
        && names.len() < NAMES_MAX
    {
        let (name, behind) = first_name(path);
        if !name.is_empty() {
            names.push(Name::new(name));
        }
        rest = behind;
    }
    names
}

/// The names of a path in two readings.
struct Spelled<'n, 'p> {
    names: &'n [Name<'p>],
    /// The same with globs as mere letters, where there are any.
    letters: Option<Vec<Name<'p>>>,
}

impl<'n, 'p> Spelled<'n, 'p> {
    fn new(names: &'n [Name<'p>]) -> Self {
        let letters = |name: &Name<'p>| Name {
            glob: None,
            ..*name
        };
        let has_glob = names.iter().any(|name| name.glob.is_some());
        Self {
            names,
            letters: has_glob.then(|| names.iter().map(letters).collect()),
        }
    }

    /// Whether a pattern is about the path. One glob may stand for many files; a row that says of
    /// some files that they are public must be about all of them, any other about one of them.
    fn matches(&self, pattern: &PathPattern) -> bool {
        let calms = || {
            let row = PATHS.get(usize::from(pattern.row));
            row.is_some_and(|row| row.kind == PathKind::Document && row.read == 0)
        };
        let names = match &self.letters {
            Some(letters) if calms() => letters,
            Some(_) | None => self.names,
        };
        sequence_matches(pattern.names, names, pattern.root != PathRoot::Anywhere)
    }
}

/// Returns the patterns that a name may begin and end as needed for.
fn starred(name: &str) -> impl Iterator<Item = &'static StarredName> {
    let first = under(PATH_BEGINNINGS, name.as_bytes().first());
    first.iter().chain(under(PATH_ENDS, name.as_bytes().last()))
}

/// Returns the patterns that need a name which `name` is or could stand for.
fn needing(name: Name<'_>) -> impl Iterator<Item = u16> {
    let exact = match name.glob {
        None => path_patterns(name.text),
        Some(_) => &[],
    };
    let possible = name.glob.filter(|glob| glob.says_something());
    let possible = possible.into_iter().flat_map(|glob| {
        let last = glob.ends.as_bytes().last();
        let listed = match last {
            Some(_) if glob.begins.is_empty() => under(PATH_TRIGGER_ENDS, last),
            Some(_) | None => {
                let from = PATH_TRIGGERS.partition_point(|(name, _)| *name < glob.begins);
                PATH_TRIGGERS.get(from..).unwrap_or_default()
            }
        };
        let begins = move |(needed, _): &&NeededName| needed.starts_with(glob.begins);
        let listed = listed.iter().take_while(begins);
        listed.filter(move |(needed, _)| glob.may_be(needed))
    });
    let possible = possible.flat_map(|(_, numbers)| *numbers);
    exact.iter().chain(possible).copied()
}

/// Returns the list that stands under a byte.
fn under<T>(lists: &'static [(u8, &'static [T])], byte: Option<&u8>) -> &'static [T] {
    let at = byte.and_then(|byte| lists.binary_search_by_key(byte, |(known, _)| *known).ok());
    let found = at.and_then(|at| lists.get(at));
    found.map_or(&[], |(_, list)| list)
}

/// Whether a path whose first name is `first` may be one of `pattern`.
fn may_begin_with(pattern: &PathPattern, first: &str) -> bool {
    let begins = pattern.names.first().copied().unwrap_or_default();
    pattern.root == PathRoot::Anywhere || begins.contains('*') || begins == first
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
            letters: fixed_letters(text),
        });
        Self { text, glob }
    }
}

impl Glob<'_> {
    /// Whether it fixes at least two letters.
    const fn says_something(self) -> bool {
        self.letters >= 2
    }

    /// Whether `name` begins and ends as it does.
    fn may_be(self, name: &str) -> bool {
        name.starts_with(self.begins) && name.ends_with(self.ends)
    }
}

/// Returns how many letters a name fixes. A dot in front is one: few names begin with it.
fn fixed_letters(name: &str) -> usize {
    let mut in_class = false;
    let fixed = name.chars().filter(|letter| {
        in_class = (in_class || *letter == '[') && *letter != ']';
        (letter.is_alphanumeric() || *letter == '_') && !in_class
    });
    fixed.count() + usize::from(name.starts_with('.'))
}

/// Returns the most sensitive row of a file that `directory/*` stands for among others, where the
/// directory is a hidden one: `~/.aws/*` is also `~/.aws/credentials`.
pub(super) fn most_sensitive_in(path: &str) -> Option<&'static PathRow> {
    let directory = path.strip_suffix("/*")?;
    let root = if directory.starts_with(HOME) {
        PathRoot::Home
    } else {
        PathRoot::Anywhere
    };
    let names = names(directory.trim_start_matches(HOME));
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
        && (rooted || glob.letters * 2 >= fixed_letters(begins))
        && !begins.contains('*')
        && glob_matches(name.text.as_bytes(), begins.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::{PATH_ANYWHERE, PATH_ROOTS};

    /// Tries every pattern that could apply, without leaving any out for its names.
    fn first_of_all(path: &str) -> Option<u16> {
        let root = if path.starts_with('/') {
            PathRoot::Slash
        } else if path.starts_with(HOME) {
            PathRoot::Home
        } else {
            PathRoot::Anywhere
        };
        let path = path.trim_start_matches(HOME);
        let names = path.split('/').filter(|name| !name.is_empty());
        let names: Vec<Name<'_>> = names.map(Name::new).collect();
        let first = names.first().map_or("", |name| name.text);
        let rooted = PATH_ROOTS.iter().filter(|(name, _)| *name == first);
        let rooted = rooted.flat_map(|(_, numbers)| *numbers);
        let patterns = rooted.chain(PATH_ANYWHERE).filter_map(|number| {
            let pattern = PATH_PATTERNS.get(usize::from(*number))?;
            let is_rooted = pattern.root != PathRoot::Anywhere;
            let fits = pattern.root == root || !is_rooted;
            (fits && Spelled::new(&names).matches(pattern)).then_some(pattern.row)
        });
        patterns.min()
    }

    #[test]
    fn no_pattern_is_left_out_that_would_have_matched() {
        let names = [
            ".ssh",
            "id_rsa",
            "id_*",
            "*.pem",
            "*.rs",
            ".aws",
            "cred*",
            "?redentials",
            "*",
            ".e*",
            ".env",
            ".env.local",
            "etc",
            "passwd",
            "pass[w]d",
            "src",
            "main.rs",
            ".git",
            "hooks",
            "conf*g",
            "Jenkinsfile",
            "server.key",
            "*key*",
            "authorized_k*",
            ".docker",
            "proc",
        ];
        let home = HOME.to_string();
        for begins in ["", "/", home.as_str()] {
            for first in names {
                for second in names {
                    for path in [
                        format!("{begins}/{first}"),
                        format!("{begins}/{first}/{second}"),
                        format!("{begins}/shop/{first}/{second}"),
                    ] {
                        let path = if begins == "/" {
                            path.replace("//", "/")
                        } else {
                            path
                        };
                        let path = if begins.is_empty() {
                            path.trim_start_matches('/')
                        } else {
                            path.as_str()
                        };
                        assert_eq!(first_match(path), first_of_all(path), "{path}");
                    }
                }
            }
        }
    }
}
