//! Grants at the gate: given, used, listed, previewed, taken back.

use std::time::Duration;

use crate::support::{World, ask, command, in_session, principal, reply, world};
use countersign_core::approval::Choice;
use countersign_core::digest::Digest;
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::{GrantRequest, Submission};
use countersign_gate::records::view::GrantView;

const GRANTED: &str = "git push --force origin main";

/// Has `GRANTED` asked about and granted by `choice`.
async fn granted(world: &World, choice: Choice, grant: Option<GrantRequest>) -> GrantView {
    let (_, approval) = ask(world, command(GRANTED)).await;
    let mut answer = reply(&approval, choice);
    answer.grant = grant;
    world.gate.answer(&world.ana, answer).await.unwrap();
    let grants = world.gate.grants(&world.ana, false).await.unwrap();
    grants.items.first().unwrap().clone()
}

/// Returns how a call ends at once: `allowed`, or `waiting` for a person.
async fn outcome(world: &World, submission: Submission) -> String {
    let call = world.submit(submission).await;
    call.status.to_string()
}

#[tokio::test]
async fn a_session_grant_lets_the_same_call_run_in_that_session_only() {
    let world = world().await;
    let grant = granted(&world, Choice::Session, None).await;
    assert_eq!(grant.session_id.as_deref(), Some("s1"));
    assert_eq!(outcome(&world, command(GRANTED)).await, "allowed");
    assert_eq!(outcome(&world, in_session("s2", GRANTED)).await, "waiting");
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, command(GRANTED)).await.unwrap();
    assert_eq!(call.status.word(), "waiting", "another key");
    let mut attached = command(GRANTED);
    attached.attachments = vec![Digest::of(b"file")];
    assert_eq!(
        outcome(&world, attached).await,
        "waiting",
        "with a file attached"
    );
    let mut elsewhere = command(GRANTED);
    elsewhere.executor = Some("tool:terminal@prod".to_owned());
    assert_eq!(
        outcome(&world, elsewhere).await,
        "waiting",
        "run by somebody else"
    );
    let mut defined = command(GRANTED);
    defined.tool_definition = Some(serde_json::json!({"name": "terminal"}));
    assert_eq!(
        outcome(&world, defined).await,
        "waiting",
        "another definition"
    );
}

