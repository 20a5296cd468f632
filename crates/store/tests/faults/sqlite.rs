//! Faults of the disk and of others who use the file.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign_store::{Database, Kind};
use rusqlite::Connection;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::{change, everything_is_whole, has, until_it_works, why};

/// A disk of three megabytes in memory. Only root may make one.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let options = c"size=3m";
        match mount(
            "tmpfs",
            directory.path(),
            "tmpfs",
            MountFlags::empty(),
            options,
        ) {
            Ok(()) => Some(Self { directory }),
            Err(error) => {
                countersign_testkit::skipped(&format!("a small disk cannot be mounted: {error}"));
                None
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Fills what is left of it.
    fn fill(&self) {
        let filler = vec![0; 16 << 20];
        assert!(std::fs::write(self.path("filler"), filler).is_err());
    }

    fn empty(&self) {
        std::fs::remove_file(self.path("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Err(error) = unmount(self.directory.path(), UnmountFlags::DETACH) {
            eprintln!("the small disk stays mounted: {error}");
        }
    }
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_acknowledged_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::new() else { return };
    let store = Database::sqlite(&disk.path("state.db")).await.unwrap();
    for number in 0..10 {
        let id = format!("before-{number}");
        store.commit(change(&id, 1000)).await.unwrap();
    }
    disk.fill();
    // The first few may still find room in the log, which is as large as it was.
    let mut acknowledged = 10;
    let full = loop {
        match store
            .commit(change(&format!("c{acknowledged}"), 20_000))
            .await
        {
            Ok(_) => acknowledged += 1,
            error => break why(error),
        }
    };
    assert_eq!(full, "the disk is full");
    assert_eq!(why(store.commit(change("refused", 20_000)).await), full);

    // An append is accepted once, and when it cannot be written no more are.
    store.append(change("appended", 20_000)).unwrap();
    let started = Instant::now();
    let refused = loop {
        match store.append(change(&format!("late-{acknowledged}"), 20_000)) {
            Ok(()) => acknowledged += 1,
            error => break why(error),
        }
        assert!(started.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(refused, full);
    assert_eq!(why(store.flush().await), full);
    // What is there can be read; what is in doubt is not said to be absent.
    assert!(has(&store, "before-3").await);
    assert_eq!(
        why(store.get(countersign_store::Kind::Call, "appended").await),
        full
    );

    disk.empty();
    until_it_works(&store, "after").await;
    store.append(change("appended-after", 10)).unwrap();
    assert!(has(&store, "appended").await);
    assert!(!has(&store, "refused").await);
    // With `after` and the two appended.
    assert_eq!(everything_is_whole(&store).await, acknowledged + 3);
}

#[tokio::test]
async fn a_database_that_another_process_holds_is_locked_and_then_free() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.db");
    let store = Database::sqlite(&file).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(
        why(store.commit(change("refused", 10)).await),
        "the database is locked"
    );
    store.append(change("appended", 10)).unwrap();
    // Reading goes on.
    assert!(has(&store, "before").await);
    other.execute_batch("ROLLBACK").unwrap();
    until_it_works(&store, "after").await;
    assert!(has(&store, "appended").await);
    assert!(!has(&store, "refused").await);
    assert_eq!(everything_is_whole(&store).await, 3);
}

#[tokio::test]
async fn a_read_only_disk_is_refused_and_works_when_it_is_writable() {
    let Some(disk) = SmallDisk::new() else { return };
    let file = disk.path("state.db");
    let store = Database::sqlite(&file).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    store.close().await;
    drop(store);
    let path = disk.directory.path();
    mount_remount(path, MountFlags::RDONLY, c"").unwrap();
    let refused = why(Database::sqlite(&file).await);
    assert!(
        refused.contains("read-only") || refused.contains("cannot be opened"),
        "{refused}"
    );
    mount_remount(path, MountFlags::empty(), c"").unwrap();
    let store = Database::sqlite(&file).await.unwrap();
    assert!(has(&store, "before").await);
}

#[tokio::test]
async fn what_is_not_our_database_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("notes.txt");
    std::fs::write(&text, "these are notes and no database at all, ".repeat(50)).unwrap();
    assert_eq!(
        why(Database::sqlite(&text).await),
        "the file is not a database"
    );

    let other = directory.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("PRAGMA user_version = 3; CREATE TABLE theirs (a)")
        .unwrap();
    let refused = why(Database::sqlite(&other).await);
    assert_eq!(refused, "the file is another program's database");

    let below_a_file = text.join("state.db");
    let refused = why(Database::sqlite(&below_a_file).await);
    assert_eq!(refused, "the database's file cannot be made");
}

#[tokio::test]
async fn only_the_owner_may_read_what_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("new/home");
    let store = Database::sqlite(&home.join("state.db")).await.unwrap();
    store.commit(change("a", 10)).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for entry in std::fs::read_dir(&home).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn the_ledger_cannot_be_changed_by_a_slip() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.db");
    let store = Database::sqlite(&file).await.unwrap();
    store.commit(change("a", 10)).await.unwrap();
    let other = Connection::open(&file).unwrap();
    for statement in ["UPDATE ledger SET body = ''", "DELETE FROM ledger"] {
        let error = other.execute_batch(statement).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
}

/// Set in the process that is killed: where it writes.
const VICTIM: &str = "COUNTERSIGN_TEST_VICTIM";

#[test]
fn what_was_acknowledged_survives_a_killed_process() {
    const NAME: &str = "sqlite::what_was_acknowledged_survives_a_killed_process";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Ok(file) = std::env::var(VICTIM) {
        runtime.block_on(write_until_killed(Path::new(&file)));
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.db");
    let mut acknowledged = Vec::new();
    for round in 0_u64..12 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(VICTIM, &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let wanted = acknowledged.len() + 1 + usize::try_from(round * 7 % 40).unwrap();
        let mut take = |line: std::io::Result<String>| {
            let line = line.unwrap();
            let id = line.split_once("acknowledged ").map(|(_, id)| id);
            if let Some(id) = id.filter(|id| id.ends_with("-end")) {
                acknowledged.push(id.to_owned());
            }
            acknowledged.len()
        };
        while take(lines.next().unwrap()) < wanted {}
        victim.kill().unwrap();
        // What it said before it died counts as well, if it is a whole line.
        for line in lines {
            take(line);
        }
        victim.wait().unwrap();
    }
    runtime.block_on(async {
        let store = Database::sqlite(&file).await.unwrap();
        for id in acknowledged {
            assert!(has(&store, &id).await, "{id} was acknowledged and is lost");
        }
        everything_is_whole(&store).await;
    });
}

async fn write_until_killed(file: &Path) {
    let store = Database::sqlite(file).await.unwrap();
    let (last, _) = store.last().await.unwrap();
    let writing: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in 0_u64.. {
                    let id = format!("{last}-{writer}-{number}-end");
                    store
                        .append(change(&format!("{id}-appended"), 500))
                        .unwrap();
                    store.commit(change(&id, 500)).await.unwrap();
                    println!("acknowledged {id}");
                }
            })
        })
        .collect();
    for writer in writing {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn a_database_that_was_moved_replaced_or_deleted_acknowledges_nothing_until_it_is_back() {
    let directory = tempfile::tempdir().unwrap();
    let (file, away) = (
        directory.path().join("state.db"),
        directory.path().join("elsewhere.db"),
    );
    let store = Database::sqlite(&file).await.unwrap();
    store.commit(change("before", 10)).await.unwrap();
    std::fs::rename(&file, &away).unwrap();
    let moved = why(store.commit(change("away", 10)).await);
    assert!(moved.contains("moved, replaced or deleted"), "{moved}");
    assert!(store.get(Kind::Call, "before").await.is_err());
    // An empty file in its place is not it, and none is made there.
    assert!(!file.exists(), "a new database was made in its place");
    std::fs::write(&file, "").unwrap();
    let replaced = why(store.commit(change("other", 10)).await);
    assert_eq!(replaced, moved);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
    std::fs::rename(&away, &file).unwrap();
    store.commit(change("after", 10)).await.unwrap();
    assert!(has(&store, "before").await && has(&store, "after").await);
    assert!(!has(&store, "away").await && !has(&store, "other").await);
    std::fs::remove_file(&file).unwrap();
    let deleted = why(store.commit(change("gone", 10)).await);
    assert_eq!(deleted, moved);
    assert!(!file.exists());
}
