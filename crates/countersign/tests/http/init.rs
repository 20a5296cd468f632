//! `countersign init` beside a running gateway: the practice card, and the key.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::ours::ours;
use crate::support::Gateway;

/// Starts `init` in the home of `gateway`, where Claude Code is installed.
fn init(gateway: &Gateway, more: &[&str]) -> Child {
    let folder = gateway.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("claude");
    std::fs::write(&program, "#!/bin/sh\necho '2.1.325 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    ours(&gateway.home())
        .args(["init", "--json"])
        .args(more)
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the report of `init`.
fn report(init: Child) -> Value {
    let output = init.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Waits for the practice card and returns its id.
fn card(gateway: &Gateway) -> String {
    let id = gateway.question();
    let card = gateway.get(&gateway.admin(), &format!("/v1/approvals/{id}"));
    assert_eq!(card.body["command"], "rm -rf /srv/countersign-practice");
    id
}

#[test]
fn it_ends_in_a_practice_card_through_the_agents_own_hook() {
    let gateway = Gateway::start();
    for (choice, status) in [("once", "approved"), ("deny", "denied")] {
        let init = init(&gateway, &["--yes"]);
        let id = card(&gateway);
        let answered = gateway.resolve(&gateway.admin(), &id, choice);
        assert_eq!(answered.status, 200, "{answered:?}");
        let report = report(init);
        let practice = &report["practice"];
        assert_eq!(practice["agent"], "claude-code", "{report}");
        assert_eq!(practice["status"], status, "{report}");
    }
}

#[test]
fn a_practice_card_that_nobody_answers_is_withdrawn() {
    let gateway = Gateway::start();
    let report = report(init(&gateway, &["--yes", "--wait", "1"]));
    assert_eq!(report["practice"]["status"], "withdrawn", "{report}");
}

#[test]
fn undo_revokes_the_key_at_the_gateway() {
    let gateway = Gateway::start();
    report(init(&gateway, &["--yes", "--wait", "0"]));
    let file = gateway.home().join("hooks/claude-code.key");
    let key = std::fs::read_to_string(&file).unwrap();
    let key = key.trim();
    let who = gateway.get(key, "/v1/whoami");
    assert_eq!(who.body["role"], "agent", "{who:?}");
    report(init(&gateway, &["--yes", "--undo"]));
    assert_eq!(gateway.get(key, "/v1/whoami").status, 401);
    assert!(!file.exists());
}

#[test]
fn undo_revokes_the_key_in_the_home_while_no_gateway_runs() {
    let mut gateway = Gateway::start();
    report(init(&gateway, &["--yes", "--wait", "0"]));
    let file = gateway.home().join("hooks/claude-code.key");
    let key = std::fs::read_to_string(&file).unwrap();
    gateway.stop();
    report(init(&gateway, &["--yes", "--undo"]));
    let gateway = gateway.started_again();
    assert_eq!(gateway.get(key.trim(), "/v1/whoami").status, 401);
    assert!(!file.exists());
}
