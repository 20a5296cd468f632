//! The lists of the inbox: live, grouped, and without surprises.

use countersign_testkit::model::{Call, Reply};
use serde_json::json;

use crate::scene::Scene;
use crate::support::{Gateway, RISKY};
use crate::{DOWN, ENTER, ESCAPE, TAB, asked, inbox, is_waiting};

#[test]
fn a_new_card_joins_the_list_rings_once_and_moves_nothing() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    asked(&gateway, &agent, "rm -rf /srv/one");
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("rm -rf /srv/one");
    terminal.wait_for("the window is named", |_| true);
    let before = terminal.seen().row_with("❯").unwrap();
    let body = json!({ "tool": "terminal", "args": { "command": RISKY }, "session_id": "other" });
    let said = gateway.post(&agent, "/v1/calls", &body);
    assert_eq!(said.status, 202, "{said:?}");
    terminal.shows(RISKY);
    assert_eq!(terminal.seen().row_with("❯").unwrap(), before);
    assert_eq!(terminal.noted().title, "(2) countersign");
    assert_eq!(terminal.noted().bells, 1);
}

#[test]
fn it_is_silent_where_that_is_wanted() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let mut terminal = crate::opened(&gateway, &["--no-bell"], &[], 80, 24);
    terminal.shows("Nothing waiting.");
    asked(&gateway, &agent, RISKY);
    terminal.shows(RISKY);
    assert_eq!(terminal.noted().bells, 0);
}

#[test]
fn history_says_why_nobody_was_asked() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let said = gateway.submit(&agent, "ls -la");
    assert_eq!(said.status, 200, "{said:?}");
    let mut terminal = inbox(&gateway, 80, 30);
    terminal.shows("1 call ran without a question in the last hour.");
    terminal.press(TAB);
    terminal.shows("allowed        ls -la");
    terminal.press(ENTER);
    terminal.shows("Why nobody was asked");
    terminal.shows("How hard to undo");
    terminal.press(ESCAPE);
    terminal.shows("Enter why");
    // What happens now is there at once.
    gateway.submit(&agent, "cat notes.txt");
    terminal.shows("cat notes.txt");
}

#[test]
fn a_permission_is_seen_and_taken_back() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let approval = gateway.ask(&agent, RISKY);
    let said = gateway.resolve(&gateway.admin(), &approval, "always");
    assert_eq!(said.status, 200, "{said:?}");
    let mut terminal = inbox(&gateway, 100, 30);
    terminal.shows("Grants 1");
    terminal.press("\u{1b}[Z");
    terminal.shows("never used");
    terminal.press("r");
    terminal.shows("Revoke this grant?");
    terminal.armed("1. Revoke");
    terminal.press("1");
    terminal.shows("Revoked.");
    terminal.shows("No active grants.");
    let grants = gateway.get(&gateway.admin(), "/v1/grants").body;
    assert_eq!(grants["grants"], json!([]));
}

#[test]
fn what_ran_is_shown_with_what_it_changed_and_undone() {
    let config = "review: { enabled: true }\n\
                  approvals: { thresholds: { auto_below: 0.0, confidence_min: 1.0 } }\n";
    let write = json!({ "path": "notes.md", "content": "two\n" });
    let script = vec![
        Reply::calls([], &[Call::new("c1", "write_file", &write)]),
        Reply::text(["Done."]),
    ];
    let scene = Scene::configured(script, config);
    let notes = scene.work.join("notes.md");
    std::fs::write(&notes, "one\n").unwrap();
    let run = scene.start("change my notes");
    scene.wait_for(&run, "completed");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "two\n");
    let mut terminal = inbox(&scene.gateway, 80, 24);
    terminal.shows("Reviews 1");
    terminal.press("ll");
    terminal.shows("write_file");
    terminal.press(ENTER);
    terminal.shows("-one");
    terminal.shows("+two");
    terminal.press("u");
    terminal.armed("1. Undo it");
    terminal.press("1");
    terminal.shows("Undone.");
    terminal.shows("Nothing to review.");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "one\n");
}

#[test]
fn without_an_agent_it_says_how_to_connect_one() {
    let gateway = Gateway::start();
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("No agent is connected yet.");
    terminal.shows("countersign keys create --role agent --name NAME");
}

#[test]
fn like_calls_are_one_row_until_it_is_opened() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let call = asked(&gateway, &agent, "rm -rf /srv/a").0;
    asked(&gateway, &agent, "rm -rf /srv/b");
    asked(&gateway, &agent, "rm -rf /srv/c");
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("▸ 3 × rm -rf /srv/…");
    terminal.press(ENTER);
    terminal.shows("▾ 3 × rm -rf /srv/…");
    terminal.shows("rm -rf /srv/b");
    terminal.press(DOWN);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    assert!(terminal.screen().contains("│ rm -rf /srv/a"));
    assert!(is_waiting(&gateway, &agent, &call));
}
