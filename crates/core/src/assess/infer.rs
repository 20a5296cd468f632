//! Infers effects from the name of an unknown tool.

use crate::knowledge::names::PERMISSION_WORDS;
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

/// Returns the worst that the words of a name say the tool does.
pub(super) fn effect_of(words: &[String]) -> Option<Effect> {
    let clauses = words.split(|word| CONJUNCTIONS.contains(&word.as_str()));
    let worst = clauses.filter_map(clause).max()?;
    let pairs = words.windows(2).map(|pair| pair.join("_"));
    let secret = words
        .iter()
        .cloned()
        .chain(pairs)
        .any(|word| meaning("tool_secrets", &word).is_some());
    Some(if secret {
        worst.max(Effect::Secret)
    } else {
        worst
    })
}

/// Whether the words speak of questions about permission, or of this firewall.
pub(super) fn is_about_permission(words: &[String]) -> bool {
    words
        .iter()
        .any(|word| PERMISSION_WORDS.contains(word.as_str()))
}

fn clause(words: &[String]) -> Option<Effect> {
    let verbs: Vec<Option<Effect>> = words.iter().map(|word| verb(word)).collect();
    let nouns: Vec<Option<Effect>> = words
        .iter()
        .map(|word| meaning("tool_nouns", word))
        .collect();
    let verb = verbs.iter().flatten().max().copied();
    let noun = nouns.iter().flatten().max().copied();
    let lead = verbs
        .iter()
        .zip(&nouns)
        .find_map(|(verb, noun)| verb.or(*noun));
    // `list_email` and `order_status` read, whatever the noun could mean as a verb; `run_check` runs.
    let reads_first = lead.is_some_and(is_reading);
    let reads_last = verbs.last().copied().flatten().is_some_and(is_reading)
        && lead.is_some_and(|lead| matches!(lead, Effect::Message | Effect::Pay));
    if verb.is_some_and(is_reading) && (reads_first || reads_last) {
        return verb;
    }
    verb.max(noun)
}

fn verb(word: &str) -> Option<Effect> {
    meaning("tool", word).or_else(|| meaning("tool", word.strip_suffix('s')?))
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
        ] {
            assert_eq!(effect_of(&words(name)), want, "{name}");
        }
    }
}
