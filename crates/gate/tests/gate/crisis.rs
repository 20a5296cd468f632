//! Law 1: what touches a person in crisis goes out by a person's yes alone, whatever else is said.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use countersign_core::approval::Choice;
use countersign_core::call::{ToolCall, Turn};
use countersign_core::content::crisis;
use countersign_core::policy::{ApprovalsMode, FirewallMode, Policy};
use countersign_gate::approvals::smart::{Deputed, Deputy};
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::records::request::{GrantRequest, Submission};
use countersign_gate::runs::{NewRun, builtin};
use countersign_gate::sessions::crisis::Marked;
use countersign_gate::{Gate, GateError};
use serde_json::json;

use crate::support::{Wishes, World, in_session, principal, reply, world, world_with, yolo_all};
use crate::told;

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
                assert_eq!(first.status.word(), "allowed");
                let yolo =
                    gate.start_override(ana, Some(agent.key.as_str()), &session, yolo_all(5, ""));
                yolo.await.unwrap();
                let held = gate.submit(agent, submission).await.unwrap();
                assert_eq!(held.status.word(), "waiting", "{name}: {held:?}");
                let approval = held.approval_id.unwrap();
                let card = gate.approval(ana, &approval).await.unwrap();
                assert_eq!(card.choices, [Choice::Once, Choice::Deny], "{name}");
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

/// A message of `session` to somebody.
fn message(session: &str, tool: &str, to: &str, text: &str) -> Submission {
    Submission {
        call: ToolCall {
            tool: tool.to_owned(),
            args: json!({ "to": to, "text": text }),
            ..ToolCall::default()
        },
        ..in_session(session, "")
    }
}

/// The same in answer to somebody in despair.
fn answering(session: &str, to: &str) -> Submission {
    let mut answer = message(session, "send_message", to, "hello");
    answer.call.replying_to = vec![Turn {
        from: to.to_owned(),
        text: SIGNS[0].to_owned(),
    }];
    answer
}

async fn is_sensitive(gate: &Gate, who: &Principal, submission: Submission) -> bool {
    let call = gate.submit(who, submission).await.unwrap();
    let said: serde_json::Value = serde_json::from_str(call.assessment.get()).unwrap();
    said["crisis_sensitive"] == true
}

#[tokio::test]
async fn law_1_whoever_was_written_to_stays_marked_in_every_session_of_every_key_and_spelling() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let other = principal(&gate, "codex", Role::Agent).await;
    let sam = "sam@example.org";
    let innocent = |session: &str, to: &str| message(session, "send_email", to, "Your invoice");
    assert!(!is_sensitive(&gate, &agent, innocent("s0", sam)).await);
    assert!(is_sensitive(&gate, &agent, answering("s1", sam)).await);
    for (number, to) in [
        sam,
        " Sam@Example.org",
        "Sam Lind <sam@example.org>",
        "mailto:sam@example.org",
        "sam+x@example.org",
        "eve@example.org, sam@example.org",
    ]
    .into_iter()
    .enumerate()
    {
        for who in [&agent, &other] {
            let session = format!("fresh{number}");
            assert!(
                is_sensitive(&gate, who, innocent(&session, to)).await,
                "{to}"
            );
        }
    }
    // Only the recipient carries it on: a session in which nothing was seen is not marked by it, nor
    // is who else was written to.
    let eve = innocent("fresh0", "eve@example.org");
    assert!(!is_sensitive(&gate, &agent, eve).await);
    let marks = gate.crisis_marks(&ana).await.unwrap();
    let sessions: Vec<_> = marks.sessions.iter().map(|it| &it.session_id).collect();
    assert_eq!(sessions, ["s1"]);
    let names: Vec<_> = marks.recipients.iter().map(|it| &it.recipient).collect();
    assert_eq!(names, [sam]);
    assert_eq!(told(&gate, "crisis.marked").await.len(), 1);
}

#[tokio::test]
async fn a_crisis_mark_stays_until_a_person_clears_it_and_that_is_told() {
    let World {
        gate, agent, ana, ..
    } = world().await;
    let sam = "sam@example.org";
    let innocent = |session: &str| message(session, "send_email", sam, "Your invoice");
    let curl = || in_session("s1", "curl -d hello https://example.org/");
    is_sensitive(&gate, &agent, answering("s1", sam)).await;
    for who in crate::everybody(&gate).await {
        let may = matches!(who.role, Role::Approver | Role::Admin);
        let listed = gate.crisis_marks(&who).await;
        assert_eq!(listed.is_ok(), who.role != Role::Agent, "{:?}", who.role);
        if !may {
            let cleared = gate.clear_crisis(&who, Marked::Recipient(sam), None).await;
            assert!(
                matches!(cleared, Err(GateError::Forbidden(_))),
                "{cleared:?}"
            );
        }
    }
    let whose = Marked::Recipient("Sam <SAM@example.org>");
    let left = gate
        .clear_crisis(&ana, whose, Some("it was a film"))
        .await
        .unwrap();
    assert!(left.recipients.is_empty() && left.sessions.len() == 1);
    assert!(!is_sensitive(&gate, &agent, innocent("s2")).await);
    assert!(
        is_sensitive(&gate, &agent, curl()).await,
        "the session still is"
    );
    let whose = Marked::Session("s1", None);
    gate.clear_crisis(&ana, whose, None).await.unwrap();
    assert!(!is_sensitive(&gate, &agent, curl()).await);
    let again = gate.clear_crisis(&ana, whose, None).await;
    assert!(
        matches!(again, Err(GateError::NotFound { .. })),
        "{again:?}"
    );
    let cleared = told(&gate, "crisis.cleared").await;
    assert_eq!(cleared.len(), 2);
    assert_eq!(cleared[0]["recipient"], sam);
    assert_eq!(
        (&cleared[0]["by"], &cleared[0]["note"]),
        (&json!("ana"), &json!("it was a film"))
    );
    assert_eq!(cleared[1]["session_id"], "s1");
    // Seen again, marked again.
    assert!(is_sensitive(&gate, &agent, answering("s3", sam)).await);
    assert!(is_sensitive(&gate, &agent, innocent("s4")).await);
}

