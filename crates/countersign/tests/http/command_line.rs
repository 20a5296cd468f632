//! Commands beside a running gateway: JSON for programs, shortened ids, messages that name things.

use std::process::{Output, Stdio};

use serde_json::Value;

use crate::ours;
use crate::support::{Gateway, RISKY, client, command};

/// Letters of an id that are the same for everything that was made in the same minutes.
const SHARED: usize = "appr_".len() + 5;

fn run(gateway: &Gateway, args: &[&str]) -> Output {
    let mut command = ours::ours(&gateway.home());
    command.args(args).current_dir(gateway.home());
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

#[test]
fn every_command_that_reads_prints_json() {
    let gateway = Gateway::configured("approvals: { deny: [frobnicate] }\n");
    let agent = gateway.key("agent");
    let approval = gateway.ask(&agent, RISKY);
    let explain = ["explain", approval.as_str()];
    let preview = ["grants", "preview", approval.as_str()];
    let one = ["approvals", approval.as_str()];
    let rows: [(&[&str], &str); 21] = [
        (&["check", "ls"], "/verdict"),
        (&["config", "path"], "/path"),
        (&["config", "check"], "/files"),
        (&["config", "list"], "/approvals.mode/origin"),
        (&["config", "get", "approvals.mode"], "/value"),
        (&["approvals"], "/approvals/0/approval_id"),
        (&["approvals", "--all"], "/approvals/0/approval_id"),
        (&one, "/approval_id"),
        (&["history"], "/traces/0/call_id"),
        (&explain, "/call_id"),
        (&["grants"], "/grants"),
        (&preview, "/scopes"),
        (&["reviews"], "/reviews"),
        (&["crisis"], "/sessions"),
        (&["policy", "check"], "/rules"),
        (&["policy", "suggest"], "/suggestions"),
        (&["replay"], "/calls"),
        (&["ledger", "verify"], "/ok"),
        (&["ledger", "anchor"], ""),
        (&["keys", "list"], "/keys/0/id"),
        (&["people"], "/people"),
    ];
    let more: [(&[&str], &str); 4] = [
        (&["channels"], "/channels"),
        (&["channels", "doctor"], "/channels"),
        (&["usage"], "/usage"),
        (&["doctor", "--no-canary"], ""),
    ];
    for (args, wanted) in rows.into_iter().chain(more) {
        let words: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let output = run(&gateway, &words);
        let said: Result<Value, _> = serde_json::from_slice(&output.stdout);
        let said = said.unwrap_or_else(|error| panic!("{words:?}: {error}: {}", printed(&output)));
        assert!(said.pointer(wanted).is_some(), "{words:?}: {said}");
    }
}

#[test]
fn an_id_may_be_shortened_as_long_as_it_means_one_thing() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let first = gateway.ask(&agent, RISKY);
    let second = gateway.ask(&agent, "rm -rf /srv/other");
    let head = |id: &str, letters: usize| id.get(..letters).unwrap().to_owned();
    let shared = head(&first, SHARED);
    let shared = shared.as_str();
    assert!(second.starts_with(shared), "{first} {second}");
    let differ = first.bytes().zip(second.bytes());
    let differ = differ.take_while(|(one, other)| one == other).count();
    let short = head(&first, differ + 1);
    let short = short.as_str();

    let several = run(&gateway, &["answer", shared, "once"]);
    let words = printed(&several);
    assert_eq!(several.status.code(), Some(1), "{words}");
    for id in [&first, &second] {
        assert!(words.contains(id.as_str()), "{words}");
    }
    let waiting = || {
        let admin = gateway.admin();
        let said = gateway.get(&admin, "/v1/approvals?status=waiting");
        said.body["approvals"].as_array().unwrap().len()
    };
    assert_eq!(waiting(), 2, "nothing was picked");

    let shown = run(&gateway, &["approvals", short, "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["approval_id"], first.as_str());
    assert!(run(&gateway, &["explain", short]).status.success());
    let done = run(&gateway, &["answer", short, "deny"]);
    assert!(done.status.success(), "{}", printed(&done));
    assert_eq!(waiting(), 1);

    // It means both still: what was answered does not make room for the next.
    let again = run(&gateway, &["answer", shared, "once"]);
    assert_eq!(again.status.code(), Some(1), "{}", printed(&again));
    assert_eq!(waiting(), 1);

    let three = head(&first, "appr_".len() + 3);
    let too_short = run(&gateway, &["answer", &three, "once"]);
    assert!(printed(&too_short).contains("there is no approval"));
    // An agent is told of its own only.
    let other = gateway.named_key("other", "agent");
    let path = format!("/v1/approvals/{shared}");
    let said = gateway.get(&other, &path);
    assert_eq!(said.status, 404, "{said:?}");
    assert_eq!(gateway.get(&agent, &path).code(), "ambiguous_id");
}

#[test]
fn a_second_gateway_is_told_who_was_first() {
    let gateway = Gateway::start();
    let pid = std::fs::read_to_string(gateway.home().join("gateway.lock")).unwrap();
    let second = command(&gateway.home(), &[]).output().unwrap();
    let wrong = printed(&second);
    assert!(pid.trim().parse::<u32>().is_ok(), "{pid}");
    assert!(wrong.contains(&format!("pid {}", pid.trim())), "{wrong}");
    assert!(wrong.contains(&gateway.url), "{wrong}");
}

#[test]
fn the_link_of_a_gateway_on_all_addresses_works() {
    let gateway = Gateway::serving(&["--listen", "0.0.0.0:0", "--allow-public"]);
    assert!(!gateway.url.contains("0.0.0.0"), "{}", gateway.url);
    let link = gateway.login_url.clone().unwrap();
    let page = client().get(link).send().unwrap();
    assert_eq!(page.status().as_u16(), 200);
    // Commands on this machine stay on this machine.
    let left = std::fs::read_to_string(gateway.home().join("gateway.url")).unwrap();
    assert!(left.starts_with("http://127.0.0.1:"), "{left}");
    assert!(run(&gateway, &["approvals"]).status.success());
}

#[test]
fn a_home_without_a_gateway_is_told_apart_from_a_stopped_one() {
    let directory = tempfile::tempdir().unwrap();
    let asked = |home: &std::path::Path| {
        let mut command = ours::ours(home);
        // The usual address, not the one tests keep commands from.
        let output = command.env("COUNTERSIGN_URL", "").arg("approvals");
        let output = output.output().unwrap();
        assert_eq!(output.status.code(), Some(22));
        printed(&output)
    };
    let words = asked(directory.path());
    assert!(words.contains("no gateway has run in"), "{words}");
    let mut gateway = Gateway::start();
    gateway.stop();
    let words = asked(&gateway.home());
    assert!(words.contains("no gateway is running in"), "{words}");
    let missing = ours::ours(directory.path())
        .args([
            "approvals",
            "--url",
            "http://127.0.0.1:1",
            "--key-file",
            "nowhere.key",
        ])
        .output()
        .unwrap();
    assert!(printed(&missing).contains("there is no key file nowhere.key"));
}

/// Runs a command with `input` on its standard input.
fn piped(gateway: &Gateway, args: &[&str], input: &str) -> Output {
    use std::io::Write as _;
    let mut command = ours::ours(&gateway.home());
    command.args(args).current_dir(gateway.home());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_call_is_edited_and_allowed_as_edited_from_the_command_line() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let asked = gateway.submit(&agent, RISKY).body;
    let id = asked["approval_id"].as_str().unwrap();
    let waits = || {
        let said = gateway.get(&gateway.admin(), &format!("/v1/approvals/{id}"));
        said.body["status"] == "waiting"
    };
    // The exit code, what is said, and how it was answered.
    let rows: [(&[&str], i32, &str); 6] = [
        (&["once", "--args", "{"], 2, "not JSON"),
        (&["once", "--args", "[1]"], 2, "no JSON object"),
        (&["once", "--args", r#"{"a":1,"a":2}"#], 2, "not JSON"),
        (&["deny", "--args", "{}"], 2, "only be allowed once"),
        (&["session", "--args", "{}"], 2, "only be allowed once"),
        (
            &["once", "--args", r#"{"command":"rm -rf /"}"#],
            1,
            "always refused",
        ),
    ];
    for (words, code, wanted) in rows {
        let args: Vec<&str> = ["answer", id]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        let output = run(&gateway, &args);
        assert_eq!(output.status.code(), Some(code), "{}", printed(&output));
        assert!(printed(&output).contains(wanted), "{}", printed(&output));
        assert!(waits(), "{words:?} answered");
    }
    let edited = r#"{"command":"rm -rf /srv/www/cache"}"#;
    let done = piped(&gateway, &["answer", id, "once", "--args", "-"], edited);
    let words = printed(&done);
    assert!(done.status.success(), "{words}");
    assert!(words.contains("with edited arguments"), "{words}");
    let path = format!("/v1/calls/{}", asked["call_id"].as_str().unwrap());
    let call = gateway.get(&agent, &path).body;
    assert_eq!(call["status"], "approved", "{call}");
    assert_eq!(call["decision"]["args"]["command"], "rm -rf /srv/www/cache");
    // It is bound as if it had been submitted so, and no longer as it was.
    let as_edited = gateway.submit(&agent, "rm -rf /srv/www/cache").body;
    assert_eq!(call["digest"], as_edited["digest"]);
    assert_ne!(call["digest"], asked["digest"]);
}
