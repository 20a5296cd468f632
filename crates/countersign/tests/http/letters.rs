//! E-mail: a card is a letter with a link, for those who may answer and nobody else. Nothing that
//! happens with a letter answers it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use countersign_testkit::model::{Call, Reply};
use countersign_testkit::smtp::Smtp;
use mail_parser::MessageParser;
use serde_json::{Value, json};

use crate::post::Post;
use crate::scene::Scene;
use crate::support::{Gateway, RISKY, client};

const PAGE: &str = "https://gate.example.org";

/// A letter as a parser that others wrote reads it.
#[derive(Clone, Debug)]
struct Read {
    to: String,
    subject: String,
    id: String,
    follows: String,
    references: String,
    list: String,
    automatic: String,
    text: String,
    html: String,
    parts: usize,
    /// The names of all headers.
    headers: Vec<String>,
}

fn read(raw: &str) -> Read {
    let parsed = MessageParser::default().parse(raw.as_bytes()).unwrap();
    let header = |name: &str| {
        parsed
            .header_raw(name)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let to = parsed.to().unwrap().first().unwrap();
    assert_eq!(parsed.to().unwrap().iter().count(), 1, "{raw}");
    let headers = parsed.headers().iter().map(|it| it.name().to_owned());
    Read {
        to: to.address().unwrap().to_owned(),
        subject: parsed.subject().unwrap().to_owned(),
        id: format!("<{}>", parsed.message_id().unwrap()),
        follows: header("In-Reply-To"),
        references: header("References"),
        list: header("List-Id"),
        automatic: header("Auto-Submitted"),
        text: parsed.body_text(0).unwrap().into_owned(),
        html: parsed.body_html(0).unwrap().into_owned(),
        parts: parsed.text_body_count() + parsed.html_body_count(),
        headers: headers.collect(),
    }
}

fn config(port: u16, more: &str) -> String {
    let smtp = json!({ "host": "127.0.0.1", "port": port, "from": "Gate <gate@example.org>", "tls": "none" });
    format!(
        "smtp: {smtp}\n\
         people:\n\
         - {{ name: ana, roles: [approver], email: ana@example.org }}\n\
         - {{ name: bo, roles: [viewer], email: bo@example.org }}\n\
         - {{ name: cem, roles: [approver], telegram: 7 }}\n\
         channels:\n  letters: {{ type: email, page_url: '{PAGE}'{more} }}\n"
    )
}

fn letters(post: &Post, count: usize) -> Vec<Read> {
    let letters = post.until(count);
    assert_eq!(letters.len(), count, "{letters:#?}");
    letters.iter().map(|raw| read(raw)).collect()
}

fn link(approval: &str) -> String {
    format!("{PAGE}/#/approvals/{approval}")
}

fn status(gateway: &Gateway, approval: &str) -> String {
    let path = format!("/v1/approvals/{approval}");
    let body = gateway.get(&gateway.admin(), &path).body;
    body["status"].as_str().unwrap().to_owned()
}

fn deliveries(gateway: &Gateway, approval: &str) -> Vec<Value> {
    let path = format!("/v1/approvals/{approval}/deliveries");
    let body = gateway.get(&gateway.admin(), &path).body;
    body["deliveries"].as_array().unwrap().clone()
}

/// Waits until the deliveries of a card are as `holds` wants them.
fn delivered(gateway: &Gateway, approval: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let since = std::time::Instant::now();
    loop {
        let all = deliveries(gateway, approval);
        if !all.is_empty() && holds(&all) {
            return all;
        }
        assert!(since.elapsed() < crate::support::PATIENCE, "{all:?}");
    }
}

#[test]
fn a_card_is_a_letter_with_a_link_and_its_end_follows_in_the_same_thread() {
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ""));
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    let letter = letters(&post, 1).remove(0);
    assert_eq!(
        letter.to, "ana@example.org",
        "who may answer and has an address"
    );
    let subject = format!("Approval needed: critical risk ({approval})");
    assert_eq!(letter.subject, subject);
    assert_eq!(letter.automatic, "auto-generated");
    assert_eq!(letter.list, "<countersign.example.org>");
    assert_eq!(
        (letter.parts, letter.follows.as_str()),
        (2, ""),
        "text and HTML"
    );
    let href = format!("href=\"{}\"", link(&approval));
    for (part, wanted) in [(&letter.text, link(&approval)), (&letter.html, href)] {
        for wanted in [wanted.as_str(), RISKY, "critical", "replies are not read"] {
            assert!(part.contains(wanted), "{wanted}: {part}");
        }
    }
    gateway.resolve(&gateway.admin(), &approval, "deny");
    let end = letters(&post, 2).remove(1);
    assert_eq!(end.to, letter.to);
    assert_eq!(end.subject, format!("Re: {subject}"));
    assert_eq!((&end.follows, &end.references), (&letter.id, &letter.id));
    assert_ne!(end.id, letter.id);
    assert!(end.text.starts_with("Denied by "), "{}", end.text);
    // Later changes are not told again: the agent reads its answer, and the card is settled.
    let settled = |all: &[Value]| all.iter().any(|it| it["status"] == "settled");
    delivered(&gateway, &approval, settled);
    let gateway = gateway.restarted();
    assert_eq!(status(&gateway, &approval), "denied");
    assert_eq!(post.letters().len(), 2);
}

