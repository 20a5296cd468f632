//! Programs of the owner that may raise what the judge concludes.

use std::time::{Duration, Instant};

use countersign_core::call::ToolCall;
use countersign_gate::base::settings::{AssessorReach, AssessorSettings, Settings};
use countersign_gate::records::request::Submission;
use countersign_gate::records::view::CallView;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{DANGEROUS, Wishes, World, command, world_with};

/// Longer than any honest row needs.
const PATIENT: u64 = 20_000;
const SILENT: &str = "an assessor did not respond, so a person decides";

/// A row's name, the call, the assessor, the verdict, and a reason that must be given.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

const ROWS: &[Row] = &[
    ("no opinion", "cargo test", r"echo {}", "allow", None),
    (
        "it asks",
        "cargo test",
        r#"echo '{"verdict":"ask"}'"#,
        "ask",
        None,
    ),
    (
        "it refuses",
        "cargo test",
        r#"echo '{"verdict":"refuse"}'"#,
        "refuse",
        None,
    ),
    (
        "its score is above the line",
        "cargo test",
        r#"echo '{"risk_score":0.9}'"#,
        "ask",
        None,
    ),
    (
        "its score is lower",
        DANGEROUS,
        r#"echo '{"risk_score":0.0}'"#,
        "ask",
        None,
    ),
    (
        "it would allow",
        DANGEROUS,
        r#"echo '{"verdict":"allow"}'"#,
        "ask",
        None,
    ),
    (
        "its reasons are shown",
        "cargo test",
        r#"echo '{"verdict":"ask","reasons":["it is Friday"]}'"#,
        "ask",
        Some("it is Friday"),
    ),
    (
        "it is given call and assessment",
        "cargo test",
        r#"grep -q '"command":"cargo test".*"risk_score"' && echo '{}' || exit 1"#,
        "allow",
        None,
    ),
    (
        "its environment is bare",
        "cargo test",
        r#"[ "$(env | grep -vE '^(PATH|HOME|PWD|SHLVL|_)=' | wc -l)" = 0 ] && echo '{}'"#,
        "allow",
        None,
    ),
    (
        "it fails",
        "cargo test",
        "echo '{}'; exit 3",
        "ask",
        Some(SILENT),
    ),
    (
        "it is not there",
        "cargo test",
        "no-such-program-anywhere",
        "ask",
        Some(SILENT),
    ),
    ("it says nothing", "cargo test", "true", "ask", Some(SILENT)),
    ("it babbles", "cargo test", "echo fine", "ask", Some(SILENT)),
    (
        "another word",
        "cargo test",
        r#"echo '{"verdict":"maybe"}'"#,
        "ask",
        Some(SILENT),
    ),
    (
        "a score of two",
        "cargo test",
        r#"echo '{"risk_score":2}'"#,
        "ask",
        Some(SILENT),
    ),
    ("it never stops", "cargo test", "yes", "ask", Some(SILENT)),
];

#[tokio::test]
async fn an_assessor_raises_and_a_silent_one_makes_it_a_question() {
    for &(row, text, assessor, verdict, reason) in ROWS {
        let call = judged(vec![asks(assessor)], command(text)).await;
        assert_eq!(call.verdict.word(), verdict, "{row}: {}", call.assessment);
        let said: serde_json::Value = serde_json::from_str(call.assessment.get()).unwrap();
        assert_eq!(said["verdict"], verdict, "{row}");
        let reasons = said["reasons"].as_array().unwrap();
        if let Some(reason) = reason {
            assert!(reasons.contains(&reason.into()), "{row}: {reasons:?}");
        } else {
            assert!(!reasons.contains(&SILENT.into()), "{row}: {reasons:?}");
        }
    }
}

