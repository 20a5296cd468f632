//! A card appears, somebody clicks, and exactly that happens.

use countersign_testkit::mattermost::{Settings, Version};
use serde_json::json;

use crate::scene::{Card, Scene, is_unheard, seen_by};
use crate::support::{RISKY, shell};

const OTHER: &str = "rm -rf /srv/mail";

#[test]
fn a_card_shows_what_would_run_and_offers_what_may_be_chosen() {
    let scene = Scene::new();
    let call = json!({
        "tool": "terminal", "args": { "command": RISKY }, "session_id": "s1",
        "agent": "build-bot", "cwd": "/home/dev/project",
    });
    let question = scene.ask_with(&call);
    let card = scene.card(&question.approval);
    let mention = format!("⚠️ Command Approval Required @{}", scene.ana.name);
    assert_eq!(card.message(), mention, "who may answer is called");
    assert_eq!(card.text(), format!("```\n{RISKY}\n```"));
    let title = card.attachment()["title"].as_str().unwrap();
    assert!(title.contains("/srv/www"), "{title}");
    assert_eq!(
        card.actions(),
        ["once", "session", "always", "deny", "denynote"]
    );
    let names = card.attachment()["actions"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|it| it["name"].as_str().unwrap()).collect();
    let expected = [
        "Allow Once",
        "Allow Session",
        "Always Allow",
        "Deny",
        "Deny with note…",
    ];
    assert_eq!(names, expected);
    for title in ["Risk", "Agent", "Folder", "Open until"] {
        assert!(card.field(title).is_some(), "{title}: {card:?}");
    }
    assert!(card.field("Agent").unwrap().contains("build-bot"));
    assert!(card.field("Folder").unwrap().contains("/home/dev/project"));
    assert!(!card.0.to_string().contains(scene.place().bot.token()));
}

#[test]
fn each_button_decides_what_it_says() {
    let scene = Scene::new();
    let rows = [
        ("once", "approved", "Approved once"),
        ("session", "approved", "Approved for this session"),
        ("always", "approved", "Approved always"),
        ("deny", "denied", "Denied"),
    ];
    for (number, (choice, status, words)) in rows.into_iter().enumerate() {
        let command = format!("rm -rf /srv/number{number}");
        let (question, card) = scene.asked(&command);
        let seen = scene.ana.events_so_far();
        let clicked = scene.ana.click(card.id(), choice);
        assert_eq!(clicked.status, 200, "{choice}: {clicked:?}");
        if choice == "always" {
            // The call is critical, so that is asked once more.
            scene.assert_waiting(&question, choice);
            scene.confirm(&scene.ana, seen);
        }
        let call = scene.decided(&question);
        assert_eq!(call["status"], status, "{choice}: {call}");
        let decision = &call["decision"];
        assert_eq!(decision["choice"], choice);
        assert_eq!(
            (&decision["by"], &decision["via"]),
            (&json!("ana"), &json!("mattermost"))
        );
        let settled = scene.settled(&question.approval);
        assert!(settled.message().contains(words), "{choice}: {settled:?}");
        assert!(settled.message().contains("ana"), "{choice}: {settled:?}");
        assert_eq!(settled.text(), card.text(), "the command stays");
        assert_eq!(settled.id(), card.id());
        if choice != "always" {
            assert!(scene.ana.wait_for_whisper(seen).is_some(), "{choice}");
        }
        let grant = settled.field("Grant");
        let leaves = matches!(choice, "session" | "always");
        assert_eq!(grant.is_some(), leaves, "{choice}: {settled:?}");
        assert_eq!(settled.actions().contains(&"revoke"), leaves, "{choice}");
        assert_eq!(scene.cards_about(&question.approval).len(), 1);
    }
}

#[test]
fn it_works_on_every_version_of_the_server() {
    for version in Version::ALL {
        let scene = Scene::with(|wanted| wanted.settings = Settings::of(version));
        let (question, card) = scene.asked(RISKY);
        assert_eq!(
            scene.ana.click(card.id(), "once").status,
            200,
            "{version:?}"
        );
        assert_eq!(
            scene.decided(&question)["status"],
            "approved",
            "{version:?}"
        );
        assert!(scene.settled(&question.approval).actions().is_empty());
        if scene.stage.fake.is_none() {
            return;
        }
    }
}

