//! A conversation with the built-in agent on the whole screen, its questions answered in place.

use countersign_testkit::model::Reply;

use crate::scene::{Scene, shell};
use crate::terminal::Terminal;
use crate::{ENTER, opened};

fn chat(scene: &Scene) -> Terminal {
    let mut terminal = opened(&scene.gateway, &["chat"], &[], 80, 36);
    terminal.shows("Say what you want done.");
    terminal
}

fn scene() -> Scene {
    Scene::new(vec![
        Reply::calls(["I look first."], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["It is gone."]),
    ])
}

#[test]
fn a_run_is_started_and_its_card_answered_in_the_chat() {
    let scene = scene();
    let precious = scene.precious("precious");
    let mut terminal = chat(&scene);
    terminal.press("clean up");
    terminal.press(ENTER);
    terminal.shows("rm -rf ~/precious");
    terminal.armed("1. Allow once");
    assert!(precious.exists());
    terminal.press("1");
    terminal.shows("It is gone.");
    assert!(!precious.exists());
    terminal.press("\u{4}");
    assert_eq!(terminal.ends(), 0);
    assert!(!terminal.seen().is_full_screen());
}

#[test]
fn somebody_who_types_while_a_card_comes_answers_nothing() {
    let scene = scene();
    let precious = scene.precious("precious");
    let mut terminal = chat(&scene);
    terminal.press("clean up\r");
    terminal.press("1111");
    terminal.shows("rm -rf ~/precious");
    terminal.shows("press Tab to answer");
    assert!(
        terminal.screen().contains("❯ 1111"),
        "{}",
        terminal.screen()
    );
    assert!(precious.exists());
    // What was typed stays typed; the card waits until it is gone to.
    terminal.press("\t");
    terminal.armed("2. Deny");
    assert!(precious.exists());
    terminal.press("2");
    terminal.shows("Tell the agent why");
    terminal.press(ENTER);
    terminal.shows("It is gone.");
    assert!(precious.exists(), "whatever the model says");
}

#[test]
fn ctrl_c_stops_what_the_agent_is_doing_and_the_conversation_goes_on() {
    let scene = Scene::new(vec![
        Reply::text(["Working on it. "]).then_hangs(),
        Reply::text(["Here again."]),
    ]);
    let mut terminal = chat(&scene);
    terminal.press("take your time\r");
    terminal.shows("Working on it.");
    terminal.press("\u{3}");
    terminal.shows("topped");
    terminal.press("and now?\r");
    terminal.shows("Here again.");
}
