//! Runs of the built-in agent over HTTP: what runs unasked, what waits, and what comes of answers.

use countersign_testkit::model::{Call, Reply};
use serde_json::json;

use crate::scene::{Scene, assert_order, names, said, shell};
use crate::support::Gateway;

#[test]
fn what_only_reads_runs_unasked() {
    let calls = [
        shell("c1", "cat notes.txt"),
        Call::new("c2", "read_file", &json!({ "path": "notes.txt" })),
    ];
    let script = vec![
        Reply::calls(["Looking. "], &calls),
        Reply::text(["It says ", "hello. ", "That is all."]).usage(100, 20),
    ];
    let scene = Scene::new(script);
    std::fs::write(scene.work.join("notes.txt"), "hello from the file").unwrap();
    let run = scene.start("what do my notes say?");
    let events = scene.events(&run);
    assert_order(
        &events,
        &[
            "run.started",
            "message.delta",
            "tool.started",
            "tool.started",
            "tool.completed",
            "tool.completed",
            "message.delta",
            "run.completed",
        ],
    );
    let completed = names(&events)
        .iter()
        .filter(|it| **it == "tool.completed")
        .count();
    assert_eq!(completed, 2, "each tool ends once: {events:#?}");
    assert!(!names(&events).contains(&"approval.required"));
    assert_eq!(said(&events), "Looking. It says hello. That is all.");
    let last = events.last().unwrap();
    assert_eq!(last["output"], "It says hello. That is all.");
    assert_eq!(last["usage"]["total_tokens"], 135);
    let told = scene.model.requests()[1].to_string();
    assert_eq!(told.matches("hello from the file").count(), 2, "{told}");

    let shown = scene.status(&run);
    assert_eq!(shown["object"], "hermes.run");
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["output"], "It says hello. That is all.");
    assert_eq!(shown["last_event"], "run.completed");
    assert_eq!(shown["pending_approvals"], json!([]));
    let admin = scene.gateway.admin();
    let session = shown["session_id"].as_str().unwrap();
    let messages = scene
        .gateway
        .get(&admin, &format!("/v1/sessions/{session}/messages"))
        .body;
    assert_eq!(
        messages["messages"].as_array().unwrap().len(),
        5,
        "{messages}"
    );
    let sessions = scene.gateway.get(&admin, "/v1/sessions").body;
    assert_eq!(sessions["sessions"][0]["session_id"], session);
    let runs = scene.gateway.get(&admin, "/v1/runs").body;
    assert_eq!(runs["runs"][0]["run_id"], *run);
    let usage = scene.gateway.get(&admin, "/v1/usage").body;
    assert_eq!(usage["usage"][0]["calls"], 2, "{usage}");
    assert_eq!(usage["usage"][0]["prompt_tokens"], 110, "{usage}");
}

#[test]
fn what_destroys_waits_and_its_answer_and_result_come_in_order() {
    let script = vec![
        Reply::calls([], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["It is gone."]),
    ];
    let scene = Scene::new(script);
    let precious = scene.precious("precious");
    let run = scene.start("clean up");
    let ids = scene.waiting(&run, 1);
    let shown = scene.status(&run);
    assert_eq!(
        shown["pending_approvals"][0]["command"],
        "rm -rf ~/precious"
    );
    assert_eq!(shown["last_event"], "approval.required");
    assert!(precious.exists(), "nothing runs before the answer");
    let said = scene.approve(&run, &json!({ "choice": "approve" }));
    assert_eq!(said.status, 200, "{said:?}");
    assert_eq!(said.body["resolved"], 1);
    let events = scene.events(&run);
    assert_order(
        &events,
        &[
            "run.started",
            "tool.started",
            "call.assessed",
            "approval.required",
            "approval.resolved",
            "tool.completed",
            "message.delta",
            "run.completed",
        ],
    );
    let asked = events.iter().find(|it| it["event"] == "approval.required");
    assert_eq!(asked.unwrap()["approval_id"], *ids[0]);
    assert!(!precious.exists());
    let late = scene.approve(&run, &json!({ "choice": "once" }));
    assert_eq!((late.status, late.code()), (409, "approval_not_active"));
}

