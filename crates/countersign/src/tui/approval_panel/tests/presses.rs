//! Key tests, with a manual clock.

use super::looks::preview;
use super::*;

fn card() -> Value {
    approval("low", "git status")
}

fn long(risk: &str) -> Value {
    let lines: Vec<String> = (1..=60)
        .map(|number| format!("echo step {number}"))
        .collect();
    approval(risk, &lines.join("\n"))
}

#[test]
fn choices_are_numbered_and_named() {
    let text = Shown::read(&card()).text();
    for row in [
        "❯ 1. Allow once",
        "  2. Allow for this session",
        "  3. Add to permanent allowlist",
        "  4. Deny",
        "a number answers, or ↑/↓ and Enter",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
    assert!(!text.contains("Show full command"), "{text}");
}

#[test]
fn a_number_answers_at_once() {
    let mut shown = Shown::read(&card());
    let reaction = shown.press(KeyCode::Char('1'));
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "once" }))
    );
    // Until that is answered, nothing else is sent.
    assert!(shown.press(KeyCode::Char('1')).wishes.is_empty());
}

#[test]
fn allowing_a_critical_call_takes_enter_and_denying_it_does_not() {
    let mut critical = approval("critical", "npm publish");
    critical["confirm_allow"] = json!(true);
    let mut shown = Shown::read(&critical);
    assert!(
        shown
            .text()
            .contains("a number, then Enter, to allow; 4 to deny")
    );
    assert!(shown.press(KeyCode::Char('1')).wishes.is_empty());
    assert!(shown.text().contains("Press Enter to allow it"));
    assert!(
        shown.press(KeyCode::Char('1')).wishes.is_empty(),
        "the digit again is no Enter"
    );
    let reaction = shown.press(KeyCode::Enter);
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "once" }))
    );

    let mut shown = Shown::read(&critical);
    let reaction = shown.press(KeyCode::Char('4'));
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "deny" }))
    );
}

#[test]
fn a_digit_keeps_its_meaning_when_choices_are_missing() {
    let mut few = card();
    few["card"]["choices"] = json!(["once", "deny"]);
    let mut shown = Shown::read(&few);
    let text = shown.text();
    assert!(
        text.contains("1. Allow once") && text.contains("4. Deny"),
        "{text}"
    );
    for digit in ['2', '3', '5'] {
        assert!(
            shown.press(KeyCode::Char(digit)).wishes.is_empty(),
            "{digit}"
        );
    }
    let reaction = shown.press(KeyCode::Char('4'));
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "deny" }))
    );
}

#[test]
fn enter_answers_with_what_is_selected() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Down);
    shown.press(KeyCode::Up);
    let reaction = shown.press(KeyCode::Enter);
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "once" }))
    );
}

#[test]
fn a_number_that_is_not_offered_does_nothing() {
    for digit in ['0', '5', '6', '9'] {
        let mut shown = Shown::read(&card());
        let before = shown.text();
        let reaction = shown.press(KeyCode::Char(digit));
        assert!(reaction.wishes.is_empty(), "{digit}");
        assert_eq!(shown.text(), before, "{digit}");
    }
}

#[test]
fn the_selection_stays_in_the_list() {
    let mut shown = Shown::read(&card());
    for _ in 0..9 {
        shown.press(KeyCode::Down);
    }
    assert!(shown.text().contains("❯ 4. Deny"));
    for _ in 0..9 {
        shown.press(KeyCode::Char('k'));
    }
    assert!(shown.text().contains("❯ 1. Allow once"));
}

#[test]
fn showing_the_full_command_expands_in_place_and_leaves_the_list() {
    let mut shown = Shown::read(&long("low"));
    assert!(shown.text().contains("5. Show full command"));
    assert!(!shown.text().contains("echo step 30"));
    let reaction = shown.press(KeyCode::Char('5'));
    assert!(sent(&reaction.wishes, "/viewed").is_some());
    assert!(sent(&reaction.wishes, "/resolve").is_none());
    assert_eq!(reaction.then, crate::tui::panel::Then::Stays);
    let text = shown.text();
    assert!(!text.contains("Show full command"), "{text}");
    assert!(
        text.contains("❯ 4. Deny"),
        "the selection was clamped\n{text}"
    );
}

#[test]
fn what_does_not_fit_must_be_opened_before_it_is_allowed() {
    let mut shown = Shown::read(&long("low"));
    for digit in ['1', '2', '3'] {
        assert!(
            shown.press(KeyCode::Char(digit)).wishes.is_empty(),
            "{digit}"
        );
        assert!(shown.text().contains("Open the full text first"), "{digit}");
    }
    shown.press(KeyCode::PageDown);
    let reaction = shown.press(KeyCode::Char('1'));
    assert!(sent(&reaction.wishes, "/resolve").is_some());
}

