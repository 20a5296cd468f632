//! What can be said of a message by its words alone: clear, held, or not sure.
//!
//! *Unsure* is no allow and no hold by itself: whoever runs the core may ask a second reader, who
//! may only hold more.

use std::ops::ControlFlow;

use super::{CrisisSigns, Flag, TEXT_BYTES_MAX, normalise, rules, spelling};
use crate::call::Turn;

/// A text of our own that is neither cleared nor held, for tests of what follows from that.
pub const AN_UNSURE_TEXT: &str = "she is so tired of it all";

/// Signs too weak to hold a message alone, in lower case.
const WEAK: [&str; 3] = [
    "tired of it all",
    "see no point in it any more",
    "goodbye, all of you",
];

/// What a message and all it answers say about a person in crisis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// No sign.
    #[default]
    Clear,
    /// Neither cleared nor held with certainty.
    Unsure,
    /// A person must look before anything is sent.
    Held,
}

/// How much the owner wants held. Nothing holds less than the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sensitivity {
    /// What is held with certainty.
    #[default]
    Default,
    /// What is not cleared with certainty, too.
    High,
}

impl Reading {
    /// Returns the reading as it counts for an owner who set `sensitivity`.
    #[must_use]
    pub const fn at(self, sensitivity: Sensitivity) -> Self {
        match (self, sensitivity) {
            (Self::Unsure, Sensitivity::High) => Self::Held,
            (reading, Sensitivity::Default | Sensitivity::High) => reading,
        }
    }
}

/// Reads a message about to be sent and everything before it. A sign once given stays, whatever was
/// said later.
pub fn read(outgoing: &str, before: &[Turn]) -> Reading {
    let texts = std::iter::once(outgoing).chain(before.iter().map(|turn| turn.text.as_str()));
    let mut reading = Reading::Clear;
    for text in texts {
        reading = reading.max(read_one(text));
        if reading == Reading::Held {
            break;
        }
    }
    reading
}

fn read_one(text: &str) -> Reading {
    if text.len() > TEXT_BYTES_MAX {
        return Reading::Held;
    }
    let folded = normalise::fold(text, false);
    let mut views = spelling::views(&folded);
    let lower = text.to_lowercase();
    let mut reading = if WEAK.iter().any(|sign| lower.contains(sign)) {
        Reading::Unsure
    } else {
        Reading::Clear
    };
    let is_held = views.any(|view| {
        let found = rules::each_hit(&view.text, |hit| {
            if hit.flags.contains(Flag::Denial) {
                reading = Reading::Unsure;
            }
            let signs = CrisisSigns {
                level: hit.level,
                flags: hit.flags,
                ..CrisisSigns::default()
            };
            if signs.is_sensitive() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        found.is_break()
    });
    if is_held { Reading::Held } else { reading }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(texts: &[&str]) -> Vec<Turn> {
        let turn = |text: &&str| Turn {
            from: "ana".to_owned(),
            text: (*text).to_owned(),
        };
        texts.iter().map(turn).collect()
    }

    #[test]
    fn a_text_is_clear_unsure_or_held_and_the_strongest_sign_of_a_conversation_counts() {
        let held = "I want to kill myself";
        let rows: [(&str, &[&str], Reading); 6] = [
            ("see you on Monday", &[], Reading::Clear),
            (AN_UNSURE_TEXT, &[], Reading::Unsure),
            (held, &[], Reading::Held),
            ("see you on Monday", &[AN_UNSURE_TEXT], Reading::Unsure),
            ("see you on Monday", &[held, "never mind"], Reading::Held),
            (AN_UNSURE_TEXT, &[held], Reading::Held),
        ];
        for (outgoing, before, expected) in rows {
            assert_eq!(read(outgoing, &turns(before)), expected, "{outgoing}");
        }
    }

    #[test]
    fn a_higher_sensitivity_holds_more_and_never_less() {
        use Reading::{Clear, Held, Unsure};
        for reading in [Clear, Unsure, Held] {
            assert_eq!(reading.at(Sensitivity::Default), reading);
            assert!(reading.at(Sensitivity::High) >= reading);
        }
        assert_eq!(Unsure.at(Sensitivity::High), Held);
        assert_eq!(Clear.at(Sensitivity::High), Clear);
    }
}
