//! Calls that a hook let run by the rules alone, without asking here first.
//!
//! A hook judges harmless calls in its own process, and goes on doing so while the gateway is away.
//! It reports them later. By then nobody can be asked: the call is recorded with what it did, as
//! judged here and now, and with what it wrote, so that later calls are judged in its light.

use countersign_core::status::{Cause, Outcome};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Verdict;

use crate::calls::submit::Considered;
use crate::records::stored::Decision;

/// Where such a call was let run.
const VIA: &str = "hook";

/// Records `considered` as let run at `at`, if that is past.
pub(crate) fn mark(considered: &mut Considered, at: UnixMillis) {
    let note = match considered.judged.ruling.verdict {
        Verdict::Allow | Verdict::AllowThenReview => None,
        Verdict::Ask => Some("its hook let it run; the gateway would have asked"),
        Verdict::Refuse => Some("its hook let it run; the gateway would have refused"),
    };
    let now = considered.call.at;
    considered.call.decision = Some(Decision {
        via: Some(VIA.to_owned()),
        note: note.map(str::to_owned),
        ..Decision::new(Outcome::Allowed, Cause::Rule, at.min(now))
    });
    considered.grant = None;
    considered.has_run = true;
}
