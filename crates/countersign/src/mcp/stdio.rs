//! The proxy over standard input and output: a client on this side, a child process on the other.
//!
//! Separate from the gatekeeper, which does not know where messages come from.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader,
    duplex,
};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::call::Call;
use super::gatekeeper::{Gatekeeper, Passage, Receipt};
use super::hold::Hold;
use super::http::remote::Remote;
use super::message::{
    FromClient, INVALID_REQUEST, MESSAGE_BYTES_MAX, Passing, error, read_client, read_server,
};
use crate::complaint::Complaint;

/// Requests of a client that may wait, or run, at once.
const REQUESTS_MAX: usize = 1024;
/// Messages for the client that may wait to be written.
const WAITING_MAX: usize = 64;
/// How long the order of calls is kept while the gateway thinks about the first of them.
const LANE_TIME_MAX: Duration = Duration::from_secs(1);
/// How long the last reports to the gateway may take after both sides have ended.
const CLOSING_TIME_MAX: Duration = Duration::from_secs(5);
/// How much is read at once, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// What a server reads from.
type Input = Box<dyn AsyncWrite + Send + Unpin>;
/// What a server writes to.
type Output = Box<dyn AsyncRead + Send + Unpin>;

/// The server behind the proxy.
enum Server {
    /// A child process.
    Program(Box<Child>),
    /// A task that speaks to an address.
    Remote(tokio::task::JoinHandle<()>),
}

impl Server {
    /// Waits until it has ended.
    async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        match self {
            Self::Program(child) => child.wait().await,
            Self::Remote(task) => {
                let is_over = task.await.is_ok();
                Ok(ExitStatus::from_raw(if is_over { 0 } else { 1 << 8 }))
            }
        }
    }

    fn pid(&self) -> Option<Pid> {
        match self {
            Self::Program(child) => child.id().and_then(|id| Pid::from_raw(id.cast_signed())),
            Self::Remote(_) => None,
        }
    }
}

/// The proxy between a client and one server.
struct Proxy {
    gatekeeper: Gatekeeper,
    /// To the client.
    client: mpsc::Sender<Vec<u8>>,
    /// To the server; `None` once the client has ended.
    server: tokio::sync::Mutex<Option<Input>>,
    requests: Mutex<Requests>,
    /// Held by one call after the other until it is sent or waits, so that calls keep their order.
    lane: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Requests {
    /// Calls that are decided about.
    held: HashMap<String, Arc<Hold>>,
    /// Calls that were sent, whose answers are looked at.
    sent: HashMap<String, Receipt>,
}

/// Runs `command` and stands between it and whoever started this program. Returns its exit code.
pub(crate) fn run(
    command: &[OsString],
    variables: &[(String, String)],
    gatekeeper: Gatekeeper,
) -> Result<ExitCode, Complaint> {
    blocking(async {
        let (server, input, output) = started(command, variables)?;
        between(server, input, output, gatekeeper).await
    })
}

/// Stands between a server at an address and whoever started this program.
pub(crate) fn run_remote(remote: Remote, gatekeeper: Gatekeeper) -> Result<ExitCode, Complaint> {
    blocking(async {
        let (input, theirs) = duplex(READ_BYTES);
        let (ours, output) = duplex(READ_BYTES);
        let server = Server::Remote(tokio::spawn(remote.run(theirs, ours)));
        between(server, Box::new(input), Box::new(output), gatekeeper).await
    })
}

fn blocking(
    work: impl Future<Output = Result<ExitCode, Complaint>>,
) -> Result<ExitCode, Complaint> {
    let failed = |error: std::io::Error| Complaint::failed(format!("cannot start: {error}"), "");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let ended = runtime.block_on(work);
    // A read of standard input cannot be broken off; it must not keep the process.
    runtime.shutdown_background();
    ended
}

fn started(
    command: &[OsString],
    variables: &[(String, String)],
) -> Result<(Server, Input, Output), Complaint> {
    let Some((program, words)) = command.split_first() else {
        let hint = "put the server's command behind `--`: `countersign mcp -- COMMAND`";
        return Err(Complaint::usage("there is no server to start", hint));
    };
    let mut child = Command::new(program)
        .args(words)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let program = countersign_core::display::inline(&program.to_string_lossy());
            let hint = "give the command of the server as its client would run it";
            Complaint::failed(format!("cannot start `{program}`: {error}"), hint)
        })?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => {
            let server = Server::Program(Box::new(child));
            Ok((server, Box::new(input), Box::new(output)))
        }
        (_, _) => Err(Complaint::failed("the server has no pipes", "")),
    }
}

