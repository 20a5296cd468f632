//! Infers effects from the name of an unknown tool, by a small grammar of names.
//!
//! A name is a verb with an object (`delete_user`, `user_delete`) or a phrase of nouns that ends in
//! what is shown (`alert_history`). Many words are both verb and noun, so the place of a word decides
//! which it is. A verb that changes something counts wherever it stands; words nobody listed say
//! nothing. The words are in `knowledge/tools-3-verbs.toml` and `knowledge/names/tools.toml`.

use std::borrow::Cow;

use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    CHANGING_OBJECTS, COMPOUNDS, COMPUTING_VIEWS, CONTAINER_WORDS, FINAL_READS, FORMAT_WORDS,
    LEADING_READS, LOGGED_THINGS, LOOKING_OBJECTS, PEOPLE_WORDS, PERMISSION_WORDS, PLAIN_NOUNS,
    PREPOSITIONS, QUALIFIER_WORDS, SERVICE_WORDS, STATUS_WORDS, TELEMETRY_THINGS, TELEMETRY_VERBS,
    THING_WORDS, VERB_WORDS, VIEW_WORDS,
};
use crate::knowledge::{Effect, verbs};

/// Words of a name that are looked at.
const WORDS_MAX: usize = 24;
/// Words that join two things a tool does.
const CONJUNCTIONS: &[&str] = &["and", "then", "or", "plus", "n"];

/// Returns the words of a name in lower case: `getUser-info` is `get`, `user`, `info`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
            before = None;
            continue;
        }
        let after_small = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let new_word = before.is_some_and(char::is_uppercase)
            && letters.peek().is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_small || new_word) {
            words.push(std::mem::take(&mut word));
        }
        word.extend(letter.to_lowercase());
        before = Some(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.truncate(WORDS_MAX);
    words
}

/// Whether an effect changes nothing.
pub(super) fn is_reading(effect: Effect) -> bool {
    effect <= Effect::NetRead
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    /// The worst thing it says the tool does.
    pub(super) effect: Effect,
    /// What says so.
    pub(super) by: By,
}

/// Which kind of word decided what a name says, the strongest evidence for reading first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// A verb, or a noun for something that is computed from the arguments.
    Verb,
    /// Nothing but nouns: they say that something is shown, if the arguments only narrow it.
    Nouns,
    /// A verb of telemetry and a measurement: a program reports on itself.
    Telemetry,
}

/// Returns the worst that the words of a name say the tool does. `keys` are the names of its
/// arguments, which may give the object that a bare verb lacks.
pub(super) fn meaning_of(words: &[String], keys: &[String]) -> Option<Meaning> {
    let mut worst: Option<Meaning> = None;
    let mut unknown = false;
    for words in words.split(|word| CONJUNCTIONS.contains(&word.as_str())) {
        let clause = Clause::new(words, keys);
        let Some(said) = clause.meaning() else {
            unknown |= !words.iter().all(|word| is_thing(word) || is_place(word));
            continue;
        };
        worst = Some(worst.map_or(said, |worst| Meaning {
            effect: worst.effect.max(said.effect),
            by: worst.by.max(said.by),
        }));
    }
    // `list_and_frobnicate` lists, and nobody knows what else it does.
    let mut worst = worst.filter(|worst| !(unknown && is_reading(worst.effect)))?;
    if names_secret(words) {
        worst.effect = worst.effect.max(Effect::Secret);
    }
    Some(worst)
}

/// Whether a word, or two words together, name something that is secret, one or several of them.
pub(super) fn names_secret(words: &[String]) -> bool {
    let one = |word: &String| singular(word).map_or_else(|| word.clone(), Cow::into_owned);
    let single: Vec<String> = words.iter().map(one).collect();
    let listed = |words: &[String]| {
        let pairs = words.windows(2).map(|pair| pair.join("_"));
        let mut all = words.iter().cloned().chain(pairs);
        all.any(|word| meaning("tool_secrets", &word).is_some())
    };
    listed(words) || listed(&single)
}