#[test]
fn hostile_text_is_text_in_a_letter_and_never_a_header() {
    let hostile = "rm -rf /srv/www # </pre><script>alert(1)</script><img src=http://evil.example/x>\r\nBcc: eve@evil.example\r\n\r\n\u{202e}gnp\u{0}";
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ""));
    let agent = gateway.key("agent");
    let body = json!({
        "tool": "terminal", "args": { "command": hostile }, "session_id": "<b>s</b>", "agent": "<h1>x</h1>",
        "explanation": "<a href=http://evil.example>allow</a>\r\nSubject: yes",
    });
    let asked = gateway.post(&agent, "/v1/calls", &body);
    assert_eq!(asked.status, 202, "{asked:?}");
    let letter = letters(&post, 1).remove(0);
    let mut headers = letter.headers.clone();
    headers.sort();
    let wanted = [
        "Auto-Submitted",
        "Content-Type",
        "Date",
        "From",
        "List-ID",
        "MIME-Version",
        "Message-ID",
        "Subject",
        "To",
        "X-Auto-Response-Suppress",
    ];
    let mut kept: Vec<&str> = headers.iter().map(String::as_str).collect();
    // What the server adds on its way.
    kept.retain(|name| !["X-Peer", "X-MailFrom", "X-RcptTo", "Received"].contains(name));
    assert_eq!(kept, wanted);
    assert!(!letter.subject.contains("yes"), "{}", letter.subject);
    for part in [&letter.text, &letter.html] {
        assert!(part.contains("⟨U+202E⟩"), "{part}");
        assert!(!part.contains(['\u{202e}', '\0']), "{part}");
    }
    let html = letter.html.to_ascii_lowercase();
    for never in ["<script", "<img", "<form", "url(", "@import", "onclick"] {
        assert!(!html.contains(never), "{never}: {html}");
    }
    assert!(html.contains("&lt;script&gt;"), "{html}");
    let links: Vec<&str> = html.split("href=\"").skip(1).collect();
    assert!(
        !links.is_empty() && links.iter().all(|it| it.starts_with(PAGE)),
        "{links:?}"
    );
}

#[test]
fn a_very_long_command_is_cut_in_a_letter_with_its_length_and_digest() {
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ""));
    let long = format!(
        "rm -rf /srv/www {}THE-END",
        "0123456789abcdef ".repeat(4588)
    );
    assert!(long.len() > 78_000);
    gateway.ask(&gateway.key("agent"), &long);
    let raw = post.until(1).remove(0);
    assert!(raw.len() < 100_000, "{} bytes", raw.len());
    assert!(
        raw.lines().all(|line| line.len() <= 998),
        "SMTP takes no longer lines"
    );
    let letter = read(&raw);
    for part in [&letter.text, &letter.html] {
        for wanted in ["rm -rf /srv/www", "sha256:", "characters"] {
            assert!(part.contains(wanted), "{wanted}: {part}");
        }
    }
}

#[test]
fn nothing_that_happens_with_a_letter_answers_it() {
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ""));
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    let letter = letters(&post, 1).remove(0);
    assert!(
        !letter.text.contains("code=") && !letter.text.contains("token"),
        "{}",
        letter.text
    );
    // What a program that checks mail does: it opens every link, and posts to it, too.
    let base = gateway.url.clone();
    for path in ["/", "/?approve=1", &format!("/approvals/{approval}")] {
        for method in [
            reqwest::Method::GET,
            reqwest::Method::HEAD,
            reqwest::Method::POST,
        ] {
            let opened = client().request(method, format!("{base}{path}")).send();
            assert!(opened.is_ok());
        }
    }
    // A reply has nowhere to arrive: the channel takes no callbacks, whoever they claim to be from.
    let forged = json!({
        "from": "ana@example.org", "in_reply_to": letter.id, "text": "approve once",
        "approval_id": approval, "choice": "once",
    });
    for route in ["action", "command", "dialog"] {
        let path = format!("{base}/channels/letters/{route}");
        let told = client().post(path).json(&forged).send().unwrap();
        assert_eq!(told.status().as_u16(), 404, "{route}");
    }
    assert_eq!(status(&gateway, &approval), "waiting");
    assert_eq!(post.letters().len(), 1);
}

