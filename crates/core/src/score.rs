//! A score from 0 to 1000 per mille, and how scores combine.
//!
//! Scores are integers, not floats: they are compared, stored and hashed, and all three must give
//! the same answer on every machine. Floats appear on the wire only.

/// A share of one, in per mille: `Score::new(920)` is 0.92.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// Nothing at all.
    pub const ZERO: Self = Self(0);
    /// The whole.
    pub const ONE: Self = Self(1000);

    /// Returns `per_mille` as a score, capped at one.
    pub const fn new(per_mille: u16) -> Self {
        Self(if per_mille > 1000 { 1000 } else { per_mille })
    }

    /// Returns the score in per mille.
    pub const fn per_mille(self) -> u16 {
        self.0
    }

    /// Returns what is missing to one.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(1000 - self.0)
    }

    /// Returns the product of two scores, rounded down.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the product of two per-mille values divided by 1000 fits"
    )]
    pub const fn times(self, other: Self) -> Self {
        Self((self.0 as u32 * other.0 as u32 / 1000) as u16)
    }

    /// Returns the score as it is written on the wire, between 0.0 and 1.0.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 1000, self.0 % 1000 / 10)
    }
}
