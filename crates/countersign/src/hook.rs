//! `countersign hook AGENT`: the program an agent runs before each of its tool calls.
//!
//! A harmless call is judged and allowed in this process. Every other call is put to the gateway,
//! and this process waits for the answer. Almost every agent runs the tool when its hook crashes, is
//! late or says something unexpected, so whatever goes wrong here ends in that agent's own deny.
//!
//! INVARIANT: no environment variable says where the home or the gateway is, or which key is used.
//! Some agents load the `.env` file of the project they work on into the environment of their hooks,
//! so a project could name a gateway of its own, which allows everything.

pub(crate) mod adapter;
mod ask;
pub(crate) mod asking;
pub(crate) mod conversation;
mod decide;
mod outcome;
pub(crate) mod spool;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use countersign_core::canonical;
use serde_json::Value;

use crate::client::Reach;
use crate::complaint::Complaint;
use crate::config::Home;
use adapter::{Adapter, Answer, Event, Wish};

/// Longest input of a hook. A longer one is denied.
const INPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long before the agent loses patience the hook gives its last answer.
const MARGIN: Duration = Duration::from_secs(5);
/// How long the file of a session or a call is kept.
const AGE_MAX: Duration = Duration::from_hours(30 * 24);
/// Files that are looked at when old ones are removed.
const SWEPT_MAX: usize = 64;

/// One start of the hook.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    /// The agent that started it.
    pub(crate) adapter: &'static Adapter,
    /// The home with the configuration, the hook's key and its files.
    pub(crate) home: Home,
    /// The gateway, if it was named.
    url: Option<String>,
    /// The file with the hook's key, if it was named.
    key_file: Option<PathBuf>,
    /// When the last answer is given.
    pub(crate) deadline: Instant,
    /// Whether the agent may put a call aside that nobody has answered.
    defers: bool,
}

/// How an agent starts its hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The agent.
    pub(crate) adapter: &'static Adapter,
    /// How long a person's answer is waited for; as long as the agent waits, if unsaid.
    pub(crate) wait: Option<Duration>,
    /// Whether the agent may put a call aside that nobody has answered.
    pub(crate) defers: bool,
}

/// Answers an agent about the event on standard input.
pub(crate) fn run(start: Start, reach: &Reach) -> Result<ExitCode, Complaint> {
    let adapter = start.adapter;
    if std::io::stdin().is_terminal() {
        let hint = format!("`countersign init {}` makes the agent run it", adapter.name);
        return Err(Complaint::usage(
            "`countersign hook` is run by an agent, with an event on standard input",
            hint,
        ));
    }
    follow_parent();
    // What a panic says may quote the call; the agent is told that there was one.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let last_word = Arc::new(LastWord::new(adapter));
    let watch = Arc::clone(&last_word);
    let watching = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(adapter.patience.saturating_sub(MARGIN / 2));
        watch.say(&Answer::Deny(
            "Countersign's hook took too long, so this was not run. Try again.".to_owned(),
        ))
    });
    if watching.is_err() {
        last_word.say(&Answer::Deny(
            "Countersign's hook cannot start a thread, so this was not run.".to_owned(),
        ));
    }
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| {
        answer(start, reach, &last_word, started)
    }));
    let answer = answered.unwrap_or_else(|_| {
        Answer::Deny(
            "Countersign's hook failed on this call (a defect in it), so it was not run."
                .to_owned(),
        )
    });
    last_word.say(&answer)
}

fn answer(start: Start, reach: &Reach, last_word: &LastWord, started: Instant) -> Answer {
    respond(start, reach, last_word, started).unwrap_or_else(|complaint| {
        Answer::Deny(format!(
            "Countersign did not let this run: {}",
            complaint.in_one_line()
        ))
    })
}

