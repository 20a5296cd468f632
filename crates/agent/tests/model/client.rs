//! The model client against a scripted server: what it sends, what it reads, when it gives up.

use std::time::Duration;

use countersign_agent::message::Message;
use countersign_agent::model::{
    ChatRequest, Client, Completion, Delta, Endpoint, Limits, ModelError, ToolSchema, Usage,
};
use countersign_testkit::model::{Call, MODEL, ModelServer, Reply};
use serde_json::json;

const KEY: &str = "sk-test-4f9d2c81b7e6a5039d";

fn quick() -> Limits {
    Limits {
        idle: Duration::from_secs(20),
        total: Duration::from_secs(30),
        backoff: Duration::from_millis(1),
        ..Limits::default()
    }
}

fn client(server: &ModelServer, limits: Limits) -> Client {
    let endpoint = Endpoint {
        base_url: server.url(),
        model: "wanted".to_owned(),
        api_key: Some(KEY.to_owned()),
    };
    Client::new(endpoint, limits).unwrap()
}

fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "hello".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

async fn ask(client: &Client, request: &ChatRequest) -> (Result<Completion, ModelError>, String) {
    let mut shown = String::new();
    let answer = client
        .complete(request, &mut |delta| match delta {
            Delta::Text(text) => shown.push_str(text),
            Delta::Reasoning(_) => {}
        })
        .await;
    (answer, shown)
}

/// Asks a server that follows `script`; returns the answer, what was shown, and how often it was
/// asked.
async fn tried(
    script: Vec<Reply>,
    limits: Limits,
) -> (Result<Completion, ModelError>, String, usize) {
    let server = ModelServer::start(script).unwrap();
    let (answer, shown) = ask(&client(&server, limits), &hello()).await;
    (answer, shown, server.requests().len())
}

#[tokio::test]
async fn a_question_is_sent_and_its_answer_shown_as_it_comes() {
    let script = vec![Reply::text(["Hel", "lo"]).usage(7, 2)];
    let server = ModelServer::start(script).unwrap();
    let (answer, shown) = ask(&client(&server, quick()), &hello()).await;
    assert_eq!(shown, "Hello");
    let expected = Completion {
        text: "Hello".to_owned(),
        usage: Usage {
            prompt_tokens: 7,
            completion_tokens: 2,
        },
        model: MODEL.to_owned(),
        ..Completion::default()
    };
    assert_eq!(answer, Ok(expected));
    assert_eq!(
        server.requests(),
        [json!({
            "model": "wanted",
            "messages": [{ "role": "user", "content": "hello" }],
            "stream": true,
            "stream_options": { "include_usage": true },
        })]
    );
    assert_eq!(server.authorizations(), [Some(format!("Bearer {KEY}"))]);
}

