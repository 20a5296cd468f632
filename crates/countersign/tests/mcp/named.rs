//! Servers that the owner's configuration describes: their name is all that a client has to say.

use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{HARMLESS, Proxy, RISKY, gateway, put_key, server};
use crate::support::Gateway;

fn configure(home: &Path, settings: &Value) {
    let text = json!({ "mcp": { "servers": { "notes": settings } } });
    std::fs::write(home.join("config.yaml"), text.to_string()).unwrap();
}

fn described() -> Value {
    json!({ "command": ["python3", server().to_str().unwrap()], "env": ["SEEN"] })
}

fn ask(gateway: &Gateway, proxy: &mut Proxy, choice: &str) -> Value {
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let path = format!("/v1/approvals/{approval}");
    let card = gateway.get(&gateway.admin(), &path).body;
    let said = gateway.resolve(&gateway.admin(), &approval, choice);
    assert_eq!(said.status, 200, "{said:?}");
    proxy.answer(&json!(1));
    card
}

#[test]
fn a_name_is_enough_for_a_server_in_the_configuration() {
    let gateway = gateway();
    configure(&gateway.home(), &described());
    let mut proxy = Proxy::as_said(&gateway.home(), &["--name", "notes"], &[]);
    proxy.greet();
    proxy.call(7, HARMLESS, &json!({}));
    let answer = proxy.answer(&json!(7));
    assert_eq!(
        answer["result"]["content"][0]["text"], "ran notes_list",
        "{answer}"
    );
    let card = ask(&gateway, &mut proxy, "deny");
    assert_eq!(card["tool"], "mcp__notes__wipe", "{card}");
    assert_eq!(proxy.calls().len(), 1, "the denied call was not sent");
}

#[test]
fn a_server_that_uses_tokens_up_itself_gets_them_unused() {
    let gateway = gateway();
    let consumed = |verifies: bool| {
        let mut settings = described();
        settings["verifies_tokens"] = verifies.into();
        configure(&gateway.home(), &settings);
        let mut proxy = Proxy::as_said(&gateway.home(), &["--name", "notes"], &[]);
        proxy.greet();
        ask(&gateway, &mut proxy, "once");
        let calls = proxy.calls();
        let token = &calls[0]["params"]["_meta"]["dev.countersign/token"];
        let body = json!({ "token": token });
        let key = std::fs::read_to_string(gateway.home().join("hooks/mcp.key")).unwrap();
        gateway.post(&key, "/v1/tokens/consume", &body).status
    };
    assert_eq!(consumed(true), 200, "the server uses it up");
    assert_eq!(consumed(false), 409, "the proxy has");
}

#[test]
fn a_name_that_nothing_describes_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    put_key(home.path(), "unused");
    for (settings, words) in [
        (json!({ "url": "https://x.example" }), ["--name", "other"]),
        (json!({}), ["--name", "notes"]),
        (
            json!({ "command": ["python3"], "env": ["COUNTERSIGN_TEST_UNSET"] }),
            ["--name", "notes"],
        ),
        (
            json!({ "url": "https://x.example", "token_env": "COUNTERSIGN_TEST_UNSET" }),
            ["--name", "notes"],
        ),
    ] {
        configure(home.path(), &settings);
        let proxy = Proxy::as_said(home.path(), &words, &[]);
        let (status, said, output, _) = proxy.close();
        assert_eq!(status.code(), Some(2), "{said}");
        assert!(output.is_empty());
        assert!(
            said.contains("error: ") && said.contains("hint: "),
            "{said}"
        );
        assert!(said.contains("mcp.servers"), "{said}");
    }
}
