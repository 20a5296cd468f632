//! What a crash leaves is taken up: what waited still waits, and what was under way is not repeated.

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_gate::clarifications::{Clarified, Question};
use countersign_gate::records::request::{Report, Submission};
use countersign_gate::runs::{NewRun, Run, builtin};
use countersign_testkit::model::Reply;
use serde_json::{Value, json};

use crate::support::World;

/// Puts a run down as a gateway leaves it that died after the model asked for `command`.
async fn left_behind(world: &World, command: &str) -> Run {
    left_behind_with(world, "terminal", &json!({ "command": command })).await
}

async fn left_behind_with(world: &World, tool: &str, args: &Value) -> Run {
    let arguments = args.to_string();
    let new = NewRun {
        model: "m".to_owned(),
        cwd: Some(world.project.display().to_string()),
        messages: vec![
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": tool, "arguments": arguments } },
            ] }),
        ],
        driver: "dead".to_owned(),
        ..NewRun::default()
    };
    world.gate.begin_run(&world.ana, new).await.unwrap()
}

/// The submission a driver makes for that request.
fn submission(world: &World, run: &Run, command: &str) -> Submission {
    let schemas = world.agent.tools().schemas();
    let schema = schemas
        .into_iter()
        .find(|it| it.name == "terminal")
        .unwrap();
    Submission {
        call: ToolCall {
            tool: "terminal".to_owned(),
            args: json!({ "command": command }),
            cwd: Some(world.project.display().to_string()),
            ..ToolCall::default()
        },
        session: run.session.clone(),
        run: Some(run.run_id.clone()),
        agent: Some("countersign agent".to_owned()),
        tool_definition: Some(json!({
            "name": schema.name,
            "description": schema.description,
            "parameters": schema.parameters,
        })),
        starter: Some("ana".to_owned()),
        idempotency_key: Some(format!("{}/0/c1", run.run_id)),
        ..Submission::default()
    }
}

async fn taken_up(world: &World) -> (countersign_agent::Agent, tokio::task::JoinHandle<()>) {
    let (_, agent) = world.restarted().await;
    let watching = agent.clone();
    let watch = tokio::spawn(async move { watching.watch(true, std::future::pending()).await });
    (agent, watch)
}

#[tokio::test]
async fn a_run_that_had_not_begun_its_call_goes_on() {
    let world = World::new(vec![Reply::text(["Done."])]).await;
    let run = left_behind(&world, "echo ran >> trace.txt").await;
    let (_agent, watch) = taken_up(&world).await;
    assert_eq!(world.ended(&run).await.output.as_deref(), Some("Done."));
    let trace = std::fs::read_to_string(world.project.join("trace.txt")).unwrap();
    assert_eq!(trace, "ran\n");
    watch.abort();
}

#[tokio::test]
async fn a_call_that_was_under_way_is_reported_as_unknown_and_not_repeated() {
    let world = World::new(vec![Reply::text(["I will check."])]).await;
    let command = "echo ran >> trace.txt";
    let run = left_behind(&world, command).await;
    let call = world
        .gate
        .submit(&builtin(), submission(&world, &run, command))
        .await
        .unwrap();
    let permit = world
        .gate
        .take_up(&builtin(), &call.call_id, None)
        .await
        .unwrap();
    drop(permit);
    let (_agent, watch) = taken_up(&world).await;
    assert_eq!(
        world.ended(&run).await.output.as_deref(),
        Some("I will check.")
    );
    assert!(
        world.told("c1").starts_with("Outcome unknown"),
        "{}",
        world.told("c1")
    );
    assert!(
        !world.project.join("trace.txt").exists(),
        "it is not run again"
    );
    watch.abort();
}

