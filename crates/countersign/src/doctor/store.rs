//! Checks of what lies on the disk: the database, the head of the ledger, free space, the spool.

use std::path::Path;
use std::time::{Duration, SystemTime};

use countersign_core::display::inline;

use super::report::Line;
use crate::complaint::Complaint;
use crate::config::Home;
use crate::gateway::{Ground, damaged};
use crate::hook;
use crate::hook::spool;

const GROUP: &str = "store";
const SPOOL: &str = "spool";

/// Free space below which it is worth a look, in bytes.
const FREE_BYTES: u64 = 1024 * 1024 * 1024;
/// Free space below which answers may soon be refused, in bytes.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// A running gateway takes a spool within seconds.
const COLLECTED_AFTER: Duration = Duration::from_secs(10);

/// Checks that the database can be opened, that the ledger is the one the home has seen, and that
/// there is space left.
pub(super) fn check(home: &Home) -> Vec<Line> {
    if !home.directory().is_dir() {
        return Vec::new();
    }
    vec![ledger(home), space(home.directory())]
}

/// Compares the ledger with the head that is kept beside it: a few rows, however long it is.
fn ledger(home: &Home) -> Line {
    // Opening a home makes the signing key that is missing, and a doctor makes nothing.
    if !home.directory().join("signing.key").exists() {
        let fix = "`countersign serve` creates it";
        return Line::warn(GROUP, "there is no ledger yet", fix);
    }
    match compared(home) {
        Ok(entries) => Line::ok(
            GROUP,
            format!("the ledger's {entries} entries end at the head this home keeps"),
        ),
        Err(complaint) => Line::fail(GROUP, complaint.message(), complaint.hint()),
    }
}

fn compared(home: &Home) -> Result<u64, Complaint> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(format!("cannot start: {error}"), ""))?;
    runtime.block_on(async {
        let ground = Ground::of_ledger(home).await?;
        let compared = ground.anchor(home).compare(&ground.store).await;
        let last = ground.store.last().await;
        ground.store.close().await;
        compared.map_err(|error| damaged(&error))?;
        let (last, _) = last.map_err(|error| Complaint::failed(error.to_string(), ""))?;
        Ok(last)
    })
}

fn space(directory: &Path) -> Line {
    match rustix::fs::statvfs(directory) {
        Ok(disk) => space_line(disk.f_bavail.saturating_mul(disk.f_frsize)),
        Err(error) => Line::warn(GROUP, format!("cannot see the free space: {error}"), ""),
    }
}

fn space_line(free: u64) -> Line {
    let shown = match free / (1024 * 1024) {
        mebibytes if mebibytes >= 10 * 1024 => format!("{} GiB", mebibytes / 1024),
        mebibytes => format!("{mebibytes} MiB"),
    };
    let found = format!("{shown} are free on the home's disk");
    let fix = "free some space: when the disk is full nothing can be answered and nothing runs";
    if free < FREE_BYTES_MIN {
        Line::fail(GROUP, found, fix)
    } else if free < FREE_BYTES {
        Line::warn(GROUP, found, fix)
    } else {
        Line::ok(GROUP, found)
    }
}

/// Checks that calls which hooks let run are recorded.
pub(super) fn check_spool(home: &Home) -> Vec<Line> {
    let mut lines = Vec::new();
    for spool in spool::all(&hook::directory(home)) {
        let (calls, changed) = spool.waiting();
        if calls > 0 {
            lines.push(spool_line(spool.agent(), calls, changed));
        }
    }
    if lines.is_empty() {
        let found = "every call that a hook let run is recorded";
        lines.push(Line::ok(SPOOL, found));
    }
    lines
}

fn spool_line(agent: &str, calls: usize, changed: Option<SystemTime>) -> Line {
    let age = changed.and_then(|at| at.elapsed().ok()).unwrap_or_default();
    let agent = inline(agent);
    let calls = match calls {
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    let found = format!("{calls} that the hook of {agent} let run, not in the ledger yet");
    if age < COLLECTED_AFTER {
        return Line::ok(SPOOL, format!("{found}; the gateway records them now"));
    }
    let fix = format!(
        "start the gateway; if it runs, its log says why (does the hook's key of {agent} work?)"
    );
    Line::warn(SPOOL, found, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::{State, plain};

    fn empty() -> (tempfile::TempDir, Home) {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(Some(directory.path().to_owned())).unwrap();
        (directory, home)
    }

    #[test]
    fn a_home_without_a_ledger_gets_none() {
        let (_kept, home) = empty();
        let line = ledger(&home);
        insta::assert_snapshot!(plain(&[line]), @"! warn store         there is no ledger yet → `countersign serve` creates it");
        assert_eq!(std::fs::read_dir(home.directory()).unwrap().count(), 0);
    }

    #[test]
    fn a_ledger_is_held_against_its_head() {
        let (_kept, home) = empty();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let gate = crate::gateway::open_beside(&home).await.unwrap();
            gate.store().close().await;
        });
        assert_eq!(ledger(&home).state, State::Ok);
        std::fs::write(home.directory().join("ledger.head"), "{}").unwrap();
        assert_eq!(ledger(&home).state, State::Fail);
        std::fs::write(home.directory().join("countersign.db"), "no database").unwrap();
        assert_eq!(ledger(&home).state, State::Fail);
    }

    #[test]
    fn little_space_is_named_in_time() {
        let gibibyte = 1024 * 1024 * 1024;
        let lines = [50 * gibibyte, gibibyte / 2, 1024].map(space_line);
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   store         50 GiB are free on the home's disk
        ! warn store         512 MiB are free on the home's disk → free some space: when the disk is full nothing can be answered and nothing runs
        ✗ FAIL store         0 MiB are free on the home's disk → free some space: when the disk is full nothing can be answered and nothing runs
        ");
    }

    #[test]
    fn calls_that_are_not_recorded_are_counted() {
        let (_kept, home) = empty();
        let lines = check_spool(&home);
        insta::assert_snapshot!(plain(&lines), @"✓ ok   spool         every call that a hook let run is recorded");
        let hooks = home.directory().join("hooks");
        std::fs::create_dir(&hooks).unwrap();
        std::fs::write(hooks.join("codex.spool"), "{}\n{}\n").unwrap();
        std::fs::write(hooks.join("codex.spool.taken"), "{}\n").unwrap();
        insta::assert_snapshot!(plain(&check_spool(&home)), @"✓ ok   spool         3 calls that the hook of codex let run, not in the ledger yet; the gateway records them now");
        let long_ago = Some(SystemTime::now() - Duration::from_mins(5));
        let line = spool_line("codex", 1, long_ago);
        insta::assert_snapshot!(plain(&[line]), @"! warn spool         1 call that the hook of codex let run, not in the ledger yet → start the gateway; if it runs, its log says why (does the hook's key of codex work?)");
    }
}
