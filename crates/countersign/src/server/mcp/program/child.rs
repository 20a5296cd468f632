//! One process of an MCP server: its standard input and output, and who waits for what it says.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::display::inline;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use crate::mcp::http::spoken::{Spoken, token_of};
use crate::mcp::message::id_key;
use crate::mcp::stdio::{Line, read_line};

/// Variables that programs need to find their files, and that hold no secret.
const USUAL_VARIABLES: [&str; 8] = [
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ", "SHELL",
];
/// Requests of one process at once.
const REQUESTS_MAX: usize = 512;
/// Messages that wait for a client that reads slowly.
const HEARD_MAX: usize = 1024;
/// Messages kept until a client listens.
const UNHEARD_MAX: usize = 64;
/// How long a process may take to end once its standard input is closed.
const STOP_TIME_MAX: Duration = Duration::from_secs(2);
/// Bytes of one line of its standard error that are logged.
const LOG_BYTES_MAX: u64 = 4 * 1024;
/// How much is read at once, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// A process.
#[derive(Debug)]
pub(super) struct Child {
    /// The key of whoever speaks to it.
    caller: String,
    /// Its session, in the older era.
    session: Option<String>,
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    process: tokio::sync::Mutex<tokio::process::Child>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    requests: HashMap<String, Request>,
    serial: u64,
    /// The stream on which a client hears what belongs to no request.
    standing: Option<mpsc::Sender<Vec<u8>>>,
    unheard: VecDeque<Vec<u8>>,
    used: Instant,
    has_ended: bool,
}

/// A request in progress.
#[derive(Debug)]
struct Request {
    serial: u64,
    id: Box<RawValue>,
    token: Option<String>,
    listens: bool,
    heard: mpsc::Sender<Vec<u8>>,
}

/// A request that was taken.
pub(super) struct Taken {
    pub(super) serial: u64,
    pub(super) heard: mpsc::Receiver<Vec<u8>>,
}

/// The process has ended.
#[derive(Debug)]
pub(super) struct Ended;