#[test]
fn a_letter_about_a_draft_for_a_person_in_crisis_tells_nothing_and_goes_to_others() {
    let post = Post::open();
    let people = format!(
        "- {{ name: owner, roles: [approver], email: owner@example.org }}\nchannels:\n  letters: {{ type: email, page_url: '{PAGE}' }}\n"
    );
    let smtp = json!({ "host": "127.0.0.1", "port": post.port(), "from": "gate@example.org", "tls": "none" });
    let config = format!(
        "smtp: {smtp}\npeople:\n- {{ name: ana, roles: [approver], email: ana@example.org }}\n{people}"
    );
    let draft = Reply::text(["Zebra words that nobody has looked at."]);
    let scene = Scene::configured(vec![draft], &config);
    // Whoever starts the run is `ana`, whom the draft is for.
    let ana = scene.gateway.named_key("ana", "approver");
    let body = json!({ "input": "I want to kill myself tonight." });
    let run = scene.gateway.post(&ana, "/v1/runs", &body);
    assert_eq!(run.status, 202, "{run:?}");
    let letter = letters(&post, 1).remove(0);
    assert_eq!(letter.to, "owner@example.org");
    for part in [&letter.text, &letter.html, &letter.subject] {
        assert!(!part.to_lowercase().contains("zebra"), "{part}");
        assert!(
            !part.contains("kill") && !part.contains("reply to"),
            "{part}"
        );
    }
    let owner = scene.gateway.named_key("owner", "approver");
    let asked = scene.asked(&owner);
    let approval = asked["approval_id"].as_str().unwrap();
    scene.gateway.resolve(&owner, approval, "deny");
    let end = letters(&post, 2).remove(1);
    assert_eq!(end.to, "owner@example.org");
    assert!(end.text.starts_with("It was answered."), "{}", end.text);
    assert!(!end.text.to_lowercase().contains("zebra"), "{}", end.text);
}

