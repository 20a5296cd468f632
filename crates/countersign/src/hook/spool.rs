//! Calls that a hook let run alone, kept until the gateway has recorded them.
//!
//! Each agent has one file of lines. The gateway collects the files of its own home every second. A
//! hook that asks a gateway delivers its own file first if a call in it changed something, so that
//! the gateway judges the next call after it, and if nobody collects it.
//! A line is an addition under a lock, so that no line is lost when the file is taken away.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_core::digest::Digest;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Hook, create_private};
use crate::client::Client;
use crate::complaint::Complaint;

/// Most bytes that wait to be delivered. Beyond them a hook lets nothing run alone.
const SPOOL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long a hook waits for another that is delivering.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_millis(20);
/// Calls that change nothing are left to the gateway for so long. One that collects them does so
/// sooner.
const LEFT_TIME_MAX: Duration = Duration::from_secs(5);
/// A longer file is delivered without a look at what is in it.
const LEFT_BYTES_MAX: u64 = 64 * 1024;
/// The end of the names of these files.
const EXTENSION: &str = "spool";

/// A call that was let run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Names it, so that delivering it twice records it once.
    pub(crate) id: String,
    /// Whether it changed something, which may matter for the next call.
    #[serde(default = "changes_something")]
    pub(crate) changes: bool,
    /// The body of the request that records it.
    pub(crate) call: Value,
}

/// What an entry means that does not say.
const fn changes_something() -> bool {
    true
}

/// The files of one agent in one home.
#[derive(Clone, Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    agent: String,
}

/// Keeps the call of `body`, which runs now, and whether it changes something.
pub(super) fn add(hook: &Hook, body: Value, changes: bool) -> Result<(), Complaint> {
    let spool = Spool::new(hook.directory(), hook.adapter.name);
    spool.add(body, changes).map_err(|error| {
        let hint =
            "is the disk full, or is the gateway long away? Start it with `countersign serve`";
        Complaint::failed(format!("cannot keep a record of the call: {error}"), hint)
    })
}

