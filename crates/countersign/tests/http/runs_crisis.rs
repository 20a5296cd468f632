//! Law 1 on every route: to a person in crisis nothing goes out that nobody has looked at.

use countersign_testkit::model::{Call, Reply};
use serde_json::{Value, json};

use crate::scene::{Scene, assert_order, said};

const CRY: &str = "I want to kill myself tonight.";
const DRAFT: &str = "Zebra words that nobody has looked at. More zebra words follow.";

fn scene() -> Scene {
    Scene::new(vec![Reply::text([
        "Zebra words that nobody ",
        "has looked at. ",
        "More zebra words follow.",
    ])])
}

/// Waits for the card of the draft and returns its id.
fn card(scene: &Scene, other: &str) -> String {
    let asked = scene.asked(other);
    asked["approval_id"].as_str().unwrap().to_owned()
}

#[test]
fn the_draft_is_a_card_for_somebody_else_and_nobody_hears_it_before() {
    let scene = scene();
    let admin = scene.gateway.admin();
    let other = scene.gateway.named_key("ben", "approver");
    let run = scene.start(CRY);
    let path = format!("/v1/runs/{run}/events");
    let mut events = scene.gateway.events(&admin, &path, None);
    let (last, _) = events.named("approval.required");
    let id = card(&scene, &other);
    // Everything the person could look at meanwhile.
    let paths = [
        format!("/v1/runs/{run}"),
        format!("/v1/approvals/{id}"),
        "/v1/approvals".to_owned(),
        "/v1/calls".to_owned(),
        "/v1/traces".to_owned(),
        "/v1/ledger?limit=1000".to_owned(),
        "/v1/sessions".to_owned(),
        format!(
            "/v1/sessions/{}/messages",
            scene.status(&run)["session_id"].as_str().unwrap()
        ),
    ];
    for path in &paths {
        let seen = scene.gateway.get(&admin, path);
        assert_eq!(seen.status, 200, "{path}");
        assert!(
            !seen.body.to_string().contains("ebra"),
            "{path}: {}",
            seen.body
        );
    }
    // Nor does judging it again, or looking for its words, give it away.
    let all = json!({ "auto_below": 1.0, "ask_above": 1.0, "confidence_min": 0.0 });
    let refusing = json!({ "approvals": { "deny": [{ "tool": "reply" }] } });
    for body in [json!({ "config": refusing }), json!({ "thresholds": all })] {
        let seen = scene.gateway.post(&admin, "/v1/replay", &body);
        assert_eq!(seen.status, 200, "{body}: {seen:?}");
        assert!(!seen.body.to_string().contains("ebra"), "{body}: {seen:?}");
    }
    let found = scene.gateway.get(&admin, "/v1/traces?q=zebra").body;
    assert_eq!(found["traces"], json!([]), "{found}");
    let seen = scene
        .gateway
        .get(&other, &format!("/v1/approvals/{id}"))
        .body;
    assert_eq!(seen["args"]["text"], DRAFT, "the other sees it: {seen}");

    let own = scene.gateway.resolve(&admin, &id, "once");
    assert_eq!(own.status, 403, "{own:?}");
    let run_route = scene.approve(&run, &json!({ "choice": "once" }));
    assert_eq!(run_route.status, 403, "{run_route:?}");
    let others = scene.gateway.resolve(&other, &id, "once");
    assert_eq!(others.status, 200, "{others:?}");
    let rest = events.rest();
    assert_eq!(rest.last().unwrap()["output"], DRAFT);

    // Once more from the beginning: the notice, then the question, and the draft only after the yes.
    let all = scene.events(&run);
    assert_order(
        &all,
        &[
            "message.held",
            "approval.required",
            "approval.resolved",
            "run.completed",
        ],
    );
    let before: Vec<Value> = scene.gateway.events(&admin, &path, Some(last)).rest();
    assert!(before.iter().any(|it| it["event"] == "approval.resolved"));
    let resolved = all
        .iter()
        .position(|it| it["event"] == "approval.resolved")
        .unwrap();
    for event in &all[..resolved] {
        assert!(!event.to_string().contains("ebra"), "{event}");
    }
    assert!(!said(&all[..resolved]).contains("ebra"));
}

#[test]
fn a_draft_that_is_denied_is_never_shown() {
    let scene = scene();
    let other = scene.gateway.named_key("ben", "approver");
    let run = scene.start(CRY);
    let id = card(&scene, &other);
    assert_eq!(scene.gateway.resolve(&other, &id, "deny").status, 200);
    let events = scene.events(&run);
    let last = events.last().unwrap();
    assert_eq!(last["output"], countersign_core::policy::CRISIS_NOTICE);
    for event in &events {
        assert!(!event.to_string().contains("ebra"), "{event}");
    }
}

#[test]
fn a_chat_completion_shows_the_notice_and_waits() {
    let scene = scene();
    let (admin, other) = (
        scene.gateway.admin(),
        scene.gateway.named_key("ben", "approver"),
    );
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": CRY }] });
    let request = scene
        .gateway
        .request("POST", "/v1/chat/completions")
        .bearer_auth(&admin);
    let response = request.json(&body).send().unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let id = card(&scene, &other);
    let answer = std::thread::spawn(move || response.text().unwrap());
    assert_eq!(scene.gateway.resolve(&other, &id, "once").status, 200);
    let text = answer.join().unwrap();
    let notice = text.find(countersign_core::policy::CRISIS_NOTICE).unwrap();
    let asked = text.find("event: countersign.approval").unwrap();
    let answered = text.find("approval.resolved").unwrap();
    let draft = text.find("Zebra").unwrap();
    assert!(
        notice < answered && asked < answered && answered < draft,
        "{text}"
    );
    assert_eq!(text.matches("Zebra").count(), 1, "{text}");
}

#[test]
fn a_question_of_the_model_is_not_put_to_a_person_in_crisis() {
    let asks = Call::new("c1", "clarify", &json!({ "question": "Zebra or not?" }));
    let scene = Scene::new(vec![
        Reply::calls(["Zebra first. "], &[asks]),
        Reply::text(["Zebra last."]),
    ]);
    let other = scene.gateway.named_key("ben", "approver");
    let run = scene.start(CRY);
    let id = card(&scene, &other);
    assert!(scene.told_by_tool().contains("was not asked"));
    let admin = scene.gateway.admin();
    let path = format!("/v1/runs/{run}/events");
    let session = scene.status(&run)["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let messages = format!("/v1/sessions/{session}/messages");
    let messages = scene.gateway.get(&admin, &messages).body;
    assert_eq!(
        messages["messages"][1]["content"],
        Value::Null,
        "{messages}"
    );
    assert_eq!(scene.gateway.resolve(&other, &id, "deny").status, 200);
    let events = scene.gateway.events(&admin, &path, None).rest();
    assert!(events.iter().all(|it| it["event"] != "clarify.required"));
    assert!(!messages.to_string().contains("ebra"), "{messages}");
    for event in &events {
        assert!(!event.to_string().contains("ebra"), "{event}");
    }
}
