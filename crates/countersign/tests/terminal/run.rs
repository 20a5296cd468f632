//! `countersign run` and `chat --plain` on a terminal: the same card as everywhere, lines elsewhere.

use countersign_testkit::model::Reply;

use crate::ENTER;
use crate::ESCAPE;
use crate::lines;
use crate::scene::{Scene, shell};

const PLAIN: (&str, &str) = ("COUNTERSIGN_PLAIN", "1");

fn scene() -> Scene {
    Scene::new(vec![
        Reply::calls(["I look first."], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["As you like."]),
    ])
}

#[test]
fn the_card_of_a_run_is_the_panel_of_the_chat_with_a_note_on_deny() {
    let scene = scene();
    let precious = scene.precious("precious");
    let mut terminal = lines(&scene.gateway, &["run", "clean up"], &[]);
    terminal.shows("rm -rf ~/precious");
    terminal.armed("4. Deny");
    assert!(terminal.seen().is_full_screen());
    terminal.press("n");
    terminal.shows("tell the agent");
    terminal.press("keep it");
    terminal.shows("keep it");
    terminal.press(ENTER);
    terminal.shows("As you like.");
    assert_eq!(terminal.ends(), 0);
    let screen = terminal.screen();
    assert!(!terminal.seen().is_full_screen());
    assert!(screen.contains("I look first."), "{screen}");
    assert!(screen.contains("Denied by"), "{screen}");
    assert!(precious.exists());
    let told = scene.model.requests().pop().unwrap();
    assert!(told["messages"].to_string().contains("keep it"), "{told}");
}

#[test]
fn a_card_that_was_left_is_opened_again_and_one_answered_elsewhere_closes() {
    let scene = scene();
    scene.precious("precious");
    let mut terminal = lines(&scene.gateway, &["run", "clean up"], &[]);
    terminal.armed("4. Deny");
    terminal.press(ESCAPE);
    terminal.shows("Press Enter to open the card again.");
    let id = scene.gateway.question();
    terminal.shows(&format!("countersign answer {id}"));
    terminal.press(ENTER);
    terminal.wait_for("the card again", |seen| {
        seen.is_full_screen() && seen.text().contains("4. Deny")
    });
    let admin = scene.gateway.admin();
    assert_eq!(scene.gateway.resolve(&admin, &id, "deny").status, 200);
    terminal.shows("As you like.");
    assert_eq!(terminal.ends(), 0);
    assert!(
        terminal.screen().contains("Denied by"),
        "{}",
        terminal.screen()
    );
}

#[test]
fn ctrl_c_on_a_card_stops_the_run_and_answers_nothing() {
    let scene = scene();
    let precious = scene.precious("precious");
    let mut terminal = lines(&scene.gateway, &["run", "clean up"], &[]);
    terminal.armed("4. Deny");
    terminal.press("\u{3}");
    assert_eq!(terminal.ends(), 1);
    let screen = terminal.screen();
    assert!(screen.contains("the run was stopped"), "{screen}");
    assert!(precious.exists());
}

#[test]
fn line_by_line_nothing_lands_behind_the_prompt() {
    let scene = Scene::new(vec![
        Reply::calls(
            ["Both."],
            &[shell("c1", "rm -rf ~/one"), shell("c2", "rm -rf ~/two")],
        ),
        Reply::text(["As you like."]),
    ]);
    scene.precious("one");
    scene.precious("two");
    let mut terminal = lines(&scene.gateway, &["run", "clean up"], &[PLAIN]);
    terminal.shows("1 more waiting.");
    let is_prompt = |row: &str| row.starts_with("Type ") && row.ends_with("tell the agent why:");
    // What comes later would be printed above the prompt.
    let notes = ["· rm -rf ~/one", "· rm -rf ~/two", "1 more waiting."];
    terminal.wait_for("the prompt on the last line", |seen| {
        let rows = seen.rows();
        let last = rows.iter().rev().find(|row| !row.is_empty());
        last.is_some_and(|row| is_prompt(row)) && notes.iter().all(|it| seen.text().contains(it))
    });
    terminal.press("4 not now\r");
    terminal.shows("Denied by");
    // The end of the first call is noted above the second prompt; what is typed at that very moment would
    // stand above it, too.
    terminal.wait_for("the prompt for the second", |seen| {
        let rows = seen.rows();
        let last = rows.iter().rev().find(|row| !row.is_empty());
        let text = seen.text();
        let is_noted = text.contains("✗ rm -rf ~/") && text.matches("Denied by").count() == 1;
        last.is_some_and(|row| is_prompt(row)) && is_noted
    });
    terminal.press("4\r");
    terminal.shows("As you like.");
    assert_eq!(terminal.ends(), 0);
    for row in terminal.seen().rows() {
        assert!(
            !row.contains("why: Denied") && !row.contains("why: ✗"),
            "{row}"
        );
    }
}

#[test]
fn a_chat_in_lines_is_left_with_ctrl_c() {
    let scene = Scene::new(vec![Reply::text(["Hi."])]);
    let mut terminal = lines(&scene.gateway, &["chat", "--plain"], &[]);
    terminal.shows("/help lists the commands.");
    terminal.press("hello\r");
    terminal.shows("Hi.");
    terminal.wait_for("the next prompt", |seen| {
        let rows = seen.rows();
        rows.iter()
            .rev()
            .find(|row| !row.is_empty())
            .is_some_and(|row| row == ">")
    });
    terminal.press("\u{3}");
    assert_eq!(terminal.ends(), 0);
}
