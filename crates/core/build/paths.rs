//! Writes the patterns of the path tables, laid out by what a path must have for each to be tried.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::index::letters;
use crate::rows::PathRow;
use crate::{camel, slots};

/// Kinds a place may have.
const PATH_KINDS: &[&str] = &[
    "root",
    "home",
    "system",
    "device",
    "sink",
    "temp",
    "credential",
    "startup",
    "schedule",
    "guard",
    "agent",
    "instruction",
    "ci",
    "hook",
    "history",
    "process",
    "log",
    "generated",
    "document",
    "container_socket",
    "environment",
];

/// Kinds of places where something is worth stealing, as `place/below.rs` has them.
const SECRET_KINDS: [&str; 4] = ["credential", "guard", "environment", "history"];

/// How some name must begin and end, and the pattern that needs it.
type Starred = (String, String, usize);

/// Patterns by what a path must have for them to be worth trying.
#[derive(Default)]
struct Laid {
    /// Those that need a whole name, by the name.
    triggers: BTreeMap<String, Vec<usize>>,
    /// Those that need a part of a name.
    starred: Vec<Starred>,
    /// Those that any path may match.
    any: Vec<usize>,
    /// Those for drives of Windows.
    drives: Vec<usize>,
    /// Those of places that hold secrets, and how sensitive these are.
    secrets: Vec<(u16, usize)>,
    /// All that begin with a name, by that name; the others.
    roots: BTreeMap<String, Vec<usize>>,
    anywhere: Vec<usize>,
}

/// Writes the rows, their patterns, and the ways to find those.
pub(crate) fn write(rows: &[PathRow], code: &mut String) -> Result<(), String> {
    let mut patterns = String::new();
    let mut laid = Laid::default();
    let mut count = 0;
    writeln!(code, "/// How sensitive places are; the first row that matches counts.\npub static PATHS: &[PathRow] = &[").unwrap();
    for (index, row) in rows.iter().enumerate() {
        if !PATH_KINDS.contains(&row.kind.as_str()) {
            return Err(format!(
                "path `{}`: no kind is called `{}`",
                row.what, row.kind
            ));
        }
        for like in &row.like {
            let (root, rest) = match like.as_bytes() {
                [b'~', ..] => ("Home", &like[1..]),
                [b'/', ..] => ("Slash", like.as_str()),
                [letter, b':', ..] if letter.is_ascii_alphabetic() || *letter == b'*' => {
                    ("Drive", like.as_str())
                }
                _ => ("Anywhere", like.as_str()),
            };
            let rest = if root == "Drive" {
                rest.replace('\\', "/").to_lowercase()
            } else {
                rest.to_owned()
            };
            let names: Vec<&str> = rest.split('/').filter(|name| !name.is_empty()).collect();
            if like.contains(['?', '[']) {
                return Err(format!("path `{like}`: only `*` stands for something else"));
            }
            let letters = letters(rest.replace(['/', '*'], "").as_bytes());
            let letters = slots::bits(letters.into());
            writeln!(
                patterns,
                "PathPattern {{ root: PathRoot::{root}, names: &{names:?}, letters: {letters}, row: {index} }},"
            )
            .unwrap();
            if SECRET_KINDS.contains(&row.kind.as_str()) {
                laid.secrets.push((row.read, count));
            }
            laid.add(root, &names, count);
            count += 1;
        }
        let kind = camel(&row.kind);
        writeln!(code, "PathRow {{ like: &{:?}, what: {:?}, kind: PathKind::{kind}, read: {}, write: {}, matches: &{:?}, not_match: &{:?} }},", row.like, row.what, row.read, row.write, row.matches, row.not_match).unwrap();
    }
    writeln!(code, "];\n/// The patterns of [`PATHS`], in order.\npub static PATH_PATTERNS: &[PathPattern] = &[{patterns}];").unwrap();
    laid.secrets.sort_by_key(|(read, _)| Reverse(*read));
    laid.write(code);
    Ok(())
}

impl Laid {
    fn add(&mut self, root: &str, names: &[&str], number: usize) {
        let whole = names.iter().filter(|name| !name.contains('*'));
        let starred = names.iter().filter(|name| **name != "**");
        let starred = starred.max_by_key(|name| name.len());
        if root == "Drive" {
            self.drives.push(number);
        } else if let Some(trigger) = whole.max_by_key(|name| name.len()) {
            let known = self.triggers.entry((*trigger).to_owned());
            known.or_default().push(number);
        } else if let Some((begins, rest)) = starred.and_then(|name| name.split_once('*'))
            && let ends = rest.rsplit('*').next().unwrap()
            && !(begins.is_empty() && ends.is_empty())
        {
            // What the name with the star must begin and end with rules most paths out.
            self.starred
                .push((begins.to_owned(), ends.to_owned(), number));
        } else {
            self.any.push(number);
        }
        match names.first().filter(|name| !name.contains('*')) {
            Some(first) if root != "Anywhere" => {
                let known = self.roots.entry((*first).to_owned());
                known.or_default().push(number);
            }
            _ => self.anywhere.push(number),
        }
    }

