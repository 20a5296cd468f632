//! A call runs with a permit, and a permit is given once.

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_gate::calls::permit::{Presented, Progress};
use countersign_gate::records::request::{Report, Submission};
use countersign_gate::{Gate, GateError};
use serde_json::json;

use crate::support::{DANGEROUS, Wishes, World, ask, command, in_session, open, reply, world};

fn message(text: &str) -> Submission {
    Submission {
        call: ToolCall {
            tool: "send_message".to_owned(),
            args: json!({ "to": "ana", "text": text }),
            ..ToolCall::default()
        },
        ..in_session("s1", "")
    }
}

fn presented(text: &str) -> Presented {
    Presented {
        tool: "send_message".to_owned(),
        args: json!({ "to": "ana", "text": text }),
        cwd: None,
        executor: "tool:send_message".to_owned(),
        attachments: Vec::new(),
    }
}

/// Submits a message, has it allowed, and returns the call's id and its token.
async fn approved(world: &World, text: &str) -> (String, String) {
    let (call, approval) = ask(world, message(text)).await;
    let allowed = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once));
    allowed.await.unwrap();
    let call = world
        .gate
        .call(&world.agent, &call.call_id, std::time::Duration::ZERO);
    let call = call.await.unwrap();
    (call.call_id, call.token.unwrap())
}

async fn progress(gate: &Gate, world: &World, id: &str) -> Progress {
    gate.progress(&world.agent, id).await.unwrap()
}

#[tokio::test]
async fn law_5_an_allowed_call_is_begun_once_even_after_a_restart() {
    let world = world().await;
    let call = world
        .gate
        .submit(&world.agent, command("ls"))
        .await
        .unwrap();
    let id = call.call_id.as_str();
    assert_eq!(progress(&world.gate, &world, id).await, Progress::NotBegun);
    let permit = world.gate.take_up(&world.agent, id, None).await.unwrap();
    assert_eq!(permit.args(), &json!({ "command": "ls" }));
    let again = world.gate.take_up(&world.agent, id, None).await;
    assert!(
        matches!(again, Err(GateError::AlreadySettled { .. })),
        "{again:?}"
    );
    let restarted = open(
        world.home.path(),
        &world.clock,
        crate::support::Wishes::default(),
    )
    .await;
    assert_eq!(progress(&restarted, &world, id).await, Progress::Begun);
    assert!(restarted.take_up(&world.agent, id, None).await.is_err());
    let report = Report {
        summary: Some("a b c".to_owned()),
        ..Report::default()
    };
    restarted.report(&world.agent, id, report).await.unwrap();
    let Progress::Reported(outcome) = progress(&restarted, &world, id).await else {
        panic!("reported");
    };
    assert_eq!(outcome["summary"], "a b c");
}

#[tokio::test]
async fn law_5_many_who_take_up_the_same_call_get_one_permit() {
    let world = world().await;
    let call = world
        .gate
        .submit(&world.agent, command("ls"))
        .await
        .unwrap();
    let mut takers = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (gate, agent, id) = (
            world.gate.clone(),
            world.agent.clone(),
            call.call_id.clone(),
        );
        takers.spawn(async move { gate.take_up(&agent, &id, None).await.is_ok() });
    }
    let taken = takers.join_all().await.into_iter().filter(|it| *it).count();
    assert_eq!(taken, 1);
}

#[tokio::test]
async fn what_was_not_let_through_is_not_begun() {
    let world = world().await;
    let (waiting, approval) = ask(&world, command(DANGEROUS)).await;
    let begun = world
        .gate
        .take_up(&world.agent, &waiting.call_id, None)
        .await;
    assert!(matches!(begun, Err(GateError::TokenInvalid)), "{begun:?}");
    let denied = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Deny));
    denied.await.unwrap();
    assert!(
        world
            .gate
            .take_up(&world.agent, &waiting.call_id, None)
            .await
            .is_err()
    );
    let refused = world
        .gate
        .submit(&world.agent, command("rm -rf /"))
        .await
        .unwrap();
    assert_eq!(refused.status.word(), "refused");
    let begun = world
        .gate
        .take_up(&world.agent, &refused.call_id, None)
        .await;
    assert!(matches!(begun, Err(GateError::Forbidden(_))), "{begun:?}");
}

