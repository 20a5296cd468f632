//! What is refused, with which status, and what the refusal says.

use serde_json::json;

use crate::support::{Gateway, RISKY, heard, said, shell};

const JSON: &str = "application/json";
const DOUBLED: &str =
    r#"{"tool":"terminal","args":{"command":"ls","command":"rm -rf /"},"session_id":"s"}"#;
const LARGE: &str = r#"{"tool":"t","args":{"id":1234567890123456789},"session_id":"s"}"#;
const UNKNOWN: &str = r#"{"tool":"t","args":{},"session_id":"s","x":1}"#;
const PATIENT: &str = r#"{"tool":"t","args":{},"session_id":"s","wait_seconds":61}"#;
const SESSIONLESS: &str = r#"{"tool":"t","args":{}}"#;
const TWO_LINES: &str = r#"{"tool":"t","args":{},"session_id":"a\nb"}"#;
const NAMELESS: &str = r#"{"tool":" ","args":{}}"#;
const ARGLESS: &str = r#"{"tool":"t","session_id":"s"}"#;
const CALLS: &str = "POST /v1/calls";
const CONSUME: &str = "POST /v1/tokens/consume";

/// What an agent sends (the route, the type, the body) and what it is told.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str, u16, &'a str);

#[rustfmt::skip]
const REFUSALS: &[Row<'_>] = &[
    ("no such route", "POST /v1/nothing", JSON, "{}", 404, "not_found"),
    ("another method", "DELETE /v1/calls", JSON, "{}", 405, "method_not_allowed"),
    ("not JSON", CALLS, JSON, "{", 400, "invalid_json"),
    ("not sent as JSON", CALLS, "text/plain", "{}", 415, "unsupported_media_type"),
    ("a key twice", CALLS, JSON, DOUBLED, 422, "duplicate_key"),
    ("a number too large", CALLS, JSON, LARGE, 422, "args_not_canonical"),
    ("an unknown field", CALLS, JSON, UNKNOWN, 422, "invalid_body"),
    ("no session", CALLS, JSON, SESSIONLESS, 422, "invalid_session"),
    ("a session of two lines", CALLS, JSON, TWO_LINES, 422, "invalid_name"),
    ("an assessed tool without a name", "POST /v1/assess", JSON, NAMELESS, 422, "invalid_name"),
    ("no arguments", CALLS, JSON, ARGLESS, 422, "invalid_args"),
    ("too patient", CALLS, JSON, PATIENT, 422, "invalid_wait"),
    ("no such call", "GET /v1/calls/call_x", JSON, "", 404, "not_found"),
    ("an unknown query", "GET /v1/calls?x=1", JSON, "", 422, "invalid_query"),
    ("not a token", CONSUME, JSON, r#"{"token":"x"}"#, 422, "token_invalid"),
];

#[test]
fn a_refusal_has_a_status_a_code_and_a_sentence() {
    let gateway = Gateway::start();
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let long = format!("{{\"tool\":\"{}\"}}", "x".repeat(1024 * 1024));
    let too_long = (
        "too long",
        CALLS,
        JSON,
        long.as_str(),
        413,
        "body_too_large",
    );
    for (name, route, kind, body, status, code) in REFUSALS.iter().chain([&too_long]) {
        let (method, path) = route.split_once(' ').unwrap();
        let request = gateway
            .request(method, path)
            .bearer_auth(&agent)
            .header("content-type", *kind)
            .body((*body).to_owned());
        let refused = said(request);
        assert_eq!(
            (refused.status, refused.code()),
            (*status, *code),
            "{name}: {refused:?}"
        );
        let error = refused.body["error"].as_object().unwrap();
        let fields: Vec<_> = error.keys().map(String::as_str).collect();
        assert_eq!(fields, ["message", "type", "param", "code"], "{name}");
    }
    let unknown = gateway.resolve(&admin, "appr_x", "once");
    assert_eq!((unknown.status, unknown.code()), (404, "not_found"));
}

#[test]
fn an_approval_is_answered_once_and_the_second_is_told_by_whom() {
    let gateway = Gateway::start();
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let approval = gateway.ask(&agent, RISKY);
    let odd = gateway.resolve(&ana, &approval, "view");
    assert_eq!((odd.status, odd.code()), (422, "choice_not_offered"));
    let first = gateway.resolve(&ana, &approval, "once");
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.body["decision"]["by"], "ana");
    let second = gateway.resolve(&gateway.admin(), &approval, "deny");
    assert_eq!((second.status, second.code()), (409, "already_resolved"));
    assert_eq!(second.body["decision"]["by"], "ana");
    assert_eq!(second.body["decision"]["outcome"], "approved");
}