    fn write(&self, code: &mut String) {
        let secrets: Vec<usize> = self.secrets.iter().map(|(_, number)| *number).collect();
        let named = |lists: &BTreeMap<String, Vec<usize>>| -> String {
            let entries = lists
                .iter()
                .map(|(name, list)| format!("({name:?}, &{list:?}),"));
            entries.collect()
        };
        writeln!(code, "/// For a name, the patterns that need it somewhere in the path, sorted.\npub static PATH_TRIGGERS: &[NeededName] = &[{}];", named(&self.triggers)).unwrap();
        let ends = by_byte(
            self.triggers.iter(),
            |(name, _)| name.bytes().last(),
            |(name, list)| format!("({name:?}, &{list:?}),"),
        );
        writeln!(code, "/// The same by the last byte of the name, sorted.\npub static PATH_TRIGGER_ENDS: &[(u8, &[NeededName])] = &[{ends}];").unwrap();
        slots::write(
            "PATH_TRIGGER",
            self.triggers.keys().map(String::as_str),
            code,
        );
        writeln!(code, "/// For the first name of a path, the patterns that begin with it.\npub static PATH_ROOTS: &[(&str, &[u16])] = &[{}];", named(&self.roots)).unwrap();
        writeln!(
            code,
            "/// The patterns that may begin anywhere.\npub static PATH_ANYWHERE: &[u16] = &{:?};",
            self.anywhere
        )
        .unwrap();
        writeln!(code, "/// The patterns without a whole name: how some name must begin and end, and the pattern.\npub static PATH_STARRED: &[StarredName] = &{:?};", self.starred).unwrap();
        let starred = |starred: &&Starred| format!("{starred:?},");
        let begins = by_byte(
            self.starred.iter(),
            |(begins, _, _)| begins.bytes().next(),
            starred,
        );
        writeln!(code, "/// Those of them that need a beginning, by its first byte, sorted.\npub static PATH_BEGINNINGS: &[(u8, &[StarredName])] = &[{begins}];").unwrap();
        let last =
            |(begins, ends, _): &&Starred| begins.is_empty().then(|| ends.bytes().last()).flatten();
        let ends = by_byte(self.starred.iter(), last, starred);
        writeln!(code, "/// The others by the last byte of the end they need, sorted.\npub static PATH_ENDS: &[(u8, &[StarredName])] = &[{ends}];").unwrap();
        writeln!(code, "/// The patterns that any path may match.\npub static PATH_ANY: &[u16] = &{:?};\n/// The patterns for drives of Windows.\npub static PATH_DRIVES: &[u16] = &{:?};\n/// The patterns of places that hold secrets, the most sensitive first.\npub static PATH_SECRETS: &[u16] = &{:?};", self.any, self.drives, secrets).unwrap();
    }
}

/// Returns those that have a byte, in groups of the same byte.
fn by_byte<T>(
    all: impl Iterator<Item = T>,
    byte: impl Fn(&T) -> Option<u8>,
    shown: impl Fn(&T) -> String,
) -> String {
    let mut groups: BTreeMap<u8, String> = BTreeMap::new();
    for one in all {
        if let Some(byte) = byte(&one) {
            groups.entry(byte).or_default().push_str(&shown(&one));
        }
    }
    let groups = groups.iter();
    groups
        .map(|(byte, group)| format!("({byte}, &[{group}]),"))
        .collect()
}

/// Writes the places of `knowledge/shared_places.tsv`, split into names in small letters.
pub(crate) fn write_shared(code: &mut String) -> Result<(), String> {
    let path = "knowledge/shared_places.tsv";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    writeln!(code, "/// Places that become a workspace only on the owner's word, as the names they consist of, in small letters.\npub(crate) static SHARED_PLACES: &[&[&str]] = &[").unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (place, _) = line
            .split_once('\t')
            .ok_or_else(|| format!("{path}: no reason in {line:?}"))?;
        let place = place.to_lowercase();
        let names: Vec<&str> = place.split('/').filter(|name| !name.is_empty()).collect();
        writeln!(code, "&{names:?},").unwrap();
    }
    writeln!(code, "];").unwrap();
    Ok(())
}
