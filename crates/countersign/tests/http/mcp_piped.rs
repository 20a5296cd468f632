//! MCP over HTTP: clients on standard input, and programs as servers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use axum::http::Method;
use serde_json::{Value, json};

use crate::mcp::{RULES, Scene, message, messages};
use crate::ours;
use crate::support::Gateway;

/// The proxy for a client on standard input, in front of a server at an address.
struct Piped {
    child: std::process::Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Piped {
    fn start(gateway: &Gateway, key: &str, url: &str) -> Self {
        let file = gateway.home().join("asks.key");
        std::fs::write(&file, key).unwrap();
        let mut child = ours::ours(&gateway.home())
            .args(["--key-file".as_ref(), file.as_os_str()])
            .args(["--home".as_ref(), gateway.home().as_os_str()])
            .args(["mcp", "--name", "notes", "--url", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn say(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }
}

#[test]
fn a_client_on_standard_input_reaches_a_server_at_an_address() {
    let scene = Scene::new();
    let mut piped = Piped::start(&scene.gateway, &scene.key, &scene.server.url);
    piped.say(&message(
        1,
        "initialize",
        &json!({ "protocolVersion": "2025-11-25" }),
    ));
    assert_eq!(piped.hear()["result"]["protocolVersion"], "2025-11-25");
    piped.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    piped.say(&message(2, "tools/list", &json!({})));
    assert_eq!(piped.hear()["id"], 2);
    piped.say(&message(
        3,
        "tools/call",
        &json!({ "name": "send_note", "arguments": { "to": "bob" } }),
    ));
    scene.answer("once");
    assert_eq!(piped.hear()["result"]["content"][0]["text"]["to"], "bob");
    // The answer to this one breaks off and is fetched with the id of the last event.
    piped.say(&json!({ "jsonrpc": "2.0", "id": "later", "method": "breaks" }));
    assert_eq!(piped.hear()["result"]["resumed"], true);
    drop(piped.child.stdin.take());
    assert!(piped.child.wait().unwrap().success());
    let seen = scene.server.seen();
    let later = seen.iter().filter(|it| it.method != Method::DELETE).skip(1);
    for seen in later {
        assert_eq!(
            seen.headers["mcp-session-id"], "session-of-the-server",
            "{seen:?}"
        );
        assert_eq!(
            seen.headers["mcp-protocol-version"], "2025-11-25",
            "{seen:?}"
        );
    }
    assert_eq!(scene.server.calls().len(), 1);
    assert_eq!(seen.last().unwrap().method, Method::DELETE);
}

#[test]
fn requests_without_a_session_repeat_in_headers_what_they_say() {
    let scene = Scene::new();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let mut piped = Piped::start(&scene.gateway, &scene.key, &scene.server.url);
    piped.say(&message(1, "tools/list", &json!({ "_meta": meta })));
    piped.hear();
    let params = json!({ "name": "read_note", "arguments": { "region": "north" }, "_meta": meta });
    piped.say(&message(2, "tools/call", &params));
    piped.hear();
    let calls = scene.server.calls();
    let headers = &calls[0].headers;
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "read_note"),
        ("mcp-param-region", "north"),
    ] {
        assert_eq!(headers[name], value, "{name}");
    }
    // Taken back: the connection closes, and nothing is sent about it.
    let params = json!({ "name": "read_slowly", "arguments": {}, "_meta": meta });
    piped.say(&message(3, "tools/call", &params));
    scene.server.wait_for(&Method::POST, 3);
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
    piped.say(&notice);
    piped.say(&message(4, "tools/list", &json!({ "_meta": meta })));
    assert_eq!(piped.hear()["id"], 4);
    scene.server.release();
    drop(piped.child.stdin.take());
    piped.child.wait().unwrap();
    assert_eq!(scene.server.seen().len(), 4);
}

/// A gateway that starts a program, and two keys.
fn with_program() -> (Gateway, [String; 2], tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");
    let config = format!(
        "mcp: {{ servers: {{ notes: {{ command: [python3, \"{script}\"], env: [SEEN] }} }} }}\n{RULES}"
    );
    let seen = folder.path().join("seen");
    let gateway = Gateway::with_variables(&config, &[("SEEN", seen.to_str().unwrap())]);
    let keys = ["one", "two"].map(|name| gateway.named_key(name, "agent"));
    (gateway, keys, folder)
}

#[test]
fn a_program_has_a_process_for_each_session_of_its_caller() {
    let (gateway, [one, two], _folder) = with_program();
    let post = |key: &str, session: Option<&str>, message: &Value| {
        let request = gateway
            .request("POST", "/mcp/notes")
            .bearer_auth(key)
            .json(message);
        let request = request.header("accept", "application/json, text/event-stream");
        match session {
            Some(session) => request.header("mcp-session-id", session).send().unwrap(),
            None => request.send().unwrap(),
        }
    };
    let opening = message(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    let begun = post(&one, None, &opening);
    let session = begun.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        messages(begun)[0]["result"]["serverInfo"]["name"],
        "fixture"
    );
    let list = message(2, "tools/list", &json!({}));
    let listed = messages(post(&one, Some(&session), &list));
    assert_eq!(listed[0]["result"]["tools"][0]["name"], "wipe");
    assert_eq!(
        post(&two, Some(&session), &list).status(),
        404,
        "another caller's"
    );
    assert_eq!(post(&one, Some("made up"), &list).status(), 404);
    assert_eq!(post(&one, None, &list).status(), 400);
    let call = message(
        3,
        "tools/call",
        &json!({ "name": "read_it", "arguments": {} }),
    );
    let said = messages(post(&one, Some(&session), &call));
    assert_eq!(said[0]["result"]["content"][0]["text"], "ran read_it");
    let end = |key: &str| {
        let request = gateway.request("DELETE", "/mcp/notes").bearer_auth(key);
        request
            .header("mcp-session-id", &session)
            .send()
            .unwrap()
            .status()
    };
    assert_eq!(end(&two), 404);
    // Not 202, which the Python package `mcp` reports as a failure.
    assert_eq!(end(&one), 204);
    assert_eq!(post(&one, Some(&session), &list).status(), 404);
}

#[test]
fn a_program_is_asked_without_a_session_only_what_headers_and_body_agree_on() {
    let (gateway, [key, _], folder) = with_program();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let body = message(
        1,
        "tools/call",
        &json!({ "name": "read_it", "arguments": {}, "_meta": meta }),
    );
    let post = |version: &str, method: &str, name: &str| {
        let request = gateway
            .request("POST", "/mcp/notes")
            .bearer_auth(&key)
            .json(&body);
        request
            .header("mcp-protocol-version", version)
            .header("mcp-method", method)
            .header("mcp-name", name)
            .send()
            .unwrap()
    };
    for (version, method, name) in [
        ("2025-11-25", "tools/call", "read_it"),
        ("2026-07-28", "tools/list", "read_it"),
        ("2026-07-28", "tools/call", "wipe"),
    ] {
        let response = post(version, method, name);
        assert_eq!(response.status(), 400);
        assert_eq!(messages(response)[0]["error"]["code"], -32020);
    }
    assert!(!folder.path().join("seen").exists());
    let said = messages(post("2026-07-28", "tools/call", "read_it"));
    assert_eq!(said[0]["result"]["content"][0]["text"], "ran read_it");
}
