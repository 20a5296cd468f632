//! The effects of the call that a grant was given for: the limit for every call it covers.

use serde::{Deserialize, Serialize};

use crate::act::profile;
use crate::assessment::{Assessment, SideEffect};
use crate::knowledge::Effect;

/// What may happen at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// Codes of everything that was found, sorted.
    pub effects: Vec<String>,
    /// The risk, per mille.
    pub risk: u16,
    /// The side-effect class.
    pub side_effect: SideEffect,
    /// Whether something may leave the machine.
    pub outbound: bool,
    /// Whether it may be something that cannot be undone.
    pub irreversible: bool,
    /// Whether it may be something nothing is known about.
    pub unknown: bool,
}

impl Within {
    /// Returns what a call with this assessment would do.
    pub(super) fn of(assessment: &Assessment) -> Self {
        let mut effects: Vec<String> = assessment
            .findings
            .iter()
            .map(|finding| finding.code.to_owned())
            .collect();
        effects.sort();
        effects.dedup();
        Self {
            effects,
            risk: assessment.risk.per_mille(),
            side_effect: assessment.side_effect,
            outbound: assessment.outbound,
            irreversible: !assessment.reversible,
            unknown: assessment.marks.unreadable,
        }
    }

    /// Returns it with these effects beside the others.
    pub(super) fn and(mut self, effects: &[Effect]) -> Self {
        let codes = effects
            .iter()
            .map(|effect| profile(*effect).code.to_owned());
        self.effects.extend(codes);
        self.effects.sort();
        self.effects.dedup();
        self
    }

    /// Whether a call with this assessment does nothing else and nothing worse.
    pub(super) fn holds(&self, assessment: &Assessment) -> bool {
        let other = Self::of(assessment);
        other.effects.iter().all(|code| self.effects.contains(code))
            && other.risk <= self.risk
            && other.side_effect <= self.side_effect
            && other.outbound <= self.outbound
            && other.irreversible <= self.irreversible
            && other.unknown <= self.unknown
    }
}
