//! Finds an agent's program and asks it for its version.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Place;

/// Longest time a program takes to say its version.
const VERSION_TIME_MAX: Duration = Duration::from_secs(10);
/// How often it is looked whether it has.
const PAUSE: Duration = Duration::from_millis(20);
/// Longest answer that is read.
const VERSION_BYTES_MAX: u64 = 4096;

/// An agent's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it is.
    pub(crate) program: PathBuf,
    /// Its version, if it says one.
    pub(crate) version: Option<String>,
}

/// Returns the first of `names` that is on the search path.
pub(crate) fn program(place: &Place, names: &[&str]) -> Option<Found> {
    let program = names.iter().find_map(|name| program_only(place, name))?;
    let version = version(&program);
    Some(Found { program, version })
}

/// Returns the program `name` on the search path, without asking it anything.
pub(crate) fn program_only(place: &Place, name: &str) -> Option<PathBuf> {
    let mut paths = std::env::split_paths(&place.search).map(|folder| folder.join(name));
    paths.find(|path| is_program(path))
}

/// Whether `version` is `least` or newer. A version that cannot be read is not.
pub(crate) fn is_at_least(version: &str, least: [u64; 3]) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
    let version = [(); 3].map(|()| parts.next().flatten());
    version.iter().all(Option::is_some) && version >= least.map(Some)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn version(program: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if started.elapsed() > VERSION_TIME_MAX {
            // It may have ended meanwhile; then there is nothing left to end.
            let _ended = child.kill();
            let _reaped = child.wait();
            return None;
        }
        std::thread::sleep(PAUSE);
    }
    let mut said = String::new();
    let stdout = child.stdout.take()?;
    stdout
        .take(VERSION_BYTES_MAX)
        .read_to_string(&mut said)
        .ok()?;
    numbers(&said)
}

/// Returns the first part of `said` that looks like a version: three numbers with dots.
fn numbers(said: &str) -> Option<String> {
    let words = said.split(|it: char| !it.is_ascii_digit() && it != '.');
    let mut versions = words.map(|word| word.trim_matches('.'));
    let found = versions.find(|word| word.split('.').filter(|part| !part.is_empty()).count() == 3);
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        let rows = [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: 3.4", Some("1.0.102")),
            ("v1.18.33-beta.1", Some("1.18.33")),
            ("no version", None),
        ];
        for (said, expected) in rows {
            assert_eq!(numbers(said).as_deref(), expected, "{said}");
        }
    }

    #[test]
    fn versions_compare_by_their_numbers() {
        let rows = [
            ("2.1.295", true),
            ("2.1.1000", true),
            ("3.0.0", true),
            ("2.1.197", false),
            ("2.0.999", false),
            ("2.1", false),
            ("new", false),
        ];
        for (version, expected) in rows {
            assert_eq!(is_at_least(version, [2, 1, 295]), expected, "{version}");
        }
    }
}
