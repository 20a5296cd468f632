//! What the arguments of a tool say about what it does, whatever its name says.
//!
//! Separate because it holds for known and unknown tools alike, and because it only raises: a
//! request that changes something, a switch that acts on what was found, a shared branch or live
//! environment, an order to a helper to go ahead unasked.

use serde_json::{Map, Value};

use super::gather::Gathered;
use super::infer::{By, Meaning, begins_with_message, is_reading, meaning_of, words};
use super::named::Named;
use super::narrow;
use super::{arguments, beyond};
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    ACTION_KEYS, BODY_KEYS, BRANCH_KEYS, CHANGING_METHODS, CHANGING_SWITCHES, COMPUTING_VIEWS,
    CONSENT_STEMS, FILTER_KEYS, FINAL_DEEDS, GUARD_WORDS, LIVE_STAGES, LOOKS_AT_TEXT, METHOD_KEYS,
    ORDERED_DEEDS, REQUEST_BODY_KEYS, SENT_TO_KEYS, SHARED_BRANCHES, SKIPPING_WORDS, STAGE_KEYS,
    UNASKED_PHRASES, UNGUARDED_VALUES, UNGUARDING_WORDS,
};
use crate::knowledge::{ArgumentRole, Effect};
use crate::score::Score;

/// How sensitive a branch or an environment is that everybody depends on.
const SHARED: Score = Score::new(700);
/// How much of the text around a phrase belongs to the order it stands in, in bytes.
const ORDER_BYTES: usize = 240;
/// How often one phrase is looked at; a text that repeats it more often is no ordinary order.
const PHRASES_MAX: usize = 64;
/// How many words behind "skip" may name what is skipped.
const SKIPPED_WORDS: usize = 3;
/// How many words around "skip" belong to the order it stands in.
const ORDER_WORDS: usize = 40;
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
    // A file that is written on the way makes nothing of it harmless.
    let reads = beyond::stays_here(gathered, before);
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
    let starts_agent = named.row.is_some_and(|row| {
        let mut roles = row.args.iter().map(|(_, role)| *role);
        roles.any(|role| role == ArgumentRole::Goal)
    });
    if starts_agent && args.iter().any(|(key, value)| unguards(key, value)) {
        let act = named
            .act(Effect::Guard)
            .because("starts a helper whose guards are switched off");
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
    // `find_duplicates {"then": "delete"}`.
    if worst.is_none_or(|name| is_reading(name.effect)) {
        for word in narrow::ordered(args) {
            let deed = meaning_of(&words(word), &[]);
            worst = match (worst, deed) {
                (Some(name), Some(deed)) if deed.effect > name.effect => Some(deed),
                (name, _) => name,
            };
        }
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
        let given = !value.is_null() && !is_empty(value) && !narrow::is_date(value);
        given && (has(&SENT_TO_KEYS, key) || prose && has(&BODY_KEYS, key))
    };
    // What is made of the text that is brought along goes to nobody, unless an address is given.
    let addressed = |(key, value): (&String, &Value)| {
        let mut found = false;
        arguments::each_text(value, &mut |_, text| found |= text.contains('@'));
        found && has(&SENT_TO_KEYS, key)
    };
    let quiet = computes && !args.iter().any(addressed);
    // `show {"to": "all", "message": …}` speaks to people, whatever it shows.
    let shows = name
        .first()
        .is_some_and(|first| matches!(first.as_str(), "show" | "display"));
    let speaks = shows
        && args.keys().any(|key| has(&SENT_TO_KEYS, key))
        && args.keys().any(|key| has(&BODY_KEYS, key));
    speaks || begins_with_message(name) && !quiet && args.iter().any(reaches)
}

/// Whether arguments may bring something new, so that nouns alone do not say that something is shown.
pub(super) fn brings_content(name: &[String], args: &Map<String, Value>) -> bool {
    // `order_status {"status": "shipped"}` sets what the name ends in.
    let last = name.last().filter(|last| last.as_str() != "id");
    let sets = |(key, value): (&String, &Value)| {
        let given = !value.is_null() && !is_empty(value);
        given && last.is_some_and(|last| last == key)
    };
    args.iter().any(sets) || !narrow::all_narrow(name, args)
}

/// Whether an option of a helper agent switches a guard off, by its name or by its value, at any depth:
/// `{"mode": "bypassPermissions"}`, `{"skip_permissions": true}`, `{"sandbox": "off"}`.
fn unguards(key: &str, value: &Value) -> bool {
    let key_words = words(key);
    let speaks = |words: &[String], list: &Names| words.iter().any(|it| list.contains(it.as_str()));
    let guard = speaks(&key_words, &GUARD_WORDS);
    let lifted = speaks(&key_words, &UNGUARDING_WORDS);
    match value {
        Value::Null => false,
        Value::Bool(on) => *on && lifted || !*on && guard && !lifted,
        Value::Number(_) => lifted,
        Value::Array(items) => items.iter().any(|item| unguards(key, item)),
        Value::Object(map) => map.iter().any(|(key, item)| unguards(key, item)),
        Value::String(text) if text.trim().contains(char::is_whitespace) => false,
        Value::String(text) => {
            let value = words(text);
            let off = speaks(&value, &UNGUARDED_VALUES);
            let named = speaks(&value, &UNGUARDING_WORDS);
            named || lifted && !off || guard && !lifted && off
        }
    }
}

/// Whether an order to another agent says to do something final without a person's consent.
pub(super) fn orders_unasked(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    skips_consent(&lower)
        || UNASKED_PHRASES.iter().any(|phrase| {
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

/// Whether a text in lower case says to leave consent out, in whatever number and with whatever words
/// between, and orders something final beside it: "skip all confirmations and push".
fn skips_consent(lower: &str) -> bool {
    let letters = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '\'' | '-'));
    let words: Vec<&str> = lower.split(letters).filter(|it| !it.is_empty()).collect();
    let around = |at: usize| {
        let to = (at + ORDER_WORDS).min(words.len());
        words.get(at.saturating_sub(ORDER_WORDS)..to).unwrap_or(&[])
    };
    let skips = |(_, word): &(usize, &&str)| SKIPPING_WORDS.contains(word);
    let mut skipping = words.iter().enumerate().filter(skips);
    skipping.by_ref().take(PHRASES_MAX).any(|(at, _)| {
        let mut behind = words
            .get(at + 1..)
            .unwrap_or(&[])
            .iter()
            .take(SKIPPED_WORDS);
        let front = at.checked_sub(1).and_then(|before| words.get(before));
        let consent = |word: &&str| CONSENT_STEMS.iter().any(|stem| word.starts_with(stem));
        !front.is_some_and(|word| matches!(*word, "not" | "never" | "don't" | "dont"))
            && behind.any(consent)
            && orders(&around(at).join(" "))
    }) || skipping.next().is_some()
}

/// Whether a text orders something that cannot be taken back, whatever else it says.
pub(super) fn orders_final(text: &str) -> bool {
    orders_one_of(&FINAL_DEEDS, &text.to_lowercase())
}

/// Whether a text orders something final, and does not forbid it.
fn orders(text: &str) -> bool {
    orders_one_of(&ORDERED_DEEDS, text)
}

fn orders_one_of(deeds: &Names, text: &str) -> bool {
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
        deeds.contains(word) && !front.iter().any(negated)
    })
}

/// Returns what a web request does whose method, at any depth, changes something.
pub(super) fn changing_request(named: &Named, args: &Map<String, Value>) -> Option<Effect> {
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
