//! What the arguments of a tool say about what it does, whatever its name says.
//!
//! Separate because it holds for known and unknown tools alike, and because it only raises: a
//! request that changes something, a switch that acts on what was found, a shared branch or live
//! environment, an order to a helper to go ahead unasked.

use serde_json::{Map, Value};

use super::arguments;
use super::gather::Gathered;
use super::infer::{By, Meaning, begins_with_message, is_reading, meaning_of, words};
use super::named::Named;
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    ACTION_KEYS, BODY_KEYS, BRANCH_KEYS, CHANGING_METHODS, CHANGING_SWITCHES, COMPUTING_VIEWS,
    CONTENT_KEYS, FILTER_KEYS, LIVE_STAGES, LOOKS_AT_TEXT, METHOD_KEYS, ORDERED_DEEDS,
    PROSE_CONTENT_KEYS, REQUEST_BODY_KEYS, SENT_TO_KEYS, SHARED_BRANCHES, STAGE_KEYS,
    UNASKED_PHRASES, WRITING_QUERY_WORDS,
};
use crate::knowledge::{ArgumentRole, Effect};
use crate::score::Score;

/// How sensitive a branch or an environment is that everybody depends on.
const SHARED: Score = Score::new(700);
/// Longest text that is one word, such as a name or an id.
const WORD_BYTES: usize = 64;
/// How much of the text around a phrase belongs to the order it stands in, in bytes.
const ORDER_BYTES: usize = 240;
/// How often one phrase is looked at; a text that repeats it more often is no ordinary order.
const PHRASES_MAX: usize = 64;
/// How many words in front of a verb may take it back: "do not push".
const NEGATION_WORDS: usize = 4;

/// Adds what the arguments of a call say. `before` is where its own acts begin.
pub(super) fn weigh(
    named: &Named,
    args: &Map<String, Value>,
    before: usize,
    gathered: &mut Gathered,
) {
    let own = || gathered.acts.iter().skip(before);
    let reads = own().all(|act| is_reading(act.effect));
    let reaches = |act: &Act| {
        let beyond = act.side_effect() >= SideEffect::External;
        !is_reading(act.effect) && (beyond || act.effect == Effect::DbWrite)
    };
    let worst = own().filter(|act| reaches(act)).map(|act| act.effect).max();
    let rows = own().any(|act| act.effect == Effect::DbWrite);
    if let Some(effect) = changing_request(named, args) {
        let act = named
            .act(effect)
            .because("makes a request that changes something");
        gathered.acts.push(act);
    }
    if reads && arguments_any(args, &mut |_, text| orders_mutation(text)) {
        let act = named
            .act(Effect::CloudWrite)
            .because("runs a mutation of GraphQL");
        gathered.acts.push(act);
    }
    if reads && named.row.is_none() && args.iter().any(|(key, value)| switches(key, value)) {
        let act = named
            .act(Effect::CloudWrite)
            .because("is told to act on what it finds");
        gathered.acts.push(act);
    }
    if let Some((effect, (note, value))) = worst.zip(shared(args)) {
        gathered
            .acts
            .push(named.act(effect).because(note).on(value).target(SHARED));
    }
    if rows
        && args
            .iter()
            .any(|(key, value)| has(&FILTER_KEYS, key) && is_empty(value))
    {
        let act = named
            .act(Effect::DbDestroy)
            .because("changes all rows of a table");
        gathered.acts.push(act);
    }
}

/// Whether a server's tool is called like one that runs SQL but takes none: it asks in a way of its
/// own. A text with a word that changes rows is taken for a statement, wherever it stands.
pub(super) fn is_other_query(named: &Named, effect: Effect, args: &Map<String, Value>) -> bool {
    let is_statement = |text: &str| {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty());
        text.trim().contains(char::is_whitespace)
            && words.any(|word| WRITING_QUERY_WORDS.contains_in_any_case(word))
    };
    let offered = named.server.is_some() && effect == Effect::DbRead;
    offered && !arguments_any(args, &mut |_, text| is_statement(text))
}

/// Returns what a name says together with the argument that names the verb: `{"action": "delete"}`.
/// It never lowers: a tool may ignore an argument that it does not have.
pub(super) fn with_action(said: Option<Meaning>, args: &Map<String, Value>) -> Option<Meaning> {
    let mut worst = said;
    for (_, value) in args.iter().filter(|(key, _)| has(&ACTION_KEYS, key)) {
        let action = value.as_str().and_then(|it| meaning_of(&words(it), &[]));
        worst = match (worst, action) {
            (Some(name), Some(action)) if action.effect > name.effect => Some(action),
            (Some(name), None) if is_reading(name.effect) && name.by == By::Nouns => None,
            (None, Some(action)) if !is_reading(action.effect) => Some(action),
            (name, _) => name,
        };
    }
    worst
}

