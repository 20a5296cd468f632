//! Whatever goes wrong in a hook is that agent's deny.
//!
//! Agents differ in what stops them: a JSON answer, an exit code, a text on standard error. `stops`
//! says for each what was seen with the real programs; it knows nothing of how our answers are made.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::hooks::{PROJECT, give_key, start, start_gateway};

/// Every agent, with a call that reads a file and is allowed.
fn agents() -> Vec<(&'static str, Value)> {
    let ls = json!({ "command": "ls" });
    vec![
        (
            "claude-code",
            json!({ "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": PROJECT,
                    "tool_name": "Bash", "tool_input": ls, "tool_use_id": "t1" }),
        ),
        (
            "codex",
            json!({ "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": PROJECT,
                    "tool_name": "Bash", "tool_input": ls, "tool_use_id": "t1" }),
        ),
        (
            "gemini",
            json!({ "hook_event_name": "BeforeTool", "session_id": "s1", "cwd": PROJECT,
                    "tool_name": "run_shell_command", "tool_input": ls }),
        ),
        (
            "opencode",
            json!({ "hook": "tool.execute.before", "directory": PROJECT,
                    "input": { "tool": "bash", "sessionID": "s1", "callID": "t1" },
                    "output": { "args": ls } }),
        ),
        (
            "copilot",
            json!({ "sessionId": "s1", "timestamp": 1, "cwd": PROJECT, "toolName": "bash",
                    "toolArgs": ls }),
        ),
        (
            "cline",
            json!({ "hookName": "tool_call", "taskId": "s1", "workspaceRoots": [PROJECT],
                    "tool_call": { "id": "t1", "name": "run_commands",
                                   "input": { "commands": ["ls"] } } }),
        ),
        (
            "cursor",
            json!({ "hook_event_name": "preToolUse", "conversation_id": "s1",
                    "workspace_roots": [PROJECT], "tool_name": "Shell", "tool_input": ls }),
        ),
    ]
}

/// Whether the agent does not run the tool after this answer of its hook.
fn stops(agent: &str, output: &Output) -> bool {
    let json: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let says = |pointer: &str, word: &str| {
        let found = json.as_ref().and_then(|json| json.pointer(pointer));
        found.and_then(Value::as_str) == Some(word)
    };
    let gives = |pointer: &str| {
        let found = json.as_ref().and_then(|json| json.pointer(pointer));
        let text = found.and_then(Value::as_str);
        text.is_some_and(|text| !text.is_empty() && !text.contains('\n'))
    };
    let code = output.status.code();
    let has_error = !output.stderr.is_empty();
    match agent {
        "claude-code" => says("/hookSpecificOutput/permissionDecision", "deny") || code == Some(2),
        // With an exit code other than 0 it reads standard error alone.
        "codex" => code == Some(2) && has_error,
        "gemini" => says("/decision", "deny") && gives("/reason"),
        "opencode" => !says("/decision", "allow") || code != Some(0),
        "copilot" => {
            code != Some(0)
                || says("/permissionDecision", "deny") && gives("/permissionDecisionReason")
        }
        // It looks at nothing but the JSON; a call is stopped by its mark, anything else by a cancel.
        "cline" => {
            gives("/overrideInput/countersign/denied")
                || json.is_some_and(|json| json["cancel"] == true)
        }
        "cursor" => says("/permission", "deny") || code == Some(2),
        _ => panic!("{agent} is not known here"),
    }
}

