//! What an agent writes stays text, and what does not fit is opened before it is allowed.

use countersign_testkit::mattermost::FileAttachments;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::registered;
use crate::scene::{Card, Scene, seen_by};

#[derive(Deserialize)]
struct Spoof {
    id: String,
    text: String,
    must_not: Vec<String>,
}

fn spoofs() -> Vec<Spoof> {
    let files = ["spoof.jsonl", "spoof_more.jsonl"];
    let rows = files.into_iter().flat_map(|file| {
        let path = format!("{}/../../corpus/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let rows: Vec<Spoof> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        rows
    });
    rows.collect()
}

/// Returns whether a text has anything outside its code that was not written by us.
fn is_one_block(text: &str) -> bool {
    let mut lines = text.lines();
    let Some(fence) = lines.next() else {
        return false;
    };
    let ticks = fence.chars().take_while(|char| *char == '`').count();
    let inside: Vec<&str> = lines.collect();
    let closes = |line: &str| {
        let run = line
            .trim_start()
            .chars()
            .take_while(|char| *char == '`')
            .count();
        run >= ticks
    };
    ticks >= 3
        && inside.iter().filter(|line| closes(line)).count() == 1
        && closes(inside.last().unwrap())
}

#[test]
fn hostile_text_stays_text_mentions_nobody_and_brings_no_button() {
    let scene = Scene::with(|wanted| {
        wanted.channel = json!({ "commands": false, "mention": false });
    });
    let rows = spoofs();
    assert!(rows.len() > 100, "{}", rows.len());
    // As many at once as one agent may have waiting.
    for some in rows.chunks(20) {
        let asked: Vec<_> = some.iter().map(|row| scene.ask_with(&call(row))).collect();
        for (row, question) in some.iter().zip(asked) {
            let card = scene.card(&question.approval);
            assert_inert(row, &card);
            let denied = scene.ana.click(card.id(), "deny");
            assert_eq!(denied.status, 200, "{}", row.id);
        }
    }
    // Mentions travel with the event; all cards have been seen by now.
    // The server itself mentions who it adds to a channel.
    let by_bot = format!("\"user_id\":\"{}\"", scene.place().bot.id);
    for event in scene.ana.events() {
        let post = event["data"]["post"].as_str().unwrap_or("");
        let is_mentioned = event["data"].get("mentions").is_some();
        assert!(!(post.contains(&by_bot) && is_mentioned), "{event}");
    }
}

/// Returns a call that says what a row says wherever an agent can say something.
fn call(row: &Spoof) -> Value {
    // To somebody else each time: texts that differ only in what nobody sees are the same message.
    let to = format!("ana-{}", row.id);
    let mut call = json!({
        "tool": "send_message", "args": { "to": to, "text": row.text },
        "session_id": row.id, "explanation": row.text,
    });
    // Names with control characters are refused before anybody sees them.
    if row.text.len() <= 256 && !row.text.contains(char::is_control) {
        call["agent"] = json!(row.text);
    }
    call
}

/// Fails unless what a row says is shown as text and nothing else.
fn assert_inert(row: &Spoof, card: &Card) {
    let shown = strings(&card.0["props"]);
    for hidden in row.must_not.iter().filter(|hidden| hidden.as_str() != "\n") {
        let there = shown.iter().find(|text| text.contains(hidden.as_str()));
        assert_eq!(there, None, "{}: {hidden:?}", row.id);
    }
    assert!(is_one_block(card.text()), "{}: {}", row.id, card.text());
    let ours = ["once", "deny", "denynote", "view"];
    let all_ours = card.actions().iter().all(|id| ours.contains(id));
    assert!(all_ours, "{}: {:?}", row.id, card.actions());
    assert_eq!(card.message(), "⚠️ Command Approval Required", "{}", row.id);
}

/// Returns every text in a value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[test]
fn what_does_not_fit_is_not_allowed_before_it_was_opened() {
    let scene = Scene::with(|wanted| wanted.approvers = vec!["ana", "ben"]);
    let tail = "; rm -rf /srv/www";
    let command = format!("echo {}{tail}", "0123456789abcdef ".repeat(6000));
    assert!(command.len() > 100_000);
    let (question, card) = scene.asked(&command);
    assert_eq!(card.actions(), ["deny", "denynote", "view"]);
    let shown = card.text();
    assert!(shown.contains("echo 0123"), "the head: {shown}");
    assert!(shown.contains(tail), "the tail: {shown}");
    assert!(shown.contains("sha256") || card.0.to_string().contains("sha256:"));
    // Whoever makes an allow up has no code for it; whoever copies one has the wrong one.
    let mut click = scene.captured(&scene.ana, &card, "deny");
    click["context"]["d"] = json!("once");
    scene.assert_refused(&question, &click, "not offered");

    // Typing is no way around it.
    registered(&scene);
    let line = format!("/approve {}", question.approval);
    let typed = scene.ana.command(&scene.place().channel_id, "", &line);
    assert!(typed.text("text").contains("full text"), "{typed:?}");
    scene.assert_waiting(&question, "typed");
    assert_eq!(scene.ana.click(card.id(), "view").status, 200);
    scene.assert_waiting(&question, "looking decides nothing");
    let offers = |card: &Card| card.actions().contains(&"once");
    let opened = seen_by(&scene.ana, &question.approval, offers);
    // Ben has not read it, so he is not offered to allow it.
    assert_ne!(opened.0["channel_id"], card.0["channel_id"]);
    let shared = Card(scene.ben.get(&format!("/posts/{}", card.id())).body);
    assert_eq!(shared.actions(), ["deny", "denynote", "view"]);
    let whole = full_text(&scene, &card);
    let marks = whole.matches("0123456789abcdef").count();
    assert!(marks >= 5900, "the full text is there: {marks}");
    assert_eq!(scene.ana.click(opened.id(), "once").status, 200);
    assert_eq!(scene.decided(&question)["status"], "approved");
}

/// Returns the full text below a card, from a file or from messages, without blanks.
fn full_text(scene: &Scene, card: &Card) -> String {
    let path = format!("/posts/{}/thread", card.id());
    let thread = scene.ana.get(&path).body;
    let mut parts: Vec<&Value> = thread["posts"].as_object().unwrap().values().collect();
    parts.sort_by_key(|post| post["create_at"].as_i64());
    let mut whole = String::new();
    for post in parts.iter().filter(|post| post["root_id"] == card.id()) {
        whole.push_str(post["message"].as_str().unwrap());
        for id in post["file_ids"].as_array().into_iter().flatten() {
            let file = scene.ana.get(&format!("/files/{}", id.as_str().unwrap()));
            assert_eq!(file.status, 200, "{file:?}");
            whole.push_str(file.body.as_str().unwrap());
        }
    }
    whole.retain(|char| !char.is_whitespace() && char != '│');
    whole
}

#[test]
fn a_long_text_comes_as_a_file_or_in_messages_where_there_are_no_files() {
    for files in [FileAttachments::Taken, FileAttachments::Off] {
        let scene = Scene::with(|wanted| wanted.settings.file_attachments = files);
        let command = format!("echo {}; rm -rf /srv/www", "0123456789abcdef ".repeat(3000));
        let (_, card) = scene.asked(&command);
        assert_eq!(scene.ana.click(card.id(), "view").status, 200);
        let whole = full_text(&scene, &card);
        assert!(
            whole.matches("0123456789abcdef").count() >= 2900,
            "{files:?}"
        );
        let path = format!("/posts/{}/thread", card.id());
        let posts = scene.ana.get(&path).body["posts"]
            .as_object()
            .unwrap()
            .len();
        if files == FileAttachments::Taken || scene.stage.fake.is_none() {
            assert_eq!(posts, 2, "the card and one file");
        } else {
            assert!(posts > 2, "{posts}");
        }
        if scene.stage.fake.is_none() {
            return;
        }
    }
}

#[test]
fn a_secret_in_a_command_does_not_reach_the_chat() {
    let scene = Scene::new();
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let command = format!(
        "curl -X DELETE -H 'Authorization: Bearer {secret}' https://api.example.com/repos/x"
    );
    let (question, card) = scene.asked(&command);
    assert!(
        card.text().contains("https://api.example.com/repos/x"),
        "{card:?}"
    );
    assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
    scene.settled(&question.approval);
    let said = scene.place().posts(&scene.place().channel_id);
    assert!(!json!(said).to_string().contains(&secret));
    let passed = scene.relay.passed();
    assert!(
        passed
            .iter()
            .all(|it| !String::from_utf8_lossy(&it.body).contains(&secret))
    );
}
