//! Calls of .NET methods in expressions of PowerShell.

use super::effects::slashed;
use super::values::{Value, Values};
use super::words::{Split, Word};
use super::{COMPUTED, METHOD, RUNS_TEXT, cmdlets};
use crate::knowledge::names::{POWERSHELL_OPERATORS, POWERSHELL_PURE_TYPES};
use crate::knowledge::{Effect, Role};
use crate::language::{Deed, Reading, WHOLE_ENVIRONMENT, deed_of, deed_on};

/// These types make or start code, whatever the method is called.
const MAKERS: [&str; 8] = [
    "scriptblock",
    "reflection",
    "assembly",
    "runspace",
    "activator",
    "marshal",
    "process]",
    "wmiclass",
];

/// Types whose methods work on the file or directory they are given.
const FILE_TYPES: [&str; 4] = ["io.file", "io.directory", "file", "directory"];

/// Whether a type only holds or computes values.
pub(super) fn is_pure(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // `List[string]`, `int[]`: what is in it does not matter.
    let lower = lower.split('[').next().unwrap_or_default();
    let short = lower.strip_prefix("system.").unwrap_or(lower);
    POWERSHELL_PURE_TYPES.contains(short)
}

/// Whether a word begins an expression and is not the name of a command.
pub(super) fn starts(word: &Word) -> bool {
    let text = word.text.as_str();
    let is_member = text.starts_with('.')
        && ![".\\", "./", ".."]
            .iter()
            .any(|start| text.starts_with(start));
    // `7z` is a program, `7kb` a number.
    let is_number = text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| "0123456789.abcdefxkmgtpl+-*/%[]".contains(c.to_ascii_lowercase()));
    // `1..$n`
    let is_range = text.split_once("..").is_some_and(|(from, to)| {
        let is_end = |c: char| c.is_ascii_alphanumeric() || "$_.".contains(c);
        let is_count = !from.is_empty() && from.bytes().all(|byte| byte.is_ascii_digit());
        is_count && to.starts_with('$') && to.chars().all(is_end)
    });
    // `%` alone is a command, not an operator.
    let is_sign = text != "%" && text.starts_with(|c: char| "$[-!@,+*/%=<".contains(c));
    word.is_quoted || is_sign || is_number || is_range || is_member
}

/// Whether words make an expression: operators stand between the values, and no word is a name.
/// Text of another shell that only looks like PowerShell does not.
pub(super) fn is_one(first: &Word, rest: &[Word]) -> bool {
    let mut after_value = false;
    for word in std::iter::once(first).chain(rest) {
        let kind = kind_of(word, after_value);
        match kind {
            Kind::Name => return false,
            Kind::Value if after_value => return false,
            Kind::Value => after_value = true,
            Kind::Operator => after_value = false,
            Kind::Part => after_value = word.group.is_none() || word.is_invoked,
        }
        if word.joins {
            after_value = false;
        }
    }
    true
}

/// What a word is in an expression.
enum Kind {
    Value,
    Operator,
    /// A member of the value before it.
    Part,
    /// A bare word, which no expression has.
    Name,
}

fn kind_of(word: &Word, after_value: bool) -> Kind {
    let text = word.text.as_str();
    if word.is_quoted && !word.is_bare {
        return Kind::Value;
    }
    if word.group.is_some() && text == "$()" {
        // A block or a table behind a value belongs to it: `switch`, a cast.
        return if after_value { Kind::Part } else { Kind::Value };
    }
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.next());
    match first {
        Some('-') if second.is_some_and(char::is_alphabetic) => {
            let name = text.trim_start_matches('-').to_ascii_lowercase();
            let bare = name.strip_prefix(['c', 'i']).unwrap_or(&name);
            let is_operator = |name: &str| POWERSHELL_OPERATORS.contains(name);
            if is_operator(&name) || is_operator(bare) {
                Kind::Operator
            } else {
                Kind::Name
            }
        }
        Some('.' | '[') if after_value => Kind::Part,
        Some('[') => {
            // A type alone is a cast of what follows.
            if text.ends_with(']') && !text.contains("]::") {
                Kind::Operator
            } else {
                Kind::Value
            }
        }
        Some('$') => Kind::Value,
        Some(c) if c.is_ascii_digit() => Kind::Value,
        Some('-' | '+' | '*' | '/' | '%' | '=' | '!' | '?' | ':' | '<' | ']' | '@') => {
            let is_number = second.is_some_and(|c| c.is_ascii_digit() || c == '$');
            if text.len() <= 3 && !second.is_some_and(char::is_alphabetic) || is_number {
                Kind::Operator
            } else {
                Kind::Name
            }
        }
        _ if word.is_quoted => Kind::Value,
        _ if text.eq_ignore_ascii_case("in") || text.eq_ignore_ascii_case("default") => {
            Kind::Operator
        }
        _ => Kind::Name,
    }
}

