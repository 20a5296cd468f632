//! Writes the lists of names in `knowledge/names/`: each becomes a static of the module `names`.
//!
//! Separate because these rows share nothing with the rows of programs but the words for roles.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};

use crate::languages::role_code;
use crate::rows::NamesRow;

/// Writes one static for each list. A list that no code reads is a warning of the compiler.
pub(crate) fn write(lists: &[NamesRow], code: &mut String) -> Result<(), String> {
    let mut known = BTreeSet::new();
    writeln!(
        code,
        "/// Lists of names: words, keys of arguments, endings of files.\npub(crate) mod names {{\nuse super::{{Lang, Role}};"
    )
    .unwrap();
    for row in lists {
        let name = &row.list;
        if !known.insert(name) {
            return Err(format!("the list of names `{name}` has two rows"));
        }
        let (type_of, entries) = entries(row)?;
        writeln!(
            code,
            "/// {}.\npub(crate) static {name}: &[{type_of}] = &[{entries}];",
            row.what
        )
        .unwrap();
    }
    writeln!(code, "}}").unwrap();
    Ok(())
}

/// Returns the type of a list's entries, and the entries as Rust.
fn entries(row: &NamesRow) -> Result<(&'static str, String), String> {
    let name = &row.list;
    let role = |(word, role): &(String, String)| {
        let known = role_code(role);
        let known = known.ok_or_else(|| format!("names `{name}`: no role is called `{role}`"))?;
        Ok(format!("({word:?}, {known}),"))
    };
    let mut filled = Vec::new();
    if !row.words.is_empty() {
        once(name, row.words.iter())?;
        filled.push(("&str", plain(&row.words)));
    }
    if !row.pairs.is_empty() {
        once(name, row.pairs.iter())?;
        filled.push(("(&str, &str)", plain(&row.pairs)));
    }
    if !row.roles.is_empty() {
        once(name, row.roles.iter().map(|(word, _)| word))?;
        let entries: Result<String, String> = row.roles.iter().map(role).collect();
        filled.push(("(&str, Role)", entries?));
    }
    if !row.groups.is_empty() {
        once(name, row.groups.iter().map(|(word, _)| word))?;
        let groups = row.groups.iter();
        let entries = groups.map(|(word, members)| format!("({word:?}, &{members:?}),"));
        filled.push(("(&str, &[&str])", entries.collect()));
    }
    match filled.pop() {
        Some(entries) if filled.is_empty() => Ok(entries),
        Some(_) | None => Err(format!(
            "names `{name}`: exactly one of words, pairs, roles and groups is filled"
        )),
    }
}

fn plain(entries: &[impl Debug]) -> String {
    entries.iter().map(|entry| format!("{entry:?},")).collect()
}

/// Refuses a list that names something twice.
fn once<T: Ord + Debug>(name: &str, entries: impl Iterator<Item = T>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for entry in entries {
        let shown = format!("{entry:?}");
        if !known.insert(entry) {
            return Err(format!("names `{name}`: {shown} is listed twice"));
        }
    }
    Ok(())
}
