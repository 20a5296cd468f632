//! The scenes that every platform plays, most of them hostile.

use std::collections::HashMap;

use countersign_core::command::TABLE;
use countersign_testkit::model::{Call, MODEL, ModelServer, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scene::{Question, Scene};
use crate::support::RISKY;
use crate::venue::{Card, Limits, Venue, Who};

const OTHER: &str = "rm -rf /srv/mail";
/// Questions of one agent that may wait at the same time.
const AT_ONCE: usize = 20;

/// Makes every scene a test of a platform.
macro_rules! hostile {
    ($venue:ty) => {
        hostile! {
            $venue:
            each_button_decides_what_it_says,
            a_denial_takes_a_note_to_the_agent_and_to_the_card,
            a_question_of_the_agent_is_answered_by_a_button_or_in_own_words,
            an_altered_press_is_refused_whatever_was_altered,
            a_press_counts_once_also_over_a_restart,
            a_press_that_comes_too_late_changes_nothing,
            a_stranger_is_told_so_alone_and_changes_nothing,
            a_button_of_another_firewall_is_no_button_here,
            two_cards_are_answered_in_any_order_each_for_itself,
            of_two_presses_at_once_one_counts,
            a_card_works_after_the_gateway_and_the_platform_were_restarted,
            hostile_text_stays_text_and_brings_no_button,
            what_does_not_fit_is_not_allowed_before_it_was_opened,
            a_burst_of_cards_arrives_whole_and_each_once_under_a_rate_limit,
            an_answer_from_elsewhere_is_on_the_card_and_its_buttons_are_gone,
            a_draft_for_a_person_in_crisis_is_never_shown_to_them,
            commands_answer_and_count_for_approvers_alone,
            a_message_of_the_agent_is_sent_as_it_was_allowed_and_not_before,
            every_command_of_the_registry_works_there,
        }
    };
    ($venue:ty: $($scene:ident,)*) => {
        $(
            #[test]
            fn $scene() {
                $crate::suite::$scene::<$venue>();
            }
        )*
    };
}

pub(crate) fn each_button_decides_what_it_says<V: Venue>() {
    let scene = Scene::<V>::new();
    let rows = [
        ("once", "approved", "Approved once"),
        ("session", "approved", "Approved for this session"),
        ("always", "approved", "Approved always"),
        ("deny", "denied", "Denied"),
    ];
    for (number, (choice, status, words)) in rows.into_iter().enumerate() {
        let command = format!("rm -rf /srv/number{number}");
        let (question, card) = scene.asked(&command);
        assert!(card.text.contains(&command), "{card:?}");
        let seen = scene.venue.asked_for(Who::Ana);
        scene.venue.press(Who::Ana, &card, choice);
        if choice == "always" {
            // The call is critical, so that is asked once more.
            scene.assert_waiting(&question, choice);
            scene.venue.fill_in(Who::Ana, seen, None);
        }
        let call = scene.decided(&question);
        assert_eq!(call["status"], status, "{choice}: {call}");
        let decision = &call["decision"];
        assert_eq!(decision["choice"], choice);
        let by = (&decision["by"], &decision["via"]);
        assert_eq!(by, (&json!("ana"), &json!(V::NAME)));
        let settled = scene.settled(&question.approval);
        for shown in [words, "ana", command.as_str()] {
            assert!(
                settled.text.contains(shown),
                "{choice}: {shown}: {settled:?}"
            );
        }
        assert_eq!(settled.message, card.message, "{choice}");
        let leaves = matches!(choice, "session" | "always");
        assert_eq!(settled.has("revoke"), leaves, "{choice}: {settled:?}");
        assert_eq!(scene.cards_about(&question.approval).len(), 1);
    }
}

pub(crate) fn a_denial_takes_a_note_to_the_agent_and_to_the_card<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    let seen = scene.venue.asked_for(Who::Ana);
    scene.venue.press(Who::Ana, &card, "denynote");
    scene.assert_waiting(&question, "the note is being written");
    scene.venue.fill_in(Who::Ana, seen, Some("ask ops first"));
    let call = scene.decided(&question);
    assert_eq!(call["status"], "denied");
    assert_eq!(call["decision"]["note"], "ask ops first");
    let settled = scene.settled(&question.approval);
    assert!(settled.text.contains("ask ops first"), "{settled:?}");
}

