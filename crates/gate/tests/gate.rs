//! The gate on a real database: held, answered once, bound, used once, never lost.
#![expect(clippy::panic, reason = "a failing test panics")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::{Recorder, Said};
use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::policy::{FirewallMode, Policy};
use countersign_core::token::{Arguments, Expected, verify};
use countersign_gate::GateError;
use countersign_gate::principal::Role;
use countersign_gate::request::{GrantRequest, Reply, Submission};
use countersign_gate::settings::Settings;
use serde_json::json;
use support::{
    DANGEROUS, Wishes, World, ask, command, in_session, open, principal, reply, world, world_with,
};

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn an_ordinary_call_runs_at_once_and_is_written_down() {
    let World { gate, agent, .. } = world().await;
    let call = gate.submit(&agent, command("cargo test")).await.unwrap();
    assert_eq!(
        (call.status.as_str(), call.verdict.as_str()),
        ("allowed", "allow")
    );
    assert_eq!(call.decision.as_ref().unwrap().cause, "rule");
    assert!(
        call.token.is_none(),
        "a call allowed by rule carries no token"
    );
    let again = gate.call(&agent, &call.call_id, NOW).await.unwrap();
    assert_eq!(again.digest, call.digest);
}

#[tokio::test]
async fn the_answer_to_one_question_never_answers_another() {
    let world = world().await;
    let (a, to_a) = ask(&world, command("rm -rf /srv/a")).await;
    let (b, to_b) = ask(&world, command("rm -rf /srv/b")).await;
    assert_ne!(to_a, to_b);
    world
        .gate
        .answer(&world.ana, reply(&to_b, Choice::Once))
        .await
        .unwrap();
    let a = world
        .gate
        .call(&world.agent, &a.call_id, NOW)
        .await
        .unwrap();
    let b = world
        .gate
        .call(&world.agent, &b.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(
        (a.status.as_str(), b.status.as_str()),
        ("waiting", "approved")
    );
    assert!(a.token.is_none());
    assert!(b.token.is_some());
}

#[tokio::test]
async fn law_4_the_second_answer_is_told_who_was_faster_and_changes_nothing() {
    let world = world().await;
    let bo = principal(&world.gate, "bo", Role::Approver).await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let denial = Reply {
        note: Some("not today".to_owned()),
        ..reply(&approval, Choice::Deny)
    };
    world.gate.answer(&world.ana, denial).await.unwrap();
    let Err(GateError::AlreadyResolved(view)) =
        world.gate.answer(&bo, reply(&approval, Choice::Once)).await
    else {
        panic!("the second answer must be told it came too late");
    };
    let decision = view.decision.unwrap();
    assert_eq!(decision.by.as_deref(), Some("ana"));
    assert_eq!(decision.outcome, "denied");
    let call = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(call.status, "denied");
    assert!(call.message.contains("not today"), "{}", call.message);
}

#[tokio::test]
async fn law_4_of_many_answers_at_once_exactly_one_counts() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    let answers = (0..40).map(|number| {
        let (gate, ana, approval) = (world.gate.clone(), world.ana.clone(), approval.clone());
        let choice = if number % 2 == 0 {
            Choice::Once
        } else {
            Choice::Deny
        };
        tokio::spawn(async move { gate.answer(&ana, reply(&approval, choice)).await.is_ok() })
    });
    let mut winners = 0;
    for answer in answers.collect::<Vec<_>>() {
        winners += u32::from(answer.await.unwrap());
    }
    assert_eq!(winners, 1);
}