async fn between(
    mut server: Server,
    input: Input,
    output: Output,
    gatekeeper: Gatekeeper,
) -> Result<ExitCode, Complaint> {
    let (client, for_client) = mpsc::channel(WAITING_MAX);
    let proxy = Arc::new(Proxy {
        gatekeeper,
        client,
        server: tokio::sync::Mutex::new(Some(input)),
        requests: Mutex::default(),
        lane: tokio::sync::Mutex::default(),
    });
    let writing = tokio::spawn(write_client(for_client));
    let (busy, mut idle) = mpsc::channel::<()>(1);
    let from_server = tokio::spawn(Arc::clone(&proxy).read_server(output, busy.clone()));
    let from_client = tokio::spawn(Arc::clone(&proxy).read_client(busy));
    let status = attend(&mut server, &proxy, from_client).await?;
    // What the server said last is still in the pipe.
    let _read = from_server.await;
    proxy.cancel_all();
    proxy.gatekeeper.close().await;
    let _reported = tokio::time::timeout(CLOSING_TIME_MAX, idle.recv()).await;
    drop(proxy);
    let _written = tokio::time::timeout(CLOSING_TIME_MAX, writing).await;
    Ok(exit_code(status))
}

/// Waits until the server has ended. Meanwhile signals are passed on, and the end of the client ends
/// what waits.
async fn attend(
    server: &mut Server,
    proxy: &Proxy,
    mut from_client: tokio::task::JoinHandle<()>,
) -> Result<ExitStatus, Complaint> {
    let failed = |error: std::io::Error| {
        Complaint::failed(format!("cannot wait for the server: {error}"), "")
    };
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hung_up = signal(SignalKind::hangup()).map_err(failed)?;
    let pid = server.pid();
    let pass_on = |signal: Signal| {
        proxy.cancel_all();
        match pid {
            Some(pid) => {
                let _gone = kill_process(pid, signal);
                false
            }
            // Nobody else would end.
            None => true,
        }
    };
    let (mut has_client, mut ends) = (true, false);
    loop {
        if std::mem::take(&mut ends) {
            proxy.server.lock().await.take();
        }
        tokio::select! {
            status = server.wait() => {
                from_client.abort();
                return status.map_err(failed);
            }
            _ = terminated.recv() => ends |= pass_on(Signal::TERM),
            _ = interrupted.recv() => ends |= pass_on(Signal::INT),
            _ = hung_up.recv() => ends |= pass_on(Signal::HUP),
            _ = &mut from_client, if has_client => {
                has_client = false;
                proxy.cancel_all();
                proxy.server.lock().await.take();
                proxy.gatekeeper.close().await;
            }
            () = proxy.client.closed(), if has_client => {
                has_client = false;
                from_client.abort();
                proxy.cancel_all();
                proxy.server.lock().await.take();
                proxy.gatekeeper.close().await;
            }
        }
    }
}

impl Proxy {
    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing that waits is sent any more.
    fn cancel_all(&self) {
        for hold in self.requests().held.values() {
            hold.cancel();
        }
    }

    async fn read_client(self: Arc<Self>, busy: mpsc::Sender<()>) {
        let Ok(input) = file(std::io::stdin()) else {
            return;
        };
        let mut input = BufReader::with_capacity(READ_BYTES, input);
        loop {
            match read_line(&mut input).await {
                Line::Ended => return,
                Line::TooLong => {
                    let why = "the message is longer than 64 MiB";
                    self.answer(error(None, INVALID_REQUEST, why)).await;
                }
                Line::Whole(line) => self.take(line, &busy).await,
            }
        }
    }

