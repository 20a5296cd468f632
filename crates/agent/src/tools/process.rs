//! Background commands: output, waiting, killing.

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_gate::calls::permit::Permit;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;
use tokio::sync::watch;

use super::{Around, Outcome, TEXT_BYTES_MAX, Tool, checked, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// Most processes that are looked after, ended ones included.
const PROCESSES_MAX: usize = 32;
/// How long one call waits at most for a process, in seconds.
const WAIT_SECONDS_MAX: u64 = 300;
/// What is kept of the beginning and of the end of an output.
const HALF: usize = TEXT_BYTES_MAX / 2;

/// What a process has said so far: beginning and end. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Output(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Output {
    fn push(&self, bytes: &[u8]) {
        let mut said = lock(&self.0);
        let room = HALF.saturating_sub(said.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        said.head.extend_from_slice(first);
        said.tail.extend(rest);
        let over = said.tail.len().saturating_sub(HALF);
        said.tail.drain(..over);
        said.left_out += u64::try_from(over).unwrap_or_default();
    }

    /// Returns it as text, with a note on what was left out.
    pub(super) fn text(&self) -> String {
        let mut said = lock(&self.0);
        let left_out = said.left_out;
        let Said { head, tail, .. } = &mut *said;
        let tail = tail.make_contiguous();
        if left_out == 0 {
            let whole = [head.as_slice(), tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let [head, tail] = [head.as_slice(), tail].map(String::from_utf8_lossy);
        format!("{head}\n… {left_out} bytes were left out …\n{tail}")
    }
}

/// Reads to the end of what a process says.
pub(super) async fn read_all(reader: std::io::PipeReader, output: Output) {
    let fd = std::os::fd::OwnedFd::from(reader);
    let Ok(mut pipe) = tokio::net::unix::pipe::Receiver::from_owned_fd(fd) else {
        return;
    };
    let mut bytes = [0; 8192];
    while let Ok(count @ 1..) = pipe.read(&mut bytes).await {
        output.push(bytes.get(..count).unwrap_or_default());
    }
}

/// Ends everything in the group of a process.
pub(super) fn end_group(id: Option<u32>) {
    let id = id.and_then(|id| i32::try_from(id).ok());
    if let Some(group) = id.and_then(Pid::from_raw) {
        let _ended = kill_process_group(group, Signal::KILL);
    }
}

/// Says how a process ended.
pub(super) fn status(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Everything that runs in the background. It ends when this is dropped.
#[derive(Debug, Default)]
pub struct Processes {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    processes: BTreeMap<String, Process>,
}

#[derive(Debug)]
struct Process {
    session: String,
    command: String,
    group: Option<u32>,
    output: Output,
    /// How it ended, once it has.
    ended: watch::Receiver<Option<String>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() {
            end_group(self.group);
        }
    }
}

impl Processes {
    /// Returns whether one more may run.
    pub(super) fn check_room(&self) -> Result<(), String> {
        let mut kept = lock(&self.kept);
        if kept.processes.len() >= PROCESSES_MAX {
            kept.processes
                .retain(|_, process| process.ended.borrow().is_none());
        }
        if kept.processes.len() >= PROCESSES_MAX {
            return Err(format!("{PROCESSES_MAX} commands are already running"));
        }
        Ok(())
    }

    /// Looks after `child` from now on and returns its name.
    pub(super) fn watch(
        &self,
        session: &str,
        command: &str,
        mut child: Child,
        output: Output,
    ) -> String {
        let group = child.id();
        let (tell, ended) = watch::channel(None);
        tokio::spawn(async move {
            let how = match child.wait().await {
                Ok(ended) => status(ended),
                Err(error) => error.to_string(),
            };
            end_group(group);
            let _nobody_asks = tell.send(Some(how));
        });
        let mut kept = lock(&self.kept);
        kept.last += 1;
        let id = format!("bg{}", kept.last);
        let process = Process {
            session: session.to_owned(),
            command: command.to_owned(),
            group,
            output,
            ended,
        };
        kept.processes.insert(id.clone(), process);
        id
    }

    /// Watches a process that has just begun.
    pub(super) async fn first_look(&self, id: &str, wait: Duration) -> Outcome {
        let ended = lock(&self.kept)
            .processes
            .get(id)
            .map(|it| it.ended.clone());
        if let Some(mut ended) = ended {
            let _either = tokio::time::timeout(wait, ended.wait_for(Option::is_some)).await;
        }
        let kept = lock(&self.kept);
        let text = kept.processes.get(id).map(|process| process.text(id));
        Outcome::done(text.unwrap_or_default())
    }

    /// Returns how a process of `session` ends, and its group.
    fn of(
        &self,
        session: &str,
        id: &str,
    ) -> Option<(watch::Receiver<Option<String>>, Option<u32>)> {
        let kept = lock(&self.kept);
        let process = kept.processes.get(id);
        let process = process.filter(|process| process.session == session)?;
        Some((process.ended.clone(), process.group))
    }

    fn list(&self, session: &str) -> String {
        let kept = lock(&self.kept);
        let own = kept.processes.iter();
        let own = own.filter(|(_, process)| process.session == session);
        let lines: Vec<String> = own
            .map(|(id, process)| format!("{id} ({}): {}", process.state(), process.command))
            .collect();
        if lines.is_empty() {
            return "nothing is running in the background".to_owned();
        }
        lines.join("\n")
    }

    fn text(&self, id: &str) -> String {
        let kept = lock(&self.kept);
        let process = kept.processes.get(id);
        process.map(|process| process.text(id)).unwrap_or_default()
    }
}

impl Process {
    fn state(&self) -> String {
        let ended = self.ended.borrow();
        ended.clone().unwrap_or_else(|| "running".to_owned())
    }

    fn text(&self, id: &str) -> String {
        format!("{}\n({id}: {})", self.output.text(), self.state())
    }
}

/// Looks after what runs in the background.
#[derive(Clone, Debug)]
pub struct Processing {
    processes: Arc<Processes>,
}

impl Processing {
    /// Returns the tool for what is kept in `processes`.
    pub const fn new(processes: Arc<Processes>) -> Self {
        Self { processes }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steering {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Log,
    Wait,
    Kill,
}

impl Tool for Processing {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "process".to_owned(),
            description: "Looks after commands in the background: `list` them, read the `log` of \
                          one, `wait` for its end (at most `timeout` seconds) or `kill` it."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["list", "log", "wait", "kill"]},
                    "id": {"type": "string"},
                    "timeout": {"type": "integer", "minimum": 1, "maximum": WAIT_SECONDS_MAX},
                },
                "required": ["action"],
                "additionalProperties": false,
            }),
        }
    }

    fn does(&self) -> String {
        "Looks after commands in the background: lists them, reads their output, ends them."
            .to_owned()
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Steering>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match understood::<Steering>(permit.args()) {
                Ok(args) => self.outcome(args, around).await.into(),
                Err(why) => Outcome::failed(why),
            }
        })
    }
}

impl Processing {
    async fn outcome(&self, args: Steering, around: &Around) -> Result<String, String> {
        if args.action == Action::List {
            return Ok(self.processes.list(&around.session));
        }
        let id = args.id.ok_or("`id` is missing")?;
        let (mut ended, group) = self
            .processes
            .of(&around.session, &id)
            .ok_or_else(|| format!("there is no process `{id}`; `list` names them"))?;
        let seconds = args.timeout.unwrap_or(WAIT_SECONDS_MAX);
        let mut wait = Duration::from_secs(seconds.clamp(1, WAIT_SECONDS_MAX));
        match args.action {
            Action::List | Action::Log => wait = Duration::ZERO,
            Action::Wait => {}
            Action::Kill => {
                if ended.borrow().is_none() {
                    end_group(group);
                }
            }
        }
        tokio::select! {
            _ended = ended.wait_for(Option::is_some) => {}
            () = tokio::time::sleep(wait) => {}
            () = around.stopped() => return Err("the run was stopped".to_owned()),
        }
        Ok(self.processes.text(&id))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
