//! What only Matrix does: reactions kept by the homeserver, gaps, deleted and edited cards, encrypted
//! rooms, invitations, mentions, conversations that the bot opens.

use std::process::Command;
use std::time::Duration;

use countersign_testkit::matrix::{Fault, MatrixServer, Person, Views};
use countersign_testkit::model::{MODEL, ModelServer, Reply};
use serde_json::{Value, json};

use super::{Matrix, look, sign, text, unique};
use crate::scene::Scene;
use crate::suite::entries;
use crate::support::RISKY;
use crate::venue::{Limits, Venue as _, Who};

/// Starts a scene whose channel has `more` in its section; null takes away.
pub(super) fn scene_with(venue: Matrix, more: &Value, config: &Value) -> Scene<Matrix> {
    let mut section = venue.section();
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            section.as_object_mut().unwrap().remove(key);
        } else {
            section[key] = value.clone();
        }
    }
    let mut config = config.clone();
    config["channels"] = json!({ "matrix": section });
    Scene::of(venue, &config)
}

pub(super) fn open() -> Matrix {
    Matrix::open(Limits::None)
}

/// Returns the strict server of a scene. What only it can do is not tried on a real one.
fn strict(scene: &Scene<Matrix>) -> Option<&MatrixServer> {
    let server = scene.venue.strict();
    if server.is_none() {
        countersign_testkit::skipped("a real homeserver cannot be made to fail so");
    }
    server
}

fn reply_to(event: &str) -> Value {
    json!({ "m.relates_to": { "m.in_reply_to": { "event_id": event } } })
}

/// Returns how somebody is in a room, as Ana or whoever asks may know.
fn membership(person: &Person, room: &str, user: &str) -> String {
    let path = format!("/rooms/{room}/state/m.room.member/{user}");
    person
        .call("GET", &path, None)
        .text("membership")
        .to_owned()
}

#[test]
fn a_reaction_made_while_the_gateway_was_away_counts_if_it_is_in_time() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let scene = scene.restarted_after(|scene| {
        let ana = scene.venue.person(Who::Ana);
        let reacted = ana.react(&card.place, &card.message, "✅");
        assert_eq!(reacted.status, 200, "{reacted:?}");
    });
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_gap_in_what_the_server_tells_is_read_page_by_page() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let scene = scene.restarted_after(|scene| {
        let (ana, eve) = (scene.venue.person(Who::Ana), scene.venue.person(Who::Eve));
        ana.react(&card.place, &card.message, "❌");
        // More than is told at once, and more than a page of the gap.
        for number in 0..130 {
            eve.say(&card.place, &format!("chatter {number}"), &json!({}));
        }
    });
    assert_eq!(scene.decided(&question)["status"], "denied");
    let last = scene
        .venue
        .person(Who::Ana)
        .say(&card.place, "done?", &json!({}));
    scene.venue.dealt_with(Who::Ana, &card.place, &last);
    assert_eq!(entries(&scene, "approval.resolved"), 1);
}

#[test]
fn a_reaction_counts_once_however_often_it_is_made() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let ana = scene.venue.person(Who::Ana);
    let first = ana.react(&card.place, &card.message, "✅");
    assert_eq!(scene.decided(&question)["status"], "approved");
    let again = ana.react(&card.place, &card.message, "✅");
    assert_eq!(again.text("errcode"), "M_DUPLICATE_ANNOTATION", "{again:?}");
    // Taken back and made again it is another reaction, and comes too late.
    let event = first.text("event_id");
    assert_eq!(ana.redact(&card.place, event).status, 200);
    let late = ana.react(&card.place, &card.message, "✅");
    let late = late.text("event_id").to_owned();
    scene.venue.dealt_with(Who::Ana, &card.place, &late);
    let told = || scene.venue.told_about(Who::Ana, &late);
    assert!(
        scene.venue.wait(&|| told().contains("Already answered")),
        "{}",
        told()
    );
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(entries(&scene, "approval.resolved"), 1);
}

