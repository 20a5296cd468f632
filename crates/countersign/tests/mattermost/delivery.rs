//! Cards arrive once, whatever the chat server does, or it is said that nobody could be reached.

use std::time::{Duration, Instant};

use countersign_testkit::mattermost::{Fault, RateLimit};
use serde_json::{Value, json};

use crate::scene::{Scene, Stage, seen_by};
use crate::support::RISKY;

#[test]
fn a_fault_costs_time_and_makes_no_second_card() {
    let scene = Scene::new();
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    let rows = [
        ("refused twice", Fault::Refuse, 2),
        ("cut off before", Fault::DropBefore, 1),
        ("cut off after it was posted", Fault::DropAfter, 1),
        ("slow", Fault::Slow(Duration::from_secs(2)), 1),
        ("a bad gateway", Fault::Status(502), 1),
    ];
    for (number, (name, fault, times)) in rows.into_iter().enumerate() {
        fake.fail("POST", "/posts", fault, times);
        let (question, card) = scene.asked(&format!("rm -rf /srv/number{number}"));
        assert_eq!(scene.cards_about(&question.approval).len(), 1, "{name}");
        assert_eq!(scene.ana.click(card.id(), "once").status, 200, "{name}");
        assert_eq!(scene.decided(&question)["status"], "approved", "{name}");
        assert_eq!(scene.cards_about(&question.approval).len(), 1, "{name}");
    }
}

