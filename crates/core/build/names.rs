//! Writes the lists of names in `knowledge/names/`: each becomes a static of the module `names`.
//!
//! Separate because these rows share nothing with the rows of programs but the words for roles.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};

use crate::languages::{names, role_code};
use crate::rows::NamesRow;

/// Writes one static for each list. A list that no code reads is a warning of the compiler.
pub(crate) fn write(lists: &[NamesRow], code: &mut String) -> Result<(), String> {
    let mut known = BTreeSet::new();
    writeln!(
        code,
        "/// Lists of names: words, keys of arguments, endings of files.\npub(crate) mod names {{\nuse super::languages::Names;\nuse super::{{Lang, Role}};"
    )
    .unwrap();
    for row in lists {
        let name = &row.list;
        if !known.insert(name) {
            return Err(format!("the list of names `{name}` has two rows"));
        }
        let (kind, value) = list(row)?;
        writeln!(
            code,
            "/// {}.\npub(crate) static {name}: {kind} = {value};",
            row.what
        )
        .unwrap();
    }
    writeln!(code, "}}").unwrap();
    Ok(())
}

/// Returns the type of a list and its value as Rust.
fn list(row: &NamesRow) -> Result<(&'static str, String), String> {
    let name = &row.list;
    let role = |(word, role): &(String, String)| {
        let known = role_code(role);
        let known = known.ok_or_else(|| format!("names `{name}`: no role is called `{role}`"))?;
        Ok(format!("({word:?}, {known}),"))
    };
    let mut filled = Vec::new();
    if !row.words.is_empty() {
        once(name, row.words.iter())?;
        if let Some(word) = row.words.iter().find(|word| word.contains('\n')) {
            return Err(format!("names `{name}`: {word:?} has more than one line"));
        }
        filled.push(("Names", names(row.words.iter().map(String::as_str))));
    }
    if !row.pairs.is_empty() {
        once(name, row.pairs.iter())?;
        filled.push(("&[(&str, &str)]", format!("&{:?}", row.pairs)));
    }
    if !row.roles.is_empty() {
        once(name, row.roles.iter().map(|(word, _)| word))?;
        let entries: Result<String, String> = row.roles.iter().map(role).collect();
        filled.push(("&[(&str, Role)]", format!("&[{}]", entries?)));
    }
    if !row.groups.is_empty() {
        once(name, row.groups.iter().map(|(word, _)| word))?;
        let groups = row.groups.iter();
        let entries = groups.map(|(word, members)| format!("({word:?}, &{members:?}),"));
        let entries: String = entries.collect();
        filled.push(("&[(&str, &[&str])]", format!("&[{entries}]")));
    }
    match filled.pop() {
        Some(entries) if filled.is_empty() => Ok(entries),
        Some(_) | None => Err(format!(
            "names `{name}`: exactly one of words, pairs, roles and groups is filled"
        )),
    }
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
