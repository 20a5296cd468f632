//! Collects the effects of a call, by the kind of its tool.
//!
//! A call takes this way: its size is checked, its name is looked up, its arguments are read by the
//! roles the table gives them (or, for a tool no table knows, by what name and arguments say), and
//! what it says to people is looked at. Every step only adds acts.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::roles::same_key;
use super::{
    annotations, arguments, beyond, definition, evidence, infer, line, loose, named, people,
    pinned, roles, teammates, terminal,
};
use crate::act::Act;
use crate::assessment::{Finding, SideEffect};
use crate::call::ToolCall;
use crate::follow::walk::{Knows, Walk};
use crate::knowledge::Effect;
use crate::knowledge::names::RAISING_KEYS;
use crate::place::Ground;
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::Files;

/// Longest name of a tool that is looked at.
const NAME_BYTES_MAX: usize = 256;
/// How many tools that call tools are followed.
const CALLS_DEPTH_MAX: u32 = 4;
/// Most arguments of one call.
const ARGUMENTS_MAX: usize = 256;
/// How many calls one call may carry.
const CALLS_MAX: u32 = 64;

/// The collected effects of a call.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is its own yes or no")]
pub struct Gathered {
    /// Its effects.
    pub acts: Vec<Act>,
    /// Sentences that belong before all others.
    pub notes: Vec<String>,
    /// Sentences that belong after all others.
    pub asides: Vec<String>,
    /// Findings that are not acts.
    pub findings: Vec<Finding>,
    /// How much it means for people.
    pub human_impact: Score,
    /// What that was seen in.
    pub impact_evidence: String,
    /// Whether it touches a person in crisis.
    pub crisis_sensitive: bool,
    /// Whether its words alone leave open if it does.
    pub crisis_unsure: bool,
    /// The least its side-effect class may be.
    pub at_least: SideEffect,
    /// How sure we are of what kind of tool it is.
    pub tool_certainty: Score,
    /// Whether it carries something out.
    pub outbound: bool,
    /// Whether sending is what the tool is for.
    pub sender: bool,
    /// Whether it writes to another agent of the session.
    pub(super) to_teammate: bool,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether the terminal is known to be one of Unix, wherever it runs.
    pub(super) is_unix_shell: bool,
    /// Whether what it changes can be rolled back by the firewall.
    pub rollback: bool,
    /// What is known about files.
    pub files: Files,
    /// How many calls were followed.
    pub(super) calls: u32,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            acts: Vec::new(),
            notes: Vec::new(),
            asides: Vec::new(),
            findings: Vec::new(),
            human_impact: Score::ZERO,
            impact_evidence: String::new(),
            crisis_sensitive: false,
            crisis_unsure: false,
            at_least: SideEffect::ReadOnly,
            tool_certainty: Score::new(980),
            outbound: false,
            sender: false,
            to_teammate: false,
            terminal: false,
            is_unix_shell: false,
            rollback: false,
            files: Files::default(),
            calls: 0,
        }
    }
}

impl Gathered {
    /// Notes that something about the call cannot be seen, so that a person is asked.
    pub(super) fn unreadable(&mut self, tool: &str, why: &'static str) {
        let mut act = Act::new(Effect::Exec, tool.to_owned(), Span::default()).because(why);
        act.clarity = Score::new(200);
        self.acts.push(act);
    }

    /// Adds what a walk found.
    pub(super) fn absorb(&mut self, mut walk: Walk<'_>) {
        self.acts.append(&mut walk.acts);
        self.files.absorb(walk.into_files());
        if self.files.wants_more {
            self.unreadable("", "runs or loads more files than can be looked at");
        }
    }

    /// The side-effect class of what was gathered so far.
    pub(super) fn side_effect(&self) -> SideEffect {
        let acts = self.acts.iter().map(Act::side_effect).max();
        acts.unwrap_or(SideEffect::ReadOnly).max(self.at_least)
    }
}

