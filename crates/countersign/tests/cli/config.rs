//! The configuration: where it is read from, what it changes, what is wrong with it.

use crate::support::Sandbox;

fn owner(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.config(), text).unwrap();
    sandbox
}

fn project(owners: &str, text: &str) -> Sandbox {
    let sandbox = owner(owners);
    std::fs::write(sandbox.project().join(".countersign.yaml"), text).unwrap();
    sandbox
}

/// Every key of the contract, as its documentation shows it.
const EVERYTHING: &str = r#"
firewall:   { mode: enforce }
approvals:
  mode: manual
  timeout: 5m
  thresholds: { auto_below: 0.25, ask_above: 0.60, confidence_min: 0.70 }
  deny: []
  deny_memory: 10m
  undo_seconds: 0
  starter_may_answer: true
outbound:
  require_approval: true
  token_ttl: 120s
tools:      { "mcp__crm__notify": { approval_required: true } }
review:     { enabled: false }
crisis:     { notice: "A person has been asked to look at this before anything is sent." }
security:   { redact_secrets: true }
people:
  - { name: ana, roles: [approver], mattermost: "u1", telegram: 12345, email: ana@example.org }
contacts:   { bo: bo@example.org }
auxiliary:  { chain: [ { base_url: "http://localhost:1", model: m, api_key_env: KEY } ], tasks: { approval: { model: m } } }
agent:      { base_url: "http://localhost:1", model: m, api_key_env: KEY }
store:      { url: sqlite }
channels:   { mattermost: { url: "http://localhost:2", token_env: T, channel: c, callback_url: "http://x" } }
workspaces: { trust: all }
assessors:  [ { command: "/usr/bin/x", timeout: 200ms, may_lower: false } ]
"#;

#[test]
fn every_key_of_the_contract_is_accepted() {
    let ran = owner(EVERYTHING).run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn what_is_wrong_is_named_with_its_key_and_a_hint() {
    let rows = [
        "approval: {mode: manual}",
        "approvals: {mode: sometimes}",
        "approvals: {mode: manuel}",
        "approvals: {thresholds: {auto_below: 1.5}}",
        "approvals: {thresholds: {auto_below: 0.9, ask_above: 0.5}}",
        "approvals: {timeout: soon}",
        "approvals: {timeout: {default: 5m, critcal: 10m}}",
        "approvals: {timeout: {default: 5m, critical: late}}",
        "approvals: {timeout: {channels: {pagr: 1m}}}\nchannels: {pager: {type: webhook}}",
        "approvals: {timeout: {channels: {chat: 1m}}}",
        "approvals: {undo_seconds: -1}",
        "outbound: {token_ttl: 10m}",
        "outbound: {require_aproval: true}",
        "tools: {x: {aproval_required: true}}",
        "people: [{name: ana, rolls: [approver]}]",
        "people: [{name: ana, roles: [king]}]",
        "review: {enabled: maybe}",
        "approvals: {deny: [{name: empty}]}",
        "approvals: {deny: [{comand: ls}]}",
        "approvals: {deny: [{name: pushes, command: git push --force, match: [git push]}]}",
        "approvals: {deny: [{name: pushes, command: git push, not_match: [git push origin]}]}",
        "approvals: {allow: [{name: built, command: make, match: ['make && rm -rf /']}]}",
        "firewall: [",
        "firewall: {mode: enforce}\nfirewall: {mode: observe}",
        "- a\n- b",
        "just text",
    ];
    let mut said = Vec::new();
    for text in rows {
        let sandbox = owner(text);
        let ran = sandbox.run(&["check", "ls"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (2, ""),
            "{text}: {}",
            ran.stderr
        );
        said.push(format!("{text}\n{}\n", sandbox.steady(&ran.stderr)));
    }
    insta::assert_snapshot!(said.concat());
}

#[test]
fn a_broken_configuration_is_not_passed_over() {
    let sandbox = owner("firewall: [");
    assert_eq!(sandbox.run(&["check", "ls"]).code, 2);
    assert_eq!(
        sandbox
            .run_with(&["check", "--jsonl"], b"{\"command\":\"ls\"}\n")
            .code,
        2
    );
    assert_eq!(sandbox.run(&["check", "--no-config", "ls"]).code, 0);
}

#[test]
fn yaml_that_unfolds_without_end_is_refused() {
    let mut bomb = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned()];
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push(format!("a{level}: &a{level} [{items}]\n"));
    }
    assert_eq!(owner(&bomb.concat()).run(&["check", "ls"]).code, 2);
}

