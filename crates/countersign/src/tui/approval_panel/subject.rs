//! Reads a card from the gateway's JSON and lays it out as named texts.

use countersign_core::approval::Choice;
use countersign_core::card::{Card, Field};
use countersign_core::record::AssessmentView;
use countersign_core::status::{Risk, Status};
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::records::view::{ApprovalView, DecisionView, FileChanges};
use serde_json::Value;

use super::edit::Edited;
use super::{change, files};
use crate::client::Answer;
use crate::tui::doc::{Doc, Part};
use crate::tui::syntax::language_of_argument;
use crate::tui::theme::Theme;
use crate::tui::wrap::cut;
use crate::words::assessed;

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
    /// Whether allowing takes Enter after the number.
    pub(super) confirm_allow: bool,
    pub(super) expires_at: UnixMillis,
    /// How much time can be added now, in milliseconds.
    pub(super) extension: Option<i64>,
    pub(super) held_until: Option<UnixMillis>,
    pub(super) decision: Option<DecisionView>,
    pub(super) assessment: Option<AssessmentView>,
    /// The arguments, as shown.
    pub(super) args: Value,
    pub(super) editable: bool,
    /// The edit, while an edited call stands in place of the card.
    pub(super) edited: Option<Edited>,
    /// How it would change files, once that was asked for.
    pub(super) files: Option<FileChanges>,
}

impl Subject {
    /// Returns the subject of `approval`.
    pub(super) fn new(approval: ApprovalView) -> Self {
        let mut card = approval.card;
        // Nobody may allow what is not before them.
        if card.body.is_empty() || card.command.trim().is_empty() {
            card.choices.retain(|choice| *choice == Choice::Deny);
        }
        Self {
            id: approval.approval_id,
            call: approval.call_id,
            is_waiting: approval.status == Status::Waiting,
            confirm_allow: approval.confirm_allow,
            held_until: approval.held_until.map(UnixMillis::of_seconds),
            decision: approval.decision,
            assessment: assessed(&approval.assessment),
            expires_at: UnixMillis::of_seconds(approval.expires_at),
            extension: approval
                .extend_seconds
                .map(|seconds| UnixMillis::of_seconds(seconds).0),
            args: approval.args,
            editable: approval.editable,
            edited: None,
            files: None,
            card,
        }
    }

    /// Reads the approval `id` from an answer.
    pub(super) fn of_answer(id: &str, answer: &Answer) -> Self {
        let read = answer.read::<ApprovalView>();
        read.map_or_else(|_| Self::unreadable(id), Self::new)
    }

    /// Returns the approval `id` that cannot be read: it can only be denied.
    pub(super) fn unreadable(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            call: String::new(),
            card: unreadable(),
            is_waiting: true,
            confirm_allow: false,
            expires_at: UnixMillis(0),
            extension: None,
            held_until: None,
            decision: None,
            assessment: None,
            args: Value::Null,
            editable: false,
            edited: None,
            files: None,
        }
    }

    /// Whether a mistake would be bad: then *deny* is where the list begins.
    pub(super) fn is_high(&self) -> bool {
        self.card.risk > Risk::Medium
    }

    /// Returns whose calls a grant of `choice` would be about: `laptop in session fix-the-login`.
    pub(super) fn whose(&self, choice: Choice) -> String {
        let text = |name: &str| {
            let field = self.card.lineage.iter().find(|field| field.name == name);
            field.map(|field| cut(&field.text, AGENT_CELLS_MAX))
        };
        let key = text("Asked by").unwrap_or_else(|| "this agent".to_owned());
        match (choice, text("Session")) {
            (Choice::Session, Some(session)) => format!("{key} in session {session}"),
            _ => format!("{key} in any session"),
        }
    }

    /// Whether there is a change of a file to be shown in two columns.
    pub(super) fn is_change(&self) -> bool {
        self.files.as_ref().is_some_and(|it| !it.files.is_empty())
            || self.edited.is_some()
            || change::find(&self.card.body).is_some()
    }

    /// Whether it runs a command, which is no call of a file tool.
    pub(super) fn is_command(&self) -> bool {
        self.card.body.iter().any(|field| field.name == "Command")
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
        if let Some(edited) = &self.edited {
            doc.push(Part::words("", "Original and edited", theme.heading()));
            change::push_texts(&mut doc, &edited.before, &edited.after, columns, theme);
            doc.push(Part::words("", "The edited call", theme.heading()));
        }
        if let Some(changes) = &self.files {
            files::push(&mut doc, changes, columns, theme);
            doc.push(Part::words("", "The call as sent", theme.heading()));
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
                Some(_) | None => {
                    let name = if is_alone { "" } else { &field.name };
                    self.push_field(&mut doc, name, field, theme);
                }
            }
        }
        doc
    }

    fn push_field(&self, doc: &mut Doc, name: &str, field: &Field, theme: Theme) {
        if change::is_written_out(field) {
            change::push_written_out(doc, name, field, theme);
            return;
        }
        let marks = field.marks.iter().map(|mark| mark.start..mark.end);
        let mut part = if field.code {
            let language = language_of_argument(&field.name, &self.args);
            Part::fenced(name, &field.text, theme.heading()).coloured(language)
        } else {
            Part::fenced(name, &field.text, theme.plain())
        };
        part = part.marked(marks.collect());
        if SCRIPTS.contains(&field.name.as_str()) {
            part = part.numbered();
        }
        doc.push(part);
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
            let marks = field.marks.iter().map(|mark| mark.start..mark.end);
            let part = Part::fenced(&field.name, &field.text, plain);
            doc.push(part.marked(marks.collect()));
        }
        if let Some(words) = &self.card.explanation {
            doc.push(Part::words("Agent says", "(unverified)", theme.quiet()));
            doc.push(Part::fenced("", words, plain));
        }
        doc
    }
}

/// Fields whose lines have numbers, because people talk about them by number. The lines of a message do not.
const SCRIPTS: &[&str] = &["Command", "code", "script", "content", "sql"];

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
