//! MCP over HTTP: what passes, what is held, and what never reaches a server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::digest::Digest;
use reqwest::blocking::{RequestBuilder, Response};
use serde_json::{Value, json};

use crate::mcp_server::{STREAM, Server};
use crate::support::{Gateway, PATIENCE};

pub(crate) const RULES: &str =
    "approvals:\n  allow: [{ tool: \"mcp__*__read_*\" }]\n  ask: [{ tool: \"mcp__*__send_*\" }]\n";

/// A gateway in front of a server, and a key to ask with.
pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) server: Server,
    pub(crate) key: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// Returns a scene whose server has these settings, too.
    fn with(settings: &str) -> Self {
        let server = Server::start();
        let gateway = Gateway::configured(&format!(
            "mcp: {{ servers: {{ notes: {{ url: \"{}\"{settings} }} }} }}\n{RULES}",
            server.url
        ));
        // Whoever may answer makes asking worth while.
        gateway.named_key("ana", "approver");
        let key = gateway.key("agent");
        Self {
            gateway,
            server,
            key,
        }
    }

    fn request(&self, method: &str) -> RequestBuilder {
        self.gateway
            .request(method, "/mcp/notes")
            .bearer_auth(&self.key)
            .header("accept", "application/json, text/event-stream")
    }

    fn post(&self, body: impl Into<String>) -> RequestBuilder {
        self.request("POST")
            .header("content-type", "application/json")
            .body(body.into())
    }

    fn call(&self, id: i32, tool: &str, arguments: &Value) -> RequestBuilder {
        let params = json!({ "name": tool, "arguments": arguments });
        self.post(message(id, "tools/call", &params).to_string())
    }

    pub(crate) fn answer(&self, choice: &str) {
        let approval = self.gateway.question();
        let said = self
            .gateway
            .resolve(&self.gateway.admin(), &approval, choice);
        assert_eq!(said.status, 200, "{said:?}");
    }

    /// Waits until no question is open.
    fn wait_until_nothing_is_asked(&self) {
        let since = Instant::now();
        loop {
            let path = "/v1/approvals?status=waiting";
            let waiting = self.gateway.get(&self.gateway.admin(), path);
            if waiting.body["approvals"]
                .as_array()
                .is_some_and(Vec::is_empty)
            {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{waiting:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(crate) fn message(id: i32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Returns the messages in an answer, whether it is one or a stream of events.
pub(crate) fn messages(response: Response) -> Vec<Value> {
    let text = response.text().unwrap();
    if let Ok(message) = serde_json::from_str(&text) {
        return vec![message];
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn what_is_not_gated_passes_to_the_byte_in_both_directions() {
    let scene = Scene::new();
    let odd = "{ \"jsonrpc\":\"2.0\", \"id\": 1.50,\"method\":\"stream\", \"params\":{\"z\":1,\"a\":18446744073709551615,\"u\":\"\\u00e9\"},\"x-unknown\":[ ] }\n";
    let response = scene
        .post(odd)
        .header("mcp-session-id", "session-of-the-server")
        .header("traceparent", "00-1-2-01")
        .send()
        .unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.text().unwrap(), STREAM);
    let seen = &scene.server.seen()[0];
    assert_eq!(seen.body, odd.as_bytes());
    assert_eq!(seen.headers["mcp-session-id"], "session-of-the-server");
    assert_eq!(seen.headers["traceparent"], "00-1-2-01");
}

#[test]
fn status_codes_and_headers_of_the_server_pass() {
    let scene = Scene::new();
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(scene.post(notice).send().unwrap().status(), 202);
    let unknown = message(2, "unknown", &json!({}));
    let response = scene.post(unknown.to_string()).send().unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(messages(response)[0]["error"]["code"], -32601);
    assert_eq!(scene.request("GET").send().unwrap().status(), 405);
    let resumed = scene
        .request("GET")
        .header("last-event-id", "7")
        .send()
        .unwrap();
    assert_eq!(resumed.text().unwrap(), STREAM);
    assert_eq!(scene.request("DELETE").send().unwrap().status(), 204);
    let begun = message(3, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    let response = scene.post(begun.to_string()).send().unwrap();
    assert_eq!(
        response.headers()["mcp-session-id"],
        "session-of-the-server"
    );
    let cookie = message(4, "cookie", &json!({}));
    let response = scene.post(cookie.to_string()).send().unwrap();
    assert_eq!(response.headers()["x-of-server"], "kept");
    assert!(!response.headers().contains_key("set-cookie"));
}

#[test]
fn the_key_of_the_client_never_reaches_the_server() {
    let server = Server::start();
    let config = format!(
        "mcp: {{ servers: {{ notes: {{ url: \"{}\", token_env: NOTES_TOKEN }} }} }}\n{RULES}",
        server.url
    );
    let gateway = Gateway::with_variables(&config, &[("NOTES_TOKEN", "of the owner")]);
    let key = gateway.key("agent");
    let scene = Scene {
        gateway,
        server,
        key,
    };
    scene
        .call(1, "read_note", &json!({}))
        .header("cookie", "countersign_session=x")
        .header("x-api-key", &scene.key)
        .send()
        .unwrap();
    scene.request("GET").send().unwrap();
    scene.request("DELETE").send().unwrap();
    let seen = scene.server.seen();
    assert_eq!(seen.len(), 3);
    for seen in seen {
        assert_eq!(seen.headers["authorization"], "Bearer of the owner");
        assert!(!seen.headers.contains_key("cookie"));
        let whole = format!("{:?} {:?}", seen.headers, seen.body);
        assert!(!whole.contains(&scene.key), "{whole}");
    }
}

#[test]
fn only_agents_ask_and_only_from_here() {
    let scene = Scene::new();
    let list = message(1, "tools/list", &json!({})).to_string();
    let post = |key: Option<&str>, path: &str| {
        let request = scene.gateway.request("POST", path).body(list.clone());
        let request = request.header("content-type", "application/json");
        match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    };
    assert_eq!(post(None, "/mcp/notes").send().unwrap().status(), 401);
    for role in ["viewer", "approver", "admin"] {
        let key = scene.gateway.named_key(&format!("other {role}"), role);
        let response = post(Some(&key), "/mcp/notes").send().unwrap();
        assert_eq!(response.status(), 403, "{role}");
    }
    let response = post(Some(&scene.key), "/mcp/nowhere").send().unwrap();
    assert_eq!(response.status(), 404);
    assert!(
        response
            .text()
            .unwrap()
            .contains("there is no MCP server `nowhere`")
    );
    let foreign = post(Some(&scene.key), "/mcp/notes").header("origin", "http://evil.example");
    assert_eq!(foreign.send().unwrap().status(), 403);
    let rebound = post(Some(&scene.key), "/mcp/notes").header("host", "evil.example");
    assert_eq!(rebound.send().unwrap().status(), 421);
    assert!(scene.server.seen().is_empty());
    let own = scene.gateway.url.clone();
    let own = post(Some(&scene.key), "/mcp/notes").header("origin", own);
    assert_eq!(own.send().unwrap().status(), 200);
}

#[test]
fn an_allowed_call_runs_at_once() {
    let scene = Scene::new();
    let response = scene
        .call(1, "read_note", &json!({ "n": 7 }))
        .send()
        .unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(
        messages(response)[0]["result"]["content"][0]["text"]["n"],
        7
    );
    assert_eq!(scene.server.calls().len(), 1);
}

#[test]
fn a_held_call_runs_once_after_the_answer_with_a_token_that_is_used_up() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| {
            let params = json!({ "name": "send_note", "arguments": { "to": "bob" },
                "_meta": { "progressToken": "p" } });
            let sent = message(5, "tools/call", &params).to_string();
            messages(scene.post(sent).send().unwrap())
        });
        scene.gateway.question();
        assert!(scene.server.calls().is_empty());
        scene.answer("once");
        let said = asked.join().unwrap();
        assert_eq!(said[0]["method"], "notifications/progress");
        assert_eq!(said[0]["params"]["progressToken"], "p");
        let last = said.last().unwrap();
        assert_eq!(
            (&last["id"], &last["result"]["content"][0]["text"]["to"]),
            (&json!(5), &json!("bob"))
        );
    });
    let calls = scene.server.calls();
    assert_eq!(calls.len(), 1);
    let token = &calls[0].message()["params"]["_meta"]["dev.countersign/token"];
    let again = scene
        .gateway
        .post(&scene.key, "/v1/tokens/consume", &json!({ "token": token }));
    assert_eq!(again.code(), "token_used");
}

#[test]
fn the_stream_of_a_server_follows_the_one_of_a_held_call() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| {
            scene
                .call(6, "send_stream", &json!({}))
                .send()
                .unwrap()
                .text()
        });
        // Longer than it takes until the client is told that its call waits.
        scene.gateway.question();
        std::thread::sleep(Duration::from_millis(1200));
        scene.answer("once");
        let text = asked.join().unwrap().unwrap();
        assert!(text.starts_with(": waiting\n\n"), "{text}");
        assert!(text.contains(": of the server\n\nid: 3\ndata: "), "{text}");
    });
}