#[tokio::test]
async fn law_5_a_token_is_used_once_however_many_try() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let token = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap()
        .token
        .unwrap();
    let tries = (0..20).map(|_| {
        let (gate, agent, token) = (world.gate.clone(), world.agent.clone(), token.clone());
        tokio::spawn(async move { gate.consume(&agent, &token).await })
    });
    let mut used = 0;
    for one in tries.collect::<Vec<_>>() {
        match one.await.unwrap() {
            Ok(_) => used += 1,
            Err(GateError::TokenUsed) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(used, 1);
    let view = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert!(view.token.is_none(), "a used token is not handed out again");
}

#[tokio::test]
async fn law_3_the_token_is_for_exactly_this_call() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let call = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    let token = call.token.unwrap();
    let keys = world.gate.public_keys().await.unwrap();
    let now = support::START.seconds();
    let (same, other) = (
        json!({"command": DANGEROUS}),
        json!({"command": "rm -rf /srv/other"}),
    );
    let expected = Expected {
        audience: "tool:terminal",
        tool: "terminal",
        session: "s1",
        agent: Some(world.agent.key.as_str()),
        arguments: Arguments::Json(&same),
        cwd: Some("/home/dev/project"),
        attachments: &[],
    };
    let claims = verify(&token, &keys, now, expected).unwrap();
    assert_eq!(
        (claims.sub.as_str(), claims.apr.who.as_str()),
        (approval.as_str(), "ana")
    );
    let elsewhere = [
        (
            "other arguments",
            Expected {
                arguments: Arguments::Json(&other),
                ..expected
            },
        ),
        (
            "another directory",
            Expected {
                cwd: Some("/srv"),
                ..expected
            },
        ),
        (
            "another session",
            Expected {
                session: "s2",
                ..expected
            },
        ),
        (
            "another tool",
            Expected {
                tool: "shell",
                ..expected
            },
        ),
        (
            "another executor",
            Expected {
                audience: "tool:shell",
                ..expected
            },
        ),
        (
            "another agent",
            Expected {
                agent: Some("key_2"),
                ..expected
            },
        ),
    ];
    for (name, elsewhere) in elsewhere {
        assert!(verify(&token, &keys, now, elsewhere).is_err(), "{name}");
    }
}

#[tokio::test]
async fn the_same_token_is_given_to_every_repeated_read_until_it_expires() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let first = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap()
        .token;
    let joined = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(
        joined.approval_id.as_ref(),
        Some(&approval),
        "the same call joins its answer"
    );
    assert!(first.is_some());
    assert_eq!(first, joined.token);
    world.clock.advance(Duration::from_secs(121));
    let late = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert!(late.token.is_none());
    let other = world.gate.consume(&world.agent, &first.unwrap()).await;
    assert!(matches!(other, Err(GateError::TokenExpired)), "{other:?}");
}

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
    let elsewhere = world
        .gate
        .submit(&world.agent, in_session("s2", DANGEROUS))
        .await
        .unwrap();
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
    let again = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    let decision = again.decision.unwrap();
    assert_eq!(
        (again.status.as_str(), decision.cause.as_str()),
        ("refused", "deny_memory")
    );
    assert_eq!(decision.note.as_deref(), Some("use the staging copy"));
    world.clock.advance(Duration::from_secs(601));
    let later = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(
        later.status, "waiting",
        "after ten minutes it may be asked again"
    );
}

#[tokio::test]
async fn a_denial_is_remembered_across_a_restart() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Deny))
        .await
        .unwrap();
    world.gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    let again = gate.submit(&world.agent, command(DANGEROUS)).await.unwrap();
    assert_eq!(again.decision.unwrap().cause, "deny_memory");
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
    let joins = world
        .gate
        .submit(&world.agent, command("rm -rf /srv/3"))
        .await
        .unwrap();
    assert_eq!(joins.status, "waiting", "joining needs no room");
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world
        .gate
        .submit(&other, command("rm -rf /srv/more"))
        .await
        .unwrap();
    assert_eq!(call.status, "waiting", "another key has room of its own");
}

#[tokio::test]
async fn law_6_nobody_answering_in_time_is_not_a_yes_and_not_a_denial() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world.clock.advance(Duration::from_secs(300));
    let call = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!((call.status.as_str(), call.token), ("expired", None));
    assert_eq!(call.decision.unwrap().cause, "expiry");
    assert!(call.message.contains("not a denial"), "{}", call.message);
    let late = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
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
    let call = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(call.status, "refused");
    assert_eq!(call.decision.unwrap().cause, "no_approver");
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
    assert_eq!(seen.status, "waiting");
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
    assert_eq!(back.status, "withdrawn");
    let late = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(matches!(late, Err(GateError::Gone(_))), "{late:?}");
    let (call, approval) = ask(&world, command("rm -rf /srv/b")).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Deny))
        .await
        .unwrap();
    let after = world
        .gate
        .withdraw(&world.agent, &call.call_id, None)
        .await
        .unwrap();
    assert_eq!(after.status, "denied", "what was decided stands");
}

