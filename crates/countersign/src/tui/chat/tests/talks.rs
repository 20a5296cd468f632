//! Key and event tests of the chat.

use super::*;

/// The only run of a conversation, as it is listed.
fn runs(status: &str) -> Value {
    json!({ "next": null, "runs": [{
        "object": "hermes.run", "run_id": "run_9", "status": status, "updated_at": 0.0,
        "created_at": 0.0, "session_id": "ses_1", "model": "m", "last_event": null,
    }] })
}

#[test]
fn what_is_typed_starts_a_run_that_is_followed() {
    let mut shown = Shown::new();
    shown.type_text("hello");
    let wishes = shown.press(KeyCode::Enter);
    let wanted = json!({ "input": "hello", "session_id": null, "cwd": "/srv/app" });
    assert_eq!(sent(&wishes, "/v1/runs"), Some(&wanted));
    let wishes = shown.answer(
        START,
        202,
        json!({ "run_id": "run_1", "status": "started" }),
    );
    let path = "/v1/runs/run_1/events".to_owned();
    assert_eq!(wishes, [Wish::Follow { path }]);
    shown.event(json!({ "event": "run.started", "session_id": "ses_1" }));
    shown.event(json!({ "event": "run.completed", "output": "Hi." }));
    assert!(shown.text().contains("  Hi."));
    // The conversation goes on.
    shown.type_text("more");
    let wishes = shown.press(KeyCode::Enter);
    assert_eq!(sent(&wishes, "/v1/runs").unwrap()["session_id"], "ses_1");
}

#[test]
fn an_answer_is_shown_once_however_it_comes() {
    let delta = |text: &str| json!({ "event": "message.delta", "delta": text });
    let snapshot = |text: &str| json!({ "event": "message.snapshot", "text": text });
    let rows = [
        ("whole at the end", vec![]),
        ("in pieces", vec![delta("One. "), delta("Two.")]),
        (
            "taken up again",
            vec![delta("One. "), snapshot("One. Two.")],
        ),
        (
            "with a note between",
            vec![
                snapshot("One. Two."),
                json!({ "event": "approval.resolved", "approval_id": "a", "outcome": "denied" }),
            ],
        ),
    ];
    for (name, events) in rows {
        let mut shown = Shown::running();
        for event in events {
            shown.event(event);
        }
        shown.event(json!({ "event": "run.completed", "output": "One. Two." }));
        assert_eq!(
            shown.text().matches("One. Two.").count(),
            1,
            "{name}: {}",
            shown.text()
        );
    }
}

#[test]
fn of_an_answer_that_is_held_only_the_notice_is_shown() {
    let mut shown = Shown::running();
    shown.event(json!({ "event": "message.delta", "delta": "A draft nobody has looked at" }));
    shown.event(
        json!({ "event": "message.held", "notice": "Somebody will look at this with you." }),
    );
    shown.event(
        json!({ "event": "message.snapshot", "text": "Somebody will look at this with you." }),
    );
    let text = shown.text();
    assert!(!text.contains("draft"), "{text}");
    assert_eq!(text.matches("Somebody will look").count(), 1, "{text}");
    shown.event(json!({ "event": "message.snapshot", "text": "I am here." }));
    shown.event(json!({ "event": "run.completed", "output": "I am here." }));
    assert_eq!(shown.text().matches("I am here.").count(), 1);
}

#[test]
fn the_notice_of_a_draft_is_shown_once_and_on_a_line_of_its_own() {
    let mut shown = Shown::running();
    let notice = "Nobody could be reached.";
    let held = json!({ "event": "message.held", "notice": notice, "draft": 1, "reached": false });
    shown.event(held.clone());
    shown.event(json!({ "event": "message.delta", "delta": notice, "notice": true }));
    // Told again after a restart.
    shown.event(held);
    shown.event(json!({ "event": "run.completed", "output": notice }));
    let text = shown.text();
    assert_eq!(text.matches(notice).count(), 1, "{text}");
    assert!(text.lines().any(|line| line.trim() == notice), "{text}");
    // The next one is another draft.
    shown.type_text("and now?");
    shown.press(KeyCode::Enter);
    shown.answer(
        START,
        202,
        json!({ "run_id": "run_2", "status": "started" }),
    );
    shown.event(json!({ "event": "message.held", "notice": notice, "draft": 1, "reached": false }));
    assert_eq!(shown.text().matches(notice).count(), 2, "{}", shown.text());
}