#[test]
fn long_text_of_high_risk_must_be_read_to_its_end() {
    for risk in ["high", "critical"] {
        let mut shown = Shown::read(&long(risk));
        assert!(shown.text().contains("❯ 4. Deny"), "{risk}");
        shown.press(KeyCode::Char('5'));
        assert!(shown.press(KeyCode::Char('1')).wishes.is_empty(), "{risk}");
        assert!(shown.text().contains("Read to the end first"), "{risk}");
        for _ in 0..40 {
            shown.press(KeyCode::PageDown);
        }
        assert!(shown.text().contains("echo step 60"), "{risk}");
        let reaction = shown.press(KeyCode::Char('1'));
        assert!(sent(&reaction.wishes, "/resolve").is_some(), "{risk}");
    }
}

#[test]
fn denying_is_never_held_up_by_the_length() {
    let mut shown = Shown::read(&long("critical"));
    let reaction = shown.press(KeyCode::Char('4'));
    assert_eq!(
        sent(&reaction.wishes, "/resolve"),
        Some(&json!({ "choice": "deny" }))
    );
}

#[test]
fn a_burst_as_the_card_appears_answers_nothing() {
    let mut shown = Shown::appears(&card());
    for _ in 0..50 {
        let reaction = shown.press_now(KeyCode::Char('1'));
        assert!(reaction.wishes.is_empty());
        shown.wait(40);
    }
    for _ in 0..20 {
        assert!(shown.press_now(KeyCode::Enter).wishes.is_empty());
        shown.wait(40);
    }
    // Nothing was queued: calm alone answers nothing either.
    shown.wait(5_000);
    assert!(shown.panel.is_waiting());
    assert!(sent(&shown.press(KeyCode::Char('1')).wishes, "/resolve").is_some());
}

#[test]
fn what_was_not_drawn_cannot_be_answered() {
    let mut panel = super::panel(&card(), Theme::COLOURED);
    let key = KeyEvent::new(KeyCode::Char('1'), KeyModifiers::NONE);
    assert!(panel.key(key, START.plus(60_000)).wishes.is_empty());
    let mut shown = Shown::read(&card());
    shown.size = (80, 8);
    assert!(
        shown.press(KeyCode::Char('1')).wishes.is_empty(),
        "too small to be read"
    );
}

#[test]
fn escape_answers_nothing_anywhere() {
    let rows: [(&str, &[char]); 4] = [
        ("on the card", &[]),
        ("in a note", &['n']),
        ("in a permission", &['2']),
        ("in why", &['w']),
    ];
    for (name, keys) in rows {
        let mut shown = Shown::read(&card());
        for key in keys {
            shown.press(KeyCode::Char(*key));
        }
        let reaction = shown.press(KeyCode::Esc);
        assert!(reaction.wishes.is_empty(), "{name}");
        let leaves = reaction.then == crate::tui::panel::Then::Leaves;
        assert_eq!(leaves, keys.is_empty(), "{name}");
        assert!(shown.panel.is_waiting(), "{name}");
    }
}

#[test]
fn a_denial_carries_what_was_said_about_it() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('n'));
    assert!(shown.text().contains("Deny and tell the agent why"));
    shown.type_text("1 is wrong, use the copy");
    let reaction = shown.press_now(KeyCode::Enter);
    let wanted = json!({ "choice": "deny", "note": "1 is wrong, use the copy" });
    assert_eq!(sent(&reaction.wishes, "/resolve"), Some(&wanted));
}

#[test]
fn a_permission_is_shown_before_it_is_left() {
    let mut shown = Shown::read(&card());
    let reaction = shown.press(KeyCode::Char('2'));
    assert_eq!(
        sent(&reaction.wishes, "/v1/grants/preview"),
        Some(&json!({ "approval_id": "appr_1" }))
    );
    // Before it is there, nothing can be confirmed.
    assert!(shown.press(KeyCode::Enter).wishes.is_empty());
    shown.told(&answered(PREVIEW, 200, preview()));
    assert!(
        shown.press_now(KeyCode::Enter).wishes.is_empty(),
        "it was not read yet"
    );
    assert!(shown.text().contains("These calls of laptop in session"));
    // A digit means a choice of the card, and none of these.
    assert!(shown.press(KeyCode::Char('2')).wishes.is_empty());
    shown.press(KeyCode::Down);
    assert!(
        shown
            .text()
            .contains("would have matched 12 of the last 200 calls")
    );
    let reaction = shown.press(KeyCode::Enter);
    let wanted = json!({ "choice": "session", "scope": preview()["scopes"][1]["scope"] });
    assert_eq!(sent(&reaction.wishes, "/resolve"), Some(&wanted));
}