    /// Takes one line of the client.
    async fn take(self: &Arc<Self>, line: Vec<u8>, busy: &mpsc::Sender<()>) {
        let (message, end) = split_end(&line);
        match read_client(message) {
            FromClient::Pass(passing) => {
                if let Passing::Cancelled(key) = &passing {
                    self.stop_watching(key, busy);
                }
                if self.note(passing) {
                    self.send(&line).await;
                }
            }
            FromClient::Refused(refused) => {
                if let Some(answer) = refused.answer {
                    self.answer(answer).await;
                }
            }
            FromClient::Call(call) => {
                let key = call.key();
                let (told, heard) = mpsc::channel(WAITING_MAX);
                let hold = Arc::new(Hold::new(told));
                if let Err(why) = self.hold(&key, &hold) {
                    return self
                        .answer(error(Some(&call.id), INVALID_REQUEST, why))
                        .await;
                }
                tokio::spawn(Arc::clone(self).pass_told(heard));
                let (proxy, busy, end) = (Arc::clone(self), busy.clone(), end.to_vec());
                tokio::spawn(async move {
                    proxy.decide(*call, &key, &hold, &end).await;
                    drop(busy);
                });
            }
        }
    }

    /// Forgets a call that was sent and that the client takes back: a server does not answer it any more.
    fn stop_watching(self: &Arc<Self>, key: &str, busy: &mpsc::Sender<()>) {
        let sent = self.requests().sent.remove(key);
        if let Some(receipt) = sent {
            let (proxy, busy) = (Arc::clone(self), busy.clone());
            tokio::spawn(async move {
                proxy.gatekeeper.report_taken_back(receipt).await;
                drop(busy);
            });
        }
    }

    /// Takes a call among those that are held.
    fn hold(&self, key: &str, hold: &Arc<Hold>) -> Result<(), &'static str> {
        let mut requests = self.requests();
        if requests.held.contains_key(key) || requests.sent.contains_key(key) {
            return Err("countersign: a request with this id is still in flight");
        }
        if requests.held.len() + requests.sent.len() >= REQUESTS_MAX {
            return Err("countersign: too many requests at once");
        }
        requests.held.insert(key.to_owned(), Arc::clone(hold));
        Ok(())
    }

    /// Takes note of a message of the client. Whether it is forwarded.
    fn note(&self, passing: Passing) -> bool {
        match passing {
            Passing::Initialize { client } => {
                self.gatekeeper.meet(client);
                true
            }
            Passing::ListTools {
                key: Some(key),
                is_first,
            } => {
                self.gatekeeper.expect_tools(key, is_first);
                true
            }
            // A call that was never sent is nothing the server could cancel.
            Passing::Cancelled(key) => {
                let hold = self.requests().held.get(&key).cloned();
                !hold.is_some_and(|hold| hold.cancel())
            }
            Passing::Response(key) => !self.gatekeeper.is_own(&key),
            Passing::ListTools { key: None, .. } | Passing::Other => true,
        }
    }

    async fn decide(&self, call: Call, key: &str, hold: &Hold, end: &[u8]) {
        let mut lane = tokio::time::timeout(LANE_TIME_MAX, self.lane.lock())
            .await
            .ok();
        let begun = self.gatekeeper.begin(&call, hold).await;
        if begun.waits() {
            lane = None;
        }
        match self.gatekeeper.finish(begun, &call, hold).await {
            Passage::Dispatch {
                mut message,
                receipt,
            } => {
                message.extend_from_slice(end);
                self.dispatch(&message, key, hold, receipt).await;
            }
            Passage::Answer(answer) => {
                self.requests().held.remove(key);
                if !hold.is_cancelled() {
                    self.answer(answer).await;
                }
            }
            Passage::Dropped => {
                self.requests().held.remove(key);
            }
        }
        drop(lane);
    }

    /// Sends a call to the server, unless the client has taken it back in this very moment. A
    /// cancellation that comes later is written behind it, because both are written under the lock.
    async fn dispatch(&self, message: &[u8], key: &str, hold: &Hold, receipt: Receipt) {
        let mut server = self.server.lock().await;
        if server.is_none() || !hold.dispatch() {
            drop(server);
            self.requests().held.remove(key);
            return self.gatekeeper.abandon(receipt).await;
        }
        {
            let mut requests = self.requests();
            requests.held.remove(key);
            requests.sent.insert(key.to_owned(), receipt);
        }
        write(server.as_mut(), message).await;
    }

    /// Passes on what a call tells its client while it waits.
    async fn pass_told(self: Arc<Self>, mut heard: mpsc::Receiver<Vec<u8>>) {
        while let Some(message) = heard.recv().await {
            self.answer(message).await;
        }
    }

    async fn read_server(self: Arc<Self>, output: Output, busy: mpsc::Sender<()>) {
        let mut output = BufReader::with_capacity(READ_BYTES, output);
        loop {
            match read_line(&mut output).await {
                Line::Ended => break,
                Line::TooLong => {
                    eprintln!(
                        "countersign: a message of the server is longer than 64 MiB and is left out"
                    );
                }
                Line::Whole(line) => {
                    self.learn(&line, &busy);
                    if self.client.send(line).await.is_err() {
                        break;
                    }
                }
            }
        }
        // A server that says nothing any more cannot answer a call either.
        self.cancel_all();
    }

    /// Takes note of what a server answers, before the client sees it.
    fn learn(self: &Arc<Self>, line: &[u8], busy: &mpsc::Sender<()>) {
        let (message, _) = split_end(line);
        self.gatekeeper.hear(message);
        if self.requests().sent.is_empty() {
            return;
        }
        for response in read_server(message) {
            let sent = self.requests().sent.remove(&response.key());
            match sent {
                None => {}
                Some(receipt) => {
                    let (proxy, busy) = (Arc::clone(self), busy.clone());
                    let failed = response.failed();
                    tokio::spawn(async move {
                        proxy.gatekeeper.report(receipt, failed).await;
                        drop(busy);
                    });
                }
            }
        }
    }

    /// Sends a line to the server as it is.
    async fn send(&self, line: &[u8]) {
        write(self.server.lock().await.as_mut(), line).await;
    }

    /// Sends a message of the proxy's own to the client.
    async fn answer(&self, mut message: Vec<u8>) {
        message.push(b'\n');
        let _gone = self.client.send(message).await;
    }
}