#[test]
fn build_output_is_removed_unasked() {
    let script = vec![
        Reply::calls([], &[shell("c1", "rm -rf target")]),
        Reply::text(["Clean."]),
    ];
    let scene = Scene::new(script);
    std::fs::write(scene.work.join("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
    let target = scene.work.join("target");
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("x.o"), "x").unwrap();
    let run = scene.start("clean the build");
    let events = scene.events(&run);
    assert!(
        !names(&events).contains(&"approval.required"),
        "{events:#?}"
    );
    assert!(!target.exists());
}

#[test]
fn what_is_denied_or_not_answered_does_not_run_and_the_model_is_told() {
    let rows = [
        ("denied", "", "denied"),
        ("not answered", "approvals: {timeout: 1s}\n", "expired"),
    ];
    for (name, config, outcome) in rows {
        let script = vec![
            Reply::calls([], &[shell("c1", "rm -rf ~/precious")]),
            Reply::text(["I did not do it."]),
        ];
        let scene = Scene::configured(script, config);
        let precious = scene.precious("precious");
        let run = scene.start("clean up");
        let ids = scene.waiting(&run, 1);
        if outcome == "denied" {
            let admin = scene.gateway.admin();
            let path = format!("/v1/approvals/{}/resolve", ids[0]);
            let body = json!({ "choice": "deny", "note": "keep it" });
            let said = scene.gateway.post(&admin, &path, &body);
            assert_eq!(said.status, 200, "{name}: {said:?}");
        }
        let events = scene.events(&run);
        let resolved = events.iter().find(|it| it["event"] == "approval.resolved");
        assert_eq!(resolved.unwrap()["outcome"], outcome, "{name}");
        let done = events.iter().find(|it| it["event"] == "tool.completed");
        assert_eq!(done.unwrap()["error"], true, "{name}");
        assert_eq!(
            events.last().unwrap()["output"],
            "I did not do it.",
            "{name}"
        );
        assert!(precious.exists(), "{name}");
        let wanted = if outcome == "denied" {
            "keep it"
        } else {
            "Nobody answered"
        };
        let told = scene.told_by_tool();
        assert!(told.contains(wanted), "{name}: {told}");
    }
}

#[test]
fn a_run_that_is_stopped_takes_its_questions_back() {
    let script = vec![Reply::calls([], &[shell("c1", "rm -rf ~/precious")])];
    let scene = Scene::new(script);
    let precious = scene.precious("precious");
    let run = scene.start("clean up");
    let ids = scene.waiting(&run, 1);
    let admin = scene.gateway.admin();
    let path = format!("/v1/runs/{run}/stop");
    let stopped = scene.gateway.post(&admin, &path, &json!({}));
    assert_eq!(stopped.body, json!({ "run_id": run, "status": "stopping" }));
    let events = scene.events(&run);
    assert_order(
        &events,
        &["approval.required", "approval.resolved", "run.cancelled"],
    );
    assert_eq!(scene.status(&run)["status"], "cancelled");
    let late = scene.gateway.resolve(&admin, &ids[0], "once");
    assert_eq!(late.status, 410, "{late:?}");
    assert!(precious.exists());
}

#[test]
fn a_question_outlives_a_gateway_that_is_killed() {
    let script = vec![
        Reply::calls(["On it. "], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["It is gone."]),
    ];
    let mut scene = Scene::new(script);
    let precious = scene.precious("precious");
    let run = scene.start("clean up");
    let before = scene.waiting(&run, 1);
    scene.gateway = scene.gateway.killed_and_restarted();
    assert_eq!(
        scene.waiting(&run, 1),
        before,
        "the same question still waits"
    );
    assert!(precious.exists());
    let said = scene.approve(&run, &json!({ "choice": "once" }));
    assert_eq!(said.status, 200, "{said:?}");
    let events = scene.events(&run);
    assert_order(
        &events,
        &[
            "tool.started",
            "approval.required",
            "approval.resolved",
            "tool.completed",
            "run.completed",
        ],
    );
    assert_eq!(events.last().unwrap()["output"], "It is gone.");
    assert_eq!(
        scene.model.requests().len(),
        2,
        "the model is not asked again for what it said"
    );
    assert!(!precious.exists());
}

#[test]
fn two_questions_are_answered_in_any_order() {
    let calls = [shell("c1", "rm -rf ~/one"), shell("c2", "rm -rf ~/two")];
    let script = vec![Reply::calls([], &calls), Reply::text(["Done."])];
    let scene = Scene::new(script);
    let (one, two) = (scene.precious("one"), scene.precious("two"));
    let run = scene.start("clean up");
    scene.waiting(&run, 2);
    let ambiguous = scene.approve(&run, &json!({ "choice": "once" }));
    assert_eq!(
        (ambiguous.status, ambiguous.code()),
        (409, "several_waiting")
    );
    let pending = scene.status(&run)["pending_approvals"].clone();
    let of = |command: &str| {
        let found = pending
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["command"] == command);
        found.unwrap()["approval_id"].clone()
    };
    let second = json!({ "choice": "once", "approval_id": of("rm -rf ~/two") });
    assert_eq!(scene.approve(&run, &second).status, 200);
    scene.waiting(&run, 1);
    let first = json!({ "choice": "deny", "request_id": of("rm -rf ~/one") });
    assert_eq!(scene.approve(&run, &first).status, 200);
    let events = scene.events(&run);
    assert_eq!(events.last().unwrap()["output"], "Done.");
    assert!(one.exists(), "denied");
    assert!(!two.exists(), "allowed");
}

