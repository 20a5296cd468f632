//! The agents that can be set up, and what belongs in the files of each.
//!
//! One row of [`AGENTS`] and one file for each. The rows are data and functions from texts to texts:
//! what is on disk comes in, what should be there goes out.

pub(crate) mod claude_code;
mod cline;
pub(crate) mod codex;
mod copilot;
mod cursor;
mod gemini;
mod hermes;
mod opencode;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::Place;
use super::find::Version;
use super::json::{Form, Settings, Shape};
use crate::complaint::Complaint;
use crate::hook::adapter::named as adapter_named;

/// How long an agent waits for a hook that only takes note of something.
const NOTE_TIME_MAX: Duration = Duration::from_mins(1);
/// The mode of settings that did not exist.
const PRIVATE: u32 = 0o600;
/// The mode of a script that did not exist.
const PROGRAM: u32 = 0o700;

/// An agent that can be set up.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Names of its program.
    pub(crate) programs: &'static [&'static str],
    /// Variables that move its folders.
    pub(crate) variables: &'static [&'static str],
    /// Whether it asks the gateway with a key of its own.
    pub(crate) has_key: bool,
    /// Its folder below the home directory, where that alone tells that it is installed.
    pub(crate) known_by_folder: Option<&'static str>,
    /// Its files that are written.
    pub(crate) files: fn(&Place) -> Vec<File>,
    /// Returns the files with our entries.
    pub(crate) with: fn(&Place, &Texts) -> Result<Texts, Complaint>,
    /// Returns the files without our entries.
    pub(crate) without: fn(&Place, &Texts) -> Result<Texts, Complaint>,
    /// Returns the command line by which the agent runs our hook, from its files.
    pub(crate) command: fn(&Place, &Texts) -> Option<String>,
    /// The agent's input for a shell command, for a practice card.
    pub(crate) practice: Option<fn(&Practice<'_>) -> Value>,
    /// Says what in the files, or in the version, keeps the hook from working.
    pub(crate) warnings: fn(&Place, &Texts, Option<Version>) -> Vec<String>,
    /// What the agent still does without asking, whatever we write.
    pub(crate) stays_open: &'static [&'static str],
}

/// A file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its mode, if it is new.
    pub(crate) mode: u32,
}

/// The texts of an agent's files, in the order of the files; `None` if a file does not exist.
pub(crate) type Texts = Vec<Option<String>>;

/// A practice call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Practice<'a> {
    /// Names its session.
    pub(crate) session: &'a str,
    /// Where it is made.
    pub(crate) cwd: &'a str,
    /// The shell command.
    pub(crate) command: &'a str,
    /// What stands beside it.
    pub(crate) explanation: &'a str,
}

/// Every agent, in the order in which people are shown them.
pub(crate) const AGENTS: &[Agent] = &[
    claude_code::AGENT,
    codex::AGENT,
    gemini::AGENT,
    opencode::AGENT,
    copilot::AGENT,
    cline::AGENT,
    cursor::AGENT,
    hermes::AGENT,
];

/// Every agent that an editor starts through `countersign acp`. They have no settings of ours, only a
/// key together.
pub(crate) const EDITORS: Agent = Agent {
    name: crate::acp::NAME,
    title: "Agents in editors (ACP)",
    programs: &[],
    variables: &[],
    has_key: true,
    known_by_folder: None,
    files: |_| Vec::new(),
    with: |_, _| Ok(Vec::new()),
    without: |_, _| Ok(Vec::new()),
    command: |_, _| None,
    practice: None,
    warnings: |_, _, _| Vec::new(),
    stays_open: &[
        "only agents that your editor starts as `countersign acp -- AGENT` ask here, and only about calls that the agent itself asks about",
    ],
};

/// Returns the agent of this name.
pub(crate) fn named(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// Returns how long `agent` is told to wait for its hook.
fn patience(agent: &str) -> Duration {
    adapter_named(agent).map_or(NOTE_TIME_MAX, |adapter| adapter.patience)
}

/// Returns the text of the file number `at`.
fn text(texts: &Texts, at: usize) -> Option<&str> {
    texts.get(at).and_then(Option::as_deref)
}

/// Returns a file of settings.
fn settings_file(path: PathBuf) -> File {
    File {
        path,
        mode: PRIVATE,
    }
}

/// Returns the values of the JSON in file number `at`; null if it cannot be read.
fn values(file: &File, texts: &Texts, at: usize) -> Value {
    Settings::parse(&file.path, text(texts, at), Form::Comments)
        .map_or(Value::Null, |settings| settings.value())
}

/// Returns the text of a file without our handlers; one that holds nothing else stays an object.
fn without_handlers(
    agent: &str,
    file: &File,
    text: Option<&str>,
    form: Form,
    shape: Shape,
) -> Result<Option<String>, Complaint> {
    let Some(given) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(text.map(str::to_owned));
    };
    let settings = Settings::parse(&file.path, Some(given), form)?;
    settings.take(agent, shape)?;
    Ok(Some(settings.text()))
}

/// Returns one of our own files with its placeholders filled in: in double quotes a JSON text, in
/// single quotes a word of the shell.
fn filled(place: &Place, template: &str) -> String {
    let mut text = template.to_owned();
    let values = [
        ("@COUNTERSIGN_PROGRAM@", &place.program),
        ("@COUNTERSIGN_HOME@", &place.directory),
    ];
    for (placeholder, value) in values {
        let json = Value::from(value.as_str()).to_string();
        let word = format!("'{}'", value.replace('\'', "'\\''"));
        text = text.replace(&format!("\"{placeholder}\""), &json);
        text = text.replace(&format!("'{placeholder}'"), &word);
    }
    text
}
