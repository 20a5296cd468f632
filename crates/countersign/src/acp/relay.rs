//! Runs the agent and passes lines between it and the editor.
//!
//! One thread for each direction and one for each waiting question. Lines are written whole under a
//! lock, so that an answer of ours never falls into a line of the editor's.

use std::io::{BufReader, Stdout};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::ask::{self, Answer};
use super::held::{Held, Table, Waiting};
use super::line::{self, Read};
use super::message::{Id, Message, look};
use super::permission::{self, Outcome, Permission};
use super::report::Reports;
use super::sessions::Sessions;
use super::{NAME, Start};
use crate::client::Reach;
use crate::complaint::Complaint;

/// The question that is answered here.
const PERMISSION: &str = "session/request_permission";
/// The error by which a request that its sender cancelled is answered.
const CANCELLED_CODE: i64 = -32800;
/// How long the agent may take to tell, beside its question, where a command would run.
const TOLD_TIME_MAX: Duration = Duration::from_millis(500);
/// The exit code of a process that a signal ended is this and the signal's number.
const SIGNAL_BASE: u8 = 128;

/// What both directions share.
#[derive(Debug)]
struct Relay {
    reach: Reach,
    /// The agent's program, which names it until it has named itself.
    program: String,
    to_agent: Mutex<Option<ChildStdin>>,
    to_editor: Mutex<Stdout>,
    waiting: Table,
    sessions: Mutex<Sessions>,
    /// Wakes those who wait for the agent to tell more of a call.
    told: Condvar,
    reports: Reports,
}

