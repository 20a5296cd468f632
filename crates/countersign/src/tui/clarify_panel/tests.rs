//! Tests of the clarification panel.

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::*;
use crate::samples;
use crate::tui::panel::Then;
use crate::tui::picture::{START, album, assert_harmless, drawn, text};

fn question(choices: &[&str]) -> Value {
    json!({
        "clarification_id": "clar_1",
        "status": "waiting",
        "question": "Which branch should the release be cut from? Both have passed the checks.",
        "choices": choices,
        "session_id": "s",
        "run_id": "run_1",
        "answer": null,
        "created_at": START.as_seconds(),
        "expires_at": START.plus(90_000).as_seconds(),
    })
}

/// The news that the question was settled.
fn resolved_by(who: Value) -> News {
    let told = json!({ "event": "clarify.resolved", "clarification_id": "clar_1" });
    News::Event(Box::new(samples::event(samples::with(told, who))))
}

struct Shown {
    panel: ClarifyPanel,
    now: UnixMillis,
    size: (u16, u16),
    focus: Focus,
}

impl Shown {
    fn read(question: &Value) -> Self {
        let mut shown = Self {
            panel: ClarifyPanel::new(&samples::read(question.clone()), "claude", Theme::COLOURED),
            now: START,
            size: (80, 24),
            focus: Focus::Here,
        };
        shown.draw();
        shown.wait(1_000);
        shown
    }

    fn wait(&mut self, millis: i64) {
        self.now = self.now.plus(millis);
        self.draw();
    }

    fn draw(&mut self) -> ratatui::buffer::Buffer {
        let (width, height) = self.size;
        drawn(width, height, |frame| {
            let height = self.panel.height(width, self.focus, self.now);
            let area = Rect {
                height: height.min(frame.area().height),
                ..frame.area()
            };
            self.panel.draw(frame, area, self.focus, self.now);
        })
    }

    fn text(&mut self) -> String {
        text(&self.draw())
    }

    fn press(&mut self, code: KeyCode) -> Reaction {
        self.wait(1_000);
        self.press_now(code)
    }

    fn press_now(&mut self, code: KeyCode) -> Reaction {
        let reaction = self
            .panel
            .key(KeyEvent::new(code, KeyModifiers::NONE), self.now);
        self.draw();
        reaction
    }

    fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            assert!(self.press_now(KeyCode::Char(letter)).wishes.is_empty());
        }
    }
}

fn sent(reaction: &Reaction) -> Option<&Value> {
    match reaction.wishes.as_slice() {
        [Wish::Send { path, body, .. }] if path == "/v1/clarifications/clar_1/answer" => {
            body.as_ref()
        }
        _ => None,
    }
}

const GREEK: &[&str] = &["Alpha", "Beta", "Gamma"];

fn keep(name: &str, question: &Value, prepare: impl Fn(&mut Shown)) {
    let album = album(|width| {
        let mut shown = Shown::read(question);
        shown.size = (width, 24);
        shown.wait(0);
        prepare(&mut shown);
        shown.draw()
    });
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(format!("clarify_{name}"), album);
    });
}

#[test]
fn every_state_looks_right() {
    keep("choices", &question(GREEK), |_| {});
    keep("elsewhere", &question(GREEK), |shown| {
        shown.focus = Focus::Elsewhere;
    });
    keep("other_selected", &question(GREEK), |shown| {
        for _ in 0..3 {
            shown.press(KeyCode::Down);
        }
        shown.wait(1_000);
    });
    keep("other_open", &question(GREEK), |shown| {
        shown.press(KeyCode::Char('4'));
        shown.type_text("2 of them: 日本語");
    });
    keep("open_question", &question(&[]), |_| {});
    keep("answered_elsewhere", &question(GREEK), |shown| {
        shown
            .panel
            .told(&resolved_by(json!({ "by": "ana", "via": "page" })));
    });
    keep("timed_out", &question(GREEK), |shown| {
        shown
            .panel
            .told(&resolved_by(json!({ "by": null, "via": null })));
    });
}

