//! Decides which directories count as a workspace, and who must vouch for them.
//!
//! Where a call is made is a claim of whoever asks. It is believed for an ordinary directory; not
//! for one that anybody may fill, and not for what the machine serves (`shared_places.tsv`): an
//! agent, or whoever put a script there, would otherwise choose what is trusted. There the owner's
//! word is needed. All of it is lexical.

use super::patterns::first_match;
use super::{HOME, Plain, fold_home, has_hole, is_absolute, is_drive, mark_home, plain, row};
use crate::knowledge::names::KEPT_AT_THE_ROOT;
use crate::knowledge::{PathKind, SHARED_PLACES};

/// Returns the claimed directory, normalised, if it may count as a workspace: by itself, or because
/// the owner has `vouched` for it.
///
/// `/`, a home or its parents, system and credential directories never do, whoever says so.
pub(super) fn workspace(claim: &str, vouched: bool) -> Option<String> {
    let marked = mark_home(claim);
    if !is_absolute(&marked) {
        return None;
    }
    let Plain {
        path: whole,
        by_process,
    } = plain(&marked);
    // Where a process stands, and what lies above an unknown home, could be anywhere.
    if by_process || marked.starts_with(HOME) != whole.starts_with(HOME) {
        return None;
    }
    let lower = whole.to_lowercase();
    let given = names(&lower);
    let first = given.first().copied().unwrap_or_default();
    // `\\?\C:\Temp`, `\\.\C:\Temp`: another way to write a drive.
    if whole.starts_with('/') && (first == "?" || is_drive(first)) {
        return None;
    }
    let shared = shared(&given);
    match shared {
        Some(_) if !vouched => return None,
        Some(0) => return None,
        Some(_) | None => {}
    }
    let path = fold_home(whole);
    if has_hole(&path) || path == "/" || path.len() == HOME.len_utf8() && path.starts_with(HOME) {
        return None;
    }
    match first_match(&path).and_then(row).map(|row| row.kind) {
        None | Some(PathKind::Temp | PathKind::Generated | PathKind::Document) => {}
        // Part of the system by where it lies; the owner says what it is.
        Some(PathKind::System | PathKind::Device) if shared.is_some() => {}
        Some(
            PathKind::Root
            | PathKind::Home
            | PathKind::System
            | PathKind::Device
            | PathKind::Sink
            | PathKind::Credential
            | PathKind::Startup
            | PathKind::Schedule
            | PathKind::Guard
            | PathKind::Agent
            | PathKind::Instruction
            | PathKind::Ci
            | PathKind::Hook
            | PathKind::History
            | PathKind::Process
            | PathKind::Log
            | PathKind::ContainerSocket
            | PathKind::Environment,
        ) => return None,
    }
    // Containers put projects directly under the root, by any name. The path tables have said what
    // belongs to the system there; this list has what machines share, serve or mount. One letter is
    // a drive as Git Bash shows it.
    let ordinary = match given.as_slice() {
        [only] => {
            only.chars().count() > 1
                && !only.starts_with('.')
                && !only.contains('*')
                && !KEPT_AT_THE_ROOT.contains(only.trim_end_matches(|it: char| it.is_ascii_digit()))
        }
        [] | [..] => true,
    };
    ordinary.then_some(path)
}

/// Whether the owner may call `directory` a workspace: it can be one, if only on the owner's word.
pub fn may_be_vouched(directory: &str) -> bool {
    workspace(directory, true).is_some()
}

/// Whether `path` lies in a place that counts only on the owner's word.
pub(crate) fn is_shared(path: &str) -> bool {
    let lower = plain(&mark_home(path)).path.to_lowercase();
    let given = names(&lower);
    shared(&given).is_some()
}

