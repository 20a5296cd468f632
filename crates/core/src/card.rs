//! `Card`: what a person sees of an approval. The firewall renders it from the stored call, the
//! same on every surface.
//!
//! The agent's own explanation is quoted, labelled unverified and last. Untrusted text has passed
//! [`crate::display`] before it stands in a card.
//!
//! INVARIANT: whoever is offered to allow has the complete call before them. A card that could not
//! be drawn whole offers *deny* alone ([`is_showable`]), and so does a surface it does not fit
//! ([`Card::fits`]).

mod body;
mod definition;
mod edits;
mod fit;
mod marks;
mod text;

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, Choice};
use crate::assessment::{Assessment, Severity, SideEffect};
use crate::call::{ARGUMENT_BYTES_MAX, ToolCall};
use crate::display::{inline, line, shortened, unfenced_plain};
use crate::status::Risk;
use crate::tier::Tier;
use crate::time::UnixMillis;
use crate::verdict::Thresholds;

pub use body::{one_line, shown_args};
pub use edits::{edited_args, edited_text, telling_argument};
pub use fit::{Fit, utc};
pub use text::{Redacts, without_secrets};

/// What happens on timeout.
const ON_TIMEOUT: &str = "If nobody answers in time, it does not run.";
/// The name of a turn of the conversation being answered.
const IN_REPLY_TO: &str = "In reply to";
/// Turns of the conversation being answered that a card shows, the last ones.
const TURNS_MAX: usize = 3;

/// What a person sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The approval.
    pub approval_id: String,
    /// The title of the call.
    pub title: String,
    /// `low`, `medium`, `high` or `critical`.
    pub risk: Risk,
    /// Reasons, the worst first.
    pub reasons: Vec<String>,
    /// The tool.
    pub tool: String,
    /// The shell text, or the call on one line; never empty.
    pub command: String,
    /// What exactly will run, complete.
    pub body: Vec<Field>,
    /// Who asks, from where, for what: agent, run, session, directory.
    pub lineage: Vec<Field>,
    /// The owner's help lines, where a person in crisis may be concerned: for whoever answers.
    #[serde(default)]
    pub help_lines: Vec<String>,
    /// The agent's explanation, quoted and unverified.
    pub explanation: Option<String>,
    /// The choices.
    pub choices: Vec<Choice>,
    /// When it expires, in milliseconds.
    pub expires_at: UnixMillis,
    /// The follow-up.
    pub on_timeout: String,
    /// The tier: how well asker and approver are separated.
    pub tier: Tier,
    /// The digest the answer is bound to.
    pub digest: String,
    /// How it ended, in words: "Approved once by Ana · 14:02". `None` while it waits.
    pub outcome: Option<String>,
}

/// A named part of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its text, safe to show.
    pub text: String,
    /// Whether it is code, to be shown in fixed width with its line breaks.
    pub code: bool,
    /// Where the danger stands in it, in the order of the text.
    #[serde(default)]
    pub marks: Vec<Mark>,
}

/// A part of a text that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Where it begins, in UTF-8 bytes of the shown text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, for a person.
    pub words: String,
}

/// Who asks, as the card says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// Name of the key.
    pub key_name: String,
    /// The agent's own name, a claim.
    pub agent: Option<String>,
    /// The run.
    pub run: String,
    /// The session.
    pub session: String,
    /// The agent's explanation of the call, unverified.
    pub explanation: Option<String>,
    /// The tier: how well asker and approver are separated.
    pub tier: Tier,
    /// Whether all who would be written to were written to before; `None` if nobody would be.
    pub known_recipients: Option<bool>,
    /// What is known of the definition of the tool.
    pub definition: Definition,
    /// The owner's help lines. They stand on a card only if a person in crisis may be concerned.
    pub help_lines: Vec<String>,
}

/// What is known of the definition of a tool that a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// Nothing worth a word: it is as it was, or the tool is of no server.
    #[default]
    Unsaid,
    /// The server did not list the tool.
    NotListed,
    /// It changed since it was last accepted.
    Changed {
        /// Since when the earlier one was accepted.
        since: UnixMillis,
        /// The lines that were taken out and put in.
        difference: String,
    },
}

impl Card {
    /// Returns the card of `approval`.
    pub fn new(
        approval: &Approval,
        call: &ToolCall,
        assessment: &Assessment,
        lineage: &Lineage,
        redacts: Redacts,
    ) -> Self {
        let mut choices = approval.choices.clone();
        if !is_showable(call) {
            choices.retain(|choice| *choice == Choice::Deny);
        }
        Self {
            approval_id: line(approval.id.as_str()),
            title: body::title(call, redacts),
            risk: risk(assessment),
            reasons: assessment
                .reasons
                .iter()
                .map(|reason| line(&without_secrets(reason, redacts)))
                .chain(definition::reason(&lineage.definition))
                .collect(),
            tool: inline(&call.tool),
            command: one_line(call, redacts),
            body: body::body(call, &assessment.findings, redacts),
            lineage: lineage_fields(call, assessment, lineage, redacts),
            help_lines: if assessment.crisis_sensitive {
                lineage.help_lines.iter().map(|text| line(text)).collect()
            } else {
                Vec::new()
            },
            explanation: lineage
                .explanation
                .as_deref()
                .map(|words| unfenced_plain(&without_secrets(words, redacts))),
            choices,
            expires_at: approval.expires_at,
            on_timeout: ON_TIMEOUT.to_owned(),
            tier: lineage.tier,
            digest: approval.digest.to_string(),
            outcome: None,
        }
    }

