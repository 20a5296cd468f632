//! The terminal says what happened: how calls ended, whom a draft reached, what runs unasked.

use countersign_core::policy::{CRISIS_NOTICE, CRISIS_NOTICE_UNREACHABLE};
use countersign_testkit::model::Reply;
use serde_json::{Value, json};

use crate::scene::{Scene, shell};
use crate::terminal::Terminal;
use crate::{inbox, left, lines, opened};

fn chat(scene: &Scene) -> Terminal {
    let mut terminal = opened(&scene.gateway, &["chat"], &[], 100, 40);
    terminal.shows("Tell the agent what to do.");
    terminal
}

/// Answers the question about `command`, from elsewhere.
fn answer(scene: &Scene, command: &str, body: &Value) {
    let admin = scene.gateway.admin();
    let waiting = scene
        .gateway
        .get(&admin, "/v1/approvals?status=waiting")
        .body;
    let waiting = waiting["approvals"].as_array().unwrap();
    let asked = waiting.iter().find(|it| it["command"] == command);
    let id = asked.unwrap()["approval_id"].as_str().unwrap();
    let said = scene
        .gateway
        .post(&admin, &format!("/v1/approvals/{id}/resolve"), body);
    assert_eq!(said.status, 200, "{said:?}");
}

/// Three calls at once; the last and the second are allowed, the first is denied in between.
fn three_at_once(scene: &Scene, mut shows: impl FnMut(&str)) {
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", Some(0));
    for _ in 0..3 {
        events.named("approval.required");
    }
    answer(scene, "rm -rf ~/three", &json!({ "choice": "once" }));
    shows("✓ rm -rf ~/three");
    let no = json!({ "choice": "deny", "note": "keep it" });
    answer(scene, "rm -rf ~/one", &no);
    shows("✗ rm -rf ~/one");
    shows("keep it");
    answer(scene, "rm -rf ~/two", &json!({ "choice": "once" }));
    shows("✓ rm -rf ~/two");
    shows("Well.");
}

fn three() -> Scene {
    let calls = ["one", "two", "three"].map(|name| shell(name, &format!("rm -rf ~/{name}")));
    let scene = Scene::new(vec![Reply::calls([], &calls), Reply::text(["Well."])]);
    for name in ["one", "two", "three"] {
        scene.precious(name);
    }
    scene
}

#[test]
fn each_of_several_calls_shows_its_own_outcome_and_so_does_the_record() {
    let scene = three();
    let mut terminal = chat(&scene);
    terminal.press("clean up\r");
    three_at_once(&scene, |text| terminal.shows(text));
    let denied = terminal.seen().row_with("✗ rm -rf ~/one").unwrap();
    assert!(
        denied.contains("denied by") && denied.contains(": keep it"),
        "{denied}"
    );
    assert!(scene.gateway.home().join("one").exists());
    let session = left(&mut terminal);
    let args = ["chat", "--session", session.as_str()];
    let mut terminal = opened(&scene.gateway, &args, &[], 100, 40);
    terminal.shows("Well.");
    for (name, wanted) in [("one", "✗"), ("two", "✓"), ("three", "✓")] {
        let row = terminal.seen().row_with(&format!("~/{name}")).unwrap();
        assert!(row.starts_with(wanted), "{name}: {}", terminal.screen());
    }
    assert!(
        terminal.screen().contains("keep it"),
        "{}",
        terminal.screen()
    );
}

#[test]
fn line_by_line_each_call_says_its_own_outcome() {
    let scene = three();
    let mut terminal = lines(&scene.gateway, &["chat", "--plain"], &[]);
    terminal.shows("/help lists the commands.");
    terminal.press("clean up\r");
    three_at_once(&scene, |text| terminal.shows(text));
}

#[test]
fn alone_a_person_in_crisis_is_told_once_that_nobody_could_be_reached() {
    for in_lines in [false, true] {
        let scene = Scene::new(vec![Reply::text([
            "Zebra words that nobody has looked at.",
        ])]);
        let mut terminal = if in_lines {
            let mut terminal = lines(&scene.gateway, &["chat", "--plain"], &[]);
            terminal.shows("/help lists the commands.");
            terminal
        } else {
            chat(&scene)
        };
        let admin = scene.gateway.admin();
        let mut events = scene.gateway.events(&admin, "/v1/events", None);
        terminal.press("I want to kill myself tonight\r");
        terminal.shows("Nobody could be reached");
        events.named("run.completed");
        // Something that comes behind whatever else would be said.
        if in_lines {
            terminal.press("/whoami\r");
            terminal.shows("You are ");
        } else {
            terminal.shows("Enter sends");
        }
        let screen = terminal.screen();
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words.matches(CRISIS_NOTICE_UNREACHABLE).count(),
            1,
            "{screen}"
        );
        assert!(
            !words.contains(CRISIS_NOTICE) && !words.contains("ebra"),
            "{screen}"
        );
    }
}

#[test]
fn yolo_says_what_it_lifts_is_shown_everywhere_and_can_be_ended() {
    // Critical, and harmless where it does run: there is no such place.
    const CRITICAL: &str = "rm -rf /srv/no-such-place-of-countersign; touch ran";
    let wants = |id: &str| Reply::calls([], &[shell(id, CRITICAL)]);
    let scene = Scene::new(vec![
        Reply::text(["Hello."]),
        wants("a"),
        Reply::text(["You did not let me."]),
        wants("b"),
        Reply::text(["It is gone."]),
    ]);
    let ran = scene.gateway.home().join("ran");
    let mut terminal = chat(&scene);
    terminal.press("hello\r");
    terminal.shows("Hello.");
    terminal.shows("Enter sends");
    terminal.press("/yolo 5\r");
    terminal.shows("except about critical calls");
    terminal.press("clean up\r");
    terminal.armed("4. Deny");
    assert!(!ran.exists(), "a critical call is asked about");
    terminal.press("4");
    terminal.shows("You did not let me.");
    terminal.shows("Enter sends");
    terminal.press("/status\r");
    terminal.shows("runs without questions, except about critical calls");
    terminal.shows("grants end");
    let mut other = inbox(&scene.gateway, 120, 24);
    other.shows("runs without questions, except about critical calls");
    terminal.press("/yolo off\r");
    terminal.shows("This session asks questions again.");
    other.shows_no("runs without questions");
    terminal.press("/status\r");
    terminal.shows("No session runs without questions.");
    terminal.press("/yolo all\r");
    terminal.shows("including critical calls");
    other.shows("including critical calls");
    terminal.press("clean up\r");
    terminal.shows("It is gone.");
    assert!(ran.exists(), "nobody was asked");
}
