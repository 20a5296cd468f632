//! Finds an agent's program and asks it for its version.

use std::fmt;
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
    pub(crate) version: Option<Version>,
}

/// Three numbers of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32, pub(crate) u32);

impl Version {
    /// Returns the first version in `text`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
        let mut candidates = text.split(|letter| !is_part(letter));
        candidates.find_map(|candidate| {
            let mut parts = candidate.split('.').map(|part| part.parse().ok());
            Some(Self(parts.next()??, parts.next()??, parts.next()??))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Returns the first of `names` that is on the search path.
pub(crate) fn program(place: &Place, names: &[&str]) -> Option<Found> {
    let program = names.iter().find_map(|name| program_only(place, name))?;
    let version = version(&program);
    Some(Found { program, version })
}

/// Returns the program `name` on the search path, without asking it anything.
pub(crate) fn program_only(place: &Place, name: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(&place.search).filter(|folder| folder.is_absolute());
    folders
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

/// Whether the file can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn version(program: &Path) -> Option<Version> {
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
    Version::find(&said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        let rows = [
            ("2.1.325 (Claude Code)\n", Some(Version(2, 1, 325))),
            ("codex-cli 0.166.0\n", Some(Version(0, 166, 0))),
            (
                "GitHub Copilot CLI 1.0.102.\nCommit: 3.4",
                Some(Version(1, 0, 102)),
            ),
            ("v1.18.33-beta.1", Some(Version(1, 18, 33))),
            ("error 12", None),
            ("no version", None),
        ];
        for (said, expected) in rows {
            assert_eq!(Version::find(said), expected, "{said}");
        }
        assert!(Version(2, 1, 9) < Version(2, 1, 295));
    }

    #[test]
    fn a_program_is_executable_and_in_a_folder_named_from_the_root() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let mut place = Place::made_up(directory.path(), "/usr/bin/countersign");
        let file = directory.path().join("bin/codex");
        std::fs::create_dir(directory.path().join("bin")).unwrap();
        std::fs::write(&file, "").unwrap();
        assert_eq!(program_only(&place, "codex"), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(program_only(&place, "codex"), Some(file));
        place.search = "bin:.".into();
        assert_eq!(program_only(&place, "codex"), None);
    }
}
