//! Variables of the loops of `cmd`: `for %f in (set) do …`.

use super::places::UNKNOWN_PART;
use super::words::Command;

/// Most forms of one command that are judged, one for each value of its variables.
const FORMS_MAX: usize = 16;
/// Most places of one command that variables are put into.
const PLACES_MAX: usize = 32;
/// Longest value that is put in.
const VALUE_BYTES_MAX: usize = 260;

/// What the parentheses after `for … in` hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoopSet {
    None,
    /// Words, below the directory that `/r` names, for the variable of this letter.
    Words {
        letter: char,
        root: Option<String>,
    },
    /// Numbers.
    Count {
        letter: char,
    },
    /// A command whose output is gone through, or files.
    Command {
        letter: char,
    },
}

impl LoopSet {
    /// What stands in the parentheses behind these words.
    pub(super) fn after(words: &[String]) -> Self {
        let is = |word: &String, wanted: &str| word.eq_ignore_ascii_case(wanted);
        let start = words.iter().rposition(|word| {
            let word = word.trim_start_matches('@');
            word.eq_ignore_ascii_case("for")
        });
        let options = start.and_then(|at| words.get(at + 1..)).unwrap_or_default();
        if start.is_none() || !options.last().is_some_and(|word| is(word, "in")) {
            return Self::None;
        }
        let variable = options.iter().rev().find(|word| word.starts_with('%'));
        let letter = variable.and_then(|word| word.trim_start_matches('%').chars().next());
        let Some(letter) = letter else {
            return Self::Command { letter: ' ' };
        };
        let has = |wanted: &str| options.iter().any(|word| is(word, wanted));
        if has("/f") {
            Self::Command { letter }
        } else if has("/l") {
            Self::Count { letter }
        } else if has("/r") {
            let root = options.iter().find(|word| !word.starts_with(['/', '%']));
            let root = root.filter(|word| !is(word, "in"));
            let root = root.cloned().unwrap_or_else(|| ".".to_owned());
            Self::Words {
                letter,
                root: Some(root),
            }
        } else {
            Self::Words { letter, root: None }
        }
    }

    /// The letter of the variable and the values it takes; none where they are not known.
    pub(super) fn bind(&self, words: &[String]) -> Option<(char, Vec<String>)> {
        match self {
            Self::None => None,
            Self::Count { letter } => Some((*letter, vec!["0".to_owned()])),
            Self::Command { letter } => Some((*letter, Vec::new())),
            Self::Words { letter, root } => {
                let values = words.iter().flat_map(|word| word.split([',', ';', '=']));
                let values = values.filter(|value| !value.is_empty());
                let values = values.take(FORMS_MAX + 1).map(|value| match root {
                    Some(root) => format!("{root}\\{value}"),
                    None => value.to_owned(),
                });
                let values: Vec<String> = values.collect();
                let fits = |value: &String| value.len() <= VALUE_BYTES_MAX;
                let is_known = values.len() <= FORMS_MAX && values.iter().all(fits);
                Some((*letter, if is_known { values } else { Vec::new() }))
            }
        }
    }
}

/// The variables of the loops of a text, with their values.
pub(super) type Bound = Vec<(char, Vec<String>)>;

/// Notes the values of a variable; one that two loops use may be either.
pub(super) fn bind(bound: &mut Bound, letter: char, values: Vec<String>) {
    match bound.iter_mut().find(|(known, _)| *known == letter) {
        Some((_, known)) if known.is_empty() || values.is_empty() => known.clear(),
        Some((_, known)) => known.extend(values),
        None => bound.push((letter, values)),
    }
}

/// The command with each of the values that its variables may have.
pub(super) fn forms(command: Command, bound: &Bound) -> Vec<Command> {
    let mut forms = vec![command];
    for (letter, values) in bound {
        let places = forms.first().map_or(0, |command| {
            let texts = command.words.iter().chain(&command.writes);
            let texts = texts.chain(&command.reads);
            texts.map(|text| put(text, *letter, "").1).sum()
        });
        if places == 0 {
            continue;
        }
        let unknown = [UNKNOWN_PART.to_owned()];
        let is_known = !values.is_empty()
            && places <= PLACES_MAX
            && forms.len().saturating_mul(values.len()) <= FORMS_MAX;
        let values = if is_known {
            values.as_slice()
        } else {
            unknown.as_slice()
        };
        forms = forms
            .iter()
            .flat_map(|form| values.iter().map(|value| filled(form, *letter, value)))
            .collect();
    }
    forms
}

fn filled(command: &Command, letter: char, value: &str) -> Command {
    let all = |texts: &[String]| {
        let texts = texts.iter().map(|text| put(text, letter, value).0);
        texts.collect::<Vec<_>>()
    };
    Command {
        words: all(&command.words),
        writes: all(&command.writes),
        reads: all(&command.reads),
        is_fed: command.is_fed,
    }
}

/// Puts a value into a text wherever the variable stands, and says how often that is. A part of the
/// value (`%~dpf`) is not known.
fn put(text: &str, letter: char, value: &str) -> (String, usize) {
    let mut filled = String::with_capacity(text.len());
    let mut count = 0;
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        filled.push_str(before);
        let name = behind.strip_prefix('%').unwrap_or(behind);
        let (is_part, name) = match name.strip_prefix('~') {
            Some(part) => {
                let known = "fdpnxsatz$:";
                let end = part.rfind(letter).filter(|end| {
                    let parts = part.get(..*end).unwrap_or("");
                    parts
                        .chars()
                        .all(|c| known.contains(c.to_ascii_lowercase()))
                });
                let end = end.unwrap_or(0);
                (end > 0, part.get(end..).unwrap_or(part))
            }
            None => (false, name),
        };
        if let Some(behind) = name.strip_prefix(letter) {
            filled.push_str(if is_part { UNKNOWN_PART } else { value });
            count += 1;
            rest = behind;
        } else {
            filled.push('%');
            rest = behind;
        }
    }
    filled.push_str(rest);
    (filled, count)
}
