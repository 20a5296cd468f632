//! `countersign eval` on recorded sessions: how often people would have been asked, and why.
//!
//! The calls of all files are merged into sessions and judged in their order, each with what its
//! session wrote before, as a gateway knows it. Nobody answers: every call is judged as if all
//! earlier ones had run.

mod report;
mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::canonical;
use countersign_core::display::inline;
use countersign_core::grant::{Scope, candidates};
use countersign_core::judge::judge;
use countersign_core::policy::Policy;
use countersign_core::trajectory::{Memory, Recorded, cause, sessions};
use countersign_core::verdict::{Ruling, Verdict};
use serde_json::{Map, Value};

use super::figures::Share;
use super::progress::Progress;
use super::{BadLines, Source};
use crate::cli::Eval;
use crate::complaint::Complaint;
use crate::wire;

/// What a line of a recorded session looks like.
pub(super) const LINE: &str = r#"{"repo": "…", "session": "…", "n": 1, "cwd": "…", "command": "…"}, or "tool" and "args" instead of "command""#;
/// What a line of labels looks like.
const LABEL_LINE: &str = r#"a line is {"id": 1, "label": "justified|arguable|noise"}"#;

/// What is kept of a line beside its call.
#[derive(Debug)]
struct Beside {
    id: Value,
    bytes: u64,
    is_command: bool,
}

/// A call that was judged.
#[derive(Debug)]
struct Seen {
    id: Value,
    repository: String,
    session: String,
    number: u64,
    call: ToolCall,
    verdict: Verdict,
    reason: String,
    cause: (&'static str, &'static str),
}

/// How often people would have been asked.
#[derive(Debug, Default)]
struct Figures {
    commands: Share,
    others: Share,
    /// All calls, each judged as if its session had written nothing.
    alone: Share,
    refused: u64,
    /// Questions of each session.
    sessions: Vec<u64>,
    causes: BTreeMap<(&'static str, &'static str), u64>,
    repositories: BTreeMap<String, Share>,
    /// What is left if one answer settles its cause for the rest of the session.
    per_cause: Share,
    /// What is left if every question is answered with the widest session scope that it offers.
    per_scope: Share,
    labels: BTreeMap<String, Share>,
    nanos: Vec<u64>,
}

/// Measures the judge on the sessions of `sources`.
pub(super) fn measure(eval: &Eval, sources: Vec<Source>) -> Result<(String, BadLines), Complaint> {
    let labels = eval.labels.as_deref().map(labels).transpose()?;
    let labels = labels.unwrap_or_default();
    let cwd = eval.directory();
    let mut progress = Progress::new(sources.iter().map(|source| source.bytes).sum());
    let mut bad = BadLines::default();
    let mut calls = Vec::new();
    for source in sources {
        source.each_line(&mut bad, |line, bytes| {
            calls.push(recorded(line, bytes, cwd.as_deref())?);
            Ok(())
        })?;
    }
    let policy = Policy::default();
    let mut figures = Figures::default();
    let mut drawn = sample::Draw::new(eval);
    for session in sessions(calls) {
        let mut course = Course::default();
        for call in session {
            progress.advance(call.beside.bytes);
            let is_command = call.beside.is_command;
            let seen = course.next(&policy, call, &mut figures);
            figures.count(&seen, is_command, &labels);
            if let Some(drawn) = &mut drawn {
                drawn.offer(seen);
            }
        }
        figures.sessions.push(course.questions);
    }
    progress.clear();
    figures.nanos.sort_unstable();
    figures.sessions.sort_unstable();
    let out = match drawn {
        Some(drawn) => drawn.lines(),
        None if eval.json => report::as_json(&figures, bad.count),
        None => report::as_text(&figures),
    };
    Ok((out, bad))
}

