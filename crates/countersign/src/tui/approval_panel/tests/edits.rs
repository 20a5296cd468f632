//! Tests of editing a call, and of comparing it with files.

use super::*;
use crate::tui::panel::Then;

fn editable() -> Value {
    let mut approval = approval("high", "rm -rf /srv/www");
    approval["args"] = json!({ "command": "rm -rf /srv/www", "timeout": 5 });
    approval["editable"] = json!(true);
    approval
}

/// How the gateway judges the edited call.
fn judged(risk: &str, command: &str) -> Value {
    let of = approval(risk, command);
    let mut card = of["card"].clone();
    card["choices"] = json!(["once", "deny"]);
    json!({
        "args": { "command": command, "timeout": 5 }, "verdict": "ask", "confirm_allow": false,
        "assessment": of["assessment"], "digest": "sha256:22", "card": card,
    })
}

/// A panel in which the command was edited and judged.
fn edited() -> Shown {
    let mut shown = Shown::read(&editable());
    shown.press(KeyCode::Char('e'));
    shown.type_text("/cache");
    let reaction = shown.press(KeyCode::Enter);
    let body = json!({ "args": { "command": "rm -rf /srv/www/cache", "timeout": 5 } });
    assert_eq!(sent(&reaction.wishes, "/assess"), Some(&body));
    let answer = judged("medium", "rm -rf /srv/www/cache");
    shown.told(&answered(ASSESS, 200, answer));
    shown
}

#[test]
fn an_edited_call_is_judged_shown_and_sent_with_the_answer() {
    let mut shown = edited();
    let text = shown.text();
    for row in [
        "Edited call",
        "MEDIUM",
        "│ - command: rm -rf /srv/www",
        "│ + command: rm -rf /srv/www/cache",
        "1. Allow once",
        "4. Deny",
        "Esc back to the text",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
    assert!(!text.contains("Allow for this session"), "{text}");
    // What has just taken the place of the card has to be read.
    assert!(shown.press_now(KeyCode::Char('1')).wishes.is_empty());
    let reaction = shown.press(KeyCode::Char('1'));
    let args = json!({ "command": "rm -rf /srv/www/cache", "timeout": 5 });
    let body = json!({ "choice": "once", "args": args });
    assert_eq!(sent(&reaction.wishes, "/resolve"), Some(&body));
}

#[test]
fn escape_goes_back_step_by_step_and_the_original_is_there_again() {
    let mut shown = edited();
    let reaction = shown.press(KeyCode::Esc);
    assert!(matches!(reaction.then, Then::Stays) && reaction.wishes.is_empty());
    assert!(shown.text().contains("❯ rm -rf /srv/www/cache"));
    shown.press(KeyCode::Esc);
    let text = shown.text();
    assert!(text.contains("HIGH") && !text.contains("cache"), "{text}");
    let reaction = shown.press(KeyCode::Char('1'));
    let body = json!({ "choice": "once" });
    assert_eq!(sent(&reaction.wishes, "/resolve"), Some(&body));
}

#[test]
fn digits_are_text_while_a_call_is_edited() {
    let mut shown = Shown::read(&editable());
    shown.press(KeyCode::Char('e'));
    let reaction = shown.press(KeyCode::Char('1'));
    assert!(reaction.wishes.is_empty());
    assert!(shown.text().contains("❯ rm -rf /srv/www1"));
}

#[test]
fn an_edit_that_is_refused_says_so_and_answers_nothing() {
    let mut shown = Shown::read(&editable());
    shown.press(KeyCode::Char('e'));
    shown.type_text("/x");
    shown.press(KeyCode::Enter);
    let error = json!({ "error": {
        "message": "the edited call is always refused", "type": "invalid_request_error",
        "param": "args", "code": "edited_call_refused",
    } });
    let wishes = shown.told(&answered(ASSESS, 422, error));
    assert!(wishes.is_empty());
    let text = shown.text();
    assert!(text.contains("always refused"), "{text}");
    assert!(text.contains("❯ rm -rf /srv/www/x"), "{text}");
}

#[test]
fn an_unchanged_text_is_not_sent() {
    let mut shown = Shown::read(&editable());
    shown.press(KeyCode::Char('e'));
    assert!(shown.press(KeyCode::Enter).wishes.is_empty());
    assert!(shown.text().contains("Nothing is changed"));
}

#[test]
fn a_call_that_cannot_be_edited_is_not_offered_for_it() {
    let mut shown = Shown::read(&approval("high", "rm -rf /srv/www"));
    assert!(!shown.text().contains("e edit"));
    shown.press(KeyCode::Char('e'));
    assert!(shown.text().contains("This call cannot be edited"));
}

#[test]
fn an_answer_given_elsewhere_ends_the_edit() {
    let mut shown = edited();
    let decision = samples::decision(json!({ "outcome": "denied", "by": "ben" }));
    let mut settled = editable();
    settled["status"] = json!("denied");
    settled["decision"] = decision;
    shown.told(&answered(CARD, 200, settled));
    let text = shown.text();
    assert!(text.contains("Denied by ben"), "{text}");
    assert!(!text.contains("cache"), "{text}");
}

fn written() -> Value {
    let body = json!([
        { "name": "path", "text": "ci.yml", "code": false },
        { "name": "content", "text": "one\ntwo\nthree", "code": true },
    ]);
    with_body("high", "Write ci.yml", &body)
}

#[test]
fn a_written_file_is_compared_with_the_file_as_it_is() {
    let mut shown = Shown::read(&written());
    shown.size = (80, 60);
    let reaction = shown.press(KeyCode::Char('d'));
    assert_eq!(sent(&reaction.wishes, "/changes"), Some(&Value::Null));
    let files = json!([
        { "path": "/w/ci.yml", "before": "one\n2\nthree", "after": "one\ntwo\nthree", "why": null },
        { "path": "/w/link", "before": null, "after": null, "why": "/w/link is a link" },
    ]);
    let read = json!({ "files": files, "read_at": 1.0 });
    shown.told(&answered(CHANGES, 200, read));
    let text = shown.text();
    for row in [
        "Change to /w/ci.yml, compared with the file as it is now",
        "│   1 one",
        "│ - 2 2",
        "│ + 2 two",
        "/w/link was not compared: /w/link is a link.",
        "The call as sent",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
    // What moved has to be read again before it is answered.
    assert!(shown.press_now(KeyCode::Char('1')).wishes.is_empty());
}

#[test]
fn a_command_is_compared_with_no_file() {
    let mut shown = Shown::read(&approval("low", "git status"));
    assert!(shown.press(KeyCode::Char('d')).wishes.is_empty());
    assert!(shown.text().contains("does not change a file"));
}

#[test]
fn a_command_edits_as_the_key_does() {
    let mut shown = Shown::read(&editable());
    let reaction = shown.panel.edit_to(Some("rm -rf /srv/www/cache"));
    let body = json!({ "args": { "command": "rm -rf /srv/www/cache", "timeout": 5 } });
    assert_eq!(sent(&reaction.wishes, "/assess"), Some(&body));
    let early = shown.panel.choose_edited(shown.now);
    assert!(early.wishes.is_empty(), "it has not been judged yet");
    shown.told(&answered(
        ASSESS,
        200,
        judged("medium", "rm -rf /srv/www/cache"),
    ));
    assert!(shown.panel.subject.edited.is_some());
    let mut fixed = editable();
    fixed["editable"] = json!(false);
    let mut shown = Shown::read(&fixed);
    assert!(shown.panel.edit_to(Some("ls")).wishes.is_empty());
    assert!(
        shown.text().contains("cannot be edited"),
        "{}",
        shown.text()
    );
}
