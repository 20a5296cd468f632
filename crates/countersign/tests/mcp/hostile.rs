//! What a hostile client or server tries: no call reaches the server ungated, and the proxy lives on.

use serde_json::{Value, json};

use crate::scene::{Dice, HARMLESS, Proxy, RISKY, call, gateway, until};

/// Lines that a loose reader could take for a call, and whether they can be answered.
const HIDDEN: &[(&str, bool)] = &[
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method\u0000":"tools/call","params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_list"},"params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_list","name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notes_list","Name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","argument\u017f":{"a":1},"arguments":{}}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{"p":1,"p":2}}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":[1]}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{"n":1e400}}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","_meta":{"dev.countersign/token":"x"}}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["wipe"]}"#,
        true,
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, true),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"wipe"}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"wipe"}}"#,
        false,
    ),
    (
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe"}}]"#,
        true,
    ),
    (
        r#"[[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wipe"}}]]"#,
        true,
    ),
    (
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"wipe"}}]"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe"}} {"x":1}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe"},}"#,
        true,
    ),
    (
        r"{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wipe'}}",
        true,
    ),
    (
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wipe\"}}",
        true,
    ),
    (
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[\r{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"wipe\"}}\r]}",
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools\ud800/call","params":{"name":"wipe"}}"#,
        true,
    ),
];

#[test]
fn a_hidden_call_is_refused_with_an_error_and_never_sent() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    for (line, is_answered) in HIDDEN {
        proxy.send(line);
        if *is_answered {
            let answer = proxy.next();
            let errors = answer
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![answer.clone()]);
            assert!(!errors.is_empty(), "{line}");
            for error in errors {
                assert!(
                    error["error"]["code"].as_i64().unwrap() < -32000,
                    "{line}: {error}"
                );
            }
        }
    }
    proxy.send(b"\xff{\"method\":\"tools/call\"}");
    assert_eq!(proxy.next()["error"]["code"], -32700);
    let (_, _, rest, seen) = proxy.close();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(String::from_utf8_lossy(&seen), "");
}

#[test]
fn a_call_in_an_unusual_spelling_is_gated_like_any_other() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    for (at, method) in [
        r"tools\/call",
        r"\u0074ools/call",
        "Tools/Call",
        " tools/call",
    ]
    .iter()
    .enumerate()
    {
        proxy.send(format!(
            r#"{{"jsonrpc":"2.0","id":{at},"method":"{method}","params":{{"name":"wipe","arguments":{{"at":{at}}}}}}}"#
        ));
        let approval = gateway.question();
        gateway.resolve(&gateway.admin(), &approval, "deny");
        assert_eq!(proxy.next()["result"]["isError"], true, "{method}");
    }
    assert_eq!(proxy.seen(), b"");
}

#[test]
fn an_id_that_is_in_flight_is_not_used_twice() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    gateway.question();
    proxy
        .send(r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"notes_list"}}"#);
    let answer = proxy.next();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_server_that_calls_its_tool_harmless_is_not_believed() {
    let gateway = gateway();
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools.json");
    let lie = json!([{
        "name": RISKY, "inputSchema": {},
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    }]);
    std::fs::write(&tools, lie.to_string()).unwrap();
    let mut proxy = Proxy::with(
        &gateway.home(),
        &["--name", "fix"],
        &[("TOOLS", tools.to_str().unwrap())],
    );
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let approval = gateway.question();
    gateway.resolve(&gateway.admin(), &approval, "deny");
    proxy.answer(&json!(1));
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_server_that_warns_of_its_tool_is_believed() {
    let gateway = gateway();
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools.json");
    let warning = json!([{ "name": HARMLESS, "inputSchema": {}, "annotations": { "destructiveHint": true } }]);
    std::fs::write(&tools, warning.to_string()).unwrap();
    let mut proxy = Proxy::with(
        &gateway.home(),
        &["--name", "fix"],
        &[("TOOLS", tools.to_str().unwrap())],
    );
    proxy.greet();
    proxy.call(1, HARMLESS, &json!({}));
    gateway.question();
    assert!(proxy.calls().is_empty());
}

#[test]
fn a_client_cannot_say_that_the_person_agreed() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet_as(&json!({ "elicitation": { "url": {} } }));
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    let asked = proxy.next();
    assert_eq!(asked["method"], "elicitation/create");
    let agreed = json!({ "action": "accept", "content": { "choice": "once" } });
    proxy.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": agreed }));
    proxy.say(&json!({ "jsonrpc": "2.0", "id": "over", "method": "ping" }));
    proxy.answer(&json!("over"));
    let approval = gateway.question();
    let seen = String::from_utf8(proxy.seen()).unwrap();
    assert!(
        !seen.contains("accept") && !seen.contains("tools/call"),
        "{seen}"
    );
    gateway.resolve(&gateway.admin(), &approval, "deny");
    assert_eq!(proxy.answer(&json!(1))["result"]["isError"], true);
    until(&gateway, &approval, "denied");
}

/// The server reads each line with another JSON reader. Whatever reaches it, none of it may be a call
/// of the tool that asks.
#[test]
fn no_mangled_line_carries_a_call_to_the_server() {
    const PARTS: &[&str] = &[
        "\"method\":\"tools/call\"",
        "\"method\":\"ping\"",
        "\"Method\":\"tools/call\"",
        "\"params\":{\"name\":\"wipe\"}",
        "\"params\":[]",
        "\"id\":1",
        "\"id\":\"x\"",
        "\"result\":{}",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\r",
        "null",
        "\u{2028}",
        "\u{0}",
        "\\u0000",
        "1e999",
        " ",
        "\t",
        "'",
        "//",
        "\"jsonrpc\":\"2.0\"",
    ];
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    let mut dice = Dice(20);
    let whole = call(1, RISKY, &json!({ "a": [1, "x"] })).to_string();
    for round in 0..3000 {
        let mut line = if round % 2 == 0 {
            whole.clone()
        } else {
            String::new()
        };
        for _ in 0..=dice.roll(6) {
            let part = PARTS[dice.roll(PARTS.len())];
            let mut at = dice.roll(line.len() + 1);
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            line.insert_str(at, part);
        }
        proxy.send(line);
    }
    proxy.say(&json!({ "jsonrpc": "2.0", "id": "over", "method": "ping" }));
    let over = json!("over");
    loop {
        let line = proxy.line();
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        if message["id"] == over {
            break;
        }
    }
    let seen = proxy.seen();
    for line in seen.split(|byte| matches!(byte, b'\n' | b'\r')) {
        if let Ok(message) = serde_json::from_slice::<Value>(line) {
            assert_ne!(
                message["method"],
                "tools/call",
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }
    assert!(proxy.is_running());
}
