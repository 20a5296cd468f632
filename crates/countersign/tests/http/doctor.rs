//! `countersign doctor` with a gateway that runs, and with an agent that is a script.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::ours;
use crate::scene::Scene;
use crate::support::Gateway;

/// Users who own nothing, and are not each other.
const GATEWAY: u32 = 64_001;
const AGENT: u32 = 64_002;

/// An agent that asks the scripted model for a call, asks its hook about it, and tells the model.
const ASKS: &str = r#"#!/bin/bash
[ "$1" = --version ] && { echo '9.9.9 (Claude Code)'; exit; }
post() {
    exec 3<>"/dev/tcp/127.0.0.1/${ANTHROPIC_BASE_URL##*:}"
    printf 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %s\r\n\r\n%s' "${#1}" "$1" >&3
    cat <&3
}
asked=$(post '{"tools":[{"name":"Bash"}],"messages":[]}')
command=$(printf '%s' "$asked" | sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
event='{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"%s","tool_name":"Bash","tool_input":{"command":"%s"}}'
hook=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p' "$HOME/.claude/settings.json" | head -1)
if HOOK; then sh -c "$command"; told=ran; else told=denied; fi
post '{"tools":[{"name":"Bash"}],"messages":[{"content":[{"type":"tool_result","content":"'$told'"}]}]}'
"#;

/// Returns a gateway whose home is also the home of a person with Claude Code.
fn with_agent(hook: &str) -> (Gateway, PathBuf) {
    let gateway = Gateway::start();
    let home = gateway.home();
    let write = |name: &str, text: &str, mode: u32| {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    };
    let key = gateway.named_key("claude-code", "agent");
    write("hooks/claude-code.key", &key, 0o600);
    std::fs::set_permissions(home.join("hooks"), Permissions::from_mode(0o700)).unwrap();
    write("bin/claude", &ASKS.replace("HOOK", hook), 0o755);
    let binary = ours::binary().display();
    let command = format!(
        "{binary} hook claude-code --home {} || exit 2",
        home.display()
    );
    let entry =
        json!({ "type": "command", "command": command, "timeout": 3600, "onFailure": "block" });
    let settings = json!({ "hooks": {
        "PreToolUse": [{ "matcher": "*", "hooks": [entry] }],
        "UserPromptSubmit": [{ "hooks": [entry] }],
    }});
    write(".claude/settings.json", &settings.to_string(), 0o600);
    (gateway, home)
}

fn doctor(home: &Path, more: &[&str]) -> (Option<i32>, Value) {
    let mut command = ours::ours(home);
    let path = format!("{}:/usr/bin:/bin", home.join("bin").display());
    let ran = command
        .env("PATH", path)
        .args(["doctor", "--json"])
        .args(more);
    let Output {
        status,
        stdout,
        stderr,
    } = ran.current_dir("/").output().unwrap();
    let said = serde_json::from_slice(&stdout);
    let said = said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&stderr)));
    (status.code(), said)
}

/// Returns the states and findings of `group`.
fn found(said: &Value, group: &str) -> Vec<String> {
    let checks = said["checks"].as_array().unwrap().iter();
    let checks = checks.filter(|check| check["group"] == group);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks
        .map(|check| format!("{}: {}", text(&check["state"]), text(&check["found"])))
        .collect()
}

#[test]
fn a_home_with_a_gateway_is_found_well() {
    let gateway = Gateway::start();
    let (code, said) = doctor(&gateway.home(), &["--no-canary"]);
    assert_eq!(code, Some(0), "{said}");
    for group in [
        "home",
        "configuration",
        "gateway",
        "clock",
        "store",
        "keys",
        "people",
        "channels",
        "spool",
    ] {
        let found = found(&said, group);
        assert!(!found.is_empty(), "{group}");
        assert!(
            found.iter().all(|line| line.starts_with("ok: ")),
            "{found:?}"
        );
    }
    assert_eq!(
        found(&said, "codex"),
        ["ok: not installed: no codex in PATH"]
    );
}

