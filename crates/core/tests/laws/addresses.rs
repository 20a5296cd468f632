//! Every spelling of an address is the address: what is asked of this machine is judged the same however it
//! is written.

use std::collections::BTreeMap;

use countersign_core::call::ToolCall;
use countersign_core::verdict::Verdict;
use serde_json::json;

use super::{Dice, cases, judge, judge_command, no_failures, progress};

/// Commands with a place for a host.
const COMMANDS: &[&str] = &[
    "curl http://HOST:8750/",
    "curl -s http://HOST:8750/v1/approvals",
    "curl http://HOST:8750/health",
    "curl -X POST http://HOST:8750/v1/approvals/appr_1/resolve -d '{\"choice\":\"once\"}'",
    "curl http://HOST:4321/v1/keys",
    "curl http://HOST:$PORT/v1/grants",
    "curl -X PUT http://HOST:9000/v1/config -d @c.json",
    "curl http://HOST:3000/api/users",
    "curl -X POST http://HOST:3000/api/users -d '{}'",
    "curl -X DELETE http://HOST:3000/api/users/1",
    "curl http://user@HOST:8750/v1/people",
    "wget -qO- http://HOST:8750/v1/traces",
    "http POST http://HOST:8750/v1/sessions/s/yolo minutes=5",
    "curl --connect-to x.example:80:HOST:8750 http://x.example/v1/keys",
    "python3 -c 'import urllib.request; urllib.request.urlopen(\"http://HOST:8750/v1/keys\")'",
    "node -e 'fetch(\"http://HOST:8750/v1/keys\")'",
];

/// Tools that take an address.
const TOOLS: &[&str] = &[
    "web_fetch",
    "browser_navigate",
    "WebFetch",
    "mcp__net__fetch",
];

/// Returns a spelling of 127.0.0.1 that programs take for it.
fn spelling(dice: &mut Dice) -> String {
    const NAMES: &[&str] = &[
        "localhost",
        "LocalHost",
        "localhost.",
        "app.localhost",
        "a.b.localhost.",
        "ip6-localhost",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]",
        "[::ffff:127.0.0.1]",
        "[::FFFF:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::]",
        "0",
        "0.0.0.0",
        "0x0",
        "%6cocalhost",
        "１２７.0.0.1",
        "127。0。0。1",
        "ｌｏｃａｌｈｏｓｔ",
    ];
    if dice.roll().is_multiple_of(2) {
        return (*dice.pick(NAMES)).to_owned();
    }
    // One to four numbers, the last one filling what is left, each in one of three bases.
    let parts: &[u64] = match dice.roll() % 4 {
        0 => &[0x7f00_0001],
        1 => &[127, 1],
        2 => &[127, 0, 1],
        _ => &[127, 0, 0, 1],
    };
    let written = parts.iter().map(|part| {
        let zeros = usize::try_from(dice.roll() % 3).unwrap_or(0);
        let zeros = "0".repeat(zeros);
        match dice.roll() % 4 {
            0 => format!("0{zeros}{part:o}"),
            1 => format!("0x{zeros}{part:x}"),
            2 => format!("0X{zeros}{part:X}"),
            _ => part.to_string(),
        }
    });
    let written: Vec<String> = written.collect();
    let dot = if dice.roll().is_multiple_of(5) {
        "."
    } else {
        ""
    };
    format!("{}{dot}", written.join("."))
}

#[test]
fn every_spelling_of_this_machine_gets_the_verdict_of_127_0_0_1() {
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut dice = Dice(0x5eed_0127);
    for case in 0..cases(2_000) {
        progress("addresses", case);
        let host = spelling(&mut dice);
        let (plain, spelled, shown) = if dice.roll().is_multiple_of(3) {
            let tool = dice.pick(TOOLS);
            let path = dice.pick(&["8750/", "8750/v1/keys", "3000/api", "77/v1/approvals"]);
            let call = |host: &str| {
                judge(&ToolCall {
                    tool: (*tool).to_owned(),
                    args: json!({ "url": format!("http://{host}:{path}") }),
                    ..ToolCall::default()
                })
            };
            (
                call("127.0.0.1"),
                call(&host),
                format!("{tool} {host}:{path}"),
            )
        } else {
            let command = dice.pick(COMMANDS);
            let spelled = command.replace("HOST", &host);
            (
                judge_command(&command.replace("HOST", "127.0.0.1")),
                judge_command(&spelled),
                spelled,
            )
        };
        // A strange spelling may make a command harder to read, and so asked about; never easier.
        let same = plain.1 == spelled.1 && plain.0.marks.guard == spelled.0.marks.guard;
        if !same && (plain.1 != Verdict::Allow || host.is_ascii()) {
            failures.entry(host).or_default().push(shown);
        }
    }
    no_failures("addresses", &failures);
}
