//! Messages sent into a run that is under way.

use countersign_core::approval::Choice;
use countersign_gate::GateError;
use countersign_testkit::model::Reply;
use serde_json::{Value, json};

use crate::support::{World, uses};

/// Returns the roles of the messages of the model's last request, and their texts.
fn last_request(world: &World) -> Vec<(String, String)> {
    let requests = world.model.requests();
    let messages = requests.last().unwrap()["messages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let told = messages
        .iter()
        .map(|it| (text(&it["role"]), text(&it["content"])));
    told.collect()
}

#[tokio::test]
async fn a_message_into_a_waiting_run_is_read_behind_the_result() {
    let script = vec![
        uses(
            "c1",
            "terminal",
            &json!({ "command": "rm -rf /srv/nowhere/www" }),
        ),
        Reply::text(["Fine."]),
    ];
    let world = World::new(script).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 1).await;
    let steered = world
        .agent
        .steer(&world.ana, &run.run_id, "leave the logs")
        .await;
    assert_eq!(steered.unwrap().unread, ["leave the logs"]);
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Deny)
        .await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some("Fine."));
    assert!(ended.unread.is_empty());
    let told = last_request(&world);
    let roles: Vec<&str> = told.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(told.last().unwrap().1, "leave the logs");
    let events = world.events(&run).await;
    assert!(events.contains(&"run.steered".to_owned()), "{events:?}");
}

#[tokio::test]
async fn a_run_with_unread_messages_does_not_end() {
    let script = vec![
        Reply::text(["First."]).then_hangs(),
        Reply::text(["Second."]),
    ];
    let world = World::new(script).await;
    let run = world.start("say something").await;
    world.model.asked(1).await;
    world
        .agent
        .steer(&world.ana, &run.run_id, "and then?")
        .await
        .unwrap();
    world.model.release();
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some("Second."));
    let told = last_request(&world);
    let said: Vec<&str> = told.iter().skip(1).map(|(_, text)| text.as_str()).collect();
    assert_eq!(said, ["say something", "First.", "and then?"]);
}

#[tokio::test]
async fn only_the_starter_steers_and_only_while_it_runs() {
    let script = vec![
        uses(
            "c1",
            "terminal",
            &json!({ "command": "rm -rf /srv/nowhere/www" }),
        ),
        Reply::text(["Done."]),
    ];
    let world = World::new(script).await;
    let run = world.start("clean up").await;
    let asked = world.questions(&run, 1).await;
    let by_ben = world.agent.steer(&world.ben, &run.run_id, "hurry").await;
    assert!(matches!(by_ben, Err(GateError::Forbidden(_))), "{by_ben:?}");
    let empty = world.agent.steer(&world.ana, &run.run_id, "  ").await;
    assert!(matches!(empty, Err(GateError::Invalid { .. })), "{empty:?}");
    for number in 0..16 {
        let text = format!("{number}");
        world
            .agent
            .steer(&world.ana, &run.run_id, &text)
            .await
            .unwrap();
    }
    let more = world.agent.steer(&world.ana, &run.run_id, "more").await;
    assert!(matches!(more, Err(GateError::TooMany { .. })), "{more:?}");
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Deny)
        .await;
    world.ended(&run).await;
    let late = world.agent.steer(&world.ana, &run.run_id, "late").await;
    assert!(
        matches!(late, Err(GateError::AlreadySettled { .. })),
        "{late:?}"
    );
}
