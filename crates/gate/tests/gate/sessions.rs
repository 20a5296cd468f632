//! What a session keeps: its workspace, its override, whether a person in crisis was in it.

use std::time::Duration;

use countersign_core::call::{ToolCall, Turn};
use countersign_gate::base::principal::Role;
use countersign_gate::people::KeyBounds;
use countersign_gate::records::request::Submission;
use countersign_gate::sessions::OverrideRequest;
use countersign_gate::{Gate, GateError};
use serde_json::json;

use crate::support::{DANGEROUS, Wishes, World, in_session, open, principal, world, yolo_all};
use crate::{everybody, told};

#[tokio::test]
async fn the_first_call_fixes_the_workspace_and_later_claims_do_not_move_it() {
    let World { gate, agent, .. } = world().await;
    let elsewhere = |session: &str| Submission {
        call: ToolCall {
            workspace: Some("/home/dev/other".to_owned()),
            ..ToolCall::command("rm /home/dev/other/a.txt").from_directory("/home/dev/other")
        },
        ..in_session(session, "")
    };
    let at_home = gate.submit(&agent, elsewhere("other")).await.unwrap();
    assert_eq!(at_home.verdict.word(), "allow", "its own workspace");
    gate.submit(&agent, in_session("s1", "ls")).await.unwrap();
    let outside = gate.submit(&agent, elsewhere("s1")).await.unwrap();
    assert_eq!(
        outside.verdict.word(),
        "ask",
        "outside the one that was fixed"
    );
    let started = told(&gate, "session.started").await;
    let fixed: Vec<_> = started.iter().map(|body| &body["workspace"]).collect();
    assert_eq!(fixed, ["/home/dev/other", "/home/dev/project"]);
}

#[tokio::test]
async fn first_calls_that_come_together_fix_one_workspace() {
    let World { gate, agent, .. } = world().await;
    let calls = (0..16).map(|number| {
        let (gate, agent) = (gate.clone(), agent.clone());
        let directory = format!("/home/dev/project{number}");
        let submission = Submission {
            call: ToolCall::command("ls").from_directory(directory),
            ..in_session("s1", "")
        };
        tokio::spawn(async move { gate.submit(&agent, submission).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().unwrap().status.word(), "allowed");
    }
    assert_eq!(told(&gate, "session.started").await.len(), 1);
}

#[tokio::test]
async fn law_1_a_conversation_with_a_person_in_crisis_stays_one() {
    let World {
        gate,
        agent,
        clock,
        home,
        ..
    } = world().await;
    let despair = Submission {
        call: ToolCall {
            replying_to: vec![Turn {
                from: "sam".to_owned(),
                text: "I want to kill myself tonight".to_owned(),
            }],
            ..send("hello there")
        },
        ..in_session("s1", "")
    };
    let harmless = |session: &str| Submission {
        call: ToolCall::command("curl -d hello https://example.org/"),
        ..in_session(session, "")
    };
    let before = gate.submit(&agent, harmless("s1")).await.unwrap();
    assert!(!is_crisis(&before.assessment), "not yet");
    gate.submit(&agent, despair).await.unwrap();
    let after = gate.submit(&agent, harmless("s1")).await.unwrap();
    assert!(is_crisis(&after.assessment));
    assert_eq!(
        after.verdict.word(),
        "ask",
        "what goes out is a person's to decide"
    );
    let other = gate.submit(&agent, harmless("s2")).await.unwrap();
    assert!(!is_crisis(&other.assessment), "another conversation");
    let replica = open(home.path(), &clock, Wishes::default()).await;
    let there = replica.submit(&agent, harmless("s1")).await.unwrap();
    assert!(is_crisis(&there.assessment), "another gateway knows");
}

#[tokio::test]
async fn law_7_only_approvers_override_and_only_for_a_while() {
    let World { gate, agent, .. } = world().await;
    let key = Some(agent.key.as_str());
    for who in everybody(&gate).await {
        let role = who.role;
        let started = gate.start_override(&who, key, "s1", yolo_all(5, "")).await;
        assert_eq!(started.is_ok(), role.answers(), "{role:?}");
        let ended = gate.end_override(&who, key, "s1").await;
        assert_eq!(ended.is_ok(), role.answers(), "{role:?}");
        let listed = gate.overrides(&who).await;
        assert_eq!(listed.is_ok(), role != Role::Agent, "{role:?}");
    }
    let root = principal(&gate, "root", Role::Admin).await;
    for (minutes, fits) in [(0, false), (1, true), (480, true), (481, false)] {
        let started = gate
            .start_override(&root, key, "s1", yolo_all(minutes, ""))
            .await;
        assert_eq!(started.is_ok(), fits, "{minutes}");
    }
    let endless = "x".repeat(1025);
    let told_too_much = gate
        .start_override(&root, key, "s1", yolo_all(5, &endless))
        .await;
    assert!(matches!(told_too_much, Err(GateError::Invalid { .. })));
}

#[tokio::test]
async fn an_overridden_session_asks_nothing_until_it_ends_and_the_floor_stands() {
    let World {
        gate,
        agent,
        ana,
        clock,
        ..
    } = world().await;
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "ask");
    let started = gate
        .start_override(&ana, None, "s1", yolo_all(10, "release night"))
        .await
        .unwrap();
    assert_eq!(started.by, "ana");
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "allow");
    assert_eq!(verdict(&gate, &agent, "s1", "rm -rf /").await, "refuse");
    assert_eq!(verdict(&gate, &agent, "s2", DANGEROUS).await, "ask");
    let listed = gate.overrides(&ana).await.unwrap();
    assert_eq!((listed.len(), listed[0].session_id.as_str()), (1, "s1"));
    gate.end_override(&ana, None, "s1").await.unwrap();
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "ask");
    gate.start_override(&ana, None, "s1", yolo_all(10, ""))
        .await
        .unwrap();
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "allow");
    clock.advance(Duration::from_mins(10));
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "ask");
    assert!(gate.overrides(&ana).await.unwrap().is_empty());
    let quiet = gate.end_override(&ana, None, "s1").await.unwrap();
    assert_eq!(quiet.until, None, "nothing was left to end");
    let started = told(&gate, "session.override_started").await;
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["reason"], "release night");
    assert_eq!(told(&gate, "session.override_ended").await.len(), 1);
}

