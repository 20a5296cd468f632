//! A gateway, the proxy, and a server behind it that writes down what it gets.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use serde_json::{Value, json};

use crate::ours;
use crate::support::{Gateway, PATIENCE};

/// A tool whose calls ask, and one whose calls do not.
pub(crate) const RISKY: &str = "wipe";
pub(crate) const HARMLESS: &str = "notes_list";

/// Returns a gateway that knows the proxy's key.
pub(crate) fn gateway() -> Gateway {
    let gateway = Gateway::start();
    put_key(&gateway.home(), &gateway.named_key("mcp", "agent"));
    gateway
}

pub(crate) fn put_key(home: &Path, key: &str) {
    std::fs::create_dir_all(home.join("hooks")).unwrap();
    std::fs::write(home.join("hooks/mcp.key"), key).unwrap();
}

pub(crate) fn server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py")
}

/// The proxy, as its client sees it.
pub(crate) struct Proxy {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    seen: PathBuf,
    _directory: tempfile::TempDir,
}

impl Proxy {
    pub(crate) fn start(home: &Path) -> Self {
        Self::with(home, &["--name", "fix"], &[])
    }

    /// Starts it with more words, and with variables that its server sees.
    pub(crate) fn with(home: &Path, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let server = server();
        let behind = ["--", "python3", server.to_str().unwrap()];
        Self::as_said(home, &[words, &behind].concat(), variables)
    }

    /// Starts it with these words alone.
    pub(crate) fn as_said(home: &Path, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let seen = directory.path().join("seen");
        let mut command = ours::ours(home);
        command
            .arg("mcp")
            .arg("--home")
            .arg(home)
            .args(words)
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("SEEN", &seen)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (into, lines) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                if output.read_until(b'\n', &mut line).unwrap_or(0) == 0 || into.send(line).is_err()
                {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            seen,
            _directory: directory,
        }
    }

    /// Sends a line as it is.
    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.send(message.to_string());
    }

    /// Returns the next line as it came.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn next(&mut self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&line)))
    }

    /// Returns the answer to the request `id`, past everything else.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next();
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
        }
    }

    /// Does what every client does first.
    pub(crate) fn greet(&mut self) {
        self.greet_as(&json!({}));
    }

    pub(crate) fn greet_as(&mut self, capabilities: &Value) {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "probe", "version": "1" },
        });
        self.say(
            &json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }),
        );
        self.answer(&json!("hello"));
        self.list();
    }

    pub(crate) fn list(&mut self) {
        self.say(&json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" }));
        self.answer(&json!("list"));
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.say(&call(id, tool, arguments));
    }

    /// Returns the lines the server got, as bytes.
    pub(crate) fn seen(&self) -> Vec<u8> {
        std::fs::read(&self.seen).unwrap_or_default()
    }

    /// Returns the calls the server got.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let seen = self.seen();
        let messages = seen.split(|byte| *byte == b'\n').filter_map(|line| {
            let message: Value = serde_json::from_slice(line).ok()?;
            (message["method"] == "tools/call").then_some(message)
        });
        messages.collect()
    }

    /// Ends the client's side and returns how the proxy ended, with what it said on standard error.
    pub(crate) fn close(mut self) -> (ExitStatus, String, Vec<Vec<u8>>, Vec<u8>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the proxy does not end"),
            }
        }
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
        let status = self.child.wait().unwrap();
        let seen = self.seen();
        (status, said, rest, seen)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}

pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    })
}

/// Returns the words of a refused call.
pub(crate) fn words(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// Returns the call of a question.
pub(crate) fn status(gateway: &Gateway, approval: &str) -> String {
    let said = gateway.get(&gateway.admin(), &format!("/v1/approvals/{approval}"));
    said.body["status"].as_str().unwrap().to_owned()
}

/// Waits until a question stands like this.
pub(crate) fn until(gateway: &Gateway, approval: &str, wanted: &str) {
    let mut events = gateway.events(&gateway.admin(), "/v1/events", Some(0));
    let since = Instant::now();
    while status(gateway, approval) != wanted {
        assert!(since.elapsed() < PATIENCE, "{}", status(gateway, approval));
        events.next();
    }
}

/// A small generator, so that a failing line can be found again.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}
