//! Finds subcommands and options in a help text.
//!
//! Help texts differ: clap, cobra, argparse, click and what people write by hand. All of them put
//! subcommands below a heading that says so, one to a line, and begin the line of an option with a
//! dash. What is missed costs a question later; what is found too much asks as well.

use super::{Opt, Proposal, Takes};

/// Lines that are looked at.
const LINES_MAX: usize = 10_000;
/// Longest line that is looked at.
const LINE_BYTES_MAX: usize = 1000;
/// Most subcommands and options that are taken.
const SUBS_MAX: usize = 200;
const OPTIONS_MAX: usize = 100;
/// Longest name of a subcommand or option.
const NAME_BYTES_MAX: usize = 48;
/// Most names of one subcommand or option.
const NAMES_MAX: usize = 8;

/// Subcommands that every program may have, and that only show something.
const HARMLESS: &[&str] = &["help", "version"];

/// Reads a help text of `program`.
pub(super) fn read(program: &str, text: &str) -> Proposal {
    let mut found = Proposal {
        program: program.to_owned(),
        ..Proposal::default()
    };
    let mut section = Section::Other;
    let mut indent = None;
    for line in text.lines().take(LINES_MAX) {
        let line = line.trim_end();
        if line.len() > LINE_BYTES_MAX {
            continue;
        }
        let body = line.trim_start();
        let blanks = line.len() - body.len();
        if let Some(heading) = heading(line) {
            section = heading;
            indent = None;
        } else if body.starts_with('-') {
            option(body, &mut found.options);
        } else if section == Section::Commands && blanks > 0 {
            if listed(body, program, &mut found.subs) {
                continue;
            }
            // Deeper lines go on describing the entry before them.
            let is_entry = indent.is_none_or(|indent| blanks <= indent);
            if is_entry && entry(body, program, &mut found.subs) {
                indent = Some(blanks);
            }
        }
    }
    found
}

/// What the lines below a heading are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Commands,
    Other,
}

/// Reads a heading: `Commands:`, `Available Commands:`, `SUBCOMMANDS`, `positional arguments:`.
fn heading(line: &str) -> Option<Section> {
    let text = line.trim();
    let is_capital = text.len() > 2
        && !line.starts_with(' ')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || b" _-:".contains(&byte));
    let is_heading = (text.ends_with(':') || is_capital) && !text.starts_with('-');
    if !is_heading || text.contains("  ") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let of_commands = words.any(|word| {
        matches!(
            word,
            "command" | "commands" | "subcommand" | "subcommands" | "verbs"
        )
    });
    Some(if of_commands || lower == "positional arguments:" {
        Section::Commands
    } else {
        Section::Other
    })
}

/// Reads a list in braces, as argparse prints it: `{list,create}`.
fn listed(body: &str, program: &str, subs: &mut Vec<Vec<String>>) -> bool {
    let Some((inner, _)) = body.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return false;
    };
    for name in inner.split(',') {
        add(vec![name.trim()], program, subs);
    }
    true
}

