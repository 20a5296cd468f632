//! Renders a card as a Discord message: a headline, two embeds with the call and the facts, and buttons.
//!
//! Whatever an agent wrote stands in code. The headline is the only text outside of embeds and holds no
//! word of the agent's.

use std::fmt::Write as _;

use countersign_core::approval::Choice;
use countersign_core::card::{Card, Fit};
use countersign_core::status::Risk;
use serde_json::{Value, json};

use super::markdown::{code, fenced, inert, length};
use crate::data::Data;
use crate::face;
use crate::order::{Closing, Inquiry, Order, Shown, Subject};
use crate::press::{Press, Proof};
use crate::seal::Bound;

/// Longest cards that are tried, in characters; the first that fits is shown. Backticks that are written
/// out make a text longer.
const CARD_CHARS_TRIED: [usize; 5] = [3400, 2400, 1500, 800, 400];
/// Longest texts of a question and its answers that are tried, in characters.
const QUESTION_CHARS_TRIED: [usize; 4] = [4000, 300, 60, 20];
/// Longest description of an embed, and longest text of all embeds of a message.
const DESCRIPTION_MAX: usize = 4096;
const EMBEDS_MAX: usize = 6000;
/// Most mentions on a card.
const MENTIONS_MAX: usize = 20;
/// Buttons in a row.
const ROW_MAX: usize = 5;
/// Longest fact that an answer left, in characters; the history has all of it.
const LEFT_CHARS_MAX: usize = 600;

/// Where and for whom a card is painted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas<'a> {
    /// Which application.
    pub(super) tenant: &'a str,
    /// The id of the place.
    pub(super) place: &'a str,
    /// Whether those who may answer are mentioned while it waits.
    pub(super) mentions: bool,
}

/// A card as it is posted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Painted {
    /// The message: content, embeds, buttons, and whom it mentions.
    pub(super) body: Value,
    pub(super) shown: Shown,
}

/// The texts of the two embeds.
struct Texts {
    call: String,
    facts: String,
}

/// Paints what `order` says.
pub(super) fn paint(order: &Order, canvas: &Canvas<'_>) -> Painted {
    let (texts, shown, footer, color) = match &order.what {
        Subject::Card(card) => {
            let (texts, shown) = card_texts(card, order);
            let footer = format!("{} · {}", card.approval_id, card.digest);
            (texts, shown, footer, color(card, order.closing))
        }
        Subject::Question(inquiry) => {
            let footer = inquiry.id.clone();
            (question_texts(inquiry), Shown::Whole, footer, QUIET)
        }
    };
    let presses = face::presses(order, shown);
    let (headline, mentioned) = headline(order, canvas);
    let mut embeds = vec![json!({ "color": color, "description": texts.call })];
    if texts.facts.is_empty() {
        embeds = vec![json!({
            "color": color, "description": texts.call, "footer": { "text": footer },
        })];
    } else {
        embeds.push(json!({
            "color": color, "description": texts.facts, "footer": { "text": footer },
        }));
    }
    Painted {
        body: json!({
            "content": headline,
            "embeds": embeds,
            "components": rows(&presses, order, canvas),
            "allowed_mentions": { "parse": [], "users": mentioned },
        }),
        shown,
    }
}

/// Returns the texts of a card, whole if they fit.
fn card_texts(card: &Card, order: &Order) -> (Texts, Shown) {
    let mut last = None;
    for most in CARD_CHARS_TRIED {
        let fit = card.fits(most);
        let shown = match fit {
            Fit::Complete(_) => Shown::Whole,
            Fit::Cut { .. } => Shown::Cut,
        };
        let texts = Texts {
            call: match shown {
                Shown::Whole => whole(card),
                Shown::Cut => fenced(&fit.text()),
            },
            facts: facts(card, shown, order),
        };
        let (call, facts) = (length(&texts.call), length(&texts.facts));
        let fits = call.max(facts) <= DESCRIPTION_MAX && call + facts + FOOTER_MAX <= EMBEDS_MAX;
        if fits {
            return (texts, shown);
        }
        last = Some(fit);
    }
    // Nothing but backticks grows so much: what is left is which question it is.
    let call = last.map_or_else(String::new, |fit| {
        let head: String = fit.text().chars().take(100).collect();
        fenced(&head)
    });
    let facts = String::new();
    (Texts { call, facts }, Shown::Cut)
}

/// Room for the footer: an id and a digest.
const FOOTER_MAX: usize = 128;