#[test]
fn a_denied_call_never_reaches_the_server() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        let asked =
            threads.spawn(|| messages(scene.call(1, "send_note", &json!({})).send().unwrap()));
        scene.answer("deny");
        let said = asked.join().unwrap();
        assert_eq!(said.last().unwrap()["result"]["isError"], true, "{said:?}");
    });
    assert!(scene.server.calls().is_empty());
}

#[test]
fn a_client_that_goes_away_takes_its_call_back() {
    let scene = Scene::new();
    let address = scene.gateway.url.strip_prefix("http://").unwrap();
    let body = message(
        1,
        "tools/call",
        &json!({ "name": "send_note", "arguments": {} }),
    )
    .to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /mcp/notes HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        scene.key,
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let approval = scene.gateway.question();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(stream);
    scene.wait_until_nothing_is_asked();
    let late = scene
        .gateway
        .resolve(&scene.gateway.admin(), &approval, "once");
    assert_eq!(late.status, 410, "{late:?}");
    assert!(scene.server.calls().is_empty());
}

#[test]
fn a_cancellation_in_the_same_session_takes_a_held_call_back_and_in_another_does_not() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| {
            let call = scene.call(9, "send_note", &json!({}));
            call.header("mcp-session-id", "one").send().unwrap().text()
        });
        scene.gateway.question();
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
        let cancel = |session: &str| {
            let notice = scene
                .post(notice.to_string())
                .header("mcp-session-id", session);
            assert_eq!(notice.send().unwrap().status(), 202);
        };
        cancel("two");
        scene.gateway.question();
        cancel("one");
        scene.wait_until_nothing_is_asked();
        asked.join().unwrap().unwrap();
    });
    // The other session's cancellation is the server's business; nothing else reached it.
    assert_eq!(scene.server.seen().len(), 1);
}

