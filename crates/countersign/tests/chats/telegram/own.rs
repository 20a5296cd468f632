//! What only Telegram does: a queue of presses, copies of cards, topics, a webhook, groups that grow.

use std::process::{Command, Stdio};
use std::time::Duration;

use countersign_core::command::TABLE;
use countersign_testkit::model::{MODEL, ModelServer, Reply};
use countersign_testkit::relay::Relay;
use countersign_testkit::telegram::{Fault, Hit, Limit, TelegramServer};
use serde_json::{Value, json};

use super::{GROUP, Telegram, card};
use crate::scene::Scene;
use crate::support::{RISKY, client, said};
use crate::venue::{Limits, Venue as _, Who};

/// The secret of the webhook is in this variable of the gateway.
const SECRET: &str = "TELEGRAM_SECRET";

/// Starts a scene whose channel has `more` in its section; null takes away.
pub(super) fn scene_with(venue: Telegram, more: &Value, config: &Value) -> Scene<Telegram> {
    let mut section = venue.section();
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            section.as_object_mut().unwrap().remove(key);
        } else {
            section[key] = value.clone();
        }
    }
    let mut config = config.clone();
    config["channels"] = json!({ "telegram": section });
    Scene::of(venue, &config)
}

pub(super) fn open() -> Telegram {
    Telegram::open(Limits::None)
}

#[test]
fn a_press_made_while_the_gateway_was_away_counts_if_it_is_in_time() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let scene = scene.restarted_after(|scene| {
        let press = scene.venue.prepare(Who::Ana, &card, "once");
        scene.venue.server.tell_press(&press);
        assert_eq!(scene.venue.server.pending(), 1, "Telegram keeps it");
    });
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_press_that_waited_until_its_question_was_over_is_judged_by_our_clock() {
    let config = json!({ "approvals": { "timeout": "2s" } });
    let scene = Scene::<Telegram>::with(&config, Limits::None);
    let (question, card) = scene.asked(RISKY);
    let press = scene.venue.prepare(Who::Ana, &card, "once");
    // The gateway says when it is over; the press, made before, arrives only then.
    assert_eq!(scene.decided(&question)["status"], "expired");
    let scene = scene.restarted_after(|scene| {
        scene.venue.server.tell_press(&press);
        assert_eq!(scene.venue.server.pending(), 1, "Telegram keeps it");
    });
    let told = scene.venue.server.answered(&press).unwrap();
    assert!(told.text.contains("Too late"), "{told:?}");
    assert!(scene.settled(&question.approval).buttons.is_empty());
}

#[test]
fn a_press_that_can_no_longer_be_answered_counts_all_the_same() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    scene.venue.server.answer_within(Duration::ZERO);
    let press = scene.venue.prepare(Who::Ana, &card, "deny");
    scene.venue.server.tell_press(&press);
    assert_eq!(scene.decided(&question)["status"], "denied");
    assert!(scene.settled(&question.approval).text.contains("Denied"));
}

#[test]
fn a_copy_of_a_card_does_not_count_and_loses_its_buttons() {
    let scene = Scene::<Telegram>::new();
    scene.venue.server.fail("sendMessage", Fault::DropAfter, 1);
    let question = scene.ask(RISKY);
    let cards = || scene.cards_about(&question.approval);
    assert!(scene.venue.wait(&|| cards().len() == 2), "{:?}", cards());
    let told = scene.venue.press(Who::Ana, &cards()[0], "once");
    assert!(told.contains("not the card that was delivered"), "{told}");
    scene.assert_waiting(&question, "a copy");
    assert!(scene.venue.wait(&|| cards()[0].buttons.is_empty()));
    assert!(cards()[1].has("once"), "the card itself keeps its buttons");
    scene.venue.press(Who::Ana, &cards()[1], "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn nobody_takes_the_buttons_from_a_card_with_those_of_another() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let (_, other) = scene.asked("rm -rf /srv/mail");
    let data = other.raw["buttons"][0]["callback_data"].as_str().unwrap();
    let press = scene.venue.press_with(Who::Eve, &card, data);
    scene.venue.tell(&press);
    // What comes after shows that what came before was dealt with.
    scene.venue.press(Who::Ben, &other, "deny");
    assert!(scene.card(&question.approval).has("once"));
}

#[test]
fn a_note_is_taken_from_the_one_who_was_asked_for_it_and_once() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let seen = scene.venue.asked_for(Who::Ana);
    scene.venue.press(Who::Ana, &card, "denynote");
    assert!(scene.venue.wait(&|| scene.venue.asked_for(Who::Ana) > seen));
    let prompt = scene.venue.prompts().swap_remove(seen);
    let mentioned = prompt.entities.iter().map(|it| it["user"]["id"].clone());
    let mentioned: Vec<Value> = mentioned.filter(|it| !it.is_null()).collect();
    assert_eq!(mentioned, [json!(Telegram::id(Who::Ana))], "for her alone");
    let bens_replies = scene.venue.server.messages().len();
    scene.venue.fill_in(Who::Ben, seen, Some("mine"));
    // In a group the reply is for its author alone.
    let told = || {
        let messages = scene.venue.server.messages().into_iter().skip(bens_replies);
        let mut told = messages.filter(|it| it.chat == Telegram::id(Who::Ben));
        told.next().map(|it| it.text)
    };
    assert!(scene.venue.wait(&|| told().is_some()));
    assert!(
        told().unwrap().contains("not made by this firewall"),
        "{told:?}",
        told = told()
    );
    scene.assert_waiting(&question, "ben was not asked");
    scene.venue.fill_in(Who::Ana, seen, Some("hers"));
    assert_eq!(scene.decided(&question)["decision"]["note"], "hers");
    scene.venue.fill_in(Who::Ana, seen, Some("again"));
    assert!(scene.settled(&question.approval).text.contains("hers"));
}

