//! The terminal itself: taken over, given back, and given another size.

use std::process::Command;

use crate::support::{Gateway, RISKY};
use crate::terminal::Terminal;
use crate::{asked, inbox};

fn signalled(terminal: &Terminal, name: &str) {
    let process = terminal.process().to_string();
    let status = Command::new("kill")
        .args([format!("-{name}"), process])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let gateway = Gateway::start();
    for (name, end) in [("q", "q"), ("Ctrl-C", "\u{3}"), ("TERM", ""), ("HUP", "")] {
        let mut terminal = inbox(&gateway, 80, 24);
        terminal.shows("Waiting");
        assert!(terminal.seen().is_full_screen(), "{name}");
        if end.is_empty() {
            signalled(&terminal, name);
        } else {
            terminal.press(end);
        }
        assert_eq!(terminal.ends(), 0, "{name}");
        assert!(!terminal.seen().is_full_screen(), "{name}");
    }
}

#[test]
fn a_program_that_was_stopped_goes_on_where_it_was() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("Nothing waiting.");
    signalled(&terminal, "STOP");
    asked(&gateway, &agent, RISKY);
    signalled(&terminal, "CONT");
    terminal.shows(RISKY);
    assert!(terminal.seen().is_full_screen());
}

#[test]
fn a_window_of_another_size_is_drawn_anew() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    assert!(!terminal.screen().contains("press Enter to answer"));
    terminal.resize(140, 30);
    terminal.shows("press Enter to answer");
    terminal.resize(40, 12);
    terminal.shows_no("press Enter to answer");
    terminal.shows("CRITICAL rm -rf /srv/www");
    terminal.resize(10, 3);
    terminal.shows("1 waiting");
}
