//! Directories outside the workspace: which of them are the owner's other projects, and which this
//! script or an earlier call has filled with files that nobody saw.

use super::Line;
use super::roles::operand_roles;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::names::{FILLING_NOTHING, SKILL_FOLDERS};
use crate::knowledge::{PathKind, Role};
use crate::place::Place;
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::{Wanted, parent};

/// Directories above a file that are asked about.
const ABOVE_MAX: usize = 12;
/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);

impl Line<'_> {
    /// Whether a word of it names what it makes.
    pub(super) fn names_target(&self) -> bool {
        let is_target = |role: &Option<Role>| matches!(role, Some(Role::Write | Role::Create));
        operand_roles(self.row, self.read).iter().any(is_target)
    }
}

impl Walk<'_> {
    /// Remembers that `program` puts something into a place outside the workspace: a clone, an
    /// archive, a copy. What lies there from now on is not known.
    pub(crate) fn fills(&mut self, place: &Place, program: &str, span: Span) {
        // A worktree is the project's own where its repository is.
        let own = !program.starts_with("git ") || self.ground.place(".").inside == Some(true);
        let nothing = own && FILLING_NOTHING.contains(program);
        if place.inside != Some(false) || nothing || place.kind == PathKind::Sink {
            return;
        }
        let project = self.ground.beside(&place.path);
        // A redirection writes one file, whose content is followed by itself.
        let filled = project.or_else(|| (program != ">").then(|| place.path.clone()));
        if let Some(filled) = filled
            && !self.memory.fill(filled)
        {
            self.unreadable("fills more directories than can be followed", span);
        }
    }

    /// Whether a place lies in another project of the owner, beside the workspace, into which
    /// neither this script nor an earlier call has put anything.
    pub(super) fn is_owners(&mut self, place: &Place) -> bool {
        let ordinary = place.kind == PathKind::Document && place.write < SENSITIVE && !place.vague;
        if !self.knows.trusts_beside || !self.knows.trusts_workspace || !ordinary {
            return false;
        }
        let linked = self.memory.behind_link(&place.path).is_some();
        let Some(project) = self.ground.beside(&place.path).filter(|_| !linked) else {
            return false;
        };
        !self.was_filled(&project)
    }

    /// Whether nothing is known to have put files that nobody saw into one of the directories that
    /// the file at `path` lies in.
    pub(super) fn is_settled(&mut self, path: &str) -> bool {
        let mut directory = parent(path);
        for _ in 0..ABOVE_MAX {
            if directory.is_empty() || directory == "~" {
                return true;
            }
            if self.was_filled(directory) {
                return false;
            }
            directory = parent(directory);
        }
        false
    }

    /// Whether all that the file at a place outside the workspace may hold was seen: this script or
    /// earlier calls wrote it for certain, and nothing else is known to have filled its directory.
    pub(super) fn is_seen(&mut self, place: &Place) -> bool {
        let ordinary = matches!(place.kind, PathKind::Temp | PathKind::Document)
            && place.write < SENSITIVE
            && place.inside == Some(false)
            && !place.vague;
        let lost = self.memory.has_lost_files() || self.memory.is_doubtful(&place.path);
        if !ordinary || lost || !self.knows.trusts_workspace {
            return false;
        }
        let held = self.may_hold(&place.path);
        let seen = |stream: &Stream| {
            stream.text.is_some() && !stream.taint.network && !stream.taint.uncertain
        };
        !held.is_empty() && held.iter().all(seen) && self.is_settled(&place.path)
    }

    /// Whether all sources that a command like `go run` names outside the workspace were seen.
    pub(super) fn sources_are_seen(&mut self, line: &Line<'_>) -> bool {
        let Some((first, _)) = line
            .read
            .operands
            .iter()
            .zip(operand_roles(line.row, line.read))
            .find(|(_, role)| *role == Some(Role::Script))
        else {
            return false;
        };
        let Some((_, end)) = first
            .text
            .rsplit_once('.')
            .filter(|(_, end)| !end.is_empty())
        else {
            return false;
        };
        let same = |operand: &&&Arg| operand.text.ends_with(end);
        let sources: Vec<Arg> = line
            .read
            .operands
            .iter()
            .filter(same)
            .map(|arg| (*arg).clone())
            .collect();
        sources.iter().all(|source| {
            let place = self.place(&source.text);
            self.is_seen(&place)
        })
    }

    /// Whether a file lies in a folder of the home into which the owner installs skills and plugins
    /// of agents, and the agent did not write it.
    pub(super) fn is_installed(&mut self, place: &Place) -> bool {
        let folder = |folder: &str| {
            let below = place.path.strip_prefix("~/")?.strip_prefix(folder)?;
            Some(below.starts_with('/'))
        };
        let is_there = SKILL_FOLDERS.iter().any(|name| folder(name) == Some(true));
        is_there
            && !place.vague
            && place.inside != Some(true)
            && self.may_hold(&place.path).is_empty()
            && self.is_settled(&place.path)
    }

    /// Whether a program that is called by its path outside the workspace may be another one than its
    /// name says, because this script or an earlier call has put it there.
    pub(super) fn is_replaced(&mut self, program: &Arg) -> bool {
        if !program.text.contains('/') || program.vague() {
            return false;
        }
        let place = self.place(&program.text);
        place.inside == Some(false)
            && place.kind != PathKind::System
            && !(self.may_hold(&place.path).is_empty() && self.is_settled(&place.path))
    }

    fn was_filled(&mut self, directory: &str) -> bool {
        let mark = format!("{}/", directory.trim_end_matches('/'));
        let before = self.knows.written.at(&mark).next().is_some();
        self.memory.want(Wanted::File(mark));
        before || self.memory.is_filled(directory)
    }
}
