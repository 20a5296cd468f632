//! Who may answer: listed people, with accounts of their own, and nobody else.

use countersign_testkit::mattermost::Person;
use serde_json::json;

use crate::scene::{Card, Question, Scene};
use crate::support::RISKY;

/// Lists an account as an approver's.
fn list(scene: &Scene, name: &str, account: &str) {
    let body =
        json!({ "name": name, "roles": ["approver"], "accounts": { "mattermost": account } });
    let listed = scene
        .gateway
        .post(&scene.gateway.admin(), "/v1/people", &body);
    assert!(listed.status < 300, "{listed:?}");
}

/// Somebody clicks, is told why not, and nothing changes.
fn assert_told(scene: &Scene, person: &Person, question: &Question, card: &Card, name: &str) {
    let seen = person.events_so_far();
    let clicked = person.click(card.id(), "once");
    assert_eq!(clicked.status, 200, "{name}: {clicked:?}");
    let words = person.wait_for_whisper(seen).unwrap();
    assert!(!words.is_empty(), "{name}");
    scene.assert_waiting(question, name);
    let path = format!("/posts/{}", card.id());
    let shown = Card(person.get(&path).body);
    assert_eq!(shown.actions(), card.actions(), "{name}: the buttons stay");
    assert_eq!(shown.message(), card.message(), "{name}");
}

#[test]
fn who_is_not_listed_is_told_so_and_changes_nothing() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    assert_told(&scene, &scene.ben, &question, &card, "ben");
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["decision"]["by"], "ana");
}

#[test]
fn an_empty_list_is_nobody() {
    let scene = Scene::with(|wanted| wanted.approvers = Vec::new());
    let (question, card) = scene.asked(RISKY);
    assert_told(&scene, &scene.ana, &question, &card, "ana");
    assert_told(&scene, &scene.ben, &question, &card, "ben");
}

#[test]
fn who_has_the_name_of_an_approver_is_not_the_approver() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    let mut click = scene.captured(&scene.ben, &card, "once");
    click["user_name"] = json!(scene.ana.name);
    scene.assert_refused(&question, &click, "another name");
}

#[test]
fn a_bot_never_answers_even_if_it_is_listed() {
    let scene = Scene::new();
    let bot = scene.place().another_bot().unwrap();
    bot.listen().unwrap();
    list(&scene, "robot", &bot.id);
    list(&scene, "ourselves", &scene.place().bot.id);
    let (question, card) = scene.asked(RISKY);
    assert_told(&scene, &bot, &question, &card, "another bot");
    let own = scene.captured(&scene.place().bot, &card, "once");
    scene.assert_refused(&question, &own, "our own bot");
}

#[test]
fn a_closed_account_does_not_answer() {
    let scene = Scene::new();
    let dora = scene.place().person("dora").unwrap();
    list(&scene, "dora", &dora.id);
    let (question, card) = scene.asked(RISKY);
    let click = scene.captured(&dora, &card, "once");
    scene.place().close_account(&dora.id).unwrap();
    scene.assert_refused(&question, &click, "a closed account");
}

#[test]
fn who_is_taken_off_the_list_does_not_answer_any_more() {
    let scene = Scene::new();
    let dora = scene.place().person("dora").unwrap();
    list(&scene, "dora", &dora.id);
    let (question, card) = scene.asked(RISKY);
    let admin = scene.gateway.admin();
    let gone = scene.gateway.request("DELETE", "/v1/people/dora");
    assert!(
        gone.bearer_auth(admin)
            .send()
            .unwrap()
            .status()
            .is_success()
    );
    assert_told(&scene, &dora, &question, &card, "dora");
}

#[test]
fn the_variable_names_approvers_beside_the_list() {
    let scene = Scene::with(|wanted| {
        wanted.approvers = vec!["ana"];
        wanted.allowed_users = vec!["ben"];
    });
    let (question, card) = scene.asked(RISKY);
    assert_eq!(scene.ben.click(card.id(), "once").status, 200);
    let call = scene.decided(&question);
    assert_eq!(call["status"], "approved", "{call}");
    assert_eq!(call["decision"]["via"], "mattermost");
    assert_ne!(call["decision"]["by"], "ana");
    let (question, card) = scene.asked("rm -rf /srv/mail");
    assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
    assert_eq!(scene.decided(&question)["decision"]["by"], "ana");
}
