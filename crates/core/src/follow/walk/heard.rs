//! The worst of what a command does, for whoever starts it.
//!
//! Separate from the acts because harmless ones are noted only once in a script, while a command that
//! starts another one must know about each of them.

use crate::act::Act;
use crate::knowledge::Effect;
use crate::score::Score;

/// The least risk that is more than everyday work.
const NOTICEABLE: Score = Score::new(250);

/// The worst that was noted while somebody listened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The highest risk; what is unreadable counts as one.
    risk: Score,
    /// Whether anything was more than looking.
    changes: bool,
    /// Whether anything was more than looking and running what the project builds and tests itself with.
    reaches: bool,
}

impl Heard {
    /// Takes note of an act.
    pub(super) fn hear(&mut self, act: &Act) {
        let risk = if act.marks.unreadable {
            Score::ONE
        } else {
            act.risk()
        };
        self.risk = self.risk.max(risk);
        // The effects are ordered; loading over the network is the last that only looks.
        self.changes |= act.effect > Effect::NetRead;
        let builds = matches!(act.effect, Effect::Build | Effect::Project);
        self.reaches |= act.effect > Effect::NetRead && !builds;
    }

    /// Returns the worst of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            risk: self.risk.max(other.risk),
            changes: self.changes || other.changes,
            reaches: self.reaches || other.reaches,
        }
    }

    /// Whether anything was more than everyday work in a workspace.
    pub(crate) fn is_noticeable(self) -> bool {
        self.risk >= NOTICEABLE
    }

    /// Whether anything was more than looking: on a machine that is not the developer's own, building
    /// and changing a working copy are no everyday work.
    pub(crate) fn is_more_than_looking(self) -> bool {
        self.changes || self.is_noticeable()
    }

    /// Whether anything was more than looking, building and testing.
    pub(crate) fn is_more_than_building(self) -> bool {
        self.reaches || self.is_noticeable()
    }
}