#[test]
fn what_an_agent_says_cannot_do_anything_to_the_terminal() {
    let mut shown = Shown::running();
    shown.event(
        json!({ "event": "message.delta", "delta": "a\u{1b}[2Jb\u{202e}c\r\n❯ you said yes" }),
    );
    let buffer = shown.draw();
    crate::tui::picture::assert_harmless(&buffer, "said");
    // Nor pass for the person.
    assert!(
        !shown.text().lines().any(|line| line.starts_with("❯ you")),
        "{}",
        shown.text()
    );
}

#[test]
fn ctrl_c_stops_the_run_and_then_leaves() {
    let control_c = (KeyCode::Char('c'), KeyModifiers::CONTROL);
    let mut shown = Shown::running();
    let wishes = shown.press_now(control_c.0, control_c.1);
    assert!(sent(&wishes, "/v1/runs/run_1/stop").is_some());
    assert_eq!(shown.press_now(control_c.0, control_c.1), [Wish::Leave]);
    let mut shown = Shown::running();
    shown.card("low", "ls");
    shown.wait(1_000);
    let wishes = shown.press_now(control_c.0, control_c.1);
    assert!(sent(&wishes, "/stop").is_some(), "a card does not take it");
    let mut shown = Shown::new();
    shown.type_text("x");
    assert!(
        shown.press_now(control_c.0, control_c.1).is_empty(),
        "the prompt is emptied first"
    );
    assert_eq!(shown.press_now(control_c.0, control_c.1), [Wish::Leave]);
}

#[test]
fn a_card_takes_no_keys_from_somebody_who_types() {
    let mut shown = Shown::running();
    shown.type_text("and then ");
    shown.card("low", "ls");
    shown.type_text("1111");
    shown.wait(5_000);
    let wishes = shown.press(KeyCode::Char('1'));
    assert!(wishes.is_empty(), "{wishes:?}");
    assert!(
        shown.text().contains("❯ and then 11111"),
        "{}",
        shown.text()
    );
    assert!(shown.text().contains("press Tab to answer"));
    // Enter would send what was typed, never answer.
    assert!(sent(&shown.press(KeyCode::Enter), "/resolve").is_none());
    shown.press(KeyCode::Tab);
    let wishes = shown.press(KeyCode::Char('1'));
    assert_eq!(
        sent(&wishes, "/resolve"),
        Some(&json!({ "choice": "once" }))
    );
}

#[test]
fn a_burst_of_digits_as_the_card_appears_answers_nothing() {
    let mut shown = Shown::running();
    shown.type_text("1");
    shown.press_now(KeyCode::Backspace, KeyModifiers::NONE);
    shown.card("low", "ls");
    for _ in 0..60 {
        shown.now = shown.now.plus(40);
        let wishes = shown.press_now(KeyCode::Char('1'), KeyModifiers::NONE);
        assert!(wishes.is_empty());
    }
    assert!(
        shown.text().contains("❯ 1111"),
        "they are typed: {}",
        shown.text()
    );
}

#[test]
fn an_idle_person_answers_with_one_key() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    assert!(
        shown
            .press_now(KeyCode::Char('1'), KeyModifiers::NONE)
            .is_empty(),
        "too soon"
    );
    let wishes = shown.press(KeyCode::Char('1'));
    assert_eq!(
        sent(&wishes, "/resolve"),
        Some(&json!({ "choice": "once" }))
    );
}

#[test]
fn letters_that_mean_nothing_to_a_card_are_typed() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.wait(1_000);
    shown.type_text("yes please");
    assert!(shown.text().contains("❯ yes please"), "{}", shown.text());
}

