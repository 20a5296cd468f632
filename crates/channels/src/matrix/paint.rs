//! Renders a card as a Matrix message: what people read, and the codes that reactions to it prove.
//!
//! A reaction carries a sign and nothing else, so the codes are in the card's own event, which nobody
//! can change: an edit is another event. All codes are there from the beginning; what may be done now
//! the legend says and the gate decides.

use countersign_core::approval::Choice;
use countersign_core::id::{ApprovalId, ClarificationId};
use serde_json::{Map, Value, json};

use super::html;
use super::legend::legend;
use super::wire::text;
use crate::face;
use crate::order::{Order, Shown, Subject};
use crate::press::{Press, Proof};
use crate::rich::{Rich, card};
use crate::seal::Bound;

/// Longest content of a message, in bytes of JSON. An event has 65536 bytes with everything that
/// servers add to it.
pub(super) const CONTENT_BYTES_MAX: usize = 44_000;
/// How much of a card that does not fit is shown, in characters.
const CUT_CHARS: &[usize] = &[2000, 700, 300];
/// What marks a card, and a message that asks one person for something.
pub(super) const CARD: &str = "countersign.card";
pub(super) const PROMPT: &str = "countersign.prompt";

/// Where a card is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas<'a> {
    /// The homeserver.
    pub(super) tenant: &'a str,
    /// The room.
    pub(super) place: &'a str,
}

/// A card as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Painted {
    pub(super) content: Value,
    pub(super) shown: Shown,
}

/// Paints what `order` says, for these accounts to be mentioned.
pub(super) fn paint(order: &Order, canvas: Canvas<'_>, mentions: &[String]) -> Painted {
    let shown_with = |rich: &Rich, shown: Shown| {
        let mut rich = rich.clone();
        let legend = legend(order, &face::presses(order, shown));
        if !legend.is_empty() {
            rich.plain("\n").plain(&legend);
        }
        let mut content = html::content("m.text", &rich, mentions);
        crate::fields::set(&mut content, CARD, marks(order, canvas));
        content
    };
    // The legend of what is shown whole is the longest.
    let fits = |rich: &Rich| is_sendable(&shown_with(rich, Shown::Whole));
    let (rich, shown) = card::written(order, CUT_CHARS, fits);
    Painted {
        content: shown_with(&rich, shown),
        shown,
    }
}

/// Whether the server takes a content.
pub(super) fn is_sendable(content: &Value) -> bool {
    content.to_string().len() <= CONTENT_BYTES_MAX
}

/// Returns what marks an event as a card: whose, under which key, and the codes of what can be done
/// with it.
fn marks(order: &Order, canvas: Canvas<'_>) -> Value {
    let mut presses: Vec<Press> = Vec::new();
    match &order.what {
        Subject::Card(card) => {
            presses.extend(card.choices.iter().map(|choice| Press::Choose(*choice)));
            if card.choices.contains(&Choice::Deny) {
                presses.push(Press::DenyNote);
            }
            presses.extend([Press::View, Press::Revoke]);
        }
        Subject::Question(inquiry) => {
            let numbers = (1..=crate::press::ANSWERS_MAX).take(inquiry.choices.len());
            presses.extend(numbers.map(Press::Answer).chain([Press::Other]));
        }
    }
    let mut codes = Map::new();
    for press in presses {
        let code = order.seal.code(&bound(press, order, canvas, None));
        codes.insert(press.word().to_owned(), json!(code));
    }
    json!({ "v": 1, "key": order.key, "subject": order.what.id(), "codes": codes })
}

/// Returns what a reaction is bound to; with a holder, what one person is asked for.
pub(super) fn bound<'a>(
    press: Press,
    order: &'a Order,
    canvas: Canvas<'a>,
    holder: Option<(&'a str, i64)>,
) -> Bound<'a> {
    Bound {
        platform: super::NAME,
        tenant: canvas.tenant,
        place: canvas.place,
        subject: order.what.id(),
        press,
        digest: order.what.digest(),
        holder,
    }
}

/// What an event of ours asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ours {
    /// A card.
    Card {
        /// Its question.
        subject: String,
    },
    /// A message that asks one person for words or a second yes.
    Prompt {
        /// The question.
        subject: String,
        /// What it is asked for.
        press: Press,
        /// Until when it counts, in Unix seconds, and what proves it.
        proof: Proof,
        /// The card it is about.
        card: String,
    },
}

/// Reads what an event of ours asks for; `None` for everything else that we say.
pub(super) fn read(content: &Value) -> Option<Ours> {
    if let Some(marks) = content.get(CARD) {
        let subject = question(marks)?;
        return Some(Ours::Card { subject });
    }
    let marks = content.get(PROMPT)?;
    Some(Ours::Prompt {
        subject: question(marks)?,
        press: Press::of(text(marks, "press"))?,
        proof: Proof::Dialog {
            code: text(marks, "code").to_owned(),
            until: marks.get("until").and_then(Value::as_i64)?,
        },
        card: text(marks, "card").to_owned(),
    })
}

/// Returns the code that a card has for a press; empty if it has none.
pub(super) fn code(content: &Value, press: Press) -> String {
    let codes = content.get(CARD).and_then(|it| it.get("codes"));
    codes
        .map_or("", |codes| text(codes, press.word()))
        .to_owned()
}

fn question(marks: &Value) -> Option<String> {
    let subject = text(marks, "subject");
    let is_question = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
    is_question.then(|| subject.to_owned())
}
