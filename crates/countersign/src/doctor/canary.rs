//! The canary: runs an agent once and sees whether it asks its hook.
//!
//! That a hook stands in the settings does not mean that the agent loads and obeys it. So the real
//! agent is run with the person's own settings against a scripted model that asks for one shell call,
//! and three things are looked at: whether the gateway was asked about that very call, whether the
//! call ran, and what the agent told the model.
//!
//! The call is `touch FILE && false && mkfs.ext4 /dev/countersign-canary-NONCE`, for three reasons.
//! Without a hook it really runs, so it must be harmless: it makes one empty file in a folder that is
//! removed afterwards, and stops at `false`; the device behind it does not exist either. It must leave
//! a trace: the file. And nobody may be disturbed: the floor refuses to make a file system on a
//! device, whoever asks and whatever stands before it, so that no card is put in front of people.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_core::display::shortened;
use countersign_core::judge::consider_after;
use countersign_core::status::Status;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;
use serde_json::json;
use tokio::process::Command;
use tokio::runtime::Runtime;

use super::agents::{Scene, Stage, Start};
use super::child::{self, Ended};
use super::model::{Model, Seen};
use super::report::Line;
use crate::client::{Client, segment};
use crate::complaint::Complaint;
use crate::config::{Home, whole_policy};
use crate::hook;
use crate::hook::adapter::Adapter;
use crate::wire::lists::TraceList;

/// How long the gateway may take to record a call that a hook let run.
const RECORDED_AFTER: Duration = Duration::from_secs(4);
/// How long to wait before it is asked again.
const PAUSE: Duration = Duration::from_millis(200);
/// Letters of the name of a run.
const NONCE_CHARS: usize = 12;

/// The agent that is run.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) adapter: &'static Adapter,
    pub(super) stage: Stage,
    pub(super) program: &'a Path,
    /// The home whose gateway is asked afterwards.
    pub(super) home: &'a Home,
}

/// What was seen of one run.
#[derive(Debug, Default)]
struct Evidence {
    /// Whether the call ran: its file is there.
    ran: bool,
    /// What the agent did with the model.
    seen: Seen,
    /// How the agent ended.
    ended: Ended,
    /// What the gateway has recorded about the call.
    recorded: Recorded,
}

/// What the gateway knows of the call.
#[derive(Clone, Debug, Default, PartialEq)]
enum Recorded {
    /// Nothing.
    #[default]
    Nothing,
    /// The call, with its id, and how it stands.
    Call(String, Status),
    /// No gateway could be asked.
    Unknown,
}

/// Runs the agent once and says what that shows.
pub(super) fn check(subject: &Subject<'_>, client: Option<&Client>, runtime: &Runtime) -> Line {
    let group = subject.adapter.name;
    let folder = match Folder::new() {
        Ok(folder) => folder,
        Err(error) => {
            let fix = "is the disk full? TMPDIR names another place";
            return Line::warn(group, format!("canary: cannot make a folder: {error}"), fix);
        }
    };
    let command = command(&folder.nonce, folder.path());
    match is_refused(subject.home, &command, folder.path()) {
        Ok(true) => {}
        Ok(false) => {
            let found = "canary: not run, because your policy asks people about it";
            return Line::warn(group, found, "do not lift the floor in config.yaml");
        }
        Err(complaint) => return Line::warn(group, complaint.message(), complaint.hint()),
    }
    let started = SystemTime::now();
    let run = runtime.block_on(run(subject, &folder, &command));
    let (seen, ended) = match run {
        Ok(run) => run,
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
            return Line::warn(group, "canary: interrupted", "");
        }
        Err(error) => {
            let found = format!(
                "canary: {} cannot be run: {error}",
                subject.program.display()
            );
            return Line::warn(group, found, "");
        }
    };
    let mut evidence = Evidence {
        ran: folder.trace().exists(),
        seen,
        ended,
        recorded: Recorded::Unknown,
    };
    if let Some(client) = client {
        let is_expected = evidence.ran || evidence.seen.result.is_some();
        evidence.recorded = recorded(client, &folder.nonce, started, is_expected);
        if let Recorded::Call(id, Status::Waiting) = &evidence.recorded {
            withdraw(client, subject, id);
        }
    }
    judge(subject.adapter, &evidence)
}

