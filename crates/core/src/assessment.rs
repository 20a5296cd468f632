//! What an assessment says: risk, confidence, side effect, reasons and factors. No decision.

use crate::score::Score;

/// What a call changes, from nothing to what always asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideEffect {
    /// Changes nothing.
    ReadOnly,
    /// Changes something here that can be changed back.
    LocalReversible,
    /// Reaches other machines or people.
    External,
    /// Always asks.
    Critical,
}

impl SideEffect {
    /// Returns the word used on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::LocalReversible => "local_reversible",
            Self::External => "external",
            Self::Critical => "critical",
        }
    }
}

/// Placeholder until the judge lands.
pub type Placeholder = Score;
