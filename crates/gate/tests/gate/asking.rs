//! What is asked, joined, remembered, limited, withdrawn and delivered.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::{Channel, Recorder, Said};
use countersign_core::approval::Choice;
use countersign_core::assessment::SideEffect;
use countersign_core::call::ToolCall;
use countersign_core::policy::{FirewallMode, Policy};
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::base::settings::{Settings, Timeouts};
use countersign_gate::records::request::{GrantRequest, Reply, Submission};
use serde_json::json;

use crate::support::{
    DANGEROUS, START, Wishes, ask, command, in_session, open, principal, reply, world, world_with,
    yolo_all,
};

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn identical_waiting_calls_join_one_question() {
    let world = world().await;
    let calls = (0..50).map(|_| {
        let (gate, agent) = (world.gate.clone(), world.agent.clone());
        tokio::spawn(async move { gate.submit(&agent, command(DANGEROUS)).await.unwrap() })
    });
    let mut approvals = std::collections::BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        approvals.insert(call.await.unwrap().approval_id.unwrap());
    }
    assert_eq!(approvals.len(), 1);
    let elsewhere = world.submit(in_session("s2", DANGEROUS)).await;
    assert!(
        !approvals.contains(&elsewhere.approval_id.unwrap()),
        "another session asks anew"
    );
}

#[tokio::test]
async fn whoever_asks_again_after_a_denial_is_told_of_it() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let denial = Reply {
        note: Some("use the staging copy".to_owned()),
        ..reply(&approval, Choice::Deny)
    };
    world.gate.answer(&world.ana, denial).await.unwrap();
    let again = world.submit(command(DANGEROUS)).await;
    let decision = again.decision.unwrap();
    assert_eq!(
        (again.status.word(), decision.cause.word()),
        ("refused", "deny_memory")
    );
    assert_eq!(decision.note.as_deref(), Some("use the staging copy"));
    world.clock.advance(Duration::from_secs(601));
    let later = world.submit(command(DANGEROUS)).await;
    assert_eq!(
        later.status.word(),
        "waiting",
        "after ten minutes it may be asked again"
    );
}

#[tokio::test]
async fn a_denial_is_remembered_across_a_restart() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    world.answer(&approval, Choice::Deny).await;
    world.gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    let again = gate.submit(&world.agent, command(DANGEROUS)).await.unwrap();
    assert_eq!(again.decision.unwrap().cause.word(), "deny_memory");
}

#[tokio::test]
async fn twenty_questions_of_one_key_wait_and_no_more() {
    let world = world().await;
    for number in 0..20 {
        ask(&world, command(&format!("rm -rf /srv/{number}"))).await;
    }
    let more = world
        .gate
        .submit(&world.agent, command("rm -rf /srv/more"))
        .await;
    assert!(matches!(more, Err(GateError::TooMany { .. })), "{more:?}");
    let joins = world.submit(command("rm -rf /srv/3")).await;
    assert_eq!(joins.status.word(), "waiting", "joining needs no room");
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world
        .gate
        .submit(&other, command("rm -rf /srv/more"))
        .await
        .unwrap();
    assert_eq!(
        call.status.word(),
        "waiting",
        "another key has room of its own"
    );
}

#[tokio::test]
async fn law_6_nobody_answering_in_time_is_not_a_yes_and_not_a_denial() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world.clock.advance(Duration::from_mins(5));
    let call = world.call(&call.call_id).await;
    assert_eq!((call.status.word(), call.token), ("expired", None));
    assert_eq!(call.decision.unwrap().cause.word(), "expiry");
    assert!(call.message.contains("not a denial"), "{}", call.message);
    let late = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
}

#[tokio::test]
async fn what_a_call_changes_and_where_people_are_asked_say_how_long_a_question_waits() {
    let minutes = |minutes: i64| minutes * 60_000;
    let timeouts = Timeouts {
        by_side_effect: [(SideEffect::Critical, minutes(10))].into(),
        by_channel: [("pager".to_owned(), minutes(20))].into(),
        ..Timeouts::default()
    };
    let unknown = || Submission {
        call: ToolCall {
            tool: "frobnicate".to_owned(),
            args: json!({"level": 3}),
            ..ToolCall::default()
        },
        ..command("")
    };
    for (channel, critical, other) in [
        (None, 10, 5),
        (Some("chat"), 10, 5),
        (Some("pager"), 20, 20),
    ] {
        let channels = channel.map(|name| Arc::new(Recorder::new(name)) as Arc<dyn Channel>);
        let world = world_with(Wishes {
            settings: Settings {
                timeouts: timeouts.clone(),
                ..Settings::default()
            },
            channels: channels.into_iter().collect(),
            ..Wishes::default()
        })
        .await;
        for (submission, expected) in [(command(DANGEROUS), critical), (unknown(), other)] {
            let (call, _) = ask(&world, submission).await;
            let ends = START.plus(minutes(expected)).as_seconds();
            assert_eq!(call.expires_at, Some(ends), "{channel:?} {}", call.tool);
        }
    }
}