/// Returns the worst deed among words that stand in front of a known tool's name. Nouns are places
/// there: `mail_list_folders`.
pub(super) fn deed_of(words: &[String]) -> Option<Effect> {
    let deeds = words
        .iter()
        .filter_map(|word| verb(word).max(meaning("tool_mixed", word)));
    deeds.filter(|effect| !is_reading(*effect)).max()
}

/// Whether a name begins with a kind of message, services left out.
pub(super) fn begins_with_message(words: &[String]) -> bool {
    let first = Clause::new(words, &[]).word(0);
    meaning("tool_nouns", first) == Some(Effect::Message)
}

/// Whether a word is a verb that changes something and nothing else.
pub(super) fn is_deed(word: &str) -> bool {
    verb(word).is_some_and(|effect| !is_reading(effect))
}

/// Returns what a word does as a verb, or as a thing that is made.
pub(super) fn verb_of(word: &str) -> Option<Effect> {
    let tables = ["tool", "tool_mixed", "tool_nouns"].into_iter();
    tables
        .filter_map(|table| meaning(table, word))
        .find(|effect| !is_reading(*effect))
}

/// Whether the words speak of questions about permission, or of this firewall.
pub(super) fn is_about_permission(words: &[String]) -> bool {
    words
        .iter()
        .any(|word| PERMISSION_WORDS.contains(word.as_str()))
}

/// One clause of a name: words without a conjunction, names of services in front left out.
struct Clause<'w> {
    words: &'w [String],
    keys: &'w [String],
    /// How many of the words come before a preposition and words that only narrow.
    end: usize,
}

impl<'w> Clause<'w> {
    fn new(words: &'w [String], keys: &'w [String]) -> Self {
        let services = words.iter().take_while(|word| is_on(&SERVICE_WORDS, word));
        let skipped = services.count().min(words.len().saturating_sub(1));
        let words = words.get(skipped..).unwrap_or(words);
        let preposition = words.iter().skip(1).position(|it| is_on(&PREPOSITIONS, it));
        let mut end = preposition.map_or(words.len(), |at| at + 1);
        while end > 1
            && words
                .get(end - 1)
                .is_some_and(|it| is_on(&QUALIFIER_WORDS, it))
        {
            end -= 1;
        }
        Self { words, keys, end }
    }

    fn meaning(&self) -> Option<Meaning> {
        let said = |effect, by| Some(Meaning { effect, by });
        if self.is_telemetry() {
            return said(Effect::Create, By::Telemetry);
        }
        if self.is_conversion() {
            return said(Effect::CloudRead, By::Verb);
        }
        if let Some(deed) = (0..self.words.len()).filter_map(|at| self.deed(at)).max() {
            return said(deed, By::Verb);
        }
        let looks = |at: usize| self.looks(at) || self.reads(at);
        if (0..self.words.len()).any(looks) {
            return said(Effect::CloudRead, By::Verb);
        }
        let last = self.last()?;
        if self.is_phrase() && is_on(&COMPUTING_VIEWS, last) {
            return said(Effect::CloudRead, By::Verb);
        }
        if self.is_phrase() && (is_on(&VIEW_WORDS, last) || self.ends_in_things()) {
            return said(Effect::CloudRead, By::Nouns);
        }
        None
    }

