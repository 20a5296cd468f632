//! What leaves the machine: approved to the letter, or not at all.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_agent::outbound::{APPROVAL_REQUIRED, Approval, Contacts, split_token};
use countersign_agent::tools::{Around, HttpRequest, SendMessage, Tool};
use countersign_channels::{Recorder, Said};
use countersign_core::digest::Digest;
use countersign_core::policy::Policy;
use countersign_gate::GateError;
use countersign_gate::base::principal::Role;
use countersign_gate::calls::permit::Presented;
use countersign_gate::sessions::OverrideRequest;
use countersign_testkit::smtp;
use serde_json::{Value, json};

use crate::support::{Chats, Sink, World, principal, send_email, send_message, world, world_with};

fn hello() -> Value {
    json!({"to": "ana", "text": "the build is green"})
}

/// Returns what was approved, as whoever has the token presents it.
fn presented(world: &World, tool: &str, args: Value) -> Presented {
    Presented {
        tool: tool.to_owned(),
        args,
        cwd: Some(world.project.to_string_lossy().into_owned()),
        executor: format!("tool:{tool}"),
        attachments: Vec::new(),
    }
}

#[tokio::test]
async fn an_approved_message_arrives_once_as_it_was_approved() {
    let world = world().await;
    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    assert!(call.is_waiting(), "{call:?}");
    let approval = call.approval_id.clone().unwrap();
    let card = world.gate.approval(&world.ana, &approval).await.unwrap();
    let shown = format!("{card:?}");
    assert!(shown.contains("ana (mattermost:@ana)"), "{shown}");
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    let outcome = tool.run(permit, &world.around).await;
    assert_eq!(outcome.text, "sent to ana (mattermost:@ana)");
    let sent = Said::Sent {
        to: "@ana".to_owned(),
        text: "the build is green".to_owned(),
        key: call.call_id.clone(),
    };
    assert_eq!(chat.said(), [sent]);
    assert!(matches!(
        world.taken_up(&call).await,
        Err(GateError::TokenUsed)
    ));
}

#[tokio::test]
async fn an_approved_letter_arrives_with_its_attachments() {
    let world = world().await;
    world.write("report.txt", "forty-two");
    let server = smtp::Smtp::start().unwrap();
    let tool = send_email(crate::support::smtp(server.port()));
    let args = json!({
        "to": "bo", "subject": "Grüße", "body": "Hello,\nthe report.\n.\nBye",
        "attachments": ["report.txt"],
    });
    let outcome = world.run(&tool, args).await;
    assert_eq!(outcome.text, "sent to bo <bo@example.org>");
    let letters = server.letters();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0];
    assert_eq!(letter.from, "agent@example.org");
    assert_eq!(letter.to, ["bo@example.org"]);
    let expected = [
        "From: Countersign <agent@example.org>",
        "To: bo@example.org",
        "Subject: =?utf-8?b?",
        "Hello,\nthe report.\n.\nBye",
        "filename=\"report.txt\"",
    ];
    for text in expected {
        assert!(letter.data.contains(text), "{text}\n{}", letter.data);
    }
    // "forty-two", as it is or in base64.
    let found = ["forty-two", "Zm9ydHktdHdv"];
    assert!(
        found.iter().any(|it| letter.data.contains(it)),
        "{}",
        letter.data
    );
}

#[tokio::test]
async fn without_a_token_nothing_is_sent_unless_the_owner_waived_it() {
    let policy = Policy {
        approval_required: vec![("send_message".to_owned(), false)],
        thresholds: countersign_core::verdict::Thresholds {
            ask_above: countersign_core::score::Score::ONE,
            auto_below: countersign_core::score::Score::ONE,
            ..Default::default()
        },
        ..Policy::default()
    };
    let world = world_with(policy).await;
    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    assert_eq!((call.status.word(), &call.token), ("allowed", &None));
    let permit = world.taken_up(&call).await.unwrap();
    let outcome = tool.run(permit, &world.around).await;
    assert_eq!(
        (outcome.text.as_str(), outcome.failed),
        (APPROVAL_REQUIRED, true)
    );
    assert_eq!(chat.said(), []);

    let chats = Arc::new(Chats(chat.clone()));
    let waived = SendMessage::new(crate::support::contacts(), chats, Approval::Waived);
    let outcome = world.run(&waived, hello()).await;
    assert!(!outcome.failed, "{}", outcome.text);
    assert_eq!(chat.said().len(), 1);
}

