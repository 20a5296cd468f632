//! The known output of small programs, to see through `echo … | base64 -d | sh`.

use super::Line;
use super::readers::system::is_own_job;
use crate::encoding::{base32, base64, hexadecimal};
use crate::follow::value::{Arg, TEXT_BYTES_MAX};
use crate::knowledge::names::{SETTINGS_SHELLS, SHELL_SETTINGS};
use crate::place::{HOLE, JOB};
use crate::shell::unescape;

/// Stands for what `lsof` says about the processes on a port of development, with their numbers in the second column.
const PORT_TABLE: &str = "\u{fdd0} port of development";
/// Patterns of `awk` that choose among such lines.
const CHOSEN_LINES: &[&str] = &["", "NR>1", "NR==2", "/LISTEN/"];

/// Whether a program of `awk` prints the second column of the lines it chooses, and nothing else.
fn prints_processes(program: &str) -> bool {
    let bare: String = program.split_whitespace().collect();
    let pattern = bare.strip_suffix("{print$2}");
    pattern.is_some_and(|pattern| CHOSEN_LINES.contains(&pattern))
}

/// Whether `grep` prints the lines that it finds as they are.
fn only_selects(args: &[Arg]) -> bool {
    let options = args.iter().filter(|arg| arg.text.starts_with('-'));
    options
        .map(|arg| arg.text.as_str())
        .all(|option| matches!(option, "-i" | "-v" | "-E" | "-w" | "-F" | "-a"))
}

/// Whether a command does nothing but print settings for a shell. What they say is not seen, but
/// nothing in the words can make them say something else.
pub(super) fn is_shell_settings(name: &str, rest: &[Arg]) -> bool {
    let mut settings = SHELL_SETTINGS.starting_with(name);
    settings.any(|known| {
        let wanted = known.get(name.len()..).unwrap_or_default();
        let is_name = wanted.is_empty() || wanted.starts_with(' ');
        let count = wanted.split_whitespace().count();
        let (given, others) = rest.split_at(count.min(rest.len()));
        is_name
            && given.len() == count
            && given
                .iter()
                .zip(wanted.split_whitespace())
                .all(|(arg, word)| arg.text == word)
            && others.iter().all(|arg| {
                !arg.vague()
                    && (arg.text.starts_with('-') || SETTINGS_SHELLS.contains(arg.text.as_str()))
            })
    })
}

/// Returns what a program prints when everything it prints is known.
pub(super) fn constant(line: &Line<'_>) -> Option<String> {
    let Line {
        name,
        args,
        read,
        stdin,
        ..
    } = *line;
    if name == "echo" {
        return echo(args);
    }
    let operands: Vec<&str> = read
        .operands
        .iter()
        .map(|operand| operand.text.as_str())
        .collect();
    if operands.iter().any(|operand| operand.contains(HOLE))
        || read.operands.iter().any(|operand| operand.glob)
    {
        return None;
    }
    let given = || stdin.text.clone();
    let text = match name {
        // What serves a port of development is this script's own as far as ending it goes.
        "lsof" if line.lists_development_server() => format!("{HOLE}{JOB}"),
        "lsof" if line.tables_development_server() => PORT_TABLE.to_owned(),
        "grep" if operands.len() == 1 && given()? == PORT_TABLE && only_selects(args) => given()?,
        "awk" if given()? == PORT_TABLE && prints_processes(&operands.join(" ")) => {
            format!("{HOLE}{JOB}")
        }
        "pgrep" if line.ends_development_server() => format!("{HOLE}{JOB}"),
        // The processes that this shell has started itself.
        "jobs" if lists_own_jobs(args) => format!("{HOLE}{JOB}"),
        "true" | ":" | "false" => String::new(),
        "cat" if !operands.is_empty() && operands.iter().all(|operand| *operand == "/dev/null") => {
            String::new()
        }
        "cat" | "tee" | "tac" | "nl" | "dd" | "pv" | "sponge" | "xargs" if operands.is_empty() => {
            given()?
        }
        "rev" if operands.is_empty() => given()?
            .lines()
            .map(|line| line.chars().rev().collect::<String>() + "\n")
            .collect(),
        "base64" | "base32" | "basenc" | "gbase64"
            if operands.is_empty() && has(args, "dD", "--decode") =>
        {
            decode(name, &given()?)?
        }
        "openssl" | "openssl base64" | "openssl enc"
            if args.iter().any(|arg| arg.text == "-d")
                && args.iter().any(|arg| {
                    matches!(arg.text.as_str(), "-a" | "-base64" | "base64")
                        || name == "openssl base64"
                }) =>
        {
            decode("base64", &given()?)?
        }
        "mktemp" => made(args, &operands)?,
        "xxd" if operands.is_empty() && has(args, "r", "--revert") => {
            text_of(&hexadecimal(given()?.as_bytes())?)
        }
        "tr" => translate(&given()?, args, &operands)?,
        "head" | "tail" | "sort" | "uniq"
            if operands.is_empty()
                && stdin
                    .text
                    .as_deref()
                    .is_some_and(|text| text.lines().count() <= 1)
                && args.iter().all(|arg| !arg.text.contains('c')) =>
        {
            given()?
        }
        _ => return None,
    };
    (text.len() <= TEXT_BYTES_MAX).then_some(text)
}