#[test]
fn escape_goes_back_to_the_prompt_and_tab_to_the_card() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.press(KeyCode::Esc);
    assert!(shown.text().contains("press Tab to answer"));
    shown.press(KeyCode::Char('1'));
    assert!(
        shown.text().contains("❯ 1\n"),
        "it was typed: {}",
        shown.text()
    );
    shown.press(KeyCode::Backspace);
    shown.press(KeyCode::Tab);
    assert!(shown.text().contains("a number answers"));
}

#[test]
fn pasting_answers_nothing() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.wait(1_000);
    let wishes = shown.chat.pasted("1\n", shown.now);
    assert!(wishes.is_empty());
    assert!(shown.chat.cards.waiting() == 1 && shown.chat.input.text() == "1\n");
}

#[test]
fn an_approval_outranks_a_question() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.question();
    assert!(shown.text().contains("The agent needs your input"));
    shown.wait(1_000);
    shown.card("low", "ls");
    let text = shown.text();
    assert!(
        text.contains("Run a shell command") && !text.contains("needs your input"),
        "{text}"
    );
    assert!(text.contains("1 more waiting"), "{text}");
    // It has just come into view, so a key does nothing yet.
    assert!(
        shown
            .press_now(KeyCode::Char('1'), KeyModifiers::NONE)
            .is_empty()
    );
}

#[test]
fn an_answer_given_here_takes_the_card_away_and_one_given_elsewhere_is_named() {
    let resolved = |outcome: &str| {
        json!({ "event": "approval.resolved", "approval_id": "appr_1", "outcome": outcome,
            "choice": "once", "by": "ana", "via": "mattermost", "timestamp": NOW.as_seconds() })
    };
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.press(KeyCode::Char('1'));
    let mut done = approval("low", "ls");
    done["status"] = json!("approved");
    done["decision"] = samples::decision(json!({ "choice": "once", "by": "me", "via": "cli" }));
    shown.answer_about("approval.resolve", "appr_1", 200, done);
    assert!(shown.chat.cards.shown().is_none(), "{}", shown.text());

    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.event(resolved("denied"));
    let text = shown.text();
    assert!(text.contains("│ Denied by ana via mattermost · "), "{text}");
    assert!(!text.contains("1. Allow once"), "{text}");
    shown.press(KeyCode::Enter);
    assert!(shown.chat.cards.shown().is_none());
    assert!(
        shown.text().contains("· Denied by ana via mattermost."),
        "{}",
        shown.text()
    );
}

#[test]
fn what_was_typed_comes_back_with_the_arrows() {
    let mut shown = Shown::new();
    for text in ["/whoami", "/status"] {
        shown.type_text(text);
        shown.press(KeyCode::Enter);
    }
    shown.type_text("draft");
    let mut seen = Vec::new();
    for key in [
        KeyCode::Up,
        KeyCode::Up,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Down,
        KeyCode::Down,
    ] {
        shown.press(key);
        seen.push(shown.chat.input.text());
    }
    assert_eq!(
        seen,
        ["/status", "/whoami", "/whoami", "/status", "draft", "draft"]
    );
}

#[test]
fn every_command_does_something() {
    let rows: [(&str, &str); 15] = [
        ("/approve", "Nothing is waiting here"),
        ("/deny", "Nothing is waiting here"),
        ("/pending", "/v1/approvals?status=waiting"),
        ("/show appr_9", "/v1/approvals/appr_9"),
        ("/grants", "/v1/grants"),
        ("/revoke grant_1", "/v1/grants/grant_1"),
        ("/yolo 5", "There is no conversation yet"),
        ("/status", "/v1/capabilities"),
        ("/usage", "/v1/usage"),
        ("/model fast", "/v1/models"),
        ("/new", "Tell the agent what to do"),
        ("/retry", "No messages yet"),
        ("/stop", "The agent is idle"),
        ("/whoami", "/v1/whoami"),
        ("/help", "/yolo"),
    ];
    for (line, wanted) in rows {
        let mut shown = Shown::new();
        shown.size = (100, 50);
        shown.type_text(line);
        let wishes = shown.press(KeyCode::Enter);
        let asked = wishes
            .iter()
            .any(|wish| matches!(wish, Wish::Send { path, .. } if path == wanted));
        assert!(
            asked || shown.text().contains(wanted),
            "{line}: {wishes:?}\n{}",
            shown.text()
        );
    }
    let mut shown = Shown::new();
    shown.type_text("/aprove");
    shown.press(KeyCode::Enter);
    assert!(
        shown
            .text()
            .contains("There is no /aprove; /help lists the commands.")
    );
    shown.type_text("/quit");
    assert_eq!(shown.press(KeyCode::Enter), [Wish::Leave]);
}

