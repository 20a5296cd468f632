//! Every route times every role: who gets in, and that no agent gets to an answer.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{Gateway, RISKY, shell};

const ROLES: [&str; 4] = ["agent", "approver", "admin", "viewer"];

/// Every route and who may use it; nobody named: anybody, without a credential.
const MATRIX: &[(&str, &str, &[&str])] = &[
    ("GET", "/health", OPEN),
    ("GET", "/ready", OPEN),
    ("GET", "/metrics", OPEN),
    ("GET", "/openapi.json", OPEN),
    ("GET", "/.well-known/jwks.json", OPEN),
    ("POST", "/v1/login", OPEN),
    ("POST", "/channels/{name}/action", OPEN),
    ("POST", "/channels/{name}/command", OPEN),
    ("POST", "/channels/{name}/dialog", OPEN),
    ("GET", "/v1/channels/{name}/doctor", ADMIN),
    ("POST", "/v1/logout", ALL),
    ("GET", "/v1/whoami", ALL),
    ("POST", "/v1/login/code", READS),
    ("GET", "/v1/capabilities", ALL),
    ("POST", "/v1/assess", ALL),
    ("POST", "/v1/calls", ASKS),
    ("GET", "/v1/calls", ALL),
    ("GET", "/v1/calls/{id}", ALL),
    ("POST", "/v1/calls/{id}/withdraw", ASKS),
    ("POST", "/v1/calls/{id}/outcome", ASKS),
    ("POST", "/v1/tokens/consume", ASKS),
    ("POST", "/mcp/{server}", ASKS),
    ("GET", "/mcp/{server}", ASKS),
    ("DELETE", "/mcp/{server}", ASKS),
    ("GET", "/v1/approvals", ALL),
    ("GET", "/v1/inbox", READS),
    ("GET", "/v1/approvals/{id}", ALL),
    ("GET", "/v1/approvals/{id}/deliveries", ANSWERS),
    ("POST", "/v1/approvals/{id}/resolve", ANSWERS),
    ("POST", "/v1/approvals/{id}/assess", ANSWERS),
    ("GET", "/v1/approvals/{id}/changes", ANSWERS),
    ("GET", "/v1/approvals/{id}/before", READS),
    ("POST", "/v1/approvals/{id}/take_back", ANSWERS),
    ("POST", "/v1/approvals/{id}/extend", ANSWERS),
    ("POST", "/v1/approvals/{id}/lift", ANSWERS),
    ("POST", "/v1/approvals/{id}/viewed", ANSWERS),
    ("POST", "/v1/practice", ANSWERS),
    ("GET", "/v1/events", ALL),
    ("GET", "/v1/runs/{id}/events", ALL),
    ("POST", "/v1/runs", ANSWERS),
    ("GET", "/v1/runs", READS),
    ("GET", "/v1/runs/{id}", ALL),
    ("POST", "/v1/runs/{id}/stop", ANSWERS),
    ("POST", "/v1/runs/{id}/steer", ANSWERS),
    ("POST", "/v1/runs/{id}/approval", ANSWERS),
    ("POST", "/v1/chat/completions", ANSWERS),
    ("GET", "/v1/models", ALL),
    ("GET", "/v1/sessions", READS),
    ("GET", "/v1/sessions/{id}/messages", READS),
    ("GET", "/v1/crisis", READS),
    ("POST", "/v1/crisis/clear", ANSWERS),
    ("GET", "/v1/usage", READS),
    ("POST", "/v1/clarifications", ASKS),
    ("GET", "/v1/clarifications", ALL),
    ("GET", "/v1/clarifications/{id}", ALL),
    ("POST", "/v1/clarifications/{id}/answer", ANSWERS),
    ("GET", "/v1/grants", READS),
    ("DELETE", "/v1/grants/{id}", ANSWERS),
    ("POST", "/v1/grants/preview", ANSWERS),
    ("GET", "/v1/overrides", READS),
    ("POST", "/v1/sessions/{id}/yolo", ANSWERS),
    ("DELETE", "/v1/sessions/{id}/yolo", ANSWERS),
    ("GET", "/v1/reviews", ALL),
    ("POST", "/v1/reviews/{id}/undo", ANSWERS),
    ("POST", "/v1/reviews/{id}/keep", ANSWERS),
    ("GET", "/v1/traces", ALL),
    ("GET", "/v1/traces/{id}", ALL),
    ("GET", "/v1/stats", READS),
    ("GET", "/v1/ledger", ALL),
    ("GET", "/v1/ledger/verify", READS),
    ("POST", "/v1/replay", ANSWERS),
    ("GET", "/v1/keys", ANSWERS),
    ("POST", "/v1/keys", ADMIN),
    ("DELETE", "/v1/keys/{id}", ADMIN),
    ("GET", "/v1/people", ANSWERS),
    ("POST", "/v1/people", ADMIN),
    ("DELETE", "/v1/people/{name}", ADMIN),
    ("GET", "/v1/channels", READS),
    ("GET", "/v1/logins", READS),
    ("DELETE", "/v1/logins/{id}", READS),
    ("GET", "/v1/rules", READS),
    ("GET", "/v1/push", ANSWERS),
    ("GET", "/v1/devices", ANSWERS),
    ("POST", "/v1/devices", ANSWERS),
    ("DELETE", "/v1/devices/{id}", ANSWERS),
    ("POST", "/v1/devices/{id}/test", ANSWERS),
    ("GET", "/v1/config", ADMIN),
    ("POST", "/v1/config", ADMIN),
];
const OPEN: &[&str] = &[];
const ALL: &[&str] = &["agent", "approver", "admin", "viewer"];
const ASKS: &[&str] = &["agent"];
const ANSWERS: &[&str] = &["approver", "admin"];
const READS: &[&str] = &["approver", "admin", "viewer"];
const ADMIN: &[&str] = &["admin"];