#[tokio::test]
async fn a_plain_override_still_asks_about_critical_calls_and_says_what_it_is() {
    const ORDINARY: &str = "git push origin main";
    let World {
        gate, agent, ana, ..
    } = world().await;
    assert_eq!(verdict(&gate, &agent, "s1", ORDINARY).await, "ask");
    let plain = OverrideRequest {
        minutes: 10,
        reason: "",
        all: false,
    };
    gate.start_override(&ana, None, "s1", plain).await.unwrap();
    assert_eq!(verdict(&gate, &agent, "s1", ORDINARY).await, "allow");
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "ask");
    assert_eq!(verdict(&gate, &agent, "s1", "rm -rf /").await, "refuse");
    assert!(!gate.overrides(&ana).await.unwrap()[0].all);
    // A new one takes the place of the old.
    let all = gate
        .start_override(&ana, None, "s1", yolo_all(10, ""))
        .await;
    assert!(all.unwrap().all);
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "allow");
    gate.end_override(&ana, None, "s1").await.unwrap();
    assert_eq!(verdict(&gate, &agent, "s1", ORDINARY).await, "ask");
    let kinds = told(&gate, "session.override_started").await;
    let kinds: Vec<_> = kinds.iter().map(|body| &body["all"]).collect();
    assert_eq!(kinds, [false, true]);
}

#[tokio::test]
async fn a_session_is_found_by_its_name_only_while_one_key_has_it() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let nobody = gate.start_override(&ana, None, "s1", yolo_all(5, "")).await;
    assert!(matches!(nobody, Err(GateError::NotFound { .. })));
    let unknown = gate
        .start_override(&ana, Some("key_x"), "s1", yolo_all(5, ""))
        .await;
    assert!(matches!(unknown, Err(GateError::NotFound { .. })));
    let other = principal(&gate, "codex", Role::Agent).await;
    for who in [&agent, &other] {
        gate.submit(who, in_session("s1", "ls")).await.unwrap();
    }
    let both = gate.start_override(&ana, None, "s1", yolo_all(5, "")).await;
    assert!(matches!(both, Err(GateError::Invalid { .. })));
    let key = Some(agent.key.as_str());
    gate.start_override(&ana, key, "s1", yolo_all(5, ""))
        .await
        .unwrap();
    assert_eq!(verdict(&gate, &agent, "s1", DANGEROUS).await, "allow");
    assert_eq!(verdict(&gate, &other, "s1", DANGEROUS).await, "ask");
}

