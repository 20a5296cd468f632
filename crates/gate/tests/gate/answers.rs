//! A call is held, answered once, bound to its answer, used once, never lost.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::id::KeyId;
use countersign_core::tier::Tier;
use countersign_core::token::{Arguments, Expected, verify};
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::Settings;
use countersign_gate::people::KeyBounds;
use countersign_gate::records::request::{Reply, Submission};
use countersign_gate::{Gate, GateError};
use serde_json::json;

use crate::support::{
    DANGEROUS, START, Wishes, World, ask, command, open, principal, reply, world, world_with,
};
use crate::told;

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn an_ordinary_call_runs_at_once_and_is_written_down() {
    let World { gate, agent, .. } = world().await;
    let call = gate.submit(&agent, command("cargo test")).await.unwrap();
    assert_eq!(
        (call.status.word(), call.verdict.word()),
        ("allowed", "allow")
    );
    assert_eq!(call.decision.as_ref().unwrap().cause.word(), "rule");
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
    world.answer(&to_b, Choice::Once).await;
    let a = world.call(&a.call_id).await;
    let b = world.call(&b.call_id).await;
    assert_eq!((a.status.word(), b.status.word()), ("waiting", "approved"));
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
    assert_eq!(decision.outcome.word(), "denied");
    let call = world.call(&call.call_id).await;
    assert_eq!(call.status.word(), "denied");
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
    world.answer(&approval, Choice::Once).await;
    let token = world.call(&call.call_id).await.token.unwrap();
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
    let view = world.call(&call.call_id).await;
    assert!(view.token.is_none(), "a used token is not handed out again");
}

#[tokio::test]
async fn a_token_is_used_by_who_submitted_the_call_or_was_made_to_run_it_and_by_nobody_else() {
    let world = world().await;
    let World { gate, ana, .. } = &world;
    let other = principal(gate, "other", Role::Agent).await;
    let mine = vec!["tool:terminal".to_owned()];
    let executor = executor(gate, "executor", &mine).await;
    let elsewhere = vec!["tool:send_email".to_owned()];
    let elsewhere = self::executor(gate, "elsewhere", &elsewhere).await;
    for (round, user) in [&world.agent, &executor].into_iter().enumerate() {
        let (call, approval) = ask(&world, command(&format!("rm -rf /srv/{round}"))).await;
        world.answer(&approval, Choice::Once).await;
        let token = world.call(&call.call_id).await.token.unwrap();
        for stranger in [&other, &elsewhere, ana] {
            let refused = gate.consume(stranger, &token).await;
            assert!(
                matches!(refused, Err(GateError::Forbidden(_))),
                "{refused:?}"
            );
        }
        gate.consume(user, &token).await.unwrap();
        let told = told(gate, "token.refused").await;
        assert_eq!(
            told.len(),
            2 * (round + 1),
            "an approver uses none, so it is not told of"
        );
    }
    let revoked = gate.revoke_key(&owner(), executor.key.as_str()).await;
    assert_eq!(revoked.unwrap().executors, mine);
    let (call, approval) = ask(&world, command("rm -rf /srv/3")).await;
    world.answer(&approval, Choice::Once).await;
    let token = world.call(&call.call_id).await.token.unwrap();
    assert!(gate.consume(&executor, &token).await.is_err());
    for (role, names) in [
        (Role::Approver, mine.clone()),
        (Role::Agent, vec![String::new()]),
    ] {
        let bounds = runs(&names);
        let wrong = gate.create_bound_key("test", "wrong", role, &bounds).await;
        assert!(matches!(wrong, Err(GateError::Invalid { .. })), "{wrong:?}");
    }
}

fn runs(executors: &[String]) -> KeyBounds {
    KeyBounds {
        executors: executors.to_vec(),
        ..KeyBounds::default()
    }
}

async fn executor(gate: &Gate, name: &str, executors: &[String]) -> Principal {
    let bounds = runs(executors);
    let made = gate.create_bound_key("test", name, Role::Agent, &bounds);
    let secret = made.await.unwrap().key;
    gate.authenticate(&secret).await.unwrap()
}

fn owner() -> Principal {
    Principal {
        key: KeyId("owner".to_owned()),
        name: "owner".to_owned(),
        role: Role::Admin,
        via: "home".to_owned(),
        tier: Tier::T0,
    }
}