#[test]
fn a_grant_for_the_session_holds_in_its_next_run_and_in_no_other() {
    let ask = || Reply::calls([], &[shell("c1", "rm -rf /srv/nothing-of-anybody")]);
    let script = vec![
        ask(),
        Reply::text(["Once."]),
        ask(),
        Reply::text(["Twice."]),
        ask(),
        Reply::text(["Not here."]),
    ];
    let scene = Scene::new(script);
    let run = scene.run(&json!({ "input": "clean up", "session_id": "mine" }));
    scene.waiting(&run, 1);
    let busy = scene.gateway.post(
        &scene.gateway.admin(),
        "/v1/runs",
        &json!({ "input": "more", "session_id": "mine" }),
    );
    assert_eq!(busy.status, 409, "one run at a time: {busy:?}");
    assert_eq!(
        scene.approve(&run, &json!({ "choice": "session" })).status,
        200
    );
    scene.wait_for(&run, "completed");
    let again = scene.run(&json!({ "input": "again", "session_id": "mine" }));
    let events = scene.events(&again);
    assert!(
        !names(&events).contains(&"approval.required"),
        "{events:#?}"
    );
    let done = events.iter().find(|it| it["event"] == "tool.completed");
    assert_eq!(done.unwrap()["error"], false, "it ran: {events:#?}");
    let messages = scene.model.requests()[2]["messages"].to_string();
    assert!(
        messages.contains("clean up") && messages.contains("Once."),
        "{messages}"
    );

    let other = scene.run(&json!({ "input": "here, too", "session_id": "other" }));
    scene.waiting(&other, 1);
    assert_eq!(
        scene.approve(&other, &json!({ "choice": "deny" })).status,
        200
    );
    scene.wait_for(&other, "completed");
}

