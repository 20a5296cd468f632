//! The newest calls in memory, read from the ledger, for search and statistics.
//!
//! Records are found by their columns; what people filter by (who decided, a word of the command)
//! is in no column, and a scan of a hundred thousand bodies takes longer than a person waits. So
//! the entries are read once, a short line is kept of each call, and each look adds only what
//! happened since. Nothing is read before somebody looks, and nothing here is needed to decide.
//!
//! INVARIANT: at most [`CALLS_MAX`] lines are kept, the newest. A line has at most
//! [`COMMAND_BYTES_MAX`] bytes of its command, so all of it stays below 100 MB, usually 30.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use countersign_core::approval::Choice;
use countersign_core::ledger::Entry;
use countersign_core::status::{Cause, Outcome, Status};
use countersign_core::verdict::Verdict;
use countersign_store::{Database, StoreError};
use serde::Deserialize;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::GateError;
use crate::base::practice::is_practice;
use crate::history::History;

/// Calls that are kept, the newest.
pub const CALLS_MAX: usize = 100_000;
/// Entries that are read at most when somebody looks for the first time: a call has a few.
const ENTRIES_MAX: u64 = 5 * CALLS_MAX as u64;
/// Entries that are read in one go.
const READ_MAX: u32 = 1000;
/// Bytes of a command that are kept.
const COMMAND_BYTES_MAX: usize = 512;

/// What is kept, shared by who looks.
pub(crate) type Shared = Arc<Mutex<Chronicle>>;

/// The newest calls.
#[derive(Debug, Default)]
pub(crate) struct Chronicle {
    /// The number of the last entry that was read.
    cursor: Option<u64>,
    lines: VecDeque<Line>,
    /// Questions of these calls, by id.
    questions: HashMap<Arc<str>, Question>,
    /// Words that many lines share.
    words: HashSet<Arc<str>>,
    /// When the oldest call was made that is kept, if older ones were left out.
    begins_at: Option<i64>,
}

/// A stored call.
#[derive(Debug)]
pub(crate) struct Line {
    /// The number of the entry that tells of it.
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) call_id: Box<str>,
    pub(crate) owner: Arc<str>,
    pub(crate) run: Arc<str>,
    pub(crate) session: Arc<str>,
    pub(crate) agent: Arc<str>,
    pub(crate) tool: Arc<str>,
    /// On one line, display-redacted, shortened.
    pub(crate) command: Box<str>,
    pub(crate) verdict: Verdict,
    /// How it ended without a question; `waiting` where one was put.
    pub(crate) status: Status,
    pub(crate) risk: f32,
    pub(crate) confidence: f32,
    /// The number of the rule that decided, or 0 if it was not written down.
    pub(crate) rule: u8,
    /// The code of the first finding.
    pub(crate) finding: Arc<str>,
    /// The first reason.
    pub(crate) reason: Arc<str>,
    pub(crate) approval: Option<Arc<str>>,
}

/// A stored question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) asked_at: i64,
    pub(crate) outcome: Option<Outcome>,
    /// The first answer, even if nobody collected it.
    pub(crate) answer: Option<Answered>,
    /// Calls that are kept and belong to it.
    calls: u32,
}

/// A stored answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) choice: Choice,
    pub(crate) by: Arc<str>,
    pub(crate) at: i64,
    /// Whether a model gave it in a person's place.
    pub(crate) by_model: bool,
}

#[derive(Deserialize)]
struct Assessed<'a> {
    agent: Option<String>,
    tool: String,
    command: String,
    verdict: Verdict,
    status: Status,
    risk_score: f32,
    confidence: f32,
    #[serde(default)]
    rule: u8,
    finding: Option<String>,
    #[serde(default)]
    reasons: Vec<String>,
    approval_id: Option<&'a str>,
}

#[derive(Deserialize)]
struct Resolved {
    outcome: Outcome,
    cause: Cause,
    choice: Option<Choice>,
    by: Option<String>,
}

impl History {
    /// Returns the newest calls as they are now.
    pub(crate) async fn chronicle(&self) -> Result<OwnedMutexGuard<Chronicle>, GateError> {
        let mut chronicle = Arc::clone(&self.recent).lock_owned().await;
        chronicle.catch_up(&self.base.store).await?;
        Ok(chronicle)
    }

    /// Has `look` go through the newest calls, where nobody else is kept waiting by it.
    pub(crate) async fn looked_through<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Chronicle) -> T + Send + 'static,
    ) -> Result<T, GateError> {
        let chronicle = self.chronicle().await?;
        let looking = tokio::task::spawn_blocking(move || look(&chronicle));
        looking.await.map_err(|lost| {
            GateError::Store(StoreError::Unavailable {
                why: "looking through history was interrupted",
                cause: Box::new(lost),
            })
        })
    }
}

