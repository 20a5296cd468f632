//! MCP over HTTP: what a hostile client tries with a server that is a program.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{RULES, message, messages};
use crate::support::{Gateway, PATIENCE};

/// A server that writes down what it reads, and reads nothing between `stall` and the file `GO`.
const STALLS: &str = r#"
import json, os, sys, time
log = open(os.environ["SEEN"], "ab", buffering=0)
while line := sys.stdin.buffer.readline():
    log.write(line)
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message.get("method") == "stall":
        while not os.path.exists(os.environ["GO"]):
            time.sleep(0.01)
    elif "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
"#;

struct Stalling {
    gateway: Gateway,
    key: String,
    folder: tempfile::TempDir,
}

impl Stalling {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("server.py"), STALLS).unwrap();
        let config = format!(
            "mcp: {{ servers: {{ notes: {{ command: [python3, \"{}\"], env: [SEEN, GO] }} }} }}\n{RULES}",
            at("server.py").display()
        );
        let variables = [at("seen"), at("go")];
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let gateway = Gateway::with_variables(
            &config,
            &[("SEEN", &text(&variables[0])), ("GO", &text(&variables[1]))],
        );
        let key = gateway.named_key("one", "agent");
        Self {
            gateway,
            key,
            folder,
        }
    }

    fn post(&self, session: Option<&str>, body: &str) -> reqwest::blocking::RequestBuilder {
        let request = self
            .gateway
            .request("POST", "/mcp/notes")
            .bearer_auth(&self.key)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_owned());
        match session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    fn begin(&self) -> String {
        let opening = message(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
        let begun = self.post(None, &opening.to_string()).send().unwrap();
        let session = begun.headers()["mcp-session-id"].to_str().unwrap();
        let session = session.to_owned();
        messages(begun);
        session
    }

    /// Sends a request that the server, which does not read, has only got a part of.
    fn half_sent(&self, session: &str, body: &str) -> TcpStream {
        let host = &self.gateway.url;
        let host = host.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "POST /mcp/notes HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\nmcp-session-id: {session}\r\n\
             content-type: application/json\r\naccept: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            self.key,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let since = Instant::now();
        let notice = json!({ "jsonrpc": "2.0", "method": "between" }).to_string();
        loop {
            // What comes next has to wait.
            let next = self.post(Some(session), &notice);
            let next = next.timeout(Duration::from_millis(300)).send();
            if next.is_err() {
                return stream;
            }
            assert!(since.elapsed() < PATIENCE);
        }
    }

    /// Waits until the gateway has noticed that whoever asked with this id is gone: until then the id is
    /// refused.
    fn wait_until_gone(&self, session: &str, id: i32) {
        let since = Instant::now();
        loop {
            let again = self.post(Some(session), &message(id, "ping", &json!({})).to_string());
            match again.timeout(Duration::from_millis(200)).send() {
                Err(error) if error.is_timeout() => return,
                refused => assert_eq!(refused.unwrap().status(), 409),
            }
            assert!(since.elapsed() < PATIENCE);
        }
    }

    fn lines(&self) -> Vec<String> {
        let seen = std::fs::read_to_string(self.folder.path().join("seen")).unwrap();
        seen.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_client_that_leaves_in_the_middle_does_not_join_two_messages_to_a_call() {
    let stalling = Stalling::new();
    let session = stalling.begin();
    let stall = json!({ "jsonrpc": "2.0", "method": "stall" }).to_string();
    let stalled = stalling.post(Some(&session), &stall).send().unwrap();
    assert_eq!(stalled.status(), 202);
    let pad = "x".repeat(1024 * 1024);
    let first = format!(
        r#"{{"jsonrpc":"2.0","id":7,"params":{{"name":"send_note","arguments":{{}}}},"x":"{pad}","method":"ping"}}"#
    );
    drop(stalling.half_sent(&session, &first));
    stalling.wait_until_gone(&session, 7);
    std::thread::scope(|scope| {
        let last = json!({ "jsonrpc": "2.0", "method": "last" }).to_string();
        let request = stalling.post(Some(&session), &last);
        let sent = scope.spawn(move || request.send().unwrap().status());
        std::fs::write(stalling.folder.path().join("go"), "").unwrap();
        assert_eq!(sent.join().unwrap(), 202);
    });
    let since = Instant::now();
    while !stalling
        .lines()
        .last()
        .is_some_and(|it| it.contains("last"))
    {
        assert!(since.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    for line in stalling.lines() {
        let is_message = serde_json::from_str::<Value>(&line).is_ok();
        let (length, end) = (line.len(), line.chars().rev().take(80).collect::<String>());
        assert!(is_message, "joined: {length} bytes, backwards: {end}");
    }
}

#[test]
fn a_program_that_does_not_read_can_still_be_ended() {
    let stalling = Stalling::new();
    let session = stalling.begin();
    let stall = json!({ "jsonrpc": "2.0", "method": "stall" }).to_string();
    stalling.post(Some(&session), &stall).send().unwrap();
    let long = message(7, "ping", &json!({ "x": "x".repeat(1024 * 1024) })).to_string();
    let _open = stalling.half_sent(&session, &long);
    let end = stalling
        .gateway
        .request("DELETE", "/mcp/notes")
        .bearer_auth(&stalling.key)
        .header("mcp-session-id", &session);
    assert_eq!(end.send().unwrap().status(), 204);
}
