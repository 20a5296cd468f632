//! What the page's views ask for: history searched, counted, drawn under other lines, and how
//! channels fare.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::support::{Gateway, RISKY};

#[test]
fn history_is_searched_counted_and_drawn_under_other_lines() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    gateway.submit(&agent, "git status");
    let approval = gateway.ask(&agent, RISKY);
    gateway.resolve(&approver, &approval, "deny");
    // What was answered at once is on disk when an event tells of it.
    let mut events = gateway.events(&approver, "/v1/events", Some(0));
    events.named("approval.resolved");

    let denied = gateway.get(&approver, "/v1/traces?outcome=denied&by=approver&q=RM");
    let traces = denied.body["traces"].as_array().unwrap();
    assert_eq!(traces.len(), 1, "{denied:?}");
    assert_eq!(traces[0]["command"], RISKY);
    assert_eq!(traces[0]["decision"]["by"], "approver");
    let none = gateway.get(&agent, "/v1/traces?by=nobody");
    assert_eq!(none.body, json!({"traces": [], "next": null}));
    assert_eq!(gateway.get(&approver, "/v1/traces?who=x").status, 422);
    // A word that stands for no state is an error, and the known ones are named.
    for (path, known) in [
        ("/v1/traces?outcome=deneid", "`withdrawn`"),
        ("/v1/traces?verdict=alow", "`ask`"),
        ("/v1/calls?verdict=alow", "`ask`"),
        ("/v1/approvals?status=pending", "`waiting`"),
    ] {
        let refused = gateway.get(&approver, path);
        assert_eq!(refused.status, 422, "{path}: {refused:?}");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(known), "{path}: {message}");
    }

    let counted = gateway.get(&approver, "/v1/stats?bucket=86400").body;
    assert_eq!(counted["questions"]["denied"], 1, "{counted}");
    assert_eq!(counted["answers"]["count"], 1);
    assert_eq!(counted["calls"], 2);
    assert_eq!(gateway.get(&approver, "/v1/stats?bucket=1").status, 422);

    let lines = |auto: f64, ask: f64| json!({"thresholds": {"auto_below": auto, "ask_above": ask, "confidence_min": 0.7}});
    let drawn = gateway.post(&approver, "/v1/replay", &lines(0.0, 0.0)).body;
    assert_eq!(drawn["calls"], 2);
    assert_eq!(drawn["verdicts"]["ask"]["ask"], 1, "{drawn}");
    let wrong = gateway.post(&approver, "/v1/replay", &lines(0.9, 0.1));
    assert_eq!((wrong.status, wrong.code()), (422, "invalid_thresholds"));
}

#[test]
fn a_channel_that_refuses_cards_says_since_when_and_why() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The head is enough to know that it is not wanted.
            let _read = stream.read(&mut [0; 4096]).unwrap();
            let answer = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let config = format!(
        "channels: {{ pager: {{ type: webhook, url: \"http://{address}/\", secret_env: PAGER_SECRET }} }}\n\
         people: [ {{ name: ana, roles: [approver], accounts: {{ pager: a1 }} }} ]\n"
    );
    let secret = [("PAGER_SECRET", "a secret of both sides")];
    let gateway = Gateway::with_variables(&config, &secret);
    let admin = gateway.admin();
    let shown = || gateway.get(&admin, "/v1/channels").body["channels"][0].clone();
    let unused = shown();
    assert_eq!(unused["name"], "pager");
    assert_eq!(unused["kind"], "webhook");
    assert_eq!(unused["health"], "unused");
    assert_eq!(unused["people"], json!(["ana"]));
    let mut events = gateway.events(&admin, "/v1/events", None);
    gateway.ask(&gateway.key("agent"), RISKY);
    events.named("card.failed");
    let failing = shown();
    assert_eq!(failing["health"], "failing");
    assert!(failing["failed_at"].is_f64(), "{failing}");
    assert!(
        failing["why"].as_str().unwrap().contains("403"),
        "{failing}"
    );
    assert_eq!(failing["delivered_at"], json!(null));
}

#[test]
fn who_denied_a_call_lifts_it_over_the_api_and_on_the_command_line() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    let other = gateway.named_key("other", "approver");
    let approval = gateway.ask(&agent, RISKY);
    gateway.resolve(&approver, &approval, "deny");
    let again = gateway.submit(&agent, &format!("env {RISKY} # again")).body;
    assert_eq!(again["decision"]["cause"], "deny_memory", "{again}");
    assert_eq!(again["decision"]["denial_id"], *approval);
    let said = again["message"].as_str().unwrap();
    assert!(said.contains("approver denied this"), "{said}");
    let path = format!("/v1/approvals/{approval}/lift");
    assert_eq!(gateway.post(&other, &path, &json!({})).status, 403);
    assert_eq!(gateway.post(&agent, &path, &json!({})).status, 403);
    assert_eq!(gateway.post(&approver, &path, &json!({})).status, 200);
    let second = gateway.ask(&agent, RISKY);
    gateway.resolve(&approver, &second, "deny");
    // The home's own key is an admin's.
    let lifted = countersign(&gateway, &["history", "lift", &second]);
    assert!(lifted.status.success(), "{lifted:?}");
    let mut events = gateway.events(&approver, "/v1/events", Some(0));
    assert_eq!(events.named("approval.lifted").1["by"], "approver");
    gateway.ask(&agent, RISKY);
}

#[test]
fn a_key_is_bound_to_a_workspace_when_it_is_made_and_the_list_says_so() {
    let gateway = Gateway::start();
    let made = ["keys", "create", "--role", "agent", "--name", "ci"];
    let bound = countersign(
        &gateway,
        &[&made[..], &["--workspace", "/srv/app"]].concat(),
    );
    let key = String::from_utf8(bound.stdout).unwrap();
    let script = |cwd: &str, session: &str| json!({ "tool": "terminal", "args": { "command": "./build.sh" }, "cwd": cwd, "session_id": session });
    let run = |cwd: &str, session: &str| {
        let said = gateway.post(key.trim(), "/v1/calls", &script(cwd, session));
        said.body["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(run("/srv/app", "a"), "allowed");
    assert_eq!(run("/home/dev/app", "b"), "waiting");
    let keys = countersign(&gateway, &["keys", "list"]);
    let shown = String::from_utf8(keys.stdout).unwrap();
    assert!(shown.contains("/srv/app"), "{shown}");
    let wrong = countersign(&gateway, &[&made[..], &["--workspace", "/etc"]].concat());
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// Runs the command line in the home of `gateway`.
fn countersign(gateway: &Gateway, arguments: &[&str]) -> std::process::Output {
    let mut command = crate::ours::ours(&gateway.home());
    command.args(arguments).output().unwrap()
}