#[test]
fn a_reaction_to_what_somebody_else_wrote_means_nothing() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let (ana, eve) = (scene.venue.person(Who::Ana), scene.venue.person(Who::Eve));
    // Everything a card says, codes included, with her own words in front.
    let mut copy = card.raw["content"].clone();
    copy["body"] = json!("Shall we have lunch?");
    copy["formatted_body"] = json!("Shall we have lunch?");
    let copied = eve.send(&card.place, "m.room.message", &unique("lunch"), &copy);
    let reacted = ana.react(&card.place, copied.text("event_id"), "✅");
    scene
        .venue
        .dealt_with(Who::Ana, &card.place, reacted.text("event_id"));
    scene.assert_waiting(&question, "a copy");
    // An edit of our card is no card, whoever made it.
    let edit = json!({
        "msgtype": "m.text", "body": "* x", "m.new_content": { "msgtype": "m.text", "body": "lunch?" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": card.message },
    });
    let edited = eve.send(&card.place, "m.room.message", &unique("edit"), &edit);
    let reacted = ana.react(&card.place, edited.text("event_id"), "✅");
    scene
        .venue
        .dealt_with(Who::Ana, &card.place, reacted.text("event_id"));
    scene.assert_waiting(&question, "an edit");
    assert!(scene.card(&question.approval).text.contains(RISKY));
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_stranger_is_told_in_a_conversation_that_the_bot_opens() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let told = scene.venue.press(Who::Eve, &card, "once");
    assert!(told.contains("may not answer"), "{told}");
    scene.assert_waiting(&question, "a stranger");
    let eve = scene.venue.person(Who::Eve);
    let rooms: Vec<String> = eve
        .rooms()
        .into_iter()
        .filter(|it| *it != scene.venue.room)
        .collect();
    assert_eq!(rooms.len(), 1, "one conversation: {rooms:?}");
    scene.venue.press(Who::Eve, &card, "deny");
    assert_eq!(eve.rooms().len(), 2, "and no other");
    for who in [Who::Ana, Who::Ben] {
        assert!(
            !scene.venue.read_by(who).contains("may not answer"),
            "{who:?}"
        );
    }
}

#[test]
fn a_card_that_was_edited_is_reacted_to_and_its_edit_is_not() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    scene.venue.press(Who::Ana, &card, "session");
    assert_eq!(scene.decided(&question)["status"], "approved");
    let settled = scene.settled(&question.approval);
    assert_eq!(settled.buttons, ["revoke"]);
    let ana = scene.venue.person(Who::Ana);
    let edits = ana.events(&card.place);
    let edit = edits
        .iter()
        .rfind(|it| it["content"]["m.relates_to"]["rel_type"] == "m.replace");
    let edit = edit.unwrap()["event_id"].as_str().unwrap();
    let reacted = ana.react(&card.place, edit, sign("revoke"));
    scene
        .venue
        .dealt_with(Who::Ana, &card.place, reacted.text("event_id"));
    assert!(
        scene.settled(&question.approval).has("revoke"),
        "the grant holds"
    );
    let told = scene.venue.press(Who::Ana, &settled, "revoke");
    assert!(told.contains("Revoked"), "{told}");
    let is_revoked = || {
        scene.cards_about(&question.approval)[0]
            .text
            .contains("revoked by")
    };
    assert!(scene.venue.wait(&is_revoked));
}

#[test]
fn no_card_is_sent_to_an_encrypted_room_and_the_reason_is_said() {
    let mut venue = open();
    let ana = venue.person(Who::Ana);
    let algorithm = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
    let encryption = json!({ "type": "m.room.encryption", "state_key": "", "content": algorithm });
    let body = json!({
        "preset": "private_chat", "invite": [venue.bot.id], "initial_state": [encryption],
    });
    let encrypted = ana.create(&body);
    let plain = std::mem::replace(&mut venue.room, encrypted);
    let scene = Scene::of(venue, &json!({}));
    let question = scene.ask(RISKY);
    assert_eq!(scene.decided(&question)["status"], "expired");
    let admin = scene.gateway.admin();
    let path = format!("/v1/approvals/{}/deliveries", question.approval);
    let why = scene.gateway.get(&admin, &path).body;
    assert!(why.to_string().contains("the room is encrypted"), "{why}");
    let read = scene.venue.read_by(Who::Ana);
    assert!(!read.contains(RISKY), "{read}");
    assert!(scene.venue.person(Who::Ana).rooms().contains(&plain));
}