#[tokio::test]
async fn tools_are_offered_and_calls_in_parallel_put_together() {
    let long = json!({ "path": "/tmp/ä", "content": "x".repeat(100) });
    let calls = [
        Call::new("a", "write_file", &long),
        Call::new("b", "terminal", &json!({ "command": "ls -l" })),
    ];
    let server = ModelServer::start(vec![Reply::calls(["I look."], &calls)]).unwrap();
    let schema = json!({ "type": "object", "properties": {} });
    let request = ChatRequest {
        tools: vec![ToolSchema {
            name: "terminal".to_owned(),
            description: "Runs a command.".to_owned(),
            parameters: schema.clone(),
        }],
        max_tokens: Some(100),
        ..hello()
    };
    let answer = ask(&client(&server, quick()), &request).await.0.unwrap();
    let called: Vec<_> = answer
        .tool_requests
        .iter()
        .map(|it| (it.id.as_str(), it.name.as_str(), it.arguments.clone()))
        .collect();
    assert_eq!(
        called,
        [
            ("a", "write_file", long.to_string()),
            ("b", "terminal", r#"{"command":"ls -l"}"#.to_owned()),
        ]
    );
    let sent = &server.requests()[0];
    assert_eq!(
        sent["tools"],
        json!([{ "type": "function", "function": {
            "name": "terminal", "description": "Runs a command.", "parameters": schema,
        } }])
    );
    assert_eq!(sent["max_tokens"], 100);
}

#[tokio::test]
async fn a_server_that_fails_before_it_says_anything_is_asked_again() {
    for (name, failure) in [
        ("500", Reply::status(500, "")),
        ("502", Reply::status(502, "<html>")),
        ("503", Reply::status(503, "").header("retry-after", "0")),
        ("504", Reply::status(504, "")),
        ("429", Reply::status(429, "")),
        (
            "429 for a moment",
            Reply::status(429, "").header("retry-after", "0"),
        ),
        ("cut before anything", Reply::text([]).then_breaks_off()),
        (
            "an error object",
            Reply::text([]).then_fails(&json!({ "code": 502, "message": "x" })),
        ),
    ] {
        let script = vec![failure.clone(), failure, Reply::text(["yes"])];
        let (answer, shown, asked) = tried(script, quick()).await;
        assert_eq!(answer.map(|it| it.text), Ok("yes".to_owned()), "{name}");
        assert_eq!((shown.as_str(), asked), ("yes", 3), "{name}");
    }
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_given_up() {
    let (answer, _, asked) = tried(vec![Reply::status(503, "no"); 9], quick()).await;
    let expected = ModelError::Unreachable("it answered 503: no".to_owned());
    assert_eq!((answer, asked), (Err(expected), 4));
}

#[tokio::test]
async fn what_asking_again_would_not_help_is_asked_once() {
    let refused = |status, message: &str| ModelError::Refused {
        status,
        message: message.to_owned(),
    };
    let no_quota =
        r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    let broke_off = |why: &str| ModelError::BrokeOff(why.to_owned());
    for (name, reply, expected) in [
        ("402", Reply::status(402, "{}"), ModelError::OutOfCredit),
        (
            "no quota",
            Reply::status(429, no_quota),
            ModelError::OutOfCredit,
        ),
        (
            "a long wait",
            Reply::status(429, "{}").header("retry-after", "3600"),
            ModelError::RateLimited {
                retry_after: Some(3600),
            },
        ),
        (
            "400",
            Reply::status(400, r#"{"error":{"message":"bad"}}"#),
            refused(400, "bad"),
        ),
        (
            "its key",
            Reply::status(
                401,
                &format!(r#"{{"error":{{"message":"wrong: {KEY}!"}}}}"#),
            ),
            refused(401, "wrong: …!"),
        ),
        (
            "an error in the middle",
            Reply::text(["Hel"]).then_fails(&json!({ "code": 502, "message": "gone" })),
            broke_off("gone"),
        ),
        (
            "a wrong end",
            Reply::raw(
                "text/event-stream",
                ["data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n".to_owned()],
            ),
            broke_off("it has no end"),
        ),
    ] {
        let script = vec![reply, Reply::text(["never"])];
        let (answer, _, asked) = tried(script, quick()).await;
        assert_eq!((answer, asked), (Err(expected), 1), "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_in_the_middle_is_not_asked_for_again() {
    let script = vec![Reply::text(["Hel"]).then_breaks_off(), Reply::text(["no"])];
    let (answer, shown, asked) = tried(script, quick()).await;
    assert!(matches!(answer, Err(ModelError::BrokeOff(_))), "{answer:?}");
    assert_eq!((shown.as_str(), asked), ("Hel", 1));
}

#[tokio::test]
async fn garbage_and_answers_without_end_are_malformed() {
    let short = Limits {
        answer_bytes: 2_000,
        line_bytes: 500,
        ..quick()
    };
    for (name, content_type, piece) in [
        (
            "garbage",
            "text/event-stream",
            "data: ]oops[\n\n".to_owned(),
        ),
        ("a page", "text/html", "<html>".to_owned()),
        (
            "JSON of another kind",
            "application/json",
            "[1, 2]".to_owned(),
        ),
        ("a long line", "text/event-stream", "x".repeat(501)),
        ("a long answer", "text/event-stream", ": hi\n\n".repeat(400)),
        (
            "a long body",
            "application/json",
            format!("{{{}", " ".repeat(2_000)),
        ),
    ] {
        let (answer, _, asked) = tried(vec![Reply::raw(content_type, [piece])], short).await;
        assert!(
            matches!(answer, Err(ModelError::Malformed(_))),
            "{name}: {answer:?}"
        );
        assert_eq!(asked, 1, "{name}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = json!({
        "model": "m",
        "choices": [{ "message": { "role": "assistant", "content": "Hello" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 2 },
    });
    let reply = Reply::raw("application/json", [body.to_string()]);
    let (answer, shown, _) = tried(vec![reply], quick()).await;
    assert_eq!(answer.unwrap().text, "Hello");
    assert_eq!(shown, "Hello");
}

#[tokio::test]
async fn silence_ends_in_a_timeout() {
    let impatient = Limits {
        idle: Duration::from_millis(200),
        ..quick()
    };
    let (answer, shown, asked) = tried(vec![Reply::text(["Hel"]).then_hangs()], impatient).await;
    assert_eq!(answer, Err(ModelError::TimedOut));
    assert_eq!((shown.as_str(), asked), ("Hel", 1));
}

#[tokio::test]
async fn an_answer_that_never_ends_ends_in_a_timeout() {
    let limits = Limits {
        total: Duration::from_millis(300),
        ..quick()
    };
    let slow = Reply::text(["x"; 1000]).slowly(Duration::from_millis(20));
    let (answer, _, _) = tried(vec![slow], limits).await;
    assert_eq!(answer, Err(ModelError::TimedOut));
}

#[tokio::test]
async fn a_server_that_hangs_after_the_end_does_not_hold_the_answer() {
    let limits = Limits {
        idle: Duration::from_millis(200),
        ..quick()
    };
    let event = r#"data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let reply = Reply::raw("text/event-stream", [format!("{event}\n\n")]).then_hangs();
    let (answer, _, _) = tried(vec![reply], limits).await;
    assert_eq!(answer.unwrap().text, "Hi");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = ModelServer::start(vec![Reply::text(["stolen"])]).unwrap();
    let target = format!("{}/chat/completions", elsewhere.url());
    let reply = Reply::status(307, "").header("location", &target);
    let (answer, _, _) = tried(vec![reply], quick()).await;
    assert!(matches!(
        answer,
        Err(ModelError::Refused { status: 307, .. })
    ));
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn nobody_at_the_address_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let endpoint = Endpoint {
        base_url: base_url.clone(),
        model: "m".to_owned(),
        api_key: None,
    };
    let (answer, _) = ask(&Client::new(endpoint, quick()).unwrap(), &hello()).await;
    assert!(
        matches!(answer, Err(ModelError::Unreachable(_))),
        "{answer:?}"
    );
}

#[tokio::test]
async fn a_server_that_wants_other_words_gets_them() {
    let server = ModelServer::answering(|request| {
        if request.get("max_tokens").is_some() {
            Reply::status(400, r#"{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}"#)
        } else if request.get("stream_options").is_some() {
            Reply::status(422, r#"{"detail":"extra field: stream_options"}"#)
        } else {
            Reply::text(["yes"])
        }
    })
    .unwrap();
    let client = client(
        &server,
        Limits {
            retries: 0,
            ..quick()
        },
    );
    let request = ChatRequest {
        max_tokens: Some(5),
        ..hello()
    };
    for asked in [3, 4] {
        assert_eq!(ask(&client, &request).await.0.unwrap().text, "yes");
        let requests = server.requests();
        assert_eq!(requests.len(), asked);
        assert_eq!(requests[asked - 1]["max_completion_tokens"], 5);
    }
}

#[test]
fn a_key_is_never_shown_and_an_address_is_checked() {
    let endpoint = |base_url: &str| Endpoint {
        base_url: base_url.to_owned(),
        model: "m".to_owned(),
        api_key: Some(KEY.to_owned()),
    };
    for near in [
        "https://api.example.com/v1",
        "http://127.0.0.1:8080/v1/",
        "http://[::1]:8080/v1",
        "http://localhost:11434/v1",
        "http://10.1.2.3/v1",
        "http://litellm:4000",
        "https://x.example.com/openai?api-version=1",
    ] {
        let client = Client::new(endpoint(near), quick()).unwrap();
        let shown = format!("{client:?} {:?}", endpoint(near));
        assert!(!shown.contains(KEY), "{near}: {shown}");
    }
    for wrong in [
        "http://api.example.com/v1",
        "http://8.8.8.8/v1",
        "https://me:secret@api.example.com/v1",
        "ftp://localhost/",
        "file:///etc/passwd",
        "api.example.com",
        "",
    ] {
        let error = Client::new(endpoint(wrong), quick()).unwrap_err();
        assert!(matches!(error, ModelError::Unreachable(_)), "{wrong}");
        assert!(!error.to_string().contains("secret"), "{wrong}");
    }
}
