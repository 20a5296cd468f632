//! Chat completions: the built-in agent for clients that only speak `OpenAI`, and the command line.

use std::io::Write as _;
use std::process::{Command, Stdio};

use countersign_testkit::model::{MODEL, Reply};
use serde_json::{Value, json};

use crate::ours::ours;
use crate::scene::{Scene, shell};
use crate::support::said;

fn ask(scene: &Scene, body: &Value) -> reqwest::blocking::Response {
    let request = scene
        .gateway
        .request("POST", "/v1/chat/completions")
        .bearer_auth(scene.gateway.admin());
    request.json(body).send().unwrap()
}

fn chunks(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn an_answer_comes_whole_or_in_chunks() {
    let reply = || Reply::text(["One. ", "Two."]).usage(30, 4);
    let scene = Scene::new(vec![reply(), reply()]);
    let messages = json!([
        { "role": "system", "content": "Count." },
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": "b" },
        { "role": "user", "content": "go on" },
    ]);
    let whole = ask(&scene, &json!({ "model": "any", "messages": messages }));
    let session = whole.headers()["x-session-id"].to_str().unwrap().to_owned();
    assert!(session.starts_with("ses_"), "{session}");
    let whole: Value = serde_json::from_str(&whole.text().unwrap()).unwrap();
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["model"], MODEL);
    assert_eq!(
        whole["choices"][0]["message"],
        json!({ "role": "assistant", "content": "One. Two." })
    );
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        whole["usage"],
        json!({ "prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34 })
    );
    let told = &scene.model.requests()[0]["messages"];
    assert!(
        told[0]["content"].as_str().unwrap().ends_with("Count."),
        "{told}"
    );
    assert_eq!(told.as_array().unwrap().len(), 4, "{told}");

    let body = json!({ "messages": messages, "stream": true, "stream_options": { "include_usage": true } });
    let text = ask(&scene, &body).text().unwrap();
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let chunks = chunks(&text);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let content: String = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(content, "One. Two.");
    let usage = chunks.last().unwrap();
    assert_eq!(
        (&usage["choices"], &usage["usage"]["total_tokens"]),
        (&json!([]), &json!(34))
    );
    let end = &chunks[chunks.len() - 2];
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert!(
        chunks
            .iter()
            .all(|it| it["object"] == "chat.completion.chunk" && it["id"] == chunks[0]["id"])
    );
}

#[test]
fn a_call_that_needs_a_person_is_held_and_the_stream_says_so() {
    let script = vec![
        Reply::calls(["Let me see. "], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["It is gone."]),
    ];
    let scene = Scene::new(script);
    let precious = scene.precious("precious");
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": "clean up" }] });
    let response = ask(&scene, &body);
    let answer = std::thread::spawn(move || response.text().unwrap());
    let admin = scene.gateway.admin();
    let run = scene.asked(&admin)["run_id"].as_str().unwrap().to_owned();
    assert!(precious.exists());
    assert_eq!(
        scene.approve(&run, &json!({ "choice": "once" })).status,
        200
    );
    let text = answer.join().unwrap();
    assert!(text.contains("\nevent: countersign.approval\n"), "{text}");
    let chunks = chunks(&text);
    let asked = chunks
        .iter()
        .find(|it| it["event"] == "approval.required")
        .unwrap();
    assert_eq!(
        asked["choices"],
        json!([]),
        "what clients look at first is empty"
    );
    assert_eq!(asked["offered"], json!(["once", "deny"]));
    assert!(
        asked["approval_id"].is_string() && asked["description"].is_string(),
        "{asked}"
    );
    let content: String = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(content, "Let me see. \n\nIt is gone.");
    assert!(!precious.exists());
}

#[test]
fn who_goes_away_stops_the_run() {
    for stream in [true, false] {
        let script = vec![Reply::calls([], &[shell("c1", "rm -rf ~/precious")])];
        let scene = Scene::new(script);
        let precious = scene.precious("precious");
        let body =
            json!({ "stream": stream, "messages": [{ "role": "user", "content": "clean up" }] });
        let (url, admin) = (scene.gateway.url.clone(), scene.gateway.admin());
        // A connection of its own, which is cut while the run waits.
        let body = body.to_string();
        let host = url.trim_start_matches("http://").to_owned();
        let mut connection = std::net::TcpStream::connect(&host).unwrap();
        write!(
            connection,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {admin}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let run = scene.asked(&admin)["run_id"].as_str().unwrap().to_owned();
        drop(connection);
        scene.wait_for(&run, "cancelled");
        assert!(precious.exists());
    }
}

#[test]
fn a_run_that_fails_is_an_error_in_the_shape_clients_know() {
    let fails = || Reply::status(400, r#"{"error":{"message":"no such model"}}"#);
    let scene = Scene::new(vec![fails(), fails()]);
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let whole = crate::support::heard(ask(&scene, &json!({ "messages": messages })));
    assert_eq!((whole.status, whole.code()), (502, "run_failed"));
    let text = ask(&scene, &json!({ "messages": messages, "stream": true }))
        .text()
        .unwrap();
    let chunks = chunks(&text);
    assert_eq!(
        chunks.last().unwrap()["error"]["code"],
        "run_failed",
        "{text}"
    );
}

#[test]
fn a_named_session_goes_on_and_history_is_not_doubled() {
    let scene = Scene::new(vec![Reply::text(["One."]), Reply::text(["Two."])]);
    let send = |messages: Value| {
        let request = scene
            .gateway
            .request("POST", "/v1/chat/completions")
            .bearer_auth(scene.gateway.admin())
            .header("x-hermes-session-id", "mine");
        said(request.json(&json!({ "messages": messages })))
    };
    let first = json!({ "role": "user", "content": "first" });
    assert_eq!(send(json!([first])).status, 200);
    let messages = json!([first, { "role": "assistant", "content": "One." }, { "role": "user", "content": "second" }]);
    assert_eq!(send(messages).status, 200);
    let told = scene.model.requests()[1]["messages"].clone();
    let told: Vec<&str> = told.as_array().unwrap()[1..]
        .iter()
        .map(|it| it["content"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["first", "One.", "second"]);
}

fn command_line(scene: &Scene, args: &[&str]) -> Command {
    let mut command = ours(&scene.gateway.home());
    command
        .args(args)
        .current_dir(&scene.work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn the_command_line_runs_waits_and_says_how_to_answer() {
    let script = vec![
        Reply::calls(["Looking. "], &[shell("c1", "rm -rf ~/precious")]),
        Reply::text(["It is gone."]),
    ];
    let scene = Scene::new(script);
    let precious = scene.precious("precious");
    let child = command_line(&scene, &["run", "clean up"]).spawn().unwrap();
    let admin = scene.gateway.admin();
    let id = scene.asked(&admin)["approval_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(scene.gateway.resolve(&admin, &id, "once").status, 200);
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stdout, "Looking. \nIt is gone.\n");
    assert!(stderr.contains("· rm -rf ~/precious"), "{stderr}");
    assert!(
        stderr.contains(&format!("countersign answer {id} once|")),
        "{stderr}"
    );
    assert!(stderr.contains("Approved by"), "{stderr}");
    assert!(!precious.exists());
    let usage = command_line(&scene, &["usage"]).output().unwrap();
    let usage = String::from_utf8(usage.stdout).unwrap();
    assert!(usage.contains(MODEL), "{usage}");
}

#[test]
fn without_a_terminal_every_waiting_question_is_printed() {
    let script = vec![
        Reply::calls(
            ["Both. "],
            &[shell("c1", "rm -rf ~/one"), shell("c2", "rm -rf ~/two")],
        ),
        Reply::text(["As you like."]),
    ];
    let scene = Scene::new(script);
    scene.precious("one");
    scene.precious("two");
    let child = command_line(&scene, &["run", "clean up"]).spawn().unwrap();
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", Some(0));
    let mut ids = Vec::new();
    while ids.len() < 2 {
        let asked = events.named("approval.required").1;
        ids.push(asked["approval_id"].as_str().unwrap().to_owned());
    }
    for id in &ids {
        assert_eq!(scene.gateway.resolve(&admin, id, "deny").status, 200);
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for id in &ids {
        let how = format!("countersign answer {id} once|");
        assert_eq!(stderr.matches(&how).count(), 1, "{stderr}");
    }
}

#[test]
fn the_command_line_says_that_a_run_failed() {
    let scene = Scene::new(vec![Reply::status(
        400,
        r#"{"error":{"message":"no such model"}}"#,
    )]);
    let output = command_line(&scene, &["run", "hi"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("no such model"), "{stderr}");
    let events = Scene::new(vec![Reply::text(["Hi."])]);
    let output = command_line(&events, &["run", "hi", "--json"])
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let names: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone())
        .collect();
    assert_eq!(names.first(), Some(&json!("run.started")));
    assert_eq!(names.last(), Some(&json!("run.completed")));
}

#[test]
fn a_chat_on_the_command_line_is_one_conversation() {
    let scene = Scene::new(vec![Reply::text(["One."]), Reply::text(["Two."])]);
    let mut child = command_line(&scene, &["chat", "--plain"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"first\n\nsecond\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "One.\nTwo.\n");
    let told = scene.model.requests()[1]["messages"].to_string();
    assert!(
        told.contains("first") && told.contains("One.") && told.contains("second"),
        "{told}"
    );
}