#[test]
fn a_denial_takes_a_note_from_a_dialog_to_the_agent() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    let seen = scene.ana.events_so_far();
    assert_eq!(scene.ana.click(card.id(), "denynote").status, 200);
    let dialog = scene.ana.wait_for_dialog(seen).unwrap();
    scene.assert_waiting(&question, "the dialog is open");
    let element = &dialog["dialog"]["elements"][0];
    let name = element["name"].as_str().unwrap();
    let note = json!({ name: "ask ops\nfirst" });
    let sent = scene.ana.submit(&dialog, scene.place(), &note);
    assert_eq!((sent.status, sent.text("error")), (200, ""), "{sent:?}");
    let call = scene.decided(&question);
    assert_eq!(call["status"], "denied");
    assert_eq!(call["decision"]["note"], "ask ops\nfirst");
    let settled = scene.settled(&question.approval);
    assert!(settled.message().contains("Denied"), "{settled:?}");
    let note = settled.field("Note").unwrap();
    assert!(note.contains("ask ops") && note.contains("first"), "{note}");
}

#[test]
fn a_grant_is_revoked_on_the_card_that_left_it_by_approvers_alone() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    assert_eq!(scene.ana.click(card.id(), "session").status, 200);
    scene.settled(&question.approval);
    // What was allowed is used up; from here on only the grant counts.
    let token = scene.decided(&question)["token"].clone();
    let used = json!({ "token": token });
    let used = scene
        .gateway
        .post(&scene.agent, "/v1/tokens/consume", &used);
    assert_eq!(used.status, 200, "{used:?}");
    let agent_runs = || {
        let asked = scene.gateway.post(&scene.agent, "/v1/calls", &shell(RISKY));
        asked.body["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(agent_runs(), "allowed");
    let seen = scene.ben.events_so_far();
    assert_eq!(scene.ben.click(card.id(), "revoke").status, 200);
    assert!(scene.ben.wait_for_whisper(seen).is_some());
    assert_eq!(agent_runs(), "allowed", "ben may not");
    assert_eq!(scene.ana.click(card.id(), "revoke").status, 200);
    let revoked = seen_by(&scene.ana, &question.approval, |card| {
        card.field("Grant revoked by").is_some()
    });
    assert!(revoked.actions().is_empty(), "{revoked:?}");
    assert_eq!(agent_runs(), "waiting");
}

#[test]
fn a_press_changes_its_card_once() {
    let scene = Scene::new();
    let Some(fake) = scene.fake("to see that nothing was changed twice") else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    let path = format!("/posts/{}", card.id());
    let is_about = |hit: &countersign_testkit::mattermost::Hit| hit.path.starts_with(&path);
    // The gateway looks whether the reply has painted it, and leaves it at that.
    assert!(fake.wait_for_hits(|hits| {
        let looked = hits.iter().filter(|hit| hit.method == "GET");
        looked.filter(|hit| is_about(hit)).count() > 0
    }));
    let hits = fake.hits();
    let changed = hits
        .iter()
        .filter(|hit| hit.method == "PUT" && is_about(hit));
    assert_eq!(changed.count(), 0, "{hits:?}");
    let edited = scene.ana.events().into_iter().filter(|event| {
        let post = event["data"]["post"].as_str().unwrap_or("");
        event["event"] == "post_edited" && post.contains(card.id())
    });
    assert_eq!(edited.count(), 1);
}

#[test]
fn a_press_on_a_card_that_cannot_be_edited_any_more_shows_how_it_ended() {
    let scene = Scene::with(|wanted| {
        wanted.settings.post_edit_limit = Some(std::time::Duration::ZERO);
    });
    let Some(fake) = scene.fake("a limit for editing, which is the whole server's") else {
        return;
    };
    let (question, card) = scene.asked(RISKY);
    let admin = scene.gateway.admin();
    let answered = scene.gateway.resolve(&admin, &question.approval, "deny");
    assert_eq!(answered.status, 200);
    let patch = format!("/posts/{}/patch", card.id());
    assert!(fake.wait_for_hits(|hits| {
        let mut refused = hits.iter().filter(|hit| hit.path == patch);
        refused.any(|hit| hit.status == 400)
    }));
    let seen = scene.ana.events_so_far();
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    let settled = scene.settled(&question.approval);
    assert!(settled.message().contains("Denied"), "{settled:?}");
    assert!(settled.actions().is_empty(), "{settled:?}");
    let told = scene.ana.wait_for_whisper(seen).unwrap();
    assert!(told.contains("Already answered"), "{told}");
    assert_eq!(scene.decided(&question)["status"], "denied");
}

#[test]
fn a_dialog_counts_once_and_only_for_the_one_it_was_opened_for() {
    let scene = Scene::with(|wanted| wanted.approvers = vec!["ana", "ben"]);
    let (question, card) = scene.asked(RISKY);
    let seen = scene.ana.events_so_far();
    scene.ana.click(card.id(), "denynote");
    let dialog = scene.ana.wait_for_dialog(seen).unwrap();
    let channel = &scene.place().channel_id;
    let state = dialog["dialog"]["state"].as_str().unwrap();
    let name = dialog["dialog"]["elements"][0]["name"].as_str().unwrap();
    let words = json!({ name: "x" });
    let mut altered = dialog.clone();
    altered["dialog"]["state"] = json!(state.replace("denynote", "once"));
    let mut cut = dialog.clone();
    let last = state.chars().next_back().unwrap();
    cut["dialog"]["state"] = json!(state.trim_end_matches(last));
    let rows = [
        (
            "another person",
            scene.ben.submit(&dialog, scene.place(), &words),
        ),
        (
            "another choice",
            scene.ana.submit(&altered, scene.place(), &words),
        ),
        (
            "another code",
            scene.ana.submit(&cut, scene.place(), &words),
        ),
    ];
    for (name, sent) in rows {
        assert_eq!(sent.status, 200, "{name}: {sent:?}");
        assert_ne!(sent.text("error"), "", "{name}: {sent:?}");
        scene.assert_waiting(&question, name);
    }
    // Straight to the gateway, past the server: who it is from cannot be made up either.
    let forged = json!({
        "type": "dialog_submission", "callback_id": "denynote", "state": state,
        "user_id": scene.ben.id, "channel_id": channel, "team_id": "",
        "submission": words, "cancelled": false,
    });
    assert_eq!(scene.send("dialog", &forged).status, 200);
    scene.assert_waiting(&question, "past the server");
    assert_eq!(
        scene
            .ana
            .submit(&dialog, scene.place(), &words)
            .text("error"),
        ""
    );
    assert_eq!(scene.decided(&question)["status"], "denied");
    assert_ne!(
        scene
            .ana
            .submit(&dialog, scene.place(), &words)
            .text("error"),
        ""
    );
}

#[test]
fn a_question_of_the_agent_is_answered_by_a_button_or_in_own_words() {
    let scene = Scene::new();
    let ask = |session: &str| {
        let body = json!({
            "question": "Which branch?", "choices": ["main", "next"], "session_id": session,
        });
        let asked = scene
            .gateway
            .post(&scene.agent, "/v1/clarifications", &body);
        assert_eq!(asked.status, 200, "{asked:?}");
        asked.body["clarification_id"].as_str().unwrap().to_owned()
    };
    let answer = |id: &str| {
        let path = format!("/v1/clarifications/{id}?wait_seconds=60");
        scene.gateway.get(&scene.agent, &path).body
    };
    let first = ask("s1");
    let card = scene.card(&first);
    assert_eq!(card.actions(), ["answer1", "answer2", "other"]);
    assert!(card.text().contains("Which branch?"));
    assert_eq!(scene.ana.click(card.id(), "answer2").status, 200);
    assert_eq!(answer(&first)["answer"]["text"], "next");
    let settled = scene.settled(&first);
    assert!(settled.message().contains("ana"), "{settled:?}");

    let second = ask("s2");
    let card = scene.card(&second);
    let seen = scene.ana.events_so_far();
    assert_eq!(scene.ana.click(card.id(), "other").status, 200);
    let dialog = scene.ana.wait_for_dialog(seen).unwrap();
    let name = dialog["dialog"]["elements"][0]["name"].as_str().unwrap();
    let words = json!({ name: "neither" });
    let sent = scene.ana.submit(&dialog, scene.place(), &words);
    assert_eq!((sent.status, sent.text("error")), (200, ""), "{sent:?}");
    assert_eq!(answer(&second)["answer"]["text"], "neither");
}

#[test]
fn two_cards_are_answered_in_any_order_each_for_itself() {
    let scene = Scene::new();
    let (first, first_card) = scene.asked(RISKY);
    let (second, second_card) = scene.asked(OTHER);
    assert_eq!(scene.ana.click(second_card.id(), "once").status, 200);
    assert_eq!(scene.decided(&second)["status"], "approved");
    scene.assert_waiting(&first, "the first");
    assert_eq!(scene.ana.click(first_card.id(), "deny").status, 200);
    assert_eq!(scene.decided(&first)["status"], "denied");
}

#[test]
fn a_second_click_is_told_who_was_first_and_changes_nothing() {
    let scene = Scene::with(|wanted| wanted.approvers = vec!["ana", "ben"]);
    let (question, card) = scene.asked(RISKY);
    let late = scene.captured(&scene.ben, &card, "deny");
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    let told = scene.send("action", &late);
    assert_eq!(told.status, 200, "{told:?}");
    let words = told.body["ephemeral_text"].as_str().unwrap();
    assert!(words.contains("ana"), "{words}");
    let call = scene.decided(&question);
    assert_eq!(
        (&call["status"], &call["decision"]["by"]),
        (&json!("approved"), &json!("ana"))
    );
    // The buttons are gone, so the server itself has nothing to click.
    scene.settled(&question.approval);
    assert_eq!(scene.ben.click(card.id(), "deny").status, 404);
}

#[test]
fn an_answer_elsewhere_takes_the_buttons_away() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    let carol = scene.gateway.named_key("cara", "approver");
    let late = scene.captured(&scene.ana, &card, "once");
    let answered = scene.gateway.resolve(&carol, &question.approval, "deny");
    assert_eq!(answered.status, 200, "{answered:?}");
    let settled = scene.settled(&question.approval);
    assert!(settled.message().contains("Denied"), "{settled:?}");
    assert!(settled.message().contains("cara"), "{settled:?}");
    assert_eq!((settled.id(), settled.text()), (card.id(), card.text()));
    let told = scene.send("action", &late);
    assert!(
        told.body["ephemeral_text"]
            .as_str()
            .unwrap()
            .contains("cara"),
        "{told:?}"
    );
    assert_eq!(scene.decided(&question)["status"], "denied");
}

