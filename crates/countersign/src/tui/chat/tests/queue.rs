//! What is typed while the agent works, and which model answers it.

use super::*;

#[test]
fn what_is_typed_during_a_run_is_queued_shown_and_taken_back() {
    let mut shown = Shown::running();
    shown.type_text("then the logs");
    assert_eq!(shown.press(KeyCode::Enter), []);
    shown.type_text("then the cache");
    assert_eq!(shown.press(KeyCode::Enter), []);
    let text = shown.text();
    assert!(text.contains("queued: then the logs"), "{text}");
    assert!(text.contains("queued: then the cache"), "{text}");
    // The last one is edited and queued again.
    shown.press(KeyCode::Up);
    assert!(
        shown.text().contains("❯ then the cache"),
        "{}",
        shown.text()
    );
    assert!(!shown.text().contains("queued: then the cache"));
    shown.type_text("s");
    shown.press(KeyCode::Enter);
    let completed = json!({ "event": "run.completed", "output": "Done." });
    let wishes = shown.event(completed.clone());
    assert_eq!(sent(&wishes, "/v1/runs").unwrap()["input"], "then the logs");
    shown.answer(
        START,
        202,
        json!({ "run_id": "run_2", "status": "started" }),
    );
    let wishes = shown.event(completed.clone());
    assert_eq!(
        sent(&wishes, "/v1/runs").unwrap()["input"],
        "then the caches"
    );
    shown.answer(
        START,
        202,
        json!({ "run_id": "run_3", "status": "started" }),
    );
    assert_eq!(shown.event(completed), []);
}

#[test]
fn after_a_stop_what_was_queued_is_not_sent_but_given_back() {
    let ends = [
        json!({ "event": "run.cancelled" }),
        json!({ "event": "run.failed", "error": "no such model" }),
    ];
    for end in ends {
        let mut shown = Shown::running();
        shown.type_text("then the logs");
        shown.press(KeyCode::Enter);
        shown.type_text("half a thought");
        assert_eq!(shown.event(end), []);
        let text = shown.text();
        assert!(!text.contains("queued: "), "{text}");
        assert!(text.contains("❯ then the logs"), "{text}");
        assert!(text.contains("half a thought"), "{text}");
        assert!(text.contains("are in the prompt again"), "{text}");
    }
}

/// Sends what is typed into the run.
fn steer(shown: &mut Shown) -> Vec<Wish> {
    shown.wait(1_000);
    shown.press_now(KeyCode::Char('s'), KeyModifiers::CONTROL)
}

#[test]
fn a_message_is_sent_into_the_run_and_said_when_the_agent_has_read_it() {
    let mut shown = Shown::running();
    assert!(shown.text().contains("Ctrl-S sends it now"));
    shown.type_text("leave the logs");
    let wishes = steer(&mut shown);
    assert_eq!(
        sent(&wishes, "/v1/runs/run_1/steer"),
        Some(&json!({ "input": "leave the logs" }))
    );
    let text = shown.text();
    assert!(
        text.contains("sent, not read yet: leave the logs"),
        "{text}"
    );
    let standing = json!({ "run_id": "run_1", "status": "running" });
    shown.answer_about(STEER, "leave the logs", 200, standing.clone());
    // The same, typed as a command.
    shown.type_text("/steer and the cache");
    let wishes = shown.press(KeyCode::Enter);
    assert_eq!(sent(&wishes, "/steer").unwrap()["input"], "and the cache");
    shown.answer_about(STEER, "and the cache", 200, standing);
    shown.event(json!({ "event": "run.steered", "messages": 1 }));
    let text = shown.text();
    assert!(text.contains("❯ leave the logs"), "{text}");
    assert!(text.contains("sent, not read yet: and the cache"), "{text}");
    shown.event(json!({ "event": "run.steered", "messages": 1 }));
    assert!(!shown.text().contains("not read yet"), "{}", shown.text());
    shown.event(json!({ "event": "run.steered", "messages": 1 }));
    assert!(shown.text().contains("sent from elsewhere"));
}

#[test]
fn with_an_empty_prompt_the_first_queued_message_is_sent_into_the_run() {
    let mut shown = Shown::running();
    assert_eq!(steer(&mut shown), [], "there is nothing to send");
    for text in ["first", "second"] {
        shown.type_text(text);
        shown.press(KeyCode::Enter);
    }
    let wishes = steer(&mut shown);
    assert_eq!(sent(&wishes, "/steer").unwrap()["input"], "first");
    let text = shown.text();
    assert!(text.contains("sent, not read yet: first"), "{text}");
    assert!(text.contains("queued: second"), "{text}");
}

