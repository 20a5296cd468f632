//! How the server breaks down, and that it comes back with what it knew.

use std::time::{Duration, Instant};

use countersign_testkit::mattermost::{Fault, RateLimit, Settings};

use crate::support::{Integration, started, with_button};

#[test]
fn each_fault_does_what_it_says_as_often_as_it_was_asked_to() {
    let (server, place) = started(Settings::default());
    let say = |text: &str| place.bot.say(&place.channel_id, "", text).status;
    let rows = [
        (Fault::Refuse, 503, 0),
        (Fault::Status(502), 502, 0),
        (Fault::DropBefore, 0, 0),
        (Fault::DropAfter, 0, 1),
        (Fault::Slow(Duration::from_millis(50)), 201, 1),
    ];
    for (fault, status, kept) in rows {
        let before = place.posts(&place.channel_id).len();
        server.fail("POST", "/posts", fault, 1);
        assert_eq!(say("x"), status, "{fault:?}");
        let after = place.posts(&place.channel_id).len();
        assert_eq!(after - before, kept, "{fault:?}");
        assert_eq!(say("y"), 201, "{fault:?}");
    }
    server.fail("GET", "/posts/*", Fault::Refuse, 9);
    assert_eq!(place.bot.get("/posts/x").status, 503);
    server.recover();
    assert_eq!(place.bot.get("/posts/x").status, 404);
}

#[test]
fn too_many_requests_are_refused_and_told_when_to_come_back() {
    let (server, place) = started(Settings::default());
    let limit = RateLimit {
        per_second: 10,
        burst: 5,
    };
    server.set(|settings| settings.rate_limit = Some(limit));
    let client = reqwest::blocking::Client::builder()
        .no_proxy()
        .build()
        .unwrap();
    let ask = || {
        let url = format!("{}/api/v4/users/me", server.url());
        let asked = client.get(url).bearer_auth(place.bot.token());
        let response = asked.send().unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().unwrap().parse::<u64>().ok()
        };
        let said = ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map(header);
        (response.status().as_u16(), said)
    };
    assert_eq!(ask(), (200, [Some(5), Some(4), None]));
    let refused = std::iter::repeat_with(ask).find(|(status, _)| *status == 429);
    assert_eq!(refused.unwrap().1, [Some(5), Some(0), Some(1)]);
    // Others are counted by themselves.
    assert_eq!(place.admin.get("/users/me").status, 200);
    let since = Instant::now();
    while ask().0 != 200 {
        assert!(since.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_restart_keeps_posts_buttons_and_the_signing_key_but_no_pending_ids() {
    let integration = Integration::saying(&serde_json::json!({}));
    let (mut server, place) = started(Settings::default());
    let mut body = with_button(&place.channel_id, "yes", &integration.url);
    body["pending_post_id"] = "p".into();
    let post = place.bot.post("/posts", &body);
    let key = place.bot.get("/config/client?format=old");
    server.stop();
    assert_eq!(place.bot.get("/users/me").status, 0);
    server.start_again().unwrap();
    assert_eq!(place.bot.click(post.text("id"), "yes").status, 200);
    assert_eq!(integration.next().json()["context"]["secret"], "s3cret");
    let again = place.bot.get("/config/client?format=old");
    let name = "AsymmetricSigningPublicKey";
    assert_eq!(again.text(name), key.text(name));
    assert_ne!(place.bot.post("/posts", &body).text("id"), post.text("id"));
}

#[test]
fn every_request_is_remembered_with_what_came_of_it() {
    let (server, place) = started(Settings::default());
    place.bot.get("/posts/x");
    let seen = server.wait_for_hits(|hits| {
        hits.iter()
            .any(|hit| (hit.path.as_str(), hit.status) == ("/posts/x", 404))
    });
    assert!(seen);
}
