//! How a Discord application is set up: the doctor, refused settings, and `channels add`.

use std::io::Write as _;
use std::process::Stdio;

use countersign_testkit::discord::DiscordServer;
use serde_json::{Value, json};

use super::own::{ByGateway, open, scene_with};
use super::{Discord, TEXT};
use crate::ours::ours;
use crate::scene::Scene;
use crate::venue::{Limits, Venue as _, Who};

/// Returns what the doctor says.
fn findings<const BY_GATEWAY: bool>(scene: &Scene<Discord<BY_GATEWAY>>) -> Vec<Value> {
    let output = ours(&scene.gateway.home())
        .args(["channels", "doctor", "discord", "--json", "--url"])
        .arg(&scene.gateway.url)
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    said["findings"].as_array().unwrap().clone()
}

fn assert_finds<const BY_GATEWAY: bool>(
    scene: &Scene<Discord<BY_GATEWAY>>,
    check: &str,
    words: &str,
) {
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
    let scene = Scene::<ByGateway>::new();
    let by_gateway = (findings(&scene), scene.venue.server.token());
    let scene = Scene::<Discord<false>>::new();
    let by_requests = (findings(&scene), scene.venue.server.token());
    for (findings, token) in [by_gateway, by_requests] {
        assert!(findings.len() >= 7, "{findings:?}");
        for finding in &findings {
            assert_eq!(finding["state"], "good", "{finding}");
            assert!(!finding.to_string().contains(token), "{finding}");
        }
    }
}

#[test]
fn the_doctor_finds_the_usual_mistakes() {
    type Break = fn(&ByGateway);
    let rows: [(&str, &str, Break); 8] = [
        ("interactions", "not to this gateway", |it| {
            it.server.set_endpoint(Some("https://other.example/hook"));
        }),
        ("channel", "may not see", |it| {
            it.server.deny(&it.room, 1 << 10);
        }),
        ("channel", "lacks Send Messages", |it| {
            it.server.deny(&it.room, 1 << 11);
        }),
        ("channel", "lacks Embed Links, Attach Files", |it| {
            it.server.deny(&it.room, (1 << 14) | (1 << 15));
        }),
        ("account", "is not in the server", |it| {
            it.server.leave(&it.guild, Some(it.id(Who::Ben)));
        }),
        ("gateway", "3 of 1000 new sessions", |it| {
            it.server.set(|it| it.starts_left = 3);
        }),
        ("token", "Unauthorized", |it| {
            it.server.set(|it| it.is_reset = true);
        }),
        ("gateway", "the token is refused", |it| {
            it.server.close_connections(4004);
        }),
    ];
    for (check, words, breaks) in rows {
        let scene = Scene::<ByGateway>::new();
        breaks(&scene.venue);
        scene
            .venue
            .server
            .wait(|| words != "the token is refused" || scene.venue.server.connections() == 0);
        assert_finds(&scene, check, words);
    }
    let venue = open();
    let voice = venue.server.channel(&venue.guild, "Lounge", 2);
    let elsewhere = venue.server.guild("Other", &[]);
    let elsewhere = venue.server.channel(&elsewhere, "general", TEXT);
    let sections = [
        ("channel", "takes no messages", json!({ "channel": voice })),
        (
            "channel",
            "there is no channel",
            json!({ "channel": "1400000000000000000" }),
        ),
        (
            "server",
            "not in the server",
            json!({ "guild": "1400000000000000000" }),
        ),
        (
            "channel",
            "another server than `guild`",
            json!({ "channel": elsewhere, "guild": venue.guild }),
        ),
    ];
    let mut venue = Some(venue);
    for (check, words, more) in sections {
        let scene = scene_with(venue.take().unwrap(), &more, &json!({}));
        assert_finds(&scene, check, words);
        venue = Some(scene.venue);
    }
    let venue = venue.unwrap();
    let robot = venue.server.program("robot");
    let rows = [
        ("ana", "is no id"),
        (&*robot, "is a bot"),
        ("1400", "does not exist"),
    ];
    let mut venue = Some(venue);
    for (account, words) in rows {
        let people = json!([{ "name": "ana", "roles": ["approver"], "discord": account }]);
        let scene = scene_with(
            venue.take().unwrap(),
            &json!({}),
            &json!({ "people": people }),
        );
        assert_finds(&scene, "account", words);
        venue = Some(scene.venue);
    }
}

