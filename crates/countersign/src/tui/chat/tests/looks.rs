//! Snapshot tests of the chat.

use super::*;
use crate::tui::picture::album;

fn keep(name: &str, height: u16, make: impl Fn(u16) -> Shown) {
    let album = album(|width| {
        let mut shown = make(width);
        shown.size = (width, height);
        shown.wait(0);
        shown.draw()
    });
    insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(format!("chat_{name}"), album);
    });
}

/// Something was said and done.
fn busy() -> Shown {
    let mut shown = Shown::running();
    shown.event(json!({ "event": "message.delta", "delta": "I look at what is there first.\n\n" }));
    shown.event(json!({ "event": "message.delta", "delta": "Then I decide: ログを確認します。" }));
    shown.event(json!({ "event": "tool.started", "tool": "terminal", "call_id": "call_1", "tool_call_id": "1", "preview": "ls -la /srv/www" }));
    shown.event(json!({ "event": "tool.completed", "tool": "terminal", "call_id": "call_1", "tool_call_id": "1", "duration": 0.31, "error": false, "outcome": "done", "words": "done" }));
    shown.event(json!({ "event": "tool.started", "tool": "terminal", "call_id": "call_2", "tool_call_id": "2", "preview": "cat /etc/shadow" }));
    shown.event(json!({ "event": "tool.completed", "tool": "terminal", "call_id": "call_2", "tool_call_id": "2", "duration": 0.0, "error": true, "outcome": "denied", "words": "denied by ana: not that" }));
    shown.event(json!({ "event": "tool.started", "tool": "terminal", "call_id": "call_3", "tool_call_id": "3", "preview": "du -sh /srv/www/*" }));
    shown.wait(12_000);
    shown
}

#[test]
fn a_conversation() {
    keep("welcome", 12, |_| Shown::new());
    keep("at_work", 24, |_| busy());
    keep("done", 24, |_| {
        let mut shown = busy();
        shown.event(json!({ "event": "tool.completed", "tool": "terminal", "call_id": "call_3", "tool_call_id": "3", "duration": 2.0, "error": false, "outcome": "done", "words": "done" }));
        shown.event(json!({ "event": "message.snapshot", "text": "It is tidy now:\n\n    /srv/www   12 MB\n" }));
        shown.event(json!({ "event": "run.completed", "output": "It is tidy now:\n\n    /srv/www   12 MB\n" }));
        shown
    });
    keep("markdown", 24, |_| {
        let mut shown = Shown::running();
        let text = "# Plan\n\nI remove the **old** releases, *not* the `current` one:\n\n- first `2023`\n- then 2024\n\n```sh\nls **/*.log\n```\nsnake_case and **unclosed stay.";
        shown.event(json!({ "event": "message.snapshot", "text": text }));
        shown.event(json!({ "event": "run.completed", "output": text }));
        shown
    });
    keep("failed", 24, |_| {
        let mut shown = busy();
        shown.event(json!({ "event": "run.failed", "error": "the model does not answer" }));
        shown
    });
    keep("many_lines_typed", 16, |_| {
        let mut shown = Shown::new();
        shown.type_text("first line");
        shown.press_now(KeyCode::Enter, KeyModifiers::ALT);
        shown.type_text("second line");
        shown.press_now(KeyCode::Char('j'), KeyModifiers::CONTROL);
        shown
    });
    keep("away", 16, |_| {
        let mut shown = busy();
        let why = "no gateway at http://127.0.0.1:8750: nothing is listening there".to_owned();
        shown.chat.told(News::Away { why }, shown.now);
        shown
    });
    keep("help", 40, |_| {
        let mut shown = Shown::new();
        shown.type_text("/help");
        shown.press(KeyCode::Enter);
        shown
    });
}

#[test]
fn a_card_in_a_conversation() {
    keep("card", 34, |width| {
        let mut shown = busy();
        shown.size = (width, 34);
        shown.card("high", "rm -rf /srv/www/cache");
        shown.wait(1_000);
        shown
    });
    keep("card_while_typing", 34, |width| {
        let mut shown = busy();
        shown.size = (width, 34);
        shown.type_text("and the");
        shown.card("high", "rm -rf /srv/www/cache");
        shown.wait(1_000);
        shown
    });
    keep("question", 24, |width| {
        let mut shown = busy();
        shown.size = (width, 24);
        shown.question();
        shown.wait(1_000);
        shown
    });
    keep("crisis_notice", 16, |_| {
        let mut shown = Shown::running();
        shown.event(
            json!({ "event": "message.held", "notice": "Somebody will look at this with you." }),
        );
        shown.event(
            json!({ "event": "message.snapshot", "text": "Somebody will look at this with you." }),
        );
        shown
    });
}
