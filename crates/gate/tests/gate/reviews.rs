//! What ran and awaits a look.

use countersign_core::call::ToolCall;
use countersign_core::policy::Policy;
use countersign_core::score::Score;
use countersign_core::verdict::Thresholds;
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::Submission;
use countersign_gate::reviews::{Held, Settled, Snapshot, Undoing};
use serde_json::json;

use crate::support::{Wishes, World, in_session, principal, world_with};
use crate::{everybody, told};

#[tokio::test]
async fn what_can_be_rolled_back_runs_and_is_settled_once() {
    let World {
        gate, agent, ana, ..
    } = reviewing().await;
    let call = gate.submit(&agent, edit()).await.unwrap();
    assert_eq!(
        (call.verdict.word(), call.status.word()),
        ("allow_then_review", "allowed")
    );
    let waiting = gate.reviews(&ana).await.unwrap().items;
    assert_eq!(
        (waiting.len(), &waiting[0].call.call_id),
        (1, &call.call_id)
    );
    assert_eq!(told(&gate, "review.required").await.len(), 1);
    let id = waiting[0].review_id.as_str();
    let bo = principal(&gate, "bo", Role::Approver).await;
    let (first, second) = tokio::join!(
        gate.settle_review(&ana, id, Settled::Undo),
        gate.settle_review(&bo, id, Settled::Keep),
    );
    let (view, late) = match (first, second) {
        (Ok(view), Err(late)) | (Err(late), Ok(view)) => (view, late),
        both => panic!("{both:?}"),
    };
    let how = format!("{} by {}", view.status, view.by.clone().unwrap());
    assert!(
        matches!(&late, GateError::AlreadySettled { how: told, .. } if *told == how),
        "{late} {how}"
    );
    let resolved = told(&gate, "review.resolved").await;
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0]["outcome"], view.status.word());
    assert!(gate.reviews(&ana).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn law_7_only_people_settle_reviews_and_agents_see_their_own() {
    let World { gate, agent, .. } = reviewing().await;
    for who in everybody(&gate).await {
        let role = who.role;
        gate.submit(&agent, edit()).await.unwrap();
        let seen = gate.reviews(&who).await.unwrap().items;
        assert_eq!(seen.is_empty(), !role.sees_all(), "{role:?}");
        let own = gate.reviews(&agent).await.unwrap().items;
        let id = own[0].review_id.as_str();
        let settled = gate.settle_review(&who, id, Settled::Keep).await;
        assert_eq!(settled.is_ok(), role.answers(), "{role:?}");
    }
    let unknown = gate
        .settle_review(
            &principal(&gate, "root", Role::Admin).await,
            "rev_x",
            Settled::Keep,
        )
        .await;
    assert!(matches!(unknown, Err(GateError::NotFound { .. })));
}

async fn reviewing() -> World {
    let thresholds = Thresholds {
        auto_below: Score::ZERO,
        ask_above: Score::new(600),
        confidence_min: Score::ONE,
    };
    let policy = Policy {
        review: true,
        thresholds,
        ..Policy::default()
    };
    world_with(Wishes {
        policy,
        ..Wishes::default()
    })
    .await
}

fn edit() -> Submission {
    Submission {
        call: ToolCall {
            tool: "write_file".to_owned(),
            args: json!({ "path": "/home/dev/project/notes.md", "content": "hello" }),
            ..ToolCall::default().from_directory("/home/dev/project")
        },
        ..in_session("s1", "")
    }
}

#[tokio::test]
async fn a_snapshot_is_kept_once_by_whoever_asked_and_shown_without_secrets() {
    let World {
        gate, agent, ana, ..
    } = reviewing().await;
    let call = gate.submit(&agent, edit()).await.unwrap();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let snapshot = Snapshot {
        host: "here".to_owned(),
        path: "/home/dev/project/notes.md".to_owned(),
        before: Held::Absent,
        after: Held::File {
            content: format!("token: {token}\n").into_bytes(),
            mode: 0o644,
        },
        made: Vec::new(),
    };
    let other = principal(&gate, "other", Role::Agent).await;
    for who in [&other, &ana] {
        let kept = gate.keep_snapshot(who, &call.call_id, snapshot.clone());
        assert!(kept.await.is_err(), "{who:?}");
    }
    let kept = gate.keep_snapshot(&agent, &call.call_id, snapshot.clone());
    kept.await.unwrap();
    let again = gate.keep_snapshot(&agent, &call.call_id, snapshot.clone());
    assert!(matches!(again.await, Err(GateError::AlreadySettled { .. })));
    let waiting = gate.reviews(&ana).await.unwrap().items;
    let shown = waiting[0].diff.clone().unwrap();
    assert!(shown.starts_with("new file, mode 644\n"), "{shown}");
    assert!(!shown.contains(token), "{shown}");

    // While it is being undone nobody keeps it; what could not be undone waits again.
    let id = waiting[0].review_id.as_str();
    assert_eq!(gate.begin_undo(&ana, id).await.unwrap(), Some(snapshot));
    let kept = gate.settle_review(&ana, id, Settled::Keep).await;
    assert!(matches!(kept, Err(GateError::AlreadySettled { .. })));
    assert_eq!(
        gate.reviews(&ana).await.unwrap().items[0].status.word(),
        "undoing"
    );
    let failed = gate.finish_undo(&ana, id, Undoing::NotDone).await.unwrap();
    assert_eq!(failed.status.word(), "waiting");
    let early = gate.finish_undo(&ana, id, Undoing::Done).await;
    assert!(matches!(early, Err(GateError::AlreadySettled { .. })));
    gate.settle_review(&ana, id, Settled::Keep).await.unwrap();
    assert!(gate.begin_undo(&ana, id).await.is_err());
}
