//! What was denied is known again in any words, by whoever the key is, and can be lifted.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::{Reply, Submission};
use countersign_gate::records::view::CallView;
use countersign_gate::runs::builtin;
use countersign_gate::{Gate, GateError};
use serde_json::json;

use crate::support::{
    DANGEROUS, Wishes, World, ask, command, in_session, open, principal, reply, world,
};

async fn deny(world: &World, submission: Submission, note: &str) -> String {
    let (_, approval) = ask(world, submission).await;
    let denial = Reply {
        note: Some(note.to_owned()),
        ..reply(&approval, Choice::Deny)
    };
    world.gate.answer(&world.ana, denial).await.unwrap();
    approval
}

fn cause(call: &CallView) -> &str {
    call.decision.as_ref().map_or("", |it| it.cause.word())
}

#[tokio::test]
async fn another_spelling_or_session_of_a_denied_call_asks_nobody_again() {
    let world = world().await;
    deny(&world, command("rm -rf /srv/den"), "keep it").await;
    for (session, text) in [
        ("s1", "rm  -rf   /srv/den"),
        ("s1", "rm -rf /srv/den #2"),
        ("s1", "rm -fr /srv/./den"),
        ("s2", "rm -rf /srv/den"),
        ("s3", "env rm -rf /srv/den"),
        ("s4", "bash -c 'rm -rf /srv/den'; ls"),
    ] {
        let again = world.submit(in_session(session, text)).await;
        assert_eq!(cause(&again), "deny_memory", "{text}: {again:?}");
    }
    let moved = Submission {
        call: ToolCall::command("rm -rf den").from_directory("/srv"),
        session: "s5".to_owned(),
        ..Submission::default()
    };
    assert_eq!(cause(&world.submit(moved).await), "deny_memory");
    let other = world.submit(command("rm -rf /srv/other")).await;
    assert_eq!(
        other.status.word(),
        "waiting",
        "another target is another call"
    );
}

#[tokio::test]
async fn a_denial_holds_for_the_key_that_asked_and_for_no_other() {
    let world = world().await;
    deny(&world, command(DANGEROUS), "no").await;
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, command(DANGEROUS)).await.unwrap();
    assert_eq!(call.status.word(), "waiting");
}

#[tokio::test]
async fn runs_of_the_built_in_agent_remember_denials_by_who_started_them() {
    let world = world().await;
    let run_of = |person: &str, session: &str| Submission {
        starter: Some(person.to_owned()),
        ..in_session(session, DANGEROUS)
    };
    let agent = builtin();
    let first = world.gate.submit(&agent, run_of("bo", "s1")).await.unwrap();
    world
        .answer(&first.approval_id.unwrap(), Choice::Deny)
        .await;
    let again = world.gate.submit(&agent, run_of("bo", "s2")).await.unwrap();
    assert_eq!(cause(&again), "deny_memory");
    let other = world.gate.submit(&agent, run_of("cy", "s3")).await.unwrap();
    assert_eq!(other.status.word(), "waiting", "cy was denied nothing");
}

#[tokio::test]
async fn a_refusal_says_who_denied_it_when_why_and_how_to_go_on() {
    let world = world().await;
    let approval = deny(&world, command(DANGEROUS), "use the staging copy").await;
    world.clock.advance(Duration::from_secs(125));
    let again = world.submit(in_session("s2", DANGEROUS)).await;
    for said in [
        "ana denied this 2 minutes ago",
        "They say: use the staging copy",
        "can lift the denial",
        approval.as_str(),
    ] {
        assert!(again.message.contains(said), "{said}: {}", again.message);
    }
    let decision = again.decision.unwrap();
    assert_eq!(decision.denial_id.as_deref(), Some(approval.as_str()));
    assert_eq!(decision.by.as_deref(), Some("ana"));
    let denied_at = decision.denied_at.unwrap();
    let ago = decision.at.since(denied_at);
    assert!((124_000..126_000).contains(&ago), "{ago}");
}

#[tokio::test]
async fn who_denied_it_or_an_admin_lifts_it_and_the_ledger_says_so() {
    let world = world().await;
    let approval = deny(&world, command(DANGEROUS), "no").await;
    let bo = principal(&world.gate, "bo", Role::Approver).await;
    let viewer = principal(&world.gate, "vi", Role::Viewer).await;
    for nobody in [&bo, &viewer, &world.agent] {
        let refused = world.gate.lift_denial(nobody, &approval).await;
        assert!(
            matches!(refused, Err(GateError::Forbidden(_))),
            "{}",
            nobody.name
        );
    }
    let still = world.submit(command(DANGEROUS)).await;
    assert_eq!(cause(&still), "deny_memory");
    world.gate.lift_denial(&world.ana, &approval).await.unwrap();
    world.gate.lift_denial(&world.ana, &approval).await.unwrap();
    let entries = world.gate.store().entries(0, 1000).await.unwrap();
    let lifted = entries
        .iter()
        .filter(|it| it.draft.event == "approval.lifted");
    assert_eq!(lifted.count(), 1, "lifting twice is lifting once");
    let (_, second) = ask(&world, command("rm  -rf /srv/www")).await;
    world.answer(&second, Choice::Deny).await;
    let admin = principal(&world.gate, "root", Role::Admin).await;
    world.gate.lift_denial(&admin, &second).await.unwrap();
    let (_, third) = ask(&world, command(DANGEROUS)).await;
    let waits = world.gate.lift_denial(&world.ana, &third).await;
    assert!(matches!(waits, Err(GateError::Invalid { .. })), "{waits:?}");
}

#[tokio::test]
async fn a_denial_and_its_lifting_are_known_on_another_replica() {
    let world = world().await;
    let other = open(world.home.path(), &world.clock, Wishes::default()).await;
    let before = other
        .submit(&world.agent, in_session("s9", "rm -rf /srv/x"))
        .await;
    assert_eq!(before.unwrap().status.word(), "waiting");
    let approval = deny(&world, command(DANGEROUS), "no").await;
    caught_up(&world, &other).await;
    let again = other
        .submit(&world.agent, in_session("s2", DANGEROUS))
        .await;
    assert_eq!(cause(&again.unwrap()), "deny_memory");
    world.gate.lift_denial(&world.ana, &approval).await.unwrap();
    caught_up(&world, &other).await;
    let again = other
        .submit(&world.agent, in_session("s2", DANGEROUS))
        .await;
    assert_eq!(again.unwrap().status.word(), "waiting");
}

/// Waits until `other` has seen all that was written here.
async fn caught_up(world: &World, other: &Gate) {
    let (written, _) = world.gate.store().last().await.unwrap();
    let mut seen = other.store().tail().last();
    seen.wait_for(|seen| *seen >= written).await.unwrap();
}

#[tokio::test]
async fn a_denied_message_is_the_same_with_other_white_space_and_not_with_another_text() {
    let world = world().await;
    let message = |text: &str| Submission {
        call: ToolCall {
            tool: "send_message".to_owned(),
            args: json!({ "to": "ana", "text": text }),
            ..ToolCall::default()
        },
        session: "s1".to_owned(),
        ..Submission::default()
    };
    deny(&world, message("The site is down."), "no").await;
    let again = world.submit(message(" The  site is\ndown. ")).await;
    assert_eq!(cause(&again), "deny_memory");
    let other = world.submit(message("The site is up.")).await;
    assert_eq!(other.status.word(), "waiting");
}
