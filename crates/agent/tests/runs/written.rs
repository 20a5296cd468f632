//! The agent runs what it wrote itself: the file is read as it is, and what was judged is what runs.

use countersign_core::approval::Choice;
use countersign_testkit::model::Reply;
use serde_json::json;

use crate::support::{World, uses};

/// What a person is asked about.
const RISKY: &str = "rm -rf /srv/nowhere/www\n";

fn writes_and_runs(content: &str) -> Vec<Reply> {
    vec![
        uses(
            "c1",
            "write_file",
            &json!({ "path": "task.sh", "content": content }),
        ),
        uses("c2", "terminal", &json!({ "command": "bash task.sh" })),
        Reply::text(["Done."]),
    ]
}

#[tokio::test]
async fn a_harmless_file_it_wrote_runs_unasked() {
    let world = World::new(writes_and_runs("echo it ran\n")).await;
    let run = world.start("do it").await;
    world.ended(&run).await;
    assert!(world.told("c2").contains("it ran"), "{}", world.told("c2"));
}

#[tokio::test]
async fn a_file_it_wrote_is_asked_about_as_its_content_would_be() {
    let world = World::new(writes_and_runs(RISKY)).await;
    let run = world.start("do it").await;
    let asked = world.questions(&run, 1).await;
    let shown = format!("{:?}", asked[0]);
    assert!(shown.contains("/srv/nowhere/www"), "{shown}");
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Once)
        .await;
    world.ended(&run).await;
    assert!(
        world.told("c2").contains("exit code 0"),
        "{}",
        world.told("c2")
    );
}

#[tokio::test]
async fn a_file_that_changed_after_it_was_judged_does_not_run() {
    let world = World::new(writes_and_runs(RISKY)).await;
    let run = world.start("do it").await;
    let asked = world.questions(&run, 1).await;
    let other = format!("touch {}/ran", world.project.display());
    std::fs::write(world.project.join("task.sh"), other).unwrap();
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Once)
        .await;
    world.ended(&run).await;
    let told = world.told("c2");
    assert!(told.contains("has changed since"), "{told}");
    assert!(!world.project.join("ran").exists());
}

#[tokio::test]
async fn what_lies_there_counts_and_not_what_was_written_once() {
    // The second call replaces the file by one that nobody would be asked about where it stands.
    let script = vec![
        uses(
            "c1",
            "write_file",
            &json!({ "path": "task.sh", "content": "echo fine\n" }),
        ),
        uses(
            "c2",
            "terminal",
            &json!({ "command": "ln -sf other.sh task.sh" }),
        ),
        uses("c3", "terminal", &json!({ "command": "bash task.sh" })),
        Reply::text(["Done."]),
    ];
    let world = World::new(script).await;
    std::fs::write(world.project.join("other.sh"), RISKY).unwrap();
    let run = world.start("do it").await;
    let asked = world.questions(&run, 1).await;
    world
        .answer(&world.ana, &asked[0].approval_id, Choice::Deny)
        .await;
    world.ended(&run).await;
    assert!(world.told("c3").contains("denied"), "{}", world.told("c3"));
}
