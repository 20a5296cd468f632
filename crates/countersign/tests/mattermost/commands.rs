//! Slash commands: registered once, ours alone, and doing what the buttons do.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use countersign_core::command::TABLE;
use countersign_testkit::mattermost::{Fault, Settings, Version};
use serde_json::{Value, json};

use crate::delivery::lower;
use crate::scene::Scene;
use crate::support::{PATIENCE, RISKY, said};

/// How often a real server is asked for what it tells nobody about.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// Names the server has for itself.
const TAKEN: [&str; 2] = ["status", "help"];

/// Returns the commands that the bot has registered, by trigger.
fn commands_of_the_bot(scene: &Scene) -> BTreeMap<String, Value> {
    let team = &scene.place().team_id;
    let path = format!("/commands?team_id={team}&custom_only=true");
    let all = scene.place().admin.get(&path).body;
    let all = all.as_array().unwrap().clone();
    let ours = all
        .into_iter()
        .filter(|it| it["creator_id"] == scene.place().bot.id.as_str());
    ours.map(|it| (it["trigger"].as_str().unwrap().to_owned(), it))
        .collect()
}

/// Waits until all commands are there, and returns those of the bot by trigger.
pub(crate) fn registered(scene: &Scene) -> BTreeMap<String, Value> {
    if let Some(fake) = &scene.stage.fake {
        assert!(fake.wait_for_hits(|hits| {
            let made = hits
                .iter()
                .filter(|hit| (hit.method.as_str(), hit.path.as_str()) == ("POST", "/commands"));
            made.filter(|hit| hit.status == 201).count() >= TABLE.len()
        }));
        return commands_of_the_bot(scene);
    }
    wait_for_commands(scene, TABLE.len())
}

/// Waits until the bot has so many commands. A server tells nobody about them, so it is asked.
fn wait_for_commands(scene: &Scene, count: usize) -> BTreeMap<String, Value> {
    let since = Instant::now();
    loop {
        let ours = commands_of_the_bot(scene);
        if ours.len() == count {
            return ours;
        }
        assert!(since.elapsed() < PATIENCE, "not {count}: {ours:?}");
        std::thread::sleep(ASK_EVERY);
    }
}

#[test]
fn every_command_is_registered_under_its_name_or_a_prefixed_one() {
    let scene = Scene::new();
    let ours = registered(&scene);
    for row in TABLE {
        let trigger = if TAKEN.contains(&row.name) {
            format!("cs-{}", row.name)
        } else {
            row.name.to_owned()
        };
        let command = ours
            .get(&trigger)
            .unwrap_or_else(|| panic!("no /{trigger}: {ours:?}"));
        assert_eq!(command["method"], "P");
        assert_eq!(command["auto_complete"], true);
        assert_eq!(command["auto_complete_hint"], row.hint);
        assert_eq!(command["auto_complete_desc"], row.does);
        assert_eq!(command["display_name"], format!("Countersign: /{trigger}"));
        let url = format!("{}/channels/mattermost/command", scene.relay.url());
        assert_eq!(command["url"], url);
    }
    assert_eq!(ours.len(), TABLE.len());
}

#[test]
fn a_restart_registers_nothing_twice_and_mends_what_was_changed() {
    let scene = Scene::new();
    let before = registered(&scene);
    let approve = &before["approve"];
    let mut broken = approve.clone();
    broken["url"] = json!("http://127.0.0.1:9/elsewhere");
    let path = format!("/commands/{}", approve["id"].as_str().unwrap());
    assert_eq!(scene.place().bot.put(&path, &broken).status, 200);
    let scene = scene.restart_gateway();
    let since = Instant::now();
    while commands_of_the_bot(&scene)["approve"]["url"] == broken["url"] {
        assert!(since.elapsed() < PATIENCE, "it was not mended");
        std::thread::sleep(ASK_EVERY);
    }
    let after = registered(&scene);
    assert_eq!(after.len(), before.len());
    for (trigger, command) in &after {
        assert_eq!(command["id"], before[trigger]["id"], "{trigger}");
        assert_eq!(command["token"], before[trigger]["token"], "{trigger}");
        assert_eq!(command["url"], before["deny"]["url"], "{trigger}");
    }
}

