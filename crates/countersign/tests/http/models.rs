//! Which of the configured models answers.

use countersign_testkit::model::{ModelServer, Reply};
use serde_json::json;

use crate::support::Gateway;

#[test]
fn a_run_asks_for_one_of_the_configured_models() {
    let model = ModelServer::start(vec![Reply::text(["Hi."]), Reply::text(["Hi."])]).unwrap();
    let agent = json!({ "base_url": model.url(), "model": "small", "models": ["large"] });
    let gateway = Gateway::configured(&format!("agent: {agent}\n"));
    let admin = gateway.admin();
    let listed = gateway.get(&admin, "/v1/models").body;
    assert_eq!(listed["data"][0]["id"], "small", "{listed}");
    assert_eq!(listed["data"][1]["id"], "large", "{listed}");
    let refused = gateway.post(
        &admin,
        "/v1/runs",
        &json!({ "input": "hi", "model": "huge" }),
    );
    assert_eq!((refused.status, refused.code()), (422, "unknown_model"));
    for (body, wanted) in [
        (json!({ "input": "hi", "model": "large" }), "large"),
        (json!({ "input": "hi" }), "small"),
    ] {
        let started = gateway.post(&admin, "/v1/runs", &body);
        assert_eq!(started.status, 202, "{started:?}");
        let run = started.body["run_id"].as_str().unwrap();
        let path = format!("/v1/runs/{run}/events");
        gateway.events(&admin, &path, None).named("run.completed");
        let asked = model.requests().pop().unwrap();
        assert_eq!(asked["model"], wanted, "{asked}");
    }
}