    fn word(&self, at: usize) -> &'w str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// The last word that is neither a qualifier nor part of a phrase behind a preposition.
    fn last(&self) -> Option<&'w str> {
        Some(self.words.get(self.end.checked_sub(1)?)?.as_str())
    }

    fn reads(&self, at: usize) -> bool {
        verb(self.word(at)).is_some_and(is_reading)
    }

    /// Returns what the word at `at` does, if it is a verb here and changes something.
    fn deed(&self, at: usize) -> Option<Effect> {
        let word = self.word(at);
        if self.in_compound(at) || self.looks(at) {
            return None;
        }
        if let Some(effect) = self.changes_object(at) {
            return Some(effect);
        }
        if let Some(effect) = verb(word).or_else(|| repeated(word)) {
            return (!is_reading(effect)).then_some(effect);
        }
        if let Some(effect) = meaning("tool_mixed", word) {
            return (!self.is_thing_here(at)).then_some(effect);
        }
        let effect = meaning("tool_nouns", word)?;
        (!self.is_looked_at(at, effect)).then_some(effect)
    }

    /// Whether the word at `at` and a neighbour are one thing: `merge_request`.
    fn in_compound(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        is_compound(self.word(at), self.word(at + 1)) || is_compound(before, self.word(at))
    }

    /// Whether a verb that usually does something has an object with which it only computes.
    fn looks(&self, at: usize) -> bool {
        self.has_object(LOOKING_OBJECTS, at, false)
    }

    /// Returns what a word that usually looks something up, or is a thing, does to its object here.
    fn changes_object(&self, at: usize) -> Option<Effect> {
        let bare = self.words.len() == 1;
        let is_person = |word: &str| is_on(&PEOPLE_WORDS, word);
        let addresses = matches!(self.word(at), "ask" | "ping" | "poll");
        let keyed = bare && self.keys.iter().any(|key| is_person(key));
        let talks = matches!(self.word(at), "check" | "verify" | "discuss" | "consult")
            && self.word(at + 1) == "with"
            && is_person(self.word(at + 2));
        if addresses && (is_person(self.word(at + 1)) || keyed) || talks {
            return Some(Effect::Message);
        }
        self.has_object(CHANGING_OBJECTS, at, bare)
            .then_some(Effect::CloudWrite)
    }

    fn has_object(&self, table: &[(&str, &[&str])], at: usize, bare: bool) -> bool {
        let Some((_, objects)) = table.iter().find(|(verb, _)| *verb == self.word(at)) else {
            return false;
        };
        let named = self.words.iter().any(|it| objects.contains(&it.as_str()));
        let given = |key: &String| {
            let stem = key.strip_suffix("_id").or_else(|| key.strip_suffix("id"));
            objects.contains(&stem.unwrap_or(key))
        };
        named || bare && self.keys.iter().any(given)
    }

    /// Whether a word that is mostly a verb stands where a thing stands.
    fn is_thing_here(&self, at: usize) -> bool {
        let led = (0..at).any(|before| is_on(&LEADING_READS, self.word(before)));
        let read = (at + 1..self.words.len()).any(|after| is_on(&FINAL_READS, self.word(after)));
        let behind_thing = at > 0 && is_thing(self.word(at - 1));
        let viewed = at + 1 < self.end && self.last().is_some_and(|it| is_on(&VIEW_WORDS, it));
        let is_view = at > 0 && at + 1 == self.end && is_on(&VIEW_WORDS, self.word(at));
        led || read || is_view || behind_thing && viewed
    }

    /// Whether something in the name says that the thing at `at` is only looked at.
    fn is_looked_at(&self, at: usize, effect: Effect) -> bool {
        if (0..at).any(|before| is_on(&LEADING_READS, self.word(before))) {
            return true;
        }
        let last = self.last().unwrap_or_default();
        if at + 1 == self.end {
            // `ci_job_log` ends in a view, `trace_by_id` looks up; `slack_message` does neither.
            let is_view = is_on(&VIEW_WORDS, last);
            return is_view && (at > 0 || self.word(self.end) == "by");
        }
        let plain = is_on(&PLAIN_NOUNS, self.word(at));
        // What runs or deploys something is taken for a thing only where a state of it is shown.
        let heavy = !plain && matches!(effect, Effect::Control | Effect::Exec | Effect::Publish);
        let status = is_on(&STATUS_WORDS, last) || !heavy && is_on(&CONTAINER_WORDS, last);
        let behind_thing = at > 0 && is_thing(self.word(at - 1));
        let viewed = (plain || behind_thing) && is_on(&VIEW_WORDS, last);
        let listed = plain && self.is_phrase() && self.ends_in_things();
        let read = !heavy && (0..self.words.len()).any(|it| self.reads(it));
        let read_last = is_on(&FINAL_READS, last);
        status || viewed || read || read_last || listed && !is_on(&PEOPLE_WORDS, last)
    }

    /// Whether a program reports on itself: `emit_histogram`, `log_event`.
    fn is_telemetry(&self) -> bool {
        let is_verb = |word: &str| is_on(&TELEMETRY_VERBS, word);
        let is_measured = |word: &str| is_on(&TELEMETRY_THINGS, word);
        let has = |is: &dyn Fn(&str) -> bool| self.words.iter().any(|word| is(word));
        let logs = |word: &str| matches!(word, "log" | "track");
        let logged = |word: &str| is_on(&LOGGED_THINGS, word);
        let alone = self.words.len() == 1 && logs(self.word(0));
        let reports = has(&is_verb) && has(&is_measured)
            || has(&|word| logs(word) || matches!(word, "record" | "capture")) && has(&logged)
            || alone;
        let harmless = |word: &str| {
            is_verb(word)
                || is_measured(word)
                || logged(word)
                || verb(word).is_none_or(is_reading)
                    && repeated(word).is_none()
                    && meaning("tool_mixed", word).is_none()
                    && meaning("tool_nouns", word).is_none()
        };
        // `send_metrics_report` is two verbs of telemetry and could as well write to people.
        let verbs = self.words.iter().filter(|word| is_verb(word)).count();
        reports && verbs <= 1 && self.words.iter().all(|word| harmless(word))
    }

    /// Whether the name puts one format into another: `markdown_to_html`.
    fn is_conversion(&self) -> bool {
        let is_format = |word: &String| is_on(&FORMAT_WORDS, word);
        match self.words {
            [one] => one.split_once('2').is_some_and(|(from, into)| {
                is_on(&FORMAT_WORDS, from) && is_on(&FORMAT_WORDS, into)
            }),
            [from @ .., to, into] if to == "to" => {
                !from.is_empty() && from.iter().all(is_format) && is_format(into)
            }
            _ => false,
        }
    }

    /// Whether no word of the phrase could be a verb.
    fn is_phrase(&self) -> bool {
        let ends_in_view = self.last().is_some_and(|it| is_on(&VIEW_WORDS, it));
        let end = self.end - usize::from(ends_in_view && self.end > 0);
        !(0..end).any(|at| could_be_verb(self.word(at)) && !self.in_compound(at))
    }

    /// Whether the name ends in several things, in what a thing is looked up by, or in a form of it:
    /// `guild_members`, `user_by_email`, `dashboard_json`.
    fn ends_in_things(&self) -> bool {
        let is_several = |word: &str| PLURALS.contains(&word) || singular(word).is_some();
        let next = self.word(self.end);
        let formed = is_on(&FORMAT_WORDS, next) || matches!(next, "url" | "link" | "id" | "name");
        let several = self.last().is_some_and(is_several);
        several || next == "by" || formed || is_several(next) && is_on(&QUALIFIER_WORDS, next)
    }
}