#[test]
fn a_room_that_becomes_encrypted_gets_no_more_cards() {
    let scene = Scene::<Matrix>::new();
    let (first, card) = scene.asked(RISKY);
    let (ana, room) = (scene.venue.person(Who::Ana), &scene.venue.room);
    let path = format!("/rooms/{room}/state/m.room.encryption");
    let algorithm = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
    let set = ana.call("PUT", &path, Some(&algorithm));
    assert_eq!(set.status, 200, "{set:?}");
    scene.venue.dealt_with(Who::Ana, room, set.text("event_id"));
    let second = scene.ask("rm -rf /srv/mail");
    assert_eq!(scene.decided(&second)["status"], "expired");
    // What is there can be answered: it is no more secret than it was.
    scene.venue.press(Who::Ana, &card, "deny");
    assert_eq!(scene.decided(&first)["status"], "denied");
}

#[test]
fn the_bot_comes_for_people_who_are_listed_and_for_nobody_else() {
    let scene = Scene::<Matrix>::new();
    let (ana, eve) = (scene.venue.person(Who::Ana), scene.venue.person(Who::Eve));
    let bot = &scene.venue.bot.id;
    let body = json!({ "preset": "private_chat", "invite": [bot] });
    let eves = eve.create(&body);
    let anas = ana.create(&body);
    let is_there = || membership(ana, &anas, bot) == "join";
    assert!(scene.venue.wait(&|| {
        ana.events(&anas)
            .iter()
            .any(|it| it["state_key"] == bot.as_str() && it["content"]["membership"] == "join")
    }));
    assert!(is_there());
    // What comes after shows that what came before was dealt with.
    let last = eve.say(&scene.venue.room, "where are you?", &json!({}));
    scene.venue.dealt_with(Who::Eve, &scene.venue.room, &last);
    assert_eq!(membership(eve, &eves, bot), "invite");
    // Into an encrypted room it comes for nobody, and says so where it can be read.
    let algorithm = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
    let encryption = json!({ "type": "m.room.encryption", "state_key": "", "content": algorithm });
    let body = json!({ "preset": "private_chat", "invite": [bot], "initial_state": [encryption] });
    let secret = ana.create(&body);
    scene.reads(
        Who::Ana,
        "I do not come into that room: the room is encrypted",
    );
    assert_eq!(membership(ana, &secret, bot), "invite");
}

#[test]
fn only_those_who_may_answer_are_mentioned_and_markup_stays_text() {
    let venue = open();
    let scene = scene_with(venue, &json!({ "mention": true }), &json!({}));
    let command = "rm -rf /srv/www # <b>@room</b> & \"https://e.example\"";
    let (question, card) = scene.asked(command);
    let content = look(&card.raw);
    let called = [scene.venue.account(Who::Ana), scene.venue.account(Who::Ben)];
    assert_eq!(content["m.mentions"], json!({ "user_ids": called }));
    let html = content["formatted_body"].as_str().unwrap();
    let escaped = "<pre><code>rm -rf /srv/www # &lt;b&gt;@room&lt;/b&gt; &amp; &quot;https://e.example&quot;</code></pre>";
    assert!(html.contains(escaped), "{html}");
    assert_eq!(super::acts_of(html), Vec::<String>::new());
    scene.venue.press(Who::Ana, &card, "deny");
    let settled = scene.settled(&question.approval);
    assert_eq!(look(&settled.raw)["m.mentions"], json!({}));
    // An edit calls nobody either.
    let events = scene.venue.person(Who::Ana).events(&card.place);
    let mut edits = events
        .iter()
        .filter(|it| it["content"].get("m.new_content").is_some());
    assert!(edits.all(|it| it["content"]["m.mentions"] == json!({})));
}