#[tokio::test]
async fn law_3_a_token_is_redeemed_for_exactly_what_was_approved() {
    let world = world().await;
    let (id, token) = approved(&world, "hello").await;
    let World { gate, agent, .. } = &world;
    let others = [
        ("text", "s1", presented("hello!")),
        ("session", "s2", presented("hello")),
        (
            "tool",
            "s1",
            Presented {
                tool: "send_email".to_owned(),
                ..presented("hello")
            },
        ),
        (
            "executor",
            "s1",
            Presented {
                executor: "tool:other".to_owned(),
                ..presented("hello")
            },
        ),
        (
            "directory",
            "s1",
            Presented {
                cwd: Some("/tmp".to_owned()),
                ..presented("hello")
            },
        ),
        (
            "attachment",
            "s1",
            Presented {
                attachments: vec![countersign_core::digest::Digest::of(b"x")],
                ..presented("hello")
            },
        ),
    ];
    for (name, session, action) in others {
        let redeemed = gate.redeem(agent, session, action, &token).await;
        assert!(matches!(redeemed, Err(GateError::TokenInvalid)), "{name}");
    }
    assert_eq!(progress(gate, &world, &id).await, Progress::NotBegun);
    let permit = gate
        .redeem(agent, "s1", presented("hello"), &token)
        .await
        .unwrap();
    assert_eq!(permit.token(), Some(token.as_str()));
    assert_eq!(progress(gate, &world, &id).await, Progress::Begun);
    let replayed = gate.redeem(agent, "s1", presented("hello"), &token).await;
    assert!(
        matches!(replayed, Err(GateError::TokenUsed)),
        "{replayed:?}"
    );
}

#[tokio::test]
async fn a_person_s_changes_are_what_runs() {
    let world = world().await;
    let (call, approval) = ask(&world, message("hello")).await;
    let mut changed = reply(&approval, Choice::Once);
    changed.args = Some(json!({ "to": "ana", "text": "good morning" }));
    world.gate.answer(&world.ana, changed).await.unwrap();
    let call = world
        .gate
        .call(&world.agent, &call.call_id, std::time::Duration::ZERO)
        .await
        .unwrap();
    let permit = world
        .gate
        .take_up(&world.agent, &call.call_id, call.token.as_deref())
        .await
        .unwrap();
    assert_eq!(
        permit.args(),
        &json!({ "to": "ana", "text": "good morning" })
    );
}

#[tokio::test]
async fn a_card_says_whether_the_recipient_was_written_to_before() {
    let world = world().await;
    let World {
        gate, agent, ana, ..
    } = &world;
    let said = |view: &countersign_gate::records::view::ApprovalView| {
        let field = view
            .card
            .lineage
            .iter()
            .find(|field| field.name == "Recipient");
        field.map(|field| field.text.clone())
    };
    let (_, first) = ask(&world, message("one")).await;
    let card = gate.approval(ana, &first).await.unwrap();
    assert_eq!(said(&card).as_deref(), Some("never written to before"));
    let (_, token) = approved(&world, "two").await;
    gate.redeem(agent, "s1", presented("two"), &token)
        .await
        .unwrap();
    let (_, next) = ask(&world, message("three")).await;
    let card = gate.approval(ana, &next).await.unwrap();
    assert_eq!(said(&card).as_deref(), Some("written to before"));
    let (_, shell) = ask(&world, command(DANGEROUS)).await;
    assert_eq!(said(&gate.approval(ana, &shell).await.unwrap()), None);
}

#[tokio::test]
async fn what_is_handed_over_is_noted_once_and_survives_a_restart() {
    let world = world().await;
    let (id, token) = approved(&world, "hello").await;
    let World { gate, agent, .. } = &world;
    let permit = gate.take_up(agent, &id, Some(&token)).await.unwrap();
    assert!(!gate.is_handed_over(agent, &id).await.unwrap());
    gate.hand_over(agent, &permit).await.unwrap();
    let again = gate.hand_over(agent, &permit).await;
    assert!(
        matches!(again, Err(GateError::AlreadySettled { .. })),
        "{again:?}"
    );
    assert_eq!(crate::told(gate, "call.handed_over").await.len(), 1);
    let restarted = open(world.home.path(), &world.clock, Wishes::default()).await;
    assert!(restarted.is_handed_over(agent, &id).await.unwrap());
    assert_eq!(progress(&restarted, &world, &id).await, Progress::Begun);
}
