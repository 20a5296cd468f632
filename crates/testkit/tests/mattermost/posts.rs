//! Posts: what may be written where, by whom, how long, and what nobody is sent.

use countersign_testkit::mattermost::{Settings, Version};
use serde_json::json;

use crate::support::{started, with_button};

#[test]
fn a_post_is_refused_where_the_real_server_refuses_it() {
    let (_server, place) = started(Settings::default());
    let (channel, bot) = (place.channel_id.as_str(), &place.bot);
    let ana = place.person("ana").unwrap();
    let ben = place.person("ben").unwrap();
    let outsider = place.outsider("olga").unwrap();
    let root = bot.say(channel, "", "first");
    let reply = bot.say(channel, root.text("id"), "second");
    assert_eq!((root.status, reply.status), (201, 201));
    let elsewhere = place.another_channel(&[&ana]).unwrap();
    let long = |chars: usize| "é".repeat(chars);
    let props = |chars: usize| json!({ "channel_id": channel, "message": "x", "props": { "k": long(chars) } });
    let post = |message: &str| json!({ "channel_id": channel, "message": message });
    let rows = [
        (
            "a message of 16383",
            bot.post("/posts", &post(&long(16_383))),
            201,
        ),
        (
            "a message of 16384",
            bot.post("/posts", &post(&long(16_384))),
            400,
        ),
        ("nothing", bot.post("/posts", &post("")), 400),
        ("much in props", bot.post("/posts", &props(759_000)), 201),
        (
            "too much in props",
            bot.post("/posts", &props(760_000)),
            400,
        ),
        (
            "no channel",
            bot.post("/posts", &json!({ "message": "x" })),
            400,
        ),
        ("a channel ben is not in", ben.say(&elsewhere, "", "x"), 403),
        // Who administers the team writes everywhere in it.
        ("a channel of its team", bot.say(&elsewhere, "", "x"), 201),
        ("somebody outside", outsider.say(channel, "", "x"), 403),
        (
            "an answer to an answer",
            bot.say(channel, reply.text("id"), "x"),
            400,
        ),
        (
            "an answer elsewhere",
            ana.say(&elsewhere, root.text("id"), "x"),
            400,
        ),
        ("not JSON", bot.post("/posts", &json!("x")), 400),
    ];
    for (name, asked, expected) in rows {
        assert_eq!(asked.status, expected, "{name}: {asked:?}");
        if expected >= 400 {
            for key in [
                "id",
                "message",
                "request_id",
                "status_code",
                "detailed_error",
            ] {
                assert!(asked.body.get(key).is_some(), "{name}: {key}");
            }
        }
    }
}

#[test]
fn attachments_count_only_in_the_properties() {
    let (_server, place) = started(Settings::default());
    let mut body = with_button(&place.channel_id, "yes", "http://127.0.0.1:9/");
    let attachments = body["props"]["attachments"].take();
    body["props"] = json!({});
    body["attachments"] = attachments;
    let post = place.bot.post("/posts", &body);
    assert_eq!(post.status, 201);
    assert_eq!(post.body["props"], json!({ "from_bot": "true" }));
    assert_eq!(place.bot.click(post.text("id"), "yes").status, 404);
}

#[test]
fn what_an_integration_alone_may_know_is_sent_to_nobody() {
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let body = with_button(&place.channel_id, "yes", "http://127.0.0.1:9/hook");
    let post = place.bot.post("/posts", &body);
    let id = post.text("id");
    let seen = ana.wait_for_post(|post| post["id"] == id).unwrap();
    let channel = &place.channel_id;
    let reads = [
        post.body.clone(),
        place.bot.get(&format!("/posts/{id}")).body,
        place.bot.get(&format!("/posts/{id}/thread")).body,
        place.bot.get(&format!("/channels/{channel}/posts")).body,
        place
            .bot
            .get(&format!("/channels/{channel}/posts?since=1"))
            .body,
        place.admin.get(&format!("/posts/{id}")).body,
        seen,
    ];
    for read in reads {
        let text = read.to_string();
        assert!(text.contains("\"name\":\"Yes\""), "{text}");
        assert!(
            !text.contains("integration") && !text.contains("s3cret"),
            "{text}"
        );
    }
    assert!(server.kept_posts(channel)[0].to_string().contains("s3cret"));
}

