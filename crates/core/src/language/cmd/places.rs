//! Directories and variables of `cmd`.

use std::collections::BTreeSet;

use super::is_switch;
use crate::knowledge::names::WINDOWS_PLACES;
use crate::language::{
    Deed, Reading, SECRET_PART, WHOLE_ENVIRONMENT, is_secret_variable, posix_value,
};

/// The variables that a text sets itself, so that they are not what the system says.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    names: BTreeSet<String>,
    /// Whether a name is computed: `set %%v=x`.
    any: bool,
}

impl Assigned {
    pub(super) fn in_text(text: &str) -> Self {
        let text = text.replace('^', "").to_ascii_lowercase();
        let mut assigned = Self::default();
        if !text.contains("set") {
            return assigned;
        }
        let mut rest = text.as_str();
        while let Some((front, behind)) = rest.split_once('=') {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let name = front.rsplit(|letter| !is_name(letter)).next();
            let name = name.unwrap_or_default();
            let before = front.strip_suffix(name).unwrap_or_default();
            // `if %a%==b` compares.
            let compares = behind.starts_with('=');
            assigned.any |= !compares && before.ends_with(['%', '!', '~']);
            assigned.names.insert(name.to_owned());
            rest = behind.strip_prefix('=').unwrap_or(behind);
        }
        assigned
    }

    fn holds(&self, name: &str) -> bool {
        self.any || self.names.contains(name)
    }
}

/// Puts the place that a variable of Windows stands for at the front of a word.
pub(super) fn put_place_in(word: &mut String, assigned: &Assigned) {
    let Some((name, rest)) = word.strip_prefix('%').and_then(|rest| rest.split_once('%')) else {
        return;
    };
    let name = name.to_ascii_lowercase();
    if assigned.holds(&name) {
        return;
    }
    let lower = format!("env:{name}");
    let known = WINDOWS_PLACES.iter().find(|(known, _)| *known == lower);
    let place = known.map(|(_, place)| *place);
    if let Some(place) = place.or_else(|| (name == "cd").then_some(".")) {
        *word = format!("{place}{}", rest.replace('\\', "/"));
    }
}

/// Puts a hole where a word names a variable, and says where that holds a secret.
pub(super) fn with_holes(word: &str) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some((front, name, behind)) = next_variable(rest) {
        text.push_str(front);
        text.push_str(UNKNOWN_PART);
        if is_secret_variable(name) {
            text.push(SECRET_PART);
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// The variables of a word whose names say that they hold a secret.
pub(super) fn secret_variables(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some((_, name, behind)) = next_variable(rest) {
        if is_secret_variable(name) {
            found.push(name.to_ascii_uppercase());
        }
        rest = behind;
    }
    found
}

/// Splits a word at the first `%NAME%`, or `!NAME!`.
fn next_variable(word: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + word.get(from..)?.find(['%', '!'])?;
        let (front, rest) = word.split_at_checked(at)?;
        let sign = rest.chars().next()?;
        let behind = rest.get(1..)?;
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = behind.find(|letter| !is_part(letter))?;
        let (name, behind) = behind.split_at_checked(end)?;
        // `%NAME:~0,4%` is a part of the value.
        let closing = behind
            .find(sign)
            .filter(|_| behind.starts_with([sign, ':']));
        match closing.and_then(|at| behind.get(at + 1..)) {
            Some(behind) if !name.is_empty() => return Some((front, name, behind)),
            _ => from = at + 1,
        }
    }
}

/// `cd /d path`, `pushd path`, `popd`.
pub(super) fn enters(name: &str, targets: &[&String], reading: &mut Reading) {
    if name == "popd" {
        reading.see(Deed::Leave);
    } else if !targets.is_empty() {
        // A name with blanks needs no quotes.
        let words: Vec<&str> = targets.iter().map(|word| word.as_str()).collect();
        let path = words.join(" ").replace('\\', "/");
        let is_known = !path.contains(['%', '!']);
        let path = if is_known {
            path
        } else {
            UNKNOWN_PART.to_owned()
        };
        let returns = name == "pushd";
        reading.see(Deed::Enter { path, returns });
    }
}

/// Stands for what is known only when the command runs.
pub(super) const UNKNOWN_PART: &str = "\u{fdd0}";

/// `set NAME=value` sets a variable; without a value it shows those that begin so.
pub(super) fn assigns(arguments: &[String], reading: &mut Reading) {
    let words = arguments.iter().filter(|word| !is_switch(word));
    let text = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    match text.split_once('=') {
        Some((name, value)) => {
            let value = if value.contains(['%', '!']) {
                // What stands before and behind the variables still counts.
                let known = value.split('%').step_by(2).collect::<Vec<_>>();
                known.join(UNKNOWN_PART)
            } else {
                value.to_owned()
            };
            let name = name.trim().to_ascii_uppercase();
            let value = posix_value(&name, &value);
            reading.see(Deed::SetVariable(name, value));
        }
        None => reading.see(Deed::ReadFile(WHOLE_ENVIRONMENT.to_owned())),
    }
}

/// `path C:\tools` sets the directories in which programs are looked for.
pub(super) fn assigns_path(arguments: &[String], reading: &mut Reading) {
    if !arguments.is_empty() {
        let value = posix_value("PATH", &with_holes(&arguments.join(" ")));
        reading.see(Deed::SetVariable("PATH".to_owned(), value));
    }
}