#[test]
fn a_question_of_the_agent_waits_in_the_status_and_its_answer_reaches_the_model() {
    let asks = Call::new(
        "c1",
        "clarify",
        &json!({ "question": "Which one?", "choices": ["red", "blue"] }),
    );
    let script = vec![Reply::calls([], &[asks]), Reply::text(["Blue it is."])];
    let scene = Scene::new(script);
    let run = scene.start("paint it");
    let admin = scene.gateway.admin();
    let mut events = scene
        .gateway
        .events(&admin, &format!("/v1/runs/{run}/events"), None);
    let (_, asked) = events.named("clarify.required");
    let shown = scene.status(&run);
    let pending = &shown["pending_clarifications"][0];
    assert_eq!(pending["question"], "Which one?");
    assert_eq!(pending["clarification_id"], asked["clarification_id"]);
    let id = pending["clarification_id"].as_str().unwrap();
    let path = format!("/v1/clarifications/{id}/answer");
    let said = scene.gateway.post(&admin, &path, &json!({ "choice": 2 }));
    assert_eq!(said.status, 200, "{said:?}");
    assert_order(
        &events.rest(),
        &["clarify.resolved", "tool.completed", "run.completed"],
    );
    assert!(scene.told_by_tool().contains("blue"));
}

#[test]
fn a_model_that_fails_fails_the_run() {
    let scene = Scene::new(vec![Reply::status(
        400,
        r#"{"error":{"message":"no such model"}}"#,
    )]);
    let run = scene.start("hi");
    let events = scene.events(&run);
    assert_eq!(events.last().unwrap()["event"], "run.failed");
    let shown = scene.status(&run);
    assert_eq!(shown["status"], "failed");
    assert!(
        shown["error"].as_str().unwrap().contains("no such model"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_started_says_why() {
    let scene = Scene::new(vec![]);
    let rows = [
        ("nothing to do", json!({ "input": " " }), 422, "empty_input"),
        ("no input", json!({}), 422, "invalid_body"),
        (
            "a picture",
            json!({ "input": [{ "role": "user", "content": [{ "type": "image_url" }] }] }),
            422,
            "invalid_input",
        ),
        (
            "nowhere",
            json!({ "input": "x", "cwd": "/does/not/exist" }),
            422,
            "invalid_cwd",
        ),
        (
            "somewhere relative",
            json!({ "input": "x", "cwd": "src" }),
            422,
            "invalid_cwd",
        ),
    ];
    let admin = scene.gateway.admin();
    for (name, body, status, code) in rows {
        let said = scene.gateway.post(&admin, "/v1/runs", &body);
        assert_eq!(
            (said.status, said.code()),
            (status, code),
            "{name}: {said:?}"
        );
    }
    for path in ["/v1/runs/run_x", "/v1/runs/run_x/events"] {
        let said = scene.gateway.get(&admin, path);
        assert_eq!((said.status, said.code()), (404, "run_not_found"), "{path}");
    }
    for path in ["/v1/runs/run_x/stop", "/v1/runs/run_x/approval"] {
        let said = scene
            .gateway
            .post(&admin, path, &json!({ "choice": "deny" }));
        assert_eq!((said.status, said.code()), (404, "run_not_found"), "{path}");
    }
    let without = Gateway::start();
    let said = without.post(&without.admin(), "/v1/runs", &json!({ "input": "hi" }));
    assert_eq!((said.status, said.code()), (422, "no_model"), "{said:?}");
    let capabilities = without.get(&without.admin(), "/v1/capabilities").body;
    assert_eq!(capabilities["features"]["run_submission"], false);
}

#[test]
fn a_run_of_another_agent_has_a_status_too() {
    let gateway = Gateway::start();
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let call = gateway.submit(&agent, crate::support::RISKY).body;
    let run = call["run_id"].as_str().unwrap();
    for key in [&agent, &admin] {
        let shown = gateway.get(key, &format!("/v1/runs/{run}")).body;
        assert_eq!(shown["status"], "waiting_for_approval", "{shown}");
        assert_eq!(shown["session_id"], "s1");
        assert_eq!(
            shown["pending_approvals"][0]["approval_id"],
            call["approval_id"]
        );
    }
}