#[test]
fn a_pending_id_makes_one_post_within_its_window_and_not_behind_it() {
    let (server, place) = started(Settings::default());
    let body = json!({ "channel_id": place.channel_id, "message": "x", "pending_post_id": "p1" });
    let first = place.bot.post("/posts", &body);
    let second = place.bot.post("/posts", &body);
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.text("id"), second.text("id"));
    let ana = place.person("ana").unwrap();
    assert_ne!(ana.post("/posts", &body).text("id"), first.text("id"));
    server.forget_pending_posts();
    assert_ne!(place.bot.post("/posts", &body).text("id"), first.text("id"));
}

#[test]
fn a_patch_keeps_what_it_does_not_name_and_only_authors_change_their_posts() {
    let (_server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let body = with_button(&place.channel_id, "yes", "http://127.0.0.1:9/");
    let post = place.bot.post("/posts", &body);
    let path = format!("/posts/{}", post.text("id"));
    let change = format!("{path}/patch");
    assert_eq!(ana.put(&change, &json!({ "message": "mine" })).status, 403);
    let patched = place.bot.put(&change, &json!({ "message": "new" }));
    assert_eq!(patched.text("message"), "new");
    assert!(patched.body["props"]["attachments"].is_array());
    let emptied = place.bot.put(&change, &json!({ "props": {} }));
    assert_eq!(emptied.body["props"], json!({ "from_bot": "true" }));
    assert_eq!(emptied.text("message"), "new");
    let whole = json!({ "id": post.text("id"), "message": "whole" });
    assert_eq!(place.bot.put(&path, &whole).text("message"), "whole");
    assert_eq!(place.bot.put(&path, &json!({ "message": "x" })).status, 400);
    let edited = ana.wait_for_post(|post| post["message"] == "whole");
    assert!(edited.is_some());
}

#[test]
fn pages_are_newest_first_and_since_finds_what_changed() {
    let (_server, place) = started(Settings::default());
    let channel = &place.channel_id;
    let said: Vec<_> = (0..5)
        .map(|number| place.bot.say(channel, "", &format!("number {number}")))
        .collect();
    let order = |query: &str| {
        let path = format!("/channels/{channel}/posts?{query}");
        place.bot.get(&path).body["order"].clone()
    };
    let id = |at: usize| said[at].text("id");
    assert_eq!(order("per_page=2"), json!([id(4), id(3)]));
    assert_eq!(order("per_page=2&page=1"), json!([id(2), id(1)]));
    let since = said[3].body["create_at"].as_i64().unwrap();
    assert_eq!(order(&format!("since={since}")), json!([id(4)]));
    let patch = format!("/posts/{}/patch", id(0));
    place.bot.put(&patch, &json!({ "message": "changed" }));
    assert_eq!(order(&format!("since={since}")), json!([id(4), id(0)]));
}

#[test]
fn only_administrators_whisper_and_only_one_person_hears_it() {
    let (_server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let post = json!({ "channel_id": place.channel_id, "message": "psst" });
    let body = json!({ "user_id": ana.id, "post": post });
    assert_eq!(place.bot.post("/posts/ephemeral", &body).status, 403);
    assert_eq!(place.admin.post("/posts/ephemeral", &body).status, 201);
    assert_eq!(ana.wait_for_whisper(0).unwrap(), "psst");
    assert!(place.posts(&place.channel_id).is_empty());
}

#[test]
fn every_version_says_which_it_is() {
    for version in Version::ALL {
        let (_server, place) = started(Settings::of(version));
        let config = place.bot.get("/config/client?format=old");
        assert_eq!(config.text("Version"), version.number());
        let bare = place.bot.get("/config/client").status;
        let expected = if version < Version::V11_9 { 501 } else { 200 };
        assert_eq!(bare, expected, "{version:?}");
    }
}
