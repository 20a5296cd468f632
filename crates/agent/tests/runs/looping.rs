//! The loop: safe calls run, others wait, and the model is told what came of each.

use std::time::Duration;

use countersign_agent::RunLimits;
use countersign_core::approval::Choice;
use countersign_core::status::RunStatus;
use countersign_gate::GateError;
use countersign_gate::base::settings::{Settings, Timeouts};
use countersign_gate::records::request::GrantRequest;
use countersign_testkit::model::{Call, Reply};
use serde_json::json;

use crate::support::{Wishes, World, answer, uses};

fn removal() -> serde_json::Value {
    json!({ "command": "rm -rf /srv/nowhere/www" })
}

#[tokio::test]
async fn a_safe_read_runs_unasked_and_the_answer_comes() {
    let script = vec![
        uses("c1", "read_file", &json!({ "path": "notes.txt" })),
        Reply::text(["It says ", "hello."]).usage(20, 4),
    ];
    let world = World::new(script).await;
    std::fs::write(world.project.join("notes.txt"), "hello\n").unwrap();
    let run = world.start("what do the notes say?").await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some("It says hello."), "{ended:?}");
    assert!(world.told("c1").contains("hello"));
    assert_eq!(ended.steps, 2);
    assert!(ended.prompt_tokens >= 20);
    let events = world.events(&run).await;
    let wanted = [
        "run.started",
        "tool.started",
        "call.assessed",
        "tool.completed",
        "run.completed",
    ];
    let seen: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .filter(|it| wanted.contains(it))
        .collect();
    assert_eq!(seen, wanted, "{events:?}");
    let usage = world.gate.usage(&world.ana, None).await.unwrap();
    assert_eq!((usage[0].task.as_str(), usage[0].calls), ("agent", 2));
}

#[tokio::test]
async fn a_removal_waits_and_runs_once_a_person_said_yes() {
    let script = vec![
        uses("c1", "terminal", &removal()),
        Reply::text(["Removed."]),
    ];
    let world = World::new(script).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 1).await;
    assert_eq!(world.model.requests().len(), 1, "nothing goes on meanwhile");
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Once)
        .await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some("Removed."));
    let events = world.events(&run).await;
    let wanted = [
        "tool.started",
        "approval.required",
        "approval.resolved",
        "tool.completed",
        "run.completed",
    ];
    let seen: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .filter(|it| wanted.contains(it))
        .collect();
    assert_eq!(seen, wanted, "{events:?}");
}

#[tokio::test]
async fn a_denial_is_told_with_its_note_and_without_a_way_round() {
    let script = vec![
        uses("c1", "terminal", &removal()),
        Reply::text(["I stop here."]),
    ];
    let world = World::new(script).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 1).await;
    let mut no = answer(&asked[0].approval_id, Choice::Deny);
    no.note = Some("that is the live site".to_owned());
    world.gate.answer(&world.ana, no).await.unwrap();
    world.ended(&run).await;
    let told = world.told("c1");
    assert!(
        told.contains("denied") && told.contains("that is the live site"),
        "{told}"
    );
    assert!(!told.to_lowercase().contains("instead"), "{told}");
}

#[tokio::test]
async fn what_nobody_answers_is_told_as_no_denial() {
    let script = vec![
        uses("c1", "terminal", &removal()),
        Reply::text(["Nobody was there."]),
    ];
    let wishes = Wishes {
        settings: Settings {
            timeouts: Timeouts {
                usual: 50,
                ..Timeouts::default()
            },
            ..Settings::default()
        },
        ..Wishes::default()
    };
    let world = World::with(script, wishes).await;
    let run = world.start("clean up").await;
    assert_eq!(world.ended(&run).await.status, RunStatus::Completed);
    assert!(
        world.told("c1").contains("not a denial"),
        "{}",
        world.told("c1")
    );
}