/// Judges a call of a method by one word: `$x.Method(`, `[Type]::Method(`.
pub(super) fn judge(split: &Split, values: &Values, word: &Word, reading: &mut Reading) {
    let lower = word.text.to_ascii_lowercase();
    let type_name = type_of(&lower);
    if word.is_assigned && lower.starts_with('[') && lower.contains("]::") {
        // What is set for a whole type holds for everything that follows.
        let harmless = type_name.is_some_and(is_pure) || lower.contains("securityprotocol");
        if !harmless {
            reading.hide(METHOD);
        }
    }
    if !word.is_invoked {
        return;
    }
    if MAKERS.iter().any(|maker| lower.contains(maker)) {
        reading.hide(RUNS_TEXT);
        return;
    }
    let method = lower.rsplit(['.', ':']).next().unwrap_or_default();
    if method == "getenvironmentvariables" {
        reading.see(Deed::ReadFile(WHOLE_ENVIRONMENT.to_owned()));
        return;
    }
    let is_static = type_name.is_some();
    if type_name.is_some_and(is_pure) || values.is_pure(word) {
        return;
    }
    let on_files = type_name.is_some_and(|name| {
        let short = name.strip_prefix("system.").unwrap_or(name);
        FILE_TYPES.contains(&short)
    });
    let Some(call) = cmdlets::method(method) else {
        reading.hide(METHOD);
        return;
    };
    if matches!(method, "foreach" | "where") && !values.takes_block(split, word) {
        // With a text it calls the method of that name on every element.
        reading.hide(METHOD);
        return;
    }
    let argument = values.method_argument(split, word);
    match call.takes.first().map(|operand| operand.role) {
        // What it does, it does to its object; types that are not known may mean something else.
        None if is_static && !on_files && call.does == Effect::Compute && method == "new" => {
            reading.hide(METHOD);
        }
        None => {
            if let Some(deed) = deed_of(call.does, word.text.clone()) {
                reading.see(deed);
            }
        }
        Some(role @ (Role::Url | Role::UrlSend)) => {
            let address = match argument {
                Value::Known(texts) => texts.into_iter().next().unwrap_or_default(),
                Value::Found | Value::Assembled => String::new(),
            };
            reading.deeds.extend(deed_on(role, address));
            if method == "downloadfile" {
                let path = second(split, values, word, reading);
                reading.see(Deed::Download(path));
            }
        }
        Some(role) if on_files || method == "save" => match argument {
            Value::Known(paths) => {
                let paths = paths.iter().map(|path| slashed(path));
                reading
                    .deeds
                    .extend(paths.filter_map(|path| deed_on(role, path)));
                if method == "move" || method == "copy" {
                    reading.hide(COMPUTED);
                }
            }
            Value::Found if role == Role::Read => {}
            Value::Found | Value::Assembled => reading.hide(COMPUTED),
        },
        Some(_) => reading.hide(METHOD),
    }
}

/// The second argument of a method that stores what it loads; hidden where it cannot be seen.
fn second(split: &Split, values: &Values, word: &Word, reading: &mut Reading) -> String {
    if let Value::Known(texts) = values.second_argument(split, word)
        && let [path] = texts.as_slice()
    {
        return slashed(path);
    }
    reading.hide(COMPUTED);
    String::new()
}

/// The type in `[type]::method`.
pub(super) fn type_of(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('[')?;
    let end = rest.find("]::")?;
    rest.get(..end)
}
