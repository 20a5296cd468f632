//! Evidence that stands: a ledger that was cut off stops the gateway, one that a crash left does not,
//! and what an earlier version wrote is still opened and verified.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::ours::ours;
use crate::support::{Gateway, RISKY, command, said, shell};

/// A home as the version before heads were kept has left it.
const BEFORE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/http/home_before_anchors"
);

/// A home as the version before states were types has left it, with something of everything; its
/// `make.py` says what.
const BEFORE_TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/home_before_types");

fn run(home: &Path, words: &[&str]) -> (i32, String, String) {
    let output = ours(home).args(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

fn verified(home: &Path) -> Value {
    let (code, said, wrong) = run(home, &["ledger", "verify", "--json"]);
    let state: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{wrong}"));
    assert_eq!(code == 0, state["ok"] == true, "{said}");
    state
}

/// Does `sql` to the ledger of a home in which nobody works.
fn tamper(home: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(home.join("countersign.db")).unwrap();
    let unlocked = "DROP TRIGGER IF EXISTS ledger_is_never_changed; \
                    DROP TRIGGER IF EXISTS ledger_is_never_shortened;";
    connection
        .execute_batch(&format!("{unlocked}{sql};"))
        .unwrap();
}

/// A gateway that has done something of everything, and was stopped.
fn stopped() -> (Gateway, PathBuf) {
    let mut gateway = Gateway::start();
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    for _ in 0..20 {
        gateway.submit(&agent, "ls");
    }
    let approval = gateway.ask(&agent, RISKY);
    assert_eq!(gateway.resolve(&ana, &approval, "always").status, 200);
    assert_eq!(gateway.submit(&agent, RISKY).status, 200);
    gateway.stop();
    let home = gateway.home();
    (gateway, home)
}

#[test]
fn a_ledger_that_was_cut_off_stops_the_gateway_until_somebody_takes_it_as_it_is() {
    let (gateway, home) = stopped();
    let whole = verified(&home);
    assert_eq!(whole["ok"], true, "{whole}");
    assert_eq!(
        whole["anchored"], whole["entries"],
        "kept at the end: {whole}"
    );
    let last = whole["entries"].as_u64().unwrap();
    tamper(
        &home,
        &format!("DELETE FROM ledger WHERE seq > {}", last - 3),
    );
    let state = verified(&home);
    assert_eq!(state["ok"], false, "{state}");
    let refused = command(&home, &[]).output().unwrap();
    let wrong = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{wrong}");
    assert!(wrong.contains("the ledger is damaged"), "{wrong}");
    assert!(wrong.contains("ledger anchor --accept"), "{wrong}");
    let (code, _, wrong) = run(&home, &["keys", "create", "--role", "agent", "--name", "x"]);
    assert_eq!(code, 1, "{wrong}");
    let (code, _, wrong) = run(&home, &["ledger", "anchor"]);
    assert_eq!(code, 1, "no head of such a ledger is given out: {wrong}");

    let (code, said, wrong) = run(&home, &["ledger", "anchor", "--accept"]);
    assert_eq!(code, 0, "{said}{wrong}");
    let gateway = gateway.started_again();
    let told = gateway.get(&gateway.admin(), "/v1/ledger?after=0&limit=500");
    let entries = told.body["entries"].as_array().unwrap();
    let taken: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["event"] == "ledger.anchored")
        .collect();
    let body: Value =
        serde_json::from_str(taken.last().unwrap()["body"].as_str().unwrap()).unwrap();
    assert!(
        body["was"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{last}:")),
        "{body}"
    );
    assert!(body["why"].as_str().unwrap().contains("deleted"), "{body}");
    // What the records say and the ledger no longer tells is still found.
    let state = gateway.get(&gateway.admin(), "/v1/ledger/verify").body;
    assert_eq!(state["ok"], false, "{state}");
}

#[test]
fn a_ledger_without_any_entry_and_a_head_that_is_gone_stop_the_gateway() {
    let (_gateway, home) = stopped();
    let head = home.join("ledger.head");
    let kept = std::fs::read(&head).unwrap();
    std::fs::remove_file(&head).unwrap();
    let refused = command(&home, &[]).output().unwrap();
    let wrong = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && wrong.contains("missing"),
        "{wrong}"
    );
    std::fs::write(&head, kept).unwrap();
    tamper(&home, "DELETE FROM ledger");
    assert!(!command(&home, &[]).output().unwrap().status.success());
    assert_eq!(verified(&home)["ok"], false);
}

#[test]
fn a_gateway_that_was_killed_starts_again_with_the_head_it_had() {
    let mut gateway = Gateway::start();
    for round in 0..4 {
        let agent = gateway.named_key(&format!("agent {round}"), "agent");
        for number in 0..20 {
            gateway.submit(&agent, &format!("cat {number}"));
            gateway.submit(&agent, &format!("rm -rf /srv/{round}/{number}"));
        }
        gateway = gateway.killed_and_restarted();
    }
    gateway.stop();
    let state = verified(&gateway.home());
    assert_eq!(state["ok"], true, "{state}");
}

#[test]
fn a_head_kept_elsewhere_shows_what_was_cut_off_later() {
    let (mut gateway, home) = stopped();
    let (code, head, wrong) = run(&home, &["ledger", "anchor"]);
    assert_eq!(code, 0, "{wrong}");
    let (_, signed, _) = run(&home, &["ledger", "anchor", "--json"]);
    let file = home.join("kept.json");
    std::fs::write(&file, &signed).unwrap();
    let said: Value = serde_json::from_str(&signed).unwrap();
    let hash = said["hash"].as_str().unwrap();
    assert_eq!(head.trim(), format!("{}:{hash}", said["seq"]));
    let file = file.to_str().unwrap().to_owned();
    gateway = gateway.started_again();
    gateway.key("viewer");
    gateway.stop();
    for anchor in [head.trim(), &file] {
        let (code, said, _) = run(&home, &["ledger", "verify", "--anchor", anchor]);
        assert_eq!(code, 0, "{said}");
    }
    // Cut off, and taken as it is by somebody who may: only the head kept elsewhere knows.
    tamper(
        &home,
        &format!("DELETE FROM ledger WHERE seq >= {}", said["seq"]),
    );
    assert_eq!(run(&home, &["ledger", "anchor", "--accept"]).0, 0);
    let (code, said, _) = run(&home, &["ledger", "verify", "--anchor", &file]);
    assert!(code == 1 && said.contains("kept elsewhere"), "{said}");
    let (code, _, wrong) = run(&home, &["ledger", "verify", "--anchor", "12:abc"]);
    assert!(code == 2 && wrong.contains("hint:"), "{wrong}");
}

#[test]
fn a_home_without_a_ledger_gets_none_by_being_asked_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("none");
    for words in [
        &["ledger", "verify"][..],
        &["ledger", "anchor"],
        &["ledger", "anchor", "--accept"],
    ] {
        let (code, said, wrong) = run(&home, words);
        assert_eq!((code, said.as_str()), (1, ""), "{wrong}");
        assert!(
            wrong.contains("there is no ledger in") && wrong.contains("hint:"),
            "{wrong}"
        );
    }
    assert!(!home.exists(), "nothing is made");
}