#[tokio::test]
async fn two_questions_are_answered_out_of_order_and_each_gets_its_own_answer() {
    let both = [
        Call::new(
            "c1",
            "terminal",
            &json!({ "command": "rm -rf /srv/nowhere/a; echo first" }),
        ),
        Call::new(
            "c2",
            "terminal",
            &json!({ "command": "rm -rf /srv/nowhere/b; echo second" }),
        ),
    ];
    let world = World::new(vec![Reply::calls([], &both), Reply::text(["Done."])]).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 2).await;
    let of = |word: &str| {
        let found = asked.iter().find(|it| it.command.contains(word));
        found.unwrap().approval_id.clone()
    };
    world.answer(&world.ana, &of("second"), Choice::Once).await;
    world.answer(&world.ana, &of("first"), Choice::Deny).await;
    world.ended(&run).await;
    assert!(world.told("c2").contains("second"));
    assert!(world.told("c1").contains("denied"));
}

#[tokio::test]
async fn a_session_s_grant_holds_in_the_next_run_of_the_session_and_in_no_other() {
    let command = json!({ "command": "rm -rf /srv/nowhere/www" });
    let script = vec![
        uses("c1", "terminal", &command),
        Reply::text(["One."]),
        uses("c2", "terminal", &command),
        Reply::text(["Two."]),
        uses("c3", "terminal", &command),
        Reply::text(["Three."]),
    ];
    let world = World::new(script).await;
    let first = world.start_in(Some("talk"), "clean up").await;
    let asked = world.questions(&first, 1).await;
    assert!(
        asked[0].choices.contains(&Choice::Session),
        "{:?}",
        asked[0].choices
    );
    let mut standing = answer(&asked[0].approval_id, Choice::Session);
    standing.grant = Some(GrantRequest::default());
    world.gate.answer(&world.ana, standing).await.unwrap();
    world.ended(&first).await;
    let second = world.start_in(Some("talk"), "again").await;
    assert_eq!(world.ended(&second).await.output.as_deref(), Some("Two."));
    let third = world.start_in(Some("another"), "again").await;
    let asked = world.questions(&third, 1).await;
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Deny)
        .await;
    world.ended(&third).await;
}

#[tokio::test]
async fn a_run_that_is_stopped_takes_back_what_it_asked() {
    let world = World::new(vec![uses("c1", "terminal", &removal())]).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 1).await;
    world.agent.stop(&world.ben, &run.run_id).await.unwrap();
    assert_eq!(world.ended(&run).await.status, RunStatus::Cancelled);
    let late = answer(&asked[0].approval_id, Choice::Once);
    let late = world.gate.answer(&world.ana, late).await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn what_was_allowed_does_not_run_once_the_run_is_stopped() {
    let both = [
        Call::new("c1", "terminal", &removal()),
        Call::new("c2", "terminal", &json!({ "command": "sleep 600" })),
    ];
    let world = World::new(vec![Reply::calls([], &both)]).await;
    let run = world.start("clean up").await;
    world.questions(&run, 1).await;
    world.agent.stop(&world.ana, &run.run_id).await.unwrap();
    assert_eq!(world.ended(&run).await.status, RunStatus::Cancelled);
    // A driver that takes up a stopped run begins nothing.
    let late = World::new(vec![
        uses(
            "c1",
            "write_file",
            &json!({ "path": "late.txt", "content": "x" }),
        )
        .then_hangs(),
    ])
    .await;
    let run = late.start("write").await;
    late.model.asked(1).await;
    late.agent.stop(&late.ana, &run.run_id).await.unwrap();
    late.model.release();
    assert_eq!(late.ended(&run).await.status, RunStatus::Cancelled);
    assert!(!late.project.join("late.txt").exists());
}

#[tokio::test]
async fn a_model_that_numbers_its_requests_anew_is_answered_anew() {
    let echo = |text: &str| {
        uses(
            "call_0",
            "terminal",
            &json!({ "command": format!("echo {text}") }),
        )
    };
    let again = || {
        uses(
            "call_0",
            "terminal",
            &json!({ "command": "echo x >> trace.txt" }),
        )
    };
    let script = vec![
        echo("first"),
        echo("second"),
        again(),
        again(),
        Reply::text(["Done."]),
    ];
    let world = World::new(script).await;
    let run = world.start("go").await;
    assert_eq!(world.ended(&run).await.status, RunStatus::Completed);
    let requests = world.model.requests();
    let told = requests[2]["messages"].to_string();
    assert!(told.contains("second"), "{told}");
    let trace = std::fs::read_to_string(world.project.join("trace.txt")).unwrap();
    assert_eq!(trace, "x\nx\n", "the same words twice are two calls");
}