pub(crate) fn a_question_of_the_agent_is_answered_by_a_button_or_in_own_words<V: Venue>() {
    let scene = Scene::<V>::new();
    let ask = |session: &str| {
        let body = json!({
            "question": "Which branch?", "choices": ["main", "next"], "session_id": session,
        });
        let path = "/v1/clarifications";
        let asked = scene.gateway.post(&scene.agent, path, &body);
        assert_eq!(asked.status, 200, "{asked:?}");
        asked.body["clarification_id"].as_str().unwrap().to_owned()
    };
    let answer = |id: &str| {
        let path = format!("/v1/clarifications/{id}?wait_seconds=60");
        scene.gateway.get(&scene.agent, &path).body
    };
    let first = ask("s1");
    let card = scene.card(&first);
    assert_eq!(card.buttons, ["answer1", "answer2", "other"]);
    assert!(card.text.contains("Which branch?"), "{card:?}");
    scene.venue.press(Who::Ana, &card, "answer2");
    assert_eq!(answer(&first)["answer"]["text"], "next");
    let settled = scene.settled(&first);
    assert!(settled.text.contains("ana"), "{settled:?}");

    let second = ask("s2");
    let card = scene.card(&second);
    let seen = scene.venue.asked_for(Who::Ana);
    scene.venue.press(Who::Ana, &card, "other");
    scene.venue.fill_in(Who::Ana, seen, Some("neither"));
    assert_eq!(answer(&second)["answer"]["text"], "neither");
    scene.settled(&second);
}

pub(crate) fn an_altered_press_is_refused_whatever_was_altered<V: Venue>() {
    let scene = Scene::<V>::new();
    let (other, other_card) = scene.asked(OTHER);
    let (question, card) = scene.asked(RISKY);
    let others = scene.venue.prepare(Who::Ana, &other_card, "once");
    let genuine = scene.venue.prepare(Who::Ana, &card, "once");
    let altered = scene.venue.altered(&genuine, &others);
    assert!(altered.len() > 5, "{}", altered.len());
    for (name, press) in altered {
        scene.venue.tell(&press);
        scene.assert_waiting(&question, name);
        scene.assert_waiting(&other, name);
    }
    assert!(scene.card(&question.approval).has("once"));
    // What was refused above was refused for what was altered.
    let genuine = scene.venue.prepare(Who::Ana, &card, "once");
    scene.venue.tell(&genuine);
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.assert_waiting(&other, "the other");
    let admin = scene.gateway.admin();
    let ledger = scene.gateway.get(&admin, "/v1/ledger?limit=1000").body;
    assert!(ledger.to_string().contains("click.refused"), "{ledger}");
}

pub(crate) fn a_press_counts_once_also_over_a_restart<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    let seen = scene.venue.asked_for(Who::Ana);
    // A press that decides nothing by itself, so that only its repetition could.
    let press = scene.venue.prepare(Who::Ana, &card, "denynote");
    scene.venue.tell(&press);
    scene.venue.tell(&press);
    scene.assert_waiting(&question, "asked for words twice");
    assert_eq!(scene.venue.asked_for(Who::Ana), seen + 1, "asked once");
    let scene = scene.restarted();
    scene.venue.tell(&press);
    scene.assert_waiting(&question, "after a restart");
    assert_eq!(scene.venue.asked_for(Who::Ana), seen + 1, "asked once");
    let allow = scene.venue.prepare(Who::Ana, &card, "once");
    scene.venue.tell(&allow);
    assert_eq!(scene.decided(&question)["status"], "approved");
    let (second, _) = scene.asked(OTHER);
    let scene = scene.restarted();
    scene.venue.tell(&allow);
    scene.assert_waiting(&second, "a press of another card, again");
    assert_eq!(entries(&scene, "approval.resolved"), 1);
}

/// Returns how many entries of this name the ledger has.
pub(crate) fn entries<V: Venue>(scene: &Scene<V>, name: &str) -> usize {
    let admin = scene.gateway.admin();
    let ledger = scene.gateway.get(&admin, "/v1/ledger?limit=1000").body;
    let entries = ledger["entries"].as_array().unwrap().iter();
    entries
        .filter(|it| it.to_string().contains(&format!("\"{name}\"")))
        .count()
}

