//! What a command moves to a place that is emptied without a question: build output, scratch space.
//!
//! Output is made again by the next build. A directory of sources is not, and stays one when it is
//! called `dist`. So the place it was moved to is remembered, in this script and for later calls, by a
//! mark that is looked for when the place is deleted.

use super::Line;
use super::filled::mark_of;
use super::made::is_shared;
use super::roles::operand_roles;
use crate::follow::walk::Walk;
use crate::knowledge::{PathKind, Role};
use crate::place::Place;
use crate::written::{Wanted, name, parent};

/// The directory, which does not exist, under which it is remembered where something was moved to.
const MARKS: &str = "/places to which something was moved";
/// Directories above a place that are looked at; what lies deeper is put to a person.
const ABOVE_MAX: usize = 24;
/// Operands of one command that are looked at.
const SOURCES_MAX: usize = 16;

impl Walk<'_> {
    /// Remembers where a command moves files that no build makes.
    pub(super) fn remember_moved(&mut self, line: &Line<'_>) {
        let roles = operand_roles(line.row, line.read);
        if !roles.contains(&Some(Role::Move)) {
            return;
        }
        let operands = line.read.operands.iter().zip(roles);
        let (mut sources, mut target) = (Vec::new(), None);
        for (operand, role) in operands {
            match role {
                Some(Role::Move) => sources.push(operand.text.clone()),
                Some(Role::Write) => target = Some(operand.text.clone()),
                Some(_) | None => {}
            }
        }
        let option = line.read.value(&["-t", "--target-directory"]);
        let Some(target) = option.map(|value| value.text.clone()).or(target) else {
            return;
        };
        for source in sources.iter().take(SOURCES_MAX) {
            let place = self.place(source);
            if !is_spare(&place) && place.kind != PathKind::Sink {
                self.marks_moved(&target, name(&place.path), line);
            }
        }
    }

    fn marks_moved(&mut self, target: &str, moved: &str, line: &Line<'_>) {
        let mut place = self.place(target);
        if is_shared(&place.path) {
            place = self.place(&format!("{}/{moved}", target.trim_end_matches('/')));
        }
        let mut path = place.path.clone();
        let mut fits = true;
        for _ in 0..ABOVE_MAX {
            if !self.may_be_spare(&path) || is_shared(&path) {
                if !fits {
                    self.unreadable("moves more files than can be followed", line.span);
                }
                return;
            }
            fits &= self.memory.moves(mark_at(&path));
            path = parent(&path).to_owned();
        }
        self.unreadable("moves files deeper than can be followed", line.span);
    }

    /// Whether the place at a path may be emptied without a question, also where capital letters make no
    /// difference.
    fn may_be_spare(&self, path: &str) -> bool {
        is_spare(&self.ground.place(path)) || is_spare(&self.ground.place(&path.to_lowercase()))
    }

    /// Whether something that no build makes was moved to a place, or to a directory it lies in.
    pub(super) fn holds_moved(&mut self, place: &Place) -> bool {
        if is_spare(place) {
            self.memory.want(Wanted::Directory(MARKS.to_owned()));
        }
        let mut path = place.path.as_str();
        for _ in 0..ABOVE_MAX {
            if !is_spare(&self.ground.place(path)) || is_shared(path) {
                return false;
            }
            let mark = mark_at(path);
            if self.memory.has_moved(&mark) || self.knows.written.at(&mark).next().is_some() {
                return true;
            }
            path = parent(path);
        }
        true
    }
}

/// Returns the mark that stands for a place.
fn mark_at(path: &str) -> String {
    format!("{MARKS}/{}", mark_of(path).replace('/', "\\"))
}

/// Whether a place may be emptied without a question.
const fn is_spare(place: &Place) -> bool {
    matches!(place.kind, PathKind::Generated | PathKind::Temp)
}
