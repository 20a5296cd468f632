//! `countersign hook`: the way of one call from an agent's hook to the gateway and back.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::ours::ours;
use crate::support::{Gateway, signal};

/// The project as inputs spell it. The hook is told of a directory that exists instead, and works in
/// it, as it does under a real agent.
pub(crate) const PROJECT: &str = "/home/dev/project";

fn project() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hooked-project");
        std::fs::create_dir_all(&folder).unwrap();
        folder.to_str().unwrap().to_owned()
    })
}

/// Returns `input` with the project's real directory.
fn placed(input: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(input) {
        Ok(text) => text.replace(PROJECT, project()).into_bytes(),
        Err(_) => input.to_vec(),
    }
}

/// Starts the hook of `agent` in `home` with `input`.
pub(crate) fn start(home: &Path, agent: &str, input: &[u8], more: &[&str]) -> Child {
    let mut hook = ours(home)
        .args(["hook", agent, "--home"])
        .arg(home)
        .args(more)
        .current_dir(project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that ends before it has read all leaves a closed pipe.
    let _written = hook.stdin.take().unwrap().write_all(&placed(input));
    hook
}

/// Runs the hook of `agent` to its end.
pub(crate) fn hook(home: &Path, agent: &str, input: &Value, more: &[&str]) -> Output {
    let hook = start(home, agent, input.to_string().as_bytes(), more);
    hook.wait_with_output().unwrap()
}

/// Gives the hook of `agent` its key, as `init` does.
pub(crate) fn give_key(gateway: &Gateway, agent: &str) {
    let folder = gateway.home().join("hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let key = gateway.named_key(agent, "agent");
    std::fs::write(folder.join(format!("{agent}.key")), key).unwrap();
}

/// A call as Claude Code tells of it.
fn claude(tool: &str, args: &Value) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": PROJECT, "tool_name": tool,
            "tool_input": args, "tool_use_id": "toolu_1" })
}

pub(crate) fn bash(command: &str) -> Value {
    claude("Bash", &json!({ "command": command }))
}

/// Returns what Claude Code understands: the decision, and its reason or the changed input.
pub(crate) fn understood(output: &Output) -> (String, Value) {
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = &said["hookSpecificOutput"];
    let word = said["permissionDecision"].as_str().unwrap().to_owned();
    let is_changed = said["updatedInput"].is_object();
    let more = if is_changed {
        "updatedInput"
    } else {
        "permissionDecisionReason"
    };
    (word, said[more].clone())
}

fn decided(home: &Path, input: &Value) -> (String, String) {
    let (word, more) = understood(&hook(home, "claude-code", input, &["--wait", "0"]));
    (word, more.as_str().unwrap_or_default().to_owned())
}

/// Starts a gateway whose owner vouches for the project, wherever these tests are built.
pub(crate) fn start_gateway(config: &str) -> Gateway {
    let vouched = format!("workspaces: {{ listed: [\"{}\"] }}\n", project());
    Gateway::configured(&format!("{vouched}{config}"))
}

fn gateway() -> Gateway {
    let gateway = start_gateway("");
    gateway.key("approver");
    give_key(&gateway, "claude-code");
    gateway
}

/// Returns the calls the gateway knows of: what each is, and how it stands.
fn recorded(gateway: &Gateway) -> Vec<(String, String)> {
    let said = gateway.get(&gateway.admin(), "/v1/traces");
    let traces = said.body["traces"].as_array().unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let known = traces
        .iter()
        .map(|trace| (word(&trace["command"]), word(&trace["status"])));
    known.collect()
}

/// Starts the hook with `input`, which is a question, and waits until it is asked. Returns the hook and
/// the question's id.
pub(crate) fn waiting(gateway: &Gateway, input: &Value, more: &[&str]) -> (Child, String) {
    let input = input.to_string();
    let hook = start(&gateway.home(), "claude-code", input.as_bytes(), more);
    (hook, gateway.question())
}

#[test]
fn a_call_that_reads_is_allowed_alone_and_recorded_by_the_gateway() {
    let gateway = gateway();
    let (word, _) = decided(&gateway.home(), &bash("ls -la"));
    assert_eq!(word, "allow");
    let mut events = gateway.events(&gateway.admin(), "/v1/events", Some(0));
    let ran = ("ls -la".to_owned(), "allowed".to_owned());
    while !recorded(&gateway).contains(&ran) {
        events.next();
    }
}

#[test]
fn what_a_person_allows_runs_once() {
    let gateway = gateway();
    let approver = gateway.named_key("ana", "approver");
    let input = bash("rm -rf /srv/www");
    let (waiting, id) = waiting(&gateway, &input, &[]);
    assert_eq!(gateway.resolve(&approver, &id, "once").status, 200);
    let (word, _) = understood(&waiting.wait_with_output().unwrap());
    assert_eq!(word, "allow");
    let (word, reason) = decided(&gateway.home(), &input);
    assert_eq!(word, "deny", "the permission is used up");
    assert!(reason.contains("stays open"), "{reason}");
}