#[test]
fn the_policy_changes_the_verdict() {
    #[rustfmt::skip]
    let rows = [
        ("a rule denies",              "approvals: {deny: ['git status']}",       "git status",        20),
        ("a rule asks",                "approvals: {ask: ['git status']}",        "git status",        10),
        ("a rule allows",              "approvals: {allow: [frobnicate]}",        "frobnicate now",     0),
        ("but nothing critical",       "approvals: {allow: ['*']}",               "rm -rf /srv/www",   10),
        ("nor the floor",              "approvals: {allow: ['*'], mode: off}",    "rm -rf /",          20),
        ("off means off",              "approvals: {mode: off}",                  "rm -rf /srv/www",    0),
        ("observing still asks here",  "firewall: {mode: observe}",               "rm -rf /srv/www",   10),
        ("a path is denied",           "approvals: {deny: [{path: '/srv/**'}]}",  "ls /srv/www",       20),
        ("the lines are moved",        "approvals: {thresholds: {auto_below: 0, ask_above: 0}}", "ls", 10),
    ];
    for (name, config, command, code) in rows {
        let ran = owner(config).run(&["check", command]);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_project_may_tighten_and_not_loosen() {
    let sandbox = project("", "approvals: {deny: ['git status']}");
    assert_eq!(sandbox.run(&["check", "git status"]).code, 20);
    let below = sandbox.project().join("src/deep");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(
        sandbox
            .run(&["check", "--cwd", "src/deep", "git status"])
            .code,
        20,
        "found from below"
    );
    assert_eq!(
        sandbox.run(&["check", "--cwd", "/", "git status"]).code,
        0,
        "not from elsewhere"
    );
    assert_eq!(sandbox.run(&["check", "--no-config", "git status"]).code, 0);

    let mut said = Vec::new();
    for text in [
        "approvals: {allow: [ls]}",
        "approvals: {mode: off}",
        "firewall: {mode: observe}",
        "approvals: {thresholds: {ask_above: 0.9}}",
        "tools: {send_message: {approval_required: false}}",
        "people: []",
        "approvals: {timeout: 1h}",
    ] {
        let sandbox = project("", text);
        let ran = sandbox.run(&["check", "ls"]);
        assert_eq!(ran.code, 2, "{text}");
        said.push(format!("{text}\n{}\n", sandbox.steady(&ran.stderr)));
    }
    insta::assert_snapshot!(said.concat());
}

#[test]
fn a_project_file_in_the_home_itself_is_not_looked_at() {
    let sandbox = Sandbox::new();
    let home = sandbox.project().parent().unwrap().to_owned();
    std::fs::write(home.join(".countersign.yaml"), "approvals: {deny: [ls]}").unwrap();
    assert_eq!(sandbox.run(&["check", "ls"]).code, 0);
}

#[test]
fn keys_can_be_listed_read_and_set_and_comments_stay() {
    let sandbox = owner("# ours\napprovals:\n  mode: manual  # people answer\n");
    assert_eq!(
        sandbox.run(&["config", "get", "approvals.mode"]).stdout,
        "manual\n"
    );
    assert_eq!(
        sandbox.run(&["config", "get", "approvals.timeout"]).stdout,
        "5m\n"
    );
    assert_eq!(
        sandbox
            .run(&["config", "set", "approvals.mode", "off"])
            .code,
        0
    );
    assert_eq!(
        sandbox
            .run(&["config", "set", "approvals.thresholds.ask_above", "0.5"])
            .code,
        0
    );
    let text = std::fs::read_to_string(sandbox.config()).unwrap();
    assert_eq!(
        text,
        "# ours\napprovals:\n  mode: \"off\" # people answer\n  thresholds:\n    ask_above: 0.5\n"
    );
    assert_eq!(
        sandbox.run(&["config", "get", "approvals.mode"]).stdout,
        "off\n"
    );
    insta::assert_snapshot!(sandbox.run(&["config", "list"]).stdout);
    let path = sandbox.run(&["config", "path"]).stdout;
    assert_eq!(path.trim_end(), sandbox.config().to_string_lossy());
}

#[test]
fn a_wrong_key_or_value_is_not_set() {
    let sandbox = owner("approvals: { mode: manual }\n");
    let mut said = Vec::new();
    for (key, value) in [
        ("approvals.mood", "manual"),
        ("approvals.mode", "never"),
        ("approvals.mode", "smart"),
        ("approvals.thresholds.ask_above", "high"),
        ("tools.x", "1"),
    ] {
        let ran = sandbox.run(&["config", "set", key, value]);
        assert_ne!(ran.code, 0, "{key} {value}");
        said.push(format!(
            "$ config set {key} {value}\n{}\n",
            sandbox.steady(&ran.stderr)
        ));
    }
    insta::assert_snapshot!(said.concat());
    assert_eq!(
        std::fs::read_to_string(sandbox.config()).unwrap(),
        "approvals: { mode: manual }\n"
    );
}

#[test]
fn a_key_can_be_set_where_there_was_no_file() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["config", "set", "review.enabled", "true"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "review.enabled = true\nIt takes effect at once.\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        std::fs::read_to_string(sandbox.config()).unwrap(),
        "review:\n  enabled: true\n"
    );
}

#[test]
fn only_a_rule_that_allows_is_bound_to_exact_words_or_a_directory() {
    let bound = "{ command: npm run build, exact: true, cwd: ~/shop, match: [npm run build], not_match: [npm run build x] }";
    let good = owner(&format!("approvals: {{ allow: [ {bound} ] }}")).run(&["config", "check"]);
    assert_eq!(good.code, 0, "{}", good.stderr);
    let rows = [
        (
            "deny",
            "{ command: rm, exact: true }",
            "are for rules that allow",
        ),
        (
            "ask",
            "{ command: rm, cwd: /code }",
            "are for rules that allow",
        ),
        ("allow", "{ tool: x, exact: true }", "rules with a command"),
        ("allow", "{ command: ls, cwd: shop }", "absolute path"),
        (
            "allow",
            "{ command: ls, exact: true, match: [ls -la] }",
            "does not match its example",
        ),
    ];
    for (list, rule, wanted) in rows {
        let ran = owner(&format!("approvals: {{ {list}: [ {rule} ] }}")).run(&["config", "check"]);
        assert_ne!(ran.code, 0, "{list}: {rule}");
        assert!(
            ran.stderr.contains(wanted),
            "{list}: {rule}: {}",
            ran.stderr
        );
    }
}

/// Returns the YAML blocks of `text`, each with its line.
fn snippets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.trim() != "```yaml" {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let block: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line.get(indent..).unwrap_or_default())
            .take_while(|line| line.trim() != "```")
            .collect();
        found.push((at + 1, block.join("\n")));
    }
    found
}

