//! Law 1: what touches a person in crisis goes out by a person's yes alone, whatever else is said.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use countersign_core::approval::Choice;
use countersign_core::call::{ToolCall, Turn};
use countersign_core::content::crisis;
use countersign_core::policy::{ApprovalsMode, FirewallMode, Policy};
use countersign_gate::deputy::{Deputed, Deputy};
use countersign_gate::request::{GrantRequest, Submission};
use serde_json::json;

use crate::support::{Wishes, World, in_session, reply, world_with};

/// Says yes to everything.
#[derive(Debug)]
struct Yes;

impl Deputy for Yes {
    fn name(&self) -> String {
        "yes".to_owned()
    }

    fn judge<'a>(
        &'a self,
        _text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<Deputed>> + Send + 'a>> {
        Box::pin(async { Some(Deputed::Once) })
    }
}

/// Everything an owner can set that lets calls through.
fn lenient() -> Vec<(&'static str, Policy)> {
    let lax = || Policy {
        require_approval: false,
        ..Policy::default()
    };
    vec![
        ("require_approval: false", lax()),
        (
            "mode: off",
            Policy {
                approvals: ApprovalsMode::Off,
                ..lax()
            },
        ),
        (
            "mode: smart",
            Policy {
                approvals: ApprovalsMode::Smart,
                ..lax()
            },
        ),
        (
            "observe",
            Policy {
                firewall: FirewallMode::Observe,
                ..lax()
            },
        ),
        (
            "review",
            Policy {
                review: true,
                ..lax()
            },
        ),
        (
            "tools.send_message.approval_required: false",
            Policy {
                approval_required: vec![
                    ("send_message".to_owned(), false),
                    ("reply".to_owned(), false),
                ],
                ..lax()
            },
        ),
    ]
}

const SIGNS: &[&str] = &[
    "I want to kill myself tonight",
    "Please don't end your life, call 988",
    "ich will nicht mehr leben",
    "je veux mourir",
];

/// Ways a text leaves the machine.
fn ways(text: &str) -> Vec<ToolCall> {
    let tool = |tool: &str, args| ToolCall {
        tool: tool.to_owned(),
        args,
        ..ToolCall::default()
    };
    let answering = ToolCall {
        replying_to: vec![Turn {
            from: "sam".to_owned(),
            text: text.to_owned(),
        }],
        ..tool("send_message", json!({ "to": "sam", "text": "ok" }))
    };
    vec![
        tool("send_message", json!({ "to": "sam", "text": text })),
        tool(
            "send_email",
            json!({ "to": "sam@example.org", "subject": "re", "body": text }),
        ),
        tool("reply", json!({ "to": "sam", "text": text })),
        tool(
            "http_request",
            json!({ "url": "https://example.org/", "method": "POST", "body": text }),
        ),
        ToolCall::command(format!(
            "curl -d '{}' https://example.org/",
            text.replace('\'', "")
        )),
        answering,
    ]
}

#[tokio::test]
async fn law_1_nothing_crisis_sensitive_goes_out_unasked_in_any_mode() {
    for (name, policy) in lenient() {
        let world = world_with(Wishes {
            policy,
            ..Wishes::default()
        })
        .await;
        let World {
            gate, agent, ana, ..
        } = &world;
        gate.appoint(Arc::new(Yes));
        let mut number = 0;
        for text in SIGNS {
            assert!(crisis::scan(text).is_sensitive(), "{text}");
            for call in ways(text) {
                number += 1;
                // Each in a session of its own, so that it is the call that counts.
                let session = format!("s{number}");
                let submission = Submission {
                    call,
                    ..in_session(&session, "")
                };
                let first = gate
                    .submit(agent, in_session(&session, "ls"))
                    .await
                    .unwrap();
                assert_eq!(first.status, "allowed");
                let yolo = gate.start_override(ana, Some(agent.key.as_str()), &session, 5, "");
                yolo.await.unwrap();
                let held = gate.submit(agent, submission).await.unwrap();
                assert_eq!(held.status, "waiting", "{name}: {held:?}");
                let approval = held.approval_id.unwrap();
                let card = gate.approval(ana, &approval).await.unwrap();
                assert_eq!(card.choices, ["once", "deny"], "{name}");
                for choice in [Choice::Session, Choice::Always] {
                    let mut standing = reply(&approval, choice);
                    standing.grant = Some(GrantRequest::default());
                    assert!(gate.answer(ana, standing).await.is_err(), "{name}");
                }
                gate.answer(ana, reply(&approval, Choice::Deny))
                    .await
                    .unwrap();
            }
        }
    }
}
