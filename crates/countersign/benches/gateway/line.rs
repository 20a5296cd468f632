//! What is said to a server over one connection, with as little of our own work as possible.

use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memmem;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Different requests of one connection.
const REQUESTS: usize = 256;

/// A connection that is kept.
pub(crate) struct Line {
    stream: TcpStream,
    address: String,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// A call that waits.
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) approval: String,
}

impl Line {
    pub(crate) async fn to(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            address: address.to_owned(),
            buffer: Vec::new(),
        }
    }

    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        body: &str,
    ) -> Answer {
        self.send(method, path, key, body).await;
        self.receive().await
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, key: &str, body: &str) {
        let request = request(&self.address, method, path, key, body);
        self.stream.write_all(&request).await.unwrap();
    }

    /// Sends what [`requests`] has made ready.
    pub(crate) async fn send_ready(&mut self, request: &[u8]) {
        self.stream.write_all(request).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Answer {
        loop {
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                let head = std::str::from_utf8(self.buffer.get(..end).unwrap()).unwrap();
                let status = head.get(9..12).unwrap().parse().unwrap();
                let length = head
                    .lines()
                    .find_map(|it| it.strip_prefix("content-length: "));
                let length: usize = length.unwrap_or("0").parse().unwrap();
                if let Some(body) = self.buffer.get(end + 4..end + 4 + length) {
                    let body = String::from_utf8(body.to_vec()).unwrap();
                    self.buffer.drain(..end + 4 + length);
                    return Answer { status, body };
                }
            }
            let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
            assert!(read > 0, "the server closed the connection");
        }
    }

    /// Submits a call that must wait.
    pub(crate) async fn ask(&mut self, key: &str, number: usize) -> Asked {
        let body = json!({
            "tool": "terminal",
            "args": { "command": format!("rm -rf /srv/www/releases/{number}") },
            "session_id": format!("session-{}", number % 7),
            "cwd": "/home/dev/shop",
        });
        let answer = self
            .request("POST", "/v1/calls", key, &body.to_string())
            .await;
        assert_eq!(answer.status, 202, "{answer:?}");
        let said = answer.json();
        Asked {
            id: text(&said, "call_id"),
            approval: text(&said, "approval_id"),
        }
    }

    pub(crate) async fn resolve(&mut self, key: &str, approval: &str) {
        let path = format!("/v1/approvals/{approval}/resolve");
        let answer = self
            .request("POST", &path, key, r#"{"choice":"once"}"#)
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    /// Reads events until the stream ends, and counts them.
    pub(crate) async fn read_events(&mut self, count: &AtomicUsize) {
        loop {
            self.buffer.clear();
            if self.stream.read_buf(&mut self.buffer).await.unwrap() == 0 {
                return;
            }
            let events = memmem::find_iter(&self.buffer, b"data: ").count();
            count.fetch_add(events, Ordering::Relaxed);
        }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) fn text(value: &Value, name: &str) -> String {
    let text = value.get(name).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("no `{name}` in {value}"))
        .to_owned()
}

fn request(address: &str, method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// What an agent does all day; `#` is a number.
const COMMANDS: &[&str] = &[
    "cargo test",
    "cargo test -p shop-# -- --nocapture",
    "cargo build --release 2>&1 | tail -n #",
    "cargo clippy --all-targets -- -D warnings",
    "git status --short",
    "git diff HEAD~# -- src",
    "git log --oneline -#",
    "git show HEAD~#:src/main.rs | head -n 40",
    "ls -la src/module_#",
    "cat src/module_#/handler.rs",
    "sed -n '1,#p' src/orders.rs",
    "rg -n 'fn handle_#' src tests",
    "grep -rn \"struct Order#\" src | head",
    "find . -name '*.rs' -newer Cargo.lock | wc -l",
    "cd crates/shop && cargo check && cd -",
    "python3 -m pytest tests/test_#.py -q",
    "npm test -- --grep 'cart #'",
    "npx tsc --noEmit -p tsconfig.json",
    "go vet ./... && go test ./pkg/part#/...",
    "make -j4 check",
    "mkdir -p build/part-# && ls build",
    "echo \"part #\" && date +%s",
    "jq '.dependencies | keys' package.json",
    "for f in src/*.rs; do wc -l \"$f\"; done",
];

/// Returns different calls that are allowed, ready to be sent.
pub(crate) fn requests(address: &str, key: &str, connection: usize) -> Vec<Vec<u8>> {
    let calls = COMMANDS.iter().cycle().enumerate().take(REQUESTS);
    calls
        .map(|(number, command)| {
            let number = (number * 7 + connection * 31) % 997;
            let body = json!({
                "tool": "terminal",
                "args": { "command": command.replace('#', &number.to_string()) },
                "session_id": format!("session-{connection}"),
                "cwd": "/home/dev/shop",
            });
            request(address, "POST", "/v1/calls", key, &body.to_string())
        })
        .collect()
}
