//! The terminal, end to end: a real gateway, the real program on a real pseudo-terminal, keys pressed
//! and what is on the screen.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod answers;
mod chat;
mod hostile;
mod lists;
#[path = "../shared/ours.rs"]
mod ours;
mod plain;
mod run;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../http/scene.rs"]
mod scene;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../http/support.rs"]
mod support;
mod teach;
mod terminal;
mod truth;
mod window;

use serde_json::{Value, json};
use support::Gateway;
use terminal::{Draws, Start, Terminal};

const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";
const DOWN: &str = "\u{1b}[B";
const TAB: &str = "\t";

/// Opens the inbox of `gateway` in a window of this size.
fn inbox(gateway: &Gateway, columns: u16, rows: u16) -> Terminal {
    opened(gateway, &[], &[], columns, rows)
}

/// Leaves a chat that has come to rest, and returns its session.
fn left(terminal: &mut Terminal) -> String {
    terminal.shows("Enter sends");
    terminal.press("\u{4}");
    assert_eq!(terminal.ends(), 0);
    let screen = terminal.screen();
    let session = screen.split("--session ").nth(1).unwrap();
    session.split_whitespace().next().unwrap().to_owned()
}

/// Opens a full-screen program.
fn opened(
    gateway: &Gateway,
    args: &[&str],
    variables: &[(&str, &str)],
    columns: u16,
    rows: u16,
) -> Terminal {
    Terminal::start(&Start {
        program: ours::binary(),
        home: &gateway.home(),
        args,
        variables,
        columns,
        rows,
        draws: Draws::Frames,
    })
}

/// Opens the inbox line by line.
fn lines(gateway: &Gateway, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
    Terminal::start(&Start {
        program: ours::binary(),
        home: &gateway.home(),
        args,
        variables,
        columns: 100,
        rows: 60,
        draws: Draws::Lines,
    })
}

/// Waits for the decision about `call` and returns it.
fn decided(gateway: &Gateway, agent: &str, call: &str) -> Value {
    let path = format!("/v1/calls/{call}?wait_seconds=60");
    let said = gateway.get(agent, &path);
    assert_eq!(said.status, 200, "{said:?}");
    said.body
}

/// Whether nobody has answered `call`.
fn is_waiting(gateway: &Gateway, agent: &str, call: &str) -> bool {
    gateway.get(agent, &format!("/v1/calls/{call}")).body["status"] == "waiting"
}

/// Submits a command that waits and returns its call and its approval.
fn asked(gateway: &Gateway, agent: &str, command: &str) -> (String, String) {
    let said = gateway.submit(agent, command);
    assert_eq!(said.status, 202, "{said:?}");
    let field = |name: &str| said.body[name].as_str().unwrap().to_owned();
    (field("call_id"), field("approval_id"))
}

/// Asks a person a question and returns its id.
fn question(gateway: &Gateway, agent: &str, choices: &[&str]) -> String {
    let body = json!({ "question": "Which port?", "choices": choices, "session_id": "s1" });
    let said = gateway.post(agent, "/v1/clarifications", &body);
    assert_eq!(said.status, 200, "{said:?}");
    said.body["clarification_id"].as_str().unwrap().to_owned()
}
