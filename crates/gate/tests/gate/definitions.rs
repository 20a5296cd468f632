//! Definitions of tools at the gate: what a call is judged by, and what a pinned server's word is worth.

use countersign_core::approval::Choice;
use countersign_core::call::{Annotations, ToolCall};
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::records::request::Submission;
use serde_json::{Value, json};

use crate::support::{World, ask, principal, world};

/// Returns a definition whose only argument is described like this.
fn definition(says: &str) -> Value {
    json!({
        "name": "frobnicate", "annotations": { "readOnlyHint": true },
        "inputSchema": { "type": "object", "properties": { "q": { "type": "string", "description": says } } },
    })
}

/// Returns a call of a tool that nothing is known about.
fn frobnicate(definition: Value, q: &str) -> Submission {
    Submission {
        call: ToolCall {
            tool: "mcp__notes__frobnicate".to_owned(),
            args: json!({ "q": q }),
            annotations: Annotations {
                read_only: Some(true),
                ..Annotations::default()
            },
            definition: Some(definition.clone()),
            ..ToolCall::default()
        },
        session: "s1".to_owned(),
        executor: Some("mcp:notes:0123456789ab".to_owned()),
        tool_definition: Some(definition),
        ..Submission::default()
    }
}

fn of_pinned(definition: Value) -> Submission {
    Submission {
        of_pinned_server: true,
        ..frobnicate(definition, "x")
    }
}

async fn status(world: &World, submission: Submission) -> String {
    world.submit(submission).await.status.to_string()
}

#[tokio::test]
async fn edited_arguments_are_judged_by_the_definition_the_call_came_with() {
    let world = world().await;
    let wiping = json!({ "q": "rm -rf /" });
    let (_, id) = ask(&world, frobnicate(definition("A name"), "ls")).await;
    let edited = world.gate.assess_edited(&world.ana, &id, &wiping).await;
    assert!(edited.is_ok(), "a name is no command: {edited:?}");
    let told = frobnicate(definition("The shell command to run"), "ls");
    let (_, id) = ask(&world, told).await;
    let edited = world.gate.assess_edited(&world.ana, &id, &wiping).await;
    let Err(GateError::Invalid { code, .. }) = edited else {
        panic!("it is stored with the call: {edited:?}");
    };
    assert_eq!(code, "edited_call_refused");
}

#[tokio::test]
async fn the_card_of_an_edit_keeps_the_reason_about_the_definition() {
    let world = world().await;
    ask(&world, frobnicate(definition("A name"), "one")).await;
    let (_, id) = ask(&world, frobnicate(definition("A  name"), "two")).await;
    let args = json!({ "q": "three" });
    let edited = world.gate.assess_edited(&world.ana, &id, &args).await;
    let card = edited.unwrap().card;
    let reason = "its server changed the definition of this tool";
    assert!(card.reasons.iter().any(|it| it == reason), "{card:?}");
    let unlisted = Submission {
        tool_definition: None,
        ..frobnicate(json!({}), "four")
    };
    let (_, id) = ask(&world, unlisted).await;
    let edited = world.gate.assess_edited(&world.ana, &id, &args).await;
    let card = edited.unwrap().card;
    assert!(
        card.reasons.iter().any(|it| it.contains("did not list")),
        "{card:?}"
    );
}

#[tokio::test]
async fn hints_of_a_pinned_server_count_until_its_definition_changes_and_again_when_a_person_accepted_it()
 {
    let world = world().await;
    let first = definition("A name");
    assert_eq!(status(&world, of_pinned(first.clone())).await, "allowed");
    let changed = definition("A name.");
    let (_, id) = ask(&world, of_pinned(changed.clone())).await;
    world.answer(&id, Choice::Deny).await;
    // Denied is not accepted, and another key, for which nothing changed, is no way around.
    let other = principal(&world.gate, "codex", Role::Agent).await;
    let call = world.gate.submit(&other, of_pinned(changed.clone())).await;
    let call = call.unwrap();
    assert_eq!(call.status.word(), "waiting");
    world.answer(&call.approval_id.unwrap(), Choice::Once).await;
    assert_eq!(status(&world, of_pinned(changed)).await, "allowed");
    // What was accepted before is a change now.
    let back = world.gate.submit(&other, of_pinned(first)).await.unwrap();
    assert_eq!(back.status.word(), "waiting", "{back:?}");
}

#[tokio::test]
async fn a_claim_of_the_asker_is_no_pin() {
    let world = world().await;
    assert_eq!(
        status(&world, of_pinned(definition("A name"))).await,
        "allowed"
    );
    let mut claimed = frobnicate(definition("A name"), "x");
    claimed.call.pinned = true;
    assert_eq!(status(&world, claimed).await, "waiting");
    let mut unlisted = of_pinned(json!({}));
    unlisted.tool_definition = None;
    assert_eq!(status(&world, unlisted).await, "waiting");
}
