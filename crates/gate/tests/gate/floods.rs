//! More questions than people can answer: one card, every call written down, nobody else hit.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::status::Status;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::approvals::quota::{BURST, REFILL_MILLIS};
use countersign_gate::base::principal::Role;
use countersign_gate::calls::flood::OVER_AFTER_MILLIS;
use countersign_gate::records::view::{ApprovalView, CallView};

use crate::support::{World, ask, command, principal, world};

/// Asks and takes back at once, as often as said; returns what came of each.
async fn flood(world: &World, from: usize, calls: usize) -> Vec<CallView> {
    let mut views = Vec::new();
    for number in from..from + calls {
        let call = world
            .submit(command(&format!("rm -rf /srv/{number}")))
            .await;
        if call.status.word() == "waiting" {
            let withdrawn = world.gate.withdraw(&world.agent, &call.call_id, None).await;
            withdrawn.unwrap();
        }
        views.push(call);
    }
    views
}

async fn waiting(world: &World) -> Vec<ApprovalView> {
    let filter = ApprovalFilter {
        status: Some(Status::Waiting),
        ..ApprovalFilter::default()
    };
    world
        .gate
        .approvals(&world.ana, filter)
        .await
        .unwrap()
        .items
}

fn burst() -> usize {
    usize::try_from(BURST).unwrap()
}

#[tokio::test]
async fn asking_and_taking_back_a_thousand_times_makes_one_card_that_says_so() {
    let world = world().await;
    let views = flood(&world, 0, 200).await;
    let asked = views
        .iter()
        .filter(|it| it.status.word() == "waiting")
        .count();
    assert_eq!(asked, burst());
    for held in views.iter().skip(burst()) {
        let decision = held.decision.as_ref().unwrap();
        assert_eq!(
            (held.status.word(), decision.cause.word()),
            ("refused", "flood")
        );
        assert!(
            decision
                .retry_after
                .is_some_and(|wait| (1..=10).contains(&wait))
        );
        assert!(
            held.message.contains("You asked too often"),
            "{}",
            held.message
        );
    }
    world.clock.advance(Duration::from_secs(1));
    flood(&world, 200, 1).await;
    let cards = waiting(&world).await;
    let [card] = cards.as_slice() else {
        panic!("{cards:?}");
    };
    let held = 201 - burst();
    let said = format!("{held} more calls of claude were refused in the last minute");
    assert_eq!(card.card.title, said);
    assert_eq!(card.choices, [Choice::Deny]);
    assert_eq!(card.card.choices, [Choice::Deny]);
    let entries = world.gate.store().entries(0, 5000).await.unwrap();
    let told = entries.iter().filter(|entry| {
        entry.draft.event == "call.assessed" && entry.draft.body.contains("\"cause\":\"flood\"")
    });
    assert_eq!(told.count(), held, "every call is in the ledger");
    let put = entries
        .iter()
        .filter(|it| it.draft.event == "approval.required");
    assert_eq!(put.count(), burst() + 1);
}

#[tokio::test]
async fn a_flood_ends_by_itself_and_the_agent_may_ask_again() {
    let world = world().await;
    flood(&world, 0, burst() + 5).await;
    let [card] = <[ApprovalView; 1]>::try_from(waiting(&world).await).unwrap();
    let over = u64::try_from(OVER_AFTER_MILLIS + 1).unwrap();
    world.clock.advance(Duration::from_millis(over));
    let card = world
        .gate
        .viewed(&world.ana, &card.approval_id)
        .await
        .unwrap();
    assert_eq!(card.status.word(), "expired");
    let call = world.submit(command("rm -rf /srv/again")).await;
    assert_eq!(call.status.word(), "waiting");
}

#[tokio::test]
async fn denying_a_flood_keeps_further_cards_of_it_away_until_that_is_lifted() {
    let world = world().await;
    flood(&world, 0, burst() + 1).await;
    let [card] = <[ApprovalView; 1]>::try_from(waiting(&world).await).unwrap();
    world.answer(&card.approval_id, Choice::Deny).await;
    let held = flood(&world, 100, 5).await;
    assert!(
        held.iter().all(|it| it.status.word() == "refused"),
        "{held:?}"
    );
    assert!(waiting(&world).await.is_empty());
    world
        .gate
        .lift_denial(&world.ana, &card.approval_id)
        .await
        .unwrap();
    flood(&world, 200, 1).await;
    assert_eq!(waiting(&world).await.len(), 1);
}

#[tokio::test]
async fn what_people_answer_is_never_too_much_and_another_key_is_not_hit() {
    let world = world().await;
    for number in 0..burst() * 3 {
        let (_, approval) = ask(&world, command(&format!("rm -rf /srv/{number}"))).await;
        world.answer(&approval, Choice::Once).await;
    }
    flood(&world, 1000, burst() + 3).await;
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, command("rm -rf /srv/x")).await;
    assert_eq!(call.unwrap().status.word(), "waiting");
}

#[tokio::test]
async fn twenty_parallel_calls_wait_and_the_stock_fills_up_again() {
    let world = world().await;
    let mut calls = Vec::new();
    for number in 0..20 {
        calls.push(
            ask(&world, command(&format!("rm -rf /srv/{number}")))
                .await
                .0,
        );
    }
    let joined = world.submit(command("rm -rf /srv/3")).await;
    assert_eq!(
        joined.status.word(),
        "waiting",
        "joining takes nothing from the stock"
    );
    for call in calls {
        let withdrawn = world.gate.withdraw(&world.agent, &call.call_id, None).await;
        withdrawn.unwrap();
    }
    world.clock.advance(Duration::from_mins(6));
    flood(&world, 500, burst()).await;
    let held = flood(&world, 900, 1).await;
    assert_eq!(held[0].status.word(), "refused");
    let refill = u64::try_from(REFILL_MILLIS).unwrap();
    world.clock.advance(Duration::from_millis(refill));
    let one = flood(&world, 901, 2).await;
    assert_eq!(one[0].status.word(), "waiting");
    assert_eq!(one[1].status.word(), "refused");
}