/// Returns a path that stands for the one `mktemp` makes: the random part does not matter.
fn made(args: &[Arg], operands: &[&str]) -> Option<String> {
    let elsewhere = args.iter().any(|arg| {
        arg.text.starts_with("-p") || arg.text.starts_with("--tmpdir=") || arg.text == "--suffix"
    });
    match operands {
        _ if elsewhere => None,
        [] => Some("/tmp/tmp.made\n".to_owned()),
        [template] if has(args, "t", "--tmpdir") && !template.contains('/') => {
            Some(format!("/tmp/{template}\n"))
        }
        [template] if !template.starts_with('-') => Some(format!("{template}\n")),
        _ => None,
    }
}

/// Whether `jobs` prints the numbers of processes alone.
fn lists_own_jobs(args: &[Arg]) -> bool {
    matches!(args, [only] if matches!(only.text.as_str(), "-p" | "-pr" | "-rp"))
}

/// Whether a short option of `letters`, perhaps in a bundle, or the long option was given.
fn has(args: &[Arg], letters: &str, long: &str) -> bool {
    args.iter().any(|arg| match arg.text.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => {
            arg.text.len() > 3 && long.starts_with(arg.text.as_str())
        }
        Some(rest) => rest.chars().any(|letter| letters.contains(letter)),
        None => false,
    })
}

fn echo(args: &[Arg]) -> Option<String> {
    let flags = args
        .iter()
        .take_while(|arg| {
            matches!(
                arg.text.as_str(),
                "-n" | "-e" | "-E" | "-ne" | "-en" | "-nE"
            )
        })
        .count();
    let (flags, words) = args.split_at_checked(flags)?;
    // `echo $! > server.pid`: the number is not known, but whose it is.
    if let ([], [word]) = (flags, words)
        && word.vague()
        && is_own_job(word)
    {
        return Some(word.text.clone() + "\n");
    }
    if words
        .iter()
        .any(|word| word.vague() || word.glob || word.delivers.is_some())
    {
        return None;
    }
    let mut text = words
        .iter()
        .map(|word| word.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    if flags.iter().any(|flag| flag.text.contains('e')) {
        text = unescape(&text);
    }
    if !flags.iter().any(|flag| flag.text.contains('n')) {
        text.push('\n');
    }
    (text.len() <= TEXT_BYTES_MAX).then_some(text)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn decode(name: &str, text: &str) -> Option<String> {
    let bytes = if name == "base32" {
        base32(text.as_bytes())?
    } else {
        base64(text.as_bytes())?
    };
    Some(text_of(&bytes))
}

/// Carries out `tr SET1 SET2` and `tr -d SET1`.
fn translate(text: &str, args: &[Arg], operands: &[&str]) -> Option<String> {
    let operands: Vec<&str> = operands
        .iter()
        .copied()
        .filter(|operand| !operand.starts_with('-') || operand.len() == 1)
        .collect();
    let from = set(operands.first()?)?;
    if has(args, "d", "--delete") {
        return Some(
            text.chars()
                .filter(|letter| !from.contains(letter))
                .collect(),
        );
    }
    if has(args, "cCst", "--complement") {
        return None;
    }
    let to = set(operands.get(1)?)?;
    let last = *to.last()?;
    Some(
        text.chars()
            .map(
                |letter| match from.iter().position(|known| *known == letter) {
                    Some(at) => to.get(at).copied().unwrap_or(last),
                    None => letter,
                },
            )
            .collect(),
    )
}

/// Expands `a-z` and escapes of a set of `tr`.
fn set(text: &str) -> Option<Vec<char>> {
    if text.contains('[') {
        return None;
    }
    let letters: Vec<char> = unescape(text).chars().collect();
    let mut set = Vec::new();
    let mut at = 0;
    while let Some(first) = letters.get(at) {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(last)) if first <= last => {
                set.extend((*first..=*last).take(256));
                at += 3;
            }
            _ => {
                set.push(*first);
                at += 1;
            }
        }
    }
    Some(set)
}
