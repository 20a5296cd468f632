//! A process that dies between using a token up and sending: at most one letter, and the state says
//! how far it came.

use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use countersign_agent::BoxFuture;
use countersign_agent::outbound::{Cleared, Mail, Mailer, SendFailed};
use countersign_agent::tools::{Around, Tool as _};
use countersign_core::id::KeyId;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_gate::GateError;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::calls::permit::Progress;
use countersign_gate::records::request::Report;
use countersign_testkit::smtp::{Smtp, Step};
use serde_json::json;
use tokio::sync::watch;

use crate::support::{START, open, send_email, world};

const CHILD: &str = "COUNTERSIGN_TEST_CHILD";

/// Where the child dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dies {
    /// As soon as the token is used up.
    BeforeClearing,
    /// After it was noted that it is handed over now.
    BeforeSending,
    /// While it talks to the server.
    At(Step),
    /// Not at all.
    Never,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_consuming_and_sending_leaves_at_most_one_letter_and_says_so() {
    let rows = [
        (Dies::BeforeClearing, 0, false, false),
        (Dies::BeforeSending, 0, true, false),
        (Dies::At(Step::Connected), 0, true, false),
        (Dies::At(Step::Sender), 0, true, false),
        (Dies::At(Step::Data), 0, true, false),
        (Dies::At(Step::Kept), 1, true, false),
        (Dies::Never, 1, true, true),
    ];
    for (dies, letters, handed_over, reported) in rows {
        let child: Arc<Mutex<Option<Child>>> = Arc::default();
        let killing = Arc::clone(&child);
        let server = Smtp::start_telling(move |step| {
            if dies == Dies::At(step) {
                let mut child = killing.lock().unwrap();
                let child = child.as_mut().unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
            }
        })
        .unwrap();
        let world = world().await;
        let tool = send_email(crate::support::smtp(server.port()));
        let call = world
            .submit(&tool, json!({"to": "bo", "subject": "s", "body": "b"}))
            .await;
        let who = world.around.who.clone();
        let before = world.gate.progress(&who, &call.call_id).await.unwrap();
        assert_eq!(before, Progress::NotBegun, "{dies:?}");
        let call = world.approved(call).await;
        let output = {
            // Whoever kills waits until there is somebody to kill.
            let mut child = child.lock().unwrap();
            let facts = json!({
                "project": world.project, "port": server.port(), "key": who.key.0,
                "call": call.call_id, "token": call.token,
                "dies": format!("{dies:?}"),
            });
            let child = child.insert(spawn(&facts));
            child.stdout.take().unwrap()
        };
        ended(output).await;
        child.lock().unwrap().as_mut().unwrap().wait().unwrap();

        // Another gate, as after a restart.
        let gate = open(
            world.project.parent().unwrap(),
            &world.clock,
            Policy::default(),
        )
        .await;
        let after = gate.progress(&who, &call.call_id).await.unwrap();
        assert_eq!(
            matches!(after, Progress::Reported(_)),
            reported,
            "{dies:?}: {after:?}"
        );
        assert_eq!(after == Progress::Begun, !reported, "{dies:?}: {after:?}");
        let was = gate.is_handed_over(&who, &call.call_id).await.unwrap();
        assert_eq!(was, handed_over, "{dies:?}");
        assert_eq!(server.letters().len(), letters, "{dies:?}");
        let again = gate.take_up(&who, &call.call_id, call.token.as_deref());
        assert!(matches!(again.await, Err(GateError::TokenUsed)), "{dies:?}");
        assert_eq!(server.letters().len(), letters, "{dies:?}");
    }
}

fn spawn(facts: &serde_json::Value) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "killed::the_child_that_sends",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD, facts.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Returns when the process that writes `output` has ended.
async fn ended(mut output: ChildStdout) {
    let read = move || std::io::copy(&mut output, &mut std::io::sink());
    tokio::task::spawn_blocking(read).await.unwrap().unwrap();
}

/// A mailer that dies instead of sending.
#[derive(Debug)]
struct Dying;

impl Mailer for Dying {
    fn send(&self, _mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>> {
        std::process::abort()
    }
}

#[tokio::test]
#[ignore = "it is started by the test above, as a process of its own"]
async fn the_child_that_sends() {
    let facts = std::env::var(CHILD).expect("this is run by another test");
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let text = |name: &str| facts[name].as_str().unwrap().to_owned();
    let project = PathBuf::from(text("project"));
    let clock = Clock::manual(START);
    let gate = open(project.parent().unwrap(), &clock, Policy::default()).await;
    let who = Principal {
        key: KeyId(text("key")),
        name: "agent".to_owned(),
        role: Role::Agent,
        via: "api".to_owned(),
        tier: Tier::T0,
    };
    let (_go_on, stop) = watch::channel(false);
    let around = Around {
        gate: gate.clone(),
        who: who.clone(),
        cwd: project,
        session: "s1".to_owned(),
        run: "run_1".to_owned(),
        stop,
    };
    let token = text("token");
    let permit = gate.take_up(&who, &text("call"), Some(&token)).await;
    assert!(permit.is_ok());
    if facts["dies"] == "BeforeClearing" {
        std::process::abort();
    }
    let tool = if facts["dies"] == "BeforeSending" {
        send_email(Dying)
    } else {
        let port = facts["port"].as_u64().unwrap();
        send_email(crate::support::smtp(u16::try_from(port).unwrap()))
    };
    let outcome = tool.run(permit.unwrap(), &around).await;
    assert!(!outcome.failed, "{}", outcome.text);
    let report = Report {
        failed: false,
        summary: Some(outcome.text),
        duration_millis: None,
        exit_code: None,
        tool_call_id: None,
    };
    gate.report(&who, &text("call"), report).await.unwrap();
}