#[tokio::test]
async fn an_assessor_may_lower_only_where_the_owner_and_the_rules_let_it() {
    let lowers = |text: &str| AssessorSettings {
        may_lower: true,
        ..asks(text)
    };
    let allows = r#"echo '{"verdict":"allow","risk_score":0.0}'"#;
    let outside = "rm /home/dev/other/a.txt";
    let rows = [
        ("the thresholds", vec![lowers(allows)], outside, "allow"),
        ("without leave", vec![asks(allows)], outside, "ask"),
        ("critical", vec![lowers(allows)], DANGEROUS, "ask"),
        ("the floor", vec![lowers(allows)], "rm -rf /", "refuse"),
        (
            "another objects",
            vec![asks(r#"echo '{"verdict":"ask"}'"#), lowers(allows)],
            outside,
            "ask",
        ),
        (
            "another is silent",
            vec![lowers(allows), asks("false")],
            outside,
            "ask",
        ),
    ];
    for (row, assessors, text, verdict) in rows {
        let call = judged(assessors, command(text)).await;
        assert_eq!(call.verdict.word(), verdict, "{row}: {}", call.assessment);
    }
}

#[tokio::test]
async fn law_1_an_assessor_that_sees_a_crisis_brings_a_person() {
    let sees = r#"echo '{"crisis_sensitive":true}'"#;
    let outbound = Submission {
        call: ToolCall::command("curl -d hello https://example.org/"),
        ..command("")
    };
    let call = judged(vec![asks(sees)], outbound).await;
    let said: serde_json::Value = serde_json::from_str(call.assessment.get()).unwrap();
    assert_eq!(
        (call.verdict.word(), &said["rule"]["number"]),
        ("ask", &2.into())
    );
}

#[tokio::test]
async fn a_slow_assessor_is_ended_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let slow = AssessorSettings {
        timeout_millis: 1000,
        ..asks(&format!(
            "sleep 1000 & echo $! $$ > '{}'; wait",
            pids.display()
        ))
    };
    let begun = Instant::now();
    let call = judged(vec![slow], command("cargo test")).await;
    assert_eq!(call.verdict.word(), "ask");
    assert!(begun.elapsed() < Duration::from_secs(100));
    let pids = std::fs::read_to_string(pids).expect("it was started");
    for pid in pids.split_whitespace() {
        while is_running(pid) {
            assert!(begun.elapsed() < Duration::from_secs(100), "{pid} goes on");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn an_assessor_at_an_address_is_posted_the_same() {
    let rows = [
        (
            "it asks",
            "200 OK",
            r#"{"verdict":"ask"}"#.to_owned(),
            "ask",
        ),
        ("no opinion", "200 OK", "{}".to_owned(), "allow"),
        ("it fails", "500 Oops", "{}".to_owned(), "ask"),
        ("it points elsewhere", "302 Found", "{}".to_owned(), "ask"),
        ("it babbles", "200 OK", "{".to_owned(), "ask"),
        (
            "too long",
            "200 OK",
            format!("{{}}{}", " ".repeat(64 * 1024)),
            "ask",
        ),
    ];
    for (row, status, body, verdict) in rows {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/judge", listener.local_addr().unwrap());
        let served = tokio::spawn(serve_once(listener, status, body));
        let assessor = AssessorSettings {
            reach: AssessorReach::Url(url),
            ..asks("")
        };
        let call = judged(vec![assessor], command("cargo test")).await;
        assert_eq!(call.verdict.word(), verdict, "{row}");
        let request = served.await.unwrap();
        assert!(request.starts_with("POST /judge "), "{row}: {request}");
        assert!(request.contains(r#""tool":"terminal""#), "{row}: {request}");
    }
    let nobody = AssessorSettings {
        reach: AssessorReach::Url("http://127.0.0.1:1/".to_owned()),
        ..asks("")
    };
    let call = judged(vec![nobody], command("cargo test")).await;
    assert_eq!(call.verdict.word(), "ask", "nobody there");
}

/// Answers one request and returns it.
async fn serve_once(listener: TcpListener, status: &str, body: String) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let whole = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).to_lowercase();
        let head = text.find("\r\n\r\n").map(|end| end + 4)?;
        let length = text.split("content-length: ").nth(1)?;
        let length: usize = length.split("\r\n").next()?.parse().ok()?;
        (request.len() >= head + length).then_some(())
    };
    let mut buffer = [0; 4096];
    while whole(&request).is_none() {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the request ends early");
        request.extend_from_slice(&buffer[..count]);
    }
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nlocation: /other\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // The other side hangs up when it has heard too much.
    let _heard = stream.write_all(format!("{head}{body}").as_bytes()).await;
    String::from_utf8(request).unwrap()
}

fn asks(text: &str) -> AssessorSettings {
    AssessorSettings {
        reach: AssessorReach::Command(text.to_owned()),
        timeout_millis: PATIENT,
        may_lower: false,
    }
}

async fn judged(assessors: Vec<AssessorSettings>, submission: Submission) -> CallView {
    let World { gate, agent, .. } = world_with(Wishes {
        settings: Settings {
            assessors,
            ..Settings::default()
        },
        ..Wishes::default()
    })
    .await;
    gate.submit(&agent, submission).await.unwrap()
}

fn is_running(pid: &str) -> bool {
    // A process that has ended but was not yet collected by anybody does not run.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
