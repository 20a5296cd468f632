//! Gathers what a call would do, by the kind of tool it is.

use crate::act::Act;
use crate::assessment::{Finding, SideEffect};
use crate::call::ToolCall;
use crate::knowledge::Effect;
use crate::place::Ground;
use crate::score::Score;
use crate::shell::parse::parse;
use crate::shell::syntax::Span;
use crate::shell::value::Stream;
use crate::shell::walk::{Knows, Walk};

/// What was gathered about a call.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// What it would do.
    pub acts: Vec<Act>,
    /// Sentences that belong before all others.
    pub notes: Vec<String>,
    /// Findings that are not acts.
    pub findings: Vec<Finding>,
    /// How much it means for people.
    pub human_impact: Score,
    /// What that was seen in.
    pub impact_evidence: String,
    /// Whether it touches a person in crisis.
    pub crisis_sensitive: bool,
    /// The least its side-effect class may be.
    pub at_least: SideEffect,
    /// How sure we are of what kind of tool it is.
    pub tool_certainty: Score,
    /// Whether it carries something out.
    pub outbound: bool,
    /// Whether sending is what the tool is for.
    pub sender: bool,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether what it changes can be rolled back by the firewall.
    pub rollback: bool,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            acts: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            human_impact: Score::ZERO,
            impact_evidence: String::new(),
            crisis_sensitive: false,
            at_least: SideEffect::ReadOnly,
            tool_certainty: Score::new(980),
            outbound: false,
            sender: false,
            terminal: false,
            rollback: false,
        }
    }
}

/// Gathers what `call` would do.
pub(super) fn gather(call: &ToolCall, knows: &Knows) -> Gathered {
    let mut gathered = Gathered::default();
    if let Some(command) = call.args.get("command").and_then(|command| command.as_str()) {
        let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
        shell(command, ground, knows, &mut gathered);
    }
    gathered
}

/// Follows a shell command.
pub(crate) fn shell(command: &str, ground: Ground, knows: &Knows, gathered: &mut Gathered) {
    gathered.terminal = true;
    let mut walk = Walk::new(ground, knows);
    match parse(command) {
        Ok(script) => {
            walk.script(script, &Stream::default());
        }
        Err(error) => {
            let mut act = Act::new(Effect::Exec, "", Span::new(error.at, error.at)).because("the command cannot be read").on(error.what);
            act.clarity = Score::new(200);
            walk.note(act);
        }
    }
    gathered.acts.append(&mut walk.acts);
}
