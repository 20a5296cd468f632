//! Options that suppress a command's effect: help, dry runs, listings.
//!
//! Law 9: words added to a command never make its verdict looser than what the program would still
//! do. So none of these options counts unless the row proves that the program heeds it in this very
//! command. Which of two contradicting options wins differs from program to program; here the
//! stricter one does.

use super::options::{Hit, Options};
use crate::follow::value::Arg;
use crate::knowledge::names::{
    COMMON_OPTION_WORDS, DRY_VALUES, OFF_WORDS, PARTITION_QUERIES, PARTITION_SWITCHES,
    PARTITION_UNITS,
};
use crate::knowledge::{Effect, Flag, Lifts, Role, Row, Style, Value};

/// Shortest part of a long option's name by which it may be negated: `--no-dry`.
const NEGATED_LETTERS_MIN: usize = 2;

/// Whether a command only asks for help or a version: there are no other words in it than options
/// that ask for that, and switches that change nothing.
pub(super) fn only_asks(row: &Row, args: &[Arg]) -> bool {
    if let [only] = args {
        return asks(row, only) || only.text == "--help" && row.style != Style::Plain;
    }
    let is_switch = |arg: &Arg| flag(row, &arg.text).is_some_and(is_plain_switch);
    args.iter().any(|arg| asks(row, arg)) && args.iter().all(|arg| asks(row, arg) || is_switch(arg))
}

/// Whether a command only asks for the help of one of its commands, where commands are words and not
/// rows: `gcloud compute instances delete --help`.
pub(super) fn asks_about_words(row: &Row, args: &[Arg]) -> bool {
    let Some((last, words)) = args.split_last() else {
        return false;
    };
    let is_name = |arg: &Arg| {
        let named = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !arg.vague() && !arg.text.starts_with('-') && arg.text.bytes().all(named)
    };
    (asks(row, last) || last.text == "--help" && !last.vague()) && words.iter().all(is_name)
}

/// Returns what is left of a command's effect when one of its options lifts it.
pub(super) fn left_over(row: &Row, hits: &[Hit], args: &[Arg]) -> Option<Effect> {
    let dry = lifting(hits)
        .into_iter()
        .filter_map(|flag| match flag.lifts {
            Lifts::Dry(leaves) if !is_negated(flag, args) => Some(leaves),
            Lifts::Dry(_) | Lifts::Shows(_) | Lifts::Counts | Lifts::Nothing => None,
        });
    dry.max()
        .or_else(|| shown_instead(row, hits, args))
        .or_else(|| prints_partitions(row, args))
}

/// Returns what is left where `parted` is only told to print: a disk, then words that print it.
fn prints_partitions(row: &Row, args: &[Arg]) -> Option<Effect> {
    if row.name != "parted" || args.iter().any(Arg::vague) {
        return None;
    }
    let (switches, words): (Vec<&Arg>, Vec<&Arg>) =
        args.iter().partition(|arg| arg.text.starts_with('-'));
    let harmless = |arg: &&Arg| PARTITION_SWITCHES.contains(arg.text.as_str());
    let (_, orders) = words.split_first()?;
    let queries = |(at, arg): (usize, &&Arg)| {
        let before = at.checked_sub(1).and_then(|at| orders.get(at));
        let follows = |word: &str| before.is_some_and(|before| before.text == word);
        let text = arg.text.as_str();
        let numbered = || text.bytes().all(|byte| byte.is_ascii_digit());
        PARTITION_QUERIES.contains(text)
            || follows("unit") && PARTITION_UNITS.contains(text)
            || follows("print") && numbered()
    };
    let prints = |arg: &&Arg| arg.text.starts_with('p');
    (switches.iter().all(harmless)
        && orders.iter().enumerate().all(queries)
        && orders.iter().any(prints))
    .then_some(Effect::Inspect)
}

/// Returns what is left where an option selects an operation that only shows something.
pub(super) fn shown_instead(row: &Row, hits: &[Hit], args: &[Arg]) -> Option<Effect> {
    let shows = |flag: &&'static Flag| match flag.lifts {
        Lifts::Shows(leaves) => Some(leaves),
        Lifts::Dry(_) | Lifts::Counts | Lifts::Nothing => None,
    };
    let given = lifting(hits);
    let leaves = given.iter().filter_map(shows).max()?;
    let changes = hits.iter().any(|hit| !hit.flag.effects.is_empty());
    // What only writes files has options that say how. What does more has options that do more.
    let unlisted = row.does > Effect::Write && args.iter().any(|arg| is_unlisted(row, arg));
    let negated = given
        .iter()
        .any(|flag| shows(flag).is_some() && is_negated(flag, args));
    (!changes && !unlisted && !negated).then_some(leaves)
}

