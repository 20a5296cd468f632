//! Tools of a server that are called like one that runs SQL but take none: `query {"question": …}`.

use serde_json::{Map, Value};

use super::infer::{is_deed, words};
use super::named::Named;
use crate::knowledge::names::WRITING_QUERY_WORDS;
use crate::knowledge::{self, Effect};
use crate::language::sql::{Dialect, read, redis};
use crate::language::{Deed, Reading};

/// Verbs with which a name says that it carries something out.
const RUNNING_WORDS: &[&str] = &["run", "exec", "execute", "write"];
/// Signs that stand in a question and mean nothing to a shell or a database.
const PLAIN_SIGNS: &[char] = &[',', '.', '?', '!', '\'', '-', ':', '/', '_', '@', '#'];

/// Whether a server's tool is called like one that runs SQL but takes none: it asks in a way of its
/// own. A text that may be an order in any language of databases or shells is none.
pub(super) fn is_other_query(named: &Named, effect: Effect, args: &Map<String, Value>) -> bool {
    let offered = named.server.is_some() && effect == Effect::DbRead;
    let runs = words(&named.tool)
        .iter()
        .any(|word| RUNNING_WORDS.contains(&word.as_str()));
    offered && !runs && args.iter().all(|(key, value)| only_asks(key, value))
}

fn only_asks(key: &str, value: &Value) -> bool {
    // Operators of MongoDB are keys: `{"$out": "users"}`.
    if key.contains('$') {
        return false;
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => is_question(text) || is_reading_statement(text),
        Value::Array(items) => items.iter().all(|item| only_asks(key, item)),
        Value::Object(map) => map.iter().all(|(key, item)| only_asks(key, item)),
    }
}

/// Whether a text is plain words, and none of them makes it an order.
fn is_question(text: &str) -> bool {
    let plain = text.chars().all(|letter| {
        letter.is_alphanumeric() || matches!(letter, ' ' | '\n') || PLAIN_SIGNS.contains(&letter)
    });
    let mut parts = text.split_whitespace();
    let options = text.split_whitespace().any(|word| word.starts_with('-'));
    let first = parts.next().unwrap_or("");
    let single = parts.next().is_none();
    let writes = || {
        let letters = text.split(|letter: char| !letter.is_alphanumeric());
        let mut letters = letters.filter(|word| !word.is_empty());
        !single && letters.any(|word| WRITING_QUERY_WORDS.contains_in_any_case(word))
    };
    let runs = || {
        let row = knowledge::program(first);
        row.is_some_and(|program| program.row.does > Effect::NetRead)
    };
    let of_redis = || redis(&text.split_whitespace().collect::<Vec<_>>());
    let orders = || single && words(first).iter().any(|word| is_deed(word));
    plain && !options && !writes() && !runs() && !orders() && !changes(&of_redis())
}

/// Whether a text is a statement of SQL that only reads.
fn is_reading_statement(text: &str) -> bool {
    let reading = read(text, Dialect::Generic);
    reading.hidden.is_none() && !reading.deeds.is_empty() && !changes(&reading)
}

/// Whether something that was read in a text does more than look into a database.
fn changes(reading: &Reading) -> bool {
    reading.deeds.iter().any(|deed| *deed != Deed::DbRead)
}
