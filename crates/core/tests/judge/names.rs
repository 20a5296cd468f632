//! Names of tools that no table lists: what they say, what arguments add, and how often that is right.
//!
//! The files in `names/` hold calls by label, tool and arguments. They were written as the authors of
//! servers name their tools, before the grammar knew the words; the shares may only get better.

#![expect(clippy::panic, reason = "tests may fail loudly")]

use countersign_core::call::ToolCall;
use countersign_core::judge::judge;
use countersign_core::policy::Policy;
use countersign_core::verdict::Verdict;
use serde_json::Value;

fn asks(tool: &str, args: &str) -> bool {
    let call = ToolCall {
        tool: tool.to_owned(),
        args: serde_json::from_str(args).unwrap_or_else(|error| panic!("{tool} {args}: {error}")),
        cwd: Some("/home/dev/project".to_owned()),
        ..ToolCall::default()
    };
    judge(&Policy::default(), &call).ruling.verdict >= Verdict::Ask
}

#[test]
fn shares_of_names_that_nobody_listed_only_get_better() {
    // The most harmless calls that may be asked about, and the most risky ones that may not be.
    let sets = [
        ("first", include_str!("names/first.tsv"), 2, 1),
        ("second", include_str!("names/second.tsv"), 9, 0),
        ("third", include_str!("names/third.tsv"), 9, 0),
    ];
    for (set, rows, needless_max, missed_max) in sets {
        let mut needless = Vec::new();
        let mut missed = Vec::new();
        for row in rows.lines() {
            let parts: Vec<&str> = row.split('\t').collect();
            let [label, tool, args] = parts.as_slice() else {
                panic!("{set}: {row}");
            };
            match (*label, asks(tool, args)) {
                ("harmless", true) => needless.push(*tool),
                ("risky", false) => missed.push(*tool),
                ("harmless", false) | ("risky", true) => {}
                (label, _) => panic!("{set}: no label is called `{label}`"),
            }
        }
        assert!(needless.len() <= needless_max, "{set}: {needless:?}");
        assert!(missed.len() <= missed_max, "{set}: {missed:?}");
    }
}

/// A tool and its arguments.
type Call = (&'static str, &'static str);

