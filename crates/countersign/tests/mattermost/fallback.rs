//! Where the chat server cannot reach the gateway, people answer by reaction or reply.

use serde_json::json;

use crate::scene::{Card, Scene, seen_by};
use crate::support::RISKY;

fn scene() -> Scene {
    Scene::with(|wanted| wanted.channel = json!({ "callback_url": null }))
}

fn card(scene: &Scene, approval: &str) -> Card {
    seen_by(&scene.ana, approval, |card| {
        card.message().starts_with("⚠️") && card.actions().is_empty()
    })
}

#[test]
fn a_reaction_of_an_approver_answers_the_card() {
    let scene = scene();
    for (number, (emoji, status)) in [("white_check_mark", "approved"), ("x", "denied")]
        .into_iter()
        .enumerate()
    {
        let question = scene.ask(&format!("rm -rf /srv/number{number}"));
        let card = card(&scene, &question.approval);
        assert_eq!(scene.ben.react(card.id(), emoji).status, 200);
        assert_eq!(scene.ana.react(card.id(), "tada").status, 200);
        scene.assert_waiting(&question, "somebody else, something else");
        assert_eq!(scene.ana.react(card.id(), emoji).status, 200);
        let call = scene.decided(&question);
        assert_eq!(call["status"], status, "{emoji}: {call}");
        assert_eq!(call["decision"]["by"], "ana");
        let outcome = seen_by(&scene.ana, &question.approval, |card| {
            !card.message().starts_with("⚠️")
        });
        assert!(outcome.message().contains("ana"), "{outcome:?}");
    }
}

#[test]
fn a_reply_answers_the_card_and_a_bare_yes_does_not() {
    let scene = scene();
    let question = scene.ask(RISKY);
    let card = card(&scene, &question.approval);
    let here = &scene.place().channel_id;
    for words in ["yes", "ok", "👍", "I approve"] {
        assert_eq!(scene.ana.say(here, card.id(), words).status, 201);
    }
    assert_eq!(scene.ben.say(here, card.id(), "approve").status, 201);
    scene.ana.say(here, card.id(), "deny not today");
    let call = scene.decided(&question);
    assert_eq!(
        (&call["status"], &call["decision"]["note"]),
        (&json!("denied"), &json!("not today"))
    );
    assert_eq!(call["decision"]["by"], "ana");
}

#[test]
fn a_reaction_made_while_the_gateway_was_away_is_found() {
    let scene = scene();
    let question = scene.ask(RISKY);
    let card = card(&scene, &question.approval);
    let scene = scene.restart_gateway_after(|scene| {
        assert_eq!(scene.ana.react(card.id(), "x").status, 200);
    });
    assert_eq!(scene.decided(&question)["status"], "denied");
}
