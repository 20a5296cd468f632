//! What only Slack does: connections that are replaced, dialogs with triggers, shared channels, mentions
//! in threads, one slash command, a manifest.

use std::process::Command;
use std::time::Duration;

use countersign_core::command::TABLE;
use countersign_testkit::model::{MODEL, ModelServer, Reply};
use countersign_testkit::slack::{Fault, Settings, SlackServer};
use serde_json::{Value, json};

use super::{APP_TOKEN, Slack, TOKEN};
use crate::ours::ours;
use crate::scene::Scene;
use crate::support::RISKY;
use crate::venue::{Limits, Venue as _, Who};

type BySocket = Slack<true>;

/// What the bot is called in a message.
const BOT: &str = "<@U0COUNTER>";

fn open() -> BySocket {
    Slack::open(Limits::None)
}

/// Starts a scene whose channel has `more` in its section; null takes away.
fn scene_with(venue: BySocket, more: &Value, config: &Value) -> Scene<BySocket> {
    let mut section = venue.section();
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            section.as_object_mut().unwrap().remove(key);
        } else {
            section[key] = value.clone();
        }
    }
    let mut config = config.clone();
    config["channels"] = json!({ "slack": section });
    Scene::of(venue, &config)
}

/// Fails if Slack had anything to object to in what it was asked.
fn assert_nothing_was_refused(server: &SlackServer) {
    let hits = server.hits();
    let refused: Vec<_> = hits.iter().filter(|hit| !hit.error.is_empty()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn a_connection_that_is_about_to_end_is_replaced_and_nothing_is_lost() {
    let scene = Scene::<BySocket>::new();
    let server = &scene.venue.server;
    for number in 0..3 {
        let (question, card) = scene.asked(&format!("rm -rf /srv/refresh{number}"));
        server.refresh_connections();
        scene.venue.press(Who::Ana, &card, "once");
        assert_eq!(scene.decided(&question)["status"], "approved", "{number}");
    }
    let opened = server.hits();
    let opened = opened
        .iter()
        .filter(|hit| hit.method == "apps.connections.open");
    assert_eq!(opened.count(), 4);
    assert_nothing_was_refused(server);
}

#[test]
fn a_connection_is_replaced_while_what_was_missed_is_still_read() {
    let scene = Scene::<BySocket>::new();
    let server = &scene.venue.server;
    let count = |method: &str| {
        let hits = server.hits();
        hits.iter().filter(|hit| hit.method == method).count()
    };
    // Longer than a request that came too early is tried.
    server.fail("users.conversations", Fault::Status(429), 1000);
    let (read, opened) = (count("users.conversations"), count("apps.connections.open"));
    server.refresh_connections();
    assert!(server.wait(|| count("users.conversations") > read));
    server.refresh_connections();
    assert!(server.wait(|| count("apps.connections.open") == opened + 2));
    let tries = count("users.conversations") - read;
    assert!(tries < 60, "{tries}");
}

#[test]
fn a_card_whose_posting_was_not_confirmed_is_looked_for_and_not_posted_twice() {
    let scene = Scene::<BySocket>::new();
    let server = &scene.venue.server;
    server.fail("chat.postMessage", Fault::DropAfter, 1);
    server.fail("chat.postMessage", Fault::Status(503), 1);
    let (question, card) = scene.asked(RISKY);
    scene.venue.press(Who::Ana, &card, "deny");
    scene.decided(&question);
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
    let looked = |hit: &countersign_testkit::slack::Hit| hit.method == "conversations.history";
    assert!(server.hits().iter().any(looked));
}

#[test]
fn a_gateway_that_was_killed_while_it_posted_posts_no_second_card() {
    let mut scene = Scene::<BySocket>::new();
    let question = scene.ask(RISKY);
    scene.card(&question.approval);
    scene.gateway = scene.gateway.killed_and_restarted();
    scene.venue.lead_to(&scene.gateway);
    let card = scene.card(&question.approval);
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn people_of_another_organisation_cannot_answer_even_if_they_are_listed() {
    type Break = fn(&mut countersign_testkit::slack::Account);
    let venue = open();
    let server = &venue.server;
    let rows: [(&str, &str, Break); 4] = [
        ("stranger", "another organisation", |it| {
            it.is_stranger = true;
        }),
        ("outsider", "another organisation", |it| {
            "T0OTHER".clone_into(&mut it.team);
        }),
        ("robot", "bot accounts", |it| it.is_bot = true),
        ("gone", "deactivated", |it| it.is_deleted = true),
    ];
    let ids = rows.map(|(_, _, change)| server.account(change));
    let members: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut people =
        vec![json!({ "name": "ana", "roles": ["approver"], "slack": venue.account(Who::Ana) })];
    for ((name, ..), id) in rows.iter().zip(&ids) {
        people.push(json!({ "name": name, "roles": ["approver"], "slack": id }));
    }
    let with_ana: Vec<&str> = [venue.id(Who::Ana)].into_iter().chain(members).collect();
    let shared = venue.server.channel("shared", &with_ana);
    let scene = scene_with(
        venue,
        &json!({ "channel": shared }),
        &json!({ "people": people }),
    );
    let server = &scene.venue.server;
    let (question, card) = scene.asked(RISKY);
    for ((name, words, _), id) in rows.iter().zip(&ids) {
        let press = server
            .press(id, &card.place, &card.message, "once")
            .unwrap();
        let told = server.tell_and_wait(&press);
        assert!(told.contains(words), "{name}: {told}");
        let typed = server.command(id, &shared, &format!("approve {}", question.approval));
        let told = server.tell_and_wait(&typed);
        assert!(told.contains(words), "{name}: {told}");
        scene.assert_waiting(&question, name);
    }
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_dialog_counts_only_as_it_was_opened_and_only_for_whom() {
    let scene = Scene::<BySocket>::new();
    let server = &scene.venue.server;
    let (ana, ben) = (scene.venue.id(Who::Ana), scene.venue.id(Who::Ben));
    let (question, card) = scene.asked(RISKY);
    scene.venue.press(Who::Ana, &card, "denynote");
    let dialog = server.dialogs(ana).pop().unwrap();
    let altered = |from: &str, to: &str| {
        let mut dialog = dialog.clone();
        let state = dialog["private_metadata"]
            .as_str()
            .unwrap()
            .replace(from, to);
        dialog["private_metadata"] = json!(state);
        dialog
    };
    let rows = [
        ("another person", ben, dialog.clone()),
        ("another choice", ana, altered("denynote", "once")),
        ("another question", ana, altered("appr_", "appr_0")),
        ("no state", ana, altered("|", "")),
    ];
    for (name, who, dialog) in rows {
        let taken = server.tell(&server.submit(who, &dialog, Some("x")));
        assert_eq!(taken.status, 200, "{name}");
        assert!(
            taken.body["response_action"].is_string(),
            "{name}: {taken:?}"
        );
        scene.assert_waiting(&question, name);
    }
    scene.venue.fill_in(Who::Ana, 0, None);
    let call = scene.decided(&question);
    assert_eq!(
        (&call["status"], &call["decision"]["note"]),
        (&json!("denied"), &Value::Null)
    );
    let late = server.tell(&server.submit(ana, &dialog, Some("x")));
    let words = late.body["errors"]["words"].as_str().unwrap();
    assert!(words.contains("Already answered"), "{words}");
}

#[test]
fn a_file_of_somebody_else_never_stands_for_the_full_text() {
    let scene = Scene::<BySocket>::new();
    let command = format!("echo {}; rm -rf /srv/www", "0123456789abcdef ".repeat(1000));
    let (question, card) = scene.asked(&command);
    assert!(!card.has("once"), "{card:?}");
    let key = &card.raw["metadata"]["event_payload"]["key"];
    let title = format!("{}:full", key.as_str().unwrap());
    let server = &scene.venue.server;
    let eve = scene.venue.id(Who::Eve);
    server.share_file(eve, &card.place, &card.message, &title, "echo harmless");
    scene.venue.press(Who::Ana, &card, "view");
    scene.card_that("that allows it", |it| {
        it.subject == question.approval && it.has("once")
    });
    let whole = scene.venue.full_text(&card);
    assert!(whole.matches("0123456789abcdef").count() >= 1000, "{whole}");
}

#[test]
fn an_app_with_the_token_of_an_approver_answers_nothing() {
    let scene = Scene::<BySocket>::new();
    let (question, _) = scene.asked(RISKY);
    let server = &scene.venue.server;
    let ana = scene.venue.id(Who::Ana);
    let direct = server.direct(ana);
    let line = format!("/approve {}", question.approval);
    let by_app = server.say_by(Some("A0OTHER"), ana, &direct, None, &line);
    assert_eq!(by_app.unwrap().status, 200);
    server.say(ana, &direct, None, "/whoami").unwrap();
    let told = || server.told(ana).pop().map_or(String::new(), |it| it.text);
    assert!(server.wait(|| told().contains("ana")), "{}", told());
    scene.assert_waiting(&question, "nobody typed it");
    server.say(ana, &direct, None, &line).unwrap();
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn whoever_presses_many_times_is_looked_up_once() {
    let scene = Scene::<BySocket>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    let looked_up = || {
        let hits = server.hits();
        hits.iter().filter(|hit| hit.method == "users.info").count()
    };
    let before = looked_up();
    let presses: Vec<_> = (0..10)
        .map(|_| scene.venue.prepare(Who::Eve, &card, "once"))
        .collect();
    std::thread::scope(|scope| {
        for press in &presses {
            scope.spawn(|| scene.venue.tell(press));
        }
    });
    // A slow machine may take longer than what Slack said counts.
    assert!(looked_up() - before <= 4, "{}", looked_up() - before);
    scene.assert_waiting(&question, "a stranger");
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_trigger_that_came_too_late_opens_nothing_and_says_so() {
    let scene = Scene::<BySocket>::new();
    let (question, card) = scene.asked(RISKY);
    scene
        .venue
        .server
        .set(|it| it.trigger_within = Duration::ZERO);
    let told = scene.venue.press(Who::Ana, &card, "denynote");
    assert!(told.contains("dialog cannot be opened"), "{told}");
    scene.assert_waiting(&question, "no dialog");
    scene.venue.press(Who::Ana, &card, "deny");
    assert_eq!(scene.decided(&question)["status"], "denied");
}

#[test]
fn a_mention_talks_with_the_agent_in_its_thread_and_commands_work_there() {
    let replies = vec![
        Reply::text(["The gnu ", "is **fine**."]),
        Reply::text(["Still fine."]),
    ];
    let model = ModelServer::start(replies).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::<BySocket>::with(&json!({ "agent": agent }), Limits::None);
    let (server, room) = (&scene.venue.server, scene.venue.room.as_str());
    let ana = scene.venue.id(Who::Ana);
    server.say(ana, room, None, "how is the gnu?").unwrap();
    server
        .say(ana, room, None, &format!("{BOT} how is the gnu?"))
        .unwrap();
    let in_thread = |words: &str| {
        let messages = server.messages(room);
        let found = messages
            .into_iter()
            .find(|it| it["readable"].as_str().unwrap().contains(words));
        found.filter(|it| it["thread_ts"].is_string())
    };
    assert!(server.wait(|| in_thread("The gnu is fine.").is_some()));
    let answer = in_thread("The gnu is fine.").unwrap();
    let thread = answer["thread_ts"].as_str().unwrap();
    let asked = server
        .messages(room)
        .into_iter()
        .find(|it| it["ts"] == thread)
        .unwrap();
    assert!(asked["text"].as_str().unwrap().starts_with(BOT), "{asked}");
    server
        .say(ana, room, Some(thread), &format!("{BOT} /model"))
        .unwrap();
    let told = || server.told(ana).pop().map_or(String::new(), |it| it.text);
    assert!(server.wait(|| told().contains(MODEL)), "{}", told());
    server
        .say(
            scene.venue.id(Who::Eve),
            room,
            None,
            &format!("{BOT} hello"),
        )
        .unwrap();
    let eve = scene.venue.id(Who::Eve);
    let direct = server.direct(eve);
    assert!(
        server.wait(|| !server.messages(&direct).is_empty()),
        "a stranger is told so"
    );
    server
        .say(ana, room, Some(thread), &format!("and now {BOT}?"))
        .unwrap();
    assert!(server.wait(|| in_thread("Still fine.").is_some()));
    assert_eq!(model.requests().len(), 2, "nothing else was heard");
    assert_nothing_was_refused(server);
}

#[test]
fn what_was_written_while_the_gateway_was_away_is_answered_once() {
    let replies = vec![Reply::text(["First."]), Reply::text(["Second."])];
    let model = ModelServer::start(replies).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let mut scene = Scene::<BySocket>::with(&json!({ "agent": agent }), Limits::None);
    scene.venue.say(Who::Ana, "one");
    scene.reads(Who::Ana, "First.");
    scene.gateway.stop();
    let ana = scene.venue.id(Who::Ana).to_owned();
    assert!(
        scene
            .venue
            .server
            .wait(|| scene.venue.server.connections() == 0)
    );
    let direct = scene.venue.server.direct(&ana);
    let unheard = scene.venue.server.say(&ana, &direct, None, "two").unwrap();
    assert_eq!(unheard.status, 0, "nobody is there");
    scene.gateway = scene.gateway.started_again();
    scene.venue.lead_to(&scene.gateway);
    scene.reads(Who::Ana, "Second.");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_card_that_was_deleted_while_it_waits_is_posted_again_and_works() {
    let scene = Scene::<BySocket>::new();
    let (question, card) = scene.asked(RISKY);
    scene
        .venue
        .server
        .delete(&card.place, &card.message)
        .unwrap();
    let again = scene.card_that("again", |it| {
        it.subject == question.approval && it.message != card.message
    });
    scene.venue.press(Who::Ana, &again, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn without_a_channel_each_approver_is_asked_directly_and_mentions_are_people() {
    let scene = scene_with(
        open(),
        &json!({ "channel": null, "mention": null }),
        &json!({}),
    );
    let (question, card) = scene.asked(RISKY);
    assert!(card.place.starts_with('D'), "{card:?}");
    assert!(
        scene
            .venue
            .server
            .wait(|| scene.cards_about(&question.approval).len() == 2)
    );
    scene
        .venue
        .press(Who::Ana, &scene.cards_about(&question.approval)[0], "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    let all_settled = || {
        scene
            .cards_about(&question.approval)
            .iter()
            .all(|it| it.buttons.is_empty())
    };
    assert!(scene.venue.server.wait(all_settled));

    let scene = scene_with(open(), &json!({ "mention": null }), &json!({}));
    let (_, card) = scene.asked(RISKY);
    let mention = format!("<@{}>", scene.venue.id(Who::Ana));
    assert!(card.text.contains(&mention), "{card:?}");
}

#[test]
fn every_command_is_typed_behind_the_one_and_its_usage_is_told_so() {
    let scene = Scene::<BySocket>::new();
    let help = scene.venue.command(Who::Ana, "/help");
    for row in TABLE {
        let typed = format!("/countersign {}", row.name);
        assert!(help.contains(&typed), "{typed}: {help}");
    }
    assert_eq!(
        scene.venue.command(Who::Ana, "/"),
        help,
        "nothing asks for help"
    );
    let usage = scene.venue.command(Who::Ana, "/show");
    assert!(usage.contains("usage: /countersign show ID"), "{usage}");
    let unknown = scene.venue.command(Who::Ana, "/explode");
    assert!(unknown.contains("/countersign help"), "{unknown}");
}

#[test]
fn requests_are_answered_only_where_they_are_configured() {
    let scene = Scene::<Slack<false>>::new();
    let server = &scene.venue.server;
    let challenge =
        json!({ "type": "url_verification", "challenge": "c1", "token": "dead" }).to_string();
    let at = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs()
        .to_string();
    let signature = server.sign(&at, &challenge);
    let kind = "application/json";
    let url = scene.venue.route("action");
    let answered = server.request(&url, &challenge, kind, Some(&at), Some(&signature));
    assert_eq!(
        (answered.status, &answered.body["challenge"]),
        (200, &json!("c1"))
    );
    let unsigned = server.request(&url, &challenge, kind, None, None);
    assert_eq!(
        (unsigned.status, unsigned.body.get("challenge")),
        (401, None)
    );
    let scene = Scene::<BySocket>::new();
    let url = scene.venue.route("action");
    let answered = scene
        .venue
        .server
        .request(&url, &challenge, kind, Some(&at), Some(&signature));
    assert_eq!(answered.status, 404);
}

fn findings(scene: &Scene<BySocket>) -> Vec<Value> {
    let output = ours(&scene.gateway.home())
        .args([
            "channels",
            "doctor",
            "slack",
            "--json",
            "--url",
            &scene.gateway.url,
        ])
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = said.to_string();
    for secret in [
        scene.venue.server.bot_token(),
        scene.venue.server.app_token(),
    ] {
        assert!(!text.contains(secret), "{text}");
    }
    said["findings"].as_array().unwrap().clone()
}

fn assert_finds(scene: &Scene<BySocket>, check: &str, words: &str) {
    let findings = findings(scene);
    let found = findings
        .iter()
        .find(|it| it["found"].as_str().unwrap().contains(words));
    let found = found.unwrap_or_else(|| panic!("{check}: {words}: {findings:#?}"));
    assert_eq!(found["check"], check, "{found}");
    assert_ne!(found["state"], "good", "{found}");
    assert_ne!(found["fix"], "", "{found}");
}

#[test]
fn the_doctor_finds_nothing_wrong_where_all_is_well() {
    let scene = Scene::<BySocket>::new();
    for finding in findings(&scene) {
        assert_eq!(finding["state"], "good", "{finding}");
    }
}

#[test]
fn the_doctor_finds_the_usual_mistakes() {
    type Break = fn(&Slack<true>);
    let rows: [(&str, &str, Break); 10] = [
        ("token", "token_revoked", |it| {
            it.server.set(|it| it.is_revoked = true);
        }),
        ("scopes", "users:read (to see whether", |it| {
            it.server
                .set(|it| it.scopes.retain(|scope| scope != "users:read"));
        }),
        ("connection", "socket_mode_disabled", |it| {
            it.server.set(|it| it.has_sockets = false);
        }),
        ("app", "the bot's token is of A0COUNTER", |it| {
            it.server
                .set(|it| it.other_app = Some("A0OTHER".to_owned()));
        }),
        ("channel", "the bot is not in #approvals", |it| {
            it.server.change_channel(&it.room, false, false, false);
        }),
        ("channel", "is archived", |it| {
            it.server.change_channel(&it.room, true, false, true);
        }),
        ("shared channel", "shared with another organisation", |it| {
            it.server.change_channel(&it.room, false, true, true);
        }),
        ("account", "is deactivated", |it| {
            it.server
                .change_account(it.id(Who::Ana), |it| it.is_deleted = true);
        }),
        ("account", "is of another organisation", |it| {
            it.server
                .change_account(it.id(Who::Ana), |it| it.is_stranger = true);
        }),
        ("account", "is a bot's", |it| {
            it.server
                .change_account(it.id(Who::Ana), |it| it.is_bot = true);
        }),
    ];
    for (check, words, breaks) in rows {
        let scene = Scene::<BySocket>::new();
        breaks(&scene.venue);
        assert_finds(&scene, check, words);
    }
}

#[test]
fn the_doctor_finds_mistakes_of_the_configuration() {
    let venue = open();
    venue.server.set(|it| it.other_connections = 2);
    let scene = scene_with(venue, &json!({}), &json!({}));
    assert_finds(&scene, "other connections", "3 programs listen");
    let scene = scene_with(open(), &json!({ "channel": "C0NOWHERE" }), &json!({}));
    assert_finds(&scene, "channel", "channel_not_found");
    let people = json!([{ "name": "ana", "roles": ["approver"], "slack": "@ana" }]);
    let scene = scene_with(open(), &json!({}), &json!({ "people": people }));
    assert_finds(&scene, "account", "is no id");
    let venue = open();
    let outside = venue.server.person("zoe");
    let people = json!([{ "name": "zoe", "roles": ["approver"], "slack": outside }]);
    let mut scene = scene_with(venue, &json!({}), &json!({ "people": people }));
    assert_finds(&scene, "account", "is not in the channel");
    scene.venue.server.stop();
    assert_finds(&scene, "slack", "cannot be used");
}

#[test]
fn tokens_of_the_wrong_kind_are_refused_when_the_gateway_starts() {
    let home = tempfile::tempdir().unwrap();
    let config = json!({ "channels": { "slack": {
        "type": "slack", "token_env": TOKEN, "app_token_env": APP_TOKEN,
    } } });
    std::fs::write(home.path().join("config.yaml"), config.to_string()).unwrap();
    for (bot, app, words) in [
        ("xoxp-hunter2", "xapp-1", "xoxb-"),
        ("xoxb-1", "xoxb-hunter2", "xapp-"),
    ] {
        let output = ours(home.path())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env(TOKEN, bot)
            .env(APP_TOKEN, app)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(words) && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn the_manifest_is_printed_without_a_gateway() {
    let home = tempfile::tempdir().unwrap();
    let print = |words: &[&str]| {
        ours(home.path())
            .args(["channels", "manifest"])
            .args(words)
            .output()
            .unwrap()
    };
    let socket: Value = serde_json::from_slice(&print(&["slack"]).stdout).unwrap();
    assert_eq!(socket["settings"]["socket_mode_enabled"], true);
    let url = "https://gate.example.org/channels/slack";
    let requests = print(&["slack", "--callback-url", url]);
    let requests: Value = serde_json::from_slice(&requests.stdout).unwrap();
    let wanted = format!("{url}/action");
    assert_eq!(
        requests["settings"]["interactivity"]["request_url"],
        wanted.as_str()
    );
    let none = print(&["mattermost"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("slack"));
}

/// Slack's own SDK speaks to the strict server, so it is no mirror of our client.
#[test]
fn bolt_works_with_the_strict_server() {
    // `./test` says in this variable which Python has it.
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_SLACK_BOLT") else {
        countersign_testkit::skipped("no slack_bolt");
        return;
    };
    let server = SlackServer::start(Settings::default()).unwrap();
    let ana = server.person("ana");
    let room = server.channel("approvals", &[&ana]);
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(project.join(python))
        .arg(project.join("crates/testkit/src/slack/library.py"))
        .args([
            &server.url(),
            server.bot_token(),
            server.app_token(),
            &room,
            &ana,
        ])
        .spawn()
        .unwrap();
    let card = || {
        server
            .messages(&room)
            .into_iter()
            .find(|it| it["blocks"].is_array())
    };
    assert!(server.wait(|| card().is_some() && server.connections() == 1));
    let ts = card().unwrap()["ts"].as_str().unwrap().to_owned();
    let press = server.press(&ana, &room, &ts, "once").unwrap();
    assert_eq!(server.tell(&press).status, 200);
    assert!(
        server.wait(|| !server.dialogs(&ana).is_empty()),
        "it opens no dialog"
    );
    let dialog = server.dialogs(&ana).pop().unwrap();
    let taken = server.tell(&server.submit(&ana, &dialog, Some("use staging")));
    assert_eq!(taken.status, 200);
    let is_edited = || server.messages(&room)[0]["text"] == "Done: use staging";
    assert!(server.wait(is_edited), "{:?}", server.messages(&room));
    let told = server.tell_and_wait(&server.command(&ana, &room, "pending"));
    assert_eq!(told, "you typed pending");
    server
        .say(&ana, &server.direct(&ana), None, "goodbye")
        .unwrap();
    assert!(child.wait().unwrap().success());
}