/// Whether an option makes the command show numbers or names instead of the content of files. Another
/// option may take that back, so the row must list all of them. The patterns must be known: a loop that
/// tries one after the other would read a secret letter by letter.
pub(super) fn only_counts(read: &Options<'_>) -> bool {
    let counts = |hit: &Hit| hit.flag.lifts == Lifts::Counts;
    // `grep -q KEY=a`: asks for a value, not for a name.
    let guesses = |pattern: &Arg| {
        let mut values = pattern.text.split('=').skip(1);
        values.any(|value| value.starts_with(|first: char| first.is_alphanumeric()))
    };
    let known = |hit: &Hit| match hit.meaning() {
        Some((Role::Read, _)) => false,
        Some((_, value)) => !value.vague() && !guesses(value),
        None => true,
    };
    read.others == 0
        && !read.operands.iter().any(|operand| guesses(operand))
        && read.hits.iter().any(counts)
        && read.hits.iter().all(known)
        && !read.operands.iter().any(|operand| operand.vague())
}

/// Returns the flags given that lift an effect, each once: every word is read again for each of
/// them, and a bundle may repeat a letter thousands of times.
fn lifting(hits: &[Hit]) -> Vec<&'static Flag> {
    let mut flags: Vec<&'static Flag> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.flag.lifts != Lifts::Nothing) {
        if !flags.iter().any(|known| std::ptr::eq(*known, hit.flag)) {
            flags.push(hit.flag);
        }
    }
    flags
}

/// Whether an option, or a letter of a bundle, is in no list of the row.
fn is_unlisted(row: &Row, arg: &Arg) -> bool {
    let name = arg.text.split('=').next().unwrap_or("");
    let Some(letters) = name.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
        return false;
    };
    if flag(row, name).is_some() || letters == "-" {
        return false;
    }
    let is_listed = |letter: char| flag(row, format!("-{letter}").as_str()).is_some();
    letters.starts_with('-') || !letters.chars().all(is_listed)
}

/// Whether some word takes back what `given` asks for. Other words that speak of it count as well:
/// `-o APT::Get::Simulate=false`, `--confirm-with-what-if`.
fn is_negated(given: &Flag, args: &[Arg]) -> bool {
    let takes_value = given.value != Value::None;
    args.iter().enumerate().any(|(at, arg)| {
        let text = arg.text.as_str();
        if given.names.contains(&text) {
            let next = args.get(at + 1).map(|next| next.text.to_ascii_lowercase());
            return next.is_some_and(|next| OFF_WORDS.contains(next.as_str()));
        }
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if given.names.contains(&name) {
            let free = takes_value && matches!(given.lifts, Lifts::Shows(_));
            return !free && !DRY_VALUES.contains(value.to_ascii_lowercase().as_str());
        }
        let said = squeezed(text);
        given
            .names
            .iter()
            .any(|name| speaks_against(name, &said, text))
    })
}

/// Whether a word that is not the option `name` itself speaks of it.
fn speaks_against(name: &str, said: &str, text: &str) -> bool {
    let stem = squeezed(name);
    if name.len() <= 2 || stem.len() <= NEGATED_LETTERS_MIN {
        return false;
    }
    let sets = text.starts_with('-') || text.contains('=');
    let negation = said
        .split('=')
        .next()
        .and_then(|said| said.strip_prefix("no"))
        .filter(|rest| rest.len() >= NEGATED_LETTERS_MIN);
    sets && text.starts_with('-') && negation.is_some_and(|rest| stem.starts_with(rest))
        // `--check` is part of too many other names to say anything.
        || sets && is_telling(&stem) && said.contains(stem.as_str())
}

/// Whether the name of an option is long enough not to be part of another by chance.
fn is_telling(stem: &str) -> bool {
    stem.len() >= 6 || stem.len() >= 4 && !COMMON_OPTION_WORDS.contains(stem)
}

fn squeezed(text: &str) -> String {
    let letters = text.chars().filter(|letter| !matches!(letter, '-' | '_'));
    letters.collect::<String>().to_ascii_lowercase()
}

/// Whether a word is an option that asks for help, with no value that could switch it off.
fn asks(row: &Row, arg: &Arg) -> bool {
    let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
    let mut helping = row.flags.iter().filter(|flag| flag.help);
    if !helping.any(|flag| flag.names.contains(&name)) || arg.vague() {
        return false;
    }
    let asking = flag(row, name).filter(|flag| flag.help);
    let is_topic = |flag: &Flag| {
        matches!(flag.value, Value::Attached(_))
            && value.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !OFF_WORDS.contains(value.to_ascii_lowercase().as_str())
    };
    asking.is_some_and(|flag| !arg.text.contains('=') || is_topic(flag))
}

fn is_plain_switch(flag: &Flag) -> bool {
    flag.value == Value::None && flag.effects.is_empty() && flag.lifts == Lifts::Nothing
}

fn flag(row: &Row, name: &str) -> Option<&'static Flag> {
    row.flags.iter().find(|flag| flag.names.contains(&name))
}

impl Options<'_> {
    /// Whether nothing is changed and nothing is run: the command only shows something.
    pub(crate) fn is_dry(&self) -> bool {
        self.left_over.is_some_and(|left| left <= Effect::NetRead)
    }
}