#[test]
fn choices_and_other_are_numbered() {
    let mut shown = Shown::read(&question(&["Alpha", "Beta", "Gamma", "Delta"]));
    shown.press(KeyCode::Down);
    let text = shown.text();
    for row in [
        "claude needs your input",
        "  1. Alpha",
        "❯ 2. Beta",
        "  3. Gamma",
        "  4. Delta",
        "  5. Other (type your answer)",
        "a number answers, or ↑/↓ and Enter",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
}

#[test]
fn a_number_answers_at_once() {
    let mut shown = Shown::read(&question(GREEK));
    let reaction = shown.press(KeyCode::Char('3'));
    assert_eq!(sent(&reaction), Some(&json!({ "choice": 3 })));
}

#[test]
fn enter_answers_with_what_is_selected() {
    let mut shown = Shown::read(&question(GREEK));
    shown.press(KeyCode::Down);
    let reaction = shown.press(KeyCode::Enter);
    assert_eq!(sent(&reaction), Some(&json!({ "choice": 2 })));
}

#[test]
fn a_number_that_is_not_offered_does_nothing() {
    for digit in ['0', '5', '9'] {
        let mut shown = Shown::read(&question(GREEK));
        let before = shown.text();
        assert!(
            shown.press(KeyCode::Char(digit)).wishes.is_empty(),
            "{digit}"
        );
        assert_eq!(
            shown.text().lines().count(),
            before.lines().count(),
            "{digit}"
        );
        assert!(shown.text().contains("❯ 1. Alpha"), "{digit}");
    }
}

#[test]
fn other_opens_a_line_in_which_digits_are_text() {
    for opens in [
        vec![KeyCode::Char('4')],
        vec![KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Enter],
    ] {
        let mut shown = Shown::read(&question(GREEK));
        for key in opens {
            assert!(shown.press(key).wishes.is_empty());
        }
        let text = shown.text();
        assert!(text.contains("❯ 4. Other (type below)"), "{text}");
        shown.type_text("123 main");
        assert!(shown.text().contains("❯ 123 main"));
        let reaction = shown.press_now(KeyCode::Enter);
        assert_eq!(sent(&reaction), Some(&json!({ "text": "123 main" })));
    }
}

#[test]
fn an_open_question_is_answered_in_words() {
    let mut shown = Shown::read(&question(&[]));
    let text = shown.text();
    assert!(
        text.contains("Type your answer in the prompt below, then press Enter."),
        "{text}"
    );
    assert!(
        shown.press(KeyCode::Enter).wishes.is_empty(),
        "nothing was typed"
    );
    shown.type_text("release/2");
    let reaction = shown.press_now(KeyCode::Enter);
    assert_eq!(sent(&reaction), Some(&json!({ "text": "release/2" })));
}

#[test]
fn a_burst_as_it_appears_answers_nothing() {
    let mut shown = Shown::read(&question(GREEK));
    shown.panel.out_of_view();
    for _ in 0..40 {
        assert!(shown.press_now(KeyCode::Char('1')).wishes.is_empty());
        shown.wait(30);
    }
    assert!(shown.panel.is_waiting());
}

#[test]
fn escape_leaves_without_an_answer() {
    let mut shown = Shown::read(&question(GREEK));
    shown.press(KeyCode::Char('4'));
    let reaction = shown.press(KeyCode::Esc);
    assert_eq!(reaction, Reaction::STAYS, "it goes back to the choices");
    let reaction = shown.press(KeyCode::Esc);
    assert_eq!((reaction.wishes.len(), reaction.then), (0, Then::Leaves));
}

#[test]
fn whoever_was_faster_is_named() {
    let mut shown = Shown::read(&question(GREEK));
    shown.press(KeyCode::Char('1'));
    let settled = News::Answered {
        tag: tag(ANSWER, "clar_1"),
        answer: Answer::scripted(
            409,
            json!({ "error": { "message": "this clarification was answered by ana" } }),
        ),
    };
    assert_eq!(shown.panel.told(&settled), [ClarifyPanel::fetch("clar_1")]);
    let mut over = question(GREEK);
    over["status"] = json!("answered");
    over["answer"] = json!({ "answered": true, "choice": 2, "text": "Beta", "by": "ana" });
    shown.panel.told(&News::Answered {
        tag: tag(QUESTION, "clar_1"),
        answer: Answer::scripted(200, over),
    });
    assert!(
        shown.text().contains("Answered by ana: Beta"),
        "{}",
        shown.text()
    );
    assert!(!shown.panel.was_answered_here());
}

#[test]
fn a_long_question_and_long_choices_fit_a_small_window() {
    let mut long = question(&["x".repeat(190).as_str(), "日本語".repeat(30).as_str()]);
    long["question"] = json!("why ".repeat(400));
    let mut shown = Shown::read(&long);
    shown.size = (40, 24);
    let buffer = shown.draw();
    assert_harmless(&buffer, "long");
    let text = text(&buffer);
    assert!(
        text.contains("PgDn for more") && text.contains("3. Other"),
        "{text}"
    );
}