impl Child {
    /// Starts a process.
    pub(super) fn start(
        command: &[String],
        variables: &BTreeMap<String, String>,
        caller: &str,
        session: Option<String>,
    ) -> std::io::Result<Self> {
        let (program, words) = command
            .split_first()
            .ok_or_else(|| std::io::Error::other("no command"))?;
        let usual = USUAL_VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut process = Command::new(program)
            .args(words)
            .env_clear()
            .envs(usual)
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let state = Arc::new(Mutex::new(State {
            requests: HashMap::new(),
            serial: 0,
            standing: None,
            unheard: VecDeque::new(),
            used: Instant::now(),
            has_ended: false,
        }));
        if let Some(output) = process.stdout.take() {
            tokio::spawn(read(output, Arc::clone(&state)));
        }
        if let Some(errors) = process.stderr.take() {
            tokio::spawn(log(errors));
        }
        Ok(Self {
            caller: caller.to_owned(),
            session,
            input: Arc::new(tokio::sync::Mutex::new(process.stdin.take())),
            process: tokio::sync::Mutex::new(process),
            state,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is of this caller and session.
    pub(super) fn is_of(&self, caller: &str, session: Option<&str>) -> bool {
        self.caller == caller && self.session.as_deref() == session && !self.has_ended()
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Whether nobody has spoken to it for so long, and nobody listens.
    pub(super) fn is_idle(&self, time: Duration) -> bool {
        let state = self.state();
        let has_listener = state.standing.as_ref().is_some_and(|it| !it.is_closed());
        state.requests.is_empty() && !has_listener && state.used.elapsed() > time
    }

    /// Whether an answer to the request in `body` could be told from those to all others.
    pub(super) fn has_room_for(&self, body: &[u8]) -> bool {
        let said = crate::mcp::http::mirror::Said::read(body);
        let state = self.state();
        let token = token_of(body);
        let is_taken = |request: &Request| token.is_some() && request.token == token;
        state.requests.len() < REQUESTS_MAX
            && said
                .id
                .is_none_or(|id| !state.requests.contains_key(&id_key(&id)))
            && !state.requests.values().any(is_taken)
    }

    /// Takes a request among those in progress.
    pub(super) fn register(
        &self,
        id: &RawValue,
        body: &[u8],
        listens: bool,
    ) -> Result<Taken, &'static str> {
        let mut state = self.state();
        if state.requests.len() >= REQUESTS_MAX {
            return Err("too many requests are in progress");
        }
        let key = id_key(id);
        if state.requests.contains_key(&key) {
            return Err("a request with this id is still in progress");
        }
        state.serial += 1;
        state.used = Instant::now();
        let serial = state.serial;
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        let request = Request {
            serial,
            id: id.to_owned(),
            token: token_of(body),
            listens,
            heard: sender,
        };
        state.requests.insert(key, request);
        Ok(Taken { serial, heard })
    }

    /// Forgets a request; its id, if it was still in progress.
    pub(super) fn forget(&self, serial: u64) -> Option<Box<RawValue>> {
        let mut state = self.state();
        let key = state
            .requests
            .iter()
            .find_map(|(key, request)| (request.serial == serial).then(|| key.clone()))?;
        state.requests.remove(&key).map(|request| request.id)
    }

    /// Tells the process that a request was taken back.
    pub(super) fn cancel(self: &Arc<Self>, id: &RawValue) {
        let notice = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
            id.get()
        );
        let child = Arc::clone(self);
        tokio::spawn(async move {
            let _ended = child.send(notice.as_bytes()).await;
        });
    }

    /// Returns what the process says that belongs to no request; `None` if somebody listens already.
    pub(super) fn listen(&self) -> Option<mpsc::Receiver<Vec<u8>>> {
        let mut state = self.state();
        if state.standing.as_ref().is_some_and(|it| !it.is_closed()) {
            return None;
        }
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        for message in std::mem::take(&mut state.unheard) {
            let _fits = sender.try_send(message);
        }
        state.standing = Some(sender);
        Some(heard)
    }

    /// Writes a message to its standard input. Once begun, it is written to its end also if whoever
    /// sends it goes away: what came next would be joined to the half of it, to a message that nobody judged.
    pub(super) async fn send(&self, message: &[u8]) -> Result<(), Ended> {
        self.state().used = Instant::now();
        // A message is one line here; outside of texts a line break is a blank to JSON.
        let mut line: Vec<u8> = message
            .iter()
            .map(|byte| {
                if matches!(byte, b'\n' | b'\r') {
                    b' '
                } else {
                    *byte
                }
            })
            .collect();
        line.push(b'\n');
        let mut input = Arc::clone(&self.input).lock_owned().await;
        let writing = tokio::spawn(async move {
            let input = input.as_mut().ok_or(Ended)?;
            input.write_all(&line).await.map_err(|_| Ended)?;
            input.flush().await.map_err(|_| Ended)
        });
        writing.await.map_err(|_| Ended)?
    }

    /// Ends the process: closes its standard input, and kills it where that is not enough.
    pub(super) async fn stop(&self) {
        self.state().has_ended = true;
        // One that does not read may leave a message half written, and is killed below.
        if let Ok(mut input) = tokio::time::timeout(STOP_TIME_MAX, self.input.lock()).await {
            input.take();
        }
        let mut process = self.process.lock().await;
        if tokio::time::timeout(STOP_TIME_MAX, process.wait())
            .await
            .is_err()
        {
            let _gone = process.kill().await;
        }
    }
}

/// Hands on what the process says until it ends.
async fn read(output: ChildStdout, state: Arc<Mutex<State>>) {
    let mut output = BufReader::with_capacity(READ_BYTES, output);
    loop {
        match read_line(&mut output).await {
            Line::Ended => break,
            Line::TooLong => {
                tracing::warn!("a message of an MCP server is too long and is left out");
            }
            Line::Whole(line) => {
                let message = line.trim_ascii();
                if !message.is_empty() {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.hand_on(message.to_vec());
                }
            }
        }
    }
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.has_ended = true;
    // Whoever waits hears that nothing comes any more.
    state.requests.clear();
    state.standing = None;
}

impl State {
    fn hand_on(&mut self, message: Vec<u8>) {
        let key = match Spoken::read(&message) {
            Spoken::Answer { key, .. } => {
                // Nobody waits for an answer that names no request.
                if let Some(request) = self.requests.remove(&key) {
                    let _gone = request.heard.try_send(message);
                }
                return;
            }
            Spoken::Progress(token) => self
                .requests
                .iter()
                .find(|(_, request)| request.token.as_ref() == Some(&token))
                .map(|(key, _)| key.clone()),
            Spoken::Subscribed(key) => self.requests.contains_key(&key).then_some(key),
            // A program does not say for which request this is; the newest is the best guess.
            Spoken::Other => self
                .requests
                .iter()
                .filter(|(_, request)| !request.listens)
                .max_by_key(|(_, request)| request.serial)
                .map(|(key, _)| key.clone()),
        };
        let request = key.and_then(|key| self.requests.get(&key));
        let told = request.map(|it| &it.heard).or(self.standing.as_ref());
        if let Some(told) = told {
            let _gone_or_slow = told.try_send(message);
            return;
        }
        if self.unheard.len() >= UNHEARD_MAX {
            self.unheard.pop_front();
        }
        self.unheard.push_back(message);
    }
}

/// Logs what the process writes to its standard error, line by line.
async fn log(errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut errors).take(LOG_BYTES_MAX);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                tracing::debug!(line = %inline(line.trim_end()), "an MCP server says");
            }
        }
    }
}