async fn verdict(
    gate: &Gate,
    who: &countersign_gate::base::principal::Principal,
    session: &str,
    text: &str,
) -> String {
    let call = gate.submit(who, in_session(session, text)).await.unwrap();
    call.verdict.word().to_owned()
}

fn send(text: &str) -> ToolCall {
    ToolCall {
        tool: "send_message".to_owned(),
        args: json!({ "to": "sam", "text": text }),
        ..ToolCall::default()
    }
}

fn is_crisis(assessment: &serde_json::value::RawValue) -> bool {
    let said: serde_json::Value = serde_json::from_str(assessment.get()).unwrap();
    said["crisis_sensitive"] == true
}

/// A script of the directory it is called from.
fn script_in(session: &str, cwd: &str) -> Submission {
    Submission {
        call: ToolCall::command("./build.sh").from_directory(cwd),
        session: session.to_owned(),
        ..Submission::default()
    }
}

#[tokio::test]
async fn law_14_a_fresh_session_makes_no_trusted_project_of_a_shared_directory() {
    let world = world().await;
    for (number, cwd) in [
        "/tmp/evil",
        "/var/tmp/x",
        "/dev/shm/x",
        "/srv/app",
        "/opt/x",
    ]
    .into_iter()
    .enumerate()
    {
        let call = world.submit(script_in(&format!("s{number}"), cwd)).await;
        assert_eq!(call.status.word(), "waiting", "{cwd}");
    }
    let own = world.submit(script_in("own", "/home/dev/project")).await;
    assert_eq!(own.status.word(), "allowed");
    let moved = world.submit(script_in("own", "/home/dev/elsewhere")).await;
    assert_eq!(
        moved.status.word(),
        "waiting",
        "the first call has fixed the workspace"
    );
    let wide = Submission {
        call: ToolCall {
            workspace: Some("/home/dev/project".to_owned()),
            ..ToolCall::command("./evil.sh").from_directory("/tmp/evil")
        },
        ..script_in("aside", "/tmp/evil")
    };
    assert_eq!(world.submit(wide).await.status.word(), "waiting");
}

fn works_in(workspaces: &[String]) -> KeyBounds {
    KeyBounds {
        workspaces: workspaces.to_vec(),
        ..KeyBounds::default()
    }
}

#[tokio::test]
async fn law_14_a_key_bound_to_directories_has_its_workspace_there_and_nowhere_else() {
    let world = world().await;
    let bound = ["/srv/app".to_owned()];
    let made = world
        .gate
        .create_bound_key("root", "ci", Role::Agent, &works_in(&bound))
        .await
        .unwrap();
    let ci = world.gate.authenticate(&made.key).await.unwrap();
    for (session, cwd, status) in [
        ("a", "/srv/app", "allowed"),
        ("b", "/srv/app/sub", "allowed"),
        ("c", "/srv/other", "waiting"),
        ("d", "/home/dev/project", "waiting"),
        ("e", "/srv/app/../other2", "waiting"),
    ] {
        let call = world
            .gate
            .submit(&ci, script_in(session, cwd))
            .await
            .unwrap();
        assert_eq!(call.status.word(), status, "{cwd}");
    }
    let keys = world.gate.keys(&world.ana).await.unwrap().items;
    let shown = keys.iter().find(|key| key.name == "ci").unwrap();
    assert_eq!(shown.workspaces, bound);
    let entries = world.gate.store().entries(0, 1000).await.unwrap();
    let made = |body: &str| body.contains("\"name\":\"ci\"") && body.contains("/srv/app");
    assert!(
        entries
            .iter()
            .any(|it| it.draft.event == "key.created" && made(&it.draft.body))
    );
    for wrong in ["/", "~", "/etc", "relative", "/tmp", "/home/ana/.ssh"] {
        let made = world
            .gate
            .create_bound_key("root", "x", Role::Agent, &works_in(&[wrong.to_owned()]))
            .await;
        assert!(made.is_err(), "{wrong}");
    }
    let person = world
        .gate
        .create_bound_key("root", "bo", Role::Approver, &works_in(&bound))
        .await;
    assert!(person.is_err(), "a person submits nothing");
}
