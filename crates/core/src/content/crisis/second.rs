//! What a second reader is asked about a text that is neither cleared nor held, and what it may say.
//!
//! Nobody is asked here: whoever runs the core asks, and gives the answer back as a fact
//! ([`crate::assess::hear`]). What is asked is bounded. A text that does not fit is not shortened, because the sign
//! may stand in what was left out; then there is no question, and no reader can clear it.

use serde::{Deserialize, Serialize};

use super::reading::{Reading, read, role};
use crate::call::Turn;

/// Longest question, in bytes of what was said.
const QUESTION_BYTES_MAX: usize = 12 * 1024;
/// Most turns that are given along.
const TURNS_MAX: usize = 32;

/// What came of asking a second reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondReading {
    /// It sees nobody in crisis. The text stays as sure as it was.
    NoSign,
    /// It sees a person in crisis.
    Crisis,
    /// It gave no answer that counts: it was late, gone, refused, or said something else.
    Unanswered,
}

/// What a second reader is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The conversation so far, in order: by whom (`person`, `other`, `quoted`) and what.
    pub turns: Vec<(&'static str, String)>,
    /// The message about to be sent; empty if there is none yet.
    pub message: String,
}

/// Returns the question about a message and what it answers: the latest turns, and every earlier one that is not
/// clear by itself. `None` if that is too long to be asked.
pub fn question(outgoing: &str, before: &[Turn]) -> Option<Question> {
    let mut left = QUESTION_BYTES_MAX.checked_sub(outgoing.len())?;
    let mut turns = Vec::new();
    let mut is_cut = false;
    for turn in before.iter().rev() {
        let rest = left.checked_sub(turn.text.len());
        is_cut |= rest.is_none() || turns.len() >= TURNS_MAX;
        if is_cut && read(&turn.text, &[]) == Reading::Clear {
            continue;
        }
        left = rest?;
        turns.push((role(turn).word(), turn.text.clone()));
    }
    turns.reverse();
    Some(Question {
        turns,
        message: outgoing.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::AN_UNSURE_TEXT;
    use super::*;

    fn turn(from: &str, text: &str) -> Turn {
        Turn {
            from: from.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_question_holds_what_is_not_clear_or_is_not_asked() {
        let harmless = "The parcel came today. ".repeat(300);
        let asked = question("ok", &[turn("ana", "hello"), turn("agent", "hi")]).unwrap();
        let turns = [("person", "hello"), ("other", "hi")];
        assert_eq!(asked.turns, turns.map(|(by, it)| (by, it.to_owned())));
        assert_eq!(asked.message, "ok");

        let mut long = vec![turn("ana", AN_UNSURE_TEXT)];
        long.resize(9, turn("agent", &harmless));
        let asked = question("ok", &long).unwrap();
        assert_eq!(asked.turns.first().unwrap().1, AN_UNSURE_TEXT);
        assert_eq!(asked.turns.len(), 2, "one of the long turns fits");

        let unsure = format!("{AN_UNSURE_TEXT} {harmless}");
        assert!(question("ok", &vec![turn("ana", &unsure); 3]).is_none());
        assert!(question(&"x".repeat(QUESTION_BYTES_MAX + 1), &[]).is_none());
    }
}