/// Reads one entry of a list of commands: `list, ls   Shows all`, `create NAME`, `sync`.
fn entry(body: &str, program: &str, subs: &mut Vec<Vec<String>>) -> bool {
    let head = body.split("  ").next().unwrap_or("");
    let head = head.split('\t').next().unwrap_or("");
    let is_alone = head.len() == body.len();
    let mut words = head.split(' ').filter(|word| !word.is_empty()).peekable();
    words.next_if_eq(&program);
    let mut names = Vec::new();
    for word in words.by_ref() {
        let goes_on = word.ends_with([',', '|']);
        let word = word.trim_end_matches([',', ':', '|']);
        names.extend(word.split(['|', ',']));
        if !goes_on {
            break;
        }
    }
    // What follows is an argument, unless the line is a sentence.
    let is_argument = |word: &str| {
        word.starts_with(['<', '[', '{', '('])
            || !word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    if is_alone && !words.all(is_argument) {
        return false;
    }
    add(names, program, subs)
}

/// Adds a subcommand with all its names, if they can be names.
fn add(names: Vec<&str>, program: &str, subs: &mut Vec<Vec<String>>) -> bool {
    let prefix = format!("{program}-");
    let names: Vec<&str> = names
        .into_iter()
        .map(|name| name.trim_end_matches('*'))
        .map(|name| name.strip_prefix(prefix.as_str()).unwrap_or(name))
        .take(NAMES_MAX)
        .collect();
    if names.is_empty() || !names.iter().all(|name| is_sub(name)) {
        return false;
    }
    let new: Vec<String> = names
        .into_iter()
        .filter(|name| !HARMLESS.contains(name))
        .filter(|name| !subs.iter().flatten().any(|known| known == name))
        .map(str::to_owned)
        .collect();
    if !new.is_empty() && subs.len() < SUBS_MAX {
        subs.push(new);
    }
    true
}

fn is_sub(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:+-".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(is_plain)
}

/// Reads the line of an option: `-o, --output <FILE>  Where it goes`, `--color[=WHEN]`,
/// `-n, --name string   The name`.
fn option(body: &str, options: &mut Vec<Opt>) {
    let mut names: Vec<String> = Vec::new();
    let mut value = Takes::Nothing;
    let mut rest = body;
    while rest.starts_with('-') && names.len() < NAMES_MAX {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.?".contains(letter);
        let end = rest
            .find(|letter: char| !is_part(letter))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let name = name.trim_end_matches('.');
        if !is_option(name) {
            break;
        }
        names.push(name.to_owned());
        let (takes, behind) = behind_name(behind);
        if takes != Takes::Nothing {
            value = takes;
        }
        let next = behind.trim_start_matches([' ', ',', '|', '/']);
        let is_separate = behind.trim_start_matches(' ').starts_with([',', '|', '/']);
        let is_beside = behind.starts_with(' ') && !behind.starts_with("  ");
        if !is_separate && !is_beside {
            break;
        }
        rest = next;
    }
    names.retain(|name| {
        !options
            .iter()
            .flat_map(|known| &known.names)
            .any(|known| known == name)
    });
    names.dedup();
    if !names.is_empty() && options.len() < OPTIONS_MAX {
        options.push(Opt { names, value });
    }
}

fn is_option(name: &str) -> bool {
    let bare = name.trim_start_matches('-');
    let dashes = name.len() - bare.len();
    (1..=2).contains(&dashes)
        && name.len() <= NAME_BYTES_MAX
        && bare.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '?')
}

/// Returns whether a value follows the name of an option, and what stands behind it.
fn behind_name(behind: &str) -> (Takes, &str) {
    let after_word = |text: &str| {
        let end = text.find([' ', ',', '|', '\t']).unwrap_or(text.len());
        text.len() - end
    };
    let cut = |left: usize| behind.get(behind.len() - left..).unwrap_or("");
    if let Some(rest) = behind
        .strip_prefix("[=")
        .or_else(|| behind.strip_prefix("[<"))
    {
        return (Takes::Attached, cut(after_word(rest)));
    }
    if let Some(rest) = behind.strip_prefix('=') {
        return (Takes::Value, cut(after_word(rest)));
    }
    let Some(rest) = behind
        .strip_prefix(' ')
        .filter(|rest| !rest.starts_with([' ', '-', ',']))
    else {
        return (Takes::Nothing, behind);
    };
    // `<FILE>`, `FILE`, `[FILE]`; or a type before the description: `string   The name`.
    let left = after_word(rest);
    let word = rest.get(..rest.len() - left).unwrap_or("");
    let behind_word = cut(left);
    let is_place = word.starts_with(['<', '[', '{', '\'', '"'])
        || !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_type =
        behind_word.starts_with("  ") || behind_word.is_empty() || behind_word.starts_with(',');
    if is_place || is_type {
        (Takes::Value, behind_word)
    } else {
        (Takes::Nothing, behind)
    }
}
