//! Opens files at exactly the judged path, without following links.
//!
//! The judge reads paths as text. So a path is taken as text here, too: `..` is taken out before
//! anything is opened, and every directory on the way is entered by its own name, never through a
//! link. What lies behind a link has another path, and that one has to be named, and judged.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use countersign_gate::reviews::Held;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ATTACHMENT_BYTES_MAX;

/// How a directory on the way is entered. `O_PATH` asks for no right to list it.
#[cfg(target_os = "linux")]
const ENTER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ENTER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Ways to begin a path that mean something else to the judge than to the file system.
const STRANGE_FRONTS: &[&str] = &["~", "$HOME", "${HOME}", "%USERPROFILE%", "$env:USERPROFILE"];

/// A place for a file, whether there is one or not.
#[derive(Debug)]
pub(crate) struct Spot {
    directory: OwnedFd,
    name: String,
    path: PathBuf,
}

/// What will be at a spot once it is [published](Staged::publish); until then it lies beside it.
#[derive(Debug)]
pub(crate) struct Staged {
    spot: Spot,
    temporary: Option<String>,
    /// As the file will be.
    pub(crate) mode: u32,
}

/// Returns `text` as an absolute path without `.` and `..`, as the judge reads it.
pub(crate) fn lexical(from: &Path, text: &str) -> Result<PathBuf, String> {
    let strange = text.is_empty()
        || text.trim() != text
        || text.contains(['\0', '\\', '\u{fdd0}', '\u{fdd1}'])
        || text.contains("://")
        || STRANGE_FRONTS.iter().any(|front| text.starts_with(front))
        || matches!(text.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    if strange {
        return Err(format!(
            "`{text}` is not a usable path; give it in full, from `/` or from the working directory"
        ));
    }
    if !from.is_absolute() {
        return Err("the working directory is not absolute".to_owned());
    }
    let mut path = PathBuf::from("/");
    for part in from.join(text).components() {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
        }
    }
    Ok(path)
}

/// Returns `text` as a directory that exists and is no link.
pub(crate) fn directory(from: &Path, text: &str) -> Result<PathBuf, String> {
    let path = lexical(from, text)?;
    entered(&path)?.ok_or_else(|| format!("there is no directory {}", path.display()))?;
    Ok(path)
}

/// Returns the bytes of a file that is attached to something.
pub(crate) fn bytes(from: &Path, text: &str) -> Result<Vec<u8>, String> {
    let path = lexical(from, text)?;
    let absent = || format!("there is no file {}", path.display());
    let spot = Spot::find(&path)?.ok_or_else(absent)?;
    match spot.read(ATTACHMENT_BYTES_MAX)? {
        Held::File { content, .. } => Ok(content),
        Held::Absent => Err(absent()),
    }
}

