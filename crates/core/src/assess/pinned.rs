//! Applies the hints of a server that the owner pinned: the only ones that may lower what a call is taken for.
//!
//! Separate because everything else about a call only raises. A hint replaces a guess, which rests on the words of a
//! name or a description, and nothing that was seen in arguments. It comes last, so that a call has been read for
//! people, secrets and crises as if nobody had pinned anything.

use super::gather::Gathered;
use super::infer::is_reading;
use super::named::look_up;
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::call::ToolCall;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// How sure we are of a pinned server's word.
const SURE: Score = Score::new(900);
/// How hard it is to undo a change of a server that says it destroys nothing.
const ADDED: Score = Score::new(200);
/// Where a hint is named as the reason.
const SAID: &str = "as its server says, which the owner pinned";

/// Applies the hints of `call`, if its server is pinned.
pub(super) fn apply(call: &ToolCall, gathered: &mut Gathered) {
    let hints = call.annotations;
    if !call.pinned || hints.destructive == Some(true) || must_stay(call, gathered) {
        return;
    }
    let said = if hints.read_only == Some(true) {
        Act::new(Effect::CloudRead, call.tool.clone(), Span::default()).because("looks up")
    } else if hints.destructive == Some(false) {
        Act::new(Effect::CloudWrite, call.tool.clone(), Span::default())
            .because("changes without destroying")
            .reversal(ADDED)
    } else {
        return;
    };
    let mut said = said.on(SAID);
    said.certainty = SURE;
    let mut is_all = true;
    for act in &mut gathered.acts {
        if is_guess(act, call) {
            *act = said.clone();
        } else {
            is_all &= is_reading(act.effect) && !act.marks.unreadable;
        }
    }
    if is_all {
        gathered.tool_certainty = gathered.tool_certainty.max(SURE);
    }
}

/// Whether no hint may lower what was gathered: a table or the call itself says more, it may reach somebody, a person
/// or a secret may be concerned, or it is critical.
fn must_stay(call: &ToolCall, gathered: &Gathered) -> bool {
    let marked = |act: &Act| {
        let marks = act.marks;
        marks.outbound || marks.critical || marks.floor || marks.guard || marks.money
    };
    look_up(&call.tool).row.is_some()
        || gathered.terminal
        || gathered.outbound
        || gathered.sender
        || gathered.crisis_sensitive
        || gathered.crisis_unsure
        || gathered.human_impact > Score::ZERO
        || !gathered.findings.is_empty()
        || !call.replying_to.is_empty()
        || gathered.side_effect() == SideEffect::Critical
        || gathered.acts.iter().any(marked)
}

/// Whether an act is what the words of a name or a description made of the tool, and not of an argument.
fn is_guess(act: &Act, call: &ToolCall) -> bool {
    let is_open = matches!(act.effect, Effect::Unknown | Effect::CloudWrite);
    let is_of_words = act.subject.starts_with("judging by its name")
        || act.subject.starts_with("judging by its description");
    is_open && is_of_words && act.target == Score::ZERO && act.program == call.tool
}
