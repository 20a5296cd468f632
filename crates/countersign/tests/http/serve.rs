//! Starting and stopping: what is said, what is made, what is refused, what survives.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;

use crate::ours;
use crate::support::{Gateway, RISKY, client, command, first_line, signal, spawn};

/// A user who owns nothing.
const NOBODY: u32 = 65534;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn it_says_where_it_listens_and_what_to_do_next_and_stops_cleanly() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let (mut child, first) = spawn(&home, &[]);
    let url = first
        .trim_end()
        .strip_prefix("countersign listening on ")
        .unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let health = client().get(format!("{url}/health")).send().unwrap();
    assert_eq!(health.status().as_u16(), 200);
    for (name, bits) in [
        ("", 0o700),
        ("cli.key", 0o600),
        ("agent.sock", 0o600),
        ("signing.key", 0o600),
    ] {
        assert_eq!(mode(&home.join(name)), bits, "{name}");
    }
    signal(&child, "INT");
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    child.stdout.unwrap().read_to_string(&mut rest).unwrap();
    assert!(rest.contains(&format!("{url}/#code=")), "{rest}");
    assert!(rest.contains("Next:"), "{rest}");
    assert!(!home.join("agent.sock").exists());
}

#[test]
fn it_takes_as_many_connections_as_the_machine_lets_it() {
    let directory = tempfile::tempdir().unwrap();
    let serve = command(directory.path(), &[]);
    let shell = std::process::Command::new("sh");
    let mut child = ours::in_home(shell, directory.path())
        .env("PATH", "/usr/bin:/bin")
        .args(["-c", "ulimit -Sn 256 && exec \"$0\" \"$@\""])
        .arg(serve.get_program())
        .args(serve.get_args())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    first_line(&mut child);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    signal(&child, "TERM");
    child.wait().unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let mut numbers = line.unwrap().split_whitespace().skip(3);
    let mut number = || numbers.next().unwrap().parse().unwrap_or(u64::MAX);
    let (soft, hard) = (number(), number());
    assert_eq!(soft, hard.min(65_536), "{limits}");
}

#[test]
fn a_second_gateway_in_the_same_home_is_refused() {
    let gateway = Gateway::start();
    let second = command(&gateway.home(), &[]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let wrong = String::from_utf8(second.stderr).unwrap();
    assert!(wrong.contains("is already using"), "{wrong}");
    assert!(wrong.contains("hint:"), "{wrong}");
    assert_eq!(gateway.get(&gateway.admin(), "/v1/whoami").status, 200);
}

#[test]
fn a_public_address_needs_to_be_meant() {
    let directory = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let refused = ours::ours(directory.path())
            .args(["serve", "--listen", listen, "--home"])
            .arg(directory.path())
            .output()
            .unwrap();
        let wrong = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        assert!(wrong.contains("--allow-public"), "{wrong}");
    }
}

#[test]
fn what_waits_waits_through_a_restart() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let approval = gateway.ask(&agent, RISKY);
    let gateway = gateway.restarted();
    let path = format!("/v1/approvals/{approval}");
    let admin = gateway.admin();
    assert_eq!(gateway.get(&admin, &path).body["status"], "waiting");
    assert_eq!(gateway.resolve(&admin, &approval, "once").status, 200);
    let gateway = gateway.restarted();
    assert_eq!(
        gateway.get(&gateway.admin(), &path).body["status"],
        "approved"
    );
    let verified = gateway.get(&gateway.admin(), "/v1/ledger/verify").body;
    assert_eq!(verified["ok"], true, "{verified}");
}

#[test]
fn the_process_cannot_be_read_by_its_neighbours() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(directory.path(), &[]);
    // Root may read everything and owns what nobody may read, so root lets another user serve.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if is_root => {
            countersign_testkit::skipped(&format!("another user cannot run the binary: {error}"));
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let first = first_line(&mut child);
    assert!(first.starts_with("countersign listening"), "{first}");
    let owner = std::fs::metadata(format!("/proc/{}/mem", child.id()))
        .unwrap()
        .uid();
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    // The files of a process that may not be dumped belong to root, whoever runs it.
    assert_eq!(owner, 0);
}

#[test]
fn a_key_somebody_revoked_is_not_made_again() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    let other = gateway.named_key("ben", "admin");
    let id = gateway.get(&admin, "/v1/whoami").body["key_id"].clone();
    let path = format!("/v1/keys/{}", id.as_str().unwrap());
    let revoked = gateway.request("DELETE", &path).bearer_auth(&other).send();
    assert!(revoked.unwrap().status().is_success());
    let gateway = gateway.restarted();
    assert!(gateway.login_url.is_none());
    assert_eq!(gateway.get(&admin, "/v1/whoami").status, 401);
    assert_eq!(gateway.get(&other, "/v1/whoami").status, 200);
}