#[test]
fn a_command_is_answered_while_the_others_are_still_being_registered() {
    let scene = Scene::new();
    let before = registered(&scene);
    if scene.fake("a server that registers slowly").is_none() {
        return;
    }
    let scene = scene.restart_gateway_after(|scene| {
        for command in before.values() {
            let path = format!("/commands/{}", command["id"].as_str().unwrap());
            assert_eq!(scene.place().admin.delete(&path).status, 200);
        }
        let fake = scene.stage.fake.as_ref().unwrap();
        fake.fail(
            "POST",
            "/commands",
            Fault::Slow(Duration::from_millis(300)),
            usize::MAX,
        );
    });
    let first = TABLE.first().unwrap().name;
    let fake = scene.stage.fake.as_ref().unwrap();
    assert!(fake.wait_for_hits(|hits| {
        let made = hits
            .iter()
            .filter(|hit| (hit.method.as_str(), hit.path.as_str()) == ("POST", "/commands"));
        made.count() > TABLE.len()
    }));
    let typed = scene
        .ana
        .command(&scene.place().channel_id, "", &format!("/{first}"));
    assert_eq!(typed.status, 200, "{typed:?}");
    assert!(!typed.text("text").contains("did not sign"), "{typed:?}");
    assert!(
        commands_of_the_bot(&scene).len() < TABLE.len(),
        "all were registered already"
    );
}

#[test]
fn what_belongs_to_somebody_else_is_left_alone() {
    let scene = Scene::with(|wanted| {
        wanted.before = |stage| {
            for trigger in ["deny", "pending"] {
                let body = json!({
                    "team_id": stage.place.team_id, "trigger": trigger, "method": "P",
                    "url": "http://127.0.0.1:9/theirs", "display_name": "Theirs",
                });
                assert_eq!(stage.place.admin.post("/commands", &body).status, 201);
            }
        };
    });
    let ours = registered(&scene);
    assert!(
        ours.contains_key("cs-deny") && !ours.contains_key("deny"),
        "{ours:?}"
    );
    let path = format!(
        "/commands?team_id={}&custom_only=true",
        scene.place().team_id
    );
    let all = scene.place().admin.get(&path).body;
    let theirs = all
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["trigger"] == "deny");
    assert_eq!(theirs.unwrap()["url"], "http://127.0.0.1:9/theirs");
    // What people are told to type is what is registered.
    let (question, card) = scene.asked(RISKY);
    assert!(!card.0.to_string().contains("\"/deny"), "{card:?}");
    let told = scene.ana.command(&scene.place().channel_id, "", "/cs-help");
    let words = told.text("text");
    assert!(
        words.contains("/cs-deny") && !words.contains("/deny"),
        "{words}"
    );
    scene
        .ana
        .command(&scene.place().channel_id, "", "/cs-deny not now");
    let call = scene.decided(&question);
    assert_eq!(
        (&call["status"], &call["decision"]["note"]),
        (&json!("denied"), &json!("not now"))
    );
}

