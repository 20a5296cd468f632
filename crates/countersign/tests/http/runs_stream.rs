//! The stream of a run: several readers, coming back, and the names that clients of Hermes know.

use countersign_testkit::model::Reply;
use serde_json::{Value, json};

use crate::scene::{Scene, assert_order, names, said, shell};

#[test]
fn every_reader_hears_everything_and_who_comes_late_hears_the_message_so_far() {
    let script = vec![Reply::text(["First sentence. ", "Second one. "]).then_hangs()];
    let scene = Scene::new(script);
    let run = scene.start("tell me");
    let (admin, viewer) = (scene.gateway.admin(), scene.gateway.key("viewer"));
    let path = format!("/v1/runs/{run}/events");
    let mut early = scene.gateway.events(&admin, &path, None);
    let mut heard = String::new();
    while !heard.contains("First") {
        let event = early.any().unwrap();
        heard += event["delta"].as_str().unwrap_or_default();
        heard += event["text"].as_str().unwrap_or_default();
    }
    let mut late: Vec<_> = (0..5)
        .map(|_| scene.gateway.events(&viewer, &path, None))
        .collect();
    for reader in &mut late {
        assert_eq!(reader.any().unwrap()["event"], "run.started");
        let so_far = reader.any().unwrap();
        assert_eq!(so_far["event"], "message.snapshot", "{so_far}");
        assert!(
            so_far["text"]
                .as_str()
                .unwrap()
                .starts_with("First sentence.")
        );
    }
    scene.model.release();
    for reader in &mut late {
        let rest = reader.rest();
        assert_eq!(names(&rest).last(), Some(&"run.completed"), "{rest:#?}");
    }
    let rest = early.rest();
    assert_eq!(heard + &said(&rest), "First sentence. Second one. ");
}

#[test]
fn who_comes_back_goes_on_behind_the_last_event_it_saw() {
    let script = vec![
        Reply::calls([], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["Done."]),
    ];
    let scene = Scene::new(script);
    scene.precious("precious");
    let run = scene.start("clean up");
    let admin = scene.gateway.admin();
    let path = format!("/v1/runs/{run}/events");
    let mut events = scene.gateway.events(&admin, &path, None);
    let (last, _) = events.named("approval.required");
    drop(events);
    scene.approve(&run, &json!({ "choice": "deny" }));
    scene.wait_for(&run, "completed");
    let rest = scene.gateway.events(&admin, &path, Some(last)).rest();
    assert_eq!(
        names(&rest),
        ["approval.resolved", "tool.completed", "run.completed"],
        "what was said is in the last of them"
    );
}

/// What a client of Hermes finds in each event, in order.
const SHAPES: &[(&str, &[&str])] = &[
    (
        "tool.started",
        &["event", "run_id", "timestamp", "tool", "preview"],
    ),
    (
        "approval.request",
        &[
            "command",
            "pattern_key",
            "pattern_keys",
            "description",
            "allow_permanent",
            "event",
            "run_id",
            "timestamp",
            "choices",
        ],
    ),
    (
        "approval.responded",
        &["event", "run_id", "timestamp", "choice", "resolved"],
    ),
    (
        "tool.completed",
        &["event", "run_id", "timestamp", "tool", "duration", "error"],
    ),
    ("message.delta", &["event", "run_id", "timestamp", "delta"]),
    (
        "run.completed",
        &["event", "run_id", "timestamp", "output", "usage"],
    ),
];

#[test]
fn a_client_of_hermes_finds_what_it_knows_and_nothing_it_does_not() {
    let script = vec![
        Reply::calls([], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["Gone. ", "Really."]).usage(11, 7),
    ];
    let scene = Scene::configured(script, "api: {dialect: hermes}\n");
    scene.precious("precious");
    let models = scene.gateway.get(&scene.gateway.admin(), "/v1/models").body;
    assert_eq!(models["object"], "list");
    assert_eq!(models["data"][0]["object"], "model");
    let capabilities = scene
        .gateway
        .get(&scene.gateway.admin(), "/v1/capabilities")
        .body;
    assert_eq!(capabilities["object"], "hermes.api_server.capabilities");
    for feature in ["approval_events", "run_approval_response", "run_submission"] {
        assert_eq!(capabilities["features"][feature], true, "{feature}");
    }
    let run = scene.run(&json!({ "input": "hi", "session_id": "conv1" }));
    let path = format!("/v1/runs/{run}/events");
    let mut events = scene.gateway.events(&scene.gateway.admin(), &path, None);
    scene.waiting(&run, 1);
    let shown = scene.status(&run);
    assert_eq!(shown["last_event"], "approval.request");
    let keys: Vec<&str> = keys(&shown);
    let wanted = [
        "object",
        "run_id",
        "status",
        "updated_at",
        "created_at",
        "session_id",
        "model",
        "last_event",
    ];
    assert_eq!(keys[..wanted.len()], wanted);
    let wrong = scene.approve(&run, &json!({ "choice": "maybe" }));
    assert_eq!(
        (wrong.status, wrong.code()),
        (400, "invalid_approval_choice")
    );
    let once = scene.approve(&run, &json!({ "choice": "once" }));
    let wanted = json!({ "object": "hermes.run.approval_response", "run_id": run, "choice": "once", "resolved": 1 });
    assert_eq!(once.body.to_string(), wanted.to_string());
    let events = events.rest();
    assert_order(
        &events,
        &[
            "tool.started",
            "approval.request",
            "approval.responded",
            "tool.completed",
            "message.delta",
            "run.completed",
        ],
    );
    for event in &events {
        let name = event["event"].as_str().unwrap();
        let shape = SHAPES.iter().find(|(known, _)| *known == name);
        let (_, shape) = shape.unwrap_or_else(|| panic!("{name} is unknown there"));
        let keys = crate::runs_stream::keys(event);
        assert_eq!(keys[..shape.len()], **shape, "{name}");
    }
    assert_eq!(said(&events), "Gone. Really.");
    let last = events.last().unwrap();
    assert_eq!(
        last["usage"],
        json!({ "input_tokens": 21, "output_tokens": 12, "total_tokens": 33 })
    );
}

fn keys(value: &Value) -> Vec<&str> {
    let keys = value.as_object().unwrap().keys();
    keys.map(String::as_str).collect()
}
