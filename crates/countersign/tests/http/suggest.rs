//! `countersign policy suggest`: rules from the answers that a real gateway recorded.

use serde_json::{Value, json};

use crate::ours::ours;
use crate::support::{Gateway, PATIENCE};

/// Has `command` asked about in a session of its own, and answered.
fn answered(gateway: &Gateway, keys: (&str, &str), session: &str, command: &str, choice: &str) {
    let (agent, approver) = keys;
    let call = json!({
        "tool": "terminal", "args": { "command": command }, "session_id": session, "cwd": "/code/shop",
    });
    let asked = gateway.post(agent, "/v1/calls", &call);
    assert_eq!(asked.status, 202, "{command}: {asked:?}");
    let approval = asked.body["approval_id"].as_str().unwrap();
    let said = gateway.resolve(approver, approval, choice);
    assert_eq!(said.status, 200, "{command}: {said:?}");
}

/// Runs `countersign policy suggest` as the owner.
fn suggest(gateway: &Gateway, more: &[&str]) -> String {
    let home = gateway.home();
    let mut command = ours(&home);
    command.args(["policy", "suggest", "--home"]).arg(&home);
    let out = command.args(more).output().unwrap();
    let (out, told) = (
        out.stdout,
        String::from_utf8_lossy(&out.stderr).into_owned(),
    );
    let out = String::from_utf8(out).unwrap();
    assert!(!out.is_empty(), "{told}");
    out
}

#[test]
fn practice_counts_nowhere() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    let home = gateway.home();
    let mut practice = ours(&home);
    practice.args(["try", "--wait", "0", "--home"]).arg(&home);
    assert_eq!(practice.output().unwrap().status.code(), Some(21));
    gateway.submit(&gateway.key("agent"), "ls");
    // What is counted from the ledger is counted a moment later.
    let metrics = || {
        let said = gateway.request("GET", "/metrics").send().unwrap();
        said.text().unwrap()
    };
    let since = std::time::Instant::now();
    while !metrics().contains("calls_total{verdict=\"allow\"} 1") {
        assert!(since.elapsed() < PATIENCE, "{}", metrics());
    }
    let counted = metrics();
    assert!(!counted.contains("verdict=\"ask\""), "{counted}");
    assert!(!counted.contains("outcome=\"withdrawn\""), "{counted}");
    let found: Value = serde_json::from_str(&suggest(&gateway, &["--json"])).unwrap();
    assert_eq!(found["calls"], 1, "{found}");
    let stats = gateway.get(&admin, "/v1/stats").body;
    assert_eq!(stats["calls"], 1, "{stats}");
    // The history still tells of it.
    let traces = gateway.get(&admin, "/v1/traces").body;
    assert_eq!(traces["traces"].as_array().unwrap().len(), 2, "{traces}");
}

#[test]
fn rules_are_suggested_from_answers_and_nothing_is_changed() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let keys = (agent.as_str(), approver.as_str());
    let config = gateway.home().join("config.yaml");
    let before = std::fs::read(&config).ok();
    assert!(suggest(&gateway, &[]).starts_with("No rule to suggest"));
    for number in 0..5 {
        let session = format!("s{number}");
        answered(&gateway, keys, &session, "rm -rf data", "once");
        answered(&gateway, keys, &session, "rm -rf /srv/www", "once");
        answered(&gateway, keys, &session, "rm -rf results", "once");
        answered(&gateway, keys, &session, "frobnicate --all", "once");
    }
    answered(&gateway, keys, "s9", "ls && rm -rf results", "deny");
    // What was answered at once is on disk when an event tells of it.
    let mut events = gateway.events(&approver, "/v1/events", Some(0));
    (0..21).for_each(|_| drop(events.named("approval.resolved")));

    let found: Value = serde_json::from_str(&suggest(&gateway, &["--json"])).unwrap();
    let rules = found["suggestions"].as_array().unwrap();
    assert_eq!(
        rules.len(),
        1,
        "critical, unknown and denied ones are none: {found}"
    );
    assert_eq!(rules[0]["rule"]["command"], "rm -rf data");
    assert_eq!(rules[0]["allowed"], 5);
    assert_eq!(rules[0]["by"], json!(["ana"]));
    assert_eq!(rules[0]["would_have_covered"], 5);
    assert_eq!(rules[0]["rule"]["cwd"], "/code/shop");
    assert!(suggest(&gateway, &["--least", "6"]).starts_with("No rule to suggest"));

    // What is printed is a policy that loads, with examples that hold.
    let file = gateway.home().join("suggested.yaml");
    std::fs::write(&file, suggest(&gateway, &[])).unwrap();
    let mut check = ours(&gateway.home());
    let checked = check.args(["policy", "check"]).arg(&file).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(told.contains("1 rule,"), "{told} {:?}", checked.stderr);
    assert_eq!(std::fs::read(&config).ok(), before, "nothing was changed");
}
