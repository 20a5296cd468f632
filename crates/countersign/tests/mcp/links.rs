//! Links to cards, for clients that can open them. Nothing a client brings back is consent.

use serde_json::{Value, json};

use crate::scene::{Proxy, RISKY, call, gateway};

fn stateless(id: u64, opens_links: bool) -> Value {
    let mut message = call(id, RISKY, &json!({ "path": "/srv/www" }));
    let capabilities = if opens_links {
        json!({ "elicitation": { "url": {} } })
    } else {
        json!({ "elicitation": {} })
    };
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    message
}

fn returning(id: u64, state: &Value, action: &str) -> Value {
    let mut message = stateless(id, true);
    message["params"]["requestState"] = state.clone();
    message["params"]["inputResponses"] = json!({ "countersign": { "action": action } });
    message
}

#[test]
fn a_client_with_a_session_is_shown_the_card_while_its_call_waits() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet_as(&json!({ "elicitation": { "form": {}, "url": {} } }));
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let shown = proxy.next();
    let approval = gateway.question();
    assert_eq!(shown["method"], "elicitation/create");
    assert_eq!(shown["params"]["mode"], "url");
    assert_eq!(shown["params"]["elicitationId"], approval);
    let url = shown["params"]["url"].as_str().unwrap();
    assert!(url.ends_with(&format!("/#/approvals/{approval}")), "{url}");
    proxy.say(&json!({ "jsonrpc": "2.0", "id": shown["id"], "result": { "action": "decline" } }));
    gateway.resolve(&gateway.admin(), &approval, "once");
    assert_eq!(
        proxy.answer(&json!(1))["result"]["content"][0]["text"],
        "ran wipe"
    );
    let seen = String::from_utf8(proxy.seen()).unwrap();
    assert!(!seen.contains("decline"), "the server did not ask");
}

#[test]
fn a_client_without_a_session_comes_back_and_is_answered_from_the_gateways_state_alone() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&stateless(1, true));
    let shown = proxy.answer(&json!(1));
    assert_eq!(shown["result"]["resultType"], "input_required");
    let question = &shown["result"]["inputRequests"]["countersign"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "url");
    let state = &shown["result"]["requestState"];
    let approval = gateway.question();
    // It says that the person agreed; it waits all the same.
    proxy.say(&returning(2, state, "accept"));
    proxy.say(&json!({ "jsonrpc": "2.0", "id": "over", "method": "ping" }));
    assert_eq!(proxy.next()["id"], "over");
    assert!(proxy.calls().is_empty());
    gateway.resolve(&gateway.admin(), &approval, "once");
    assert_eq!(
        proxy.answer(&json!(2))["result"]["content"][0]["text"],
        "ran wipe"
    );
    let calls = proxy.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["id"], 2);
    assert_eq!(
        calls[0]["params"]["arguments"],
        json!({ "path": "/srv/www" })
    );
    let params = calls[0]["params"].to_string();
    assert!(
        !params.contains("requestState") && !params.contains("inputResponses"),
        "{params}"
    );
    // The state is used up with the question.
    proxy.say(&returning(3, state, "accept"));
    assert_eq!(proxy.answer(&json!(3))["error"]["code"], -32602);
}

#[test]
fn a_denied_question_stays_denied_whatever_the_client_brings() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&stateless(1, true));
    let shown = proxy.answer(&json!(1));
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "deny");
    proxy.say(&returning(2, &shown["result"]["requestState"], "accept"));
    assert_eq!(proxy.answer(&json!(2))["result"]["isError"], true);
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_forged_altered_or_borrowed_state_is_an_error() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&stateless(1, true));
    let shown = proxy.answer(&json!(1));
    let state = shown["result"]["requestState"].as_str().unwrap().to_owned();
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "once");
    let mut altered = state.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let swapped = state.replacen("countersign.1.e", "countersign.1.f", 1);
    for forged in [
        altered,
        swapped,
        "countersign.1.".to_owned(),
        "countersign.1.a.b".to_owned(),
    ] {
        proxy.say(&returning(2, &json!(forged), "accept"));
        assert_eq!(proxy.answer(&json!(2))["error"]["code"], -32602, "{forged}");
    }
    // Of this process, but for another call.
    let mut other = returning(3, &json!(state), "accept");
    other["params"]["arguments"] = json!({ "path": "/srv/other" });
    proxy.say(&other);
    assert_eq!(proxy.answer(&json!(3))["error"]["code"], -32602);
    // Of another process.
    let mut second = Proxy::start(&gateway.home());
    second.say(&returning(4, &json!(state), "accept"));
    assert_eq!(second.answer(&json!(4))["error"]["code"], -32602);
    assert!(proxy.calls().is_empty() && second.calls().is_empty());
    // The true one still counts.
    proxy.say(&returning(5, &json!(state), "cancel"));
    assert_eq!(
        proxy.answer(&json!(5))["result"]["content"][0]["text"],
        "ran wipe"
    );
}

#[test]
fn a_client_that_cannot_open_links_is_shown_none() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&stateless(1, false));
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "once");
    assert_eq!(proxy.next()["result"]["content"][0]["text"], "ran wipe");
}

#[test]
fn a_state_of_the_server_is_part_of_the_call() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    let mut message = stateless(1, false);
    message["params"]["requestState"] = json!("the server's own");
    message["params"]["inputResponses"] =
        json!({ "to": { "action": "accept", "content": { "to": "bob" } } });
    proxy.say(&message);
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "once");
    proxy.answer(&json!(1));
    assert_eq!(
        proxy.calls()[0]["params"]["requestState"],
        "the server's own"
    );
}
