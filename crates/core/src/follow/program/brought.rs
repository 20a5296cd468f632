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
use crate::glob::glob_matches;
use crate::knowledge::names::{ARCHIVE_ENDINGS, PATCHING_PROGRAMS, UNPACKING_PROGRAMS};
use crate::knowledge::{Effect, PathKind};
use crate::place::Place;
use crate::shell::syntax::Span;
use crate::written::{Wanted, name, parent};

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

    /// Remembers that the workspace is no longer all its own after a patch that somebody else wrote.
    pub(super) fn patches_brought(&mut self, line: &Line<'_>) {
        if !PATCHING_PROGRAMS.contains(line.row.name) {
            return;
        }
        let values = line.read.hits.iter().filter_map(|hit| hit.value.as_ref());
        let words = line.read.operands.iter().copied().chain(values);
        let words = words.map(|word| word.text.as_str());
        let given = line.stdin.files.iter().map(String::as_str);
        let files: Vec<String> = words
            .chain(given)
            .take(ARCHIVES_MAX)
            .map(str::to_owned)
            .collect();
        let mut strange = line.stdin.taint.network;
        for file in files {
            let path = self.place(&file).path;
            strange |= self.was_filled(&path)
                || self.may_hold(&path).iter().any(|held| held.taint.network);
        }
        if strange {
            let here = self.place(".");
            self.brings(&here, line.span);
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
                .because("runs code that came from elsewhere and was not seen");
            self.note(act.on(path));
        }
    }

    /// Judges files that a pattern in the place of a script may find, where the same agent wrote them.
    pub(super) fn runs_matches(&mut self, pattern: &str, interpreter: &str, span: Span) {
        if !name(pattern).contains(['*', '?', '[']) {
            return;
        }
        let directory = parent(pattern);
        self.memory.want(Wanted::Directory(directory.to_owned()));
        let before = self.knows.written.within(directory).map(|(path, _)| path);
        let now = self.memory.paths().filter(|path| parent(path) == directory);
        let found = |path: &&str| glob_matches(name(pattern).as_bytes(), name(path).as_bytes());
        let mut paths: Vec<String> = before.chain(now).filter(found).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            for stream in self.held(&path) {
                self.run_written(&path, &stream, interpreter, span);
            }
        }
    }

    /// Remembers that a copy of what came from somebody else is theirs, too.
    pub(super) fn brings_copy(&mut self, source: &Place, target: &Arg) {
        let outside = source.inside == Some(false) && source.kind != PathKind::System;
        let strange = outside && !self.is_seen(source) && !self.is_owners(source);
        if strange || self.was_filled(&source.path) {
            let below = format!(
                "{}/{}",
                target.text.trim_end_matches('/'),
                name(&source.path)
            );
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