pub(crate) fn a_press_that_comes_too_late_changes_nothing<V: Venue>() {
    let config = json!({ "approvals": { "timeout": "2s" } });
    let scene = Scene::<V>::with(&config, Limits::None);
    let (question, card) = scene.asked(RISKY);
    let late = scene.venue.prepare(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "expired");
    let told = scene.venue.tell(&late);
    assert!(told.contains("Too late"), "{told}");
    assert_eq!(scene.decided(&question)["status"], "expired");
    let settled = scene.settled(&question.approval);
    assert!(settled.buttons.is_empty(), "{settled:?}");
    assert!(!settled.text.contains("Approved"), "{settled:?}");
}

pub(crate) fn a_stranger_is_told_so_alone_and_changes_nothing<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    for button in ["once", "deny", "denynote"] {
        let told = scene.venue.press(Who::Eve, &card, button);
        assert!(told.contains("may not answer"), "{button}: {told}");
        scene.assert_waiting(&question, button);
        let read = scene.venue.read_by(Who::Ana);
        assert!(!read.contains("may not answer"), "{button}: {read}");
    }
    let still = scene.card(&question.approval);
    assert_eq!((&still.text, &still.buttons), (&card.text, &card.buttons));
    scene.venue.press(Who::Ben, &card, "deny");
    assert_eq!(scene.decided(&question)["decision"]["by"], "ben");
}

pub(crate) fn a_button_of_another_firewall_is_no_button_here<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    let theirs = Scene::<V>::new();
    let (their_question, their_card) = theirs.asked(RISKY);
    let foreign = theirs.venue.prepare(Who::Ana, &their_card, "once");
    for (name, press) in scene.venue.moved(&foreign, &card) {
        scene.venue.tell(&press);
        scene.assert_waiting(&question, name);
        theirs.assert_waiting(&their_question, name);
    }
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

pub(crate) fn two_cards_are_answered_in_any_order_each_for_itself<V: Venue>() {
    let scene = Scene::<V>::new();
    let (first, first_card) = scene.asked(RISKY);
    let (second, second_card) = scene.asked(OTHER);
    scene.venue.press(Who::Ana, &second_card, "once");
    assert_eq!(scene.decided(&second)["status"], "approved");
    scene.assert_waiting(&first, "the first");
    scene.venue.press(Who::Ana, &first_card, "deny");
    assert_eq!(scene.decided(&first)["status"], "denied");
}

pub(crate) fn of_two_presses_at_once_one_counts<V: Venue>() {
    let scene = Scene::<V>::new();
    for number in 0..5 {
        let (question, card) = scene.asked(&format!("rm -rf /srv/race{number}"));
        let allows = scene.venue.prepare(Who::Ana, &card, "once");
        let denies = scene.venue.prepare(Who::Ben, &card, "deny");
        let (anas, bens) = std::thread::scope(|threads| {
            let ana = threads.spawn(|| scene.venue.tell(&allows));
            let ben = threads.spawn(|| scene.venue.tell(&denies));
            (ana.join().unwrap(), ben.join().unwrap())
        });
        let call = scene.decided(&question);
        let (winner, loser) = match call["decision"]["by"].as_str().unwrap() {
            "ana" => ("approved", &bens),
            _ => ("denied", &anas),
        };
        assert_eq!(call["status"], winner, "{call}");
        assert!(loser.contains("Already answered"), "{loser}");
        assert_eq!(scene.cards_about(&question.approval).len(), 1);
    }
    assert_eq!(entries(&scene, "approval.resolved"), 5);
}

pub(crate) fn a_card_works_after_the_gateway_and_the_platform_were_restarted<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    let mut scene = scene.restarted();
    scene.venue.restart();
    scene.venue.press(Who::Ana, &card, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
    scene.settled(&question.approval);
    assert_eq!(scene.cards_about(&question.approval).len(), 1);
}

#[derive(Deserialize)]
struct Spoof {
    id: String,
    text: String,
    must_not: Vec<String>,
}

fn spoofs() -> Vec<Spoof> {
    let files = ["spoof.jsonl", "spoof_more.jsonl"].into_iter();
    let rows = files.flat_map(|file| {
        let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
        rows.collect::<Vec<Spoof>>()
    });
    rows.collect()
}

