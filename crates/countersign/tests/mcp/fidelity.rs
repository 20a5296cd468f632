//! What is not gated passes byte for byte, in both directions.

use serde_json::{Value, json};

use crate::scene::{Dice, HARMLESS, Proxy, RISKY, gateway};

/// Messages of a client, as odd as JSON allows.
const ODD: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1.50,"method":"ping","unknown":{"a":[1,2,{"b":null}]}}"#,
    r#"{ "method" : "resources/read" , "id":"\u00e9\ud83d\ude00" , "params":{"uri":"x:\/\/y","_meta":{"progressToken":1e2}},"jsonrpc":"2.0" }"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"prompts/get","params":[1,2]}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
    r#"{"jsonrpc":"2.0","id":{"odd":1},"method":7}"#,
    r#"{"jsonrpc":"2.0","id":"r1","result":{"deep":[[[[{"tools/call":1}]]]]}}"#,
    r#"{"jsonrpc":"2.0","id":"r2","error":{"code":-1,"message":"m","data":{"x":0.1e-7}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{"z":1,"a":2}}"#,
    r#"[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"x","params":{"text":"{\"method\":\"tools/call\"}"}}"#,
    "plain words",
    "",
    "42",
];

#[test]
fn what_a_client_sends_reaches_the_server_byte_for_byte() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    for line in ODD {
        proxy.send(line);
    }
    proxy.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/crlf\"}\r");
    let (status, _, _, seen) = proxy.close();
    assert!(status.success());
    let expected = format!(
        "{}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/crlf\"}}\r\n",
        ODD.join("\n")
    );
    assert_eq!(String::from_utf8_lossy(&seen), expected);
}

/// Returns a message of odd JSON that is no call.
fn odd(dice: &mut Dice, depth: usize) -> String {
    const LEAVES: &[&str] = &[
        "1.50",
        "-0.0",
        "1E+2",
        "18446744073709551616",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"é😀\u{2028}\"",
        "null",
        "true",
        "\"\"",
        "{}",
        "[ ]",
    ];
    match dice.roll(if depth > 4 { 1 } else { 3 }) {
        0 => LEAVES[dice.roll(LEAVES.len())].to_owned(),
        1 => {
            let items: Vec<String> = (0..dice.roll(4)).map(|_| odd(dice, depth + 1)).collect();
            format!("[{}]", items.join([",", " ,", ",\t"][dice.roll(3)]))
        }
        _ => {
            let fields: Vec<String> = (0..dice.roll(5))
                .map(|at| format!("\"k{}\" :{}", at % 3, odd(dice, depth + 1)))
                .collect();
            format!("{{ {}}}", fields.join(", "))
        }
    }
}

#[test]
fn generated_messages_reach_the_server_byte_for_byte() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    let mut dice = Dice(3);
    let mut sent = String::new();
    for _ in 0..1000 {
        let line = format!(
            "{{\"id\":{},\"method\":\"notifications/x\",\"params\":{}}}",
            odd(&mut dice, 3),
            odd(&mut dice, 0)
        );
        proxy.send(&line);
        sent.push_str(&line);
        sent.push('\n');
    }
    let (_, _, _, seen) = proxy.close();
    assert!(
        String::from_utf8(seen).unwrap() == sent,
        "a message was changed"
    );
}

#[test]
fn what_a_server_sends_reaches_the_client_byte_for_byte() {
    let gateway = gateway();
    let replies = [
        r#"{ "id":1.50,"result":{"n":1.0,"big":12345678901234567890123,"e":"\u00e9"},"extra":[ ] ,"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"x":{"y":1e400}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?","data":[{}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"notifications/message","method":"x"}"#,
        r#"[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","method":"n"}]"#,
        "a log line, no JSON",
        "\u{fffd} \u{2028} \\ud800",
    ];
    let given: serde_json::Map<String, Value> = replies
        .iter()
        .enumerate()
        .map(|(at, reply)| (format!("m{at}"), json!(reply)))
        .collect();
    let given = Value::Object(given).to_string();
    let mut proxy = Proxy::with(&gateway.home(), &[], &[("REPLIES", &given)]);
    for (at, reply) in replies.iter().enumerate() {
        proxy.say(&json!({ "jsonrpc": "2.0", "id": at, "method": format!("m{at}") }));
        assert_eq!(proxy.line(), format!("{reply}\n").into_bytes());
    }
}

