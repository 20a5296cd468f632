//! What a server says about its own tool. Hints may raise what is gathered; they lower it only for
//! servers the user has pinned, and only where nothing but the name spoke.

use super::gather::Gathered;
use super::infer::is_reading;
use super::loose::act_by_name;
use super::named::look_up;
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::call::ToolCall;
use crate::follow::walk::Knows;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// Applies the hints of `call`.
pub(super) fn apply(call: &ToolCall, knows: &Knows, gathered: &mut Gathered) {
    let hints = call.annotations;
    let named = look_up(&call.tool);
    let listed = named.row.is_some();
    let hinted = |effect: Effect, note: &'static str| {
        let mut act = Act::new(effect, call.tool.clone(), Span::default()).because(note);
        act.certainty = Score::new(if listed { 900 } else { 600 });
        act
    };
    let pinned = named.server.as_deref().is_some_and(|server| {
        knows
            .pinned_servers
            .iter()
            .any(|pin| pin.eq_ignore_ascii_case(server))
    });
    if pinned && !listed && hints.read_only == Some(true) && hints.destructive != Some(true) {
        // Only the act that the name alone led to; what the arguments show stays.
        let by_name = gathered.acts.iter().rposition(|act| {
            *act == act_by_name(&named, act.effect)
                && !matches!(act.effect, Effect::Guard | Effect::Pay)
        });
        if let Some(at) = by_name {
            let act = gathered.acts.remove(at);
            let mut reads =
                hinted(Effect::CloudRead, "reads, as its pinned server says").on(act.subject);
            reads.certainty = Score::new(900);
            gathered.acts.push(reads);
            if !gathered.acts.iter().any(|act| act.marks.outbound) {
                gathered.outbound = false;
                gathered.sender = false;
            }
        }
    }
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
