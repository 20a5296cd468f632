//! Scores one tool call before it runs.
//!
//! An [`Assessment`] answers three questions: what could this call change, how bad would a mistake
//! be, and how sure are we of those two answers. It does *not* decide anything; [`crate::verdict`]
//! does, so thresholds can change without scoring again and a trace can show both halves.
//!
//! INVARIANT: one more finding never lowers `risk`. Every reader only adds acts, and the assessment
//! is the worst of them.

mod annotations;
mod arguments;
mod beyond;
mod carried;
mod definition;
mod edits;
mod evidence;
mod gather;
mod infer;
mod line;
mod loose;
mod named;
mod narrow;
mod page_script;
mod people;
mod pinned;
mod question;
mod roles;
mod teammates;
mod terminal;
pub(crate) mod told;
mod when;
mod windows;

use crate::act::{Act, profile};
use crate::assessment::{Assessment, AssessmentMarks, Factor, Finding, Severity, SideEffect};
use crate::call::ToolCall;
use crate::follow::program::is_describable;
use crate::follow::walk::Knows;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::Files;

pub use definition::heeds_definition;
pub use gather::Gathered;
pub use people::{hear, question};

/// Reasons a person is shown.
const REASONS_MAX: usize = 5;
/// Findings that are reported.
pub(crate) const FINDINGS_MAX: usize = 16;

/// Assesses `call`, with what the firewall `knows` beyond it.
pub fn assess(call: &ToolCall, knows: &Knows) -> Assessment {
    put_together(call, gather::gather(call, knows))
}

/// Assesses `call`, and returns what was found out about files on the way.
pub(crate) fn assess_with_files(call: &ToolCall, knows: &Knows) -> (Assessment, Files) {
    let mut gathered = gather::gather(call, knows);
    let files = std::mem::take(&mut gathered.files);
    (put_together(call, gathered), files)
}

/// Returns what `call` would do, act by act.
pub(crate) fn gathered(call: &ToolCall, knows: &Knows) -> Gathered {
    gather::gather(call, knows)
}

/// Returns everything `call` says to anybody, also where it is wrapped for the journey.
pub fn spoken(call: &ToolCall) -> String {
    people::spoken(call)
}

/// Assesses a shell command without a working directory.
pub fn assess_command(command: &str) -> Assessment {
    assess(
        &ToolCall::command(command),
        &Knows {
            trusts_workspace: true,
            trusts_beside: true,
            ..Knows::default()
        },
    )
}

fn put_together(call: &ToolCall, mut gathered: Gathered) -> Assessment {
    gathered
        .acts
        .sort_by_key(|act| std::cmp::Reverse(act.weight()));
    let acts = &gathered.acts;
    let risk = acts
        .iter()
        .map(Act::risk)
        .max()
        .unwrap_or_default()
        .max(gathered.human_impact);
    let side_effect = acts
        .iter()
        .map(Act::side_effect)
        .max()
        .unwrap_or(SideEffect::ReadOnly)
        .max(gathered.at_least);
    let clarity = acts
        .iter()
        .map(|act| act.clarity)
        .min()
        .unwrap_or(Score::ONE);
    let certainty = acts
        .iter()
        .map(|act| act.certainty)
        .min()
        .unwrap_or(gathered.tool_certainty)
        .min(gathered.tool_certainty);
    let target = acts.iter().map(|act| act.target).max().unwrap_or_default();
    let outbound = acts.iter().any(|act| act.marks.outbound) || gathered.outbound;
    let confidence = confidence(
        certainty,
        clarity,
        target,
        outbound,
        gathered.crisis_sensitive,
    );
    let unreadable = acts.iter().any(|act| act.marks.unreadable);
    let critical = side_effect == SideEffect::Critical;
    Assessment {
        tool_name: call.tool.clone(),
        risk,
        confidence,
        side_effect,
        reversible: acts.iter().all(Act::reversible),
        crisis_sensitive: gathered.crisis_sensitive,
        outbound,
        reasons: reasons(&gathered),
        factors: factors(&gathered, clarity),
        findings: findings(&gathered),
        marks: AssessmentMarks {
            floor: acts.iter().any(|act| act.marks.floor),
            unreadable,
            guard: acts.iter().any(|act| act.marks.guard),
            money: acts.iter().any(|act| act.marks.money),
            sender: gathered.sender,
            dangerous_terminal: gathered.terminal
                && (critical || unreadable || risk > Score::new(600)),
            rollback: gathered.rollback,
            crisis_unsure: gathered.crisis_unsure,
        },
    }
}

