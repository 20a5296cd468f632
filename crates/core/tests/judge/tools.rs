//! Tool calls of every kind against what must come of them: the corpus, the examples of the tool
//! tables, and properties.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may fail loudly"
)]

use countersign_core::act::profile;
use countersign_core::assess::assess;
use countersign_core::assessment::Assessment;
use countersign_core::call::{Annotations, ToolCall, Turn};
use countersign_core::follow::walk::Knows;
use countersign_core::knowledge::{ArgumentRole, TOOLS, ToolRow};
use countersign_core::verdict::{Ruling, Situation, Verdict, verdict};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const CORPUS: &str = include_str!("../../../../corpus/tools.jsonl");

/// Secrets are put together here, so that no file holds one.
fn made_up_secrets() -> Vec<(&'static str, String)> {
    vec![
        (
            "{{github}}",
            format!("gh{}_{}", "p", "a8Kd93LmQ0xZtR7vB2nWc5YhJ4sFgE6uT1oP"),
        ),
        ("{{aws}}", format!("AK{}{}", "IA", "Q3XGZ7HRT5WNMB2D")),
        (
            "{{slack}}",
            format!(
                "xo{}-{}-{}-{}",
                "xb", "738291046382", "918273645510", "Jk3Lm9PqRs7TuVwXyZ2aBcDe"
            ),
        ),
        (
            "{{pem}}",
            format!(
                "-----BEGIN {} KEY-----\n{}\n-----END {} KEY-----",
                "RSA PRIVATE",
                "MIIEowIBAAKCAQEAx7Vd93LmQ0xZtR7vB2nWc5YhJ4sFgE6uT1oPq8Kd93LmQ0xZtR7v",
                "RSA PRIVATE"
            ),
        ),
    ]
}

fn knows() -> Knows {
    Knows {
        trusts_workspace: true,
        ..Knows::default()
    }
}

fn judged(call: &ToolCall, knows: &Knows) -> (Assessment, Ruling) {
    let assessment = assess(call, knows);
    let ruling = verdict(&assessment, &Situation::default());
    (assessment, ruling)
}

fn filled(text: &str) -> String {
    let quoted = |secret: &str| {
        let text = Value::String(secret.to_owned()).to_string();
        text[1..text.len() - 1].to_owned()
    };
    made_up_secrets()
        .iter()
        .fold(text.to_owned(), |text, (mark, secret)| {
            text.replace(mark, &quoted(secret))
        })
}

