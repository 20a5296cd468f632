//! What is told of calls, drafts and overrides is what happened.

use countersign_core::policy::{CRISIS_NOTICE, CRISIS_NOTICE_UNREACHABLE};
use countersign_testkit::model::{Call, Reply};
use serde_json::{Value, json};

use crate::scene::{Scene, shell};
use crate::support::Gateway;

const CRY: &str = "I want to kill myself tonight.";

/// The events of one name.
fn of<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|it| it["event"] == name).collect()
}

/// How the call that the model names `id` ended.
fn ended<'a>(events: &'a [Value], id: &str) -> &'a Value {
    let completed = of(events, "tool.completed");
    let mut its = completed.into_iter().filter(|it| it["tool_call_id"] == id);
    let ended = its.next().unwrap_or_else(|| panic!("{id}: {events:#?}"));
    assert!(its.next().is_none(), "{id} ends twice: {events:#?}");
    ended
}

/// Runs `countersign` as the owner of the gateway's home, and returns what it prints.
fn typed(gateway: &Gateway, args: &[&str]) -> String {
    let output = crate::ours::ours(&gateway.home())
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn me(gateway: &Gateway) -> String {
    let said = gateway.get(&gateway.admin(), "/v1/whoami").body;
    said["name"].as_str().unwrap().to_owned()
}

/// Answers the question about `command` of a run in which `count` wait.
fn answer(scene: &Scene, run: &str, command: &str, body: &Value) {
    let shown = scene.status(run);
    let waiting = shown["pending_approvals"].as_array().unwrap();
    let asked = waiting.iter().find(|it| it["command"] == command);
    let id = asked.unwrap()["approval_id"].as_str().unwrap();
    let path = format!("/v1/approvals/{id}/resolve");
    let said = scene.gateway.post(&scene.gateway.admin(), &path, body);
    assert_eq!(said.status, 200, "{said:?}");
}

#[test]
fn each_of_several_calls_is_told_under_both_its_names_with_its_own_outcome() {
    let calls = [
        shell("one", "rm -rf ~/one"),
        shell("two", "rm -rf ~/two"),
        shell("three", "rm -rf ~/three"),
        shell("four", "ls /there/is/nothing"),
        Call::new("five", "no_such_tool", &json!({})),
        Call::new("six", "terminal", &json!({ "wrong": true })),
    ];
    let scene = Scene::new(vec![Reply::calls([], &calls), Reply::text(["Well."])]);
    let places = ["one", "two", "three"].map(|name| scene.precious(name));
    let run = scene.start("clean up");
    scene.waiting(&run, 3);
    answer(&scene, &run, "rm -rf ~/three", &json!({ "choice": "once" }));
    scene.waiting(&run, 2);
    let no = json!({ "choice": "deny", "note": "keep it" });
    answer(&scene, &run, "rm -rf ~/one", &no);
    scene.waiting(&run, 1);
    answer(&scene, &run, "rm -rf ~/two", &json!({ "choice": "once" }));
    let events = scene.events(&run);
    assert_eq!(places.map(|place| place.exists()), [true, false, false]);
    let denied = format!("denied by {}: keep it", me(&scene.gateway));
    let rows = [
        ("one", "denied", denied.as_str()),
        ("two", "done", "done"),
        ("three", "done", "done"),
        ("four", "failed", "failed (exit 2)"),
        ("five", "not_run", "not run: there is no such tool"),
        ("six", "not_run", "not run: its arguments do not fit"),
    ];
    for (id, outcome, words) in rows {
        let ended = ended(&events, id);
        assert_eq!(
            (&ended["outcome"], &ended["words"]),
            (&json!(outcome), &json!(words)),
            "{id}"
        );
        assert_eq!(ended["error"], outcome != "done", "{id}");
        let started = of(&events, "tool.started");
        let started = started.iter().find(|it| it["tool_call_id"] == id).unwrap();
        assert_eq!(started["call_id"], ended["call_id"], "{id}");
    }
    // Whatever else is told of a call names it twice, too, and the same.
    let named = |event: &&&Value| event["call_id"].is_string() || event["approval_id"].is_string();
    let all: Vec<&Value> = events.iter().collect();
    let told: Vec<_> = all.iter().filter(named).collect();
    assert!(told.len() > 20, "{events:#?}");
    for event in told {
        let call = &event["call_id"];
        let started = of(&events, "tool.started");
        let started = started.iter().find(|it| it["call_id"] == *call).unwrap();
        assert_eq!(event["tool_call_id"], started["tool_call_id"], "{event}");
    }
    // The record says the same, for who comes later.
    let session = scene.status(&run)["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/v1/sessions/{session}/messages");
    let messages = scene.gateway.get(&scene.gateway.admin(), &path).body;
    let messages = messages["messages"].as_array().unwrap();
    for (id, outcome, words) in rows {
        let message = messages.iter().find(|it| it["tool_call_id"] == id).unwrap();
        let ended = &message["ended"];
        assert_eq!(
            (&ended["outcome"], &ended["words"]),
            (&json!(outcome), &json!(words)),
            "{id}"
        );
    }
    // The model is told in its own words, and nothing of ours.
    let told = scene.model.requests().pop().unwrap();
    assert!(!told.to_string().contains("\"ended\""), "{told}");
}

#[test]
fn a_call_that_was_refused_says_why_and_one_that_expired_says_so() {
    let config = "approvals: { timeout: 1s, deny: [{ name: no pushes, command: git push }] }\n";
    let calls = [
        shell("push", "git push origin main"),
        shell("rm", "rm -rf ~/one"),
    ];
    let script = vec![Reply::calls([], &calls), Reply::text(["Well."])];
    let scene = Scene::configured(script, config);
    scene.precious("one");
    let run = scene.start("clean up");
    let events = scene.events(&run);
    let words = |id: &str| ended(&events, id)["words"].as_str().unwrap().to_owned();
    assert_eq!(words("push"), "refused because of the deny rule no pushes");
    assert_eq!(words("rm"), "expired: nobody answered in time");
    let calls = scene.gateway.get(&scene.gateway.admin(), "/v1/calls").body;
    let refused = calls["calls"].as_array().unwrap().iter();
    let refused = refused
        .clone()
        .find(|it| it["status"] == "refused")
        .unwrap();
    assert_eq!(refused["decision"]["rule"], "no pushes");
    assert!(
        refused["message"].as_str().unwrap().contains("no pushes"),
        "{refused}"
    );
}

#[test]
fn a_call_that_was_denied_a_moment_ago_says_by_whom() {
    let again = |id: &str| Reply::calls([], &[shell(id, "rm -rf ~/one")]);
    let scene = Scene::new(vec![again("a"), again("b"), Reply::text(["Well."])]);
    scene.precious("one");
    let run = scene.start("clean up");
    scene.waiting(&run, 1);
    let no = json!({ "choice": "deny", "note": "keep it" });
    answer(&scene, &run, "rm -rf ~/one", &no);
    let events = scene.events(&run);
    let words = ended(&events, "b")["words"].as_str().unwrap();
    let start = format!("refused because it was denied by {} ", me(&scene.gateway));
    assert!(
        words.starts_with(&start) && words.ends_with("keep it"),
        "{words}"
    );
}

#[test]
fn where_nobody_else_can_be_asked_nobody_says_that_somebody_was() {
    let draft = || Reply::text(["Zebra words that nobody has looked at."]);
    let scene = Scene::new(vec![draft(), draft()]);
    let admin = scene.gateway.admin();
    let run = scene.start(CRY);
    let events = scene.events(&run);
    let held = of(&events, "message.held");
    assert_eq!(held.len(), 1, "{events:#?}");
    assert_eq!(held[0]["notice"], CRISIS_NOTICE_UNREACHABLE);
    assert_eq!(held[0]["reached"], false);
    assert_eq!(events.last().unwrap()["output"], CRISIS_NOTICE_UNREACHABLE);
    assert!(
        of(&events, "approval.required").is_empty(),
        "it is shown to nobody"
    );
    for event in of(&events, "message.delta") {
        assert_eq!(event["notice"], true, "{event}");
    }
    for event in &events {
        let event = event.to_string();
        assert!(
            !event.contains("ebra") && !event.contains(CRISIS_NOTICE),
            "{event}"
        );
    }
    let calls = scene.gateway.get(&admin, "/v1/calls").body;
    let decision = &calls["calls"][0]["decision"];
    assert_eq!(
        (&decision["outcome"], &decision["cause"]),
        (&json!("expired"), &json!("no_approver"))
    );
    // A client that knows completions alone reads it once, too.
    let body = json!({ "messages": [{ "role": "user", "content": CRY }], "stream": true });
    let request = scene
        .gateway
        .request("POST", "/v1/chat/completions")
        .bearer_auth(&admin);
    let text = request.json(&body).send().unwrap().text().unwrap();
    assert_eq!(text.matches(CRISIS_NOTICE_UNREACHABLE).count(), 1, "{text}");
    assert!(
        !text.contains(CRISIS_NOTICE) && !text.contains("ebra"),
        "{text}"
    );
}

#[test]
fn who_is_in_crisis_stays_so_in_a_fresh_conversation_until_another_person_clears_it() {
    let answers = ["Zebra one.", "Zebra two.", "Zebra three."];
    let scene = Scene::new(answers.map(|it| Reply::text([it])).to_vec());
    let (admin, ben) = (
        scene.gateway.admin(),
        scene.gateway.named_key("ben", "approver"),
    );
    for input in [CRY, "what about my invoice?"] {
        let run = scene.start(input);
        let id = scene.waiting(&run, 1).remove(0);
        assert_eq!(
            scene.gateway.resolve(&admin, &id, "once").status,
            403,
            "{input}"
        );
        assert_eq!(
            scene.gateway.resolve(&ben, &id, "deny").status,
            200,
            "{input}"
        );
        let output = &scene.events(&run).pop().unwrap()["output"];
        assert_eq!(output, CRISIS_NOTICE, "{input}");
    }
    let marks = scene.gateway.get(&ben, "/v1/crisis").body;
    assert_eq!(
        marks["recipients"][0]["recipient"],
        me(&scene.gateway).to_lowercase()
    );
    let clear = json!({ "recipient": me(&scene.gateway), "note": "we talked" });
    let own = scene.gateway.post(&admin, "/v1/crisis/clear", &clear);
    assert_eq!(own.status, 403, "{own:?}");
    let cleared = scene.gateway.post(&ben, "/v1/crisis/clear", &clear);
    assert_eq!(cleared.status, 200, "{cleared:?}");
    assert_eq!(cleared.body["recipients"], json!([]));
    let run = scene.start("and now?");
    assert_eq!(scene.events(&run).pop().unwrap()["output"], "Zebra three.");
}

#[test]
fn a_message_to_who_was_in_crisis_is_asked_about_whatever_session_or_key_sends_it() {
    let gateway = Gateway::configured(
        "outbound: { require_approval: false }\ncrisis: { help_lines: [\"Lifeline 0800 111\"] }\n",
    );
    let (first, second) = (
        gateway.named_key("one", "agent"),
        gateway.named_key("two", "agent"),
    );
    let admin = gateway.admin();
    let send = |key: &str, session: &str, to: &str, replying_to: Option<&str>| {
        let args = json!({ "to": to, "body": "Your invoice", "subject": "Invoice" });
        let body = json!({
            "tool": "send_email", "args": args, "session_id": session, "replying_to": replying_to,
        });
        gateway.post(key, "/v1/calls", &body)
    };
    let usual = send(&first, "s0", "sam@example.org", None);
    assert_eq!(
        usual.body["assessment"]["crisis_sensitive"], false,
        "{usual:?}"
    );
    let cry = send(&first, "s1", "sam@example.org", Some(CRY));
    assert_eq!(cry.status, 202, "{cry:?}");
    for (key, to) in [
        (&first, "Sam <SAM@example.org>"),
        (&second, "sam@example.org"),
    ] {
        let fresh = send(key, "fresh", to, None);
        assert_eq!(fresh.status, 202, "{fresh:?}");
        assert_eq!(fresh.body["assessment"]["crisis_sensitive"], true);
        let id = fresh.body["approval_id"].as_str().unwrap();
        let card = gateway.get(&admin, &format!("/v1/approvals/{id}")).body;
        assert_eq!(card["choices"], json!(["once", "deny"]));
        assert_eq!(card["card"]["help_lines"], json!(["Lifeline 0800 111"]));
    }
    let other = send(&second, "fresh", "eve@example.org", None);
    assert_eq!(
        other.body["assessment"]["crisis_sensitive"], false,
        "{other:?}"
    );
    // A person looks at the list and clears it, on the command line.
    let run = |args: &[&str]| typed(&gateway, args);
    let listed = run(&["crisis"]);
    assert!(
        listed.contains("sam@example.org") && listed.contains("s1"),
        "{listed}"
    );
    let cleared = run(&[
        "crisis",
        "clear",
        "--recipient",
        "sam@example.org",
        "--note",
        "seen",
    ]);
    assert!(!cleared.contains("sam@example.org"), "{cleared}");
    let after = send(&second, "later", "sam@example.org", None);
    assert_eq!(
        after.body["assessment"]["crisis_sensitive"], false,
        "{after:?}"
    );
    let ledger = gateway
        .get(&admin, "/v1/ledger?limit=1000")
        .body
        .to_string();
    assert!(ledger.contains("crisis.marked") && ledger.contains("crisis.cleared"));
    for wrong in [json!({}), json!({ "session_id": "s1", "recipient": "x" })] {
        let said = gateway.post(&admin, "/v1/crisis/clear", &wrong);
        assert_eq!(said.code(), "ambiguous_mark", "{said:?}");
    }
}

#[test]
fn plain_yolo_still_asks_about_critical_calls_and_is_shown_until_it_ends() {
    const CRITICAL: &str = "rm -rf /srv/www";
    const ORDINARY: &str = "git push origin main";
    let gateway = Gateway::start();
    let (agent, admin) = (gateway.key("agent"), gateway.admin());
    let verdict = |command: &str| gateway.submit(&agent, command).body["verdict"].clone();
    assert_eq!([verdict(CRITICAL), verdict(ORDINARY)], ["ask", "ask"]);
    let path = "/v1/sessions/s1/yolo";
    let plain = json!({ "minutes": 5, "reason": "a try" });
    assert_eq!(gateway.post(&admin, path, &plain).body["all"], false);
    assert_eq!([verdict(CRITICAL), verdict(ORDINARY)], ["ask", "allow"]);
    let run = |args: &[&str]| typed(&gateway, args);
    let listed = run(&["grants"]);
    for wanted in [
        "Session s1 runs without questions, except about critical calls",
        "a try",
        "grants end s1",
    ] {
        assert!(listed.contains(wanted), "{wanted}: {listed}");
    }
    let all = json!({ "minutes": 5, "reason": "a try", "all": true });
    assert_eq!(gateway.post(&admin, path, &all).body["all"], true);
    assert_eq!(
        [verdict(CRITICAL), verdict("rm -rf /")],
        ["allow", "refuse"]
    );
    assert!(run(&["grants"]).contains("including critical calls"));
    let listed: Value = serde_json::from_str(&run(&["grants", "--json"])).unwrap();
    assert_eq!(listed["overrides"][0]["all"], true, "{listed}");
    let key = listed["overrides"][0]["key_id"].as_str().unwrap();
    run(&["grants", "end", "s1", "--key-id", key]);
    assert_eq!([verdict(CRITICAL), verdict(ORDINARY)], ["ask", "ask"]);
    assert!(!run(&["grants"]).contains("Session s1"));
}