/// Reads one line.
fn recorded(line: &[u8], bytes: u64, cwd: Option<&str>) -> Result<Recorded<Beside>, String> {
    let mut object = object(line)?;
    let mut text = |key: &str| match object.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` must be a string")),
        None => Err(format!("`{key}` is missing")),
    };
    let (repository, session) = (text("repo")?, text("session")?);
    let number = object.remove("n").as_ref().and_then(Value::as_u64);
    let number = number.ok_or("`n` must be a whole number")?;
    let named = format!("{repository} {session} {number}");
    let id = object.remove("id").unwrap_or(Value::String(named));
    let is_command = object.contains_key("command");
    let mut call = wire::call::from_object(object)?;
    if call.cwd.is_none() {
        call.cwd = cwd.map(str::to_owned);
    }
    Ok(Recorded {
        repository,
        session,
        number,
        call,
        beside: Beside {
            id,
            bytes,
            is_command,
        },
    })
}

/// Reads the labels that people gave to calls, by the calls' ids.
fn labels(path: &std::path::Path) -> Result<BTreeMap<String, String>, Complaint> {
    let mut labels = BTreeMap::new();
    let mut bad = BadLines::default();
    Source::open(path)?.each_line(&mut bad, |line, _| {
        let object = object(line)?;
        let id = object.get("id").ok_or("`id` is missing")?.to_string();
        let label = object.get("label").and_then(Value::as_str);
        let label = label.ok_or("`label` must be a string")?;
        match labels.insert(id, inline(label)) {
            None => Ok(()),
            Some(_) => Err("the call has a label already".to_owned()),
        }
    })?;
    if bad.count > 0 {
        let (count, named) = (bad.count, bad.named.join("; "));
        let message = format!("{count} labels could not be read: {named}");
        return Err(Complaint::failed(message, LABEL_LINE));
    }
    Ok(labels)
}

fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    match canonical::parse(line).map_err(|error| format!("not JSON: {error}"))? {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("not a JSON object".to_owned())
        }
    }
}

/// One session as it goes on.
#[derive(Debug, Default)]
struct Course {
    memory: Memory,
    questions: u64,
    /// Causes that were asked about.
    causes: BTreeSet<(&'static str, &'static str)>,
    /// Grants that the answers left.
    scopes: Vec<Scope>,
}

impl Course {
    /// Judges the next call.
    fn next(&mut self, policy: &Policy, made: Recorded<Beside>, figures: &mut Figures) -> Seen {
        let call = made.call;
        let alone = judge(policy, &call).ruling.verdict >= Verdict::Ask;
        // The first judgement of its kind builds what it needs; what is timed is the second.
        self.memory.judge(policy, &call);
        let start = Instant::now();
        let (considered, ruling) = self.memory.judge(policy, &call);
        let nanos = start.elapsed().as_nanos();
        figures.nanos.push(u64::try_from(nanos).unwrap_or(u64::MAX));
        figures.alone.add(alone);
        let assessment = &considered.assessment;
        let cause = cause(assessment);
        let is_asked = ruling.verdict >= Verdict::Ask;
        self.questions += u64::from(is_asked);
        // Nobody can answer what is refused.
        let is_refused = ruling.verdict == Verdict::Refuse;
        let is_new = is_asked && (is_refused || self.causes.insert(cause));
        figures.per_cause.add(is_new);
        let is_open = is_asked && self.stays_open(&call, assessment, ruling);
        figures.per_scope.add(is_open);
        let seen = Seen {
            id: made.beside.id,
            repository: made.repository,
            session: made.session,
            number: made.number,
            call,
            verdict: ruling.verdict,
            reason: assessment.reasons.first().cloned().unwrap_or_default(),
            cause,
        };
        self.memory.remember(considered);
        seen
    }

    /// Whether no grant of the session covers a call that is a question. Leaves the widest one that
    /// the question offers.
    fn stays_open(&mut self, call: &ToolCall, assessment: &Assessment, ruling: Ruling) -> bool {
        let lifts = ruling.verdict == Verdict::Ask && !ruling.once_only;
        if lifts
            && self
                .scopes
                .iter()
                .any(|scope| scope.covers(call, assessment))
        {
            return false;
        }
        self.scopes
            .extend(candidates(call, assessment, &ruling).pop());
        true
    }
}

impl Figures {
    fn count(&mut self, seen: &Seen, is_command: bool, labels: &BTreeMap<String, String>) {
        let is_asked = seen.verdict >= Verdict::Ask;
        let kind = if is_command {
            &mut self.commands
        } else {
            &mut self.others
        };
        kind.add(is_asked);
        self.refused += u64::from(seen.verdict == Verdict::Refuse);
        let repository = self.repositories.entry(seen.repository.clone());
        repository.or_default().add(is_asked);
        if is_asked {
            *self.causes.entry(seen.cause).or_default() += 1;
        }
        if let Some(label) = labels.get(&seen.id.to_string()) {
            self.labels.entry(label.clone()).or_default().add(is_asked);
        }
    }

    fn all(&self) -> Share {
        let mut all = self.commands;
        all.merge(self.others);
        all
    }
}
