//! The most sensitive file inside a directory, for calls that read all of it.
//!
//! Nobody looks at the file system. The tables of paths say where credentials lie; a directory above such a
//! place, or one called as if it were, holds them as far as anybody can tell.

use super::{Ground, HOLE, HOME};
use crate::glob::glob_matches;
use crate::knowledge::{PATH_PATTERNS, PATH_SECRETS, PATHS, PathKind, PathPattern, PathRoot};
use crate::score::Score;

/// How sensitive a file must be to count for the directory it lies in.
const SENSITIVE: u16 = 600;
/// Places that are tried until one is as sensitive as its pattern says.
const TRIED_MAX: usize = 64;

/// What somebody who reads a whole directory leaves out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    /// Hidden files and directories are left out.
    pub(crate) skips_hidden: bool,
    /// Only names like these are read; all, if there are none.
    pub(crate) only: Vec<String>,
    /// Names or paths like these are left out.
    pub(crate) not: Vec<String>,
    /// How many directories deep it goes.
    pub(crate) depth: Option<usize>,
}

impl Ground {
    /// Returns the path of the most sensitive file that lies in `directory` and is not left out.
    pub(crate) fn sensitive_below(&self, directory: &str, look: &Look) -> Option<String> {
        let bare = directory.trim_end_matches(['*', '/']);
        let root = self.resolve(match bare {
            "" if directory.starts_with('/') => "/",
            "" => ".",
            bare => bare,
        });
        if root.contains(HOLE) {
            return None;
        }
        // Whoever gives the name of a secret means the secret.
        let given = look.only.iter().filter(|only| !only.contains('/'));
        let inside = self.inside(&root) == Some(true);
        let given = given.filter_map(|only| {
            let only = if inside {
                named_by(only)?
            } else {
                only.clone()
            };
            Some(format!("{root}/x/{only}"))
        });
        let telling = given.into_iter().find(|path| self.is_secret(path));
        if telling.is_some() {
            return telling;
        }
        let whole = is_above_a_home(&root);
        let above = usize::from(whole && !root.starts_with(HOME));
        // What lies openly in a home is mostly no secret; a search that keeps to it is no question.
        if whole && look.skips_hidden {
            return None;
        }
        let names: Vec<&str> = names(&root);
        let secrets = PATH_SECRETS.iter();
        let secrets = secrets.filter_map(|number| PATH_PATTERNS.get(usize::from(*number)));
        let paths = secrets.filter_map(|pattern| {
            let row = PATHS.get(usize::from(pattern.row))?;
            // A project may have a folder called like one of a home, with other things in it.
            let elsewhere = inside && row.kind != PathKind::Guard;
            if row.read < SENSITIVE || elsewhere {
                return None;
            }
            let below = remaining(pattern, row.kind, &root, &names, whole)?;
            let below = look.admits(&below, above)?;
            let front = if whole {
                HOME.to_string()
            } else {
                root.clone()
            };
            Some(format!("{front}/{below}"))
        });
        paths.take(TRIED_MAX).find(|path| self.is_secret(path))
    }

    fn is_secret(&self, path: &str) -> bool {
        let place = self.place(path);
        place.read >= Score::new(SENSITIVE) && holds_secrets(place.kind)
    }
}

impl Look {
    /// Returns the path of a file that the names of a pattern stand for, where it is not left out. It lies
    /// at least `above` directories deeper than its names say.
    fn admits(&self, below: &[&str], above: usize) -> Option<String> {
        let (last, directories) = below.split_last()?;
        let directories = directories.iter().filter(|name| **name != "**");
        let mut path: Vec<String> = directories.map(|name| example(name)).collect();
        let last = if *last == "**" { "*" } else { last };
        let paths = self.only.iter().filter(|only| only.contains('/'));
        let example = format!("./{}/{}", path.join("/"), example(last));
        let by_path = paths
            .into_iter()
            .any(|only| glob_matches(only.as_bytes(), example.as_bytes()));
        let name = if by_path {
            Some(self::example(last))
        } else {
            self.named(last)
        };
        path.push(name?);
        let hidden = |name: &String| name.starts_with('.');
        if self.skips_hidden && path.iter().any(hidden) {
            return None;
        }
        if self.depth.is_some_and(|depth| path.len() + above > depth) {
            return None;
        }
        let joined = path.join("/");
        let whole_path = format!("./{joined}");
        let left_out = |glob: &String| {
            let like = |name: &String| glob_matches(glob.as_bytes(), name.as_bytes());
            path.iter().any(like) || glob_matches(glob.as_bytes(), whole_path.as_bytes())
        };
        (!self.not.iter().any(left_out)).then_some(joined)
    }