#[test]
fn what_could_not_be_sent_into_the_run_is_not_lost() {
    let refused = json!({ "error": { "message": "the run has ended" } });
    // It came too late: it is the next message.
    let mut shown = Shown::running();
    shown.type_text("leave the logs");
    steer(&mut shown);
    shown.event(json!({ "event": "run.completed", "output": "Done." }));
    let wishes = shown.answer_about(STEER, "leave the logs", 409, refused.clone());
    assert_eq!(
        sent(&wishes, "/v1/runs").unwrap()["input"],
        "leave the logs"
    );
    // It was refused, or nobody read it before the run was stopped: it is in the prompt again.
    let ends: [fn(&mut Shown); 2] = [
        |shown| {
            let refused = json!({ "error": { "message": "too long" } });
            shown.answer_about(STEER, "leave the logs", 422, refused);
        },
        |shown| {
            shown.event(json!({ "event": "run.cancelled" }));
        },
    ];
    for end in ends {
        let mut shown = Shown::running();
        shown.type_text("leave the logs");
        steer(&mut shown);
        end(&mut shown);
        let text = shown.text();
        assert!(text.contains("❯ leave the logs"), "{text}");
        assert!(!text.contains("not read yet:"), "{text}");
    }
    // Where nothing runs it is an ordinary message.
    let mut shown = Shown::new();
    shown.type_text("hello");
    assert_eq!(
        sent(&steer(&mut shown), "/v1/runs").unwrap()["input"],
        "hello"
    );
}

#[test]
fn more_time_can_be_asked_for_by_a_command() {
    let mut shown = Shown::running();
    shown.type_text("/extend");
    assert_eq!(shown.press(KeyCode::Enter), [], "nothing is waiting");
    shown.type_text("/extend appr_9");
    let wishes = shown.press(KeyCode::Enter);
    assert!(sent(&wishes, "/v1/approvals/appr_9/extend").is_some());
}

#[test]
fn what_led_to_a_call_elsewhere_is_asked_for_by_a_command() {
    let mut shown = Shown::running();
    shown.type_text("/before appr_9");
    let wishes = shown.press(KeyCode::Enter);
    assert!(sent(&wishes, "/v1/approvals/appr_9/before").is_some());
}

#[test]
fn a_call_that_a_grant_covers_is_told() {
    let mut shown = Shown::running();
    let call = |cause: &str| {
        json!({ "event": "call.assessed", "cause": cause, "status": "allowed",
                "command": "git push origin main" })
    };
    shown.event(call("rule"));
    assert!(!shown.text().contains("Allowed by"), "{}", shown.text());
    shown.event(call("grant"));
    let text = shown.text();
    assert!(
        text.contains("Allowed by a grant: git push origin main"),
        "{text}"
    );
}

#[test]
fn a_model_is_chosen_from_those_configured() {
    let model = |id: &str| {
        json!({ "id": id, "object": "model", "created": 0, "owned_by": "countersign",
                "permission": [], "root": id, "parent": null })
    };
    let list = json!({ "object": "list", "data": [model("small"), model("large")] });
    for (name, is_known) in [("large", true), ("huge", false)] {
        let mut shown = Shown::new();
        shown.type_text(&format!("/model {name}"));
        let wishes = shown.press(KeyCode::Enter);
        assert!(sent(&wishes, "/v1/models").is_some(), "{wishes:?}");
        shown.answer_about(MODEL, name, 200, list.clone());
        let text = shown.text();
        let wanted = if is_known {
            "large answers your next messages here."
        } else {
            "huge is not configured. Configured: small, large"
        };
        assert!(text.contains(wanted), "{text}");
        shown.type_text("hello");
        let wishes = shown.press(KeyCode::Enter);
        let body = sent(&wishes, "/v1/runs").unwrap();
        let wanted = is_known.then(|| json!(name));
        assert_eq!(body.get("model"), wanted.as_ref());
    }
}

#[test]
fn whoever_queues_a_message_beside_a_card_goes_on_writing() {
    let mut shown = Shown::running();
    shown.type_text("and then ");
    shown.card("low", "ls");
    shown.wait(5_000);
    shown.press(KeyCode::Enter);
    shown.wait(5_000);
    let wishes = shown.press(KeyCode::Char('1'));
    assert!(sent(&wishes, "/resolve").is_none(), "{wishes:?}");
    assert!(shown.text().contains("❯ 1"), "{}", shown.text());
}