/// Gathers what `call` would do.
pub(super) fn gather(call: &ToolCall, knows: &Knows) -> Gathered {
    let mut gathered = Gathered::default();
    if let Err(why) = arguments::measure(&call.args) {
        gathered.unreadable(shown_name(&call.tool), why);
        return gathered;
    }
    let (cwd, workspace) = (call.cwd.as_deref(), call.workspace.as_deref());
    let ground = match (knows.trusts_workspace, knows.vouched_workspace) {
        (false, _) => Ground::nowhere(cwd),
        (true, false) => Ground::new(cwd, workspace),
        (true, true) => Ground::vouched(cwd, workspace),
    };
    one_call(
        &Inner {
            tool: &call.tool,
            args: &call.args,
            depth: 0,
        },
        &ground,
        knows,
        &mut gathered,
    );
    annotations::apply(call, &mut gathered);
    definition::apply(call, &ground, knows, &mut gathered);
    people::judge(call, knows.sensitivity, &mut gathered);
    pinned::apply(call, &mut gathered);
    gathered
}

/// A call, or a call inside a call.
pub(super) struct Inner<'c> {
    /// The tool.
    pub(super) tool: &'c str,
    /// Its arguments.
    pub(super) args: &'c Value,
    /// In how many calls it is wrapped.
    pub(super) depth: u32,
}

/// Gathers what one call would do, without what it means for people.
pub(super) fn one_call(call: &Inner<'_>, ground: &Ground, knows: &Knows, gathered: &mut Gathered) {
    gathered.calls += 1;
    if call.depth > CALLS_DEPTH_MAX || gathered.calls > CALLS_MAX {
        gathered.unreadable(
            shown_name(call.tool),
            "calls are wrapped too deeply to be followed",
        );
        return;
    }
    if call.tool.len() > NAME_BYTES_MAX {
        gathered.unreadable(
            shown_name(call.tool),
            "the tool's name is too long to be read",
        );
        return;
    }
    let mut named = named::look_up(call.tool);
    let args = match object(call.args, named.row) {
        Ok(args) => args,
        Err(why) => {
            gathered.unreadable(shown_name(call.tool), why);
            return;
        }
    };
    let args = line::editor(&named.tool, &args).map_or(args, Cow::Owned);
    if args.len() > ARGUMENTS_MAX {
        gathered.unreadable(shown_name(call.tool), "it has too many arguments to check");
        return;
    }
    if let Some(row) = teammates::row(&named, &args) {
        named.row = Some(row);
        gathered.to_teammate = true;
    }
    if args.iter().any(|(key, value)| raises_rights(key, value)) {
        let note = "asks for more rights than the agent has";
        gathered
            .acts
            .push(named.act(Effect::Privilege).because(note));
    }
    let before = gathered.acts.len();
    match named.row {
        Some(row) if terminal::is_terminal(row) => {
            gathered.is_unix_shell = terminal::is_unix_shell(&named.tool);
            terminal::call(row, &args, ground, knows, gathered);
            if let Some(effect) = infer::deed_of(&named.skipped) {
                gathered.acts.push(named.act(effect));
            }
            return;
        }
        Some(row) => roles::apply(row, &named, call, &args, ground, knows, gathered),
        None => loose::unknown_tool(&named, &args, ground, knows, gathered),
    }
    evidence::weigh(&named, &args, before, gathered);
    beyond::weigh(&named, &args, before, (ground, knows), gathered);
}

/// Whether an argument asks to run with more rights, or without the agent's own fence.
fn raises_rights(key: &str, value: &Value) -> bool {
    let escalated = key == "sandbox_permissions" && value.as_str() == Some("require_escalated");
    escalated
        || value == &Value::Bool(true) && RAISING_KEYS.iter().any(|known| same_key(known, key))
}

/// Returns the arguments as an object. Some agents give them as text.
pub(super) fn object<'a>(
    args: &'a Value,
    row: Option<&crate::knowledge::ToolRow>,
) -> Result<Cow<'a, Map<String, Value>>, &'static str> {
    match args {
        Value::Object(map) => Ok(Cow::Borrowed(map)),
        Value::Null => Ok(Cow::Owned(Map::new())),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(map)) => {
                arguments::measure(&Value::Object(map.clone()))?;
                Ok(Cow::Owned(map))
            }
            _ if row.is_some_and(terminal::is_terminal) => Ok(Cow::Owned(single("command", text))),
            _ if row.is_some_and(|row| row.names.contains(&"apply_patch")) => {
                Ok(Cow::Owned(single("input", text)))
            }
            _ => Err("the arguments are not an object"),
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err("the arguments are not an object")
        }
    }
}

fn single(key: &str, text: &str) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), Value::String(text.to_owned()))])
}

/// Returns as much of a tool's name as fits into a sentence.
fn shown_name(tool: &str) -> &str {
    tool.get(..tool.floor_char_boundary(NAME_BYTES_MAX))
        .unwrap_or("")
}
