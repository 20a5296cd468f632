//! What functions make of texts: formats, and parts of paths.

use super::made::{Made, Origin, PLAIN};
use crate::knowledge::names::LIST_CHANGERS;
use crate::language::script::lexer::is_usual_format;
use crate::place::HOLE;

/// Puts values into a template: each place that `mark` starts gets any of them.
pub(super) fn format_with(template: &Made, mark: &str, values: &Made) -> Made {
    let Some(text) = template.only() else {
        return Made::unknown(template.origin.max(values.origin).max(Origin::Data));
    };
    let mut all = Made::exact("");
    let mut rest = text;
    while let Some((plain, field)) = rest.split_once(mark) {
        if mark == "{" && field.starts_with('{') {
            return Made::unknown(values.origin.max(Origin::Data));
        }
        all = all.then("", &Made::exact(plain));
        let close = if mark == "{" {
            field.find('}')
        } else {
            field.find(|c: char| c.is_ascii_alphabetic() || c == '%')
        };
        let Some(close) = close else {
            return Made::unknown(values.origin.max(Origin::Data));
        };
        if !shows_value(mark, field.get(..=close).unwrap_or_default()) {
            return Made::unknown(Origin::Assembled);
        }
        all = all.then("", values);
        rest = field.get(close + 1..).unwrap_or_default();
    }
    all.then("", &Made::exact(rest))
}

/// Whether a field of a template shows a value as it is: `%c` makes a letter of a number, and a width may
/// be filled with any sign.
fn shows_value(mark: &str, field: &str) -> bool {
    if mark != "{" {
        return !field.ends_with('c');
    }
    let field = field.trim_end_matches('}');
    let (name, format) = field.split_at(field.find(':').unwrap_or(field.len()));
    !name.contains(['.', '[', '!']) && is_usual_format(format)
}

/// A text into which the variables that it names are put.
pub(super) fn expanded(made: Made) -> Made {
    if made.is_exact() && made.shapes().all(|text| !text.contains(['$', '%'])) {
        return made;
    }
    Made::unknown(Origin::Foreign)
}

/// The last name of a path; of one that may be anything, some name.
pub(super) fn last(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path);
    last.replace(HOLE, &PLAIN.to_string())
}

/// The directory of a path, which may be that of the script itself.
pub(super) fn parent(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let (parent, last) = match path.rsplit_once('/') {
        Some(("", last)) => ("/", last),
        Some((parent, last)) => (parent, last),
        None => ("", path),
    };
    if last.contains(HOLE) {
        return path.to_owned();
    }
    if matches!(last, "." | "..") {
        return format!("{path}/..");
    }
    let parent = if parent.is_empty() { "." } else { parent };
    parent.to_owned()
}

pub(super) fn without_suffix(path: &str) -> String {
    match path.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() && !stem.ends_with('/') && !end.contains('/') => {
            stem.to_owned()
        }
        _ => path.to_owned(),
    }
}

/// A date in this format: its directives stand for numbers and names, the rest for itself.
pub(super) fn dated(format: Made) -> Made {
    format.map(|text| {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' if chars.as_str().starts_with('%') => {
                    chars.next();
                    out.push('%');
                }
                '%' => {
                    chars.by_ref().find(char::is_ascii_alphabetic);
                    out.push(PLAIN);
                }
                c => out.push(c),
            }
        }
        out
    })
}

/// Whether a change between texts and bytes names an encoding that may spell letters by others.
pub(super) fn reencodes(function: &str, arguments: &[Made]) -> bool {
    const USUAL: [&str; 7] = ["", "utf-8", "utf8", "ascii", "latin-1", "ignore", "replace"];
    let named = match function {
        "decode" | "encode" => arguments,
        "str" | "bytes" => arguments.get(1..).unwrap_or_default(),
        _ => return false,
    };
    let is_usual = |made: &Made| {
        let lower = made.only().map(str::to_ascii_lowercase);
        lower.is_some_and(|name| USUAL.contains(&name.as_str()))
    };
    !named.iter().all(is_usual)
}

/// Whether a method of this name changes a list.
pub(super) fn changes_list(word: &str) -> bool {
    matches!(word, "append" | "extend" | "push") || LIST_CHANGERS.contains(word)
}

/// Whether a mark changes what stands before it.
pub(super) fn is_update(mark: &str) -> bool {
    mark.len() > 1
        && mark.ends_with('=')
        && !matches!(
            mark,
            "==" | "===" | "!=" | "!==" | "<=" | ">=" | ":=" | "~="
        )
}
