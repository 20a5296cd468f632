//! What a card is about, read from the gateway's JSON, and laid out as named texts.

use countersign_core::approval::Choice;
use countersign_core::card::{Card, Field};
use countersign_core::status::Risk;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::change;
use crate::config::read::at;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::tui::wrap::cut;
use crate::words::moment;

/// Widest name of an agent, in cells.
const AGENT_CELLS_MAX: usize = 32;
/// What stands on a card that cannot be shown.
const UNREADABLE: &str = "This card cannot be shown";

/// What a card is about.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) id: String,
    pub(super) call: String,
    pub(super) card: Card,
    pub(super) is_waiting: bool,
    pub(super) expires_at: UnixMillis,
    pub(super) held_until: Option<UnixMillis>,
    pub(super) decision: Option<Value>,
    pub(super) assessment: Value,
}

impl Subject {
    /// Reads the answer to `GET /v1/approvals/{id}`.
    pub(super) fn read(approval: &Value) -> Self {
        let id = at(approval, "approval_id").as_str().unwrap_or_default();
        let card = serde_json::from_value(at(approval, "card").clone());
        let mut card: Card = card.unwrap_or_else(|_| unreadable());
        // Nobody may allow what is not before them.
        if card.body.is_empty() || card.command.trim().is_empty() {
            card.choices.retain(|choice| *choice == Choice::Deny);
        }
        let expires_at = moment(approval, "expires_at").unwrap_or(card.expires_at);
        let decision = at(approval, "decision");
        Self {
            id: id.to_owned(),
            call: at(approval, "call_id")
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            is_waiting: at(approval, "status") == "waiting",
            held_until: moment(approval, "held_until"),
            decision: decision.is_object().then(|| decision.clone()),
            assessment: at(approval, "assessment").clone(),
            expires_at,
            card,
        }
    }

    /// Whether a mistake would be bad: then *deny* is where the list begins.
    pub(super) fn is_high(&self) -> bool {
        self.card.risk > Risk::Medium
    }

    /// Whether there is a change of a file to be shown in two columns.
    pub(super) fn is_change(&self) -> bool {
        change::find(&self.card.body).is_some()
    }

    /// Returns what exactly would run.
    pub(super) fn body(&self, columns: change::Columns, theme: Theme) -> Doc {
        let mut doc = Doc::default();
        let fields = &self.card.body;
        if fields.is_empty() {
            let words = "You may not see this call, so you can only deny it.";
            doc.push(Part::words("", words, theme.bad()));
            return doc;
        }
        let changed = change::find(fields);
        // The name of the only one says nothing.
        let is_alone = fields.len() == 1;
        for (number, field) in fields.iter().enumerate() {
            match &changed {
                Some(change) if number == change.old => {}
                Some(change) if number == change.new => {
                    change.push(&mut doc, fields, columns, theme);
                }
                Some(_) | None => push_field(
                    &mut doc,
                    if is_alone { "" } else { &field.name },
                    field,
                    theme,
                ),
            }
        }
        doc
    }

    /// Returns who asks, from where, and what happens if nobody answers.
    pub(super) fn about(&self, theme: Theme) -> Doc {
        let mut doc = Doc::default();
        let plain = theme.plain();
        let text = |name: &str| {
            let field = self.card.lineage.iter().find(|field| field.name == name);
            field.map(|field| field.text.as_str())
        };
        let joined = |first: Option<&str>, word: &str, second: Option<&str>| match (first, second) {
            (Some(first), Some(second)) => Some(format!("{first} · {word} {second}")),
            (Some(only), None) => Some(only.to_owned()),
            (None, Some(only)) => Some(format!("{word} {only}")),
            (None, None) => None,
        };
        // What an agent calls itself decides nothing, and must not fill the card.
        let agent = text("Agent").map(|agent| cut(agent, AGENT_CELLS_MAX));
        let rows = [
            ("Agent", joined(agent.as_deref(), "key", text("Asked by"))),
            ("Run", joined(text("Run"), "session", text("Session"))),
            ("Directory", text("Directory").map(str::to_owned)),
            (
                "Workspace",
                text("Workspace")
                    .filter(|it| Some(*it) != text("Directory"))
                    .map(str::to_owned),
            ),
            ("Recipient", text("Recipient").map(str::to_owned)),
            ("Separation", Some(separation(self.card.tier))),
        ];
        for help in &self.card.help_lines {
            doc.push(Part::words("Help line", help, plain));
        }
        for (name, text) in rows {
            if let Some(text) = text {
                doc.push(Part::words(name, &text, plain));
            }
        }
        for field in self.card.lineage.iter().filter(|field| field.code) {
            doc.push(Part::fenced(&field.name, &field.text, plain));
        }
        if let Some(words) = &self.card.explanation {
            doc.push(Part::words("Agent says", "(unverified)", theme.quiet()));
            doc.push(Part::fenced("", words, plain));
        }
        doc
    }
}

fn push_field(doc: &mut Doc, name: &str, field: &Field, theme: Theme) {
    if change::is_written_out(field) {
        change::push_written_out(doc, name, field, theme);
        return;
    }
    let style = if field.code {
        theme.heading()
    } else {
        theme.plain()
    };
    doc.push(Part::fenced(name, &field.text, style));
}

/// Returns how far the asker could have answered itself, in two words.
fn separation(tier: Tier) -> String {
    let word = tier.sentence().split(':').next().unwrap_or_default();
    format!("{}, {word}", tier.word())
}

fn unreadable() -> Card {
    Card {
        approval_id: String::new(),
        title: UNREADABLE.to_owned(),
        risk: Risk::High,
        reasons: vec!["the gateway sent a card that this program cannot read".to_owned()],
        tool: String::new(),
        command: String::new(),
        body: Vec::new(),
        lineage: Vec::new(),
        help_lines: Vec::new(),
        explanation: None,
        choices: vec![Choice::Deny],
        expires_at: UnixMillis(0),
        on_timeout: String::new(),
        tier: Tier::T0,
        digest: String::new(),
        outcome: None,
    }
}