#[test]
fn a_burst_is_collected_and_no_card_is_lost_or_listed_twice() {
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ", digest_every: 6s"));
    let mut asked = Vec::new();
    for agent in 0..4 {
        let agent = gateway.named_key(&format!("agent{agent}"), "agent");
        asked.extend((0..10).map(|number| gateway.ask(&agent, &format!("rm -rf /srv/b{number}"))));
    }
    let listed = |letters: &[String]| {
        let all = letters.iter().map(|raw| read(raw).text);
        let text = all.collect::<String>();
        asked
            .iter()
            .map(|approval| text.matches(&link(approval)).count())
            .collect::<Vec<_>>()
    };
    let since = std::time::Instant::now();
    let sent = loop {
        let sent = post.letters();
        if listed(&sent).iter().all(|count| *count > 0) {
            break sent;
        }
        assert!(
            since.elapsed() < crate::support::PATIENCE,
            "{:?}",
            listed(&sent)
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(listed(&sent), vec![1; asked.len()]);
    assert!(sent.len() < asked.len() / 2, "{} letters", sent.len());
    let digest = sent.iter().map(|raw| read(raw));
    let digest = digest.filter(|it| it.subject.contains("waiting for your answer"));
    assert!(digest.count() > 0);
    for approval in &asked {
        let all = delivered(&gateway, approval, |all| {
            all.iter().all(|it| it["status"] != "trying")
        });
        assert_eq!(all[0]["status"], "delivered", "{all:?}");
    }
}

#[test]
fn a_letter_that_a_restart_interrupted_leaves_once() {
    let is_open = Arc::new(AtomicBool::new(false));
    let open = Arc::clone(&is_open);
    let server = Smtp::start_answering(move |line| {
        let is_refused = line.starts_with("RCPT") && !open.load(Ordering::SeqCst);
        is_refused.then(|| "451 4.7.1 greylisted, come back later".to_owned())
    });
    let server = server.unwrap();
    let gateway = Gateway::configured(&config(server.port(), ""));
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    let path = "/v1/channels";
    let failing = |gateway: &Gateway| {
        let listed = gateway.get(&gateway.admin(), path).body.to_string();
        listed.contains("greylisted")
    };
    let since = std::time::Instant::now();
    while !failing(&gateway) {
        assert!(since.elapsed() < crate::support::PATIENCE);
    }
    assert_eq!(deliveries(&gateway, &approval)[0]["status"], "trying");
    let gateway = gateway.killed_and_restarted_after(|| is_open.store(true, Ordering::SeqCst));
    delivered(&gateway, &approval, |all| {
        all.iter().all(|it| it["status"] == "delivered")
    });
    let kept = server.letters();
    assert_eq!(kept.len(), 1, "{kept:#?}");
    assert_eq!(kept[0].to, ["ana@example.org"]);
    assert_eq!(status(&gateway, &approval), "waiting");
}

#[test]
fn a_letter_whose_receipt_was_lost_is_sent_again_under_the_same_id() {
    let cuts = AtomicUsize::new(1);
    let server = Smtp::start_answering(move |line| {
        let is_cut = line == "."
            && cuts
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        is_cut.then(String::new)
    });
    let server = server.unwrap();
    let gateway = Gateway::configured(&config(server.port(), ""));
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    delivered(&gateway, &approval, |all| {
        all.iter().all(|it| it["status"] == "delivered")
    });
    let kept = server.letters();
    let ids: Vec<String> = kept.iter().map(|it| read(&it.data).id).collect();
    assert_eq!(ids.len(), 2, "nobody could know that the first had arrived");
    assert_eq!(ids[0], ids[1], "mail programs show one");
}

#[test]
fn an_address_that_is_refused_is_reported_and_holds_up_nobody() {
    let server = Smtp::start_answering(|line| {
        let is = |name: &str| line.starts_with("RCPT") && line.contains(name);
        match (is("gone@"), is("slow@")) {
            (true, _) => Some("550 5.1.1 no such mailbox".to_owned()),
            (_, true) => Some("451 4.7.1 come back later".to_owned()),
            _ => None,
        }
    });
    let server = server.unwrap();
    let more = "people:\n- { name: aaron, roles: [approver], email: slow@example.org }\n- { name: gone, roles: [approver], email: gone@example.org }\n";
    let config = config(server.port(), "").replace("people:\n", more);
    let gateway = Gateway::configured(&config);
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    let all = delivered(&gateway, &approval, |all| {
        all.len() == 3 && all.iter().filter(|it| it["status"] == "trying").count() == 1
    });
    assert!(all.iter().any(|it| it["status"] == "delivered"), "{all:?}");
    let failed = all.iter().find(|it| it["status"] == "failed").unwrap();
    assert!(
        failed["why"].as_str().unwrap().contains("no such mailbox"),
        "{failed}"
    );
    let kept = server.until(|kept| !kept.is_empty()).unwrap();
    assert_eq!(kept[0].to, ["ana@example.org"]);
    // With no other address a question ends at once.
    let gateway = Gateway::configured(
        &config
            .replace("ana@", "also-gone@")
            .replace("slow@", "long-gone@"),
    );
    let agent = gateway.key("agent");
    let call = gateway.submit(&agent, RISKY);
    let call = call.body["call_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/calls/{call}?wait_seconds=30");
    let ended = gateway.get(&agent, &path).body;
    assert_eq!(ended["decision"]["cause"], "undeliverable", "{ended}");
}

#[test]
fn what_is_told_and_whether_its_end_follows_is_configurable() {
    let post = Post::open();
    let gateway = Gateway::configured(&config(post.port(), ", show: that, follow_up: false"));
    let approval = gateway.ask(&gateway.key("agent"), RISKY);
    let letter = letters(&post, 1).remove(0);
    for part in [&letter.text, &letter.html] {
        assert!(!part.contains("/srv/www"), "{part}");
        assert!(part.contains(&link(&approval)), "{part}");
    }
    gateway.resolve(&gateway.admin(), &approval, "deny");
    delivered(&gateway, &approval, |all| all[0]["status"] == "settled");
    assert_eq!(post.letters().len(), 1);
}

#[test]
fn the_agents_send_message_reaches_the_channel_once_a_person_said_yes() {
    let post = Post::open();
    let args = json!({ "to": "zoe", "text": "The build is green." });
    let script = vec![
        Reply::calls([], &[Call::new("c1", "send_message", &args)]),
        Reply::text(["Sent."]),
    ];
    let smtp = json!({ "host": "127.0.0.1", "port": post.port(), "from": "gate@example.org", "tls": "none" });
    let config = format!(
        "smtp: {smtp}\ncontacts: {{ zoe: 'letters:zoe@example.org' }}\n\
         channels:\n  letters: {{ type: email, page_url: '{PAGE}' }}\n"
    );
    let scene = Scene::configured(script, &config);
    let run = scene.start("tell zoe");
    let asked = scene.waiting(&run, 1);
    assert!(post.letters().is_empty(), "nothing leaves before");
    scene.approve(&run, &json!({ "choice": "once", "approval_id": asked[0] }));
    scene.wait_for(&run, "completed");
    let raw = post.until(1).remove(0);
    let parsed = MessageParser::default().parse(raw.as_bytes()).unwrap();
    assert_eq!(
        parsed.to().unwrap().first().unwrap().address(),
        Some("zoe@example.org")
    );
    assert_eq!(parsed.body_text(0).unwrap().trim(), "The build is green.");
    assert_eq!(post.letters().len(), 1);
}

/// A gateway with a channel for each mistake, and the servers behind them.
fn mistaken() -> (Gateway, Vec<Smtp>) {
    let server = Smtp::start_answering(|line| {
        let is_refused = line.starts_with("RCPT") && line.contains("gone@");
        is_refused.then(|| "550 5.1.1 no such mailbox".to_owned())
    });
    let refusing = Smtp::start_answering(|line| {
        let is_sender = line.starts_with("MAIL");
        is_sender.then(|| "553 5.7.1 not your address".to_owned())
    });
    let (server, refusing) = (server.unwrap(), refusing.unwrap());
    let own = |port: u16, tls: &str, more: &str| {
        format!(
            "{{ type: email, server: '127.0.0.1:{port}', tls: {tls}, from: g@example.org{more} }}"
        )
    };
    let page = format!(", page_url: '{PAGE}'");
    let here = ", page_url: 'http://127.0.0.1:8750'";
    let signed_in = format!("{page}, username: g, password_env: PASSWORD");
    let port = server.port();
    let channels = [
        ("good", own(port, "none", here)),
        // Nothing listens at the first of all ports.
        ("away", own(1, "none", &page)),
        ("tls", own(port, "starttls", &page)),
        ("implicit", own(port, "implicit", &page)),
        ("auth", own(port, "none", &signed_in)),
        ("sender", own(refusing.port(), "none", &page)),
    ];
    let channels = channels.map(|(name, channel)| format!("  {name}: {channel}\n"));
    let config = format!(
        "people:\n- {{ name: ana, roles: [approver], accounts: {{ good: ana@example.org }} }}\n\
         - {{ name: gone, roles: [approver], accounts: {{ good: gone@example.org }} }}\nchannels:\n{}",
        channels.concat()
    );
    let gateway = Gateway::with_variables(&config, &[("PASSWORD", "hunter2secret")]);
    (gateway, vec![server, refusing])
}

#[test]
fn doctor_finds_the_usual_mistakes() {
    let (gateway, servers) = mistaken();
    let found = |name: &str| {
        let path = format!("/v1/channels/{name}/doctor");
        let body = gateway.get(&gateway.admin(), &path).body;
        assert!(!body.to_string().contains("hunter2secret"), "{body}");
        body["findings"].as_array().unwrap().clone()
    };
    let rows = [
        ("good", "server", "good"),
        ("good", "encryption", "good"),
        ("good", "sign-in", "good"),
        ("good", "sender", "good"),
        ("good", "protection", "good"),
        ("good", "page", "doubtful"),
        ("good", "letters for ana", "good"),
        ("good", "letters for gone", "bad"),
        ("away", "server", "bad"),
        ("tls", "encryption", "bad"),
        ("implicit", "server", "bad"),
        ("auth", "sign-in", "bad"),
        ("sender", "sender", "bad"),
        ("sender", "people", "bad"),
    ];
    for (name, check, state) in rows {
        let findings = found(name);
        let finding = findings.iter().find(|it| it["check"] == check);
        let finding = finding.unwrap_or_else(|| panic!("{name}: {check}: {findings:?}"));
        assert_eq!(finding["state"], state, "{name}: {finding}");
        let has_fix = !finding["fix"].as_str().unwrap().is_empty();
        assert_eq!(has_fix, state != "good", "{name}: {finding}");
    }
    for server in servers {
        assert_eq!(server.letters(), [], "a diagnosis sends nothing");
    }
}