#[test]
fn nothing_that_could_hide_a_call_reaches_the_server() {
    let scene = Scene::new();
    let list = message(1, "tools/list", &json!({})).to_string();
    let call = message(
        1,
        "tools/call",
        &json!({ "name": "read_note", "arguments": {} }),
    )
    .to_string();
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"send_note"}}"#;
    let of_type = |kind: &str, body: &str| {
        let request = scene.request("POST").header("content-type", kind);
        request.body(body.to_owned())
    };
    let rows: &[(&str, RequestBuilder, u16)] = &[
        (
            "a header says it is a call",
            scene.post(&*list).header("mcp-method", "tools/call"),
            400,
        ),
        (
            "a header names another tool",
            scene.post(&*call).header("mcp-name", "send_note"),
            400,
        ),
        (
            "encoded in base64",
            scene
                .post(&*call)
                .header("mcp-name", "=?base64?c2VuZF9ub3Rl?="),
            400,
        ),
        ("two methods", scene.post(twice), 400),
        ("a batch", scene.post(format!("[{call}]")), 400),
        ("no JSON", scene.post("{\"method\":\"tools/call\""), 400),
        (
            "compressed",
            scene.post(&*list).header("content-encoding", "gzip"),
            415,
        ),
        (
            "in another encoding",
            of_type("application/json; charset=utf-7", &list),
            415,
        ),
        (
            "in another encoding, with a blank that some readers skip",
            of_type(
                "application/json; charset = utf-7",
                "+AHs-\"method\":\"tools/call\"+AH0-",
            ),
            415,
        ),
        (
            "in another encoding, in parts",
            of_type(
                "application/json; charset*0=utf-7",
                "+AHs-\"method\":\"tools/call\"+AH0-",
            ),
            415,
        ),
        (
            "half a message",
            scene.post("\",\"method\":\"tools/call\"}"),
            400,
        ),
        (
            "a header that loose readers decode",
            scene
                .post(&*list)
                .header("mcp-method", "=?base64?dG9vbHMvY2FsbA?="),
            400,
        ),
        (
            "a header names another tool, and the method has another case",
            scene
                .post(call.replace("tools/call", "Tools/Call"))
                .header("mcp-name", "send_note"),
            400,
        ),
        (
            "not JSON, says the header",
            of_type("text/plain", &list),
            415,
        ),
    ];
    for (name, request, status) in rows {
        let response = request.try_clone().unwrap().send().unwrap();
        assert_eq!(response.status().as_u16(), *status, "{name}");
    }
    assert!(scene.server.seen().is_empty(), "{:?}", scene.server.seen());
}

#[test]
fn a_client_is_not_sent_to_another_server_and_not_asked_to_sign_in_there() {
    let scene = Scene::new();
    for method in ["moved", "sign in"] {
        let response = scene
            .post(message(1, method, &json!({})).to_string())
            .send()
            .unwrap();
        assert_eq!(response.status(), 502, "{method}");
        assert!(!response.headers().contains_key("location"));
    }
}

#[test]
fn ten_megabytes_pass() {
    let scene = Scene::new();
    let text = "x".repeat(10 * 1024 * 1024);
    let big = message(1, "big", &json!({ "text": text })).to_string();
    let response = scene.post(big).send().unwrap();
    let said = messages(response);
    assert_eq!(said[0]["result"]["length"], text.len());
    assert_eq!(
        said[0]["result"]["text"].as_str().unwrap().len(),
        text.len()
    );
}