#[test]
fn an_allowed_call_keeps_its_bytes_and_its_place_in_the_order() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    let sent: Vec<String> = (0..40)
        .map(|at| {
            format!(
                r#"{{ "jsonrpc":"2.0", "params":{{"_meta":{{"vendor/x":1.0}}, "arguments":{{"at": {at}.0}},"name":"{HARMLESS}"}},"method":"tools\/call","id":{at}.50}}"#
            )
        })
        .collect();
    for line in &sent {
        proxy.send(line);
    }
    for at in 0..40 {
        let answer = proxy.answer(&json!(f64::from(at) + 0.5));
        assert!(answer["result"].get("isError").is_none(), "{answer}");
    }
    let seen = String::from_utf8(proxy.seen()).unwrap();
    let calls: Vec<&str> = seen
        .lines()
        .filter(|line| line.contains("arguments"))
        .collect();
    assert_eq!(calls, sent);
}

#[test]
fn without_a_key_it_says_at_once_that_no_call_will_run() {
    let gateway = gateway();
    std::fs::remove_file(gateway.home().join("hooks/mcp.key")).unwrap();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let (status, said, lines, _) = proxy.close();
    assert!(status.success());
    assert_eq!(lines.len(), 1, "everything else passes");
    assert!(
        said.contains("hooks/mcp.key, so no tool call will run"),
        "{said}"
    );
    assert!(said.contains("hint: `countersign keys create"), "{said}");
}

#[test]
fn the_exit_code_and_the_errors_of_the_server_are_the_proxys() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&json!({ "jsonrpc": "2.0", "method": "exit", "params": { "code": 7 } }));
    let (status, said, _, _) = proxy.close();
    assert_eq!((status.code(), said.as_str()), (Some(7), "last words\n"));
}

#[test]
fn a_message_of_ten_megabytes_passes_in_both_directions() {
    const BYTES: usize = 10 * 1024 * 1024;
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "big", "params": { "bytes": BYTES } }));
    assert!(proxy.line().len() > BYTES);
    let long = "y".repeat(BYTES);
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "echo", "params": long }));
    assert!(proxy.line().len() > BYTES);
    // A call of that size is more than people could read: it is answered, and not sent.
    proxy.call(3, HARMLESS, &json!({ "text": long }));
    let answer = proxy.answer(&json!(3));
    assert_eq!(answer["result"]["isError"], true);
    assert!(proxy.calls().is_empty());
    assert!(proxy.is_running());
}

#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    for id in 0..200 {
        proxy.call(id, HARMLESS, &json!({ "page": id }));
    }
    let mut answered: Vec<u64> = (0..200)
        .map(|_| {
            let answer = proxy.next();
            assert_eq!(
                answer["result"]["content"][0]["text"], "ran notes_list",
                "{answer}"
            );
            answer["id"].as_u64().unwrap()
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..200).collect::<Vec<_>>());
}

#[test]
fn a_call_that_waits_does_not_hold_up_the_rest() {
    let gateway = gateway();
    let mut proxy = Proxy::start(&gateway.home());
    proxy.greet();
    proxy.call(1, RISKY, &json!({ "path": "/srv/www" }));
    gateway.question();
    proxy.call(2, HARMLESS, &json!({}));
    assert_eq!(proxy.next()["id"], 2);
    proxy.say(&json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }));
    assert_eq!(proxy.next()["id"], 3);
}
