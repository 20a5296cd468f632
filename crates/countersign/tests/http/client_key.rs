//! The key of a home goes to the home's own gateway and to nobody else.

use std::net::TcpListener;
use std::path::Path;

use crate::ours::ours;
use crate::support::Gateway;

/// Runs a command on `home` and returns its exit code and what it says.
pub(crate) fn run(
    home: &Path,
    words: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let output = ours(home)
        .args(words)
        .arg("--home")
        .arg(home)
        .env_remove("COUNTERSIGN_URL")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Somebody who listens elsewhere, and whether anybody came.
fn stranger() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

#[test]
fn a_command_with_another_address_does_not_send_the_key_of_this_home() {
    let gateway = Gateway::start();
    let (listener, url) = stranger();
    for words in [
        ["history", "--url"],
        ["approvals", "--url"],
        ["grants", "--url"],
        ["usage", "--url"],
    ] {
        let (code, said) = run(&gateway.home(), &[words[0], words[1], &url], &[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("is not sent to"), "{said}");
    }
    let named = [("COUNTERSIGN_URL", url.as_str())];
    let (code, said) = run(&gateway.home(), &["history"], &named);
    assert_eq!(code, Some(2), "{said}");
    let own = gateway.home().join("cli.key");
    let words = [
        "history",
        "--url",
        &url,
        "--key-file",
        own.to_str().unwrap(),
    ];
    let (code, said) = run(&gateway.home(), &words, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(listener.accept().is_err(), "somebody came");
}

#[test]
fn a_home_without_a_running_gateway_sends_its_key_nowhere() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("cli.key"), "cs_admin_secret\n").unwrap();
    let (code, said) = run(home.path(), &["history"], &[]);
    assert_eq!(code, Some(22), "{said}");
    assert!(said.contains("no gateway is running in"), "{said}");
}

#[test]
fn the_own_gateway_may_be_named_and_another_takes_a_key_made_for_it() {
    let (one, other) = (Gateway::start(), Gateway::start());
    let (code, said) = run(&one.home(), &["history", "--url", &one.url], &[]);
    assert_eq!(code, Some(0), "{said}");
    let local = one.url.replace("127.0.0.1", "localhost");
    let (code, said) = run(&one.home(), &["history", "--url", &local], &[]);
    assert_eq!(code, Some(0), "{said}");
    let key = other.key("viewer");
    let variables = [("COUNTERSIGN_KEY", key.as_str())];
    let (code, said) = run(&one.home(), &["history", "--url", &other.url], &variables);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_link_for_another_device_is_made_by_the_own_gateway() {
    let gateway = Gateway::start();
    let words = ["keys", "login", "--url", "https://phone.example:8750"];
    let (code, said) = run(&gateway.home(), &words, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("https://phone.example:8750/#code="),
        "{said}"
    );
}