#[tokio::test]
async fn neither_yolo_nor_a_mode_nor_a_lasting_choice_covers_sending() {
    let world = world().await;
    let (tool, chat) = send_message();
    let Around { who, session, .. } = &world.around;
    let yolo = OverrideRequest {
        minutes: 30,
        reason: "test",
        all: true,
    };
    world
        .gate
        .start_override(&world.ana, Some(who.key.as_str()), session, yolo)
        .await
        .unwrap();
    let call = world.submit(&tool, hello()).await;
    assert!(call.is_waiting(), "{call:?}");
    let approval = call.approval_id.unwrap();
    let view = world.gate.approval(&world.ana, &approval).await.unwrap();
    let choices = serde_json::to_value(&view).unwrap()["choices"].clone();
    assert_eq!(choices, json!(["once", "deny"]));
    assert_eq!(chat.said(), []);
}

#[tokio::test]
async fn a_token_that_comes_as_an_argument_counts_once() {
    let world = world().await;
    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    let call = world.approved(call).await;
    let token = call.token.unwrap();
    let mut args = hello();
    args["user_approval_token"] = Value::from(token.clone());
    for (try_number, counts) in [(1, true), (2, false)] {
        let (rest, found) = split_token(args.clone());
        let action = presented(&world, "send_message", tool.resolved(rest).unwrap());
        let tried = world.try_with_token(&tool, action, &found.unwrap()).await;
        assert_eq!(tried.is_ok(), counts, "{try_number}");
    }
    assert_eq!(chat.said().len(), 1);
}

#[tokio::test]
async fn a_token_for_something_else_sends_nothing() {
    let mut world = world().await;
    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    let token = world.approved(call).await.token.unwrap();
    let args = tool.resolved(hello()).unwrap();
    let right = presented(&world, "send_message", args.clone());
    let rows = [
        (
            "other tool",
            Presented {
                tool: "send_email".to_owned(),
                ..right.clone()
            },
        ),
        (
            "other executor",
            Presented {
                executor: "tool:x".to_owned(),
                ..right.clone()
            },
        ),
        (
            "other directory",
            Presented {
                cwd: None,
                ..right.clone()
            },
        ),
        (
            "attachment",
            Presented {
                attachments: vec![Digest::of(b"x")],
                ..right.clone()
            },
        ),
    ];
    for (name, action) in rows {
        let tried = world.try_with_token(&tool, action, &token).await;
        assert!(matches!(tried, Err(GateError::TokenInvalid)), "{name}");
    }
    let half = &token[..token.len() - 4];
    for (name, token) in [("none", ""), ("cut", half)] {
        let tried = world.try_with_token(&tool, right.clone(), token).await;
        assert!(matches!(tried, Err(GateError::TokenInvalid)), "{name}");
    }

    world.around.session = "s2".to_owned();
    let tried = world.try_with_token(&tool, right.clone(), &token).await;
    assert!(
        matches!(tried, Err(GateError::TokenInvalid)),
        "other session"
    );
    world.around.session = "s1".to_owned();
    let other = principal(&world.gate, "other", Role::Agent).await;
    let own = std::mem::replace(&mut world.around.who, other);
    let tried = world.try_with_token(&tool, right.clone(), &token).await;
    assert!(matches!(tried, Err(GateError::TokenInvalid)), "other agent");
    world.around.who = own;

    world.clock.advance(Duration::from_secs(301));
    let tried = world.try_with_token(&tool, right, &token).await;
    assert!(matches!(tried, Err(GateError::TokenExpired)), "expired");
    assert_eq!(chat.said(), []);
}

#[tokio::test]
async fn a_permit_that_grows_old_or_changes_hands_sends_nothing() {
    let mut world = world().await;
    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    world.clock.advance(Duration::from_secs(301));
    assert_eq!(
        tool.run(permit, &world.around).await.text,
        APPROVAL_REQUIRED
    );

    let call = world.submit(&tool, hello()).await;
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    world.around.session = "s2".to_owned();
    assert_eq!(
        tool.run(permit, &world.around).await.text,
        APPROVAL_REQUIRED
    );
    world.around.session = "s1".to_owned();

    // The permit of one tool in the hand of another.
    let sink = Sink::default();
    let call = world.submit(&tool, hello()).await;
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    assert!(
        send_email(sink.clone())
            .run(permit, &world.around)
            .await
            .failed
    );
    assert_eq!((chat.said(), sink.sent()), (vec![], vec![]));
}

#[tokio::test]
async fn what_changes_between_the_yes_and_the_sending_is_not_sent() {
    let world = world().await;
    world.write("report.txt", "forty-two");
    let sink = Sink::default();
    let tool = send_email(sink.clone());
    let args = json!({"to": "bo", "subject": "s", "body": "b", "attachments": ["report.txt"]});
    let call = world.submit(&tool, args).await;
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    world.write("report.txt", "forty-three");
    assert_eq!(
        tool.run(permit, &world.around).await.text,
        APPROVAL_REQUIRED
    );
    assert_eq!(sink.sent(), []);

    let (tool, chat) = send_message();
    let call = world.submit(&tool, hello()).await;
    let call = world.approved(call).await;
    let permit = world.taken_up(&call).await.unwrap();
    let moved = [("ana".to_owned(), "mattermost:@eve".to_owned())];
    let moved = SendMessage::new(
        Arc::new(Contacts::new(moved).unwrap()),
        Arc::new(Chats(chat.clone())),
        Approval::Required,
    );
    let outcome = moved.run(permit, &world.around).await;
    assert!(outcome.failed && outcome.text.contains("is not ana (mattermost:@eve)"));
    assert_eq!(chat.said(), []);
}

