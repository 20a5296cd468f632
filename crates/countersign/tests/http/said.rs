//! What the command line says is so: no false nothing, no wrong hint, one word and one number for a
//! risk, and where people really were.

use countersign_testkit::model::{MODEL, ModelServer, Reply};
use serde_json::json;

use crate::client_key::run;
use crate::support::{Gateway, RISKY, said};

fn told(gateway: &Gateway, words: &[&str]) -> String {
    run(&gateway.home(), words, &[]).1
}

#[test]
fn questions_of_agents_are_listed_shown_and_answered_like_approvals() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    assert!(told(&gateway, &["approvals"]).contains("Nothing is waiting for an answer."));
    let asks = |question: &str, choices: serde_json::Value| {
        let body = json!({ "question": question, "choices": choices, "session_id": "s1" });
        let asked = gateway.post(&agent, "/v1/clarifications", &body);
        assert_eq!(asked.status, 200, "{asked:?}");
        asked.body["clarification_id"].as_str().unwrap().to_owned()
    };
    let chosen = asks("Which branch?", json!(["main", "next"]));
    let free = asks("What is it called?", json!([]));
    let listed = told(&gateway, &["approvals"]);
    assert!(!listed.contains("Nothing is waiting"), "{listed}");
    for part in [&chosen, &free, "Which branch?", "countersign answer ID"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let shown = told(&gateway, &["approvals", &chosen]);
    assert!(shown.contains("2. next"), "{shown}");
    assert_eq!(told(&gateway, &["answer", &chosen, "2"]), "Answered.\n");
    assert_eq!(told(&gateway, &["answer", &free, "a name"]), "Answered.\n");
    let answers = [(&chosen, "next"), (&free, "a name")];
    for (id, answer) in answers {
        let view = gateway.get(&agent, &format!("/v1/clarifications/{id}"));
        assert_eq!(view.body["answer"]["text"], answer, "{view:?}");
    }
    assert!(told(&gateway, &["approvals"]).contains("Nothing is waiting for an answer."));
}

#[test]
fn nothing_is_said_of_what_was_looked_for_and_hints_name_what_was_used() {
    let gateway = Gateway::start();
    gateway.submit(&gateway.key("agent"), "git status");
    let rows: &[(&[&str], &[&str])] = &[
        (
            &["history", "--run", "nope"],
            &["No call found that is of run nope."],
        ),
        (
            &["history", "--verdict", "refuse"],
            &["No call found", "refuse"],
        ),
        (
            &["channels", "doctor"],
            &["No channels are configured", "`channels:`"],
        ),
        (
            &["answer", "x", "maybe"],
            &["`maybe` is not a valid answer", "countersign answer --help"],
        ),
        (&["answer", "x"], &["countersign answer --help"]),
        (
            &["keys", "create", "--role", "agent"],
            &["countersign keys create --help"],
        ),
        (
            &["explain", "nope"],
            &["there is no call or approval `nope`", "countersign history"],
        ),
        (&["grants", "revoke", "nope"], &["countersign grants"]),
        (&["keys", "revoke", "nope"], &["countersign keys list"]),
        (&["people", "remove", "nope"], &["countersign people"]),
        (&["usage"], &["No model was used in the last 30d."]),
    ];
    for (words, parts) in rows {
        let said = told(&gateway, words);
        for part in *parts {
            assert!(said.contains(part), "{words:?}: {said}");
        }
        assert!(!said.contains("No calls yet"), "{words:?}: {said}");
    }
    let empty = Gateway::start();
    let said = told(&empty, &["replay"]);
    assert!(said.contains("nothing to replay"), "{said}");
    assert!(told(&empty, &["history"]).contains("No calls yet."));
}

#[test]
fn a_model_that_was_configured_after_the_start_is_used_without_a_restart() {
    let model = ModelServer::start(vec![Reply::text(["Hello."])]).unwrap();
    let gateway = Gateway::start();
    let said = told(&gateway, &["run", "hi"]);
    assert!(said.contains("no model is configured"), "{said}");
    let base = model.url();
    told(&gateway, &["config", "set", "agent.model", MODEL]);
    let half = told(&gateway, &["run", "hi"]);
    assert!(half.contains("needs both `base_url` and `model`"), "{half}");
    told(&gateway, &["config", "set", "agent.base_url", &base]);
    let said = told(&gateway, &["run", "hi"]);
    assert!(said.contains("Hello."), "{said}");
}