    /// Returns where to look, a line each, for surfaces that cannot mark a text: what is marked, and in
    /// which line of a longer text. Nothing where the mark is the whole text.
    pub fn look_at(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let answered = self.lineage.iter().filter(|field| field.code);
        for field in self.body.iter().chain(answered) {
            let is_long = field.text.contains('\n');
            for mark in &field.marks {
                let before = field.text.get(..mark.start).unwrap_or_default();
                let quoted = field.text.get(mark.start..mark.end).unwrap_or_default();
                if quoted.trim() == field.text.trim() {
                    continue;
                }
                let number = before.matches('\n').count() + 1;
                let place = if is_long {
                    format!("line {number}: ")
                } else {
                    String::new()
                };
                lines.push(format!(
                    "{place}{}",
                    shortened(&quoted.replace('\n', " ⏎ "))
                ));
            }
        }
        lines
    }

    /// Says how it ended. Nothing can be chosen any more.
    pub fn settle(&mut self, words: &str) {
        self.outcome = Some(inline(words));
        self.choices.clear();
    }
}

/// Whether a card can show all of `call`. Beyond this size secrets are not looked for, so not
/// everything would be shown, and nobody may allow what they cannot see.
pub fn is_showable(call: &ToolCall) -> bool {
    body::written_bytes(&call.args) <= ARGUMENT_BYTES_MAX
}

/// Returns whom `call` would write to, each once.
pub fn recipients(call: &ToolCall) -> Vec<String> {
    body::recipients(call)
}

/// Returns what people read on the button of `choice`.
pub const fn label(choice: Choice) -> &'static str {
    match choice {
        Choice::Once => "Allow once",
        Choice::Session => "Allow for this session",
        Choice::Always => "Add to permanent allowlist",
        Choice::Deny => "Deny",
    }
}

impl Field {
    /// A line of words.
    pub fn words(name: &str, text: String) -> Self {
        Self {
            name: name.to_owned(),
            text,
            code: false,
            marks: Vec::new(),
        }
    }
}

/// Returns how bad it is in one word: the only place that decides so, for cards, lists and the wire.
pub fn risk(assessment: &Assessment) -> Risk {
    let thresholds = Thresholds::default();
    let critical = assessment.side_effect == SideEffect::Critical
        || assessment.marks.floor
        || assessment.crisis_sensitive;
    if critical {
        Risk::Critical
    } else if assessment.risk > thresholds.ask_above {
        Risk::High
    } else if assessment.risk >= thresholds.auto_below {
        Risk::Medium
    } else {
        Risk::Low
    }
}

/// The key is known; everything else is what the asker says.
fn lineage_fields(
    call: &ToolCall,
    assessment: &Assessment,
    lineage: &Lineage,
    redacts: Redacts,
) -> Vec<Field> {
    let mut fields = vec![Field::words("Asked by", inline(&lineage.key_name))];
    let said = [
        ("Agent", lineage.agent.as_deref()),
        ("Run", Some(lineage.run.as_str())),
        ("Session", Some(lineage.session.as_str())),
        ("Directory", call.cwd.as_deref()),
        ("Workspace", call.workspace.as_deref()),
    ];
    for (name, text) in said {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            // Where something runs decides what it does, so it is never shortened.
            fields.push(Field::words(name, line(text)));
        }
    }
    if let Some(known) = lineage.known_recipients {
        let words = if known {
            "written to before"
        } else {
            "never written to before"
        };
        fields.push(Field::words("Recipient", words.to_owned()));
    }
    fields.extend(definition::field(&lineage.definition, redacts));
    let turns = call.replying_to.len().saturating_sub(TURNS_MAX);
    for turn in call.replying_to.iter().skip(turns) {
        let said = match turn.from.as_str() {
            "" => turn.text.clone(),
            from => format!("{from}: {}", turn.text),
        };
        let mut field = Field {
            name: IN_REPLY_TO.to_owned(),
            text: unfenced_plain(&without_secrets(&said, redacts)),
            code: true,
            marks: Vec::new(),
        };
        let signs = marks::signs_in(&said, &assessment.findings);
        marks::put(&mut field, &said, &signs, redacts);
        fields.push(field);
    }
    fields
}
