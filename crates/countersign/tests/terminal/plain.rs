//! The inbox line by line, and where there is no terminal at all.

use crate::ours::ours;
use crate::support::{Gateway, RISKY};
use crate::{asked, decided, is_waiting, lines};

#[test]
fn a_number_and_enter_answer_what_a_screen_reader_reads() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = lines(&gateway, &["--plain"], &[]);
    terminal.shows("1. critical risk: rm -rf /srv/www");
    assert!(!terminal.seen().is_full_screen());
    terminal.shows("q to quit:");
    terminal.press("1\r");
    terminal.shows("Wanted: Run a shell command");
    terminal.shows("Type 1, 2, 3 or 4 and Enter");
    terminal.press("9\r");
    terminal.shows("There is no such choice.");
    assert!(is_waiting(&gateway, &agent, &call));
    terminal.press("4 not today\r");
    terminal.shows("Denied by");
    let decision = decided(&gateway, &agent, &call);
    assert_eq!(decision["decision"]["note"], "not today");
    terminal.shows("Nothing is waiting for an answer.");
    terminal.press("q\r");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_plus_and_enter_give_more_time_and_answer_nothing() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = lines(&gateway, &["--plain"], &[]);
    terminal.shows("q to quit:");
    terminal.press("1\r");
    terminal.shows("Type b and Enter for what led here, + and Enter for 5 min more");
    terminal.shows("Type 1, 2, 3 or 4 and Enter");
    terminal.press("+\r");
    // What is typed before a prompt counts for nothing, so it is waited for.
    terminal.shows_below("It now expires in", "Type 1, 2, 3 or 4 and Enter");
    terminal.press("+1\r");
    terminal.shows("There is no such choice.");
    assert!(is_waiting(&gateway, &agent, &call));
}

#[test]
fn what_led_here_is_shown_line_by_line_and_answers_nothing() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (first, _) = asked(&gateway, &agent, "rm -rf /srv/first");
    asked(&gateway, &agent, RISKY);
    let mut terminal = lines(&gateway, &["--plain"], &[]);
    terminal.shows("q to quit:");
    terminal.press("1\r");
    terminal.shows("Type 1, 2, 3 or 4 and Enter");
    terminal.press("b\r");
    // What is typed before a prompt counts for nothing, so each is waited for.
    let told = "This is the first call of its run.";
    terminal.shows_below(told, "Type 1, 2, 3 or 4 and Enter");
    terminal.press("\r");
    terminal.shows_below(told, "q to quit:");
    terminal.press("2\r");
    terminal.shows_below("│   rm -rf /srv/www", "Type 1, 2, 3 or 4 and Enter");
    terminal.press("b\r");
    terminal.shows("The calls before, the oldest first:");
    terminal.shows("waiting for a person");
    assert!(is_waiting(&gateway, &agent, &first));
}

#[test]
fn a_terminal_that_can_do_little_gets_lines() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let ana = gateway.named_key("ana", "approver");
    let (_, approval) = asked(&gateway, &agent, RISKY);
    for variables in [("TERM", "dumb"), ("COUNTERSIGN_PLAIN", "1")] {
        let mut terminal = lines(&gateway, &[], &[variables]);
        terminal.shows("1. critical risk: rm -rf /srv/www");
        assert!(!terminal.seen().is_full_screen(), "{variables:?}");
    }
    let mut terminal = lines(&gateway, &["--plain"], &[]);
    terminal.shows("q to quit:");
    terminal.press("1\r");
    terminal.shows("Type 1, 2, 3 or 4 and Enter");
    gateway.resolve(&ana, &approval, "deny");
    terminal.shows("Denied by ana via the API.");
    terminal.shows("Nothing is waiting for an answer.");
}

#[test]
fn a_session_is_allowed_line_by_line_by_a_rule_that_was_read() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = lines(&gateway, &["--plain"], &[]);
    terminal.shows("q to quit:");
    terminal.press("1\r");
    terminal.shows("Type 1, 2, 3 or 4 and Enter");
    terminal.press("2\r");
    terminal.shows("would have matched");
    terminal.shows("or Enter to go back:");
    assert!(is_waiting(&gateway, &agent, &call));
    terminal.press("1\r");
    terminal.shows("Approved by");
    assert_eq!(
        decided(&gateway, &agent, &call)["decision"]["choice"],
        "session"
    );
}

#[test]
fn without_a_terminal_the_list_is_printed_and_without_a_gateway_what_to_do_first() {
    let mut gateway = Gateway::start();
    let agent = gateway.key("agent");
    asked(&gateway, &agent, RISKY);
    let alone = |gateway: &Gateway| {
        let output = ours(&gateway.home()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let said = alone(&gateway);
    assert!(said.contains(RISKY) && said.contains("critical"), "{said}");
    gateway.stop();
    let said = alone(&gateway);
    assert!(said.contains("countersign serve"), "{said}");
}
