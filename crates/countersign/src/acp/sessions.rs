//! What the lines that pass tell about the sessions: their directories, what the person said, and what
//! the agent told of its calls.
//!
//! Separate because a question for permission says none of that, and a call is judged by it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::message::{Id, Message};
use crate::hook::conversation::{MESSAGES_MAX, shortened};

/// Most sessions that are remembered.
const SESSIONS_MAX: usize = 64;
/// Most calls of a session that are remembered.
const CALLS_MAX: usize = 256;
/// Longest line with arguments that is remembered, in bytes.
const TOLD_BYTES_MAX: usize = 256 * 1024;

/// The sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    agent: Option<String>,
    /// Requests whose answers are looked at, with the directory they name.
    asked: BTreeMap<Id, Asked>,
    known: BTreeMap<String, Session>,
}

/// What is known of one session.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    /// Its directory.
    pub(super) cwd: Option<String>,
    /// What the person said last, the oldest first.
    pub(super) said: Vec<String>,
    told: BTreeMap<String, Value>,
}

#[derive(Debug)]
enum Asked {
    Start,
    Session(Option<String>),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields {
    session_id: Option<String>,
    cwd: Option<String>,
    prompt: Vec<Block>,
    agent_info: Option<Info>,
    update: Option<Update>,
}

#[derive(Deserialize)]
struct Info {
    name: String,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    tool_call_id: Option<String>,
    raw_input: Option<Value>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    params: Option<Fields>,
    #[serde(default)]
    result: Option<Fields>,
}

fn params(line: &[u8]) -> Option<Fields> {
    serde_json::from_slice::<Whole>(line).ok()?.params
}

impl Sessions {
    /// Takes note of a line from the editor.
    pub(super) fn heed_editor(&mut self, message: &Message, line: &[u8]) {
        let Message::Request(id, method) = message else {
            return;
        };
        match method.as_str() {
            "initialize" => self.ask(id, Asked::Start),
            "session/new" => {
                let cwd = params(line).and_then(|it| it.cwd);
                self.ask(id, Asked::Session(cwd));
            }
            "session/load" | "session/resume" | "session/fork" => {
                let Some(fields) = params(line) else {
                    return;
                };
                if let (Some(session), Some(cwd)) = (&fields.session_id, &fields.cwd) {
                    self.open(session).cwd = Some(cwd.clone());
                }
                self.ask(id, Asked::Session(fields.cwd));
            }
            "session/prompt" => {
                let Some(fields) = params(line) else {
                    return;
                };
                let texts: Vec<String> =
                    fields.prompt.into_iter().filter_map(|it| it.text).collect();
                let text = texts.join("\n");
                if let Some(session) = fields.session_id.filter(|_| !text.trim().is_empty()) {
                    let said = &mut self.open(&session).said;
                    said.push(shortened(&text));
                    let surplus = said.len().saturating_sub(MESSAGES_MAX);
                    said.drain(..surplus);
                }
            }
            _ => {}
        }
    }

    /// Takes note of a line from the agent.
    pub(super) fn heed_agent(&mut self, message: &Message, line: &[u8]) {
        match message {
            Message::Response(id) => {
                let Some(asked) = self.asked.remove(id) else {
                    return;
                };
                let whole = serde_json::from_slice::<Whole>(line).ok();
                let Some(result) = whole.and_then(|it| it.result) else {
                    return;
                };
                match asked {
                    Asked::Start => self.agent = result.agent_info.map(|it| it.name),
                    Asked::Session(cwd) => {
                        if let Some(session) = result.session_id {
                            self.open(&session).cwd = cwd;
                        }
                    }
                }
            }
            Message::Notification(method) if method == "session/update" => self.update(line),
            Message::Notification(_)
            | Message::Request(..)
            | Message::Noise
            | Message::Unreadable => {}
        }
    }

    /// Remembers the arguments of a call, which a later question may leave out.
    fn update(&mut self, line: &[u8]) {
        if line.len() > TOLD_BYTES_MAX || memchr::memmem::find(line, b"rawInput").is_none() {
            return;
        }
        let Some(fields) = params(line) else {
            return;
        };
        let update = fields
            .update
            .and_then(|it| Some((it.tool_call_id?, it.raw_input?)));
        let Some((session, (call, input))) = fields.session_id.zip(update) else {
            return;
        };
        let is_empty = input.as_object().is_none_or(serde_json::Map::is_empty);
        let told = &mut self.open(&session).told;
        if !is_empty && (told.len() < CALLS_MAX || told.contains_key(&call)) {
            told.insert(call, input);
        }
    }

    /// Returns what is known of `session`.
    pub(super) fn of(&self, session: &str) -> Session {
        self.known.get(session).cloned().unwrap_or_default()
    }

    /// Returns the arguments that the agent has told of a call.
    pub(super) fn told(&self, session: &str, call: &str) -> Option<Value> {
        self.known.get(session)?.told.get(call).cloned()
    }

    /// Returns the name the agent gives itself.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    fn ask(&mut self, id: &Id, asked: Asked) {
        if self.asked.len() < SESSIONS_MAX {
            self.asked.insert(id.clone(), asked);
        }
    }

    fn open(&mut self, session: &str) -> &mut Session {
        if self.known.len() >= SESSIONS_MAX && !self.known.contains_key(session) {
            // Without it, calls of that session are judged as if nothing were known of it.
            self.known.pop_first();
        }
        self.known.entry(session.to_owned()).or_default()
    }
}