fn concrete(path: &str) -> String {
    path.replace("{id}", "nothing").replace("{name}", "nobody")
}

#[test]
fn the_description_has_exactly_the_routes_of_the_table() {
    let gateway = Gateway::start();
    let description = gateway.get(&gateway.admin(), "/openapi.json").body;
    assert_eq!(description["openapi"], "3.1.0");
    let (mut described, mut named) = (BTreeSet::new(), BTreeSet::new());
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((method.to_uppercase(), path.clone()));
            let name = operation["operationId"].as_str().unwrap().to_owned();
            assert!(named.insert(name), "{method} {path} shares its name");
            let operation_text = operation.to_string();
            for reference in operation_text
                .split("\"$ref\":\"#/components/schemas/")
                .skip(1)
            {
                let name = reference.split('"').next().unwrap();
                let schema = &description["components"]["schemas"][name];
                assert!(
                    schema.is_object(),
                    "{method} {path}: there is no schema {name}"
                );
            }
        }
    }
    let table: BTreeSet<_> = MATRIX
        .iter()
        .map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(described, table);
}

#[test]
fn every_role_gets_exactly_where_it_may() {
    let gateway = Gateway::start();
    let keys: Vec<(&str, String)> = ROLES
        .iter()
        .map(|role| (*role, gateway.key(role)))
        .collect();
    let mut wrong = Vec::new();
    for (method, path, allowed) in MATRIX {
        let path = concrete(path);
        let send = |key: Option<&str>| {
            let mut request = gateway.request(method, &path);
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            request.send().unwrap().status().as_u16()
        };
        let without = send(None);
        if (without == 401) == allowed.is_empty() && *path != *"/v1/login" {
            wrong.push(format!("{method} {path} without a key: {without}"));
        }
        for (role, key) in &keys {
            let status = send(Some(key));
            let may = allowed.is_empty() || allowed.contains(role);
            if (status == 403) == may || status == 401 || status >= 500 {
                wrong.push(format!("{method} {path} as {role}: {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_agents_socket_has_only_what_agents_may_use() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    for (method, path, allowed) in MATRIX {
        let path = concrete(path);
        // How browsers and channels come in is no business of agents.
        let is_open = allowed.is_empty() && path != "/v1/login" && !path.starts_with("/channels/");
        let is_there = is_open || allowed.contains(&"agent");
        let (status, text) = gateway.through_socket(method, &path, "");
        let is_absent = (status == 404 && text.contains("there is no route")) || status == 405;
        assert_eq!(!is_absent, is_there, "{method} {path}: {text}");
        // An admin's key opens nothing there, either.
        if !allowed.is_empty() {
            let key = format!("authorization: Bearer {admin}");
            let (status, _) = gateway.through_socket(method, &path, &key);
            assert!(matches!(status, 403..=405), "{method} {path}: {status}");
        }
    }
}

#[test]
fn the_socket_knows_its_caller_without_a_key_and_forgets_him_when_revoked() {
    let gateway = Gateway::start();
    let body = format!("content-type: application/json\n\n{}", shell("ls"));
    let (status, text) = gateway.through_socket("POST", "/v1/calls", &body);
    assert_eq!(status, 200, "{text}");
    let keys = gateway.get(&gateway.admin(), "/v1/keys").body;
    let keys = keys["keys"].as_array().unwrap();
    let of_socket: Vec<_> = keys
        .iter()
        .filter(|key| key["name"].as_str().unwrap().starts_with("socket:uid"))
        .collect();
    assert_eq!(of_socket.len(), 1);
    let path = format!("/v1/keys/{}", of_socket[0]["id"].as_str().unwrap());
    let revoked = gateway
        .request("DELETE", &path)
        .bearer_auth(gateway.admin())
        .send();
    assert!(revoked.unwrap().status().is_success());
    // A revocation is looked up once a second.
    let since = std::time::Instant::now();
    while gateway.through_socket("GET", "/v1/whoami", "").0 != 401 {
        assert!(since.elapsed() < crate::support::PATIENCE);
    }
}

#[test]
fn an_agent_cannot_answer_its_own_question_on_any_path() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let call = gateway.submit(&agent, RISKY).body;
    let (approval, run) = (
        call["approval_id"].as_str().unwrap(),
        call["run_id"].as_str().unwrap(),
    );
    let once = json!({ "choice": "once" });
    let paths = [
        format!("/v1/approvals/{approval}/resolve"),
        format!("/v1/runs/{run}/approval"),
        format!("/v1/approvals/{approval}/viewed"),
        "/v1/sessions/s1/yolo".to_owned(),
        "/v1/login/code".to_owned(),
        "/v1/config".to_owned(),
        "/v1/keys".to_owned(),
    ];
    for path in &paths {
        let said = gateway.post(&agent, path, &once);
        assert_eq!(said.status, 403, "{path}: {said:?}");
        // What a request says about itself changes nothing.
        let claimed = gateway
            .request("POST", path)
            .bearer_auth(&agent)
            .header("x-role", "admin")
            .header("x-forwarded-for", "127.0.0.1")
            .json(&once)
            .send()
            .unwrap();
        assert_eq!(claimed.status().as_u16(), 403, "{path}");
    }
    let path = format!("/v1/approvals/{approval}");
    assert_eq!(gateway.get(&agent, &path).body["status"], "waiting");
}

#[test]
fn an_agent_sees_its_own_and_nothing_of_others() {
    let gateway = Gateway::start();
    let (one, other) = (
        gateway.named_key("one", "agent"),
        gateway.named_key("other", "agent"),
    );
    let call = gateway.submit(&one, RISKY).body;
    for path in [
        format!("/v1/calls/{}", call["call_id"].as_str().unwrap()),
        format!("/v1/approvals/{}", call["approval_id"].as_str().unwrap()),
        format!("/v1/traces/{}", call["call_id"].as_str().unwrap()),
        format!("/v1/runs/{}/events", call["run_id"].as_str().unwrap()),
    ] {
        let status = |key: &str| {
            let request = gateway.request("GET", &path).bearer_auth(key);
            request.send().unwrap().status().as_u16()
        };
        assert!(matches!(status(&one), 200 | 202), "{path}");
        assert_eq!(status(&other), 404, "{path}");
    }
    let lists = [
        ("/v1/approvals", "approvals"),
        ("/v1/calls", "calls"),
        ("/v1/traces", "traces"),
    ];
    for (path, name) in lists {
        let own = gateway.get(&one, path).body[name].as_array().unwrap().len();
        let others = gateway.get(&other, path).body[name]
            .as_array()
            .unwrap()
            .len();
        assert_eq!((own, others), (1, 0), "{path}");
    }
}