#[tokio::test]
async fn a_waiting_call_returns_as_soon_as_it_is_answered() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let waiting = {
        let (gate, agent, id) = (
            world.gate.clone(),
            world.agent.clone(),
            call.call_id.clone(),
        );
        tokio::spawn(async move { gate.call(&agent, &id, Duration::from_secs(30)).await })
    };
    tokio::task::yield_now().await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    let call = answered.expect("it is woken").unwrap().unwrap();
    assert_eq!(call.status, "approved");
}

#[tokio::test]
async fn a_choice_that_was_not_offered_changes_nothing() {
    let world = world().await;
    // Inline code is asked about every time.
    let hidden = "python3 -c 'import shutil; shutil.rmtree(\"/srv\")'";
    let (_, approval) = ask(&world, command(hidden)).await;
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(view.choices, ["once", "deny"]);
    let answer = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Always))
        .await;
    assert!(
        matches!(answer, Err(GateError::NotOffered(Choice::Always))),
        "{answer:?}"
    );
    assert_eq!(
        world
            .gate
            .approval(&world.ana, &approval)
            .await
            .unwrap()
            .status,
        "waiting"
    );
}

#[tokio::test]
async fn changed_arguments_are_judged_again_and_bound_as_changed() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let change = |args| Reply {
        args: Some(args),
        ..reply(&approval, Choice::Once)
    };
    let wiped = change(json!({"command": "rm -rf /"}));
    let refused = world.gate.answer(&world.ana, wiped).await;
    let is_refused = matches!(
        refused,
        Err(GateError::Invalid {
            code: "edited_call_refused",
            ..
        })
    );
    assert!(is_refused, "{refused:?}");
    let args = json!({"command": "rm -rf /srv/www/cache"});
    world
        .gate
        .answer(&world.ana, change(args.clone()))
        .await
        .unwrap();
    let after = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(after.decision.unwrap().args, Some(args.clone()));
    assert_ne!(after.digest, call.digest);
    let as_changed = world
        .gate
        .submit(
            &world.agent,
            Submission {
                call: ToolCall {
                    args,
                    ..command(DANGEROUS).call
                },
                ..command(DANGEROUS)
            },
        )
        .await
        .unwrap();
    assert_eq!(
        after.digest, as_changed.digest,
        "it is bound as if it had been submitted so"
    );
}

#[tokio::test]
async fn an_answer_can_be_taken_back_while_it_is_held() {
    let settings = Settings {
        undo_millis: 5_000,
        ..Settings::default()
    };
    let world = world_with(Wishes {
        settings,
        ..Wishes::default()
    })
    .await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    let held = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    assert!(held.held_until.is_some());
    let meanwhile = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(
        (meanwhile.status.as_str(), meanwhile.token),
        ("waiting", None)
    );
    world.gate.take_back(&world.ana, &approval).await.unwrap();
    world.clock.advance(Duration::from_secs(6));
    let still = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(still.status, "waiting");
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    world.clock.advance(Duration::from_secs(6));
    let after = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(after.status, "approved");
    assert!(after.token.is_some());
}

#[tokio::test]
async fn law_12_what_was_acknowledged_is_there_after_a_restart() {
    let world = world().await;
    let (waiting, _) = ask(&world, command("rm -rf /srv/a")).await;
    let (answered, approval) = ask(&world, command("rm -rf /srv/b")).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let token = world
        .gate
        .call(&world.agent, &answered.call_id, NOW)
        .await
        .unwrap()
        .token;
    world.gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    let still = gate
        .call(&world.agent, &waiting.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(still.status, "waiting");
    let answered = gate
        .call(&world.agent, &answered.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(answered.token, token, "the same token, not a second one");
    let approval = still.approval_id.unwrap();
    gate.answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    gate.consume(&world.agent, &token.unwrap()).await.unwrap();
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
    let (first, _) = (
        world
            .gate
            .submit(&world.agent, command(DANGEROUS))
            .await
            .unwrap(),
        (),
    );
    assert_eq!(first.status, "allowed", "{first:?}");
    assert_eq!(first.decision.as_ref().unwrap().cause, "grant");
    let rows = [
        ("another session", in_session("s2", DANGEROUS)),
        ("another target", command("rm -rf /srv/other")),
        ("a compound", command("rm -rf /srv/www; rm -rf /srv/other")),
    ];
    for (name, submission) in rows {
        let call = world.gate.submit(&world.agent, submission).await.unwrap();
        assert_eq!(call.status, "waiting", "{name}");
    }
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, command(DANGEROUS)).await.unwrap();
    assert_eq!(call.status, "waiting", "another key");
    let second = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(second.status, "allowed");
    let third = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_ne!(
        third.decision.map(|it| it.cause).as_deref(),
        Some("grant"),
        "two uses, no more"
    );
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing() {
    let world = world().await;
    let (_, approval) = ask(&world, command(DANGEROUS)).await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Always))
        .await
        .unwrap();
    let grants = world.gate.grants(&world.ana, false).await.unwrap().items;
    let [grant] = grants.as_slice() else {
        panic!("{grants:?}");
    };
    world
        .gate
        .revoke_grant(&world.ana, &grant.grant_id)
        .await
        .unwrap();
    let call = world
        .gate
        .submit(&world.agent, in_session("s2", DANGEROUS))
        .await
        .unwrap();
    assert_eq!(call.status, "waiting");
}