    /// Returns a name that a pattern stands for and that is among those that are read.
    fn named(&self, pattern: &str) -> Option<String> {
        let example = example(pattern);
        if self.only.is_empty() {
            return Some(example);
        }
        let names = self.only.iter().filter(|only| !only.contains('/'));
        names.into_iter().find_map(|name| {
            let name = name.as_str();
            if matches!(name, "*" | "**" | ".*" | "*.*") {
                return Some(example.clone());
            }
            let is_glob = name.contains(['*', '?', '[', '{']);
            if is_glob {
                let glob = name.split('{').next().unwrap_or(name);
                let open = glob.len() < name.len();
                let glob = if open {
                    format!("{glob}*")
                } else {
                    glob.to_owned()
                };
                return glob_matches(glob.as_bytes(), example.as_bytes()).then(|| example.clone());
            }
            let bare = pattern != "*" && glob_matches(pattern.as_bytes(), name.as_bytes());
            bare.then(|| name.to_owned())
        })
    }
}

/// Returns the name that a pattern is about, where it is about one: `.env` for `*.env*`, nothing for `*`.
fn named_by(pattern: &str) -> Option<String> {
    let is_sign = |letter: &char| matches!(letter, '*' | '?' | '{' | '}');
    let name: String = pattern.chars().filter(|sign| !is_sign(sign)).collect();
    name.chars().any(char::is_alphanumeric).then_some(name)
}

/// Returns a name that a pattern with stars stands for.
fn example(pattern: &str) -> String {
    let rest = pattern.trim_start_matches('*').replace('*', "");
    if rest.len() < pattern.len() && pattern.starts_with('*') {
        format!("x{rest}")
    } else {
        rest
    }
}

/// Whether what lies in a place of this kind is worth stealing.
const fn holds_secrets(kind: PathKind) -> bool {
    matches!(
        kind,
        PathKind::Credential | PathKind::Guard | PathKind::Environment | PathKind::History
    )
}

fn names(path: &str) -> Vec<&str> {
    let names = path.trim_start_matches(HOME).split('/');
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether a directory is a home or holds homes.
fn is_above_a_home(path: &str) -> bool {
    path.trim_end_matches('/').len() == HOME.len_utf8() && path.starts_with(HOME)
        || matches!(
            path,
            "/" | "/home" | "/Users" | "/host" | "/hostfs" | "/mnt/c" | "/mnt/c/Users"
        )
        || matches!(path.len(), 2 | 3) && path.as_bytes().get(1) == Some(&b':')
        || path
            .get(1..)
            .is_some_and(|rest| rest.eq_ignore_ascii_case(":/users"))
}

/// Returns the names of `pattern` that follow those of the directory `root`, where it lies in there.
fn remaining<'p>(
    pattern: &'p PathPattern,
    kind: PathKind,
    root: &str,
    names: &[&str],
    whole: bool,
) -> Option<Vec<&'p str>> {
    let hidden = |name: &&str| name.starts_with('.') && name.len() > 1;
    match (pattern.root, pattern.names) {
        (PathRoot::Home, _) if whole => Some(pattern.names.to_vec()),
        (PathRoot::Home, _) if root.starts_with(HOME) => after(pattern.names, names),
        (PathRoot::Slash, _) if root.starts_with('/') && kind == PathKind::Guard => {
            // Settings of the machine are searched through every day, mostly without a right to its keys.
            after(pattern.names, names).filter(|_| names.len() > 1)
        }
        (PathRoot::Anywhere, ["**", rest @ ..]) if whole => {
            let tells = rest.len() > 1 && rest.first().is_some_and(hidden);
            tells.then(|| rest.to_vec())
        }
        (PathRoot::Anywhere, ["**", rest @ ..]) => {
            let begins = (0..names.len()).filter_map(|from| names.get(from..));
            let ends = begins.filter(|tail| {
                let first = rest.first().zip(tail.first());
                first.is_some_and(|(name, tail)| hidden(name) && name == tail)
            });
            ends.into_iter().find_map(|tail| after(rest, tail))
        }
        (PathRoot::Home | PathRoot::Slash | PathRoot::Drive | PathRoot::Anywhere, _) => None,
    }
}

