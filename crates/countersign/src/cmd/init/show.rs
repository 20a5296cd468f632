//! The texts of `countersign init`: what was found, what would change, what was done.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use countersign_core::content::secrets::redact;
use countersign_core::display::line;
use serde_json::{Value, json};
use similar::TextDiff;

use super::Written;
use crate::init::Place;
use crate::init::agents::Agent;
use crate::init::files::Change;
use crate::init::mcp;
use crate::init::plan::{KeyStep, Plan, key_file};
use crate::show::table;

/// Longest new file that is shown whole. Longer ones are the plugins, which are ours entirely.
const NEW_LINES_MAX: usize = 80;

/// Returns the agents with their versions and whether they are set up.
pub(super) fn listed(plans: &[Plan], absent: &[&'static Agent], is_undo: bool) -> String {
    if is_undo || plans.len() + absent.len() < 2 {
        return String::new();
    }
    let known = plans.iter().map(|plan| {
        let found = plan.found.as_ref();
        let version = found.and_then(|it| it.version);
        let program = found.map(|it| line(&it.program.to_string_lossy()));
        vec![
            plan.agent.name.to_owned(),
            version.map_or_else(|| "-".to_owned(), |it| it.to_string()),
            program.unwrap_or_else(|| "-".to_owned()),
            plan.state.words().to_owned(),
        ]
    });
    let absent = absent.iter().map(|agent| {
        let dash = || "-".to_owned();
        vec![
            agent.name.to_owned(),
            dash(),
            dash(),
            "not installed".to_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = known.chain(absent).collect();
    format!(
        "{}\n",
        table(&["agent", "version", "program", "state"], &rows)
    )
}

/// Returns what would be done.
pub(super) fn planned(plans: &[Plan], place: &Place) -> String {
    let mut out = String::new();
    for plan in plans.iter().filter(|plan| !plan.is_done()) {
        let bold = Style::new().bold();
        let _infallible = writeln!(out, "{bold}{}{bold:#}", title(plan));
        for sentence in sentences(plan, place) {
            let _infallible = writeln!(out, "  {sentence}");
        }
        out.push('\n');
        for change in &plan.changes {
            out.push_str(&coloured(&diff(change, Length::Shown)));
            out.push('\n');
        }
    }
    out
}

fn title(plan: &Plan) -> String {
    let version = plan.found.as_ref().and_then(|it| it.version);
    match version {
        Some(version) => format!("{} {version}", plan.agent.title),
        None => plan.agent.title.to_owned(),
    }
}

fn sentences(plan: &Plan, place: &Place) -> Vec<String> {
    let mut sentences: Vec<String> = plan.changes.iter().map(verb).collect();
    let key = key_file(place, plan.agent.name);
    let key = line(&key.to_string_lossy());
    match &plan.key {
        KeyStep::Stays => {}
        KeyStep::Create => sentences.push(format!("creates  {key}  (a key with the role agent)")),
        KeyStep::Revoke(id) => sentences.push(format!("removes  {key}  (and revokes {id})")),
    }
    let is_new = plan.found.is_none() && plan.agent.has_key && !plan.agent.programs.is_empty();
    let is_undo = matches!(plan.key, KeyStep::Revoke(_));
    if is_new && !is_undo && plan.notes.is_empty() {
        let program = plan.agent.programs.first().copied().unwrap_or_default();
        sentences.push(format!("note: there is no `{program}` on PATH"));
    }
    sentences.extend(
        plan.notes
            .iter()
            .map(|note| format!("note: {}", line(note))),
    );
    sentences.extend(
        plan.warnings
            .iter()
            .map(|it| format!("warning: {}", line(it))),
    );
    sentences
}

fn verb(change: &Change) -> String {
    let verb = match (&change.before, &change.after) {
        (None, _) => "creates",
        (Some(_), None) => "removes",
        (Some(_), Some(_)) => "changes",
    };
    format!("{verb}  {}", line(&change.path.to_string_lossy()))
}

/// How much of a long new file is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd) enum Length {
    Shown,
    Whole,
}

/// Returns the change as a unified diff, safe to show.
pub(in crate::cmd) fn diff(change: &Change, length: Length) -> String {
    let text = |bytes: &Option<Vec<u8>>| {
        String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
    };
    let (before, after) = (text(&change.before), text(&change.after));
    let path = line(&change.path.to_string_lossy());
    let name = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or("/dev/null", |_| path.as_str());
    let (old, new) = (name(&change.before), name(&change.after));
    let lines = before.lines().count().max(after.lines().count());
    let is_whole = change.before.is_none() || change.after.is_none();
    if is_whole && lines > NEW_LINES_MAX && length == Length::Shown {
        return format!("--- {old}\n+++ {new}\n  ({lines} lines, a file of Countersign's own)\n");
    }
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let mut unified = diff.unified_diff();
    let shown = unified.context_radius(3).header(old, new).to_string();
    // The lines around a change may hold keys of services.
    let shown = redact(&shown);
    let safe = shown.lines().map(|it| format!("{}\n", line(it)));
    safe.collect()
}

/// Returns a diff with its lines in colours.
pub(in crate::cmd) fn coloured(diff: &str) -> String {
    let mut out = String::new();
    for line in diff.lines() {
        let style = match line.chars().next() {
            Some('+') => AnsiColor::Green.on_default(),
            Some('-') => AnsiColor::Red.on_default(),
            Some('@') => AnsiColor::Cyan.on_default(),
            Some(_) | None => Style::new(),
        };
        let _infallible = writeln!(out, "{style}{line}{style:#}");
    }
    out
}

/// Returns what was done.
pub(super) fn done(plans: &[Plan], left: &[String], is_undo: bool) -> String {
    let mut out = String::new();
    for plan in plans {
        let title = plan.agent.title;
        let line = match (is_undo, plan.is_done(), plan.agent.has_key) {
            (true, _, _) if plan.notes.is_empty() => format!("{title} is as it was before."),
            (true, _, _) => format!("Countersign's entries are gone from the settings of {title}."),
            (false, true, _) => format!("{title} is already set up."),
            (false, false, true) if plan.agent.programs.is_empty() => format!("{title}: set up."),
            (false, false, true) => {
                format!("{title} asks Countersign before every tool call from now on.")
            }
            (false, false, false) => format!("{title} is set up."),
        };
        let _infallible = writeln!(out, "{line}");
        if !is_undo {
            for open in plan.agent.stays_open {
                let _infallible = writeln!(out, "  stays open: {open}");
            }
        }
    }
    for note in left {
        let _infallible = writeln!(out, "{}", line(note));
    }
    if !is_undo && plans.iter().any(|plan| plan.agent.has_key) {
        out.push_str(&afterwards(plans));
    }
    out
}

/// Returns what is left to do once `plans` are carried out.
fn afterwards(plans: &[Plan]) -> String {
    if plans.iter().any(|plan| !plan.agent.programs.is_empty()) {
        return "Restart agents that are running. `countersign doctor` checks that each loads its hook; `countersign init --undo` takes it out.\n".to_owned();
    }
    let clients = plans
        .iter()
        .filter_map(|plan| mcp::client_of(plan.agent))
        .collect::<Vec<_>>();
    match clients.as_slice() {
        [] => {
            let names: Vec<&str> = plans.iter().map(|plan| plan.agent.name).collect();
            format!("`countersign init {} --undo` takes it out.\n", names.join(" "))
        }
        [client] => format!(
            "Restart the client. `countersign doctor` says which servers are started without Countersign; `countersign init mcp {client} --undo` takes it out.\n"
        ),
        [_, _, ..] => "Restart the clients. `countersign doctor` says which servers are started without Countersign; `countersign init mcp --undo` takes it out.\n".to_owned(),
    }
}

/// Returns what there is to say when nothing changes.
pub(super) fn unchanged(plans: &[Plan], is_undo: bool) -> String {
    if is_undo && plans.is_empty() {
        return "No agent is set up.\n".to_owned();
    }
    let mut out = String::new();
    for plan in plans {
        let title = plan.agent.title;
        let state = if is_undo {
            "is not set up; nothing was changed"
        } else {
            "is already set up"
        };
        let _infallible = writeln!(out, "{title} {state}.");
        for note in &plan.notes {
            let _infallible = writeln!(out, "  note: {}", line(note));
        }
        for warning in &plan.warnings {
            let _infallible = writeln!(out, "  warning: {}", line(warning));
        }
    }
    out
}

/// Returns a plan for a script.
pub(super) fn json(plan: &Plan, place: &Place, done: Written) -> Value {
    let files = plan.changes.iter().map(|change| {
        let kind = match (&change.before, &change.after) {
            (None, _) => "create",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "change",
        };
        json!({
            "path": change.path.to_string_lossy(),
            "change": kind,
            "diff": diff(change, Length::Whole),
        })
    });
    let found = plan.found.as_ref();
    let state = match done {
        Written::Yes => plan.outcome(),
        Written::No => plan.state,
    };
    let key = match &plan.key {
        KeyStep::Stays => "stays",
        KeyStep::Create => "create",
        KeyStep::Revoke(_) => "revoke",
    };
    json!({
        "agent": plan.agent.name,
        "title": plan.agent.title,
        "installed": found.is_some(),
        "program": found.map(|it| it.program.to_string_lossy().into_owned()),
        "version": found.and_then(|it| it.version).map(|it| it.to_string()),
        "state": state.words(),
        "files": files.collect::<Vec<_>>(),
        "key": { "file": key_file(place, plan.agent.name).to_string_lossy(), "change": key },
        "notes": plan.notes,
        "warnings": plan.warnings,
        "stays_open": plan.agent.stays_open,
    })
}
