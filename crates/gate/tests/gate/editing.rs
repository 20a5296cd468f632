//! Calls as people change them, and files as calls would change them.

use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_gate::GateError;
use countersign_gate::approvals::comparing::Found;
use countersign_gate::records::request::{Reply, Submission};
use serde_json::json;

use crate::support::{DANGEROUS, World, command, reply, world};

fn code(error: &GateError) -> &'static str {
    if let GateError::Invalid { code, .. } = error {
        code
    } else {
        "another error"
    }
}

#[tokio::test]
async fn an_edited_call_is_judged_before_it_is_answered() {
    let world = world().await;
    let call = world.submit(command(DANGEROUS)).await;
    let id = call.approval_id.unwrap();
    let shown = world.gate.approval(&world.ana, &id).await.unwrap();
    assert!(shown.editable);
    let args = json!({ "command": "ls /srv/www" });
    let edited = world.gate.assess_edited(&world.ana, &id, &args).await;
    let edited = edited.unwrap();
    assert_eq!(edited.card.choices, [Choice::Once, Choice::Deny]);
    assert!(edited.card.risk < shown.card.risk);
    assert_eq!(edited.args, args);
    let answer = Reply {
        args: Some(args),
        ..reply(&id, Choice::Once)
    };
    let answered = world.gate.answer(&world.ana, answer).await.unwrap();
    assert_eq!(answered.digest, edited.digest, "what was shown is bound");
    let outcome = answered.card.outcome.unwrap();
    assert!(
        outcome.contains("with edited arguments by ana"),
        "{outcome}"
    );
}

#[tokio::test]
async fn asking_how_an_edit_would_be_judged_answers_nothing_and_is_for_approvers() {
    let world = world().await;
    let call = world.submit(command(DANGEROUS)).await;
    let id = call.approval_id.unwrap();
    let args = json!({ "command": "rm -rf /" });
    let wiped = world.gate.assess_edited(&world.ana, &id, &args).await;
    assert_eq!(code(&wiped.unwrap_err()), "edited_call_refused");
    let harmless = json!({ "command": "ls" });
    let nosy = world.gate.assess_edited(&world.agent, &id, &harmless).await;
    assert!(matches!(nosy, Err(GateError::Forbidden(_))));
    let still = world.gate.approval(&world.ana, &id).await.unwrap();
    assert_eq!(still.status.word(), "waiting");
}

#[tokio::test]
async fn an_agent_that_takes_no_changes_is_not_sent_any() {
    let world = world().await;
    let fixed = Submission {
        fixed: true,
        ..command(DANGEROUS)
    };
    let id = world.submit(fixed).await.approval_id.unwrap();
    let shown = world.gate.approval(&world.ana, &id).await.unwrap();
    assert!(!shown.editable);
    let changed = Reply {
        args: Some(json!({ "command": "ls" })),
        ..reply(&id, Choice::Once)
    };
    let refused = world.gate.answer(&world.ana, changed).await.unwrap_err();
    assert_eq!(code(&refused), "not_editable");
    world.answer(&id, Choice::Once).await;
}

#[tokio::test]
async fn what_is_not_shown_as_it_is_stored_is_not_offered_for_editing() {
    let world = world().await;
    let token = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    let texts = [
        format!("rm -rf /srv/www # {token}"),
        "rm -rf /srv/www # a\u{202e}b".to_owned(),
    ];
    for text in texts {
        let call = world.submit(command(&text)).await;
        let id = call.approval_id.unwrap();
        let shown = world.gate.approval(&world.ana, &id).await.unwrap();
        assert!(!shown.editable, "{text}");
    }
}

/// Submits a file that a build server runs, which asks.
async fn written(world: &World) -> String {
    let call = ToolCall {
        tool: "write_file".to_owned(),
        args: json!({ "path": ".github/workflows/ci.yml", "content": "new\n" }),
        cwd: Some("/w/shop".to_owned()),
        workspace: Some("/w/shop".to_owned()),
        ..ToolCall::default()
    };
    let submission = Submission {
        call,
        ..command(DANGEROUS)
    };
    world.submit(submission).await.approval_id.unwrap()
}

#[tokio::test]
async fn a_comparison_is_for_approvers_and_redacted() {
    let world = world().await;
    let id = written(&world).await;
    let wanted = world.gate.comparable(&world.ana, &id).await.unwrap();
    assert_eq!(wanted.paths, ["/w/shop/.github/workflows/ci.yml"]);
    for nosy in [
        world.gate.comparable(&world.agent, &id).await.err(),
        world
            .gate
            .compared(&world.agent, &id, Vec::new())
            .await
            .err(),
    ] {
        assert!(matches!(nosy, Some(GateError::Forbidden(_))), "{nosy:?}");
    }
    let token = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    let path = wanted.paths.first().unwrap();
    let found = |now| {
        vec![Found {
            path: path.clone(),
            now,
        }]
    };
    let old = found(Ok(Some(format!("token: {token}\n"))));
    let compared = world.gate.compared(&world.ana, &id, old).await.unwrap();
    let file = compared.files.first().unwrap();
    assert_eq!(file.after.as_deref(), Some("new\n"));
    let before = file.before.as_deref().unwrap();
    assert!(
        before.contains("‹secret: ") && !before.contains(token),
        "{before}"
    );
    let absent = world.gate.compared(&world.ana, &id, found(Ok(None))).await;
    let absent = absent.unwrap().files.remove(0);
    assert_eq!((absent.before, absent.why), (None, None));
    let unread = found(Err("it is a link".to_owned()));
    let unread = world.gate.compared(&world.ana, &id, unread).await.unwrap();
    assert_eq!(
        unread.files.first().unwrap().why.as_deref(),
        Some("it is a link")
    );
}
