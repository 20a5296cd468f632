//! How a Matrix bot is set up: the doctor, refused settings, and `channels add`.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::own::{open, scene_with};
use super::{Matrix, unique};
use crate::ours::ours;
use crate::scene::Scene;
use crate::venue::{Venue as _, Who};

/// Returns what the doctor says, by what it looked at.
fn findings(scene: &Scene<Matrix>) -> Vec<Value> {
    let output = ours(&scene.gateway.home())
        .args([
            "channels",
            "doctor",
            "matrix",
            "--json",
            "--url",
            &scene.gateway.url,
        ])
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    said["findings"].as_array().unwrap().clone()
}

fn assert_finds(scene: &Scene<Matrix>, check: &str, words: &str) {
    let findings = findings(scene);
    let found = findings
        .iter()
        .find(|it| it["found"].as_str().unwrap().contains(words));
    let found = found.unwrap_or_else(|| panic!("{check}: {words}: {findings:#?}"));
    assert_eq!(found["check"], check, "{found}");
    assert_ne!(found["state"], "good", "{found}");
    assert_ne!(found["fix"], "", "{found}");
}

/// Ana, who created the room, sets a part of its state.
fn set_state(scene: &Scene<Matrix>, kind: &str, content: &Value) {
    let room = &scene.venue.room;
    let path = format!("/rooms/{room}/state/{kind}");
    let set = scene
        .venue
        .person(Who::Ana)
        .call("PUT", &path, Some(content));
    assert_eq!(set.status, 200, "{kind}: {set:?}");
}

#[test]
fn the_doctor_finds_nothing_wrong_where_all_is_well() {
    let scene = Scene::<Matrix>::new();
    let findings = findings(&scene);
    assert!(findings.len() >= 5, "{findings:?}");
    for finding in &findings {
        assert_eq!(finding["state"], "good", "{finding}");
        assert!(
            !finding.to_string().contains(scene.venue.bot.token()),
            "{finding}"
        );
    }
    // That nothing is encrypted is said where all is well, too.
    let said = json!(findings).to_string();
    assert!(said.contains("which is not encrypted"), "{said}");
}

#[test]
fn the_doctor_finds_the_usual_mistakes_of_a_room() {
    let rows = [
        (
            "m.room.join_rules",
            json!({ "join_rule": "public" }),
            "anybody can join",
        ),
        (
            "m.room.history_visibility",
            json!({ "history_visibility": "world_readable" }),
            "the whole world",
        ),
        (
            "m.room.tombstone",
            json!({ "body": "moved", "replacement_room": "!new:example.org" }),
            "upgraded; it goes on in !new:example.org",
        ),
    ];
    let scene = Scene::<Matrix>::new();
    for (kind, content, words) in rows {
        set_state(&scene, kind, &content);
        assert_finds(&scene, "channel", words);
    }
    let path = format!("/rooms/{}/state/m.room.power_levels", scene.venue.room);
    let ana = scene.venue.person(Who::Ana);
    let before = ana.call("GET", &path, None).body;
    for (kind, words) in [
        ("m.reaction", "not everybody may react"),
        ("m.room.message", "the bot may not write"),
    ] {
        let mut powers = before.clone();
        powers["events"][kind] = json!(50);
        set_state(&scene, "m.room.power_levels", &powers);
        assert_finds(&scene, "channel", words);
    }
    set_state(&scene, "m.room.power_levels", &before);
    let leave = format!("/rooms/{}/leave", scene.venue.room);
    scene
        .venue
        .person(Who::Ben)
        .call("POST", &leave, Some(&json!({})));
    assert_finds(&scene, "account", "ben: @ben");
    set_state(
        &scene,
        "m.room.encryption",
        &json!({ "algorithm": "m.megolm.v1.aes-sha2" }),
    );
    assert_finds(&scene, "channel", "the room is encrypted");
}

#[test]
fn the_doctor_finds_the_usual_mistakes_of_settings() {
    let rows = [
        ("!nothing:example.org", "the bot is not in"),
        ("#nothing:example.org", "leads to no room"),
    ];
    for (channel, words) in rows {
        let venue = open();
        venue.bot.join(&venue.room);
        let scene = scene_with(venue, &json!({ "channel": channel }), &json!({}));
        assert_finds(&scene, "channel", words);
    }
    let rows = [
        ("ana", "is no id"),
        ("@nobody:strict.example", "knows no"),
        ("BOT", "is the bot itself"),
    ];
    for (account, words) in rows {
        let venue = open();
        let server = venue.bot.id.split_once(':').unwrap().1.to_owned();
        let account = match account {
            "BOT" => venue.bot.id.clone(),
            account => account.replace("strict.example", &server),
        };
        let people = json!([{ "name": "ana", "roles": ["approver"], "matrix": account }]);
        let scene = scene_with(venue, &json!({}), &json!({ "people": people }));
        assert_finds(&scene, "account", words);
    }
    let mut scene = Scene::<Matrix>::new();
    let bot = &scene.venue.bot;
    assert_eq!(bot.call("POST", "/logout", Some(&json!({}))).status, 200);
    assert_finds(&scene, "token", "M_UNKNOWN_TOKEN");
    if let super::Server::Strict(server) = &mut scene.venue.server {
        server.stop();
        assert_finds(&scene, "server", "cannot be used");
    }
}