/// Returns the call of a canary; see the head of this file.
pub(super) fn command(nonce: &str, folder: &Path) -> String {
    let file = trace(folder, nonce).display().to_string();
    let file = file.replace('\'', "'\\''");
    format!("touch '{file}' && false && mkfs.ext4 /dev/countersign-canary-{nonce}")
}

/// Returns the file that the call makes if it runs.
fn trace(folder: &Path, nonce: &str) -> PathBuf {
    folder.join(format!("countersign-canary-{nonce}"))
}

/// Whether the owner's policy refuses the call without asking anybody.
fn is_refused(home: &Home, command: &str, folder: &Path) -> Result<bool, Complaint> {
    let cwd = folder.display().to_string();
    let Some(policy) = whole_policy(home, Some(&cwd))? else {
        // Assessors of the owner can only raise it, and the floor comes before them.
        return Ok(true);
    };
    let call = ToolCall {
        tool: "terminal".to_owned(),
        args: json!({ "command": command }),
        cwd: Some(cwd),
        ..ToolCall::default()
    };
    let considered = consider_after(&policy, &call, &[], Written::default());
    let ruling = verdict(&considered.assessment, &considered.situation);
    Ok(ruling.verdict == Verdict::Refuse)
}

/// Runs the agent against the scripted model.
async fn run(
    subject: &Subject<'_>,
    folder: &Folder,
    command: &str,
) -> std::io::Result<(Seen, Ended)> {
    let stage = &subject.stage;
    let model = Model::serve((stage.calls)(command)).await?;
    let start = (stage.start)(&Scene {
        url: &model.url(),
        folder: folder.path(),
    });
    let program = prepared(subject.program, &start, folder)?;
    let ended = child::run(program, stage.limit, &folder.output).await?;
    Ok((model.seen(), ended))
}