/// What runs, and a call that looks like it and must ask.
const TWINS: &[(&str, Call, Call)] = &[
    (
        "a template is listed, and used",
        ("sms_template_list", r#"{"lang":"de"}"#),
        ("sms_template_send", r#"{"template":"t"}"#),
    ),
    (
        "a service is asked for figures, and sends",
        ("mailgun.get_stats", r#"{"domain":"mg.example.org"}"#),
        ("mailgun.resend", r#"{"message":"m1"}"#),
    ),
    (
        "a preview, and what it is a preview of",
        (
            "compose_preview",
            r#"{"to":"ana@example.org","body":"hello there"}"#,
        ),
        (
            "compose_and_send",
            r#"{"to":"ana@example.org","body":"hello there"}"#,
        ),
    ),
    (
        "measurements are posted, and a message",
        ("post_metrics", r#"{"name":"steps","value":3}"#),
        ("post_message", r#"{"channel":"c","text":"hello"}"#),
    ),
    (
        "a measurement to the own service, and to an address",
        ("emit_histogram", r#"{"name":"steps","value":3}"#),
        (
            "emit_histogram",
            r#"{"name":"steps","value":3,"url":"https://example.net/in"}"#,
        ),
    ),
    (
        "a measurement, and one with a person it goes to",
        ("send_metrics", r#"{"name":"steps","value":3}"#),
        (
            "send_metrics",
            r#"{"name":"steps","value":3,"to":"ana@example.org"}"#,
        ),
    ),
    (
        "a measurement, and an invoice",
        ("emit_counter", r#"{"name":"n"}"#),
        ("emit_invoice", r#"{"customer":"c"}"#),
    ),
    (
        "an event of telemetry, and one of a bus",
        ("track_event", r#"{"name":"step"}"#),
        ("emit_event", r#"{"name":"deploy"}"#),
    ),
    (
        "an alert is looked at, and put off",
        ("alert_history", r#"{"service":"web"}"#),
        ("alert_snooze", r#"{"service":"web"}"#),
    ),
    (
        "a name is resolved, and an issue",
        ("dns_resolve", r#"{"name":"example.org"}"#),
        ("resolve_issue", r#"{"id":4}"#),
    ),
    (
        "a bare verb whose arguments name the object",
        ("resolver.resolve", r#"{"name":"example.org"}"#),
        ("tracker.resolve", r#"{"issue":"WEB-9"}"#),
    ),
    (
        "a document is asked, and a customer",
        ("ask_docs", r#"{"question":"how?"}"#),
        ("ask_customer", r#"{"question":"how?"}"#),
    ),
    (
        "units are converted, and a lead",
        ("convert_units", r#"{"value":3}"#),
        ("convert_lead", r#"{"id":4}"#),
    ),
    (
        "a status is shown, and set",
        ("order_status", r#"{"order":"1001"}"#),
        ("order_status", r#"{"order":"1001","status":"shipped"}"#),
    ),
    (
        "a report is shown, and filed",
        ("sprint_report", r#"{"board":4}"#),
        (
            "bug_report",
            r#"{"title":"a crash","body":"it crashes when I start it"}"#,
        ),
    ),
    (
        "things are listed, and made",
        ("guild_members", r#"{"guild":"9"}"#),
        ("guild_members", r#"{"guild":"9","role":"admin"}"#),
    ),
    (
        "a plain phrase, and an unknown verb with the same ending",
        ("stripe.price_tiers", r#"{"price":"p"}"#),
        ("stripe.frobnicate_tiers", r#"{"price":"p"}"#),
    ),
    (
        "a verb known to list, and one nobody knows beside it",
        ("list_and_count", "{}"),
        ("list_and_frobnicate", "{}"),
    ),
    (
        "a service that is called like a verb is none",
        ("jira_get_ticket", r#"{"id":4}"#),
        ("close_ticket", r#"{"id":4}"#),
    ),
    (
        "the verb stands between server and tool",
        ("users.list.batch", r#"{"tool_calls":[]}"#),
        ("users.delete.batch", r#"{"tool_calls":[]}"#),
    ),
    (
        "a list of mail is shown, and written to",
        ("email_list", r#"{"folder":"inbox"}"#),
        (
            "email_list",
            r#"{"list":"all","subject":"our offer","body":"buy it now"}"#,
        ),
    ),
    (
        "results are counted, and mailed",
        ("email_search_count", r#"{"query":"a"}"#),
        (
            "email_search_results",
            r#"{"query":"a","to":"ana@example.org"}"#,
        ),
    ),
    (
        "a span of time, and somebody it goes to",
        (
            "delivery_batches",
            r#"{"from":"2026-01-01","to":"2026-02-01"}"#,
        ),
        (
            "delivery_batches",
            r#"{"from":"2026-01-01","to":"everybody"}"#,
        ),
    ),
    (
        "the argument names a verb that the name does not have",
        ("issues", r#"{"action":"search","query":"crash"}"#),
        ("list_issues_tool", r#"{"action":"close","number":4}"#),
    ),
    (
        "a switch that acts on what was found",
        ("find_stale_branches", r#"{"delete":false}"#),
        ("find_stale_branches", r#"{"delete":true}"#),
    ),
    (
        "a request that loads, and one that changes",
        (
            "fetch",
            r#"{"url":"https://example.org","init":{"method":"GET"}}"#,
        ),
        (
            "fetch",
            r#"{"url":"https://example.org","init":{"method":"PUT"}}"#,
        ),
    ),
    (
        "the method stands deep in the arguments",
        ("get_page", r#"{"a":{"b":[{"method":"get"}]}}"#),
        ("get_page", r#"{"a":{"b":[{"method":"delete"}]}}"#),
    ),
    (
        "a request without a method but with a body",
        (
            "fetch",
            r#"{"url":"https://example.org","init":{"body":""}}"#,
        ),
        (
            "fetch",
            r#"{"url":"https://example.org","init":{"body":"a=1"}}"#,
        ),
    ),
    (
        "a query of GraphQL, and a mutation behind a query",
        (
            "graphql_query",
            r#"{"query":"query A { a(t: \"{\") { b } }"}"#,
        ),
        (
            "graphql_query",
            r#"{"query":"query A { a(t: \"{\") { b } } mutation B { c }"}"#,
        ),
    ),
    (
        "a branch of one's own, and everybody's",
        (
            "create_or_update_file",
            r#"{"branch":"fix/typo","content":"x"}"#,
        ),
        (
            "create_or_update_file",
            r#"{"branch":"main","content":"x"}"#,
        ),
    ),
    (
        "one row, and all rows",
        (
            "update_many",
            r#"{"collection":"a","filter":{"id":1},"update":{"b":1}}"#,
        ),
        (
            "update_many",
            r#"{"collection":"a","filter":{},"update":{"b":1}}"#,
        ),
    ),
    (
        "a helper that looks, and one that is told to ask nobody",
        (
            "Task",
            r#"{"prompt":"Find the tests. Do not ask questions."}"#,
        ),
        ("Task", r#"{"prompt":"Publish the package. Ask nobody."}"#),
    ),
    (
        "the agent's own list, and a server's plan",
        ("update_plan", r#"{"plan":[]}"#),
        ("mcp__crm__update_plan", r#"{"plan":[]}"#),
    ),
    (
        "the agent's own task, and a server's",
        ("functions.complete_task", "{}"),
        ("mcp__functions__complete_task", "{}"),
    ),
    (
        "a query in a language of its own, and SQL under another name",
        (
            "mcp__notes__query_database",
            r#"{"database_id":"d","filter":{"a":"b"}}"#,
        ),
        ("mcp__pg__query", r#"{"text":"/* x */ drop table users"}"#),
    ),
    (
        "nothing is typed, and a line break",
        ("write_stdin", r#"{"session_id":1,"chars":""}"#),
        ("write_stdin", r#"{"session_id":1,"chars":"\n"}"#),
    ),
    (
        "a program is interrupted, and given a command",
        ("write_stdin", r#"{"session_id":1,"chars":"\u0003"}"#),
        (
            "write_stdin",
            r#"{"session_id":1,"chars":"\u0003rm -rf ~\n"}"#,
        ),
    ),
    (
        "a line of an agent, and a second command behind it",
        ("swe-agent.open", r#"{"text":"open src/main.c 12"}"#),
        (
            "swe-agent.open",
            r#"{"text":"open src/main.c 12; rm -rf ~"}"#,
        ),
    ),
    (
        "a block edit, and text behind its end",
        ("swe-agent.edit", r#"{"text":"edit 4:4\nx\nend_of_edit"}"#),
        (
            "swe-agent.edit",
            r#"{"text":"edit 4:4\nx\nend_of_edit\nrm -rf ~\nend_of_edit"}"#,
        ),
    ),
];

#[test]
fn a_call_that_only_looks_runs_and_its_twin_asks() {
    for (name, harmless, risky) in TWINS {
        assert!(!asks(harmless.0, harmless.1), "{name}: {harmless:?} asks");
        assert!(asks(risky.0, risky.1), "{name}: {risky:?} does not ask");
    }
}

#[test]
fn an_argument_that_a_tool_may_ignore_never_lowers_it() {
    for tool in [
        "frobnicate",
        "mcp__notes__store",
        "acme.release",
        "delete_user",
    ] {
        for action in ["list", "get", "status", "preview"] {
            let args = format!(r#"{{"id":"4","action":"{action}","operation":"{action}"}}"#);
            assert!(asks(tool, &args), "{tool} {args}");
        }
    }
    for switch in ["dryRun", "dry_run", "preview", "send", "readOnly", "test"] {
        for value in ["true", "false"] {
            let args = format!(r#"{{"to":"ana@example.org","{switch}":{value}}}"#);
            assert!(asks("acme_send_letter", &args), "{args}");
        }
    }
}

#[test]
fn risky_names_ask_in_every_spelling() {
    let names = [
        ["close", "ticket"],
        ["snooze", "alert"],
        ["remove", "collaborator"],
        ["approve", "expense"],
        ["mute", "monitor"],
        ["refund", "order"],
        ["merge", "branch"],
        ["share", "folder"],
        ["restart", "worker"],
        ["send", "postcard"],
        ["unassign", "reviewer"],
        ["reindex", "documents"],
    ];
    for [verb, object] in names {
        let camel = |word: &str| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        };
        let spellings = [
            format!("{verb}_{object}"),
            format!("{verb}-{object}"),
            format!("{verb}{}", camel(object)),
            format!("{}{}", camel(verb), camel(object)),
            format!("{object}_{verb}"),
            format!("{object}.{verb}"),
            format!("acme.{object}.{verb}"),
            format!("acme.{verb}_{object}"),
            format!("acme/{verb}_{object}"),
            format!("acme:{object}_{verb}"),
            format!("mcp__acme__{verb}_{object}"),
            format!("mcp__acme__{object}_{verb}"),
            format!("acme_{verb}_{object}"),
            format!("slack_{verb}_{object}"),
            format!("bulk_{verb}_{object}"),
        ];
        for tool in spellings {
            assert!(asks(&tool, r#"{"id":"4"}"#), "{tool}");
        }
    }
}

#[test]
fn hints_of_a_server_only_raise_what_its_name_says() {
    let args = Value::Object(serde_json::Map::new());
    let mut call = ToolCall {
        tool: "mcp__acme__alert_history".to_owned(),
        args,
        ..ToolCall::default()
    };
    let verdict = |call: &ToolCall| judge(&Policy::default(), call).ruling.verdict;
    assert_eq!(verdict(&call), Verdict::Allow);
    call.annotations.destructive = Some(true);
    assert!(verdict(&call) >= Verdict::Ask);
    call.tool = "mcp__acme__alert_snooze".to_owned();
    call.annotations.destructive = Some(false);
    call.annotations.read_only = Some(true);
    assert!(verdict(&call) >= Verdict::Ask);
}
