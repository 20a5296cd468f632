//! A moment, as the core is told it. The core never reads a clock.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Milliseconds since 1970.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
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
}
