//! Renders a card as a Mattermost post: a message, and attachments with the call, the facts and the
//! buttons.
//!
//! Whatever an agent wrote stands in code. Buttons stand in `props.attachments[].actions[]`; a list at
//! the top level of a post is ignored by the server.

use std::fmt::Write as _;

use countersign_core::approval::Choice;
use countersign_core::card::{Card, Fit};
use countersign_core::status::Risk;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::Post;
use crate::face;
use crate::order::{Closing, Inquiry, Order, Shown, Subject};
use crate::press::Press;
use crate::seal::Bound;
use crate::text::{code, fenced, inert};

/// Longest card that is shown whole, in characters. The server would take more; nobody would read it.
pub(super) const CARD_CHARS_MAX: usize = 6000;

/// Where and for whom a card is painted.
#[derive(Clone, Debug)]
pub(super) struct Canvas<'a> {
    /// Which server.
    pub(super) tenant: &'a str,
    /// The id of the place.
    pub(super) place: &'a str,
    /// Where a click is sent; without it there are no buttons.
    pub(super) action_url: Option<&'a str>,
    /// Who is mentioned while it waits: `@ana @ben`, or nobody.
    pub(super) mentions: &'a str,
    /// Which commands are about a waiting card, in words; none where they are not registered.
    pub(super) commands: Option<String>,
}

/// A card as it is posted.
#[derive(Clone, Debug)]
pub(super) struct Painted {
    pub(super) message: String,
    pub(super) attachments: Vec<Attachment>,
    pub(super) shown: Shown,
}

impl Painted {
    /// Whether a post looks so already: the same headline and the same buttons. Everything else on a
    /// card stays, or changes with one of them.
    pub(super) fn is_shown_by(&self, post: &Post) -> bool {
        let attachments = post.props.get("attachments").and_then(Value::as_array);
        let shown: Vec<&Value> = buttons(attachments.into_iter().flatten()).collect();
        let wanted = json!(self.attachments);
        let wanted = buttons(wanted.as_array().into_iter().flatten());
        post.message == self.message && wanted.eq(shown)
    }
}

/// Returns the ids of the buttons in attachments.
fn buttons<'a>(attachments: impl Iterator<Item = &'a Value>) -> impl Iterator<Item = &'a Value> {
    let actions = attachments.filter_map(|it| it.get("actions").and_then(Value::as_array));
    actions.flatten().filter_map(|action| action.get("id"))
}

/// A part of a post with a frame of its own.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Attachment {
    fallback: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    color: &'static str,
    title: String,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<Fact>,
    #[serde(skip_serializing_if = "String::is_empty")]
    footer: String,
    // Without buttons it is left out: an empty list would be one more thing to interpret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<Value>,
}

/// A named fact.
#[derive(Clone, Debug, Serialize)]
struct Fact {
    title: String,
    value: String,
    short: bool,
}

impl From<face::Fact> for Fact {
    fn from(fact: face::Fact) -> Self {
        Self {
            title: inert(&fact.name),
            value: inert(&fact.text),
            short: !fact.is_wide,
        }
    }
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
    let text = match shown {
        Shown::Whole => whole_text(card),
        Shown::Cut => fenced(&fit.text()),
    };
    let facts = face::facts(card, shown).into_iter();
    let facts = facts.chain(face::left(&order.aftermath));
    let presses = face::presses(order, shown);
    let description = card.reasons.first().unwrap_or(&card.title);
    let mut attachments = vec![Attachment {
        fallback: "An agent's call needs confirmation",
        color: color(card, order.closing),
        title: inert(description),
        text,
        fields: facts.map(Fact::from).collect(),
        footer: footer(card, canvas, &presses),
        actions: actions(&presses, order, canvas),
    }];
    if let (Shown::Whole, Some(words)) = (shown, &card.explanation) {
        // What the agent says about itself comes last, and is marked as that.
        attachments.push(Attachment {
            fallback: "What the agent says",
            title: "The agent says (unverified)".to_owned(),
            text: fenced(words),
            ..Attachment::default()
        });
    }
    Painted {
        message: headline(order, canvas),
        attachments,
        shown,
    }
}

