//! What was not clicked does not count: every way to make a click up.

use countersign_testkit::mattermost::{Settings, Signer, Version};
use serde_json::{Value, json};

use crate::scene::{Scene, only};
use crate::support::{RISKY, said};

const OTHER: &str = "rm -rf /srv/mail";

fn now() -> i64 {
    let passed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(passed.as_millis()).unwrap()
}

/// Returns a code with its first letter changed.
fn altered(code: &Value) -> Value {
    let code = code.as_str().unwrap();
    let first = if code.starts_with('A') { 'B' } else { 'A' };
    let rest = code.chars().skip(1);
    json!([first].into_iter().chain(rest).collect::<String>())
}

#[test]
fn an_altered_click_is_refused_whatever_was_altered() {
    let scene = Scene::with(|wanted| wanted.approvers = vec!["ana", "ben"]);
    let (other, other_card) = scene.asked(OTHER);
    let others = scene.captured(&scene.ana, &other_card, "once");
    let bens = scene.captured(&scene.ben, &other_card, "once");
    let elsewhere = scene.place().another_channel(&[]).unwrap();
    let foreign = Signer::new().unwrap().trigger_id(&scene.ana.id, now());
    let (question, card) = scene.asked(RISKY);
    let genuine = scene.captured(&scene.ana, &card, "deny")["context"].clone();
    let rows: Vec<(&str, &str, Value)> = vec![
        ("no context", "context", Value::Null),
        ("an empty context", "context", json!({})),
        ("no code", "t", Value::Null),
        ("an empty code", "t", json!("")),
        ("an altered code", "t", altered(&genuine["t"])),
        ("a code of another choice", "t", genuine["t"].clone()),
        ("another choice", "d", json!("always")),
        ("a choice that is none", "d", json!("everything")),
        ("another question", "a", json!(other.approval)),
        (
            "a question that is none",
            "a",
            json!("appr_00000000000000000000000000"),
        ),
        ("another digest", "g", others["context"]["g"].clone()),
        (
            "the context of another card",
            "context",
            others["context"].clone(),
        ),
        ("no trigger", "trigger_id", Value::Null),
        ("an empty trigger", "trigger_id", json!("")),
        ("nonsense for a trigger", "trigger_id", json!("%%%")),
        ("a trigger of another server", "trigger_id", json!(foreign)),
        (
            "a trigger of another person",
            "trigger_id",
            bens["trigger_id"].clone(),
        ),
        ("another person", "user_id", json!(scene.ben.id)),
        ("nobody", "user_id", json!("")),
        ("another message", "post_id", json!(other_card.id())),
        ("no message", "post_id", json!("")),
        ("another channel", "channel_id", json!(elsewhere)),
        ("another kind", "type", json!("dialog_action")),
        ("no kind", "type", json!("")),
    ];
    for (name, key, value) in rows {
        let mut click = scene.captured(&scene.ana, &card, "once");
        let place = if key.len() == 1 {
            &mut click["context"]
        } else {
            &mut click
        };
        let object = place.as_object_mut().unwrap();
        if value.is_null() {
            object.remove(key);
        } else {
            object.insert(key.to_owned(), value);
        }
        scene.assert_refused(&question, &click, name);
        scene.assert_waiting(&other, name);
    }
    // What was refused is written down, with the reason.
    let ledger = scene
        .gateway
        .get(&scene.gateway.admin(), "/v1/ledger?limit=1000")
        .body
        .to_string();
    for reason in [
        "forged",
        "unsigned",
        "wrong_signature",
        "other_person",
        "other_card",
    ] {
        assert!(ledger.contains(reason), "{reason}: {ledger}");
    }
    // What was refused above was refused for what was altered.
    let click = scene.captured(&scene.ana, &card, "once");
    let counted = scene.send("action", &click);
    assert!(counted.body.get("update").is_some(), "{counted:?}");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_click_that_is_no_click_is_refused() {
    let scene = Scene::new();
    let (question, _) = scene.asked(RISKY);
    let rows = ["", "{}", "[]", "null", "once", "{\"context\":", "\u{0}"];
    for body in rows {
        for route in ["action", "dialog", "command"] {
            let path = format!("/channels/mattermost/{route}");
            let answer = said(scene.gateway.request("POST", &path).body(body));
            assert!(answer.status < 500, "{route} {body}: {answer:?}");
            assert!(
                answer.body.get("update").is_none(),
                "{route} {body}: {answer:?}"
            );
        }
        scene.assert_waiting(&question, body);
    }
    let huge = json!({ "context": { "a": "x".repeat(2_000_000) } });
    assert!(scene.send("action", &huge).status < 500);
    scene.assert_waiting(&question, "a huge one");
}

#[test]
fn a_click_counts_once_and_its_trigger_opens_nothing_else() {
    let scene = Scene::new();
    let (first, first_card) = scene.asked(RISKY);
    let (second, second_card) = scene.asked(OTHER);
    let used = scene.captured(&scene.ana, &first_card, "once");
    let mut mixed = scene.captured(&scene.ana, &second_card, "once");
    assert!(scene.send("action", &used).body.get("update").is_some());
    assert_eq!(scene.decided(&first)["status"], "approved");
    let again = scene.send("action", &used);
    assert!(again.body.get("update").is_none(), "{again:?}");
    mixed["trigger_id"] = used["trigger_id"].clone();
    scene.assert_refused(&second, &mixed, "a trigger that was used");
}

#[test]
fn a_trigger_that_was_used_is_not_forgotten_by_a_restart() {
    let scene = Scene::new();
    let (first, first_card) = scene.asked(RISKY);
    let (second, second_card) = scene.asked(OTHER);
    let used = scene.captured(&scene.ana, &first_card, "once");
    let mut mixed = scene.captured(&scene.ana, &second_card, "once");
    assert!(scene.send("action", &used).body.get("update").is_some());
    assert_eq!(scene.decided(&first)["status"], "approved");
    let scene = scene.restart_gateway();
    let again = scene.send("action", &used);
    assert!(again.body.get("update").is_none(), "{again:?}");
    mixed["trigger_id"] = used["trigger_id"].clone();
    scene.assert_refused(
        &second,
        &mixed,
        "a trigger that was used before the restart",
    );
}

#[test]
fn a_trigger_counts_for_a_minute_around_now() {
    let scene = Scene::new();
    let Some(fake) = scene.fake("triggers signed by the server at another time") else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    for (name, apart) in [
        ("an hour old", -3_600_000),
        ("two minutes old", -120_000),
        ("two minutes ahead", 120_000),
    ] {
        let mut click = scene.captured(&scene.ana, &card, "once");
        let trigger = fake.signer().trigger_id(&scene.ana.id, now() + apart);
        click["trigger_id"] = json!(trigger);
        scene.assert_refused(&question, &click, name);
    }
    let mut click = scene.captured(&scene.ana, &card, "once");
    let trigger = fake.signer().trigger_id(&scene.ana.id, now() - 2000);
    click["trigger_id"] = json!(trigger);
    assert!(scene.send("action", &click).body.get("update").is_some());
    assert_eq!(scene.decided(&question)["status"], "approved");
}

/// Somebody who has seen the context puts the button elsewhere and waits for an approver to click.
#[test]
fn a_copy_of_a_button_is_no_button() {
    let scene = Scene::with(|wanted| wanted.approvers = vec!["ana"]);
    let (question, card) = scene.asked(RISKY);
    let context = scene.captured(&scene.ana, &card, "once")["context"].clone();
    let place = scene.place();
    let lure = |channel: &str, author: &countersign_testkit::mattermost::Person| {
        let url = format!("{}/channels/mattermost/action", scene.relay.url());
        let body = json!({
            "channel_id": channel, "message": "free cake", "props": { "attachments": [{
                "text": "cake", "actions": [{
                    "id": "once", "type": "button", "name": "Cake",
                    "integration": { "url": url, "context": context },
                }],
            }] },
        });
        author.post("/posts", &body).text("id").to_owned()
    };
    let elsewhere = place.another_channel(&[&scene.ana, &scene.ben]).unwrap();
    let team = place.another_team(&[&scene.ana, &scene.ben]).unwrap();
    let body = json!({ "team_id": team, "name": "cake", "display_name": "Cake", "type": "O" });
    let other_team = scene.ben.post("/channels", &body).text("id").to_owned();
    let member = only("user_id", json!(scene.ana.id));
    scene
        .ben
        .post(&format!("/channels/{other_team}/members"), &member);
    let direct = scene.ben.direct(&scene.ana.id);
    for (name, channel) in [
        ("the same channel", place.channel_id.as_str()),
        ("another channel", &elsewhere),
        ("another team", &other_team),
        ("a conversation of two", &direct),
    ] {
        let post = lure(channel, &scene.ben);
        let seen = scene.ana.events_so_far();
        let clicked = scene.ana.click(&post, "once");
        assert_eq!(clicked.status, 200, "{name}: {clicked:?}");
        assert!(scene.ana.wait_for_whisper(seen).is_some(), "{name}");
        scene.assert_waiting(&question, name);
        let kept = scene.ana.get(&format!("/posts/{post}"));
        assert_eq!(kept.text("message"), "free cake", "{name}");
    }
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

/// The newest servers let any client say what a button of a dialog carries, and sign who and when.
#[test]
fn a_button_of_a_dialog_is_no_button_of_a_card() {
    let scene = Scene::with(|wanted| wanted.settings = Settings::of(Version::V11_10));
    let (question, card) = scene.asked(RISKY);
    let context = scene.captured(&scene.ana, &card, "once")["context"].clone();
    let url = format!("{}/channels/mattermost/action", scene.relay.url());
    let channel = &scene.place().channel_id;
    let body = json!({
        "url": url, "channel_id": channel, "context": context, "post_id": card.id(),
        "type": "button",
    });
    let before = scene.relay.passed().len();
    let sent = scene.ana.post("/actions/dialogs/execute", &body);
    if scene.stage.fake.is_some() {
        assert_eq!(sent.status, 200, "{sent:?}");
        assert_eq!(scene.relay.passed().len(), before + 1);
    }
    scene.assert_waiting(&question, "a button of a dialog");
}

#[test]
fn the_key_of_the_buttons_is_not_made_of_the_bots_token() {
    let first = Scene::new();
    let (_, card) = first.asked(RISKY);
    let code = first.captured(&first.ana, &card, "once")["context"]["t"].clone();
    // Another firewall with the same bot in the same channel.
    let config = std::fs::read_to_string(first.gateway.home().join("config.yaml")).unwrap();
    let variables = [(crate::scene::TOKEN, first.place().bot.token())];
    let second = crate::support::Gateway::with_variables(&config, &variables);
    let agent = second.key("agent");
    let approval = second.ask(&agent, RISKY);
    let card = first.card(&approval);
    let mut click = first.captured(&first.ana, &card, "once");
    assert_ne!(click["context"]["t"], code);
    // A button of one firewall is nothing to the other.
    let answer = first.send("action", &click);
    assert!(answer.body.get("update").is_none(), "{answer:?}");
    click["context"]["t"] = code;
    let path = "/channels/mattermost/action";
    let answer = said(second.request("POST", path).json(&click));
    assert!(answer.body.get("update").is_none(), "{answer:?}");
}
