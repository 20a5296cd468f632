//! Writes letters: subject, text and HTML of a card, of how it ended, and of many of them.
//!
//! Separate from the channel, which decides what is sent when. Subjects hold nothing that an agent
//! wrote. In HTML every text of a card is escaped; there is no script, no form, and nothing that is
//! loaded from elsewhere.

use std::fmt::Write as _;

use countersign_core::card::{Card, Fit, utc};
use countersign_core::display::shortened;
use countersign_core::status::Risk;
use reqwest::Url;

use crate::face::{Fact, facts, left};
use crate::order::{Closing, Order, Shown};

/// Characters of a card that a letter shows; some mail programs cut letters above 100 kB.
const CARD_CHARS_MAX: usize = 12_000;
/// Says what a letter cannot do.
const NO_ANSWER: &str = "This letter cannot answer it: replies are not read, and opening the link changes nothing. You answer \
                         on the page, signed in.";
/// Says why a letter lists several.
const MANY: &str = "They came faster than one letter each, so this one lists them.";

/// What stands in a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) html: String,
}

/// How much of a card may stand in a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    /// That there is one.
    That,
    /// What it says.
    What,
}

/// A line of a letter that lists several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The risk, or how it ended.
    pub(super) mark: String,
    /// What would run; empty if the letter is not to say it.
    pub(super) what: String,
    /// Where the card is.
    pub(super) link: String,
}

/// Returns the letter about a card that waits.
pub(super) fn waiting(card: &Card, tells: Tells, link: &Url) -> Written {
    let head = format!(
        "A call of {} risk is waiting for an answer until {}. Nothing runs before somebody allows it.",
        card.risk.word(),
        utc(card.expires_at.seconds())
    );
    let mut text = format!("{head}\n\nOpen the card: {link}\n{NO_ANSWER}\n");
    let mut html = String::new();
    paragraph(&mut html, &head);
    linked(&mut html, link.as_str(), "Open the card");
    paragraph(&mut html, NO_ANSWER);
    if tells == Tells::What {
        let shown = card.fits(CARD_CHARS_MAX);
        let _infallible = write!(text, "\n{}\n", shown.text());
        card_part(&mut html, card, &shown);
    }
    Written {
        subject: subject(card),
        text,
        html: page(&html),
    }
}

/// Returns the letter that says how a question ended.
pub(super) fn settled(order: &Order, card: &Card, tells: Tells, link: &Url) -> Written {
    let head = ended(order, tells);
    let mut text = format!("{head}\n");
    let mut html = String::new();
    paragraph(&mut html, &head);
    if tells == Tells::What {
        let mut facts = vec![what_ran(card)];
        facts.extend(left(&order.aftermath));
        for fact in &facts {
            let _infallible = writeln!(text, "{}: {}", fact.name, fact.text);
        }
        table(&mut html, &facts);
    }
    let _infallible = write!(
        text,
        "\nThere is nothing left to answer. The card stays on the page: {link}\n"
    );
    paragraph(&mut html, "There is nothing left to answer.");
    linked(&mut html, link.as_str(), "The card on the page");
    Written {
        subject: format!("Re: {}", subject(card)),
        text,
        html: page(&html),
    }
}

/// Returns a letter that lists cards that wait.
pub(super) fn many_waiting(rows: &[Row]) -> Written {
    let subject = match rows.len() {
        1 => "1 call is waiting for your answer".to_owned(),
        count => format!("{count} calls are waiting for your answer"),
    };
    listed(subject, &format!("{MANY} {NO_ANSWER}"), rows)
}

/// Returns a letter that lists how questions ended.
pub(super) fn many_settled(rows: &[Row]) -> Written {
    let subject = match rows.len() {
        1 => "1 call was settled".to_owned(),
        count => format!("{count} calls were settled"),
    };
    listed(subject, "There is nothing left to answer.", rows)
}

/// Returns the line of a card that waits.
pub(super) fn row(card: &Card, tells: Tells, link: &Url) -> Row {
    Row {
        mark: format!("{} risk", card.risk.word()),
        what: what(card, tells),
        link: link.to_string(),
    }
}

/// Returns the line of a question that ended.
pub(super) fn ended_row(order: &Order, card: &Card, tells: Tells, link: &Url) -> Row {
    Row {
        mark: ended(order, tells),
        what: what(card, tells),
        link: link.to_string(),
    }
}