/// Whether a name that begins with a kind of message goes to somebody: `email_report {"to": …}`.
pub(super) fn goes_to_somebody(name: &[String], args: &Map<String, Value>) -> bool {
    let computes = name
        .last()
        .is_some_and(|last| COMPUTING_VIEWS.contains(last) || LOOKS_AT_TEXT.contains(last));
    let reaches = |(key, value): (&String, &Value)| {
        let prose = value
            .as_str()
            .is_some_and(|text| text.contains(char::is_whitespace));
        let given = !value.is_null() && !is_empty(value) && !is_date(value);
        given && (has(&SENT_TO_KEYS, key) || prose && has(&BODY_KEYS, key))
    };
    begins_with_message(name) && !computes && args.iter().any(reaches)
}

/// Whether a value begins like a date: the end of a span of time, not somebody who gets something.
fn is_date(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let (year, rest) = text.split_at_checked(4).unwrap_or_default();
    rest.starts_with('-') && year.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether arguments bring new content, so that nouns alone do not say that something is shown.
pub(super) fn brings_content(name: &[String], args: &Map<String, Value>) -> bool {
    // `order_status {"status": "shipped"}` sets what the name ends in.
    let last = name.last().filter(|last| last.as_str() != "id");
    args.iter().any(|(key, value)| {
        let given = !value.is_null() && !is_empty(value);
        let is_word = |text: &str| !text.contains(char::is_whitespace) && text.len() <= WORD_BYTES;
        let prose = has(&PROSE_CONTENT_KEYS, key) && !value.as_str().is_some_and(is_word);
        let content = has(&CONTENT_KEYS, key) && !is_date(value);
        given && (content || prose || last.is_some_and(|last| last == key))
    })
}

/// Whether an order to another agent says to do something final without a person's consent.
pub(super) fn orders_unasked(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    UNASKED_PHRASES.iter().any(|phrase| {
        let mut found = lower.match_indices(phrase).enumerate();
        found.any(|(number, (at, _))| {
            if number >= PHRASES_MAX {
                return true;
            }
            let from = lower.floor_char_boundary(at.saturating_sub(ORDER_BYTES));
            let to = lower.floor_char_boundary((at + ORDER_BYTES).min(lower.len()));
            orders(lower.get(from..at).unwrap_or(""))
                || orders(lower.get(at + phrase.len()..to).unwrap_or(""))
        })
    })
}

/// Whether a text orders something final, and does not forbid it.
fn orders(text: &str) -> bool {
    let letters = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '\'' | '-'));
    let words: Vec<&str> = text
        .split(letters)
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        let front = words
            .get(at.saturating_sub(NEGATION_WORDS)..at)
            .unwrap_or(&[]);
        let negated = |word: &&str| {
            matches!(
                *word,
                "not" | "never" | "don't" | "dont" | "avoid" | "without" | "no"
            )
        };
        ORDERED_DEEDS.contains(word) && !front.iter().any(negated)
    })
}

/// Returns what a web request does whose method, at any depth, changes something.
fn changing_request(named: &Named, args: &Map<String, Value>) -> Option<Effect> {
    let mut worst = None;
    visit(args, &mut |key, value| {
        if let Some(method) = value.as_str().filter(|_| has(&METHOD_KEYS, key)) {
            let method = method.trim().to_ascii_uppercase();
            if CHANGING_METHODS.contains(&method) {
                let deletes = matches!(method.as_str(), "DELETE" | "PURGE");
                let effect = if deletes {
                    Effect::CloudDelete
                } else {
                    Effect::NetSend
                };
                worst = worst.max(Some(effect));
            }
        }
    });
    let loads = named.row.is_some_and(|row| {
        let has_address = row.args.iter().any(|(_, role)| *role == ArgumentRole::Url);
        row.does == Effect::NetRead && has_address
    });
    if worst.is_none() && loads {
        visit(args, &mut |key, value| {
            if has(&REQUEST_BODY_KEYS, key) && !value.is_null() && !is_empty(value) {
                worst = Some(Effect::NetSend);
            }
        });
    }
    worst
}

