//! Renders a card as Slack blocks: rich text with the call and the facts, and a row of buttons.
//!
//! There is no mrkdwn in a card. Whatever an agent wrote is the text of an element and nothing else,
//! so it can neither mention, link nor draw a button. The line for notifications, which Slack parses
//! whatever it is asked, is ours alone.

use countersign_core::approval::Choice;
use countersign_core::card::{Card, Fit};
use countersign_core::display::shortened;
use serde_json::{Value, json};

use super::MESSAGE_CHARS_MAX;
use super::rich::{Look, block, escaped, mention, preformatted, section, words};
use crate::face;
use crate::fields::set;
use crate::order::{Inquiry, Order, Shown, Subject};
use crate::press::Press;
use crate::seal::Bound;

/// Longest card that is shown whole, in characters. Slack refuses messages whose blocks are longer
/// than about 13 000.
pub(super) const CARD_CHARS_MAX: usize = 5000;
/// Most mentions on a card.
const MENTIONS_MAX: usize = 20;
/// The block of the buttons.
const BUTTONS: &str = "countersign";

/// Where and for whom a card is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas<'a> {
    /// Which workspace.
    pub(super) tenant: &'a str,
    /// The id of the place.
    pub(super) place: &'a str,
    /// Whether those who may answer are mentioned while it waits.
    pub(super) mentions: bool,
}

/// A card as it is posted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Painted {
    /// The line for notifications.
    pub(super) text: String,
    pub(super) blocks: Vec<Value>,
    pub(super) shown: Shown,
}

/// Paints what `order` says.
pub(super) fn paint(order: &Order, canvas: &Canvas<'_>) -> Painted {
    match &order.what {
        Subject::Card(card) => paint_card(card, order, canvas),
        Subject::Question(inquiry) => paint_question(inquiry, order, canvas),
    }
}

fn paint_card(card: &Card, order: &Order, canvas: &Canvas<'_>) -> Painted {
    let fit = card.fits(CARD_CHARS_MAX);
    let shown = match fit {
        Fit::Complete(_) => Shown::Whole,
        Fit::Cut { .. } => Shown::Cut,
    };
    let mut parts = vec![headline(order, canvas)];
    match shown {
        Shown::Whole => {
            let reason = card.reasons.first().unwrap_or(&card.title);
            parts.push(section(words(reason, Look::Bold)));
            parts.push(preformatted(&card.what_runs()));
            for said in card.lineage.iter().filter(|field| field.code) {
                parts.push(section(words(&format!("{}:", said.name), Look::Plain)));
                parts.push(preformatted(&said.text));
            }
        }
        Shown::Cut => parts.push(preformatted(&fit.text())),
    }
    let facts = face::facts(card, shown).into_iter();
    parts.push(listed(facts.chain(face::left(&order.aftermath))));
    if let (Shown::Whole, Some(said)) = (shown, &card.explanation) {
        // What the agent says about itself comes last, and is marked as that.
        parts.push(section(words("The agent says (unverified):", Look::Plain)));
        parts.push(preformatted(said));
    }
    let id = format!("{} · {}", card.approval_id, card.digest);
    parts.push(section(words(&id, Look::Code)));
    painted(parts, shown, order, canvas)
}

fn paint_question(inquiry: &Inquiry, order: &Order, canvas: &Canvas<'_>) -> Painted {
    let title = "A question from the agent. An answer permits nothing.";
    let texts = inquiry.choices.iter().chain([&inquiry.question]);
    let length: usize = texts.map(|text| text.chars().count()).sum();
    let question = if length > MESSAGE_CHARS_MAX {
        // An answer permits nothing, so a part of the question is enough to answer.
        shortened(&inquiry.question)
    } else {
        inquiry.question.clone()
    };
    let mut parts = vec![
        headline(order, canvas),
        section(words(title, Look::Bold)),
        preformatted(&question),
    ];
    for (number, choice) in (1..).zip(&inquiry.choices) {
        let mut line = words(&format!("{number}. "), Look::Plain);
        line.extend(words(choice, Look::Code));
        parts.push(section(line));
    }
    if inquiry.outcome.is_none() {
        parts.push(listed([face::deadline(inquiry.expires_at.seconds())]));
    }
    painted(parts, Shown::Whole, order, canvas)
}

fn painted(parts: Vec<Value>, shown: Shown, order: &Order, canvas: &Canvas<'_>) -> Painted {
    let mut blocks = vec![block(parts)];
    blocks.extend(buttons(&face::presses(order, shown), order, canvas));
    let (sign, head) = face::headline(order);
    Painted {
        // Never a word of the agent's: Slack parses it whatever it is asked.
        text: escaped(&format!("{sign} {head}")),
        blocks,
        shown,
    }
}

/// Returns the row of buttons; none if nothing can be pressed.
fn buttons(presses: &[Press], order: &Order, canvas: &Canvas<'_>) -> Option<Value> {
    let digest = order.what.digest();
    let button = |press: &Press| {
        let bound = Bound {
            platform: super::NAME,
            tenant: canvas.tenant,
            place: canvas.place,
            subject: order.what.id(),
            press: *press,
            digest,
            holder: None,
        };
        let code = order.seal.code(&bound);
        let value = ["1", order.what.id(), press.word(), &digest.hex(), &code].join("|");
        let mut button = json!({
            "type": "button",
            "action_id": press.word(),
            "text": { "type": "plain_text", "text": face::name(&order.what, *press), "emoji": false },
            "value": value,
        });
        if let Some(style) = style(*press) {
            set(&mut button, "style", style);
        }
        button
    };
    let elements: Vec<Value> = presses.iter().map(button).collect();
    let row = || json!({ "type": "actions", "block_id": BUTTONS, "elements": elements });
    (!presses.is_empty()).then(row)
}

const fn style(press: Press) -> Option<&'static str> {
    match press {
        Press::Choose(Choice::Once) => Some("primary"),
        Press::Choose(Choice::Deny) | Press::DenyNote => Some("danger"),
        Press::Choose(Choice::Session | Choice::Always)
        | Press::View
        | Press::Answer(_)
        | Press::Other
        | Press::Revoke => None,
    }
}

/// Returns facts, a line each.
fn listed(facts: impl IntoIterator<Item = face::Fact>) -> Value {
    let mut elements = Vec::new();
    for (at, fact) in facts.into_iter().enumerate() {
        let end = if at > 0 { "\n" } else { "" };
        elements.extend(words(&format!("{end}{}: ", fact.name), Look::Bold));
        let is_empty = fact.text.trim().is_empty();
        let text = if is_empty { "—" } else { &fact.text };
        elements.extend(words(text, Look::Plain));
    }
    section(elements)
}

fn headline(order: &Order, canvas: &Canvas<'_>) -> Value {
    let (sign, head) = face::headline(order);
    let mut elements = words(&format!("{sign} {head}"), Look::Bold);
    if order.what.outcome().is_none() && canvas.mentions {
        for account in order.callees.iter().take(MENTIONS_MAX) {
            elements.extend(words(" ", Look::Plain));
            elements.push(mention(account));
        }
    }
    section(elements)
}
