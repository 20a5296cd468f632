//! TLS: whoever trusts the certificate is served, and nobody else; files that cannot be used are
//! named.

use std::path::{Path, PathBuf};

use reqwest::blocking::Client;
use serde_json::Value;

use crate::ours::ours;
use crate::support::{RISKY, client, command, first_line, shell, signal};

/// A certificate for `localhost` and its key, as files.
fn certificate(directory: &Path, name: &str) -> (PathBuf, PathBuf, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (
        directory.join(format!("{name}.pem")),
        directory.join(format!("{name}.key")),
    );
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (certificate, key, made.cert.pem())
}

fn trusting(pem: &str) -> Client {
    // The client wants one chosen; who was first has chosen the same.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .no_proxy()
        .tls_certs_only([reqwest::Certificate::from_pem(pem.as_bytes()).unwrap()])
        .build()
        .unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn whoever_trusts_the_certificate_is_served_and_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key, pem) = certificate(directory.path(), "own");
    let home = directory.path().join("home");
    let options = [
        "--tls-cert",
        text(&certificate),
        "--tls-key",
        text(&key),
        "--json",
    ];
    let mut child = command(&home, &options).spawn().unwrap();
    let said: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
    let port = said["url"].as_str().unwrap().rsplit(':').next().unwrap();
    assert_eq!(said["url"], format!("https://127.0.0.1:{port}"));
    let url = format!("https://localhost:{port}");

    let trusted = trusting(&pem);
    let health = trusted.get(format!("{url}/health")).send().unwrap();
    assert_eq!(health.status().as_u16(), 200);
    let code = said["login_url"].as_str().unwrap();
    let code = code.split_once("#code=").unwrap().1;
    let signed_in = trusted
        .post(format!("{url}/v1/login"))
        .json(&serde_json::json!({ "code": code }))
        .send()
        .unwrap();
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");

    let stranger = client().get(format!("{url}/health")).send();
    assert!(stranger.is_err(), "nobody vouches for that certificate");
    let plain = client()
        .get(format!("http://localhost:{port}/health"))
        .send();
    assert!(plain.is_err(), "nothing is served in the clear");

    // The command line of the same home trusts what its own gateway left there.
    let countersign = |arguments: &[&str]| ours(&home).args(arguments).output().unwrap();
    let made = countersign(&["keys", "create", "--role", "agent", "--name", "a"]);
    let agent = String::from_utf8(made.stdout).unwrap();
    let call = trusted.post(format!("{url}/v1/calls"));
    let call = call.bearer_auth(agent.trim()).json(&shell(RISKY)).send();
    let call: Value = call.unwrap().json().unwrap();
    let waiting = countersign(&["approvals", "--json"]);
    let listed = String::from_utf8(waiting.stdout).unwrap();
    let approval = call["approval_id"].as_str().unwrap();
    assert!(listed.contains(approval), "{listed} {:?}", waiting.stderr);

    // Another gateway at that address would not be believed.
    let left = home.join("gateway.url");
    let honest = std::fs::read_to_string(&left).unwrap();
    let forged = honest.replace(honest.trim_end().lines().last().unwrap(), &"0".repeat(64));
    std::fs::write(&left, forged).unwrap();
    assert_eq!(countersign(&["approvals"]).status.code(), Some(22));

    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_that_cannot_be_used_are_named_with_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    let (own, own_key, _) = certificate(directory.path(), "own");
    let (_, other_key, _) = certificate(directory.path(), "other");
    let missing = directory.path().join("missing.pem");
    let garbage = directory.path().join("garbage.pem");
    std::fs::write(&garbage, "no certificate at all\n").unwrap();
    let rows = [
        (
            "a missing certificate",
            &missing,
            &own_key,
            "cannot be read",
        ),
        ("a missing key", &own, &missing, "cannot be read"),
        (
            "no certificate in it",
            &garbage,
            &own_key,
            "there is no certificate in it",
        ),
        ("no key in it", &own, &own, "there is no private key in it"),
        (
            "a key of another",
            &own,
            &other_key,
            "it is not the key of the certificate",
        ),
    ];
    for (name, certificate, key, expected) in rows {
        let options = ["--tls-cert", text(certificate), "--tls-key", text(key)];
        let refused = command(directory.path(), &options).output().unwrap();
        let wrong = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{name}: {wrong}");
        assert!(wrong.contains(expected), "{name}: {wrong}");
        assert!(wrong.contains("hint: "), "{name}: {wrong}");
    }
    let alone = command(directory.path(), &["--tls-cert", text(&own)]).output();
    let wrong = String::from_utf8(alone.unwrap().stderr).unwrap();
    assert!(wrong.contains("--tls-key"), "{wrong}");
}
