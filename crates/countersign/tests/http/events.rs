//! Events: complete, in order, resumable, and only what the reader may see.

use serde_json::json;

use crate::support::{Gateway, RISKY, shell};

#[test]
fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let gateway = Gateway::start();
    let (agent, viewer) = (gateway.key("agent"), gateway.key("viewer"));
    let mut events = gateway.events(&viewer, "/v1/events", None);
    gateway.submit(&agent, "ls 0");
    let (mut last, first) = events.named("call.assessed");
    assert_eq!(first["command"], "ls 0");
    drop(events);
    for n in 1..=150 {
        gateway.submit(&agent, &format!("ls {n}"));
    }
    // The reader loses its connection again and again.
    let mut seen = Vec::new();
    while seen.len() < 150 {
        let mut events = gateway.events(&viewer, "/v1/events", Some(last));
        for _ in 0..40.min(150 - seen.len()) {
            let (id, event) = events.next();
            assert_eq!(
                id,
                last + 1,
                "numbers have no gaps for whoever sees everything"
            );
            last = id;
            if event["event"] == "call.assessed" {
                seen.push(event["command"].as_str().unwrap().to_owned());
            }
        }
    }
    let wanted: Vec<String> = (1..=150).map(|n| format!("ls {n}")).collect();
    assert_eq!(seen, wanted);
}

#[test]
fn every_reader_sees_every_event_and_agents_only_their_own() {
    let gateway = Gateway::start();
    let (one, other) = (
        gateway.named_key("one", "agent"),
        gateway.named_key("other", "agent"),
    );
    let approver = gateway.key("approver");
    let mut people: Vec<_> = (0..20)
        .map(|_| gateway.events(&approver, "/v1/events", None))
        .collect();
    let mut own = gateway.events(&one, "/v1/events", None);
    let foreign = gateway.ask(&other, RISKY);
    let approval = gateway.ask(&one, RISKY);
    gateway.resolve(&approver, &approval, "deny");
    for reader in &mut people {
        assert_eq!(reader.named("approval.required").1["approval_id"], *foreign);
        let (_, asked) = reader.named("approval.required");
        assert_eq!(asked["approval_id"], *approval);
        assert_eq!(asked["command"], RISKY);
        let (_, resolved) = reader.named("approval.resolved");
        assert_eq!(resolved["outcome"], "denied");
        assert_eq!(resolved["by"], "approver");
    }
    let (_, asked) = own.named("approval.required");
    assert_eq!(asked["approval_id"], *approval, "not the other agent's");
}

#[test]
fn a_run_is_told_from_its_beginning_under_either_name() {
    for (dialect, names) in [
        ("native", ["approval.required", "approval.resolved"]),
        ("hermes", ["approval.request", "approval.responded"]),
    ] {
        let gateway = Gateway::configured(&format!("api: {{dialect: {dialect}}}\n"));
        let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
        let mut body = shell(RISKY);
        body["run_id"] = json!("run_x");
        let said = gateway.post(&agent, "/v1/calls", &body);
        let approval = said.body["approval_id"].as_str().unwrap();
        gateway.submit(&agent, "ls in another run");
        gateway.resolve(&approver, approval, "once");
        let mut events = gateway.events(&approver, "/v1/runs/run_x/events", None);
        let (_, asked) = events.named(names[0]);
        assert_eq!(asked["approval_id"], approval);
        assert_eq!(asked["run_id"], "run_x");
        let (id, resolved) = events.named(names[1]);
        assert_eq!(resolved["choice"], "once");
        if dialect == "hermes" {
            assert_eq!(asked["request_id"], approval);
            assert_eq!(asked["allow_permanent"], true);
            assert_eq!(resolved["resolved"], 1);
        }
        let mut all = gateway.events(&approver, "/v1/events", Some(id - 1));
        assert_eq!(
            all.next().1["event"],
            "approval.resolved",
            "always in native names"
        );
        let unknown = gateway.get(&approver, "/v1/runs/run_y/events");
        assert_eq!((unknown.status, unknown.code()), (404, "run_not_found"));
    }
}

#[test]
fn a_stream_ends_when_the_gateway_stops() {
    let mut gateway = Gateway::start();
    let admin = gateway.admin();
    let mut events = gateway.events(&admin, "/v1/events", None);
    assert!(gateway.stop().success());
    let last = events.block().unwrap();
    assert_eq!(last, [": stream closed, the gateway is stopping"]);
    assert!(events.block().is_none());
}

#[test]
fn a_wrong_place_to_go_on_from_is_an_error_and_a_future_one_is_now() {
    let gateway = Gateway::start();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let odd = gateway
        .request("GET", "/v1/events")
        .bearer_auth(&admin)
        .header("last-event-id", "x");
    assert_eq!(odd.send().unwrap().status().as_u16(), 422);
    let mut events = gateway.events(&admin, "/v1/events", Some(1_000_000));
    gateway.submit(&agent, "ls");
    assert_eq!(events.named("call.assessed").1["command"], "ls");
}