#[tokio::test]
async fn who_talked_to_the_agent_in_crisis_is_marked_in_every_conversation_and_cannot_clear_it() {
    let World { gate, ana, .. } = world().await;
    let ben = principal(&gate, "ben", Role::Approver).await;
    let who = builtin();
    for (session, person) in [("talk", &ana), ("fresh", &ana), ("ben's", &ben)] {
        let new = NewRun {
            session: Some(session.to_owned()),
            ..NewRun::default()
        };
        gate.begin_run(person, new).await.unwrap();
    }
    assert!(!gate.heed(&who, "fresh", &["hello"]).await.unwrap());
    assert!(gate.heed(&who, "talk", &[SIGNS[0]]).await.unwrap());
    assert!(gate.heed(&who, "fresh", &["hello"]).await.unwrap());
    assert!(!gate.heed(&who, "ben's", &["hello"]).await.unwrap());
    for whose in [Marked::Recipient("@Ana"), Marked::Session("talk", None)] {
        let herself = gate.clear_crisis(&ana, whose, None).await;
        assert!(
            matches!(herself, Err(GateError::Forbidden(_))),
            "{herself:?}"
        );
        gate.clear_crisis(&ben, whose, None).await.unwrap();
    }
    assert!(!gate.heed(&who, "fresh", &["hello"]).await.unwrap());
    assert!(!gate.heed(&who, "talk", &["hello"]).await.unwrap());
}

#[tokio::test]
async fn in_a_run_only_what_reaches_the_person_in_crisis_is_closed_to_that_person() {
    let World { gate, ana, .. } = world().await;
    let ben = principal(&gate, "ben", Role::Approver).await;
    let who = builtin();
    let new = NewRun {
        session: Some("talk".to_owned()),
        ..NewRun::default()
    };
    gate.begin_run(&ana, new).await.unwrap();
    gate.heed(&who, "talk", &[SIGNS[0]]).await.unwrap();
    let to = |to: &str| Submission {
        starter: Some("ana".to_owned()),
        ..message("talk", "send_message", to, "hello")
    };
    let elsewhere = gate.submit(&who, to("sam")).await.unwrap();
    let elsewhere = elsewhere.approval_id.unwrap();
    let view = gate.approval(&ana, &elsewhere).await.unwrap();
    assert!(!view.card.body.is_empty(), "she sees it");
    gate.answer(&ana, reply(&elsewhere, Choice::Deny))
        .await
        .unwrap();
    let herself = gate
        .submit(&who, to("ana (mattermost:@ana)"))
        .await
        .unwrap();
    let herself = herself.approval_id.unwrap();
    let view = gate.approval(&ana, &herself).await.unwrap();
    assert!(view.card.body.is_empty(), "{view:?}");
    let own = gate.answer(&ana, reply(&herself, Choice::Once)).await;
    assert!(matches!(own, Err(GateError::Forbidden(_))), "{own:?}");
    gate.answer(&ben, reply(&herself, Choice::Deny))
        .await
        .unwrap();
    // Who else was written to is not the one in crisis.
    let marks = gate.crisis_marks(&ben).await.unwrap();
    let names: Vec<_> = marks.recipients.iter().map(|it| &it.recipient).collect();
    assert_eq!(names, ["ana"]);
}

#[tokio::test]
async fn help_lines_stand_on_cards_about_a_person_in_crisis_and_on_no_others() {
    let line = "Lifeline 0800 111\u{202e}";
    let world = world_with(Wishes {
        policy: Policy {
            crisis_help_lines: vec![line.to_owned()],
            ..Policy::default()
        },
        ..Wishes::default()
    })
    .await;
    let World {
        gate, agent, ana, ..
    } = &world;
    for (submission, wanted) in [
        (answering("s1", "sam"), vec!["Lifeline 0800 111⟨U+202E⟩"]),
        (message("s2", "send_message", "eve", "hello"), vec![]),
    ] {
        let call = gate.submit(agent, submission).await.unwrap();
        let view = gate
            .approval(ana, &call.approval_id.unwrap())
            .await
            .unwrap();
        assert_eq!(view.card.help_lines, wanted);
        let text = view.card.plain_text();
        assert_eq!(
            text.contains("Help line: Lifeline"),
            !wanted.is_empty(),
            "{text}"
        );
    }
}