#[test]
fn a_card_is_answered_by_a_command_below_it() {
    let scene = Scene::<Telegram>::new();
    let (first, card) = scene.asked(RISKY);
    let (second, _) = scene.asked("rm -rf /srv/mail");
    let below = card.message.parse().unwrap();
    let ana = Telegram::id(Who::Ana);
    scene
        .venue
        .server
        .say(ana, GROUP, Some(below), "/approve@countersign_bot");
    assert_eq!(scene.decided(&first)["status"], "approved");
    scene.assert_waiting(&second, "another card");
    scene
        .venue
        .server
        .say(ana, GROUP, Some(below), "/approve@another_bot");
    scene.venue.server.say(ana, GROUP, Some(below), "/deny");
    scene.reads(Who::Ana, "Already answered");
    scene.assert_waiting(&second, "another card");
}

/// Ana types a line below a message of the bot and is told something; the reply is in her own chat.
fn told_below(scene: &Scene<Telegram>, message: i64, line: &str, words: &str) {
    let before = scene.venue.server.messages().len();
    let ana = Telegram::id(Who::Ana);
    scene.venue.server.say(ana, GROUP, Some(message), line);
    let told = || {
        let messages = scene.venue.server.messages().into_iter().skip(before);
        let mut told = messages.filter(|it| it.chat == ana);
        told.any(|it| it.text.contains(words))
    };
    assert!(scene.venue.wait(&told), "{line} was not answered: {words}");
}

#[test]
fn a_command_below_anything_but_the_card_answers_no_call() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    let bot = server.bot();
    let of_somebody = server.say(Telegram::id(Who::Eve), GROUP, None, "look at this");
    // The agent speaks as the bot, and may end with anything.
    let of_the_bot = server.say(bot, GROUP, None, "All is well.");
    let as_a_card = format!("Shall I?\n{} · sha256:00", question.approval);
    let as_a_card = server.say(bot, GROUP, None, &as_a_card);
    for message in [of_somebody, of_the_bot, as_a_card] {
        for line in ["/approve", "/approve once", "/deny"] {
            told_below(&scene, message, line, "Name one by its id");
            scene.assert_waiting(&question, line);
        }
    }
    let elsewhere = json!({ "external_reply": { "origin": {} } });
    server.say_marked(Telegram::id(Who::Ana), GROUP, None, "/deny", &elsewhere);
    told_below(
        &scene,
        card.message.parse().unwrap(),
        "/approve",
        "Allowed once",
    );
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_reply_to_words_of_the_bot_presses_no_button() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    for button in card.raw["buttons"].as_array().unwrap() {
        let data = button["callback_data"].as_str().unwrap();
        let text = format!("Reply to this.\n{data}.{}", card.message);
        let message = scene
            .venue
            .server
            .say(scene.venue.server.bot(), GROUP, None, &text);
        let ana = Telegram::id(Who::Ana);
        scene.venue.server.say(ana, GROUP, Some(message), "ok");
        // What comes after shows that what came before was dealt with.
        told_below(&scene, message, "/whoami", "You are");
        scene.assert_waiting(&question, data);
    }
}

