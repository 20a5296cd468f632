//! Tests of the approval panel.

mod edits;
mod hostile;
mod looks;
mod presses;

use countersign_core::time::UnixMillis;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::*;
use crate::samples;
use crate::tui::panel::Focus;
use crate::tui::picture::{START, drawn};

/// An approval as the gateway sends it.
pub(in crate::tui) fn approval(risk: &str, command: &str) -> Value {
    let body = json!([{ "name": "Command", "text": command, "code": true }]);
    with_body(risk, "Run a shell command", &body)
}

/// An approval with these fields.
pub(super) fn with_body(risk: &str, title: &str, body: &Value) -> Value {
    samples::approval(json!({
        "run_id": "run_7",
        "session_id": "fix-the-login",
        "expires_at": START.plus(250_000).as_seconds(),
        "assessment": {
            "risk_score": 0.82,
            "confidence": 0.9,
            "rule": { "sentence": "it changes something outside the workspace" },
            "factors": [
                { "factor": "tool_class", "score": 0.7, "evidence": "a shell command" },
                { "factor": "target_sensitivity", "score": 0.8, "evidence": "/srv/www" },
                { "factor": "reversibility", "score": 1.0, "evidence": "rm -rf" },
                { "factor": "human_impact", "score": 0.0, "evidence": "" },
                { "factor": "context_certainty", "score": 0.9, "evidence": "every word was read" },
            ],
            "findings": [
                { "code": "delete_tree", "severity": "high", "message": "deletes a directory with everything in it", "span": null },
            ],
        },
        "card": {
            "title": title,
            "risk": risk,
            "reasons": ["deletes /srv/www (data and programs the machine serves) with everything in it; it cannot be undone"],
            "body": body,
            "lineage": [
                { "name": "Asked by", "text": "laptop", "code": false },
                { "name": "Agent", "text": "claude", "code": false },
                { "name": "Run", "text": "run_7", "code": false },
                { "name": "Session", "text": "fix-the-login", "code": false },
                { "name": "Directory", "text": "/srv/app", "code": false },
            ],
            "expires_at": START.plus(250_000),
            "on_timeout": "If nobody answers in time, it does not run.",
        },
    }))
}

/// A panel that shows this answer.
pub(super) fn panel(approval: &Value, theme: Theme) -> ApprovalPanel {
    ApprovalPanel::of_answer("appr_1", &Answer::scripted(200, approval.clone()), theme)
}

/// A panel on a screen, with a clock that is set by hand.
pub(super) struct Shown {
    pub(super) panel: ApprovalPanel,
    pub(super) now: UnixMillis,
    pub(super) size: (u16, u16),
}

impl Shown {
    /// It has been read.
    pub(super) fn read(approval: &Value) -> Self {
        let mut shown = Self::appears(approval);
        shown.wait(1_000);
        shown
    }

    /// It appears.
    pub(super) fn appears(approval: &Value) -> Self {
        let panel = panel(approval, Theme::COLOURED);
        let mut shown = Self {
            panel,
            now: START,
            size: (80, 24),
        };
        shown.draw();
        shown
    }

    pub(super) fn wait(&mut self, millis: i64) {
        self.now = self.now.plus(millis);
        self.draw();
    }

    pub(super) fn draw(&mut self) -> ratatui::buffer::Buffer {
        let (width, height) = self.size;
        drawn(width, height, |frame| {
            let height = self.panel.height(width, Focus::Here, self.now);
            let area = frame.area();
            let area = ratatui::layout::Rect {
                height: height.min(area.height),
                ..area
            };
            self.panel.draw(frame, area, Focus::Here, self.now);
        })
    }

    pub(super) fn text(&mut self) -> String {
        crate::tui::picture::text(&self.draw())
    }

    /// Presses a key, a second after the last.
    pub(super) fn press(&mut self, code: KeyCode) -> Reaction {
        self.wait(1_000);
        self.press_now(code)
    }

    pub(super) fn press_now(&mut self, code: KeyCode) -> Reaction {
        let reaction = self
            .panel
            .key(KeyEvent::new(code, KeyModifiers::NONE), self.now);
        self.draw();
        reaction
    }

    pub(super) fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.press_now(KeyCode::Char(letter));
        }
    }

    pub(super) fn told(&mut self, news: &News) -> Vec<Wish> {
        let wishes = self.panel.told(news);
        self.draw();
        wishes
    }
}

/// Returns the body of the only request to `end`, if there is one.
pub(super) fn sent<'a>(wishes: &'a [Wish], end: &str) -> Option<&'a Value> {
    wishes.iter().find_map(|wish| match wish {
        Wish::Send { path, body, .. } if path.ends_with(end) => {
            Some(body.as_ref().unwrap_or(&Value::Null))
        }
        Wish::Send { .. } | Wish::Follow { .. } | Wish::Title(_) | Wish::Bell | Wish::Leave => None,
    })
}

/// The gateway's answer to the panel's request `what`.
pub(super) fn answered(what: &'static str, status: u16, body: Value) -> News {
    News::Answered {
        tag: tag(what, "appr_1"),
        answer: Answer::scripted(status, body),
    }
}
