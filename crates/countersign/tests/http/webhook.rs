//! A webhook reaches people and brings their answer back, both signed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use hmac::{KeyInit as _, Mac as _};
use serde_json::{Value, json};

use crate::support::{Gateway, PATIENCE, RISKY, said};

const SECRET: &str = "a secret of both sides";

/// A request as the other side got it.
struct Got {
    signature: String,
    body: String,
}

/// Returns where to send cards, and what arrives there.
fn receiver() -> (String, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/card", listener.local_addr().unwrap());
    let (sender, got) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut length, mut signature) = (0, String::new());
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
                    break;
                }
                let lower = line.to_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if lower.starts_with("countersign-signature:") {
                    signature.push_str(line.split_once(':').unwrap().1.trim());
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            let body = String::from_utf8(body).unwrap();
            if sender.send(Got { signature, body }).is_err() {
                return;
            }
        }
    });
    (url, got)
}

fn signature(at: i64, body: &str) -> String {
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("v1:{at}:{body}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    let digest = countersign_core::digest::Digest(bytes.into());
    format!("t={at},v1={}", digest.hex())
}

fn now() -> i64 {
    let passed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(passed.as_secs()).unwrap()
}

#[test]
fn a_card_goes_out_signed_and_the_answer_comes_back_signed() {
    let (url, got) = receiver();
    let config = format!(
        "channels: {{ pager: {{ type: webhook, url: \"{url}\", secret_env: PAGER_SECRET }} }}\n\
         people: [ {{ name: ana, roles: [approver], accounts: {{ pager: a1 }} }} ]\n"
    );
    let gateway = Gateway::with_variables(&config, &[("PAGER_SECRET", SECRET)]);
    let agent = gateway.key("agent");
    let approval = gateway.ask(&agent, RISKY);
    let card = got.recv_timeout(PATIENCE).unwrap();
    let at: i64 = card
        .signature
        .trim_start_matches("t=")
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        card.signature,
        signature(at, &card.body),
        "signed over its bytes"
    );
    let shown: Value = serde_json::from_str(&card.body).unwrap();
    assert_eq!(shown["card"]["approval_id"], approval);
    assert!(shown["text"].as_str().unwrap().contains(RISKY));
    assert!(!card.body.contains(SECRET));
    let answer = |account: &str, signed: Option<String>| {
        let body =
            json!({"approval_id": approval, "choice": "once", "account": account}).to_string();
        let signed = signed.unwrap_or_else(|| signature(now(), &body));
        let request = gateway.request("POST", "/channels/pager/action");
        said(request.header("countersign-signature", signed).body(body))
    };
    assert_eq!(
        answer("a1", Some("t=1,v1=00".to_owned())).status,
        401,
        "not signed"
    );
    assert_eq!(answer("a2", None).status, 403, "nobody's account");
    let answered = answer("a1", None);
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(answered.body["decision"]["by"], "ana");
    assert_eq!(answered.body["decision"]["via"], "pager");
    let again = answer("a1", None);
    assert_eq!(again.status, 409, "{again:?}");
    let repainted = got.recv_timeout(PATIENCE).unwrap();
    assert!(repainted.body.contains("Approved"), "{}", repainted.body);
}