/// Combines the five inputs of confidence. Each can only lower it.
fn confidence(
    certainty: Score,
    clarity: Score,
    target: Score,
    outbound: bool,
    crisis: bool,
) -> Score {
    // Up to a fifth for a sensitive target, a twentieth for an effect outside, half for a crisis.
    let path = Score::new(200).times(target).complement();
    let outside = if outbound {
        Score::new(950)
    } else {
        Score::ONE
    };
    let person = if crisis { Score::new(500) } else { Score::ONE };
    certainty
        .times(clarity)
        .times(path)
        .times(outside)
        .times(person)
}

fn reasons(gathered: &Gathered) -> Vec<String> {
    let mut reasons: Vec<String> = gathered.notes.clone();
    let worst = gathered.acts.first().map(Act::risk).unwrap_or_default();
    for act in &gathered.acts {
        // What is harmless is worth a sentence only when nothing else is there.
        if !reasons.is_empty() && act.risk() < Score::new(250) && worst >= Score::new(250) {
            continue;
        }
        // "writes a.txt" says all that "writes files" would.
        let said = act.subject.is_empty()
            && act.note.is_empty()
            && gathered
                .acts
                .iter()
                .any(|other| other.effect == act.effect && !other.subject.is_empty());
        let sentence = act.sentence();
        if !said && !reasons.contains(&sentence) {
            reasons.push(sentence);
        }
        if reasons.len() >= REASONS_MAX {
            break;
        }
    }
    if reasons.is_empty() {
        reasons.push("changes nothing".to_owned());
    }
    reasons.extend(gathered.asides.iter().cloned());
    reasons.extend(how_to_describe(gathered));
    reasons
}

/// Says how the owner can describe a program that nothing is known about. Its name stands in a
/// command to type, so only a name that is safe to type is shown there.
fn how_to_describe(gathered: &Gathered) -> Option<String> {
    if !gathered.terminal {
        return None;
    }
    let unknown = gathered
        .acts
        .iter()
        .filter(|act| act.effect == Effect::Unknown && act.note.is_empty());
    let mut names = unknown.map(|act| act.program.as_ref());
    let name = names.find(|name| is_describable(name))?;
    Some(format!(
        "nobody has described `{name}`; if you know it, do so once: `{name} --help | countersign teach {name} -`"
    ))
}

fn factors(gathered: &Gathered, clarity: Score) -> Vec<Factor> {
    let acts = &gathered.acts;
    let top = |score: fn(&Act) -> Score| acts.iter().max_by_key(|act| score(act));
    let class = top(|act| profile(act.effect).class);
    let target = top(|act| act.target);
    let reversal = top(|act| act.reversal);
    let named = |act: Option<&Act>| {
        act.map(|act| {
            if act.subject.is_empty() {
                act.program.to_string()
            } else {
                act.subject.clone()
            }
        })
        .unwrap_or_default()
    };
    vec![
        Factor {
            name: "tool_class",
            score: class
                .map(|act| profile(act.effect).class)
                .unwrap_or_default(),
            evidence: class
                .map(|act| profile(act.effect).verb.to_owned())
                .unwrap_or_default(),
        },
        Factor {
            name: "target_sensitivity",
            score: target.map(|act| act.target).unwrap_or_default(),
            evidence: named(target.filter(|act| act.target > Score::ZERO)),
        },
        Factor {
            name: "reversibility",
            score: reversal.map(|act| act.reversal).unwrap_or_default(),
            evidence: named(reversal.filter(|act| act.reversal > Score::ZERO)),
        },
        Factor {
            name: "human_impact",
            score: gathered.human_impact,
            evidence: gathered.impact_evidence.clone(),
        },
        Factor {
            name: "context_certainty",
            score: clarity,
            evidence: if clarity >= Score::new(950) {
                "literal arguments"
            } else {
                "arguments that are not all known"
            }
            .to_owned(),
        },
    ]
}

fn findings(gathered: &Gathered) -> Vec<Finding> {
    let mut findings: Vec<Finding> = gathered.findings.clone();
    for act in gathered.acts.iter().take(FINDINGS_MAX) {
        let risk = act.risk();
        let severity = if act.marks.floor {
            Severity::Catastrophic
        } else if act.side_effect() == SideEffect::Critical
            || act.marks.unreadable
            || risk > Score::new(600)
        {
            Severity::High
        } else if risk >= Score::new(250) {
            Severity::Medium
        } else {
            Severity::Low
        };
        let span = (act.span != Span::default()).then_some(act.span);
        findings.push(Finding {
            code: profile(act.effect).code,
            cause: act.cause(),
            severity,
            message: act.sentence(),
            span,
        });
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings.truncate(FINDINGS_MAX);
    findings
}
