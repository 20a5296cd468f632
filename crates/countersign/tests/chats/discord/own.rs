//! What only Discord does: a connection that is resumed, first answers within three seconds, tokens that
//! expire, dialogs, nonces, servers that are not ours, commands registered in one request.

use std::process::Command;
use std::time::Duration;

use countersign_core::command::TABLE;
use countersign_testkit::discord::{DiscordServer, Fault, Modal, Settings};
use countersign_testkit::model::{MODEL, ModelServer, Reply};
use serde_json::{Value, json};

use super::{Discord, TEXT, TOKEN};
use crate::scene::Scene;
use crate::support::RISKY;
use crate::venue::{Limits, Venue as _, Who};

pub(super) type ByGateway = Discord<true>;
type ByRequests = Discord<false>;

/// What posts a message.
const POST: &str = "POST /channels/_/messages";
/// What the bot is called in a message.
const BOT: &str = "<@1300000000000000002>";

pub(super) fn open() -> ByGateway {
    Discord::open(Limits::None)
}

/// Starts a scene whose channel has `more` in its section; null takes away.
pub(super) fn scene_with(venue: ByGateway, more: &Value, config: &Value) -> Scene<ByGateway> {
    let mut section = venue.section();
    for (key, value) in more.as_object().unwrap() {
        if value.is_null() {
            section.as_object_mut().unwrap().remove(key);
        } else {
            section[key] = value.clone();
        }
    }
    let mut config = config.clone();
    config["channels"] = json!({ "discord": section });
    Scene::of(venue, &config)
}

/// Starts a scene with an agent that says this.
fn talking(replies: Vec<Reply>) -> (Scene<ByGateway>, ModelServer, tempfile::TempDir) {
    let model = ModelServer::start(replies).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::with(&json!({ "agent": agent }), Limits::None);
    (scene, model, work)
}