#[test]
fn every_documented_snippet_is_a_valid_configuration() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let mut files: Vec<_> = docs.map(|entry| entry.unwrap().path()).collect();
    files.push(root.join("README.md"));
    files.retain(|file| file.extension().is_some_and(|it| it == "md"));
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (line, snippet) in snippets(&text) {
            let ran = owner(&snippet).run(&["config", "check"]);
            assert_eq!(ran.code, 0, "{}:{line}: {}", file.display(), ran.stderr);
            count += 1;
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn setting_a_key_says_when_that_takes_effect() {
    let sandbox = owner("");
    let rows = [
        ("approvals.mode", "off", "at_once"),
        ("approvals.thresholds.ask_above", "0.5", "at_once"),
        (
            "tools",
            "{ notify: { approval_required: true } }",
            "at_once",
        ),
        ("approvals.timeout", "10m", "at_restart"),
        ("agent.model", "qwen3", "at_once"),
        ("smtp.host", "mail.example.org", "at_restart"),
        ("channels", "{ pager: { type: webhook } }", "at_restart"),
        ("api.rate_per_second", "5", "at_restart"),
    ];
    for (key, value, wanted) in rows {
        let ran = sandbox.run(&["config", "set", key, value, "--json"]);
        let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said["takes_effect"], wanted, "{key}: {}", ran.stderr);
        assert_eq!(said["key"], key);
    }
    let shown = sandbox
        .run(&["config", "set", "agent.max_steps", "9"])
        .stdout;
    assert_eq!(
        shown,
        "agent.max_steps = 9\nIt takes effect when the gateway is restarted.\n"
    );
}

#[test]
fn the_list_has_every_key_with_its_origin() {
    let sandbox = owner("agent: { model: qwen3 }\n");
    let said = sandbox.run(&["config", "list", "--json"]).stdout;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let rows = [
        ("agent.model", "qwen3", "config.yaml"),
        ("approvals.mode", "manual", "default"),
    ];
    for (key, value, origin) in rows {
        assert_eq!(said[key]["value"], value, "{key}");
        assert_eq!(said[key]["origin"], origin, "{key}");
    }
    for key in [
        "agent.base_url",
        "smtp.host",
        "api.socket",
        "telemetry.otlp.endpoint",
    ] {
        assert_eq!(said[key]["origin"], "not set", "{key}");
        let got = sandbox.run(&["config", "get", key]);
        assert_eq!((got.code, got.stdout.as_str()), (0, "\n"), "{key}");
    }
}
