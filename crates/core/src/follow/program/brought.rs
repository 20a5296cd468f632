//! Code of somebody else that this script or an earlier call brought into the workspace: a clone, a
//! download, an archive that was loaded.
//!
//! The workspace's own code runs unasked. A repository that was cloned a moment ago lies inside it and is
//! not its own, whether it is built in the same call or in the next one.

use super::Line;
use super::filled::mark_of;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{ARCHIVE_ENDINGS, UNPACKING_PROGRAMS};
use crate::place::Place;
use crate::shell::syntax::Span;
use crate::written::{name, parent};

/// Directories above a file, up to the workspace, that are asked about.
const ABOVE_MAX: usize = 4;
/// Words of a command that may name an archive.
const ARCHIVES_MAX: usize = 8;

impl Walk<'_> {
    /// Remembers that what lies at a place inside the workspace came from somebody else.
    pub(super) fn brings(&mut self, place: &Place, span: Span) {
        if place.inside == Some(true) && !place.vague && !self.memory.fill(mark_of(&place.path)) {
            self.unreadable("fills more directories than can be followed", span);
        }
    }

    /// Remembers where an archive that was loaded is unpacked.
    pub(super) fn unpacks_brought(&mut self, line: &Line<'_>) {
        if !UNPACKING_PROGRAMS.contains(line.name) {
            return;
        }
        let mut stems = Vec::new();
        for arg in line.args.iter().take(ARCHIVES_MAX) {
            let Some(stem) = stem_of(&arg.text) else {
                continue;
            };
            let path = self.place(&arg.text).path;
            if self.was_filled(&path) {
                stems.push(stem.to_owned());
            }
        }
        if stems.is_empty() && !line.stdin.taint.network {
            return;
        }
        let target = line.read.value(&["-C", "--directory", "-d", "--cd", "-o"]);
        let target = target.map_or(".", |target| target.text.as_str());
        let place = self.place(target);
        self.brings(&place, line.span);
        // Later calls are not all asked about because of one archive; most unpack into their own name.
        for stem in stems {
            let place = self.place(&format!("{target}/{stem}"));
            self.brings(&place, line.span);
        }
    }

    /// Whether what lies at `path` inside the workspace, or in a directory above it, came from
    /// somebody else.
    pub(super) fn is_brought(&mut self, path: &str) -> bool {
        let mut path = path;
        for _ in 0..ABOVE_MAX {
            let place = self.ground.place(path);
            if place.inside != Some(true) {
                return false;
            }
            if place.whole_workspace {
                return self.memory.is_filled(&mark_of(path));
            }
            if self.was_filled(path) {
                return true;
            }
            path = parent(path);
        }
        false
    }

    /// Judges running what lies at `path`, if it came from somebody else.
    pub(super) fn runs_brought(&mut self, path: &str, program: &str, span: Span) {
        if self.is_brought(path) {
            let act = Act::new(Effect::Exec, program.to_owned(), self.here(span))
                .because("runs code that was loaded from the network before");
            self.note(act.on(path));
        }
    }

    /// Remembers that a copy of what came from somebody else is theirs, too.
    pub(super) fn brings_copy(&mut self, source: &Place, target: &Arg) {
        if self.was_filled(&source.path) {
            let below = format!("{}/{}", target.text.trim_end_matches('/'), name(&source.path));
            for copy in [target.text.as_str(), below.as_str()] {
                let place = self.place(copy);
                if !place.whole_workspace {
                    self.brings(&place, target.span);
                }
            }
        }
    }
}

/// Returns the name of an archive without the ending that says how it is packed.
fn stem_of(path: &str) -> Option<&str> {
    let name = name(path);
    ARCHIVE_ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .filter(|stem| !stem.is_empty())
}