#[tokio::test]
async fn uses_are_counted_and_end() {
    let world = world().await;
    let twice = GrantRequest {
        uses: Some(2),
        ..GrantRequest::default()
    };
    let grant = granted(&world, Choice::Always, Some(twice)).await;
    assert_eq!(
        (grant.uses, grant.uses_left, grant.last_used_at),
        (0, Some(2), None)
    );
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(outcome(&world, in_session("s2", GRANTED)).await, "allowed");
    let used = world.gate.grants(&world.ana, false).await.unwrap();
    let used = used.items.first().unwrap();
    assert_eq!((used.uses, used.uses_left), (1, Some(1)));
    assert!(used.last_used_at.unwrap() > used.created_at);
    assert_eq!(outcome(&world, in_session("s3", GRANTED)).await, "allowed");
    assert_eq!(outcome(&world, in_session("s4", GRANTED)).await, "waiting");
    assert!(
        world
            .gate
            .grants(&world.ana, false)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let all = world.gate.grants(&world.ana, true).await.unwrap().items;
    assert!(
        all.iter().all(|grant| !grant.live) && all.len() == 1,
        "{all:?}"
    );
}

#[tokio::test]
async fn time_ends_a_grant_by_itself() {
    let world = world().await;
    let short = GrantRequest {
        lasts_millis: Some(1000),
        ..GrantRequest::default()
    };
    granted(&world, Choice::Always, Some(short)).await;
    world.clock.advance(Duration::from_millis(999));
    assert_eq!(outcome(&world, in_session("s9", GRANTED)).await, "allowed");
    world.clock.advance(Duration::from_millis(1));
    assert!(
        world
            .gate
            .grants(&world.ana, false)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert_eq!(outcome(&world, in_session("s9", GRANTED)).await, "waiting");
}

#[tokio::test]
async fn what_is_taken_back_lets_nothing_run_and_is_in_the_ledger() {
    let world = world().await;
    let grant = granted(&world, Choice::Always, None).await;
    let revoked = world
        .gate
        .revoke_grant(&world.ana, &grant.grant_id)
        .await
        .unwrap();
    assert!(!revoked.live);
    assert_eq!(outcome(&world, in_session("s9", GRANTED)).await, "waiting");
    let again = world
        .gate
        .revoke_grant(&world.ana, &grant.grant_id)
        .await
        .unwrap();
    assert!(!again.live);
    let entries = world.gate.store().entries(0, 1000).await.unwrap();
    let told = |event: &str| {
        entries
            .iter()
            .filter(|entry| entry.draft.event == event)
            .count()
    };
    assert_eq!((told("grant.created"), told("grant.revoked")), (1, 1));
}

#[tokio::test]
async fn everybody_sees_and_does_what_their_role_is_for() {
    let world = world().await;
    let grant = granted(&world, Choice::Always, None).await;
    let viewer = principal(&world.gate, "eve", Role::Viewer).await;
    let other = principal(&world.gate, "codex", Role::Agent).await;
    for (who, count) in [
        (&world.ana, 1),
        (&viewer, 1),
        (&world.agent, 1),
        (&other, 0),
    ] {
        let seen = world.gate.grants(who, true).await.unwrap().items;
        assert_eq!(seen.len(), count, "{}", who.name);
    }
    for who in [&world.agent, &viewer] {
        let revoked = world.gate.revoke_grant(who, &grant.grant_id).await;
        assert!(
            matches!(revoked, Err(GateError::Forbidden(_))),
            "{}",
            who.name
        );
        let preview = world.gate.preview(who, &grant.approval_id, None).await;
        assert!(
            matches!(preview, Err(GateError::Forbidden(_))),
            "{}",
            who.name
        );
    }
    let missing = world.gate.revoke_grant(&world.ana, "grant_none").await;
    assert!(matches!(missing, Err(GateError::NotFound { .. })));
}

#[tokio::test]
async fn a_preview_counts_what_would_have_matched() {
    let world = world().await;
    for session in ["s1", "s2", "s3"] {
        ask(&world, in_session(session, GRANTED)).await;
        ask(
            &world,
            in_session(session, "git push --force origin release"),
        )
        .await;
    }
    let (_, approval) = ask(&world, in_session("s4", GRANTED)).await;
    let previews = world
        .gate
        .preview(&world.ana, &approval, None)
        .await
        .unwrap();
    let first = previews.first().unwrap();
    assert_eq!((first.matched, first.of), (Some(4), Some(7)), "{first:?}");
    assert_eq!(first.riskiest.as_deref(), Some(GRANTED));
    assert!(first.words.contains(GRANTED), "{}", first.words);
    let one = world
        .gate
        .preview(&world.ana, &approval, Some(first.scope.clone()))
        .await
        .unwrap();
    assert_eq!(one.len(), 1);
    let missing = world.gate.preview(&world.ana, "appr_none", None).await;
    assert!(matches!(missing, Err(GateError::NotFound { .. })));
}

#[tokio::test]
async fn what_cannot_be_shown_can_only_be_denied() {
    let world = world().await;
    let mut submission = command("x");
    submission.call.tool = "write_file".to_owned();
    submission.call.args = serde_json::json!({"path": "/etc/x", "content": "x ".repeat(140_000)});
    let (_, approval) = ask(&world, submission).await;
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    assert_eq!(view.choices, [Choice::Deny]);
    let answer = world
        .gate
        .answer(&world.ana, reply(&approval, Choice::Once))
        .await;
    assert!(
        matches!(answer, Err(GateError::NotOffered(Choice::Once))),
        "{answer:?}"
    );
}

/// The request for the scope that covers the reason of `approval`.
async fn for_its_reason(world: &World, approval: &str) -> GrantRequest {
    let seen = world.gate.approval(&world.ana, approval).await.unwrap();
    let scope = seen.scopes.into_iter().find(|scope| scope.session_only);
    GrantRequest {
        scope: Some(scope.unwrap().scope),
        ..GrantRequest::default()
    }
}

#[tokio::test]
async fn a_grant_for_a_reason_covers_other_files_of_the_workspace_for_the_session() {
    let world = world().await;
    let (_, approval) = ask(&world, command("rm -rf data")).await;
    let mut answer = reply(&approval, Choice::Always);
    answer.grant = Some(for_its_reason(&world, &approval).await);
    let refused = world.gate.answer(&world.ana, answer.clone()).await;
    let code = "scope_session_only";
    assert!(
        matches!(&refused, Err(GateError::Invalid { code: given, .. }) if *given == code),
        "{refused:?}"
    );
    answer.choice = Choice::Session;
    world.gate.answer(&world.ana, answer).await.unwrap();
    let rows = [
        (
            "another file",
            in_session("s1", "rm -rf results"),
            "allowed",
        ),
        (
            "and what it shows",
            in_session("s1", "rm -rf old && ls -la"),
            "allowed",
        ),
        (
            "another session",
            in_session("s2", "rm -rf results"),
            "waiting",
        ),
        (
            "another place",
            in_session("s1", "rm -rf /home/dev/other"),
            "waiting",
        ),
        (
            "something beside it",
            in_session("s1", "rm -rf old && npm publish"),
            "waiting",
        ),
    ];
    for (name, submission, wanted) in rows {
        assert_eq!(outcome(&world, submission).await, wanted, "{name}");
    }
}

#[tokio::test]
async fn a_grant_for_a_reason_does_not_cover_what_was_denied() {
    let world = world().await;
    let (_, denied) = ask(&world, command("rm -rf results")).await;
    world.answer(&denied, Choice::Deny).await;
    let (_, approval) = ask(&world, command("rm -rf data")).await;
    let mut answer = reply(&approval, Choice::Session);
    answer.grant = Some(for_its_reason(&world, &approval).await);
    world.gate.answer(&world.ana, answer).await.unwrap();
    assert_eq!(outcome(&world, command("rm -rf old")).await, "allowed");
    assert_eq!(outcome(&world, command("rm -rf results")).await, "refused");
}
