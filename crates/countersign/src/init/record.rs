//! What `init` changed, kept in the home, so that `--undo` can put every byte back.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::digest::Digest;
use serde::{Deserialize, Serialize};

use super::files;
use crate::complaint::Complaint;
use crate::config::Home;
use crate::hook;

/// The form of these files.
const VERSION: u32 = 1;

/// What was done for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The id of the key that was made for it; none if there was one already.
    pub(super) key: Option<String>,
    /// The files that were written.
    pub(super) files: Vec<Kept>,
    /// The folders that were made, the outermost first.
    pub(super) folders: Vec<PathBuf>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Where.
    pub(super) path: PathBuf,
    /// What it was before, in base64; null if it did not exist.
    original: Option<String>,
    /// The hash of what was written.
    pub(super) wrote: Digest,
}

impl Kept {
    /// Returns an entry for a file that was `original` and is `written`.
    pub(super) fn new(path: &Path, original: Option<&[u8]>, written: &[u8]) -> Self {
        Self {
            path: path.to_owned(),
            original: original.map(|bytes| STANDARD.encode(bytes)),
            wrote: Digest::of(written),
        }
    }

    /// Returns what the file was before.
    pub(super) fn original(&self) -> Option<Vec<u8>> {
        let original = self.original.as_ref()?;
        STANDARD.decode(original).ok()
    }
}

impl Record {
    /// Reads the record of `agent`; `None` if there is none.
    pub(super) fn load(home: &Home, agent: &str) -> Result<Option<Self>, Complaint> {
        let file = file(home, agent);
        let Some(bytes) = files::read(&file)? else {
            return Ok(None);
        };
        let record: Option<Self> = serde_json::from_slice(&bytes).ok();
        let record = record.filter(|it| it.version == VERSION);
        record.map(Some).ok_or_else(|| {
            let hint =
                "remove that file, then run this again; the original settings in it are then lost";
            Complaint::failed(
                format!("{} is not a record of this version", file.display()),
                hint,
            )
        })
    }

    /// Writes the record of `agent`.
    pub(super) fn save(&mut self, home: &Home, agent: &str) -> Result<(), Complaint> {
        self.version = VERSION;
        let file = file(home, agent);
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::from)
            .and_then(|bytes| {
                hook::create_private(file.parent().unwrap_or(&file))?;
                files::write_private(&file, &bytes)
            });
        written.map_err(|error| {
            let hint = "nothing was changed; is the disk full, or the home not yours?";
            Complaint::failed(format!("cannot write {}: {error}", file.display()), hint)
        })
    }

    /// Removes the record of `agent`, and the folder if it was the last.
    pub(super) fn remove(home: &Home, agent: &str) {
        let file = file(home, agent);
        // One that stays says the same again at the next undo.
        let _gone = std::fs::remove_file(&file);
        let _gone = file.parent().map(std::fs::remove_dir);
    }

    /// Returns the entry of the file at `path`.
    pub(super) fn of(&self, path: &Path) -> Option<&Kept> {
        self.files.iter().find(|it| it.path == path)
    }

    /// Adds an entry, in place of an older one for the same file.
    pub(super) fn keep(&mut self, kept: Kept) {
        self.files.retain(|it| it.path != kept.path);
        self.files.push(kept);
    }

    /// Adds folders that will be made.
    pub(super) fn keep_folders(&mut self, folders: Vec<PathBuf>) {
        for folder in folders {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

fn file(home: &Home, agent: &str) -> PathBuf {
    hook::directory(home)
        .join("init")
        .join(format!("{agent}.json"))
}