#[tokio::test]
async fn no_argument_becomes_a_header_or_a_second_recipient() {
    let tool = send_email(Sink::default());
    let mail = |to: &str, subject: &str| json!({"to": to, "subject": subject, "body": "b"});
    let rows = [
        ("subject", mail("bo", "a\r\nBcc: eve@example.org")),
        (
            "recipient",
            mail("bo@example.org\nBcc: eve@example.org", "a"),
        ),
        ("two", mail("bo@example.org, eve@example.org", "a")),
        (
            "list",
            json!({"to": ["bo", "ana"], "subject": "a", "body": "b"}),
        ),
        (
            "copy",
            json!({"to": "bo", "cc": "eve@example.org", "subject": "a", "body": "b"}),
        ),
    ];
    for (name, args) in rows {
        assert!(tool.resolved(args).is_err(), "{name}");
    }
}

/// A web server that keeps what it is asked.
fn web() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let moved = head.contains("/moved");
            kept.lock()
                .unwrap()
                .push(head + &String::from_utf8(body).unwrap());
            let answer = if moved {
                "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
            } else {
                "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"
            };
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (port, asked)
}

#[tokio::test]
async fn reading_the_web_needs_no_token_and_writing_does() {
    let world = world().await;
    let tool = HttpRequest::new(Approval::Required).unwrap();
    let (port, asked) = web();
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let got = world
        .run(
            &tool,
            json!({"url": url("/a"), "method": "GET", "headers": {"accept": "1"}}),
        )
        .await;
    assert_eq!(got.text, "200 OK\n\nhello");
    let moved = world
        .run(&tool, json!({"url": url("/moved"), "method": "GET"}))
        .await;
    assert!(
        moved
            .text
            .starts_with("302 Found\nlocation: http://127.0.0.1:1/\n(not followed")
    );
    assert_eq!(asked.lock().unwrap().len(), 2);

    let writing = json!({"url": url("/b"), "method": "POST", "body": "text"});
    let call = world.submit(&tool, writing.clone()).await;
    assert!(call.is_waiting(), "{call:?}");
    let posted = world.run(&tool, writing).await;
    assert_eq!(posted.text, "200 OK\n\nhello");
    let asked = asked.lock().unwrap().clone();
    assert!(asked[0].contains("accept: 1"), "{}", asked[0]);
    assert!(
        asked[2].starts_with("POST /b ") && asked[2].ends_with("text"),
        "{}",
        asked[2]
    );
}

#[tokio::test]
async fn a_request_that_could_be_read_in_two_ways_is_written_out_or_refused() {
    let tool = HttpRequest::new(Approval::Required).unwrap();
    let get = |url: &str| json!({"url": url, "method": "GET"});
    let written = [
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://0x7f000001:8750/v1", "http://127.0.0.1:8750/v1"),
        ("https:\\\\example.org\\a", "https://example.org/a"),
        ("https://EXAMPLE.org/../a/./b", "https://example.org/a/b"),
    ];
    for (url, expected) in written {
        let resolved = tool.resolved(get(url)).unwrap();
        assert_eq!(resolved["url"], expected, "{url}");
        assert_eq!(tool.resolved(resolved.clone()).unwrap(), resolved, "{url}");
    }
    let refused = [
        ("user", get("https://good@example.org/")),
        ("scheme", get("file:///etc/passwd")),
        (
            "method",
            json!({"url": "https://example.org/", "method": "Delete"}),
        ),
        (
            "body",
            json!({"url": "https://example.org/", "method": "GET", "body": "x"}),
        ),
        (
            "host",
            json!({"url": "https://example.org/", "method": "GET", "headers": {"Host": "x"}}),
        ),
        (
            "header",
            json!({"url": "https://example.org/", "method": "GET", "headers": {"a": "b\r\nc: d"}}),
        ),
        (
            "json",
            json!({"url": "https://example.org/", "method": "POST", "json": {}}),
        ),
    ];
    for (name, args) in refused {
        assert!(tool.resolved(args).is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_channel_that_is_away_is_said_and_the_message_is_not_tried_again() {
    let world = world().await;
    let (tool, chat): (SendMessage, Recorder) = send_message();
    chat.goes_away();
    let outcome = world.run(&tool, hello()).await;
    assert!(
        outcome.failed && outcome.text.starts_with("it was not sent: "),
        "{}",
        outcome.text
    );
    chat.comes_back();
    assert_eq!(chat.said(), []);
}