#[test]
fn what_was_withdrawn_is_gone() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let call = gateway.submit(&agent, RISKY).body;
    let path = format!("/v1/calls/{}/withdraw", call["call_id"].as_str().unwrap());
    let withdrawn = gateway.post(&agent, &path, &json!({ "note": "never mind" }));
    assert_eq!(withdrawn.status, 200, "{withdrawn:?}");
    assert_eq!(withdrawn.body["status"], "withdrawn");
    let approval = call["approval_id"].as_str().unwrap();
    let late = gateway.resolve(&gateway.admin(), approval, "once");
    assert_eq!((late.status, late.code()), (410, "no_longer_open"));
    assert_eq!(late.body["decision"]["outcome"], "withdrawn");
}

#[test]
fn a_foreign_host_is_at_the_wrong_door() {
    let gateway = Gateway::configured("api: {hosts: [gate.example.org]}\n");
    let port = gateway.url.rsplit(':').next().unwrap();
    let rows = [
        ("evil.test".to_owned(), 421),
        (format!("evil.test:{port}"), 421),
        (format!("127.0.0.1.evil.test:{port}"), 421),
        ("127.0.0.1:1".to_owned(), 421),
        (format!("localhost:{port}"), 200),
        ("gate.example.org".to_owned(), 200),
    ];
    for (host, status) in rows {
        for path in ["/health", "/"] {
            let answer = gateway.request("GET", path).header("host", &host).send();
            assert_eq!(answer.unwrap().status().as_u16(), status, "{host}{path}");
        }
    }
}

#[test]
fn wrong_credentials_run_out_but_a_good_one_never_pays_for_them() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    let without = said(gateway.request("GET", "/v1/whoami"));
    assert_eq!(
        (without.status, without.code()),
        (401, "missing_credential")
    );
    let statuses: Vec<u16> = (0..12)
        .map(|n| {
            gateway
                .get(&format!("cs_agent_wrong{n}"), "/v1/whoami")
                .status
        })
        .collect();
    assert_eq!(statuses, [vec![401; 10], vec![429; 2]].concat());
    let code = json!({ "code": "guess" });
    let refused = gateway
        .request("POST", "/v1/login")
        .json(&code)
        .send()
        .unwrap();
    let retry = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!((1..=60).contains(&retry.parse::<u32>().unwrap()));
    assert_eq!(heard(refused).status, 429);
    assert_eq!(gateway.get(&admin, "/v1/whoami").status, 200);
}

#[test]
fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let gateway = Gateway::configured("api: {rate_per_second: 1}\n");
    let admin = gateway.admin();
    let agent = gateway.key("agent");
    let last = (0..200)
        .map(|_| {
            gateway
                .request("GET", "/v1/whoami")
                .bearer_auth(&agent)
                .send()
                .unwrap()
        })
        .find(|response| response.status().as_u16() != 200)
        .expect("the limit was never met");
    assert_eq!(last.headers()["retry-after"], "1");
    let refused = heard(last);
    assert_eq!(
        (refused.status, refused.code()),
        (429, "rate_limit_exceeded")
    );
    assert_eq!(gateway.get(&admin, "/health").status, 200);
}

#[test]
fn nothing_is_judged_under_a_policy_that_cannot_be_read() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    assert_eq!(gateway.submit(&agent, "ls").status, 200);
    let file = gateway.home().join("config.yaml");
    std::fs::write(&file, "approvals: {moode: off}\n").unwrap();
    // Asking whether it is ready looks at the file again; a call may rest on the last look.
    assert_eq!(gateway.get(&agent, "/ready").status, 503);
    let refused = gateway.submit(&agent, "ls");
    assert_eq!((refused.status, refused.code()), (503, "policy_unreadable"));
    let assessed = gateway.post(&agent, "/v1/assess", &shell("ls"));
    assert_eq!(assessed.status, 503);
    assert_eq!(gateway.get(&agent, "/health").status, 200);
    std::fs::write(&file, "").unwrap();
    assert_eq!(gateway.get(&agent, "/ready").status, 200);
    assert_eq!(gateway.submit(&agent, "ls").status, 200);
}

#[test]
fn no_get_changes_anything() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    let agent = gateway.key("agent");
    let approval = gateway.ask(&agent, RISKY);
    let head = || gateway.get(&admin, "/v1/ledger/verify").body["entries"].clone();
    let before = head();
    for path in [
        format!("/v1/approvals/{approval}/resolve?choice=once"),
        format!("/v1/approvals/{approval}"),
        "/v1/approvals".to_owned(),
        "/v1/calls".to_owned(),
        "/v1/traces".to_owned(),
        "/v1/ledger".to_owned(),
        "/v1/keys".to_owned(),
        "/v1/people".to_owned(),
        "/v1/config".to_owned(),
        "/v1/grants".to_owned(),
        "/v1/reviews".to_owned(),
        "/v1/logout".to_owned(),
        "/v1/login?code=x".to_owned(),
        "/".to_owned(),
    ] {
        for method in ["GET", "HEAD"] {
            let request = gateway.request(method, &path).bearer_auth(&admin);
            assert!(request.send().unwrap().status().as_u16() < 500, "{path}");
        }
    }
    assert_eq!(head(), before);
    let path = format!("/v1/approvals/{approval}");
    assert_eq!(gateway.get(&admin, &path).body["status"], "waiting");
}
