//! Counts, shares and times, as both kinds of measurement print them.

use serde_json::{Value, json};

/// Rows of one kind, and how many of them were held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) held: u64,
    pub(super) rows: u64,
}

impl Share {
    pub(super) fn add(&mut self, held: bool) {
        self.rows += 1;
        self.held += u64::from(held);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.held += other.held;
    }

    /// `held/rows percent`, or a dash where there are no rows.
    pub(super) fn cell(self) -> String {
        if self.rows == 0 {
            return "–".to_owned();
        }
        format!(
            "{}/{} {:>5.1}%",
            self.held,
            self.rows,
            100.0 * self.fraction().unwrap_or(0.0)
        )
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of rows are far below 2^52"
    )]
    pub(super) fn fraction(self) -> Option<f64> {
        (self.rows > 0).then(|| self.held as f64 / self.rows as f64)
    }

    pub(super) fn json(self) -> Value {
        json!({ "held": self.held, "rows": self.rows, "rate": self.fraction() })
    }
}

/// Returns mean, median and 99th percentile of `nanos`, which are sorted, in microseconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "times of rows are far below 2^52 ns"
)]
pub(super) fn micros(nanos: &[u64]) -> (f64, f64, f64) {
    let count = nanos.len().max(1);
    let at = |share: usize| {
        let index = nanos.len().saturating_sub(1) * share / 100;
        nanos.get(index).copied().unwrap_or(0) as f64 / 1000.0
    };
    let mean = nanos.iter().sum::<u64>() as f64 / count as f64 / 1000.0;
    (mean, at(50), at(99))
}
