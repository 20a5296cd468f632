//! Prints the figures of recorded sessions, for people and as JSON.

use std::fmt::Write as _;

use countersign_core::display::inline;
use serde_json::{Map, Value, json};

use super::Figures;
use crate::cmd::eval::figures::{Share, micros};

/// Questions of one session above which it counts as one that asked too often.
const QUESTIONS_MANY: u64 = 10;
/// Causes that people are shown, the most frequent; JSON has all of them.
const CAUSES_SHOWN: usize = 40;
/// Width of the column of names.
const NAME: usize = 40;

/// Questions per session.
struct PerSession {
    sessions: usize,
    p50: u64,
    p90: u64,
    mean: f64,
    many: Share,
}

impl PerSession {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of questions are far below 2^52"
    )]
    fn of(sorted: &[u64]) -> Self {
        let at = |share: usize| {
            let index = sorted.len() * share / 100;
            sorted.get(index).copied().unwrap_or(0)
        };
        let mut many = Share::default();
        for questions in sorted {
            many.add(*questions > QUESTIONS_MANY);
        }
        Self {
            sessions: sorted.len(),
            p50: at(50),
            p90: at(90),
            mean: sorted.iter().sum::<u64>() as f64 / sorted.len().max(1) as f64,
            many,
        }
    }
}

/// Returns the causes, the most frequent first.
fn causes(figures: &Figures) -> Vec<(&'static str, &'static str, u64)> {
    let each = figures.causes.iter();
    let mut causes: Vec<_> = each.map(|((code, cause), n)| (*code, *cause, *n)).collect();
    causes.sort_by_key(|(code, cause, count)| (std::cmp::Reverse(*count), *code, *cause));
    causes
}

pub(super) fn as_json(figures: &Figures, bad_lines: u64) -> String {
    let shares = |shares: &std::collections::BTreeMap<String, Share>| -> Map<String, Value> {
        let each = shares.iter();
        each.map(|(name, share)| (name.clone(), share.json()))
            .collect()
    };
    let causes: Vec<Value> = causes(figures)
        .into_iter()
        .map(|(code, cause, asked)| json!({ "code": code, "cause": cause, "asked": asked }))
        .collect();
    let per_session = PerSession::of(&figures.sessions);
    let (mean, p50, p99) = micros(&figures.nanos);
    let out = json!({
        "calls": figures.nanos.len(),
        "bad_lines": bad_lines,
        "asked": figures.all().json(),
        "commands": figures.commands.json(),
        "other_tools": figures.others.json(),
        "refused": figures.refused,
        "without_session": figures.alone.json(),
        "sessions": {
            "sessions": per_session.sessions,
            "p50": per_session.p50,
            "p90": per_session.p90,
            "mean": per_session.mean,
            "above_10": per_session.many.json(),
        },
        "one_answer_per_cause": figures.per_cause.json(),
        "widest_session_scope": figures.per_scope.json(),
        "causes": causes,
        "repositories": shares(&figures.repositories),
        "labels": shares(&figures.labels),
        "micros": { "mean": mean, "p50": p50, "p99": p99 },
    });
    format!("{out}\n")
}

pub(super) fn as_text(figures: &Figures) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        let _infallible = writeln!(out, "{name:<NAME$} {text}");
    };
    line("asked, all calls", &figures.all().cell());
    line("asked, shell commands", &figures.commands.cell());
    line("asked, other tools", &figures.others.cell());
    line("of these refused", &figures.refused.to_string());
    line("asked, sessions' files unknown", &figures.alone.cell());
    line(
        "one answer per cause and session",
        &figures.per_cause.cell(),
    );
    line("widest session scope each time", &figures.per_scope.cell());
    let per_session = PerSession::of(&figures.sessions);
    let text = format!(
        "median {}, 90th percentile {}, mean {:.2}; {} sessions",
        per_session.p50, per_session.p90, per_session.mean, per_session.sessions
    );
    line("questions per session", &text);
    line("sessions with more than 10", &per_session.many.cell());
    let (mean, _, p99) = micros(&figures.nanos);
    let text = format!("{mean:.1} µs on average, 99th percentile {p99:.1} µs");
    line("time per call", &text);
    if !figures.labels.is_empty() {
        let _infallible = writeln!(out, "\n{:<NAME$} asked", "label");
        for (label, share) in &figures.labels {
            let _infallible = writeln!(out, "{label:<NAME$} {}", share.cell());
        }
    }
    let _infallible = writeln!(out, "\n{:<NAME$} asked", "repository");
    for (repository, share) in &figures.repositories {
        let _infallible = writeln!(out, "{:<NAME$} {}", inline(repository), share.cell());
    }
    out.push_str("\n asked  cause\n");
    let causes = causes(figures);
    for (code, cause, count) in causes.iter().take(CAUSES_SHOWN) {
        let said = if code == cause {
            String::new()
        } else {
            format!(": {cause}")
        };
        let _infallible = writeln!(out, "{count:>6}  {code}{said}");
    }
    if let Some(more) = causes.len().checked_sub(CAUSES_SHOWN).filter(|it| *it > 0) {
        let _infallible = writeln!(out, "        and {more} more");
    }
    out
}