#[tokio::test]
async fn law_6_without_anyone_who_could_answer_a_question_is_refused_at_once() {
    let world = world().await;
    let admin = principal(&world.gate, "root", Role::Admin).await;
    for key in world.gate.keys(&admin).await.unwrap().items {
        if matches!(key.role, Role::Approver) {
            world.gate.revoke_key(&admin, &key.id).await.unwrap();
        }
    }
    let id = admin.key.0.clone();
    world.gate.revoke_key(&admin, &id).await.unwrap();
    let call = world.submit(command(DANGEROUS)).await;
    assert_eq!(call.status.word(), "refused");
    assert_eq!(call.decision.unwrap().cause.word(), "no_approver");
}

#[tokio::test]
async fn law_7_no_role_but_a_persons_answers_and_no_person_submits() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let viewer = principal(&world.gate, "eye", Role::Viewer).await;
    for who in [&world.agent, &viewer] {
        let answers = [
            world.gate.answer(who, reply(&approval, Choice::Once)).await,
            world.gate.take_back(who, &approval).await,
            world.gate.viewed(who, &approval).await,
        ];
        for answer in answers {
            assert!(matches!(answer, Err(GateError::Forbidden(_))), "{answer:?}");
        }
    }
    for who in [&world.ana, &viewer] {
        let call = world.gate.submit(who, command("ls")).await;
        assert!(matches!(call, Err(GateError::Forbidden(_))), "{call:?}");
    }
    let seen = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(seen.status.word(), "waiting");
}

#[tokio::test]
async fn an_agent_sees_nothing_of_another() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let other = principal(&world.gate, "codex", Role::Agent).await;
    assert!(matches!(
        world.gate.call(&other, &call.call_id, NOW).await,
        Err(GateError::NotFound { .. })
    ));
    assert!(matches!(
        world.gate.approval(&other, &approval).await,
        Err(GateError::NotFound { .. })
    ));
    assert!(matches!(
        world.gate.withdraw(&other, &call.call_id, None).await,
        Err(GateError::NotFound { .. })
    ));
}

#[tokio::test]
async fn the_asker_may_take_a_call_back_but_not_past_an_answer() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let back = world
        .gate
        .withdraw(&world.agent, &call.call_id, None)
        .await
        .unwrap();
    assert_eq!(back.status.word(), "withdrawn");
    let late = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
    let (call, approval) = ask(&world, command("rm -rf /srv/b")).await;
    world.answer(&approval, Choice::Deny).await;
    let after = world
        .gate
        .withdraw(&world.agent, &call.call_id, None)
        .await
        .unwrap();
    assert_eq!(after.status.word(), "denied", "what was decided stands");
}

#[tokio::test]
async fn a_session_grant_covers_the_same_call_in_the_same_session_only() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let given = Reply {
        grant: Some(GrantRequest {
            uses: Some(2),
            ..GrantRequest::default()
        }),
        ..reply(&approval, Choice::Session)
    };
    world.gate.answer(&world.ana, given).await.unwrap();
    // The answer itself lets the first call run; that one is used up first.
    let first = world.submit(command(DANGEROUS)).await;
    assert_eq!(first.status.word(), "allowed", "{first:?}");
    assert_eq!(first.decision.as_ref().unwrap().cause.word(), "grant");
    let rows = [
        ("another session", in_session("s2", DANGEROUS)),
        ("another target", command("rm -rf /srv/other")),
        ("a compound", command("rm -rf /srv/www; rm -rf /srv/other")),
    ];
    for (name, submission) in rows {
        let call = world.submit(submission).await;
        assert_eq!(call.status.word(), "waiting", "{name}");
    }
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, command(DANGEROUS)).await.unwrap();
    assert_eq!(call.status.word(), "waiting", "another key");
    let second = world.submit(command(DANGEROUS)).await;
    assert_eq!(second.status.word(), "allowed");
    let third = world.submit(command(DANGEROUS)).await;
    assert_ne!(
        third.decision.map(|it| it.cause.word()),
        Some("grant"),
        "two uses, no more"
    );
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    world.answer(&approval, Choice::Always).await;
    let grants = world.gate.grants(&world.ana, false).await.unwrap().items;
    let [grant] = grants.as_slice() else {
        panic!("{grants:?}");
    };
    world
        .gate
        .revoke_grant(&world.ana, &grant.grant_id)
        .await
        .unwrap();
    let call = world.submit(in_session("s2", DANGEROUS)).await;
    assert_eq!(call.status.word(), "waiting");
}