/// Returns the subject of a card's letter. It holds nothing that an agent wrote.
fn subject(card: &Card) -> String {
    // An id of ours; whatever else it were would not break the line.
    let id = card.approval_id.chars();
    let id: String = id.filter(char::is_ascii_graphic).take(60).collect();
    format!("Approval needed: {} risk ({id})", card.risk.word())
}

fn what(card: &Card, tells: Tells) -> String {
    match tells {
        Tells::That => String::new(),
        Tells::What => shortened(&card.command),
    }
}

fn what_ran(card: &Card) -> Fact {
    Fact {
        name: "Call".to_owned(),
        text: shortened(&card.command),
        is_wide: true,
    }
}

/// Returns how a question ended; who answered only where the letter may say what it was.
fn ended(order: &Order, tells: Tells) -> String {
    let words = match (tells, order.what.outcome()) {
        (Tells::What, Some(words)) => words,
        (Tells::What, None) | (Tells::That, _) => match order.closing {
            Some(Closing::Approved | Closing::Answered | Closing::Denied) => "It was answered",
            Some(Closing::Expired) => "Nobody answered in time; it did not run",
            Some(Closing::Withdrawn) => "It was withdrawn; it did not run",
            None => "It is settled",
        },
    };
    format!("{}.", words.trim_end_matches('.'))
}

fn listed(subject: String, introduction: &str, rows: &[Row]) -> Written {
    let mut text = format!("{subject}. {introduction}\n\n");
    let mut html = String::new();
    paragraph(&mut html, &format!("{subject}. {introduction}"));
    html.push_str("<ol>\n");
    for (number, row) in (1..).zip(rows) {
        let Row { mark, what, link } = row;
        let _infallible = write!(text, "{number}. {mark}");
        let _infallible = write!(html, "<li>{}", escaped(mark));
        if !what.is_empty() {
            let _infallible = write!(text, " · {what}");
            let _infallible = write!(html, "<br><code>{}</code>", escaped(what));
        }
        let _infallible = writeln!(text, "\n   {link}");
        let _infallible = writeln!(
            html,
            "<br><a href=\"{}\">Open the card</a></li>",
            escaped(link)
        );
    }
    html.push_str("</ol>\n");
    Written {
        subject,
        text,
        html: page(&html),
    }
}

/// Appends all of a card, or its head and tail.
fn card_part(html: &mut String, card: &Card, shown: &Fit) {
    let (runs, how_much) = match shown {
        Fit::Complete(_) => (card.what_runs(), Shown::Whole),
        Fit::Cut { .. } => (shown.text(), Shown::Cut),
    };
    let colour = match card.risk {
        Risk::Low => "#2e7d32",
        Risk::Medium => "#8a6d00",
        Risk::High => "#b25000",
        Risk::Critical => "#b00020",
    };
    let _infallible = writeln!(
        html,
        "<h3 style=\"border-left:6px solid {colour};padding-left:8px\">{}</h3>",
        escaped(&card.title)
    );
    if let Some(reason) = card.reasons.first() {
        paragraph(html, reason);
    }
    preformatted(html, &runs);
    table(html, &facts(card, how_much));
    if let (Some(words), Shown::Whole) = (&card.explanation, how_much) {
        paragraph(html, "The agent says (unverified):");
        preformatted(html, words);
    }
}

fn paragraph(html: &mut String, text: &str) {
    let _infallible = writeln!(html, "<p>{}</p>", escaped(text));
}

fn linked(html: &mut String, link: &str, words: &str) {
    let _infallible = writeln!(
        html,
        "<p><a href=\"{}\">{}</a></p>",
        escaped(link),
        escaped(words)
    );
}

fn preformatted(html: &mut String, text: &str) {
    let _infallible = writeln!(
        html,
        "<pre style=\"white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #999;padding:8px\">{}</pre>",
        escaped(text)
    );
}

fn table(html: &mut String, facts: &[Fact]) {
    html.push_str("<table>\n");
    for fact in facts {
        let (name, text) = (escaped(&fact.name), escaped(&fact.text));
        let _infallible = writeln!(
            html,
            "<tr><th align=\"left\" valign=\"top\">{name}</th><td>{text}</td></tr>"
        );
    }
    html.push_str("</table>\n");
}

fn page(body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"></head>\n\
         <body style=\"font-family:sans-serif;max-width:60em\">\n{body}</body></html>\n"
    )
}

/// Returns `text` so that nothing of it is markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}
