//! A question that waits is given more time: by people, as far as the owner allows, and nothing is
//! answered by it.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::{Channel, Recorder, Said};
use countersign_core::approval::Choice;
use countersign_core::status::Status;
use countersign_gate::GateError;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::approvals::quota::BURST;
use countersign_gate::base::principal::Role;
use countersign_gate::base::settings::Settings;
use countersign_gate::records::request::Submission;
use countersign_gate::records::view::ApprovalView;
use countersign_gate::runs::builtin;
use serde_json::json;

use crate::support::{
    DANGEROUS, START, Wishes, World, ask, command, open, principal, reply, world, world_with,
};
use crate::told;

const MINUTE: i64 = 60_000;
const NOW: Duration = Duration::ZERO;

fn allowing(minutes: i64) -> Wishes {
    Wishes {
        settings: Settings {
            extend_max_millis: minutes * MINUTE,
            ..Settings::default()
        },
        ..Wishes::default()
    }
}

/// Returns when a question ends that was asked at the start.
fn minutes(minutes: i64) -> f64 {
    START.plus(minutes * MINUTE).as_seconds()
}

async fn extend(world: &World, approval: &str) -> Result<ApprovalView, GateError> {
    world.gate.extend(&world.ana, approval).await
}

#[tokio::test]
async fn law_6_more_time_is_bounded_answers_nothing_and_the_question_still_expires() {
    let world = world_with(allowing(7)).await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    assert_eq!(call.expires_at, Some(minutes(5)));
    let seen = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(seen.extend_seconds, Some(300.0));

    world.clock.advance(Duration::from_mins(4));
    let once = extend(&world, &approval).await.unwrap();
    assert_eq!(
        (once.expires_at, once.status.word()),
        (minutes(10), "waiting")
    );
    assert_eq!(
        once.card.expires_at,
        START.plus(10 * MINUTE),
        "the card follows"
    );
    assert_eq!(
        once.extend_seconds,
        Some(120.0),
        "what is left of 7 minutes"
    );
    let asker = world.call(&call.call_id).await;
    assert_eq!((asker.status.word(), asker.token), ("waiting", None));
    assert_eq!(
        asker.expires_at,
        Some(minutes(10)),
        "the asker sees it, too"
    );

    let twice = extend(&world, &approval).await.unwrap();
    assert_eq!(
        (twice.expires_at, twice.extend_seconds),
        (minutes(12), None)
    );
    let Err(GateError::Invalid { code, .. }) = extend(&world, &approval).await else {
        panic!("more than the owner allows");
    };
    assert_eq!(code, "not_extendable");

    world.clock.advance(Duration::from_mins(7));
    assert_eq!(world.call(&call.call_id).await.status.word(), "waiting");
    world.clock.advance(Duration::from_mins(1));
    let late = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
    assert!(matches!(
        extend(&world, &approval).await,
        Err(GateError::Gone(_))
    ));
    let over = world.call(&call.call_id).await;
    assert_eq!((over.status.word(), over.token), ("expired", None));

    let entries = told(&world.gate, "approval.extended").await;
    let told: Vec<_> = entries
        .iter()
        .map(|it| (&it["by"], &it["detail"]))
        .collect();
    let ends = [minutes(10).to_string(), minutes(12).to_string()];
    let wanted = ends.map(|end| (json!("ana"), json!(end)));
    let wanted: Vec<_> = wanted.iter().map(|(by, end)| (by, end)).collect();
    assert_eq!(told, wanted);
    let state = world.gate.verify_ledger(&world.ana).await.unwrap();
    assert!(state.ok, "{state:?}");
}

#[tokio::test]
async fn what_is_settled_is_not_revived() {
    let world = world().await;
    for choice in [Choice::Once, Choice::Deny] {
        let (_, approval) = ask(&world, command(&format!("rm -rf /srv/{}", choice.word()))).await;
        world.answer(&approval, choice).await;
        let refused = extend(&world, &approval).await;
        assert!(
            matches!(refused, Err(GateError::AlreadyResolved(_))),
            "{refused:?}"
        );
        let seen = world.gate.approval(&world.ana, &approval).await.unwrap();
        assert_eq!(seen.extend_seconds, None);
    }
    let (call, approval) = ask(&world, command("rm -rf /srv/c")).await;
    let gone = world.gate.withdraw(&world.agent, &call.call_id, None).await;
    gone.unwrap();
    assert!(matches!(
        extend(&world, &approval).await,
        Err(GateError::Gone(_))
    ));
    assert_eq!(told(&world.gate, "approval.extended").await.len(), 0);
}

