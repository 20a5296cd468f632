//! `countersign policy suggest`: rules that the answers of people suggest. It reads the history and
//! changes nothing.

use std::fmt::Write as _;
use std::process::ExitCode;

use countersign_core::act::profile;
use countersign_core::assessment::SideEffect;
use countersign_core::call::ToolCall;
use countersign_core::card::utc;
use countersign_core::display::inline;
use countersign_core::knowledge::Effect;
use countersign_core::policy::{Example, Policy};
use countersign_core::status::{Cause, Outcome};
use countersign_core::suggest::{Past, PastAnswer, Suggestion, suggestions};
use countersign_core::verdict::Rule;
use countersign_gate::base::practice::is_practice;
use countersign_gate::history::traces::TraceView;
use serde_json::{Value, json};

use crate::client::{Client, Reach, segment};
use crate::complaint::{Complaint, written};
use crate::show::{count, print, print_json};
use crate::wire::lists::TraceList;
use crate::words;

/// Calls that one request asks for.
const PAGE: u32 = 500;

/// Prints the rules that at least `least` answers about the newest `calls` calls suggest.
pub(super) fn run(
    calls: u32,
    least: usize,
    json: bool,
    reach: &Reach,
) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let mut past: Vec<Past> = Vec::new();
    let mut behind: Option<String> = None;
    let mut left = calls;
    while left > 0 {
        let limit = left.min(PAGE);
        let page = behind.as_deref().map(segment);
        let page = page.map_or_else(String::new, |behind| format!("&behind={behind}"));
        let answer = client.get(&format!("/v1/traces?limit={limit}{page}"))?;
        let list: TraceList = answer.read()?;
        left = left.saturating_sub(limit);
        let traces = list.traces.iter();
        let traces = traces.filter(|trace| !is_practice(&trace.command));
        past.extend(traces.map(past_call));
        behind = list.next;
        if behind.is_none() {
            break;
        }
    }
    let found = suggestions(&Policy::default(), &past, least.max(1));
    let result = if json {
        print_json(&as_json(&found, past.len()))
    } else {
        print(&as_text(&found, past.len(), least))
    };
    written(result, ExitCode::SUCCESS)
}

/// Returns a call as it was stored. Secrets are not in it, so a call that held one is another call
/// than the one that was allowed, and is none that a rule could be made of.
fn past_call(trace: &TraceView) -> Past {
    let assessment = words::assessed(&trace.call.assessment);
    let was_mild = assessment.is_some_and(|it| {
        it.side_effect < SideEffect::Critical
            && !it.outbound
            && !it.crisis_sensitive
            && it.rule.number != Rule::Unreadable.number()
            && !it.findings.iter().any(|found| {
                let unseen = [Effect::Exec, Effect::Unknown].map(|it| profile(it).code);
                unseen.contains(&found.code.as_str())
            })
    });
    let decision = trace.call.decision.as_ref();
    let by_person = decision.filter(|it| it.cause == Cause::Person && it.args.is_none());
    let answer = by_person.and_then(|it| {
        let allowed = match it.outcome {
            Outcome::Approved => true,
            Outcome::Denied => false,
            Outcome::Allowed | Outcome::Refused | Outcome::Expired | Outcome::Withdrawn => {
                return None;
            }
        };
        Some(PastAnswer {
            allowed,
            by: it.by.clone().unwrap_or_default(),
            at: it.at,
        })
    });
    Past {
        call: ToolCall {
            tool: trace.call.tool.clone(),
            args: trace.args.clone(),
            cwd: trace.cwd.clone(),
            ..ToolCall::default()
        },
        was_mild,
        answer,
    }
}

fn as_json(found: &[Suggestion], calls: usize) -> Value {
    let each: Vec<Value> = found
        .iter()
        .map(|it| {
            json!({
                "rule": {
                    "command": it.command,
                    "exact": true,
                    "cwd": it.cwd,
                    "match": texts(&it.rule.matches),
                    "not_match": texts(&it.rule.not_match),
                },
                "allowed": it.allowed,
                "denied": 0,
                "by": it.by,
                "since": it.since.as_seconds(),
                "would_have_covered": it.covers,
                "would_still_ask": it.leaves,
            })
        })
        .collect();
    json!({ "calls": calls, "suggestions": each })
}

fn texts(examples: &[Example]) -> Vec<String> {
    examples.iter().map(ToString::to_string).collect()
}

/// Returns the rules as they would stand in config.yaml, with what speaks for each as comments.
fn as_text(found: &[Suggestion], calls: usize, least: usize) -> String {
    if found.is_empty() {
        let calls = count(calls, "call", "calls");
        let answers = count(least, "answer", "answers");
        return format!(
            "No rule to suggest from the last {calls}.\n\
             A rule needs {answers} that allowed the same command from one directory and none that denied it. Nothing critical,\n\
             outbound, unreadable, inline or unknown is suggested.\n"
        );
    }
    let calls = count(calls, "call", "calls");
    let mut out = format!(
        "# Suggested by the last {calls}. Nothing was changed: copy what you want into config.yaml.\n\
         # Each rule covers exactly its command, made from its directory or below it, unless it is critical there.\n\
         approvals:\n  allow:\n"
    );
    for it in found {
        let by: Vec<String> = it.by.iter().map(|by| inline(by)).collect();
        let since = utc(it.since.seconds());
        let mut comment = |text: String| {
            let _infallible = writeln!(out, "    # {text}");
        };
        comment(format!(
            "allowed {} by {} since {since}, never denied",
            count(it.allowed, "time", "times"),
            by.join(", ")
        ));
        comment(format!("would have covered {} of these calls", it.covers));
        for example in &it.leaves {
            comment(format!("would still ask: {example}"));
        }
        let _infallible = writeln!(out, "    - command: {}", json!(it.command));
        let _infallible = writeln!(out, "      exact: true\n      cwd: {}", json!(it.cwd));
        let _infallible = writeln!(out, "      match: {}", json!(texts(&it.rule.matches)));
        let _infallible = writeln!(out, "      not_match: {}", json!(texts(&it.rule.not_match)));
    }
    out
}
