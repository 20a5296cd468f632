//! Scratch directories that this session made, and in which it sets up packages of its own.
//!
//! Packages are installed and run in the workspace without a question. In a directory that the session made a
//! moment ago there is nothing of anybody else either, so the same holds there, until something is cloned,
//! unpacked or copied into it. A made directory is remembered by a mark that only the command which makes
//! it leaves: a file of that name that anybody else writes has another content.

use super::Line;
use crate::follow::value::Stream;
use crate::follow::walk::Walk;
use crate::glob::glob_matches;
use crate::knowledge::PathKind;
use crate::knowledge::names::{AGENT_SCRATCH, DIRECTORY_MAKERS, MADE_STAND_INS, SCRATCH_FOLDERS};
use crate::place::Place;
use crate::score::Score;
use crate::written::{Content, Wanted, name, parent};

/// The name under which a made directory is remembered.
const MARK: &str = "made by this session";
/// Directories above one that may be the one that was made.
const ABOVE_MAX: usize = 4;
/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);

impl Walk<'_> {
    /// Remembers the scratch directories that a command makes.
    pub(super) fn remember_made(&mut self, line: &Line<'_>) {
        if !DIRECTORY_MAKERS.contains(line.row.name) {
            return;
        }
        for operand in line.read.operands.clone() {
            let place = self.ground.place(&operand.text);
            if is_scratch(&place) && !operand.glob {
                self.memory.build(format!("{}/{MARK}", place.path));
            }
        }
    }

    /// Whether a scratch directory, or one that it lies in, was made by this session or belongs to it, and
    /// holds nothing that was not seen.
    pub(super) fn is_made(&mut self, place: &Place) -> bool {
        let lost = self.memory.has_lost_files() || self.memory.behind_link(&place.path).is_some();
        if !is_scratch(place) || lost || !self.knows.trusts_workspace {
            return false;
        }
        let mut directory = place.path.as_str();
        let mut made = false;
        for _ in 0..ABOVE_MAX {
            if is_shared(directory) {
                break;
            }
            if self.has_mark(directory) {
                made = true;
                break;
            }
            directory = parent(directory);
        }
        made && self.is_settled(&format!("{}/{MARK}", place.path)) && self.holds_seen(&place.path)
    }

    /// Whether this session made the directory at `path`, or an agent made it for this session alone.
    fn has_mark(&mut self, path: &str) -> bool {
        let own = |pattern: &str| glob_matches(pattern.as_bytes(), path.as_bytes());
        if AGENT_SCRATCH.iter().any(own) || MADE_STAND_INS.contains(path) {
            return true;
        }
        let mark = format!("{path}/{MARK}");
        let now = self.memory.was_built(&mark);
        let before: Vec<&Content> = self.knows.written.at(&mark).collect();
        let known = now.is_some() || !before.is_empty();
        let made = before.iter().all(|content| **content == Content::Built);
        self.memory.want(Wanted::File(mark.clone()));
        known && made && now.unwrap_or(true)
    }

    /// Whether everything that is known to have been written right into a directory was seen.
    fn holds_seen(&mut self, directory: &str) -> bool {
        self.memory.want(Wanted::Directory(directory.to_owned()));
        let before = self.knows.written.within(directory);
        let before = before.map(|(path, _)| path.to_owned());
        let now = self.memory.paths().filter(|path| parent(path) == directory);
        let mut paths: Vec<String> = now.map(str::to_owned).collect();
        paths.extend(before);
        let is_seen = |stream: &Stream| stream.text.is_some() && !stream.taint.network;
        !self.memory.has_links_in(directory)
            && paths.iter().all(|path| self.held(path).iter().all(is_seen))
    }
}

/// Whether a place is a directory of its own among temporary files.
fn is_scratch(place: &Place) -> bool {
    place.kind == PathKind::Temp
        && place.inside == Some(false)
        && place.write < SENSITIVE
        && !place.vague
        && !is_shared(&place.path)
}

/// Whether a directory is the one for everybody's temporary files, or one above it.
pub(super) fn is_shared(path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let last = name(path).to_ascii_lowercase();
    SCRATCH_FOLDERS
        .iter()
        .any(|known| known.starts_with(&folder))
        || matches!(last.as_str(), "" | "temp" | "tmp" | "~")
}
