//! What can be said of a message by its words alone: clear, held, or not sure.
//!
//! Rules and the learned model of `countersign-crisis` decide together. The model adds to the rules. It
//! may overrule a rule only where that names the thing and no person ("a talk on suicide"); where a
//! person does it or has it in mind, the rule holds whatever the model makes of the text.
//!
//! *Unsure* is no allow and no hold by itself: whoever runs the core may ask a second reader, who
//! may only hold more.

use std::ops::ControlFlow;

use countersign_crisis::{self as model};

use super::{CrisisSigns, Flag, TEXT_BYTES_MAX, normalise, rules, spelling};
use crate::call::Turn;

/// A text of our own that is neither cleared nor held, for tests of what follows from that.
pub const AN_UNSURE_TEXT: &str = "The library has a new book about suicide in old novels.";

/// Fewest words of a message, and of a conversation, of which the model may be sure.
const WORDS_MIN: usize = 7;
const TALK_WORDS_MIN: usize = 14;

/// Who answers for a service, as agents and services name them.
const OTHERS: [&str; 8] = [
    "agent",
    "ai",
    "assistant",
    "bot",
    "helper",
    "model",
    "other",
    "system",
];
/// What is passed on and said by nobody in the conversation.
const QUOTED: [&str; 6] = [
    "document",
    "forwarded",
    "quote",
    "quoted",
    "tool",
    "tool_result",
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

    /// Returns what the model's score of so many words says. It is never sure of a text of fewer than
    /// `least`: "I did not do it." may mean anything.
    fn of(score: model::Score, words: usize, least: usize) -> Self {
        if score.holds() && words >= least {
            Self::Held
        } else if score.is_unsure() {
            Self::Unsure
        } else {
            Self::Clear
        }
    }
}

/// The strongest thing rules find in a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    None,
    /// Somebody says that it is not so.
    Denied,
    /// The thing is named, and no person.
    Noun,
    /// A person, and the thing.
    Person,
}

/// Reads a message about to be sent and everything before it. A sign once given stays, whatever was
/// said later.
pub fn read(outgoing: &str, before: &[Turn]) -> Reading {
    let by_rules = || read_by_rules(outgoing, before);
    let by_model = || Reading::of(model::score(outgoing), words(outgoing), WORDS_MIN);
    let as_talk = || {
        let turns = before.iter().map(|turn| model::Turn {
            role: role(turn),
            text: &turn.text,
        });
        let said = before.iter().map(|turn| words(&turn.text)).sum::<usize>() + words(outgoing);
        let score = model::talk(outgoing, &turns.collect::<Vec<_>>());
        Reading::of(score, said, TALK_WORDS_MIN)
    };
    strongest([&by_rules, &by_model, &as_talk])
}

/// The same by rules, where the text is no prose: a command says little to a model of what people say.
pub fn read_by_rules(outgoing: &str, before: &[Turn]) -> Reading {
    let mut reading = Reading::Clear;
    for text in std::iter::once(outgoing).chain(before.iter().map(|turn| turn.text.as_str())) {
        reading = reading.max(one_by_rules(text));
        if reading == Reading::Held {
            break;
        }
    }
    reading
}

fn strongest<const N: usize>(readings: [&dyn Fn() -> Reading; N]) -> Reading {
    let mut strongest = Reading::Clear;
    for reading in readings {
        strongest = strongest.max(reading());
        if strongest == Reading::Held {
            break;
        }
    }
    strongest
}

fn one_by_rules(text: &str) -> Reading {
    if text.len() > TEXT_BYTES_MAX {
        return Reading::Held;
    }
    match sign(text) {
        Sign::Person => Reading::Held,
        Sign::Noun if model::score(text).supports() => Reading::Held,
        Sign::Noun | Sign::Denied => Reading::Unsure,
        Sign::None => Reading::Clear,
    }
}

