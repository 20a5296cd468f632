//! Clicks: what reaches the integration, and what its answer may do.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_testkit::mattermost::{MattermostServer, Person, Place, Settings, Version};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::support::{Integration, started, with_button};

/// A post with a button, and ana, who can see it.
fn scene(integration: &Integration) -> (MattermostServer, Place, Person, String) {
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let body = with_button(&place.channel_id, "yes", &integration.url);
    let id = place.bot.post("/posts", &body).text("id").to_owned();
    (server, place, ana, id)
}

#[test]
fn the_integration_gets_the_context_and_a_signed_trigger_and_the_clicker_gets_neither() {
    let integration = Integration::saying(&json!({}));
    let (server, place, ana, post) = scene(&integration);
    let clicked = ana.click(&post, "yes");
    assert_eq!(clicked.status, 200);
    assert!(!clicked.body.to_string().contains("s3cret"));
    let received = integration.next();
    assert_eq!(received.header("user-agent"), "Mattermost-Bot/1.1");
    assert_eq!(received.header("authorization"), "");
    let body = received.json();
    let expected = [
        ("user_id", ana.id.as_str()),
        ("user_name", &ana.name),
        ("channel_id", &place.channel_id),
        ("channel_name", &place.channel_name),
        ("team_id", &place.team_id),
        ("team_domain", &place.team_name),
        ("post_id", &post),
        ("type", "button"),
        ("data_source", ""),
    ];
    for (key, value) in expected {
        assert_eq!(body[key], value, "{key}");
    }
    assert_eq!(body["context"], json!({ "secret": "s3cret" }));
    let trigger = STANDARD
        .decode(body["trigger_id"].as_str().unwrap())
        .unwrap();
    let trigger = String::from_utf8(trigger).unwrap();
    let parts: Vec<&str> = trigger.split(':').collect();
    assert_eq!((parts.len(), parts[1]), (4, ana.id.as_str()));
    let config = place.admin.get("/config/client?format=old");
    let key = STANDARD
        .decode(config.text("AsymmetricSigningPublicKey"))
        .unwrap();
    assert_eq!(key.len(), 91);
    let said = format!("{}:{}:{}:", parts[0], parts[1], parts[2]);
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &key[26..])
        .verify(said.as_bytes(), &STANDARD.decode(parts[3]).unwrap())
        .unwrap();
    drop(server);
}

#[test]
fn in_a_conversation_of_two_there_is_no_team() {
    let integration = Integration::saying(&json!({}));
    let (_server, place, ana, _) = scene(&integration);
    let direct = place.bot.direct(&ana.id);
    let post = place
        .bot
        .post("/posts", &with_button(&direct, "yes", &integration.url));
    assert_eq!(ana.click(post.text("id"), "yes").status, 200);
    let body = integration.next().json();
    assert_eq!(
        (&body["team_id"], &body["team_domain"]),
        (&json!(""), &json!(""))
    );
}

#[test]
fn without_props_in_the_answer_the_buttons_stay() {
    let card = json!({ "attachments": [{ "text": "done" }], "from_bot": "forged" });
    let rows = [
        ("no update", json!({}), "a question", true),
        (
            "a message alone",
            json!({ "update": { "message": "new" } }),
            "new",
            true,
        ),
        (
            "null",
            json!({ "update": { "message": "new", "props": null } }),
            "new",
            true,
        ),
        (
            "no message",
            json!({ "update": { "props": {} } }),
            "",
            false,
        ),
        (
            "an empty object",
            json!({ "update": { "message": "new", "props": {} } }),
            "new",
            false,
        ),
        (
            "another card",
            json!({ "update": { "message": "new", "props": card } }),
            "new",
            false,
        ),
    ];
    for (name, answer, message, buttons) in rows {
        let integration = Integration::saying(&answer);
        let (_server, place, ana, post) = scene(&integration);
        assert_eq!(ana.click(&post, "yes").status, 200, "{name}");
        let shown = place.bot.get(&format!("/posts/{post}"));
        assert_eq!(shown.text("message"), message, "{name}");
        let has_buttons = shown.body.to_string().contains("\"name\":\"Yes\"");
        assert_eq!(has_buttons, buttons, "{name}");
        assert_eq!(shown.body["props"]["from_bot"], "true", "{name}");
    }
}