#[test]
fn the_doctor_finds_what_is_wrong_with_requests() {
    type Break = fn(&DiscordServer);
    let rows: [(&str, Break); 2] = [
        ("is empty", |it| it.set_endpoint(None)),
        ("https://other.example", |it| {
            it.set_endpoint(Some("https://other.example/"));
        }),
    ];
    for (words, breaks) in rows {
        let scene = Scene::<Discord<false>>::new();
        breaks(&scene.venue.server);
        assert_finds(&scene, "interactions", words);
    }
    let venue = Discord::<false>::open(Limits::None);
    let mut section = venue.section();
    section["public_key"] = json!("0a".repeat(32));
    let scene = Scene::of(venue, &json!({ "channels": { "discord": section } }));
    assert_finds(&scene, "interactions", "another application");
}

#[test]
fn a_token_that_is_none_is_refused_when_the_gateway_starts() {
    let home = tempfile::tempdir().unwrap();
    let section = json!({ "type": "discord", "token_env": super::TOKEN });
    let config = json!({ "channels": { "discord": section } });
    std::fs::write(home.path().join("config.yaml"), config.to_string()).unwrap();
    let output = ours(home.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env(super::TOKEN, "hunter2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("Reset Token") && !said.contains("hunter2"),
        "{said}"
    );
}

/// Answers the questions of `channels add` and returns whether it succeeded, and what it said.
fn added(home: &std::path::Path, server: &DiscordServer, answers: &[&str]) -> (bool, String) {
    let mut child = ours(home)
        .args(["channels", "add", "discord", "--wait", "0", "--set"])
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
    let (server, ana) = (&venue.server, venue.account(Who::Ana));
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.yaml");
    let wrong = "MTMwMDAwMDAwMDAwMDAwMDAwMg.another.token-of-nobody";
    let rows: [(&str, &[&str], &str); 4] = [
        ("no token", &["hunter2", ""], "Reset Token"),
        (
            "a name",
            &[server.token(), "", "#approvals", ""],
            "must be an id",
        ),
        ("a wrong token", &[wrong, "", "", ""], "wrong or was reset"),
        (
            "a wrong channel",
            &[server.token(), "", "1400000000000000000", ""],
            "there is no channel",
        ),
    ];
    for (name, answers, words) in rows {
        let (is_added, said) = added(home.path(), server, answers);
        assert!(!is_added && said.contains(words), "{name}: {said}");
        assert!(!config.exists(), "{name}");
    }
    let answers = [server.token(), "", &venue.room, &ana, "ana"];
    let (is_added, said) = added(home.path(), server, &answers);
    assert!(is_added, "{said}");
    // The channels are listed to choose from, and the secret is not repeated.
    assert!(
        said.contains("`#approvals` of `Example`") && said.contains(&venue.room),
        "{said}"
    );
    let written = std::fs::read_to_string(&config).unwrap();
    for text in [&said, &written] {
        assert!(!text.contains(server.token()), "{text}");
    }
    // The gateway starts with what was written, and a practice card is answered.
    let variables = [(super::TOKEN, server.token())];
    let gateway = crate::support::Gateway::with_variables(&written, &variables);
    let person = json!({ "name": "ana", "roles": ["approver"], "accounts": { "discord": ana } });
    assert!(gateway.post(&gateway.admin(), "/v1/people", &person).status < 300);
    let mut child = ours(&gateway.home())
        .args(["channels", "test", "discord", "--url", &gateway.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let waiting = || venue.cards().into_iter().find(|card| card.has("once"));
    assert!(venue.wait(&|| waiting().is_some()), "no practice card came");
    venue.press(Who::Ana, &waiting().unwrap(), "once");
    assert!(child.wait().unwrap().success());
}
