//! Finds and reads the manual page of a program. Files are read; no program is run.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::complaint::Complaint;

/// Longest page that is read, packed or not.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Directories that are looked at.
const ROOTS_MAX: usize = 256;
/// Where pages lie on most machines.
const USUAL: &[&str] = &[
    "/usr/local/share/man",
    "/usr/share/man",
    "/opt/homebrew/share/man",
];
/// Sections with programs.
const SECTIONS: &[&str] = &["1", "8", "6"];

/// Returns the text of the manual page of `program`, whose name has been checked.
pub(super) fn page(program: &str) -> Result<String, Complaint> {
    let roots = roots(
        std::env::var_os("MANPATH").as_deref(),
        std::env::var_os("PATH").as_deref(),
    );
    for root in &roots {
        if let Some(page) = page_in(root, program)? {
            return Ok(page);
        }
    }
    Err(Complaint::failed(
        format!("there is no manual page of `{program}`"),
        format!("`{program} --help | countersign teach {program} -` reads its help instead"),
    ))
}

/// Returns the directories with manual pages: those of `MANPATH`, those beside the directories of
/// `PATH`, and the usual ones.
fn roots(manpath: Option<&OsStr>, path: Option<&OsStr>) -> Vec<PathBuf> {
    let named = manpath.into_iter().flat_map(std::env::split_paths);
    let beside = path
        .into_iter()
        .flat_map(std::env::split_paths)
        .filter_map(|directory| {
            let above = directory.parent()?;
            Some([above.join("share/man"), above.join("man")])
        });
    let usual = USUAL.iter().map(PathBuf::from);
    let mut roots: Vec<PathBuf> = Vec::new();
    let all = named.chain(beside.flatten()).chain(usual);
    for root in all.filter(|root| root.is_absolute()).take(ROOTS_MAX) {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

pub(super) fn page_in(root: &Path, program: &str) -> Result<Option<String>, Complaint> {
    for section in SECTIONS {
        let name = format!("man{section}/{program}.{section}");
        let Some(text) = file(root, &name)? else {
            continue;
        };
        // A page may say that it is another one: `.so man1/other.1`.
        let other = text
            .strip_prefix(".so ")
            .and_then(|rest| rest.lines().next());
        let other = other.map(str::trim).filter(|other| is_page(other));
        return match other {
            Some(other) => Ok(file(root, other)?.or(Some(text))),
            None => Ok(Some(text)),
        };
    }
    Ok(None)
}

/// Whether a text names a page below the same directory.
fn is_page(name: &str) -> bool {
    let mut parts = name.split('/');
    let folder = parts
        .next()
        .is_some_and(|it| it.len() <= 5 && it.starts_with("man"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let file = parts
        .next()
        .is_some_and(|it| !it.starts_with('.') && it.bytes().all(is_plain));
    folder && file && parts.next().is_none()
}

/// Returns the text of a page, which may be packed.
fn file(root: &Path, name: &str) -> Result<Option<String>, Complaint> {
    for ending in ["", ".gz"] {
        let path = root.join(format!("{name}{ending}"));
        let Ok(opened) = std::fs::File::open(&path) else {
            continue;
        };
        if !opened.metadata().is_ok_and(|it| it.is_file()) {
            continue;
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(PAGE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = opened.take(limit).read_to_end(&mut bytes);
        let unpacked = match (read, ending) {
            (Ok(_), "") => Some(bytes),
            (Ok(_), _) => unpacked(&bytes),
            (Err(_), _) => None,
        };
        return match unpacked {
            Some(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            None => Err(Complaint::failed(
                format!("cannot read {}", path.display()),
                "give the text itself: `man PROGRAM | countersign teach PROGRAM -`",
            )),
        };
    }
    Ok(None)
}

/// Unpacks a file of gzip (RFC 1952), up to a limit.
fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else {
        return None;
    };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, more @ ..] = rest else {
            return None;
        };
        rest = more.get(usize::from(*low) + 256 * usize::from(*high)..)?;
    }
    for bit in [8, 16] {
        if flags & bit != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    decompress_to_vec_with_limit(rest, PAGE_BYTES_MAX).ok()
}