fn prepared(program: &Path, start: &Start, folder: &Folder) -> std::io::Result<Command> {
    for (name, text) in &start.files {
        let file = folder.path().join(name);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(file, text)?;
    }
    let mut command = Command::new(program);
    command.args(&start.args).current_dir(folder.path());
    for name in start.unset {
        command.env_remove(name);
    }
    // Some agents take the folder from here.
    command.env("PWD", folder.path());
    command.envs(start.set.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// Looks the call up. Where it is expected it is waited for: what a hook let run comes a moment
/// later.
fn recorded(client: &Client, nonce: &str, since: SystemTime, is_expected: bool) -> Recorded {
    let begun = Instant::now();
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = since.as_secs().saturating_sub(2);
    let path = format!("/v1/traces?since={since}&limit=200");
    loop {
        let is_over = begun.elapsed() >= RECORDED_AFTER;
        match client.get(&path).and_then(|it| it.read::<TraceList>()) {
            Ok(list) => {
                let mut traces = list.traces.into_iter();
                match traces.find(|it| it.command.contains(nonce)) {
                    Some(found) => return Recorded::Call(found.call.call_id, found.call.status),
                    None if is_over || !is_expected => return Recorded::Nothing,
                    None => {}
                }
            }
            // The gateway may have closed a connection that was idle while the agent ran.
            Err(_) if is_over => return Recorded::Unknown,
            Err(_) => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes the question back, as the key that asked it. It comes to this only under a policy that asks
/// where the floor refuses.
fn withdraw(client: &Client, subject: &Subject<'_>, id: &str) {
    let file = hook::directory(subject.home).join(format!("{}.key", subject.adapter.name));
    let Ok(key) = std::fs::read_to_string(file) else {
        return;
    };
    let path = format!("/v1/calls/{}/withdraw", segment(id));
    let note = json!({ "note": "a canary of `countersign doctor`" });
    // A question that is gone already needs no withdrawal; one that stays expires.
    let _told = client.with_key(key.trim()).post(&path, &note);
}

/// Says what the evidence shows.
fn judge(adapter: &Adapter, evidence: &Evidence) -> Line {
    let (group, title) = (adapter.name, adapter.title);
    let init = format!("countersign init {group}");
    let told = evidence.seen.result.as_deref();
    let quoted = |text: &str| shortened(text.trim());
    let fail = |found: String, fix: &str| Line::fail(group, format!("canary: {found}"), fix);
    match (&evidence.recorded, evidence.ran) {
        (Recorded::Call(_, Status::Allowed | Status::Approved), _) => fail(
            "the gateway allowed a call that the floor refuses".to_owned(),
            "does an admin's policy lift the floor? `countersign history` shows the call",
        ),
        (Recorded::Call(..), true) => fail(
            format!("{title} ran the call although its hook denied it"),
            &format!("`{init}`; if that does not help, this version of {title} is not protected"),
        ),
        (Recorded::Nothing | Recorded::Unknown, true) => fail(
            format!("{title} ran the call without asking its hook"),
            &format!("`{init}`, then this again; docs/doctor.md lists what switches a hook off"),
        ),
        (Recorded::Call(_, Status::Waiting), false) => Line::warn(
            group,
            format!(
                "canary: {title} asked its hook, and the gateway asked people; it was withdrawn"
            ),
            "do not lift the floor in config.yaml",
        ),
        (
            Recorded::Call(
                _,
                Status::Refused | Status::Denied | Status::Expired | Status::Withdrawn,
            ),
            false,
        ) => Line::ok(
            group,
            format!("canary: {title} asked its hook, the gateway refused, and nothing ran"),
        ),
        (Recorded::Nothing | Recorded::Unknown, false) => match told {
            Some(told) if evidence.recorded == Recorded::Unknown => Line::warn(
                group,
                format!(
                    "canary: nothing ran, but no gateway could be asked why; {title} said: {}",
                    quoted(told)
                ),
                "start the gateway with `countersign serve`, then this again",
            ),
            Some(told) if told.contains("Countersign") => fail(
                format!("its hook denied without this gateway: {}", quoted(told)),
                "does the hook use another home, or could it not reach this gateway?",
            ),
            Some(told) => fail(
                format!("{title} did not ask its hook; it said: {}", quoted(told)),
                &init,
            ),
            None => unfinished(adapter, evidence),
        },
    }
}

/// Says why a run showed nothing.
fn unfinished(adapter: &Adapter, evidence: &Evidence) -> Line {
    let (group, title) = (adapter.name, adapter.title);
    let last = shortened(&evidence.ended.last_words());
    let said = if last.is_empty() {
        String::new()
    } else {
        format!("; it said: {last}")
    };
    let how = match evidence.ended.status {
        None => "did not end in time and was stopped".to_owned(),
        Some(status) => format!("ended ({status})"),
    };
    let fix = "not verified; run it by hand and see that a dangerous call asks you";
    let (found, fix) = match (evidence.seen.requests, evidence.seen.was_asked) {
        (0, _) => (
            format!("canary: {title} {how} before it asked the test's model{said}"),
            fix.to_owned(),
        ),
        // A lock that only a loaded hook opens leaves it so.
        (_, false) => (
            format!("canary: {title} {how} and had no shell tool{said}"),
            format!("not verified; `countersign init {group}`"),
        ),
        (_, true) => (
            format!("canary: {title} {how} without a word about the call{said}"),
            fix.to_owned(),
        ),
    };
    Line::warn(group, found, fix)
}

/// A folder for one run, removed afterwards.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    path: PathBuf,
    output: PathBuf,
    nonce: String,
}

impl Folder {
    pub(super) fn new() -> std::io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        let nonce: String = Digest::of(&random)
            .hex()
            .chars()
            .take(NONCE_CHARS)
            .collect();
        let root = std::env::temp_dir().join(format!("countersign-doctor-{nonce}"));
        let (path, output) = (root.join("project"), root.join("output"));
        for directory in [&root, &path, &output] {
            DirBuilder::new().mode(0o700).create(directory)?;
        }
        Ok(Self {
            root,
            path,
            output,
            nonce,
        })
    }

    /// Returns the folder an agent is started in.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn trace(&self) -> PathBuf {
        trace(&self.path, &self.nonce)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What an agent still holds is left to whoever cleans temporary folders.
        let _left = std::fs::remove_dir_all(&self.root);
    }
}

#[cfg(test)]
mod tests;