#[test]
fn it_says_when_the_second_reader_may_not_read() {
    // A scripted model answers such questions with nonsense.
    let scene = Scene::new(Vec::new());
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", Some(0));
    let (_, examined) = events.named("crisis.reader_examined");
    assert_eq!(examined["passed"], false, "{examined}");
    let readers = scene.gateway.get(&admin, "/v1/crisis").body["readers"].clone();
    assert_eq!(readers[0]["examination"], "failed", "{readers}");
    let (code, said) = doctor(&scene.gateway.home(), &["--no-canary"]);
    assert_eq!(code, Some(0), "{said}");
    let found = found(&said, "crisis");
    assert_eq!(found.len(), 1, "{said}");
    assert!(
        found[0].starts_with("warn: second reader scripted-1: it failed the examination"),
        "{found:?}"
    );
}

#[test]
fn without_a_gateway_it_fails_with_one_and_never_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let (code, said) = doctor(&directory.path().join("home"), &["--no-canary"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = doctor(directory.path(), &["--no-canary", "--agent", "codex"]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(
        found(&said, "codex"),
        ["fail: not installed: no codex in PATH"]
    );
}

#[test]
fn a_key_of_a_hook_that_could_answer_is_a_failure() {
    let (gateway, home) = with_agent("true");
    std::fs::write(home.join("hooks/claude-code.key"), gateway.admin()).unwrap();
    let (code, said) = doctor(&home, &["--no-canary"]);
    assert_eq!(code, Some(1));
    let keys = found(&said, "keys").join("\n");
    assert!(
        keys.contains("fail: the hook's key of claude-code has the role admin"),
        "{keys}"
    );
}

#[test]
fn the_canary_sees_that_the_agent_asked_its_hook_and_nobody_is_asked() {
    let (gateway, home) =
        with_agent("printf \"$event\" \"$PWD\" \"$command\" | sh -c \"$hook\" >&2");
    let (code, said) = doctor(&home, &["--agent", "claude-code"]);
    let lines = found(&said, "claude-code");
    assert_eq!(code, Some(0), "{lines:#?}");
    let canary = "ok: canary: Claude Code asked its hook, the gateway refused, and nothing ran";
    assert_eq!(lines.last().unwrap(), canary, "{lines:#?}");
    let approvals = gateway.get(&gateway.admin(), "/v1/approvals");
    assert_eq!(approvals.body["approvals"], json!([]));
}

#[test]
fn the_canary_sees_an_agent_that_does_not_ask() {
    let (_gateway, home) = with_agent("true");
    let (code, said) = doctor(&home, &["--agent", "claude-code"]);
    let lines = found(&said, "claude-code");
    assert_eq!(code, Some(1), "{lines:#?}");
    let canary = "fail: canary: Claude Code ran the call without asking its hook";
    assert_eq!(lines.last().unwrap(), canary, "{lines:#?}");
}

#[test]
fn the_measured_tier_is_the_one_the_gateway_prints() {
    let gateway = Gateway::start();
    let (code, said) = doctor(&gateway.home(), &["--as-agent"]);
    assert_eq!(
        (code, said["tier"].as_str()),
        (Some(0), Some("T0")),
        "{said}"
    );
    if !rustix::process::geteuid().is_root() {
        countersign_testkit::skipped("only root can run a gateway and an agent as two other users");
        return;
    }
    let gateway = Gateway::under(GATEWAY, "socket_access: everyone");
    let (binary, socket, _) = gateway.seen_by_others();
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join(".countersign");
    std::fs::create_dir(&own).unwrap();
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&socket, own.join("agent.sock")).unwrap();
    let ran = Command::new(binary)
        .args(["doctor", "--as-agent", "--json", "--home"])
        .arg(gateway.home())
        .uid(AGENT)
        .gid(AGENT)
        .env_clear()
        .env("HOME", directory.path())
        .env("PATH", "/nowhere")
        .current_dir("/")
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(said["tier"], "T2", "{said:#}");
    assert_eq!(ran.status.code(), Some(0));
}
