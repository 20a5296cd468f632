//! The laws the firewall is held to, each a property with the law's name.
//!
//! The normal run tries a few hundred cases of each; with `COUNTERSIGN_SOAK=1` at least a hundred
//! thousand, with a line of progress now and then.
#![expect(
    clippy::disallowed_methods,
    reason = "a test may read files and the environment; the core may not"
)]
#![expect(clippy::panic, reason = "a failing test panics")]

mod addresses;
mod alone;
mod callers;
mod closed;
mod composition;
mod definitions;
mod denials;
mod floor;
mod floor_kinds;
mod grants;
mod lifts;
mod owners;
mod prose;
mod reasons;
#[path = "../support/rows.rs"]
#[expect(dead_code, reason = "the laws need only the corpus")]
mod rows;
#[path = "../../../testkit/src/skipped.rs"]
pub mod skipped;
mod verdicts;
mod wrapper_rows;
mod wrappers;
mod written;

use std::collections::BTreeMap;

use countersign_core::assess::assess;
use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::follow::walk::Knows;
use countersign_core::shell::parse::parse;
use countersign_core::verdict::{Situation, Verdict, verdict};
use rows::Row;

#[test]
fn the_same_call_is_always_judged_the_same() {
    for row in corpus().iter().step_by(if rows::is_soak() { 1 } else { 5 }) {
        assert_eq!(
            judge_command(&row.command),
            judge_command(&row.command),
            "{}",
            row.command
        );
    }
}

/// A small generator of numbers, the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = usize::try_from(self.roll() % of.len().max(1) as u64).unwrap_or(0);
        of.get(at).unwrap_or_else(|| panic!("nothing to pick from"))
    }
}

/// How many cases a property is tried on.
fn cases(normal: usize) -> usize {
    if rows::is_soak() {
        normal.max(100_000)
    } else {
        normal
    }
}

fn progress(law: &str, case: usize) {
    if rows::is_soak() && case > 0 && case.is_multiple_of(10_000) {
        eprintln!("{law}: {case} cases");
    }
}

fn knows() -> Knows {
    Knows {
        trusts_workspace: true,
        ..Knows::default()
    }
}

fn judge(call: &ToolCall) -> (Assessment, Verdict) {
    let assessment = assess(call, &knows());
    let verdict = verdict(&assessment, &Situation::default()).verdict;
    (assessment, verdict)
}

fn judge_command(command: &str) -> (Assessment, Verdict) {
    judge(&ToolCall::command(command))
}

/// Fails with the first failures, grouped so that one cause is one group.
fn no_failures(law: &str, failures: &BTreeMap<String, Vec<String>>) {
    let count: usize = failures.values().map(Vec::len).sum();
    for (group, of) in failures {
        eprintln!("{law}: {group}: {}", of.len());
        of.iter()
            .take(6)
            .for_each(|failure| eprintln!("    {failure}"));
    }
    assert!(
        count == 0,
        "{law}: {count} failures in {} groups",
        failures.len()
    );
}

/// Commands of the corpus that are read and stay what they are when something follows.
fn corpus() -> Vec<Row> {
    let mut rows = rows::corpus(&["shell", "authored", "generated"]);
    rows.retain(|row| {
        parse(&row.command).is_ok()
            && !row.must_gate
            && row.category != "must_gate"
            && !row.set.is_empty()
    });
    rows
}