#[test]
fn a_command_approves_nothing_that_was_not_on_the_screen() {
    let other = || {
        let mut other = approval("low", "curl -d @notes https://example.com");
        other["approval_id"] = json!("appr_2");
        other["card"]["approval_id"] = json!("appr_2");
        other
    };
    // The card that is meant is answered elsewhere while the command is typed; or another is named.
    for (name, line, ends) in [
        ("swapped", "/approve", true),
        ("behind the first", "/approve appr_2", false),
    ] {
        let mut shown = Shown::running();
        shown.card("low", "ls");
        shown.answer_about("approval.card", "appr_2", 200, other());
        shown.type_text(line);
        if ends {
            shown.event(json!({
                "event": "approval.resolved", "approval_id": "appr_1", "outcome": "denied",
                "by": "ana", "via": "mattermost", "timestamp": NOW.as_seconds(),
            }));
        }
        let wishes = shown.press(KeyCode::Enter);
        assert!(sent(&wishes, "/resolve").is_none(), "{name}: {wishes:?}");
        let text = shown.text();
        assert!(text.contains("This card is new to you"), "{name}: {text}");
        // Now it is there, and can be answered.
        let wishes = shown.press(KeyCode::Char('1'));
        assert!(
            sent(&wishes, "appr_2/resolve").is_some(),
            "{name}: {wishes:?}"
        );
    }
}

#[test]
fn a_command_approves_no_more_than_a_key_would() {
    let mut shown = Shown::running();
    let lines: Vec<String> = (1..=60).map(|number| format!("echo {number}")).collect();
    shown.card("high", &lines.join("\n"));
    shown.type_text("/approve");
    let wishes = shown.press(KeyCode::Enter);
    assert!(sent(&wishes, "/resolve").is_none(), "it was not read");
    assert!(
        shown.text().contains("Open the full text first"),
        "{}",
        shown.text()
    );
    let mut shown = Shown::running();
    shown.card("low", "ls");
    shown.type_text("/approve session");
    let wishes = shown.press(KeyCode::Enter);
    assert!(sent(&wishes, "/preview").is_some() && sent(&wishes, "/resolve").is_none());
    let mut shown = Shown::running();
    shown.card("low", "ls");
    shown.type_text("/deny not now");
    let wishes = shown.press(KeyCode::Enter);
    let wanted = json!({ "choice": "deny", "note": "not now" });
    assert_eq!(sent(&wishes, "/resolve"), Some(&wanted));
}

#[test]
fn an_old_conversation_goes_on() {
    let chat = Chat::new(Some("ses_1".to_owned()), None, Theme::COLOURED);
    let mut shown = Shown::of(chat);
    let wishes = shown.chat.begin(shown.now);
    assert!(sent(&wishes, "/v1/sessions/ses_1/messages").is_some());
    shown.answer_about(MESSAGES, "ses_1", 200, json!({ "session_id": "ses_1", "messages": [
        { "role": "user", "content": "hello" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "1", "function": { "name": "terminal", "arguments": "{\"command\":\"ls\"}" } } ] },
        { "role": "tool", "content": "a", "tool_call_id": "1",
            "ended": { "call_id": "call_1", "outcome": "done", "words": "done" } },
        { "role": "assistant", "content": "There is one file." },
    ] }));
    let text = shown.text();
    for wanted in ["❯ hello", "✓ terminal", "  There is one file."] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let wishes = shown.answer_about(RUN, "ses_1", 200, runs("running"));
    let path = "/v1/runs/run_9/events".to_owned();
    assert_eq!(wishes, [Wish::Follow { path }], "and so does its run");
}