fn paint_question(inquiry: &Inquiry, order: &Order, canvas: &Canvas<'_>) -> Painted {
    let mut text = fenced(&inquiry.question);
    for (number, choice) in (1..).zip(&inquiry.choices) {
        let _infallible = write!(text, "\n{number}. {}", code(choice));
    }
    let mut attachment = Attachment {
        fallback: "The agent has a question",
        title: "A question from the agent. An answer permits nothing.".to_owned(),
        text,
        ..Attachment::default()
    };
    if inquiry.outcome.is_none() {
        let deadline = face::deadline(inquiry.expires_at.seconds());
        attachment.fields.push(deadline.into());
        let presses = face::presses(order, Shown::Whole);
        attachment.actions = actions(&presses, order, canvas);
        if canvas.action_url.is_none() {
            "Reply in this thread to answer.".clone_into(&mut attachment.footer);
        }
    }
    Painted {
        message: headline(order, canvas),
        attachments: vec![attachment],
        shown: Shown::Whole,
    }
}

fn actions(presses: &[Press], order: &Order, canvas: &Canvas<'_>) -> Vec<Value> {
    let Some(url) = canvas.action_url else {
        return Vec::new();
    };
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
        json!({
            "id": press.word(),
            "type": "button",
            "name": face::name(&order.what, *press),
            "style": style(*press),
            "integration": {
                "url": url,
                "context": {
                    "v": 1,
                    "a": order.what.id(),
                    "d": press.word(),
                    "g": digest.to_string(),
                    "t": order.seal.code(&bound),
                },
            },
        })
    };
    presses.iter().map(button).collect()
}

const fn style(press: Press) -> &'static str {
    match press {
        Press::Choose(Choice::Once) => "primary",
        Press::Choose(Choice::Deny) | Press::DenyNote => "danger",
        Press::Choose(Choice::Session | Choice::Always)
        | Press::View
        | Press::Answer(_)
        | Press::Other
        | Press::Revoke => "default",
    }
}

/// Returns exactly what would run, and the conversation it answers.
fn whole_text(card: &Card) -> String {
    let mut text = fenced(&card.what_runs());
    for said in card.lineage.iter().filter(|field| field.code) {
        let _infallible = write!(text, "\n{}:\n{}", inert(&said.name), fenced(&said.text));
    }
    text
}

/// Returns what stands small below a card: its id, and what can be done where there are no buttons.
fn footer(card: &Card, canvas: &Canvas<'_>, presses: &[Press]) -> String {
    let id = format!("{} · {}", card.approval_id, card.digest);
    if canvas.action_url.is_some() || presses.is_empty() {
        return match &canvas.commands {
            Some(commands) if !presses.is_empty() => format!("{id} · {commands}"),
            Some(_) | None => id,
        };
    }
    let mut ways = Vec::new();
    if presses.iter().any(|press| press.allows()) {
        ways.push("✅ (white_check_mark) allows once");
    }
    ways.push("❌ (x) denies");
    if presses.contains(&Press::View) {
        ways.push("👀 (eyes) shows the full text");
    }
    format!(
        "React: {}. Or reply here: approve, deny. · {id}",
        ways.join(", ")
    )
}

fn headline(order: &Order, canvas: &Canvas<'_>) -> String {
    let (sign, words) = face::headline(order);
    let line = format!("{sign} {}", inert(words));
    if order.what.outcome().is_some() || canvas.mentions.is_empty() {
        return line;
    }
    format!("{line} {}", canvas.mentions)
}

fn color(card: &Card, closing: Option<Closing>) -> &'static str {
    match (closing, card.risk) {
        (Some(Closing::Approved), _) => "good",
        (Some(_), _) => "#888888",
        (None, Risk::Critical | Risk::High) => "danger",
        (None, Risk::Medium) => "warning",
        (None, Risk::Low) => "#3d3c40",
    }
}
