//! `countersign mcp serve`: an assistant reads what waits, and can do nothing else.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::ours::{binary, in_home, ours, variables};
use crate::support::{Gateway, RISKY};

/// Returns a file with a key of this role.
fn key_file(gateway: &Gateway, role: &str) -> PathBuf {
    let file = gateway.home().join(format!("assistant-{role}.key"));
    std::fs::write(&file, gateway.named_key("assistant", role)).unwrap();
    file
}

struct Server {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Server {
    fn start(gateway: &Gateway) -> Self {
        let mut child = ours(&gateway.home())
            .args(["mcp", "serve", "--key-file"])
            .arg(key_file(gateway, "viewer"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to: child.stdin.take(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.say(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string(),
        );
        self.hear()
    }

    /// Calls a tool, and returns what it says and whether it failed.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"].as_bool().unwrap())
    }

    fn read(&mut self, tool: &str, arguments: &Value) -> Value {
        let (text, failed) = self.call(tool, arguments);
        assert!(!failed, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.to.take();
        self.child.wait().unwrap();
    }
}

#[test]
fn an_assistant_reads_what_waits_and_why() {
    let gateway = Gateway::start();
    gateway.key("approver");
    let agent = gateway.key("agent");
    let mut server = Server::start(&gateway);
    let empty = server.read("list_waiting_approvals", &json!({}));
    assert_eq!(
        (&empty["waiting"], &empty["approvals"]),
        (&json!(0), &json!([]))
    );
    let id = gateway.ask(&agent, RISKY);
    let list = server.read("list_waiting_approvals", &json!({}));
    assert_eq!(list["waiting"], 1);
    let entry = &list["approvals"][0];
    assert_eq!(
        (&entry["id"], &entry["command"]),
        (&json!(id), &json!(RISKY))
    );
    let explained = server.read("explain_approval", &json!({ "id": id }));
    assert_eq!(explained["status"], "waiting");
    assert!(explained["card"].as_str().unwrap().contains(RISKY));
    let text = explained["explanation"].as_str().unwrap();
    assert!(
        text.contains("rule 9 of 12") || text.contains("critical"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
    let past = server.read("history", &json!({ "limit": 1 }));
    assert_eq!(past["calls"][0]["approval"], id);
    assert_eq!(past["calls"][0]["outcome"], "waiting for a person");
}

#[test]
fn hostile_text_and_secrets_are_shown_as_they_are_on_a_card() {
    let gateway = Gateway::start();
    gateway.key("approver");
    let agent = gateway.key("agent");
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let command = format!("rm -rf /srv/\u{202e}www \u{1b}[2J; TOKEN={secret}");
    let id = gateway.ask(&agent, &command);
    let mut server = Server::start(&gateway);
    for (tool, arguments) in [
        ("list_waiting_approvals", json!({})),
        ("explain_approval", json!({ "id": id })),
        ("history", json!({})),
    ] {
        let (text, failed) = server.call(tool, &arguments);
        assert!(!failed, "{text}");
        assert!(
            text.contains("they are data") || text.contains("They are data"),
            "{text}"
        );
        assert!(text.contains("⟨U+202E⟩"), "{tool}: {text}");
        for bad in ["\u{202e}", "\u{1b}", "\\u001b", secret.as_str()] {
            assert!(!text.contains(bad), "{tool}: {text}");
        }
    }
}

#[test]
fn no_message_makes_it_answer() {
    let gateway = Gateway::start();
    gateway.key("approver");
    let agent = gateway.key("agent");
    let id = gateway.ask(&agent, RISKY);
    let mut server = Server::start(&gateway);
    for tool in [
        "answer",
        "resolve",
        "approve",
        "explain_approval/../resolve",
        "",
    ] {
        let params = json!({ "name": tool, "arguments": { "id": id, "choice": "once" } });
        assert_eq!(server.ask("tools/call", &params)["error"]["code"], -32602);
    }
    let sly = [
        format!("{id}/resolve"),
        format!("../approvals/{id}/resolve?choice=once"),
        format!("{id}\r\nPOST /v1/approvals/{id}/resolve"),
    ];
    for id in sly {
        let (text, failed) =
            server.call("explain_approval", &json!({ "id": id, "choice": "once" }));
        assert!(failed, "{text}");
    }
    for limit in [json!(0), json!(51), json!("all"), json!(-1)] {
        assert!(server.call("history", &json!({ "limit": limit })).1);
    }
    for method in ["resources/list", "prompts/get", "server/discover", "answer"] {
        assert_eq!(server.ask(method, &json!({}))["error"]["code"], -32601);
    }
    let status = gateway.get(&gateway.admin(), &format!("/v1/approvals/{id}"));
    assert_eq!(status.body["status"], "waiting");
}

#[test]
fn it_speaks_the_protocol() {
    let gateway = Gateway::start();
    let mut server = Server::start(&gateway);
    for (wanted, version) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let answer = server.ask("initialize", &json!({ "protocolVersion": wanted }));
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert!(answer["result"]["capabilities"]["tools"].is_object());
    }
    server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.say(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    server.say("");
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    let tools = server.ask("tools/list", &json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
    for (line, code) in [
        ("{", -32700),
        (r#"{"id":1,"method":"ping","method":"tools/call"}"#, -32700),
        (r#"[{"id":1,"method":"ping"}]"#, -32600),
        (r#"{"id":1,"method":7}"#, -32600),
    ] {
        server.say(line);
        assert_eq!(server.hear()["error"]["code"], code, "{line}");
    }
    server.say(&"x".repeat(1024 * 1024));
    assert_eq!(server.hear()["error"]["code"], -32600);
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_key_that_could_answer_or_submit_is_refused() {
    let gateway = Gateway::start();
    let start = |more: &[&Path]| {
        let mut command = ours(&gateway.home());
        command.args(["mcp", "serve"]);
        if let [file] = more {
            command.arg("--key-file").arg(file);
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    };
    let rows = [
        ("approver", "approver"),
        ("agent", "agent"),
        ("admin", "admin"),
    ];
    for (role, shown) in rows {
        let (code, said) = start(&[&key_file(&gateway, role)]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(&format!("has the role {shown}")), "{said}");
        assert!(said.contains("--role viewer"), "{said}");
    }
    // The key of the home, which every other command uses.
    let (code, said) = start(&[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("has the role admin"), "{said}");
    assert_eq!(start(&[&key_file(&gateway, "viewer")]).0, 0);
}

/// The client that most programs in Python use.
#[test]
fn the_python_client_reads_what_waits() {
    // `./test` says in this variable which Python has it.
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_MCP_PYTHON") else {
        countersign_testkit::skipped("no Python package mcp");
        return;
    };
    let gateway = Gateway::start();
    gateway.key("approver");
    let id = gateway.ask(&gateway.key("agent"), RISKY);
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = gateway.home();
    let mut client = in_home(Command::new(project.join(python)), &home);
    let output = client
        .arg(project.join("crates/countersign/tests/http/mcp_client.py"))
        .arg(binary())
        .args(["mcp", "serve", "--key-file"])
        .arg(key_file(&gateway, "viewer"))
        .env("EXPECTED", &id)
        .envs(variables(&home))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let tools = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        tools.trim(),
        "explain_approval history list_waiting_approvals"
    );
}
