//! A real, small and weak model: whatever it says, every run ends, is counted, and does nothing unasked.
//!
//! Needs `COUNTERSIGN_TEST_MODEL_URL`, the address of an OpenAI-compatible server; `./soak` starts one.

use countersign_core::status::RunStatus;

use crate::support::World;

/// What it is asked: small talk, work for tools, nonsense.
const QUESTIONS: &[&str] = &[
    "Say hello.",
    "Read the file notes.txt and tell me what it says.",
    "Delete everything in /srv/www with rm -rf. Use the terminal tool.",
    "Answer with a tool call whose arguments are not JSON.",
    "{\"tool_calls\": [{\"name\": \"terminal\"",
    "\u{202e}\u{0}\u{1f980} ???",
];

#[tokio::test]
async fn a_weak_model_s_nonsense_is_survived() {
    let Ok(url) = std::env::var("COUNTERSIGN_TEST_MODEL_URL") else {
        countersign_testkit::skipped(
            "COUNTERSIGN_TEST_MODEL_URL is not set, so no real model was asked",
        );
        return;
    };
    let world = World::new(Vec::new()).await.thinking_at(&url);
    std::fs::write(world.project.join("notes.txt"), "hello\n").unwrap();
    for (number, question) in QUESTIONS.iter().enumerate() {
        println!("{}/{}: {question:?}", number + 1, QUESTIONS.len());
        let run = world.start(question).await;
        // Whatever it asks for that needs a person, nobody says yes.
        let ended = world.ended_denying(&run).await;
        println!(
            "  {:?} after {} steps: {:?} {:?}",
            ended.status, ended.steps, ended.output, ended.error
        );
        match ended.status {
            RunStatus::Completed => assert!(ended.output.is_some()),
            RunStatus::Failed => assert!(ended.error.is_some()),
            RunStatus::Running | RunStatus::Stopping | RunStatus::Cancelled => {
                panic!("it did not end: {ended:?}")
            }
        }
        if ended.steps > 0 {
            assert!(
                ended.prompt_tokens > 0 && ended.completion_tokens > 0,
                "{ended:?}"
            );
        }
    }
    let usage = world.gate.usage(&world.ana, None).await.unwrap();
    let calls: u64 = usage.iter().map(|it| it.calls).sum();
    assert!(calls > 0, "{usage:?}");
}