/// Returns a call that says what a row says wherever an agent can say something.
fn spoofing(row: &Spoof) -> Value {
    // To somebody else each time: texts that differ only in what nobody sees are the same message.
    let to = format!("ana-{}", row.id);
    let mut call = json!({
        "tool": "send_message", "args": { "to": to, "text": row.text },
        "session_id": row.id, "explanation": row.text,
    });
    // Names with control characters are refused before anybody sees them.
    if row.text.len() <= 256 && !row.text.contains(char::is_control) {
        call["agent"] = json!(row.text);
    }
    call
}

pub(crate) fn hostile_text_stays_text_and_brings_no_button<V: Venue>() {
    let scene = Scene::<V>::new();
    let rows = spoofs();
    assert!(rows.len() > 100, "{}", rows.len());
    let ours = ["once", "session", "always", "deny", "denynote", "view"];
    for some in rows.chunks(AT_ONCE) {
        let asked: Vec<Question> = some
            .iter()
            .map(|row| scene.ask_with(&spoofing(row)))
            .collect();
        for (row, question) in some.iter().zip(asked) {
            let card = scene.card(&question.approval);
            // Lines are ours to break, and the sign in front is ours.
            let text = card.text.replace("⚠️", "");
            let hidden = row.must_not.iter().filter(|hidden| hidden.as_str() != "\n");
            for hidden in hidden {
                assert!(!text.contains(hidden), "{}: {hidden:?}", row.id);
            }
            let acts_on = scene.venue.acts_on(&card);
            assert!(acts_on.is_empty(), "{}: {acts_on:?}: {}", row.id, card.raw);
            let are_ours = card.buttons.iter().all(|it| ours.contains(&it.as_str()));
            assert!(are_ours, "{}: {:?}", row.id, card.buttons);
            let admin = scene.gateway.admin();
            let denied = scene.gateway.resolve(&admin, &question.approval, "deny");
            assert_eq!(denied.status, 200, "{}", row.id);
        }
    }
}

pub(crate) fn what_does_not_fit_is_not_allowed_before_it_was_opened<V: Venue>() {
    let scene = Scene::<V>::new();
    let tail = "; rm -rf /srv/www";
    let command = format!("echo {}{tail}", "0123456789abcdef ".repeat(4600));
    assert!(command.len() > 78_000);
    let (question, card) = scene.asked(&command);
    assert_eq!(card.buttons, ["deny", "denynote", "view"]);
    for shown in ["echo 0123", tail, "sha256:"] {
        assert!(card.text.contains(shown), "{shown}: {card:?}");
    }
    scene.venue.press(Who::Ana, &card, "view");
    scene.assert_waiting(&question, "looking decides nothing");
    let opened = scene.card_that("that allows it", |it| {
        it.subject == question.approval && it.has("once")
    });
    // Ben has not read it, so he is not offered to allow it.
    assert_ne!(opened.place, card.place);
    let is_shared = |it: &Card| it.message == card.message && it.place == card.place;
    let shared = scene.card_that("in the room", is_shared);
    assert_eq!(shared.buttons, ["deny", "denynote", "view"]);
    let marks = scene
        .venue
        .full_text(&card)
        .matches("0123456789abcdef")
        .count();
    assert!(marks >= 4500, "the full text is there: {marks}");
    scene.venue.press(Who::Ana, &opened, "once");
    assert_eq!(scene.decided(&question)["status"], "approved");
}

