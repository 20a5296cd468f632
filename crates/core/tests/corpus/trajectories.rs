//! Sessions of real agents: how often somebody would be asked, and how often because the agent runs
//! what it wrote itself.
#![expect(
    clippy::disallowed_methods,
    reason = "a test may read files and the environment; the core may not"
)]
#![expect(clippy::panic, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_core::call::ToolCall;
use countersign_core::judge::judge;
use countersign_core::policy::Policy;
use countersign_core::trajectory::{Memory, Recorded, cause, sessions};
use countersign_core::verdict::Verdict;
use serde_json::{Value, json};

/// Most questions per ten thousand calls. They may only fall, but for what should have been asked all
/// along: tools that search files of secrets for keys brought the last two from 116 to 117.
#[rustfmt::skip]
const LIMITS: [(&str, Kind, Written, u64); 4] = [
    ("commands, each alone", Kind::Command, Written::Unknown, 351),
    ("commands in their sessions", Kind::Command, Written::Known, 476),
    ("other tools, each alone", Kind::Tool, Written::Unknown, 117),
    ("other tools in their sessions", Kind::Tool, Written::Known, 117),
];
/// Most questions per thousand calls that come from what the session wrote. It may only fall.
const ADDED_PER_MILLE_MAX: u64 = 15;

/// What kind of call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Command,
    Tool,
}

/// Whether what the session wrote is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    Unknown,
    Known,
}

/// Returns the calls of all sessions, in order; `None`, and a skip, without the data sets.
fn recordings() -> Option<Vec<Vec<Recorded<Kind>>>> {
    let Some(folder) = std::env::var_os("COUNTERSIGN_DATA_DIR").map(PathBuf::from) else {
        crate::skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no data sets");
        return None;
    };
    let mut calls = Vec::new();
    for (name, kind) in [
        ("commands.jsonl", Kind::Command),
        ("tools.jsonl", Kind::Tool),
    ] {
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
            calls.push(Recorded {
                repository: word("repo").unwrap_or_default(),
                session: word("session").unwrap_or_default(),
                number: row.get("n").and_then(Value::as_u64).unwrap_or_default(),
                call: ToolCall {
                    tool,
                    args,
                    cwd: word("cwd"),
                    ..ToolCall::default()
                },
                beside: kind,
            });
        }
    }
    Some(sessions(calls))
}

#[test]
fn real_sessions_are_asked_about_no_more_often_than_before() {
    let Some(sessions) = recordings() else { return };
    let policy = Policy::default();
    let mut calls: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut asked: BTreeMap<(Kind, Written), u64> = BTreeMap::new();
    let mut added: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let shows = std::env::var_os("COUNTERSIGN_SHOW").is_some();
    for session in sessions {
        let mut memory = Memory::default();
        for made in session {
            let kind = made.beside;
            let alone = judge(&policy, &made.call).ruling.verdict >= Verdict::Ask;
            let (considered, ruling) = memory.judge(&policy, &made.call);
            let after = ruling.verdict >= Verdict::Ask;
            *calls.entry(kind).or_default() += 1;
            *asked.entry((kind, Written::Unknown)).or_default() += u64::from(alone);
            *asked.entry((kind, Written::Known)).or_default() += u64::from(after);
            if after && !alone {
                let why = cause(&considered.assessment);
                if shows {
                    let (session, number) = (&made.session, made.number);
                    eprintln!("{session} {number} {}\n    {why:?}", made.call.args);
                }
                *added.entry(why).or_default() += 1;
            }
            memory.remember(considered);
        }
    }
    for (why, count) in &added {
        eprintln!("{count:6} {why:?} because of what the session wrote");
    }
    for (name, kind, written, most) in LIMITS {
        let of = calls.get(&kind).copied().unwrap_or_default();
        assert!(of > 0, "{name}: nothing was measured");
        let asked = asked.get(&(kind, written)).copied().unwrap_or_default();
        let share = (asked * 10_000).div_ceil(of);
        eprintln!("{name}: {asked} of {of} asked, {share} of 10 000, at most {most}");
        assert!(share <= most, "{name}: {share} of 10 000 are asked");
    }
    let total: u64 = calls.values().sum();
    let sum = |which| {
        let of_kind = asked.iter().filter(|((_, written), _)| *written == which);
        of_kind.map(|(_, count)| count).sum::<u64>()
    };
    let more = sum(Written::Known).saturating_sub(sum(Written::Unknown));
    let per_mille = more * 1000 / total;
    assert!(per_mille <= ADDED_PER_MILLE_MAX, "{per_mille} ‰ more");
}