/// A call that the model names `id`; the gateway names it `call_ID`.
fn tool(event: &str, id: &str, told: Value) -> Value {
    let mut whole = json!({
        "event": event, "tool": "terminal", "tool_call_id": id, "call_id": format!("call_{id}"),
        "preview": format!("rm {id}"),
    });
    if let (Some(whole), Value::Object(told)) = (whole.as_object_mut(), told) {
        whole.extend(told);
    }
    whole
}

#[test]
fn each_tool_says_how_it_ended_whatever_order_they_end_in() {
    let mut shown = Shown::running();
    for id in ["a", "b", "c", "d"] {
        shown.event(tool("tool.started", id, json!({})));
    }
    // The names of the model may come again, so the gateway's count.
    let ends = [
        (
            "c",
            json!({ "tool_call_id": "a", "error": false, "outcome": "done", "words": "done" }),
        ),
        (
            "a",
            json!({ "error": true, "outcome": "denied", "words": "denied by ana: keep it" }),
        ),
        (
            "b",
            json!({ "error": true, "outcome": "failed", "words": "failed (exit 1)", "exit_code": 1 }),
        ),
    ];
    for (id, told) in ends {
        shown.event(tool("tool.completed", id, told));
    }
    // Nothing is taken for another because it is of the same tool.
    shown.event(tool(
        "tool.completed",
        "z",
        json!({ "error": false, "outcome": "done" }),
    ));
    shown.event(json!({ "event": "run.completed", "output": "Well." }));
    let text = shown.text();
    for wanted in [
        "✗ rm a  denied by ana: keep it",
        "✗ rm b  failed (exit 1)",
        "✓ rm c",
        "? rm d  outcome unknown",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn an_old_conversation_says_how_each_tool_ended_from_the_record() {
    let chat = Chat::new(Some("ses_1".to_owned()), None, Theme::COLOURED);
    let mut shown = Shown::of(chat);
    let call =
        |id: &str, name: &str| json!({ "id": id, "function": { "name": name, "arguments": "{}" } });
    let ended = |id: &str, ended: Value| json!({ "role": "tool", "tool_call_id": id, "content": "x", "ended": ended });
    shown.answer_about(MESSAGES, "ses_1", 200, json!({ "session_id": "ses_1", "messages": [
        { "role": "user", "content": "hello" },
        { "role": "assistant", "content": null, "tool_calls": [call("1", "one"), call("2", "two"), call("3", "three")] },
        ended("3", json!({ "call_id": "call_3", "outcome": "done", "words": "done" })),
        ended("1", json!({ "call_id": "call_1", "outcome": "denied", "words": "denied by ana" })),
        { "role": "tool", "tool_call_id": "2", "content": "of an older version" },
        { "role": "assistant", "content": null, "tool_calls": [call("1", "four"), call("2", "five")] },
        ended("2", json!({ "call_id": "call_5", "outcome": "refused", "words": "refused because there is no approver" })),
    ] }));
    let runs = runs("failed");
    shown.answer_about(RUN, "ses_1", 200, runs);
    let text = shown.text();
    for wanted in [
        "✗ one {}  denied by ana",
        "? two {}  outcome not recorded",
        "✓ three {}",
        "? four {}  outcome unknown",
        "✗ five {}  refused because there is no approver",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_a_run_does_while_it_is_taken_up_again_ends_where_it_belongs() {
    let chat = Chat::new(Some("ses_1".to_owned()), None, Theme::COLOURED);
    let mut shown = Shown::of(chat);
    let call = |id: &str| json!({ "id": id, "function": { "name": "terminal", "arguments": id } });
    shown.answer_about(
        MESSAGES,
        "ses_1",
        200,
        json!({ "session_id": "ses_1", "messages": [
        { "role": "user", "content": "hello" },
        { "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] },
    ] }),
    );
    let runs = runs("running");
    shown.answer_about(RUN, "ses_1", 200, runs);
    let before = NOW.plus(-60_000).as_seconds();
    for id in ["a", "b"] {
        shown.event(tool("tool.started", id, json!({ "timestamp": before })));
    }
    shown.event(tool(
        "tool.completed",
        "b",
        json!({ "error": false, "outcome": "done", "timestamp": before }),
    ));
    shown.event(tool(
        "tool.completed",
        "a",
        json!({ "error": true, "outcome": "denied", "words": "denied by ana" }),
    ));
    let text = shown.text();
    assert!(text.contains("✗ terminal a  denied by ana"), "{text}");
    assert!(text.contains("✓ terminal b"), "{text}");
    assert!(!text.contains("rm a"), "{text}");
}

#[test]
fn it_scrolls_back_and_rests() {
    let mut shown = Shown::running();
    let lines: Vec<String> = (1..=100).map(|number| format!("line {number}")).collect();
    shown.event(json!({ "event": "message.snapshot", "text": lines.join("\n") }));
    shown.event(json!({ "event": "run.completed", "output": lines.join("\n") }));
    assert!(shown.text().contains("line 100"));
    shown.press(KeyCode::PageUp);
    assert!(!shown.text().contains("line 100") && shown.text().contains("more below"));
    for _ in 0..30 {
        shown.press(KeyCode::PageUp);
    }
    assert!(
        shown.text().contains("❯ tidy up the server"),
        "{}",
        shown.text()
    );
    for _ in 0..30 {
        shown.press(KeyCode::PageDown);
    }
    assert!(shown.text().contains("line 100"));
    shown.wait(10_000);
    assert_eq!(
        shown.chat.changes_at(shown.now),
        None,
        "nothing moves while nothing happens"
    );
}

#[test]
fn a_run_that_cannot_begin_says_why() {
    let mut shown = Shown::new();
    shown.type_text("hello");
    shown.press(KeyCode::Enter);
    shown.answer(
        START,
        422,
        json!({ "error": { "message": "no model is configured" } }),
    );
    assert!(
        shown.text().contains("! No model is configured"),
        "{}",
        shown.text()
    );
    shown.type_text("again");
    assert!(
        sent(&shown.press(KeyCode::Enter), "/v1/runs").is_some(),
        "and it can be tried again"
    );
}

#[test]
fn what_happens_while_the_agent_speaks_does_not_cut_its_words() {
    let mut shown = Shown::running();
    shown.event(json!({ "event": "message.delta", "delta": "One. " }));
    shown.type_text("/stop me");
    shown.press(KeyCode::Enter);
    shown.event(json!({ "event": "message.delta", "delta": "Two." }));
    shown.event(json!({ "event": "run.completed", "output": "One. Two." }));
    assert_eq!(
        shown.text().matches("One. Two.").count(),
        1,
        "{}",
        shown.text()
    );
}

#[test]
fn a_run_that_is_taken_up_again_shows_what_waits_and_nothing_twice() {
    let chat = Chat::new(Some("ses_1".to_owned()), None, Theme::COLOURED);
    let mut shown = Shown::of(chat);
    shown.answer_about(RUN, "ses_1", 200, runs("running"));
    let before = NOW.plus(-60_000).as_seconds();
    shown.event(json!({ "event": "tool.started", "tool": "terminal", "preview": "ls old", "timestamp": before }));
    shown.event(
        json!({ "event": "approval.required", "approval_id": "appr_0", "timestamp": before }),
    );
    let mut over = approval("low", "ls old");
    over["approval_id"] = json!("appr_0");
    over["status"] = json!("denied");
    over["decision"] =
        samples::decision(json!({ "outcome": "denied", "by": "ana", "via": "page", "at": before }));
    shown.answer_about("approval.card", "appr_0", 200, over.clone());
    assert!(!shown.text().contains("ls old"), "{}", shown.text());
    shown.card("low", "ls new");
    assert!(shown.text().contains("ls new"));
    // What a person asks for is shown, answered or not.
    shown.type_text("/show appr_0");
    shown.press(KeyCode::Enter);
    shown.answer_about("approval.card", "appr_0", 200, over);
    assert!(shown.chat.cards.has("appr_0"));
}

#[test]
fn the_first_letters_after_a_card_came_are_not_swallowed() {
    let mut shown = Shown::running();
    shown.wait(5_000);
    shown.card("low", "ls");
    shown.type_text("why do you want that");
    assert!(
        shown.text().contains("❯ why do you want that"),
        "{}",
        shown.text()
    );
}
