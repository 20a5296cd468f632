//! A gateway for one test, and how to speak to it.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use countersign_gate::records::event::Event;
use reqwest::blocking::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ours;

/// How long anything may take before a test fails; generous, because machines are busy.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A call that a person must answer.
pub(crate) const RISKY: &str = "rm -rf /srv/www";

pub(crate) struct Gateway {
    pub(crate) url: String,
    pub(crate) login_url: Option<String>,
    pub(crate) client: Client,
    child: Child,
    directory: TempDir,
    /// What its environment holds, also when it is started again.
    variables: Vec<(String, String)>,
}

/// An answer: its status and its JSON.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Gateway {
    pub(crate) fn start() -> Self {
        Self::configured("")
    }

    pub(crate) fn configured(config: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("home")).unwrap();
        std::fs::write(directory.path().join("home/config.yaml"), config).unwrap();
        Self::start_in(directory)
    }

    /// Starts a gateway in a home that is somebody else's to remove.
    pub(crate) fn in_home(home: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(home, directory.path().join("home")).unwrap();
        Self::start_in(directory)
    }

    /// Starts a gateway with variables in its environment.
    pub(crate) fn with_variables(config: &str, variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config.yaml"), config).unwrap();
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Self::start_with(directory, variables)
    }

    /// Starts a gateway under a user of its own, in a home that is that user's alone, with its
    /// socket where others may come. `api` is more of that section. For root only.
    pub(crate) fn under(uid: u32, api: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        // Another user may be unable to reach the folder the binary was built in.
        let binary = path.join("countersign");
        std::fs::copy(ours::binary(), &binary).unwrap();
        for (folder, mode) in [("", 0o755), ("home", 0o700), ("run", 0o755)] {
            let folder = path.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        }
        let socket = path.join("run/agent.sock");
        let config = format!("api: {{ socket: \"{}\", {api} }}\n", socket.display());
        std::fs::write(path.join("home/config.yaml"), config).unwrap();
        for owned in ["home", "home/config.yaml", "run"] {
            chown(path.join(owned), Some(uid), Some(uid)).unwrap();
        }
        let serve = command(&path.join("home"), &["--json"]);
        let mut command = ours::in_home(Command::new(binary), &path.join("home"));
        command
            .args(serve.get_args())
            .uid(uid)
            .gid(uid)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self::of(started(command), directory, Vec::new())
    }

    /// Starts a gateway with more words on its command line.
    pub(crate) fn serving(more: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let words: Vec<&str> = ["--json"].iter().chain(more).copied().collect();
        let started = spawn(&directory.path().join("home"), &words);
        Self::of(started, directory, Vec::new())
    }

    fn start_in(directory: TempDir) -> Self {
        Self::start_with(directory, Vec::new())
    }

    fn start_with(directory: TempDir, variables: Vec<(String, String)>) -> Self {
        let mut command = command(&directory.path().join("home"), &["--json"]);
        command.envs(variables.iter().cloned());
        Self::of(started(command), directory, variables)
    }

    fn of(
        (child, first): (Child, String),
        directory: TempDir,
        variables: Vec<(String, String)>,
    ) -> Self {
        let said: Value = serde_json::from_str(&first).unwrap();
        let client = client();
        Self {
            url: said["url"].as_str().unwrap().to_owned(),
            login_url: said["login_url"].as_str().map(str::to_owned),
            client,
            child,
            directory,
            variables,
        }
    }

    /// Stops the gateway as an operator does.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        signal(&self.child, "TERM");
        self.child.wait().unwrap()
    }

    /// Ends the gateway without a word.
    pub(crate) fn kill(&mut self) {
        signal(&self.child, "KILL");
        self.child.wait().unwrap();
    }

    /// Stops the gateway and starts it again in the same home, at another port.
    pub(crate) fn restarted(mut self) -> Self {
        self.stop();
        self.started_again()
    }

    /// Kills the gateway without a word and starts it again in the same home, at another port.
    pub(crate) fn killed_and_restarted(self) -> Self {
        self.killed_and_restarted_after(|| ())
    }

    /// Kills the gateway without a word, looks around, and starts it again in the same home, at
    /// another port.
    pub(crate) fn killed_and_restarted_after(mut self, look: impl FnOnce()) -> Self {
        self.kill();
        look();
        self.started_again()
    }

    /// Starts a gateway that has stopped again, in the same home and at another port.
    pub(crate) fn started_again(mut self) -> Self {
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        let variables = std::mem::take(&mut self.variables);
        Self::start_with(directory, variables)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// Returns the binary, the agents' socket and the process of a gateway [`Self::under`] a user.
    pub(crate) fn seen_by_others(&self) -> (PathBuf, PathBuf, u32) {
        let path = self.directory.path();
        (
            path.join("countersign"),
            path.join("run/agent.sock"),
            self.child.id(),
        )
    }

    pub(crate) fn admin(&self) -> String {
        let text = std::fs::read_to_string(self.home().join("cli.key")).unwrap();
        text.trim().to_owned()
    }

    pub(crate) fn key(&self, role: &str) -> String {
        self.named_key(role, role)
    }

    pub(crate) fn named_key(&self, name: &str, role: &str) -> String {
        let body = json!({ "name": name, "role": role });
        let said = self.post(&self.admin(), "/v1/keys", &body);
        assert_eq!(said.status, 201, "{said:?}");
        said.body["key"].as_str().unwrap().to_owned()
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse::<reqwest::Method>().unwrap();
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) fn get(&self, key: &str, path: &str) -> Said {
        said(self.request("GET", path).bearer_auth(key))
    }

    pub(crate) fn post(&self, key: &str, path: &str, body: &Value) -> Said {
        said(self.request("POST", path).bearer_auth(key).json(body))
    }

    /// Submits a shell command and returns the call.
    pub(crate) fn submit(&self, key: &str, command: &str) -> Said {
        self.post(key, "/v1/calls", &shell(command))
    }

    /// Submits a command that waits and returns the id of its approval.
    pub(crate) fn ask(&self, key: &str, command: &str) -> String {
        let said = self.submit(key, command);
        assert_eq!(said.status, 202, "{said:?}");
        said.body["approval_id"].as_str().unwrap().to_owned()
    }

    /// Waits until a question is open and returns its id.
    pub(crate) fn question(&self) -> String {
        let admin = self.admin();
        let mut events = self.events(&admin, "/v1/events", Some(0));
        loop {
            let waiting = self.get(&admin, "/v1/approvals?status=waiting");
            if let Some(id) = waiting.body["approvals"][0]["approval_id"].as_str() {
                return id.to_owned();
            }
            events.named("approval.required");
        }
    }

    pub(crate) fn resolve(&self, key: &str, approval: &str, choice: &str) -> Said {
        let path = format!("/v1/approvals/{approval}/resolve");
        self.post(key, &path, &json!({ "choice": choice }))
    }

    /// Follows events of `path` behind `last`, as a program does that keeps the connection open.
    pub(crate) fn events(&self, key: &str, path: &str, last: Option<u64>) -> Events {
        let mut request = self.request("GET", path).bearer_auth(key);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().unwrap();
        assert_eq!(response.status().as_u16(), 200);
        let mut events = Events {
            lines: BufReader::new(response),
        };
        // The greeting says that whatever happens from now on will be seen.
        assert_eq!(events.block().unwrap(), ["retry: 1000", ": connected"]);
        events
    }

    /// Sends a request through the agents' socket and returns its status and body so far.
    pub(crate) fn through_socket(&self, method: &str, path: &str, more: &str) -> (u16, String) {
        let mut stream = UnixStream::connect(self.home().join("agent.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (headers, body) = more.split_once("\n\n").unwrap_or((more, ""));
        let headers: Vec<&str> = headers.lines().chain([""]).collect();
        let headers = headers.join("\r\n");
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: agents\r\nconnection: close\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        // Streams of events do not end.
        if !path.ends_with("events") {
            reader.read_to_string(&mut text).unwrap();
        }
        (status, text)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have been stopped already.
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Returns a client that speaks to the gateway and to nobody else.
pub(crate) fn client() -> Client {
    // The client wants one even where nothing is encrypted; who was first has chosen the same.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        // A connection the server has just closed, after a body it did not read, is not used again.
        .pool_max_idle_per_host(0)
        .no_proxy()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

/// Starts a gateway in `home` and returns it with its first line.
pub(crate) fn spawn(home: &Path, more: &[&str]) -> (Child, String) {
    started(command(home, more))
}

fn started(mut command: Command) -> (Child, String) {
    let mut child = command.spawn().unwrap();
    let first = first_line(&mut child);
    if first.is_empty() {
        let mut wrong = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut wrong).unwrap();
        panic!("the gateway did not start: {wrong}");
    }
    // What it logs must not fill the pipe.
    let mut stderr = child.stderr.take().unwrap();
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    (child, first)
}

/// Reads the first line and nothing behind it.
pub(crate) fn first_line(child: &mut Child) -> String {
    let stdout = child.stdout.as_mut().unwrap();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while stdout.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        line.extend(byte);
    }
    String::from_utf8(line).unwrap()
}

pub(crate) fn command(home: &Path, more: &[&str]) -> Command {
    let mut command = ours::ours(home);
    command.arg("serve");
    if !more.contains(&"--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    command
        .arg("--home")
        .arg(home)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

pub(crate) fn said(request: RequestBuilder) -> Said {
    heard(request.send().unwrap())
}

pub(crate) fn heard(response: Response) -> Said {
    let status = response.status().as_u16();
    let text = response.text().unwrap();
    Said {
        status,
        body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
    }
}

impl Said {
    /// Returns the stable word of a refusal.
    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or("")
    }
}

pub(crate) fn shell(command: &str) -> Value {
    json!({ "tool": "terminal", "args": { "command": command }, "session_id": "s1" })
}

/// Reads an event, which must have the shape that is described for its name, and nothing beside it.
/// Under the names of Hermes events are written with spaces.
fn event(data: &str) -> Value {
    let told: Value = serde_json::from_str(data).unwrap();
    if data.contains("\"event\":\"") {
        let read: Result<Event, _> = serde_json::from_str(data);
        let read = read.unwrap_or_else(|wrong| panic!("it is not described: {wrong}: {data}"));
        let described = serde_json::to_value(&read).unwrap();
        for (key, value) in told.as_object().unwrap() {
            let is_described = value.is_null() || described.get(key) == Some(value);
            assert!(is_described, "`{key}` is not described: {data}");
        }
    }
    told
}

/// Events as they come.
pub(crate) struct Events {
    lines: BufReader<Response>,
}

impl Events {
    /// Returns the next event with its number.
    pub(crate) fn next(&mut self) -> (u64, Value) {
        let since = Instant::now();
        loop {
            assert!(since.elapsed() < PATIENCE, "no event came");
            let block = self
                .block()
                .unwrap_or_else(|| panic!("the stream has ended"));
            let field = |name: &str| block.iter().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                return (id.parse().unwrap(), event(data));
            }
        }
    }

    /// Returns the next event, whether it has a number or not; `None` at the end.
    pub(crate) fn any(&mut self) -> Option<Value> {
        loop {
            let block = self.block()?;
            let data = block.iter().find_map(|line| line.strip_prefix("data: "));
            if let Some(data) = data {
                return Some(event(data));
            }
        }
    }

    /// Returns every event up to the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.any()).collect()
    }

    /// Returns the next event of this name.
    pub(crate) fn named(&mut self, name: &str) -> (u64, Value) {
        loop {
            let (id, event) = self.next();
            if event["event"] == name {
                return (id, event);
            }
        }
    }

    /// Returns the lines up to the next empty one; `None` at the end.
    pub(crate) fn block(&mut self) -> Option<Vec<String>> {
        let mut block = Vec::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if line.is_empty() {
                return Some(block);
            }
            block.push(line.to_owned());
        }
    }
}
