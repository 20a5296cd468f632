//! Writes the lists of names in `knowledge/names/`: each becomes a static of the module `names`.
//!
//! Separate because these rows share nothing with the rows of programs but the words for roles and
//! effects.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};

use crate::rows::NamesRow;
use crate::vocabulary::{Effect, Role};

/// Writes one static for each list. A list that no code reads is a warning of the compiler.
pub(crate) fn write(lists: &[NamesRow], code: &mut String) -> Result<(), String> {
    let mut known = BTreeSet::new();
    writeln!(
        code,
        "/// Lists of names: words, keys of arguments, endings of files.\npub(crate) mod names {{"
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
        let known = Role::from_word(role);
        let known = known.ok_or_else(|| format!("names `{name}`: no role is called `{role}`"))?;
        Ok(format!("({word:?}, super::Role::{known:?}),"))
    };
    let effect = |(word, effect): &(String, String)| {
        let known = Effect::from_word(effect);
        let known =
            known.ok_or_else(|| format!("names `{name}`: no effect is called `{effect}`"))?;
        Ok(format!("({word:?}, super::Effect::{known:?}),"))
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
        filled.push(("(&str, super::Role)", entries?));
    }
    if !row.effects.is_empty() {
        once(name, row.effects.iter().map(|(word, _)| word))?;
        let entries: Result<String, String> = row.effects.iter().map(effect).collect();
        filled.push(("(&str, super::Effect)", entries?));
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
            "names `{name}`: exactly one of words, pairs, roles, effects and groups is filled"
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