#[test]
fn a_permission_can_be_limited() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('3'));
    shown.told(&answered(PREVIEW, 200, preview()));
    shown.press(KeyCode::Char('e'));
    shown.type_text("30m x3");
    shown.press_now(KeyCode::Enter);
    assert!(
        shown.text().contains("Valid for 30 min, 3 times"),
        "{}",
        shown.text()
    );
    let reaction = shown.press(KeyCode::Enter);
    let wanted = json!({
        "choice": "always", "scope": preview()["scopes"][0]["scope"], "lasts_seconds": 1_800, "uses": 3,
    });
    assert_eq!(sent(&reaction.wishes, "/resolve"), Some(&wanted));
}

#[test]
fn escape_cancels_a_limit_that_is_being_edited_and_loosens_nothing() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('3'));
    shown.told(&answered(PREVIEW, 200, preview()));
    shown.press(KeyCode::Char('e'));
    shown.type_text("30m");
    shown.press_now(KeyCode::Enter);
    shown.press(KeyCode::Char('e'));
    shown.type_text(" x");
    shown.press_now(KeyCode::Esc);
    assert!(
        shown.text().contains("Valid for 30 min"),
        "{}",
        shown.text()
    );
    let reaction = shown.press(KeyCode::Enter);
    let body = sent(&reaction.wishes, "/resolve").unwrap();
    assert_eq!(body["lasts_seconds"], 1_800);
}

#[test]
fn pasting_answers_nothing() {
    let mut shown = Shown::read(&card());
    shown.panel.pasted("1\n", shown.now);
    assert!(shown.panel.is_waiting() && shown.panel.sent.is_none());
    shown.press(KeyCode::Char('n'));
    shown.panel.pasted("because\nof this", shown.now);
    assert!(shown.text().contains("❯ because of this"));
}

#[test]
fn an_answer_is_taken_back_while_it_is_held() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('1'));
    let mut held = card();
    held["held_until"] = json!(shown.now.plus(3_000).as_seconds());
    shown.told(&answered(RESOLVE, 200, held));
    assert!(!shown.panel.is_waiting() && shown.panel.is_held(shown.now));
    let reaction = shown.press(KeyCode::Char('z'));
    assert!(sent(&reaction.wishes, "/take_back").is_some());
    shown.told(&answered(TAKE_BACK, 200, card()));
    assert!(shown.panel.is_waiting());
    // It is a new question: a key must wait again.
    assert!(shown.press_now(KeyCode::Char('1')).wishes.is_empty());
}

#[test]
fn more_time_is_asked_for_only_where_it_is_offered_and_answers_nothing() {
    let mut shown = Shown::read(&card());
    assert!(!shown.text().contains("+ adds"));
    assert!(shown.press(KeyCode::Char('+')).wishes.is_empty());
    assert!(shown.text().contains("No more time can be added."));

    let mut offered = card();
    offered["extend_seconds"] = json!(300.0);
    let mut shown = Shown::read(&offered);
    assert!(shown.text().contains("(+ adds 5 min)"), "{}", shown.text());
    let reaction = shown.press(KeyCode::Char('+'));
    assert!(sent(&reaction.wishes, "/extend").is_some());
    assert!(sent(&reaction.wishes, "/resolve").is_none());
    let mut longer = offered.clone();
    longer["expires_at"] = json!(START.plus(7_300_000).as_seconds());
    longer["extend_seconds"] = Value::Null;
    shown.told(&answered(EXTEND, 200, longer));
    let text = shown.text();
    assert!(
        text.contains("expires in 2 h") && !text.contains("+ adds"),
        "{text}"
    );
    assert!(shown.panel.is_waiting());

    let decision = samples::decision(json!({ "outcome": "expired", "cause": "expiry" }));
    let late = json!({ "error": { "message": "x" }, "decision": decision });
    shown.told(&answered(EXTEND, 410, late));
    assert!(!shown.panel.is_waiting());
}

#[test]
fn what_was_read_and_typed_stays_when_somebody_gives_more_time() {
    let mut offered = card();
    offered["extend_seconds"] = json!(300.0);
    let mut shown = Shown::read(&offered);
    shown.press(KeyCode::Char('n'));
    shown.type_text("not today");
    let event = samples::event(json!({ "event": "approval.extended" }));
    let wishes = shown.told(&News::Event(Box::new(event)));
    assert_eq!(wishes.len(), 1, "it looks how much time there is");
    let mut longer = offered;
    longer["expires_at"] = json!(START.plus(550_000).as_seconds());
    shown.told(&answered(EXTEND, 200, longer));
    let text = shown.text();
    assert!(text.contains("❯ not today"), "{text}");
    assert!(text.contains("expires in 9 min"), "{text}");
    assert!(!text.contains("+ adds"), "a plus is text here: {text}");
}

