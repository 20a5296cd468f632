//! Sessions of real agents: how often somebody is asked because the agent runs what it wrote itself.
#![expect(
    clippy::disallowed_methods,
    reason = "a test may read files and the environment; the core may not"
)]
#![expect(clippy::panic, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_core::call::ToolCall;
use countersign_core::judge::{Considered, consider_after};
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;
use serde_json::{Value, json};

/// Most questions per thousand calls that come from what the session wrote. It may only fall.
const ADDED_PER_MILLE_MAX: usize = 15;

/// One call of a session.
struct Made {
    number: u64,
    call: ToolCall,
}

/// Returns the calls of all sessions, in order; `None`, and a skip, without the data sets.
fn sessions() -> Option<BTreeMap<String, Vec<Made>>> {
    let Some(folder) = std::env::var_os("COUNTERSIGN_DATA_DIR").map(PathBuf::from) else {
        crate::skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no data sets");
        return None;
    };
    let mut sessions: BTreeMap<String, Vec<Made>> = BTreeMap::new();
    for name in ["commands.jsonl", "tools.jsonl"] {
        let file = folder.join("trajectories").join(name);
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        for line in text.lines() {
            let row: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
            let word = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
            let (tool, args) = match word("command") {
                Some(command) => ("terminal".to_owned(), json!({ "command": command })),
                None => (
                    word("tool").unwrap_or_default(),
                    row.get("args").cloned().unwrap_or_default(),
                ),
            };
            let made = Made {
                number: row.get("n").and_then(Value::as_u64).unwrap_or_default(),
                call: ToolCall {
                    tool,
                    args,
                    cwd: word("cwd"),
                    ..ToolCall::default()
                },
            };
            let session = format!("{:?} {:?}", word("repo"), word("session"));
            sessions.entry(session).or_default().push(made);
        }
    }
    for calls in sessions.values_mut() {
        calls.sort_by_key(|made| made.number);
    }
    Some(sessions)
}

fn asks(considered: &Considered) -> bool {
    verdict(&considered.assessment, &considered.situation).verdict >= Verdict::Ask
}

#[test]
fn running_what_it_wrote_itself_is_seldom_a_question() {
    let Some(sessions) = sessions() else { return };
    let policy = Policy::default();
    let (mut calls, mut alone, mut after) = (0_usize, 0_usize, 0_usize);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let shows = std::env::var_os("COUNTERSIGN_SHOW").is_some();
    for (session, made) in sessions {
        let mut written = Written::default();
        for Made { call, number } in made {
            calls += 1;
            let before = asks(&consider_after(&policy, &call, &[], Written::default()));
            let considered = consider_after(&policy, &call, &[], written.clone());
            let now = asks(&considered);
            alone += usize::from(before);
            after += usize::from(now);
            if now && !before {
                let reason = considered.assessment.reasons.first().cloned();
                let reason = reason.unwrap_or_default();
                if shows {
                    eprintln!("{session} {number} {}\n    {reason}", call.args);
                }
                *reasons.entry(reason).or_default() += 1;
            }
            for (path, content) in considered.files.writes {
                written.add(&path, content);
            }
        }
    }
    assert!(calls > 0, "nothing was measured");
    eprintln!("{calls} calls: {alone} asked alone, {after} with what the session wrote");
    for (reason, count) in &reasons {
        eprintln!("{count:6} {reason}");
    }
    let added = after.saturating_sub(alone) * 1000 / calls;
    assert!(added <= ADDED_PER_MILLE_MAX, "{added} ‰ more are asked");
}
