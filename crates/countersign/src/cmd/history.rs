//! `countersign history`, `explain`, `replay`: past calls, their decisions, and verdicts under
//! another policy.

use std::fmt::Write as _;
use std::process::ExitCode;

use countersign_core::assessment::factor_words;
use countersign_core::display::{inline, shortened};
use countersign_core::record::AssessmentView;
use countersign_gate::history::traces::{Replayed, TraceView};
use serde_json::{Map, Value, json};

use crate::cli::{Explain, History, HistoryCommand, Replay};
use crate::client::{Client, Reach, segment};
use crate::complaint::{Complaint, written};
use crate::config::schema::seconds_of;
use crate::show::{HEADING, ago, count, maybe, print, print_json, table, text};
use crate::wire::lists::TraceList;
use crate::words;

/// Shows what happened.
pub(crate) fn list(args: &History, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    if let Some(HistoryCommand::Lift { id }) = &args.command {
        let path = format!("/v1/approvals/{}/lift", segment(id));
        let answer = client.post(&path, &json!({}))?;
        let result = if args.json {
            print_json(answer.json())
        } else {
            print("Denial lifted; the agent may ask again.\n")
        };
        return written(result, ExitCode::SUCCESS);
    }
    let mut query = vec![format!("limit={}", args.limit)];
    let named = [
        ("run_id", &args.run),
        ("session_id", &args.session),
        ("verdict", &args.verdict),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            query.push(format!("{name}={}", segment(value)));
        }
    }
    if let Some(since) = &args.since {
        query.push(format!("since={}", moment(since)?));
    }
    let answer = client.get(&format!("/v1/traces?{}", query.join("&")))?;
    if args.json {
        return written(print_json(answer.json()), ExitCode::SUCCESS);
    }
    let list: TraceList = answer.read()?;
    let rows: Vec<Vec<String>> = list
        .traces
        .iter()
        .map(|it| {
            let assessment = words::assessed(&it.call.assessment);
            vec![
                text(&it.call.call_id),
                ago(it.call.created_at),
                it.call.verdict.word().to_owned(),
                words::ending(it),
                assessment.as_ref().map_or_else(String::new, words::risk),
                words::one_line(&text(&it.command)),
            ]
        })
        .collect();
    let shown = if rows.is_empty() {
        nothing(args)
    } else {
        table(
            &["call", "when", "verdict", "outcome", "risk", "command"],
            &rows,
        )
    };
    written(print(&shown), ExitCode::SUCCESS)
}

/// Says that no call was found: none at all, or none that was looked for.
fn nothing(args: &History) -> String {
    let wanted = [
        ("of run", &args.run),
        ("of session", &args.session),
        ("with the verdict", &args.verdict),
        ("not older than", &args.since),
    ];
    let wanted: Vec<String> = wanted
        .into_iter()
        .filter_map(|(what, value)| {
            value
                .as_ref()
                .map(|value| format!("{what} {}", inline(value)))
        })
        .collect();
    if wanted.is_empty() {
        return "No calls yet.\n\
                An agent's calls appear here as soon as it asks this gateway.\n"
            .to_owned();
    }
    format!(
        "No call found that is {}.\n`countersign history` shows the newest of all calls.\n",
        wanted.join(", ")
    )
}

/// Returns what the agent says came of a call that was let run; nothing of one that was not.
fn result(trace: &TraceView) -> String {
    if !trace.call.status.runs() {
        return "-".to_owned();
    }
    let Some(came) = words::reported(trace) else {
        return "unknown: the agent has not reported it".to_owned();
    };
    let summary = came.summary.as_deref().filter(|it| !it.is_empty());
    let summary = summary.map_or_else(String::new, |it| format!(": {}", shortened(it)));
    let word = if came.failed { "failed" } else { "done" };
    format!("{word}{summary}")
}

/// Says why one call was judged and decided as it was.
pub(crate) fn explain(args: &Explain, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let trace = client.get(&format!("/v1/traces/{}", segment(&args.id)))?;
    if args.json {
        return written(print_json(trace.json()), ExitCode::SUCCESS);
    }
    written(print(&explained(&trace.read()?)), ExitCode::SUCCESS)
}

