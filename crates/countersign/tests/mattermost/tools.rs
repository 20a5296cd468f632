//! `countersign channels`: does it work, and if not, what is to be done.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use countersign_testkit::mattermost::{Settings, SiteUrl, Version};
use serde_json::{Value, json};

use crate::commands::registered;
use crate::ours::ours;
use crate::scene::{Card, Scene, TOKEN};

fn command(scene: &Scene, words: &[&str]) -> Command {
    let mut command = ours(&scene.gateway.home());
    command
        .args(words)
        .args(["--url", &scene.gateway.url])
        .env(TOKEN, scene.place().bot.token())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(scene: &Scene, words: &[&str]) -> (Output, String) {
    let output = command(scene, words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
fn a_practice_card_is_sent_and_the_click_is_waited_for() {
    let scene = Scene::new();
    let mut child = command(&scene, &["channels", "test", "mattermost"])
        .spawn()
        .unwrap();
    let card = scene
        .ana
        .wait_for_post(|post| !Card(post.clone()).actions().is_empty());
    let card = Card(card.unwrap());
    let first = card.actions()[0].to_owned();
    assert_eq!(scene.ana.click(card.id(), &first).status, 200);
    let mut said = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        said.push_str(&line.unwrap());
        said.push('\n');
    }
    let status = child.wait().unwrap();
    assert!(status.success(), "{said}");
    assert!(said.contains("ana"), "{said}");
}

/// Returns what the doctor found, by what it looked at.
fn findings(scene: &Scene) -> Vec<Value> {
    let (output, text) = run(scene, &["channels", "doctor", "mattermost", "--json"]);
    let said: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {output:?}"));
    let list = said
        .pointer("/findings")
        .or_else(|| said.pointer("/channels/0/findings"));
    list.unwrap_or(&said).as_array().unwrap().clone()
}

fn finding<'a>(findings: &'a [Value], words: &str) -> Option<&'a Value> {
    findings.iter().find(|it| it.to_string().contains(words))
}

#[test]
fn the_doctor_finds_nothing_wrong_where_all_is_well() {
    let scene = Scene::new();
    let (output, text) = run(&scene, &["channels", "doctor", "mattermost"]);
    assert!(output.status.success(), "{text} {output:?}");
    assert!(text.contains(&scene.place().bot.name), "{text}");
    let token = scene.place().bot.token();
    assert!(!text.contains(token));
    for finding in findings(&scene) {
        assert_ne!(finding["state"], "bad", "{finding}");
    }
}

#[test]
fn the_doctor_names_what_is_wrong_and_what_to_do() {
    let scene = Scene::new();
    let Some(fake) = scene.fake("a server that is set up wrongly") else {
        return;
    };
    let place = scene.place();
    let bad = |words: &str| {
        let all = findings(&scene);
        let found = finding(&all, words).unwrap_or_else(|| panic!("{words}: {all:?}"));
        assert_ne!(found["state"], "good", "{found}");
        assert_ne!(found["fix"], "", "{found}");
    };
    fake.set(|settings| settings.site_url = SiteUrl::Unset);
    bad("SiteURL");
    fake.set(|settings| settings.site_url = SiteUrl::Set);
    fake.set(|settings| settings.allowed_untrusted_internal_connections = String::new());
    bad("AllowedUntrustedInternalConnections");
    fake.set(|settings| settings.allowed_untrusted_internal_connections = "127.0.0.1".to_owned());
    let path = format!(
        "/teams/{}/members/{}/schemeRoles",
        place.team_id, place.bot.id
    );
    place.admin.put(
        &path,
        &json!({ "scheme_admin": false, "scheme_user": true }),
    );
    bad("team admin");
    let path = format!("/channels/{}/members/{}", place.channel_id, place.bot.id);
    place.admin.delete(&path);
    bad("channel");
    place.close_account(&place.bot.id).unwrap();
    bad("token");
}

#[test]
fn the_doctor_sees_that_the_server_reaches_the_gateway_and_whose_accounts_are_listed() {
    let scene = Scene::new();
    registered(&scene);
    let way = |scene: &Scene| {
        let all = findings(scene);
        let found = all.iter().find(|it| it["check"] == "way back");
        found.unwrap_or_else(|| panic!("{all:?}")).clone()
    };
    assert_eq!(way(&scene)["state"], "good");
    scene.relay.hold_back();
    let cut = way(&scene);
    assert_eq!(cut["state"], "bad", "{cut}");
    assert!(
        cut["fix"].as_str().unwrap().contains("callback_url"),
        "{cut}"
    );
    scene.relay.lead_to(&scene.gateway.url);
    let admin = scene.gateway.admin();
    let bot = &scene.place().bot.id;
    let rows = [
        (
            "named",
            format!("@{}", scene.ben.name),
            scene.ben.id.as_str(),
        ),
        ("robot", bot.clone(), "a bot"),
        (
            "nobody",
            "aaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            "no account",
        ),
    ];
    for (name, account, wanted) in rows {
        let accounts = json!({ "mattermost": account });
        let body = json!({ "name": name, "roles": ["approver"], "accounts": accounts });
        let listed = scene.gateway.post(&admin, "/v1/people", &body);
        assert!(listed.status < 300, "{listed:?}");
        let all = findings(&scene);
        let found = all
            .iter()
            .find(|it| it["check"] == "account" && it["found"].as_str().unwrap().starts_with(name));
        let found = found.unwrap_or_else(|| panic!("{name}: {all:?}"));
        assert_eq!(found["state"], "bad", "{found}");
        assert!(found.to_string().contains(wanted), "{found}");
    }
}

#[test]
fn the_doctor_says_which_server_it_is() {
    for version in Version::ALL {
        let scene = Scene::with(|wanted| wanted.settings = Settings::of(version));
        let all = findings(&scene);
        if scene.stage.fake.is_none() {
            return;
        }
        let (number, _patch) = version.number().rsplit_once('.').unwrap();
        let found = finding(&all, &format!("Mattermost {number}"));
        let found = found.unwrap_or_else(|| panic!("{number}: {all:?}"));
        assert_eq!(found["state"], "good", "{found}");
    }
}

#[test]
fn the_doctor_of_a_server_that_is_away_says_so() {
    let mut scene = Scene::new();
    if scene.fake("a server that is away").is_none() {
        return;
    }
    scene.stage.fake.as_mut().unwrap().stop();
    let (output, text) = run(&scene, &["channels", "doctor", "mattermost"]);
    assert!(!output.status.success(), "{text}");
    let said = text + &String::from_utf8_lossy(&output.stderr);
    assert!(
        !said.is_empty() && !said.contains(scene.place().bot.token()),
        "{said}"
    );
}
