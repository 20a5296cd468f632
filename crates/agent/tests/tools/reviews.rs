//! What ran and is looked at afterwards: shown, kept, or put back exactly.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign_agent::tools::{HttpRequest, Patch, Processes, Terminal, Tool, WriteFile};
use countersign_agent::undo::{UndoError, undo};
use countersign_core::policy::Policy;
use countersign_core::score::Score;
use countersign_core::verdict::Thresholds;
use countersign_gate::GateError;
use countersign_gate::reviews::{ReviewView, SNAPSHOT_BYTES_MAX, Settled};
use serde_json::json;

use crate::support::{World, send_message, world_with};

/// A world in which every call that can be put back runs and is looked at afterwards.
async fn reviewing() -> World {
    let thresholds = Thresholds {
        auto_below: Score::ZERO,
        ask_above: Score::new(600),
        confidence_min: Score::ONE,
    };
    world_with(Policy {
        review: true,
        thresholds,
        ..Policy::default()
    })
    .await
}

async fn only_review(world: &World) -> ReviewView {
    let mut reviews = world.gate.reviews(&world.ana).await.unwrap().items;
    assert_eq!(reviews.len(), 1, "{reviews:?}");
    reviews.remove(0)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_changed_file_is_shown_and_put_back_with_its_mode() {
    let world = reviewing().await;
    world.write("a.txt", "one\ntwo\n");
    let path = world.project.join("a.txt");
    set_mode(&path, 0o640);
    let args = json!({"path": "a.txt", "old_string": "two", "new_string": "three"});
    let outcome = world.run(&Patch, args).await;
    assert!(!outcome.failed, "{}", outcome.text);
    assert_eq!(world.read("a.txt"), "one\nthree\n");
    let review = only_review(&world).await;
    let shown = review.diff.unwrap();
    assert!(shown.contains("-two\n+three"), "{shown}");
    assert_eq!(review.path.as_deref(), path.to_str());

    // Nobody says that it is undone without putting it back.
    let id = review.review_id;
    let bare = world.gate.settle_review(&world.ana, &id, Settled::Undo);
    assert!(matches!(bare.await, Err(GateError::Invalid { .. })));

    let undone = undo(&world.gate, &world.ana, &id).await.unwrap();
    assert_eq!(
        (undone.status.word(), undone.by.as_deref()),
        ("undone", Some("ana"))
    );
    assert_eq!(
        (world.read("a.txt").as_str(), mode(&path)),
        ("one\ntwo\n", 0o640)
    );
    let again = undo(&world.gate, &world.ana, &id).await;
    let settled = matches!(
        again,
        Err(UndoError::Gate(GateError::AlreadySettled { .. }))
    );
    assert!(settled, "{again:?}");
}

#[tokio::test]
async fn a_new_file_is_taken_away_again_with_the_directories_made_for_it() {
    let world = reviewing().await;
    let args = json!({"path": "a/b/c.txt", "content": "new"});
    let outcome = world.run(&WriteFile, args).await;
    assert!(!outcome.failed, "{}", outcome.text);
    let review = only_review(&world).await;
    assert!(review.diff.unwrap().starts_with("new file"));
    undo(&world.gate, &world.ana, &review.review_id)
        .await
        .unwrap();
    assert!(!world.project.join("a").exists());
    assert!(
        world
            .gate
            .reviews(&world.ana)
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn what_is_kept_stays() {
    let world = reviewing().await;
    world
        .run(&WriteFile, json!({"path": "a.txt", "content": "new"}))
        .await;
    let id = only_review(&world).await.review_id;
    let kept = world.gate.settle_review(&world.ana, &id, Settled::Keep);
    assert_eq!(kept.await.unwrap().status.word(), "kept");
    assert!(undo(&world.gate, &world.ana, &id).await.is_err());
    assert_eq!(world.read("a.txt"), "new");
}

#[tokio::test]
async fn a_file_that_changed_since_is_left_alone_and_both_changes_are_shown() {
    let world = reviewing().await;
    world.write("a.txt", "one\n");
    let path = world.project.join("a.txt");
    set_mode(&path, 0o644);
    world
        .run(&WriteFile, json!({"path": "a.txt", "content": "two\n"}))
        .await;
    let id = only_review(&world).await.review_id;

    world.write("a.txt", "three\n");
    let refused = undo(&world.gate, &world.ana, &id).await.unwrap_err();
    let UndoError::Changed { done, since, .. } = &refused else {
        panic!("{refused}");
    };
    assert!(done.contains("-one\n+two"), "{done}");
    assert!(since.contains("-two\n+three"), "{since}");
    assert_eq!(world.read("a.txt"), "three\n");

    world.write("a.txt", "two\n");
    set_mode(&path, 0o600);
    let refused = undo(&world.gate, &world.ana, &id).await.unwrap_err();
    assert!(
        refused.to_string().contains("mode 644 changed to 600"),
        "{refused}"
    );
    assert_eq!(mode(&path), 0o600);

    std::fs::remove_file(&path).unwrap();
    let refused = undo(&world.gate, &world.ana, &id).await.unwrap_err();
    assert!(refused.to_string().contains("file is gone"), "{refused}");
    assert!(!path.exists());

    // It waits still, and works once the file is as the call left it.
    assert_eq!(only_review(&world).await.status.word(), "waiting");
    world.write("a.txt", "two\n");
    set_mode(&path, 0o644);
    undo(&world.gate, &world.ana, &id).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn what_is_too_large_to_be_put_back_is_not_changed() {
    let world = reviewing().await;
    let large = "x".repeat(SNAPSHOT_BYTES_MAX + 1);
    world.write("large.txt", &large);
    let args = json!({"path": "large.txt", "content": "small"});
    let outcome = world.run(&WriteFile, args).await;
    assert!(
        outcome.failed && outcome.text.contains("larger than 1 MiB"),
        "{}",
        outcome.text
    );
    assert_eq!(world.read("large.txt"), large);
}

#[tokio::test]
async fn only_a_person_undoes() {
    let world = reviewing().await;
    world
        .run(&WriteFile, json!({"path": "a.txt", "content": "new"}))
        .await;
    let id = only_review(&world).await.review_id;
    let refused = undo(&world.gate, &world.around.who, &id).await;
    let forbidden = matches!(refused, Err(UndoError::Gate(GateError::Forbidden(_))));
    assert!(forbidden, "{refused:?}");
    assert_eq!(world.read("a.txt"), "new");
}

#[tokio::test]
async fn critical_external_and_crisis_calls_are_never_reviewed_afterwards() {
    let world = reviewing().await;
    let terminal = Terminal::new(std::sync::Arc::new(Processes::default())).unwrap();
    let http = HttpRequest::new(countersign_agent::outbound::Approval::Required).unwrap();
    let (message, _) = send_message();
    let home = json!({"path": "/root/.ssh/authorized_keys", "content": "x"});
    let rows: [(&str, &dyn Tool, _); 6] = [
        (
            "critical command",
            &terminal,
            json!({"command": "rm -rf /srv/www"}),
        ),
        ("critical file", &WriteFile, home),
        (
            "external",
            &http,
            json!({"url": "https://example.org/", "method": "POST"}),
        ),
        (
            "external message",
            &message,
            json!({"to": "ana", "text": "hi"}),
        ),
        (
            "crisis",
            &message,
            json!({"to": "ana", "text": "I want to kill myself tonight"}),
        ),
        // From here on a person in crisis is in the conversation.
        (
            "beside a crisis",
            &WriteFile,
            json!({"path": "a.txt", "content": "x"}),
        ),
    ];
    for (name, tool, args) in rows {
        let call = world.submit(tool, args).await;
        assert_eq!(call.verdict.word(), "ask", "{name}");
        let sensitive = call.assessment.get().contains(r#""crisis_sensitive":true"#);
        assert_eq!(sensitive, name.contains("crisis"), "{name}");
    }
    assert!(
        world
            .gate
            .reviews(&world.ana)
            .await
            .unwrap()
            .items
            .is_empty()
    );
}
