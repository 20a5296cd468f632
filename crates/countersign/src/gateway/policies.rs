//! Loads policies from files: the owner's `config.yaml`, tightened by a project's
//! `.countersign.yaml`.
//!
//! Files are looked at for every call, though not twice within [`BELIEVED`] for calls of the same
//! directory, and read again only when they changed. A file that cannot be
//! read or is wrong is an error for the calls it would hold for: nothing is judged under a policy
//! nobody can see.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_core::canonical::canonical;
use countersign_core::digest::Digest;
use countersign_core::policy::Policy;
use countersign_gate::base::settings::{Policies, Ruleset};
use serde_json::{Value, json};

use crate::config::{self, Home};

/// Projects whose policy is remembered.
const PROJECTS_MAX: usize = 256;

/// How long what was seen of the files is believed. Looking at each parent of a directory takes as
/// long as judging a call.
const BELIEVED: Duration = Duration::from_millis(50);
/// Directories for which that is remembered; when there are more, all are forgotten.
const DIRECTORIES_MAX: usize = 4096;

/// The policies of a home.
#[derive(Debug)]
pub(crate) struct FilePolicies {
    home: Home,
    known: Mutex<Known>,
    /// The cached policies, by directory.
    lately: Mutex<HashMap<String, (Instant, Outcome)>>,
}

type Outcome = Result<Arc<Ruleset>, String>;

#[derive(Debug, Default)]
struct Known {
    owner: Option<Seen>,
    projects: HashMap<PathBuf, Seen>,
}

/// The contents of files at that state.
#[derive(Clone, Debug)]
struct Seen {
    stamps: [Option<Stamp>; 2],
    outcome: Outcome,
}

/// How a file looked when it was read; whoever changes it changes one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FilePolicies {
    /// Returns the policies of `home`.
    pub(crate) fn new(home: Home) -> Self {
        Self {
            home,
            known: Mutex::default(),
            lately: Mutex::default(),
        }
    }

    /// Looks at the files again, however lately that was done.
    pub(crate) fn look_again(&self) {
        self.lately().clear();
    }

    /// Returns the files of the projects that calls came from since the gateway started.
    pub(crate) fn project_files(&self) -> Vec<PathBuf> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<PathBuf> = known.projects.keys().cloned().collect();
        files.sort();
        files
    }

    fn lately(&self) -> MutexGuard<'_, HashMap<String, (Instant, Outcome)>> {
        self.lately.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self) -> Seen {
        let file = self.home.file();
        let stamps = [stamp(&file), None];
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = known.owner.as_ref().filter(|seen| seen.stamps == stamps) {
            return seen.clone();
        }
        drop(known);
        let outcome = config::load(&self.home)
            .and_then(|policy| Ok((policy, config::values(&file)?)))
            .map_err(|complaint| complaint.message().to_owned())
            .and_then(|(policy, values)| ruleset(policy, &values.unwrap_or(Value::Null)));
        let seen = Seen { stamps, outcome };
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .owner = Some(seen.clone());
        seen
    }
}

impl Policies for FilePolicies {
    fn at(&self, cwd: Option<&str>) -> Outcome {
        let directory = cwd.unwrap_or_default();
        if let Some((looked, outcome)) = self.lately().get(directory)
            && looked.elapsed() < BELIEVED
        {
            return outcome.clone();
        }
        let looked = Instant::now();
        let outcome = self.seen_at(cwd);
        let mut lately = self.lately();
        if lately.len() >= DIRECTORIES_MAX {
            lately.clear();
        }
        lately.insert(directory.to_owned(), (looked, outcome.clone()));
        outcome
    }
}

impl FilePolicies {
    fn seen_at(&self, cwd: Option<&str>) -> Outcome {
        let owner = self.owner();
        let base = owner.outcome.clone()?;
        let Some(file) = cwd.and_then(|cwd| config::project_file(Path::new(cwd), &self.home))
        else {
            return Ok(base);
        };
        let stamps = [owner.stamps.first().copied().flatten(), stamp(&file)];
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = known.projects.get(&file).filter(|it| it.stamps == stamps) {
            return seen.outcome.clone();
        }
        drop(known);
        let outcome = config::tighten(&base.policy, &file)
            .and_then(|policy| Ok((policy, config::values(&file)?)))
            .map_err(|complaint| complaint.message().to_owned())
            .and_then(|(policy, values)| {
                ruleset(policy, &json!({"owner": base.hash, "project": values}))
            });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.projects.len() >= PROJECTS_MAX {
            known.projects.clear();
        }
        let seen = Seen { stamps, outcome };
        known.projects.insert(file, seen.clone());
        seen.outcome
    }
}

/// Returns `policy` under the hash of what it was read from.
fn ruleset(policy: Policy, values: &Value) -> Result<Arc<Ruleset>, String> {
    let bytes = canonical(values).map_err(|error| format!("the configuration has {error}"))?;
    let hash = Digest::of(&bytes).hex();
    Ok(Arc::new(Ruleset { policy, hash }))
}

pub(super) fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(file).ok()?;
    Some(Stamp {
        file: (metadata.dev(), metadata.ino()),
        bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_holds_when_it_is_looked_at_and_a_broken_one_stops_what_it_is_for() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(Some(directory.path().join("home"))).unwrap();
        std::fs::create_dir(directory.path().join("home")).unwrap();
        let project = directory.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let policies = FilePolicies::new(home.clone());
        let cwd = project.to_str();
        let at = |cwd| {
            policies.look_again();
            policies.at(cwd)
        };

        let first = at(cwd).unwrap();
        std::fs::write(home.file(), "approvals: {mode: off}\n").unwrap();
        let second = at(cwd).unwrap();
        assert_ne!(first.hash, second.hash, "the owner's file holds at once");
        assert_eq!(second.hash.len(), 64);
        assert!(
            Arc::ptr_eq(&second, &at(cwd).unwrap()),
            "an unchanged file is not read again"
        );

        std::fs::write(
            project.join(".countersign.yaml"),
            "approvals: {mode: manual}\n",
        )
        .unwrap();
        let third = at(cwd).unwrap();
        assert_ne!(second.hash, third.hash, "the project's file holds there");
        assert_eq!(at(None).unwrap().hash, second.hash);

        std::fs::write(home.file(), "approvals: {moode: off}\n").unwrap();
        assert!(at(cwd).unwrap_err().contains("moode"));
        std::fs::remove_file(home.file()).unwrap();
        assert_eq!(at(None).unwrap().hash, first.hash);
    }

    #[test]
    fn a_changed_file_holds_soon_without_being_asked_to_look_again() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(Some(directory.path().to_owned())).unwrap();
        let policies = FilePolicies::new(home.clone());
        let first = policies.at(None).unwrap();
        std::fs::write(home.file(), "approvals: {mode: off}\n").unwrap();
        let written = Instant::now();
        while policies.at(None).unwrap().hash == first.hash {
            assert!(written.elapsed() < Duration::from_secs(10), "it never does");
            std::thread::yield_now();
        }
    }
}
