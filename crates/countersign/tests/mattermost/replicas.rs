//! Two gateways with the same bot on one PostgreSQL: one card, one answer, one voice.

use countersign_testkit::model::{MODEL, ModelServer, Reply};
use countersign_testkit::postgres::Server;
use serde_json::json;

use crate::scene::{Scene, TOKEN, is_unheard};
use crate::support::{Gateway, RISKY};

/// Messages that both gateways hear.
const MESSAGES: usize = 4;

#[test]
fn two_gateways_post_one_card_take_one_click_and_answer_a_message_once() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().unwrap();
    let mut count = 0;
    let model = ModelServer::answering(move |_| {
        count += 1;
        Reply::text([format!("Answer {count}.").as_str()])
    });
    let model = model.unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::with(|wanted| {
        wanted.config = json!({ "store": { "url": database }, "agent": agent });
    });
    let config = std::fs::read_to_string(scene.gateway.home().join("config.yaml")).unwrap();
    let variables = [(TOKEN, scene.place().bot.token())];
    let other = Gateway::with_variables(&config, &variables);
    // Asked at one, clicked at the other.
    let (question, card) = scene.asked(RISKY);
    scene.relay.lead_to(&other.url);
    let used = {
        scene.relay.hold_back();
        assert!(is_unheard(scene.ana.click(card.id(), "once").status));
        scene.relay.lead_to(&other.url);
        let passed = scene.relay.passed();
        passed.last().unwrap().body.clone()
    };
    let used: serde_json::Value = serde_json::from_slice(&used).unwrap();
    let path = "/channels/mattermost/action";
    let counted = crate::support::said(other.request("POST", path).json(&used));
    assert!(counted.body.get("update").is_some(), "{counted:?}");
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
    // What one has used the other does not take.
    let (second, second_card) = scene.asked("rm -rf /srv/mail");
    let mut mixed = scene.captured(&scene.ana, &second_card, "once");
    mixed["trigger_id"] = used["trigger_id"].clone();
    scene.assert_refused(&second, &mixed, "a trigger used at the other gateway");
    // Both listen; one answers.
    let bot = scene.place().bot.id.clone();
    let direct = scene.ana.direct(&bot);
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", None);
    for number in 1..=MESSAGES {
        scene.ana.say(&direct, "", &format!("message {number}"));
        let wanted = format!("Answer {number}.");
        let answered = scene
            .ana
            .wait_for_post(|post| post["message"] == wanted.as_str());
        let posts = || scene.place().posts(&direct);
        assert!(answered.is_some(), "{wanted} {:?}", posts());
        // Its last words are seen a moment before it is over; then the next may begin.
        events.named("run.completed");
    }
    assert_eq!(model.requests().len(), MESSAGES);
    let posts = scene.place().posts(&direct);
    let answers = posts.iter().filter(|post| post["user_id"] == bot.as_str());
    assert_eq!(answers.count(), MESSAGES, "{posts:?}");
}
