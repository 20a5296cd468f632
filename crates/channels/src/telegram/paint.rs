//! Renders a card as a Telegram message: text, entities and a keyboard.

use countersign_core::approval::Choice;
use countersign_core::card::Card;
use countersign_core::display::shortened;
use serde_json::{Value, json};

use super::data::Data;
use super::rich::{Rich, Style};
use crate::face::{self, Fact};
use crate::order::{Inquiry, Order, Shown, Subject};
use crate::press::{Press, Proof};
use crate::seal::Bound;

/// Longest message, in UTF-16 code units.
pub(super) const UNITS_MAX: usize = 4096;
/// How much of a card that does not fit is shown, in characters; no character is more than two units.
const CUT_CHARS: &[usize] = &[1400, 700, 300];

/// How much of an answer is shown where a question is too long, in characters.
const CHOICE_CHARS_MAX: usize = 100;

/// Where a card is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas<'a> {
    /// Which bot.
    pub(super) tenant: &'a str,
    /// The id of the place.
    pub(super) place: &'a str,
}

/// A card as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Painted {
    pub(super) text: Rich,
    pub(super) keyboard: Value,
    pub(super) shown: Shown,
}

/// Paints what `order` says.
pub(super) fn paint(order: &Order, canvas: Canvas<'_>) -> Painted {
    let (text, shown) = match &order.what {
        Subject::Card(card) => card_text(card, order),
        Subject::Question(inquiry) => {
            let mut text = question_text(inquiry, order, &inquiry.question, usize::MAX);
            if text.units() > UNITS_MAX {
                // An answer permits nothing, so parts of it are enough to answer.
                let question = shortened(&inquiry.question);
                text = question_text(inquiry, order, &question, CHOICE_CHARS_MAX);
            }
            (text, Shown::Whole)
        }
    };
    let presses = face::presses(order, shown);
    Painted {
        text,
        keyboard: keyboard(&presses, order, canvas),
        shown,
    }
}

fn card_text(card: &Card, order: &Order) -> (Rich, Shown) {
    let mut whole = top(order);
    whole.words(card.reasons.first().unwrap_or(&card.title));
    whole.plain("\n").styled(Style::Pre, &card.what_runs());
    whole.plain("\n");
    for said in card.lineage.iter().filter(|field| field.code) {
        whole.words(&said.name).plain(":\n");
        whole.styled(Style::Pre, &said.text).plain("\n");
    }
    bottom(&mut whole, card, order, Shown::Whole);
    if whole.units() <= UNITS_MAX {
        return (whole, Shown::Whole);
    }
    let mut cut = Rich::default();
    for chars in CUT_CHARS {
        cut = top(order);
        cut.styled(Style::Pre, &card.fits(*chars).text());
        cut.plain("\n");
        bottom(&mut cut, card, order, Shown::Cut);
        if cut.units() <= UNITS_MAX {
            break;
        }
    }
    (cut, Shown::Cut)
}

fn top(order: &Order) -> Rich {
    let mut rich = Rich::default();
    let (sign, words) = face::headline(order);
    rich.plain(sign).plain(" ");
    match order.what.outcome() {
        // What somebody is called stands in it.
        Some(_) => rich.words(words),
        None => rich.styled(Style::Bold, words),
    };
    rich.plain("\n");
    rich
}

fn bottom(rich: &mut Rich, card: &Card, order: &Order, shown: Shown) {
    for fact in face::facts(card, shown) {
        add_fact(rich, &fact);
    }
    for fact in face::left(&order.aftermath) {
        let text = shortened(&fact.text);
        add_fact(rich, &Fact { text, ..fact });
    }
    if let (Shown::Whole, Some(words)) = (shown, &card.explanation) {
        // What the agent says about itself comes last, and is marked as that.
        rich.plain("The agent says (unverified):\n");
        rich.styled(Style::Pre, words).plain("\n");
    }
    rich.styled(Style::Code, &card.approval_id).plain(" · ");
    rich.styled(Style::Code, &card.digest);
}

fn add_fact(rich: &mut Rich, fact: &Fact) {
    rich.words(&fact.name).plain(": ");
    rich.words(&fact.text).plain("\n");
}

fn question_text(inquiry: &Inquiry, order: &Order, question: &str, most: usize) -> Rich {
    let mut rich = top(order);
    rich.plain("A question from the agent. An answer permits nothing.\n");
    rich.styled(Style::Pre, question).plain("\n");
    for (number, choice) in (1..).zip(&inquiry.choices) {
        rich.plain(&format!("{number}. "));
        let head: String = choice.chars().take(most).collect();
        let is_cut = head.len() < choice.len();
        rich.styled(Style::Code, &head);
        rich.plain(if is_cut { "…\n" } else { "\n" });
    }
    if inquiry.outcome.is_none() {
        add_fact(&mut rich, &face::deadline(inquiry.expires_at.seconds()));
    }
    rich.styled(Style::Code, &inquiry.id);
    rich
}

/// Returns the buttons: those of a card two in a row, the answers of a question one.
fn keyboard(presses: &[Press], order: &Order, canvas: Canvas<'_>) -> Value {
    let in_row = match order.what {
        Subject::Card(_) => 2,
        Subject::Question(_) => 1,
    };
    let rows: Vec<Vec<Value>> = presses
        .chunks(in_row)
        .map(|row| {
            let row = row.iter();
            row.filter_map(|press| button(*press, order, canvas))
                .collect()
        })
        .collect();
    json!({ "inline_keyboard": rows })
}

fn button(press: Press, order: &Order, canvas: Canvas<'_>) -> Option<Value> {
    let code = order.seal.code(&bound(press, order, canvas, None));
    let data = Data {
        subject: order.what.id().to_owned(),
        press,
        proof: Proof::Button { code },
    };
    let mut button = json!({
        "text": face::name(&order.what, press),
        "callback_data": data.written()?,
    });
    if let (Some(button), Some(style)) = (button.as_object_mut(), style(press)) {
        button.insert("style".to_owned(), json!(style));
    }
    Some(button)
}

/// Returns what a button is bound to; with a holder, what one person is asked for.
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

const fn style(press: Press) -> Option<&'static str> {
    match press {
        Press::Choose(Choice::Once) => Some("success"),
        Press::Choose(Choice::Deny) | Press::DenyNote => Some("danger"),
        Press::Choose(Choice::Session | Choice::Always)
        | Press::View
        | Press::Answer(_)
        | Press::Other
        | Press::Revoke => None,
    }
}