/// Returns what is left of a pattern after the names of a directory; `**` stands for any of them.
fn after<'p>(pattern: &'p [&'p str], directory: &[&str]) -> Option<Vec<&'p str>> {
    for (at, name) in directory.iter().enumerate() {
        match pattern.get(at) {
            Some(&"**") => return pattern.get(at..).map(<[_]>::to_vec),
            Some(known) if glob_matches(known.as_bytes(), name.as_bytes()) => {}
            Some(_) | None => return None,
        }
    }
    let left = pattern.get(directory.len()..)?;
    (!left.is_empty()).then(|| left.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(directory: &str, look: &Look) -> Option<String> {
        let path = super::super::mark_home(directory);
        let found = Ground::default().sensitive_below(&path, look);
        found.map(|path| super::super::display(&path))
    }

    #[test]
    fn a_home_holds_the_keys_of_the_firewall_and_a_project_does_not() {
        let all = Look::default();
        for directory in [
            "~",
            "~/",
            "~/**",
            "/home",
            "/",
            "//",
            "/root",
            "/home/ana",
            "~/.countersign",
            "C:/Users",
        ] {
            let found = below(directory, &all).unwrap_or_default();
            assert!(found.contains(".countersign/"), "{directory}: {found}");
        }
        assert_eq!(
            below("~/.ssh", &all)
                .as_deref()
                .map(|path| path.starts_with("~/.ssh/")),
            Some(true)
        );
        assert!(below("~/.config", &all).is_some());
        for directory in [
            "~/project",
            "/srv/app",
            "src",
            ".",
            "/etc",
            "/usr/include",
            "~/project/.github",
            "/var/log",
        ] {
            assert_eq!(below(directory, &all), None, "{directory}");
        }
    }

    #[test]
    fn the_build_lists_the_patterns_of_all_places_that_hold_secrets() {
        let holds = |pattern: &PathPattern| {
            let row = PATHS.get(usize::from(pattern.row));
            row.is_some_and(|row| holds_secrets(row.kind))
        };
        let read = |number: &u16| {
            let pattern = PATH_PATTERNS.get(usize::from(*number));
            let row = pattern.and_then(|pattern| PATHS.get(usize::from(pattern.row)));
            std::cmp::Reverse(row.map(|row| row.read))
        };
        let all = (0..).zip(PATH_PATTERNS);
        let mut held: Vec<u16> = all
            .filter(|(_, pattern)| holds(pattern))
            .map(|(number, _)| number)
            .collect();
        held.sort_by_key(read);
        assert_eq!(held, PATH_SECRETS, "the most sensitive first");
    }

    #[test]
    fn what_is_left_out_is_not_read() {
        let look = |only: &[&str], not: &[&str]| Look {
            only: only.iter().map(|glob| (*glob).to_owned()).collect(),
            not: not.iter().map(|glob| (*glob).to_owned()).collect(),
            ..Look::default()
        };
        assert_eq!(below("~", &look(&["*.py"], &[])), None);
        assert_eq!(below("~", &look(&["*.rs", "*.toml.example"], &[])), None);
        assert_eq!(below("~", &look(&[], &[".*"])), None);
        assert!(below("~", &look(&["cli.key"], &[])).is_some());
        assert!(below("~", &look(&["id_rsa"], &[])).is_some());
        assert!(below("~", &look(&["*.key"], &[])).is_some());
        assert!(below("~", &look(&[], &[".git"])).is_some());
        let open = Look {
            skips_hidden: true,
            ..Look::default()
        };
        assert_eq!(below("~", &open), None);
        assert!(below("~/.countersign", &open).is_some());
        let shallow = Look {
            depth: Some(0),
            ..Look::default()
        };
        assert_eq!(below("~", &shallow), None);
    }
}
