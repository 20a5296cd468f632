//! What a card says, the same on every chat: headline, facts, buttons. A platform only draws it.
//!
//! Texts are safe to show and not escaped: how a platform keeps text text is its own.

use countersign_core::approval::Choice;
use countersign_core::card::{Card, utc};

use crate::order::{Aftermath, Closing, Inquiry, Order, Shown, Subject};
use crate::press::{ANSWERS_MAX, Press, label};

/// Longest name of a button, in characters.
const NAME_CHARS_MAX: usize = 40;

/// A named fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Its name.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// Whether it wants a line of its own.
    pub(crate) is_wide: bool,
}

impl Fact {
    fn short(name: &str, text: &str) -> Self {
        Self {
            is_wide: false,
            ..Self::wide(name, text)
        }
    }

    fn wide(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            is_wide: true,
        }
    }
}

/// Returns the sign and the words above a card: what it waits for, or how it ended.
pub(crate) fn headline(order: &Order) -> (&'static str, &str) {
    match (&order.what, order.what.outcome(), order.closing) {
        (_, Some(words), Some(Closing::Approved | Closing::Answered)) => ("✅", words),
        (_, Some(words), Some(Closing::Denied | Closing::Expired | Closing::Withdrawn) | None) => {
            ("⛔", words)
        }
        (Subject::Card(_), None, _) => ("⚠️", "Command Approval Required"),
        (Subject::Question(_), None, _) => ("❓", "Clarification Needed"),
    }
}

/// Returns the facts of a card: all of them where all of it is shown.
pub(crate) fn facts(card: &Card, shown: Shown) -> Vec<Fact> {
    let risk = Fact::short("Risk", card.risk.word());
    let deadline = || deadline(card.expires_at.seconds());
    if shown == Shown::Cut {
        return vec![risk, deadline()];
    }
    let mut facts = vec![risk, Fact::short("Tool", &card.tool)];
    let more = card.reasons.iter().skip(1);
    facts.extend(more.map(|reason| Fact::wide("Why", reason)));
    facts.extend(card.look_at().iter().map(|it| Fact::wide("Look at", it)));
    let help = card.help_lines.iter();
    facts.extend(help.map(|line| Fact::wide("Help line", line)));
    for field in card.lineage.iter().filter(|field| !field.code) {
        let name = match field.name.as_str() {
            "Directory" => "Folder",
            name => name,
        };
        let is_wide = field.text.chars().count() > NAME_CHARS_MAX;
        facts.push(Fact {
            is_wide,
            ..Fact::wide(name, &field.text)
        });
    }
    let tier = format!("{}, {}", card.tier.word(), card.tier.sentence());
    facts.push(Fact::wide("Separation", &tier));
    if card.outcome.is_none() {
        facts.push(deadline());
    }
    facts
}

/// Returns until when a question waits.
pub(crate) fn deadline(seconds: i64) -> Fact {
    Fact::short("Open until", &utc(seconds))
}

/// Returns what an answer left, for whoever reads the card later.
pub(crate) fn left(aftermath: &Aftermath) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(note) = &aftermath.note {
        facts.push(Fact::wide("Note", note));
    }
    if let Some(covers) = &aftermath.covers {
        facts.push(Fact::wide("Grant", covers));
    }
    if let Some(by) = &aftermath.revoked_by {
        facts.push(Fact::short("Grant revoked by", by));
    }
    facts
}

/// Returns what may be pressed. Who has not seen all of it is not offered to allow it.
pub(crate) fn presses(order: &Order, shown: Shown) -> Vec<Press> {
    let card = match &order.what {
        Subject::Card(card) => card,
        Subject::Question(inquiry) if inquiry.outcome.is_some() => return Vec::new(),
        Subject::Question(inquiry) => {
            let numbers = (1..=ANSWERS_MAX).take(inquiry.choices.len());
            return numbers.map(Press::Answer).chain([Press::Other]).collect();
        }
    };
    let mut presses: Vec<Press> = Vec::new();
    if card.outcome.is_none() {
        let is_seen = shown == Shown::Whole || order.is_opened;
        for choice in &card.choices {
            match choice {
                Choice::Once | Choice::Session | Choice::Always if !is_seen => {}
                Choice::Once | Choice::Session | Choice::Always => {
                    presses.push(Press::Choose(*choice));
                }
                Choice::Deny => presses.extend([Press::Choose(Choice::Deny), Press::DenyNote]),
            }
        }
        if shown == Shown::Cut {
            presses.push(Press::View);
        }
    }
    if order.aftermath.is_revocable {
        presses.push(Press::Revoke);
    }
    presses
}

/// Returns what people read on a button of a question.
pub(crate) fn name(what: &Subject, press: Press) -> String {
    match (what, press) {
        (Subject::Question(inquiry), Press::Answer(number)) => answer_name(inquiry, number),
        (
            _,
            Press::Answer(_)
            | Press::Other
            | Press::Choose(_)
            | Press::DenyNote
            | Press::View
            | Press::Revoke,
        ) => label(press).to_owned(),
    }
}

fn answer_name(inquiry: &Inquiry, number: u8) -> String {
    let at = usize::from(number).saturating_sub(1);
    let choice = inquiry.choices.get(at).map_or("", String::as_str);
    let name = format!("{number}. {choice}");
    if name.chars().count() <= NAME_CHARS_MAX {
        return name;
    }
    // The whole answer stands above.
    let head: String = name.chars().take(NAME_CHARS_MAX - 1).collect();
    format!("{head}…")
}
