//! Reads settings files and replaces them, all or none.
//!
//! Every new text is written beside its file first; then the files change places. A symbolic link
//! stays one: the file it leads to is replaced. Mode and owner stay.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::complaint::Complaint;

/// Longest settings file that is read.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Most links that are followed from one to the next.
const LINKS_MAX: usize = 16;

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The file, as its agent names it.
    pub(crate) path: PathBuf,
    /// What it holds now; `None` if it does not exist.
    pub(crate) before: Option<Vec<u8>>,
    /// What it will hold; `None` if it will be removed.
    pub(crate) after: Option<Vec<u8>>,
    /// Its mode, if it is new.
    pub(crate) mode: u32,
}

/// Returns the bytes of the file at `path`; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Complaint> {
    let unreadable = |why: &str| {
        let hint = "nothing was written; is the file yours?";
        Complaint::failed(format!("cannot read {}: {why}", path.display()), hint)
    };
    match std::fs::metadata(path) {
        Ok(it) if it.len() > FILE_BYTES_MAX => Err(unreadable("it is longer than 8 MiB")),
        Ok(_) => std::fs::read(path)
            .map(Some)
            .map_err(|error| unreadable(&error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&error.to_string())),
    }
}

/// Returns the folders that have to be made for the file at `path`, the outermost first.
pub(crate) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let target = target(path);
    let parents = target.ancestors().skip(1);
    let missing = parents.take_while(|it| !it.as_os_str().is_empty() && !it.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Makes all of `changes`, or none of them.
pub(crate) fn write(changes: &[Change]) -> Result<(), Complaint> {
    for change in changes {
        if read(&change.path)? != change.before {
            let hint = "nothing was written; run the command again";
            let path = change.path.display();
            return Err(Complaint::failed(
                format!("{path} was changed meanwhile"),
                hint,
            ));
        }
    }
    let mut staged = Vec::new();
    for change in changes {
        match Staged::new(change) {
            Ok(it) => staged.push(it),
            Err(error) => {
                let hint = "nothing was changed; may you write there, and is there space?";
                staged.iter().for_each(Staged::discard);
                let path = change.path.display();
                return Err(Complaint::failed(
                    format!("cannot write {path}: {error}"),
                    hint,
                ));
            }
        }
    }
    for (at, it) in staged.iter().enumerate() {
        let Err(error) = it.take_place() else {
            continue;
        };
        let (done, left) = staged.split_at(at);
        left.iter().for_each(Staged::discard);
        let restored = done.iter().rev().all(|it| it.restore().is_ok());
        let hint = if restored {
            "the other files are as they were; may you write there?"
        } else {
            "the files before it are changed and could not be put back: `countersign init --undo`"
        };
        let path = it.change.path.display();
        return Err(Complaint::failed(
            format!("cannot write {path}: {error}"),
            hint,
        ));
    }
    Ok(())
}

/// Writes `bytes` to `path` for the owner alone, replacing what is there at once.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = beside(path);
    let written = create(&beside, bytes, 0o600).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _gone = std::fs::remove_file(&beside);
    }
    written
}

/// A change whose new text lies beside its file.
#[derive(Debug)]
struct Staged<'a> {
    change: &'a Change,
    /// The file itself, behind all links.
    target: PathBuf,
    /// The new text; `None` if the file is to be removed.
    beside: Option<PathBuf>,
    /// Folders that were made for it, the outermost first.
    folders: Vec<PathBuf>,
}

impl<'a> Staged<'a> {
    fn new(change: &'a Change) -> std::io::Result<Self> {
        let target = target(&change.path);
        let mut staged = Self {
            change,
            beside: None,
            folders: Vec::new(),
            target,
        };
        let Some(after) = &change.after else {
            return Ok(staged);
        };
        for folder in missing_folders(&change.path) {
            std::fs::create_dir(&folder).inspect_err(|_| staged.discard())?;
            staged.folders.push(folder);
        }
        let beside = beside(&staged.target);
        staged.beside = Some(beside.clone());
        stage(&staged.target, &beside, after, change.mode).inspect_err(|_| staged.discard())?;
        Ok(staged)
    }

    fn take_place(&self) -> std::io::Result<()> {
        match &self.beside {
            Some(beside) => std::fs::rename(beside, &self.target),
            None => std::fs::remove_file(&self.target),
        }
    }

    /// Takes the new text away again, and the folders made for it.
    fn discard(&self) {
        // What cannot be removed is left: an unused file, which the error before it explains.
        if let Some(beside) = &self.beside {
            let _gone = std::fs::remove_file(beside);
        }
        for folder in self.folders.iter().rev() {
            let _gone = std::fs::remove_dir(folder);
        }
    }

    /// Puts the old text back.
    fn restore(&self) -> std::io::Result<()> {
        let Some(before) = &self.change.before else {
            std::fs::remove_file(&self.target)?;
            self.discard();
            return Ok(());
        };
        let beside = beside(&self.target);
        stage(&self.target, &beside, before, self.change.mode)?;
        std::fs::rename(&beside, &self.target)
    }
}

/// Writes `bytes` to `beside`, with mode and owner of `target` if that exists.
fn stage(target: &Path, beside: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    match std::fs::metadata(target) {
        Ok(it) => {
            create(beside, bytes, it.permissions().mode() & 0o7777)?;
            // Only root can give a file away, and whoever is not root owns it already.
            let _given = std::os::unix::fs::chown(beside, Some(it.uid()), Some(it.gid()));
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => create(beside, bytes, mode),
        Err(error) => Err(error),
    }
}

fn create(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(mode)
        .open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.sync_all()
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.countersign-{}", std::process::id()))
}

/// Returns the file that `path` leads to, whether or not it exists.
fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = std::fs::read_link(&target) else {
            break;
        };
        target = target.parent().map_or(link.clone(), |it| it.join(&link));
    }
    target
}