#[test]
fn a_question_that_ran_out_cannot_be_answered_and_says_so() {
    let scene = Scene::with(|wanted| wanted.config = json!({ "approvals": { "timeout": "4s" } }));
    let (question, card) = scene.asked(RISKY);
    let late = scene.captured(&scene.ana, &card, "once");
    let call = scene.decided(&question);
    assert_eq!(call["status"], "expired", "{call}");
    let settled = scene.settled(&question.approval);
    assert!(!settled.message().contains("Approved"), "{settled:?}");
    let told = scene.send("action", &late);
    assert!(told.body["ephemeral_text"].is_string(), "{told:?}");
    assert_eq!(scene.decided(&question)["status"], "expired");
}

#[test]
fn a_card_works_after_the_gateway_was_restarted() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    let scene = scene.restart_gateway();
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[test]
fn a_click_while_the_gateway_is_away_can_be_repeated() {
    let scene = Scene::new();
    let (question, card) = scene.asked(RISKY);
    scene.relay.hold_back();
    assert!(is_unheard(scene.ana.click(card.id(), "once").status));
    scene.assert_waiting(&question, "nobody heard it");
    scene.relay.lead_to(&scene.gateway.url);
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn a_card_works_after_the_chat_server_was_restarted() {
    let mut scene = Scene::new();
    if scene.fake("a restart of the server").is_none() {
        return;
    }
    let (question, card) = scene.asked(RISKY);
    let fake = scene.stage.fake.as_mut().unwrap();
    fake.stop();
    let second = scene.ask(OTHER);
    let fake = scene.stage.fake.as_mut().unwrap();
    fake.start_again().unwrap();
    scene.ana.listen().unwrap();
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    // What was asked while it was away arrives, too; perhaps before ana looked again.
    let fake = scene.stage.fake.as_ref().unwrap();
    assert!(fake.wait_for_hits(|hits| {
        let posts = hits.iter().filter(|hit| hit.path == "/posts");
        posts.filter(|hit| hit.status == 201).count() == 2
    }));
    let cards = scene.cards_about(&second.approval);
    assert_eq!(cards.len(), 1);
    assert_eq!(scene.ana.click(cards[0].id(), "deny").status, 200);
    assert_eq!(scene.decided(&second)["status"], "denied");
}

#[test]
fn without_a_channel_each_approver_is_asked_directly_and_one_answer_settles_all() {
    let scene = Scene::with(|wanted| {
        wanted.approvers = vec!["ana", "ben"];
        wanted.channel = json!({ "channel": null });
    });
    let question = scene.ask(RISKY);
    let open = |card: &Card| !card.actions().is_empty();
    let anas = seen_by(&scene.ana, &question.approval, open);
    let bens = seen_by(&scene.ben, &question.approval, open);
    assert_ne!(anas.0["channel_id"], bens.0["channel_id"]);
    assert!(scene.place().posts(&scene.place().channel_id).is_empty());
    assert_eq!(scene.ben.click(bens.id(), "deny").status, 200);
    assert_eq!(scene.decided(&question)["decision"]["by"], "ben");
    let settled = seen_by(&scene.ana, &question.approval, |card| !open(card));
    assert!(settled.message().contains("ben"), "{settled:?}");
}