/// Inputs that are no call any hook can answer, made of one that is.
fn broken(good: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let text = good.to_string();
    let half = text.as_bytes()[..text.len() / 2].to_vec();
    let twice = text.replacen('{', "{\"cwd\":\"/etc\",\"sessionId\":\"s2\",\"directory\":\"/\",\"taskId\":\"x\",\"conversation_id\":\"y\",\"session_id\":\"z\",", 1);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut large = good.clone();
    large["padding"] = json!("x".repeat(17 * 1024 * 1024));
    let mut inputs = vec![
        ("nothing", Vec::new()),
        ("no JSON", b"Error: not found\n".to_vec()),
        ("half of it", half),
        ("a list", b"[]".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("not UTF-8", vec![0xff, 0xfe, b'{', b'}']),
        ("two objects", format!("{text}{text}").into_bytes()),
        ("a key that stands twice", twice.into_bytes()),
        ("too deep", deep.into_bytes()),
        ("too large", large.to_string().into_bytes()),
    ];
    for (name, lost) in [
        ("no tool", "tool"),
        ("no arguments", "args"),
        ("no session", "session"),
    ] {
        inputs.push((name, without(good, lost).to_string().into_bytes()));
    }
    inputs
}

/// Returns `good` without what agents call `what`.
fn without(good: &Value, what: &str) -> Value {
    let names: &[&str] = match what {
        "tool" => &["tool_name", "toolName", "tool", "name"],
        "args" => &["tool_input", "toolArgs", "args", "tool_call"],
        _ => &[
            "session_id",
            "sessionId",
            "sessionID",
            "taskId",
            "conversation_id",
        ],
    };
    let mut bad = good.clone();
    let mut objects = vec![&mut bad];
    while let Some(object) = objects.pop() {
        let Some(object) = object.as_object_mut() else {
            continue;
        };
        object.retain(|key, _| !names.contains(&key.as_str()));
        objects.extend(object.values_mut());
    }
    bad
}

fn run(home: &Path, agent: &str, input: &[u8], more: &[&str]) -> Output {
    start(home, agent, input, more).wait_with_output().unwrap()
}

#[test]
fn an_input_that_cannot_be_read_is_denied_in_the_agents_own_words() {
    let gateway = start_gateway("");
    for (agent, good) in agents() {
        let output = run(&gateway.home(), agent, good.to_string().as_bytes(), &[]);
        assert!(
            !stops(agent, &output),
            "{agent} is stopped for nothing: {output:?}"
        );
        for (name, input) in broken(&good) {
            let output = run(&gateway.home(), agent, &input, &[]);
            assert!(stops(agent, &output), "{agent} runs on: {name}: {output:?}");
        }
    }
}

#[test]
fn a_gateway_that_answers_nonsense_or_is_away_lets_nothing_run() {
    let gateway = start_gateway("");
    gateway.key("approver");
    let stranger = babbling();
    for (agent, good) in agents() {
        give_key(&gateway, agent);
        let dangerous = good.to_string().replace("\"ls\"", "\"rm -rf /srv/www\"");
        for (name, more) in [
            ("nobody answers in time", vec!["--wait", "0"]),
            ("nobody listens", vec!["--url", "http://127.0.0.1:1"]),
            ("nonsense", vec!["--url", stranger.as_str()]),
            ("a key that is none", vec!["--key-file", "/dev/null"]),
        ] {
            let output = run(&gateway.home(), agent, dangerous.as_bytes(), &more);
            assert!(stops(agent, &output), "{agent} runs on: {name}: {output:?}");
        }
    }
}

/// A server that answers everything with a success that means nothing.
fn babbling() -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _read = stream.read(&mut vec![0; 65536]);
            let body = "{\"status\":\"approved\",\"call_id\":\"call_1\"}";
            let _sent = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn what_is_no_call_is_never_answered_with_a_decision() {
    let gateway = start_gateway("");
    let ls = json!({ "command": "ls" });
    for (agent, event) in [
        (
            "claude-code",
            json!({ "hook_event_name": "Stop", "session_id": "s1" }),
        ),
        (
            "claude-code",
            json!({ "hook_event_name": "PostToolUse", "session_id": "s1", "tool_name": "Bash",
                    "tool_input": ls, "tool_use_id": "t1", "tool_response": {} }),
        ),
        (
            "codex",
            json!({ "hook_event_name": "SessionStart", "session_id": "s1" }),
        ),
        (
            "gemini",
            json!({ "hook_event_name": "AfterTool", "session_id": "s1", "tool_response": {},
                    "tool_name": "run_shell_command", "tool_input": ls }),
        ),
        (
            "copilot",
            json!({ "sessionId": "s1", "toolName": "bash", "toolArgs": ls, "toolResult": {} }),
        ),
        ("copilot", json!({ "sessionId": "s1", "source": "new" })),
        (
            "cline",
            json!({ "hookName": "tool_result", "taskId": "s1", "tool_result": { "id": "t1" } }),
        ),
    ] {
        let output = run(&gateway.home(), agent, event.to_string().as_bytes(), &[]);
        assert_eq!(output.status.code(), Some(0), "{agent}: {output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            !said.contains("deny") && !said.contains("cancel\":true"),
            "{agent}: {said}"
        );
    }
}