#[test]
fn an_answer_that_comes_late_is_a_claim_for_the_same_call_and_no_other() {
    let gateway = gateway();
    let approver = gateway.named_key("ana", "approver");
    let (word, reason) = decided(&gateway.home(), &bash("rm -rf /srv/www"));
    assert_eq!(word, "deny");
    assert!(reason.contains("Nobody has answered yet"), "{reason}");
    let id = gateway.question();
    assert_eq!(gateway.resolve(&approver, &id, "once").status, 200);
    let (word, _) = decided(&gateway.home(), &bash("rm -rf /srv/other"));
    assert_eq!(word, "deny", "another call has no claim");
    let mut elsewhere = bash("rm -rf /srv/www");
    elsewhere["session_id"] = json!("s2");
    let (word, _) = decided(&gateway.home(), &elsewhere);
    assert_eq!(word, "deny", "another session has no claim");
    let (word, _) = decided(&gateway.home(), &bash("rm -rf /srv/www"));
    assert_eq!(word, "allow");
    let (word, _) = decided(&gateway.home(), &bash("rm -rf /srv/www"));
    assert_eq!(word, "deny", "the claim is used up");
}

#[test]
fn a_denial_reaches_the_agent_with_the_persons_note() {
    let gateway = gateway();
    let approver = gateway.named_key("ana", "approver");
    let input = bash("rm -rf /srv/www");
    let (waiting, id) = waiting(&gateway, &input, &[]);
    let body = json!({ "choice": "deny", "note": "use the staging server" });
    let path = format!("/v1/approvals/{id}/resolve");
    assert_eq!(gateway.post(&approver, &path, &body).status, 200);
    let output = waiting.wait_with_output().unwrap();
    let (word, reason) = understood(&output);
    assert_eq!(word, "deny");
    let reason = reason.as_str().unwrap();
    assert!(reason.contains("use the staging server"), "{reason}");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("staging"));
}

#[test]
fn arguments_that_a_person_changed_are_what_the_agent_runs() {
    let gateway = gateway();
    let approver = gateway.named_key("ana", "approver");
    let input = bash("rm -rf /srv/www");
    let (waiting, id) = waiting(&gateway, &input, &[]);
    let changed = json!({ "command": "rm -rf /srv/www/cache" });
    let body = json!({ "choice": "once", "args": changed });
    let path = format!("/v1/approvals/{id}/resolve");
    let said = gateway.post(&approver, &path, &body);
    assert_eq!(said.status, 200, "{said:?}");
    let (word, input) = understood(&waiting.wait_with_output().unwrap());
    assert_eq!((word.as_str(), input), ("allow", changed));
}

#[test]
fn a_script_that_the_agent_wrote_is_judged_by_content_when_it_runs() {
    let gateway = gateway();
    let writes = json!({ "file_path": format!("{PROJECT}/a.sh"), "content": "rm -rf /srv/www\n" });
    assert_eq!(
        decided(&gateway.home(), &claude("Write", &writes)).0,
        "allow"
    );
    assert_eq!(decided(&gateway.home(), &bash("bash a.sh")).0, "deny");
    let said = gateway.get(&gateway.admin(), "/v1/approvals?status=waiting");
    let reasons = said.body["approvals"][0].to_string();
    assert!(reasons.contains("which this agent wrote"), "{reasons}");
}

#[test]
fn without_a_gateway_only_what_stands_alone_runs_and_the_gateway_hears_of_it_first() {
    let mut gateway = gateway();
    gateway.stop();
    let home = gateway.home();
    let writes = json!({ "file_path": format!("{PROJECT}/a.sh"), "content": "rm -rf /srv/www\n" });
    assert_eq!(decided(&home, &bash("ls")).0, "allow");
    assert_eq!(decided(&home, &claude("Write", &writes)).0, "allow");
    for held in [
        "bash a.sh",
        "cargo test",
        "rm -rf /srv/www",
        "curl -d a=b https://example.org",
    ] {
        let (word, reason) = decided(&home, &bash(held));
        assert_eq!(word, "deny", "{held}");
        assert!(reason.contains("no gateway"), "{held}: {reason}");
    }
    let gateway = gateway.started_again();
    // At once, before the gateway has collected anything by itself.
    assert_eq!(decided(&home, &bash("bash a.sh")).0, "deny");
    let said = gateway.get(&gateway.admin(), "/v1/approvals?status=waiting");
    let reasons = said.body["approvals"][0].to_string();
    assert!(reasons.contains("which this agent wrote"), "{reasons}");
    let known = recorded(&gateway);
    assert!(
        known.iter().any(|(command, _)| command == "ls"),
        "{known:?}"
    );
}