#[tokio::test]
async fn law_7_only_who_may_answer_gives_more_time() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let viewer = principal(&world.gate, "eye", Role::Viewer).await;
    for who in [&world.agent, &viewer] {
        let refused = world.gate.extend(who, &approval).await;
        assert!(
            matches!(refused, Err(GateError::Forbidden(_))),
            "{refused:?}"
        );
    }
    let closed = world_with(Wishes {
        settings: Settings {
            starter_may_answer: false,
            ..Settings::default()
        },
        ..Wishes::default()
    })
    .await;
    let bo = principal(&closed.gate, "bo", Role::Approver).await;
    let run = Submission {
        starter: Some("ana".to_owned()),
        ..command(DANGEROUS)
    };
    let call = closed.gate.submit(&builtin(), run).await.unwrap();
    let approval = call.approval_id.unwrap();
    let refused = extend(&closed, &approval).await;
    assert!(
        matches!(refused, Err(GateError::Forbidden(_))),
        "{refused:?}"
    );
    let seen = closed.gate.approval(&closed.ana, &approval).await.unwrap();
    assert_eq!(seen.extend_seconds, None, "it is not offered either");
    closed.gate.extend(&bo, &approval).await.unwrap();
}

#[tokio::test]
async fn an_owner_who_allows_none_is_obeyed() {
    let world = world_with(allowing(0)).await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let seen = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(seen.extend_seconds, None);
    let refused = extend(&world, &approval).await;
    assert!(
        matches!(refused, Err(GateError::Invalid { .. })),
        "{refused:?}"
    );
    assert_eq!(world.call(&call.call_id).await.expires_at, Some(minutes(5)));
}

#[tokio::test]
async fn law_12_more_time_survives_a_restart_and_so_does_a_denial_after_it() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    for _ in 0..12 {
        extend(&world, &approval).await.unwrap();
    }
    world.gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    world.clock.advance(Duration::from_mins(64));
    let still = gate.call(&world.agent, &call.call_id, NOW).await.unwrap();
    assert_eq!(still.status.word(), "waiting");
    assert_eq!(still.expires_at, Some(minutes(65)));
    let refused = gate.extend(&world.ana, &approval).await;
    assert!(
        matches!(refused, Err(GateError::Invalid { .. })),
        "{refused:?}"
    );
    gate.answer(&world.ana, reply(&approval, Choice::Deny))
        .await
        .unwrap();
    // It was asked long before the time in which denials count.
    gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    let again = gate.submit(&world.agent, command(DANGEROUS)).await.unwrap();
    assert_eq!(again.decision.unwrap().cause.word(), "deny_memory");
}

#[tokio::test]
async fn the_card_in_a_chat_is_painted_again_with_its_new_end() {
    let chat = Recorder::new("chat");
    let world = world_with(Wishes {
        channels: vec![Arc::new(chat.clone()) as Arc<dyn Channel>],
        ..Wishes::default()
    })
    .await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let until = async |wanted: fn(&Said) -> bool| {
        let given = chat.until(|said| said.iter().any(wanted));
        let given = tokio::time::timeout(Duration::from_mins(1), given).await;
        given.expect("it is given in time");
    };
    until(|said| matches!(said, Said::Card(..))).await;
    extend(&world, &approval).await.unwrap();
    until(|said| matches!(said, Said::Again(..))).await;
    let seen = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(seen.card.expires_at, START.plus(10 * MINUTE));
}

#[tokio::test]
async fn the_card_of_a_flood_closes_by_itself() {
    let world = world().await;
    for number in 0..BURST + 5 {
        let call = world
            .submit(command(&format!("rm -rf /srv/{number}")))
            .await;
        if call.status.word() == "waiting" {
            let gone = world.gate.withdraw(&world.agent, &call.call_id, None).await;
            gone.unwrap();
        }
    }
    world.clock.advance(Duration::from_secs(1));
    world.submit(command("rm -rf /srv/last")).await;
    let filter = ApprovalFilter {
        status: Some(Status::Waiting),
        ..ApprovalFilter::default()
    };
    let cards = world
        .gate
        .approvals(&world.ana, filter)
        .await
        .unwrap()
        .items;
    let flood = cards.iter().find(|it| it.args["held_back"].is_u64());
    let flood = flood.expect("a card tells of the flood");
    assert_eq!(flood.extend_seconds, None);
    let refused = extend(&world, &flood.approval_id).await;
    assert!(
        matches!(refused, Err(GateError::Invalid { .. })),
        "{refused:?}"
    );
}