#[test]
fn one_risk_has_one_word_and_one_number_wherever_it_is_read() {
    let gateway = Gateway::start();
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let commands = [
        "rm -rf /srv/www",
        "git push --force",
        "curl -d @x https://example.org",
        "git status",
        "rm -rf /",
    ];
    for command in commands {
        let call = gateway.submit(&agent, command).body;
        let id = call["call_id"].as_str().unwrap();
        let word = call["assessment"]["risk"].as_str().unwrap();
        let score = call["assessment"]["risk_score"].as_f64().unwrap();
        let shown = countersign_core::score::Score::of_fraction(score).to_string();
        let risk = format!("{word} {shown}");
        for words in [
            vec!["explain", id],
            vec!["history"],
            vec!["check", "--no-config", command],
        ] {
            let said = told(&gateway, &words);
            assert!(said.contains(&risk), "{risk}: {words:?}: {said}");
        }
        if let Some(approval) = call["approval_id"].as_str() {
            let view = gateway.get(&admin, &format!("/v1/approvals/{approval}"));
            assert_eq!(view.body["card"]["risk"], word, "{command}");
        }
        for name in [
            "what it does",
            "what it touches",
            "how hard to undo",
            "effect on people",
            "how clear it is",
        ] {
            for words in [vec!["explain", id], vec!["check", "--no-config", command]] {
                assert!(told(&gateway, &words).contains(name), "{name}: {words:?}");
            }
        }
    }
}

#[test]
fn the_rule_and_the_grant_that_decided_are_named() {
    let config = "approvals: { deny: [ { name: no-force, command: \"git push --force\" } ] }\n";
    let gateway = Gateway::configured(config);
    let agent = gateway.key("agent");
    let refused = gateway.submit(&agent, "git push --force").body;
    assert_eq!(refused["status"], "refused", "{refused}");
    let id = refused["call_id"].as_str().unwrap();
    for words in [vec!["explain", id], vec!["check", "git push --force"]] {
        let said = told(&gateway, &words);
        assert!(said.contains("no-force"), "{words:?}: {said}");
    }
    let approval = gateway.ask(&agent, RISKY);
    let given = gateway.resolve(&gateway.admin(), &approval, "session");
    assert_eq!(given.status, 200, "{given:?}");
    let ran = gateway.submit(&agent, RISKY).body;
    assert_eq!(ran["status"], "allowed", "{ran}");
    let grant = ran["decision"]["grant_id"].as_str().unwrap();
    let id = ran["call_id"].as_str().unwrap();
    for words in [vec!["explain", id], vec!["history"]] {
        let said = told(&gateway, &words);
        assert!(said.contains(grant), "{words:?}: {said}");
    }
}

#[test]
fn where_a_person_was_is_shown_and_no_client_can_borrow_another_place() {
    let gateway = Gateway::start();
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let answered = |client: Option<&str>| {
        // A call of its own each: an approved one that nobody collected would be joined.
        let command = format!("{RISKY}/{}", client.unwrap_or("none"));
        let approval = gateway.ask(&agent, &command);
        let path = format!("/v1/approvals/{approval}/resolve");
        let mut request = gateway.request("POST", &path).bearer_auth(&admin);
        if let Some(client) = client {
            request = request.header("countersign-client", client);
        }
        let said = said(request.json(&json!({ "choice": "once" })));
        assert_eq!(said.status, 200, "{said:?}");
        said.body["decision"]["via"].as_str().unwrap().to_owned()
    };
    let rows = [
        (None, "api"),
        (Some("terminal"), "terminal"),
        (Some("cli"), "cli"),
        (Some("page"), "api"),
        (Some("mattermost"), "api"),
        (Some("model"), "api"),
        (Some("TERMINAL"), "api"),
    ];
    for (client, via) in rows {
        assert_eq!(answered(client), via, "{client:?}");
    }
    let approval = gateway.ask(&agent, RISKY);
    told(&gateway, &["answer", &approval, "deny"]);
    let view = gateway.get(&admin, &format!("/v1/approvals/{approval}"));
    assert_eq!(view.body["decision"]["via"], "cli");
    let late = told(&gateway, &["answer", &approval, "once"]);
    assert!(late.contains("via the command line"), "{late}");
}
