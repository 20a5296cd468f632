//! Directories and variables of `cmd`.

use super::is_switch;
use crate::knowledge::names::WINDOWS_PLACES;
use crate::language::{Deed, Reading, WHOLE_ENVIRONMENT, posix_value};

/// Puts the place that a variable of Windows stands for at the front of a word.
pub(super) fn put_place_in(word: &mut String) {
    let Some((name, rest)) = word.strip_prefix('%').and_then(|rest| rest.split_once('%')) else {
        return;
    };
    let lower = format!("env:{}", name.to_ascii_lowercase());
    if let Some((_, place)) = WINDOWS_PLACES.iter().find(|(known, _)| *known == lower) {
        *word = format!("{place}{rest}");
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
