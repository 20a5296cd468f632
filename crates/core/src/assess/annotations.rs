//! Applies the hints of a server about its own tool. They may raise risk and never lower it.
//!
//! Separate because a server may say anything about itself: only what speaks against it counts.

use super::gather::Gathered;
use super::infer::is_reading;
use super::named::look_up;
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::call::ToolCall;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// Applies the hints of `call`.
pub(super) fn apply(call: &ToolCall, gathered: &mut Gathered) {
    let hints = call.annotations;
    let listed = look_up(&call.tool).row.is_some();
    let hinted = |effect: Effect, note: &'static str| {
        let mut act = Act::new(effect, call.tool.clone(), Span::default()).because(note);
        act.certainty = Score::new(if listed { 900 } else { 600 });
        act
    };
    if hints.destructive == Some(true) {
        let note = "its server says that it may destroy something";
        let act = if listed {
            hinted(Effect::Write, note).reversal(Score::new(700))
        } else {
            hinted(Effect::Delete, note).reversal(Score::ONE)
        };
        gathered.acts.push(act);
    }
    let only_reads = gathered.acts.iter().all(|act| is_reading(act.effect));
    if hints.read_only == Some(false) && only_reads && !gathered.terminal {
        let mut act = hinted(
            Effect::CloudWrite,
            "its server says that it changes something",
        );
        act.certainty = Score::new(600);
        gathered.acts.push(act);
    }
    if hints.open_world == Some(true) && gathered.side_effect() > SideEffect::ReadOnly {
        gathered.at_least = gathered.at_least.max(SideEffect::External);
    }
}