#[test]
fn what_was_forwarded_or_written_by_a_program_is_nobodys_word() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    let (ana, card) = (Telegram::id(Who::Ana), card.message.parse().unwrap());
    let seen = scene.venue.asked_for(Who::Ana);
    scene
        .venue
        .press(Who::Ana, &scene.card(&question.approval), "denynote");
    assert!(scene.venue.wait(&|| scene.venue.asked_for(Who::Ana) > seen));
    let prompt = scene.venue.prompts().swap_remove(seen).id;
    let program = json!({ "id": 5, "is_bot": true, "first_name": "helper" });
    let marks = [
        json!({ "forward_origin": { "type": "hidden_user", "sender_user_name": "eve", "date": 1 } }),
        json!({ "forward_date": 1 }),
        json!({ "via_bot": program }),
        json!({ "sender_business_bot": program }),
    ];
    for mark in &marks {
        let named = format!("/approve {}", question.approval);
        for (below, line) in [(card, "/approve"), (card, named.as_str()), (prompt, "no")] {
            server.say_marked(ana, GROUP, Some(below), line, mark);
        }
        told_below(&scene, card, "/whoami", "You are");
        scene.assert_waiting(&question, &mark.to_string());
    }
    told_below(&scene, card, "/approve", "Allowed once");
}

#[test]
fn a_command_that_a_tap_can_send_permits_nothing() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    for line in ["/approve", "/approve@countersign_bot", "/APPROVE "] {
        let told = scene.venue.command(Who::Ana, line);
        assert!(told.contains(&question.approval), "{line}: {told}");
        scene.assert_waiting(&question, line);
    }
    let told = scene.venue.command(Who::Ana, "/yolo");
    assert!(told.contains("how many minutes"), "{told}");
    told_below(
        &scene,
        card.message.parse().unwrap(),
        "/approve",
        "Allowed once",
    );
}

#[test]
fn what_cannot_be_read_holds_up_nothing() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    server.tell("message", json!("no message"));
    server.tell("callback_query", json!({ "id": 7 }));
    server.tell("message", json!({ "message_id": "seven" }));
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_stranger_who_cannot_be_answered_holds_up_nobody() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    // From here on a chat takes a message or two and no more.
    let limit = Limit {
        per_second: 0,
        burst: 2,
    };
    server.limit(Some(limit));
    for _ in 0..10 {
        scene.venue.say(Who::Eve, "/whoami");
        scene.venue.say(Who::Eve, "let me in");
    }
    let is_over = || scene.venue.over_the_limit() > 0;
    assert!(server.wait(&is_over), "she is answered without an end");
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn strangers_fill_no_ledger() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(RISKY);
    let line = format!("/approve {}", question.approval);
    for _ in 0..150 {
        scene.venue.say(Who::Eve, &line);
    }
    let press = scene.venue.prepare(Who::Eve, &card, "once");
    let told = scene.venue.tell(&press);
    assert!(told.contains("may not answer"), "{told}");
    // What comes after shows that what came before was dealt with.
    scene.venue.command(Who::Eve, &line);
    // Perhaps a minute ended meanwhile.
    let written = crate::suite::entries(&scene, "click.refused");
    assert!((1..=120).contains(&written), "{written}");
    scene.assert_waiting(&question, "typed by a stranger");
}

/// A command that does not fit on a card.
fn long() -> String {
    format!("rm -rf /srv/{}", "x".repeat(5000))
}