fn respond(
    start: Start,
    reach: &Reach,
    last_word: &LastWord,
    started: Instant,
) -> Result<Answer, Complaint> {
    let adapter = start.adapter;
    let unreadable = |why: String| {
        let hint = "is this the hook of that agent, and of a version this program knows?";
        Complaint::failed(format!("the hook's input cannot be read: {why}"), hint)
    };
    let input = input().map_err(unreadable)?;
    let event = (adapter.read)(input).map_err(unreadable)?;
    if let Event::Call(wish) = &event {
        last_word.wish.get_or_init(|| wish.clone());
    }
    let patience = adapter.patience.saturating_sub(MARGIN);
    let wait = start.wait.unwrap_or(patience);
    let hook = Hook {
        adapter,
        home: Home::named_or_usual(reach.home.clone())?,
        url: reach.url.clone(),
        key_file: reach.key_file.clone(),
        deadline: started + wait.min(patience),
        defers: start.defers,
    };
    match event {
        Event::Call(wish) => decide::decide(&hook, &wish),
        Event::Said { session, text } => {
            conversation::remember(&hook, &session, &text)?;
            Ok(Answer::GoOn)
        }
        Event::Ran(ran) => {
            // The call has run: there is nothing to stop, and nothing to tell the agent.
            let _reported = outcome::report(&hook, &ran);
            Ok(Answer::GoOn)
        }
        Event::Other => Ok(Answer::GoOn),
    }
}

fn input() -> Result<serde_json::Map<String, Value>, String> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err("it is longer than 16 MiB".to_owned());
    }
    match canonical::parse(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl Hook {
    /// Returns the directory of the hooks' files.
    fn directory(&self) -> PathBuf {
        directory(&self.home)
    }

    /// Returns how the gateway is reached, with the key of this agent.
    fn reach(&self) -> Reach {
        let own = self.directory().join(format!("{}.key", self.adapter.name));
        Reach {
            home: Some(self.home.directory().to_owned()),
            url: self.url.clone(),
            key_file: Some(self.key_file.clone().unwrap_or(own)),
            asks_for_agent: true,
        }
    }
}

/// Returns the directory of the hooks' files in `home`.
pub(crate) fn directory(home: &Home) -> PathBuf {
    home.directory().join("hooks")
}

/// Creates `directory` for its owner alone.
pub(crate) fn create_private(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// Removes files of `directory` that nobody has touched for long. One that cannot be removed is left.
fn sweep(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    for entry in entries.flatten().take(SWEPT_MAX) {
        let age = entry.metadata().and_then(|it| it.modified()).ok();
        let age = age.and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > AGE_MAX) {
            let _left = std::fs::remove_file(entry.path());
        }
    }
}

/// Has the hook told to stop when the shell ends that the agent started it in: the agent knows only
/// that shell, and nobody would be there to hear the answer.
fn follow_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Without it the question stays open until the deadline, which harms nobody.
        let _followed = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// Says one answer, whoever comes first: the judge, or the watch that guards its time.
#[derive(Debug)]
struct LastWord {
    adapter: &'static Adapter,
    /// The call it is about, once that is known.
    wish: OnceLock<Wish>,
    is_said: AtomicBool,
}

impl LastWord {
    const fn new(adapter: &'static Adapter) -> Self {
        Self {
            adapter,
            wish: OnceLock::new(),
            is_said: AtomicBool::new(false),
        }
    }

    /// Writes `answer` and ends the process. Never returns: whoever comes second waits for the end.
    fn say(&self, answer: &Answer) -> ! {
        if self.is_said.swap(true, Ordering::SeqCst) {
            loop {
                std::thread::park();
            }
        }
        let output = self.adapter.output(answer, self.wish.get());
        let mut stdout = std::io::stdout().lock();
        let told = stdout
            .write_all(output.stdout.as_bytes())
            .and_then(|()| stdout.flush());
        // Standard error may be closed; the exit code and standard output say the same.
        let _told = std::io::stderr().write_all(output.stderr.as_bytes());
        let code = if told.is_ok() { output.code } else { 2 };
        std::process::exit(i32::from(code))
    }
}
