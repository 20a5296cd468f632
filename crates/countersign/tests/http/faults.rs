//! What the disk and the database may do to a gateway: it fails closed, says so, and recovers
//! without a restart.

use std::process::Command;

use crate::support::{Gateway, PATIENCE, RISKY, Said};

fn is_refused_for_now(said: &Said) -> bool {
    said.status == 503 && said.code() == "storage_unavailable"
}

#[test]
fn law_6_a_locked_database_stops_calls_and_is_used_again_when_it_is_free() {
    let gateway = Gateway::start();
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let approval = gateway.ask(&agent, RISKY);
    let lock = rusqlite::Connection::open(gateway.home().join("countersign.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let said = gateway.resolve(&ana, &approval, "once");
    assert!(is_refused_for_now(&said), "{said:?}");
    let said = gateway.submit(&agent, "rm -rf /srv/other");
    assert!(is_refused_for_now(&said), "{said:?}");
    let ready = is_ready(&gateway);
    assert_eq!(ready, Err("the database is locked".to_owned()));
    lock.execute_batch("ROLLBACK").unwrap();
    let said = gateway.resolve(&ana, &approval, "once");
    assert_eq!(
        said.status, 200,
        "the same question, the same gateway: {said:?}"
    );
    until_ready(&gateway);
}

#[test]
fn law_6_a_database_that_was_moved_away_stops_calls_until_it_is_back() {
    let gateway = Gateway::start();
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let approval = gateway.ask(&agent, RISKY);
    let (file, away) = ("countersign.db", "elsewhere.db");
    let (file, away) = (gateway.home().join(file), gateway.home().join(away));
    std::fs::rename(&file, &away).unwrap();
    let said = gateway.resolve(&ana, &approval, "once");
    assert!(is_refused_for_now(&said), "{said:?}");
    let message = said.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("moved, replaced or deleted"), "{message}");
    let said = gateway.submit(&agent, "rm -rf /srv/other");
    assert!(is_refused_for_now(&said), "{said:?}");
    assert!(is_ready(&gateway).is_err());
    assert!(!file.exists(), "nothing is made in its place");
    std::fs::rename(&away, &file).unwrap();
    until_ready(&gateway);
    let said = gateway.resolve(&ana, &approval, "once");
    assert_eq!(said.status, 200, "without a restart: {said:?}");
}

/// Returns why the gateway is not ready.
fn is_ready(gateway: &Gateway) -> Result<(), String> {
    let said = gateway.get("", "/ready");
    if said.status == 200 {
        return Ok(());
    }
    let reasons = said.body["reasons"].as_array().unwrap();
    Err(reasons.last().unwrap().as_str().unwrap().to_owned())
}

/// Asks until the gateway is ready again. Nothing is announced when it is, and it caches the answer
/// for a moment, so this polls, with an end.
fn until_ready(gateway: &Gateway) {
    let since = std::time::Instant::now();
    while let Err(why) = is_ready(gateway) {
        assert!(since.elapsed() < PATIENCE, "still not ready: {why}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn law_6_a_full_disk_stops_calls_and_is_used_again_when_there_is_room() {
    let Some(disk) = SmallDisk::mount() else {
        countersign_testkit::skipped("a small disk cannot be mounted (needs root)");
        return;
    };
    let gateway = Gateway::in_home(&disk.path);
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let approval = gateway.ask(&agent, RISKY);
    let filler = disk.path.join("filler");
    fill(&filler);
    let mut refused = None;
    // The write-ahead log may have a little room left.
    for number in 0..200 {
        let said = gateway.submit(&agent, &format!("rm -rf /srv/{number}"));
        if said.status == 429 {
            let path = format!("/v1/calls/{}/withdraw", said.body["call_id"]);
            gateway.post(&agent, &path, &serde_json::json!({}));
        }
        if is_refused_for_now(&said) {
            refused = Some(said);
            break;
        }
    }
    let refused = refused.unwrap_or_else(|| gateway.resolve(&ana, &approval, "once"));
    assert!(is_refused_for_now(&refused), "{refused:?}");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("disk is full"), "{message}");
    assert!(is_ready(&gateway).is_err(), "with a full disk");
    std::fs::remove_file(&filler).unwrap();
    let said = gateway.resolve(&ana, &approval, "once");
    assert_eq!(said.status, 200, "without a restart: {said:?}");
}

#[test]
fn law_6_a_database_that_cannot_be_written_stops_calls_and_is_used_again_when_it_can() {
    let gateway = Gateway::start();
    let (agent, ana) = (gateway.key("agent"), gateway.named_key("ana", "approver"));
    let approval = gateway.ask(&agent, RISKY);
    let files = ["countersign.db", "countersign.db-wal"].map(|name| gateway.home().join(name));
    // Not by permissions: they do not bind root, nor files that are open already.
    let Some(immutable) = Immutable::make(&files) else {
        countersign_testkit::skipped("files cannot be made immutable (needs root and ext4)");
        return;
    };
    let said = gateway.resolve(&ana, &approval, "once");
    assert!(is_refused_for_now(&said), "{said:?}");
    let said = gateway.submit(&agent, "rm -rf /srv/other");
    assert!(is_refused_for_now(&said), "{said:?}");
    let said = gateway.get(&ana, &format!("/v1/approvals/{approval}"));
    assert_eq!(said.body["status"], "waiting", "it can be read: {said:?}");
    drop(immutable);
    let said = gateway.resolve(&ana, &approval, "once");
    assert_eq!(said.status, 200, "without a restart: {said:?}");
}

/// Files that nobody can write to, not even who has opened them already.
struct Immutable<'a>(&'a [std::path::PathBuf]);

impl<'a> Immutable<'a> {
    fn make(files: &'a [std::path::PathBuf]) -> Option<Self> {
        let made = Self(files);
        made.set("+i").then_some(made)
    }

    fn set(&self, how: &str) -> bool {
        let done = Command::new("chattr").arg(how).args(self.0).output();
        done.is_ok_and(|done| done.status.success())
    }
}

impl Drop for Immutable<'_> {
    fn drop(&mut self) {
        self.set("-i");
    }
}

/// A file system of a few megabytes.
struct SmallDisk {
    path: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs"])
            .arg(&path)
            .output()
            .ok()?;
        mounted.status.success().then_some(Self {
            path,
            _directory: directory,
        })
    }
}

/// Writes until nothing more goes in.
fn fill(file: &std::path::Path) {
    use std::io::Write as _;
    let mut file = std::fs::File::create(file).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    while file.write_all(&[0; 1]).is_ok() {}
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _unmounted = Command::new("umount").arg("-l").arg(&self.path).output();
    }
}