/// Writes to a server. One that has ended takes nothing; its exit is noticed elsewhere.
async fn write(server: Option<&mut Input>, bytes: &[u8]) {
    if let Some(server) = server
        && server.write_all(bytes).await.is_ok()
    {
        let _flushed = server.flush().await;
    }
}

/// Writes to standard output what is sent to the client, in order.
async fn write_client(mut messages: mpsc::Receiver<Vec<u8>>) {
    let Ok(mut output) = file(std::io::stdout()) else {
        return;
    };
    while let Some(message) = messages.recv().await {
        if output.write_all(&message).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

/// Returns one of the process's own streams without the buffer and the lock of the standard library.
fn file(stream: impl AsFd) -> std::io::Result<tokio::fs::File> {
    let own = stream.as_fd().try_clone_to_owned()?;
    Ok(tokio::fs::File::from_std(std::fs::File::from(own)))
}

/// A line of a side.
pub(crate) enum Line {
    /// With its end, if it has one.
    Whole(Vec<u8>),
    /// It was longer than [`MESSAGE_BYTES_MAX`] and has been read to its end.
    TooLong,
    /// There is no more.
    Ended,
}

/// Reads the next line, however long it is.
pub(crate) async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> Line {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let (used, ends) = match input.fill_buf().await {
            Ok([]) | Err(_) => {
                return match (line.is_empty(), too_long) {
                    (_, true) => Line::TooLong,
                    (true, false) => Line::Ended,
                    (false, false) => Line::Whole(line),
                };
            }
            Ok(read) => {
                let end = memchr::memchr(b'\n', read);
                let used = end.map_or(read.len(), |end| end + 1);
                if line.len() + used > MESSAGE_BYTES_MAX {
                    (line, too_long) = (Vec::new(), true);
                }
                if !too_long {
                    line.extend(read.iter().take(used));
                }
                (used, end.is_some())
            }
        };
        input.consume(used);
        match (ends, too_long) {
            (true, true) => return Line::TooLong,
            (true, false) => return Line::Whole(line),
            (false, _) => {}
        }
    }
}

/// Returns a line without its end, and its end.
fn split_end(line: &[u8]) -> (&[u8], &[u8]) {
    let without = line.strip_suffix(b"\n").unwrap_or(line);
    let without = without.strip_suffix(b"\r").unwrap_or(without);
    line.split_at_checked(without.len()).unwrap_or((line, &[]))
}

/// Returns the exit code of the server as this program's own; a shell's for one that a signal ended.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| signal + 128));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
