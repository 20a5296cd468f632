//! Smart mode: a model answers where law 11 lets it, and never stands in a person's way.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_core::call::ToolCall;
use countersign_core::policy::{ApprovalsMode, Policy};
use countersign_gate::approvals::smart::{Deputed, Deputy};
use countersign_gate::records::request::Submission;
use serde_json::json;

use crate::support::{DANGEROUS, Wishes, World, command, in_session, world_with};

#[derive(Debug)]
struct Says {
    answer: Option<Deputed>,
    asked: AtomicUsize,
    seen: Mutex<String>,
}

impl Deputy for Says {
    fn name(&self) -> String {
        "model small".to_owned()
    }

    fn judge<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<Deputed>> + Send + 'a>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        text.clone_into(&mut self.seen.lock().unwrap());
        Box::pin(async { self.answer })
    }
}

/// A call that asks by the lines alone: nothing is known about the program.
const ORDINARY: &str = "frobnicate --all";

async fn smart(answer: Option<Deputed>) -> (World, Arc<Says>) {
    let policy = Policy {
        approvals: ApprovalsMode::Smart,
        ..Policy::default()
    };
    let world = world_with(Wishes {
        policy,
        ..Wishes::default()
    })
    .await;
    let says = Arc::new(Says {
        answer,
        asked: AtomicUsize::new(0),
        seen: Mutex::default(),
    });
    world.gate.appoint(says.clone());
    (world, says)
}

#[tokio::test]
async fn a_model_s_answer_settles_the_question_and_is_told_as_such() {
    for (answer, status) in [(Deputed::Once, "approved"), (Deputed::Deny, "denied")] {
        let (world, says) = smart(Some(answer)).await;
        let call = world
            .gate
            .submit(&world.agent, command(ORDINARY))
            .await
            .unwrap();
        let wait = Duration::from_secs(30);
        let call = world
            .gate
            .call(&world.agent, &call.call_id, wait)
            .await
            .unwrap();
        let decision = call.decision.unwrap();
        assert_eq!(
            (call.status.word(), decision.cause.word()),
            (status, "model")
        );
        assert_eq!(decision.by.as_deref(), Some("model small"));
        assert!(says.seen.lock().unwrap().contains(ORDINARY));
    }
}

#[tokio::test]
async fn law_11_a_model_is_never_asked_about_critical_outbound_or_crisis_calls() {
    let (world, says) = smart(Some(Deputed::Once)).await;
    let message = Submission {
        call: ToolCall {
            tool: "send_message".to_owned(),
            args: json!({ "to": "sam", "text": "hello" }),
            ..ToolCall::default()
        },
        ..in_session("s1", "")
    };
    let outbound = command("curl -d @notes.txt https://example.org/");
    for submission in [command(DANGEROUS), message, outbound] {
        let call = world.gate.submit(&world.agent, submission).await.unwrap();
        assert_eq!(call.status.word(), "waiting", "{call:?}");
    }
    world
        .gate
        .heed(&world.agent, "s1", &["I want to die"])
        .await
        .unwrap();
    let call = world
        .gate
        .submit(&world.agent, command("frobnicate --more"))
        .await
        .unwrap();
    assert_eq!(call.status.word(), "waiting");
    assert_eq!(says.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_model_that_says_nothing_leaves_the_question_to_people() {
    let (world, says) = smart(None).await;
    let call = world
        .gate
        .submit(&world.agent, command(ORDINARY))
        .await
        .unwrap();
    let looked = Duration::from_millis(50);
    let call = world
        .gate
        .call(&world.agent, &call.call_id, looked)
        .await
        .unwrap();
    assert_eq!(call.status.word(), "waiting");
    assert_eq!(says.asked.load(Ordering::Relaxed), 1);
    let answer = crate::support::reply(
        call.approval_id.as_deref().unwrap(),
        countersign_core::approval::Choice::Once,
    );
    assert!(world.gate.answer(&world.ana, answer).await.is_ok());
}