#[test]
fn two_hundred_calls_at_once_are_each_answered() {
    let scene = Scene::new();
    std::thread::scope(|threads| {
        let asked: Vec<_> = (0..200)
            .map(|id| {
                let call = scene.call(id, "read_note", &json!({ "n": id }));
                threads.spawn(move || (id, messages(call.send().unwrap())))
            })
            .collect();
        for asked in asked {
            let (id, said) = asked.join().unwrap();
            assert_eq!(said[0]["id"], id);
            assert_eq!(said[0]["result"]["content"][0]["text"]["n"], id);
        }
    });
    assert_eq!(scene.server.calls().len(), 200);
}

#[test]
fn two_servers_with_a_tool_of_the_same_name_share_no_permission() {
    let server = Server::start();
    let gateway = Gateway::configured(&format!(
        "mcp: {{ servers: {{ one: {{ url: \"{0}\" }}, two: {{ url: \"{0}\" }} }} }}\n\
         approvals: {{ allow: [{{ tool: \"mcp__one__send_note\" }}], ask: [{{ tool: \"mcp__two__send_note\" }}] }}\n",
        server.url
    ));
    let key = gateway.key("agent");
    let call = |name: &str| {
        let params = json!({ "name": "send_note", "arguments": {} });
        let request = gateway
            .request("POST", &format!("/mcp/{name}"))
            .bearer_auth(&key);
        request.json(&message(1, "tools/call", &params))
    };
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| messages(call("two").send().unwrap()));
        let approval = gateway.question();
        let card = gateway.get(&gateway.admin(), &format!("/v1/approvals/{approval}"));
        assert_eq!(card.body["tool"], "mcp__two__send_note", "{card:?}");
        gateway.resolve(&gateway.admin(), &approval, "deny");
        asked.join().unwrap();
    });
    assert!(server.calls().is_empty());
}

/// Returns the hash of the definition that a call was judged by, from its token.
fn judged_by(scene: &Scene) -> Value {
    std::thread::scope(|threads| {
        let asked =
            threads.spawn(|| messages(scene.call(2, "send_note", &json!({})).send().unwrap()));
        scene.answer("once");
        asked.join().unwrap();
    });
    let calls = scene.server.calls();
    let sent = calls.last().unwrap().message();
    let token = sent["params"]["_meta"]["dev.countersign/token"]
        .as_str()
        .unwrap();
    let claims = token.split('.').nth(1).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
    serde_json::from_slice::<Value>(&claims).unwrap()["tdh"].clone()
}

#[test]
fn what_was_listed_is_what_a_call_is_judged_by() {
    let scene = Scene::new();
    let unlisted = judged_by(&scene);
    let list = message(1, "tools/list", &json!({})).to_string();
    scene.post(list).send().unwrap().text().unwrap();
    let listed = judged_by(&scene);
    assert_ne!(listed, unlisted);
    assert_eq!(judged_by(&scene), listed);
}

/// Calls a tool that only the hint of its server makes harmless. Returns whether a person was asked.
fn is_asked_about(scene: &Scene) -> bool {
    let list = message(1, "tools/list", &json!({})).to_string();
    scene.post(list).send().unwrap().text().unwrap();
    let ran = scene.server.calls().len();
    std::thread::scope(|threads| {
        let answered = threads.spawn(|| {
            let sent = scene.call(2, "frobnicate", &json!({ "title": "x" })).send();
            messages(sent.unwrap())
        });
        let since = Instant::now();
        loop {
            let waiting = scene
                .gateway
                .get(&scene.gateway.admin(), "/v1/approvals?status=waiting");
            if waiting.body["approvals"][0]["approval_id"].is_string() {
                scene.answer("deny");
                answered.join().unwrap();
                return true;
            }
            if scene.server.calls().len() > ran {
                answered.join().unwrap();
                return false;
            }
            assert!(since.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
    })
}

#[test]
fn hints_lower_only_for_a_server_that_the_owner_pinned_and_only_what_its_endpoint_submits() {
    assert!(is_asked_about(&Scene::new()), "it is not pinned");
    let scene = Scene::with(", pinned: true");
    assert!(!is_asked_about(&scene));
    // The same call, as the same key claims it.
    let behind = json!([null, scene.server.url]).to_string();
    let hash = Digest::of(behind.as_bytes()).hex();
    let executor = format!("mcp:notes:{}", hash.get(..12).unwrap());
    let claim = json!({
        "tool": "mcp__notes__frobnicate", "args": { "title": "x" }, "session_id": "s", "executor": executor,
        "annotations": { "readOnlyHint": true }, "tool_definition": { "name": "frobnicate",
        "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
    });
    let said = scene.gateway.post(&scene.key, "/v1/calls", &claim);
    assert_eq!(said.status, 202, "{said:?}");
}