impl Spot {
    /// Returns the spot at `path`; `None` if a directory on the way is missing.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, String> {
        let (parent, name) = split(path)?;
        Ok(entered(parent)?.map(|directory| Self {
            directory,
            name,
            path: path.to_owned(),
        }))
    }

    /// Returns the spot at `path` and the directories that had to be made for it, the outermost
    /// first.
    pub(crate) fn make(path: &Path) -> Result<(Self, Vec<PathBuf>), String> {
        let (parent, _) = split(path)?;
        let mut made = Vec::new();
        let missing: Vec<&Path> = parent.ancestors().take_while(|it| !it.exists()).collect();
        for directory in missing.into_iter().rev() {
            let Some(spot) = Self::find(directory)? else {
                break;
            };
            rustix::fs::mkdirat(&spot.directory, &spot.name, Mode::from_raw_mode(0o777))
                .map_err(|error| words(directory, error))?;
            made.push(directory.to_owned());
        }
        let spot = Self::find(path)?;
        let gone = || format!("there is no directory {}", parent.display());
        Ok((spot.ok_or_else(gone)?, made))
    }

    /// Whether there is a file or a directory; a link is an error.
    pub(crate) fn is_there(&self) -> Result<bool, String> {
        let stat = self.stat()?;
        let is_link = stat.is_some_and(|it| FileType::from_raw_mode(it.st_mode).is_symlink());
        if is_link {
            return Err(words(&self.path, Errno::LOOP));
        }
        Ok(stat.is_some())
    }

    /// Returns what is there.
    pub(crate) fn read(&self, bytes_max: usize) -> Result<Held, String> {
        // A pipe would make the call wait for whoever writes into it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(Held::Absent),
            Err(error) => return Err(words(&self.path, error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| words(&self.path, error))?;
        self.check_ordinary(&stat)?;
        let mut content = Vec::new();
        let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        file.take(limit.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| format!("{}: {error}", self.path.display()))?;
        if content.len() > bytes_max {
            let path = self.path.display();
            return Err(format!("{path} is larger than {bytes_max} bytes"));
        }
        Ok(Held::File {
            content,
            mode: permissions(&stat),
        })
    }

    /// Whether the file has other names. What is read by one of them was perhaps written by another,
    /// in a place that may not be read.
    pub(crate) fn has_other_names(&self) -> Result<bool, String> {
        Ok(self.stat()?.is_some_and(|it| it.st_nlink > 1))
    }

    /// Puts `content` beside the spot, ready to take its place. A new file gets the mode new files
    /// get, an old one keeps its own, unless `mode` says another.
    pub(crate) fn stage(self, content: &[u8], mode: Option<u32>) -> Result<Staged, String> {
        let old = self.stat()?;
        if let Some(stat) = &old {
            self.check_ordinary(stat)?;
        }
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(|error| error.to_string())?;
        let temporary = format!(".countersign-{:016x}", u64::from_ne_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let wrong = |error: Errno| words(&self.path, error);
        let created = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let file = rustix::fs::openat(&self.directory, &temporary, flags, created);
        let mut file = File::from(file.map_err(wrong)?);
        let mut staged = Staged {
            temporary: Some(temporary),
            mode: 0,
            spot: self,
        };
        let path = staged.spot.path.display().to_string();
        file.write_all(content)
            .map_err(|error| format!("{path}: {error}"))?;
        let wrong = |error: Errno| words(&staged.spot.path, error);
        let new = rustix::fs::fstat(&file).map_err(wrong)?;
        if let Some(old) = &old
            && (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid)
        {
            let owner = Some(rustix::fs::Uid::from_raw(old.st_uid));
            let group = Some(rustix::fs::Gid::from_raw(old.st_gid));
            rustix::fs::fchown(&file, owner, group)
                .map_err(|_| format!("{path} belongs to somebody else"))?;
        }
        let mode = mode
            .or(old.as_ref().map(permissions))
            .unwrap_or_else(|| permissions(&new));
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(wrong)?;
        rustix::fs::fsync(&file).map_err(wrong)?;
        staged.mode = mode;
        Ok(staged)
    }

    /// Takes the file away.
    pub(crate) fn remove(&self) -> Result<(), String> {
        rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())
            .map_err(|error| words(&self.path, error))?;
        sync(&self.directory);
        Ok(())
    }

    /// Takes an empty directory away; one that is not empty stays.
    pub(crate) fn remove_empty_directory(&self) {
        let _stays = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::REMOVEDIR);
    }

    fn stat(&self) -> Result<Option<Stat>, String> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        match rustix::fs::statat(&self.directory, &self.name, flags) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(words(&self.path, error)),
        }
    }

    fn check_ordinary(&self, stat: &Stat) -> Result<(), String> {
        let path = self.path.display();
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::RegularFile {
            Ok(())
        } else if kind == FileType::Directory {
            Err(format!("{path} is a directory"))
        } else if kind == FileType::Symlink {
            Err(words(&self.path, Errno::LOOP))
        } else {
            Err(format!("{path} is not a regular file"))
        }
    }
}

impl Staged {
    /// Lets it take its place, all at once.
    pub(crate) fn publish(mut self) -> Result<(), String> {
        let Some(temporary) = self.temporary.take() else {
            return Ok(());
        };
        let Spot {
            directory, name, ..
        } = &self.spot;
        if let Err(error) = rustix::fs::renameat(directory, &temporary, directory, name) {
            let error = words(&self.spot.path, error);
            self.temporary = Some(temporary);
            return Err(error);
        }
        sync(directory);
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let directory = &self.spot.directory;
            let _gone = rustix::fs::unlinkat(directory, temporary, AtFlags::empty());
        }
    }
}

fn split(path: &Path) -> Result<(&Path, String), String> {
    let parts = path
        .parent()
        .zip(path.file_name().and_then(OsStr::to_str))
        .map(|(parent, name)| (parent, name.to_owned()));
    parts.ok_or_else(|| format!("{} is not a file", path.display()))
}