/// Fails if Discord had anything to object to in what it was asked.
fn assert_nothing_was_refused(server: &DiscordServer) {
    let hits = server.hits();
    let refused: Vec<_> = hits.iter().filter(|hit| !hit.error.is_empty()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn a_connection_that_drops_is_resumed_and_nothing_is_lost_or_doubled() {
    type Break = fn(&DiscordServer);
    let replies = vec![Reply::text(["The gnu is fine."])];
    let (scene, model, _work) = talking(replies);
    let server = &scene.venue.server;
    let (question, card) = scene.asked(RISKY);
    server.cut_connections();
    // Both happen while nobody listens.
    scene.venue.say(Who::Ana, "how is the gnu?");
    let press = scene.venue.prepare(Who::Ben, &card, "deny");
    let told = server.tell_and_wait(&press.payload);
    assert!(!told.is_empty(), "{told}");
    assert_eq!(scene.decided(&question)["decision"]["by"], "ben");
    scene.reads(Who::Ana, "The gnu is fine.");
    assert_eq!(model.requests().len(), 1);
    assert_eq!(server.sessions(), (1, 1));
    // What Discord asks for, or says with a number, is no loss either.
    let rows: [(&str, Break, (u64, u64)); 5] = [
        (
            "asked to reconnect",
            DiscordServer::ask_to_reconnect,
            (1, 2),
        ),
        ("closed", |it| it.close_connections(4000), (1, 3)),
        ("to be resumed", |it| it.invalidate_sessions(true), (1, 4)),
        ("timed out", |it| it.close_connections(4009), (2, 4)),
        ("invalid", |it| it.invalidate_sessions(false), (3, 4)),
    ];
    for (name, breaks, sessions) in rows {
        let (question, card) = scene.asked(&format!("rm -rf /srv/{}", name.replace(' ', "-")));
        breaks(server);
        assert!(
            server.wait(|| server.sessions() == sessions),
            "{name}: {:?}",
            server.sessions()
        );
        scene.venue.press(Who::Ana, &card, "once");
        assert_eq!(scene.decided(&question)["status"], "approved", "{name}");
        assert_eq!(scene.cards_about(&question.approval).len(), 1, "{name}");
    }
    assert_eq!(model.requests().len(), 1, "nothing was heard twice");
    assert_nothing_was_refused(server);
}

#[test]
fn what_comes_again_after_a_resume_counts_once() {
    let (scene, model, _work) = talking(vec![Reply::text(["Once."]), Reply::text(["Twice."])]);
    let server = &scene.venue.server;
    let (question, card) = scene.asked(RISKY);
    let press = scene.venue.prepare(Who::Ana, &card, "session");
    scene.venue.tell(&press);
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.venue.say(Who::Ana, "hello");
    scene.reads(Who::Ana, "Once.");
    // The same press in another event is refused, and said to nobody, because it was acknowledged.
    scene.venue.tell(&press);
    let is_refused = || {
        let hits = server.hits();
        let last = hits.iter().rfind(|it| it.route.contains("/callback"));
        last.is_some_and(|it| it.status == 400)
    };
    assert!(server.wait(is_refused), "{:?}", server.hits());
    let entries = crate::suite::entries(&scene, "approval.resolved");
    assert_eq!((entries, model.requests().len()), (1, 1));
}

#[test]
fn a_connection_without_heartbeats_is_given_up_and_resumed() {
    let venue = open();
    venue
        .server
        .set(|it| it.heartbeat = Duration::from_millis(300));
    let scene = Scene::of(venue, &json!({}));
    let server = &scene.venue.server;
    server.ask_for_heartbeat();
    let (question, card) = scene.asked(RISKY);
    server.set(|it| it.answers_heartbeats = false);
    assert!(
        server.wait(|| server.sessions().1 >= 1),
        "it is not resumed"
    );
    server.set(|it| it.answers_heartbeats = true);
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(server.sessions().0, 1, "one session");
}

#[test]
fn a_restarted_gateway_resumes_and_hears_what_was_written_meanwhile_once() {
    let (scene, model, _work) = talking(vec![Reply::text(["First."]), Reply::text(["Second."])]);
    scene.venue.say(Who::Ana, "one");
    scene.reads(Who::Ana, "First.");
    let scene = scene.restarted_after(|scene| {
        let server = &scene.venue.server;
        assert!(server.wait(|| server.connections() == 0));
        scene.venue.say(Who::Ana, "two");
    });
    scene.reads(Who::Ana, "Second.");
    assert_eq!(model.requests().len(), 2);
    let (begun, resumed) = scene.venue.server.sessions();
    assert_eq!((begun, resumed >= 1), (1, true));
}

#[test]
fn requests_count_only_signed_by_discord_in_time_and_once() {
    let scene = Scene::<ByRequests>::new();
    let (venue, server) = (&scene.venue, &scene.venue.server);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let at = now.as_secs().to_string();
    let ping = json!({ "type": 1, "id": "1", "application_id": "2", "token": "x", "version": 1 });
    let ping = ping.to_string();
    let sent = |at: &str, body: &str, signature: &str| {
        server.request(&venue.route(), body, Some(at), Some(signature))
    };
    let good = server.sign(&at, &ping);
    assert_eq!(sent(&at, &ping, &good), (200, json!({ "type": 1 })));
    let rows = [
        ("another time", "1786000000", &*ping, &*good),
        ("another body", &at, "{\"type\":1}", &good),
        ("a short signature", &at, &ping, good.get(..126).unwrap()),
        ("no hexadecimal", &at, &ping, &"zz".repeat(64)),
        ("nothing", &at, &ping, ""),
    ];
    for (name, at, body, signature) in rows {
        assert_eq!(sent(at, body, signature).0, 401, "{name}");
    }
    // A genuine request that somebody recorded and sends again changes nothing.
    let (first, card) = scene.asked(RISKY);
    let press = venue.prepare(Who::Ana, &card, "deny");
    let body = press.payload.to_string();
    let signature = server.sign(&at, &body);
    let (status, answer) = sent(&at, &body, &signature);
    assert_eq!((status, &answer["type"]), (200, &json!(7)), "{answer}");
    assert_eq!(scene.decided(&first)["status"], "denied");
    let (status, answer) = sent(&at, &body, &signature);
    assert_eq!(status, 200);
    let words = answer["data"]["content"].as_str().unwrap();
    assert!(words.contains("Nothing was changed"), "{answer}");
    assert_eq!(crate::suite::entries(&scene, "approval.resolved"), 1);
}

#[test]
fn by_the_gateway_no_request_is_taken() {
    let scene = Scene::<ByGateway>::new();
    let (question, card) = scene.asked(RISKY);
    let press = scene.venue.prepare(Who::Ana, &card, "once");
    let body = press.payload.to_string();
    let signature = scene.venue.server.sign("1", &body);
    let url = scene.venue.route();
    let sent = scene
        .venue
        .server
        .request(&url, &body, Some("1"), Some(&signature));
    assert_eq!(sent.0, 404);
    scene.assert_waiting(&question, "a request");
}

#[test]
fn a_button_works_though_the_token_of_its_press_has_expired() {
    let scene = Scene::<ByGateway>::new();
    let server = &scene.venue.server;
    server.set(|it| it.token_within = Duration::ZERO);
    let ana = scene.venue.id(Who::Ana).to_owned();
    let direct = server.direct(&ana);
    let (question, card) = scene.asked(RISKY);
    let before = server.messages(&direct).len();
    let press = scene.venue.prepare(Who::Ana, &card, "once");
    assert_eq!(server.tell(&press.payload), 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    // What cannot be said with the token is said in her own conversation.
    assert!(server.wait(|| server.messages(&direct).len() > before));
    assert!(server.told(&ana).is_empty());
    // A press that nobody could acknowledge in time counts, too, and the bot changes the card.
    server.set(|it| it.first_within = Duration::ZERO);
    let (question, card) = scene.asked("rm -rf /srv/late");
    let press = scene.venue.prepare(Who::Ana, &card, "deny");
    assert_eq!(server.tell(&press.payload), 200);
    assert_eq!(scene.decided(&question)["status"], "denied");
    let settled = scene.settled(&question.approval);
    assert_eq!(settled.message, card.message);
    assert!(settled.text.contains("Denied"), "{settled:?}");
}

#[test]
fn a_dialog_counts_only_as_it_was_opened_and_only_for_whom() {
    let scene = Scene::<ByGateway>::new();
    let server = &scene.venue.server;
    let (ana, ben) = (scene.venue.id(Who::Ana), scene.venue.id(Who::Ben));
    let (question, card) = scene.asked(RISKY);
    scene.venue.press(Who::Ana, &card, "denynote");
    let modal = server.modals(ana).pop().unwrap();
    assert_eq!(modal.data["title"], "Deny with a note");
    let state = modal.data["custom_id"].as_str().unwrap();
    let altered = |state: String| {
        let mut modal = modal.clone();
        modal.data["custom_id"] = json!(state);
        modal
    };
    let part = |range: std::ops::Range<usize>| state.get(range).unwrap();
    let end = state.len();
    let once = format!("{}o{}", part(0..28), part(29..end));
    let later = format!("{}zzzzzzz{}", part(0..29), part(36..end));
    let as_button = format!("1{}{}", part(1..29), part(36..end));
    let rows: [(&str, &str, Modal); 5] = [
        ("another person", ben, modal.clone()),
        ("another choice", ana, altered(once)),
        ("a later end", ana, altered(later)),
        ("a button", ana, altered(as_button)),
        ("no state", ana, altered("x".to_owned())),
    ];
    for (name, who, modal) in rows {
        let told = server.tell_and_wait(&server.submit(who, &modal, Some("x")).unwrap());
        assert!(!told.is_empty(), "{name}");
        scene.assert_waiting(&question, name);
    }
    let note = "not `before` Monday, @everyone";
    scene.venue.fill_in(Who::Ana, 0, Some(note));
    let call = scene.decided(&question);
    assert_eq!(call["decision"]["note"], note, "{call}");
    let settled = scene.settled(&question.approval);
    assert!(scene.venue.acts_on(&settled).is_empty(), "{settled:?}");
    let late = server.tell_and_wait(&server.submit(ana, &modal, Some("x")).unwrap());
    assert!(late.contains("Already answered"), "{late}");
}

#[test]
fn a_card_whose_posting_was_not_confirmed_is_posted_once() {
    let scene = Scene::<ByGateway>::new();
    let server = &scene.venue.server;
    server.fail(POST, Fault::DropAfter, 1);
    let (question, card) = scene.asked(RISKY);
    scene.venue.press(Who::Ana, &card, "deny");
    scene.decided(&question);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
    // Also when Discord has forgotten the nonce.
    server.set(|it| it.nonce_within = Duration::ZERO);
    server.fail(POST, Fault::DropAfter, 1);
    let (question, card) = scene.asked("rm -rf /srv/again");
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
    assert!(
        server.count("GET /channels/_/messages") > 0,
        "it was looked for"
    );
}

#[test]
fn a_gateway_that_was_killed_while_it_posted_posts_no_second_card() {
    let mut scene = Scene::<ByGateway>::new();
    scene
        .venue
        .server
        .set(|it| it.nonce_within = Duration::ZERO);
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
fn a_card_that_was_deleted_while_it_waits_is_posted_again_and_works() {
    let scene = Scene::<ByGateway>::new();
    let (question, card) = scene.asked(RISKY);
    scene.venue.server.delete(&card.place, &card.message);
    let again = scene.card_that("again", |it| {
        it.subject == question.approval && it.message != card.message
    });
    scene.venue.press(Who::Ana, &again, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn cards_that_are_deleted_one_after_the_other_are_all_posted_again_once() {
    let scene = Scene::<ByGateway>::new();
    let asked = [RISKY, "rm -rf /srv/mail"].map(|command| scene.asked(command));
    for (question, card) in asked {
        scene.venue.server.delete(&card.place, &card.message);
        let again = scene.card_that("again", |it| {
            it.subject == question.approval && it.message != card.message
        });
        scene.venue.press(Who::Ana, &again, "once");
        assert_eq!(scene.decided(&question)["status"], "approved");
        assert_eq!(scene.cards_about(&question.approval).len(), 1);
    }
}

#[test]
fn a_file_of_somebody_else_never_stands_for_the_full_text() {
    let scene = Scene::<ByGateway>::new();
    let command = format!("echo {}; rm -rf /srv/www", "0123456789abcdef ".repeat(1000));
    let (question, card) = scene.asked(&command);
    assert!(!card.has("once"), "{card:?}");
    let server = &scene.venue.server;
    let eve = scene.venue.id(Who::Eve);
    server.share_file(eve, &card.place, &card.message, "echo harmless");
    scene.venue.press(Who::Ana, &card, "view");
    scene.card_that("that allows it", |it| {
        it.subject == question.approval && it.has("once")
    });
    let whole = scene.venue.full_text(&card);
    assert!(whole.matches("0123456789abcdef").count() >= 1000, "{whole}");
    let files = || {
        let messages = server.messages(&card.place).into_iter();
        let ours = messages.filter(|it| it.author != *eve && !it.files.is_empty());
        ours.count()
    };
    assert_eq!(files(), 1);
    scene.venue.press(Who::Ben, &card, "view");
    assert_eq!(files(), 1, "it is shown once");
}

#[test]
fn people_of_another_server_are_refused_alone_even_if_they_are_listed() {
    let scene = Scene::<ByGateway>::new();
    let (question, _) = scene.asked(RISKY);
    let (server, ana) = (&scene.venue.server, scene.venue.id(Who::Ana));
    let other = server.guild("Other", &[ana]);
    let place = server.channel(&other, "general", TEXT);
    assert!(server.wait(|| !server.commands().is_empty()));
    for (name, rest) in [("approve", question.approval.as_str()), ("pending", "")] {
        let typed = server.command(ana, &place, name, rest).unwrap();
        let told = server.tell_and_wait(&typed);
        assert!(told.contains("another organisation"), "{name}: {told}");
        assert!(!told.contains(RISKY), "{name}: {told}");
        scene.assert_waiting(&question, name);
    }
    assert!(server.messages(&place).is_empty(), "nobody else reads it");
    let eve = scene.venue.id(Who::Eve);
    let typed = server
        .command(eve, &scene.venue.room, "pending", "")
        .unwrap();
    let told = server.tell_and_wait(&typed);
    assert!(told.contains("may not answer"), "{told}");
    let typed = server
        .command(ana, &scene.venue.room, "pending", "")
        .unwrap();
    assert!(server.tell_and_wait(&typed).contains(&question.approval));
}

#[test]
fn only_those_who_may_answer_are_mentioned_and_nobody_twice() {
    let scene = scene_with(open(), &json!({ "mention": null }), &json!({}));
    let (server, room) = (&scene.venue.server, &scene.venue.room);
    let (question, card) = scene.asked("echo '@everyone <@1>'; rm -rf /srv/www");
    let message = || {
        let mut messages = server.messages(room).into_iter();
        messages.find(|it| it.id == card.message).unwrap()
    };
    let mut pings = message().pings;
    pings.sort();
    let mut wanted = vec![scene.venue.account(Who::Ana), scene.venue.account(Who::Ben)];
    wanted.sort();
    assert_eq!(pings, wanted);
    scene.venue.press(Who::Ana, &card, "deny");
    let settled = scene.settled(&question.approval);
    assert!(!settled.text.contains("<@1300"), "{settled:?}");
    let edited = message();
    assert_eq!(edited.edits, 1, "painted once, by the answer to the press");
    assert!(!edited.content.contains("<@"), "{}", edited.content);
}

#[test]
fn commands_are_registered_by_one_request_and_only_when_they_differ() {
    let put = "PUT /applications/_/commands";
    let scene = Scene::<ByGateway>::new();
    let server = &scene.venue.server;
    assert!(server.wait(|| !server.commands().is_empty()));
    let commands = server.commands();
    let names: Vec<&str> = commands
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let wanted: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names, wanted);
    let get = "GET /applications/_/commands";
    let mut scene = scene.restarted();
    let server = &scene.venue.server;
    assert!(server.wait(|| server.count(get) == 2));
    assert_eq!(server.count(put), 1, "nothing has changed");
    scene.gateway.stop();
    let config = scene.gateway.home().join("config.yaml");
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&config).unwrap()).unwrap();
    kept["channels"]["discord"]["commands"] = json!(false);
    std::fs::write(&config, kept.to_string()).unwrap();
    scene.gateway = scene.gateway.started_again();
    let server = &scene.venue.server;
    assert!(server.wait(|| server.commands().is_empty()));
    assert_eq!(server.count(put), 2);
    assert_nothing_was_refused(server);
}

#[test]
fn a_long_reply_to_a_command_comes_in_several_parts_that_one_person_reads() {
    let scene = Scene::<ByGateway>::new();
    let command = format!("echo {}; rm -rf /srv/www", "0123456789abcdef ".repeat(300));
    let (question, _) = scene.asked(&command);
    let ana = scene.venue.id(Who::Ana);
    let server = &scene.venue.server;
    let line = format!("/show {}", question.approval);
    let told = scene.venue.command(Who::Ana, &line);
    assert!(told.contains("sent to you directly"), "{told}");
    let messages = server.messages(&server.direct(ana)).into_iter();
    let sent: String = messages.map(|it| it.content).collect();
    assert!(sent.matches("0123456789abcdef").count() >= 280, "{sent}");
    // It was read, so that now the reply carries it.
    scene.venue.command(Who::Ana, &line);
    let parts = || server.told(ana);
    let count = || {
        let parts = parts().into_iter();
        parts
            .map(|it| it.text.matches("0123456789abcdef").count())
            .sum::<usize>()
    };
    assert!(server.wait(|| count() >= 280), "{}", count());
    assert!(parts().len() > 2, "{:?}", parts());
    for part in parts() {
        assert_eq!(part.text.matches("```").count() % 2, 0, "{part:?}");
    }
    assert_nothing_was_refused(server);
}

#[test]
fn what_could_not_be_sent_does_not_count_as_read() {
    let scene = Scene::<ByGateway>::new();
    let command = format!("echo {}; rm -rf /srv/www", "0123456789abcdef ".repeat(300));
    let (question, _) = scene.asked(&command);
    let approve = format!("/approve {}", question.approval);
    scene.venue.server.fail(POST, Fault::Status(500), 1);
    let told = scene
        .venue
        .command(Who::Ana, &format!("/show {}", question.approval));
    assert!(told.contains("does not count as read"), "{told}");
    let told = scene.venue.command(Who::Ana, &approve);
    scene.assert_waiting(&question, &told);
}

#[test]
fn the_agent_answers_whoever_mentions_it_by_edits_of_one_message() {
    let words: Vec<String> = (0..40).map(|number| format!("word{number} ")).collect();
    let pieces = words
        .iter()
        .map(String::as_str)
        .chain(["@everyone [a](http://evil.example) The end."]);
    let slow = Reply::text(pieces).slowly(Duration::from_millis(50));
    let (scene, model, _work) = talking(vec![slow]);
    let (server, room) = (&scene.venue.server, &scene.venue.room);
    scene.venue.say(Who::Eve, "do something");
    scene.reads(Who::Eve, "may not answer");
    let ana = scene.venue.id(Who::Ana);
    server.say(ana, room, "nothing for the bot").unwrap();
    server.say(ana, room, &format!("{BOT} hello")).unwrap();
    scene.reads(Who::Ana, "The end.");
    assert_eq!(model.requests().len(), 1);
    assert!(
        !model.requests()[0]
            .to_string()
            .contains("1300000000000000002")
    );
    let messages = server.messages(room);
    let answer = messages
        .iter()
        .find(|it| it.content.contains("The end."))
        .unwrap();
    assert!(
        (1..=5).contains(&answer.edits),
        "about one a second: {}",
        answer.edits
    );
    assert!(answer.pings.is_empty(), "{:?}", answer.pings);
    assert!(answer.found().is_empty(), "{:?}", answer.found());
    assert!(server.count("POST /channels/_/typing") > 0);
}

#[test]
fn without_a_channel_each_approver_is_asked_directly() {
    let more = json!({ "channel": null, "guild": null });
    let scene = scene_with(open(), &more, &json!({}));
    let server = &scene.venue.server;
    let (question, _) = scene.asked(RISKY);
    assert!(server.wait(|| scene.cards_about(&question.approval).len() == 2));
    let direct = server.direct(scene.venue.id(Who::Ana));
    let cards = scene.cards_about(&question.approval);
    let hers = cards.iter().find(|it| it.place == direct).unwrap();
    scene.venue.press(Who::Ana, hers, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    let all_settled = || {
        let cards = scene.cards_about(&question.approval);
        cards.iter().all(|it| it.buttons.is_empty())
    };
    assert!(server.wait(all_settled));
}

/// A program that ends with the test, however that ends: discord.py would try to connect for ever.
struct Child(std::process::Child);

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill().is_ok();
    }
}

/// discord.py speaks to the strict server, so it is no mirror of our client.
#[test]
fn discord_py_works_with_the_strict_server() {
    // `./test` says in this variable which Python has it.
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_DISCORD_PY") else {
        countersign_testkit::skipped("no discord.py");
        return;
    };
    let server = DiscordServer::start(Settings::default()).unwrap();
    let ana = server.person("ana");
    let guild = server.guild("Example", &[&ana]);
    let room = server.channel(&guild, "approvals", TEXT);
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Child(
        Command::new(project.join(python))
            .arg(project.join("crates/testkit/src/discord/library.py"))
            .args([&server.url(), &server.gateway_url(), server.token(), &room])
            .spawn()
            .unwrap(),
    );
    let card = || {
        let mut messages = server.messages(&room).into_iter();
        messages.find(|it| !it.buttons().is_empty())
    };
    // The library knows its own button once the request that posted it has returned; this one follows it.
    let is_ready = || card().is_some() && !server.commands().is_empty();
    assert!(
        server.wait(is_ready),
        "it posts no button or registers no command"
    );
    let message = card().unwrap();
    let press = server.press(&ana, &room, &message.id, "once").unwrap();
    server.tell(&press);
    assert!(
        server.wait(|| !server.modals(&ana).is_empty()),
        "it opens no dialog"
    );
    let modal = server.modals(&ana).pop().unwrap();
    let sent = server.submit(&ana, &modal, Some("use staging")).unwrap();
    assert_eq!(server.tell_and_wait(&sent), "thank you");
    let is_edited = || server.messages(&room)[0].content == "Done: use staging";
    assert!(server.wait(is_edited), "{:?}", server.messages(&room));
    let typed = server.command(&ana, &room, "pending", "").unwrap();
    assert_eq!(server.tell_and_wait(&typed), "nothing waits");
    server.cut_connections();
    server.say(&ana, &server.direct(&ana), "goodbye").unwrap();
    assert!(child.0.wait().unwrap().success());
    assert_eq!(server.sessions(), (1, 1), "it resumed");
}

/// The token is in the variable that the guide names.
#[test]
fn the_guide_names_the_variable_of_the_token() {
    let project = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(project.join("docs/discord.md")).unwrap();
    assert!(guide.contains(&format!("export {TOKEN}=")), "{guide}");
}