#[test]
fn only_two_hundred_and_json_of_a_mebibyte_is_an_answer() {
    let long = |bytes: usize| json!({ "ephemeral_text": "x".repeat(bytes) }).to_string();
    // Only the newest servers say how an integration failed.
    let rows: [(&str, u16, String, u16, u16); 9] = [
        ("fine", 200, "{}".to_owned(), 200, 200),
        ("created", 201, "{}".to_owned(), 400, 400),
        ("no content", 204, String::new(), 400, 400),
        ("refused", 403, "{}".to_owned(), 400, 400),
        ("too many", 429, "{}".to_owned(), 400, 429),
        ("broken", 500, "{}".to_owned(), 400, 502),
        ("away", 503, "{}".to_owned(), 400, 503),
        ("not JSON", 200, "fine".to_owned(), 400, 400),
        ("too long", 200, long(1024 * 1024), 400, 400),
    ];
    for (name, status, body, before, newest) in rows {
        let integration = Integration::answering(status, &body, Duration::ZERO);
        let (server, _place, ana, post) = scene(&integration);
        for (version, expected) in [(Version::V11_9, before), (Version::V11_10, newest)] {
            server.set(|settings| settings.version = version);
            let clicked = ana.click(&post, "yes");
            assert_eq!(clicked.status, expected, "{name} {version:?}");
        }
    }
    let integration = Integration::answering(200, &long(1_000_000), Duration::ZERO);
    let (_server, _place, ana, post) = scene(&integration);
    assert_eq!(ana.click(&post, "yes").status, 200);
}

#[test]
fn an_integration_that_takes_too_long_has_not_answered() {
    let integration = Integration::answering(200, "{}", Duration::from_mins(1));
    let (server, _place, ana, post) = scene(&integration);
    server.set(|settings| settings.outgoing_timeout = Duration::from_millis(200));
    assert_eq!(ana.click(&post, "yes").status, 400);
}

#[test]
fn a_private_address_is_called_only_if_it_is_listed() {
    let integration = Integration::saying(&json!({}));
    let (server, _place, ana, post) = scene(&integration);
    server.set(|settings| settings.allowed_untrusted_internal_connections = String::new());
    let refused = ana.click(&post, "yes");
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .text("message")
            .contains("AllowedUntrustedInternalConnections")
    );
    assert!(integration.heard_nothing());
}

#[test]
fn ids_of_actions_are_routed_as_the_version_routes_them() {
    for version in Version::ALL {
        let integration = Integration::saying(&json!({}));
        let (_server, place) = started(Settings::of(version));
        let rows = [
            ("allowonce1", true),
            ("allow_once", version >= Version::V11_10),
            ("allow-once", version >= Version::V11_10),
            ("appr:1:once", false),
            ("allow.once", false),
        ];
        for (id, routed) in rows {
            let body = with_button(&place.channel_id, id, &integration.url);
            let post = place.bot.post("/posts", &body);
            let expected = if routed { 200 } else { 404 };
            let clicked = place.bot.click(post.text("id"), id).status;
            assert_eq!(clicked, expected, "{version:?} {id}");
        }
    }
}

#[test]
fn who_cannot_see_the_post_cannot_click_and_what_is_not_there_cannot_be_clicked() {
    let integration = Integration::saying(&json!({}));
    let (_server, place, ana, post) = scene(&integration);
    let colleague = place.colleague("carla").unwrap();
    assert_eq!(colleague.click(&post, "yes").status, 403);
    assert_eq!(ana.click(&post, "no").status, 404);
    assert_eq!(ana.click("nothing", "yes").status, 404);
    assert!(integration.heard_nothing());
}

#[test]
fn an_action_without_id_and_type_gets_an_id_and_an_empty_type() {
    let integration = Integration::saying(&json!({}));
    let (_server, place, ana, _) = scene(&integration);
    let mut body = with_button(&place.channel_id, "", &integration.url);
    let action = &mut body["props"]["attachments"][0]["actions"][0];
    action.as_object_mut().unwrap().remove("type");
    let post = place.bot.post("/posts", &body);
    let action: Value = post.body["props"]["attachments"][0]["actions"][0].clone();
    let id = action["id"].as_str().unwrap();
    assert_eq!((id.len(), &action["type"]), (26, &json!("")));
    assert_eq!(ana.click(post.text("id"), id).status, 200);
    assert_eq!(integration.next().json()["type"], "");
}

#[test]
fn a_whisper_is_rewritten_unless_the_integration_forbids_it() {
    let said = "see <http://x|here>";
    for (skip, expected) in [(false, "see [here](http://x)"), (true, said)] {
        let answer = json!({ "ephemeral_text": said, "skip_slack_parsing": skip });
        let integration = Integration::saying(&answer);
        let (_server, _place, ana, post) = scene(&integration);
        ana.click(&post, "yes");
        assert_eq!(ana.wait_for_whisper(0).unwrap(), expected);
    }
}