#[test]
fn a_card_that_was_deleted_is_posted_again_and_the_old_one_counts_for_nothing() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let ana = scene.venue.person(Who::Ana);
    assert_eq!(ana.redact(&card.place, &card.message).status, 200);
    let again = scene.card_that("again", |it| {
        it.subject == question.approval && it.message != card.message
    });
    let reacted = ana.react(&card.place, &card.message, "✅");
    if reacted.status == 200 {
        scene
            .venue
            .dealt_with(Who::Ana, &card.place, reacted.text("event_id"));
    }
    scene.assert_waiting(&question, "a deleted card");
    // Also one that was deleted while nobody listened.
    let scene = scene.restarted_after(|scene| {
        let ana = scene.venue.person(Who::Ana);
        assert_eq!(ana.redact(&again.place, &again.message).status, 200);
    });
    let third = scene.card_that("once more", |it| {
        it.subject == question.approval && it.message != again.message && it.message != card.message
    });
    scene.venue.press(Who::Ana, &third, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_card_whose_delivery_was_cut_off_is_there_once() {
    let scene = Scene::<Matrix>::new();
    let Some(server) = strict(&scene) else {
        return;
    };
    server.fail("/send/m.room.message/", Fault::DropAfter, 2);
    let (question, card) = scene.asked(RISKY);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_server_that_fails_while_a_reaction_is_looked_at_loses_nothing() {
    let scene = Scene::<Matrix>::new();
    let Some(server) = strict(&scene) else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    server.fail("/event/", Fault::Refuse, 2);
    let reacted = scene
        .venue
        .person(Who::Ana)
        .react(&card.place, &card.message, "❌");
    assert_eq!(reacted.status, 200);
    assert_eq!(scene.decided(&question)["status"], "denied");
}

#[test]
fn an_event_that_fails_again_and_again_makes_the_bot_deaf_for_nobody() {
    let scene = Scene::<Matrix>::new();
    let Some(server) = strict(&scene) else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    let (ana, eve) = (scene.venue.person(Who::Ana), scene.venue.person(Who::Eve));
    // About what cannot be an event nobody is asked.
    let long = format!("${}", "A".repeat(20_000));
    eve.say(&card.place, "x", &reply_to(&long));
    // What cannot be answered is asked a few times.
    server.fail("/event/$never", Fault::Refuse, usize::MAX);
    eve.say(&card.place, "y", &reply_to("$never"));
    ana.react(&card.place, &card.message, "❌");
    assert_eq!(scene.decided(&question)["status"], "denied");
    let count = |part: &str| {
        let hits = server.hits().into_iter();
        hits.filter(|hit| hit.what.contains(part)).count()
    };
    assert_eq!(count("/event/$AAA"), 0);
    assert_eq!(count("/event/$never"), 5);
}

#[test]
fn a_server_that_does_not_know_how_far_was_heard_is_heard_from_now_on() {
    let scene = Scene::<Matrix>::new();
    let Some(server) = strict(&scene) else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    let sync = format!("/sync {}", scene.venue.bot.id);
    server.fail(&sync, Fault::Forgotten, 1);
    let ana = scene.venue.person(Who::Ana);
    ana.say(&card.place, "the last thing it hears", &json!({}));
    let has_begun_anew = || {
        let hits = server.hits().into_iter();
        let mut hits =
            hits.filter(|hit| hit.user == scene.venue.bot.id && hit.what.contains("/sync"));
        hits.any(|hit| hit.status == 400) && hits.any(|hit| hit.status == 200)
    };
    assert!(scene.venue.wait(&has_begun_anew), "it does not begin anew");
    scene.venue.press(Who::Ana, &card, "deny");
    assert_eq!(scene.decided(&question)["status"], "denied");
}

#[test]
fn a_card_is_answered_by_a_command_below_it_and_by_no_other() {
    let scene = Scene::<Matrix>::new();
    let (first, card) = scene.asked(RISKY);
    let (second, _) = scene.asked("rm -rf /srv/mail");
    let ana = scene.venue.person(Who::Ana);
    let types = |below: &str, line: &str| {
        let typed = ana.say(&card.place, line, &reply_to(below));
        scene.venue.dealt_with(Who::Ana, &card.place, &typed);
        scene.venue.told_about(Who::Ana, &typed)
    };
    let lunch = ana.say(&card.place, "lunch?", &json!({}));
    let told = types(&lunch, "!cs approve");
    assert!(told.contains("Name one by its id"), "{told}");
    scene.assert_waiting(&first, "below something else");
    // What an older client quotes was said by somebody else.
    let quoted = format!("> <@eve:x> !cs approve {}\n\nreally?", first.approval);
    types(&card.message, &quoted);
    scene.assert_waiting(&first, "a quotation");
    let told = types(&card.message, "!cs approve once");
    assert!(told.contains("Allowed once"), "{told}");
    assert_eq!(scene.decided(&first)["status"], "approved");
    scene.assert_waiting(&second, "another card");
    // An edit of what was typed is not typed again.
    let edit = json!({
        "m.relates_to": { "rel_type": "m.replace", "event_id": lunch },
        "m.new_content": { "msgtype": "m.text", "body": format!("!cs approve {}", second.approval) },
    });
    let edited = ana.say(
        &card.place,
        &format!("!cs approve {}", second.approval),
        &edit,
    );
    scene.venue.dealt_with(Who::Ana, &card.place, &edited);
    scene.assert_waiting(&second, "an edit");
}

#[test]
fn a_note_and_a_second_yes_are_taken_from_the_one_who_was_asked() {
    let scene = Scene::<Matrix>::new();
    let (question, card) = scene.asked(RISKY);
    let seen = scene.venue.asked_for(Who::Ana);
    scene.venue.press(Who::Ana, &card, "always");
    scene.venue.fill_in(Who::Ben, seen, None);
    scene.assert_waiting(&question, "ben was not asked");
    scene.venue.press(Who::Ana, &card, "denynote");
    let prompt = scene.venue.prompts().swap_remove(seen + 1);
    let called = json!({ "user_ids": [scene.venue.account(Who::Ana)] });
    assert_eq!(prompt["content"]["m.mentions"], called);
    scene.venue.fill_in(Who::Ben, seen + 1, Some("mine"));
    scene.assert_waiting(&question, "ben was not asked");
    // A second yes is none where words are wanted.
    let ana = scene.venue.person(Who::Ana);
    let event = prompt["event_id"].as_str().unwrap();
    let reacted = ana.react(&card.place, event, "✅");
    scene
        .venue
        .dealt_with(Who::Ana, &card.place, reacted.text("event_id"));
    scene.assert_waiting(&question, "a yes without words");
    scene.venue.fill_in(Who::Ana, seen + 1, Some("hers"));
    assert_eq!(scene.decided(&question)["decision"]["note"], "hers");
}

#[test]
fn a_question_of_the_agent_is_answered_by_a_plain_reply() {
    let scene = Scene::<Matrix>::new();
    let body =
        json!({ "question": "Which branch?", "choices": ["main", "next"], "session_id": "s" });
    let asked = scene
        .gateway
        .post(&scene.agent, "/v1/clarifications", &body)
        .body;
    let id = asked["clarification_id"].as_str().unwrap();
    let card = scene.card(id);
    let reply = reply_to(&card.message);
    scene
        .venue
        .person(Who::Ana)
        .say(&card.place, "neither of them", &reply);
    let path = format!("/v1/clarifications/{id}?wait_seconds=60");
    let answer = scene.gateway.get(&scene.agent, &path).body;
    assert_eq!(answer["answer"]["text"], "neither of them", "{answer}");
}

#[test]
fn without_a_room_each_approver_is_asked_directly_and_one_answer_settles_all() {
    let venue = open();
    // The bot is still invited there; nobody has to be.
    venue.bot.join(&venue.room);
    let scene = scene_with(venue, &json!({ "channel": null }), &json!({}));
    let question = scene.ask(RISKY);
    let cards = || scene.cards_about(&question.approval);
    assert!(scene.venue.wait(&|| cards().len() == 2), "{:?}", cards());
    let rooms = scene.venue.person(Who::Ben).rooms();
    let bens = cards()
        .into_iter()
        .find(|it| rooms.contains(&it.place))
        .unwrap();
    scene.venue.press(Who::Ben, &bens, "deny");
    assert_eq!(scene.decided(&question)["decision"]["by"], "ben");
    assert!(
        scene
            .venue
            .wait(&|| cards().iter().all(|it| it.buttons.is_empty()))
    );
    assert!(
        cards().iter().all(|it| it.text.contains("ben")),
        "{:?}",
        cards()
    );
    assert!(!scene.venue.read_by(Who::Eve).contains(RISKY));
}

#[test]
fn the_agent_answers_whoever_may_talk_to_it_by_edits_of_one_message() {
    let words: Vec<String> = (0..40).map(|number| format!("word{number} ")).collect();
    let pieces = words.iter().map(String::as_str);
    let pieces = pieces.chain(["<b>@room</b> https://e.example The end."]);
    let slow = Reply::text(pieces).slowly(Duration::from_millis(50));
    let model = ModelServer::start(vec![slow]).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::<Matrix>::with(&json!({ "agent": agent }), Limits::None);
    let (ana, room) = (scene.venue.person(Who::Ana), &scene.venue.room);
    // What does not name the bot does not reach it.
    ana.say(room, "nothing for the bot", &json!({}));
    let mention = json!({ "m.mentions": { "user_ids": [scene.venue.bot.id] } });
    ana.say(room, "hello", &mention);
    scene.reads(Who::Ana, "The end.");
    assert_eq!(model.requests().len(), 1);
    let messages = ana.messages(room);
    let answer = messages
        .iter()
        .find(|it| text(it).contains("The end."))
        .unwrap();
    let html = look(answer)["formatted_body"].as_str().unwrap();
    assert_eq!(super::acts_of(html), Vec::<String>::new(), "{html}");
    let edits = ana.events(room);
    let edits = edits.iter().filter(|it| {
        let relation = &it["content"]["m.relates_to"];
        relation["event_id"] == answer["event_id"] && relation["rel_type"] == "m.replace"
    });
    assert!((1..=6).contains(&edits.count()), "about one a second");
}

/// A client library that others wrote speaks to the strict server, so it is no mirror of our client.
#[test]
fn matrix_nio_works_with_the_strict_server() {
    // `./test` says in this variable which Python has the library.
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_MATRIX_NIO") else {
        countersign_testkit::skipped("no matrix-nio");
        return;
    };
    let server = MatrixServer::start().unwrap();
    let views = Views::new();
    let ana = Person::register(&server.url(), "ana", &views).unwrap();
    let bot = Person::register(&server.url(), "nio", &views).unwrap();
    bot.stop();
    let room = ana.create(&json!({ "preset": "private_chat", "invite": [bot.id] }));
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(project.join(python))
        .arg(project.join("crates/testkit/src/matrix/library.py"))
        .args([
            server.url(),
            bot.id.clone(),
            "pw-nio".to_owned(),
            room.clone(),
        ])
        .spawn()
        .unwrap();
    let card = || {
        ana.messages(&room)
            .into_iter()
            .find(|it| text(it) == "Approval needed")
    };
    assert!(views.wait(&|| card().is_some()), "it sends no card");
    let card = card().unwrap()["event_id"].as_str().unwrap().to_owned();
    assert_eq!(ana.react(&room, &card, "✅").status, 200);
    assert!(child.wait().unwrap().success());
    let settled = || {
        ana.messages(&room)
            .iter()
            .any(|it| text(it) == "Approved by @ana:strict.example")
    };
    assert!(views.wait(&settled), "{:#?}", ana.messages(&room));
    let events = ana.events(&room);
    let mut reactions = events.iter().filter(|it| it["type"] == "m.reaction");
    assert!(
        reactions.any(|it| it["sender"] == bot.id.as_str()),
        "it reacts, too"
    );
}
