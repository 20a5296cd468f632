//! Writes a card, or a question of the agent, as text with entities.
//!
//! Separate from the text itself: the same words stand on every chat that takes such a text.

use countersign_core::card::Card;
use countersign_core::display::shortened;

use super::{Rich, Style};
use crate::face::{self, Fact};
use crate::order::{Inquiry, Order, Shown, Subject};

/// How much of an answer is shown where a question is too long, in characters.
const CHOICE_CHARS_MAX: usize = 100;

/// Returns what `order` says, as far as it `fits`. Of a card that does not fit, so many characters are
/// shown as `cut_chars` says, which is tried in order.
pub(crate) fn written(
    order: &Order,
    cut_chars: &[usize],
    fits: impl Fn(&Rich) -> bool,
) -> (Rich, Shown) {
    match &order.what {
        Subject::Card(card) => card_text(card, order, cut_chars, fits),
        Subject::Question(inquiry) => {
            let mut text = question_text(inquiry, order, &inquiry.question, usize::MAX);
            if !fits(&text) {
                // An answer permits nothing, so parts of it are enough to answer.
                let question = shortened(&inquiry.question);
                text = question_text(inquiry, order, &question, CHOICE_CHARS_MAX);
            }
            (text, Shown::Whole)
        }
    }
}

fn card_text(
    card: &Card,
    order: &Order,
    cut_chars: &[usize],
    fits: impl Fn(&Rich) -> bool,
) -> (Rich, Shown) {
    let mut whole = top(order);
    whole.words(card.reasons.first().unwrap_or(&card.title));
    whole.plain("\n").styled(Style::Pre, &card.what_runs());
    whole.plain("\n");
    for said in card.lineage.iter().filter(|field| field.code) {
        whole.words(&said.name).plain(":\n");
        whole.styled(Style::Pre, &said.text).plain("\n");
    }
    bottom(&mut whole, card, order, Shown::Whole);
    if fits(&whole) {
        return (whole, Shown::Whole);
    }
    let mut cut = Rich::default();
    for chars in cut_chars {
        cut = top(order);
        cut.styled(Style::Pre, &card.fits(*chars).text());
        cut.plain("\n");
        bottom(&mut cut, card, order, Shown::Cut);
        if fits(&cut) {
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
