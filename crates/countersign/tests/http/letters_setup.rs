//! How an e-mail channel is set up: `channels add`, `channels test`, and a server that wants TLS and a
//! password.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign_testkit::smtp::Smtp;
use serde_json::json;

use crate::ours::ours;
use crate::post::Post;
use crate::support::{Gateway, RISKY};

const PAGE: &str = "http://127.0.0.1:8750";
const VARIABLE: &str = "COUNTERSIGN_SMTP_PASSWORD";

/// Answers the questions of `channels add` and returns whether it succeeded, and what it said.
fn added(home: &Path, answers: &[&str]) -> (bool, String) {
    let mut child = ours(home)
        .args(["channels", "add", "email", "--wait", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let answers = answers.join("\n") + "\n";
    // It may have ended before it read everything.
    let _written = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn a_channel_is_added_by_answering_questions_and_nothing_is_written_that_does_not_work() {
    let server = Smtp::start_answering(|line| {
        let is_refused = line.starts_with("MAIL") && line.contains("not-mine@");
        is_refused.then(|| "553 5.7.1 not your address".to_owned())
    });
    let server = server.unwrap();
    let address = format!("127.0.0.1:{}", server.port());
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.yaml");
    let from = "Gate <gate@example.org>";
    let rows: [(&str, &[&str], &str); 5] = [
        (
            "no address",
            &[PAGE, &address, "none", "gate", "", "", "", ""],
            "no e-mail address",
        ),
        (
            "no server",
            &[PAGE, "127.0.0.1:1", "none", from, "", "", "", ""],
            "is the port open",
        ),
        (
            "no TLS there",
            &[PAGE, &address, "starttls", from, "", "", "", ""],
            "STARTTLS",
        ),
        (
            "not ours",
            &[
                PAGE,
                &address,
                "none",
                "not-mine@example.org",
                "",
                "",
                "",
                "",
            ],
            "may this account send",
        ),
        (
            "no page",
            &["http://gate.lan", &address, "none", from, "", "", "", ""],
            "page_url",
        ),
    ];
    for (name, answers, words) in rows {
        let (is_added, said) = added(home.path(), answers);
        assert!(!is_added && said.contains(words), "{name}: {said}");
        assert!(!config.exists(), "{name}");
    }
    let (is_added, said) = added(
        home.path(),
        &[
            PAGE,
            &address,
            "none",
            from,
            "",
            "",
            "ana@example.org",
            "ana",
        ],
    );
    assert!(
        is_added && said.contains("opens on this machine only"),
        "{said}"
    );
    assert_eq!(server.letters(), [], "nothing was sent");

    test_answered_elsewhere(&std::fs::read_to_string(&config).unwrap(), &server);
}

/// The gateway starts with what was written. A practice card is told by mail and answered elsewhere.
fn test_answered_elsewhere(written: &str, server: &Smtp) {
    let gateway = Gateway::configured(written);
    let person =
        json!({ "name": "ana", "roles": ["approver"], "accounts": { "email": "ana@example.org" } });
    assert!(gateway.post(&gateway.admin(), "/v1/people", &person).status < 300);
    let child = ours(&gateway.home())
        .args(["channels", "test", "email", "--url", &gateway.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let letters = server.until(|letters| !letters.is_empty()).unwrap();
    let link = letters[0].data.split("#/approvals/").nth(1).unwrap();
    let end = link.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let approval = link.get(..end.unwrap()).unwrap();
    gateway.resolve(&gateway.admin(), approval, "deny");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && said.contains("It works: email told people"),
        "{said}"
    );
}

#[test]
fn where_the_agent_has_a_mail_server_only_the_page_is_asked_for() {
    let server = Smtp::start().unwrap();
    let home = tempfile::tempdir().unwrap();
    let smtp = json!({ "host": "127.0.0.1", "port": server.port(), "from": "gate@example.org", "tls": "none" });
    let config = home.path().join("config.yaml");
    std::fs::write(&config, format!("smtp: {smtp}\n")).unwrap();
    let (is_added, said) = added(home.path(), &[PAGE, ""]);
    assert!(is_added, "{said}");
    let written = std::fs::read_to_string(&config).unwrap();
    assert!(
        written.contains("page_url") && !written.contains("server"),
        "{written}"
    );
}

/// aiosmtpd with STARTTLS and a password, or `None` where it is not installed.
fn provider(directory: &Path) -> Option<(Child, u16)> {
    let Ok(python) = std::env::var("COUNTERSIGN_TEST_AIOSMTPD") else {
        countersign_testkit::skipped("no aiosmtpd, so no mail server with TLS and a password");
        return None;
    };
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.join("own.pem"), directory.join("own.key"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut server = Command::new(root.join(python))
        .arg(root.join("crates/testkit/src/mail_server.py"))
        .args([&certificate, &key])
        .args(["gate", "correct horse"])
        .arg(directory.join("box"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // It tells at length of clients that do not trust it.
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    Some((server, line.trim().parse().unwrap()))
}

#[test]
fn a_letter_reaches_a_server_that_wants_tls_and_a_password() {
    let directory = tempfile::tempdir().unwrap();
    let Some((server, port)) = provider(directory.path()) else {
        return;
    };
    let letters = Post::Real(server, port, directory);
    let config = format!(
        "people:\n- {{ name: ana, roles: [approver], email: ana@example.org }}\n\
         channels:\n  email: {{ type: email, server: 'localhost:{port}', from: gate@example.org, username: gate, \
         password_env: {VARIABLE}, page_url: 'https://gate.example.org' }}\n"
    );
    let trusts = letters.directory().join("own.pem");
    let trusts = trusts.to_str().unwrap();
    let findings = |gateway: &Gateway| {
        let body = gateway
            .get(&gateway.admin(), "/v1/channels/email/doctor")
            .body;
        assert!(!body.to_string().contains("horse"), "{body}");
        body.to_string()
    };
    // Without trust in its certificate nothing is handed over, the password least of all.
    let stranger = Gateway::with_variables(&config, &[(VARIABLE, "correct horse")]);
    let found = findings(&stranger);
    assert!(found.contains("certificate"), "{found}");
    let wrong = [(VARIABLE, "wrong horse"), ("SSL_CERT_FILE", trusts)];
    let found = findings(&Gateway::with_variables(&config, &wrong));
    assert!(
        found.contains("app password") && found.contains("535"),
        "{found}"
    );
    let right = [(VARIABLE, "correct horse"), ("SSL_CERT_FILE", trusts)];
    let gateway = Gateway::with_variables(&config, &right);
    let found = findings(&gateway);
    assert!(found.contains("the server takes them"), "{found}");
    gateway.ask(&gateway.key("agent"), RISKY);
    let letter = letters.until(1).remove(0);
    assert!(letter.contains("To: ana@example.org"), "{letter}");
    assert!(!letter.contains("horse"), "{letter}");
}