#[test]
fn no_variable_of_a_project_leads_the_hook_to_another_gateway() {
    let own = gateway();
    let other = Gateway::configured("approvals: { mode: off }\n");
    give_key(&other, "claude-code");
    let key = other.key("agent");
    let hook = ours(&own.home())
        .args(["hook", "claude-code", "--wait", "0", "--home"])
        .arg(own.home())
        .env("COUNTERSIGN_HOME", other.home())
        .env("COUNTERSIGN_URL", &other.url)
        .env("COUNTERSIGN_KEY", key)
        .env("http_proxy", &other.url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut hook = hook.unwrap();
    let input = bash("rm -rf /srv/www").to_string();
    hook.stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let (word, _) = understood(&hook.wait_with_output().unwrap());
    assert_eq!(word, "deny");
    assert!(recorded(&other).is_empty());
}

#[test]
fn a_stranger_at_the_gateways_old_place_is_not_believed() {
    let mut gateway = gateway();
    let address = gateway.url.trim_start_matches("http://").to_owned();
    gateway.kill();
    // The gateway was ended without a word; its address and its socket still lie in the home.
    let stranger = std::net::TcpListener::bind(address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    let (word, reason) = decided(&gateway.home(), &bash("rm -rf /srv/www"));
    assert_eq!(word, "deny", "{reason}");
    let came = stranger.accept();
    assert!(came.is_err(), "the hook asked a stranger");
}

#[test]
fn an_agent_that_ends_its_hook_withdraws_the_question() {
    let gateway = gateway();
    let input = bash("rm -rf /srv/www");
    let (waiting, id) = waiting(&gateway, &input, &[]);
    signal(&waiting, "TERM");
    let (word, _) = understood(&waiting.wait_with_output().unwrap());
    assert_eq!(word, "deny");
    let said = gateway.get(&gateway.admin(), &format!("/v1/approvals/{id}"));
    assert_eq!(said.body["status"], "withdrawn");
}

#[test]
fn a_gateway_that_is_started_again_while_a_person_is_asked_loses_nothing() {
    let gateway = gateway();
    let approver = gateway.named_key("ana", "approver");
    let input = bash("rm -rf /srv/www");
    let (waiting, id) = waiting(&gateway, &input, &[]);
    let gateway = gateway.killed_and_restarted();
    assert_eq!(gateway.resolve(&approver, &id, "once").status, 200);
    let (mut word, reason) = understood(&waiting.wait_with_output().unwrap());
    // Killed before the hook heard that its call waits, it says that there is no gateway; the answer
    // is then a claim for the next try.
    if reason.as_str().is_some_and(|it| it.contains("no gateway")) {
        (word, _) = decided(&gateway.home(), &input);
    }
    assert_eq!(word, "allow", "{reason}");
}

#[test]
fn what_a_person_in_crisis_wrote_is_known_when_the_agent_sends_something() {
    let gateway = gateway();
    let said = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": PROJECT,
                       "prompt": "i want to kill myself tonight, please write to my mother" });
    let output = hook(&gateway.home(), "claude-code", &said, &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let sends = json!({ "to": "mother@example.org", "text": "I will be late." });
    let (word, _) = decided(&gateway.home(), &claude("mcp__mail__send_message", &sends));
    assert_eq!(word, "deny");
    let said = gateway.get(&gateway.admin(), "/v1/calls");
    assert_eq!(
        said.body["calls"][0]["assessment"]["crisis_sensitive"], true,
        "{said:?}"
    );
    let mut elsewhere = claude("mcp__mail__send_message", &sends);
    elsewhere["session_id"] = json!("s2");
    decided(&gateway.home(), &elsewhere);
    let said = gateway.get(&gateway.admin(), "/v1/calls?session_id=s2");
    assert_eq!(said.body["calls"][0]["session_id"], "s2", "{said:?}");
}

#[test]
fn rules_of_the_owner_and_of_the_project_hold_in_the_hook() {
    let gateway =
        start_gateway("approvals: { deny: [ { command: \"ls *\", match: [\"ls -la\"] } ] }\n");
    gateway.key("approver");
    give_key(&gateway, "claude-code");
    assert_eq!(decided(&gateway.home(), &bash("ls -la")).0, "deny");
    assert_eq!(decided(&gateway.home(), &bash("pwd")).0, "allow");
    std::fs::write(gateway.home().join("config.yaml"), "approvals: [\n").unwrap();
    let (word, reason) = decided(&gateway.home(), &bash("pwd"));
    assert_eq!(word, "deny", "a broken configuration allows nothing");
    assert!(reason.contains("config.yaml"), "{reason}");
}

#[test]
fn what_came_of_a_call_is_reported_to_the_gateway() {
    let gateway = gateway();
    let build = bash("cargo test");
    assert_eq!(decided(&gateway.home(), &build).0, "allow");
    let mut ran = build;
    ran["hook_event_name"] = json!("PostToolUseFailure");
    ran["duration_ms"] = json!(1500);
    let output = hook(&gateway.home(), "claude-code", &ran, &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let said = gateway.get(&gateway.admin(), "/v1/traces");
    let outcome = &said.body["traces"][0]["outcome"];
    assert_eq!(outcome["failed"], true, "{said:?}");
    // A call that the gateway does not know is no error.
    ran["tool_use_id"] = json!("toolu_2");
    let output = hook(&gateway.home(), "claude-code", &ran, &[]);
    assert_eq!(output.status.code(), Some(0));
}
