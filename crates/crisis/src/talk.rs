//! Scores a conversation by who said what.
//!
//! The most telling turn alone does not decide: a sign of the person it is about, a quoted mail and
//! the answer about to be sent count differently, and so does what was said last.

use crate::sentences::Sentences;
use crate::weights::WEIGHTS;
use crate::{LOOKED_AT_MAX, ONE, Score, best};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person it is about, or who writes.
    Person,
    /// An agent, a helper, a colleague.
    Other,
    /// Something quoted or forwarded.
    Quoted,
}

impl Role {
    /// Returns a word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Other => "other",
            Self::Quoted => "quoted",
        }
    }
}

/// Something that was said.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'t> {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: &'t str,
}

/// What the texts of a conversation were scored.
#[derive(Debug, Clone)]
pub struct Scored {
    /// Its turns.
    pub turns: Vec<(Role, i32)>,
    /// All that the person said, taken together.
    pub together: i32,
    /// The message about to be sent.
    pub outgoing: i32,
}

/// How many features a conversation has.
pub const FEATURES: usize = 9;
/// How many turns are read: the latest.
const TURNS_MAX: usize = 32;
/// How much of them.
const BYTES_MAX: usize = 32 * 1024;
/// Scores further out say nothing more.
const RANGE: i32 = 8 * ONE;

/// Scores a message about to be sent together with what was said before it.
pub fn talk(outgoing: &str, before: &[Turn<'_>]) -> Score {
    let recent = recent(before);
    if recent.is_empty() {
        return Score::LEAST;
    }
    // A long conversation is not looked at longer than a long text.
    let windows = (LOOKED_AT_MAX / recent.len()).max(2);
    let score = |text: &str| {
        best(&mut Sentences::of(text), windows)
            .map_or(Score::LEAST, |(score, _)| score)
            .value()
    };
    let of_person = recent.iter().filter(|turn| turn.role == Role::Person);
    let said: Vec<&str> = of_person.map(|turn| turn.text).collect();
    let turns = recent.iter().map(|turn| (turn.role, score(turn.text)));
    let scored = Scored {
        turns: turns.collect(),
        together: score(&said.join("\n")),
        outgoing: score(outgoing),
    };
    Score(weigh(&features(&scored)))
}

/// Returns the latest turns, as much as is read.
fn recent<'a, 't>(before: &'a [Turn<'t>]) -> &'a [Turn<'t>] {
    let mut left = BYTES_MAX;
    let fits = |turn: &&Turn<'_>| {
        let rest = left.checked_sub(turn.text.len());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let count = before.iter().rev().take(TURNS_MAX).take_while(fits).count();
    before
        .get(before.len() - count.max(1).min(before.len())..)
        .unwrap_or_default()
}

/// What is weighed: the strongest score of each role, of the person's last turn, of all the person
/// said, of the message, of anything; the second strongest turn; the last one.
pub fn features(scored: &Scored) -> [i32; FEATURES] {
    let bounded = |score: i32| score.clamp(-RANGE, RANGE);
    let of = |role: Role| {
        let turns = scored.turns.iter().filter(move |turn| turn.0 == role);
        turns.map(|turn| bounded(turn.1))
    };
    let most = |role: Role| of(role).max().unwrap_or(-RANGE);
    let (mut first, mut second) = (-RANGE, -RANGE);
    for (_, score) in &scored.turns {
        let score = bounded(*score);
        second = second.max(score.min(first));
        first = first.max(score);
    }
    let [together, outgoing] = [scored.together, scored.outgoing].map(bounded);
    [
        most(Role::Person),
        most(Role::Other),
        most(Role::Quoted),
        of(Role::Person).next_back().unwrap_or(-RANGE),
        together,
        outgoing,
        first.max(together).max(outgoing),
        second,
        scored.turns.last().map_or(-RANGE, |turn| bounded(turn.1)),
    ]
}

/// Brings a conversation onto the scale of texts, so that the same limits count.
fn weigh(features: &[i32; FEATURES]) -> i32 {
    let [bias, weights @ ..] = WEIGHTS.talk;
    let weighed = weights.iter().zip(features);
    let sum: i64 = weighed
        .map(|(weight, value)| i64::from(*weight) * i64::from(*value))
        .sum();
    i32::try_from((sum >> 10) + i64::from(bias)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_conversation_the_latest_turns_are_read() {
        let turn = |text| Turn {
            role: Role::Person,
            text,
        };
        let count = |turns: &[Turn<'_>]| recent(turns).len();
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[turn("a"); 3]), 3);
        assert_eq!(count(&[turn("a"); 100]), TURNS_MAX);
        let long = "x".repeat(BYTES_MAX / 2);
        assert_eq!(count(&[turn(&long), turn(&long), turn(&long)]), 2);
        let longer = "x".repeat(2 * BYTES_MAX);
        assert_eq!(count(&[turn("a"), turn(&longer)]), 1);
    }

    #[test]
    fn features_tell_roles_and_order_apart() {
        let turns = vec![(Role::Person, 5), (Role::Quoted, 7), (Role::Other, 2)];
        let scored = Scored {
            turns,
            together: 6,
            outgoing: 1,
        };
        assert_eq!(features(&scored), [5, 2, 7, 5, 6, 1, 7, 5, 2]);
    }
}
