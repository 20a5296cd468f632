//! Law 1 for the agent's own words.

use countersign_agent::feed::Piece;
use countersign_core::approval::Choice;
use countersign_gate::GateError;
use countersign_testkit::model::Reply;
use serde_json::json;

use crate::support::{NOTICE, World, answer};

const DESPAIR: &str = "I want to kill myself tonight";

/// Everything a run says until it is over, as somebody who listens from the start hears it.
fn heard(world: &World, run: &str) -> tokio::task::JoinHandle<String> {
    let feed = world.agent.feed(run).unwrap();
    let mut reader = feed.listen();
    drop(feed);
    tokio::spawn(async move {
        let mut said = String::new();
        while reader.said().await.is_ok() {
            while let Some(piece) = reader.before(u64::MAX) {
                match piece {
                    Piece::Text(text) | Piece::Notice(text) => said.extend([text.as_str(), "|"]),
                    Piece::SoFar(text) => said += &text,
                    Piece::End => {}
                }
            }
        }
        said
    })
}

#[tokio::test]
async fn nothing_streams_to_a_person_in_crisis_and_the_draft_is_somebody_else_s_to_allow() {
    let script = vec![Reply::text([
        "You are not alone. ",
        "Please talk to somebody.",
    ])];
    let world = World::new(script).await;
    let run = world.start(DESPAIR).await;
    let heard = heard(&world, &run.run_id);
    let asked = world.questions(&run, 1).await;
    assert_eq!(asked[0].choices, [Choice::Once, Choice::Deny]);
    assert!(
        asked[0].card.plain_text().contains(DESPAIR),
        "what is answered stands on the card"
    );
    let herself = answer(&asked[0].approval_id, Choice::Once);
    let herself = world.gate.answer(&world.ana, herself).await;
    assert!(
        matches!(herself, Err(GateError::Forbidden(_))),
        "{herself:?}"
    );
    let mut yes = answer(&asked[0].approval_id, Choice::Once);
    yes.args = Some(json!({ "to": "ana", "text": "I am calling you now. Ben" }));
    world.gate.answer(&world.ben, yes).await.unwrap();
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some("I am calling you now. Ben"));
    let heard = heard.await.unwrap();
    assert_eq!(heard, format!("{NOTICE}|I am calling you now. Ben|"));
}

#[tokio::test]
async fn a_draft_that_is_denied_is_never_shown_and_the_conversation_stays_sensitive() {
    let script = vec![Reply::text(["Secret draft."]), Reply::text(["Next draft."])];
    let world = World::new(script).await;
    let run = world.start_in(Some("talk"), DESPAIR).await;
    let listening = heard(&world, &run.run_id);
    let asked = world.questions(&run, 1).await;
    world
        .answer(&world.ben, &asked[0].approval_id, Choice::Deny)
        .await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some(NOTICE));
    assert_eq!(listening.await.unwrap(), format!("{NOTICE}|"));
    let next = world
        .start_in(Some("talk"), "forget it, what about my invoice?")
        .await;
    let listening = heard(&world, &next.run_id);
    let asked = world.questions(&next, 1).await;
    world
        .answer(&world.ben, &asked[0].approval_id, Choice::Once)
        .await;
    assert_eq!(
        world.ended(&next).await.output.as_deref(),
        Some("Next draft.")
    );
    assert_eq!(listening.await.unwrap(), format!("{NOTICE}|Next draft.|"));
}

#[tokio::test]
async fn an_answer_that_turns_to_it_by_itself_stops_in_front_of_it() {
    let pieces = [
        "That is a sad film. ",
        "In the end he says: I want ",
        "to end my life. ",
        "And he does.",
    ];
    let world = World::new(vec![Reply::text(pieces)]).await;
    let run = world.start("how does the film end?").await;
    let heard = heard(&world, &run.run_id);
    let asked = world.questions(&run, 1).await;
    assert!(asked[0].card.plain_text().contains("to end my life"));
    world
        .answer(&world.ben, &asked[0].approval_id, Choice::Once)
        .await;
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some(pieces.concat().as_str()));
    let heard = heard.await.unwrap();
    assert!(
        heard.starts_with(&format!("That is a sad film.|{NOTICE}|")),
        "{heard}"
    );
}

#[tokio::test]
async fn what_a_person_answers_to_the_agent_counts_as_said() {
    let asks = crate::support::uses("c1", "clarify", &json!({ "question": "Which file?" }));
    let script = vec![asks, Reply::text(["Zebra answer."])];
    let world = World::new(script).await;
    let run = world.start("help me").await;
    let asked = world
        .seen(|| async {
            let waiting = world.gate.clarifications(&world.ana).await.unwrap().items;
            waiting.into_iter().next()
        })
        .await;
    let reply = countersign_gate::clarifications::Clarified::Text(DESPAIR.to_owned());
    world
        .gate
        .clarify(&world.ana, &asked.clarification_id, reply)
        .await
        .unwrap();
    let held = world.questions(&run, 1).await;
    assert_eq!(held[0].choices, [Choice::Once, Choice::Deny]);
    world
        .answer(&world.ben, &held[0].approval_id, Choice::Deny)
        .await;
    assert_eq!(world.ended(&run).await.output.as_deref(), Some(NOTICE));
}

#[tokio::test]
async fn a_message_sent_into_a_run_stops_the_answer_that_is_being_written() {
    let script = vec![
        Reply::text(["Here is the plan. ", "First the logs"]).then_hangs(),
        Reply::text(["Second draft."]),
    ];
    let world = World::new(script).await;
    let run = world.start("clean up").await;
    let heard = heard(&world, &run.run_id);
    world.model.asked(1).await;
    let steered = world.agent.steer(&world.ana, &run.run_id, DESPAIR).await;
    steered.unwrap();
    world.model.release();
    for draft in ["First the logs", "Second draft."] {
        let asked = world.questions(&run, 1).await;
        let card = asked[0].card.plain_text();
        assert!(card.contains(draft), "{draft}: {card}");
        world
            .answer(&world.ben, &asked[0].approval_id, Choice::Deny)
            .await;
    }
    let ended = world.ended(&run).await;
    assert_eq!(ended.output.as_deref(), Some(NOTICE));
    let heard = heard.await.unwrap();
    assert!(!heard.contains("First the logs"), "{heard}");
    assert!(!heard.contains("Second draft"), "{heard}");
    assert!(heard.contains(NOTICE), "{heard}");
}
