//! Cards reach people once, in the order that is wanted, or it is said that nobody could be reached.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::order::{Attempt, Destination};
use countersign_channels::{Channel, Recorder, Said};
use countersign_gate::base::settings::Settings;
use countersign_gate::clarifications::{Clarified, Question};

use crate::support::{DANGEROUS, Wishes, World, ask, command, open, world_with};

async fn until(recorder: &Recorder, wanted: impl Fn(&Said) -> bool) {
    let given = recorder.until(|said| said.iter().any(&wanted));
    tokio::time::timeout(Duration::from_mins(1), given)
        .await
        .expect("it is given in time");
}

fn is_card(said: &Said) -> bool {
    matches!(said, Said::Card(..))
}

fn wishes(channels: &[&Recorder], fallback: &[&str]) -> Wishes {
    let channels = channels.iter();
    let channels = channels.map(|it| Arc::new((*it).clone()) as Arc<dyn Channel>);
    Wishes {
        channels: channels.collect(),
        settings: Settings {
            fallback: fallback.iter().map(|it| (*it).to_owned()).collect(),
            ..Settings::default()
        },
        ..Wishes::default()
    }
}

/// Waits until the agent's call is settled and returns how.
async fn cause(world: &World, call: &str) -> String {
    let patience = Duration::from_mins(1);
    let view = world.gate.call(&world.agent, call, patience).await.unwrap();
    view.decision.unwrap().cause.to_string()
}

#[tokio::test]
async fn every_channel_gets_the_card_at_once_unless_an_order_is_wanted() {
    let (first, second, other) = (
        Recorder::new("first"),
        Recorder::new("second"),
        Recorder::new("other"),
    );
    first.refuses();
    let world = world_with(wishes(&[&second, &other, &first], &["first", "second"])).await;
    ask(&world, command(DANGEROUS)).await;
    until(&second, is_card).await;
    until(&other, is_card).await;
    assert_eq!(first.said(), [], "it refused");
}

#[tokio::test]
async fn what_the_first_channel_shows_the_next_is_not_given() {
    let (first, second) = (Recorder::new("first"), Recorder::new("second"));
    let world = world_with(wishes(&[&first, &second], &["first", "second"])).await;
    let (call, _) = ask(&world, command(DANGEROUS)).await;
    until(&first, is_card).await;
    let gone = world.gate.withdraw(&world.agent, &call.call_id, None).await;
    gone.unwrap();
    until(&first, |said| matches!(said, Said::Again(..))).await;
    assert_eq!(second.said(), []);
}

#[tokio::test]
async fn a_question_that_can_be_shown_nowhere_ends_at_once() {
    let (first, second) = (Recorder::new("first"), Recorder::new("second"));
    first.refuses();
    second.refuses();
    let world = world_with(wishes(&[&first, &second], &[])).await;
    let (call, _) = ask(&world, command(DANGEROUS)).await;
    assert_eq!(cause(&world, &call.call_id).await, "undeliverable");
    let told = world.call(&call.call_id).await.message;
    assert!(told.contains("Nobody could be reached"), "{told}");
}

#[tokio::test]
async fn a_question_that_can_be_shown_nowhere_waits_for_who_is_looking_by_themselves() {
    let only = Recorder::new("only");
    only.refuses();
    let world = world_with(wishes(&[&only], &[])).await;
    world.gate.note_looking(&world.ana);
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let mut last = world.gate.store().tail().last();
    loop {
        let deliveries = world.gate.deliveries_of(&world.ana, &approval).await;
        let deliveries = deliveries.unwrap().items;
        if deliveries.iter().any(|it| it.status.word() == "failed") {
            break;
        }
        last.changed().await.unwrap();
    }
    assert_eq!(world.call(&call.call_id).await.status.word(), "waiting");
}

#[tokio::test]
async fn a_delivery_that_a_restart_interrupted_is_looked_for_before_it_is_made_again() {
    let before = Recorder::new("chat");
    before.goes_away();
    let world = world_with(wishes(&[&before], &[])).await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    // The first try has been made once the delivery is written down as under way.
    let mut tries = 0;
    while tries == 0 {
        let deliveries = world.gate.deliveries_of(&world.ana, &approval).await;
        tries = deliveries.unwrap().items.len();
        tokio::task::yield_now().await;
    }
    let after = Recorder::new("chat");
    let again = open(world.home.path(), &world.clock, wishes(&[&after], &[])).await;
    let running = again.clone();
    let task = tokio::spawn(async move { running.run(std::future::pending()).await });
    until(&after, is_card).await;
    assert_eq!(after.orders(), [(Destination::Usual, Attempt::Again)]);
    task.abort();
}

#[tokio::test]
async fn a_question_of_an_agent_is_shown_and_says_how_it_was_answered() {
    let chat = Recorder::new("chat");
    let world = world_with(wishes(&[&chat], &[])).await;
    let question = Question {
        text: "Which branch?".to_owned(),
        choices: vec!["main".to_owned()],
        session: "s1".to_owned(),
        run: None,
    };
    let asked = world
        .gate
        .ask_person(&world.agent, question, Duration::ZERO)
        .await;
    let id = asked.unwrap().clarification_id;
    let is_open = |said: &Said| matches!(said, Said::Question(_, it) if it.outcome.is_none());
    until(&chat, is_open).await;
    let answered = world
        .gate
        .clarify(&world.ana, &id, Clarified::Choice(1))
        .await;
    answered.unwrap();
    let is_over = |said: &Said| {
        matches!(said, Said::Question(_, it)
            if it.outcome.as_deref().is_some_and(|words| words.contains("ana")))
    };
    until(&chat, is_over).await;
}