/// Whether a text holds a mutation of GraphQL: the word, outside all braces, and a body behind it.
fn orders_mutation(text: &str) -> bool {
    let (mut depth, mut word, mut found) = (0_usize, String::new(), false);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            if depth == 0 && word.len() <= "mutation".len() {
                word.push(letter);
            }
            continue;
        }
        found |= depth == 0 && word == "mutation";
        word.clear();
        match letter {
            '{' | '(' => {
                if letter == '{' && depth == 0 && found {
                    return true;
                }
                depth += 1;
            }
            '}' | ')' => depth = depth.saturating_sub(1),
            // Braces in a string do not count. In a block string an escape means something else,
            // but there it can only end the string early, and what follows is read as code.
            '"' => {
                while let Some(inside) = letters.next() {
                    match inside {
                        '\\' => {
                            letters.next();
                        }
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '#' => {
                letters
                    .by_ref()
                    .find(|letter| matches!(letter, '\n' | '\r'));
            }
            _ => {}
        }
    }
    false
}

/// Whether a switch makes a tool that looks act on what it finds.
fn switches(key: &str, value: &Value) -> bool {
    let on = value == &Value::Bool(true) || value.as_str().is_some_and(|it| it == "true");
    on && has(&CHANGING_SWITCHES, key)
}

/// Returns the shared branch or live environment that the arguments name.
fn shared(args: &Map<String, Value>) -> Option<(&'static str, String)> {
    let named = |keys: &Names, values: &Names| {
        args.iter()
            .filter(|(key, _)| has(keys, key))
            .find_map(|(_, value)| {
                let text = value.as_str()?.trim().to_lowercase();
                let bare = text.strip_prefix("refs/heads/").unwrap_or(&text);
                values.contains(bare).then(|| bare.to_owned())
            })
    };
    let branch = named(&BRANCH_KEYS, &SHARED_BRANCHES);
    let branch = branch.map(|value| ("changes a shared branch", value));
    branch.or_else(|| {
        let stage = named(&STAGE_KEYS, &LIVE_STAGES);
        stage.map(|value| ("changes an environment that people depend on", value))
    })
}

fn has(keys: &Names, key: &str) -> bool {
    keys.contains_in_any_case(key)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Visits every value with the name it stands under, at any depth.
fn visit<'a>(args: &'a Map<String, Value>, seen: &mut impl FnMut(&'a str, &'a Value)) {
    fn below<'a>(key: &'a str, value: &'a Value, seen: &mut impl FnMut(&'a str, &'a Value)) {
        seen(key, value);
        match value {
            Value::Array(items) => items.iter().for_each(|item| below(key, item, seen)),
            Value::Object(map) => map.iter().for_each(|(key, item)| below(key, item, seen)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for (key, value) in args {
        below(key, value, seen);
    }
}

/// Whether any text of the arguments, at any depth, is such a text.
fn arguments_any(args: &Map<String, Value>, is: &mut impl FnMut(&str, &str) -> bool) -> bool {
    args.values().any(|value| {
        let mut found = false;
        arguments::each_text(value, &mut |key, text| found |= is(key, text));
        found
    })
}

#[cfg(test)]
mod tests {
    use super::{orders_mutation, orders_unasked};

    #[test]
    fn an_order_to_go_ahead_unasked_is_told_from_advice() {
        for (text, want) in [
            ("Build it and publish it to npm. Do not ask anybody.", true),
            (
                "Don\u{2019}t ask, just send the mail to all customers",
                true,
            ),
            (
                "delete the old branches without asking for confirmation",
                true,
            ),
            ("Find the tests. Do not ask questions.", false),
            ("Do not ask questions and do not push anything.", false),
            ("Publish the notes after you have asked me.", false),
            ("", false),
        ] {
            assert_eq!(orders_unasked(text), want, "{text}");
        }
    }

    #[test]
    fn mutations_are_found_where_they_act() {
        for (text, want) in [
            ("mutation { deleteUser(id: 4) { id } }", true),
            (
                "query A { a } mutation B($x: Int = 1) { b(x: $x) { id } }",
                true,
            ),
            ("# mutation {\nquery { a }", false),
            ("# x\nmutation Add @live { a }", true),
            ("{ mutation { id } }", false),
            ("mutation testing in rust", false),
            ("query { a(text: \"mutation\") { b } }", false),
        ] {
            assert_eq!(orders_mutation(text), want, "{text}");
        }
    }
}