/// Returns the explanation of one call.
pub(crate) fn explained(trace: &TraceView) -> String {
    let assessment = words::assessed(&trace.call.assessment);
    let mut rows = vec![
        ("call", text(&trace.call.call_id)),
        ("command", text(&trace.command)),
        ("tool", text(&trace.call.tool)),
        ("directory", maybe(trace.cwd.as_deref())),
        ("asked by", text(&trace.key_name)),
        ("run", text(&trace.call.run_id)),
        ("when", ago(trace.call.created_at)),
        ("verdict", trace.call.verdict.word().to_owned()),
    ];
    if let Some(assessment) = &assessment {
        rows.extend(judged(assessment));
    }
    rows.push(("outcome", words::ending(trace)));
    rows.push(("result", result(trace)));
    if let Some(decision) = &trace.call.decision {
        rows.push(("note", maybe(decision.note.as_deref())));
        rows.push(("decided", ago(decision.at.as_seconds())));
        rows.push(("grant", maybe(decision.grant_id.as_deref())));
    }
    rows.push(("policy", text(&trace.policy)));
    rows.push(("digest", text(&trace.call.digest)));
    let mut out = String::new();
    for (name, value) in rows.into_iter().filter(|(_, value)| value != "-") {
        let _infallible = writeln!(out, "{HEADING}{name:<12}{HEADING:#} {value}");
    }
    out
}

/// Returns how a call was judged: rule, scores, reasons and factors.
fn judged(assessment: &AssessmentView) -> Vec<(&'static str, String)> {
    let (risk, confidence) = (words::risk(assessment), words::score(assessment.confidence));
    let mut rows = vec![
        ("because", text(&assessment.rule.sentence)),
        ("risk", format!("{risk}, confidence {confidence}")),
    ];
    for (number, reason) in assessment.reasons.iter().enumerate() {
        rows.push((if number == 0 { "reasons" } else { "" }, text(reason)));
    }
    for (number, factor) in assessment.factors.iter().enumerate() {
        let evidence = match factor.evidence.as_str() {
            "" => String::new(),
            evidence => format!("  {}", inline(evidence)),
        };
        let name = if number == 0 { "factors" } else { "" };
        let (words, score) = (factor_words(&factor.factor), words::score(factor.score));
        rows.push((name, format!("{words:<20} {score:>5}{evidence}")));
    }
    rows
}

/// Judges past calls again under another policy.
pub(crate) fn replay(args: &Replay, reach: &Reach) -> Result<ExitCode, Complaint> {
    let mut body = Map::new();
    body.insert("since".to_owned(), json!(moment(&args.since)?));
    if let Some(file) = &args.policy {
        let values = crate::config::values(file)?.ok_or_else(|| {
            Complaint::usage(
                format!("there is no {}", file.display()),
                "name a policy file",
            )
        })?;
        body.insert("config".to_owned(), values);
    }
    let client = Client::new(reach)?;
    let answer = client.post("/v1/replay", &Value::Object(body))?;
    let replayed: Replayed = answer.read()?;
    let code = ExitCode::from(u8::from(!replayed.changed.is_empty()));
    if args.json {
        return written(print_json(answer.json()), code);
    }
    if replayed.calls == 0 {
        let none = format!(
            "No call in the last {}; nothing to replay.\n",
            inline(&args.since)
        );
        return written(print(&none), code);
    }
    written(print(&compared(&replayed)), code)
}

/// Returns what another policy would have changed.
fn compared(replayed: &Replayed) -> String {
    let mut out = format!("{} replayed.\n", count(replayed.calls, "call", "calls"));
    for (was, now) in &replayed.verdicts {
        for (now, count) in now.iter().filter(|(now, _)| was != *now) {
            let _infallible = writeln!(out, "  {count} × {was} would become {now}");
        }
    }
    if replayed.changed.is_empty() {
        out.push_str("Every verdict stays the same.\n");
        return out;
    }
    let rows: Vec<Vec<String>> = replayed
        .changed
        .iter()
        .map(|it| {
            vec![
                text(&it.call_id),
                text(&it.was),
                text(&it.now),
                text(&it.command),
            ]
        })
        .collect();
    out.push('\n');
    out.push_str(&table(&["call", "was", "would be", "command"], &rows));
    out
}

/// Returns the moment `text` ago, in seconds.
pub(crate) fn moment(text: &str) -> Result<f64, Complaint> {
    let back = seconds_of(text).ok_or_else(|| {
        Complaint::usage(
            format!("`{text}` is not a time"),
            "such as 90s, 30m, 2h or 7d",
        )
    })?;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0.0, |passed| passed.as_secs_f64());
    Ok((now - back).max(0.0))
}
