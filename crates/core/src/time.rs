//! `UnixMillis`: a point in time, passed in as an argument. The core never reads a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Returns the moment `millis` later.
    #[must_use]
    pub const fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Returns how many milliseconds have passed since `earlier`; negative if it is later.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns whole seconds, as tokens count them.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns seconds with their fraction, as the wire counts them.
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds stay exact in a float for 285 000 years"
    )]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Returns the moment so many seconds after 1970, to the millisecond.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float that does not fit becomes the nearest that does"
    )]
    pub fn of_seconds(seconds: f64) -> Self {
        Self((seconds * 1000.0).round() as i64)
    }
}

/// Serialises a moment as seconds with their fraction: `#[serde(with = "time::seconds")]`.
pub mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::UnixMillis;

    /// Writes it.
    pub fn serialize<S: Serializer>(at: &UnixMillis, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(at.as_seconds())
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UnixMillis, D::Error> {
        f64::deserialize(deserializer).map(UnixMillis::of_seconds)
    }
}

/// The same for a moment that may be missing.
pub mod maybe_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::UnixMillis;

    /// Writes it, or null.
    pub fn serialize<S: Serializer>(
        at: &Option<UnixMillis>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        at.map(UnixMillis::as_seconds).serialize(serializer)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<UnixMillis>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        Ok(seconds.map(UnixMillis::of_seconds))
    }
}