#[test]
fn what_did_not_arrive_does_not_count_as_read() {
    let scene = Scene::<Telegram>::new();
    let (question, card) = scene.asked(&long());
    assert!(!card.has("once"), "{card:?}");
    let server = &scene.venue.server;
    let (show, approve) = (
        format!("/show {}", question.approval),
        format!("/approve {}", question.approval),
    );
    server.fail("sendMessage", Fault::Refuse, 1);
    scene.venue.say(Who::Ana, &show);
    let failed = |hit: &Hit| hit.method == "sendMessage" && hit.status == 502;
    assert!(server.wait(&|| server.hits().iter().any(failed)));
    let told = scene.venue.command(Who::Ana, &approve);
    scene.assert_waiting(&question, &told);
    scene.venue.command(Who::Ana, &show);
    scene.venue.command(Who::Ana, &approve);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_group_is_not_told_again_and_again_how_somebody_is_answered() {
    let scene = Scene::<Telegram>::new();
    let server = &scene.venue.server;
    // Nobody in the group knows them, and they have never talked to the bot.
    let passer_by = 4_000_001;
    server.stranger(passer_by, "passer_by");
    let everybody = Who::ALL.map(Telegram::id).into_iter().chain([passer_by]);
    server.group(super::GROUP, "Approvals", &everybody.collect::<Vec<_>>());
    for _ in 0..4 {
        server.say(passer_by, super::GROUP, None, "/whoami");
    }
    let refused = || {
        let hits = server.hits();
        hits.iter().filter(|hit| hit.status == 403).count()
    };
    assert!(server.wait(&|| refused() == 4), "{} refused", refused());
    // What comes after shows that what came before was dealt with.
    scene.venue.command(Who::Ana, "/whoami");
    let messages = server.messages();
    let hints = messages.iter().filter(|it| it.text.contains("press Start"));
    assert_eq!(hints.count(), 1, "{messages:?}");
}

#[test]
fn a_full_text_that_was_deleted_is_shown_again() {
    let scene = Scene::<Telegram>::new();
    let (_, card) = scene.asked(&long());
    let server = &scene.venue.server;
    let full = || {
        let messages = server.messages().into_iter();
        let mut full = messages.filter(|it| it.chat == GROUP && it.document.is_some());
        (full.next(), full.count())
    };
    for who in [Who::Ana, Who::Ben] {
        scene.venue.press(who, &card, "view");
        assert!(matches!(full(), (Some(_), 0)), "shown once: {:?}", full());
    }
    server.delete(GROUP, full().0.unwrap().id);
    scene.venue.press(Who::Ben, &card, "view");
    assert!(matches!(full(), (Some(_), 0)), "shown again: {:?}", full());
}

#[test]
fn cards_and_prompts_go_to_their_topic() {
    let venue = open();
    venue.server.topic(GROUP, 7);
    let channel = json!({ "channel": format!("{GROUP}/7") });
    let scene = scene_with(venue, &channel, &json!({}));
    let (question, card) = scene.asked(RISKY);
    let seen = scene.venue.asked_for(Who::Ana);
    scene.venue.press(Who::Ana, &card, "denynote");
    scene.venue.fill_in(Who::Ana, seen, Some("no"));
    assert_eq!(scene.decided(&question)["status"], "denied");
    let bot = scene.venue.server.bot();
    let messages = scene.venue.server.messages();
    let mut in_group = messages
        .iter()
        .filter(|it| it.chat == GROUP && it.from == bot);
    assert!(in_group.all(|it| it.topic == Some(7)));
}

#[test]
fn without_a_channel_each_approver_is_asked_directly_and_one_answer_settles_all() {
    let scene = scene_with(open(), &json!({ "channel": null }), &json!({}));
    let question = scene.ask(RISKY);
    let of = |who: Who| {
        let place = Telegram::id(who).to_string();
        scene.card_that("for one", |card| {
            card.place == place && card.subject == question.approval
        })
    };
    let (_, bens) = (of(Who::Ana), of(Who::Ben));
    scene.venue.press(Who::Ben, &bens, "deny");
    assert_eq!(scene.decided(&question)["decision"]["by"], "ben");
    let all_settled = || {
        scene
            .cards_about(&question.approval)
            .iter()
            .all(|it| it.buttons.is_empty())
    };
    assert!(scene.venue.wait(&all_settled));
    assert_eq!(scene.cards_about(&question.approval).len(), 2);
    assert!(of(Who::Ana).text.contains("ben"));
}

#[test]
fn a_group_that_grows_keeps_its_cards_and_gets_the_next_ones() {
    let new = -1_009_999_999_999;
    let scene = Scene::<Telegram>::new();
    scene.venue.server.upgrade(GROUP, new);
    let (question, card) = scene.asked(RISKY);
    assert_eq!(card.place, new.to_string());
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn updates_come_by_webhook_with_the_secret_and_with_nothing_else() {
    let relay = Relay::start().unwrap();
    let more = json!({ "callback_url": relay.url(), "secret_env": SECRET });
    let mut section = open();
    section.more = vec![(SECRET, "s3cret_of_the_webhook".to_owned())];
    let scene = scene_with(section, &more, &json!({}));
    relay.lead_to(&scene.gateway.url);
    let (question, card) = scene.asked(RISKY);
    let press = scene.venue.prepare(Who::Ana, &card, "once");
    let update = json!({ "update_id": 1, "callback_query": press });
    let url = format!("{}/channels/telegram/action", scene.gateway.url);
    for secret in [None, Some(""), Some("another_secret_of_somebody")] {
        let mut request = client().post(&url).json(&update);
        if let Some(secret) = secret {
            request = request.header("x-telegram-bot-api-secret-token", secret);
        }
        assert_eq!(said(request).status, 401, "{secret:?}");
        scene.assert_waiting(&question, "no secret of Telegram");
    }
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    let hits = scene.venue.server.hits();
    assert!(
        hits.iter().all(|hit| hit.method != "getUpdates"),
        "{hits:?}"
    );
}

#[test]
fn the_menu_has_every_command_that_permits_nothing_or_is_taken_away() {
    let mut scene = Scene::<Telegram>::new();
    let server = &scene.venue.server;
    assert!(server.wait(&|| server.menu().is_array()));
    let menu = server.menu();
    let there = menu.as_array().unwrap().iter();
    let there: Vec<&str> = there.map(|row| row["command"].as_str().unwrap()).collect();
    let wanted = TABLE.iter().map(|row| row.name);
    let wanted: Vec<&str> = wanted
        .filter(|it| !["approve", "yolo"].contains(it))
        .collect();
    assert_eq!(there, wanted);
    scene.gateway.stop();
    let config = scene.gateway.home().join("config.yaml");
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&config).unwrap()).unwrap();
    kept["channels"]["telegram"]["commands"] = json!(false);
    std::fs::write(&config, kept.to_string()).unwrap();
    scene.gateway = scene.gateway.started_again();
    let server = &scene.venue.server;
    assert!(server.wait(&|| server.menu().is_null()));
}