/// Returns exactly what would run, why it is asked, and the conversation it answers.
fn whole(card: &Card) -> String {
    let reason = card.reasons.first().unwrap_or(&card.title);
    let mut text = format!("{}\n{}", inert(reason), fenced(&card.what_runs()));
    for said in card.lineage.iter().filter(|field| field.code) {
        let _infallible = write!(text, "\n{}:\n{}", inert(&said.name), fenced(&said.text));
    }
    text
}

fn facts(card: &Card, shown: Shown, order: &Order) -> String {
    let mut text = String::new();
    for fact in face::facts(card, shown) {
        line(&mut text, &fact.name, &fact.text);
    }
    for fact in face::left(&order.aftermath) {
        line(&mut text, &fact.name, &brief(&fact.text, LEFT_CHARS_MAX));
    }
    if let (Shown::Whole, Some(said)) = (shown, &card.explanation) {
        // What the agent says about itself comes last, and is marked as that.
        let _infallible = write!(text, "The agent says (unverified):\n{}", fenced(said));
    }
    text
}

fn question_texts(inquiry: &Inquiry) -> Texts {
    let title = "A question from the agent. An answer permits nothing.";
    let mut call = String::new();
    // An answer permits nothing, so a part of the question is enough to answer.
    for most in QUESTION_CHARS_TRIED {
        call = format!("{title}\n{}", fenced(&brief(&inquiry.question, most)));
        for (number, choice) in (1..).zip(&inquiry.choices) {
            let _infallible = write!(call, "\n{number}\\. {}", code(&brief(choice, most)));
        }
        if length(&call) <= DESCRIPTION_MAX {
            break;
        }
    }
    let mut facts = String::new();
    if inquiry.outcome.is_none() {
        let deadline = face::deadline(inquiry.expires_at.seconds());
        line(&mut facts, &deadline.name, &deadline.text);
    }
    Texts { call, facts }
}

/// Returns the head of a text that is longer than `most` characters.
fn brief(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head}…")
}

fn line(text: &mut String, name: &str, said: &str) {
    let _infallible = writeln!(text, "**{}:** {}", inert(name), inert(said));
}

/// Returns the rows of buttons.
fn rows(presses: &[Press], order: &Order, canvas: &Canvas<'_>) -> Vec<Value> {
    let button = |press: &Press| {
        let code = order.seal.code(&bound(*press, order, canvas, None));
        let data = Data {
            subject: order.what.id().to_owned(),
            press: *press,
            proof: Proof::Button { code },
        };
        json!({
            "type": 2,
            "style": style(*press),
            "label": face::name(&order.what, *press),
            "custom_id": data.written().unwrap_or_default(),
        })
    };
    let rows = presses.chunks(ROW_MAX).map(|some| {
        let buttons: Vec<Value> = some.iter().map(button).collect();
        json!({ "type": 1, "components": buttons })
    });
    rows.collect()
}

/// Returns what a button is bound to, or with `holder` a dialog.
pub(super) fn bound<'a>(
    press: Press,
    order: &'a Order,
    canvas: &Canvas<'a>,
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

/// Returns the style of a button: 2 is grey, 3 green, 4 red.
const fn style(press: Press) -> u8 {
    match press {
        Press::Choose(Choice::Once) => 3,
        Press::Choose(Choice::Deny) | Press::DenyNote => 4,
        Press::Choose(Choice::Session | Choice::Always)
        | Press::View
        | Press::Answer(_)
        | Press::Other
        | Press::Revoke => 2,
    }
}

/// Returns the headline, and whom it mentions.
fn headline<'a>(order: &'a Order, canvas: &Canvas<'_>) -> (String, Vec<&'a str>) {
    let (sign, words) = face::headline(order);
    let mut line = format!("{sign} {}", inert(words));
    if order.what.outcome().is_some() || !canvas.mentions {
        return (line, Vec::new());
    }
    let callees = order.callees.iter().map(String::as_str);
    let callees = callees.filter(|it| super::is_id(it)).take(MENTIONS_MAX);
    let mentioned: Vec<&str> = callees.collect();
    for account in &mentioned {
        let _infallible = write!(line, " <@{account}>");
    }
    (line, mentioned)
}

/// The colours of an embed.
const QUIET: u32 = 0x0088_8888;
const GREEN: u32 = 0x002e_8b57;
const RED: u32 = 0x00d2_3b3b;
const YELLOW: u32 = 0x00e0_a800;

const fn color(card: &Card, closing: Option<Closing>) -> u32 {
    match (closing, card.risk) {
        (Some(Closing::Approved), _) => GREEN,
        (Some(Closing::Answered | Closing::Denied | Closing::Expired | Closing::Withdrawn), _)
        | (None, Risk::Low) => QUIET,
        (None, Risk::Critical | Risk::High) => RED,
        (None, Risk::Medium) => YELLOW,
    }
}
