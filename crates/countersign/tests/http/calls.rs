//! A call's way: judged, held, answered, its token used once.

use serde_json::{Value, json};

use crate::support::{Gateway, RISKY, said, shell};

#[test]
fn a_harmless_call_runs_at_once_and_a_risky_one_waits() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let allowed = gateway.submit(&agent, "ls -la");
    assert_eq!(
        (allowed.status, &allowed.body["status"]),
        (200, &json!("allowed"))
    );
    let waiting = gateway.submit(&agent, RISKY);
    assert_eq!(
        (waiting.status, &waiting.body["status"]),
        (202, &json!("waiting"))
    );
    let refused = gateway.submit(&agent, "rm -rf /");
    assert_eq!(
        (refused.status, &refused.body["status"]),
        (200, &json!("refused"))
    );
    let assessed = gateway.post(&agent, "/v1/assess", &shell(RISKY));
    assert_eq!(assessed.status, 200);
    assert_eq!(assessed.body["verdict"], "ask");
    assert_eq!(assessed.body["requires_human"], true);
}

#[test]
fn whoever_waits_is_told_when_a_person_answers_and_the_token_works_once() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    let mut events = gateway.events(&approver, "/v1/events", None);
    let call: Value = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut body = shell(RISKY);
            body["wait_seconds"] = json!(60);
            gateway.post(&agent, "/v1/calls", &body)
        });
        let (_, asked) = events.named("approval.required");
        let approval = asked["approval_id"].as_str().unwrap();
        assert_eq!(gateway.resolve(&approver, approval, "once").status, 200);
        let call = waiting.join().unwrap();
        assert_eq!(call.status, 200, "{call:?}");
        call.body
    });
    assert_eq!(call["status"], "approved");
    assert_eq!(call["decision"]["by"], "approver");
    let token = json!({ "token": call["token"] });
    let used = gateway.post(&agent, "/v1/tokens/consume", &token);
    assert_eq!(used.status, 200, "{used:?}");
    assert_eq!(used.body["call_id"], call["call_id"]);
    let again = gateway.post(&agent, "/v1/tokens/consume", &token);
    assert_eq!((again.status, again.code()), (409, "token_used"));
}

#[test]
fn a_request_sent_twice_is_submitted_once() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let send = |key: &str, command: &str| {
        let request = gateway.request("POST", "/v1/calls").bearer_auth(&agent);
        said(request.header("idempotency-key", key).json(&shell(command)))
    };
    let (first, second) = (send("a", "ls"), send("a", "ls"));
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.body["call_id"], second.body["call_id"]);
    let other = send("b", "ls");
    assert_ne!(first.body["call_id"], other.body["call_id"]);
    let odd = send(&"x".repeat(300), "ls");
    assert_eq!((odd.status, odd.code()), (422, "invalid_idempotency_key"));
}

#[test]
fn a_denial_carries_its_note_back() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    let call = gateway.submit(&agent, RISKY).body;
    let path = format!(
        "/v1/approvals/{}/resolve",
        call["approval_id"].as_str().unwrap()
    );
    let body = json!({ "choice": "deny", "note": "use the staging copy" });
    assert_eq!(gateway.post(&approver, &path, &body).status, 200);
    let path = format!(
        "/v1/calls/{}?wait_seconds=10",
        call["call_id"].as_str().unwrap()
    );
    let denied = gateway.get(&agent, &path);
    assert_eq!(
        (denied.status, &denied.body["status"]),
        (200, &json!("denied"))
    );
    assert_eq!(denied.body["decision"]["note"], "use the staging copy");
    assert!(denied.body["token"].is_null());
}

#[test]
fn clients_of_hermes_answer_by_run_and_only_what_is_meant() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    let submit = |command: &str| {
        let mut body = shell(command);
        body["run_id"] = json!("run_x");
        let said = gateway.post(&agent, "/v1/calls", &body);
        assert_eq!(said.status, 202, "{said:?}");
        said.body["approval_id"].as_str().unwrap().to_owned()
    };
    let answer = |body: Value| gateway.post(&approver, "/v1/runs/run_x/approval", &body);
    let unknown = answer(json!({ "choice": "once" }));
    assert_eq!((unknown.status, unknown.code()), (404, "run_not_found"));
    let first = submit("rm -rf /srv/a");
    let odd = answer(json!({ "choice": "maybe" }));
    assert_eq!((odd.status, odd.code()), (400, "invalid_approval_choice"));
    let answered = answer(json!({ "choice": "approve" }));
    assert_eq!(answered.status, 200, "{answered:?}");
    let none = answer(json!({ "choice": "once" }));
    assert_eq!((none.status, none.code()), (409, "approval_not_pending"));
    assert_eq!(
        answered.body,
        json!({"object": "hermes.run.approval_response", "run_id": "run_x", "choice": "once", "resolved": 1})
    );
    let (second, third) = (submit("rm -rf /srv/b"), submit("rm -rf /srv/c"));
    let several = answer(json!({ "choice": "once" }));
    assert_eq!((several.status, several.code()), (409, "several_waiting"));
    assert_eq!(several.body["approvals"].as_array().unwrap().len(), 2);
    let greedy = answer(json!({ "choice": "once", "all": true }));
    assert_eq!((greedy.status, greedy.code()), (422, "all_only_denies"));
    assert_eq!(
        answer(json!({ "choice": "once", "request_id": third })).status,
        200
    );
    let rest = answer(json!({ "choice": "deny", "all": true }));
    assert_eq!(rest.body["resolved"], 1);
    let status =
        |id: &str| gateway.get(&approver, &format!("/v1/approvals/{id}")).body["status"].clone();
    assert_eq!(
        [status(&first), status(&second), status(&third)],
        [json!("approved"), json!("denied"), json!("approved")]
    );
    let elsewhere = gateway.post(
        &approver,
        "/v1/runs/run_y/approval",
        &json!({ "choice": "once", "approval_id": first }),
    );
    assert_eq!(elsewhere.status, 404);
}

#[test]
fn counts_follow_what_happens() {
    let gateway = Gateway::start();
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    gateway.submit(&agent, "ls");
    let approval = gateway.ask(&agent, RISKY);
    gateway.resolve(&approver, &approval, "deny");
    gateway.ask(&agent, "rm -rf /srv/other");
    let wanted = [
        "countersign_calls_total{verdict=\"allow\"} 1",
        "countersign_calls_total{verdict=\"ask\"} 2",
        "countersign_approvals_total{outcome=\"denied\"} 1",
        "countersign_approvals_waiting 1",
        "countersign_answer_seconds_count 1",
    ];
    let since = std::time::Instant::now();
    loop {
        let text = gateway
            .request("GET", "/metrics")
            .send()
            .unwrap()
            .text()
            .unwrap();
        let missing: Vec<_> = wanted
            .iter()
            .filter(|line| !text.lines().any(|it| it == **line))
            .collect();
        if missing.is_empty() {
            break;
        }
        assert!(
            since.elapsed() < crate::support::PATIENCE,
            "{missing:?}\n{text}"
        );
    }
}