#[test]
fn settings_that_cannot_work_are_refused_when_the_gateway_starts() {
    let rows = [
        (
            json!({ "channel": "approvals" }),
            "secret-of-the-bot",
            "must be the id of a room",
        ),
        (
            json!({ "url": "http://chat.example.org" }),
            "secret-of-the-bot",
            "must be https",
        ),
        (json!({}), " ", "token is empty"),
    ];
    for (more, token, words) in rows {
        let home = tempfile::tempdir().unwrap();
        let mut section = json!({
            "type": "matrix", "url": "https://matrix.example.org", "token_env": super::TOKEN,
        });
        for (key, value) in more.as_object().unwrap() {
            section[key] = value.clone();
        }
        let config = json!({ "channels": { "matrix": section } });
        std::fs::write(home.path().join("config.yaml"), config.to_string()).unwrap();
        let output = ours(home.path())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env(super::TOKEN, token)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains(words) && !said.contains("secret-of"),
            "{said}"
        );
    }
}

/// Answers the questions of `channels add` and returns whether it succeeded, and what it said.
fn added(home: &std::path::Path, answers: &[&str]) -> (bool, String) {
    let mut child = ours(home)
        .args(["channels", "add", "matrix", "--wait", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let answers = answers.join("\n") + "\n";
    // It may have ended before it read everything.
    let _written = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn a_channel_is_added_by_answering_questions_and_nothing_is_written_that_does_not_work() {
    let venue = open();
    let (url, token) = (venue.url(), venue.bot.token());
    let (ana, room) = (venue.person(Who::Ana), venue.room.as_str());
    let algorithm = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
    let encryption = json!({ "type": "m.room.encryption", "state_key": "", "content": algorithm });
    let body = json!({ "name": "Secret", "invite": [venue.bot.id], "initial_state": [encryption] });
    let encrypted = ana.create(&body);
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.yaml");
    let wrong = unique("syt_wrong");
    let rows: [(&str, &[&str], &str); 4] = [
        (
            "a wrong address",
            &["https://127.0.0.1:1", token, "", "", ""],
            "cannot be used",
        ),
        (
            "a wrong token",
            &[&url, &wrong, "", "", ""],
            "the token is wrong",
        ),
        (
            "a wrong room",
            &[&url, token, "", "!nothing:x", ""],
            "the bot is not in",
        ),
        (
            "an encrypted room",
            &[&url, token, "", &encrypted, ""],
            "has no encryption for Matrix",
        ),
    ];
    for (name, answers, words) in rows {
        let (is_added, said) = added(home.path(), answers);
        assert!(!is_added && said.contains(words), "{name}: {said}");
        assert!(!config.exists(), "{name}");
    }
    let (is_added, said) = added(home.path(), &[&url, token, "", room, &ana.id, "ana"]);
    assert!(is_added, "{said}");
    // Whom the bot has met is listed, and the secret is not repeated.
    for shown in [
        "`Approvals`",
        "which is encrypted",
        &ana.id,
        "WITHOUT encryption",
    ] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    let written = std::fs::read_to_string(&config).unwrap();
    for text in [&said, &written] {
        assert!(!text.contains(token), "{text}");
    }
    // The gateway starts with what was written, and a practice card is answered.
    let variables = [(super::TOKEN, token)];
    let gateway = crate::support::Gateway::with_variables(&written, &variables);
    let person = json!({ "name": "ana", "roles": ["approver"], "accounts": { "matrix": ana.id } });
    assert!(gateway.post(&gateway.admin(), "/v1/people", &person).status < 300);
    let mut child = ours(&gateway.home())
        .args(["channels", "test", "matrix", "--url", &gateway.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let waiting = || venue.cards().into_iter().find(|card| card.has("once"));
    assert!(venue.wait(&|| waiting().is_some()), "no practice card came");
    venue.press(Who::Ana, &waiting().unwrap(), "once");
    assert!(child.wait().unwrap().success());
}