#[test]
fn the_agent_answers_whoever_may_talk_to_it_by_edits_of_one_message() {
    let words: Vec<String> = (0..40).map(|number| format!("word{number} ")).collect();
    let pieces = words
        .iter()
        .map(String::as_str)
        .chain(["/approve @eve evil.example The end."]);
    let slow = Reply::text(pieces).slowly(Duration::from_millis(50));
    let model = ModelServer::start(vec![slow]).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::<Telegram>::with(&json!({ "agent": agent }), Limits::None);
    let server = &scene.venue.server;
    scene.venue.say(Who::Eve, "do something");
    scene.reads(Who::Eve, "may not answer");
    // What does not name the bot does not reach it.
    server.say(Telegram::id(Who::Ana), GROUP, None, "nothing for the bot");
    server.say(
        Telegram::id(Who::Ana),
        GROUP,
        None,
        "@countersign_bot hello",
    );
    scene.reads(Who::Ana, "The end.");
    assert_eq!(model.requests().len(), 1);
    let messages = server.messages();
    let answer = messages
        .iter()
        .find(|it| it.text.contains("The end."))
        .unwrap();
    assert_eq!(answer.chat, GROUP);
    assert!(
        (1..=5).contains(&answer.edits),
        "about one a second: {}",
        answer.edits
    );
    assert!(
        answer.found.is_empty(),
        "nothing to tap: {:?}",
        answer.found
    );
    let hits = server.hits();
    assert!(
        hits.iter().any(|hit| hit.method == "sendChatAction"),
        "{hits:?}"
    );
}

/// A client library that others wrote speaks to the strict server, so it is no mirror of our client.
#[test]
fn python_telegram_bot_works_with_the_strict_server() {
    // `./test` says in this variable which Python has the library.
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_TELEGRAM_BOT") else {
        countersign_testkit::skipped("no python-telegram-bot");
        return;
    };
    let server = TelegramServer::start(700_000_000, "countersign_bot").unwrap();
    let ana = Telegram::id(Who::Ana);
    server.person(ana, "ana");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(root.join(python))
        .arg(root.join("crates/testkit/src/telegram/library.py"))
        .args([server.url(), server.token().to_owned(), ana.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = || {
        server
            .messages()
            .into_iter()
            .find(|it| !it.buttons().is_empty())
    };
    assert!(server.wait(&|| asked().is_some()), "it sends no buttons");
    let message = asked().unwrap();
    let data = message.buttons()[0]["callback_data"]
        .as_str()
        .unwrap()
        .to_owned();
    let press = server.press(ana, ana, message.id, &data);
    server.tell_press(&press);
    assert_eq!(server.answered(&press).unwrap().text, "thank you");
    let forced = || {
        server
            .messages()
            .into_iter()
            .find(|it| it.markup.get("force_reply").is_some())
    };
    assert!(server.wait(&|| forced().is_some()), "it asks for no words");
    server.say(ana, ana, Some(forced().unwrap().id), "use staging");
    let output = child.wait().unwrap();
    assert!(output.success());
    let messages = server.messages();
    let edited = messages.iter().find(|it| it.id == message.id).unwrap();
    assert_eq!(
        (edited.text.as_str(), edited.edits),
        ("Done: use staging", 1)
    );
    assert!(card(edited).is_none());
}
