//! Arguments that only say which things are meant, or how they are shown.
//!
//! A name made of nouns (`orders`, `firewall_rules`) lists things or makes one, and only the arguments
//! tell which. It lists where every argument narrows; whatever else is given may be what is made.

use serde_json::{Map, Value};

use super::infer::{is_compound, is_deed, singular, words};
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    ACTION_KEYS, GUARDED_THINGS, IDENTIFYING_WORDS, LOCATING_KEYS, NARROWING_KEYS, SAYING_KEYS,
    SEARCH_KEYS, STATE_WORDS,
};

/// Longest text that is one word, such as a name or an id.
const WORD_BYTES: usize = 64;
/// Values deeper than this are not followed; they count as an order.
const DEPTH_MAX: usize = 16;

/// Whether every argument only narrows what a name of nouns lists.
pub(super) fn all_narrow(name: &[String], args: &Map<String, Value>) -> bool {
    let guarded = is_guarded(name);
    // What is named by its own id needs no other property to be found: `issues {"id", "state"}` sets it.
    let is_own = |key: &String| match words(key).as_slice() {
        [id] => matches!(id.as_str(), "id" | "iid" | "key" | "number"),
        [thing, id] => IDENTIFYING_WORDS.contains(id.as_str()) && is_about(name, thing),
        _ => false,
    };
    let one = args.keys().any(is_own);
    args.iter()
        // What an action does is looked at beside the name.
        .filter(|(key, value)| !value.is_null() && !ACTION_KEYS.contains_in_any_case(key))
        .all(|(key, value)| {
            let key = words(key);
            let sets = one && key.first().is_some_and(|it| on_list(&STATE_WORDS, it));
            // `guild_members {"guild": "9"}`: the name says what is meant by it.
            let of_name = matches!(key.as_slice(), [word] if name.contains(word));
            let locates = of_name || identifies(&key) || on(&LOCATING_KEYS, &key);
            let searches = on(&SEARCH_KEYS, &key);
            let narrows = locates || !guarded && (searches || on(&NARROWING_KEYS, &key));
            !sets && (is_date(value) || narrows && (searches || is_plain(value)))
        })
}

fn is_about(name: &[String], thing: &str) -> bool {
    let is = |word: &String| word == thing || singular(word).is_some_and(|one| one == thing);
    name.last().is_some_and(is)
}

fn on_list(list: &Names, word: &str) -> bool {
    list.contains(word) || singular(word).is_some_and(|one| list.contains(&one))
}

/// Whether the last word of a name is a thing that pays, lets somebody in or guards something, so
/// that one more argument may be what it is set to.
fn is_guarded(name: &[String]) -> bool {
    name.last().is_some_and(|last| {
        let one = singular(last);
        GUARDED_THINGS.contains(one.as_deref().unwrap_or(last))
    })
}

/// Whether the words of a key name a thing by its id or name: `repo_name`, not `new_name`.
fn identifies(key: &[String]) -> bool {
    let Some((last, front)) = key.split_last() else {
        return false;
    };
    let changes = |(at, word): (usize, &String)| {
        let next = key.get(at + 1).map_or("", String::as_str);
        matches!(word.as_str(), "new" | "to" | "target")
            || is_deed(word) && !is_compound(word, next)
    };
    IDENTIFYING_WORDS.contains(last.as_str()) && !front.iter().enumerate().any(changes)
}

/// Whether a key, or each of its words, is on a list: `page_size`, `sort_by`.
fn on(list: &Names, key: &[String]) -> bool {
    let listed = |word: &String| {
        list.contains(word.as_str()) || singular(word).is_some_and(|one| list.contains(&one))
    };
    !key.is_empty() && (list.contains(key.join("_").as_str()) || key.iter().all(listed))
}

/// Whether a value is a date: the end of a span of time, not somebody who gets something.
pub(super) fn is_date(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let (year, rest) = text.split_at_checked(4).unwrap_or_default();
    let of_time =
        |it: char| it.is_ascii_digit() || matches!(it, '-' | ':' | '.' | '+' | 'T' | 'Z' | ' ');
    rest.starts_with('-')
        && year.bytes().all(|digit| digit.is_ascii_digit())
        && rest.chars().all(of_time)
}

/// Whether a value is a word, a number or a switch, or a list of such.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => {
            let is_word = !text.contains(char::is_whitespace);
            let is_title = text.chars().all(|it| it.is_alphanumeric() || it == ' ');
            text.len() <= WORD_BYTES && (is_word || is_title) || text.contains("://")
        }
        Value::Array(items) => items.iter().all(|item| !item.is_array() && is_plain(item)),
        Value::Object(_) => false,
    }
}

/// Returns the words that an argument orders a tool to do, where its key says neither which things
/// are meant nor what they are like: `{"then": "delete"}`.
pub(super) fn ordered(args: &Map<String, Value>) -> Vec<&str> {
    fn below<'a>(key: &str, value: &'a Value, depth: usize, found: &mut Vec<&'a str>) {
        let key_words = words(key);
        let says = [&SAYING_KEYS, &SEARCH_KEYS, &NARROWING_KEYS, &LOCATING_KEYS];
        if depth == 0 || identifies(&key_words) || says.iter().any(|list| on(list, &key_words)) {
            return;
        }
        match value {
            Value::String(text) if text.len() <= WORD_BYTES => {
                if is_deed(&text.trim().to_lowercase()) {
                    found.push(text);
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| below(key, item, depth - 1, found)),
            Value::Object(map) => map
                .iter()
                .for_each(|(key, item)| below(key, item, depth - 1, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    for (key, value) in args {
        below(key, value, DEPTH_MAX, &mut found);
    }
    found
}

/// Whether a key names a thing by its id or name, or says how something is waited for or shown.
pub(super) fn only_locates(key: &str) -> bool {
    let key = words(key);
    identifies(&key) || on(&LOCATING_KEYS, &key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_identifies_unless_it_says_what_a_thing_becomes() {
        for (key, want) in [
            ("id", true),
            ("repo_name", true),
            ("merge_request_iid", true),
            ("issueKey", true),
            ("new_name", false),
            ("delete_id", false),
            ("side", false),
            ("", false),
        ] {
            assert_eq!(identifies(&words(key)), want, "{key}");
        }
        assert!(is_guarded(&words("drive_permissions")));
    }
}
