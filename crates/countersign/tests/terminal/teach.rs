//! `countersign teach --write` at a terminal: the change is shown, and one yes writes it.

use std::path::Path;

use crate::ours;
use crate::terminal::{Draws, Start, Terminal};

const CONFIG: &str = "# mine\nreview:\n  enabled: true\n";
const HELP: &str = "Commands:\n  close   Close a ticket\n  \u{1b}[2Jwipe   Clear the screen\n";

/// Runs `teach --write` in `home`, answers, and returns the exit code and the screen.
fn taught(home: &Path, answer: &str) -> (u32, String) {
    std::fs::write(home.join("config.yaml"), CONFIG).unwrap();
    let help = home.join("help.txt");
    std::fs::write(&help, HELP).unwrap();
    let mut terminal = Terminal::start(&Start {
        program: ours::binary(),
        home,
        args: &["teach", "tix", help.to_str().unwrap(), "--write"],
        variables: &[],
        columns: 120,
        rows: 60,
        draws: Draws::Lines,
    });
    terminal.shows("Write this? [y/N]");
    terminal.press(answer);
    let code = terminal.ends();
    (code, terminal.screen())
}

#[test]
fn one_yes_writes_the_row_and_anything_else_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let config = || std::fs::read_to_string(home.path().join("config.yaml")).unwrap();
    for answer in ["\r", "n\r", "yep\r", "\u{4}"] {
        let (code, screen) = taught(home.path(), answer);
        assert_eq!(code, 1, "{answer:?}: {screen}");
        assert_eq!(config(), CONFIG, "{answer:?}");
    }
    let (code, screen) = taught(home.path(), "y\r");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("+  - names: [\"tix\"]"), "{screen}");
    let text = config();
    assert!(text.starts_with(CONFIG), "{text}");
    assert!(text.contains("- names: [\"close\"]"), "{text}");
    assert!(!text.contains("wipe"), "{text}");
}