#[test]
fn what_the_version_before_wrote_is_opened_verified_and_kept_from_then_on() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    for name in ["countersign.db", "signing.key", "cli.key"] {
        let file = home.join(name);
        std::fs::copy(Path::new(BEFORE).join(name), &file).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let before = verified(&home);
    assert_eq!(before["ok"], true, "{before}");
    assert_eq!(before["anchored"], Value::Null);
    assert!(before["records"].as_u64().unwrap() > 80, "{before}");
    let mut gateway = Gateway::in_home(&home);
    let keys = std::fs::read_to_string(Path::new(BEFORE).join("keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let agent = keys["agent"].as_str().unwrap();
    assert_eq!(gateway.submit(agent, "ls").status, 200);
    let calls = gateway.get(agent, "/v1/calls?limit=100");
    assert_eq!(calls.status, 200, "{calls:?}");
    gateway.stop();
    let after = verified(&home);
    assert_eq!(after["ok"], true, "{after}");
    assert_eq!(after["anchored"], after["entries"]);
}

#[test]
fn a_home_of_the_build_before_typed_states_opens_lists_everything_and_takes_retries() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    for name in ["cli.key", "countersign.db", "ledger.head", "signing.key"] {
        let file = home.join(name);
        std::fs::copy(Path::new(BEFORE_TYPES).join(name), &file).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let expected = std::fs::read_to_string(Path::new(BEFORE_TYPES).join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let before = verified(&home);
    assert_eq!(before["ok"], true, "{before}");
    let mut gateway = Gateway::in_home(&home);
    let admin = gateway.admin();
    for (path, count) in expected["lists"].as_object().unwrap() {
        let said = gateway.get(&admin, path);
        let lists = said.body.as_object().unwrap();
        let list = lists.values().find_map(Value::as_array).unwrap();
        let found = u64::try_from(list.len()).unwrap();
        // Time may have settled questions since then; nothing else goes away.
        let is_settled_by_time = path == "/v1/clarifications";
        assert!(
            is_settled_by_time || Some(found) == count.as_u64(),
            "{path}: {found}"
        );
    }
    for (id, status) in expected["statuses"].as_object().unwrap() {
        let trace = gateway.get(&admin, &format!("/v1/traces/{id}"));
        assert_eq!(trace.status, 200, "{trace:?}");
        let is_open = matches!(status.as_str(), Some("waiting" | "approved"));
        assert!(is_open || trace.body["status"] == *status, "{trace:?}");
    }
    for path in ["/v1/stats", "/v1/logins", "/v1/channels"] {
        assert_eq!(gateway.get(&admin, path).status, 200, "{path}");
    }
    let retry = |command: &str| {
        let mut body = shell(command);
        body["session_id"] = "s9".into();
        body["cwd"] = "/srv/app".into();
        let request = gateway.request("POST", "/v1/calls").json(&body);
        let key = expected["agent_key"].as_str().unwrap();
        said(
            request
                .bearer_auth(key)
                .header("idempotency-key", "retry-1"),
        )
    };
    let again = retry("rm -rf /srv/waiting");
    assert_eq!(again.body["call_id"], expected["waiting_call"], "{again:?}");
    assert_eq!(retry("rm -rf /srv/other").code(), "idempotency_key_reused");
    gateway.stop();
    let after = verified(&home);
    assert_eq!(after["ok"], true, "{after}");
}

#[test]
fn a_token_is_used_by_who_asked_or_by_who_was_made_to_run_it() {
    let gateway = Gateway::start();
    let (agent, other) = (
        gateway.named_key("a", "agent"),
        gateway.named_key("b", "agent"),
    );
    let ana = gateway.named_key("ana", "approver");
    let body = json!({"name": "runner", "role": "agent", "executors": ["tool:terminal"]});
    let made = gateway.post(&gateway.admin(), "/v1/keys", &body);
    let runner = made.body["key"].as_str().unwrap().to_owned();
    let call = gateway.post(&agent, "/v1/calls", &shell(RISKY)).body;
    gateway.resolve(&ana, call["approval_id"].as_str().unwrap(), "once");
    let path = format!("/v1/calls/{}", call["call_id"].as_str().unwrap());
    let token = json!({"token": gateway.get(&agent, &path).body["token"]});
    let refused = gateway.post(&other, "/v1/tokens/consume", &token);
    assert_eq!(refused.status, 403, "{refused:?}");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("another key"), "{message}");
    let used = gateway.post(&runner, "/v1/tokens/consume", &token);
    assert_eq!(used.status, 200, "{used:?}");
    let again = gateway.post(&agent, "/v1/tokens/consume", &token);
    assert_eq!((again.status, again.code()), (409, "token_used"));
    let (_, listed, wrong) = run(&gateway.home(), &["keys", "list"]);
    assert!(listed.contains("tool:terminal"), "{listed}{wrong}");
    let words = [
        "keys",
        "create",
        "--role",
        "approver",
        "--name",
        "x",
        "--executor",
        "tool:x",
    ];
    let (code, _, wrong) = run(&gateway.home(), &words);
    assert!(code == 2 && wrong.contains("only agent keys"), "{wrong}");
}

#[test]
fn a_wrong_cookie_in_front_does_not_hide_the_good_one() {
    let gateway = Gateway::start();
    let login = gateway.login_url.clone().unwrap();
    let code = login.split_once("#code=").unwrap().1;
    let request = gateway.request("POST", "/v1/login");
    let signed_in = request.json(&json!({ "code": code })).send().unwrap();
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    let good = cookie.split(';').next().unwrap();
    let bad = "countersign_session=nonsense";
    let whoami = |cookies: String| {
        let request = gateway.request("GET", "/v1/whoami");
        request.header("cookie", cookies).send().unwrap().status()
    };
    assert_eq!(whoami(good.to_owned()), 200);
    assert_eq!(whoami(format!("{bad}; {good}")), 200);
    assert_eq!(whoami(format!("{bad}; x=1; {bad}; {good}; {bad}")), 200);
    assert_eq!(whoami(format!("{bad}; {bad}")), 401);
    // Only so many are tried.
    let many = vec![bad; 20].join("; ");
    assert_eq!(whoami(format!("{many}; {good}")), 401);
}
