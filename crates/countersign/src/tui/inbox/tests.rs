//! Tests of the inbox, with a scripted gateway and a manual clock.

mod acts;
mod looks;

use countersign_core::time::UnixMillis;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::*;
use crate::client::Answer;
use crate::samples;
use crate::tui::picture::{START, drawn, text};
use crate::tui::screen::{News, Screen as _};

/// An approval as the gateway lists it. Those of one run and one risk fold.
fn approval(id: &str, run: &str, risk: &str, command: &str) -> Value {
    let field = |name: &str, text: &str| json!({ "name": name, "text": text, "code": false });
    samples::approval(json!({
        "approval_id": id,
        "call_id": format!("call_{id}"),
        "run_id": run,
        "session_id": "s1",
        "command": command,
        "fold_key": format!("{run} {risk}"),
        "created_at": START.as_seconds() - 10.0,
        "expires_at": START.as_seconds() + 250.0,
        "card": {
            "approval_id": id, "risk": risk,
            "reasons": ["deletes what cannot be had again"],
            "command": command,
            "body": [{ "name": "Command", "text": command, "code": true }],
            "lineage": [
                field("Asked by", "laptop"), field("Agent", "claude"), field("Run", run),
                field("Session", "s1"), field("Directory", "/srv/app"),
            ],
            "expires_at": START.plus(250_000),
            "on_timeout": "If nobody answers in time, it does not run.",
        },
    }))
}

/// The event that tells of it.
fn required(approval: &Value) -> Value {
    json!({
        "event": "approval.required",
        "approval_id": approval["approval_id"], "run_id": approval["run_id"],
        "command": approval["command"], "tool": approval["tool"],
        "risk": approval["card"]["risk"], "choices": approval["choices"],
        "timestamp": approval["created_at"], "expires_at": approval["expires_at"],
    })
}

fn question(id: &str, run: &str) -> Value {
    samples::question(json!({
        "clarification_id": id, "run_id": run, "session_id": "s1",
        "question": "Which port should the server use?", "choices": ["8080", "9090"],
        "created_at": START.as_seconds() - 5.0, "expires_at": START.as_seconds() + 250.0,
    }))
}

fn trace(id: &str, command: &str, verdict: &str, status: &str) -> Value {
    let by = (status == "denied").then_some("ana");
    let decision = || {
        samples::decision(json!({
            "outcome": status, "cause": if by.is_some() { "person" } else { "rule" },
            "by": by, "via": by.map(|_| "mattermost"), "note": by.map(|_| "not today"),
            "at": START.as_seconds() - 30.0,
        }))
    };
    samples::trace(json!({
        "call_id": id, "run_id": "run_7", "session_id": "s1",
        "status": status, "verdict": verdict, "command": command, "agent": "claude",
        "cwd": "/srv/app", "created_at": START.as_seconds() - 60.0,
        "decision": if status == "waiting" { Value::Null } else { decision() },
        "assessment": {
            "risk_score": 0.14, "confidence": 0.95,
            "rule": { "number": 11, "sentence": "risk and confidence compared with the thresholds" },
            "reasons": ["reads files"],
            "factors": [
                { "factor": "tool_class", "score": 0.15, "evidence": "reads" },
                { "factor": "reversibility", "score": 0.0, "evidence": "" },
                { "factor": "context_certainty", "score": 0.97, "evidence": "literal arguments" },
            ],
        },
    }))
}

fn grant() -> Value {
    samples::grant(json!({
        "words": "exactly `rm -rf build` in /srv/app", "uses": 12,
        "last_used_at": START.as_seconds() - 600.0, "created_at": START.as_seconds() - 90_000.0,
    }))
}

fn review() -> Value {
    let call = json!({ "tool": "write_file", "created_at": START.as_seconds() - 240.0 });
    json!({
        "review_id": "rev_1", "status": "waiting", "by": null, "path": "docs/notes.md",
        "diff": "@@ -1,2 +1,2 @@\n # Notes\n-one\u{202e}\n+two\n",
        "call": samples::trace(call), "command": "write_file docs/notes.md", "agent": null,
        "key_name": "laptop",
    })
}

