//! Text that means harm, and terminals that can do little.

use crate::support::{Gateway, RISKY};
use crate::{ENTER, asked, decided, inbox, opened};

#[test]
fn text_that_means_harm_is_drawn_and_does_nothing() {
    let rows = [
        ("a title", "rm -rf /srv/www \u{1b}]0;pwned\u{7}", "⟨U+001B⟩"),
        (
            "the screen wiped",
            "rm -rf /srv/www \u{1b}[2J\u{1b}[H1. Allow once",
            "⟨U+001B⟩",
        ),
        ("right to left", "rm -rf /srv/\u{202e}www", "⟨U+202E⟩"),
        ("nothing wide", "rm -rf /srv/w\u{200b}ww", "⟨U+200B⟩"),
        ("over the line", "rm -rf /srv/www\rls", "⟨U+000D⟩"),
    ];
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    for (name, command, sign) in rows {
        let (call, _) = asked(&gateway, &agent, command);
        let mut terminal = inbox(&gateway, 100, 30);
        terminal.shows(sign);
        terminal.press(ENTER);
        terminal.armed("Deny");
        let screen = terminal.screen();
        assert!(screen.contains(sign), "{name}: {screen}");
        assert!(
            screen.contains("╭") && screen.contains("╰"),
            "{name}: {screen}"
        );
        assert_eq!(terminal.noted().title, "(1) countersign", "{name}");
        assert_eq!(terminal.noted().bells, 0, "{name}");
        let row = terminal.seen().row_with(". Deny").unwrap();
        let number = row.split('.').next().unwrap().chars().last().unwrap();
        terminal.press(&number.to_string());
        terminal.shows("Denied by");
        assert_eq!(
            decided(&gateway, &agent, &call)["status"],
            "denied",
            "{name}"
        );
    }
}

#[test]
fn a_line_of_a_hundred_thousand_letters_is_no_trouble() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let command = format!("rm -rf /srv/{}", "x".repeat(60_000));
    let (call, _) = asked(&gateway, &agent, &command);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("rm -rf /srv/xxx");
    terminal.press(ENTER);
    terminal.armed("Deny");
    terminal.shows("Show full command");
    terminal.press("\u{1b}[F");
    terminal.shows_no("Show full command");
    terminal.allows_critical();
    terminal.shows("Approved by");
    assert_eq!(decided(&gateway, &agent, &call)["status"], "approved");
}

#[test]
fn without_colours_everything_is_said_in_words() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    asked(&gateway, &agent, RISKY);
    let mut terminal = opened(&gateway, &[], &[("NO_COLOR", "1")], 80, 24);
    terminal.shows(RISKY);
    terminal.shows("CRITICAL");
    assert!(!terminal.seen().has_colour());
    terminal.press(ENTER);
    terminal.armed("1. Allow once");
    assert!(!terminal.seen().has_colour());
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    assert!(terminal.seen().has_colour());
}

#[test]
fn forty_columns_are_enough() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 40, 30);
    terminal.shows("CRITICAL rm -rf /srv/www");
    terminal.press(ENTER);
    terminal.shows("expires in");
    terminal.allows_critical();
    terminal.shows("Approved by");
    assert_eq!(decided(&gateway, &agent, &call)["status"], "approved");
}
