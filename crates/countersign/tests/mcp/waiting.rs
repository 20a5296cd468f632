//! Calls that a person decides about.

use serde_json::{Value, json};

use crate::scene::{HARMLESS, Proxy, RISKY, call, gateway, put_key, status, until, words};
use crate::support::Gateway;

/// Returns the claims of a token.
fn token(call: &Value) -> &str {
    call["params"]["_meta"]["dev.countersign/token"]
        .as_str()
        .unwrap()
}

#[test]
fn an_approved_call_runs_once_with_its_token_used_up() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    assert!(
        proxy.calls().is_empty(),
        "nothing is sent before the answer"
    );
    let card = gateway
        .get(&gateway.admin(), &format!("/v1/approvals/{approval}"))
        .body;
    assert_eq!(card["tool"], "mcp__fix__wipe");
    gateway.resolve(&gateway.admin(), &approval, "once");
    assert_eq!(
        proxy.answer(&json!(1))["result"]["content"][0]["text"],
        "ran wipe"
    );
    let calls = proxy.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        calls[0]["params"]["arguments"],
        json!({ "path": "/srv/www" })
    );
    let key = std::fs::read_to_string(gateway.home().join("hooks/mcp.key")).unwrap();
    let again = gateway.post(
        &key,
        "/v1/tokens/consume",
        &json!({ "token": token(&calls[0]) }),
    );
    assert_eq!(again.code(), "token_used", "{again:?}");
    // The outcome is reported, and told as an event.
    let mut events = gateway.events(&gateway.admin(), "/v1/events", Some(0));
    let (_, told) = events.named("tool.completed");
    assert_eq!(told["tool"], "mcp__fix__wipe");
    assert_eq!(told["outcome"], "done");
}

#[test]
fn a_denied_call_never_reaches_the_server_and_the_model_reads_why() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let body = json!({ "choice": "deny", "note": "keep it" });
    gateway.post(
        &gateway.admin(),
        &format!("/v1/approvals/{approval}/resolve"),
        &body,
    );
    let answer = proxy.answer(&json!(1));
    assert!(words(&answer).contains("keep it"), "{answer}");
    assert!(answer["result"].get("resultType").is_none());
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_refusal_says_in_the_stateless_era_that_it_is_complete() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    let mut message = call(1, RISKY, &json!({ "path": "/" }));
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "stateless", "version": "2" },
    });
    proxy.say(&message);
    let approval = gateway.question();
    let card = gateway
        .get(&gateway.admin(), &format!("/v1/approvals/{approval}"))
        .body;
    assert!(card.to_string().contains("stateless 2"), "{card}");
    gateway.resolve(&gateway.admin(), &approval, "deny");
    let answer = proxy.answer(&json!(1));
    assert_eq!(answer["result"]["resultType"], "complete");
    words(&answer);
}

#[test]
fn arguments_that_a_person_edited_are_what_the_server_gets() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let body = json!({ "choice": "once", "args": { "path": "/srv/www/cache" } });
    let said = gateway.post(
        &gateway.admin(),
        &format!("/v1/approvals/{approval}/resolve"),
        &body,
    );
    assert_eq!(said.status, 200, "{said:?}");
    proxy.answer(&json!(1));
    assert_eq!(
        proxy.calls()[0]["params"]["arguments"],
        json!({ "path": "/srv/www/cache" })
    );
}

#[test]
fn a_waiting_client_is_told_at_once_and_again_and_the_numbers_grow() {
    let gateway = gateway();
    let words = ["--name", "fix", "--progress", "1"];
    let mut proxy = Proxy::with(&gateway.home(), &words, &[]);
    proxy.greet();
    let mut message = call(1, RISKY, &json!({ "path": "/srv/www" }));
    message["params"]["_meta"] = json!({ "progressToken": 7 });
    proxy.say(&message);
    let mut last = f64::NEG_INFINITY;
    for _ in 0..3 {
        let told = proxy.next();
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progressToken"], 7);
        let progress = told["params"]["progress"].as_f64().unwrap();
        // Below zero, where the server's own begins.
        assert!(progress > last && progress < 0.0);
        last = progress;
    }
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "once");
    proxy.answer(&json!(1));
    // Without a token nothing is told.
    proxy.call(2, RISKY, &json!({ "path": "/srv/other" }));
    gateway.question();
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }));
    assert_eq!(proxy.next()["id"], 3);
}

#[test]
fn a_cancelled_call_is_withdrawn_and_never_sent() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let cancelled = json!({ "requestId": 1.0, "reason": "changed my mind" });
    proxy.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }),
    );
    until(&gateway, &approval, "withdrawn");
    let late = gateway.resolve(&gateway.admin(), &approval, "once");
    assert_eq!(late.status, 410, "{late:?}");
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    assert_eq!(proxy.next()["id"], 2, "a cancelled request has no answer");
    let seen = String::from_utf8(proxy.seen()).unwrap();
    assert!(
        !seen.contains("tools/call") && !seen.contains("cancelled"),
        "{seen}"
    );
}

