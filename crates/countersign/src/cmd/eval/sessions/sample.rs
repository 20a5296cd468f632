//! Draws calls at random for people to read and label. The same seed draws the same calls.

use std::collections::BTreeMap;

use countersign_core::verdict::Verdict;
use serde_json::{Value, json};

use super::Seen;
use crate::cli::Eval;

/// A drawing of some of the calls it is offered.
#[derive(Debug)]
pub(super) struct Draw {
    count: usize,
    allowed: bool,
    state: u64,
    /// The calls with the lowest lots, in the order of their lots.
    drawn: BTreeMap<(u64, usize), Seen>,
    offered: usize,
}

impl Draw {
    /// Returns the drawing that the command line asks for.
    pub(super) fn new(eval: &Eval) -> Option<Self> {
        Some(Self {
            count: eval.sample?,
            allowed: eval.allowed,
            state: eval.seed,
            drawn: BTreeMap::new(),
            offered: 0,
        })
    }

    /// Gives a call its lot, and keeps it while the lot is among the lowest.
    pub(super) fn offer(&mut self, seen: Seen) {
        if (seen.verdict >= Verdict::Ask) == self.allowed {
            return;
        }
        let lot = (self.lot(), self.offered);
        self.offered += 1;
        self.drawn.insert(lot, seen);
        if self.drawn.len() > self.count {
            self.drawn.pop_last();
        }
    }

    /// Returns the drawn calls as JSON lines.
    pub(super) fn lines(self) -> String {
        let lines = self.drawn.into_values().map(|seen| {
            let call = match seen.call.args.get("command") {
                Some(Value::String(command)) => json!({ "command": command }),
                Some(_) | None => json!({ "tool": seen.call.tool, "args": seen.call.args }),
            };
            let (code, cause) = seen.cause;
            let line = json!({
                "id": seen.id,
                "repo": seen.repository,
                "session": seen.session,
                "n": seen.number,
                "cwd": seen.call.cwd,
                "call": call,
                "verdict": seen.verdict.word(),
                "reason": seen.reason,
                "code": code,
                "cause": cause,
            });
            format!("{line}\n")
        });
        lines.collect()
    }

    /// Returns the next number of the sequence that the seed begins (`SplitMix64`).
    fn lot(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut lot = self.state;
        lot = (lot ^ (lot >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        lot = (lot ^ (lot >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        lot ^ (lot >> 31)
    }
}
