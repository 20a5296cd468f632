//! A conversation with the built-in agent on the whole screen, its questions answered in place.

use countersign_testkit::model::{Call, Reply};
use serde_json::json;

use crate::scene::{Scene, shell};
use crate::terminal::Terminal;
use crate::{ENTER, left, lines, opened};

fn chat(scene: &Scene) -> Terminal {
    let mut terminal = opened(&scene.gateway, &["chat"], &[], 80, 36);
    terminal.shows("Tell the agent what to do.");
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
    terminal.armed("4. Deny");
    assert!(precious.exists());
    terminal.press("4");
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

#[test]
fn a_question_is_answered_by_number_or_in_words_in_which_digits_are_text() {
    let question = json!({ "question": "Which branch?", "choices": ["main", "next"] });
    let asks = |id: &str| Reply::calls([""; 0], &[Call::new(id, "clarify", &question)]);
    let scene = Scene::new(vec![asks("c1"), asks("c2"), Reply::text(["Thank you."])]);
    let mut terminal = chat(&scene);
    terminal.press("release it\r");
    terminal.shows("needs your input");
    terminal.armed("2. next");
    terminal.press("2");
    terminal.shows("✓ clarify");
    terminal.armed("3. Other (type your answer)");
    terminal.press("3");
    terminal.shows("Other (type below)");
    terminal.press("2 of them");
    terminal.shows("❯ 2 of them");
    terminal.press(ENTER);
    terminal.shows("Thank you.");
    let told = scene.model.requests().pop().unwrap();
    let told = told["messages"].to_string();
    assert!(
        told.contains("next") && told.contains("2 of them"),
        "{told}"
    );
}

#[test]
fn a_conversation_goes_on_where_it_was_left() {
    let scene = Scene::new(vec![
        Reply::text(["My name is Iris."]),
        Reply::text(["Still Iris."]),
    ]);
    let mut terminal = chat(&scene);
    terminal.press("who are you?\r");
    terminal.shows("My name is Iris.");
    let session = left(&mut terminal);
    let args = ["chat", "--session", session.as_str()];
    let mut terminal = opened(&scene.gateway, &args, &[], 80, 36);
    terminal.shows("❯ who are you?");
    terminal.shows("  My name is Iris.");
    terminal.press("and now?\r");
    terminal.shows("Still Iris.");
    assert_eq!(scene.model.requests().len(), 2);
}

#[test]
fn line_by_line_a_permission_is_left_only_after_it_was_shown() {
    for (typed, comes, grants) in [("\r", "Nothing was answered.", 0), ("1\r", "Done.", 1)] {
        let scene = Scene::new(vec![
            Reply::calls(["I push."], &[shell("c1", "git push origin main")]),
            Reply::text(["Done."]),
        ]);
        let mut terminal = lines(&scene.gateway, &["chat", "--plain"], &[]);
        terminal.shows("/help lists the commands.");
        terminal.press("push it\r");
        terminal.shows("Type 1, 2, 3 or 4 and Enter");
        terminal.press("2\r");
        terminal.shows("would have matched");
        terminal.shows("or Enter to go back:");
        let admin = scene.gateway.admin();
        let count = |path: &str, list: &str| {
            let said = scene.gateway.get(&admin, path).body;
            said[list].as_array().unwrap().len()
        };
        assert_eq!(count("/v1/approvals?status=waiting", "approvals"), 1);
        terminal.press(typed);
        terminal.shows(comes);
        assert_eq!(count("/v1/grants", "grants"), grants);
        let waiting = count("/v1/approvals?status=waiting", "approvals");
        assert_eq!(waiting + grants, 1);
    }
}

#[test]
fn what_is_typed_while_the_agent_works_is_sent_when_it_is_done() {
    let scene = Scene::new(vec![
        Reply::calls(["I look first."], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["First done."]),
        Reply::text(["Second done."]),
    ]);
    scene.precious("precious");
    let mut terminal = chat(&scene);
    terminal.press("clean up\r");
    terminal.press("and then the logs");
    terminal.shows("press Tab to answer");
    terminal.press(ENTER);
    terminal.shows("queued: and then the logs");
    assert_eq!(scene.model.requests().len(), 1);
    terminal.press("\t");
    terminal.armed("4. Deny");
    terminal.press("4");
    terminal.shows("First done.");
    terminal.shows("❯ and then the logs");
    terminal.shows("Second done.");
    terminal.shows_no("queued:");
    let told = scene.model.requests().pop().unwrap()["messages"].to_string();
    assert!(
        told.contains("First done.") && told.contains("and then the logs"),
        "{told}"
    );
}

#[test]
fn what_is_typed_while_the_agent_works_can_be_sent_into_the_run() {
    let scene = Scene::new(vec![
        Reply::calls(["I look first."], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["Then I leave the logs."]),
    ]);
    scene.precious("precious");
    let mut terminal = chat(&scene);
    terminal.press("clean up\r");
    terminal.press("but leave the logs");
    terminal.shows("press Tab to answer");
    terminal.press("\u{13}");
    terminal.shows("sent, not read yet: but leave the logs");
    terminal.press("/help\r");
    terminal.shows("Ctrl-S");
    assert_eq!(scene.model.requests().len(), 1);
    terminal.press("\t");
    terminal.armed("4. Deny");
    terminal.press("4");
    terminal.shows("Then I leave the logs.");
    terminal.shows("❯ but leave the logs");
    terminal.shows_no("not read yet");
    let requests = scene.model.requests();
    assert_eq!(requests.len(), 2, "it is read within the same run");
    let told = requests[1]["messages"].to_string();
    assert!(told.contains("but leave the logs"), "{told}");
}

#[test]
fn the_chat_says_that_a_grant_let_a_call_run() {
    let scene = Scene::new(vec![
        Reply::calls(["One."], &[shell("c1", "git push origin main")]),
        Reply::calls(["Two."], &[shell("c2", "git push origin main")]),
        Reply::text(["Both tried."]),
    ]);
    let mut terminal = chat(&scene);
    terminal.press("push it twice\r");
    terminal.armed("4. Deny");
    let admin = scene.gateway.admin();
    let id = scene.gateway.question();
    assert_eq!(scene.gateway.resolve(&admin, &id, "session").status, 200);
    terminal.shows("Both tried.");
    terminal.shows("Allowed by a grant: git push origin main");
}