#[test]
fn whoever_was_faster_is_named() {
    let decision = samples::decision(
        json!({ "outcome": "denied", "choice": "deny", "by": "ana", "via": "mattermost", "at": START.as_seconds() }),
    );
    let withdrawn = samples::decision(json!({ "outcome": "withdrawn", "cause": "withdrawal" }));
    let rows = [
        (
            409,
            json!({ "error": { "message": "x" }, "decision": decision }),
            "Denied by ana via mattermost",
        ),
        (
            410,
            json!({ "error": { "message": "x" }, "decision": withdrawn }),
            "Withdrawn by the agent",
        ),
        (
            403,
            json!({ "error": { "message": "whoever asked does not answer" } }),
            "whoever asked does not answer",
        ),
        (
            422,
            json!({ "error": { "message": "`once` is not offered" } }),
            "`once` is not offered",
        ),
        (500, json!({}), "responded with 500"),
    ];
    for (status, body, wanted) in rows {
        let mut shown = Shown::read(&card());
        shown.press(KeyCode::Char('1'));
        shown.told(&answered(RESOLVE, status, body));
        let text = shown.text().replace("│\n│", "").replace("  ", " ");
        assert!(text.contains(wanted), "{status}: {text}");
    }
}

#[test]
fn an_answer_that_may_have_arrived_is_looked_up() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('1'));
    let wishes = shown.told(&News::Unanswered {
        tag: tag(RESOLVE, "appr_1"),
        why: "nothing is listening there".to_owned(),
    });
    assert_eq!(wishes, [ApprovalPanel::fetch("appr_1")]);
    assert!(shown.text().contains("did not confirm"));
    shown.told(&answered(CARD, 200, card()));
    assert!(
        shown
            .text()
            .contains("Your answer did not arrive. The call is still waiting.")
    );
}

#[test]
fn while_the_gateway_is_away_nothing_is_allowed_and_then_it_is_asked_again() {
    let mut shown = Shown::read(&card());
    let why = "nothing is listening there".to_owned();
    shown.told(&News::Away { why });
    assert!(shown.press(KeyCode::Char('1')).wishes.is_empty());
    assert!(shown.text().contains("The gateway is down"));
    assert_eq!(shown.told(&News::Back), [ApprovalPanel::fetch("appr_1")]);
    assert!(
        shown.press(KeyCode::Char('1')).wishes.is_empty(),
        "what happened is not known yet"
    );
    shown.told(&answered(CARD, 200, card()));
    assert!(sent(&shown.press(KeyCode::Char('1')).wishes, "/resolve").is_some());
}

#[test]
fn a_permission_is_not_left_while_the_gateway_is_away_either() {
    let mut shown = Shown::read(&card());
    shown.press(KeyCode::Char('2'));
    shown.told(&answered(PREVIEW, 200, preview()));
    let why = "nothing is listening there".to_owned();
    shown.told(&News::Away { why });
    assert!(shown.press(KeyCode::Enter).wishes.is_empty());
    assert!(shown.text().contains("The gateway is down"));
    shown.told(&answered(CARD, 200, card()));
    assert!(sent(&shown.press(KeyCode::Enter).wishes, "/resolve").is_some());
}

#[test]
fn a_call_that_was_changed_meanwhile_is_read_anew() {
    let mut shown = Shown::read(&card());
    let mut changed = approval("low", "git push --force");
    changed["card"]["digest"] = json!("sha256:other");
    shown.told(&answered(CARD, 200, changed));
    assert!(shown.text().contains("git push --force"));
    assert!(shown.press_now(KeyCode::Char('1')).wishes.is_empty());
}

#[test]
fn what_is_not_shown_can_only_be_denied() {
    let mut hidden = card();
    hidden["card"]["body"] = json!([]);
    let mut shown = Shown::read(&hidden);
    let text = shown.text();
    assert!(
        text.contains("4. Deny") && !text.contains("Allow once"),
        "{text}"
    );
}

#[test]
fn nothing_is_drawn_again_without_need() {
    let mut shown = Shown::read(&card());
    let next = shown.panel.changes_at(shown.now).unwrap();
    // Four minutes are counted in minutes.
    assert!(next.since(shown.now) > 5_000, "{}", next.since(shown.now));
    shown.wait(200_000);
    let next = shown.panel.changes_at(shown.now).unwrap();
    assert!((1..=1_001).contains(&next.since(shown.now)));
}

#[test]
fn reasons_cannot_push_the_call_out_of_view() {
    let mut wordy = approval("high", "rm -rf /srv/www");
    wordy["card"]["reasons"] = json!(["a ".repeat(2_000), "b ".repeat(2_000), "c"]);
    let mut shown = Shown::read(&wordy);
    let text = shown.text();
    assert!(
        text.contains("│ rm -rf /srv/www") && text.contains("1. Allow once"),
        "{text}"
    );
    assert!(text.contains("⋯ more: w"), "{text}");
}