pub(crate) fn a_burst_of_cards_arrives_whole_and_each_once_under_a_rate_limit<V: Venue>() {
    let config = json!({ "approvals": { "timeout": "10m" } });
    let mut scene = Scene::<V>::with(&config, Limits::Tight);
    let is_soak = std::env::var_os("COUNTERSIGN_SOAK").is_some();
    let count = if is_soak { 1000 } else { 60 };
    let mut asked = Vec::new();
    for first in (0..count).step_by(AT_ONCE) {
        scene.agent = scene.gateway.named_key(&format!("agent{first}"), "agent");
        let some = first..count.min(first + AT_ONCE);
        asked.extend(some.map(|number| scene.ask(&format!("rm -rf /srv/burst{number}"))));
    }
    // In steps, so that a thousand may take longer than anything else may.
    for step in (0..=count).step_by(20).chain([count]) {
        let are_there = scene.venue.wait(&|| scene.venue.cards().len() >= step);
        assert!(are_there, "fewer than {step} cards arrived");
    }
    let mut counted: HashMap<String, usize> = HashMap::new();
    for card in scene.venue.cards() {
        *counted.entry(card.subject).or_default() += 1;
    }
    for question in &asked {
        assert_eq!(
            counted.get(&question.approval),
            Some(&1),
            "{}",
            question.approval
        );
    }
    assert_eq!(counted.len(), count);
    let refused = scene.venue.over_the_limit();
    // Whoever is told to wait waits: a refusal is an exception, not a second try at once.
    assert!(refused <= count, "{refused} refusals for {count} cards");
}

pub(crate) fn an_answer_from_elsewhere_is_on_the_card_and_its_buttons_are_gone<V: Venue>() {
    let scene = Scene::<V>::new();
    let (question, card) = scene.asked(RISKY);
    let late = scene.venue.prepare(Who::Ana, &card, "once");
    let path = format!("/v1/approvals/{}/resolve", question.approval);
    let body = json!({ "choice": "deny", "note": "not before Monday" });
    let admin = scene.gateway.admin();
    assert_eq!(scene.gateway.post(&admin, &path, &body).status, 200);
    let call = scene.decided(&question);
    let by = call["decision"]["by"].as_str().unwrap();
    let settled = scene.settled(&question.approval);
    assert_eq!(settled.message, card.message);
    for shown in ["Denied", by, "not before Monday", RISKY] {
        assert!(settled.text.contains(shown), "{shown}: {settled:?}");
    }
    assert!(settled.buttons.is_empty(), "{settled:?}");
    let told = scene.venue.tell(&late);
    assert!(told.contains("Already answered"), "{told}");
    assert_eq!(scene.decided(&question)["status"], "denied");
}

pub(crate) fn a_draft_for_a_person_in_crisis_is_never_shown_to_them<V: Venue>() {
    let draft = Reply::text(["Zebra words ", "that nobody ", "has looked at."]);
    let model = ModelServer::start(vec![draft]).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::<V>::with(&json!({ "agent": agent }), Limits::None);
    scene.venue.say(Who::Ana, "I want to kill myself tonight.");
    scene.reads(Who::Ana, countersign_core::policy::CRISIS_NOTICE);
    let card = scene.card_that("with the draft", |card| card.text.contains("Zebra"));
    assert!(card.has("once") && !card.has("always"), "{card:?}");
    assert!(scene.venue.read_by(Who::Ben).contains("Zebra"));
    for who in [Who::Ana, Who::Eve] {
        let read = scene.venue.read_by(who);
        assert!(!read.contains("ebra"), "{who:?}: {read}");
    }
    // She cannot get at it by typing either.
    let id = &card.subject;
    let lines = [
        "/pending".to_owned(),
        format!("/show {id}"),
        format!("/approve {id}"),
    ];
    for line in lines.iter().map(String::as_str).chain(["/approve"]) {
        let told = scene.venue.command(Who::Ana, line);
        assert!(!told.contains("ebra"), "{line}: {told}");
    }
    assert!(scene.card(id).has("once"), "it still waits");
    assert!(!scene.venue.read_by(Who::Ana).contains("ebra"));
    scene.venue.press(Who::Ben, &card, "once");
    scene.reads(Who::Ana, "Zebra words that nobody has looked at.");
}

