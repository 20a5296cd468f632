//! Dialogs: opened with a fresh trigger id and nothing else, within limits, submitted without one.

use countersign_testkit::mattermost::{Settings, Signer, Version};
use serde_json::{Value, json};

use crate::support::{Integration, started};

fn now() -> i64 {
    let passed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(passed.unwrap().as_millis()).unwrap()
}

fn dialog(changes: &Value) -> Value {
    let mut dialog = json!({
        "callback_id": "c", "title": "Another answer", "state": "s", "submit_label": "Send",
        "elements": [{ "display_name": "Answer", "name": "answer", "type": "textarea", "max_length": 3000 }],
    });
    let object = dialog.as_object_mut().unwrap();
    object.extend(changes.as_object().unwrap().clone());
    dialog
}

#[test]
fn a_dialog_opens_for_the_one_a_fresh_trigger_was_signed_for() {
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let other = Signer::new().unwrap();
    let open = |trigger: &str, changes: &Value| {
        let body = json!({ "trigger_id": trigger, "url": "http://127.0.0.1:9/", "dialog": dialog(changes) });
        place.bot.post("/actions/dialogs/open", &body).status
    };
    let good = || server.signer().trigger_id(&ana.id, now());
    let none = json!({});
    assert_eq!(open(&good(), &none), 200);
    let opened = ana.wait_for_dialog(0).unwrap();
    assert_eq!(opened["dialog"]["title"], "Another answer");
    assert_eq!(opened["url"], "http://127.0.0.1:9/");
    let element = |more: &Value| {
        let mut element = json!({ "display_name": "A", "name": "a", "type": "text" });
        let object = element.as_object_mut().unwrap();
        object.extend(more.as_object().unwrap().clone());
        json!({ "elements": [element] })
    };
    let rows = [
        (
            "another key",
            other.trigger_id(&ana.id, now()),
            none.clone(),
        ),
        (
            "too old",
            server.signer().trigger_id(&ana.id, now() - 31_000),
            none.clone(),
        ),
        ("nonsense", "%%%".to_owned(), none.clone()),
        ("no title", good(), json!({ "title": "" })),
        ("a long title", good(), json!({ "title": "x".repeat(25) })),
        (
            "a long name",
            good(),
            element(&json!({ "display_name": "x".repeat(25) })),
        ),
        (
            "a long help",
            good(),
            element(&json!({ "help_text": "x".repeat(151) })),
        ),
        (
            "a long text",
            good(),
            element(&json!({ "max_length": 151 })),
        ),
        (
            "a long area",
            good(),
            element(&json!({ "type": "textarea", "max_length": 3001 })),
        ),
        (
            "an unknown type",
            good(),
            element(&json!({ "type": "essay" })),
        ),
        (
            "an unknown subtype",
            good(),
            element(&json!({ "subtype": "date" })),
        ),
    ];
    for (name, trigger, changes) in rows {
        assert_eq!(open(&trigger, &changes), 400, "{name}");
    }
    assert_eq!(open(&good(), &json!({ "title": "x".repeat(24) })), 200);
}

#[test]
fn a_submission_says_who_by_the_session_and_carries_no_trigger() {
    let integration = Integration::saying(&json!({ "errors": { "answer": "no" }, "more": 1 }));
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let trigger_id = server.signer().trigger_id(&ana.id, now());
    let body =
        json!({ "trigger_id": trigger_id, "url": integration.url, "dialog": dialog(&json!({})) });
    place.bot.post("/actions/dialogs/open", &body);
    let opened = ana.wait_for_dialog(0).unwrap();
    let mut teamless = json!({ "channel_id": place.channel_id, "state": "s" });
    teamless["url"] = opened["url"].clone();
    assert_eq!(ana.post("/actions/dialogs/submit", &teamless).status, 403);
    let answer = ana.submit(&opened, &place, &json!({ "answer": "42" }));
    assert_eq!(answer.body, json!({ "errors": { "answer": "no" } }));
    let mut received = integration.next().json();
    received.as_object_mut().unwrap().sort_keys();
    let expected = json!({
        "callback_id": "c", "cancelled": false, "channel_id": place.channel_id, "state": "s",
        "submission": { "answer": "42" }, "team_id": place.team_id, "type": "dialog_submission",
        "user_id": ana.id,
    });
    assert_eq!(received, expected);
    // Anybody may send anything anywhere, but only as themselves, and from where they are.
    let forged = json!({
        "url": integration.url, "callback_id": "x", "state": "forged", "user_id": "somebody",
        "channel_id": place.channel_id, "team_id": place.team_id, "submission": {},
    });
    assert_eq!(ana.post("/actions/dialogs/submit", &forged).status, 200);
    assert_eq!(integration.next().json()["user_id"], ana.id.as_str());
    let outsider = place.outsider("olga").unwrap();
    assert_eq!(
        outsider.post("/actions/dialogs/submit", &forged).status,
        403
    );
}

#[test]
fn a_button_of_a_dialog_carries_what_its_client_says_and_only_newer_servers_have_it() {
    for version in Version::ALL {
        let integration = Integration::saying(&json!({}));
        let (_server, place) = started(Settings::of(version));
        let ana = place.person("ana").unwrap();
        let body = json!({
            "url": integration.url, "channel_id": place.channel_id, "context": { "t": "made up" },
            "post_id": "made up", "type": "button",
        });
        let status = ana.post("/actions/dialogs/execute", &body).status;
        if version < Version::V11_10 {
            assert_eq!(status, 404, "{version:?}");
            continue;
        }
        assert_eq!(status, 200, "{version:?}");
        let received = integration.next().json();
        assert_eq!(received["type"], "dialog_action");
        assert_eq!(received["post_id"], "");
        assert_eq!(received["user_id"], ana.id.as_str());
        assert_eq!(received["context"], json!({ "t": "made up" }));
    }
}
