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
    pub(crate) const fn complement(self) -> Self {
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

    /// Returns the score that is nearest to `fraction`, as it came over the wire.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between nought and a thousand"
    )]
    pub fn of_fraction(fraction: f64) -> Self {
        Self((fraction.clamp(0.0, 1.0) * 1000.0).round() as u16)
    }

    /// Returns the score as it is written on the wire, between 0.0 and 1.0.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// As people read it everywhere: two digits, rounded half up.
impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hundredths = (self.0 + 5) / 10;
        write!(f, "{}.{:02}", hundredths / 100, hundredths % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_two_digits_that_are_the_same_from_inside_and_from_the_wire() {
        let rows = [
            (0, "0.00"),
            (4, "0.00"),
            (5, "0.01"),
            (865, "0.87"),
            (878, "0.88"),
            (1000, "1.00"),
        ];
        for (per_mille, shown) in rows {
            assert_eq!(Score::new(per_mille).to_string(), shown);
        }
        for per_mille in 0..=1000 {
            let score = Score::new(per_mille);
            assert_eq!(Score::of_fraction(score.as_fraction()), score);
        }
        assert_eq!(Score::of_fraction(f64::NAN), Score::ZERO);
    }
}