/// Whether two words are one thing, though the first could be a verb: `merge_requests`.
pub(super) fn is_compound(first: &str, second: &str) -> bool {
    let one = singular(second).unwrap_or(Cow::Borrowed(second));
    COMPOUNDS
        .iter()
        .any(|(known, thing)| *known == first && (*thing == second || *thing == one))
}

/// Whether a word could be a verb. A word nobody listed is one if it is built like one.
fn could_be_verb(word: &str) -> bool {
    let built = word.len() >= BUILT_LETTERS
        && ["ize", "ise", "ify", "ate"]
            .iter()
            .any(|end| word.ends_with(end));
    let known = is_thing(word) || is_on(&SERVICE_WORDS, word);
    let one = singular(word);
    let verb_in_person = one.is_some_and(|one| is_deed(&one) && !is_on(&THING_WORDS, &one));
    !known && (built || verb_in_person || is_on(&VERB_WORDS, word))
}

/// Fewest letters of a word that is a verb because it is built like one: `size` and `gate` are not.
const BUILT_LETTERS: usize = 6;
/// Plurals without an `s`.
const PLURALS: &[&str] = &["indices", "children", "people", "media", "data", "news"];

/// Whether a word only says where or of which kind.
fn is_place(word: &str) -> bool {
    is_on(&SERVICE_WORDS, word) || is_on(&QUALIFIER_WORDS, word) || is_on(&PREPOSITIONS, word)
}

fn is_on(list: &Names, word: &str) -> bool {
    list.contains(word)
}