/// Whether `path` is `directory` or lies in it. Homes are told apart, except where one side only
/// says `~`: whose home that is nobody knows here.
pub(crate) fn lies_in(path: &str, directory: &str) -> bool {
    let (path, directory) = (mark_home(path), mark_home(directory));
    if !is_absolute(&path) || !is_absolute(&directory) {
        return false;
    }
    let in_home = directory.starts_with(HOME) || path.starts_with(HOME);
    if in_home && (is_shared(&path) || is_shared(&directory)) {
        return false;
    }
    let clean = |path: &str| {
        let path = plain(path).path;
        if in_home { fold_home(path) } else { path }
    };
    let (path, directory) = (clean(&path), clean(&directory));
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns how far below a place that counts only on the owner's word these names lie.
fn shared(given: &[&str]) -> Option<usize> {
    let places = SHARED_PLACES.iter();
    places
        .filter(|place| match (place.first(), given.first()) {
            // The first name rules most places out.
            (Some(&"**"), _) => true,
            (Some(wanted), Some(name)) => fits(wanted, name),
            (Some(_), None) | (None, _) => false,
        })
        .find_map(|place| below(given, place))
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Returns how many names lie between `place` and `given`, if `given` is the place or below it.
fn below(given: &[&str], place: &[&str]) -> Option<usize> {
    if let Some((&"**", rest)) = place.split_first() {
        return (0..=given.len().saturating_sub(rest.len()))
            .filter_map(|from| below(given.get(from..)?, rest))
            .min();
    }
    let fits = place.len() <= given.len()
        && place
            .iter()
            .zip(given)
            .all(|(wanted, name)| fits(wanted, name));
    fits.then(|| given.len() - place.len())
}

/// Whether a name is the one that a place wants.
fn fits(wanted: &str, name: &str) -> bool {
    match wanted {
        "*" => true,
        // One letter: a drive as Git Bash shows it.
        "?" => name.chars().count() == 1,
        "*:" => is_drive(name),
        wanted => wanted == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shared_place_is_one_in_any_spelling_and_a_look_alike_is_not() {
        for line in include_str!("../../knowledge/shared_places.tsv").lines() {
            let Some((place, why)) = line.split_once('\t').filter(|_| !line.starts_with('#'))
            else {
                continue;
            };
            assert!(!why.is_empty(), "{place} says no reason");
            let place = place
                .replace("**", "C:/Users/ana")
                .replace("*:", "D:")
                .replace(['*', '?'], "c");
            for spelling in [
                format!("{place}/evil"),
                format!("{place}//evil/./x/.."),
                place.to_uppercase() + "/evil",
            ] {
                assert_eq!(workspace(&spelling, false), None, "{spelling}");
                assert!(is_shared(&spelling), "{spelling}");
            }
            let beside = format!("{place}board/evil");
            assert!(!is_shared(&beside), "{beside}");
        }
    }

    #[test]
    fn the_owner_vouches_for_what_lies_below_and_never_for_a_whole_shared_place() {
        for (directory, counts) in [
            ("/srv/app", true),
            ("/opt/tool", true),
            ("/tmp/job", true),
            ("/Users/Shared/app", true),
            ("/dev/shm/job", true),
            ("/tmp", false),
            ("/srv", false),
            ("/", false),
            ("/etc", false),
            ("~", false),
            ("~/.ssh", false),
            ("/srv/app/.ssh", false),
        ] {
            assert_eq!(workspace(directory, true).is_some(), counts, "{directory}");
        }
    }

    #[test]
    fn what_is_reached_through_a_process_or_above_a_home_is_no_workspace() {
        for directory in [
            "/proc/self/root/tmp/evil",
            "/proc/1/cwd/a/evil",
            "/a/../proc/self/cwd/a/evil",
            "/proc/self/task/1/root/srv/app",
            "~/../tmp/evil",
            "~/../../a/evil",
            r"\\?\C:\Temp\evil",
            r"\\.\C:\src\evil",
        ] {
            assert_eq!(workspace(directory, false), None, "{directory}");
            assert_eq!(workspace(directory, true), None, "{directory}");
        }
    }
}
