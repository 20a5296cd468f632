//! How a Telegram bot is set up: the doctor, refused settings, and `channels add`.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use countersign_testkit::telegram::TelegramServer;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

use super::own::{open, scene_with};
use super::{GROUP, Telegram};
use crate::ours::ours;
use crate::scene::Scene;
use crate::support::{client, said};
use crate::venue::{Venue as _, Who};

/// Returns what the doctor says, by what it looked at.
fn findings(scene: &Scene<Telegram>) -> Vec<Value> {
    let output = ours(&scene.gateway.home())
        .args([
            "channels",
            "doctor",
            "telegram",
            "--json",
            "--url",
            &scene.gateway.url,
        ])
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    said["findings"].as_array().unwrap().clone()
}

#[test]
fn the_doctor_finds_nothing_wrong_where_all_is_well() {
    let scene = Scene::<Telegram>::new();
    scene.venue.wait(&|| scene.venue.server.menu().is_array());
    let findings = findings(&scene);
    assert!(findings.len() >= 6, "{findings:?}");
    for finding in &findings {
        assert_eq!(finding["state"], "good", "{finding}");
        assert!(
            !finding.to_string().contains(scene.venue.server.token()),
            "{finding}"
        );
    }
}

#[test]
fn the_doctor_finds_the_usual_mistakes() {
    type Break = fn(&TelegramServer);
    let rows: [(&str, &str, Break); 6] = [
        ("channel", "is not in", |server| {
            server.set_member(GROUP, server.bot(), "left");
        }),
        ("channel", "may not write", |server| {
            server.set_member(GROUP, server.bot(), "restricted");
        }),
        ("channel", "cannot be seen", |server| {
            server.set_member(GROUP, server.bot(), "kicked");
        }),
        ("channel", "supergroup", |server| {
            server.upgrade(GROUP, -1_002_000_000_002);
        }),
        (
            "privacy",
            "every message",
            TelegramServer::read_all_messages,
        ),
        ("account", "not in the group", |server| {
            server.set_member(GROUP, 1002, "left");
        }),
    ];
    for (check, words, breaks) in rows {
        let scene = Scene::<Telegram>::new();
        breaks(&scene.venue.server);
        assert_finds(&scene, check, words);
    }
    let sections = [
        (
            "channel",
            "has no topics",
            json!({ "channel": format!("{GROUP}/9") }),
        ),
        ("channel", "cannot be seen", json!({ "channel": "-100777" })),
    ];
    for (check, words, more) in sections {
        let scene = scene_with(open(), &more, &json!({}));
        assert_finds(&scene, check, words);
    }
    for (account, words) in [("@ana", "is no id"), ("700", "may not write to 700")] {
        let venue = open();
        venue.server.stranger(700, "shy");
        let people = json!([{ "name": "ana", "roles": ["approver"], "telegram": account }]);
        let scene = scene_with(venue, &json!({}), &json!({ "people": people }));
        assert_finds(&scene, "account", words);
    }
    // A webhook that somebody else has set, and a second program that polls.
    let scene = Scene::<Telegram>::new();
    let call = |method: &str, body: &Value| {
        let url = format!(
            "{}/bot{}/{method}",
            scene.venue.server.url(),
            scene.venue.server.token()
        );
        said(client().post(url).json(body)).status
    };
    assert_eq!(
        call(
            "setWebhook",
            &json!({ "url": "https://other.example/hook-of-a-secret" })
        ),
        200
    );
    assert_finds(&scene, "updates", "a webhook is set to other.example,");
    assert_eq!(call("deleteWebhook", &json!({})), 200);
    // A server that is away, last of all.
    let mut scene = scene;
    scene.venue.server.stop();
    assert_finds(&scene, "server", "cannot be used");
}