impl Chronicle {
    /// Returns the lines, the newest first.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().rev()
    }

    /// Returns the lines that count, the newest first: practice does not.
    pub(crate) fn counted_lines(&self) -> impl Iterator<Item = &Line> {
        self.newest().filter(|line| !is_practice(&line.command))
    }

    /// Returns the question a call waits for, or waited for.
    pub(crate) fn question_of(&self, line: &Line) -> Option<&Question> {
        self.questions.get(line.approval.as_ref()?)
    }

    /// Returns where a call stands.
    pub(crate) fn status_of(&self, line: &Line) -> Status {
        let question = self.question_of(line);
        let outcome = question.and_then(|question| question.outcome);
        outcome.map_or(line.status, Status::from)
    }

    /// Returns when the oldest call was made that can be found, if older ones cannot.
    pub(crate) const fn begins_at(&self) -> Option<i64> {
        self.begins_at
    }

    async fn catch_up(&mut self, store: &Database) -> Result<(), StoreError> {
        let mut behind = if let Some(cursor) = self.cursor {
            cursor
        } else {
            let (last, _) = store.last().await?;
            last.saturating_sub(ENTRIES_MAX)
        };
        let is_first = self.cursor.is_none() && behind > 0;
        loop {
            let entries = store.entries(behind, READ_MAX).await?;
            let Some(last) = entries.last() else { break };
            behind = last.seq;
            for entry in &entries {
                self.note(entry);
            }
            self.cursor = Some(behind);
            tokio::task::yield_now().await;
        }
        self.cursor = Some(behind);
        if is_first {
            self.begins_at = self.lines.front().map(|line| line.at);
        }
        Ok(())
    }

    fn note(&mut self, entry: &Entry) {
        let draft = &entry.draft;
        match draft.event.as_str() {
            "call.assessed" => {
                // An entry that cannot be read is the verifier's to complain about.
                if let Ok(said) = serde_json::from_str(&draft.body) {
                    self.note_call(entry, said);
                }
            }
            "approval.required" => {
                let question = self.questions.get_mut(draft.subject.as_str());
                if let Some(question) = question {
                    question.asked_at = draft.at.0;
                }
            }
            "approval.resolved" => {
                if let Ok(said) = serde_json::from_str::<Resolved>(&draft.body) {
                    self.note_end(entry, &said);
                }
            }
            _ => {}
        }
    }

    fn note_call(&mut self, entry: &Entry, said: Assessed<'_>) {
        let draft = &entry.draft;
        let approval = said.approval_id.map(|id| self.word(id));
        if let Some(id) = &approval
            && said.status == Status::Waiting
        {
            let question = self.questions.entry(Arc::clone(id));
            question
                .or_insert_with(|| Question {
                    asked_at: draft.at.0,
                    outcome: None,
                    answer: None,
                    calls: 0,
                })
                .calls += 1;
        }
        let mut command = said.command;
        command.truncate(command.floor_char_boundary(COMMAND_BYTES_MAX));
        let line = Line {
            seq: entry.seq,
            at: draft.at.0,
            call_id: draft.subject.as_str().into(),
            owner: self.word(&draft.owner),
            run: self.word(&draft.run),
            session: self.word(&draft.session),
            agent: self.word(said.agent.as_deref().unwrap_or_default()),
            tool: self.word(&said.tool),
            command: command.into(),
            verdict: said.verdict,
            status: said.status,
            risk: said.risk_score,
            confidence: said.confidence,
            rule: said.rule,
            finding: self.word(said.finding.as_deref().unwrap_or_default()),
            reason: self.word(said.reasons.first().map_or("", String::as_str)),
            approval,
        };
        self.lines.push_back(line);
        if self.lines.len() > CALLS_MAX {
            self.forget_oldest();
        }
    }

    fn note_end(&mut self, entry: &Entry, said: &Resolved) {
        let by = self.word(said.by.as_deref().unwrap_or_default());
        let Some(question) = self.questions.get_mut(entry.draft.subject.as_str()) else {
            return;
        };
        question.outcome = Some(said.outcome);
        // A yes that nobody came for ends later; that it was given, and how fast, stays.
        if let (None, Some(choice)) = (&question.answer, said.choice) {
            question.answer = Some(Answered {
                choice,
                by,
                at: entry.draft.at.0,
                by_model: said.cause == Cause::Model,
            });
        }
    }

    fn forget_oldest(&mut self) {
        let Some(line) = self.lines.pop_front() else {
            return;
        };
        self.begins_at = self.lines.front().map(|line| line.at);
        if let Some(id) = &line.approval
            && let Some(question) = self.questions.get_mut(id)
        {
            question.calls = question.calls.saturating_sub(1);
            if question.calls == 0 {
                self.questions.remove(id);
            }
        }
        // Words that nobody else uses go with it: one is held by the set, one by the line.
        for word in [
            &line.run,
            &line.session,
            &line.agent,
            &line.tool,
            &line.reason,
        ] {
            if Arc::strong_count(word) <= 2 {
                self.words.remove(word);
            }
        }
        if let Some(id) = &line.approval {
            self.words.remove(id);
        }
    }

    /// Returns `text` as it is kept once for all lines.
    fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(word) = self.words.get(text) {
            return Arc::clone(word);
        }
        let word: Arc<str> = Arc::from(text);
        self.words.insert(Arc::clone(&word));
        word
    }
}
