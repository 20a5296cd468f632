//! The two servers that are measured, each in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::line::{Line, requests, text};
use crate::{BARE, CONNECTIONS};

/// How long one server is asked before it is the other's turn.
pub(crate) const SLICE: Duration = Duration::from_millis(1500);

/// A server in a process of its own.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

/// The gateway, and its home.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) home: TempDir,
}

/// What one slice came to.
pub(crate) struct Slice {
    pub(crate) requests: usize,
    pub(crate) rate: f64,
    pub(crate) micros_each: f64,
}

impl Gateway {
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // One key of the benchmark stands for many agents; questions outlive the measurement.
        let config = "api: {rate_per_second: 1000000}\napprovals: {timeout: 1h}\n";
        std::fs::write(home.path().join("config.yaml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--home"])
            .arg(home.path())
            .env_clear()
            .env("HOME", home.path())
            .stderr(Stdio::inherit());
        let server = Server::start(command, "countersign listening on http://");
        Self { server, home }
    }

    fn admin(&self) -> String {
        let text = std::fs::read_to_string(self.home.path().join("cli.key")).unwrap();
        text.trim().to_owned()
    }

    pub(crate) async fn keys(&self, role: &str, count: usize) -> Vec<String> {
        let (mut line, admin) = (Line::to(&self.server.address).await, self.admin());
        let mut keys = Vec::new();
        for number in 0..count {
            let body = json!({ "name": format!("{role}{number}"), "role": role }).to_string();
            let said = line.request("POST", "/v1/keys", &admin, &body).await.json();
            keys.push(text(&said, "key"));
        }
        keys
    }

    /// Returns how many entries the ledger has on disk.
    pub(crate) async fn entries(&self) -> usize {
        let mut line = Line::to(&self.server.address).await;
        let said = line.request("GET", "/metrics", "", "").await.body;
        let name = "countersign_ledger_entries ";
        let count = said.lines().find_map(|line| line.strip_prefix(name));
        count.unwrap().parse().unwrap()
    }
}

impl Server {
    pub(crate) fn bare() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(BARE);
        Self::start(command, "http://")
    }

    fn start(mut command: Command, greeting: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix(greeting);
        let address = address
            .unwrap_or_else(|| panic!("it said: {first}"))
            .to_owned();
        // Whatever else it says must find a reader.
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Self { child, address }
    }

    /// Asks for the length of a slice; what was appended is on disk when it ends.
    pub(crate) async fn slice(&self, keys: &[String]) -> Slice {
        let (started, before) = (Instant::now(), self.processor());
        let mut asking = JoinSet::new();
        for number in 0..CONNECTIONS {
            let key = keys.get(number % keys.len()).unwrap().clone();
            let address = self.address.clone();
            asking.spawn(async move {
                let mut line = Line::to(&address).await;
                let requests = requests(&address, &key, number);
                let mut done = 0;
                for request in requests.iter().cycle() {
                    if started.elapsed() >= SLICE {
                        break;
                    }
                    line.send_ready(request).await;
                    let answer = line.receive().await;
                    let is_allowed = answer.body == "{}" || answer.body.contains(r#""allowed""#);
                    assert!(answer.status == 200 && is_allowed, "{answer:?}");
                    done += 1;
                }
                done
            });
        }
        let requests: usize = asking.join_all().await.into_iter().sum();
        // Listing calls waits for everything appended; the bare server has nothing of the kind.
        let mut line = Line::to(&self.address).await;
        let key = keys.first().unwrap();
        line.request("GET", "/v1/calls?limit=1", key, "").await;
        let seconds = started.elapsed().as_secs_f64();
        Slice {
            requests,
            rate: requests as f64 / seconds,
            micros_each: (self.processor() - before) * 1e6 / requests as f64,
        }
    }

    /// Returns the processor time it has used, in seconds.
    pub(crate) fn processor(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let mut ticks = fields
            .split(' ')
            .skip(12)
            .map(|it| it.parse::<f64>().unwrap());
        (ticks.next().unwrap() + ticks.next().unwrap()) / 100.0
    }

    pub(crate) fn mebibytes(&self, line: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix(line)).unwrap();
        let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kibibytes / 1024.0
    }

    pub(crate) fn memory(&self) -> String {
        let (now, most) = (self.mebibytes("VmRSS:"), self.mebibytes("VmHWM:"));
        format!("{now:.1} MiB resident, {most:.1} MiB at most")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}
