//! A server of notifications is told that something waits, with a link, and that it is settled.

use countersign_testkit::ntfy::{Heard, NtfyServer};
use serde_json::{Value, json};

use crate::support::{Gateway, RISKY};

const TOKEN: &str = "tk_only_for_tests";

fn start(more: &str) -> (Gateway, NtfyServer) {
    let server = NtfyServer::start(TOKEN).unwrap();
    let config = format!(
        "channels:\n  phone: {{ type: ntfy, url: '{}', topic: gate-7fK, token_env: NTFY_TOKEN, \
         page_url: 'https://gate.example.org'{more} }}\n",
        server.url()
    );
    (
        Gateway::with_variables(&config, &[("NTFY_TOKEN", TOKEN)]),
        server,
    )
}

/// Returns the first message that was published.
fn published(server: &NtfyServer) -> Value {
    let heard = server.until(1);
    let heard = heard.unwrap_or_else(|| panic!("refused: {:?}", server.refused()));
    match &heard[0] {
        Heard::Published(message) => message.clone(),
        Heard::Cleared(..) => panic!("{heard:?}"),
    }
}

#[test]
fn a_topic_is_told_that_something_waits_with_a_link_and_it_is_cleared_after_the_answer() {
    let (gateway, server) = start("");
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let approval = gateway.ask(&agent, RISKY);
    let message = published(&server);
    let link = format!("https://gate.example.org/#/approvals/{approval}");
    assert_eq!(message["click"], json!(link));
    assert_eq!(message["topic"], "gate-7fK");
    assert_eq!(message["priority"], 5, "it is critical");
    assert!(!message.to_string().contains("/srv/www"), "{message}");
    gateway.resolve(&admin, &approval, "deny");
    let heard = server.until(2).unwrap();
    let sequence = message["sequence_id"].as_str().unwrap().to_owned();
    let cleared = Heard::Cleared("gate-7fK".to_owned(), sequence);
    assert_eq!(heard[1], cleared);
    assert_eq!(server.refused(), Vec::<String>::new());
}

#[test]
fn what_waits_is_published_only_if_the_owner_wants_it() {
    let (gateway, server) = start(", show: what");
    // Letters that no header carries.
    gateway.ask(&gateway.key("agent"), "rm -rf /srv/grüße");
    let message = published(&server);
    assert_eq!(message["message"], "rm -rf /srv/grüße");
}

#[test]
fn doctor_says_whether_the_server_answers() {
    let (gateway, server) = start("");
    let path = "/v1/channels/phone/doctor";
    let good = gateway.get(&gateway.admin(), path).body;
    assert_eq!(good["findings"][0]["state"], "good", "{good}");
    drop(server);
    let bad = gateway.get(&gateway.admin(), path).body;
    assert_eq!(bad["findings"][0]["state"], "bad", "{bad}");
}
