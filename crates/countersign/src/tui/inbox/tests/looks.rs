//! Snapshot tests of the inbox, at three widths, as text and as styles.

use std::fmt::Write as _;

use super::*;
use crate::tui::picture::{assert_harmless, both};

/// Keeps what `shown` looks like at 40, 80 and 120 columns.
fn assert_looks(name: &str, mut shown: Shown) {
    let mut all = String::new();
    for width in [40, 80, 120] {
        shown.size = (width, 20);
        let buffer = shown.draw();
        assert_harmless(&buffer, name);
        let _infallible = writeln!(all, "== {width} columns ==\n{}", both(&buffer));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(format!("inbox_{name}"), all));
}

#[test]
fn what_waits() {
    assert_looks("waiting", busy());
    let mut shown = busy();
    shown.press(KeyCode::Enter);
    shown.press(KeyCode::Down);
    assert_looks("waiting_unfolded", shown);
    let mut shown = busy();
    shown.press(KeyCode::Down);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    assert_looks("card_with_the_keys", shown);
    let mut shown = busy();
    shown.press(KeyCode::End);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    assert_looks("question_with_the_keys", shown);
}

#[test]
fn nothing_there() {
    let mut shown = Shown::with(&[]);
    let calls: Vec<Value> = (0..14)
        .map(|number| trace(&format!("call_{number}"), "ls", "allow", "allowed"))
        .chain((0..2).map(|number| trace(&format!("no_{number}"), "x", "refuse", "refused")))
        .collect();
    shown.answer("hour", "", &json!({ "traces": calls, "next": null }));
    assert_looks("nothing_waits", shown);
    let mut shown = Shown::with(&[]);
    shown.answer("keys", "", &json!({ "keys": [samples::key("admin")] }));
    assert_looks("no_agent_yet", shown);
    let mut shown = busy();
    let why = "nothing is listening there".to_owned();
    shown.tell(News::Away { why });
    assert_looks("away", shown);
}

#[test]
fn batches() {
    let mut shown = busy();
    shown.press(KeyCode::Char('x'));
    assert_looks("selected", shown);
    let mut shown = busy();
    shown.type_in("xdnot today");
    assert_looks("denying", shown);
    let mut shown = busy();
    shown.press(KeyCode::Char('x'));
    shown.press(KeyCode::Down);
    shown.type_in("xa");
    shown.wait(1_000);
    assert_looks("allowing", shown);
    let mut shown = busy();
    shown.type_in("/push");
    assert_looks("filtering", shown);
}

#[test]
fn the_other_tabs() {
    let with_history = || {
        let mut shown = Shown::with(&[]);
        let traces = [
            trace("call_1", "ls -la", "allow", "allowed"),
            trace("call_2", "rm -rf /srv/www", "ask", "denied"),
            trace("call_3", "rm -rf /", "refuse", "refused"),
        ];
        shown.answer("history", "", &json!({ "traces": traces, "next": null }));
        shown.press(KeyCode::Tab);
        shown
    };
    assert_looks("history", with_history());
    let mut shown = with_history();
    shown.press(KeyCode::Enter);
    assert_looks("history_why", shown);
    let mut shown = Shown::with(&[]);
    shown.answer("reviews", "", &json!({ "reviews": [review()] }));
    shown.type_in("ll");
    shown.press(KeyCode::Enter);
    assert_looks("review", shown);
    let mut shown = Shown::with(&[]);
    shown.answer("grants", "", &json!({ "grants": [grant()] }));
    shown.press(KeyCode::BackTab);
    assert_looks("grants", shown);
    let mut shown = busy();
    shown.type_in("?");
    assert_looks("keys", shown);
}

#[test]
fn everything_is_said_without_colours() {
    let mut shown = busy();
    shown.inbox.theme = Theme::COLOURLESS;
    assert_looks("colourless", shown);
}

#[test]
fn any_size_is_drawn() {
    for width in (1..60).step_by(3) {
        for height in 1..12 {
            let mut shown = busy();
            shown.size = (width, height);
            shown.draw();
            shown.press(KeyCode::Down);
            shown.press(KeyCode::Enter);
            shown.wait(1_000);
        }
    }
}
