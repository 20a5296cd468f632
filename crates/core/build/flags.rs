//! Reads the options of a row: names, the role of a value, effects and what an option lifts.

use std::fmt::Write as _;

use crate::languages::role_code;
use crate::vocabulary::Effect;

/// Reads one line of `flags`: names, then `=role` or `?role`, then `!effect` …
pub(crate) fn flag(name: &str, line: &str, seen: &mut Vec<String>) -> Result<String, String> {
    let mut names = Vec::new();
    let mut value = "Value::None".to_owned();
    let mut effects = String::new();
    let mut lifts = "Lifts::Nothing".to_owned();
    let (mut help, mut last) = (false, false);
    for word in line.split_whitespace() {
        let wrong = || format!("`{name}`: cannot read the flag `{line}` at `{word}`");
        if let Some(role) = word.strip_prefix('=').filter(|role| !role.is_empty()) {
            value = format!("Value::Next({})", role_code(role).ok_or_else(wrong)?);
        } else if let Some(role) = word.strip_prefix('?').filter(|role| !role.is_empty()) {
            value = format!("Value::Attached({})", role_code(role).ok_or_else(wrong)?);
        } else if let Some(lift) = lift(word) {
            lifts = lift.map_err(|()| wrong())?;
        } else if word == "!help" {
            help = true;
        } else if word == "!last" {
            last = true;
        } else if let Some(effect) = word.strip_prefix('!') {
            write!(
                effects,
                "Effect::{:?},",
                Effect::from_word(effect).ok_or_else(wrong)?
            )
            .unwrap();
        } else {
            if seen.iter().any(|known| known == word) {
                return Err(format!("`{name}`: the flag `{word}` is listed twice"));
            }
            seen.push(word.to_owned());
            names.push(word.to_owned());
        }
    }
    if names.is_empty() {
        return Err(format!("`{name}`: the flag line `{line}` has no name"));
    }
    Ok(format!(
        "Flag {{ names: &{names:?}, value: {value}, effects: &[{effects}], lifts: {lifts}, help: {help}, last: {last} }},"
    ))
}

/// Reads `!dry`, `!dry=effect`, `!shows` and `!shows=effect`. Returns `None` for any other word.
fn lift(word: &str) -> Option<Result<String, ()>> {
    let (mark, leaves) = word.split_once('=').unwrap_or((word, "inspect"));
    let variant = match mark {
        "!dry" => "Dry",
        "!shows" => "Shows",
        _ => return None,
    };
    let leaves = Effect::from_word(leaves).ok_or(());
    Some(leaves.map(|leaves| format!("Lifts::{variant}(Effect::{leaves:?})")))
}
