//! `countersign acp`: an agent whose every line the test writes, an editor that the test plays, and the
//! real gateway between them.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hooks::give_key;
use crate::ours::ours;
use crate::support::{Gateway, PATIENCE, RISKY, signal};

/// Passes on what the test writes into one pipe, and writes what it reads into another.
const AGENT: &str = "cat <\"$0\" & exec cat >\"$1\"";

/// An editor and an agent with `countersign acp` between them.
struct Scene {
    gateway: Gateway,
    relay: Child,
    editor: Option<ChildStdin>,
    to_editor: Receiver<String>,
    agent: Option<File>,
    to_agent: Receiver<String>,
    _pipes: TempDir,
}

/// Returns the lines of `from` as they come.
fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (found, lines) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).unwrap() > 0 {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if found.send(text).is_err() {
                return;
            }
        }
    });
    lines
}

impl Scene {
    fn new() -> Self {
        let gateway = Gateway::start();
        gateway.key("approver");
        give_key(&gateway, "acp");
        Self::before(gateway)
    }

    fn before(gateway: Gateway) -> Self {
        let pipes = tempfile::tempdir().unwrap();
        let path = |name: &str| pipes.path().join(name);
        for name in ["out", "in"] {
            let made = Command::new("mkfifo").arg(path(name)).status().unwrap();
            assert!(made.success());
        }
        let home = gateway.home();
        let mut relay = ours(&home)
            .arg("--home")
            .arg(&home)
            .args(["acp", "--", "/bin/sh", "-c", AGENT])
            .args([path("out"), path("in")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let agent = OpenOptions::new().write(true).open(path("out")).unwrap();
        Self {
            gateway,
            editor: relay.stdin.take(),
            to_editor: lines(relay.stdout.take().unwrap()),
            agent: Some(agent),
            to_agent: lines(File::open(path("in")).unwrap()),
            relay,
            _pipes: pipes,
        }
    }

    fn agent_says(&mut self, line: &str) {
        let agent = self.agent.as_mut().unwrap();
        agent.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn editor_says(&mut self, line: &str) {
        let editor = self.editor.as_mut().unwrap();
        editor.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn agent_reads(&self) -> Value {
        let line = self.to_agent.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Lets a line pass each way, so that whatever was said before has passed, too.
    fn settle(&mut self) {
        self.agent_says("\"agent\"");
        assert_eq!(
            self.to_editor.recv_timeout(PATIENCE).unwrap(),
            "\"agent\"\n"
        );
        self.editor_says("\"editor\"");
        assert_eq!(
            self.to_agent.recv_timeout(PATIENCE).unwrap(),
            "\"editor\"\n"
        );
    }

    /// Ends the agent, and returns the exit code of the relay.
    fn end(mut self) -> i32 {
        self.agent.take();
        self.relay.wait().unwrap().code().unwrap()
    }

    fn card(&self, id: &str) -> Value {
        let path = format!("/v1/approvals/{id}");
        self.gateway.get(&self.gateway.admin(), &path).body
    }

    fn is_withdrawn(&self, id: &str) {
        let mut events = self
            .gateway
            .events(&self.gateway.admin(), "/v1/events", Some(0));
        let (_, event) = events.named("approval.resolved");
        assert_eq!(event["approval_id"], id);
        assert_eq!(event["outcome"], "withdrawn");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.relay.kill();
        let _waited = self.relay.wait();
    }
}

fn options() -> Value {
    json!([
        { "optionId": "o-always", "name": "Always", "kind": "allow_always" },
        { "optionId": "o-once", "name": "Once", "kind": "allow_once" },
        { "optionId": "o-no", "name": "No", "kind": "reject_once" },
    ])
}

fn question(id: &Value, call: &Value) -> String {
    let params = json!({ "sessionId": "s1", "toolCall": call, "options": options() });
    let method = "session/request_permission";
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn shell(command: &str) -> Value {
    json!({ "toolCallId": "c1", "title": "bash", "kind": "execute", "rawInput": { "command": command } })
}

/// A call as the agent tells of it, beside its question.
fn told(args: &Value) -> String {
    let update = json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "rawInput": args });
    let params = json!({ "sessionId": "s1", "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string()
}

fn selected(option: &str) -> Value {
    json!({ "outcome": "selected", "optionId": option })
}

#[test]
fn every_other_line_passes_to_the_byte_both_ways() {
    let mut scene = Scene::new();
    let odd = [
        r#"{"jsonrpc":"2.0","id":1.50,"method":"initialize","params":{"a":1e400,"ö":"\u00f6\ud800","a":2}}"#,
        r#"  {"method":"session/update","params":{"sessionId":"s1","update":{"rawInput":[1]}}}  "#,
        r#"{"id":"x","method":"fs/read_text_file","params":null,"_meta":{"k":[]}}"#,
        r#"{"id":18446744073709551617,"result":{"n":18446744073709551617}}"#,
        r#"{"id":null,"error":{"code":-1,"message":"","data":{}}}"#,
        "not JSON at all, and an empty line:",
        "",
    ];
    let long = format!(
        "{{\"id\":7,\"result\":\"{}\"}}",
        "x".repeat(4 * 1024 * 1024)
    );
    for line in odd.iter().copied().chain([long.as_str()]) {
        scene.agent_says(line);
        assert_eq!(
            scene.to_editor.recv_timeout(PATIENCE).unwrap(),
            format!("{line}\n")
        );
        scene.editor_says(line);
        assert_eq!(
            scene.to_agent.recv_timeout(PATIENCE).unwrap(),
            format!("{line}\n")
        );
    }
    assert_eq!(scene.end(), 0);
}

#[test]
fn a_harmless_call_is_allowed_once_and_nobody_else_is_asked() {
    let mut scene = Scene::new();
    scene.agent_says(&question(&json!(0), &shell("ls -la")));
    // Some agents tell of a call only when they have asked about it.
    scene.agent_says(&told(&json!({ "command": "ls -la" })));
    scene.to_editor.recv_timeout(PATIENCE).unwrap();
    let answer = scene.agent_reads();
    assert_eq!(answer["id"], 0);
    assert_eq!(answer["result"]["outcome"], selected("o-once"));
    scene.settle();
    let waiting = scene.gateway.get(&scene.gateway.admin(), "/v1/approvals");
    assert_eq!(waiting.body["approvals"], json!([]));
}

#[test]
fn what_a_person_allows_is_allowed_once_and_its_end_is_reported() {
    let mut scene = Scene::new();
    let approver = scene.gateway.named_key("ana", "approver");
    scene.editor_says(r#"{"id":"n","method":"session/new","params":{"cwd":"/home/dev/project"}}"#);
    scene.editor_says(
        r#"{"id":"p","method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"tidy up"}]}}"#,
    );
    scene.to_agent.recv_timeout(PATIENCE).unwrap();
    scene.to_agent.recv_timeout(PATIENCE).unwrap();
    scene.agent_says(r#"{"id":"n","result":{"sessionId":"s1"}}"#);
    scene.agent_says(&told(&json!({ "command": RISKY })));
    scene.agent_says(&question(&json!("q"), &shell(RISKY)));
    let id = scene.gateway.question();
    let card = scene.card(&id);
    assert_eq!(card["tool"], "terminal");
    assert_eq!(card["args"], json!({ "command": RISKY }));
    // Nobody can say that only other arguments are allowed.
    assert_eq!(scene.gateway.resolve(&approver, &id, "once").status, 200);
    let answer = scene.agent_reads();
    assert_eq!(answer["id"], "q");
    assert_eq!(answer["result"], json!({ "outcome": selected("o-once") }));
    let update = json!({ "sessionId": "s1", "update": { "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed" } });
    let line = json!({ "method": "session/update", "params": update });
    scene.agent_says(&line.to_string());
    let traces = |scene: &Scene| {
        let said = scene.gateway.get(&scene.gateway.admin(), "/v1/traces");
        said.body["traces"][0].clone()
    };
    let since = std::time::Instant::now();
    while traces(&scene)["outcome"].is_null() {
        assert!(since.elapsed() < PATIENCE, "{:?}", traces(&scene));
        std::thread::yield_now();
    }
    let trace = traces(&scene);
    assert_eq!(trace["outcome"]["failed"], true, "{trace}");
    // The same question once more is a new one.
    scene.agent_says(&question(&json!("r"), &shell(RISKY)));
    assert_ne!(scene.gateway.question(), id);
}

#[test]
fn what_a_person_denies_is_rejected_with_their_note() {
    let mut scene = Scene::new();
    let approver = scene.gateway.named_key("ana", "approver");
    scene.agent_says(&question(&json!(1), &shell(RISKY)));
    let id = scene.gateway.question();
    let path = format!("/v1/approvals/{id}/resolve");
    let body = json!({ "choice": "deny", "note": "not today" });
    assert_eq!(scene.gateway.post(&approver, &path, &body).status, 200);
    let answer = scene.agent_reads();
    assert_eq!(answer["result"]["outcome"], selected("o-no"));
    let why = answer["result"]["_meta"]["countersign/message"].to_string();
    assert!(why.contains("not today"), "{why}");
}

#[test]
fn a_cancelled_turn_withdraws_its_question_and_is_answered_at_once() {
    let mut scene = Scene::new();
    scene.agent_says(&question(&json!(1), &shell(RISKY)));
    let id = scene.gateway.question();
    scene.editor_says(r#"{"method":"session/cancel","params":{"sessionId":"another"}}"#);
    scene.to_agent.recv_timeout(PATIENCE).unwrap();
    scene.editor_says(r#"{"method":"session/cancel","params":{"sessionId":"s1"}}"#);
    let answer = scene.agent_reads();
    assert_eq!(
        answer["result"]["outcome"],
        json!({ "outcome": "cancelled" })
    );
    assert_eq!(scene.agent_reads()["method"], "session/cancel");
    scene.is_withdrawn(&id);
}

#[test]
fn an_agent_may_take_its_question_back() {
    let mut scene = Scene::new();
    scene.agent_says(&question(&json!("q"), &shell(RISKY)));
    let id = scene.gateway.question();
    scene.agent_says(r#"{"method":"$/cancel_request","params":{"requestId":"q"}}"#);
    let answer = scene.agent_reads();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("q"), &json!(-32800))
    );
    scene.is_withdrawn(&id);
    scene.settle();
}

#[test]
fn an_editor_that_leaves_and_a_signal_withdraw_the_question() {
    let mut scene = Scene::new();
    scene.agent_says(&question(&json!(1), &shell(RISKY)));
    let id = scene.gateway.question();
    scene.editor.take();
    assert_eq!(
        scene.agent_reads()["result"]["outcome"]["outcome"],
        "cancelled"
    );
    scene.is_withdrawn(&id);
    assert_eq!(scene.end(), 0);

    let mut scene = Scene::new();
    scene.agent_says(&question(&json!(1), &shell(RISKY)));
    let id = scene.gateway.question();
    signal(&scene.relay, "TERM");
    scene.is_withdrawn(&id);
    assert_eq!(scene.end(), 128 + 15);
}

#[test]
fn the_editor_cannot_answer_a_question_that_it_was_not_asked() {
    let mut scene = Scene::new();
    let approver = scene.gateway.named_key("ana", "approver");
    scene.agent_says(&question(&json!("q"), &shell(RISKY)));
    let id = scene.gateway.question();
    for spelled in ["\"q\"", "\"\\u0071\""] {
        let outcome = selected("o-once");
        scene.editor_says(&format!(
            "{{\"id\":{spelled},\"result\":{{\"outcome\":{outcome}}}}}"
        ));
    }
    scene.settle();
    assert_eq!(scene.gateway.resolve(&approver, &id, "deny").status, 200);
    assert_eq!(scene.agent_reads()["result"]["outcome"], selected("o-no"));
}

#[test]
fn without_a_gateway_everything_is_rejected() {
    let mut gateway = Gateway::start();
    give_key(&gateway, "acp");
    gateway.stop();
    let mut scene = Scene::before(gateway);
    scene.agent_says(&question(&json!(1), &shell("ls")));
    let answer = scene.agent_reads();
    assert_eq!(answer["result"]["outcome"], selected("o-no"));
    let why = answer["result"]["_meta"]["countersign/message"].to_string();
    assert!(why.contains("no gateway"), "{why}");
}

#[test]
fn a_question_that_cannot_be_read_is_answered_with_an_error_and_not_passed_on() {
    let mut scene = Scene::new();
    let call = shell("ls");
    let twice =
        question(&json!(1), &call).replace("\"rawInput\":", "\"rawInput\":{},\"rawInput\":");
    scene.agent_says(&twice);
    assert_eq!(scene.agent_reads()["error"]["code"], -32602);
    scene.agent_says(
        r#"{"id":2,"method":"session/request_permission","params":{"sessionId":"s1"}}"#,
    );
    assert_eq!(scene.agent_reads()["error"]["code"], -32602);
    // A message that other readers might take for such a question.
    let spelled = question(&json!(3), &call).replace("\"method\"", "\"method\":\"x\",\"method\"");
    scene.agent_says(&spelled);
    scene.agent_says(&format!("[{}]", question(&json!(4), &call)));
    let noted = question(&json!(5), &call).replace("\"id\":5,", "");
    scene.agent_says(&noted);
    scene.settle();
}

#[test]
fn an_agent_without_one_way_to_allow_once_is_rejected() {
    let mut scene = Scene::new();
    let rows = [
        json!([{ "optionId": "a", "name": "Always", "kind": "allow_always" }, { "optionId": "n", "name": "No", "kind": "reject_once" }]),
        json!([{ "optionId": "a", "name": "A", "kind": "allow_once" }, { "optionId": "b", "name": "B", "kind": "allow_once" }]),
        json!([{ "optionId": "a", "name": "A", "kind": "allow_once" }, { "optionId": "a", "name": "No", "kind": "reject_once" }]),
    ];
    let expected = [
        selected("n"),
        json!({ "outcome": "cancelled" }),
        json!({ "outcome": "cancelled" }),
    ];
    for (options, expected) in rows.into_iter().zip(expected) {
        let params = json!({ "sessionId": "s1", "toolCall": shell("ls"), "options": options });
        let line = json!({ "id": 1, "method": "session/request_permission", "params": params });
        scene.agent_says(&line.to_string());
        assert_eq!(scene.agent_reads()["result"]["outcome"], expected);
    }
}

#[test]
fn a_call_that_shows_only_a_title_is_a_question_with_the_title_as_a_claim() {
    let mut scene = Scene::new();
    let call = json!({ "toolCallId": "c1", "title": "ls", "kind": "read", "status": "pending", "content": [], "locations": [] });
    scene.agent_says(&question(&json!(1), &call));
    let card = scene.card(&scene.gateway.question());
    assert_eq!(card["tool"], "unknown tool");
    assert_eq!(card["card"]["explanation"], "ls");
    assert_eq!(card["args"]["call"], "c1");
}

#[test]
fn a_command_is_judged_where_it_runs_and_asked_about_where_nobody_knows() {
    let mut scene = Scene::new();
    scene.editor_says(r#"{"id":1,"method":"session/new","params":{"cwd":"/home/dev/project"}}"#);
    scene.to_agent.recv_timeout(PATIENCE).unwrap();
    scene.agent_says(r#"{"id":1,"result":{"sessionId":"s1"}}"#);
    let command = "mkdir -p build && echo ok > build/stamp";
    scene.agent_says(&told(&json!({ "command": command })));
    scene.agent_says(&question(&json!(2), &shell(command)));
    assert_eq!(scene.agent_reads()["result"]["outcome"], selected("o-once"));

    let elsewhere = json!({ "command": command, "workdir": "/etc" });
    scene.agent_says(&told(&elsewhere));
    scene.agent_says(&question(&json!(3), &shell(command)));
    let id = scene.gateway.question();
    assert_eq!(scene.card(&id)["args"], elsewhere);
    scene.agent_says(r#"{"method":"$/cancel_request","params":{"requestId":3}}"#);
    scene.agent_reads();
    scene.is_withdrawn(&id);

    // What was told is another command's.
    scene.agent_says(&question(&json!(4), &shell("ls")));
    let card = scene.card(&scene.gateway.question());
    assert_eq!(card["tool"], "unknown tool");
    assert_eq!(card["args"]["told_earlier"], elsewhere);
}

#[test]
fn the_second_version_of_the_protocol_is_read_as_it_is_described() {
    let mut scene = Scene::new();
    let ask = |subject: Value| {
        let params = json!({ "sessionId": "s1", "title": "Run it", "description": "because", "subject": subject, "options": options() });
        json!({ "id": 1, "method": "session/request_permission", "params": params }).to_string()
    };
    scene.agent_says(&ask(
        json!({ "type": "command", "command": "ls", "cwd": "/srv" }),
    ));
    assert_eq!(scene.agent_reads()["result"]["outcome"], selected("o-once"));
    scene.agent_says(&told(&json!({ "command": "ls" })));
    scene.agent_says(&ask(
        json!({ "type": "tool_call", "toolCall": shell("ls") }),
    ));
    assert_eq!(scene.agent_reads()["result"]["outcome"], selected("o-once"));
    scene.agent_says(&ask(
        json!({ "type": "_other", "command": "ls", "toolCall": { "toolCallId": "c9" } }),
    ));
    let card = scene.card(&scene.gateway.question());
    assert_eq!(card["tool"], "unknown tool");
    assert_eq!(card["card"]["explanation"], "Run it\nbecause");
}

#[test]
fn without_a_key_it_does_not_start_and_says_how_to_make_one() {
    let gateway = Gateway::start();
    let output = ours(&gateway.home())
        .args(["acp", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("countersign init acp"), "{said}");
}

#[test]
fn an_id_that_is_taken_back_and_used_again_has_no_answer_from_the_first_question() {
    let mut scene = Scene::new();
    // It waits a moment for its directory; meanwhile the agent asks something else under its id.
    scene.agent_says(&question(&json!(1), &shell("ls")));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 1 } });
    scene.agent_says(&cancel.to_string());
    assert_eq!(scene.agent_reads()["error"]["code"], -32800);
    let second = json!({ "toolCallId": "c2", "kind": "execute",
        "rawInput": { "command": RISKY, "cwd": "/srv/www" } });
    scene.agent_says(&told(&json!({ "command": "ls", "cwd": "/tmp" })));
    scene.agent_says(&question(&json!(1), &second));
    let approval = scene.gateway.question();
    let said = scene
        .gateway
        .resolve(&scene.gateway.admin(), &approval, "deny");
    assert_eq!(said.status, 200, "{said:?}");
    assert_eq!(
        scene.agent_reads()["result"]["outcome"],
        selected("o-no"),
        "the answer is that of the second question"
    );
}

#[test]
fn a_question_in_a_line_that_editors_trim_or_split_is_not_passed_on() {
    let mut scene = Scene::new();
    let asked = question(&json!(1), &shell("ls"));
    for hidden in [
        format!("\u{feff}{asked}"),
        format!("\u{a0}{asked}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":[\r{asked}\r]}}"),
        asked.replace("\"method\"", "\"Method\""),
        asked.replace("\"method\"", "\"method\\u0000\""),
    ] {
        scene.agent_says(&hidden);
    }
    // The next line that the editor reads is this one.
    scene.settle();
}
