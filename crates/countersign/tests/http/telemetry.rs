//! Spans for a collector: the ids of a call, nothing of what it would do; and a collector that is
//! away holds up nobody.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::support::{Gateway, PATIENCE, RISKY, said, shell};

/// A trace that an agent says its call belongs to.
const TRACE: [u8; 16] = [
    0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36,
];
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/// A collector: its address, and the path and body of whatever it is sent.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut path, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim_end().to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if path.is_empty() {
                    line.split(' ').nth(1).unwrap().clone_into(&mut path);
                }
                if let Some(number) = line.strip_prefix("content-length: ") {
                    length = number.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            if sender.send((path, body)).is_err() {
                return;
            }
        }
    });
    (url, receiver)
}

fn exporting_to(url: &str) -> Gateway {
    Gateway::configured(&format!(
        "telemetry: {{ otlp: {{ endpoint: \"{url}\" }} }}\n"
    ))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_collector_is_told_of_a_call_by_its_ids_and_nothing_of_what_it_would_do() {
    let (url, received) = collector();
    let mut gateway = exporting_to(&url);
    let (agent, approver) = (gateway.key("agent"), gateway.key("approver"));
    let request = gateway.request("POST", "/v1/calls").bearer_auth(&agent);
    let request = request.header("traceparent", TRACEPARENT);
    let call = said(request.json(&shell(RISKY))).body;
    let (call_id, approval) = (
        call["call_id"].as_str().unwrap(),
        call["approval_id"].as_str().unwrap(),
    );
    assert_eq!(gateway.resolve(&approver, approval, "once").status, 200);
    let token = gateway.get(&agent, &format!("/v1/calls/{call_id}")).body["token"].clone();
    // What has not been sent yet is sent when the gateway stops.
    assert!(gateway.stop().success());
    let (mut paths, mut bytes) = (Vec::new(), Vec::new());
    for (path, body) in received.try_iter() {
        paths.push(path);
        bytes.extend(body);
    }
    assert!(!paths.is_empty(), "nothing arrived");
    assert!(paths.iter().all(|path| path == "/v1/traces"), "{paths:?}");
    for expected in [
        "POST /v1/calls",
        "POST /v1/approvals/{id}/resolve",
        "countersign.call_id",
        call_id,
        approval,
        "approved",
    ] {
        assert!(contains(&bytes, expected.as_bytes()), "{expected}");
    }
    assert!(contains(&bytes, &TRACE), "the agent's trace goes on here");
    for secret in [
        RISKY,
        "/srv/www",
        agent.as_str(),
        approver.as_str(),
        token.as_str().unwrap(),
    ] {
        assert!(!contains(&bytes, secret.as_bytes()), "{secret}");
    }
}

#[test]
fn a_collector_that_is_away_holds_up_neither_calls_nor_the_end() {
    // Bound and let go: nobody is there.
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let mut gateway = exporting_to(&url);
    let agent = gateway.key("agent");
    assert_eq!(gateway.submit(&agent, "ls").body["status"], "allowed");
    let since = std::time::Instant::now();
    assert!(gateway.stop().success());
    assert!(since.elapsed() < PATIENCE / 2);
}

#[test]
fn an_address_that_is_none_is_said_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let config = "telemetry: { otlp: { endpoint: \"collector:4318\" } }\n";
    std::fs::write(directory.path().join("config.yaml"), config).unwrap();
    let refused = crate::support::command(directory.path(), &[])
        .output()
        .unwrap();
    let wrong = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{wrong}");
    assert!(wrong.contains("`telemetry.otlp.endpoint`"), "{wrong}");
    assert!(wrong.contains("hint: "), "{wrong}");
}