/// Runs the agent until it ends, and returns its exit code.
pub(super) fn run(start: &Start, reach: Reach) -> Result<ExitCode, Complaint> {
    let shown = start.program.to_string_lossy();
    let failed = |error: std::io::Error| {
        let hint = "name the agent as a terminal would run it, with its arguments";
        Complaint::failed(format!("cannot run `{shown}`: {error}"), hint)
    };
    let mut agent = Command::new(&start.program)
        .args(&start.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let from_agent = agent.stdout.take();
    let program = Path::new(&start.program).file_name();
    let relay = Arc::new(Relay {
        reports: Reports::start(&reach),
        reach,
        program: program.map_or_else(|| NAME.into(), |it| it.to_string_lossy().into_owned()),
        to_agent: Mutex::new(agent.stdin.take()),
        to_editor: Mutex::new(std::io::stdout()),
        waiting: Table::default(),
        sessions: Mutex::default(),
        told: Condvar::new(),
    });
    let signals = Arc::clone(&relay);
    let id = rustix::process::Pid::from_child(&agent);
    spawn(move || signals.pass_signals(id))?;
    let editor = Arc::clone(&relay);
    spawn(move || editor.heed_editor())?;
    if let Some(out) = from_agent {
        let asking = relay.heed_agent(BufReader::new(out));
        relay.end();
        for thread in asking {
            // One that panicked has been answered by the end of the agent.
            let _ended = thread.join();
        }
    }
    ended(&mut agent)
}

fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<std::thread::JoinHandle<T>, Complaint> {
    std::thread::Builder::new()
        .spawn(work)
        .map_err(|error| Complaint::failed(format!("cannot start a thread: {error}"), ""))
}

fn ended(agent: &mut Child) -> Result<ExitCode, Complaint> {
    use std::os::unix::process::ExitStatusExt as _;
    let status = agent
        .wait()
        .map_err(|error| Complaint::failed(format!("cannot wait for the agent: {error}"), ""))?;
    let signal = status.signal().and_then(|it| u8::try_from(it).ok());
    let code = status.code().and_then(|it| u8::try_from(it).ok());
    let killed = signal.map(|it| SIGNAL_BASE.saturating_add(it));
    Ok(code.or(killed).map_or(ExitCode::FAILURE, ExitCode::from))
}

impl Relay {
    /// Passes on what the editor says, until it leaves.
    fn heed_editor(&self) {
        let mut from = BufReader::new(std::io::stdin());
        let mut line = Vec::new();
        while let Ok(Read::Line) = line::read(&mut from, &mut line) {
            let message = look(&line);
            if let Message::Response(id) = &message
                && self.waiting.has(id)
            {
                // The editor was not asked; only the gateway answers this one.
                continue;
            }
            self.sessions().heed_editor(&message, &line);
            let is_cancel = matches!(&message, Message::Notification(it) if it == "session/cancel");
            if let Some(session) = is_cancel.then(|| session_of(&line)).flatten() {
                self.cancel(Some(&session));
            }
            self.tell_agent(&line);
        }
        self.end();
    }

    /// Passes on what the agent says, until it ends. Returns the threads that still ask.
    fn heed_agent(
        self: &Arc<Self>,
        mut from: BufReader<std::process::ChildStdout>,
    ) -> Vec<std::thread::JoinHandle<()>> {
        let mut line = Vec::new();
        let mut asking: Vec<std::thread::JoinHandle<()>> = Vec::new();
        while let Ok(Read::Line) = line::read(&mut from, &mut line) {
            let message = look(&line);
            match &message {
                Message::Request(id, method) if method == PERMISSION => {
                    asking.retain(|it| !it.is_finished());
                    asking.extend(self.hold(id, &line));
                    continue;
                }
                Message::Notification(method) if method == PERMISSION => {
                    note("a question for permission without an id was not passed on");
                    continue;
                }
                Message::Notification(method) if method == "$/cancel_request" => {
                    if let Some(id) = cancelled_id(&line)
                        && self.waiting.has(&id)
                    {
                        self.drop_request(&id);
                        continue;
                    }
                }
                Message::Unreadable => {
                    note("a message of the agent that cannot be read was not passed on");
                    continue;
                }
                Message::Request(..)
                | Message::Notification(_)
                | Message::Response(_)
                | Message::Noise => {}
            }
            self.sessions().heed_agent(&message, &line);
            self.told.notify_all();
            self.reports.look(&message, &line);
            let mut editor = self
                .to_editor
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if line::write(&mut *editor, &line).is_err() {
                break;
            }
        }
        asking
    }

    /// Takes up the question `id`. Returns the thread that asks the gateway.
    fn hold(self: &Arc<Self>, id: &Id, line: &[u8]) -> Option<std::thread::JoinHandle<()>> {
        let permission = match permission::read(line) {
            Ok(permission) => permission,
            Err(why) => {
                note(&format!("a question for permission cannot be read: {why}"));
                let error =
                    json!({ "code": -32602, "message": "Countersign cannot read this question" });
                self.respond(id, "error", &error);
                return None;
            }
        };
        let options = permission.options.clone();
        if !options.can_allow() {
            let why = "the agent offers no single way to allow this once, so it was rejected";
            note(why);
            self.respond(id, "result", &options.result(Outcome::Rejected, Some(why)));
            return None;
        }
        let Some(waiting) = self
            .waiting
            .add(id.clone(), &permission.session, options.clone())
        else {
            if !self.waiting.has(id) {
                let why = "too many questions wait";
                self.respond(id, "result", &options.result(Outcome::Rejected, Some(why)));
            }
            return None;
        };
        let relay = Arc::clone(self);
        let (asked, serial) = (id.clone(), waiting.serial);
        let asking = spawn(move || relay.decide(&asked, permission, waiting));
        if asking.is_err() {
            self.answer(
                id,
                serial,
                Outcome::Rejected,
                Some("Countersign cannot start a thread."),
            );
        }
        asking.ok()
    }

    fn decide(&self, id: &Id, mut permission: Permission, waiting: Waiting) {
        let Waiting { serial, stopped } = waiting;
        self.complete(&mut permission);
        let permission = &permission;
        let sessions = self.sessions();
        let session = sessions.of(&permission.session);
        let agent = sessions.agent().unwrap_or(&self.program).to_owned();
        drop(sessions);
        match ask::ask(&self.reach, permission, &session, &agent, stopped) {
            Answer::Allowed(call) => {
                let (session, name) = (&permission.session, permission.call.as_deref());
                self.reports.expect(session, name, call);
                self.answer(id, serial, Outcome::Allowed, None);
            }
            Answer::Rejected(why) => {
                note(&why);
                self.answer(id, serial, Outcome::Rejected, Some(&why));
            }
            // Whoever stopped it has answered.
            Answer::Gone => {}
        }
    }

    /// Adds what the agent tells of the call beside the question.
    fn complete(&self, permission: &mut Permission) {
        let told = |sessions: &Sessions| {
            let call = permission.call.as_deref()?;
            sessions.told(&permission.session, call)
        };
        if permission.is_open() {
            let told = told(&self.sessions());
            permission.leave_open(told);
        } else if permission.lacks_directory() {
            let is_told =
                |sessions: &Sessions| told(sessions).is_some_and(|it| permission.is_of(&it));
            let waited = self
                .told
                .wait_timeout_while(self.sessions(), TOLD_TIME_MAX, |sessions| {
                    !is_told(sessions)
                });
            let (sessions, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let found = told(&sessions);
            drop(sessions);
            match found {
                Some(it) if permission.is_of(&it) => permission.complete(&it),
                found => permission.leave_open(found),
            }
        }
    }

    /// Answers the question `id` with this number, unless somebody has.
    fn answer(&self, id: &Id, serial: u64, outcome: Outcome, message: Option<&str>) {
        if let Some(held) = self.waiting.take_same(id, serial) {
            self.respond(id, "result", &held.options.result(outcome, message));
        }
    }

    /// Ends the waiting questions of `session`, or all of them: their turn is over.
    fn cancel(&self, session: Option<&str>) {
        for (id, Held { options, .. }) in self.waiting.take_all(session) {
            self.respond(&id, "result", &options.result(Outcome::Cancelled, None));
        }
    }

    /// Ends the question `id`, which the agent itself takes back.
    fn drop_request(&self, id: &Id) {
        if self.waiting.take(id).is_some() {
            let error = json!({ "code": CANCELLED_CODE, "message": "Request cancelled" });
            self.respond(id, "error", &error);
        }
    }

    fn respond(&self, id: &Id, key: &str, value: &Value) {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"{key}\":{value}}}\n",
            id.json()
        );
        self.tell_agent(line.as_bytes());
    }

    fn tell_agent(&self, line: &[u8]) {
        let mut agent = self.to_agent.lock().unwrap_or_else(PoisonError::into_inner);
        // An agent that no longer reads has ended, which its own stream will tell.
        let _told = agent.as_mut().map(|it| line::write(it, line));
    }

    /// Withdraws all questions and lets the agent know that nothing more comes.
    fn end(&self) {
        self.cancel(None);
        self.to_agent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Passes the signals to end on to the agent, and withdraws all questions first.
    fn pass_signals(&self, agent: rustix::process::Pid) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        // Without it a signal ends this process alone, and the agent finds its input closed.
        let Ok(runtime) = runtime else {
            return;
        };
        runtime.block_on(async {
            let streams = (
                signal(SignalKind::terminate()),
                signal(SignalKind::interrupt()),
            );
            let (Ok(mut terminated), Ok(mut interrupted)) = streams else {
                return;
            };
            loop {
                let passed = tokio::select! {
                    _ = terminated.recv() => rustix::process::Signal::TERM,
                    _ = interrupted.recv() => rustix::process::Signal::INT,
                };
                self.cancel(None);
                // One that has ended already needs no signal.
                let _passed = rustix::process::kill_process(agent, passed);
            }
        });
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the session that a `session/cancel` names.
fn session_of(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let session = message.get("params")?.get("sessionId")?;
    session.as_str().map(str::to_owned)
}

/// Returns the id of the request that a `$/cancel_request` takes back.
fn cancelled_id(line: &[u8]) -> Option<Id> {
    let message: Value = serde_json::from_slice(line).ok()?;
    Some(Id::of(message.get("params")?.get("requestId")?))
}

/// Tells whoever reads the agent's log. Standard output belongs to the protocol.
fn note(text: &str) {
    use std::io::Write as _;
    let text = countersign_core::display::inline(text);
    let _told = writeln!(std::io::stderr(), "countersign: {text}");
}
