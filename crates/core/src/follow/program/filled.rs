//! Directories outside the workspace: which of them are the owner's other projects, and which this
//! script or an earlier call has filled with files that nobody saw.

use crate::follow::walk::Walk;
use crate::knowledge::PathKind;
use crate::knowledge::names::FILLING_NOTHING;
use crate::place::Place;
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::Wanted;

/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);

impl Walk<'_> {
    /// Remembers that `program` puts something into a place outside the workspace: a clone, an
    /// archive, a copy. What lies there from now on is not known.
    pub(crate) fn fills(&mut self, place: &Place, program: &str, span: Span) {
        let nothing = FILLING_NOTHING.contains(program);
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

    fn was_filled(&mut self, directory: &str) -> bool {
        let mark = format!("{}/", directory.trim_end_matches('/'));
        let before = self.knows.written.at(&mark).next().is_some();
        self.memory.want(Wanted::File(mark));
        before || self.memory.is_filled(directory)
    }
}