/// An inbox on a screen.
struct Shown {
    inbox: Inbox,
    now: UnixMillis,
    size: (u16, u16),
    /// What it wanted since it was last asked.
    wishes: Vec<Wish>,
}

impl Shown {
    /// Begins, and is told what waits.
    fn with(approvals: &[Value]) -> Self {
        let inbox = Inbox::new(Theme::COLOURED, Bell::Rings, "ana · approver".to_owned());
        let mut shown = Self {
            inbox,
            now: START,
            size: (80, 24),
            wishes: Vec::new(),
        };
        shown.wishes = shown.inbox.begin(START);
        let newest_first: Vec<&Value> = approvals.iter().rev().collect();
        shown.answer(
            "waiting",
            "",
            &json!({ "approvals": newest_first, "next": null }),
        );
        shown.answer("hour", "", &json!({ "traces": [], "next": null }));
        shown.answer("keys", "", &json!({ "keys": [samples::key("agent")] }));
        shown.draw();
        shown
    }

    fn answer(&mut self, what: &'static str, id: &str, body: &Value) {
        self.answer_with(what, id, 200, body);
    }

    fn answer_with(&mut self, what: &'static str, id: &str, status: u16, body: &Value) {
        let (id, body) = (id.to_owned(), body.clone());
        self.tell(News::Answered {
            tag: Tag { what, id },
            answer: Answer::scripted(status, body),
        });
    }

    fn tell(&mut self, news: News) {
        let wishes = self.inbox.told(news, self.now);
        self.wishes.extend(wishes);
        self.draw();
    }

    fn happens(&mut self, event: Value) {
        self.tell(News::Event(Box::new(samples::event(event))));
    }

    fn wait(&mut self, millis: i64) {
        self.now = self.now.plus(millis);
        self.draw();
    }

    fn press(&mut self, code: KeyCode) {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        let wishes = self.inbox.key(key, self.now);
        self.wishes.extend(wishes);
        self.draw();
    }

    fn type_in(&mut self, keys: &str) {
        for letter in keys.chars() {
            self.press(KeyCode::Char(letter));
        }
    }

    fn draw(&mut self) -> ratatui::buffer::Buffer {
        let (width, height) = self.size;
        drawn(width, height, |frame| self.inbox.draw(frame, self.now))
    }

    fn text(&mut self) -> String {
        text(&self.draw())
    }

    fn row_with(&mut self, words: &str) -> String {
        let text = self.text();
        let row = text.lines().find(|row| row.contains(words));
        row.unwrap_or_else(|| panic!("no `{words}` in\n{text}"))
            .to_owned()
    }

    /// Returns the paths that were sent to since this was last asked, and with what.
    fn sent(&mut self) -> Vec<(String, Value)> {
        let wishes = std::mem::take(&mut self.wishes);
        let sent = wishes.into_iter().filter_map(|wish| match wish {
            Wish::Send { path, body, .. } => Some((path, body.unwrap_or_default())),
            Wish::Follow { .. } | Wish::Title(_) | Wish::Bell | Wish::Leave => None,
        });
        sent.collect()
    }

    fn bells(&self) -> usize {
        self.wishes
            .iter()
            .filter(|wish| **wish == Wish::Bell)
            .count()
    }
}

/// Four approvals of two runs, three of them alike, and a question.
fn busy() -> Shown {
    let mut shown = Shown::with(&[
        approval("appr_1", "run_7", "critical", "rm -rf /srv/www"),
        approval("appr_2", "run_7", "critical", "rm -rf /srv/data"),
        approval("appr_2b", "run_7", "critical", "rm -rf /srv/logs"),
        approval("appr_3", "run_8", "medium", "git push origin main"),
    ]);
    let questions = json!({ "clarifications": [question("clar_1", "run_8")] });
    shown.answer("questions", "", &questions);
    shown
}
