//! Which pending approvals share a fold key.

use countersign_core::approval::Choice;
use countersign_core::call::Turn;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::Submission;
use countersign_gate::records::view::ApprovalView;
use serde_json::json;

use crate::support::{World, ask, command, principal, world};

const PUSH: &str = "git push --force origin";

/// A push of `branch` in the run that all of these share.
fn push(branch: &str) -> Submission {
    Submission {
        run: Some("run_1".to_owned()),
        ..command(&format!("{PUSH} {branch}"))
    }
}

async fn asked(world: &World, submission: Submission) -> ApprovalView {
    let (_, id) = ask(world, submission).await;
    world.gate.approval(&world.ana, &id).await.unwrap()
}

#[tokio::test]
async fn approvals_that_differ_in_their_arguments_alone_share_a_fold_key() {
    let world = world().await;
    let one = asked(&world, push("one")).await;
    let two = asked(&world, push("two")).await;
    assert!(one.fold_key.is_some());
    assert_eq!(one.fold_key, two.fold_key);
    assert_ne!(one.digest, two.digest);
}

#[tokio::test]
async fn a_difference_that_a_folded_row_would_hide_gives_another_fold_key() {
    let world = world().await;
    let base = asked(&world, push("base")).await;
    let mut other_directory = push("base");
    other_directory.call = other_directory.call.from_directory("/srv/other");
    let mut other_program = push("base");
    other_program.call = command("hg push --force base").call;
    let mut other_finding = push("base");
    other_finding.call = command("rm -rf /srv/www").call;
    let differences = [
        (
            "run",
            Submission {
                run: Some("run_2".to_owned()),
                session: "s2".to_owned(),
                ..push("base")
            },
        ),
        ("program", other_program),
        (
            "executor",
            Submission {
                executor: Some("elsewhere".to_owned()),
                ..push("base")
            },
        ),
        (
            "definition of the tool",
            Submission {
                tool_definition: Some(json!({ "description": "changed since" })),
                ..push("base")
            },
        ),
        ("directory", other_directory),
        ("first finding", other_finding),
    ];
    let mut seen = vec![base.fold_key];
    for (name, submission) in differences {
        let key = asked(&world, submission).await.fold_key;
        assert!(key.is_some(), "{name}");
        assert!(!seen.contains(&key), "{name}");
        seen.push(key);
    }
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, push("base")).await.unwrap();
    let id = call.approval_id.unwrap();
    let key = world.gate.approval(&world.ana, &id).await.unwrap().fold_key;
    assert!(key.is_some() && !seen.contains(&key), "agent key");
}

#[tokio::test]
async fn crisis_and_settled_approvals_have_no_fold_key() {
    let world = world().await;
    let mut message = push("base");
    message.call.tool = "send_message".to_owned();
    message.call.args = json!({ "to": "sam", "text": "ok" });
    message.call.replying_to = vec![Turn {
        from: "sam".to_owned(),
        text: "I want to kill myself tonight".to_owned(),
    }];
    message.session = "s2".to_owned();
    message.run = None;
    let crisis = asked(&world, message).await;
    assert!(
        crisis
            .assessment
            .get()
            .contains(r#""crisis_sensitive":true"#)
    );
    assert_eq!(crisis.fold_key, None);

    let waiting = asked(&world, push("base")).await;
    assert!(waiting.fold_key.is_some());
    let settled = world.answer(&waiting.approval_id, Choice::Deny).await;
    assert_eq!(settled.fold_key, None);
}