#[tokio::test]
async fn a_call_that_was_reported_is_not_run_again_and_told_of_once() {
    let world = World::new(vec![Reply::text(["Done."])]).await;
    let command = "echo ran >> trace.txt";
    let run = left_behind(&world, command).await;
    let call = world
        .gate
        .submit(&builtin(), submission(&world, &run, command))
        .await
        .unwrap();
    let permit = world.gate.take_up(&builtin(), &call.call_id, None).await;
    drop(permit.unwrap());
    let report = Report {
        summary: Some("it ran".to_owned()),
        ..Report::default()
    };
    world
        .gate
        .report(&builtin(), &call.call_id, report)
        .await
        .unwrap();
    let (_agent, watch) = taken_up(&world).await;
    world.ended(&run).await;
    assert_eq!(world.told("c1"), "it ran");
    assert!(
        !world.project.join("trace.txt").exists(),
        "it is not run again"
    );
    let events = world.events(&run).await;
    let completed = events.iter().filter(|it| *it == "tool.completed").count();
    assert_eq!(completed, 1, "{events:?}");
    watch.abort();
}

#[tokio::test]
async fn a_question_that_waited_still_waits_and_its_answer_lets_the_run_go_on() {
    let world = World::new(vec![Reply::text(["Removed."])]).await;
    let command = "rm -rf /srv/nowhere/www; echo gone";
    let run = left_behind(&world, command).await;
    let call = world
        .gate
        .submit(&builtin(), submission(&world, &run, command))
        .await
        .unwrap();
    assert_eq!(call.status.word(), "waiting");
    let (_agent, watch) = taken_up(&world).await;
    let asked = world.questions(&run, 1).await;
    assert_eq!(
        Some(&asked[0].approval_id),
        call.approval_id.as_ref(),
        "the same question"
    );
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Once)
        .await;
    assert_eq!(world.ended(&run).await.output.as_deref(), Some("Removed."));
    assert!(world.told("c1").contains("gone"));
    watch.abort();
}

#[tokio::test]
async fn an_answer_that_was_written_down_ends_the_run_without_asking_again() {
    let world = World::new(Vec::new()).await;
    let new = NewRun {
        messages: vec![
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": "All done." }),
        ],
        driver: "dead".to_owned(),
        ..NewRun::default()
    };
    let run = world.gate.begin_run(&world.ana, new).await.unwrap();
    let (_agent, watch) = taken_up(&world).await;
    assert_eq!(world.ended(&run).await.output.as_deref(), Some("All done."));
    let asked: Vec<Value> = world.model.requests();
    assert!(asked.is_empty());
    watch.abort();
}

#[tokio::test]
async fn a_question_to_a_person_outlives_the_gateway_that_asked_it() {
    let world = World::new(vec![Reply::text(["Left it is."])]).await;
    let run = left_behind_with(&world, "clarify", &json!({ "question": "Left or right?" })).await;
    let submission = Submission {
        call: ToolCall {
            tool: "clarify".to_owned(),
            args: json!({ "question": "Left or right?" }),
            ..ToolCall::default()
        },
        ..submission(&world, &run, "")
    };
    let call = world.gate.submit(&builtin(), submission).await.unwrap();
    let permit = world.gate.take_up(&builtin(), &call.call_id, None).await;
    drop(permit.unwrap());
    let question = Question {
        text: "Left or right?".to_owned(),
        choices: Vec::new(),
        session: run.session.clone(),
        run: Some(run.run_id.clone()),
    };
    let none = std::time::Duration::ZERO;
    let asked = world
        .gate
        .ask_person_for(&builtin(), question, &call.call_id, none)
        .await
        .unwrap();
    let (_agent, watch) = taken_up(&world).await;
    let left = Clarified::Text("left".to_owned());
    let answered = world
        .gate
        .clarify(&world.ana, &asked.clarification_id, left);
    answered.await.unwrap();
    assert_eq!(
        world.ended(&run).await.output.as_deref(),
        Some("Left it is.")
    );
    assert!(world.told("c1").contains("left"), "{}", world.told("c1"));
    watch.abort();
}