fn call_of(row: &Value) -> ToolCall {
    let text = |key: &str| row[key].as_str().map(str::to_owned);
    let replying_to = match &row["replying_to"] {
        Value::String(text) => vec![Turn {
            from: "them".to_owned(),
            text: text.clone(),
        }],
        Value::Array(turns) => turns
            .iter()
            .map(|turn| Turn {
                from: turn["from"].as_str().unwrap_or("").to_owned(),
                text: turn["text"].as_str().unwrap_or("").to_owned(),
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let hint = |key: &str| row["annotations"][key].as_bool();
    ToolCall {
        tool: text("tool").expect("a row has a tool"),
        args: row["args"].clone(),
        cwd: text("cwd"),
        workspace: text("workspace"),
        replying_to,
        annotations: Annotations {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
        definition: None,
        pinned: false,
    }
}

#[test]
fn every_row_of_the_corpus_gets_its_verdict() {
    let mut failures = Vec::new();
    let mut rows = 0;
    for line in CORPUS.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value =
            serde_json::from_str(&filled(line)).unwrap_or_else(|error| panic!("{error}: {line}"));
        rows += 1;
        let (assessment, ruling) = judged(&call_of(&row), &knows());
        let mut seen = vec![("expect", json!(ruling.verdict.word()))];
        seen.push(("side_effect", json!(assessment.side_effect.word())));
        seen.push(("crisis", json!(assessment.crisis_sensitive)));
        seen.push(("outbound", json!(assessment.outbound)));
        seen.push(("sender", json!(assessment.marks.sender)));
        seen.push(("guard", json!(assessment.marks.guard)));
        seen.push(("rollback", json!(assessment.marks.rollback)));
        seen.push(("rule", json!(ruling.rule.number())));
        let wrong: Vec<String> = seen
            .iter()
            .filter(|(key, value)| row.get(*key).is_some_and(|want| want != value))
            .map(|(key, value)| format!("{key} {value} instead of {}", row[*key]))
            .collect();
        if !wrong.is_empty() {
            failures.push(format!(
                "{}: {}; risk {} confidence {}: {}",
                row["name"],
                wrong.join(", "),
                assessment.risk,
                assessment.confidence,
                assessment.reasons.join(" | ")
            ));
        }
    }
    assert!(rows >= 250, "the corpus has only {rows} rows");
    assert!(
        failures.is_empty(),
        "{} of {rows} rows:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn names_of_corpus_rows_are_unique() {
    let mut names: Vec<String> = CORPUS
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|row| row["name"].to_string())
        .collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// Reads an example of a tool table: a name, then arguments as JSON.
fn example(text: &str) -> ToolCall {
    let (tool, args) = text.split_once(' ').unwrap_or((text, "{}"));
    let args = args.replace('\n', "\\n");
    ToolCall {
        tool: tool.to_owned(),
        args: serde_json::from_str(&args).unwrap_or_else(|error| panic!("{text}: {error}")),
        ..ToolCall::default()
    }
}

fn carries_code(row: &ToolRow) -> bool {
    row.args.iter().any(|(_, role)| {
        matches!(
            role,
            ArgumentRole::Shell | ArgumentRole::Code | ArgumentRole::Tool | ArgumentRole::Arguments
        )
    })
}

#[test]
fn every_example_of_the_tool_tables_holds() {
    let mut failures = Vec::new();
    for row in TOOLS {
        let code = profile(row.does).code;
        for text in row.matches {
            let (assessment, ruling) =
                judged(&example(text).from_directory("/home/dev/project"), &knows());
            let found = assessment
                .findings
                .iter()
                .any(|finding| finding.code == code);
            // What carries code does what the code does, and the examples carry harmless code.
            let good = if carries_code(row) && row.class.is_none() {
                ruling.verdict == Verdict::Allow
            } else {
                found
            };
            if !good {
                failures.push(format!(
                    "match `{text}` of {}: {} {:?}",
                    row.names[0],
                    ruling.verdict.word(),
                    assessment.findings
                ));
            }
        }
        for text in row.not_match {
            let (assessment, ruling) =
                judged(&example(text).from_directory("/home/dev/project"), &knows());
            let other = assessment
                .findings
                .iter()
                .any(|finding| finding.code != code);
            if ruling.verdict == Verdict::Allow || !(other || ruling.verdict >= Verdict::Ask) {
                failures.push(format!(
                    "not_match `{text}` of {}: {} {:?}",
                    row.names[0],
                    ruling.verdict.word(),
                    assessment.reasons
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn arguments_over_the_limits_are_put_to_a_person() {
    let long = json!({ "path": "a.txt", "note": "x".repeat(256 * 1024 + 1) });
    let mut deep = json!("x");
    for _ in 0..70 {
        deep = json!([deep]);
    }
    let wide: Vec<Value> = (0..100_000).map(|_| json!("abc")).collect();
    for (name, args) in [
        ("long", long),
        ("deep", json!({ "path": deep })),
        ("wide", json!({ "paths": wide })),
    ] {
        let (_, ruling) = judged(
            &ToolCall {
                tool: "read_file".to_owned(),
                args,
                ..ToolCall::default()
            },
            &knows(),
        );
        assert_eq!(ruling.verdict, Verdict::Ask, "{name}");
    }
}

#[test]
fn texts_made_to_be_slow_are_read_in_no_time() {
    let many = |unit: &str| unit.repeat(240_000 / unit.len());
    let files: Vec<String> = (0..15_000).map(|n| format!("src/f{n}.rs")).collect();
    let keys: Map<String, Value> = (0..15_000).map(|n| (format!("k{n}"), json!("x"))).collect();
    let rows = [
        (
            "marks",
            "send_message",
            json!({ "to": "x", "text": many("MEDIA:") }),
        ),
        (
            "carried files",
            "send_message",
            json!({ "to": "x", "text": many("MEDIA:/a ") }),
        ),
        (
            "percents",
            "send_message",
            json!({ "to": "x", "text": many("%41") }),
        ),
        (
            "headers",
            "apply_patch",
            json!({ "input": many("*** Add File: ") }),
        ),
        ("files", "read_many_files", json!({ "paths": files })),
        (
            "addresses",
            "frobnicate",
            json!({ "url": vec!["http://a/b"; 15_000] }),
        ),
        ("keys", "send_message", Value::Object(keys)),
    ];
    for (name, tool, args) in rows {
        let call = ToolCall {
            tool: tool.to_owned(),
            args,
            ..ToolCall::default()
        };
        let (_, ruling) = judged(&call, &knows());
        assert!(
            ruling.verdict >= Verdict::Ask || name == "headers",
            "{name}"
        );
    }
}

#[test]
fn no_claimed_directory_makes_a_sensitive_place_ordinary() {
    let places = [
        "/etc/passwd",
        "/root/.ssh/id_rsa",
        "/home/ana/.bashrc",
        "/usr/bin/ls",
        "/boot/grub.cfg",
        "/home/ana/.countersign/config.yaml",
    ];
    for place in places {
        for claim in [
            "/",
            "/etc",
            "/root",
            "/home",
            "/home/ana",
            "/usr",
            "/boot",
            "/home/ana/.ssh",
            "/home/ana/.countersign",
            "/root/.ssh",
        ] {
            for workspace in [None, Some(claim)] {
                let call = ToolCall {
                    tool: "write_file".to_owned(),
                    args: json!({ "path": place, "content": "x" }),
                    cwd: Some(claim.to_owned()),
                    workspace: workspace.map(str::to_owned),
                    ..ToolCall::default()
                };
                let (_, ruling) = judged(&call, &knows());
                assert!(ruling.verdict >= Verdict::Ask, "{place} from {claim}");
            }
        }
    }
}

#[test]
fn the_directory_of_a_tool_never_makes_a_workspace() {
    let call = ToolCall {
        tool: "bash".to_owned(),
        args: json!({ "command": "rm -rf data", "cwd": "/srv/www" }),
        ..ToolCall::default()
    };
    assert!(judged(&call, &knows()).1.verdict >= Verdict::Ask);
}

/// Any JSON, not too large.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,24}".prop_map(Value::from),
        prop::sample::select(vec![
            "/etc/passwd",
            "~/.ssh/id_rsa",
            "rm -rf /",
            "http://127.0.0.1:8750/v1/grants",
            "*** Delete File: x",
            "SELECT 1",
            "../..",
            "[\"a\"]",
            "{\"a\":1}",
            "\u{202e}",
            "%",
            "MEDIA:"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    let keys: Vec<String> = TOOLS
        .iter()
        .flat_map(|row| row.args.iter().map(|(key, _)| (*key).to_owned()))
        .chain(["action", "command", "to", "text", "env"].map(str::to_owned))
        .collect();
    prop_oneof![
        prop::sample::select(keys),
        "[a-zA-Z_]{0,8}".prop_map(String::from)
    ]
}

fn any_tool() -> impl Strategy<Value = String> {
    let names: Vec<String> = TOOLS
        .iter()
        .flat_map(|row| row.names.iter().map(|name| (*name).to_owned()))
        .collect();
    let known = prop::sample::select(names);
    prop_oneof![
        known.clone(),
        known.prop_map(|name| format!("mcp__srv__{name}")),
        "(get|list|delete|send|create|run|foo)_[a-z]{1,8}(_and_(purge|post|read))?",
        ".{0,16}",
    ]
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let args = prop::collection::vec((any_key(), any_json()), 0..5)
        .prop_map(|pairs| Value::Object(Map::from_iter(pairs)));
    let args = prop_oneof![8 => args, 1 => any_json()];
    let cwd = prop::option::of(prop::sample::select(vec![
        "/home/dev/project",
        "/",
        "/etc",
        "/srv/app",
        "~",
        "relative",
    ]));
    (any_tool(), args, cwd).prop_map(|(tool, args, cwd)| ToolCall {
        tool,
        args,
        cwd: cwd.map(str::to_owned),
        ..ToolCall::default()
    })
}

#[test]
fn nothing_lowers_the_risk_of_a_tool_of_an_unknown_server() {
    let call = |annotations| ToolCall {
        tool: "mcp__acme__frobnicate".to_owned(),
        args: json!({}),
        cwd: Some("/home/dev/project".to_owned()),
        annotations,
        ..ToolCall::default()
    };
    let (plain, ruling) = judged(&call(Annotations::default()), &knows());
    assert_eq!(ruling.verdict, Verdict::Ask);
    let says = [None, Some(false), Some(true)];
    for read_only in says {
        for idempotent in says {
            for (trusts_workspace, vouched_workspace) in
                [(false, false), (true, false), (true, true)]
            {
                let annotations = Annotations {
                    read_only,
                    destructive: Some(false),
                    idempotent,
                    open_world: Some(false),
                };
                let knows = Knows {
                    trusts_workspace,
                    vouched_workspace,
                    ..knows()
                };
                let (hinted, later) = judged(&call(annotations), &knows);
                assert!(hinted.risk >= plain.risk, "{annotations:?} {knows:?}");
                assert!(later.verdict >= ruling.verdict, "{annotations:?} {knows:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_call_panics_and_every_verdict_repeats(call in any_call()) {
        let (first, ruling) = judged(&call, &knows());
        prop_assert!(!first.reasons.is_empty());
        prop_assert_eq!(first.factors.len(), 5);
        prop_assert_eq!(judged(&call, &knows()), (first, ruling));
    }

    #[test]
    fn one_more_harmless_argument_never_lowers_anything(call in any_call(), key in "(zz|note)_[a-z]{2,6}", word in "[a-z]{1,8}( [a-z]{1,8}){0,3}") {
        prop_assume!(call.args.is_object());
        let (before, ruling) = judged(&call, &knows());
        let mut more = call;
        more.args.as_object_mut().expect("an object").insert(key, Value::String(word));
        let (after, later) = judged(&more, &knows());
        prop_assert!(after.risk >= before.risk);
        prop_assert!(after.side_effect >= before.side_effect);
        prop_assert!(later.verdict >= ruling.verdict);
    }

    #[test]
    fn hints_never_lower_anything(call in any_call(), hints in any::<[Option<bool>; 4]>()) {
        let (before, ruling) = judged(&call, &knows());
        let [read_only, destructive, idempotent, open_world] = hints;
        let hinted = ToolCall { annotations: Annotations { read_only, destructive, idempotent, open_world }, ..call };
        let (after, later) = judged(&hinted, &knows());
        prop_assert!(after.risk >= before.risk);
        prop_assert!(after.side_effect >= before.side_effect);
        prop_assert!(after.outbound >= before.outbound);
        prop_assert!(later.verdict >= ruling.verdict);
    }

    #[test]
    fn a_conversation_never_lowers_anything(call in any_call(), said in ".{0,40}") {
        let (before, ruling) = judged(&call, &knows());
        let answering = ToolCall { replying_to: vec![Turn { from: "them".to_owned(), text: said }], ..call };
        let (after, later) = judged(&answering, &knows());
        prop_assert!(after.risk >= before.risk);
        prop_assert!(later.verdict >= ruling.verdict);
    }

    #[test]
    fn a_tool_inside_a_tool_weighs_no_less(tool in any_tool(), args in prop::collection::vec((any_key(), any_json()), 0..4)) {
        let args = Value::Object(Map::from_iter(args));
        let plain = ToolCall { tool: tool.clone(), args: args.clone(), ..ToolCall::default() };
        let wrapped = ToolCall { tool: "tool_call".to_owned(), args: json!({ "name": tool, "arguments": args }), ..ToolCall::default() };
        prop_assert!(judged(&wrapped, &knows()).1.verdict >= judged(&plain, &knows()).1.verdict);
    }
}
