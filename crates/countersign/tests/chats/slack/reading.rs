//! What is asked of Slack about people, and what counts as read there.

use countersign_testkit::slack::Fault;

use super::Slack;
use crate::scene::Scene;
use crate::support::RISKY;
use crate::venue::{Venue as _, Who};

type BySocket = Slack<true>;

#[test]
fn slack_is_asked_about_nobody_whom_nobody_lists() {
    let scene = Scene::<BySocket>::new();
    let (question, card) = scene.asked(RISKY);
    let server = &scene.venue.server;
    let looked = || {
        let hits = server.hits();
        hits.iter().filter(|it| it.method == "users.info").count()
    };
    let before = looked();
    for _ in 0..3 {
        let told = scene.venue.press(Who::Eve, &card, "once");
        assert!(told.contains("may not answer"), "{told}");
        let told = scene.venue.command(Who::Eve, "/pending");
        assert!(told.contains("may not answer"), "{told}");
    }
    scene.venue.say(Who::Eve, "let me in");
    scene.reads(Who::Eve, "may not answer");
    assert_eq!(looked(), before, "a stranger costs no request");
    scene.assert_waiting(&question, "a stranger");
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    assert!(looked() > before, "whoever is listed is looked at");
}

#[test]
fn what_was_not_sent_does_not_count_as_read() {
    let scene = Scene::<BySocket>::new();
    let long = format!("rm -rf /srv/{}", "x".repeat(5000));
    let (question, card) = scene.asked(&long);
    assert!(!card.has("once"), "{card:?}");
    let show = format!("/show {}", question.approval);
    let approve = format!("/approve {}", question.approval);
    let server = &scene.venue.server;
    server.fail("chat.postMessage", Fault::Status(500), 1);
    let told = scene.venue.command(Who::Ana, &show);
    assert!(told.contains("does not count as read"), "{told}");
    let told = scene.venue.command(Who::Ana, &approve);
    scene.assert_waiting(&question, &told);
    let told = scene.venue.command(Who::Ana, &show);
    assert!(told.contains("sent to you directly"), "{told}");
    scene.reads(Who::Ana, &"x".repeat(5000));
    scene.venue.command(Who::Ana, &approve);
    assert_eq!(scene.decided(&question)["status"], "approved");
}