/// Delivers what this agent's hooks let run, in order, unless the next call can do without.
pub(super) async fn deliver(hook: &Hook, client: &Client) -> Result<(), Complaint> {
    let spool = Spool::new(hook.directory(), hook.adapter.name);
    if !spool.is_urgent() {
        return Ok(());
    }
    // What somebody took and left comes alone and first; what was added since comes next.
    while spool.has_entries() {
        let Some(taken) = spool.take().await.map_err(|error| failed(&error))? else {
            return Ok(());
        };
        for entry in &taken.entries {
            let sent = client.send_named(Method::POST, "/v1/calls", Some(&entry.call), &entry.id);
            let answer = sent.await?;
            // What the gateway cannot take will not become better.
            if answer.status().is_server_error() || answer.status().as_u16() == 429 {
                return Err(answer.complaint());
            }
        }
        taken.finish().map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Returns the seconds since 1970.
fn since_epoch() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

fn failed(error: &std::io::Error) -> Complaint {
    Complaint::failed(
        format!("cannot read the record of earlier calls: {error}"),
        "",
    )
}

/// Returns the spools of `directory`.
pub(crate) fn all(directory: &Path) -> Vec<Spool> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let agents = names.filter_map(|name| {
        let name = name.strip_suffix(".taken").unwrap_or(&name).to_owned();
        Some(name.strip_suffix(&format!(".{EXTENSION}"))?.to_owned())
    });
    let mut agents: Vec<String> = agents.collect();
    agents.sort();
    agents.dedup();
    let spools = agents
        .iter()
        .map(|agent| Spool::new(directory.to_owned(), agent));
    spools.collect()
}

impl Spool {
    fn new(directory: PathBuf, agent: &str) -> Self {
        Self {
            directory,
            agent: agent.to_owned(),
        }
    }

    /// Returns the agent's name.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    fn file(&self) -> PathBuf {
        self.directory.join(format!("{}.{EXTENSION}", self.agent))
    }

    fn taken_file(&self) -> PathBuf {
        self.directory
            .join(format!("{}.{EXTENSION}.taken", self.agent))
    }

    fn lock_file(&self, what: &str) -> std::io::Result<File> {
        let path = self.directory.join(format!("{}.{what}.lock", self.agent));
        std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
    }

    /// Whether anything waits to be delivered.
    pub(crate) fn has_entries(&self) -> bool {
        self.file().exists() || self.taken_file().exists()
    }

    /// Whether the gateway must know of the entries before it judges the next call, or would not come
    /// to know of them at all.
    fn is_urgent(&self) -> bool {
        let now = since_epoch();
        [self.taken_file(), self.file()].iter().any(|file| {
            let bytes = std::fs::metadata(file).map_or(0, |it| it.len());
            let text = std::fs::read(file).unwrap_or_default();
            let mut entries = text
                .split(|byte| *byte == b'\n')
                .filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
            let is_left = |entry: &Entry| {
                let at = entry.call.get("let_run_at").and_then(Value::as_f64);
                at.is_none_or(|at| (now - at).abs() > LEFT_TIME_MAX.as_secs_f64())
            };
            bytes > LEFT_BYTES_MAX || entries.any(|entry| entry.changes || is_left(&entry))
        })
    }

    /// Returns how many calls wait to be delivered, and since when the newest of them.
    pub(crate) fn waiting(&self) -> (usize, Option<SystemTime>) {
        let files = [self.taken_file(), self.file()];
        let mut waiting = (0, None);
        for file in files {
            let Ok(text) = std::fs::read(&file) else {
                continue;
            };
            let changed = std::fs::metadata(&file).and_then(|it| it.modified()).ok();
            waiting.0 += memchr::memchr_iter(b'\n', &text).count();
            waiting.1 = waiting.1.max(changed);
        }
        waiting
    }

    fn add(&self, body: Value, changes: bool) -> std::io::Result<()> {
        let Value::Object(mut call) = body else {
            return Err(std::io::Error::other("the call is no object"));
        };
        call.insert("let_run_at".to_owned(), since_epoch().into());
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(std::io::Error::other)?;
        let entry = Entry {
            id: format!("let-run-{}", Digest::of(&salt).hex()),
            changes,
            call: Value::Object(call),
        };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        create_private(&self.directory)?;
        let guard = self.lock_file("add")?;
        guard.lock()?;
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(self.file())?;
        if file.metadata()?.len() + line.len() as u64 > SPOOL_BYTES_MAX {
            return Err(std::io::Error::other(
                "too many calls wait to be recorded by the gateway",
            ));
        }
        file.write_all(&line)
    }

    /// Takes all entries away, to be delivered. `None` if there are none. Waits for somebody else
    /// who is delivering; what they took is theirs.
    pub(crate) async fn take(&self) -> std::io::Result<Option<Taken>> {
        let guard = self.lock_file("deliver")?;
        let started = std::time::Instant::now();
        loop {
            match guard.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let taken = self.taken_file();
        // Left by somebody who was ended while delivering: these come first, and twice is once.
        if !taken.exists() {
            let adding = self.lock_file("add")?;
            adding.lock()?;
            match std::fs::rename(self.file(), &taken) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let mut text = String::new();
        File::open(&taken)?.read_to_string(&mut text)?;
        // A line that was cut off by a full disk was never answered with an allow.
        let entries = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(Some(Taken {
            entries: entries.collect(),
            file: taken,
            _guard: guard,
        }))
    }
}

/// Entries that somebody is delivering. Whoever drops it without [`Taken::finish`] leaves them for
/// the next.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The entries, oldest first.
    pub(crate) entries: Vec<Entry>,
    file: PathBuf,
    _guard: File,
}

impl Taken {
    /// Removes them: they are recorded.
    pub(crate) fn finish(self) -> std::io::Result<()> {
        std::fs::remove_file(self.file)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed_something_or_stays_behind_is_delivered_before_a_question() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let spool = |name: &str| Spool::new(path.clone(), name);
        let call = || json!({ "tool": "terminal", "args": { "command": "ls" } });
        assert!(!spool("nothing").is_urgent());
        let reads = spool("reads");
        reads.add(call(), false).unwrap();
        assert!(!reads.is_urgent());
        reads.add(call(), true).unwrap();
        assert!(reads.is_urgent());
        let write = |name: &str, entry: &Value| {
            std::fs::write(spool(name).file(), format!("{entry}\n")).unwrap();
        };
        let at = |back: f64| json!({ "let_run_at": since_epoch() - back });
        write(
            "old",
            &json!({ "id": "a", "changes": false, "call": at(60.0) }),
        );
        assert!(spool("old").is_urgent());
        write(
            "new",
            &json!({ "id": "a", "changes": false, "call": at(0.1) }),
        );
        assert!(!spool("new").is_urgent());
        // Written by a version that did not say.
        write("silent", &json!({ "id": "a", "call": at(0.1) }));
        assert!(spool("silent").is_urgent());
        std::fs::rename(reads.file(), reads.taken_file()).unwrap();
        assert!(reads.is_urgent());
        std::fs::write(spool("long").file(), " ".repeat(70_000)).unwrap();
        assert!(spool("long").is_urgent());
    }
}
