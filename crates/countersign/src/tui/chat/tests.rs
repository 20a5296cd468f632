//! Tests of the chat.

mod looks;
mod queue;
mod talks;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::*;
use crate::samples;
use crate::tui::approval_panel::tests::approval;
use crate::tui::picture::{START as NOW, drawn, text};

/// A chat on a screen, with a clock that is set by hand.
struct Shown {
    chat: Chat,
    now: UnixMillis,
    size: (u16, u16),
}

impl Shown {
    fn new() -> Self {
        Self::of(Chat::new(
            None,
            Some("/srv/app".to_owned()),
            Theme::COLOURED,
        ))
    }

    fn of(chat: Chat) -> Self {
        let mut shown = Self {
            chat,
            now: NOW,
            size: (80, 24),
        };
        shown.draw();
        shown
    }

    /// A run has begun.
    fn running() -> Self {
        let mut shown = Self::new();
        shown.type_text("tidy up the server");
        shown.press(KeyCode::Enter);
        shown.answer(
            START,
            202,
            json!({ "run_id": "run_1", "status": "started" }),
        );
        shown.event(json!({ "event": "run.started", "session_id": "ses_1", "model": "m" }));
        shown
    }

    fn draw(&mut self) -> Buffer {
        let (width, height) = self.size;
        drawn(width, height, |frame| self.chat.draw(frame, self.now))
    }

    fn text(&mut self) -> String {
        text(&self.draw())
    }

    fn wait(&mut self, millis: i64) {
        self.now = self.now.plus(millis);
        self.draw();
    }

    fn press(&mut self, code: KeyCode) -> Vec<Wish> {
        self.wait(1_000);
        self.press_now(code, KeyModifiers::NONE)
    }

    fn press_now(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Wish> {
        let wishes = self.chat.key(KeyEvent::new(code, modifiers), self.now);
        self.draw();
        wishes
    }

    fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.now = self.now.plus(50);
            self.press_now(KeyCode::Char(letter), KeyModifiers::NONE);
        }
    }

    fn event(&mut self, event: Value) -> Vec<Wish> {
        let event = samples::with(json!({ "timestamp": self.now.as_seconds() }), event);
        let news = News::Event(Box::new(samples::event(event)));
        let wishes = self.chat.told(news, self.now);
        self.draw();
        wishes
    }

    fn answer(&mut self, what: &'static str, status: u16, body: Value) -> Vec<Wish> {
        self.answer_about(what, "", status, body)
    }

    fn answer_about(
        &mut self,
        what: &'static str,
        id: &str,
        status: u16,
        body: Value,
    ) -> Vec<Wish> {
        let tag = Tag {
            what,
            id: id.to_owned(),
        };
        let answer = Answer::scripted(status, body);
        let wishes = self.chat.told(News::Answered { tag, answer }, self.now);
        self.draw();
        wishes
    }

    /// A card arrives.
    fn card(&mut self, risk: &str, command: &str) {
        let wishes = self.event(json!({ "event": "approval.required", "approval_id": "appr_1" }));
        assert_eq!(wishes, [ApprovalPanel::fetch("appr_1")]);
        self.answer_about("approval.card", "appr_1", 200, approval(risk, command));
    }

    fn question(&mut self) {
        let wishes =
            self.event(json!({ "event": "clarify.required", "clarification_id": "clar_1" }));
        assert_eq!(wishes, [ClarifyPanel::fetch("clar_1")]);
        let expires_at = NOW.plus(300_000).as_seconds();
        let question = samples::question(json!({ "expires_at": expires_at }));
        self.answer_about("clarification.question", "clar_1", 200, question);
    }
}

/// Returns the bodies of requests to paths that end so.
fn sent<'a>(wishes: &'a [Wish], end: &str) -> Option<&'a Value> {
    wishes.iter().find_map(|wish| match wish {
        Wish::Send { path, body, .. } if path.ends_with(end) => {
            Some(body.as_ref().unwrap_or(&Value::Null))
        }
        Wish::Send { .. } | Wish::Follow { .. } | Wish::Title(_) | Wish::Bell | Wish::Leave => None,
    })
}
