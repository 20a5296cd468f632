//! Slash commands: who may register what, and what an integration is told.

use std::time::Duration;

use countersign_testkit::mattermost::{Settings, SiteUrl, Version};
use serde_json::{Value, json};

use crate::support::{Integration, started};

fn command(team_id: &str, trigger: &str, url: &str) -> Value {
    json!({
        "team_id": team_id, "trigger": trigger, "method": "P", "url": url,
        "auto_complete": true, "auto_complete_desc": "does", "auto_complete_hint": "[ID]",
        "display_name": "A command", "description": "does something",
    })
}

#[test]
fn a_command_is_registered_by_who_administers_the_team_under_a_free_name() {
    let (_server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let other_team = place.another_team(&[&place.bot]).unwrap();
    let url = "http://127.0.0.1:9/c";
    let fits = |trigger: &str| command(&place.team_id, trigger, url);
    let with = |key: &str, value: Value| {
        let mut body = fits("other");
        body[key] = value;
        body
    };
    let long = |chars: usize| json!("x".repeat(chars));
    assert_eq!(place.bot.post("/commands", &fits("Approve")).status, 201);
    let rows = [
        ("a member", ana.post("/commands", &fits("deny")), 403),
        (
            "a member of another team",
            place
                .bot
                .post("/commands", &command(&other_team, "deny", url)),
            403,
        ),
        (
            "the same again",
            place.bot.post("/commands", &fits("approve")),
            400,
        ),
        (
            "the server's own",
            place.bot.post("/commands", &fits("help")),
            400,
        ),
        ("a slash", place.bot.post("/commands", &fits("/deny")), 400),
        (
            "two words",
            place.bot.post("/commands", &fits("deny it")),
            400,
        ),
        (
            "too long",
            place.bot.post("/commands", &fits(&"x".repeat(129))),
            400,
        ),
        (
            "no method",
            place.bot.post("/commands", &with("method", json!(""))),
            400,
        ),
        (
            "no address",
            place.bot.post("/commands", &with("url", json!("/c"))),
            400,
        ),
        (
            "a long name",
            place.bot.post("/commands", &with("display_name", long(65))),
            400,
        ),
        (
            "a long description",
            place.bot.post("/commands", &with("description", long(129))),
            400,
        ),
    ];
    for (name, asked, expected) in rows {
        assert_eq!(asked.status, expected, "{name}: {asked:?}");
    }
    let twice = place.bot.post("/commands", &fits("approve"));
    assert_eq!(twice.error(), "api.command.duplicate_trigger.app_error");
}

#[test]
fn only_newer_servers_look_at_every_character_of_a_name() {
    for version in Version::ALL {
        let (_server, place) = started(Settings::of(version));
        let body = command(&place.team_id, "ja!", "http://127.0.0.1:9/c");
        let expected = if version >= Version::V11_10 { 400 } else { 201 };
        assert_eq!(
            place.bot.post("/commands", &body).status,
            expected,
            "{version:?}"
        );
    }
}

#[test]
fn own_commands_are_listed_with_tokens_and_changed_whole() {
    let (_server, place) = started(Settings::default());
    let url = "http://127.0.0.1:9/c";
    let mine = place
        .bot
        .post("/commands", &command(&place.team_id, "approve", url));
    let theirs = place
        .admin
        .post("/commands", &command(&place.team_id, "deny", url));
    assert_eq!(mine.text("token").len(), 26);
    let list = |query: &str| {
        let path = format!("/commands?team_id={}{query}", place.team_id);
        place.bot.get(&path).body
    };
    let custom = list("&custom_only=true");
    assert_eq!(custom.as_array().unwrap().len(), 1);
    assert_eq!(custom[0]["token"], mine.text("token"));
    let all = list("");
    assert!(all.as_array().unwrap().len() > 20);
    assert!(!all.to_string().contains(mine.text("token")));
    let path = format!("/commands/{}", mine.text("id"));
    let mut changed = command(&place.team_id, "approve", "http://127.0.0.1:9/d");
    assert_eq!(place.bot.put(&path, &changed).status, 400);
    changed["id"] = json!(mine.text("id"));
    let updated = place.bot.put(&path, &changed);
    assert_eq!(updated.text("url"), "http://127.0.0.1:9/d");
    assert_eq!(updated.text("token"), mine.text("token"));
    let foreign = format!("/commands/{}", theirs.text("id"));
    changed["id"] = json!(theirs.text("id"));
    assert_eq!(place.bot.put(&foreign, &changed).status, 403);
    assert_eq!(place.bot.delete(&foreign).status, 403);
    let renewed = place.bot.put(&format!("{path}/regen_token"), &json!({}));
    assert_ne!(renewed.text("token"), mine.text("token"));
    let ana = place.person("ana").unwrap();
    assert_eq!(ana.get(&path).status, 404);
    assert_eq!(place.bot.delete(&path).status, 200);
}

#[test]
fn what_is_typed_reaches_the_integration_as_a_form_with_the_commands_token() {
    for version in Version::ALL {
        let answer = json!({ "response_type": "ephemeral", "text": "for you" });
        let integration = Integration::saying(&answer);
        let (_server, place) = started(Settings::of(version));
        let ana = place.person("ana").unwrap();
        let body = command(&place.team_id, "approve", &integration.url);
        let made = place.bot.post("/commands", &body);
        let typed = ana.command(&place.channel_id, "", "/approve appr_1 once & more");
        assert_eq!((typed.status, typed.text("text")), (200, "for you"));
        let received = integration.next();
        let token = made.text("token");
        assert_eq!(
            received.header("content-type"),
            "application/x-www-form-urlencoded"
        );
        assert_eq!(received.header("authorization"), format!("Token {token}"));
        let expected = [
            ("token", Some(token)),
            ("user_id", Some(&ana.id)),
            ("channel_id", Some(&place.channel_id)),
            ("team_id", Some(&place.team_id)),
            ("command", Some("%2Fapprove")),
            ("text", Some("appr_1+once+%26+more")),
            ("root_id", Some("")),
        ];
        for (key, value) in expected {
            assert_eq!(received.field(key), value, "{version:?} {key}");
        }
        assert!(received.field("trigger_id").unwrap().len() > 100);
        assert_eq!(ana.wait_for_whisper(0).unwrap(), "for you");
    }
}

#[test]
fn what_cannot_be_run_is_refused() {
    let integration = Integration::answering(500, "{}", Duration::ZERO);
    let (_server, place) = started(Settings::default());
    let (ana, outsider) = (
        place.person("ana").unwrap(),
        place.outsider("olga").unwrap(),
    );
    let body = command(&place.team_id, "approve", &integration.url);
    place.bot.post("/commands", &body);
    let here = &place.channel_id;
    assert_eq!(ana.command(here, "", "/unknown").status, 404);
    assert_eq!(ana.command(here, "", "approve").status, 400);
    assert_eq!(ana.command(here, "", "/status").status, 200);
    assert_eq!(outsider.command(here, "", "/approve").status, 403);
    assert!(integration.heard_nothing());
    assert_eq!(ana.command(here, "", "/approve").status, 500);
    let direct = ana.direct(&place.bot.id);
    assert_eq!(ana.command(&direct, "", "/approve").status, 404);
    assert_eq!(ana.command(&direct, &place.team_id, "/approve").status, 500);
}

#[test]
fn the_newest_server_runs_no_command_while_it_does_not_know_its_address() {
    let integration = Integration::saying(&json!({ "text": "x" }));
    for version in Version::ALL {
        let (_server, place) = started(Settings {
            site_url: SiteUrl::Unset,
            ..Settings::of(version)
        });
        let body = command(&place.team_id, "approve", &integration.url);
        place.bot.post("/commands", &body);
        let expected = if version >= Version::V11_10 { 400 } else { 200 };
        let typed = place.admin.command(&place.channel_id, "", "/approve");
        assert_eq!(typed.status, expected, "{version:?}");
    }
}

#[test]
fn an_answer_for_everybody_is_a_post_and_later_answers_are_five() {
    let answer = json!({ "response_type": "in_channel", "text": "for all" });
    let integration = Integration::saying(&answer);
    let (_server, place) = started(Settings::default());
    let body = command(&place.team_id, "approve", &integration.url);
    place.bot.post("/commands", &body);
    let ana = place.person("ana").unwrap();
    ana.command(&place.channel_id, "", "/approve");
    assert_eq!(place.posts(&place.channel_id)[0]["message"], "for all");
    let received = integration.next();
    let later = received.field("response_url").unwrap();
    let later = later.replace("%3A", ":").replace("%2F", "/");
    let client = reqwest::blocking::Client::builder()
        .no_proxy()
        .build()
        .unwrap();
    let statuses: Vec<u16> = (0..6)
        .map(|_| {
            let request = client.post(&later).body(r#"{"text":"later"}"#);
            request.send().unwrap().status().as_u16()
        })
        .collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 404]);
}