fn sign(text: &str) -> Sign {
    let folded = normalise::fold(text, false);
    let mut strongest = Sign::None;
    for view in spelling::views(&folded) {
        let found = rules::each_hit(&view.text, |hit| {
            let signs = CrisisSigns {
                level: hit.level,
                flags: hit.flags,
                ..CrisisSigns::default()
            };
            let sign = match (signs.is_sensitive(), hit.is_noun) {
                (true, false) => Sign::Person,
                (true, true) => Sign::Noun,
                (false, _) if hit.flags.contains(Flag::Denial) => Sign::Denied,
                (false, _) => Sign::None,
            };
            strongest = strongest.max(sign);
            if strongest == Sign::Person {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if found.is_break() {
            break;
        }
    }
    strongest
}

/// Counts words. Where words stand without spaces, two letters count as one.
fn words(text: &str) -> usize {
    let is_dense = |c: &char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let dense = text.chars().filter(is_dense).count() / 2;
    text.split_whitespace().count().max(dense)
}

pub(super) fn role(turn: &Turn) -> model::Role {
    let from = turn.from.trim().to_lowercase();
    let lines = || turn.text.lines().filter(|line| !line.trim().is_empty());
    if QUOTED.contains(&from.as_str()) || lines().all(|line| line.trim_start().starts_with('>')) {
        model::Role::Quoted
    } else if OTHERS.contains(&from.as_str()) {
        model::Role::Other
    } else {
        model::Role::Person
    }
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
    fn of_a_few_words_the_model_is_never_sure() {
        for text in [
            "I did not do it.",
            "help me",
            "No puedo hacerlo.",
            "我没有做。",
        ] {
            assert_ne!(read(text, &[]), Reading::Held, "{text}");
            assert_ne!(read("Done.", &turns(&[text])), Reading::Held, "{text}");
        }
        // Rules need no more words than they see.
        assert_eq!(read("I will kill myself", &[]), Reading::Held);
        assert_eq!(words("three short words"), 3);
        assert_eq!(words("我没有做这件事情"), 4);
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

    /// What names a person and the act is held by rule, in every language that has rules.
    #[test]
    fn the_model_overrules_a_bare_noun_and_never_a_person() {
        let rows = [
            (
                "a leaflet on suicide statistics",
                "she is thinking of suicide",
            ),
            ("eine Tagung zum Thema Suizid", "er hat Suizidgedanken"),
            ("un rapport sur le suicide", "je veux me suicider"),
            (
                "un informe sobre el suicidio",
                "tengo pensamientos suicidas",
            ),
            ("un convegno sul suicidio", "sta pensando al suicidio"),
            ("een folder over zelfmoord", "zij wil zelfmoord plegen"),
            ("artykuł o samobójstwie", "on ma myśli samobójcze"),
            ("intihar üzerine bir makale", "intihar etmek istiyorum"),
            ("статья о суициде", "я думаю о суициде"),
            ("مقال عن الانتحار", "أفكر في الانتحار"),
            ("आत्महत्या पर एक लेख", "मैं आत्महत्या कर लूँगा"),
            ("一篇关于自杀的论文", "他想自杀"),
            ("自殺についての論文", "自殺したい"),
            ("자살에 관한 논문", "자살하고 싶어요"),
        ];
        for (noun, person) in rows {
            assert!(sign(noun) <= Sign::Noun, "{noun}");
            assert!(sign(person) == Sign::Person, "{person}");
        }
    }

    #[test]
    fn roles_come_from_who_said_it_and_how() {
        let of = |from: &str, text: &str| {
            role(&Turn {
                from: from.to_owned(),
                text: text.to_owned(),
            })
        };
        assert_eq!(of("Ana", "hello"), model::Role::Person);
        assert_eq!(of("", "hello"), model::Role::Person);
        assert_eq!(of("Assistant", "hello"), model::Role::Other);
        assert_eq!(of("tool", "hello"), model::Role::Quoted);
        assert_eq!(of("ana", "> hello\n\n> you"), model::Role::Quoted);
        assert_eq!(of("ana", "> hello\nyou"), model::Role::Person);
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