#[test]
fn a_cancellation_that_races_with_the_answer_never_lets_both_happen() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    for round in 0..20 {
        let path = format!("/srv/{round}");
        proxy.call(round, RISKY, &json!({ "path": path }));
        let approval = gateway.question();
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": round } });
        std::thread::scope(|scope| {
            scope.spawn(|| gateway.resolve(&gateway.admin(), &approval, "once"));
            proxy.say(&cancelled);
        });
        proxy.say(&json!({ "jsonrpc": "2.0", "id": "over", "method": "ping" }));
        proxy.answer(&json!("over"));
    }
    let (_, _, _, seen) = proxy.close();
    let seen = String::from_utf8(seen).unwrap();
    // What was sent was cancelled behind it; what was not sent was not cancelled at the server.
    let order: Vec<(bool, String)> = seen
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| match message["method"].as_str() {
            Some("tools/call") => Some((true, message["id"].to_string())),
            Some("notifications/cancelled") => {
                Some((false, message["params"]["requestId"].to_string()))
            }
            _ => None,
        })
        .collect();
    for (at, (is_call, id)) in order.iter().enumerate() {
        if !is_call {
            assert!(order[..at].contains(&(true, id.clone())), "{order:?}");
        }
    }
}

#[test]
fn when_the_client_ends_its_calls_are_withdrawn_and_never_sent() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    let (ended, _, _, seen) = proxy.close();
    assert!(ended.success());
    assert_eq!(status(&gateway, &approval), "withdrawn");
    assert!(!String::from_utf8(seen).unwrap().contains("tools/call"));
}

#[test]
fn a_retry_joins_the_question_and_what_was_asked_about_is_sent() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{"path":"/srv/www","n":1.0}}}"#);
    let approval = gateway.question();
    proxy.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wipe","arguments":{"n":1,"path":"/srv/www"},"_meta":{"try":2}}}"#);
    let mut events = gateway.events(&gateway.admin(), "/v1/events", Some(0));
    while events.named("call.assessed").1["status"] != "waiting" {}
    while events.named("call.assessed").1["status"] != "waiting" {}
    gateway.resolve(&gateway.admin(), &approval, "once");
    let (first, second) = (proxy.next(), proxy.next());
    let (old, new) = if first["id"] == 1 {
        (first, second)
    } else {
        (second, first)
    };
    assert!(words(&old).contains("sent again"), "{old}");
    assert_eq!(new["result"]["content"][0]["text"], "ran wipe");
    let seen = String::from_utf8(proxy.seen()).unwrap();
    let calls: Vec<&str> = seen
        .lines()
        .filter(|line| line.contains("tools/call"))
        .collect();
    assert_eq!(calls.len(), 1, "{seen}");
    assert!(
        calls[0].contains(r#""id":2"#) && calls[0].contains(r#"{"path":"/srv/www","n":1.0}"#),
        "{seen}"
    );
}

#[test]
fn without_a_gateway_a_call_is_refused_and_everything_else_passes() {
    let directory = tempfile::tempdir().unwrap();
    let mut proxy = Proxy::start(directory.path());
    proxy.greet();
    proxy.call(1, HARMLESS, &json!({}));
    let answer = proxy.answer(&json!(1));
    let said = words(&answer);
    assert!(
        said.contains("did not let this run") && said.contains("Hint:"),
        "{said}"
    );
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_gateway_that_comes_later_is_found() {
    let mut gateway = Gateway::start();
    let home = gateway.home();
    put_key(&home, &gateway.named_key("mcp", "agent"));
    gateway.stop();
    let mut proxy = Proxy::start(&home);
    proxy.greet();
    proxy.call(1, HARMLESS, &json!({}));
    words(&proxy.answer(&json!(1)));
    let gateway = gateway.started_again();
    proxy.call(2, HARMLESS, &json!({}));
    assert_eq!(
        proxy.answer(&json!(2))["result"]["content"][0]["text"],
        "ran notes_list"
    );
    drop(gateway);
}

#[test]
fn large_numbers_are_bound_as_they_are_written() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{"id":9007199254740993}}}"#;
    proxy.send(line);
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "once");
    proxy.answer(&json!(1));
    let seen = String::from_utf8(proxy.seen()).unwrap();
    assert!(
        seen.contains(r#""arguments":{"id":9007199254740993}"#),
        "{seen}"
    );
}

#[test]
fn a_call_that_was_taken_back_while_it_ran_leaves_room_for_others() {
    let gateway = gateway();
    let silent = json!({ "tools/call": r#"{"jsonrpc":"2.0","method":"begun"}"# }).to_string();
    let mut proxy = Proxy::with(&gateway.home(), &["--name", "fix"], &[("REPLIES", &silent)]);
    proxy.greet();
    for _ in 0..3 {
        proxy.call(1, HARMLESS, &json!({}));
        assert_eq!(proxy.next()["method"], "begun");
        let params = json!({ "requestId": 1 });
        proxy.say(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        );
    }
}

#[test]
fn a_call_with_much_beside_its_arguments_is_not_kept() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    let params = json!({ "name": RISKY, "arguments": { "path": "/srv/www" },
        "_meta": { "x": "x".repeat(3 * 1024 * 1024) } });
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    assert_eq!(proxy.answer(&json!(1))["result"]["isError"], true);
    assert!(proxy.calls().is_empty());
}