#[tokio::test]
async fn no_token_lies_in_the_database() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world.answer(&approval, Choice::Once).await;
    let token = world.call(&call.call_id).await.token.unwrap();
    world.gate.store().flush().await.unwrap();
    let mut parts = token.rsplit('.');
    let (signature, claims) = (parts.next().unwrap(), parts.next().unwrap());
    for found in std::fs::read_dir(world.home.path()).unwrap() {
        let bytes = std::fs::read(found.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(signature) && !text.contains(claims));
    }
    // A restart gives the same one again; another gateway the same claims under its own name.
    let again = open(world.home.path(), &world.clock, Wishes::default()).await;
    let call = again
        .call(&world.agent, &call.call_id, Duration::ZERO)
        .await;
    assert_eq!(call.unwrap().token, Some(token));
}

#[tokio::test]
async fn law_3_the_token_is_for_exactly_this_call() {
    let world = world().await;
    let (call, approval) = ask(&world, command(DANGEROUS)).await;
    world.answer(&approval, Choice::Once).await;
    let call = world.call(&call.call_id).await;
    let token = call.token.unwrap();
    let keys = world.gate.public_keys().await.unwrap();
    let now = START.seconds();
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
    world.answer(&approval, Choice::Once).await;
    let first = world.call(&call.call_id).await.token;
    let joined = world.submit(command(DANGEROUS)).await;
    assert_eq!(
        joined.approval_id.as_ref(),
        Some(&approval),
        "the same call joins its answer"
    );
    assert!(first.is_some());
    assert_eq!(first, joined.token);
    world.clock.advance(Duration::from_secs(121));
    let late = world.call(&call.call_id).await;
    assert!(late.token.is_none());
    let other = world.gate.consume(&world.agent, &first.unwrap()).await;
    assert!(matches!(other, Err(GateError::TokenExpired)), "{other:?}");
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
    world.answer(&approval, Choice::Once).await;
    let answered = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    let call = answered.expect("it is woken").unwrap().unwrap();
    assert_eq!(call.status.word(), "approved");
}

#[tokio::test]
async fn a_choice_that_was_not_offered_changes_nothing() {
    let world = world().await;
    // Inline code is asked about every time.
    let hidden = "python3 -c 'import shutil; shutil.rmtree(\"/srv\")'";
    let (_, approval) = ask(&world, command(hidden)).await;
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(view.choices, [Choice::Once, Choice::Deny]);
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
            .status
            .word(),
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
    let after = world.call(&call.call_id).await;
    assert_eq!(after.decision.unwrap().args, Some(args.clone()));
    assert_ne!(after.digest, call.digest);
    let as_changed = world
        .submit(Submission {
            call: ToolCall {
                args,
                ..command(DANGEROUS).call
            },
            ..command(DANGEROUS)
        })
        .await;
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
    let held = world.answer(&approval, Choice::Once).await;
    assert!(held.held_until.is_some());
    let meanwhile = world.call(&call.call_id).await;
    assert_eq!(
        (meanwhile.status.word(), meanwhile.token),
        ("waiting", None)
    );
    world.gate.take_back(&world.ana, &approval).await.unwrap();
    world.clock.advance(Duration::from_secs(6));
    let still = world.call(&call.call_id).await;
    assert_eq!(still.status.word(), "waiting");
    world.answer(&approval, Choice::Once).await;
    world.clock.advance(Duration::from_secs(6));
    let after = world.call(&call.call_id).await;
    assert_eq!(after.status.word(), "approved");
    assert!(after.token.is_some());
}

#[tokio::test]
async fn law_12_what_was_acknowledged_is_there_after_a_restart() {
    let world = world().await;
    let (waiting, _) = ask(&world, command("rm -rf /srv/a")).await;
    let (answered, approval) = ask(&world, command("rm -rf /srv/b")).await;
    world.answer(&approval, Choice::Once).await;
    let token = world.call(&answered.call_id).await.token;
    world.gate.store().close().await;
    let gate = open(world.home.path(), &world.clock, Wishes::default()).await;
    let still = gate
        .call(&world.agent, &waiting.call_id, NOW)
        .await
        .unwrap();
    assert_eq!(still.status.word(), "waiting");
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