#[tokio::test]
async fn the_same_idempotency_key_submits_once() {
    let world = world().await;
    let named = |text: &str| Submission {
        idempotency_key: Some("k1".to_owned()),
        ..command(text)
    };
    let first = world.gate.submit(&world.agent, named("ls")).await.unwrap();
    let again = world.gate.submit(&world.agent, named("ls")).await.unwrap();
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
    let unknown = world.gate.submit(&world.agent, unknown).await.unwrap();
    assert_eq!(unknown.verdict, "allow", "enforcing would ask");
    assert_eq!(unknown.status, "allowed");
    let dangerous = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(dangerous.status, "waiting");
    let floor = world
        .gate
        .submit(&world.agent, command("rm -rf /"))
        .await
        .unwrap();
    assert_eq!(floor.status, "refused");
}

#[tokio::test]
async fn an_override_lifts_questions_but_not_the_first_four_rules() {
    let world = world().await;
    ask(&world, command("rm -rf /srv/first")).await;
    let key = world.agent.key.0.clone();
    world
        .gate
        .start_override(&world.ana, Some(&key), "s1", 10, "a demo")
        .await
        .unwrap();
    let dangerous = world
        .gate
        .submit(&world.agent, command(DANGEROUS))
        .await
        .unwrap();
    assert_eq!(dangerous.status, "allowed");
    let floor = world
        .gate
        .submit(&world.agent, command("rm -rf /"))
        .await
        .unwrap();
    assert_eq!(floor.status, "refused");
    let itself = world
        .gate
        .submit(&world.agent, command("countersign keys create"))
        .await
        .unwrap();
    assert_eq!(itself.status, "waiting", "the firewall itself");
    let elsewhere = world
        .gate
        .submit(&world.agent, in_session("s2", DANGEROUS))
        .await
        .unwrap();
    assert_eq!(elsewhere.status, "waiting", "another session");
    world.clock.advance(Duration::from_secs(601));
    let later = world
        .gate
        .submit(&world.agent, command("rm -rf /srv/later"))
        .await
        .unwrap();
    assert_eq!(later.status, "waiting", "it ends by itself");
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
    world.gate.submit(&world.agent, first).await.unwrap();
    let elsewhere = world
        .gate
        .submit(&world.agent, from("/srv/data"))
        .await
        .unwrap();
    assert_eq!(
        elsewhere.status, "waiting",
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
    until(|| {
        recorder
            .said()
            .iter()
            .any(|it| matches!(it, Said::Card(..)))
    })
    .await;
    world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await
        .unwrap();
    let ended = |said: &Said| matches!(said, Said::Again(_, card) if card.outcome.is_some());
    until(|| recorder.said().iter().any(ended)).await;
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
    let call = world
        .gate
        .call(&world.agent, &call.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(call.decision.unwrap().cause, "undeliverable");
    assert!(
        call.message.contains("Nobody could be reached"),
        "{}",
        call.message
    );
}

/// Waits until `holds`, looking often; the test runner's own limit ends it otherwise.
async fn until(holds: impl Fn() -> bool) {
    let patience = Duration::from_secs(10);
    let looking = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(patience, looking)
        .await
        .expect("it happens in time");
}