pub(crate) fn commands_answer_and_count_for_approvers_alone<V: Venue>() {
    let scene = Scene::<V>::new();
    let (first, card) = scene.asked(RISKY);
    let (second, _) = scene.asked(OTHER);
    let types = |who: Who, line: &str| scene.venue.command(who, line);
    let unknown = types(Who::Eve, "/whoami");
    assert!(
        unknown.contains(&scene.venue.account(Who::Eve)),
        "{unknown}"
    );
    for line in [
        "/pending".to_owned(),
        format!("/approve {}", first.approval),
    ] {
        let told = types(Who::Eve, &line);
        assert!(told.contains("may not answer"), "{line}: {told}");
        assert!(!told.contains(RISKY), "{line}: {told}");
    }
    scene.assert_waiting(&first, "typed by a stranger");
    assert!(types(Who::Ana, "/whoami").contains("ana"));
    let pending = types(Who::Ana, "/pending");
    for question in [&first, &second] {
        assert!(pending.contains(&question.approval), "{pending}");
    }
    let shown = types(Who::Ana, &format!("/show {}", first.approval));
    assert!(shown.contains(RISKY), "{shown}");
    let unclear = types(Who::Ana, "/approve");
    assert!(unclear.contains("name one"), "{unclear}");
    scene.assert_waiting(&first, "nothing was named");
    types(Who::Ana, &format!("/approve {}", first.approval));
    assert_eq!(scene.decided(&first)["status"], "approved");
    assert!(scene.settled(&first.approval).message == card.message);
    types(Who::Ben, &format!("/deny {} not today", second.approval));
    let denied = scene.decided(&second);
    assert_eq!(denied["decision"]["note"], "not today", "{denied}");
    assert_eq!(entries(&scene, "approval.resolved"), 2);
}

pub(crate) fn a_message_of_the_agent_is_sent_as_it_was_allowed_and_not_before<V: Venue>() {
    let send = |id: &str, text: &str| {
        let args = json!({ "to": "eve", "text": text });
        Reply::calls([], &[Call::new(id, "send_message", &args)])
    };
    let script = vec![
        send("c1", "The quagga is loose."),
        send("c2", "The okapi is loose."),
        Reply::text(["Both are told."]),
    ];
    let model = ModelServer::start(script).unwrap();
    let work = tempfile::tempdir().unwrap();
    let venue = V::open(Limits::None);
    let address = format!("{}:{}", V::NAME, venue.address(Who::Eve));
    let config = json!({
        "agent": { "base_url": model.url(), "model": MODEL, "cwd": work.path() },
        "contacts": { "eve": address },
    });
    let scene = Scene::of(venue, &config);
    scene.venue.say(Who::Ana, "tell eve");
    let waits = |words: &'static str| {
        scene.card_that(words, |card| {
            card.text.contains(words) && !card.buttons.is_empty()
        })
    };
    let card = waits("quagga");
    assert!(
        card.text.contains(&address),
        "to whom is on the card: {card:?}"
    );
    assert!(!scene.venue.read_by(Who::Eve).contains("quagga"));
    scene.venue.press(Who::Ana, &card, "deny");
    let card = waits("okapi");
    assert!(!scene.venue.read_by(Who::Eve).contains("okapi"));
    scene.venue.press(Who::Ana, &card, "once");
    scene.reads(Who::Eve, "The okapi is loose.");
    scene.reads(Who::Ana, "Both are told.");
    let read = scene.venue.read_by(Who::Eve);
    assert_eq!(read.matches("okapi").count(), 1, "{read}");
    assert!(!read.contains("quagga"), "{read}");
}

pub(crate) fn every_command_of_the_registry_works_there<V: Venue>() {
    let model = ModelServer::start(Vec::new()).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::<V>::with(&json!({ "agent": agent }), Limits::None);
    let types = |line: &str| scene.venue.command(Who::Ana, line);
    let help = types("/help");
    for row in TABLE {
        assert!(help.contains(row.name), "{}: {help}", row.name);
        let rest = match row.hint {
            "ID" => " appr_1",
            "TEXT" => " leave the logs",
            _ => "",
        };
        let told = types(&format!("/{}{rest}", row.name));
        for not_there in ["there is no /", "there is no countersign", "usage:"] {
            assert!(!told.contains(not_there), "{}: {told}", row.name);
        }
        assert!(!told.trim().is_empty(), "{}", row.name);
    }
    let skills = types("/skills");
    for (tool, asks) in [
        ("terminal", "asks if the call is risky"),
        ("send_message", "asks first"),
        ("todo", "does not ask"),
    ] {
        let mut lines = skills.lines();
        let line = lines.find(|line| line.contains(tool) && line.contains(asks));
        assert!(line.is_some(), "{tool}: {skills}");
    }
    let stranger = scene.venue.command(Who::Eve, "/skills");
    assert!(stranger.contains("may not answer"), "{stranger}");
}
