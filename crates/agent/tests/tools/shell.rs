//! Commands in the foreground and in the background.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_agent::tools::{Processes, Processing, Terminal};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::support::world;

fn tools() -> (Terminal, Processing) {
    let processes = Arc::new(Processes::default());
    let terminal = Terminal::new(Arc::clone(&processes)).unwrap();
    (terminal, Processing::new(processes))
}

#[tokio::test]
async fn a_command_says_what_it_says_and_how_it_ended() {
    let world = world().await;
    std::fs::create_dir(world.project.join("sub")).unwrap();
    let (terminal, _) = tools();
    let rows = [
        (
            "output",
            json!({"command": "echo a; echo b >&2"}),
            "a\nb\n\n(exit code 0)",
            false,
        ),
        (
            "failure",
            json!({"command": "echo a; false"}),
            "a\n\n(exit code 1)",
            true,
        ),
        (
            "directory",
            json!({"command": "basename \"$PWD\"", "cwd": "sub"}),
            "sub\n\n(exit code 0)",
            false,
        ),
        (
            "nothing to read",
            json!({"command": "cat"}),
            "\n(exit code 0)",
            false,
        ),
    ];
    for (name, args, text, failed) in rows {
        let outcome = world.run(&terminal, args).await;
        assert_eq!(
            (outcome.text.as_str(), outcome.failed),
            (text, failed),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_command_knows_nothing_of_our_environment_but_what_it_needs() {
    let world = world().await;
    let (terminal, _) = tools();
    // Cargo sets this one for every test, so an environment that is passed on would show it.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    let seen = world.run(&terminal, json!({"command": "env"})).await.text;
    let allowed = [
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER",
        "PWD", "SHLVL", "_", "OLDPWD",
    ];
    for line in seen.lines().filter(|line| line.contains('=')) {
        let name = line.split('=').next().unwrap();
        assert!(allowed.contains(&name), "{line}");
    }
    assert!(seen.contains("PATH="), "{seen}");
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let world = world().await;
    let (terminal, _) = tools();
    let said = world
        .run(&terminal, json!({"command": "seq 1 100000"}))
        .await
        .text;
    assert!(said.len() < 70_000, "{}", said.len());
    assert!(said.starts_with("1\n2\n"));
    assert!(said.contains("bytes were left out"));
    assert!(said.ends_with("\n100000\n\n(exit code 0)"));
}

#[tokio::test]
async fn what_takes_too_long_or_is_stopped_ends_with_all_it_started() {
    let world = world().await;
    let (terminal, _) = tools();
    // Everything the command starts holds this connection; it ends when the last of them does.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; sleep 600 & sleep 60");
    let begun = Instant::now();
    let outcome = world
        .run(&terminal, json!({"command": command, "timeout": 1}))
        .await;
    assert!(
        outcome.failed && outcome.text.contains("ended after 1 seconds"),
        "{}",
        outcome.text
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
    let (held, _) = listener.accept().await.unwrap();
    let_go(held).await;

    let stop = world.stop.clone();
    let stopping = async {
        let (held, _) = listener.accept().await.unwrap();
        stop.send(true).unwrap();
        held
    };
    let (outcome, held) = tokio::join!(
        world.run(&terminal, json!({"command": command, "timeout": 59})),
        stopping
    );
    assert!(
        outcome.failed && outcome.text.contains("the run was stopped"),
        "{}",
        outcome.text
    );
    let_go(held).await;
}

/// Returns when nobody holds the other end any more.
async fn let_go(mut held: TcpStream) {
    let mut nothing = Vec::new();
    let read = held.read_to_end(&mut nothing);
    let ended = tokio::time::timeout(Duration::from_secs(30), read).await;
    assert!(ended.is_ok(), "something is still running");
}

#[tokio::test]
async fn a_command_in_the_background_is_looked_after_by_its_own_session() {
    let mut world = world().await;
    let (terminal, process) = tools();
    let begun = world
        .run(
            &terminal,
            json!({"command": "echo begun; sleep 60", "background": true}),
        )
        .await;
    assert_eq!(
        (begun.text.as_str(), begun.failed),
        ("begun\n\n(bg1: running)", false)
    );
    let list = world.run(&process, json!({"action": "list"})).await.text;
    assert_eq!(list, "bg1 (running): echo begun; sleep 60");
    let log = world
        .run(&process, json!({"action": "log", "id": "bg1"}))
        .await
        .text;
    assert_eq!(log, "begun\n\n(bg1: running)");
    let waited = json!({"action": "wait", "id": "bg1", "timeout": 1});
    assert!(world.run(&process, waited).await.text.contains("running"));

    world.around.session = "s2".to_owned();
    let other = world
        .run(&process, json!({"action": "kill", "id": "bg1"}))
        .await;
    assert!(
        other.failed && other.text.contains("there is no process"),
        "{}",
        other.text
    );
    let none = world.run(&process, json!({"action": "list"})).await.text;
    assert_eq!(none, "nothing is running in the background");

    world.around.session = "s1".to_owned();
    let killed = world
        .run(&process, json!({"action": "kill", "id": "bg1"}))
        .await
        .text;
    assert!(killed.contains("(bg1: ended by signal 9)"), "{killed}");
}

#[tokio::test]
async fn a_short_command_in_the_background_ends_while_it_is_watched() {
    let world = world().await;
    let (terminal, _) = tools();
    let outcome = world
        .run(
            &terminal,
            json!({"command": "echo done", "background": true}),
        )
        .await;
    assert!(
        outcome.text.contains("(bg1: exit code 0)"),
        "{}",
        outcome.text
    );
}