#[test]
fn approve_without_an_id_needs_exactly_one_that_waits() {
    let scene = Scene::new();
    registered(&scene);
    let here = scene.place().channel_id.clone();
    let type_it = |line: &str| {
        let typed = scene.ana.command(&here, "", line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        assert_ne!(typed.text("response_type"), "in_channel", "{line}");
        typed.text("text").to_owned()
    };
    assert_ne!(type_it("/approve"), "", "nothing waits, and it says so");
    let (only, _) = scene.asked(RISKY);
    type_it("/approve");
    assert_eq!(scene.decided(&only)["status"], "approved");
    assert_eq!(scene.decided(&only)["decision"]["via"], "mattermost");
    let (first, _) = scene.asked("rm -rf /srv/one");
    let (second, _) = scene.asked("rm -rf /srv/two");
    let listed = type_it("/approve");
    assert!(
        listed.contains(&first.approval) && listed.contains(&second.approval),
        "{listed}"
    );
    scene.assert_waiting(&first, "two wait");
    scene.assert_waiting(&second, "two wait");
    assert!(type_it("/pending").contains(&second.approval));
    type_it(&format!("/approve {} session", second.approval));
    assert_eq!(scene.decided(&second)["decision"]["choice"], "session");
    scene.assert_waiting(&first, "the other");
    assert!(type_it(&format!("/show {}", first.approval)).contains("/srv/one"));
    type_it(&format!("/deny {} not today", first.approval));
    let call = scene.decided(&first);
    assert_eq!(
        (&call["status"], &call["decision"]["note"]),
        (&json!("denied"), &json!("not today"))
    );
    scene.settled(&first.approval);
}

#[test]
fn a_command_is_refused_to_whom_a_click_would_be() {
    let scene = Scene::new();
    registered(&scene);
    let (question, _) = scene.asked(RISKY);
    let here = &scene.place().channel_id;
    for line in [
        "/approve".to_owned(),
        format!("/approve {}", question.approval),
    ] {
        let typed = scene.ben.command(here, "", &line);
        assert_eq!(typed.status, 200, "{typed:?}");
        assert_ne!(typed.text("text"), "", "{line}");
        scene.assert_waiting(&question, &line);
    }
    let listed = scene.ben.command(here, "", "/pending");
    assert!(
        !listed.text("text").contains(&question.approval),
        "{listed:?}"
    );
}

#[test]
fn a_command_counts_only_with_its_own_token_and_a_signed_trigger() {
    let scene = Scene::new();
    let ours = registered(&scene);
    let (question, _) = scene.asked(RISKY);
    let here = &scene.place().channel_id;
    // A genuine one, held back.
    let captured = || {
        scene.relay.hold_back();
        let typed = scene.ana.command(here, "", "/approve");
        scene.relay.lead_to(&scene.gateway.url);
        assert!(typed.status >= 500, "{typed:?}");
        let passed = scene.relay.passed();
        String::from_utf8(passed.last().unwrap().body.clone()).unwrap()
    };
    let send = |form: String| {
        let request = scene
            .gateway
            .request("POST", "/channels/mattermost/command");
        let kind = "application/x-www-form-urlencoded";
        said(request.header("content-type", kind).body(form))
    };
    let token = ours["approve"]["token"].as_str().unwrap();
    let with = |key: &str, value: &str| {
        let form = captured();
        let fields: Vec<String> = form
            .split('&')
            .map(|field| match field.split_once('=') {
                Some((name, _)) if name == key => format!("{key}={value}"),
                _ => field.to_owned(),
            })
            .collect();
        fields.join("&")
    };
    let deny = ours["deny"]["token"].as_str().unwrap();
    let bot = &scene.place().bot;
    let rows = [
        ("no token", with("token", "")),
        ("another token", with("token", "aaaaaaaaaaaaaaaaaaaaaaaaaa")),
        ("the token of another command", with("token", deny)),
        ("the bot's token", with("token", bot.token())),
        ("no trigger", with("trigger_id", "")),
        ("nonsense", with("trigger_id", "x")),
        ("another person", with("user_id", &scene.ben.id)),
        ("another command", with("command", "%2Fdeny")),
    ];
    for (name, form) in rows {
        assert_ne!(form, "", "{name}");
        let answer = send(form);
        assert!(answer.status < 500, "{name}: {answer:?}");
        scene.assert_waiting(&question, name);
    }
    let genuine = captured();
    assert!(genuine.contains(token));
    assert_eq!(send(genuine.clone()).status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
    let (again, _) = scene.asked("rm -rf /srv/mail");
    send(genuine);
    scene.assert_waiting(&again, "the same once more");
}

#[test]
fn commands_work_on_every_version_and_in_a_conversation_of_two() {
    for version in Version::ALL {
        let scene = Scene::with(|wanted| wanted.settings = Settings::of(version));
        registered(&scene);
        let (question, _) = scene.asked(RISKY);
        let direct = scene.ana.direct(&scene.place().bot.id);
        let typed = scene
            .ana
            .command(&direct, &scene.place().team_id, "/approve");
        assert_eq!(typed.status, 200, "{version:?}: {typed:?}");
        assert_eq!(
            scene.decided(&question)["status"],
            "approved",
            "{version:?}"
        );
        let who = scene
            .ana
            .command(&direct, &scene.place().team_id, "/whoami");
        assert!(who.text("text").contains("ana"), "{who:?}");
        if scene.stage.fake.is_none() {
            return;
        }
    }
}

#[test]
fn a_bot_that_may_not_register_commands_still_delivers_cards_with_buttons() {
    let scene = Scene::with(|wanted| {
        wanted.before = lower;
    });
    let (question, card) = scene.asked(RISKY);
    // Nobody is told to type what is not there.
    assert!(!card.0.to_string().contains("/approve"), "{card:?}");
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

/// Types a line in the channel and returns the reply.
pub(crate) fn typed(scene: &Scene, line: &str) -> String {
    let typed = scene.ana.command(&scene.place().channel_id, "", line);
    assert_eq!(typed.status, 200, "{line}: {typed:?}");
    typed.text("text").to_owned()
}

#[test]
fn what_was_not_sent_does_not_count_as_read() {
    let scene = Scene::new();
    registered(&scene);
    let Some(fake) = scene.fake("faults of the server") else {
        return;
    };
    // There is no card, so only who opened the full text may allow it.
    fake.fail("POST", "/posts", Fault::Refuse, usize::MAX);
    let question = scene.ask(RISKY);
    let approve = format!("/approve {}", question.approval);
    let told = typed(&scene, &format!("/show {}", question.approval));
    assert!(told.contains("does not count as read"), "{told}");
    let told = typed(&scene, &approve);
    scene.assert_waiting(&question, &told);
    fake.recover();
    scene.card(&question.approval);
    typed(&scene, &approve);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

#[test]
fn what_a_command_shows_is_what_the_card_shows() {
    let scene = Scene::new();
    registered(&scene);
    let (question, card) = scene.asked("rm -rf /srv/www # tell @all \u{202e}");
    assert!(card.text().contains("⟨U+0040⟩all"), "{card:?}");
    for line in [
        format!("/show {}", question.approval),
        "/pending".to_owned(),
    ] {
        let shown = typed(&scene, &line);
        assert!(shown.contains("⟨U+0040⟩all ⟨U+202E⟩"), "{line}: {shown}");
        assert!(!shown.contains("U+27E8"), "{line}: {shown}");
    }
}

#[test]
fn an_answer_in_a_thread_is_for_the_card_of_that_thread() {
    let scene = Scene::new();
    registered(&scene);
    let (first, _) = scene.asked("rm -rf /srv/one");
    let (second, card) = scene.asked("rm -rf /srv/two");
    let below = |root: &str, line: &str| {
        let typed = scene.ana.command_below(scene.place(), root, line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        typed.text("text").to_owned()
    };
    below(card.id(), "/approve");
    assert_eq!(scene.decided(&second)["status"], "approved");
    // The only one that waits is another card's, so it is not meant.
    let again = below(card.id(), "/approve");
    assert!(again.contains("Already answered"), "{again}");
    let root = scene.ana.say(&scene.place().channel_id, "", "by the way");
    let elsewhere = below(root.text("id"), "/approve");
    assert!(elsewhere.contains("in this thread"), "{elsewhere}");
    scene.assert_waiting(&first, "the first");
    below(root.text("id"), &format!("/deny {}", first.approval));
    assert_eq!(scene.decided(&first)["status"], "denied");
}

#[test]
fn grants_say_how_far_they_go_and_ids_that_are_none_are_named() {
    let scene = Scene::new();
    registered(&scene);
    for (number, choice) in ["session", "always"].into_iter().enumerate() {
        let (question, _) = scene.asked(&format!("rm -rf /srv/number{number}"));
        typed(&scene, &format!("/approve {} {choice}", question.approval));
        assert_eq!(scene.decided(&question)["status"], "approved");
    }
    let grants = typed(&scene, "/grants");
    let (always, session): (Vec<&str>, Vec<&str>) =
        grants.lines().partition(|line| line.contains("permanent"));
    assert!(
        always.len() == 1 && always[0].contains("number1"),
        "{grants}"
    );
    assert!(session[0].contains("for session `s1`"), "{grants}");
    let id = always[0].trim_start_matches('`').split(' ').next().unwrap();
    let revoke = format!("/revoke {id}");
    assert!(typed(&scene, &revoke).starts_with("Revoked"));
    assert!(typed(&scene, &revoke).contains("revoked before"));
    let rows = [
        ("/revoke grant_0", "no grant"),
        ("/show appr_0", "no approval"),
        ("/lift appr_0", "no approval"),
        ("/approve appr_0", "does not exist"),
    ];
    for (line, wanted) in rows {
        let said = typed(&scene, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
}

#[test]
fn replies_tell_times_in_the_zone_of_the_reader_and_cards_in_utc() {
    let scene = Scene::new();
    registered(&scene);
    let (question, card) = scene.asked(RISKY);
    let path = format!("/users/{}/patch", scene.ana.id);
    let zone = |is_automatic: &str, automatic: &str, manual: &str| {
        let zone = json!({
            "useAutomaticTimezone": is_automatic, "automaticTimezone": automatic,
            "manualTimezone": manual,
        });
        let set = scene.ana.put(&path, &json!({ "timezone": zone }));
        assert_eq!(set.status, 200, "{set:?}");
    };
    let rows = [
        (("true", "Asia/Tokyo", "Asia/Kathmandu"), "(Asia/Tokyo)"),
        (
            ("false", "Asia/Tokyo", "Asia/Kathmandu"),
            "(Asia/Kathmandu)",
        ),
        (("true", "", "Asia/Kathmandu"), " UTC"),
        (("true", "Nowhere/At all\n@all", ""), " UTC"),
    ];
    for ((is_automatic, automatic, manual), told) in rows {
        zone(is_automatic, automatic, manual);
        for line in [
            "/pending".to_owned(),
            format!("/show {}", question.approval),
        ] {
            let said = typed(&scene, &line);
            let is_time = |it: &&str| it.contains("expires in ") && it.contains(" min, at 20");
            let time = said.lines().find(is_time).unwrap_or_default();
            assert!(
                time.trim_end_matches('.').ends_with(told),
                "{told}: {line}: {said}"
            );
        }
    }
    let until = card.field("Open until").unwrap();
    assert!(until.ends_with(" UTC`"), "{until}");
    let limited = json!({ "choice": "session", "lasts_seconds": 3600, "uses": 3 });
    zone("true", "Asia/Tokyo", "");
    let resolve = format!("/v1/approvals/{}/resolve", question.approval);
    let admin = scene.gateway.admin();
    assert_eq!(scene.gateway.post(&admin, &resolve, &limited).status, 200);
    let grants = typed(&scene, "/grants");
    for wanted in [
        "for session `s1` · expires in ",
        " min, at 20",
        "(Asia/Tokyo) · uses left: 3",
    ] {
        assert!(grants.contains(wanted), "{wanted}: {grants}");
    }
}

#[test]
fn commands_that_are_switched_off_are_taken_away_and_others_are_not() {
    let scene = Scene::with(|wanted| {
        wanted.before = |stage| {
            let body = json!({
                "team_id": stage.place.team_id, "trigger": "theirs", "method": "P",
                "url": "http://127.0.0.1:9/theirs", "display_name": "Theirs",
            });
            assert_eq!(stage.place.bot.post("/commands", &body).status, 201);
        };
    });
    wait_for_commands(&scene, TABLE.len() + 1);
    let config = scene.gateway.home().join("config.yaml");
    let mut changed: Value =
        serde_json::from_str(&std::fs::read_to_string(&config).unwrap()).unwrap();
    changed["channels"]["mattermost"]["commands"] = json!(false);
    std::fs::write(&config, changed.to_string()).unwrap();
    let scene = scene.restart_gateway();
    let left = wait_for_commands(&scene, 1);
    assert!(left.contains_key("theirs"), "{left:?}");
}

#[test]
fn whoami_tells_strangers_the_id_by_which_they_can_be_listed() {
    let scene = Scene::new();
    registered(&scene);
    let said = scene.ben.command(&scene.place().channel_id, "", "/whoami");
    let words = said.text("text");
    assert!(
        words.contains(&scene.ben.id) && words.contains("not listed"),
        "{words}"
    );
    assert!(typed(&scene, "/whoami").contains("You are `ana`"));
}