#[test]
fn a_card_is_not_posted_twice_even_where_the_server_has_forgotten_the_first() {
    let scene = Scene::with(|wanted| wanted.settings.pending_post_window = Duration::ZERO);
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    fake.fail("POST", "/posts", Fault::DropAfter, 1);
    let (question, card) = scene.asked(RISKY);
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_gateway_that_was_killed_while_it_posted_posts_no_second_card() {
    let mut scene = Scene::with(|wanted| wanted.settings.pending_post_window = Duration::ZERO);
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    // Posted, and nobody was told: the gateway will be gone before it can try again.
    fake.fail("POST", "/posts", Fault::DropAfter, 1);
    let question = scene.ask(RISKY);
    let card = scene.card(&question.approval);
    scene.gateway = scene.gateway.killed_and_restarted();
    scene.relay.lead_to(&scene.gateway.url);
    let (second, _) = scene.asked("rm -rf /srv/mail");
    // What is delivered later shows that what came before was looked at.
    assert_eq!(scene.cards_about(&second.approval).len(), 1);
    let fake = scene.stage.fake.as_ref().unwrap();
    assert!(fake.wait_for_hits(|hits| {
        let pages = |path: &str| path.starts_with("/channels/") && path.ends_with("/posts");
        hits.iter()
            .any(|hit| hit.method == "GET" && pages(&hit.path))
    }));
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_repaint_that_fails_is_tried_again() {
    let scene = Scene::new();
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    fake.fail("PUT", "/posts/*/patch", Fault::Refuse, 1);
    fake.fail("PUT", "/posts/*/patch", Fault::DropBefore, 1);
    let admin = scene.gateway.admin();
    let answered = scene.gateway.resolve(&admin, &question.approval, "deny");
    assert_eq!(answered.status, 200);
    let settled = scene.settled(&question.approval);
    assert_eq!(settled.id(), card.id());
}

#[test]
fn if_nobody_could_be_reached_that_is_what_the_agent_is_told() {
    let scene = Scene::with(|wanted| wanted.config = json!({ "approvals": { "timeout": "3s" } }));
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    fake.fail("POST", "/posts", Fault::Refuse, usize::MAX);
    let question = scene.ask(RISKY);
    let call = scene.decided(&question);
    assert_eq!(call["status"], "expired", "{call}");
    assert_eq!(call["decision"]["cause"], "undeliverable", "{call}");
    let told = call["message"].as_str().unwrap().to_lowercase();
    assert!(told.contains("nobody could be reached"), "{told}");
}

#[test]
fn a_card_that_was_deleted_while_it_waits_is_posted_again_and_works() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    let gone = scene.place().admin.delete(&format!("/posts/{}", card.id()));
    assert_eq!(gone.status, 200, "{gone:?}");
    let again = seen_by(&scene.ana, &question.approval, |it| it.id() != card.id());
    assert_eq!(again.actions(), card.actions());
    assert_eq!(scene.ana.click(again.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    // What is over stays deleted.
    let gone = scene
        .place()
        .admin
        .delete(&format!("/posts/{}", again.id()));
    assert_eq!(gone.status, 200, "{gone:?}");
    let (second, _) = scene.asked("rm -rf /srv/mail");
    assert_eq!(scene.cards_about(&question.approval).len(), 0);
    assert_eq!(scene.cards_about(&second.approval).len(), 1);
}

#[test]
fn those_who_may_answer_are_mentioned_unless_that_is_switched_off() {
    for mention in [true, false] {
        let scene = Scene::with(|wanted| wanted.channel = json!({ "mention": mention }));
        let (question, card) = scene.asked(RISKY);
        let is_card = |event: &Value| {
            let post = event["data"]["post"].as_str().unwrap_or("");
            event["event"] == "posted" && post.contains(card.id())
        };
        let events = scene.ana.events();
        let posted = events.iter().find(|event| is_card(event)).unwrap();
        let mentions = posted["data"]["mentions"].as_str().unwrap_or("[]");
        let expected = if mention {
            json!([scene.ana.id])
        } else {
            json!([])
        };
        assert_eq!(mentions, expected.to_string(), "ben may not answer");
        assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
        let settled = scene.settled(&question.approval);
        assert!(!settled.message().contains('@'), "{settled:?}");
    }
}

/// Makes the bot an ordinary member of the team; who administers it may write everywhere in it.
pub(crate) fn lower(stage: &Stage) {
    let (team, bot) = (&stage.place.team_id, &stage.place.bot.id);
    let path = format!("/teams/{team}/members/{bot}/schemeRoles");
    let roles = json!({ "scheme_admin": false, "scheme_user": true });
    assert_eq!(stage.place.admin.put(&path, &roles).status, 200);
}

#[test]
fn a_channel_the_bot_may_not_write_to_is_told_as_unreachable_and_recovers() {
    let scene = Scene::with(|wanted| {
        wanted.config = json!({ "approvals": { "timeout": "3s" } });
        wanted.before = lower;
    });
    let place = scene.place();
    let path = format!("/channels/{}/members/{}", place.channel_id, place.bot.id);
    assert_eq!(place.admin.delete(&path).status, 200);
    let question = scene.ask(RISKY);
    assert_eq!(
        scene.decided(&question)["decision"]["cause"],
        "undeliverable"
    );
    let path = format!("/channels/{}/members", place.channel_id);
    place.admin.post(&path, &json!({ "user_id": place.bot.id }));
    let (question, card) = scene.asked("rm -rf /srv/mail");
    assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
    assert_eq!(scene.decided(&question)["status"], "denied");
}

/// Questions of one agent that may wait at the same time.
const AT_ONCE: usize = 20;

/// How many cards at once: a thousand where there is time.
fn burst() -> usize {
    if std::env::var_os("COUNTERSIGN_SOAK").is_some() {
        1000
    } else {
        120
    }
}

#[test]
fn a_burst_of_cards_arrives_whole_and_each_once_under_a_rate_limit() {
    let mut scene = Scene::with(|wanted| {
        wanted.settings.rate_limit = Some(RateLimit {
            per_second: 40,
            burst: 20,
        });
        wanted.channel = json!({ "commands": false });
        wanted.config = json!({ "approvals": { "timeout": "10m" } });
    });
    if scene.fake("a rate limit").is_none() {
        return;
    }
    let count = burst();
    let since = Instant::now();
    let mut asked = Vec::new();
    for first in (0..count).step_by(AT_ONCE) {
        scene.agent = scene.gateway.named_key(&format!("agent{first}"), "agent");
        let some = first..count.min(first + AT_ONCE);
        asked.extend(some.map(|number| scene.ask(&format!("rm -rf /srv/burst{number}"))));
    }
    let fake = scene.stage.fake.as_ref().unwrap();
    // In steps, so that a thousand may take longer than anything else may.
    for step in (0..=count).step_by(100).chain([count]) {
        let are_there = fake.wait_for_hits(|hits| {
            let posted = hits
                .iter()
                .filter(|hit| (hit.method.as_str(), hit.path.as_str()) == ("POST", "/posts"));
            posted.filter(|hit| hit.status == 201).count() >= step
        });
        assert!(are_there, "fewer than {step} cards arrived");
    }
    let took = since.elapsed();
    let kept = fake.kept_posts(&scene.place().channel_id);
    for question in &asked {
        let cards = kept.iter().filter(|post| {
            let key = post["props"]["countersign"].as_str().unwrap_or("");
            key.starts_with(&question.approval)
        });
        assert_eq!(cards.count(), 1, "{}", question.approval);
    }
    assert_eq!(kept.len(), count);
    let hits = fake.hits();
    let refused = hits.iter().filter(|hit| hit.status == 429).count();
    eprintln!("{count} cards in {took:?}, {refused} requests over the limit");
    // Whoever is told to wait waits: a refusal is an exception, not a second try at once.
    assert!(refused <= count / 2, "{refused} refusals for {count} cards");
    let expected = Duration::from_millis(u64::try_from(count).unwrap() * 1000 / 40);
    assert!(took < expected * 4 + Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_card_that_cannot_be_delivered_goes_to_the_next_channel() {
    let scene = Scene::with(|wanted| {
        wanted.config = json!({ "approvals": { "fallback": ["mattermost", "backup"] } });
        wanted.backup = true;
        wanted.before = lower;
    });
    let place = scene.place();
    let (first, card) = scene.asked(RISKY);
    assert_eq!(card.0["channel_id"], place.channel_id.as_str());
    assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
    assert_eq!(scene.decided(&first)["status"], "denied");
    let path = format!("/channels/{}/members/{}", place.channel_id, place.bot.id);
    assert_eq!(place.admin.delete(&path).status, 200);
    let (second, card) = scene.asked("rm -rf /srv/mail");
    assert_ne!(card.0["channel_id"], place.channel_id.as_str());
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    let call = scene.decided(&second);
    assert_eq!(
        (&call["status"], &call["decision"]["via"]),
        (&json!("approved"), &json!("backup"))
    );
}
