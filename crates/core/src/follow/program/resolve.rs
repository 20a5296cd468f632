//! Resolves the first words of a command: a program, a file, a subcommand.

use super::options::{self, Hit};
use crate::follow::value::Arg;
use crate::knowledge::names::{
    PROGRAM_DIRECTORIES, PROJECT_PROGRAMS, SCRATCH_DIRECTORIES, TOOL_DIRECTORIES, TOOL_PLACES,
    VERSIONED_PROGRAMS, WINDOWS_PROGRAMS,
};
use crate::knowledge::{self, Program, Row};
use crate::language;
use crate::place::{HOLE, HOME, fold_home, has_hole, is_absolute, normalise, of_drive};

/// The target of the first word of a command.
pub(super) enum Named {
    /// A program of the tables, with the name it is known by.
    Program(&'static Program, String),
    /// A file somewhere else than where programs lie.
    File,
    /// A program of this name, about which nothing is known.
    Unknown(String),
    /// What runs cannot be known.
    Unreadable,
}

/// The subcommand a command line begins with.
pub(super) struct FoundSub {
    /// Its row.
    pub(super) row: Option<&'static Row>,
    /// How many words it and the options before it take.
    pub(super) taken: usize,
    /// The options of the program itself.
    pub(super) hits: Vec<Hit>,
    /// The first option before it that the program's row does not list, where it must.
    pub(super) unknown: Option<String>,
}

/// Finds the subcommand with the longest name that `args` begin with, options skipped.
pub(super) fn find_sub(program: &'static Program, args: &[Arg]) -> FoundSub {
    let mut found = FoundSub {
        row: None,
        taken: 0,
        hits: Vec::new(),
        unknown: None,
    };
    let mut unknown = None;
    let mut path = String::new();
    let mut at = 0;
    let mut pending: Vec<Hit> = Vec::new();
    loop {
        let row = found.row.unwrap_or(&program.row);
        let rest = args.get(at..).unwrap_or(&[]);
        let known = options::leading(row, rest)
            .filter(|leading| leading.hit.is_some())
            .or_else(|| options::leading(&program.row, rest));
        if let Some(leading) = known {
            let hit = leading.hit;
            pending.extend(hit);
            unknown = unknown.or(leading.unknown);
            at += leading.words.max(1);
            continue;
        }
        let Some(arg) = rest.first() else { break };
        let candidate = if path.is_empty() {
            arg.text.clone()
        } else {
            format!("{path} {}", arg.text)
        };
        let from = program
            .subs
            .partition_point(|(name, _)| *name < candidate.as_str());
        let exact = program
            .subs
            .get(from)
            .filter(|(name, _)| *name == candidate);
        let longer = program
            .subs
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take(64)
            .any(|(name, _)| {
                name.strip_prefix(candidate.as_str())
                    .is_some_and(|rest| rest.starts_with(' '))
            });
        if exact.is_none() && !longer {
            break;
        }
        at += 1;
        path = candidate;
        if let Some((_, row)) = exact {
            found.row = Some(row);
            found.taken = at;
            found.hits.append(&mut pending);
            found.unknown = found.unknown.or(unknown.take());
        }
    }
    if found.row.is_none() {
        found.hits = pending;
    }
    found
}

/// Returns what the first word of a command names.
pub(super) fn resolve(first: &Arg) -> Named {
    let text = versioned(first).unwrap_or(first.text.as_str());
    if text.is_empty()
        || has_hole(text)
        || first.glob && text != "[" && text != "[["
        || first.delivers.is_some()
    {
        return Named::Unreadable;
    }
    let (directory, base) = match text.rsplit_once(['/', '\\']) {
        Some((directory, base)) => (Some(directory), base),
        None => (None, text),
    };
    let standard = directory.is_none_or(|directory| {
        let directory = if directory.is_empty() {
            "/".to_owned()
        } else {
            normalise(directory)
        };
        PROGRAM_DIRECTORIES.contains(directory.as_str())
            || directory.starts_with("/lib/")
            || directory.starts_with("/usr/lib/")
            || directory.to_lowercase().contains("windows/system32")
            || is_program_files(&directory)
            || is_tool_place(&directory)
            || is_tool_place(&fold_home(of_drive(&directory)))
            || !is_scratch(&directory)
                && TOOL_DIRECTORIES
                    .iter()
                    .any(|tools| directory.ends_with(tools))
    });
    // What sets up a shell is a script, wherever it lies.
    let ending = base.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_script = ending.eq_ignore_ascii_case("ps1") || base.eq_ignore_ascii_case("activate.bat");
    if !standard || is_script {
        // A build wrapper lies in the project and is known by its name.
        let own = directory.is_some_and(|directory| {
            !is_absolute(directory) && !normalise(directory).starts_with("..")
        });
        let wrapper = own && PROJECT_PROGRAMS.contains(base)
            // A copy of this firewall's program speaks to it as well as the installed one.
            || super::GUARDS.contains(&base);
        return match knowledge::program(base).filter(|_| wrapper) {
            Some(program) => Named::Program(program, base.to_owned()),
            None => Named::File,
        };
    }
    match find_program(base) {
        Some((program, name)) => Named::Program(program, name),
        None => Named::Unknown(base.to_owned()),
    }
}

/// Returns the name of a program of which only the version is not known: `python${VERSION}`.
fn versioned(first: &Arg) -> Option<&str> {
    let name = first.text.strip_suffix(HOLE)?;
    let name = name.strip_suffix(['-', '.']).unwrap_or(name);
    (VERSIONED_PROGRAMS.contains(name) && !first.taint.command).then_some(name)
}

/// Whether a package manager of the machine or its user fills a directory.
pub(super) fn is_tool_place(directory: &str) -> bool {
    let end = last_name(directory);
    let same = |pattern: &str| {
        // From the back, where most paths differ at once.
        let ((mut before, mut name), (mut sooner, mut wanted)) = (end, last_name(pattern));
        loop {
            let fits = name == wanted
                || wanted == "*" && !name.is_empty() && !name.contains(HOLE)
                || wanted == "~" && name.chars().eq([HOME]);
            match (before, sooner) {
                _ if !fits => return false,
                (None, None) => return true,
                (Some(path), Some(like)) => {
                    (before, name) = last_name(path);
                    (sooner, wanted) = last_name(like);
                }
                (Some(_), None) | (None, Some(_)) => return false,
            }
        }
    };
    TOOL_PLACES.iter().any(same)
}

/// Whether a directory is one that only installers of Windows fill: below `C:\\Program Files`, which takes the
/// rights of an administrator. Other drives give everybody the right to make a folder of that name.
pub(super) fn is_program_files(directory: &str) -> bool {
    let lower = directory.to_ascii_lowercase().replace('\\', "/");
    let path = normalise(&lower);
    let below = ["c:/", "/c/", "/mnt/c/", "/cygdrive/c/"]
        .iter()
        .find_map(|drive| path.strip_prefix(drive));
    ["program files/", "program files (x86)/"]
        .iter()
        .any(|front| below.is_some_and(|below| below.starts_with(front)))
        && !path.contains(HOLE)
}

/// Splits a path before its last name.
fn last_name(path: &str) -> (Option<&str>, &str) {
    let at = path.bytes().rposition(|byte| byte == b'/');
    let split = at.and_then(|at| path.split_at_checked(at));
    match split {
        Some((before, name)) => (Some(before), name.get(1..).unwrap_or_default()),
        None => (None, path),
    }
}

/// Whether a directory is one where anybody may have put anything.
fn is_scratch(directory: &str) -> bool {
    SCRATCH_DIRECTORIES
        .iter()
        .any(|scratch| directory.starts_with(scratch))
        || directory.contains("Downloads")
}

/// Looks a program up, then without an extension, then without a version.
pub(super) fn find_program(base: &str) -> Option<(&'static Program, String)> {
    if let Some(program) = knowledge::program(base) {
        return Some((program, base.to_owned()));
    }
    let lower = base.to_ascii_lowercase();
    for extension in [".exe", ".cmd", ".bat", ".com"] {
        if let Some(stem) = lower.strip_suffix(extension)
            && let Some(program) = knowledge::program(stem)
        {
            return Some((program, stem.to_owned()));
        }
    }
    // `npx turbo@2`: the package with its version.
    if let Some((name, _)) = base.split_once('@')
        && let Some(program) = knowledge::program(name)
    {
        return Some((program, name.to_owned()));
    }
    // python3.11, gcc-12, llvm-objdump-15, python3.13.exe: drop the version step by step.
    let mut name = lower.strip_suffix(".exe").unwrap_or(base);
    for _ in 0..3 {
        let trimmed = name
            .trim_end_matches(|letter: char| letter.is_ascii_digit())
            .trim_end_matches(['.', '-']);
        if trimmed.is_empty() || trimmed.len() == name.len() {
            break;
        }
        name = trimmed;
        if let Some(program) = knowledge::program(name) {
            return Some((program, name.to_owned()));
        }
    }
    // mkfs.ext4 and its kin.
    base.split_once('.').and_then(|(stem, _)| {
        matches!(stem, "mkfs" | "fsck" | "mount" | "umount")
            .then(|| knowledge::program(stem).map(|program| (program, stem.to_owned())))
            .flatten()
    })
}

/// Returns the leading words that may hold a verb, options and their values skipped.
pub(super) fn leading_words<'a>(program: &'static Program, args: &'a [Arg]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at)
        && words.len() < usize::from(program.verb_words)
    {
        if let Some(leading) = options::leading(&program.row, args.get(at..).unwrap_or(&[])) {
            at += leading.words.max(1);
        } else if arg.text == "--" {
            break;
        } else {
            words.push(arg.text.as_str());
            at += 1;
        }
    }
    words
}

/// Whether a word names the command interpreter of Windows or its command that starts others, and not a
/// file of that name elsewhere.
pub(super) fn is_interpreter(first: &Arg) -> bool {
    let lower = first.text.to_ascii_lowercase().replace('\\', "/");
    let name = match lower.rsplit_once('/') {
        Some((directory, name)) if directory.ends_with(":/windows/system32") => name,
        Some(_) => return false,
        None => lower.as_str(),
    };
    matches!(name, "cmd" | "cmd.exe" | "start")
}

/// Reads a command for Windows with the reader that knows its words.
pub(super) fn windows_reading(first: &Arg, args: &[Arg]) -> Option<language::Reading> {
    let base = first.text.rsplit(['/', '\\']).next().unwrap_or("");
    let name = base.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    if !WINDOWS_PROGRAMS.contains(name) || name == base && name == "reg" {
        return None;
    }
    let words = args.iter().skip(1).map(|arg| {
        if arg.text.contains(' ') {
            format!("\"{}\"", arg.text)
        } else {
            arg.text.clone()
        }
    });
    let words = std::iter::once(name.to_owned()).chain(words);
    let text = words.collect::<Vec<_>>().join(" ");
    Some(language::cmd::read(&text))
}