#[tokio::test]
async fn the_same_idempotency_key_submits_once() {
    let world = world().await;
    let named = |text: &str| Submission {
        idempotency_key: Some("k1".to_owned()),
        ..command(text)
    };
    let first = world.submit(named("ls")).await;
    let again = world.submit(named("ls")).await;
    assert_eq!(first.call_id, again.call_id);
    let other = world.gate.submit(&world.agent, named("ls -l")).await;
    assert!(matches!(other, Err(GateError::Invalid { .. })), "{other:?}");
}

#[tokio::test]
async fn observing_asks_only_about_dangerous_commands() {
    let policy = Policy {
        firewall: FirewallMode::Observe,
        ..Policy::default()
    };
    let world = world_with(Wishes {
        policy,
        ..Wishes::default()
    })
    .await;
    let unknown = Submission {
        call: ToolCall {
            tool: "frobnicate".to_owned(),
            args: json!({"level": 3}),
            ..ToolCall::default()
        },
        ..command("")
    };
    let unknown = world.submit(unknown).await;
    assert_eq!(unknown.verdict.word(), "allow", "enforcing would ask");
    assert_eq!(unknown.status.word(), "allowed");
    let dangerous = world.submit(command(DANGEROUS)).await;
    assert_eq!(dangerous.status.word(), "waiting");
    let floor = world.submit(command("rm -rf /")).await;
    assert_eq!(floor.status.word(), "refused");
}

#[tokio::test]
async fn an_override_lifts_questions_but_not_the_first_four_rules() {
    let world = world().await;
    ask(&world, command("rm -rf /srv/first")).await;
    let key = world.agent.key.0.clone();
    world
        .gate
        .start_override(&world.ana, Some(&key), "s1", yolo_all(10, "a demo"))
        .await
        .unwrap();
    let dangerous = world.submit(command(DANGEROUS)).await;
    assert_eq!(dangerous.status.word(), "allowed");
    let floor = world.submit(command("rm -rf /")).await;
    assert_eq!(floor.status.word(), "refused");
    let itself = world.submit(command("countersign keys create")).await;
    assert_eq!(itself.status.word(), "waiting", "the firewall itself");
    let elsewhere = world.submit(in_session("s2", DANGEROUS)).await;
    assert_eq!(elsewhere.status.word(), "waiting", "another session");
    world.clock.advance(Duration::from_secs(601));
    let later = world.submit(command("rm -rf /srv/later")).await;
    assert_eq!(later.status.word(), "waiting", "it ends by itself");
}

#[tokio::test]
async fn law_14_the_first_call_of_a_session_fixes_its_workspace() {
    let world = world().await;
    let from = |cwd: &str| Submission {
        call: ToolCall::command("rm -rf ./build/../data").from_directory(cwd),
        session: "w".to_owned(),
        ..Submission::default()
    };
    let first = Submission {
        call: ToolCall::command("ls").from_directory("/home/dev/project"),
        session: "w".to_owned(),
        ..Submission::default()
    };
    world.submit(first).await;
    let elsewhere = world.submit(from("/srv/data")).await;
    assert_eq!(
        elsewhere.status.word(),
        "waiting",
        "it is outside what the session began with"
    );
}

#[tokio::test]
async fn cards_reach_channels_once_and_say_how_it_ended() {
    let recorder = Recorder::new("pager");
    let world = world_with(Wishes {
        channels: vec![Arc::new(recorder.clone())],
        ..Wishes::default()
    })
    .await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    until(&recorder, |it| matches!(it, Said::Card(..))).await;
    world.answer(&approval, Choice::Once).await;
    let ended = |said: &Said| matches!(said, Said::Again(_, card) if card.outcome.is_some());
    until(&recorder, ended).await;
    let cards = recorder.said();
    let delivered = cards
        .iter()
        .filter(|it| matches!(it, Said::Card(..)))
        .count();
    assert_eq!(delivered, 1);
}

#[tokio::test]
async fn nobody_reached_is_said_as_such() {
    let recorder = Recorder::new("pager");
    recorder.refuses();
    let world = world_with(Wishes {
        channels: vec![Arc::new(recorder.clone())],
        ..Wishes::default()
    })
    .await;
    let (call, _) = ask(&world, command(DANGEROUS)).await;
    world.clock.advance(Duration::from_secs(301));
    let call = world.call(&call.call_id).await;
    assert_eq!(call.decision.unwrap().cause.word(), "undeliverable");
    assert!(
        call.message.contains("Nobody could be reached"),
        "{}",
        call.message
    );
}

/// Waits until the recorder was given something like this.
async fn until(recorder: &Recorder, wanted: impl Fn(&Said) -> bool) {
    let given = recorder.until(|said| said.iter().any(&wanted));
    tokio::time::timeout(Duration::from_mins(1), given)
        .await
        .expect("it is given in time");
}
