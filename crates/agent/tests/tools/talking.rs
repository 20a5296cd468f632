//! Asking a person, and the agent's own list.

use std::time::Duration;

use countersign_agent::tools::{Clarify, Todo};
use countersign_gate::clarifications::Clarified;
use serde_json::{Value, json};

use crate::support::{World, world};

async fn waiting(world: &World) -> String {
    let mut last = world.gate.store().tail().last();
    loop {
        last.borrow_and_update();
        let page = world.gate.clarifications(&world.ana).await.unwrap();
        if let Some(question) = page.items.first() {
            return question.clarification_id.clone();
        }
        last.changed().await.unwrap();
    }
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let world = world().await;
    let args = json!({"question": "Which one?", "choices": ["red", "blue"]});
    let answering = async {
        let id = waiting(&world).await;
        let answer = Clarified::Choice(2);
        world.gate.clarify(&world.ana, &id, answer).await.unwrap();
    };
    let (outcome, ()) = tokio::join!(world.run(&Clarify, args), answering);
    let answer: Value = serde_json::from_str(&outcome.text).unwrap();
    assert_eq!(
        (
            &answer["answered"],
            &answer["choice"],
            &answer["text"],
            &answer["by"]
        ),
        (&json!(true), &json!(2), &json!("blue"), &json!("ana"))
    );
}

#[tokio::test]
async fn a_question_nobody_answers_ends_and_so_does_a_stopped_run() {
    let world = world().await;
    let passing = async {
        waiting(&world).await;
        world.clock.advance(Duration::from_hours(1));
        world.gate.clarifications(&world.ana).await.unwrap();
    };
    // Time passes only for the gate's clock, so whoever waits looks again when it is told to.
    let id = async {
        passing.await;
        let all = world.gate.store().find(countersign_store::Query::of(
            countersign_store::Kind::Clarification,
        ));
        let id = all.await.unwrap()[0].id.clone();
        let view = world
            .gate
            .clarification(&world.ana, &id, Duration::ZERO)
            .await;
        assert_eq!(view.unwrap().status.word(), "expired");
    };
    let (outcome, ()) = tokio::join!(world.run(&Clarify, json!({"question": "Well?"})), id);
    assert_eq!(outcome.text, r#"{"answered":false,"reason":"timeout"}"#);

    let stopping = async {
        waiting(&world).await;
        world.stop.send(true).unwrap();
    };
    let (outcome, ()) = tokio::join!(world.run(&Clarify, json!({"question": "Now?"})), stopping);
    assert!(outcome.failed);
}

#[tokio::test]
async fn a_list_belongs_to_its_session() {
    let mut world = world().await;
    let todo = Todo::default();
    let args = json!({"todos": [{"content": "a"}, {"content": "b", "status": "completed"}]});
    let list =
        r#"{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"completed"}]}"#;
    assert_eq!(world.run(&todo, args).await.text, list);
    assert_eq!(world.run(&todo, json!({})).await.text, list);
    world.around.session = "s2".to_owned();
    assert_eq!(world.run(&todo, json!({})).await.text, r#"{"todos":[]}"#);
}