fn assert_finds(scene: &Scene<Telegram>, check: &str, words: &str) {
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
fn a_token_that_is_none_is_refused_when_the_gateway_starts() {
    let home = tempfile::tempdir().unwrap();
    let config =
        json!({ "channels": { "telegram": { "type": "telegram", "token_env": super::TOKEN } } });
    std::fs::write(home.path().join("config.yaml"), config.to_string()).unwrap();
    let output = ours(home.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env(super::TOKEN, "hunter2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("BotFather") && !said.contains("hunter2"),
        "{said}"
    );
}

/// Answers the questions of `channels add` and returns whether it succeeded, and what it said.
fn added(home: &std::path::Path, server: &TelegramServer, answers: &[&str]) -> (bool, String) {
    let mut child = ours(home)
        .args(["channels", "add", "telegram", "--wait", "0", "--set"])
        .arg(format!("url={}", server.url()))
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
    let (server, ana) = (&venue.server, Telegram::id(Who::Ana).to_string());
    server.say(Telegram::id(Who::Ana), GROUP, None, "/whoami");
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.yaml");
    let group = GROUP.to_string();
    let wrong = "700000001:AAF-another_token_of_nobody";
    let rows: [(&str, &[&str], &str); 4] = [
        ("no token", &["hunter2", ""], "BotFather"),
        (
            "a person",
            &[server.token(), "", &ana, ""],
            "the id of a person",
        ),
        (
            "a wrong token",
            &[wrong, "", "", ""],
            "token is wrong or was revoked",
        ),
        (
            "a wrong group",
            &[server.token(), "", "-100777", ""],
            "cannot be seen",
        ),
    ];
    for (name, answers, words) in rows {
        let (is_added, said) = added(home.path(), server, answers);
        assert!(!is_added && said.contains(words), "{name}: {said}");
        assert!(!config.exists(), "{name}");
    }
    let (is_added, said) = added(
        home.path(),
        server,
        &[server.token(), "", &group, &ana, "ana"],
    );
    assert!(is_added, "{said}");
    // Whom the bot has met is listed, and the secret is not repeated.
    assert!(
        said.contains("the group `Approvals`")
            && said.contains(&ana)
            && said.contains("person `ana`"),
        "{said}"
    );
    let written = std::fs::read_to_string(&config).unwrap();
    for text in [&said, &written] {
        assert!(!text.contains(server.token()), "{text}");
    }
    let (is_added, said) = added(home.path(), server, &[]);
    assert!(!is_added && said.contains("already"), "{said}");
    // The gateway starts with what was written, and a practice card is answered.
    let variables = [(super::TOKEN, server.token())];
    let gateway = crate::support::Gateway::with_variables(&written, &variables);
    let person = json!({ "name": "ana", "roles": ["approver"], "accounts": { "telegram": ana } });
    assert!(gateway.post(&gateway.admin(), "/v1/people", &person).status < 300);
    let mut child = ours(&gateway.home())
        .args(["channels", "test", "telegram", "--url", &gateway.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let waiting = || venue.cards().into_iter().find(|card| card.has("once"));
    assert!(venue.wait(&|| waiting().is_some()), "no practice card came");
    venue.press(Who::Ana, &waiting().unwrap(), "once");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_secret_that_is_typed_does_not_appear_on_the_screen() {
    let venue = open();
    let home = tempfile::tempdir().unwrap();
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let ours = ours(home.path());
    let mut command = CommandBuilder::new(ours.get_program());
    command.args(["channels", "add", "telegram", "--wait", "0", "--set"]);
    command.arg(format!("url={}", venue.server.url()));
    command.env_clear();
    for (name, value) in crate::ours::variables(home.path()) {
        command.env(name, value);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut screen = pair.master.try_clone_reader().unwrap();
    let mut input = pair.master.take_writer().unwrap();
    let (shown, pieces) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = screen.read(&mut piece) {
            let text = String::from_utf8_lossy(piece.get(..length).unwrap_or_default());
            if shown.send(text.into_owned()).is_err() {
                return;
            }
        }
    });
    let mut seen = String::new();
    let mut read_until = |words: &str| {
        while !seen.contains(words) {
            let piece = pieces.recv_timeout(Duration::from_mins(1));
            seen.push_str(&piece.unwrap_or_else(|_| panic!("{words} never came: {seen}")));
        }
        seen.clone()
    };
    read_until("The bot's token:");
    input
        .write_all(format!("{}\n", venue.server.token()).as_bytes())
        .unwrap();
    let seen = read_until("Press Enter");
    assert!(!seen.contains(venue.server.token()), "{seen}");
    child.kill().unwrap();
    child.wait().unwrap();
}
