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
        assert!(text.contains("it was not sent"), "{text}");
    }
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
