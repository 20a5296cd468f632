//! `countersign history`, `explain`, `replay`: what happened, why, and what would have.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use countersign_core::assessment::factor_words;
use countersign_core::display::{inline, shortened};

use crate::cli::{Explain, History, HistoryCommand, Replay};
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::config::schema::seconds_of;
use crate::show::{HEADING, ago, print, print_json, table, text};
use crate::words;

/// Shows what happened.
pub(crate) fn list(args: &History, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    if let Some(HistoryCommand::Lift { id }) = &args.command {
        let path = format!("/v1/approvals/{}/lift", segment(id));
        let answer = client.post(&path, &json!({}))?;
        let result = if args.json {
            print_json(&answer)
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
        return written(print_json(&answer), ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = at(&answer, "traces")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            vec![
                text(it, "call_id"),
                ago(it, "created_at"),
                text(it, "verdict"),
                outcome(it),
                words::risk(at(it, "assessment")),
                text(it, "command"),
            ]
        })
        .collect();
    let shown = if rows.is_empty() {
        nothing(args)
    } else {
        table(
            &["call", "when", "verdict", "outcome", "risk", "what"],
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

/// Returns what became of a call: how it was decided, and what its agent says came of it.
fn outcome(trace: &Value) -> String {
    let decision = at(trace, "decision");
    if !decision.is_object() {
        return "waiting for a person".to_owned();
    }
    let decided = words::outcome(decision);
    if !matches!(
        at(decision, "outcome").as_str(),
        Some("approved" | "allowed")
    ) {
        return decided;
    }
    match at(trace, "outcome.failed").as_bool() {
        Some(true) => format!("{decided}; failed"),
        Some(false) | None => decided,
    }
}

/// Returns what the agent says came of a call that was let run; nothing of one that was not.
fn result(trace: &Value) -> String {
    let came = at(trace, "outcome");
    let summary = match text(came, "summary").as_str() {
        "-" => String::new(),
        summary => format!(": {}", shortened(summary)),
    };
    match (at(trace, "status").as_str(), at(came, "failed").as_bool()) {
        (Some("approved" | "allowed"), Some(true)) => format!("failed{summary}"),
        (Some("approved" | "allowed"), Some(false)) => format!("done{summary}"),
        (Some("approved" | "allowed"), None) => "unknown: the agent has not reported it".to_owned(),
        (_, _) => "-".to_owned(),
    }
}

/// Says why one call was judged and decided as it was.
pub(crate) fn explain(args: &Explain, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let trace = client.get(&format!("/v1/traces/{}", segment(&args.id)))?;
    if args.json {
        return written(print_json(&trace), ExitCode::SUCCESS);
    }
    written(print(&explained(&trace)), ExitCode::SUCCESS)
}

fn explained(trace: &Value) -> String {
    let assessment = at(trace, "assessment");
    let mut out = String::new();
    let mut row = |name: &str, value: String| {
        if value != "-" {
            let _infallible = writeln!(out, "{HEADING}{name:<12}{HEADING:#} {value}");
        }
    };
    row("call", text(trace, "call_id"));
    row("what", text(trace, "command"));
    row("tool", text(trace, "tool"));
    row("directory", text(trace, "cwd"));
    row("asked by", text(trace, "key_name"));
    row("run", text(trace, "run_id"));
    row("when", ago(trace, "created_at"));
    row("verdict", text(trace, "verdict"));
    row("because", text(at(assessment, "rule"), "sentence"));
    row(
        "risk",
        format!(
            "{}, confidence {}",
            words::risk(assessment),
            words::score(assessment, "confidence")
        ),
    );
    for (number, reason) in at(assessment, "reasons")
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let name = if number == 0 { "reasons" } else { "" };
        row(name, text(&json!({ "it": reason }), "it"));
    }
    for (number, factor) in at(assessment, "factors")
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let name = if number == 0 { "factors" } else { "" };
        let evidence = match text(factor, "evidence").as_str() {
            "-" => String::new(),
            evidence => format!("  {evidence}"),
        };
        row(
            name,
            format!(
                "{:<20} {:>5}{evidence}",
                factor_words(at(factor, "factor").as_str().unwrap_or_default()),
                words::score(factor, "score")
            ),
        );
    }
    let decision = at(trace, "decision");
    row("outcome", outcome(trace));
    row("result", result(trace));
    row("note", text(decision, "note"));
    row("decided", ago(decision, "at"));
    row("grant", text(decision, "grant_id"));
    row("policy", text(trace, "policy"));
    row("digest", text(trace, "digest"));
    out
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
    let differs = at(&answer, "changed")
        .as_array()
        .is_some_and(|it| !it.is_empty());
    let code = ExitCode::from(u8::from(differs));
    if args.json {
        return written(print_json(&answer), code);
    }
    if at(&answer, "calls") == 0 {
        let none = format!(
            "No call in the last {}; nothing to replay.\n",
            inline(&args.since)
        );
        return written(print(&none), code);
    }
    let mut out = format!("{} calls replayed.\n", text(&answer, "calls"));
    let verdicts = at(&answer, "verdicts").as_object();
    for (was, now) in verdicts.into_iter().flatten() {
        for (now, count) in now.as_object().into_iter().flatten() {
            if was != now {
                let _infallible = writeln!(out, "  {count} × {was} would become {now}");
            }
        }
    }
    let rows: Vec<Vec<String>> = at(&answer, "changed")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            vec![
                text(it, "call_id"),
                text(it, "was"),
                text(it, "now"),
                text(it, "command"),
            ]
        })
        .collect();
    if rows.is_empty() {
        out.push_str("Every verdict stays the same.\n");
    } else {
        out.push('\n');
        out.push_str(&table(&["call", "was", "would be", "what"], &rows));
    }
    written(print(&out), code)
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