/// Returns the directory at `path`, entered name by name; `None` if it is missing.
fn entered(path: &Path) -> Result<Option<OwnedFd>, String> {
    let mut here =
        rustix::fs::openat(CWD, "/", ENTER, Mode::empty()).map_err(|error| words(path, error))?;
    let mut seen = PathBuf::from("/");
    for part in path.components() {
        let Component::Normal(name) = part else {
            continue;
        };
        seen.push(name);
        here = match rustix::fs::openat(&here, name, ENTER, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(words(&seen, error)),
        };
    }
    Ok(Some(here))
}

fn permissions(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

/// Makes sure that a new name in a directory survives a power cut, where the directory can be
/// opened for that.
fn sync(directory: &OwnedFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(directory) = rustix::fs::openat(directory, ".", flags, Mode::empty()) {
        let _synced = rustix::fs::fsync(&directory);
    }
}

/// Says what is wrong with `path`. A link is named by where it leads.
fn words(path: &Path, error: Errno) -> String {
    let shown = path.display();
    let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink());
    if is_link {
        return match path.canonicalize() {
            Ok(real) => format!(
                "{shown} is a link to {}; name that path instead",
                real.display()
            ),
            Err(_) => format!("{shown} is a link that leads nowhere"),
        };
    }
    match error {
        Errno::NOENT => format!("there is no {shown}"),
        Errno::NOTDIR => format!("{shown} is not a directory"),
        Errno::ACCESS | Errno::PERM => format!("access to {shown} is not permitted"),
        other => format!("{shown}: {}", std::io::Error::from(other)),
    }
}

/// Returns the name of this machine.
pub(crate) fn host() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_path_is_read_as_the_judge_reads_it() {
        let from = Path::new("/home/dev/project");
        let rows = [
            ("name", "a.txt", Some("/home/dev/project/a.txt")),
            ("upwards", "../../x/./y", Some("/home/x/y")),
            ("beyond the root", "/../../etc", Some("/etc")),
            ("doubled", "//etc//hosts", Some("/etc/hosts")),
            ("home", "~/x", None),
            ("home of another", "~root/x", None),
            ("variable", "$HOME/x", None),
            ("address", "file:///etc/passwd", None),
            ("other system", "c:/x", None),
            ("backslash", "a\\b", None),
            ("space around", " a", None),
            ("nothing", "", None),
            ("zero", "a\0b", None),
            ("a mark of the judge", "\u{fdd1}/x", None),
        ];
        for (name, text, expected) in rows {
            let got = lexical(from, text).ok();
            assert_eq!(got.as_deref(), expected.map(Path::new), "{name}");
        }
        assert!(lexical(Path::new("project"), "a").is_err());
    }

    #[test]
    fn nothing_is_reached_through_a_link() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("real")).unwrap();
        std::fs::write(home.join("real/file"), "secret").unwrap();
        symlink(home.join("real"), home.join("directory")).unwrap();
        symlink(home.join("real/file"), home.join("link")).unwrap();
        symlink("/nowhere/at/all", home.join("dangling")).unwrap();

        let through = Spot::find(&home.join("directory/file")).unwrap_err();
        let real = home.join("real");
        assert_eq!(
            through,
            format!(
                "{} is a link to {}; name that path instead",
                home.join("directory").display(),
                real.display()
            )
        );
        for name in ["link", "dangling"] {
            let spot = || Spot::find(&home.join(name)).unwrap().unwrap();
            assert!(spot().read(100).unwrap_err().contains("is a link"));
            assert!(spot().stage(b"x", None).unwrap_err().contains("is a link"));
        }
        assert!(Spot::make(&home.join("dangling/new/file")).is_err());
        assert!(!Path::new("/nowhere").exists());
        assert_eq!(
            std::fs::read_to_string(real.join("file")).unwrap(),
            "secret"
        );
    }

    #[test]
    fn a_file_is_replaced_at_once_and_keeps_its_mode() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap().join("run.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        let staged = || Spot::find(&path).unwrap().unwrap().stage(b"new", None);
        // What is not published changes nothing and leaves nothing behind.
        drop(staged().unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        staged().unwrap().publish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o751);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_ordinary_file_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let read = |path: &Path| Spot::find(path).unwrap().unwrap().read(100);
        assert!(read(&home).unwrap_err().contains("is a directory"));
        let zero = read(Path::new("/dev/zero")).unwrap_err();
        assert!(zero.contains("not a regular file"), "{zero}");
        std::fs::write(home.join("large"), [b'a'; 101]).unwrap();
        let large = read(&home.join("large")).unwrap_err();
        assert!(large.contains("larger than 100 bytes"), "{large}");
        assert_eq!(read(&home.join("none")).unwrap(), Held::Absent);
    }
}