#[tokio::test]
async fn a_command_that_runs_is_ended_when_the_run_is_stopped() {
    let sleeps = json!({ "command": "echo begun > begun.txt; sleep 600" });
    let world = World::new(vec![uses("c1", "terminal", &sleeps)]).await;
    let run = world.start("wait").await;
    world
        .seen(|| async {
            let progress = world.events(&run).await;
            progress.contains(&"call.assessed".to_owned()).then_some(())
        })
        .await;
    world.agent.stop(&world.ana, &run.run_id).await.unwrap();
    assert_eq!(world.ended(&run).await.status, RunStatus::Cancelled);
}

#[tokio::test]
async fn requests_that_make_no_sense_are_answered_and_submit_nothing() {
    let nonsense = [
        Call::new("c1", "launch_rocket", &json!({})),
        Call::written("c2", "terminal", "{\"command\": \"ls"),
        Call::written(
            "c3",
            "terminal",
            r#"{"command":"ls","command":"rm -rf /srv"}"#,
        ),
        Call::written("c4", "terminal", "[1]"),
    ];
    let world = World::new(vec![Reply::calls([], &nonsense), Reply::text(["Sorry."])]).await;
    let run = world.start("go").await;
    world.ended(&run).await;
    assert!(world.told("c1").contains("no tool `launch_rocket`"));
    assert!(world.told("c2").contains("not valid JSON"));
    assert!(world.told("c3").contains("occurs twice"));
    assert!(world.told("c4").contains("must be a JSON object"));
    assert!(
        !world
            .events(&run)
            .await
            .contains(&"call.assessed".to_owned())
    );
}

#[tokio::test]
async fn a_model_that_never_ends_uses_up_its_steps() {
    let script = (0..9)
        .map(|number| {
            uses(
                &format!("c{number}"),
                "terminal",
                &json!({ "command": "true" }),
            )
        })
        .collect();
    let wishes = Wishes {
        limits: RunLimits {
            steps: 3,
            ..RunLimits::default()
        },
        ..Wishes::default()
    };
    let world = World::with(script, wishes).await;
    let run = world.start("go").await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.status, RunStatus::Failed);
    assert_eq!(
        ended.error.as_deref(),
        Some("the run has used up its 3 steps")
    );
    assert_eq!(world.model.requests().len(), 3);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_an_error_ends_the_run() {
    let script = vec![
        Reply::text(["Half of "]).then_breaks_off(),
        Reply::text(["All of it."]),
    ];
    let world = World::new(script).await;
    let run = world.start("go").await;
    assert_eq!(
        world.ended(&run).await.output.as_deref(),
        Some("All of it.")
    );
    for (status, body, words) in [
        (402, "{}", "out of credit"),
        (500, "{}", ""),
        (401, "{}", "401"),
    ] {
        let world = World::new(vec![Reply::status(status, body)]).await;
        let run = world.start("go").await;
        let ended = world.ended(&run).await;
        assert_eq!(ended.status, RunStatus::Failed, "{status}");
        assert!(ended.error.unwrap().contains(words), "{status}");
    }
}

#[tokio::test]
async fn an_empty_question_starts_nothing() {
    let world = World::new(Vec::new()).await;
    let request = countersign_agent::RunRequest::default();
    let started = world.agent.start(&world.ana, request).await;
    assert!(
        matches!(started, Err(GateError::Invalid { param: "input", .. })),
        "{started:?}"
    );
    let none = tokio::time::timeout(Duration::from_millis(10), world.model.asked(1)).await;
    assert!(none.is_err());
}
