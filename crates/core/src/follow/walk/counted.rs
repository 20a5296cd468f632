//! Commands of which only a number comes out, or nothing: `grep KEY .env | wc -l`.
//!
//! Such a command may look into a file of secrets. Every word of it must stand in the text: a loop
//! over patterns would read a secret letter by letter.

use super::compound::plain_text;
use crate::knowledge::names::{COUNTING_PROGRAMS, PASSING_WHOLE_LINES};
use crate::shell::syntax::{Command, Part, Redirect, RedirectKind, Simple};

/// Commands of a pipeline that are looked at.
const STEPS_MAX: usize = 8;
/// Where output goes that nobody sees.
pub(super) const NOWHERE: &str = "/dev/null";

/// Whether all that the command at `index` of a pipeline delivers is counted in the end.
pub(super) fn is_counted(commands: &[Command], index: usize) -> bool {
    let rest = commands.get(index..).unwrap_or(&[]);
    // Most commands are neither, and are not looked at any further.
    let [Command::Simple(first), _, ..] = rest else {
        return false;
    };
    if !is_called(first, |name| PASSING_WHOLE_LINES.contains(name)) {
        return false;
    }
    let plain = rest.iter().take(STEPS_MAX).map_while(|command| {
        let Command::Simple(simple) = command else {
            return None;
        };
        words(simple).filter(|_| only_hushed(&simple.redirects))
    });
    for (step, words) in plain.enumerate() {
        let name = words.first().map_or("", String::as_str);
        if step > 0 && counts(&words) {
            return true;
        }
        if !PASSING_WHOLE_LINES.contains(name) || guesses(&words) {
            return false;
        }
    }
    false
}

/// Whether a command shows a number instead of what it is given, or nothing at all.
pub(super) fn shows_no_content(simple: &Simple) -> bool {
    let counts_or_passes =
        |name: &str| COUNTING_PROGRAMS.contains(name) || PASSING_WHOLE_LINES.contains(name);
    if simple.redirects.is_empty() || !is_called(simple, counts_or_passes) {
        return false;
    }
    let Some(words) = words(simple) else {
        return false;
    };
    let silenced = simple.redirects.iter().any(is_silencing)
        && simple
            .redirects
            .iter()
            .all(|it| is_silencing(it) || is_hushing(it) || is_read(it));
    let name = words.first().map_or("", String::as_str);
    let passes = PASSING_WHOLE_LINES.contains(name) && !guesses(&words);
    let reads = simple
        .redirects
        .iter()
        .all(|it| is_read(it) || is_hushing(it));
    silenced && passes || reads && counts(&words)
}

/// Whether the name of a command stands in the text and is one that `is_one` knows.
fn is_called(simple: &Simple, is_one: impl Fn(&str) -> bool) -> bool {
    let name = simple.words.first().map(|word| word.parts.as_slice());
    matches!(name, Some([Part::Plain(name) | Part::Quoted(name)]) if is_one(name))
}

/// Whether a command counts what it is given on its input.
fn counts(words: &[String]) -> bool {
    let (name, rest) = words
        .split_first()
        .map_or(("", words), |(name, rest)| (name.as_str(), rest));
    let is_switch =
        |word: &String| word.len() > 1 && word.starts_with('-') && !word.starts_with("--files");
    COUNTING_PROGRAMS.contains(name) && rest.iter().all(is_switch)
}

/// Whether a pattern asks for a value and not for a name: `KEY=a`.
fn guesses(words: &[String]) -> bool {
    let asks = |word: &String| {
        let mut values = word.split('=').skip(1);
        values.any(|value| value.starts_with(|first: char| first.is_alphanumeric()))
    };
    words.iter().any(asks)
}

/// The words of a command that sets nothing and in which nothing is expanded.
fn words(simple: &Simple) -> Option<Vec<String>> {
    let words = simple.words.iter().map(plain_text);
    words
        .collect::<Option<Vec<_>>>()
        .filter(|_| simple.assignments.is_empty())
}

/// Whether what a command delivers goes on whole, and only its complaints elsewhere.
fn only_hushed(redirects: &[Redirect]) -> bool {
    redirects.iter().all(|it| is_hushing(it) || is_read(it))
}

fn is_read(redirect: &Redirect) -> bool {
    redirect.kind == RedirectKind::Read && redirect.descriptor.is_none_or(|number| number == 0)
}

/// `2>/dev/null`, `2>&1`
fn is_hushing(redirect: &Redirect) -> bool {
    let target = plain_text(&redirect.target);
    let discards = redirect.kind == RedirectKind::Write && target.as_deref() == Some(NOWHERE);
    let joins = redirect.kind == RedirectKind::Duplicate && target.as_deref() == Some("1");
    redirect.descriptor == Some(2) && (discards || joins)
}

/// `>/dev/null`
fn is_silencing(redirect: &Redirect) -> bool {
    redirect.kind == RedirectKind::Write
        && redirect.descriptor.is_none_or(|number| number == 1)
        && plain_text(&redirect.target).as_deref() == Some(NOWHERE)
}
