//! Says that a test, or a part of it, was skipped.
//!
//! The test harness keeps what a passing test prints to itself, so a skip that is only printed looks
//! like a pass. This writes past the harness, and into the file that `./test` counts. The core's
//! tests include the file by its path: the core depends on no other crate of ours.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The variable that names the file in which skips are collected.
pub const SKIPS_FILE: &str = "COUNTERSIGN_TEST_SKIPS";

/// Prints `skipped: TEST: REASON` although the harness captures output, and appends the line to the
/// file named by `COUNTERSIGN_TEST_SKIPS`. The name is the thread's, which the harness sets.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("?"));
    // One write each, so that lines of tests that run at the same time do not mix.
    let _unseen = std::io::stderr().write_all(line.as_bytes());
    if let Some(file) = std::env::var_os(SKIPS_FILE) {
        let opened = OpenOptions::new().append(true).create(true).open(file);
        let _uncounted = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