fn is_thing(word: &str) -> bool {
    is_on(&THING_WORDS, word)
        || meaning("tool_nouns", word).is_some()
        || singular(word).is_some_and(|one| is_on(&THING_WORDS, &one))
}

/// Returns the singular of a regular plural.
pub(super) fn singular(word: &str) -> Option<Cow<'_, str>> {
    if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        return None;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return Some(Cow::Owned(format!("{stem}y")));
    }
    let sibilant = |stem: &&str| ["s", "x", "ch", "sh"].iter().any(|end| stem.ends_with(end));
    let stem = word.strip_suffix("es").filter(sibilant);
    stem.or_else(|| word.strip_suffix('s')).map(Cow::Borrowed)
}

/// Returns what a verb that is done again or taken back does: `resend`, `unmute`. A word of the tables
/// means what they say: `reset` is not `set`.
fn repeated(word: &str) -> Option<Effect> {
    let listed = |table| meaning(table, word).is_some();
    if ["tool", "tool_mixed", "tool_nouns"].into_iter().any(listed) {
        return None;
    }
    let stem = word
        .strip_prefix("re")
        .or_else(|| word.strip_prefix("un"))?;
    let effect = verb(stem).or_else(|| meaning("tool_mixed", stem))?;
    (!is_reading(effect)).then_some(effect)
}

fn verb(word: &str) -> Option<Effect> {
    meaning("tool", word)
}

fn meaning(table: &str, word: &str) -> Option<Effect> {
    verbs(table)?.effect(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words_in_every_spelling() {
        for (name, want) in [
            ("get_weather", "get weather"),
            ("getWeather", "get weather"),
            ("get-weather", "get weather"),
            ("weather.get", "weather get"),
            ("HTTPRequest", "http request"),
            ("sendSMSNow", "send sms now"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), want, "{name}");
        }
    }

    #[test]
    fn the_worse_word_counts() {
        for (name, want) in [
            ("get_weather", Some(Effect::CloudRead)),
            ("weather_get", Some(Effect::CloudRead)),
            ("get_and_delete", Some(Effect::CloudDelete)),
            ("list_then_purge", Some(Effect::CloudDelete)),
            ("fetch_and_post", Some(Effect::Message)),
            ("list_email", Some(Effect::CloudRead)),
            ("order_status", Some(Effect::CloudRead)),
            ("create_order", Some(Effect::Pay)),
            ("run_check", Some(Effect::Exec)),
            ("user_delete", Some(Effect::CloudDelete)),
            ("read_password", Some(Effect::Secret)),
            ("frobnicate", None),
            ("alert_history", Some(Effect::CloudRead)),
            ("refund_by_order_id", Some(Effect::Pay)),
            ("invite_by_email", Some(Effect::Message)),
            ("trace_by_id", Some(Effect::CloudRead)),
            ("acme_push_configuration", Some(Effect::CloudWrite)),
            ("update_order_status", Some(Effect::CloudWrite)),
            ("page_export_preview", Some(Effect::CloudRead)),
            ("deploy_status", Some(Effect::CloudRead)),
            ("deploy_rules", Some(Effect::Control)),
            ("merge_request_diffs", Some(Effect::CloudRead)),
            ("read_and_reset_counter", Some(Effect::CloudDelete)),
            ("resend_invoice", Some(Effect::Pay)),
            ("list_and_frobnicate", None),
            ("issue_refunds", Some(Effect::CloudWrite)),
            ("guild_members", Some(Effect::CloudRead)),
            ("nudge_members", Some(Effect::Message)),
            ("anonymize_members", None),
            ("purges", None),
            ("emit_histogram", Some(Effect::Create)),
            ("emit_invoice", Some(Effect::Pay)),
        ] {
            let said = meaning_of(&words(name), &[]).map(|said| said.effect);
            assert_eq!(said, want, "{name}");
        }
    }

    #[test]
    fn no_service_is_called_like_a_verb_or_a_message() {
        for service in SERVICE_WORDS.iter() {
            let tables = ["tool", "tool_mixed", "tool_nouns"];
            let listed = tables
                .into_iter()
                .any(|table| meaning(table, service).is_some());
            assert!(!listed && !VERB_WORDS.contains(service), "{service}");
        }
    }
}
