//! More time for a question: over HTTP, from the command line, and what a waiting hook gets of it.

use std::process::Output;

use serde_json::{Value, json};

use crate::hooks;
use crate::ours::ours;
use crate::support::{Gateway, RISKY};

fn run(gateway: &Gateway, args: &[&str]) -> Output {
    let mut command = ours(&gateway.home());
    command.args(args).current_dir(gateway.home());
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

#[test]
fn an_extension_is_told_to_everybody_and_survives_a_restart() {
    let gateway = Gateway::configured("approvals: { timeout: 2m, extend_max: 3m }\n");
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let call = gateway.submit(&agent, RISKY).body;
    let (call, id) = (&call["call_id"], call["approval_id"].as_str().unwrap());
    let path = format!("/v1/approvals/{id}");
    let extend = format!("{path}/extend");
    let before = gateway.get(&ana, &path).body;
    assert_eq!(before["extend_seconds"], 120.0, "{before}");
    let ends = before["expires_at"].as_f64().unwrap();
    let mut events = gateway.events(&agent, "/v1/events", Some(0));

    let refused = gateway.post(&agent, &extend, &json!({}));
    assert_eq!(refused.status, 403, "{refused:?}");
    let extended = gateway.post(&ana, &extend, &json!({}));
    assert_eq!(extended.status, 200, "{extended:?}");
    assert_eq!(extended.body["status"], "waiting");
    assert_eq!(extended.body["expires_at"], ends + 120.0);
    assert_eq!(extended.body["extend_seconds"], 60.0);
    let (_, told) = events.named("approval.extended");
    assert_eq!(
        (&told["by"], &told["approval_id"]),
        (&json!("ana"), &json!(id))
    );
    assert_eq!(told["detail"], json!((ends + 120.0).to_string()));
    let inbox = gateway.get(&ana, "/v1/inbox").body;
    assert_eq!(inbox["approvals"][0]["expires_at"], ends + 120.0);

    let gateway = gateway.killed_and_restarted();
    let asker = gateway.get(&agent, &format!("/v1/calls/{}", call.as_str().unwrap()));
    assert_eq!(asker.body["expires_at"], ends + 120.0, "{asker:?}");
    assert_eq!(asker.body["status"], "waiting");
    assert_eq!(gateway.post(&ana, &extend, &json!({})).status, 200);
    let enough = gateway.post(&ana, &extend, &json!({}));
    assert_eq!((enough.status, enough.code()), (422, "not_extendable"));
    assert_eq!(gateway.resolve(&ana, id, "deny").status, 200);
    assert_eq!(gateway.post(&ana, &extend, &json!({})).status, 409);
}

#[test]
fn a_question_is_extended_from_the_command_line_and_still_has_to_be_answered() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let id = gateway.ask(&agent, RISKY);
    let done = run(&gateway, &["extend", &id]);
    let words = printed(&done);
    assert!(done.status.success(), "{words}");
    assert!(words.contains("It now expires in"), "{words}");
    assert!(words.contains("still waiting"), "{words}");
    let json = run(&gateway, &["extend", &id, "--json"]);
    let said: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(said["status"], "waiting", "{said}");
    assert!(run(&gateway, &["answer", &id, "deny"]).status.success());
    let late = run(&gateway, &["extend", &id]);
    assert_eq!(late.status.code(), Some(1));
    assert!(
        printed(&late).contains("it was denied by"),
        "{}",
        printed(&late)
    );
}

#[test]
fn an_owner_who_offers_none_is_obeyed_on_the_command_line() {
    let gateway = Gateway::configured("approvals: { extend_max: 0 }\n");
    let agent = gateway.key("agent");
    let id = gateway.ask(&agent, RISKY);
    let refused = run(&gateway, &["extend", &id]);
    assert_eq!(refused.status.code(), Some(1));
    let words = printed(&refused);
    assert!(words.contains("approvals.extend_max"), "{words}");
}

#[test]
fn a_hook_that_waits_past_the_first_deadline_gets_the_answer() {
    // The question would be over before the hook is; the extension keeps it open.
    let gateway = hooks::start_gateway("approvals: { timeout: 3s, extend_max: 1h }\n");
    let ana = gateway.named_key("ana", "approver");
    hooks::give_key(&gateway, "claude-code");
    let (hook, id) = hooks::waiting(&gateway, &hooks::bash("rm -rf /srv/www"), &[]);
    let path = format!("/v1/approvals/{id}");
    let ends = gateway.get(&ana, &path).body["expires_at"]
        .as_f64()
        .unwrap();
    for _ in 0..40 {
        let extended = gateway.post(&ana, &format!("{path}/extend"), &json!({}));
        assert_eq!(extended.status, 200, "{extended:?}");
    }
    // Another question with the same deadline is over, so that time has passed.
    let agent = gateway.key("agent");
    let other = gateway.submit(&agent, "rm -rf /srv/other").body["call_id"].clone();
    let wait = format!("/v1/calls/{}?wait_seconds=60", other.as_str().unwrap());
    let over = gateway.get(&agent, &wait).body;
    assert_eq!(over["status"], "expired", "{over}");
    assert!(over["decision"]["at"].as_f64().unwrap() >= ends);
    assert_eq!(gateway.resolve(&ana, &id, "once").status, 200);
    let (word, _) = hooks::understood(&hook.wait_with_output().unwrap());
    assert_eq!(word, "allow");
}
